// The loops of a chunk, found in its bytecode: what stage 2 must know of them to make loops that the optimiser
// recognises, with one way in and everything that does not change in front of it.
//
// Bytecode has the condition of a loop at its end, behind the body, and enters the loop there:
//
//   Jump -> entry;  head: body ...  entry: condition ... latch: back to head
#pragma once

#include <cstdint>
#include <vector>

#include "bytecode/chunk.h"

namespace posset::jit {

struct Loop {
  uint32_t head = 0;   // where its back edges go
  uint32_t entry = 0;  // where it is entered: the condition, or the head
  uint32_t latch = 0;  // its last instruction
  bool one_latch = true;  // nothing else goes back to the head
  int parent = -1;     // the loop around it
  // Entered in one place only, and the condition can be made twice: once in front of the loop.
  bool tidy = true;

  bool contains(uint32_t pc) const { return pc >= head && pc <= latch; }
};

// Outer loops first.
std::vector<Loop> find_loops(const bytecode::Chunk& chunk);

}  // namespace posset::jit
