// Places: steps, stores and takes, and that copies happen only when somebody else holds the value.
#include "interp/runtime/place.h"

#include "world.h"

namespace posset::interp {

namespace {

// A variable: its slot, as a frame holds it.
struct Places : World {
  Borrowed slot = Borrowed::nil();
  ~Places() { release(slot); }
  void set(Value v) {
    release(slot);
    slot = v.take();
  }
  std::string text() {
    StringBuilder out(context.heap);
    print_literal(out, slot);
    return std::string(out.view());
  }
  uint64_t copies() const { return context.heap.stats().copies; }
};

}  // namespace

TEST_CASE_FIXTURE(Places, "a store into an unshared container makes no copy") {
  set(list(list(i(1), s("a")), list(i(2), s("b"))));
  Borrowed* inner = place_index(context, &slot, Borrowed::integer(1));
  REQUIRE(inner);
  CHECK(store_index(context, inner, Borrowed::integer(0), i(9)));
  CHECK(text() == "[[1, \"a\"], [9, \"b\"]]");
  CHECK(copies() == 0);
}

TEST_CASE_FIXTURE(Places, "a store into a shared container copies what lies on the way, once") {
  set(list(list(i(1), s("a")), list(i(2), s("b"))));
  Value other = Value::copy(slot);
  Borrowed* inner = place_index(context, &slot, Borrowed::integer(0));
  REQUIRE(inner);
  CHECK(store_index(context, inner, Borrowed::integer(1), s("z")));
  CHECK(text() == "[[1, \"z\"], [2, \"b\"]]");
  CHECK(show(other) == "[[1, \"a\"], [2, \"b\"]]");
  CHECK(copies() == 2);
}

TEST_CASE_FIXTURE(Places, "packed lists widen on a store that does not fit") {
  set(list(i(1), i(2)));
  CHECK(store_index(context, &slot, Borrowed::integer(0), s("x")));
  CHECK(text() == "[\"x\", 2]");
}

TEST_CASE_FIXTURE(Places, "a number has no places inside") {
  set(list(i(1), i(2)));
  Borrowed* inside = place_index(context, &slot, Borrowed::integer(0));
  REQUIRE(inside);
  CHECK(!store_index(context, inside, Borrowed::integer(0), i(1)));
  CHECK(message() == "cannot assign to an element of int (1)");
  CHECK(!store_field(context, inside, symbol("x"), i(1)));
  CHECK(message() == "no field 'x' in int (1)");
  CHECK(text() == "[1, 2]");
}

TEST_CASE_FIXTURE(Places, "a failing store changes and copies nothing") {
  set(list(i(1)));
  Value other = Value::copy(slot);
  CHECK(!store_index(context, &slot, Borrowed::integer(1), i(1)));
  CHECK(message() == "index 1 is out of range for a list of 1");
  CHECK(!store_index(context, &slot, Borrowed::boolean(true), i(1)));
  CHECK(holds(message(), "expected int, got bool"));
  CHECK(copies() == 0);
}

TEST_CASE_FIXTURE(Places, "maps") {
  set(map(s("a"), i(1)));
  CHECK(store_index(context, &slot, s("b"), i(2)));
  CHECK(text() == "[\"a\": 1, \"b\": 2]");
  CHECK(place_index(context, &slot, s("c")) == nullptr);
  CHECK(message() == "key \"c\" not found");
  Value start = list();
  Borrowed* fresh = place_index_default(context, &slot, s("c"), start);
  REQUIRE(fresh);
  CHECK(list_push(context.heap, *fresh, i(7)));
  CHECK(text() == "[\"a\": 1, \"b\": 2, \"c\": [7]]");
  Value unused = i(0);
  Borrowed* there = place_index_default(context, &slot, s("a"), unused);
  REQUIRE(there);
  CHECK(there->as_int() == 1);
  Value cell = call("ref", i(1));
  CHECK(!store_index(context, &slot, cell, i(1)));
  CHECK(holds(message(), "ref cannot be a map key"));
  CHECK(!store_index(context, &slot, list(Value::floating(__builtin_nan(""))), i(1)));
  CHECK(holds(message(), "NaN"));
}

TEST_CASE_FIXTURE(Places, "records and refs") {
  set(record({{"x", 1}, {"y", 2}}));
  CHECK(store_field(context, &slot, symbol("x"), i(5)));
  CHECK(!store_field(context, &slot, symbol("z"), i(5)));
  CHECK(message() == "no field 'z' in {x, y}");
  CHECK(text() == "{x: 5, y: 2}");
  set(call("ref", list(i(1))));
  Value alias = Value::copy(slot);
  Borrowed* cell = place_field(context, &slot, symbol("value"));
  REQUIRE(cell);
  CHECK(store_index(context, cell, Borrowed::integer(0), i(2)));
  CHECK(show(alias) == "ref([2])");
}

TEST_CASE_FIXTURE(Places, "strings and ranges have no element places") {
  set(s("abc"));
  CHECK(!store_index(context, &slot, Borrowed::integer(0), s("x")));
  CHECK(message() == "cannot assign to an element of str (\"abc\")");
  set(range(0, 3));
  CHECK(place_index(context, &slot, Borrowed::integer(0)) == nullptr);
  CHECK(message() == "cannot assign to an element of range (0..3)");
}

TEST_CASE_FIXTURE(Places, "taking leaves nil, so the value is unique while it is lent") {
  set(list(list(i(1)), s("a")));
  Value taken = take_index(context, &slot, Borrowed::integer(0), false);
  CHECK(is_unique(taken->object()));
  CHECK(text() == "[nil, \"a\"]");
  CHECK(store_index(context, &slot, Borrowed::integer(0), std::move(taken)));
  Value copied = take_index(context, &slot, Borrowed::integer(0), true);
  CHECK(text() == "[[1], \"a\"]");
  set(list(i(1), i(2)));
  CHECK(show(take_index(context, &slot, Borrowed::integer(1), false)) == "2");
  CHECK(slot.as<List>()->packing() == Packing::Int);
  CHECK(take_index(context, &slot, Borrowed::integer(2), false).failed());
  CHECK(holds(message(), "index 2 is out of range"));
  set(record({{"x", 1}}));
  CHECK(show(take_field(context, &slot, symbol("x"), false)) == "1");
  CHECK(text() == "{x: nil}");
  set(call("ref", i(4)));
  CHECK(show(take_field(context, &slot, symbol("value"), false)) == "4");
  CHECK(text() == "ref(4)");
  set(map(s("k"), list(i(1))));
  CHECK(show(take_index(context, &slot, s("k"), false)) == "[1]");
  CHECK(text() == "[\"k\": nil]");
}

}  // namespace posset::interp
