// See range_bounds.h.
#include "jit/range_bounds.h"

#include <array>

namespace posset::jit {

using bytecode::Chunk;
using bytecode::Insn;
using bytecode::Op;

namespace {

// The last three instructions in front of the jump to the loop's condition, the last one first; kNoInstruction: there is none.
constexpr uint32_t kNoInstruction = UINT32_MAX;
using Ahead = std::array<uint32_t, 3>;

Ahead instructions_ahead(const Chunk& chunk, const Loop& loop) {
  Ahead ahead = {kNoInstruction, kNoInstruction, kNoInstruction};
  for (uint32_t pc = 0; pc + 1 < loop.head; pc += chunk.length_at(pc)) ahead = {pc, ahead[0], ahead[1]};
  return ahead;
}

}  // namespace

RangeBounds range_bounds(const Kinds& kinds, const Loop& loop, uint16_t range) {
  RangeBounds bounds;
  const Chunk& chunk = kinds.chunk();
  if (!loop.tidy || loop.head == 0 || chunk.op_at(loop.head - 1) != Op::Jump) return bounds;  // it may be entered elsewhere, too
  const Ahead ahead = instructions_ahead(chunk, loop);
  if (ahead[0] == kNoInstruction || chunk.op_at(ahead[0]) != Op::IterRange || chunk.at(ahead[0]).a != range) return bounds;
  const Insn& enters = chunk.at(ahead[0]);
  // Where other ways lead to what follows, a number is not always that one.
  for (size_t n = 1; n < ahead.size() && ahead[n] != kNoInstruction && !kinds.is_leader(ahead[n - 1]); ++n) {
    const Insn& load = chunk.at(ahead[n]);
    if (chunk.op_at(ahead[n]) != Op::LoadInt || (load.a != enters.b && load.a != enters.c)) break;
    const int64_t number = load.imm_b();
    if (load.a == enters.b && !bounds.first) bounds.first = number;
    if (load.a == enters.c && !bounds.last) bounds.last = enters.x & bytecode::kSense ? number : number - 1;
  }
  return bounds;
}

}  // namespace posset::jit
