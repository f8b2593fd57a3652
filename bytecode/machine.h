// The machine's registers while it runs, kept in one struct whose address never escapes, so that the
// compiler keeps its members in processor registers. Handlers are inlined into the dispatch loop (vm.cpp);
// each is a small function `op_NAME(State&, Insn)` in one of the handlers_*.h by family.
#pragma once

#include "bytecode/slow.h"
#include "bytecode/vm.h"
#include "interp/runtime/call.h"
#include "interp/runtime/callback_loop.h"
#include "interp/runtime/iterate.h"
#include "interp/runtime/ops.h"
#include "interp/runtime/place.h"
#include "interp/runtime/rounds.h"
#include "interp/runtime/forks.h"
#include "interp/value/compare.h"
#include "interp/value/list.h"
#include "interp/value/map.h"
#include "interp/value/string.h"

namespace posset::bytecode {

#define POSSET_HANDLER [[gnu::always_inline]] static inline

struct State {
  Context& cx;
  const Insn* pc;
  Borrowed* r;              // registers of the running frame
  const Borrowed* k;        // its constants
  Closure* closure;
  Chunk* chunk;
  Borrowed* place;          // where a run of Place... instructions has got to
  bool shared_cell;         // it went through a ref
  Borrowed* const first;    // registers of the first frame
  Borrowed result;          // when leaving
  Leave leave;
  const bool in_machine;    // false: native code has one instruction done (exec.cpp)
  uint32_t native_entry = 0;  // for EnterNativeLoop
};

// A handler that ends the run gives this instead of an instruction.
inline const Insn kLeaveInsn{};
POSSET_HANDLER const Insn* leave(State& s, Leave how, Borrowed result) {
  s.leave = how;
  s.result = result;
  return &kLeaveInsn;
}

POSSET_HANDLER uint64_t next_word(const State& s) { return std::bit_cast<uint64_t>(s.pc[1]); }

POSSET_HANDLER bool step(State& s) { return --s.cx.fuel >= 0 || s.cx.poll(); }

// At a loop head. The end of a slice is where native code that has become ready while the loop ran is taken up, which
// keeps the question off the hot path.
POSSET_HANDLER const Insn* end_of_slice(State& s, const Insn* head) {
  if (!s.in_machine) return head;
  ask_again(s.cx, *s.closure->function, *s.chunk, head);
  if (!s.chunk->native.load(std::memory_order_relaxed)) return record_again(s.cx, *s.closure->function, *s.chunk, head);
  s.native_entry = native_entry_at(*s.chunk, head);
  return s.native_entry ? &kEnterNativeLoop : head;
}

// One more round of a loop: a step.
POSSET_HANDLER const Insn* go_round(State& s, const Insn* head) {
  if (--s.cx.fuel >= 0) [[likely]] return head;
  return s.cx.poll() ? end_of_slice(s, head) : nullptr;
}

// The same for a loop whose rounds charge nothing because the call in them does. When nothing is left the slice
// ends in that call, so this is the place for the question.
POSSET_HANDLER const Insn* go_round_free(State& s, const Insn* head) {
  return s.cx.fuel > 0 ? head : end_of_slice(s, head);
}

POSSET_HANDLER FieldCache& cache_at(State& s, uint16_t index) { return *s.chunk->caches[index]; }

// Index of the field in a record of the shape the cache has seen, or -1.
POSSET_HANDLER int64_t cached_field(const FieldCache& cache, Borrowed base) {
  if (!base.is_record() && !base.is_variant()) return -1;
  uint64_t seen = cache.seen.load(std::memory_order_relaxed);
  return seen >> 32 == base.as<interp::Record>()->shape ? static_cast<int64_t>(seen & 0xffffffff) : -1;
}

POSSET_HANDLER const Borrowed& link_cell(State& s, uint16_t index) { return *s.closure->function->links[index]; }

}  // namespace posset::bytecode
