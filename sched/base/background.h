// Threads that somebody waits for less than for others. A thread that wakes takes a processor from one that runs, as a
// rule: the system takes it for interactive. A compiler is not; the evaluation it would interrupt is. In the background
// (SCHED_BATCH) a thread gets as much time as others and waits for its turn.
//
// Threads in the background wait for each other as well, up to some milliseconds. Where some do long work and others
// short work that is wanted soon, the latter leave the background for as long as the former are busy.
//
// A host may have chosen another policy for a thread, and a system may know none: such a thread is left alone.
#pragma once

#include <algorithm>
#include <new>
#include <vector>

#ifdef __linux__
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

#include "sched/base/thread_safety.h"

namespace posset::sched {

// Some threads that are in the background, but while they are in a hurry. Any thread may call anything.
class Background {
 public:
  Background() = default;
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // While one lives, the thread that made it is one of them; the same thread destroys it.
  class Stay {
   public:
    explicit Stay(Background& background) : background_(background), member_(background.enter()) {}
    ~Stay() {
      if (member_ != kNobody) background_.leave(member_);
    }
    Stay(const Stay&) = delete;
    Stay& operator=(const Stay&) = delete;

   private:
    Background& background_;
    const int member_;
  };

  // While one lives they are in a hurry.
  class Hurry {
   public:
    explicit Hurry(Background& background) : background_(background) { background_.hurry(1); }
    ~Hurry() { background_.hurry(-1); }
    Hurry(const Hurry&) = delete;
    Hurry& operator=(const Hurry&) = delete;

   private:
    Background& background_;
  };

 private:
  static constexpr int kNobody = -1;

#ifdef __linux__
  static bool set_policy(int thread, int policy) {
    const sched_param parameters{};
    return sched_setscheduler(thread, policy, &parameters) == 0;
  }
  int policy() const POSSET_REQUIRES(mutex_) { return hurries_ > 0 ? SCHED_OTHER : SCHED_BATCH; }

  int enter() POSSET_EXCLUDES(mutex_) {
    if (sched_getscheduler(0) != SCHED_OTHER) return kNobody;
    MutexLock lock(mutex_);
    try {
      members_.push_back(gettid());
    } catch (const std::bad_alloc&) {
      return kNobody;  // a hint is no reason to end
    }
    set_policy(members_.back(), policy());
    return members_.back();
  }
  void leave(int member) POSSET_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    members_.erase(std::find(members_.begin(), members_.end(), member));
    set_policy(member, SCHED_OTHER);
  }
  void hurry(int by) POSSET_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const int before = policy();
    hurries_ += by;
    if (policy() == before) return;
    for (int member : members_) set_policy(member, policy());
  }
#else
  int enter() { return kNobody; }
  void leave(int) {}
  void hurry(int) {}
#endif

  Mutex mutex_;
  std::vector<int> members_ POSSET_GUARDED_BY(mutex_);  // the system's numbers of the threads
  int hurries_ POSSET_GUARDED_BY(mutex_) = 0;
};

// Gives the calling thread a smaller share where there are too few processors, for good: nice(2), where the system knows
// it by thread. A hint: when it is refused the thread is as important as others.
inline void be_nice([[maybe_unused]] int niceness) {
#ifdef __linux__
  if (niceness != 0) setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), niceness);
#endif
}

}  // namespace posset::sched
