// Mutual exclusion among tasks, and the condition they wait on under it. Whoever waits is suspended, so it may be held while
// something else is waited for. Threads that are bound nowhere may use both; they sleep.
//
// Unlocking hands the mutex to whoever has waited longest, so nobody is passed for ever. Not recursive. A task that was
// cancelled gets a free mutex as ever, and Cancelled instead of waiting for one.
#pragma once

#include <utility>

#include "sched/base/clock.h"
#include "sched/base/thread_safety.h"
#include "sched/fiber/wait_list.h"

namespace posset::sched::fiber {

class FiberMutex {
 public:
  FiberMutex() = default;
  FiberMutex(const FiberMutex&) = delete;
  FiberMutex& operator=(const FiberMutex&) = delete;

  // It is held only if the answer is Ok.
  Wait lock(int64_t deadline_ns = kNever) POSSET_EXCLUDES(inner_);
  bool try_lock() POSSET_EXCLUDES(inner_);
  // Whether the task was cancelled or not. False, and not held: executors unwind what is left after their deadline.
  bool lock_regardless() POSSET_EXCLUDES(inner_);
  void unlock() POSSET_EXCLUDES(inner_);

 private:
  Mutex inner_;  // held for some instructions
  bool held_ POSSET_GUARDED_BY(inner_) = false;
  WaitList waiting_ POSSET_GUARDED_BY(inner_);
};

// Holds one for a scope, if it got it.
class FiberLock {
 public:
  explicit FiberLock(FiberMutex& mutex, int64_t deadline_ns = kNever) : mutex_(mutex), answer_(mutex.lock(deadline_ns)) {}
  ~FiberLock() { unlock(); }
  FiberLock(const FiberLock&) = delete;
  FiberLock& operator=(const FiberLock&) = delete;

  bool owns() const { return answer_ == Wait::Ok; }
  Wait answer() const { return answer_; }  // Closed: it was given back
  void unlock() {
    if (std::exchange(answer_, Wait::Closed) == Wait::Ok) mutex_.unlock();
  }

 private:
  friend class Condition;
  FiberMutex& mutex_;
  Wait answer_;
};

class Condition {
 public:
  Condition() = default;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  // Waits once for a notification that comes after this was called; may return Ok for none. The lock is held again
  // afterwards, but for FiberMutex::lock_regardless: then the answer is Cancelled, and `lock.owns()` false.
  Wait wait(FiberLock& lock, int64_t deadline_ns = kNever) POSSET_EXCLUDES(inner_);

  // Waits until `done()`, called with the lock held. What it says decides, at the deadline too: Ok is that it said yes.
  template <class Done>
  Wait wait(FiberLock& lock, Done&& done, int64_t deadline_ns = kNever) {
    while (!done()) {
      const Wait answer = wait(lock, deadline_ns);
      if (answer == Wait::Ok) continue;
      return lock.owns() && done() ? Wait::Ok : answer;
    }
    return Wait::Ok;
  }

  void notify_one() POSSET_EXCLUDES(inner_);
  void notify_all() POSSET_EXCLUDES(inner_);

 private:
  Mutex inner_;
  WaitList waiting_ POSSET_GUARDED_BY(inner_);
};

}  // namespace posset::sched::fiber
