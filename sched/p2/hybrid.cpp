// See hybrid.h.
#include "sched/p2/hybrid.h"

#include <algorithm>

namespace posset::sched {

namespace {

// These do what nobody else is there for.
LaneMask lanes_of_evaluators(const HybridOptions& options) {
  LaneMask lanes = kEvalLane;
  if (options.pool_threads == 0) lanes |= kCompileLane;
  if (options.native_threads == 0) lanes |= kNativeLane;
  return lanes;
}

}  // namespace

HybridScheduler::HybridScheduler(const Clock& clock, Trace* trace, HybridOptions options)
    : clock_(clock),
      trace_(trace),
      options_(std::move(options)),
      tracker_(options_.max_types, options_.horizon),
      runner_(clock, tracker_, trace),
      queue_(clock, trace,
             {.weight = options_.runtime_weight,
              .decay_per_s = options_.decay_per_s,
              .max_queue_size = options_.max_queue_size,
              .epoch_ns = clock.now_ns()}),
      arena_(clock, runner_, trace, quick_,
             {.file = options_.arena_file,
              .threads = static_cast<int>(options_.pool_threads),
              .max_waiting = options_.max_queue_size}),
      pool_(queue_, runner_, trace,
            {.name = "compile",
             .lanes = kCompileLane,
             .threads = options_.pool_threads,
             .dozes = true,
             .background = &quick_,
             .after_task = [this] { return arena_.open_if_wanted(); }}),
      natives_(queue_, runner_, trace,
               {.name = "native",
                .lanes = kNativeLane,
                .threads = options_.native_threads,
                .background = &slow_,
                .hurries = &quick_,
                .niceness = options_.native_niceness,
                .processors = options_.processors}),
      evaluators_(queue_, runner_, trace,
                  {.name = "evaluate",
                   .lanes = lanes_of_evaluators(options_),
                   .threads = options_.evaluation_threads}) {}

HybridScheduler::~HybridScheduler() { stop(StopMode::Discard); }

// Only pool threads open the arena, so without them there is none.
bool HybridScheduler::may_use_arena(const Task& task) const {
  return task.lane == Lane::Compile && options_.use_arena && options_.pool_threads > 0 && !parallel();
}

// Stopped: the arena is not there (yet), and the queue is asked instead.
Admission HybridScheduler::to_arena(Task& task) {
  if (arena_.state() == ArenaState::Open) {
    // It keeps no order: the estimate is for people.
    return arena_.try_submit(task, trace_ ? tracker_.estimate_ns(task.type) : 0);
  }
  if (runner_.spent_ns() >= options_.arena_after_ns) arena_.want();
  return Admission::Stopped;
}

// False: nobody would ever take a task of this lane.
bool HybridScheduler::start_workers(Lane lane) {
  WorkerPool* workers = workers_of(lane);
  return !workers || workers->start();
}

WorkerPool* HybridScheduler::workers_of(Lane lane) {
  if (lane == Lane::Compile && options_.pool_threads > 0) return &pool_;
  if (lane == Lane::Native && options_.native_threads > 0) return &natives_;
  return options_.evaluation_threads > 0 ? &evaluators_ : nullptr;
}

Admission HybridScheduler::without_workers() const {
  return queue_.stopped() ? Admission::Stopped : Admission::QueueFull;
}

Admission HybridScheduler::accepted(Counter& route) {
  route.add();
  return Admission::Accepted;
}

// It is in the queue, and `task` moved from.
Admission HybridScheduler::queued(Lane lane, uint64_t job, Task& task) {
  if (lane != Lane::Eval || !options_.on_evaluation || options_.on_evaluation()) return accepted(to_pool_);
  std::optional<TaskQueue::Taken> taken = queue_.cancel(job);
  if (!taken) {
    // Whoever was told of another has taken this one, and the other has nobody now.
    if (!options_.on_evaluation()) cancel_one(kEvalLane);
    return accepted(to_pool_);
  }
  task = std::move(taken->task);
  return refused(task, Route::Pool, Admission::QueueFull);
}

Admission HybridScheduler::refused(const Task& task, Route route, Admission why) {
  const bool full = why == Admission::QueueFull;
  (full ? refused_full_ : refused_stopped_).add();
  if (trace_) {
    const size_t length = route == Route::Arena ? arena_.outstanding() : queue_.size();
    trace_->record(static_cast<uint16_t>(TraceKind::task_refused),
                   {static_cast<int64_t>(task.job), static_cast<int64_t>(route),
                    static_cast<int64_t>(full ? Outcome::QueueFull : Outcome::Stopped), static_cast<int64_t>(length)});
  }
  return why;
}

Admission HybridScheduler::try_submit(Task&& task) {
  if (may_use_arena(task)) {
    const Admission admission = to_arena(task);
    if (admission == Admission::Accepted) return accepted(to_arena_);
    if (admission == Admission::QueueFull) return refused(task, Route::Arena, admission);
  }
  if (!start_workers(task.lane)) return refused(task, Route::Pool, without_workers());
  const Lane lane = task.lane;
  const uint64_t job = task.job;
  const Admission admission = queue_.try_push(task, tracker_.estimate_ns(task.type));
  return admission == Admission::Accepted ? queued(lane, job, task) : refused(task, Route::Pool, admission);
}

Admission HybridScheduler::submit_by(Task&& task, int64_t deadline_ns) {
  // Where the arena is full the caller waits for the queue.
  if (may_use_arena(task) && to_arena(task) == Admission::Accepted) return accepted(to_arena_);
  if (!start_workers(task.lane)) return refused(task, Route::Pool, without_workers());
  const Lane lane = task.lane;
  const uint64_t job = task.job;
  const Admission admission = queue_.push_by(task, tracker_.estimate_ns(task.type), deadline_ns);
  return admission == Admission::Accepted ? queued(lane, job, task) : refused(task, Route::Pool, admission);
}

bool HybridScheduler::cancel(uint64_t job) {
  if (std::optional<TaskQueue::Taken> taken = queue_.cancel(job)) {
    runner_.cancel(std::move(taken->task), Route::Pool);
    return true;
  }
  if (std::optional<Task> task = arena_.cancel(job)) {
    runner_.cancel(std::move(*task), Route::Arena);
    return true;
  }
  return false;
}

bool HybridScheduler::run_one(LaneMask lanes, Route route) {
  std::optional<TaskQueue::Taken> taken = queue_.try_take(lanes);
  if (!taken) return false;
  runner_.run(std::move(taken->task), taken->entry.enqueued_ns, route);
  return true;
}

bool HybridScheduler::cancel_one(LaneMask lanes) {
  std::optional<TaskQueue::Taken> taken = queue_.try_take(lanes);
  if (!taken) return false;
  runner_.cancel(std::move(taken->task), Route::Pool);
  return true;
}

size_t HybridScheduler::drop(StopMode mode) {
  size_t dropped = 0;
  for (TaskQueue::Taken& taken : queue_.stop(mode)) {
    runner_.cancel(std::move(taken.task), Route::Pool);
    ++dropped;
  }
  for (Task& task : arena_.close(mode)) {
    runner_.cancel(std::move(task), Route::Arena);
    ++dropped;
  }
  return dropped;
}

LaneMask HybridScheduler::lanes_without_threads() const {
  LaneMask lanes = 0;
  if (options_.evaluation_threads > 0) return lanes;
  lanes = lanes_of_evaluators(options_);
  return options_.on_evaluation ? lanes & static_cast<LaneMask>(~kEvalLane) : lanes;
}

size_t HybridScheduler::drain(int64_t deadline_ns) {
  // Nobody else would run these.
  while (clock_.now_ns() < deadline_ns && run_one(lanes_without_threads())) {
  }
  const bool begun = queue_.wait_empty(deadline_ns) && arena_.wait_begun(deadline_ns);
  return begun ? 0 : drop(StopMode::Discard);
}

size_t HybridScheduler::stop(StopMode mode, int64_t deadline_ns) {
  size_t dropped = drop(mode);
  if (is_own_thread()) return dropped;  // it would wait for itself
  {
    MutexLock lock(stop_mutex_);
    if (phase_ != Phase::Open) {
      while (phase_ != Phase::Stopped) lock.wait(stopped_);
      return dropped;
    }
    phase_ = Phase::Stopping;
  }
  if (mode == StopMode::Drain) dropped += drain(deadline_ns);
  pool_.join();
  natives_.join();
  evaluators_.join();
  arena_.wait();
  MutexLock lock(stop_mutex_);
  phase_ = Phase::Stopped;
  stopped_.notify_all();
  return dropped;
}

HybridStatistics HybridScheduler::statistics() const {
  return {.queued = to_arena_.sum() + to_pool_.sum(),
          .refused_full = refused_full_.sum(),
          .refused_stopped = refused_stopped_.sum(),
          .done = runner_.done(),
          .failed = runner_.failed(),
          .cancelled = runner_.cancelled(),
          .callback_failures = runner_.callback_failures(),
          .to_arena = to_arena_.sum(),
          .to_pool = to_pool_.sum(),
          .waiting = queue_.size(),
          .evaluations = evaluations(),
          .arena = arena_.state(),
          .runtimes = tracker_.statistics()};
}

}  // namespace posset::sched
