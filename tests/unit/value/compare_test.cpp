// Equality, hashes and order of values, against the rules of the language.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "../sanitized.h"
#include "fixture.h"

using namespace posset::interp;
using namespace posset::interp::test;

namespace {
const double kNaN = std::numeric_limits<double>::quiet_NaN();
const double kInfinity = std::numeric_limits<double>::infinity();

// == both ways, and with it the hashes.
bool same(Borrowed a, Borrowed b) {
  bool forth = equal(a, b);
  CHECK(forth == equal(b, a));
  if (forth) CHECK(hash_of(a) == hash_of(b));
  return forth;
}
}  // namespace

TEST_CASE("equal: numbers exactly") {
  auto i = [](int64_t n) { return Borrowed::integer(n); };
  auto f = [](double d) { return Borrowed::floating(d); };
  CHECK(same(i(1), f(1.0)));
  CHECK(same(f(0.0), f(-0.0)));
  CHECK(same(i(0), f(-0.0)));
  CHECK_FALSE(same(f(kNaN), f(kNaN)));
  CHECK_FALSE(same(i((int64_t{1} << 53) + 1), f(9007199254740992.0)));
  CHECK(same(i(int64_t{1} << 53), f(9007199254740992.0)));
  CHECK_FALSE(same(i(INT64_MAX), f(9223372036854775808.0)));
  CHECK(same(i(INT64_MIN), f(-9223372036854775808.0)));
  CHECK_FALSE(same(i(1), f(1.5)));
  CHECK_FALSE(same(i(1), Borrowed::boolean(true)));
  CHECK_FALSE(same(i(0), Borrowed::nil()));
  CHECK(compare_int_float(-1, -1.5) == 1);
  CHECK(compare_int_float(-2, -1.5) == -1);
  CHECK(compare_int_float(0, 1e-300) == -1);
  CHECK(compare_int_float(INT64_MAX, kInfinity) == -1);
  CHECK(compare_int_float(INT64_MIN, -kInfinity) == 1);
  CHECK(compare_int_float(0, kNaN) == 2);
}

TEST_CASE("equal: lists by element, whatever the packing") {
  World world;
  Value ints = world.list(World::integer(1), World::integer(2));
  Value floats = world.list(World::real(1), World::real(2));
  Value mixed = world.list(World::integer(1), World::real(2));
  CHECK(same(ints, floats));
  CHECK(same(ints, mixed));
  Borrowed any = Value::copy(ints).take();
  REQUIRE(make_unique_list(world.heap, any));
  REQUIRE(list_unpack(world.heap, any));
  CHECK(same(ints, any));
  release(any);
  CHECK_FALSE(same(ints, world.list(World::integer(1))));
  CHECK_FALSE(same(world.list(World::integer(1)), world.list(Value::boolean(true))));
  CHECK(same(world.list(), world.list()));
  Value nan = world.list(World::real(kNaN));
  CHECK_FALSE(same(nan, nan));  // no identity shortcut
  Value packed = world.list(World::real(-0.0));
  CHECK(same(packed, world.list(World::real(0.0))));
  CHECK(same(packed, world.list(World::integer(0))));
}

TEST_CASE("equal: records and maps ignore order") {
  World world;
  CHECK(same(world.record({"x", "y"}, World::integer(1), World::real(2)),
             world.record({"y", "x"}, World::integer(2), World::real(1))));
  CHECK_FALSE(same(world.record({"x"}, World::integer(1)), world.record({"y"}, World::integer(1))));
  CHECK_FALSE(same(world.record({"x"}, World::integer(1)),
                   world.record({"x", "y"}, World::integer(1), Value::nil())));
  CHECK(same(world.record({}), world.record({})));
  CHECK(same(world.map(World::integer(1), world.text("a"), world.text("k"), World::integer(2)),
             world.map(world.text("k"), World::real(2), World::real(1), world.text("a"))));
  CHECK_FALSE(same(world.map(World::integer(1), World::integer(1)),
                   world.map(World::integer(2), World::integer(1))));
  CHECK_FALSE(same(world.map(World::integer(1), World::integer(1)),
                   world.map(World::integer(1), World::integer(2))));
  CHECK(same(world.map(), world.map()));
  CHECK_FALSE(same(world.map(), world.list()));
}

TEST_CASE("equal: variants, ranges, refs, functions, errors") {
  World world;
  CHECK(same(world.variant(0, World::integer(1)), world.variant(0, World::real(1))));
  CHECK_FALSE(same(world.variant(0, World::integer(1)), world.record({"r"}, World::integer(1))));
  CHECK(same(world.variant(2), world.variant(2)));
  CHECK(same(world.range(0, 3), world.range(0, 2, true)));
  CHECK(same(world.range(5, 5), world.range(9, 1)));
  CHECK(same(world.range(5, 4, true), world.range(INT64_MIN, INT64_MIN)));
  CHECK_FALSE(same(world.range(0, 3), world.range(1, 3)));
  CHECK_FALSE(same(world.range(0, 0, true), world.range(0, 0)));
  CHECK(same(world.range(INT64_MIN, INT64_MAX, true), world.range(INT64_MIN, INT64_MAX, true)));
  CHECK_FALSE(same(world.range(0, 1), world.list(World::integer(0))));
  Value r = world.ref(World::integer(1));
  CHECK(same(r, r));
  CHECK_FALSE(same(r, world.ref(World::integer(1))));
  auto closure = [&](uintptr_t function, Value captured) {
    auto* made = world.heap.make<Closure>(Tag::Fn, sizeof(Closure) + sizeof(Borrowed));
    made->function = reinterpret_cast<const Function*>(function);
    made->owner_count = nullptr;
    made->size = 1;
    made->captured()[0] = captured.take();
    return Value::adopt(Borrowed::heap(Tag::Fn, made));
  };
  CHECK(same(closure(64, World::integer(1)), closure(64, World::real(1))));
  CHECK_FALSE(same(closure(64, World::integer(1)), closure(64, World::integer(2))));
  CHECK_FALSE(same(closure(64, World::integer(1)), closure(128, World::integer(1))));
  auto error = [&](const char* message) {
    auto* made = world.heap.make<ErrorObject>(Tag::Error);
    made->message = world.text(message).take();
    made->value = Borrowed::nil();
    made->data = nullptr;
    return Value::adopt(Borrowed::heap(Tag::Error, made));
  };
  CHECK(same(error("no"), error("no")));
  CHECK_FALSE(same(error("no"), error("yes")));
}

TEST_CASE("equal: nested structures") {
  World world;
  auto make = [&](double last) {
    return world.list(world.record({"a"}, world.map(world.text("k"), world.list(World::integer(1),
                                                                                world.real(last)))),
                      world.variant(0, world.text("a string of some length")));
  };
  CHECK(same(make(2), make(2)));
  CHECK_FALSE(same(make(2), make(3)));
  CHECK_FALSE(same(make(kNaN), make(kNaN)));
}

TEST_CASE("equal, hash, order, weight: a million levels deep") {
  constexpr size_t kDeep = posset::test::kSanitized ? 200'000 : 1'000'000;
  World world;
  Value a = world.nested(kDeep), b = world.nested(kDeep), c = world.nested(kDeep - 1);
  CHECK(equal(a, b));
  CHECK_FALSE(equal(a, c));
  CHECK(hash_of(a) == hash_of(b));
  CHECK(order(a, b) == Order::Equal);
  CHECK(order(c, a) == Order::Less);
  CHECK(is_valid_key(a) == KeyProblem::None);
  CHECK(weight_of(a, UINT64_MAX) == kDeep);
  CHECK(weight_of(a, 10) == 10);
}

TEST_CASE("equal, order, weight, print: walks ask whether they are still wanted, and end where they are not") {
  World world;
  const auto numbers = [&](bool floats) {
    Borrowed place = Borrowed::heap(Tag::List, new_list(world.heap, floats ? Packing::Float : Packing::Int, 0));
    for (int i = 0; i < 3000000; ++i) world.push(place, floats ? Value::floating(i) : Value::integer(i));
    return Value::adopt(place);
  };
  Value a = world.nested(1000000), b = world.nested(1000000);
  Value ints = numbers(false), same_ints = numbers(false), floats = numbers(true), same_floats = numbers(true);
  const std::vector<std::function<void(Patience&)>> walks = {
      [&](Patience& patience) { equal(a, b, &patience); },
      [&](Patience& patience) { equal(ints, same_ints, &patience); },
      [&](Patience& patience) { equal(floats, same_floats, &patience); },
      [&](Patience& patience) { equal(ints, floats, &patience); },
      [&](Patience& patience) { order(a, b, nullptr, nullptr, &patience); },
      [&](Patience& patience) { order(ints, same_ints, nullptr, nullptr, &patience); },
      [&](Patience& patience) { weight_of(a, UINT64_MAX, &patience); },
      [&](Patience& patience) {
        StringBuilder out(world.heap);
        print_literal(out, a, &patience);
      },
  };
  for (size_t i = 0; i < walks.size(); ++i) {
    CAPTURE(i);
    Counting patient(INT32_MAX), impatient(3);
    walks[i](patient);
    CHECK(patient.looks() > 10);
    CHECK_FALSE(patient.ended());
    walks[i](impatient);
    CHECK(impatient.looks() == 3);
    CHECK(impatient.ended());
  }
}

TEST_CASE("order: numbers, strings, lists") {
  World world;
  auto i = [](int64_t n) { return Borrowed::integer(n); };
  auto f = [](double d) { return Borrowed::floating(d); };
  CHECK(order(i(1), i(2)) == Order::Less);
  CHECK(order(i((int64_t{1} << 53) + 1), f(9007199254740992.0)) == Order::Greater);
  CHECK(order(f(9007199254740992.0), i((int64_t{1} << 53) + 1)) == Order::Less);
  CHECK(order(f(-0.0), i(0)) == Order::Equal);
  CHECK(order(f(kNaN), i(0)) == Order::Unordered);
  CHECK(order(world.text("a"), world.text("b")) == Order::Less);
  CHECK(order(world.text("z"), world.text("ä")) == Order::Less);
  CHECK(order(world.text("￿"), world.text("😀")) == Order::Less);
  CHECK(order(world.text("ab"), world.text("a")) == Order::Greater);
  CHECK(order(world.text("a long string, longer than fourteen"), world.text("b")) == Order::Less);
  CHECK(order(world.list(World::integer(1), World::integer(2)),
              world.list(World::integer(1), World::integer(3))) == Order::Less);
  CHECK(order(world.list(World::integer(1)), world.list(World::integer(1), World::integer(0))) ==
        Order::Less);
  CHECK(order(world.list(), world.list()) == Order::Equal);
  CHECK(order(world.list(Value::nil(), World::integer(1)),
              world.list(Value::nil(), World::integer(2))) == Order::Less);
  CHECK(order(world.list(World::real(kNaN)), world.list(World::real(kNaN))) == Order::Unordered);
  Borrowed left, right;
  CHECK(order(world.list(Value::nil()), world.list(World::integer(1)), &left, &right) ==
        Order::Incomparable);
  CHECK(left.is_nil());
  CHECK(right.is_int());
  CHECK(order(i(1), world.text("1")) == Order::Incomparable);
  CHECK(order(Borrowed::boolean(false), Borrowed::boolean(true)) == Order::Incomparable);
  CHECK(order(world.record({}), world.record({})) == Order::Incomparable);
  CHECK(order(world.list(world.record({}), World::integer(1)),
              world.list(world.record({}), World::integer(2))) == Order::Less);
}

TEST_CASE("order: variants by place of declaration, then by fields") {
  World world;
  CHECK(order(world.variant(0, World::integer(9)),
              world.variant(1, World::integer(1), World::integer(1))) == Order::Less);
  CHECK(order(world.variant(1, World::integer(1), World::integer(2)),
              world.variant(1, World::integer(1), World::integer(1))) == Order::Greater);
  CHECK(order(world.variant(2), world.variant(2)) == Order::Equal);
  ShapeTable::ConstructorSpec specs[] = {{"Other", {}}};
  const VariantType* type = world.shapes.variant_type("Other", "test/Other", specs);
  Value other = Value::adopt(Borrowed::heap(
      Tag::Variant, new_record(world.heap, world.shapes.shape(type->constructors[0]))));
  CHECK(order(other, world.variant(2)) == Order::Incomparable);
  CHECK_FALSE(equal(other, world.variant(2)));
}

TEST_CASE("keys: what may be one") {
  World world;
  CHECK(is_valid_key(Borrowed::nil()) == KeyProblem::None);
  CHECK(is_valid_key(Borrowed::floating(1.5)) == KeyProblem::None);
  CHECK(is_valid_key(Borrowed::floating(kNaN)) == KeyProblem::NaN);
  CHECK(is_valid_key(world.text("a string of some length")) == KeyProblem::None);
  CHECK(is_valid_key(world.list(world.variant(0, World::integer(1)),
                                world.record({"x"}, Value::nil()))) == KeyProblem::None);
  CHECK(is_valid_key(world.list(World::real(1), World::real(kNaN))) == KeyProblem::NaN);
  CHECK(is_valid_key(world.list(Value::nil(), World::real(kNaN))) == KeyProblem::NaN);
  CHECK(is_valid_key(world.map()) == KeyProblem::Kind);
  CHECK(is_valid_key(world.list(world.range(0, 1))) == KeyProblem::Kind);
  CHECK(is_valid_key(world.ref()) == KeyProblem::Kind);
}

TEST_CASE("weight: does not depend on the packing") {
  World world;
  Value packed = list_of_range(world.heap, 0, 100);
  Borrowed any = list_of_range(world.heap, 0, 100).take();
  REQUIRE(list_unpack(world.heap, any));
  CHECK(weight_of(packed, 1000) == 101);
  CHECK(weight_of(any, 1000) == 101);
  CHECK(weight_of(any, 50) == 50);
  release(any);
  CHECK(weight_of(world.text(std::string(6400, 'x')), 1000) == 101);
  CHECK(weight_of(Borrowed::nil(), 1000) == 1);
  CHECK(weight_of(world.map(World::integer(1), World::integer(2)), 1000) == 3);
}

TEST_CASE("hash: spreads the keys programs use") {
  std::vector<int> low(1024), high(1024);
  for (int64_t i = 0; i < 1024 * 16; ++i) {
    uint64_t hash = hash_of(Borrowed::integer(i * 1024));
    ++low[hash & 1023];
    ++high[hash >> 54];
  }
  CHECK(*std::max_element(low.begin(), low.end()) < 48);
  CHECK(*std::max_element(high.begin(), high.end()) < 48);
}
