// Where tasks are left for a consumer that is awake: it looks in here before it takes the next task and before it
// sleeps. So whoever submits pays for a short lock and an append and does not meet the consumers at the queue's
// own lock, whose memory would wander between processors with every task.
//
// The queue decides, under its lock, for which lanes this is open (none of their consumers sleeps) and how many may
// come in whatever else happens to the queue (its room, which the queue itself does not use meanwhile). Where it
// is not open or the room is used up the submitter goes to the queue. What is in here has been accepted and stands
// in the order of coming in; the queue collects all of it before it looks at anything else.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sched/base/thread_safety.h"
#include "sched/p2/task.h"

namespace posset::sched {

class Inbox {
 public:
  struct Arrival {
    Task task;
    double estimate_ns;
    int64_t enqueued_ns;
  };

  // Native compilations have a limit of their own, so they go to the queue.
  static constexpr LaneMask kLanes = kEvalLane | kCompileLane;

  static constexpr size_t kMost = 64;  // so that collecting does not take long

  // False, and `task` stays: it is to go to the queue. Any thread. Throws nothing.
  bool leave(Task& task, double estimate_ns, int64_t now_ns) POSSET_EXCLUDES(mutex_);

  // The rest is for the queue, under its lock.

  // Memory for what is left here; until then there is no room.
  void reserve() POSSET_EXCLUDES(mutex_);
  // From now on these lanes may leave tasks, until it is opened or collected again. `room` is for all that is in here:
  // something may have come since it was last collected.
  void open(LaneMask lanes, size_t room) POSSET_EXCLUDES(mutex_);
  // These lanes go to the queue from now on. False: something is in here, and nothing has changed.
  bool try_close(LaneMask lanes) POSSET_EXCLUDES(mutex_);
  // What has come, into an empty vector whose memory takes its place; of the queue's `room` what is left can be
  // used by others.
  void collect(std::vector<Arrival>& into, size_t room) POSSET_EXCLUDES(mutex_);

  size_t size(LaneMask lanes) const POSSET_EXCLUDES(mutex_);
  // Changes when something was left here or it was opened. Relaxed: a hint for those who did not synchronise with
  // whoever left something.
  uint64_t changes() const { return changes_.load(std::memory_order_relaxed); }

 private:
  void changed() POSSET_REQUIRES(mutex_) { changes_.store(changes() + 1, std::memory_order_relaxed); }

  mutable Mutex mutex_;
  LaneMask lanes_ POSSET_GUARDED_BY(mutex_) = 0;
  size_t room_ POSSET_GUARDED_BY(mutex_) = 0;  // never more than `arrivals_` has memory for
  std::vector<Arrival> arrivals_ POSSET_GUARDED_BY(mutex_);
  std::atomic<uint64_t> changes_{0};  // written under the lock
};

}  // namespace posset::sched
