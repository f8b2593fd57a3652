// Ends the sleep of a thread, also from a signal handler: nothing is locked or allocated, so it may come in the middle of
// anything, the sleeper's own code included. (A condition variable may not be notified there.) A post that comes before the
// sleep is kept, and several are one; who wakes looks at everything that may have been posted for.
#pragma once

#include <semaphore.h>
#include <time.h>

#include <atomic>

#include "sched/base/clock.h"

namespace posset::sched {

class WakeUp {
 public:
  WakeUp() { sem_init(&semaphore_, 0, 0); }
  ~WakeUp() { sem_destroy(&semaphore_); }
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;

  // Any thread, and signal handlers. What was written before is seen by who wakes.
  void post() {
    if (!posted_.exchange(true, std::memory_order_acq_rel)) sem_post(&semaphore_);
  }

  // One thread at a time: until there was a post or the clock reaches the deadline; may return early.
  void wait_until(const Clock& clock, int64_t deadline_ns) {
    if (deadline_ns == kNever) {
      took(sem_wait(&semaphore_));
      return;
    }
    // The system knows only its own clock, as in wait.h.
    const int64_t left_ns = deadline_ns - clock.now_ns();
    if (left_ns <= 0) return;
    const int64_t until_ns = SystemClock().now_ns() + left_ns;
    const timespec until{static_cast<time_t>(until_ns / kSecond), static_cast<long>(until_ns % kSecond)};
    took(sem_clockwait(&semaphore_, CLOCK_MONOTONIC, &until));
  }

 private:
  void took(int answer) {
    if (answer == 0) posted_.exchange(false, std::memory_order_acq_rel);
  }

  std::atomic<bool> posted_{false};
  sem_t semaphore_;
};

}  // namespace posset::sched
