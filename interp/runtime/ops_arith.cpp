// Arithmetic: what the operators of language.md section 3 mean for numbers, and `+` for strings and
// lists. Two ints stay ints and raise on overflow; an int beside a float is converted; the
// wrapping, bit and shift operators take ints only. Comparisons and `in` are in ops_compare.cpp.
//
// Floats follow IEEE and nothing here may be contracted or reordered: every tier must give the same
// bits.
#include <cmath>

#include "interp/runtime/messages.h"
#include "interp/runtime/ops.h"
#include "interp/runtime/powers.h"
#include "interp/runtime/work.h"

namespace posset::interp {

// ---- numbers ----

double float_mod(double a, double b) {
  double m = std::fmod(a, b);
  if (m == 0) return std::copysign(0.0, b);
  return (m < 0) != (b < 0) ? m + b : m;
}

double float_floor_div(double a, double b) { return std::floor(a / b); }

double float_power(double base, double exponent) { return std::pow(base, exponent); }

namespace {

// From the top bit down: the order of the multiplications is part of the answer.
double multiplied_out(double base, uint64_t exponent) {
  if (exponent == 0) return 1.0;
  double result = base;
  for (int bit = std::bit_width(exponent) - 2; bit >= 0; --bit) {
    result *= result;
    if (exponent >> bit & 1) result *= base;
  }
  return result;
}

}  // namespace

double float_power_int(double base, int64_t exponent) {
  if (exponent > kMostMultiplied || exponent < -kMostMultiplied) {
    return float_power(base, static_cast<double>(exponent));
  }
  if (exponent >= 0) return multiplied_out(base, static_cast<uint64_t>(exponent));
  return 1.0 / multiplied_out(base, static_cast<uint64_t>(-exponent));
}

bool int_power(int64_t base, int64_t exponent, int64_t& out) {
  if (base == 0 || base == 1 || base == -1 || exponent == 0) {
    out = exponent == 0 || base == 1 ? 1 : base == 0 ? 0 : (exponent & 1) ? -1 : 1;
    return true;
  }
  if (exponent > 63) return false;
  int64_t result = base;
  for (int bit = std::bit_width(static_cast<uint64_t>(exponent)) - 2; bit >= 0; --bit) {
    if (__builtin_mul_overflow(result, result, &result)) return false;
    if ((exponent >> bit & 1) && __builtin_mul_overflow(result, base, &result)) return false;
  }
  out = result;
  return true;
}

bool float_to_int(double d, int64_t& out) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (!(d >= -kTwoTo63 && d < kTwoTo63)) return false;
  out = static_cast<int64_t>(d);
  return true;
}

// ---- two ints ----

namespace {

Value wrapped(uint64_t bits) { return Value::integer(static_cast<int64_t>(bits)); }

Value checked_int(Context& context, BinaryOp op, int64_t a, int64_t b) {
  int64_t out = 0;
  bool overflow = op == BinaryOp::Add   ? __builtin_add_overflow(a, b, &out)
                  : op == BinaryOp::Sub ? __builtin_sub_overflow(a, b, &out)
                                        : __builtin_mul_overflow(a, b, &out);
  return overflow ? raise_overflow(context, op, a, b) : Value::integer(out);
}

Value divide_ints(Context& context, BinaryOp op, int64_t a, int64_t b) {
  if (b == 0) {
    return context.raise(ErrorCode::DivisionByZero,
                         "division by zero in " + std::to_string(a) + " " + spelling(op) + " 0",
                         "test the divisor first; / gives a float and does not raise");
  }
  if (op == BinaryOp::Mod) return Value::integer(int_mod(a, b));
  if (a == INT64_MIN && b == -1) return raise_overflow(context, op, a, b);
  return Value::integer(int_floor_div(a, b));
}

Value power_of_ints(Context& context, int64_t a, int64_t b) {
  if (b < 0) return Value::floating(float_power_int(static_cast<double>(a), b));
  int64_t out = 0;
  return int_power(a, b, out) ? Value::integer(out) : raise_overflow(context, BinaryOp::Pow, a, b);
}

Value shift(Context& context, BinaryOp op, int64_t a, int64_t b) {
  if (b < 0 || b > 63) {
    return context.raise(ErrorCode::OutOfRange,
                         "shift count " + std::to_string(b) + " is out of range in " +
                             std::to_string(a) + " " + spelling(op) + " " + std::to_string(b),
                         "an int is shifted by 0 to 63 bits");
  }
  return op == BinaryOp::Shl ? wrapped(static_cast<uint64_t>(a) << b) : Value::integer(a >> b);
}

Value binary_ints(Context& context, BinaryOp op, int64_t a, int64_t b) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Sub:
    case BinaryOp::Mul:
      return checked_int(context, op, a, b);
    case BinaryOp::Div:
      return Value::floating(static_cast<double>(a) / static_cast<double>(b));
    case BinaryOp::IntDiv:
    case BinaryOp::Mod:
      return divide_ints(context, op, a, b);
    case BinaryOp::Pow:
      return power_of_ints(context, a, b);
    case BinaryOp::WrapAdd:
      return wrapped(ua + ub);
    case BinaryOp::WrapSub:
      return wrapped(ua - ub);
    case BinaryOp::WrapMul:
      return wrapped(ua * ub);
    case BinaryOp::Shl:
    case BinaryOp::Shr:
      return shift(context, op, a, b);
    case BinaryOp::BitAnd:
      return wrapped(ua & ub);
    case BinaryOp::BitXor:
      return wrapped(ua ^ ub);
    case BinaryOp::BitOr:
      return wrapped(ua | ub);
    default:
      return raise_operands(context, op, Borrowed::integer(a), Borrowed::integer(b));
  }
}

// ---- at least one float ----

Value binary_floats(Context& context, BinaryOp op, Borrowed left, Borrowed right) {
  const double a = left.number(), b = right.number();
  switch (op) {
    case BinaryOp::Add:
      return Value::floating(a + b);
    case BinaryOp::Sub:
      return Value::floating(a - b);
    case BinaryOp::Mul:
      return Value::floating(a * b);
    case BinaryOp::Div:
      return Value::floating(a / b);
    case BinaryOp::IntDiv:
      return Value::floating(float_floor_div(a, b));
    case BinaryOp::Mod:
      return Value::floating(float_mod(a, b));
    case BinaryOp::Pow:
      return Value::floating(right.is_int() ? float_power_int(a, right.as_int())
                                            : float_power(a, b));
    default:
      return raise_operands(context, op, left, right);
  }
}

// ---- strings and lists ----

Value add_strings(Context& context, Value left, Borrowed right) {
  const uint64_t added = string_view_of(right).size();
  if (!charge_bytes(context, added)) return Value::failure();
  if (left->is(Tag::Str) && !is_unique(left->object())) {
    if (!look_up(context, string_view_of(left.view()).size() / sizeof(Borrowed)))
      return Value::failure();
  }
  return or_memory_limit(context, concatenate(context.heap, std::move(left), right));
}

Value add_lists(Context& context, Value left, Borrowed right) {
  if (!charge_elements(context, right.as<List>()->size)) return Value::failure();
  if (!is_unique(left->object()) && !look_up(context, left->as<List>()->size))
    return Value::failure();
  return or_memory_limit(context,
                         list_concatenate(context.heap, std::move(left), right.as<List>()));
}

bool is_comparison(BinaryOp op) { return op >= BinaryOp::Eq && op <= BinaryOp::Ge; }

Value truth(int answer) { return answer < 0 ? Value::failure() : Value::boolean(answer != 0); }

}  // namespace

Value binary(Context& context, BinaryOp op, Value left, Borrowed right) {
  if (is_comparison(op)) return truth(compare(context, op, left, right));
  if (op == BinaryOp::In) return truth(contains(context, left, right));
  if (left->is_int() && right.is_int())
    return binary_ints(context, op, left->as_int(), right.as_int());
  if (left->is_number() && right.is_number()) return binary_floats(context, op, left, right);
  if (op == BinaryOp::Add) {
    if (left->is_string() && right.is_string()) return add_strings(context, std::move(left), right);
    if (left->is_list() && right.is_list()) return add_lists(context, std::move(left), right);
  }
  return raise_operands(context, op, left, right);
}

Value unary(Context& context, UnaryOp op, Borrowed operand) {
  switch (op) {
    case UnaryOp::Neg:
      if (operand.is_float()) return Value::floating(-operand.as_float());
      if (!operand.is_int()) break;
      if (operand.as_int() == INT64_MIN)
        return raise_overflow_in(context, "-(" + brief(operand) + ")");
      return Value::integer(-operand.as_int());
    case UnaryOp::BitNot:
      if (!operand.is_int()) break;
      return Value::integer(~operand.as_int());
    case UnaryOp::Not: {
      int truth = expect_bool(context, operand, Asker::Not);
      return truth < 0 ? Value::failure() : Value::boolean(truth == 0);
    }
  }
  return context.raise(ErrorCode::WrongOperands,
                       std::string("cannot ") + (op == UnaryOp::Neg ? "negate " : "apply ~ to ") +
                           kind_and_value(context, operand),
                       op == UnaryOp::Neg ? "expected int or float" : "expected int");
}

}  // namespace posset::interp
