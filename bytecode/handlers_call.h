// Calls and returns. Bytecode calls bytecode by pushing a frame; everything else goes through call.h.
#pragma once

#include "bytecode/machine.h"
#include "bytecode/native.h"

namespace posset::bytecode {

POSSET_HANDLER Chunk* chunk_of(const interp::Function& function) {
  return static_cast<Chunk*>(function.direct_code.load(std::memory_order_acquire));
}

// False: a limit was hit, nothing has changed but what was charged.
POSSET_HANDLER bool charge_call(Context& cx, const Borrowed* base, const interp::Function& callee, const Chunk& chunk) {
  if (base + chunk.registers > cx.stack_end || cx.depth >= cx.depth_limit) [[unlikely]] {
    // Charged first, as everywhere, so that the same limit is hit in every tier.
    if (cx.charge_one()) cx.raise_stack_overflow();
    return false;
  }
  if (--cx.fuel < 0 && !end_slice_in_call(cx, callee)) [[unlikely]] return false;
  ++cx.depth;
  if (chunk.entry.load(std::memory_order_relaxed) == chunk.code.get()) [[unlikely]] count_call(cx, callee);
  return true;
}

POSSET_HANDLER void set_frame(State& s, const Insn* pc, Borrowed* registers, Closure* closure, Chunk* chunk) {
  s.pc = pc;
  s.r = registers;
  s.closure = closure;
  s.chunk = chunk;
  s.k = chunk->constants.data();
}

// Null: a limit was hit, nothing has changed. Arguments are in place and fit.
POSSET_HANDLER const Insn* push_frame(State& s, Borrowed* base, Closure* callee, Chunk* chunk, const Insn* resume) {
  if (!charge_call(s.cx, base, *callee->function, *chunk)) [[unlikely]] return nullptr;
  const Insn* entry = chunk->entry.load(std::memory_order_acquire);
  reinterpret_cast<SavedFrame*>(base)[-1] = {resume, s.r, s.closure, s.chunk};
  set_frame(s, entry, base, callee, chunk);
  return s.pc;
}

POSSET_HANDLER const Insn* enter_closure(State& s, Closure* callee, Borrowed* window, uint32_t count,
                                         const Insn* resume) {
  const interp::Function& function = *callee->function;
  Chunk* chunk = chunk_of(function);
  Borrowed* base = window + 2;
  if (chunk && count == function.parameter_count && !function.has_rest) [[likely]] {
    const Insn* next = push_frame(s, base, callee, chunk, resume);
    if (next) [[likely]] return next;
    drop_arguments(function, base);
    return nullptr;
  }
  return call_through_core(s.cx, callee, window, count) ? resume : nullptr;
}

POSSET_HANDLER const Insn* op_CallKnown(State& s, Insn i) {
  return enter_closure(s, link_cell(s, i.b).as<Closure>(), &s.r[i.a], i.c, s.pc + 1);
}

POSSET_HANDLER const Insn* call_any(State& s, Borrowed callee, Insn i) {
  uint64_t marks = next_word(s);
  if (callee.is(interp::Tag::Fn) && callee.as<Closure>()->function->inout_mask == marks) [[likely]] {
    return enter_closure(s, callee.as<Closure>(), &s.r[i.a], i.c, s.pc + 2);
  }
  return call_in_window(s.cx, callee, &s.r[i.a], i.c, marks) ? s.pc + 2 : nullptr;
}
POSSET_HANDLER const Insn* op_CallLink(State& s, Insn i) {
  Borrowed callee = link_cell(s, i.b);
  if (!callee.is_unset()) [[likely]] return call_any(s, callee, i);
  for (uint32_t n = 0; n < i.c; ++n) drop(s.r[i.a + 2 + n]);
  undefined_link(s.cx, s.closure, i.b);
  return nullptr;
}
// The step of a round whose callee charges none. False: refused, and the arguments are gone.
POSSET_HANDLER bool charge_round(Context& cx, Borrowed callee, Insn i, Borrowed* window) {
  if (!(i.x & kCharged) || callee.is(interp::Tag::Fn) || cx.charge_one()) [[likely]] return true;
  for (uint32_t n = 0; n < i.c; ++n) drop(window[2 + n]);
  return false;
}
POSSET_HANDLER const Insn* op_CallValue(State& s, Insn i) {
  return charge_round(s.cx, s.r[i.b], i, &s.r[i.a]) ? call_any(s, s.r[i.b], i) : nullptr;
}
POSSET_HANDLER const Insn* op_CallNative(State& s, Insn i) {
  Borrowed callee = link_cell(s, i.b);
  if ((i.x & kSense) && s.cx.runtime.trace) [[unlikely]] note_call_place(s.cx, *s.chunk, s.closure, s.pc);
  Value result = interp::call_native(s.cx, callee.as_builtin(), &s.r[i.a] + 2, i.c);
  if (result.failed()) [[unlikely]] return nullptr;
  s.r[i.a] = result.take();
  return s.pc + 1;
}
POSSET_HANDLER const Insn* op_CallSpread(State& s, Insn i) {
  s.cx.stack_top = s.r + s.chunk->registers;
  return call_with_list(s.cx, &s.r[i.a], s.r[i.b], &s.r[i.c]) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_Spawn(State& s, Insn i) {
  const interp::Spawn spawn{*s.closure->function, s.chunk->site_of(s.chunk->index_of(s.pc), false), (i.x & kSense) == 0};
  return spawn_with_list(s.cx, &s.r[i.a], s.r[i.b], &s.r[i.c], spawn) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_Await(State& s, Insn i) {
  s.cx.stack_top = s.r + s.chunk->registers;
  return await_task(s.cx, &s.r[i.a], s.r[i.b]) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_Fork(State& s, Insn i) {
  for (uint32_t n = i.b; n-- > 0;) interp::fork(s.cx, i.a + n, s.r, s.closure);
  return s.pc + 1;
}
POSSET_HANDLER const Insn* op_Rounds(State& s, Insn i) {
  if (!interp::is_rest_wanted(s.cx, s.r[i.a + syntax::kComprehensionBegun])) [[likely]] return s.pc + 1;
  s.cx.stack_top = s.r + s.chunk->registers;
  return interp::divide_rest(s.cx, s.closure, s.r, i.b) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_Merge(State& s, Insn i) {
  Value result;
  if (!interp::merge(s.cx, i.b, s.r, result)) return s.pc + 1;
  s.r[i.a] = result.take();
  return s.pc + i.imm_c();
}
POSSET_HANDLER const Insn* op_TailJump(State& s, Insn i) { return go_round(s, s.pc + i.wide); }
POSSET_HANDLER const Insn* op_SpreadParameters(State& s, Insn i) {
  return spread_parameters(s.cx, s.closure, &s.r[i.a], &s.r[i.b]) ? s.pc + 1 : nullptr;
}

POSSET_HANDLER const Insn* return_to_caller(State& s, Borrowed value) {
  --s.cx.depth;
  const SavedFrame saved = reinterpret_cast<const SavedFrame*>(s.r)[-1];
  s.r[-2] = value;
  set_frame(s, saved.pc, saved.registers, saved.closure, saved.chunk);
  return s.pc;
}

// Runs the rest of the frame natively, which releases its registers however it ends.
POSSET_HANDLER const Insn* finish_natively(State& s, uint32_t entry) {
  const Borrowed value = enter_native(s.cx, *s.chunk, s.closure, s.r, entry);
  if (s.r == s.first) return leave(s, value.failed() ? Leave::Failed : native_leave(s.cx, *s.chunk), value);
  if (!value.failed()) [[likely]] return return_to_caller(s, value);
  s.cx.leave_failed();
  --s.cx.depth;
  const SavedFrame saved = reinterpret_cast<const SavedFrame*>(s.r)[-1];
  // The call has not finished: the place is the call itself, not what follows it.
  set_frame(s, saved.pc - 1, saved.registers, saved.closure, saved.chunk);
  return nullptr;
}

POSSET_HANDLER const Insn* op_Return(State& s, Insn i) {
  Borrowed value = s.r[i.a];
  if (i.x & kConsumeA) {
    s.r[i.a] = Borrowed::nil();
  } else {
    interp::retain(value);
  }
  for (uint32_t slot = 0; slot < i.b; ++slot) interp::release(s.r[slot]);
  if (s.r == s.first) return leave(s, Leave::Returned, value);
  return return_to_caller(s, value);
}
POSSET_HANDLER const Insn* op_LoopDone(State& s, Insn i) { return leave(s, Leave::LoopDone, s.r[i.a]); }
POSSET_HANDLER const Insn* op_LoopReturn(State& s, Insn i) { return leave(s, Leave::LoopReturned, s.r[i.a]); }

POSSET_HANDLER const Insn* op_CheckParam(State& s, Insn i) {
  const Chunk::Type& type = s.chunk->types[i.b];
  if (type.tags.fits(s.r[i.a])) [[likely]] return s.pc + 1;
  const Annotated what = i.x & kSense ? Annotated::Argument : Annotated::Parameter;
  return check_type(s.cx, s.closure, *type.written, s.r[i.a], what, i.c) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_CheckType(State& s, Insn i) {
  const Chunk::Type& type = s.chunk->types[i.b];
  if (type.tags.fits(s.r[i.a])) [[likely]] return s.pc + 1;
  const uint32_t site = s.chunk->site_of(s.chunk->index_of(s.pc), false);
  const Annotated what = i.x & kSense ? Annotated::Result : Annotated::Variable;
  return check_type(s.cx, s.closure, *type.written, s.r[i.a], what, site) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_Closure(State& s, Insn i) {
  return make_closure(s.cx, &s.r[i.a], s.closure, i.b, s.r) ? s.pc + 1 : nullptr;
}

// ---- errors ----
POSSET_HANDLER const Insn* op_Throw(State& s, Insn i) {
  s.cx.throw_value(operand_value(s.r[i.a], i.x & kConsumeA));
  return nullptr;
}
POSSET_HANDLER const Insn* op_Raise(State& s, Insn i) {
  raise_described(s.cx, s.chunk->raises[i.a], s.r[i.b]);
  return nullptr;
}
POSSET_HANDLER const Insn* op_Rethrow(State& s, Insn i) {
  s.cx.restore_error(move_out(s.r[i.a]));
  s.cx.note_failure(*s.closure->function, static_cast<uint32_t>(s.r[i.a + 1].as_int()));
  return nullptr;
}

}  // namespace posset::bytecode
