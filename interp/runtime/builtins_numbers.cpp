// Numbers: abs, floor, ceil, round, sqrt, clamp. floor, ceil and round give ints and leave ints as
// they are.
#include <cmath>

#include "interp/runtime/builtins.h"
#include "interp/value/compare.h"

namespace posset::interp {

namespace {

Value rounded(NativeCall& call, double (*rounding)(double)) {
  if (call[0].is_int()) return Value::copy(call[0]);
  if (!want_number(call, 0)) return Value::failure();
  int64_t out = 0;
  const double d = call[0].as_float();
  if (float_to_int(rounding(d), out)) return Value::integer(out);
  const std::string what = std::string("cannot ") + call.function->name + " ";
  if (std::isnan(d)) return call.context.raise(ErrorCode::NotANumber, what + "NaN to an int");
  return call.context.raise(ErrorCode::OutOfRange,
                            what + brief(call[0]) + " to an int: out of range",
                            "an int has 64 bits");
}

}  // namespace

Value builtin_abs(NativeCall& call) {
  if (call[0].is_float()) return Value::floating(std::fabs(call[0].as_float()));
  if (!want_number(call, 0)) return Value::failure();
  const int64_t i = call[0].as_int();
  if (i == INT64_MIN) return raise_overflow_in(call.context, "abs(" + std::to_string(i) + ")");
  return Value::integer(i < 0 ? -i : i);
}

Value builtin_floor(NativeCall& call) {
  return rounded(call, [](double d) { return std::floor(d); });
}
Value builtin_ceil(NativeCall& call) {
  return rounded(call, [](double d) { return std::ceil(d); });
}
// std::round takes halves away from zero.
Value builtin_round(NativeCall& call) {
  return rounded(call, [](double d) { return std::round(d); });
}

Value builtin_sqrt(NativeCall& call) {
  if (!want_number(call, 0)) return Value::failure();
  return Value::floating(std::sqrt(call[0].number()));
}

Value builtin_clamp(NativeCall& call) {
  Context& context = call.context;
  int reversed = compare(context, BinaryOp::Lt, call[2], call[1]);
  if (reversed < 0) return Value::failure();
  if (reversed > 0) {
    return raise_argument(call, ErrorCode::BadArgument, 1,
                          brief(call[1]) + " is above the other bound " + brief(call[2]) +
                              ": the bounds are out of range");
  }
  int below = compare(context, BinaryOp::Lt, call[0], call[1]);
  if (below != 0) return below < 0 ? Value::failure() : call.take(1);
  int above = compare(context, BinaryOp::Gt, call[0], call[2]);
  if (above < 0) return Value::failure();
  return call.take(above > 0 ? 2 : 0);
}

}  // namespace posset::interp
