// Choices: branches over a few instructions that compute numbers, where sums may overflow. The optimiser makes
// selections of small branches by itself, but not of those that may leave the code on the way. Done here, both ways
// are computed and one is taken, so that nothing hangs on guessing the branch; if the one taken has overflowed, the
// code exits at the branch, as if nothing had happened, because nothing has.
//
// Both ways have to end at one place, contain nothing else than numbers, and know the kinds of all of them. In a strip
// (strips.h) one way may also end with appending a number to a list that has room: it is put behind the list's end
// in any case, and the end moves, or not.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "jit/kinds.h"

namespace posset::jit {

struct Choice {
  struct Way {
    uint32_t begin = 0, end = 0;
    State behind;
  };
  Way falls, jumps;  // the second may be empty
  uint32_t join = 0;
  // Registers that differ behind it: those that matter there, and all that either way writes.
  std::vector<uint32_t> results, written;
  std::optional<uint32_t> append;  // at the end of `falls`, where there is no other way
};

// Of the jump, behind whose guards `state` holds. `is_proved`: a sum that cannot overflow, or a list that has room.
std::optional<Choice> find_choice(const bytecode::Chunk& chunk, const Kinds& kinds, uint32_t jump, const State& state,
                                  const std::function<bool(uint32_t pc)>& is_proved);

}  // namespace posset::jit
