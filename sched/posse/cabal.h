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
  explicit Cabal(uint32_t limit = 0) : limit_(limit) { members_.reserve(limit); }  // 0: none

  bool admits(uint32_t executor) const {
    return static_cast<int64_t>(executor) != root_worker_ && (limit_ == 0 || members_.size() < limit_ || has(executor));
  }
  void add(uint32_t executor) {
    if (limit_ != 0 && !has(executor)) members_.push_back(executor);
  }
  // Another computation begins, on that executor, which runs on that worker; -1: on none. What the worker does beside it is not
  // for it: two of a posse would have the turns of one.
  void begin(uint32_t executor, int worker = -1) {
    members_.clear();
    root_worker_ = worker;
    add(executor);
  }

 private:
  bool has(uint32_t executor) const { return std::find(members_.begin(), members_.end(), executor) != members_.end(); }

  uint32_t limit_;
  int64_t root_worker_ = -1;
  std::vector<uint32_t> members_;  // few: a limit is below the number of cores
};

}  // namespace posset::sched::posse
