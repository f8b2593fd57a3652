// The compile scheduler a runtime owns: background compilations, and evaluations handed in from outside.
//
// Hybrid, because ordering costs and only pays when there is something to put in order. While fewer than two
// evaluations run, a compilation goes to the arena (oneTBB: first come, first served, little overhead). From
// two on it goes to the priority queue, where short and old tasks come first (policy.h has the rule) and a few
// threads of low number serve it. Either way its run time is recorded by type (tracker.h) and becomes the
// estimate of the next of its kind. Evaluations always go through the queue, to threads of their own.
//
// Nothing here is shared between two schedulers; all time comes from the clock given. No lock is held while a
// task or a callback runs or is destroyed. A task that was accepted ends in exactly one of Done, Failed and
// Cancelled, whatever happens; one that was refused stays with the caller.
//
//   HybridScheduler scheduler(clock, nullptr);
//   auto guard = scheduler.evaluating();              // around the outermost evaluation
//   Task task{.run = [](TaskContext&) { compile(); },
//             .done = [](Outcome outcome) { ... },
//             .type = {TaskKind::BytecodeCompile, hash},
//             .job = 17};
//   if (scheduler.try_submit(std::move(task)) != Admission::Accepted) { /* try again later */ }
//   scheduler.stop(StopMode::Drain);
//
// Any thread may call anything, but the destructor is not for tasks and their callbacks.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "sched/base/background.h"
#include "sched/base/clock.h"
#include "sched/base/processors.h"
#include "sched/base/statistics.h"
#include "sched/base/thread_safety.h"
#include "sched/base/trace.h"
#include "sched/p2/arena.h"
#include "sched/p2/pool.h"
#include "sched/p2/queue.h"
#include "sched/p2/runner.h"
#include "sched/p2/task.h"
#include "sched/p2/tracker.h"

namespace posset::sched {

struct HybridOptions {
  // What the defaults below are reckoned from; another number makes a machine of that size.
  size_t hardware = hardware_threads();
  size_t pool_threads = std::max<size_t>(1, hardware / 4);  // for compilations; started when first needed
  size_t native_threads = pool_threads;                     // for native compilations; likewise
  // Native compilations use a processor for long. One evaluation, which they are made for, goes first where there is but
  // one; several would leave them nothing, and all run in code of the tiers below for it.
  int native_niceness = 5;
  size_t evaluation_threads = hardware;                     // for submitted evaluations; likewise. Without
                                                            // pool threads they compile too
  size_t max_queue_size = hardware * 16;  // tasks waiting in the queue, and as many in the arena
  double runtime_weight = 1.0;            // score points for a second of estimated run time
  double decay_per_s = 0.1;               // and those a second of waiting takes off
  int64_t parallel_threshold = 2;         // evaluations from which the queue serves compilations
  size_t max_types = RuntimeTracker::kMaxTypes;
  int64_t horizon = 0;                    // how many run times an estimate speaks of; 0: all there were
  // Told on the submitting thread, with no lock held, that an evaluation waits: for executors that take them
  // with `run_one` (and evaluation_threads = 0), one each time. False: nobody will, and it is refused. May be empty.
  std::function<bool()> on_evaluation;
  Processors* processors = nullptr;  // where native compilations are counted; outlives it, may be null
  bool use_arena = true;
  // Opening the arena costs about this much processor time (its library, its threads), so it is opened once
  // compilations have taken as long: never more than twice what the better choice would have cost, as when one
  // rents skis until the rent has reached their price (docs/decisions/005).
  int64_t arena_after_ns = 8 * kMillisecond;
  std::string arena_file = "libposset_arena.so";
};

// Counts as one running evaluation while it lives. Nested evaluations of one thread are one: only the
// outermost takes a guard.
class EvaluationGuard {
 public:
  explicit EvaluationGuard(std::atomic<int64_t>& count) : count_(&count) {
    // Relaxed, here and wherever it is read: a hint for the route, on which nothing else depends.
    count_->fetch_add(1, std::memory_order_relaxed);
  }
  EvaluationGuard(EvaluationGuard&& other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
  EvaluationGuard& operator=(EvaluationGuard&&) = delete;
  ~EvaluationGuard() {
    if (count_) count_->fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  std::atomic<int64_t>* count_;
};

struct HybridStatistics {
  uint64_t queued = 0;  // accepted; done + failed + cancelled when all is quiet
  uint64_t refused_full = 0;
  uint64_t refused_stopped = 0;
  uint64_t done = 0;
  uint64_t failed = 0;
  uint64_t cancelled = 0;
  uint64_t callback_failures = 0;  // exceptions of `done` callbacks
  uint64_t to_arena = 0;
  uint64_t to_pool = 0;
  size_t waiting = 0;  // in the queue
  int64_t evaluations = 0;
  ArenaState arena = ArenaState::Unused;
  RuntimeTracker::Statistics runtimes;
};

class HybridScheduler {
 public:
  // Both outlive it; `trace` may be null. Starts no thread.
  HybridScheduler(const Clock& clock, Trace* trace, HybridOptions options = {});
  ~HybridScheduler();  // as stop(Discard)
  HybridScheduler(const HybridScheduler&) = delete;
  HybridScheduler& operator=(const HybridScheduler&) = delete;

  // Never waits. `task` is moved from only when it is accepted.
  Admission try_submit(Task&& task);
  // For hosts: waits for room until the clock reaches `deadline_ns`.
  Admission submit_by(Task&& task, int64_t deadline_ns);
  // Takes the first waiting task of that number out and tells it Cancelled. False: none waits; it may be
  // running, or have ended.
  bool cancel(uint64_t job);

  // Whoever has submitted a task of this lane still waits for it; see queue.h.
  void hurry(Lane lane) { queue_.hurry(lane); }

  [[nodiscard]] EvaluationGuard evaluating() { return EvaluationGuard(evaluations_); }
  int64_t evaluations() const { return evaluations_.load(std::memory_order_relaxed); }
  bool parallel() const { return evaluations() >= options_.parallel_threshold; }

  // Runs the next waiting task of these lanes on the calling thread, for an executor with nothing else to do
  // and for a host that lends its thread. False: there is none.
  bool run_one(LaneMask lanes, Route route = Route::Pool);
  // Tells it Cancelled instead, for an executor that cannot.
  bool cancel_one(LaneMask lanes);

  // How a waiting second and a second of work compare; not negative. What waits is ordered anew.
  void set_weights(double runtime_weight, double decay_per_s) { queue_.set_weights(runtime_weight, decay_per_s); }
  // What tasks of the lane `Compile` have taken so far.
  int64_t spent_ns() const { return runner_.spent_ns(); }
  double estimate_ns(TaskType type) { return tracker_.estimate_ns(type); }
  // For what was timed elsewhere: compilations that run at once, in the evaluation itself.
  bool record(TaskType type, double took_ns) { return tracker_.record(type, took_ns); }

  // Takes no more tasks, ends those there are as `mode` says and waits for the threads; a drain drops what has
  // not begun when the clock reaches the deadline. Gives how many tasks were dropped. A task that runs is
  // always waited for. May be called again, and by several threads: a discard cuts a drain short, and all
  // return when the threads have ended. From a task or a callback on a thread of the scheduler it returns at
  // once and leaves the waiting to the next call or the destructor.
  size_t stop(StopMode mode, int64_t deadline_ns = kNever) POSSET_EXCLUDES(stop_mutex_);

  // Is the caller a thread of this scheduler, which must not wait for its end?
  bool is_own_thread() const { return pool_.is_worker() || natives_.is_worker() || evaluators_.is_worker() || arena_.is_worker(); }

  HybridStatistics statistics() const;
  const HybridOptions& options() const { return options_; }

 private:
  bool may_use_arena(const Task& task) const;
  Admission to_arena(Task& task);
  // Null: nobody but the host, with run_one.
  WorkerPool* workers_of(Lane lane);
  bool start_workers(Lane lane);
  Admission without_workers() const;
  Admission accepted(Counter& route);
  Admission queued(Lane lane, uint64_t job, Task& task);
  Admission refused(const Task& task, Route route, Admission why);
  size_t drop(StopMode mode);
  size_t drain(int64_t deadline_ns);
  LaneMask lanes_without_threads() const;

  const Clock& clock_;
  Trace* const trace_;
  const HybridOptions options_;
  std::atomic<int64_t> evaluations_{0};
  RuntimeTracker tracker_;
  TaskRunner runner_;
  TaskQueue queue_;
  Background quick_;  // the threads that compile to bytecode: they do not wait for those
  Background slow_;   // that compile natively
  Arena arena_;
  WorkerPool pool_;        // compilations; also opens the arena
  WorkerPool natives_;     // native compilations
  WorkerPool evaluators_;  // evaluations, until executors take them
  Counter refused_full_;
  Counter refused_stopped_;
  Counter to_arena_;
  Counter to_pool_;

  enum class Phase : uint8_t { Open, Stopping, Stopped };
  Mutex stop_mutex_;
  Phase phase_ POSSET_GUARDED_BY(stop_mutex_) = Phase::Open;
  std::condition_variable stopped_;
};

}  // namespace posset::sched
