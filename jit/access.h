// Which registers an instruction reads and writes, beyond what the operand kinds of its table row say: windows,
// hidden loop registers, descriptors. Whoever keeps registers elsewhere than in the frame asks here what an
// instruction done by exec needs there, and what it leaves there.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bytecode/chunk.h"

namespace posset::jit {

// Begins a round with the next item, or ends the loop.
constexpr bool is_next_item(bytecode::Op op) { return op == bytecode::Op::ForRange || op == bytecode::Op::ForNext; }

struct Access {
  uint32_t first = 0;
  uint32_t count = 1;
  bool read = false;
  bool written = false;
};

// Consumed operands count as written: they become nil.
void for_each_access(const bytecode::Chunk& chunk, uint32_t pc, const std::function<void(const Access&)>& visit);

// Whether it has fork points, and does not run where nobody could take what is left.
bool leaves_forks(const bytecode::Chunk& chunk);
// Whether some loop begins between a fork and where it is taken back.
bool keeps_forks_at_heads(const bytecode::Chunk& chunk);

// A set of registers.
class RegisterSet {
 public:
  explicit RegisterSet(uint32_t registers = 0) : words_((registers + 63) / 64, 0) {}
  bool has(uint32_t reg) const { return words_[reg / 64] >> (reg % 64) & 1; }
  void add(uint32_t reg) { words_[reg / 64] |= uint64_t{1} << (reg % 64); }
  void remove(uint32_t reg) { words_[reg / 64] &= ~(uint64_t{1} << (reg % 64)); }
  // True when that changed this.
  bool add_all(const RegisterSet& other);
  bool operator==(const RegisterSet&) const = default;

 private:
  std::vector<uint64_t> words_;
};

// By instruction: the registers whose contents matter there, because they are read later, or because they are
// owned and would be released if the instruction raised. `held`: variables of a loop's own code that may have held
// something counted, so that its end must leave nil in them; of the others it does not matter what is left.
std::vector<RegisterSet> live_registers(const bytecode::Chunk& chunk, const RegisterSet& held);

// The registers in which the chunk's first instruction must find something: those that some instruction uses before
// any has written them. A loop's own code is entered with what the function's other variables hold, which may be what
// an earlier activation left in them.
RegisterSet demanded_registers(const bytecode::Chunk& chunk);

}  // namespace posset::jit
