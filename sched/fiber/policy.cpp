// See policy.h.
#include "sched/fiber/policy.h"

#include <utility>

namespace posset::sched::fiber {

// ---- what comes in ----

WorkerPolicy::Added WorkerPolicy::add(TaskCore& task) {
  if (ending_) return {false, false, false};
  collect();
  if (task.awaited()) {
    tasks_.push_front(task);
  } else {
    tasks_.push_back(task);
  }
  // Whoever adds behind something that runs looks for an idle worker next, and whoever becomes idle looks for tasks next.
  // One of them sees the other, because each of the four is sequentially consistent.
  no_memory_ = false;
  const bool waits = !looking_ || !can_begin();
  if (waits) {
    ready_.fetch_add(1);
  } else {
    count(1);
  }
  return {true, can_begin() && wake(), waits};
}

void WorkerPolicy::collect() {
  if (!injector_.empty()) take_pushed();
}

void WorkerPolicy::take_pushed() {
  // Counted before it is taken: whoever looks at both sees it in one of them.
  ready_.fetch_add(1);
  int taken = 0;
  for (TaskCore* task = injector_.take(owner_); task; ++taken) {
    TaskCore* const next = Injector::next(*task);
    tasks_.push_back(*task);
    task = next;
  }
  count(taken - 1);
  no_memory_ = false;
}

WorkerPolicy::Called WorkerPolicy::call() {
  if (!looking_) return Called::Runs;
  called_ = looks_again_ = true;
  return wake() ? Called::Wakes : Called::Looks;
}

void WorkerPolicy::add_stolen(TaskCore& task) {
  tasks_.push_front(task);
  count(1);
  called_ = true;  // there may be more where it was, and who finds work sends for the next to look
}

TaskCore* WorkerPolicy::steal(bool begun) {
  if (tasks_last_ && begun && looking_ && can_begin()) return nullptr;
  if (tasks_.empty()) collect();
  if (tasks_.empty()) return nullptr;
  // There is one at most, and it hides none.
  TaskCore* const awaited = tasks_.front()->awaited() ? tasks_.pop_front() : nullptr;
  TaskCore* const taken = tasks_.empty() || tasks_.front()->same_thread() ? nullptr : tasks_.pop_front();
  if (awaited) tasks_.push_front(*awaited);
  if (!taken) return nullptr;
  count(-1);
  // It was taken for idle, and has the thief's part now.
  if (looking_) called_ = looks_again_ = true;
  return taken;
}

void WorkerPolicy::queue(FiberCore& fiber) {
  if (fiber.state_ == FiberState::Waiting) timers_.cancel(fiber.timer_);
  no_memory_ = false;
  fiber.state_ = FiberState::Queued;
  unblocked_.push_back(fiber);
  count(1);
}

bool WorkerPolicy::unpark(FiberCore& fiber) {
  if (!fiber.blocked()) {
    fiber.permit_ = true;
    return false;
  }
  queue(fiber);
  return wake();
}

// ---- the fiber that runs ----

void WorkerPolicy::add_fiber(FiberCore& fiber) {
  fiber.state_ = FiberState::Running;
  fiber.busy_ = true;
  ++busy_;
  all_.push_back(&fiber);
  assert(all_.size() == fiber.number() + size_t{1});
}

void WorkerPolicy::add_main(FiberCore& main) {
  main_ = &main;
  main.state_ = FiberState::Running;
}

bool WorkerPolicy::cannot_grow(TaskCore& task, int64_t again_ns) {
  if (--fibers_ == 0 && again_ns == kNever) return false;
  no_memory_ = true;
  again_ns_ = again_ns;
  tasks_.push_front(task);
  count(1);
  return true;
}

bool WorkerPolicy::park(FiberCore& fiber, int64_t deadline_ns) {
  assert(fiber.state_ == FiberState::Running);
  if (fiber.permit_) {
    fiber.permit_ = false;
    return false;
  }
  if (deadline_ns == kNever) {
    fiber.state_ = FiberState::Yielded;
    return true;
  }
  fiber.timer_ = timers_.add(deadline_ns, [this, &fiber] {
    fiber.state_ = FiberState::Queued;
    unblocked_.push_back(fiber);
    count(1);
  });
  fiber.state_ = FiberState::Waiting;
  return true;
}

bool WorkerPolicy::hand_over(FiberCore& fiber, FiberCore& next) {
  assert(fiber.state_ == FiberState::Running);
  const bool others = queued() != 0 || timers_.size() != 0;
  if (others || looking_ || called_ || fiber.permit_ || next.state_ != FiberState::Yielded) return false;
  fiber.state_ = FiberState::Yielded;
  next.state_ = FiberState::Running;
  no_memory_ = false;
  passed_ = 0;
  if (tasks_last_) preempted_turn_ = true;
  return true;
}

void WorkerPolicy::park_until_end() {
  assert(main_ && main_->state_ == FiberState::Running);
  main_->state_ = FiberState::Idle;
}

void WorkerPolicy::drain(int64_t deadline_ns) {
  park_until_end();
  draining_ = true;
  drain_timer_ = 0;
  if (deadline_ns == kNever) return;
  drain_timer_ = timers_.add(deadline_ns, [this] {
    drain_timer_ = 0;
    draining_ = false;
    queue(*main_);
  });
}

bool WorkerPolicy::preempt(FiberCore& fiber) {
  assert(fiber.state_ == FiberState::Running);
  expire();
  if (tasks_.empty()) collect();
  const bool before_it = !tasks_last_ || fiber.awaited_ || (!tasks_.empty() && tasks_.front()->awaited());
  const bool task = !tasks_.empty() && before_it && has_turns() && can_start(nullptr);
  const bool others = !unblocked_.empty() || !preempted_.empty() || task;
  if (!others) return false;
  fiber.state_ = FiberState::Preempted;
  if (preempted_.empty()) task_turn_ = true;  // else it would be the next itself
  preempted_.push_back(fiber);
  preempted_awaited_ += fiber.awaited_;
  count(1);
  return true;
}

void WorkerPolicy::finish(FiberCore& fiber) {
  assert(fiber.state_ == FiberState::Running && fiber.busy_);
  fiber.busy_ = false;
  fiber.permit_ = false;
  --busy_;
}

void WorkerPolicy::expire() {
  // The clock is not read for nothing: that costs as much as all the rest.
  if (timers_.size() == 0 && !tries_again()) return;
  const int64_t now_ns = clock_.now_ns();
  timers_.expire(now_ns);
  if (tries_again() && now_ns >= again_ns_) no_memory_ = false;
}

void WorkerPolicy::make_idle(FiberCore& fiber) {
  fiber.state_ = FiberState::Idle;
  idle_.push_back(&fiber);
}

// What was pushed before it says so is found when it looks next, and it does before it sleeps.
void WorkerPolicy::begin_look(bool free) {
  looking_ = true;
  looks_free_ = free;
  if (open_ && owner_ != Injector::Owner::Looks && can_begin()) {
    injector_.change(std::exchange(owner_, Injector::Owner::Looks), Injector::Owner::Looks);
  }
}

// What was pushed while it looked was to be begun at once, as what was added.
bool WorkerPolicy::end_look() {
  looks_free_ = false;
  bool others = !tasks_.empty();
  if (open_ && owner_ != Injector::Owner::Busy) {
    others |= injector_.change(std::exchange(owner_, Injector::Owner::Busy), Injector::Owner::Busy);
  }
  const bool calls_another = std::exchange(looking_, false) && others;
  return std::exchange(called_, false) || calls_another;
}

WorkerPolicy::Decision WorkerPolicy::resume(FiberCore& fiber, FiberCore* free) {
  count(-1);
  fiber.state_ = FiberState::Running;
  if (free) make_idle(*free);
  return {Do::Resume, &fiber, nullptr, end_look()};
}

WorkerPolicy::Decision WorkerPolicy::start(FiberCore* free) {
  TaskCore* task = tasks_.pop_front();
  count(-1);
  if (!free && !idle_.empty()) {
    free = idle_.back();
    idle_.pop_back();
  }
  if (free) {
    free->state_ = FiberState::Running;
    free->busy_ = true;
    ++busy_;
  } else {
    ++fibers_;
  }
  return {Do::Start, free, task, end_look()};
}

// Before a task that could begin, and before those that were preempted.
bool WorkerPolicy::unblocked_turn(bool task) {
  if (tasks_last_) {
    if (preempted_turn_ && !preempted_.empty()) return false;
    preempted_turn_ = true;
    return true;
  }
  const bool passes = task || !preempted_.empty();
  if (passes && passed_ == kMostPassed) return false;
  passed_ = passes ? passed_ + 1 : 0;
  return true;
}

WorkerPolicy::Decision WorkerPolicy::next(FiberCore* free) {
  assert(!free || (free->state_ == FiberState::Running && !free->busy_));
  asleep_ = false;
  expire();
  if (tasks_.empty()) collect();
  const bool task = !tasks_.empty() && can_start(free);
  if (!unblocked_.empty() && unblocked_turn(task)) return resume(*unblocked_.pop_front(), free);
  passed_ = 0;
  if (task && ((task_turn_ && has_turns()) || preempted_.empty())) {
    task_turn_ = false;
    return start(free);
  }
  if (!preempted_.empty()) {
    task_turn_ = true;
    preempted_turn_ = false;
    FiberCore* const first = preempted_.pop_front();
    preempted_awaited_ -= first->awaited_;
    return resume(*first, free);
  }
  if ((ending_ || draining_) && main_ && main_->state_ == FiberState::Idle && busy_ == 0 && tasks_.empty()) {
    main_->state_ = FiberState::Running;
    draining_ = false;
    if (drain_timer_ != 0) timers_.cancel(drain_timer_);
    drain_timer_ = 0;
    if (free) make_idle(*free);
    return {Do::End, main_, nullptr};
  }
  begin_look(free != nullptr);
  return {};
}

// ---- sleep and end ----

std::optional<int64_t> WorkerPolicy::sleep() {
  if (owner_ != Injector::Owner::Locked && !injector_.lock(owner_)) {
    collect();
    return std::nullopt;
  }
  owner_ = Injector::Owner::Locked;
  asleep_ = true;
  return next_deadline_ns();
}

bool WorkerPolicy::end() {
  ending_ = true;
  open_ = false;
  owner_ = Injector::Owner::Locked;
  take_pushed();
  return wake();
}

bool WorkerPolicy::cancel(Fifo<TaskCore>& dropped) {
  const bool slept = end();
  drop_tasks(dropped);
  return unpark_all() || slept;
}

void WorkerPolicy::drop_tasks(Fifo<TaskCore>& dropped) {
  collect();
  while (!tasks_.empty()) {
    dropped.push_back(*tasks_.pop_front());
    count(-1);
  }
}

bool WorkerPolicy::unpark_all() {
  if (main_ && main_->blocked()) queue(*main_);
  for (FiberCore* fiber : all_) {
    if (fiber && fiber->blocked()) queue(*fiber);
  }
  return wake();
}

bool WorkerPolicy::stuck_at_cap() const {
  return !tasks_.empty() && !can_start(nullptr) && unblocked_.empty() && preempted_.empty() && timers_.size() == 0;
}

FiberCore* WorkerPolicy::retire_idle() {
  if (idle_.empty()) return nullptr;
  FiberCore* fiber = idle_.back();
  idle_.pop_back();
  all_[fiber->number()] = nullptr;
  --fibers_;
  return fiber;
}

std::string WorkerPolicy::check() const {
  const uint32_t queued = unblocked_.size() + tasks_.size() + preempted_.size();
  if (ready_.load() != queued) return std::to_string(ready_.load()) + " counted as ready, " + std::to_string(queued) + " queued";
  size_t states[6] = {};
  uint32_t busy = 0;
  for (const FiberCore* fiber : all_) {
    if (!fiber) continue;
    ++states[static_cast<size_t>(fiber->state_)];
    busy += fiber->busy_;
    const bool may_be_free = fiber->state_ == FiberState::Idle || fiber->state_ == FiberState::Running;
    const bool right = fiber->busy_ ? fiber->state_ != FiberState::Idle : may_be_free;
    if (!right) return "fiber " + std::to_string(fiber->number()) + (fiber->busy_ ? " is idle with a task" : " waits without a task");
  }
  if (states[static_cast<size_t>(FiberState::Idle)] != idle_.size()) return "idle fibers are not kept";
  if (main_) ++states[static_cast<size_t>(main_->state_)];
  auto count_of = [&states](FiberState state) { return states[static_cast<size_t>(state)]; };
  if (count_of(FiberState::Queued) != unblocked_.size()) return "queued fibers are not in the queue";
  if (count_of(FiberState::Preempted) != preempted_.size()) return "preempted fibers are not in the queue";
  if (count_of(FiberState::Waiting) + (drain_timer_ != 0) != timers_.size()) return "timers and waiting fibers differ";
  if (count_of(FiberState::Running) > 1) return "two fibers run";
  if (busy != busy_) return "the number of busy fibers is wrong";
  if (fibers_ > max_fibers_) return "more fibers than allowed";
  return "";
}

}  // namespace posset::sched::fiber
