// Built-ins that need no script function: results, messages, charges and limits. What calls
// functions is tested by language scripts; here built-ins stand in for callbacks.
#include <cmath>

#include "world.h"

namespace posset::interp {

TEST_CASE_FIXTURE(World, "conversion") {
  CHECK(show(call("type", Value())) == "\"nil\"");
  CHECK(show(call("type", builtin("len"))) == "\"fn\"");
  CHECK(show(call("type", call("error", s("x")))) == "\"error\"");
  CHECK(show(call("str", list(i(1), s("a")))) == "\"[1, \\\"a\\\"]\"");
  CHECK(show(call("int", s(" 12 "))) == "12");
  CHECK(show(call("int", d(-3.9))) == "-3");
  CHECK(show(call("int", s("abc"))) == "error: cannot convert \"abc\" to int");
  CHECK(show(call("int", d(NAN))) == "error: cannot convert NaN to int");
  CHECK(holds(show(call("int", d(1e300))), "out of range"));
  CHECK(holds(show(call("int", s("9223372036854775808"))), "out of range"));
  CHECK(show(call("int", list())) == "error: cannot convert list ([]) to int");
  CHECK(show(call("int", Value())) == "error: cannot convert nil to int");
  CHECK(show(call("float", s("1e3"))) == "1000.0");
  CHECK(show(call("float", s("1x"))) == "error: cannot convert \"1x\" to float");
  CHECK(show(call("bool", s("true"))) == "true");
  CHECK(show(call("bool", s("yes"))) == "error: cannot convert \"yes\" to bool");
  CHECK(show(call("list", s("aü"))) == "[\"a\", \"ü\"]");
  CHECK(show(call("list", range(0, 3))) == "[0, 1, 2]");
  CHECK(show(call("list", map(i(1), i(2)))) == "[[1, 2]]");
  CHECK(show(call("list", i(3))) == "error: cannot iterate over int (3)");
  CHECK(show(call("map_of", list(list(s("a"), i(1)), list(s("a"), i(2))))) == "[\"a\": 2]");
  CHECK(holds(show(call("map_of", list(i(1)))), "expected pairs [key, value], got int (1)"));
  CHECK(show(call("code", s("aü"), i(1))) == "252");
  CHECK(show(call("code", s("a"), i(1))) == "error: index 1 is out of range for a str of 1");
  CHECK(show(call("code", s(""))) == "error: index 0 is out of range for an empty str");
  CHECK(show(call("codes", s("aü😀"))) == "[97, 252, 128512]");
  CHECK(show(call("from_codes", list(i(97), i(128512)))) == "\"a😀\"");
  CHECK(holds(show(call("from_codes", list(i(0xd800)))), "out of range"));
}

TEST_CASE_FIXTURE(World, "size and slots") {
  CHECK(show(call("len", s("aü"))) == "2");
  CHECK(show(call("len", range(0, 5, true))) == "6");
  CHECK(show(call("len", i(5))) ==
        "error: argument x of len(x): expected str, list, map or range, got int (5)");
  CHECK(show(call("push", list(i(1)), s("a"))) == "nil");
  CHECK(show(lent) == "[1, \"a\"]");
  CHECK(show(call("push", i(1), i(2))) ==
        "error: argument xs of push(&xs, x): expected list, got int (1)");
  CHECK(show(lent) == "1");
  CHECK(show(call("pop", list(i(1), i(2)))) == "2");
  CHECK(show(lent) == "[1]");
  CHECK(show(call("pop", list())) == "error: pop of an empty list");
  CHECK(show(call("insert", list(i(1)), i(1), i(2))) == "nil");
  CHECK(show(lent) == "[1, 2]");
  CHECK(holds(show(call("insert", list(i(1)), i(2), i(2))), "index 2 is out of range"));
  CHECK(show(call("extend", list(i(1)), s("ab"))) == "nil");
  CHECK(show(lent) == "[1, \"a\", \"b\"]");
  CHECK(show(call("remove", list(i(1), i(2), i(3)), i(1))) == "2");
  CHECK(show(lent) == "[1, 3]");
  CHECK(show(call("remove", map(s("a"), i(1)), s("b"))) == "nil");
  CHECK(show(call("remove", map(s("a"), i(1)), s("a"))) == "1");
  CHECK(show(lent) == "[:]");
  CHECK(show(call("fill", i(3), s("x"))) == "[\"x\", \"x\", \"x\"]");
  CHECK(show(call("fill", i(-1), i(0))) ==
        "error: argument n of fill(n, x): -1 is out of range, it must not be negative");
  CHECK(show(call("swap", list(i(1), i(2)), i(0), i(1))) == "nil");
  CHECK(show(lent) == "[2, 1]");
  CHECK(holds(show(call("swap", list(i(1), i(2)), i(0), i(2))),
              "index 2 is out of range for a list of 2"));
  CHECK(show(call("first", s("xyz"))) == "\"x\"");
  CHECK(show(call("last", map(s("a"), i(1), s("b"), i(2)))) == "[\"b\", 2]");
  CHECK(show(call("first", range(3, 3))) == "error: first of an empty range");
  CHECK(show(call("reserve", list(i(1)), i(100))) == "nil");
  CHECK(show(lent) == "[1]");
}

TEST_CASE_FIXTURE(World, "a shared list is copied before it is changed, an unshared one is not") {
  Value xs = list(i(1));
  CHECK(show(call("push", Value::copy(xs), i(2))) == "nil");
  CHECK(show(xs) == "[1]");
  CHECK(context.heap.stats().copies == 1);
  CHECK(show(call("push", std::move(xs), i(2))) == "nil");
  CHECK(context.heap.stats().copies == 1);
}

TEST_CASE_FIXTURE(World, "maps") {
  CHECK(show(call("keys", map(s("a"), i(1), s("b"), i(2)))) == "[\"a\", \"b\"]");
  CHECK(show(call("values", map(s("a"), i(1), s("b"), i(2)))) == "[1, 2]");
  CHECK(show(call("items", map(s("a"), i(1)))) == "[[\"a\", 1]]");
  CHECK(show(call("get", map(s("a"), i(1)), s("a"))) == "1");
  CHECK(show(call("get", map(s("a"), i(1)), s("b"), i(7))) == "7");
  CHECK(show(call("get", list(i(1)), i(4), i(7))) == "7");
  CHECK(show(call("get", list(i(1)), i(0), i(7))) == "1");
  CHECK(holds(show(call("get", i(1), i(0))), "expected map, list, str or range, got int"));
  CHECK(show(call("has", map(s("a"), i(1)), s("a"))) == "true");
  CHECK(show(call("group_by", list(s("a"), i(1), s("b")), builtin("type"))) ==
        "[\"str\": [\"a\", \"b\"], \"int\": [1]]");
}

TEST_CASE_FIXTURE(World, "sequences") {
  CHECK(show(call("range", i(3))) == "0..3");
  CHECK(show(call("range", i(1), i(10), i(4))) == "[1, 5, 9]");
  CHECK(show(call("range", i(5), i(0), i(-2))) == "[5, 3, 1]");
  CHECK(show(call("range", i(0), i(5), i(-1))) == "[]");
  CHECK(show(call("range", i(INT64_MAX), i(INT64_MIN), i(INT64_MIN))) ==
        "[9223372036854775807, -1]");
  CHECK(holds(show(call("range", i(0), i(5), i(0))), "out of range"));
  CHECK(show(call("map", range(0, 3), builtin("str"))) == "[\"0\", \"1\", \"2\"]");
  CHECK(holds(show(call("map", range(0, 3), i(5))), "5 is not a function"));
  CHECK(holds(show(call("filter", list(i(1)), builtin("len"))), "expected"));
  CHECK(holds(show(call("filter", list(s("a")), builtin("len"))), "must be bool"));
  CHECK(show(call("flat_map", list(i(1), i(2)), builtin("range"))) == "[0, 0, 1]");
  CHECK(show(call("fold", list(i(3), i(9)), i(5), builtin("max"))) == "9");
  CHECK(show(call("zip", list(i(1), i(2)), s("abc"))) == "[[1, \"a\"], [2, \"b\"]]");
  CHECK(show(call("enumerate", s("ab"))) == "[[0, \"a\"], [1, \"b\"]]");
  CHECK(show(call("reverse", s("aü😀"))) == "\"😀üa\"");
  CHECK(show(call("reverse", list(i(1), i(2)))) == "[2, 1]");
  CHECK(show(call("reverse", call("reverse", range(0, 3)))) == "0..3");
  CHECK(show(call("index_of", list(i(4), d(5.0)), i(5))) == "1");
  CHECK(show(call("index_of", list(i(4)), i(5))) == "nil");
  CHECK(show(call("index_of", s("aüb"), s("b"))) == "2");
  CHECK(show(call("tabulate", i(3), builtin("str"))) == "[\"0\", \"1\", \"2\"]");
}

TEST_CASE_FIXTURE(World, "sorting") {
  CHECK(show(call("sort", list(i(3), i(1), i(2)))) == "[1, 2, 3]");
  CHECK(show(call("sort", list(d(NAN), d(1.5), d(-INFINITY), d(0.0), d(-0.0), d(-2.0)))) ==
        "[-inf, -2.0, 0.0, -0.0, 1.5, nan]");
  CHECK(show(call("sort", list(i(3), d(NAN), d(1.5), i(-1)))) == "[-1, 1.5, 3, nan]");
  CHECK(show(call("sort", list(s("pear"), s("fig"), s("Apple")))) ==
        "[\"Apple\", \"fig\", \"pear\"]");
  CHECK(holds(show(call("sort", list(i(1), s("a"), i(2)))), "cannot compare"));
  CHECK(show(call("sort", list(b(true)))) == "[true]");
  CHECK(show(call("sort", list(list(d(NAN)), list(i(2)), list(i(1))))) == "[[1], [2], [nan]]");
  CHECK(show(call("sort_by", list(s("pear"), s("fig"), s("kiwi"), s("a")), builtin("len"))) ==
        "[\"a\", \"fig\", \"pear\", \"kiwi\"]");
  CHECK(show(call("sort", call("reverse", range(0, 4)))) == "[0, 1, 2, 3]");
}

TEST_CASE_FIXTURE(World, "long packed lists sort like short ones") {
  ListBuilder ints(context), floats(context);
  uint64_t seed = 1;
  for (int n = 0; n < 5000; ++n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    ints.push(i(static_cast<int64_t>(seed) >> (seed % 50)));
    floats.push(d(std::ldexp(static_cast<double>(static_cast<int64_t>(seed)),
                             static_cast<int>(seed >> 58) - 40)));
  }
  auto check = [&](const Value& sorted) {
    const auto* list = sorted->as<List>();
    REQUIRE(list->size == 5000);
    bool ascending = true;
    for (uint64_t n = 1; n < list->size; ++n) {
      ascending = ascending &&
                  compare(context, BinaryOp::Le, list_get(list, n - 1), list_get(list, n)) == 1;
    }
    CHECK(ascending);
  };
  check(call("sort", ints.finish()));
  check(call("sort", floats.finish()));
}

TEST_CASE_FIXTURE(World, "a comparison that contradicts itself still sorts something") {
  ListBuilder xs(context);
  for (int n = 0; n < 1000; ++n) xs.push(b(n % 3 == 0));
  // all(x, y) is not what sort_with wants, so it raises; has() of wrong kinds too.
  CHECK(holds(show(call("sort_with", xs.finish(), builtin("has"))), "expected map"));
  ListBuilder more(context);
  for (int n = 0; n < 1000; ++n) more.push(list(b(true)));
  more.push(map());
  CHECK(call("sort_with", more.finish(), builtin("zip")).failed());
  CHECK(holds(message(), "must be bool"));
}

TEST_CASE_FIXTURE(World, "sums and products") {
  CHECK(show(call("sum", list())) == "0");
  CHECK(show(call("product", list())) == "1");
  CHECK(show(call("sum", list(i(1), d(2.5), i(3)))) == "6.5");
  CHECK(show(call("sum", range(0, 1000001))) == "500000500000");
  CHECK(show(call("sum", list(i(INT64_MAX), i(1), i(-1)))) ==
        "error: int overflow in 9223372036854775807 + 1");
  CHECK(show(call("product", list(i(INT64_MAX), i(2)))) ==
        "error: int overflow in 9223372036854775807 * 2");
  CHECK(holds(show(call("sum", list(i(1), s("a")))),
              "cannot add up the elements: expected int or float, got str (\"a\")"));
  CHECK(show(call("sum", list(d(-0.0)))) == "-0.0");
  CHECK(show(call("reduce", list(i(4), i(9), i(2)), builtin("max"))) == "9");
  CHECK(show(call("reduce", list(), builtin("max"))) == "error: reduce of an empty list");
}

TEST_CASE_FIXTURE(World, "floats add up over the fixed tree") {
  ListBuilder xs(context);
  std::vector<double> raw;
  for (int n = 0; n < 3000; ++n) {
    raw.push_back(1.0 / (n + 1));
    xs.push(d(raw.back()));
  }
  auto leaf = [&](size_t from, size_t to) {
    double total = raw[from];
    for (size_t n = from + 1; n < to; ++n) total += raw[n];
    return total;
  };
  double expected = (leaf(0, 750) + leaf(750, 1500)) + (leaf(1500, 2250) + leaf(2250, 3000));
  Value total = call("sum", xs.finish());
  CHECK(total->as_float() == expected);
}

TEST_CASE_FIXTURE(World, "min and max") {
  CHECK(show(call("min", i(3), d(1.0), i(1))) == "1.0");
  CHECK(show(call("max", list(i(1), i(7), d(7.0)))) == "7");
  CHECK(show(call("min", list())) == "error: min of an empty list");
  CHECK(holds(show(call("min", i(1), s("a"))), "cannot compare"));
  CHECK(holds(show(call("max", i(1))), "expected list, got int"));
}

TEST_CASE_FIXTURE(World, "text") {
  CHECK(show(call("join", list(i(1), s("a"), Value()), s(", "))) == "\"1, a, nil\"");
  CHECK(show(call("join", s("abc"), s("-"))) == "\"a-b-c\"");
  CHECK(show(call("split", s("  a b\u00a0c\n"))) == "[\"a\", \"b\", \"c\"]");
  CHECK(show(call("split", s("a,,b,"), s(","))) == "[\"a\", \"\", \"b\", \"\"]");
  CHECK(show(call("split", s(""), s(","))) == "[\"\"]");
  CHECK(show(call("split", s(""))) == "[]");
  CHECK(holds(show(call("split", s("a"), s(""))), "the separator is empty"));
  CHECK(show(call("trim", s(" \t a b\u3000"))) == "\"a b\"");
  CHECK(show(call("trim", s("  "))) == "\"\"");
  CHECK(show(call("lines", s("a\r\nb\n"))) == "[\"a\", \"b\"]");
  CHECK(holds(show(call("trim", i(5))), "expected str, got int (5)"));
}

TEST_CASE_FIXTURE(World, "numbers") {
  CHECK(show(call("abs", i(-3))) == "3");
  CHECK(show(call("abs", d(-0.0))) == "0.0");
  CHECK(show(call("abs", i(INT64_MIN))) == "error: int overflow in abs(-9223372036854775808)");
  CHECK(show(call("round", d(2.5))) == "3");
  CHECK(show(call("round", d(-2.5))) == "-3");
  CHECK(show(call("floor", d(-2.5))) == "-3");
  CHECK(show(call("ceil", d(2.1))) == "3");
  CHECK(show(call("ceil", i(7))) == "7");
  CHECK(holds(show(call("round", d(NAN))), "NaN"));
  CHECK(holds(show(call("floor", d(1e19))), "out of range"));
  CHECK(show(call("sqrt", i(9))) == "3.0");
  CHECK(holds(show(call("sqrt", s("9"))), "expected int or float, got str"));
  CHECK(show(call("clamp", i(5), i(0), i(3))) == "3");
  CHECK(show(call("clamp", d(-1.5), i(0), i(3))) == "0");
  CHECK(holds(show(call("clamp", i(5), i(3), i(0))), "out of range"));
}

TEST_CASE_FIXTURE(World, "assert, error, ref") {
  CHECK(show(call("assert", b(true))) == "nil");
  CHECK(show(call("assert", b(false))) == "error: assertion failed");
  CHECK(show(call("assert", b(false), s("why"))) == "error: assertion failed: why");
  CHECK(holds(show(call("assert", i(1))), "must be bool"));
  CHECK(show(load_field(context, call("error", s("m")), symbol("value"))) == "\"m\"");
  CHECK(show(call("ref", i(1))) == "ref(1)");
}

TEST_CASE_FIXTURE(World, "output") {
  CHECK(show(call("println", i(1), s("a"), list(s("b")))) == "nil");
  CHECK(show(call("print", s("x"))) == "nil");
  CHECK(written == "1 a [\"b\"]\nx");
  output_broken = true;
  CHECK(show(call("print")) == "error: cannot write to the output");
}

TEST_CASE("the output limit ends a print that does not fit") {
  World world(Limits{.output_bytes = 10});
  CHECK(world.show(world.call("println", world.s("12345"))) == "nil");
  CHECK(holds(world.show(world.call("println", world.s("12345"))),
              "output limit of 10 bytes exceeded"));
  CHECK(world.written == "12345\n");
}

TEST_CASE_FIXTURE(World, "a wrong number of arguments shows the signature") {
  CHECK(holds(show(call("push", list())), "push(&xs, x) takes 2 arguments, got 1"));
}

TEST_CASE("steps are charged by size, however the elements are stored") {
  World world;
  auto steps = [&](auto&& work) {
    uint64_t before = world.context.steps_used();
    work();
    return world.context.steps_used() - before;
  };
  CHECK(steps([&] { world.call("len", world.range(0, 1000000)); }) == 0);
  CHECK(steps([&] { world.call("sum", world.range(0, 1600)); }) == 100);
  CHECK(steps([&] { world.call("fill", World::i(1600), World::i(0)); }) == 100);
  CHECK(steps([&] { world.call("list", world.range(0, 1600)); }) == 100);
  Value packed = world.call("list", world.range(0, 1600));
  Value boxed = world.call("list", world.range(0, 1600));
  Borrowed place = boxed.take();
  list_unpack(world.context.heap, place);
  boxed = Value::adopt(place);
  auto search = [&](const Value& xs) {
    return steps([&] { contains(world.context, Borrowed::integer(1000), xs); });
  };
  CHECK(search(packed) == 62);
  CHECK(search(boxed) == 62);
  auto sorting = [&](const Value& xs) {
    return steps([&] { world.call("sort", Value::copy(xs)); });
  };
  CHECK(sorting(packed) == sorting(boxed));
}

TEST_CASE("huge results end with the memory limit before memory is touched") {
  World world(Limits{.memory_bytes = 1 << 20});
  auto limited = [&](Value v) { return holds(world.show(v), "memory limit"); };
  CHECK(limited(world.call("fill", World::i(1000000000), World::i(0))));
  CHECK(limited(world.call("fill", World::i(INT64_MAX), World::i(0))));
  CHECK(limited(world.call("list", world.range(0, 1000000000000))));
  CHECK(limited(world.call("list", world.range(INT64_MIN, INT64_MAX, true))));
  CHECK(limited(world.call("range", World::i(0), World::i(INT64_MAX), World::i(2))));
  CHECK(limited(world.call("reserve", world.list(), World::i(1000000000))));
  CHECK(limited(world.call("tabulate", World::i(1000000000), world.builtin("str"))));
  CHECK(world.show(world.call("len", world.range(0, 1000000000000))) == "1000000000000");
  CHECK(world.show(world.call("fill", World::i(2), World::i(0))) == "[0, 0]");
}

TEST_CASE("long work is stopped in the middle by the step limit") {
  World world(Limits{.steps = 1000});
  CHECK(holds(world.show(world.call("sum", world.range(0, 1000000000000))), "step limit"));
  CHECK(holds(world.show(world.call("each", world.range(0, 1000000000000), world.builtin("str"))),
              "step limit"));
}

TEST_CASE(
    "work that grows with every level of a value is stopped in the middle by the time limit") {
  World world(Limits{.seconds = 0.05});
  auto tower = [&](double bottom) {
    Value a = world.list(World::d(bottom));
    for (int depth = 0; depth < 60; ++depth) a = world.list(Value::copy(a), Value::copy(a));
    return a;
  };
  auto timed_out = [&](Value v) {
    bool limited = holds(world.show(v), "time limit");
    world.context.begin_evaluation();
    return limited;
  };
  Value a = tower(1), b = tower(1), c = tower(NAN), d = tower(NAN);
  auto truth = [](int answer) {
    return answer < 0 ? Value::failure() : Value::boolean(answer != 0);
  };
  CHECK(timed_out(truth(compare(world.context, BinaryOp::Eq, a, b))));
  CHECK(timed_out(truth(compare(world.context, BinaryOp::Lt, a, b))));
  CHECK(timed_out(world.call("str", Value::copy(a))));
  CHECK(timed_out(world.call("get", world.map(), Value::copy(a))));
  CHECK(timed_out(world.call("sort", world.list(std::move(c), std::move(d)))));
  CHECK(timed_out(world.call("index_of", world.list(std::move(a)), std::move(b))));
}

TEST_CASE_FIXTURE(World, "sorting deep values with a NaN at the bottom ends") {
  Limits limits;
  limits.steps = 100000;
  context.set_limits(limits);
  context.begin_evaluation();
  Value a = list(d(NAN)), b = list(d(NAN));
  for (int depth = 0; depth < 100000; ++depth) {
    a = list(std::move(a));
    b = list(std::move(b));
  }
  CHECK(holds(show(call("sort", list(std::move(a), std::move(b)))), "step limit"));
}

}  // namespace posset::interp
