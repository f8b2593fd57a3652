// Operators off the fast paths. See slow.h.
#include "bytecode/slow.h"
#include "interp/runtime/ops.h"

namespace posset::bytecode {

namespace {

// `+` that extends its left side in place when that is unique; it can only fail for want of memory.
bool concatenates(syntax::BinaryOp op, Borrowed left, Borrowed right) {
  if (op != syntax::BinaryOp::Add) return false;
  return (left.is_string() && right.is_string()) || (left.is_list() && right.is_list());
}

}  // namespace

bool slow_binary(Context& context, syntax::BinaryOp op, Borrowed* dst, Borrowed* left, Borrowed* right, uint8_t x) {
  // No memory, and too little to be charged for.
  Borrowed joined;
  if (op == syntax::BinaryOp::Add && left->is_short_string() && right->is_short_string() &&
      interp::join_short(*left, *right, joined)) {
    drop_consumed(left, right, x);
    *dst = joined;
    return true;
  }
  // x = x + v writes over its own operand, whose old value then goes.
  bool self = left == dst && left != right;
  bool take = (self || (x & kConsumeB)) && left != right && concatenates(op, *left, *right);
  Value result = interp::binary(context, op, operand_value(*left, take), *right);
  if (result.failed()) {
    if (self) x &= static_cast<uint8_t>(~kConsumeB);
    drop_consumed(left, right, x);
    return false;
  }
  if (left == dst) x |= kConsumeB;
  drop_consumed(left, right, x);
  *dst = result.take();
  return true;
}

bool slow_unary(Context& context, syntax::UnaryOp op, Borrowed* dst, Borrowed* operand, uint8_t x) {
  Value result = interp::unary(context, op, *operand);
  if (x & kConsumeB) drop(*operand);
  if (result.failed()) return false;
  *dst = result.take();
  return true;
}

int slow_compare(Context& context, syntax::BinaryOp op, Borrowed* left, Borrowed* right, uint8_t x) {
  int outcome = interp::compare(context, op, *left, *right);
  drop_consumed(left, right, x);
  return outcome;
}

int slow_contains(Context& context, Borrowed* left, Borrowed* right, uint8_t x) {
  int outcome = interp::contains(context, *left, *right);
  drop_consumed(left, right, x);
  return outcome;
}

int slow_condition(Context& context, Borrowed* reg, uint8_t x) {
  int outcome = interp::expect_bool(context, *reg, static_cast<interp::Asker>(x >> kAskerShift));
  if (x & kConsumeA) drop(*reg);
  return outcome;
}

}  // namespace posset::bytecode
