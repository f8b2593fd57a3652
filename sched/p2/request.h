// The state of compiling one thing for one tier, shared by all that execute it. Whoever finds the count at the
// threshold claims the request; one claim wins and its owner submits the compilation. Nobody waits for it:
// until it is ready everybody goes on in what is ready already.
//
//   NotStarted --claim--> Compiling --ready--> Ready        (for good)
//        ^                    |-------failed--> Failed      (for good)
//        +---given_back-------+     refused, cancelled: again after a quarter of the threshold
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdint>

namespace posset::sched {

class CompileRequest {
 public:
  enum class Status : uint8_t { NotStarted, Compiling, Ready, Failed };

  Status status() const { return status_.load(std::memory_order_acquire); }

  // At an execution, the `count`-th: whether the caller shall submit. A threshold of 2 asks at the second.
  // Not equal but at least: an execution that was not counted must not make the request be missed.
  bool claim(uint64_t count, uint64_t threshold) {
    // Relaxed: a stale value only makes the request earlier or later by an execution.
    if (count < std::max(threshold, not_before_.load(std::memory_order_relaxed))) return false;
    Status expected = Status::NotStarted;
    if (status_.load(std::memory_order_relaxed) != expected) return false;
    return status_.compare_exchange_strong(expected, Status::Compiling, std::memory_order_acq_rel);
  }

  // By the owner of the claim. What was compiled is stored before: release makes it visible to whoever
  // reads Ready.
  void ready() { leave(Status::Ready); }
  void failed() { leave(Status::Failed); }
  // The scheduler did not take the task, or dropped it.
  void given_back(uint64_t count, uint64_t threshold) {
    not_before_.store(count + std::max<uint64_t>(1, threshold / 4), std::memory_order_relaxed);
    leave(Status::NotStarted);
  }

 private:
  void leave(Status status) {
    assert(status_.load(std::memory_order_relaxed) == Status::Compiling);
    status_.store(status, std::memory_order_release);
  }

  std::atomic<Status> status_{Status::NotStarted};
  std::atomic<uint64_t> not_before_{0};  // executions before which it is not asked again
};

}  // namespace posset::sched
