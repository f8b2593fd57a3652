// Waiting for some instructions without giving up the processor: for what another thread is about to do anyway.
// Putting a thread to sleep and waking it takes microseconds of both, more than most locks here are held and more
// than passes between two tasks of a burst. Whoever spins does so for a bounded time, about what sleeping would
// have cost, and sleeps then: never more than twice the better choice.
#pragma once

#include <chrono>

namespace posset::sched {

// Tells the processor that this is a loop that waits; 4 to 60 ns, so that a number of pauses says nothing of time.
inline void spin_pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

// Asks `done` again and again, at growing distances up to 8 pauses, until it says yes or that time has passed. The clock
// is not read where the first answer is yes.
template <class Done>
bool spin_until(std::chrono::nanoseconds time, Done&& done) {
  using Clock = std::chrono::steady_clock;
  if (done()) return true;
  const Clock::time_point end = Clock::now() + time;
  for (int distance = 1;; distance = distance < 8 ? 2 * distance : 8) {
    for (int i = 0; i < distance; ++i) spin_pause();
    if (done()) return true;
    if (Clock::now() >= end) return false;
  }
}

}  // namespace posset::sched
