// The module math: constants, and one libm entry for each function, so that every tier gives the same bits.
#include <cmath>
#include <numbers>

#include "stdlib/modules.h"
#include "stdlib/support.h"

namespace posset::stdlib {

namespace {

template <double (*kFunction)(double)>
posset_status one(posset_call* call) {
  double x;
  POSSET_TRY(posset_want_number(call, 0, &x));
  return posset_return(call, posset_float(kFunction(x)));
}

template <double (*kFunction)(double, double)>
posset_status two(posset_call* call) {
  double x, y;
  POSSET_TRY(posset_want_number(call, 0, &x));
  POSSET_TRY(posset_want_number(call, 1, &y));
  return posset_return(call, posset_float(kFunction(x, y)));
}

posset_status isnan(posset_call* call) {
  double x;
  POSSET_TRY(posset_want_number(call, 0, &x));
  return posset_return(call, posset_bool(std::isnan(x)));
}

posset_status isinf(posset_call* call) {
  double x;
  POSSET_TRY(posset_want_number(call, 0, &x));
  return posset_return(call, posset_bool(std::isinf(x)));
}

posset_status gcd(posset_call* call) {
  int64_t a, b;
  POSSET_TRY(posset_want_int(call, 0, &a));
  POSSET_TRY(posset_want_int(call, 1, &b));
  uint64_t x = a < 0 ? 0 - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
  uint64_t y = b < 0 ? 0 - static_cast<uint64_t>(b) : static_cast<uint64_t>(b);
  while (y != 0) x = std::exchange(y, x % y);
  if (x > static_cast<uint64_t>(INT64_MAX)) {
    return posset_raisef(call->context, POSSET_ERROR_IntOverflow, "int overflow in gcd(%lld, %lld)",
                         static_cast<long long>(a), static_cast<long long>(b));
  }
  return posset_return(call, posset_int(static_cast<int64_t>(x)));
}

constexpr posset_function_row kRows[] = {
    pure_row("sqrt", "sqrt(x)", "The square root of x, as the function that is always in scope.", 1, 1, one<std::sqrt>),
    pure_row("exp", "exp(x)", "e to the power of x.", 1, 1, one<std::exp>),
    pure_row("log", "log(x)", "The natural logarithm of x; -inf for 0, nan below.", 1, 1, one<std::log>),
    pure_row("log2", "log2(x)", "The logarithm of x to base 2.", 1, 1, one<std::log2>),
    pure_row("log10", "log10(x)", "The logarithm of x to base 10.", 1, 1, one<std::log10>),
    pure_row("sin", "sin(x)", "The sine of x radians.", 1, 1, one<std::sin>),
    pure_row("cos", "cos(x)", "The cosine of x radians.", 1, 1, one<std::cos>),
    pure_row("tan", "tan(x)", "The tangent of x radians.", 1, 1, one<std::tan>),
    pure_row("asin", "asin(x)", "The angle in radians whose sine is x.", 1, 1, one<std::asin>),
    pure_row("acos", "acos(x)", "The angle in radians whose cosine is x.", 1, 1, one<std::acos>),
    pure_row("atan", "atan(x)", "The angle in radians whose tangent is x.", 1, 1, one<std::atan>),
    pure_row("atan2", "atan2(y, x)", "The angle in radians of the point (x, y).", 2, 2, two<std::atan2>),
    pure_row("sinh", "sinh(x)", "The hyperbolic sine of x.", 1, 1, one<std::sinh>),
    pure_row("cosh", "cosh(x)", "The hyperbolic cosine of x.", 1, 1, one<std::cosh>),
    pure_row("tanh", "tanh(x)", "The hyperbolic tangent of x.", 1, 1, one<std::tanh>),
    pure_row("pow", "pow(x, y)", "x to the power of y as a float, by the C library's pow.", 2, 2, two<std::pow>),
    pure_row("hypot", "hypot(x, y)", "The length of the vector (x, y).", 2, 2, two<std::hypot>),
    pure_row("cbrt", "cbrt(x)", "The cube root of x.", 1, 1, one<std::cbrt>),
    pure_row("fmod", "fmod(x, y)", "The remainder of x / y with the sign of x.", 2, 2, two<std::fmod>),
    pure_row("isnan", "isnan(x)", "Is x not a number?", 1, 1, isnan),
    pure_row("isinf", "isinf(x)", "Is x infinite?", 1, 1, isinf),
    pure_row("gcd", "gcd(a, b)", "The greatest common divisor of two ints, never negative.", 2, 2, gcd),
};

}  // namespace

}  // namespace posset::stdlib

posset_status posset_register_math(posset_runtime* runtime) {
  using namespace posset::stdlib;
  const struct {
    const char* name;
    double value;
    const char* doc;
  } constants[] = {
      {"pi", std::numbers::pi, "The ratio of a circle's circumference to its diameter."},
      {"e", std::numbers::e, "The base of the natural logarithm."},
      {"tau", 2 * std::numbers::pi, "Two pi."},
      {"inf", HUGE_VAL, "Positive infinity."},
      {"nan", std::nan(""), "Not a number."},
  };
  POSSET_TRY(register_rows(runtime, "math", kRows));
  for (const auto& each : constants)
    POSSET_TRY(posset_register_constant(runtime, "math", each.name, posset_float(each.value), each.doc));
  return POSSET_OK;
}
