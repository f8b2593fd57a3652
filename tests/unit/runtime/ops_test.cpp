// Operators on values: results, and the words of what they raise.
#include <cmath>
#include <limits>

#include "world.h"

namespace posset::interp {

namespace {

constexpr int64_t kMax = INT64_MAX, kMin = INT64_MIN;

struct Ops : World {
  std::string op(BinaryOp o, Value a, Value b) { return show(binary(context, o, std::move(a), b)); }
};

}  // namespace

TEST_CASE_FIXTURE(Ops, "int arithmetic stays int and says where it overflows") {
  CHECK(op(BinaryOp::Add, i(2), i(3)) == "5");
  CHECK(op(BinaryOp::Add, i(kMax), i(1)) == "error: int overflow in 9223372036854775807 + 1");
  CHECK(op(BinaryOp::Sub, i(kMin), i(1)) == "error: int overflow in -9223372036854775808 - 1");
  CHECK(op(BinaryOp::Mul, i(kMin), i(-1)) == "error: int overflow in -9223372036854775808 * -1");
  CHECK(op(BinaryOp::IntDiv, i(kMin), i(-1)) ==
        "error: int overflow in -9223372036854775808 // -1");
  CHECK(op(BinaryOp::Mod, i(kMin), i(-1)) == "0");
  CHECK(op(BinaryOp::WrapAdd, i(kMax), i(1)) == "-9223372036854775808");
  CHECK(op(BinaryOp::WrapMul, i(kMax), i(2)) == "-2");
  CHECK(op(BinaryOp::WrapSub, i(kMin), i(1)) == "9223372036854775807");
  CHECK(op(BinaryOp::Div, i(7), i(2)) == "3.5");
  CHECK(op(BinaryOp::Div, i(1), i(0)) == "inf");
}

TEST_CASE_FIXTURE(Ops, "floor division and modulo follow the divisor") {
  CHECK(op(BinaryOp::IntDiv, i(-7), i(2)) == "-4");
  CHECK(op(BinaryOp::IntDiv, i(7), i(-2)) == "-4");
  CHECK(op(BinaryOp::Mod, i(-7), i(2)) == "1");
  CHECK(op(BinaryOp::Mod, i(7), i(-2)) == "-1");
  CHECK(op(BinaryOp::Mod, d(-7.5), i(2)) == "0.5");
  CHECK(op(BinaryOp::Mod, d(4.0), d(-2.0)) == "-0.0");
  CHECK(op(BinaryOp::IntDiv, d(-7.5), i(2)) == "-4.0");
  CHECK(op(BinaryOp::IntDiv, i(1), d(0.0)) == "inf");
  CHECK(op(BinaryOp::IntDiv, i(1), i(0)) == "error: division by zero in 1 // 0");
  CHECK(op(BinaryOp::Mod, i(1), i(0)) == "error: division by zero in 1 % 0");
}

TEST_CASE_FIXTURE(Ops, "powers") {
  CHECK(op(BinaryOp::Pow, i(2), i(10)) == "1024");
  CHECK(op(BinaryOp::Pow, i(-2), i(63)) == "-9223372036854775808");
  CHECK(op(BinaryOp::Pow, i(2), i(63)) == "error: int overflow in 2 ** 63");
  CHECK(op(BinaryOp::Pow, i(3), i(1000000)) == "error: int overflow in 3 ** 1000000");
  CHECK(op(BinaryOp::Pow, i(-1), i(kMax)) == "-1");
  CHECK(op(BinaryOp::Pow, i(0), i(0)) == "1");
  CHECK(op(BinaryOp::Pow, i(2), i(-1)) == "0.5");
  CHECK(op(BinaryOp::Pow, i(0), i(-1)) == "inf");
  CHECK(op(BinaryOp::Pow, d(2.0), i(-2)) == "0.25");
  CHECK(op(BinaryOp::Pow, i(9), d(0.5)) == "3.0");
  double x = 1.1;
  CHECK(float_power_int(x, 2) == x * x);
  CHECK(float_power_int(x, 5) == ((x * x) * (x * x)) * x);
  CHECK(float_power_int(x, 33) == std::pow(x, 33.0));
  CHECK(float_power_int(x, -3) == 1.0 / ((x * x) * x));
  CHECK(float_power_int(x, kMin) == std::pow(x, static_cast<double>(kMin)));
}

TEST_CASE_FIXTURE(Ops, "bits and shifts take ints") {
  CHECK(op(BinaryOp::Shl, i(1), i(63)) == "-9223372036854775808");
  CHECK(op(BinaryOp::Shr, i(-8), i(1)) == "-4");
  CHECK(op(BinaryOp::Shl, i(1), i(64)) == "error: shift count 64 is out of range in 1 << 64");
  CHECK(op(BinaryOp::Shr, i(1), i(-1)) == "error: shift count -1 is out of range in 1 >> -1");
  CHECK(op(BinaryOp::BitXor, i(6), i(3)) == "5");
  CHECK(op(BinaryOp::BitOr, d(1.0), i(1)) == "error: cannot apply | to float and int (1.0 | 1)");
  CHECK(op(BinaryOp::WrapAdd, i(1), d(1.0)) ==
        "error: cannot apply +% to int and float (1 +% 1.0)");
}

TEST_CASE_FIXTURE(Ops, "unary operators") {
  CHECK(show(unary(context, UnaryOp::Neg, Borrowed::integer(3))) == "-3");
  CHECK(show(unary(context, UnaryOp::Neg, Borrowed::floating(0.0))) == "-0.0");
  CHECK(show(unary(context, UnaryOp::Neg, Borrowed::integer(kMin))) ==
        "error: int overflow in -(-9223372036854775808)");
  CHECK(show(unary(context, UnaryOp::BitNot, Borrowed::integer(0))) == "-1");
  CHECK(show(unary(context, UnaryOp::Neg, s("a"))) == "error: cannot negate str (\"a\")");
  CHECK(show(unary(context, UnaryOp::Not, Borrowed::boolean(true))) == "false");
  CHECK(show(unary(context, UnaryOp::Not, Borrowed::integer(0))) ==
        "error: the operand of not must be bool, got int (0)");
}

TEST_CASE_FIXTURE(Ops, "wrong operands are named with their kinds and values") {
  CHECK(op(BinaryOp::Add, i(1), s("a")) == "error: cannot add int and str (1 + \"a\")");
  CHECK(op(BinaryOp::Sub, s("a"), i(1)) == "error: cannot subtract int from str (\"a\" - 1)");
  CHECK(op(BinaryOp::Mul, list(), i(2)) == "error: cannot multiply list by int ([] * 2)");
  CHECK(op(BinaryOp::Add, list(), range(0, 2)) == "error: cannot add list and range ([] + 0..2)");
  CHECK(op(BinaryOp::Pow, b(true), i(2)) ==
        "error: cannot raise bool to the power of int (true ** 2)");
}

TEST_CASE_FIXTURE(Ops, "plus concatenates and extends what nobody else holds") {
  CHECK(op(BinaryOp::Add, s("abc"), s("defghijklmnopq")) == "\"abcdefghijklmnopq\"");
  CHECK(op(BinaryOp::Add, list(i(1)), list(d(2.5))) == "[1, 2.5]");
  Value xs = list(i(1), i(2));
  Value same = Value::copy(xs);
  Value both = binary(context, BinaryOp::Add, std::move(same), xs);
  CHECK(show(both) == "[1, 2, 1, 2]");
  CHECK(show(xs) == "[1, 2]");
}

TEST_CASE_FIXTURE(Ops, "comparisons") {
  auto cmp = [&](BinaryOp o, Value a, Value c) { return op(o, std::move(a), std::move(c)); };
  CHECK(cmp(BinaryOp::Eq, i(1), d(1.0)) == "true");
  CHECK(cmp(BinaryOp::Lt, i(kMax), d(9223372036854775808.0)) == "true");
  CHECK(cmp(BinaryOp::Lt, d(NAN), i(1)) == "false");
  CHECK(cmp(BinaryOp::Ge, d(NAN), i(1)) == "false");
  CHECK(cmp(BinaryOp::Ne, d(NAN), d(NAN)) == "true");
  CHECK(cmp(BinaryOp::Lt, s("Zebra"), s("apple")) == "true");
  CHECK(cmp(BinaryOp::Lt, list(i(1), i(9)), list(i(2))) == "true");
  CHECK(cmp(BinaryOp::Le, list(i(1)), list(i(1))) == "true");
  CHECK(cmp(BinaryOp::Lt, i(1), s("2")) == "error: cannot compare int and str (1 < \"2\")");
  CHECK(holds(cmp(BinaryOp::Lt, list(i(1)), list(s("a"))),
              "cannot compare int and str (1 and \"a\" in [1] < [\"a\"])"));
  CHECK(holds(cmp(BinaryOp::Lt, b(false), b(true)), "cannot compare bool and bool"));
  CHECK(cmp(BinaryOp::Eq, i(1), s("1")) == "false");
}

TEST_CASE_FIXTURE(Ops, "in looks for elements, keys and substrings") {
  CHECK(op(BinaryOp::In, i(2), list(i(1), i(2))) == "true");
  CHECK(op(BinaryOp::In, d(2.0), list(i(1), i(2))) == "true");
  CHECK(op(BinaryOp::In, s("a"), list(i(1), i(2))) == "false");
  CHECK(op(BinaryOp::In, d(2.0), range(0, 3)) == "true");
  CHECK(op(BinaryOp::In, d(2.5), range(0, 3)) == "false");
  CHECK(op(BinaryOp::In, i(3), range(0, 3)) == "false");
  CHECK(op(BinaryOp::In, i(3), range(0, 3, true)) == "true");
  CHECK(op(BinaryOp::In, s("k"), map(s("k"), i(1))) == "true");
  CHECK(op(BinaryOp::In, d(NAN), map(s("k"), i(1))) == "false");
  CHECK(op(BinaryOp::In, s("bc"), s("abcd")) == "true");
  CHECK(op(BinaryOp::In, s(""), s("")) == "true");
  CHECK(op(BinaryOp::In, i(1), s("1")) == "error: cannot look for int in str (1 in \"1\")");
  CHECK(op(BinaryOp::In, i(1), i(1)) == "error: cannot look for int in int (1 in 1)");
}

TEST_CASE_FIXTURE(Ops, "indexes") {
  auto at = [&](Value base, Value index) { return show(load_index(context, base, index)); };
  CHECK(at(list(i(1), i(2), i(3)), i(2)) == "3");
  CHECK(at(list(i(1), i(2), i(3)), i(5)) == "error: index 5 is out of range for a list of 3");
  CHECK(at(list(i(1)), i(-1)) == "error: index -1 is out of range for a list of 1");
  CHECK(at(list(), i(0)) == "error: index 0 is out of range for an empty list");
  CHECK(at(list(i(1)), s("a")) == "error: index of a list: expected int, got str (\"a\")");
  CHECK(at(s("aüb"), i(1)) == "\"ü\"");
  CHECK(at(s("abc"), i(3)) == "error: index 3 is out of range for a str of 3");
  CHECK(at(range(5, 9), i(3)) == "8");
  CHECK(at(map(s("x"), i(1)), s("x")) == "1");
  CHECK(at(map(s("x"), i(1)), s("y")) == "error: key \"y\" not found");
  CHECK(at(map(s("x"), i(1)), d(NAN)) == "error: NaN cannot be a map key");
  CHECK(at(i(5), i(0)) == "error: cannot index int (5)");
  CHECK(at(Value(), i(0)) == "error: cannot index nil");
  CHECK(show(load_index_or_unset(context, list(i(1)), Borrowed::integer(0))) == "1");
  CHECK(load_index_or_unset(context, list(i(1)), Borrowed::integer(1))->is_unset());
  CHECK(load_index_or_unset(context, list(i(1)), Borrowed::integer(-1))->is_unset());
}

TEST_CASE_FIXTURE(Ops, "slices") {
  auto at = [&](Value base, Value index) { return show(load_index(context, base, index)); };
  CHECK(at(list(i(1), i(2), i(3)), range(1, 3)) == "[2, 3]");
  CHECK(at(list(i(1), i(2), i(3)), range(0, 1, true)) == "[1, 2]");
  CHECK(at(list(i(1), i(2), i(3)), range(3, 3)) == "[]");
  CHECK(at(list(i(1), i(2), i(3)), range(2, 1)) ==
        "error: slice 2..1 is out of range for a list of 3");
  CHECK(at(list(i(1), i(2), i(3)), range(2, 4)) ==
        "error: slice 2..4 is out of range for a list of 3");
  CHECK(holds(at(list(i(1)), range(0, kMax, true)), "out of range"));
  CHECK(holds(at(list(i(1)), range(-1, 1)), "out of range"));
  CHECK(at(s("aübc"), range(1, 3)) == "\"üb\"");
  CHECK(at(range(10, 20), range(2, 5)) == "12..15");
  CHECK(at(range(kMax - 3, kMax, true), range(2, 4)) ==
        "9223372036854775806..=9223372036854775807");
  Value down = call("reverse", range(0, 10));
  CHECK(show(load_index(context, down, Borrowed::integer(0))) == "9");
  Value part = load_index(context, down, range(2, 5));
  CHECK(show(call("list", std::move(part))) == "[7, 6, 5]");
}

TEST_CASE_FIXTURE(Ops, "fields") {
  CHECK(show(load_field(context, record({{"x", 1}, {"y", 2}}), symbol("y"))) == "2");
  CHECK(show(load_field(context, record({{"x", 1}, {"y", 2}}), symbol("z"))) ==
        "error: no field 'z' in {x, y}");
  CHECK(show(load_field(context, Value(), symbol("z"))) == "error: no field 'z' in nil");
  CHECK(show(load_field(context, i(5), symbol("z"))) == "error: no field 'z' in int (5)");
  Value cell = call("ref", i(7));
  CHECK(show(load_field(context, cell, symbol("value"))) == "7");
  Value error = call("error", s("bad"), i(3));
  CHECK(show(load_field(context, error, symbol("message"))) == "\"bad\"");
  CHECK(show(load_field(context, error, symbol("value"))) == "3");
  CHECK(show(load_field(context, error, symbol("line"))) == "nil");
  CHECK(show(load_field(context, error, symbol("trace"))) == "[]");
  CHECK(holds(show(load_field(context, error, symbol("code"))), "no field 'code'"));
}

TEST_CASE_FIXTURE(Ops, "ranges") {
  CHECK(show(range(0, 3)) == "0..3");
  CHECK(show(range(0, 3, true)) == "0..=3");
  CHECK(holds(show(make_range(context, Borrowed::integer(0), s("a"), false)),
              "expected int, got str"));
}

TEST_CASE_FIXTURE(Ops, "spreads") {
  Borrowed place = list(i(1)).take();
  CHECK(append_spread(context, place, list(i(2), s("a"))));
  CHECK(append_spread(context, place, range(7, 9)));
  Value built = Value::adopt(place);
  CHECK(show(built) == "[1, 2, \"a\", 7, 8]");
  place = list().take();
  CHECK(append_spread(context, place, range(0, 3)));
  CHECK(append_spread(context, place, range(5, 5)));
  built = Value::adopt(place);
  CHECK(show(built) == "[0, 1, 2]");
  CHECK(built->as<List>()->packing() == Packing::Int);
  place = built.take();
  CHECK(!append_spread(context, place, i(5)));
  built = Value::adopt(place);
  CHECK(message() == "cannot spread int (5)");
}

TEST_CASE_FIXTURE(Ops, "a text that begins with one that nobody else has grows where it is") {
  Value text = s(std::string(1000, 'a'));
  auto longer = [&](Value first) {
    Interpolated made(context);
    CHECK(made.append(std::move(first), nullptr));
    made.append("b");
    CHECK(made.append(i(7), nullptr));
    return made.finish();
  };
  text = longer(std::move(text));  // makes room
  const Object* const before = text->object();
  text = longer(std::move(text));
  CHECK(text->object() == before);
  const Value copy = longer(Value::copy(text));
  CHECK(copy->object() != before);
  CHECK(string_view_of(text) == std::string(1000, 'a') + "b7b7");
  CHECK(string_view_of(copy) == std::string(1000, 'a') + "b7b7b7");
}

TEST_CASE_FIXTURE(Ops, "a list that begins with one that nobody else has takes it over") {
  Value more = list(i(1), i(2));
  const Object* const object = more->object();
  Borrowed place = list().take();
  CHECK(begin_with_spread(context, place, std::move(more)));
  CHECK(place.object() == object);
  Value first = Value::adopt(place);
  place = list().take();
  CHECK(begin_with_spread(context, place, Value::copy(first)));
  CHECK(place.object() != object);
  CHECK(append_spread(context, place, range(7, 9)));
  const Value second = Value::adopt(place);
  CHECK(show(first) == "[1, 2]");
  CHECK(show(second) == "[1, 2, 7, 8]");
}

TEST_CASE_FIXTURE(Ops,
                  "a value that holds itself many times over is charged before it is compared") {
  World small(Limits{.steps = 10000});
  Value a = small.list(World::i(1), World::i(2));
  Value other = small.list(World::i(1), World::i(2));
  for (int depth = 0; depth < 60; ++depth) {
    a = small.list(Value::copy(a), Value::copy(a));
    other = small.list(Value::copy(other), Value::copy(other));
  }
  CHECK(compare(small.context, BinaryOp::Eq, a, other) == -1);
  CHECK(holds(small.message(), "limit"));
}

}  // namespace posset::interp
