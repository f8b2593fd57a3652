// The iteration protocol: what each kind of value gives, and its hidden state.
#include "interp/runtime/iterate.h"

#include "world.h"

namespace posset::interp {

namespace {

struct Iterating : World {
  // Everything an iterable gives, as a list.
  std::string all(Value iterable) {
    ListBuilder out(context);
    bool ok =
        for_each_item(context, iterable, [&](Value item) { return out.push(std::move(item)); });
    return show(ok ? out.finish() : Value::failure());
  }
  std::string lines(Value text) {
    Borrowed hidden[3] = {text, Borrowed::nil(), Borrowed::nil()};
    if (!begin_lines(context, hidden)) return "error: " + message();
    ListBuilder out(context);
    Value line;
    while (next_item(context, hidden, line) == Step::Item) out.push(std::move(line));
    return show(out.finish());
  }
};

}  // namespace

TEST_CASE_FIXTURE(Iterating, "every kind gives its items in order") {
  CHECK(all(list(i(1), s("a"), d(2.5))) == "[1, \"a\", 2.5]");
  CHECK(all(list()) == "[]");
  CHECK(all(range(2, 5)) == "[2, 3, 4]");
  CHECK(all(range(2, 5, true)) == "[2, 3, 4, 5]");
  CHECK(all(range(5, 2)) == "[]");
  CHECK(all(map(s("a"), i(1), i(2), s("b"))) == "[[\"a\", 1], [2, \"b\"]]");
  CHECK(all(s("aü😀")) == "[\"a\", \"ü\", \"😀\"]");
  CHECK(all(call("reverse", range(0, 3))) == "[2, 1, 0]");
  CHECK(all(i(5)) == "error: cannot iterate over int (5)");
  CHECK(all(Value()) == "error: cannot iterate over nil");
}

TEST_CASE_FIXTURE(Iterating, "ranges up to the last int end") {
  CHECK(all(range(INT64_MAX - 1, INT64_MAX, true)) == "[9223372036854775806, 9223372036854775807]");
  CHECK(all(range(INT64_MAX - 1, INT64_MAX)) == "[9223372036854775806]");
  CHECK(all(call("reverse", range(INT64_MIN, INT64_MIN + 1, true))) ==
        "[-9223372036854775807, -9223372036854775808]");
}

TEST_CASE_FIXTURE(Iterating, "a range that fits is counted without the range") {
  Borrowed hidden[3] = {range(3, 6, true).take(), Borrowed::nil(), Borrowed::nil()};
  REQUIRE(begin_iteration(context, hidden));
  CHECK(hidden[0].is_nil());
  CHECK(hidden[1].as_int() == 3);
  CHECK(hidden[2].as_int() == 7);
  REQUIRE(begin_counted(context, hidden, Borrowed::integer(0), Borrowed::integer(2), false));
  CHECK(hidden[2].as_int() == 2);
  CHECK(!begin_counted(context, hidden, Borrowed::integer(0), Borrowed::floating(2.0), false));
  CHECK(holds(message(), "expected int, got float"));
  REQUIRE(begin_counted(context, hidden, Borrowed::integer(0), Borrowed::integer(INT64_MAX), true));
  CHECK(hidden[0].is_range());
  release(hidden[0]);
}

TEST_CASE_FIXTURE(Iterating, "lines end at both kinds of breaks") {
  CHECK(lines(s("a\nb\r\nc")) == "[\"a\", \"b\", \"c\"]");
  CHECK(lines(s("a\n\nb\n")) == "[\"a\", \"\", \"b\"]");
  CHECK(lines(s("")) == "[]");
  CHECK(lines(s("\n")) == "[\"\"]");
  CHECK(lines(s("a\rb\r\n")) == "[\"a\\rb\"]");
  CHECK(lines(i(1)) == "error: argument s of lines(s): expected str, got int (1)");
}

TEST_CASE_FIXTURE(Iterating, "the number of items is known beforehand") {
  CHECK(item_count(range(0, 1000000000000)) == 1000000000000);
  CHECK(item_count(range(INT64_MIN, INT64_MAX, true)) == UINT64_MAX);
  CHECK(item_count(s("aü")) == 2);
  CHECK(item_count(Borrowed::integer(1)) == UINT64_MAX);
}

TEST_CASE_FIXTURE(Iterating, "the value that is iterated is the one there was") {
  Value xs = list(i(1), i(2));
  int64_t rounds = 0;
  Borrowed place = xs.take();
  bool ok = for_each_item(context, place, [&](Value item) {
    ++rounds;
    return make_unique_list(context.heap, place) && list_push(context.heap, place, std::move(item));
  });
  xs = Value::adopt(place);
  CHECK(ok);
  CHECK(rounds == 2);
  CHECK(show(xs) == "[1, 2, 1, 2]");
}

}  // namespace posset::interp
