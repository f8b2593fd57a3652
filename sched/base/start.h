// A new thread begins on the processor of whoever made it, as a rule. Where that thread goes on computing, and it does
// here, the new one waits for the end of its slice, some milliseconds, though another processor be idle: time in which a
// program that has just begun would have got its first code.
#pragma once

#include <thread>

#ifdef __linux__
#include <pthread.h>
#include <sched.h>
#endif

namespace posset::sched {

// Has a thread that was made just now begin on another processor than the caller's, where it may use one. It may go
// wherever it might before as soon as this returns.
inline void begin_elsewhere([[maybe_unused]] std::thread& thread) {
#ifdef __linux__
  cpu_set_t allowed;
  const pthread_t made = thread.native_handle();
  const int here = sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE || pthread_getaffinity_np(made, sizeof allowed, &allowed) != 0) return;
  cpu_set_t elsewhere = allowed;
  CPU_CLR(here, &elsewhere);
  if (CPU_COUNT(&elsewhere) == 0 || pthread_setaffinity_np(made, sizeof elsewhere, &elsewhere) != 0) return;
  pthread_setaffinity_np(made, sizeof allowed, &allowed);
#endif
}

}  // namespace posset::sched
