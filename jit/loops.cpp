// See loops.h.
#include "jit/loops.h"

#include <algorithm>

namespace posset::jit {

using bytecode::Chunk;
using bytecode::Insn;
using bytecode::Op;

namespace {

// Conditions longer than this many words are made once, and the loop is left as it is.
constexpr uint32_t kLongestCondition = 24;

class Finder {
 public:
  explicit Finder(const Chunk& chunk) : chunk_(chunk) {}

  std::vector<Loop> run() {
    each([&](uint32_t pc) {
      if (branches(pc) && chunk_.target_at(pc) <= pc) add(chunk_.target_at(pc), pc);
    });
    std::sort(loops_.begin(), loops_.end(), [](const Loop& a, const Loop& b) {
      return a.head != b.head ? a.head < b.head : a.latch > b.latch;
    });
    for (size_t n = 0; n < loops_.size(); ++n) find_parent(n);
    for (Loop& loop : loops_) {
      find_entry(loop);
      loop.tidy = loop.tidy && can_copy(loop);
    }
    return std::move(loops_);
  }

 private:
  const bytecode::OpInfo& info(uint32_t pc) const { return bytecode::info(chunk_.op_at(pc)); }
  bool branches(uint32_t pc) const { return info(pc).flags & bytecode::Branch; }

  template <class Visit>
  void each(Visit visit) const {
    for (uint32_t pc = 0; pc < chunk_.size; pc += chunk_.length_at(pc)) visit(pc);
  }

  void add(uint32_t head, uint32_t latch) {
    for (Loop& loop : loops_) {
      if (loop.head != head) continue;
      loop.latch = std::max(loop.latch, latch);
      loop.one_latch = false;
      return;
    }
    loops_.push_back({.head = head, .entry = head, .latch = latch});
  }

  void find_parent(size_t n) {
    Loop& inner = loops_[n];
    for (size_t m = n; m-- > 0;) {
      Loop& outer = loops_[m];
      if (outer.latch < inner.head) continue;
      if (outer.latch < inner.latch) {
        outer.tidy = inner.tidy = false;
      } else if (inner.parent < 0) {
        inner.parent = static_cast<int>(m);
      }
    }
  }

  // All ways from outside lead to one instruction; when that is not the head, the only one is a jump.
  void find_entry(Loop& loop) const {
    bool found = false;
    auto enters = [&](uint32_t to, bool by_jump) {
      const bool same = !found || (loop.entry == to && to == loop.head);
      loop.tidy = loop.tidy && same && (by_jump || to == loop.head);
      loop.entry = to;
      found = true;
    };
    bool falls = loop.head == 0;
    each([&](uint32_t pc) {
      if (loop.contains(pc)) return;
      if (branches(pc) && loop.contains(chunk_.target_at(pc))) enters(chunk_.target_at(pc), chunk_.op_at(pc) == Op::Jump);
      if (pc < loop.head) falls = !(info(pc).flags & bytecode::Ends);
    });
    if (falls) enters(loop.head, false);
    loop.tidy = loop.tidy && found;
  }

  bool can_copy(const Loop& loop) const {
    if (loop.entry == loop.head) return true;
    if (loop.latch - loop.entry > kLongestCondition) return false;
    bool plain = true;
    each([&](uint32_t pc) {
      if (pc < loop.entry || pc > loop.latch) return;
      plain &= !(branches(pc) && chunk_.target_at(pc) > loop.head && chunk_.target_at(pc) < loop.entry);
      for (const Loop& other : loops_) plain &= other.head != pc;
      for (const bytecode::Region& region : chunk_.regions) plain &= region.handler != pc;
    });
    return plain;
  }

  const Chunk& chunk_;
  std::vector<Loop> loops_;
};

}  // namespace

std::vector<Loop> find_loops(const Chunk& chunk) { return Finder(chunk).run(); }

}  // namespace posset::jit
