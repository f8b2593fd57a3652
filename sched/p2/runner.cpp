// See runner.h.
#include "sched/p2/runner.h"

#include <algorithm>

namespace posset::sched {

int64_t TaskRunner::run(Task&& task, int64_t enqueued_ns, Route route, int64_t now_ns) {
  TaskContext context(clock_, task.job, route);
  // It may have come since the time that was handed in.
  const int64_t start_ns = now_ns == kNever ? clock_.now_ns() : std::max(now_ns, enqueued_ns);
  if (trace_) {
    trace_->record(static_cast<uint16_t>(TraceKind::task_started),
                   {static_cast<int64_t>(task.job), static_cast<int64_t>(route), start_ns - enqueued_ns});
  }
  const Outcome outcome = call(task, context);
  task.run = nullptr;  // its destruction is part of its time, or the next one's would begin with it
  const int64_t end_ns = clock_.now_ns();
  const int64_t took_ns = end_ns - start_ns - context.suspended_ns();
  if (task.lane == Lane::Compile) spent_ns_.fetch_add(took_ns, std::memory_order_relaxed);
  if (outcome == Outcome::Done && context.measures()) {
    try {
      tracker_.record(task.type, static_cast<double>(took_ns));
    } catch (const std::bad_alloc&) {
      // An estimate less; the task is done all the same.
    }
  }
  const bool tells = task.done != nullptr;
  end(task, route, outcome, took_ns);
  return tells ? kNever : end_ns;
}

Outcome TaskRunner::call(Task& task, TaskContext& context) {
  try {
    task.run(context);
    return Outcome::Done;
  } catch (...) {
    // Also what Boost.Context throws to unwind a fiber that is destroyed (forced_unwind), which nobody may keep.
    // This folder does without Boost, so a fiber is never destroyed while a task is on it.
    return Outcome::Failed;
  }
}

void TaskRunner::end(Task& task, Route route, Outcome outcome, int64_t took_ns) {
  task.run = nullptr;
  // Counted before it is told: who is told finds it in the statistics.
  (outcome == Outcome::Done ? done_ : outcome == Outcome::Failed ? failed_ : cancelled_).add();
  if (trace_) {
    trace_->record(static_cast<uint16_t>(TraceKind::task_finished),
                   {static_cast<int64_t>(task.job), static_cast<int64_t>(route), static_cast<int64_t>(outcome), took_ns});
  }
  if (!task.done) return;
  try {
    task.done(outcome);
  } catch (...) {
    callback_failures_.add();
  }
}

}  // namespace posset::sched
