// Errors in the machine: which frame handles them, and releasing what the frames on the way own. Cold.
#include <algorithm>

#include "bytecode/vm.h"
#include "interp/runtime/place.h"
#include "interp/runtime/forks.h"

namespace posset::bytecode {

namespace {

const Region* find_region(const Chunk& chunk, uint32_t pc, bool limit) {
  for (const Region& region : chunk.regions) {
    if (pc >= region.begin && pc < region.end && (region.cleanup || !limit)) return &region;
  }
  return nullptr;
}

void release_slots(Borrowed* registers, uint32_t from, uint32_t to, uint64_t except) {
  for (uint32_t slot = from; slot < to; ++slot) {
    if (slot < 64 && (except >> slot & 1)) continue;
    interp::release(std::exchange(registers[slot], Borrowed::nil()));
  }
}

void release_temporaries(Borrowed* registers, const std::vector<uint16_t>& owned, const std::vector<uint16_t>* keep) {
  for (uint16_t reg : owned) {
    if (keep && std::find(keep->begin(), keep->end(), reg) != keep->end()) continue;
    interp::release(std::exchange(registers[reg], Borrowed::nil()));
  }
}

// False: with the last of its trace the error has become one that cannot be caught.
bool enter_handler(Context& context, Frame& frame, const Region& region, const LiveChange& live) {
  Chunk& chunk = *frame.chunk;
  const Borrowed site = Borrowed::integer(context.noted_site());
  Value error = region.cleanup ? context.take_error() : context.catch_error();
  if (error.failed()) return false;
  interp::drop_forks_above(context, frame.registers, region.forks);
  release_slots(frame.registers, region.locals, live.locals, 0);
  release_temporaries(frame.registers, chunk.live_sets[live.set], &chunk.live_sets[region.live_set]);
  if (region.cleanup) frame.registers[region.reg + 1] = site;
  frame.registers[region.reg] = error.take();
  bool first_half = frame.pc < chunk.code.get() + chunk.size;
  frame.pc = chunk.code.get() + (first_half ? 0 : chunk.size) + region.handler;
  return true;
}

bool walks(Op op) {
  return (op >= Op::PlaceIndex && op <= Op::StoreField) || (op >= Op::PlaceFind && op <= Op::TakeField);
}

// A walk to a place that raises takes back the key it has inserted on its way. Between its instructions stand
// only simple defaults, so none of these is a data word.
void undo_walk(Context& context, const Chunk& chunk, uint32_t pc) {
  const Insn* code = chunk.code.get() + chunk.size;
  if (!walks(static_cast<Op>(code[pc].op))) return;
  for (Op op = Op::Nop; pc > 0 && op != Op::PlaceLocal && op != Op::PlaceRef;) {
    op = static_cast<Op>(code[--pc].op);
    if (op == Op::PlaceIndexOr) return interp::undo_insertions(context);
  }
}

}  // namespace

bool unwind(Context& context, Frame& frame, const Borrowed* first_frame) {
  undo_walk(context, *frame.chunk, frame.chunk->index_of(frame.pc));
  for (;;) {
    Chunk& chunk = *frame.chunk;
    uint32_t pc = chunk.index_of(frame.pc);
    context.note_failure(*frame.closure->function, chunk.site_of(pc, context.limit_pending()));
    const LiveChange& live = chunk.live_at(pc);
    if (const Region* region = find_region(chunk, pc, context.limit_pending())) {
      if (enter_handler(context, frame, *region, live)) return true;
      continue;
    }
    uint64_t lent = chunk.is_loop ? 0 : chunk.inout_mask;
    release_slots(frame.registers, chunk.first_local, live.locals, lent);
    release_temporaries(frame.registers, chunk.live_sets[live.set], nullptr);
    if (frame.registers == first_frame) return false;
    context.leave_failed();
    --context.depth;
    const SavedFrame saved = reinterpret_cast<const SavedFrame*>(frame.registers)[-1];
    // The call has not finished: the place is the call itself, not what follows it.
    frame = {saved.pc - 1, saved.registers, saved.closure, saved.chunk};
  }
}

}  // namespace posset::bytecode
