// The bytecode machine. Internal to bytecode/. `run` executes a chunk in a frame of the register stack and
// whatever it calls that has bytecode, without native recursion; everything else goes through call.h.
//
// Frames: a callee's registers start at its first argument; the two registers before hold what the caller
// needs to go on (SavedFrame). The first frame of a `run` has none: it is known by its base.
#pragma once

#include <span>

#include "bytecode/chunk.h"
#include "interp/runtime/context.h"

namespace posset::bytecode {

using interp::Closure;
using interp::Context;
using interp::Function;
using interp::Value;

struct Frame {
  const Insn* pc = nullptr;
  Borrowed* registers = nullptr;
  Closure* closure = nullptr;
  Chunk* chunk = nullptr;
};

// What lies in the two registers before a callee's first.
struct SavedFrame {
  const Insn* pc;        // where the caller goes on
  Borrowed* registers;
  Closure* closure;
  Chunk* chunk;
};
static_assert(sizeof(SavedFrame) == 2 * sizeof(Borrowed));

enum class Leave : uint8_t { Returned, LoopDone, LoopReturned, Failed };

// Where to begin: null is where the chunk is entered. Between the instructions of a walk to a place, the place.
// `first`: the registers of the frame that ends the run, when there are saved frames down to it.
struct Resume {
  const Insn* pc = nullptr;
  Borrowed* place = nullptr;
  bool shared_cell = false;
  Borrowed* first = nullptr;
};

Leave run(Context& context, Chunk* chunk, Closure* closure, Borrowed* registers, Value& result, Resume from = {});

// unwind.cpp: an error is pending in `frame`. Goes outward to a handler (true: `frame` is where to go on) or
// to the first frame of the run (false: its registers are released).
bool unwind(Context& context, Frame& frame, const Borrowed* first_frame);

// profile.cpp: notes the operand types of the instruction; true when recording is over. `place`: where a walk
// has come to, good only for the instructions of one.
bool record(Chunk& chunk, const Insn* pc, const Borrowed* registers, const Borrowed* place, const Function& function);
// The same for one instruction, whatever has been recorded; it counts as one that has run.
void note(Chunk& chunk, uint32_t at, const Borrowed* registers, const Borrowed* place, const Function& function);
// The chunk has met what those of `loops` in it have, wherever both have the same instruction for the same place in the
// source, and has been called as `signatures` say. A loop's own code has often been hot long before the code around it is
// made.
void learn(Chunk& chunk, std::span<const void* const> loops, const interp::Signatures& signatures);
// What the instruction is about to read out of a container, or to replace in one; an item, a field. Unset: nothing.
Borrowed part_read(const Chunk& chunk, uint32_t at, const Borrowed* r, const Borrowed* place);
Borrowed item_at(Borrowed base, Borrowed index);
Borrowed field_of(const Chunk& chunk, Borrowed base, const FieldCache& cache);

}  // namespace posset::bytecode
