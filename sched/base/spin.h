// Waiting for some instructions without giving up the processor: for what another thread is about to do anyway.
// Putting a thread to sleep and waking it takes microseconds of both, more than most locks here are held and more
// than passes between two tasks of a burst. Whoever spins does so for a bounded time, about what sleeping would
// have cost, and sleeps then: never more than twice the better choice.
#pragma once

namespace posset::sched {

// Tells the processor that this is a loop that waits; some 10 to 50 ns on most.
inline void spin_pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

// Asks `done` again and again, at growing distances up to 8 pauses, until it says yes or about `pauses` have passed.
template <class Done>
bool spin_until(int pauses, Done&& done) {
  for (int distance = 1; pauses > 0; pauses -= distance) {
    if (done()) return true;
    for (int i = 0; i < distance; ++i) spin_pause();
    if (distance < 8) distance *= 2;
  }
  return done();
}

}  // namespace posset::sched
