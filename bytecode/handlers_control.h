// Handlers for moves, jumps, comparisons and loops: the instructions that decide what runs next.
#pragma once

#include "bytecode/machine.h"

namespace posset::bytecode {

// ---- moving ----
POSSET_HANDLER const Insn* op_Nop(State& s, Insn) { return s.pc + 1; }
POSSET_HANDLER const Insn* op_LoadNil(State& s, Insn i) {
  s.r[i.a] = Borrowed::nil();
  return s.pc + 1;
}
POSSET_HANDLER const Insn* op_LoadBool(State& s, Insn i) {
  s.r[i.a] = Borrowed::boolean(i.b != 0);
  return s.pc + 1;
}
POSSET_HANDLER const Insn* op_LoadInt(State& s, Insn i) {
  s.r[i.a] = Borrowed::integer(i.imm_b());
  return s.pc + 1;
}
POSSET_HANDLER const Insn* op_LoadConst(State& s, Insn i) {
  s.r[i.a] = s.k[i.b];  // plain or immortal
  return s.pc + 1;
}
POSSET_HANDLER const Insn* op_Copy(State& s, Insn i) {
  Borrowed v = s.r[i.b];
  interp::retain(v);
  s.r[i.a] = v;
  return s.pc + 1;
}
POSSET_HANDLER const Insn* op_Move(State& s, Insn i) {
  Borrowed v = s.r[i.b];
  s.r[i.b] = Borrowed::nil();
  s.r[i.a] = v;
  return s.pc + 1;
}
POSSET_HANDLER const Insn* op_Store(State& s, Insn i) {
  Borrowed v = s.r[i.b];
  if (i.x & kConsumeB) {
    s.r[i.b] = Borrowed::nil();
  } else {
    interp::retain(v);
  }
  Borrowed old = s.r[i.a];
  s.r[i.a] = v;
  interp::release(old);
  return s.pc + 1;
}
POSSET_HANDLER const Insn* op_Drop(State& s, Insn i) {
  drop(s.r[i.a]);
  return s.pc + 1;
}
POSSET_HANDLER const Insn* op_DropRange(State& s, Insn i) {
  for (uint32_t n = 0; n < i.b; ++n) drop(s.r[i.a + n]);
  return s.pc + 1;
}
POSSET_HANDLER const Insn* op_LoadQuanta(State& s, Insn i) {
  s.r[i.a] = Borrowed::integer(s.cx.quanta);
  return s.pc + 1;
}
POSSET_HANDLER const Insn* op_LoadUnset(State& s, Insn i) {
  s.r[i.a] = Borrowed::unset();
  return s.pc + 1;
}
POSSET_HANDLER const Insn* op_GetCaptured(State& s, Insn i) {
  Borrowed v = s.closure->captured()[i.b];
  interp::retain(v);
  s.r[i.a] = v;
  return s.pc + 1;
}
POSSET_HANDLER const Insn* op_ViewCaptured(State& s, Insn i) {
  s.r[i.a] = s.closure->captured()[i.b];
  return s.pc + 1;
}
POSSET_HANDLER const Insn* op_ViewLink(State& s, Insn i) {
  Borrowed v = link_cell(s, i.b);
  if (v.is_unset()) [[unlikely]] {
    undefined_link(s.cx, s.closure, i.b);
    return nullptr;
  }
  s.r[i.a] = v;
  return s.pc + 1;
}
POSSET_HANDLER const Insn* op_GetLink(State& s, Insn i) {
  const Insn* next = op_ViewLink(s, i);
  if (next) interp::retain(s.r[i.a]);
  return next;
}
POSSET_HANDLER const Insn* op_SetLink(State& s, Insn i) {
  auto& cell = const_cast<Borrowed&>(link_cell(s, i.b));
  Borrowed old = cell;
  cell = std::exchange(s.r[i.a], Borrowed::nil());
  interp::release(old);
  return s.pc + 1;
}
POSSET_HANDLER const Insn* op_GetSelf(State& s, Insn i) {
  s.r[i.a] = Borrowed::heap(interp::Tag::Fn, s.closure);
  interp::retain(s.r[i.a]);
  return s.pc + 1;
}

// ---- comparisons ----
template <syntax::BinaryOp kOp, class T>
POSSET_HANDLER bool holds(T a, T b) {
  using syntax::BinaryOp;
  if constexpr (kOp == BinaryOp::Eq) return a == b;
  if constexpr (kOp == BinaryOp::Ne) return a != b;
  if constexpr (kOp == BinaryOp::Lt) return a < b;
  if constexpr (kOp == BinaryOp::Le) return a <= b;
  if constexpr (kOp == BinaryOp::Gt) return a > b;
  if constexpr (kOp == BinaryOp::Ge) return a >= b;
}

// Of a short text, as a number: its six bytes in the first word, the eight in the second, its size. The order of texts is that of
// their bytes, of which the first is the lowest of a word; where all are the same, one ends in zeros and the shorter comes first.
POSSET_HANDLER unsigned __int128 order_of_short(Borrowed v) {
  const uint64_t first = __builtin_bswap64(v.word0 & ~uint64_t{0xffff}), others = __builtin_bswap64(v.word1);
  return static_cast<unsigned __int128>(first) << 80 | static_cast<unsigned __int128>(others) << 16 | interp::short_size(v);
}

template <syntax::BinaryOp kOp>
POSSET_HANDLER bool short_texts_hold(Borrowed b, Borrowed c) {
  using syntax::BinaryOp;
  if constexpr (kOp == BinaryOp::Eq || kOp == BinaryOp::Ne) {
    return (b.word0 == c.word0 && b.word1 == c.word1) == (kOp == BinaryOp::Eq);
  } else {
    return holds<kOp>(order_of_short(b), order_of_short(c));
  }
}

// 0, 1, or -1 when it raised.
template <syntax::BinaryOp kOp>
POSSET_HANDLER int compare_fast(State& s, Borrowed* b, Borrowed* c, uint8_t x) {
  if (b->is_int() && c->is_int()) return holds<kOp>(b->as_int(), c->as_int());
  if (b->is_float() && c->is_float()) return holds<kOp>(b->as_float(), c->as_float());
  if (b->is_short_string() && c->is_short_string()) return short_texts_hold<kOp>(*b, *c);
  return slow_compare(s.cx, kOp, b, c, x);
}

template <syntax::BinaryOp kOp>
POSSET_HANDLER const Insn* compare_value(State& s, Insn i) {
  int outcome = compare_fast<kOp>(s, &s.r[i.b], &s.r[i.c], i.x);
  if (outcome < 0) [[unlikely]] return nullptr;
  s.r[i.a] = Borrowed::boolean(outcome);
  return s.pc + 1;
}

template <bool kLoop>
POSSET_HANDLER const Insn* branch(State& s, Insn i, int outcome, int32_t distance) {
  if (outcome < 0) [[unlikely]] return nullptr;
  if (outcome != ((i.x & kSense) != 0)) return s.pc + 1;
  if constexpr (kLoop) return go_round(s, s.pc + distance);
  return s.pc + distance;
}

template <syntax::BinaryOp kOp, bool kLoop>
POSSET_HANDLER const Insn* compare_jump(State& s, Insn i) {
  return branch<kLoop>(s, i, compare_fast<kOp>(s, &s.r[i.a], &s.r[i.b], i.x), i.imm_c());
}
template <syntax::BinaryOp kOp, bool kLoop>
POSSET_HANDLER const Insn* compare_jump_imm(State& s, Insn i) {
  Borrowed* a = &s.r[i.a];
  int outcome;
  if (a->is_int()) {
    outcome = holds<kOp>(a->as_int(), int64_t{i.imm_b()});
  } else {
    Borrowed b = Borrowed::integer(i.imm_b());
    outcome = slow_compare(s.cx, kOp, a, &b, i.x);
  }
  return branch<kLoop>(s, i, outcome, i.imm_c());
}
template <syntax::BinaryOp kOp, bool kLoop>
POSSET_HANDLER const Insn* compare_jump_const(State& s, Insn i) {
  auto* b = const_cast<Borrowed*>(s.k + i.b);
  return branch<kLoop>(s, i, compare_fast<kOp>(s, &s.r[i.a], b, i.x), i.imm_c());
}

#define COMPARE_HANDLERS(Name)                                                                                       \
  POSSET_HANDLER const Insn* op_##Name(State& s, Insn i) { return compare_value<syntax::BinaryOp::Name>(s, i); }      \
  POSSET_HANDLER const Insn* op_Jump##Name(State& s, Insn i) { return compare_jump<syntax::BinaryOp::Name, false>(s, i); } \
  POSSET_HANDLER const Insn* op_Jump##Name##I(State& s, Insn i) {                                                     \
    return compare_jump_imm<syntax::BinaryOp::Name, false>(s, i);                                                     \
  }                                                                                                                   \
  POSSET_HANDLER const Insn* op_Jump##Name##K(State& s, Insn i) {                                                     \
    return compare_jump_const<syntax::BinaryOp::Name, false>(s, i);                                                   \
  }                                                                                                                   \
  POSSET_HANDLER const Insn* op_Loop##Name(State& s, Insn i) { return compare_jump<syntax::BinaryOp::Name, true>(s, i); } \
  POSSET_HANDLER const Insn* op_Loop##Name##I(State& s, Insn i) {                                                     \
    return compare_jump_imm<syntax::BinaryOp::Name, true>(s, i);                                                      \
  }                                                                                                                   \
  POSSET_HANDLER const Insn* op_Loop##Name##K(State& s, Insn i) {                                                     \
    return compare_jump_const<syntax::BinaryOp::Name, true>(s, i);                                                    \
  }
COMPARE_HANDLERS(Eq)
COMPARE_HANDLERS(Ne)
COMPARE_HANDLERS(Lt)
COMPARE_HANDLERS(Le)
COMPARE_HANDLERS(Gt)
COMPARE_HANDLERS(Ge)
#undef COMPARE_HANDLERS

// ---- jumps ----
POSSET_HANDLER const Insn* op_Jump(State& s, Insn i) { return s.pc + i.wide; }
POSSET_HANDLER const Insn* op_Loop(State& s, Insn i) { return go_round(s, s.pc + i.wide); }
POSSET_HANDLER int truth(State& s, Insn i) {
  Borrowed a = s.r[i.a];
  return a.is_bool() ? static_cast<int>(a.as_bool()) : slow_condition(s.cx, &s.r[i.a], i.x);
}
POSSET_HANDLER const Insn* op_JumpIf(State& s, Insn i) { return branch<false>(s, i, truth(s, i), i.wide); }
POSSET_HANDLER const Insn* op_LoopIf(State& s, Insn i) { return branch<true>(s, i, truth(s, i), i.wide); }
POSSET_HANDLER const Insn* op_JumpSet(State& s, Insn i) { return s.r[i.a].is_unset() ? s.pc + 1 : s.pc + i.wide; }
POSSET_HANDLER const Insn* op_JumpNil(State& s, Insn i) {
  return s.r[i.a].is_nil() == ((i.x & kSense) != 0) ? s.pc + i.wide : s.pc + 1;
}

// ---- loops ----
POSSET_HANDLER const Insn* op_IterBegin(State& s, Insn i) {
  if (interp::begin_iteration(s.cx, &s.r[i.a], (i.x & kSense) != 0)) return s.pc + 1;
  drop(s.r[i.a]);
  return nullptr;
}
POSSET_HANDLER const Insn* op_IterLines(State& s, Insn i) {
  if (interp::begin_lines(s.cx, &s.r[i.a])) return s.pc + 1;
  drop(s.r[i.a]);
  return nullptr;
}
POSSET_HANDLER const Insn* op_IterRange(State& s, Insn i) {
  Borrowed first = s.r[i.b], last = s.r[i.c];
  s.r[i.a] = Borrowed::nil();
  return interp::begin_counted(s.cx, &s.r[i.a], first, last, (i.x & kSense) != 0) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* next_round(State& s, Insn i) {
  const Insn* head = s.pc + i.imm_c();
  return i.x & kFree ? go_round_free(s, head) : go_round(s, head);
}
POSSET_HANDLER const Insn* op_ForNext(State& s, Insn i) {
  Borrowed* hidden = &s.r[i.a];
  int64_t cursor = hidden[1].as_int();
  if (hidden[0].is_list()) {
    auto* list = hidden[0].as<interp::List>();
    if (static_cast<uint64_t>(cursor) >= list->size) return s.pc + 1;
    hidden[1].word1 = static_cast<uint64_t>(cursor + 1);
    Borrowed item = interp::list_get(list, static_cast<uint64_t>(cursor));
    interp::retain(item);
    s.r[i.b] = item;
  } else {
    bool more = false;
    if (!not_counted_next(s.cx, hidden, &s.r[i.b], more)) return nullptr;
    if (!more) return s.pc + 1;
  }
  const Insn* next = next_round(s, i);
  if (!next) [[unlikely]] drop(s.r[i.b]);
  return next;
}
POSSET_HANDLER const Insn* op_ForRange(State& s, Insn i) {
  Borrowed* hidden = &s.r[i.a];
  int64_t cursor = hidden[1].as_int();
  if (hidden[0].is_nil() && cursor < hidden[2].as_int()) [[likely]] {
    const Insn* next = next_round(s, i);
    if (!next) [[unlikely]] return nullptr;
    hidden[1].word1 = static_cast<uint64_t>(cursor + 1);
    s.r[i.b] = Borrowed::integer(cursor);
    return next;
  }
  return hidden[0].is_nil() ? s.pc + 1 : op_ForNext(s, i);
}

// ---- loops of built-ins that call functions ----
POSSET_HANDLER const Insn* op_CallbackReady(State& s, Insn i) {
  const interp::CallbackForm form{parameters_of(i.x), (i.x & kSense) != 0, (i.x & kSplits) != 0, (i.x & kFromFirst) != 0};
  const bool ready = interp::callback_loop_fits(form, s.r[i.a], s.r[i.b]);
  return ready ? s.pc + 1 : s.pc + i.imm_c();
}
POSSET_HANDLER const Insn* op_CallbackRounds(State& s, Insn i) {
  if (!interp::is_rest_wanted(s.cx, s.r[i.a + syntax::kCallbackBegun])) [[likely]] return s.pc + 1;
  if (s.cx.runtime.trace) note_call_place(s.cx, *s.chunk, s.closure, s.pc);
  s.cx.stack_top = s.r + s.chunk->registers;
  return interp::divide_callbacks(s.cx, *link_cell(s, i.b).as_builtin(), &s.r[i.a]) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_JumpAnswer(State& s, Insn i) {
  Borrowed a = s.r[i.a];
  const int outcome = a.is_bool() ? static_cast<int>(a.as_bool()) : slow_answer(s.cx, s.closure, i.b, a);
  return branch<false>(s, i, outcome, i.imm_c());
}

}  // namespace posset::bytecode
