// See crew.h.
#include "sched/fiber/crew.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

#include "sched/base/wait.h"
#include "sched/trace_events.h"

namespace posset::sched::fiber {

Crew::Crew(const Clock& clock, Trace* trace, Config config)
    : clock_(clock),
      trace_(trace),
      config_(std::move(config)),
      placing_(std::min({config_.placing != 0 ? config_.placing : kMaxWorkers, config_.workers, kMaxWorkers})),
      placement_(std::max(1U, std::min(config_.workers, kMaxWorkers))) {
  for (uint32_t number = 0; number < std::min(config_.workers, kMaxWorkers); ++number) {
    workers_.push_back(std::make_unique<Worker>(*this, number, true));
    placement_.set_idle(number);
  }
  MutexLock lock(mutex_);
  next_bound_ = static_cast<uint32_t>(workers_.size());
}

Crew::~Crew() = default;

// The calling thread's worker, if it is one of these.
Worker* Crew::here() const {
  Worker* worker = Worker::current();
  return worker && &worker->crew() == this ? worker : nullptr;
}

// ---- who gets a task ----

// Among equals the one before: it may not sleep yet.
Worker& Crew::least_loaded() {
  const auto load = [](const Worker& worker) { return uint64_t{worker.held()} + worker.ready(); };
  size_t best = latest_.load(std::memory_order_relaxed);
  for (size_t i = 0; i < placing_; ++i) {
    if (load(*workers_[i]) < load(*workers_[best])) best = i;
  }
  latest_.store(best, std::memory_order_relaxed);
  return *workers_[best];
}

// Of those that tasks begin on.
std::optional<uint32_t> Crew::claim_idle() {
  if (placing_ == workers_.size()) return placement_.claim();
  for (uint32_t worker = 0; worker < placing_; ++worker) {
    if (placement_.claim(worker)) return worker;
  }
  return std::nullopt;
}

Worker::Added Crew::place(Task& task) {
  if (config_.tasks_last && !workers_.empty()) {
    const Worker::Added added = least_loaded().add(task);
    if (added != Worker::Added::NoThread) return added;
  }
  if (const auto idle = claim_idle()) {
    const Worker::Added added = workers_[*idle]->add(task);
    if (added != Worker::Added::NoThread) return added;
  }
  // A mutex that somebody has is passed by, but not for ever.
  for (size_t tries = placing_; tries > 0; --tries) {
    const Worker::Added added = workers_[placement_.turn() % placing_]->try_add(task);
    if (added != Worker::Added::Busy && added != Worker::Added::NoThread) return added;
  }
  Worker::Added added = Worker::Added::NoThread;
  for (size_t tries = placing_; tries > 0 && added == Worker::Added::NoThread; --tries) {
    added = workers_[placement_.turn() % placing_]->add(task);
  }
  return added;
}

Scheduled Crew::hand_over(Task& task, Worker* here) {
  Worker::Added added = Worker::Added::Closed;
  if (task.same_thread() || workers_.empty()) {
    if (!here) return Scheduled::NotBound;
    added = here->add(task);
  } else {
    added = place(task);
    if (added == Worker::Added::Behind) call_somebody();
  }
  if (added == Worker::Added::NoThread) return Scheduled::NoThread;
  return added == Worker::Added::Closed ? Scheduled::Stopped : Scheduled::Accepted;
}

// One more may wait. What began only grows, so room that was there once is there until it is used: the workers' counts, which
// are in other processors' caches, are read once in `max_pending` tasks.
bool Crew::has_room() {
  const uint64_t before = handed_in_.fetch_add(1, std::memory_order_relaxed);
  if (before < room_until_.load(std::memory_order_relaxed)) return true;
  uint64_t begun = begun_elsewhere_.load(std::memory_order_relaxed);
  for (const auto& worker : workers_) begun += worker->begun();
  room_until_.store(begun + config_.max_pending, std::memory_order_relaxed);
  if (before < begun + config_.max_pending) return true;
  handed_in_.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

// From a thread that is none of these executors'. It counts as active until it has handed the task in, so that the end is
// either before it is asked, or after the task.
Scheduled Crew::hand_in(Task& task) {
  if (!activity_.try_enter()) return Scheduled::Stopped;
  Scheduled answer = Scheduled::Stopped;
  if (!stopping()) {
    task.external = true;
    const bool room = has_room();
    answer = room ? hand_over(task, nullptr) : Scheduled::QueueFull;
    if (room && answer != Scheduled::Accepted) handed_in_.fetch_sub(1, std::memory_order_relaxed);
  }
  if (activity_.leave()) quiet();
  return answer;
}

Scheduled Crew::schedule(Task& task) {
  task.set_number(next_number_.fetch_add(1, std::memory_order_relaxed));
  const auto number = static_cast<int64_t>(task.number());
  if (trace_) {
    task.scheduled_ns = clock_.now_ns();
    trace_->record(static_cast<uint16_t>(TraceKind::task_queued), {number, static_cast<int64_t>(Route::Fiber)});
  }
  Worker* const worker = here();
  const Scheduled answer = worker ? hand_over(task, worker) : hand_in(task);
  return answer == Scheduled::Accepted ? answer : refuse(task, answer);
}

Scheduled Crew::refuse(Task& task, Scheduled answer) {
  const auto number = static_cast<int64_t>(task.number());
  refused_.fetch_add(1, std::memory_order_relaxed);
  if (trace_) {
    const Outcome why = answer == Scheduled::QueueFull ? Outcome::QueueFull : Outcome::Stopped;
    trace_->record(static_cast<uint16_t>(TraceKind::task_refused),
                   {number, static_cast<int64_t>(Route::Fiber), static_cast<int64_t>(why)});
  }
  task.give_up();
  task.release();
  return answer;
}

// Counted as active meanwhile, as what starts a thread has to be. One whose thread cannot start is there to be tried again.
bool Crew::claim(uint32_t worker) {
  if (worker >= workers_.size() || !placement_.is_idle(worker) || !activity_.try_enter()) return false;
  const bool claimed = placement_.claim(worker), started = claimed && workers_[worker]->start();
  if (claimed && !started) placement_.set_idle(worker);
  if (activity_.leave()) quiet();
  return started;
}

// From within as well it is counted as active, since it may come from whoever.
Scheduled Crew::schedule_on(uint32_t worker, Task& task) {
  task.set_number(next_number_.fetch_add(1, std::memory_order_relaxed));
  if (!activity_.try_enter()) return refuse(task, Scheduled::Stopped);
  const Worker::Added added = workers_[worker]->add_awaited(task);
  if (activity_.leave()) quiet();
  const bool accepted = added == Worker::Added::Yes || added == Worker::Added::Behind;
  return accepted ? Scheduled::Accepted : refuse(task, added == Worker::Added::NoThread ? Scheduled::NoThread : Scheduled::Stopped);
}

// Who was idle may have found something in the meantime, and would not look before that has ended.
void Crew::call_somebody() {
  while (placement_.any_idle()) {
    const auto idle = claim_idle();
    if (!idle || workers_[*idle]->call()) return;
  }
}

Task* Crew::steal_for(const Worker& thief, uint64_t random, bool patient) {
  const size_t count = placing_;
  if (thief.number() >= count) return nullptr;
  for (size_t i = 0; i < count; ++i) {
    Worker& victim = *workers_[(random + i) % count];
    if (&victim == &thief) continue;
    Task* task = victim.steal(patient, thief.held() > 0);
    if (!task) continue;
    if (trace_) {
      trace_->record(static_cast<uint16_t>(TraceKind::task_stolen),
                     {static_cast<int64_t>(task->number()), victim.number(), thief.number()});
    }
    return task;
  }
  return nullptr;
}

// ---- what happens to tasks ----

namespace {

// Of the fibers of all executors: stacks are scarce in the process. Relaxed: a figure.
std::atomic<size_t> all_stacks{0};

}  // namespace

std::unique_ptr<Fiber> Crew::make_fiber(Worker& worker, uint32_t number, const Task& task, bool& comes_later) {
  try {
    const StackArea::Use use = task.awaited() ? StackArea::Use::GoesOn : StackArea::Use::Begins;
    auto stack = config_.stacks ? config_.stacks->try_take() : std::make_unique<NativeStack>(config_.stack_bytes, use);
    // What is bound goes on in its first fiber: if all that have begun waited for one, none would end and leave its own. It will
    // need registers, too, which must then be there.
    if (stack->comes_later() && !worker.own_thread() && stacks_.load(std::memory_order_relaxed) == 0) {
      stack = std::make_unique<NativeStack>(config_.stacks ? config_.stacks->bytes() : config_.stack_bytes, StackArea::Use::First);
    }
    comes_later = stack->comes_later();
    if (!stack->ok()) return nullptr;
    auto fiber = std::make_unique<Fiber>(worker, number, std::move(stack));
    stacks_.fetch_add(1, std::memory_order_relaxed);
    all_stacks.fetch_add(1, std::memory_order_relaxed);
    return fiber;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

bool Crew::has_most_stacks() const {
  return 2 * stacks_.load(std::memory_order_relaxed) >= all_stacks.load(std::memory_order_relaxed);
}

void Crew::give_back(std::unique_ptr<NativeStack> stack) {
  stacks_.fetch_sub(1, std::memory_order_relaxed);
  all_stacks.fetch_sub(1, std::memory_order_relaxed);
  if (config_.stacks) config_.stacks->give_back(std::move(stack));
}

bool Crew::give_up(Task& task) {
  if (task.external) begun_elsewhere_.fetch_add(1, std::memory_order_relaxed);  // its place is free
  const bool first = task.give_up();
  given_up_.fetch_add(first, std::memory_order_relaxed);
  task.release();
  return first;
}

void Crew::tell_error(const Task& task, const std::exception_ptr& error) {
  if (!config_.on_error) return;
  try {
    config_.on_error(task.title(), error);
  } catch (...) {
    lost_errors_.fetch_add(1, std::memory_order_relaxed);
  }
}

void Crew::tell_idle(int64_t took_ns) {
  try {
    config_.on_idle(took_ns);
  } catch (...) {
    lost_errors_.fetch_add(1, std::memory_order_relaxed);
  }
}

void Crew::watch() {
  try {
    if (config_.on_watch) config_.on_watch();
  } catch (...) {
    lost_errors_.fetch_add(1, std::memory_order_relaxed);
  }
}

int64_t Crew::watch_at() {
  try {
    return config_.watch_at ? config_.watch_at() : kNever;
  } catch (...) {
    lost_errors_.fetch_add(1, std::memory_order_relaxed);
    return kNever;
  }
}

void Crew::sleep_until(int64_t until_ns) {
  if (!config_.on_sleep) return config_.wake_up->wait_until(clock_, until_ns);
  try {
    config_.on_sleep(until_ns);
  } catch (...) {
    lost_errors_.fetch_add(1, std::memory_order_relaxed);
  }
}

void Crew::tell_stuck(StuckReport::Reason reason, uint32_t waiting, const Worker* worker) {
  if (!config_.on_stuck && !trace_) return;
  StuckReport report{.reason = reason, .waiting = waiting, .blocked = {}};
  if (worker) {
    worker->add_blocked(report.blocked);
  } else {
    report.blocked = blocked();
  }
  if (trace_) {
    trace_->record(static_cast<uint16_t>(TraceKind::tasks_stuck),
                   {static_cast<int64_t>(report.blocked.size()), static_cast<int64_t>(waiting)});
  }
  if (!config_.on_stuck) return;
  try {
    config_.on_stuck(report);
  } catch (...) {
    lost_errors_.fetch_add(1, std::memory_order_relaxed);
  }
}

int64_t Crew::trace_started(const Task& task) {
  if (!trace_) return 0;
  const int64_t now_ns = clock_.now_ns();
  trace_->record(static_cast<uint16_t>(TraceKind::task_started),
                 {static_cast<int64_t>(task.number()), static_cast<int64_t>(Route::Fiber), now_ns - task.scheduled_ns});
  return now_ns;
}

void Crew::trace_finished(const Task& task, TaskState state, int64_t began_ns) {
  if (!trace_) return;
  const Outcome outcome = state == TaskState::Done     ? Outcome::Done
                          : state == TaskState::Failed ? Outcome::Failed
                                                       : Outcome::Cancelled;
  trace_->record(static_cast<uint16_t>(TraceKind::task_finished),
                 {static_cast<int64_t>(task.number()), static_cast<int64_t>(Route::Fiber), static_cast<int64_t>(outcome),
                  clock_.now_ns() - began_ns});
}

// ---- threads of hosts ----

bool Crew::bind() {
  if (here() || stopping() || !activity_.try_enter()) return false;
  Worker* worker = nullptr;
  {
    MutexLock lock(mutex_);
    bound_.push_back(std::make_unique<Worker>(*this, next_bound_++, false));
    worker = bound_.back().get();
  }
  worker->enter();
  return true;
}

// Runs what it has to the end; what is left at the deadline is told to give up. False: it came to that.
bool Crew::drain(Worker& worker, int64_t deadline_ns) {
  if (worker.drain(deadline_ns)) return true;
  Fifo<TaskCore> dropped;
  worker.cancel(dropped);
  give_up_all(dropped);
  worker.drain(kNever);
  return false;
}

bool Crew::detach() {
  Worker* const worker = here();
  return worker && !worker->own_thread() && !Worker::current_fiber()->task() && worker->detach();
}

bool Crew::attach() {
  MutexLock lock(mutex_);
  return std::any_of(bound_.begin(), bound_.end(), [](const auto& bound) { return bound->attach(); });
}

void Crew::drop_waiting() {
  Worker* const worker = here();
  if (!worker) return;
  Fifo<TaskCore> dropped;
  worker->drop_tasks(dropped);
  give_up_all(dropped);
}

bool Crew::unbind(int64_t deadline_ns) {
  Worker* const worker = here();
  if (!worker || worker->own_thread() || Worker::current_fiber()->task()) return false;
  drain(*worker, deadline_ns);
  worker->leave();
  std::unique_ptr<Worker> gone;
  {
    MutexLock lock(mutex_);
    auto place = std::find_if(bound_.begin(), bound_.end(), [worker](const auto& bound) { return bound.get() == worker; });
    gone = std::move(*place);
    bound_.erase(place);
  }
  gone.reset();
  if (activity_.leave()) quiet();
  MutexLock lock(mutex_);
  changed_.notify_all();
  return true;
}

void Crew::wait_unbound() {
  MutexLock lock(mutex_);
  while (!bound_.empty()) lock.wait(changed_);
}

// ---- the end ----

std::vector<Worker*> Crew::everybody() const {
  std::vector<Worker*> all;
  for (const auto& worker : workers_) all.push_back(worker.get());
  for (const auto& worker : bound_) all.push_back(worker.get());
  return all;
}

void Crew::quiet() {
  const auto seen = activity_.quiet();
  if (!seen) return;
  Worker::Load total;
  {
    MutexLock lock(mutex_);
    for (const Worker* worker : everybody()) {
      const Worker::Load load = worker->load();
      total.busy += load.busy;
      total.tasks += load.tasks;
      total.timers |= load.timers;
      total.main_blocked |= load.main_blocked;
    }
  }
  if (stopping() && total.busy == 0 && total.tasks == 0) {
    // Whatever has come since has entered, and then this is not the end.
    if (!activity_.finish(*seen)) return;
    MutexLock lock(mutex_);
    for (Worker* worker : everybody()) worker->end();
    ended_ = true;
    changed_.notify_all();
  } else if ((total.busy > 0 || total.main_blocked) && !total.timers && activity_.quiet() == seen) {
    tell_stuck(StuckReport::Reason::AllBlocked, total.tasks, nullptr);
  }
}

// `own`: the caller's is one of the bound threads.
bool Crew::wait_ended(int64_t deadline_ns, bool own) {
  MutexLock lock(mutex_);
  while (!(ended_ && bound_.size() <= own) && wait_on(clock_, lock, changed_, deadline_ns)) {
  }
  return ended_ && bound_.size() <= own;
}

uint64_t Crew::give_up_all(Fifo<TaskCore>& dropped) {
  uint64_t count = 0;
  while (!dropped.empty()) count += give_up(*static_cast<Task*>(dropped.pop_front()));
  return count;
}

// How many tasks never began.
uint64_t Crew::cancel_all() {
  Fifo<TaskCore> dropped;
  {
    MutexLock lock(mutex_);
    for (Worker* worker : everybody()) worker->cancel(dropped);
  }
  return give_up_all(dropped);
}

StopReport Crew::stop(int64_t deadline_ns) {
  stopping_.store(true);
  StopReport report;
  Worker* const worker = here();
  if (worker && (worker->own_thread() || Worker::current_fiber()->task())) return report;
  bool drained = true;
  if (worker) drained = worker->drain(deadline_ns);
  // Out of the way, and the last to look.
  if (!worker) activity_.enter();
  if (activity_.leave()) quiet();
  if (!drained || !wait_ended(deadline_ns, worker != nullptr)) {
    report.in_time = false;
    report.blocked = blocked();
    report.never_began = cancel_all();
  }
  if (worker) {
    activity_.enter();
    worker->drain(kNever);
  }
  {
    MutexLock one_at_a_time(joining_);
    for (const auto& own : workers_) own->join();
  }
  MutexLock lock(mutex_);
  report.bound = static_cast<uint32_t>(bound_.size()) - (worker != nullptr);
  return report;
}

// ---- looking in ----

std::vector<BlockedTask> Crew::blocked() const {
  std::vector<BlockedTask> all;
  MutexLock lock(mutex_);
  for (const Worker* worker : everybody()) worker->add_blocked(all);
  return all;
}

Statistics Crew::statistics() const {
  Statistics sum;
  MutexLock lock(mutex_);
  for (const Worker* worker : everybody()) worker->add_to(sum);
  sum.cancelled += given_up_.load(std::memory_order_relaxed);
  sum.refused = refused_.load(std::memory_order_relaxed);
  sum.lost_errors = lost_errors_.load(std::memory_order_relaxed);
  sum.idle = workers_.empty() ? 0 : placement_.idle();
  return sum;
}

std::string Crew::check() const {
  MutexLock lock(mutex_);
  for (const Worker* worker : everybody()) {
    if (std::string problem = worker->check(); !problem.empty()) return "worker " + std::to_string(worker->number()) + ": " + problem;
  }
  return "";
}

}  // namespace posset::sched::fiber
