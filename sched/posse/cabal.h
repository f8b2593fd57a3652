// The executors that have computed for a posse, that of the host first: its cabal. What is handed over goes to one of them or,
// as long as there are fewer than the limit, to another, which is one of them from then on.
//
// An executor is known by its number. Whoever asks holds the lock under which offers are claimed (Crew), so that what is
// admitted is still so when the claim has succeeded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace posset::sched::posse {

class Cabal {
 public:
  explicit Cabal(uint32_t limit = 0) : limit_(limit) {}  // 0: none

  bool admits(uint32_t executor) const { return limit_ == 0 || members_.size() < limit_ || has(executor); }
  void add(uint32_t executor) {
    if (limit_ != 0 && !has(executor)) members_.push_back(executor);
  }
  // Another computation begins, on that executor.
  void begin(uint32_t executor) {
    members_.clear();
    add(executor);
  }

 private:
  bool has(uint32_t executor) const { return std::find(members_.begin(), members_.end(), executor) != members_.end(); }

  uint32_t limit_;
  std::vector<uint32_t> members_;  // few: a limit is below the number of cores
};

}  // namespace posset::sched::posse
