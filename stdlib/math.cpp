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

template <double (*kFunction)(double)>
constexpr posset_function_row row_of_one(const char* name, const char* signature, const char* doc) {
  posset_function_row row = pure_row(name, signature, doc, 1, 1, one<kFunction>);
  row.of_float = kFunction;
  return row;
}

template <double (*kFunction)(double, double)>
constexpr posset_function_row row_of_two(const char* name, const char* signature, const char* doc) {
  posset_function_row row = pure_row(name, signature, doc, 2, 2, two<kFunction>);
  row.of_floats = kFunction;
  return row;
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
    row_of_one<std::sqrt>("sqrt", "sqrt(x)", "The square root of x, as the function that is always in scope."),
    row_of_one<std::exp>("exp", "exp(x)", "e to the power of x."),
    row_of_one<std::log>("log", "log(x)", "The natural logarithm of x; -inf for 0, nan below."),
    row_of_one<std::log2>("log2", "log2(x)", "The logarithm of x to base 2."),
    row_of_one<std::log10>("log10", "log10(x)", "The logarithm of x to base 10."),
    row_of_one<std::sin>("sin", "sin(x)", "The sine of x radians."),
    row_of_one<std::cos>("cos", "cos(x)", "The cosine of x radians."),
    row_of_one<std::tan>("tan", "tan(x)", "The tangent of x radians."),
    row_of_one<std::asin>("asin", "asin(x)", "The angle in radians whose sine is x."),
    row_of_one<std::acos>("acos", "acos(x)", "The angle in radians whose cosine is x."),
    row_of_one<std::atan>("atan", "atan(x)", "The angle in radians whose tangent is x."),
    row_of_two<std::atan2>("atan2", "atan2(y, x)", "The angle in radians of the point (x, y)."),
    row_of_one<std::sinh>("sinh", "sinh(x)", "The hyperbolic sine of x."),
    row_of_one<std::cosh>("cosh", "cosh(x)", "The hyperbolic cosine of x."),
    row_of_one<std::tanh>("tanh", "tanh(x)", "The hyperbolic tangent of x."),
    row_of_two<std::pow>("pow", "pow(x, y)", "x to the power of y as a float, by the C library's pow."),
    row_of_two<std::hypot>("hypot", "hypot(x, y)", "The length of the vector (x, y)."),
    row_of_one<std::cbrt>("cbrt", "cbrt(x)", "The cube root of x."),
    row_of_two<std::fmod>("fmod", "fmod(x, y)", "The remainder of x / y with the sign of x."),
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
