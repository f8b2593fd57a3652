// Threads that somebody waits for less than for others. A thread that wakes takes a processor from one that runs, as a
// rule: the system takes it for interactive. A compiler is not; the evaluation it would interrupt is. In the background
// (SCHED_BATCH) a thread gets as much time as others and waits for its turn.
#pragma once

#ifdef __linux__
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace posset::sched {

// While one lives, the thread that made it is in the background; the same thread destroys it. Threads for which the host
// has chosen something else are left alone, and where the system does not know it nothing happens.
class Background {
 public:
#ifdef __linux__
  Background() : changed_(sched_getscheduler(0) == SCHED_OTHER && set(SCHED_BATCH)) {}
  ~Background() {
    if (changed_) set(SCHED_OTHER);
  }
#else
  Background() = default;
#endif
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

 private:
#ifdef __linux__
  static bool set(int policy) {
    const sched_param parameters{};
    return sched_setscheduler(0, policy, &parameters) == 0;
  }

  bool changed_;
#endif
};

// Gives the calling thread a smaller share where there are too few processors, for good: nice(2), where the system knows
// it by thread. A hint: when it is refused the thread is as important as others.
inline void be_nice([[maybe_unused]] int niceness) {
#ifdef __linux__
  if (niceness != 0) setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), niceness);
#endif
}

}  // namespace posset::sched
