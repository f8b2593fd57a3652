// Values: every kind made and read, text, comparing, collections, ownership of places.
#include <cmath>
#include <vector>

#include "fixture.h"

using posset::test::append;
using posset::test::str;
using posset::test::text;
using posset::test::World;

TEST_CASE("numbers stand in the words themselves") {
  CHECK(posset_kind_of(posset_nil()) == POSSET_NIL);
  CHECK(posset_as_int(posset_int(INT64_MIN)) == INT64_MIN);
  CHECK(posset_as_float(posset_float(-0.5)) == -0.5);
  CHECK(posset_as_bool(posset_bool(true)));
  CHECK(posset_as_number(posset_int(3)) == 3.0);
  CHECK(std::string(posset_kind_name(POSSET_STR)) == "str");
  CHECK(posset_equal(posset_int(1), posset_float(1)));
  CHECK(posset_order(posset_int(1), posset_float(1.5)) == -1);
  CHECK(posset_order(posset_int(1), posset_float(NAN)) == 2);
  CHECK(posset_order(posset_int(1), posset_nil()) == 3);
  CHECK(posset_hash(posset_int(2)) == posset_hash(posset_float(2)));
}

TEST_CASE("strings, short and long") {
  World w;
  for (std::string s :
       {std::string(), std::string("né"), std::string("fourteen bytes"), std::string(100, 'x')}) {
    posset_value v = posset_nil();
    REQUIRE(posset_string(w.context, text(s), &v) == POSSET_OK);
    CHECK(posset_is(v, POSSET_STR));
    CHECK(str(posset_string_text(&v)) == s);
    posset_release(v);
  }
  posset_value v = posset_nil();
  CHECK(posset_string(w.context, text("a\xff"), &v) == POSSET_RAISED);
  CHECK(w.problem().code == POSSET_ERROR_BadArgument);
  REQUIRE(posset_string_lossy(w.context, text("a\xff"), &v) == POSSET_OK);
  CHECK(str(posset_string_text(&v)) == "a\uFFFD");
  CHECK(posset_string_length(v) == 2);
  CHECK(!posset_string_is_ascii(v));
  posset_value number = posset_int(5);
  CHECK(posset_string_text(&number).size == 0);
}

TEST_CASE("buffers make strings") {
  World w;
  posset_buffer* buffer = posset_buffer_create(w.context);
  REQUIRE(buffer);
  posset_buffer_append(buffer, text("n="));
  posset_buffer_append_int(buffer, -7);
  posset_buffer_append(buffer, text(" f="));
  posset_buffer_append_float(buffer, 0.1);
  posset_buffer_append_scalar(buffer, 0x1F600);
  CHECK(posset_buffer_append_value(buffer, posset_bool(true), true) == POSSET_OK);
  posset_value made = posset_nil();
  REQUIRE(posset_buffer_finish(buffer, &made) == POSSET_OK);
  CHECK(str(posset_string_text(&made)) == "n=-7 f=0.1\U0001F600true");
  CHECK(posset_buffer_text(buffer).size == 0);
  posset_buffer_append(buffer, text(std::string(5000, 'y')));
  posset_value second = posset_nil();
  REQUIRE(posset_buffer_finish(buffer, &second) == POSSET_OK);
  CHECK(posset_string_length(second) == 5000);
  posset_release(made);
  posset_release(second);
  posset_buffer_free(buffer);
}

TEST_CASE("buffers and names of fields that are no UTF-8 are refused, for strings would be made of them") {
  World w;
  posset_buffer* buffer = posset_buffer_create(w.context);
  posset_buffer_append(buffer, text("a\xff"));
  posset_value made = posset_nil();
  CHECK(posset_buffer_finish(buffer, &made) == POSSET_RAISED);
  CHECK(w.problem().message == "the text is not valid UTF-8");
  CHECK(posset_buffer_text(buffer).size == 0);
  posset_buffer_append(buffer, text("\xc3"));
  posset_buffer_append(buffer, text("\xa9"));
  REQUIRE(posset_buffer_finish(buffer, &made) == POSSET_OK);
  CHECK(w.take_text(made) == "\"é\"");
  posset_buffer_free(buffer);
  const posset_text name = text("\xff");
  posset_value field = posset_int(1);
  CHECK(posset_record(w.context, &name, &field, 1, &made) == POSSET_RAISED);
  CHECK(w.problem().message == "the name of a field is not valid UTF-8");
  posset_value record = posset_nil();
  REQUIRE(posset_record(w.context, nullptr, nullptr, 0, &record) == POSSET_OK);
  CHECK(posset_field_set(w.context, &record, name, posset_int(1)) == POSSET_RAISED);
  CHECK(w.problem().code == POSSET_ERROR_BadArgument);
  posset_release(record);
}

TEST_CASE("lists are values") {
  World w;
  posset_value list = posset_nil();
  REQUIRE(posset_list(w.context, 3, &list) == POSSET_OK);
  for (int i = 0; i < 3; ++i)
    REQUIRE(posset_list_push(w.context, &list, posset_int(i)) == POSSET_OK);
  posset_value copy = posset_retain(list);
  CHECK(posset_list_set(w.context, &copy, 0, posset_float(9.5)) == POSSET_OK);
  CHECK(posset_list_insert(w.context, &copy, 1, posset_nil()) == POSSET_OK);
  CHECK(posset_list_swap(w.context, &copy, 2, 3) == POSSET_OK);
  CHECK(posset_as_int(posset_list_at(list, 0)) == 0);
  CHECK(w.take_text(posset_retain(copy)) == "[9.5, nil, 2, 1]");
  posset_value removed = posset_nil();
  CHECK(posset_list_remove(w.context, &copy, 0, &removed) == POSSET_OK);
  CHECK(posset_as_float(removed) == 9.5);
  CHECK(posset_list_truncate(w.context, &copy, 1) == POSSET_OK);
  CHECK(posset_list_size(copy) == 1);
  CHECK(posset_list_set(w.context, &copy, 1, posset_nil()) == POSSET_NOT_FOUND);
  CHECK(posset_list_at(copy, 5).word0 == posset_nil().word0);
  posset_value slice = posset_nil();
  CHECK(posset_list_slice(w.context, list, 1, 3, &slice) == POSSET_OK);
  CHECK(w.take_text(slice) == "[1, 2]");
  CHECK(posset_list_slice(w.context, list, 2, 9, &slice) == POSSET_NOT_FOUND);
  CHECK(w.take_text(list) == "[0, 1, 2]");
  posset_value number = posset_int(1);
  CHECK(posset_list_push(w.context, &number, posset_int(1)) == POSSET_MISUSE);
  posset_release(copy);
}

TEST_CASE("lists of numbers are read without copying") {
  World w;
  std::vector<double> given{1.5, -2, 1e300};
  posset_value list = posset_nil();
  REQUIRE(posset_list_of_floats(w.context, given.data(), given.size(), &list) == POSSET_OK);
  const double* floats = nullptr;
  const int64_t* ints = nullptr;
  uint64_t count = 0;
  CHECK(posset_list_floats(list, &floats, &count));
  CHECK(count == 3);
  CHECK(floats[2] == 1e300);
  CHECK(!posset_list_ints(list, &ints, &count));
  posset_release(list);
  REQUIRE(posset_list_of_ints(w.context, nullptr, 0, &list) == POSSET_OK);
  CHECK(posset_list_ints(list, &ints, &count));
  CHECK(count == 0);
  REQUIRE(posset_list_push(w.context, &list, posset_nil()) == POSSET_OK);
  CHECK(w.take_text(list) == "[nil]");
}

TEST_CASE("a map gives what is at a key that takes long, for the steps that it weighs, or is interrupted") {
  World w;
  w.session("let xs = [for i in 0..100000 => i]");
  w.session("let ys = [for i in 0..100000 => i]");
  w.session("let m = [xs: 7]");
  posset_value map = posset_nil(), key = posset_nil(), found = posset_nil();
  REQUIRE(posset_session_get(w.context, text("m"), &map) == POSSET_OK);
  REQUIRE(posset_session_get(w.context, text("ys"), &key) == POSSET_OK);
  CHECK(posset_map_get(w.context, map, key, &found) == POSSET_OK);
  CHECK(posset_as_int(found) == 7);
  posset_context_options options = posset_context_defaults();
  options.step_limit = 100000 / 16 - 1;
  REQUIRE(posset_context_set_options(w.context, &options) == POSSET_OK);
  CHECK(posset_map_get(w.context, map, key, &found) == POSSET_RAISED);
  CHECK(w.problem().code == POSSET_ERROR_StepLimit);
  posset_release(map);
  posset_release(key);
}

TEST_CASE("maps keep their order") {
  World w;
  posset_value map = posset_nil(), key = posset_nil();
  REQUIRE(posset_map(w.context, 0, &map) == POSSET_OK);
  for (int i = 20; i-- > 0;) {
    REQUIRE(posset_map_set(w.context, &map, posset_int(i), posset_int(i * i)) == POSSET_OK);
  }
  REQUIRE(posset_string(w.context, text("a key that is rather long"), &key) == POSSET_OK);
  REQUIRE(posset_map_set(w.context, &map, posset_retain(key), posset_bool(true)) == POSSET_OK);
  posset_value found = posset_nil();
  CHECK(posset_map_find(map, key, &found));
  CHECK(posset_as_bool(found));
  CHECK(!posset_map_find(map, posset_float(NAN), &found));
  CHECK(posset_map_get(w.context, map, key, &found) == POSSET_OK);
  CHECK(posset_as_bool(found));
  CHECK(posset_map_get(w.context, map, posset_float(NAN), &found) == POSSET_NOT_FOUND);
  CHECK(posset_map_get(w.context, map, posset_int(20), &found) == POSSET_NOT_FOUND);
  CHECK(posset_is_nil(found));
  CHECK(posset_map_get(w.context, key, posset_int(20), &found) == POSSET_MISUSE);
  CHECK(posset_map_set(w.context, &map, posset_float(NAN), posset_nil()) == POSSET_RAISED);
  CHECK(w.problem().code == POSSET_ERROR_NotANumber);
  posset_value copy = posset_retain(map);
  CHECK(posset_map_remove(w.context, &copy, posset_int(19), &found) == POSSET_OK);
  CHECK(posset_as_int(found) == 361);
  CHECK(posset_map_remove(w.context, &copy, posset_int(19), nullptr) == POSSET_NOT_FOUND);
  uint64_t at = 0;
  posset_value k = posset_nil(), v = posset_nil();
  REQUIRE(posset_map_next(copy, &at, &k, &v));
  CHECK(posset_as_int(k) == 18);
  int n = 1;
  while (posset_map_next(copy, &at, &k, &v)) ++n;
  CHECK(n == 20);
  CHECK(posset_map_size(map) == 21);
  posset_release(copy);
  posset_release(map);
  posset_release(key);
}

TEST_CASE("records and variants") {
  World w;
  posset_text names[] = {text("x"), text("name")};
  posset_value values[] = {posset_int(1), posset_nil()};
  REQUIRE(posset_string(w.context, text("a name beyond fourteen bytes"), &values[1]) == POSSET_OK);
  posset_value record = posset_nil();
  REQUIRE(posset_record(w.context, names, values, 2, &record) == POSSET_OK);
  CHECK(posset_field_count(record) == 2);
  CHECK(str(posset_field_name(w.context, record, 1)) == "name");
  posset_value x = posset_nil();
  CHECK(posset_field(w.context, record, text("x"), &x));
  CHECK(posset_as_int(x) == 1);
  CHECK(!posset_field(w.context, record, text("y"), &x));
  CHECK(posset_field_set(w.context, &record, text("x"), posset_int(2)) == POSSET_OK);
  CHECK(posset_field_set(w.context, &record, text("y"), posset_int(3)) == POSSET_OK);
  CHECK(w.take_text(record) == "{x: 2, name: \"a name beyond fourteen bytes\", y: 3}");
  posset_text twice[] = {text("x"), text("x")};
  posset_value numbers[] = {posset_int(1), posset_int(2)};
  CHECK(posset_record(w.context, twice, numbers, 2, &record) == POSSET_MISUSE);

  posset_value circle = posset_nil();
  REQUIRE(w.eval("type Shape = Circle(r) | Dot\nCircle(2.5)", &circle) == POSSET_OK);
  CHECK(posset_is(circle, POSSET_VARIANT));
  CHECK(str(posset_variant_name(w.context, circle)) == "Circle");
  CHECK(str(posset_type_name(w.context, circle)) == "Shape");
  CHECK(posset_as_float(posset_field_at(circle, 0)) == 2.5);
  CHECK(posset_field_set(w.context, &circle, text("q"), posset_nil()) == POSSET_NOT_FOUND);
  posset_release(circle);
}

TEST_CASE("ranges, refs and error values") {
  World w;
  posset_value v = posset_nil();
  REQUIRE(posset_range(w.context, 2, 5, true, &v) == POSSET_OK);
  int64_t first = 0, step = 0;
  uint64_t count = 0;
  CHECK(posset_range_ints(v, &first, &step, &count));
  CHECK(first == 2);
  CHECK(step == 1);
  CHECK(count == 4);
  CHECK(w.take_text(v) == "2..=5");
  REQUIRE(posset_ref(w.context, posset_int(1), &v) == POSSET_OK);
  CHECK(posset_ref_set(v, posset_int(2)) == POSSET_OK);
  CHECK(posset_as_int(posset_ref_get(v)) == 2);
  CHECK(w.take_text(v) == "ref(2)");
  CHECK(posset_ref_set(posset_nil(), posset_nil()) == POSSET_MISUSE);
  REQUIRE(posset_error_value(w.context, text("went wrong"), posset_int(7), &v) == POSSET_OK);
  posset_value message = posset_error_message_of(v);
  CHECK(str(posset_string_text(&message)) == "went wrong");
  CHECK(posset_as_int(posset_error_value_of(v)) == 7);
  CHECK(posset_throw(w.context, v) == POSSET_RAISED);
  CHECK(w.problem().message == "went wrong");
}

TEST_CASE("going through whatever for takes") {
  World w;
  for (auto [source, expected] :
       {std::pair{"[1, 2, 3]", 6}, std::pair{"1..4", 6}, std::pair{"\"abc\"", 0}}) {
    posset_value v = posset_nil();
    REQUIRE(w.eval(source, &v) == POSSET_OK);
    CHECK(posset_count_items(v) == 3);
    int64_t total = 0;
    auto visit = [](void* data, posset_value item) {
      if (posset_is_int(item)) *static_cast<int64_t*>(data) += posset_as_int(item);
      return POSSET_OK;
    };
    CHECK(posset_iterate(w.context, v, visit, &total) == POSSET_OK);
    CHECK(total == expected);
    posset_release(v);
  }
  posset_value channel = posset_nil();
  REQUIRE(w.eval("do { let c = chan(3); c.send(1); c.send(5); c.close(); c }", &channel) == POSSET_OK);
  CHECK(posset_is_iterable(channel));
  CHECK(posset_count_items(channel) == UINT64_MAX);
  int64_t received = 0;
  auto add = [](void* data, posset_value item) {
    *static_cast<int64_t*>(data) += posset_as_int(item);
    return POSSET_OK;
  };
  CHECK(posset_iterate(w.context, channel, add, &received) == POSSET_OK);
  CHECK(received == 6);
  posset_release(channel);
  auto stop = [](void*, posset_value) { return POSSET_DONE; };
  posset_value endless = posset_nil();
  REQUIRE(posset_range(w.context, 0, INT64_MAX, false, &endless) == POSSET_OK);
  CHECK(posset_iterate(w.context, endless, stop, nullptr) == POSSET_OK);
  posset_release(endless);
  CHECK(posset_iterate(w.context, posset_int(1), stop, nullptr) == POSSET_RAISED);
  CHECK(w.problem().message.find("cannot iterate") != std::string::npos);
}

TEST_CASE("text of values and of numbers") {
  World w;
  posset_value v = posset_nil();
  REQUIRE(w.eval("[\"a\", 1.0, {x: nil}]", &v) == POSSET_OK);
  char out[16];
  CHECK(posset_brief(w.context, v, 60, out, sizeof out) == 15);
  posset_value s = posset_nil();
  REQUIRE(posset_to_string(w.context, v, &s) == POSSET_OK);
  CHECK(str(posset_string_text(&s)) == "[\"a\", 1.0, {x: nil}]");
  posset_release(s);
  posset_release(v);
  int64_t i = 0;
  double d = 0;
  CHECK(posset_parse_int(text(" -12 "), &i));
  CHECK(i == -12);
  CHECK(!posset_parse_int(text("12x"), &i));
  CHECK(posset_parse_float(text("1e3"), &d));
  CHECK(d == 1000);
}

TEST_CASE("the memory limit holds for what the host makes, and passes") {
  posset_context_options options = posset_context_defaults();
  options.memory_limit = 4 << 20;
  World w(options);
  std::vector<int64_t> many(1 << 20);
  posset_value list = posset_nil();
  CHECK(posset_list_of_ints(w.context, many.data(), many.size(), &list) == POSSET_RAISED);
  posset::test::Problem problem = w.problem();
  CHECK(problem.code == POSSET_ERROR_MemoryLimit);
  CHECK(problem.is_limit);
  CHECK(posset_charge_memory(w.context, size_t{1} << 40) == POSSET_RAISED);
  w.problem();
  CHECK(posset_charge_memory(w.context, 1000) == POSSET_OK);
  posset_discharge_memory(w.context, 1000);
  CHECK(w.show("sum([1, 2, 3])") == "6");
}
