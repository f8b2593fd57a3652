// The priority queue as threads use it: PriorityPolicy under one mutex, with the tasks themselves, and
// condition variables for those who wait. A push wakes one consumer and a stop wakes all; the decision whom
// is made under the lock, together with what it is about, so no wake-up can fall between a consumer's look
// and its sleep. A consumer that finds nothing looks for a moment longer before it sleeps: within a burst the next
// task is about to come, and whoever submits it is spared waking somebody. One that may doze looks now and then for a
// while longer before it sleeps in earnest: what comes then waits a moment for it, and costs the submitter no
// system call.
//
// While the consumers of a lane are awake, its tasks are left in the inbox (inbox.h). Everything here collects them
// first, so that each has its place in the order as if it had come here. Where there is a trace they do come here:
// the event is the submitter's and has the key.
//
// No task is run, told or destroyed under the lock: tasks are moved out and handed to the caller.
#pragma once

#include <condition_variable>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "sched/base/clock.h"
#include "sched/base/thread_safety.h"
#include "sched/base/trace.h"
#include "sched/p2/inbox.h"
#include "sched/p2/policy.h"
#include "sched/p2/task.h"

namespace posset::sched {

class TaskQueue {
 public:
  using ConsumerId = PriorityPolicy::ConsumerId;
  struct Taken {
    Taken(Task&& taken, const PriorityPolicy::Entry& its) : task(std::move(taken)), entry(its) {}
    Task task;
    PriorityPolicy::Entry entry;
    bool at_once = false;  // it was there when it was asked for
  };

  // `clock` and `trace` (which may be null) outlive it.
  TaskQueue(const Clock& clock, Trace* trace, const PriorityPolicy::Config& config);

  // `task` is moved from only when the answer is Accepted. Any thread, never waits for anything but the lock.
  Admission try_push(Task& task, double estimate_ns) POSSET_EXCLUDES(mutex_);
  // Waits for room until the clock reaches `deadline_ns`.
  Admission push_by(Task& task, double estimate_ns, int64_t deadline_ns) POSSET_EXCLUDES(mutex_);

  // A thread that will call `take`, for the life of the queue.
  ConsumerId add_consumer(LaneMask lanes, bool dozes = false) POSSET_EXCLUDES(mutex_);
  // The next task of the consumer's lanes, waiting for one. Empty: the queue has stopped and there is no more.
  std::optional<Taken> take(ConsumerId consumer) POSSET_EXCLUDES(mutex_);
  // Without waiting.
  std::optional<Taken> try_take(LaneMask lanes) POSSET_EXCLUDES(mutex_);
  // What waits in this lane has waited for long, as whoever submitted it sees it: a consumer that dozes is woken.
  // False: none did, or nothing waits.
  bool hurry(Lane lane) POSSET_EXCLUDES(mutex_);
  // Takes out a queued task, to be told Cancelled.
  std::optional<Taken> cancel(uint64_t job) POSSET_EXCLUDES(mutex_);
  // What the stop drops, to be told Cancelled.
  std::vector<Taken> stop(StopMode mode) POSSET_EXCLUDES(mutex_);
  // After a stop: waits until every task was taken. False: the clock reached the deadline before.
  bool wait_empty(int64_t deadline_ns) POSSET_EXCLUDES(mutex_);

  void set_weights(double weight, double decay_per_s) POSSET_EXCLUDES(mutex_);
  size_t size(LaneMask lanes = kAllLanes) const POSSET_EXCLUDES(mutex_);
  bool stopped() const POSSET_EXCLUDES(mutex_);

 private:
  // A thread that takes tasks. Lives as long as the queue, so that it can be notified without the lock.
  struct Consumer {
    LaneMask lanes;
    int dozes = 0;  // how often, before it sleeps
    bool dozing = false;
    bool woken = false;
    std::condition_variable wake;
  };

  Consumer* push(Task& task, double estimate_ns, int64_t now_ns) POSSET_REQUIRES(mutex_);
  PriorityPolicy::Pushed place(Task& task, double estimate_ns, int64_t now_ns) POSSET_REQUIRES(mutex_);
  void trace_queued(const Task& task, double key, double estimate_ns) POSSET_REQUIRES(mutex_);
  void reserve_ahead() POSSET_REQUIRES(mutex_);
  size_t room() const POSSET_REQUIRES(mutex_);
  void collect(size_t room) POSSET_REQUIRES(mutex_);
  void collect_and_close() POSSET_REQUIRES(mutex_);
  LaneMask lanes_for_inbox() const POSSET_REQUIRES(mutex_);
  void open_inbox() POSSET_REQUIRES(mutex_);
  bool close_inbox(LaneMask lanes) POSSET_REQUIRES(mutex_);
  void spin(uint64_t seen) const;
  bool park(ConsumerId id, Consumer& consumer, MutexLock& lock) POSSET_REQUIRES(mutex_);
  void doze(Consumer& consumer, int before, MutexLock& lock) POSSET_REQUIRES(mutex_);
  Consumer* dozer_of(Lane lane) POSSET_REQUIRES(mutex_);
  bool take_next(LaneMask lanes, std::optional<Taken>& into) POSSET_REQUIRES(mutex_);
  void take_out(const PriorityPolicy::Entry& entry, std::optional<Taken>& into) POSSET_REQUIRES(mutex_);
  uint32_t keep(Task& task) POSSET_REQUIRES(mutex_);
  bool wait_for_taking(MutexLock& lock, int64_t deadline_ns) POSSET_REQUIRES(mutex_);

  const Clock& clock_;
  Trace* const trace_;
  mutable Mutex mutex_;
  PriorityPolicy policy_ POSSET_GUARDED_BY(mutex_);
  std::deque<Consumer> consumers_ POSSET_GUARDED_BY(mutex_);  // never moved
  std::vector<Task> items_ POSSET_GUARDED_BY(mutex_);         // by PriorityPolicy::Entry::item
  std::vector<uint32_t> free_items_ POSSET_GUARDED_BY(mutex_);
  // Those who wait for a task to be taken: for its place, or for the end of a drain.
  size_t waiting_for_taking_ POSSET_GUARDED_BY(mutex_) = 0;
  std::condition_variable taking_;
  std::vector<Inbox::Arrival> arrivals_ POSSET_GUARDED_BY(mutex_);  // empty but while it is collected
  uint64_t collected_ POSSET_GUARDED_BY(mutex_) = 0;                // the inbox's changes before the last time
  LaneMask served_ POSSET_GUARDED_BY(mutex_) = 0;                   // lanes that somebody has taken from
  LaneMask open_ POSSET_GUARDED_BY(mutex_) = 0;                     // lanes the inbox is open for
  alignas(64) Inbox inbox_;                                         // not on the lines the consumers write
};

}  // namespace posset::sched
