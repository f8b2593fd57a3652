// Waiting for a deadline of an injected clock. The system's condition variables know only the system's time,
// so what is left until the deadline is waited there and then the clock is asked again; a clock that stands
// still makes nobody wait for ever at once, but a turn at a time.
#pragma once

#include <condition_variable>

#include "sched/base/clock.h"
#include "sched/base/thread_safety.h"

namespace posset::sched {

// Waits once; may return early. False: the clock has reached the deadline, and there was no wait.
inline bool wait_on(const Clock& clock, MutexLock& lock, std::condition_variable& condition, int64_t deadline_ns) {
  if (deadline_ns == kNever) {
    lock.wait(condition);
    return true;
  }
  const int64_t left_ns = deadline_ns - clock.now_ns();
  if (left_ns <= 0) return false;
  lock.wait_until(condition, SystemClock::time_point(SystemClock().now_ns() + left_ns));
  return true;
}

}  // namespace posset::sched
