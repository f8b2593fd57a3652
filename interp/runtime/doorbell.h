// Ends the sleep of a fiber from any thread. A bell that is rung before somebody sleeps by it keeps him awake: so what comes
// between the last look and the sleep is not missed.
//
// One sleeper at a time. The lock is a leaf.
#pragma once

#include "sched/base/thread_safety.h"
#include "sched/fiber/parker.h"

namespace posset::interp {

class Doorbell {
 public:
  // Any thread.
  void ring() POSSET_EXCLUDES(mutex_) {
    sched::MutexLock lock(mutex_);
    rung_ = true;
    if (sleeper_) sleeper_->unpark();  // under the lock: it is not gone before
  }

  // Whoever sleeps: `parker` stays until `get_up`, which forgets that it was rung.
  void lie_down(sched::fiber::Parker& parker) POSSET_EXCLUDES(mutex_) {
    sched::MutexLock lock(mutex_);
    sleeper_ = &parker;
  }
  bool has_rung() const POSSET_EXCLUDES(mutex_) {
    sched::MutexLock lock(mutex_);
    return rung_;
  }
  void get_up() POSSET_EXCLUDES(mutex_) {
    sched::MutexLock lock(mutex_);
    sleeper_ = nullptr;
    rung_ = false;
  }

 private:
  mutable sched::Mutex mutex_;
  sched::fiber::Parker* sleeper_ POSSET_GUARDED_BY(mutex_) = nullptr;
  bool rung_ POSSET_GUARDED_BY(mutex_) = false;
};

}  // namespace posset::interp
