// See worker.h.
#include "sched/fiber/worker.h"

#include <algorithm>
#include <cassert>
#include <system_error>

#include "sched/base/spin.h"
#include "sched/base/start.h"
#include "sched/base/wait.h"
#include "sched/fiber/crew.h"

namespace posset::sched::fiber {

namespace {

// Whose thread this is. It says nothing of executors, only of the thread: two sets of them share nothing by it.
thread_local Worker* current_worker = nullptr;

// Between two looks whether there is something to steal.
constexpr int64_t kRoundNs = 10 * kMicrosecond;
// A worker that has just run says that it is idle only behind this: in a stream of short tasks the next one comes sooner,
// and saying so, and being claimed, would take two lines of memory from whoever hands them in.
constexpr int64_t kPauseNs = 1 * kMicrosecond;

}  // namespace

// ---- fibers ----

Fiber::Fiber(Worker& home) : FiberCore(home.number(), UINT32_MAX), home_(home) {}

Fiber::Fiber(Worker& home, uint32_t number, std::unique_ptr<NativeStack> stack)
    : FiberCore(home.number(), number), home_(home), context_(std::move(stack), &Worker::run_fiber, this) {}

void Fiber::park(int64_t deadline_ns, const char* what) { home_.park(*this, deadline_ns, what); }
void Fiber::unpark() { home_.unpark(*this); }
void Fiber::hand_over(Parker& next, int64_t deadline_ns, const char* what) {
  Fiber* const to = next.fiber();
  if (to && &to->home_ == &home_) return home_.hand_over(*this, *to, deadline_ns, what);
  Parker::hand_over(next, deadline_ns, what);
}
bool Fiber::cancelled() const { return home_.cancelled() || (task_ && task_->cancel_requested()); }
bool Fiber::unwinding() const { return home_.unwinding(); }
int64_t Fiber::now_ns() const { return home_.crew().clock().now_ns(); }

void Fiber::about_to_wait() {
  if (!task_ || !cancelled()) return;
  // Not out of a destructor that runs because of an exception: that would end the program.
  if (++told_ > kMostTold && std::uncaught_exceptions() == 0) throw FiberUnwind();
}

// ---- from any thread ----

Worker::Worker(Crew& crew, uint32_t number, bool own_thread)
    : crew_(crew),
      number_(number),
      own_thread_(own_thread),
      policy_(crew.clock(), std::max(1U, crew.config().max_fibers), crew.config().tasks_last),
      idle_(own_thread),
      random_(crew.config().seed + number) {}

Worker::~Worker() { join(); }

Worker* Worker::current() { return current_worker; }

Fiber* Worker::current_fiber() { return current_worker ? current_worker->running_ : nullptr; }

Worker* Worker::exchange_current(Worker* worker) { return std::exchange(current_worker, worker); }

const Worker* Worker::current_of(const Crew& crew) {
  const Worker* each = current_worker;
  while (each && &each->crew_ != &crew) each = each->outer_;
  return each;
}

bool Worker::start_thread() {
  if (!own_thread_ || started_) return true;
  crew_.activity().enter();  // on its behalf
  try {
    thread_ = std::thread([this] { run_thread(); });
  } catch (const std::system_error&) {
    crew_.activity().leave();  // the caller is active, so it is not the last
    return false;
  }
  started_ = true;
  begin_elsewhere(thread_);
  return true;
}

bool Worker::start() {
  MutexLock lock(mutex_);
  return !policy_.closed() && start_thread();
}

void Worker::wake() {
  crew_.activity().enter();  // on its behalf
  if (WakeUp* const wake_up = crew_.config().wake_up) {
    wake_up->post_from_thread();
  } else {
    more_.notify_one();
  }
}

Worker::Added Worker::add_locked(Task& task) {
  if (policy_.closed()) return Added::Closed;
  if (!start_thread()) return Added::NoThread;
  const WorkerPolicy::Added added = policy_.add(task);
  if (added.wake) wake();
  if (!added.accepted) return Added::Closed;
  return added.waits ? Added::Behind : Added::Yes;
}

// Without the mutex, where the thread is awake. False: it is to be added. Not analysed: what is pushed to guards itself.
POSSET_NOT_ANALYSED bool Worker::push(Task& task, Added& added) {
  const Injector::Owner owner = policy_.push(task);
  added = owner == Injector::Owner::Busy ? Added::Behind : Added::Yes;
  return owner != Injector::Owner::Locked;
}

Worker::Added Worker::add(Task& task) {
  Added added;
  if (push(task, added)) return added;
  MutexLock lock(mutex_);
  return add_locked(task);
}

// Never pushed: that would put it behind others.
Worker::Added Worker::add_awaited(Task& task) {
  MutexLock lock(mutex_);
  return add_locked(task);
}

Worker::Added Worker::try_add(Task& task) {
  Added pushed;
  if (push(task, pushed)) return pushed;
  if (!mutex_.try_lock()) return Added::Busy;
  const Added added = add_locked(task);
  mutex_.unlock();
  return added;
}

// A hint, and an atomic: read without the lock that guards the rest of the policy.
POSSET_NOT_ANALYSED uint32_t Worker::ready() const { return policy_.ready(); }

Task* Worker::steal(bool patient, bool begun) {
  if (ready() == 0) return nullptr;
  if (patient) {
    mutex_.lock();
  } else if (!mutex_.try_lock()) {
    return nullptr;
  }
  TaskCore* task = policy_.steal(begun);
  mutex_.unlock();
  return static_cast<Task*>(task);
}

bool Worker::call() {
  MutexLock lock(mutex_);
  if (policy_.closed() || !start_thread()) return false;
  const WorkerPolicy::Called called = policy_.call();
  if (called == WorkerPolicy::Called::Wakes) wake();
  return called != WorkerPolicy::Called::Runs;
}

void Worker::unpark(Fiber& fiber) {
  MutexLock lock(mutex_);
  if (policy_.unpark(fiber)) wake();
}

void Worker::end() {
  MutexLock lock(mutex_);
  if (policy_.end()) wake();
}

void Worker::cancel(Fifo<TaskCore>& dropped) {
  MutexLock lock(mutex_);
  cancelled_.store(true, std::memory_order_relaxed);
  if (policy_.cancel(dropped)) wake();
}

void Worker::join() {
  std::thread thread;
  {
    MutexLock lock(mutex_);
    thread.swap(thread_);
  }
  if (thread.joinable()) thread.join();
}

Worker::Load Worker::load() const {
  MutexLock lock(mutex_);
  return {policy_.busy(), policy_.tasks(), policy_.next_deadline_ns() != kNever, policy_.main_blocked()};
}

void Worker::add_blocked(std::vector<BlockedTask>& blocked) const {
  MutexLock lock(mutex_);
  if (policy_.main_blocked()) blocked.push_back({"the bound thread", main_waits_for_, number_, false});
  for (const auto& fiber : fibers_) {
    if (!fiber || !fiber->blocked()) continue;
    blocked.push_back({fiber->task_->title(), fiber->waits_for_, number_, fiber->state() == FiberState::Waiting});
  }
}

void Worker::add_to(Statistics& statistics) const {
  MutexLock lock(mutex_);
  statistics.done += ends_.done.load(std::memory_order_relaxed);
  statistics.failed += ends_.failed.load(std::memory_order_relaxed);
  statistics.cancelled += ends_.cancelled.load(std::memory_order_relaxed);
  statistics.stolen += counts_.stolen;
  statistics.switches += counts_.switches;
  statistics.threads += started_;
  statistics.fibers += policy_.fibers();
  statistics.busy += policy_.busy();
  statistics.ready += policy_.queued();
}

std::string Worker::check() const {
  MutexLock lock(mutex_);
  return policy_.check();
}

// ---- its own thread: coming and going ----

void Worker::enter() {
  outer_ = current_worker;
  current_worker = this;
  main_.emplace(*this);
  running_ = &*main_;
  MutexLock lock(mutex_);
  policy_.add_main(*main_);
}

bool Worker::drain(int64_t deadline_ns) {
  mutex_.lock();
  policy_.drain(deadline_ns);
  suspend(*main_);
  MutexLock lock(mutex_);
  return policy_.busy() == 0 && policy_.tasks() == 0;
}

// Null: there is none left.
std::unique_ptr<Fiber> Worker::retire() {
  MutexLock lock(mutex_);
  FiberCore* fiber = policy_.retire_idle();
  return fiber ? std::move(fibers_[fiber->number()]) : nullptr;
}

void Worker::leave() {
  // Each goes on once more, finds no task, and returns to here.
  while (std::unique_ptr<Fiber> fiber = retire()) {
    main_->context_.switch_to(fiber->context_);
    crew_.give_back(fiber->take_stack());
  }
  current_worker = outer_;
}

void Worker::drop_tasks(Fifo<TaskCore>& dropped) {
  MutexLock lock(mutex_);
  policy_.drop_tasks(dropped);
}

bool Worker::detach() {
  if (current_worker != this) return false;
  current_worker = outer_;
  detached_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  return true;
}

bool Worker::attach() {
  if (detached_.load(std::memory_order_relaxed) != std::this_thread::get_id()) return false;
  detached_.store({}, std::memory_order_relaxed);
  outer_ = std::exchange(current_worker, this);
  return true;
}

void Worker::run_thread() {
  if (crew_.trace()) crew_.trace()->name_thread(crew_.config().name + " " + std::to_string(number_));
  enter();
  mutex_.lock();
  policy_.open();
  policy_.park_until_end();
  suspend(*main_);
  leave();
  // What is still to come finds it closed.
  if (crew_.activity().leave()) crew_.quiet();
}

// ---- what runs ----

void Worker::run_fiber(void* fiber) {
  Fiber& self = *static_cast<Fiber*>(fiber);
  self.home_.work(self);
}

void Worker::work(Fiber& self) {
  while (self.task_) {
    held_.store(held() + 1, std::memory_order_relaxed);
    run_task(self);
    held_.store(held() - 1, std::memory_order_relaxed);
    self.task_->release();
    mutex_.lock();
    policy_.finish(self);
    self.task_ = nullptr;
    self.told_ = 0;
    next_task(self);
  }
}

void Worker::Ends::add(TaskState state) {
  auto& count = state == TaskState::Done ? done : state == TaskState::Failed ? failed : cancelled;
  count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void Worker::run_task(Fiber& self) {
  Task& task = *self.task_;
  if (task.external) begun_.store(begun() + 1, std::memory_order_relaxed);
  if (!task.try_start(self)) return ends_.add(TaskState::Cancelled);
  const int64_t began_ns = crew_.trace_started(task);
  TaskState state = TaskState::Done;
  std::exception_ptr error;
  try {
    task.run();
  } catch (const FiberUnwind&) {
    state = TaskState::Cancelled;
  } catch (...) {
    state = TaskState::Failed;
    error = std::current_exception();
  }
  task.drop();
  if (error) crew_.tell_error(task, error);
  crew_.trace_finished(task, state, began_ns);
  ends_.add(state);
  task.end(state, std::move(error));
}

// `self` is blocked, or waits for a turn: the thread does something else until it is its turn.
void Worker::suspend(Fiber& self) {
  for (;;) {
    const WorkerPolicy::Decision decision = policy_.next(nullptr);
    if (decision.what == WorkerPolicy::Do::Nothing) {
      wait_for_work();
    } else if (Fiber* fiber = fiber_for(decision)) {
      switch_to(self, *fiber);
      return;
    }
  }
}

// `self` has no task: it takes the next, or waits until it is given one.
void Worker::next_task(Fiber& self) {
  for (;;) {
    const WorkerPolicy::Decision decision = policy_.next(&self);
    if (decision.what == WorkerPolicy::Do::Nothing) {
      wait_for_work();
    } else {
      switch_to(self, *fiber_for(decision));
      return;
    }
  }
}

// Null: there was no memory for its stack, and it is to be looked again.
Fiber* Worker::fiber_for(const WorkerPolicy::Decision& decision) {
  auto* fiber = static_cast<Fiber*>(decision.fiber);
  spun_ = false;
  cap_reported_ = false;  // something goes on
  set_busy();
  if (decision.calls_another) {
    mutex_.unlock();
    crew_.call_somebody();
    mutex_.lock();
  }
  if (decision.what != WorkerPolicy::Do::Start) return fiber;
  auto* task = static_cast<Task*>(decision.task);
  if (!fiber) fiber = new_fiber(*task);
  if (fiber) {
    fiber->take(*task);
    fiber->task_ = task;
  }
  return fiber;
}

// Null: as above.
Fiber* Worker::new_fiber(Task& task) {
  // Not under the lock: it asks the system for memory. The number is taken by this thread alone.
  const uint32_t number = policy_.next_number();
  bool comes_later = false;
  mutex_.unlock();
  std::unique_ptr<Fiber> made = crew_.make_fiber(*this, number, task, comes_later);
  mutex_.lock();
  if (!made) {
    has_no_fiber(task, comes_later);
    return nullptr;
  }
  pause_ns_ = kShortestPauseNs;
  policy_.add_fiber(*made);
  fibers_.push_back(std::move(made));
  return fibers_.back().get();
}

void Worker::has_no_fiber(Task& task, bool comes_later) {
  int64_t again_ns = kNever;
  if (comes_later) {
    again_ns = crew_.clock().now_ns() + pause_ns_;
    pause_ns_ = std::min(2 * pause_ns_, kLongestPauseNs);
  }
  const bool waits = policy_.cannot_grow(task, again_ns);
  mutex_.unlock();
  if (waits) {
    crew_.call_somebody();  // who may have a fiber to spare
  } else {
    fail_to_start(task);
  }
  mutex_.lock();
}

void Worker::switch_to(Fiber& from, Fiber& to) {
  if (&from == &to) {
    mutex_.unlock();
    return;
  }
  ++counts_.switches;
  running_ = &to;
  mutex_.unlock();
  from.context_.switch_to(to.context_);
}

void Worker::park(Fiber& fiber, int64_t deadline_ns, const char* what) {
  assert(running_ == &fiber);
  mutex_.lock();
  park_locked(fiber, deadline_ns, what);
}

void Worker::hand_over(Fiber& fiber, Fiber& next, int64_t deadline_ns, const char* what) {
  assert(running_ == &fiber && &fiber != &next);
  mutex_.lock();
  if (deadline_ns == kNever && policy_.hand_over(fiber, next)) {
    note_wait(fiber, what);
    return switch_to(fiber, next);
  }
  policy_.unpark(next);  // nobody is to be woken: what hands over runs on its thread
  park_locked(fiber, deadline_ns, what);
}

void Worker::note_wait(Fiber& fiber, const char* what) {
  fiber.waits_for_ = what;
  if (!fiber.task_) main_waits_for_ = what;
}

void Worker::park_locked(Fiber& fiber, int64_t deadline_ns, const char* what) {
  note_wait(fiber, what);
  bool parks = false;
  try {
    parks = policy_.park(fiber, deadline_ns);
  } catch (const std::bad_alloc&) {
    // For the timer: it goes on, and looks again.
  }
  if (parks) {
    suspend(fiber);
  } else {
    mutex_.unlock();
  }
}

bool Worker::preempt(Fiber& fiber) {
  mutex_.lock();
  if (policy_.preempt(fiber)) {
    suspend(fiber);
    return true;
  }
  mutex_.unlock();
  return false;
}

// ---- what does not ----

void Worker::wait_for_work() {
  if (cancelled() && policy_.busy() > 0) {
    // Nobody waits in earnest any more but for what is waited for regardless.
    unwinding_.store(true, std::memory_order_relaxed);
    policy_.unpark_all();
    return;
  }
  // Spinning gives the lock back, so what is next is asked once more before the sleep.
  if (is_to_spin()) {
    spun_ = true;
    spin();
  } else {
    spun_ = false;
    sleep();
  }
}

// What is ready already cannot begin for want of a fiber, and what is stolen could not either.
bool Worker::is_to_spin() const {
  return own_thread_ && (!spun_ || policy_.looks_again()) && policy_.ready() == 0 && policy_.can_begin();
}

// Looks for work, its own or somebody else's.
void Worker::spin() {
  int64_t left_ns = crew_.config().spin_ns;
  const int64_t deadline_ns = policy_.next_deadline_ns();
  if (deadline_ns != kNever) left_ns = std::min(left_ns, deadline_ns - crew_.clock().now_ns());
  // When the executors stop there is little to come.
  if (crew_.stopping()) left_ns = 0;
  policy_.look_around();
  mutex_.unlock();
  Task* const stolen = look_around(left_ns);
  mutex_.lock();
  if (stolen) {
    policy_.add_stolen(*stolen);
    ++counts_.stolen;
  } else if (policy_.ready() == 0) {
    policy_.has_looked_around();
  }
}

// The last look is after it has said that it is idle, and misses nothing: see WorkerPolicy::add.
Task* Worker::look_around(int64_t left_ns) {
  const auto has_own = [this] { return ready() != 0; };
  if (left_ns > kPauseNs && spin_until(std::chrono::nanoseconds(kPauseNs), has_own)) return nullptr;
  if (!idle_) idle_since_ns_ = crew_.config().on_idle ? crew_.clock().now_ns() : 0;
  idle_ = true;
  crew_.placement().set_idle(number_);
  crew_.placement().spins(number_);
  for (; left_ns > 0; left_ns -= kRoundNs) {
    if (spin_until(std::chrono::nanoseconds(std::min(left_ns, kRoundNs)), has_own)) return nullptr;
    if (Task* stolen = crew_.steal_for(*this, random_.next(), false)) return stolen;
    std::this_thread::yield();
  }
  return crew_.steal_for(*this, random_.next(), true);
}

void Worker::set_busy() {
  if (!std::exchange(idle_, false)) return;
  crew_.placement().set_busy(number_);
  if (idle_since_ns_ != 0) crew_.tell_idle(crew_.clock().now_ns() - idle_since_ns_);
}

void Worker::sleep() {
  // Where others have most of the stacks it waits for theirs.
  const bool may_be_cap = !cap_reported_ && (!policy_.tries_again() || crew_.has_most_stacks());
  if (may_be_cap && policy_.stuck_at_cap()) {
    report_cap();
    return;  // the lock was given back: something may have come
  }
  const std::optional<int64_t> deadline_ns = policy_.sleep();
  if (!deadline_ns) return;
  mutex_.unlock();
  if (crew_.activity().leave()) crew_.quiet();
  {
    MutexLock lock(mutex_);
    // Who wakes it counts it in.
    while (policy_.asleep()) {
      if (sleep_until(lock, *deadline_ns)) continue;
      policy_.awake();
      crew_.activity().enter();
    }
  }
  mutex_.lock();
}

// False: the deadline has come. Not analysed: `lock` is of this mutex.
POSSET_NOT_ANALYSED bool Worker::sleep_until(MutexLock& lock, int64_t deadline_ns) {
  if (!crew_.config().wake_up) return wait_on(crew_.clock(), lock, more_, deadline_ns);
  lock.unlock();
  // Before the sleep too: what was posted for together with work was not looked at then.
  crew_.watch();
  crew_.sleep_until(std::min(deadline_ns, crew_.watch_at()));
  lock.lock();
  return !policy_.asleep() || deadline_ns == kNever || crew_.clock().now_ns() < deadline_ns;
}

void Worker::report_cap() {
  cap_reported_ = true;
  const uint32_t waiting = policy_.tasks();
  mutex_.unlock();
  crew_.tell_stuck(StuckReport::Reason::AtCap, waiting, this);
  mutex_.lock();
}

void Worker::fail_to_start(Task& task) {
  if (!task.awaited()) crew_.tell_error(task, std::make_exception_ptr(std::bad_alloc()));
  crew_.give_up(task);
}

}  // namespace posset::sched::fiber
