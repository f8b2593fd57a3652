// What the operators mean: the one place. Both tiers call these; they repeat only guarded fast paths. All
// raise on misuse (Failed, with the error pending and not yet placed).
#pragma once

#include "interp/runtime/context.h"
#include "interp/syntax/ast.h"

namespace posset::interp {

using syntax::BinaryOp;
using syntax::UnaryOp;

// Any binary operator. `left` is consumed (string and list concatenation extends a unique left in place).
Value binary(Context& context, BinaryOp op, Value left, Borrowed right);
Value unary(Context& context, UnaryOp op, Borrowed operand);
// -1 failed, else 0 or 1.
int compare(Context& context, BinaryOp op, Borrowed left, Borrowed right);  // == != < <= > >=
int contains(Context& context, Borrowed item, Borrowed container);          // in

// Arithmetic that both tiers' fast paths and builtins share.
double float_mod(double a, double b);
double float_floor_div(double a, double b);
double float_power(double base, double exponent);              // libm
double float_power_int(double base, int64_t exponent);         // section 3's rule
bool int_power(int64_t base, int64_t exponent, int64_t& out);  // false: overflow
inline int64_t int_floor_div(int64_t a, int64_t b) {           // b is not 0, not (min, -1)
  int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}
inline int64_t int_mod(int64_t a, int64_t b) {                 // b is not 0
  if (b == -1) return 0;
  int64_t m = a % b;
  return (m != 0 && ((m < 0) != (b < 0))) ? m + b : m;
}
// float -> int by truncation or rounding; false when it does not fit or is NaN.
bool float_to_int(double d, int64_t& out);

// ---- reading ----
Value load_index(Context& context, Borrowed base, Borrowed index);       // xs[i], m[k], s[i], slices
Value load_slice(Context& context, Borrowed base, Borrowed first, Borrowed last, bool inclusive);
Value load_field(Context& context, Borrowed base, const Symbol* name);   // records, variants, refs, errors
// The element or nil/Unset when missing: m[k, d] and get(); Unset means "evaluate the default".
Value load_index_or_unset(Context& context, Borrowed base, Borrowed index);
Value make_range(Context& context, Borrowed first, Borrowed last, bool inclusive);

// ---- words for messages ----
std::string describe_operands(BinaryOp op, Borrowed left, Borrowed right);  // "int + str"
const char* kind_of(Borrowed v);         // "int", "list", a variant's declared type is type_text
std::string type_text(Context& context, Borrowed v);

// ---- checks ----
// `v` must be bool: -1 failed (raised), else 0 or 1. `what`: "the condition of assert".
int expect_bool(Context& context, Borrowed v, const char* what);
// What wants to know whether something holds.
enum class Asker : uint8_t { Condition, Not, LeftOfAnd, RightOfAnd, LeftOfOr, RightOfOr };
constexpr const char* kAskers[] = {"the condition",            "the operand of not",      "the left operand of and",
                                   "the right operand of and", "the left operand of or", "the right operand of or"};
constexpr Asker left_of(syntax::LogicalOp op) { return op == syntax::LogicalOp::And ? Asker::LeftOfAnd : Asker::LeftOfOr; }
constexpr Asker right_of(syntax::LogicalOp op) { return op == syntax::LogicalOp::And ? Asker::RightOfAnd : Asker::RightOfOr; }
inline int expect_bool(Context& context, Borrowed v, Asker asker) {
  return expect_bool(context, v, kAskers[static_cast<size_t>(asker)]);
}
// Does `v` fit the annotation? `function` resolves declared types.
bool fits_type(const Function& function, const syntax::TypeExpr& type, Borrowed v);
std::string type_name_of(const syntax::TypeExpr& type);

// ---- building ----
bool append_spread(Context& context, Borrowed& list, Borrowed spread);   // ..xs into a list under construction
// The same as the first of a list literal: [..xs, x] costs what `xs + [x]` does, as an Interpolated that begins with a string.
bool begin_with_spread(Context& context, Borrowed& list, Value spread);
// Appends v by the format (null: plain).
bool append_formatted(Context& context, StringBuilder& out, Borrowed v, const syntax::FormatSpec* spec);
// An interpolation under construction. One that begins with a string, "{s}...", costs what `s + ...` does: nothing is charged for
// what was there, and a long one that nobody else has grows at its end.
class Interpolated {
 public:
  explicit Interpolated(Context& context) : context_(context), out_(context.heap) {}
  void append(std::string_view text) { begun_ = true, out_.append(text); }
  bool append(Value v, const syntax::FormatSpec* spec);  // as append_formatted
  Value finish();

 private:
  bool begin(Value text);
  Context& context_;
  Value first_;         // nil: what it begins with is in out_
  StringBuilder out_;
  bool begun_ = false;
};
Value make_variant(Context& context, const Shape* shape, Borrowed* fields, uint32_t count);  // takes the fields

}  // namespace posset::interp
