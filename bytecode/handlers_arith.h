// Arithmetic: int and float fast paths, everything else in slow_arith.cpp. A handler gives the next
// instruction, or null when it raised.
//
// A register that is overwritten by a fast path needs no release: either it was dead, or it is one of the
// operands (x = x + v), which the guard has just shown to be a number.
#pragma once

#include "bytecode/machine.h"

namespace posset::bytecode {

struct AddRule {
  static constexpr auto op = syntax::BinaryOp::Add;
  static bool ints(int64_t a, int64_t b, int64_t& out) { return !__builtin_add_overflow(a, b, &out); }
  static double floats(double a, double b) { return a + b; }
};
struct SubRule {
  static constexpr auto op = syntax::BinaryOp::Sub;
  static bool ints(int64_t a, int64_t b, int64_t& out) { return !__builtin_sub_overflow(a, b, &out); }
  static double floats(double a, double b) { return a - b; }
};
struct MulRule {
  static constexpr auto op = syntax::BinaryOp::Mul;
  static bool ints(int64_t a, int64_t b, int64_t& out) { return !__builtin_mul_overflow(a, b, &out); }
  static double floats(double a, double b) { return a * b; }
};
struct IntDivRule {
  static constexpr auto op = syntax::BinaryOp::IntDiv;
  static bool ints(int64_t a, int64_t b, int64_t& out) {
    if (b <= 0) return false;  // zero, overflow and the rarer sign: slow path
    int64_t q = a / b;
    out = q - ((a % b) < 0);
    return true;
  }
  static double floats(double a, double b) { return interp::float_floor_div(a, b); }
};
struct ModRule {
  static constexpr auto op = syntax::BinaryOp::Mod;
  static bool ints(int64_t a, int64_t b, int64_t& out) {
    if (b <= 0) return false;
    // Small operands divide several times faster in 32 bits.
    if (((static_cast<uint64_t>(a) | static_cast<uint64_t>(b)) >> 32) == 0) {
      out = static_cast<int64_t>(static_cast<uint32_t>(a) % static_cast<uint32_t>(b));
      return true;
    }
    int64_t m = a % b;
    out = m < 0 ? m + b : m;
    return true;
  }
  static double floats(double a, double b) { return interp::float_mod(a, b); }
};
struct DivRule {
  static constexpr auto op = syntax::BinaryOp::Div;
  static double floats(double a, double b) { return a / b; }
};

template <class Rule>
POSSET_HANDLER bool float_result(Borrowed& dst, Borrowed b, Borrowed c) {
  if (b.is_float() && c.is_float()) {
    dst = Borrowed::floating(Rule::floats(b.as_float(), c.as_float()));
    return true;
  }
  if (b.is_number() && c.is_number() && (b.is_float() || c.is_float())) {
    dst = Borrowed::floating(Rule::floats(b.number(), c.number()));
    return true;
  }
  return false;
}

template <class Rule>
POSSET_HANDLER const Insn* arith(State& s, Insn i, Borrowed* b, Borrowed* c) {
  Borrowed& dst = s.r[i.a];
  if (b->is_int() && c->is_int()) {
    int64_t out;
    if (Rule::ints(b->as_int(), c->as_int(), out)) [[likely]] {
      dst = Borrowed::integer(out);
      return s.pc + 1;
    }
  } else if (float_result<Rule>(dst, *b, *c)) {
    return s.pc + 1;
  }
  return slow_binary(s.cx, Rule::op, &dst, b, c, i.x) ? s.pc + 1 : nullptr;
}

template <class Rule>
POSSET_HANDLER const Insn* arith_imm(State& s, Insn i) {
  Borrowed& dst = s.r[i.a];
  Borrowed* b = &s.r[i.b];
  if (b->is_int()) {
    int64_t out;
    if (Rule::ints(b->as_int(), i.imm_c(), out)) [[likely]] {
      dst = Borrowed::integer(out);
      return s.pc + 1;
    }
  } else if (b->is_float()) {
    dst = Borrowed::floating(Rule::floats(b->as_float(), i.imm_c()));
    return s.pc + 1;
  }
  Borrowed c = Borrowed::integer(i.imm_c());
  return slow_binary(s.cx, Rule::op, &dst, b, &c, i.x) ? s.pc + 1 : nullptr;
}

POSSET_HANDLER const Insn* divide(State& s, Insn i, Borrowed* b, Borrowed* c) {
  Borrowed& dst = s.r[i.a];
  if (b->is_number() && c->is_number()) {
    dst = Borrowed::floating(b->number() / c->number());
    return s.pc + 1;
  }
  return slow_binary(s.cx, syntax::BinaryOp::Div, &dst, b, c, i.x) ? s.pc + 1 : nullptr;
}

// Constants are never written; the slow path takes pointers for both kinds of operand alike.
POSSET_HANDLER Borrowed* constant_at(State& s, uint16_t index) { return const_cast<Borrowed*>(s.k + index); }

#define ARITH_HANDLERS(Name)                                                                                  \
  POSSET_HANDLER const Insn* op_##Name(State& s, Insn i) { return arith<Name##Rule>(s, i, &s.r[i.b], &s.r[i.c]); } \
  POSSET_HANDLER const Insn* op_##Name##K(State& s, Insn i) {                                                  \
    return arith<Name##Rule>(s, i, &s.r[i.b], constant_at(s, i.c));                                            \
  }                                                                                                            \
  POSSET_HANDLER const Insn* op_##Name##L(State& s, Insn i) {                                                  \
    return arith<Name##Rule>(s, i, constant_at(s, i.b), &s.r[i.c]);                                            \
  }                                                                                                            \
  POSSET_HANDLER const Insn* op_##Name##I(State& s, Insn i) { return arith_imm<Name##Rule>(s, i); }
ARITH_HANDLERS(Add)
ARITH_HANDLERS(Sub)
ARITH_HANDLERS(Mul)
ARITH_HANDLERS(IntDiv)
ARITH_HANDLERS(Mod)
#undef ARITH_HANDLERS
POSSET_HANDLER const Insn* op_Div(State& s, Insn i) { return divide(s, i, &s.r[i.b], &s.r[i.c]); }
POSSET_HANDLER const Insn* op_DivK(State& s, Insn i) { return divide(s, i, &s.r[i.b], constant_at(s, i.c)); }
POSSET_HANDLER const Insn* op_DivL(State& s, Insn i) { return divide(s, i, constant_at(s, i.b), &s.r[i.c]); }

POSSET_HANDLER const Insn* op_Binary(State& s, Insn i) {
  auto op = static_cast<syntax::BinaryOp>(next_word(s));
  return slow_binary(s.cx, op, &s.r[i.a], &s.r[i.b], &s.r[i.c], i.x) ? s.pc + 2 : nullptr;
}

POSSET_HANDLER const Insn* op_Neg(State& s, Insn i) {
  Borrowed b = s.r[i.b];
  if (b.is_int() && b.as_int() != INT64_MIN) {
    s.r[i.a] = Borrowed::integer(-b.as_int());
    return s.pc + 1;
  }
  if (b.is_float()) {
    s.r[i.a] = Borrowed::floating(-b.as_float());
    return s.pc + 1;
  }
  return slow_unary(s.cx, syntax::UnaryOp::Neg, &s.r[i.a], &s.r[i.b], i.x) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_BitNot(State& s, Insn i) {
  return slow_unary(s.cx, syntax::UnaryOp::BitNot, &s.r[i.a], &s.r[i.b], i.x) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_Not(State& s, Insn i) {
  Borrowed b = s.r[i.b];
  if (b.is_bool()) {
    s.r[i.a] = Borrowed::boolean(!b.as_bool());
    return s.pc + 1;
  }
  return slow_unary(s.cx, syntax::UnaryOp::Not, &s.r[i.a], &s.r[i.b], i.x) ? s.pc + 1 : nullptr;
}

}  // namespace posset::bytecode
