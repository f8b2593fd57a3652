// Runs one task on the calling thread and says how it ended; the same for pool, arena and whoever helps.
// The run time, less what the task spent suspended, goes to the tracker whatever way the task came; a task
// that failed records nothing. An exception ends the task and not the thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "sched/base/clock.h"
#include "sched/base/statistics.h"
#include "sched/base/trace.h"
#include "sched/p2/task.h"
#include "sched/p2/tracker.h"

namespace posset::sched {

class TaskRunner {
 public:
  // All outlive it; `trace` may be null.
  TaskRunner(const Clock& clock, RuntimeTracker& tracker, Trace* trace)
      : clock_(clock), tracker_(tracker), trace_(trace) {}

  // Both call the user's code: no lock may be held. Both leave the task's closures with the caller, `run`
  // destroyed.
  //
  // Gives the time at which the task has ended. Whoever has the next one at once hands it in as `now_ns`: a look at the
  // clock takes as long as much of the rest. kNever: look, because what is not the scheduler's came in between.
  int64_t run(Task&& task, int64_t enqueued_ns, Route route, int64_t now_ns = kNever);
  void cancel(Task&& task, Route route) { end(task, route, Outcome::Cancelled, 0); }

  // What compilations have taken so far.
  int64_t spent_ns() const { return spent_ns_.load(std::memory_order_relaxed); }
  uint64_t done() const { return done_.sum(); }
  uint64_t failed() const { return failed_.sum(); }
  uint64_t cancelled() const { return cancelled_.sum(); }
  // Exceptions of `done` callbacks.
  uint64_t callback_failures() const { return callback_failures_.sum(); }

 private:
  Outcome call(Task& task, TaskContext& context);
  void end(Task& task, Route route, Outcome outcome, int64_t took_ns);

  const Clock& clock_;
  RuntimeTracker& tracker_;
  Trace* const trace_;
  std::atomic<int64_t> spent_ns_{0};
  Counter done_;
  Counter failed_;
  Counter cancelled_;
  Counter callback_failures_;
};

}  // namespace posset::sched
