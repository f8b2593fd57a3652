// The fiber executors in the simulator: workers that run scripts instead of code, around the rules the threads use
// (WorkerPolicy, Placement, Activity). One step is what a worker does between two givings back of its mutex. A wait is as in
// wait_list.h: a place in the list of an event in one step, parking in the next, so that a signal may fall in between. So is
// the handing over of a task: a worker is claimed, the task pushed, or added where that cannot be, and if nobody will look,
// somebody called.
//
// The policy is a parameter so that a test can put a broken one in and see it caught. Invariants, checked after every
// step:
//   rules     what WorkerPolicy::check says: counts, queues and states agree
//   home      a fiber runs on the worker it was made on
//   order     unblocked fibers first, in their order, so many in a row; then one new task and one preempted fiber by turns
//   wake-up   no worker sleeps while something could run on it
//   end       when the workers end, nothing is left
//   finished  at the end: every task has run once, and every worker has ended
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sched/base/random.h"
#include "sched/fiber/placement.h"
#include "sched/fiber/policy.h"
#include "sched/sim/simulation.h"

namespace posset::sched::fiber {

struct SimStep {
  enum class Do : uint8_t {
    Work,     // for `ns`
    Wait,     // for event `what`; with `ns` >= 0 so long at most
    Signal,   // event `what`, for good
    Spawn,    // task `what`
    Preempt,  // the end of a quantum
  };
  Do act = Do::Work;
  uint32_t what = 0;
  int64_t ns = -1;
};

struct FiberPlan {
  uint32_t workers = 2;
  uint32_t max_fibers = 8;
  uint32_t events = 0;
  bool pushes = true;  // tasks, where workers are awake
  std::vector<std::vector<SimStep>> tasks;                // their scripts, by number
  std::vector<std::pair<int64_t, uint32_t>> submissions;  // from outside: when, which; in the order of times
};

template <class Policy = WorkerPolicy>
class FiberWorld final : public World {
 public:
  FiberWorld(Simulation& simulation, const FiberPlan& plan);

  void hash_into(StateHash& hash) const override;
  std::string unfinished() const override;

  static Scenario scenario(const FiberPlan& plan) {
    return [&plan](Simulation& simulation) { return std::make_unique<FiberWorld>(simulation, plan); };
  }

 private:
  struct SimTask : TaskCore {
    explicit SimTask(uint32_t its_number) : TaskCore(false), number(its_number) {}
    const uint32_t number;
    int runs = 0;
    bool ended = false;
  };

  struct SimFiber : FiberCore {
    using FiberCore::FiberCore;
    SimTask* task = nullptr;
    size_t at = 0;          // in the script
    bool enlisted = false;  // in the list of the event it waits for
    bool parking = false;   // has looked, and parks next
    int64_t deadline_ns = kNever;
  };

  struct SimEvent {
    bool signalled = false;
    std::vector<SimFiber*> waiting;
  };

  // How far the handing over of a task is.
  struct Handover {
    enum class Next : uint8_t { Claim, Push, Add, Call } next = Next::Claim;
    uint32_t worker = 0;
  };

  class Worker final : public Actor {
   public:
    enum class State : uint8_t { Looks, Spins, Arrives, Calls, LooksAgain, Sleeps, Runs, Ended };
    Worker(FiberWorld& world, uint32_t number)
        : world_(world), number_(number), policy_(world.simulation_.clock(), world.plan_.max_fibers), main_(number, UINT32_MAX) {
      policy_.add_main(main_);
      if (world.plan_.pushes) policy_.open();
      policy_.park_until_end();
    }
    std::string name() const override { return "worker" + std::to_string(number_); }
    bool enabled() const override {
      if (state_ == State::Runs || state_ == State::Sleeps) return world_.simulation_.now_ns() >= until_ns_;
      return state_ != State::Ended;
    }
    std::string step() override;
    void hash_into(StateHash& hash) const override;

    Injector::Owner push(SimTask& task) { return policy_.push(task); }
    // True: the task waits for what runs here.
    bool add(SimTask& task) {
      const auto added = policy_.add(task);
      if (!added.accepted) world_.simulation_.fail("end", "a task for a worker that has ended");
      if (added.wake) wake();
      return added.waits;
    }
    bool call() {
      const auto called = policy_.call();
      if (called == WorkerPolicy::Called::Wakes) wake();
      return called != WorkerPolicy::Called::Runs;
    }
    void unpark(SimFiber& fiber) {
      if (fiber.blocked()) {
        unblocked_.push_back(&fiber);
        forget_deadline(fiber);
      }
      if (policy_.unpark(fiber)) wake();
    }
    void end() {
      if (policy_.end()) wake();
    }
    SimTask* steal() { return static_cast<SimTask*>(policy_.steal()); }
    const Policy& policy() const { return policy_; }
    State state() const { return state_; }
    std::string check_wake_up() const;

   private:
    void forget_deadline(const SimFiber& fiber) {
      std::erase_if(timed_, [&fiber](const auto& timed) { return timed.second == &fiber; });
    }
    void wake() {
      world_.activity_.enter();
      if (state_ == State::Sleeps) state_ = State::Looks;
    }
    std::string look();
    std::string begin(const WorkerPolicy::Decision& decision);
    std::string go_on(const WorkerPolicy::Decision& decision);
    void goes_on(const WorkerPolicy::Decision& decision) {
      world_.placement_.set_busy(number_);
      state_ = decision.calls_another ? State::Calls : State::Runs;
      until_ns_ = world_.simulation_.now_ns();
    }
    std::string spin();
    std::string arrive();
    std::string call_others();
    std::string spawn(uint32_t task);
    std::string sleep();
    std::string run();
    std::string wait(const SimStep& step);
    std::string park(SimFiber& fiber);
    std::string finish();
    void expire();
    void check_order(const WorkerPolicy::Decision& decision, const SimFiber* free);

    FiberWorld& world_;
    const uint32_t number_;
    Policy policy_;
    FiberCore main_;
    std::vector<std::unique_ptr<SimFiber>> fibers_;
    State state_ = State::Looks;
    int64_t until_ns_ = 0;
    size_t scanned_ = 0;           // victims, since it began to spin
    SimTask* stolen_ = nullptr;    // and not added yet
    Handover handover_;
    SimFiber* current_ = nullptr;  // runs, or has no task and looks for one
    // The reference: what `next` has to say.
    std::deque<SimFiber*> unblocked_, preempted_;
    std::deque<std::pair<int64_t, SimFiber*>> timed_;  // in the order they parked
    bool last_was_task_ = false;
    uint32_t passed_ = 0;
  };

  class Outside final : public Actor {
   public:
    explicit Outside(FiberWorld& world) : world_(world) {
      for (const auto& submission : world.plan_.submissions) world.simulation_.wake_at(submission.first);
    }
    std::string name() const override { return "outside"; }
    bool enabled() const override {
      const auto& all = world_.plan_.submissions;
      return next_ < all.size() ? world_.simulation_.now_ns() >= all[next_].first : !world_.stopping_;
    }
    std::string step() override;
    void hash_into(StateHash& hash) const override { hash.add(next_ * 4 + static_cast<size_t>(handover_.next)); }

   private:
    FiberWorld& world_;
    size_t next_ = 0;
    Handover handover_;
  };

  bool schedule(uint32_t task, Handover& handover);
  void call_somebody();
  void signal(uint32_t event);
  void quiet();

  Simulation& simulation_;
  const FiberPlan& plan_;
  Placement placement_;
  Activity activity_;
  std::deque<SimTask> tasks_;
  std::vector<SimEvent> events_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Outside outside_;
  bool stopping_ = false;
};

template <class Policy>
FiberWorld<Policy>::FiberWorld(Simulation& simulation, const FiberPlan& plan)
    : simulation_(simulation), plan_(plan), placement_(plan.workers), events_(plan.events), outside_(*this) {
  for (uint32_t number = 0; number < plan.tasks.size(); ++number) tasks_.emplace_back(number);
  for (uint32_t number = 0; number < plan.workers; ++number) {
    workers_.push_back(std::make_unique<Worker>(*this, number));
    activity_.enter();
    simulation.add(*workers_.back());
  }
  simulation.add(outside_);
  simulation.invariant("rules", [this] {
    for (const auto& worker : workers_) {
      if (std::string problem = worker->policy().check(); !problem.empty()) return worker->name() + ": " + problem;
    }
    return std::string();
  });
  simulation.invariant("wake-up", [this] {
    for (const auto& worker : workers_) {
      if (std::string problem = worker->check_wake_up(); !problem.empty()) return problem;
    }
    return std::string();
  });
}

// ---- outside ----

template <class Policy>
std::string FiberWorld<Policy>::Outside::step() {
  if (next_ == world_.plan_.submissions.size()) {
    world_.stopping_ = true;
    world_.activity_.enter();
    if (world_.activity_.leave()) world_.quiet();
    return "stops";
  }
  const uint32_t task = world_.plan_.submissions[next_].second;
  if (handover_.next == Handover::Next::Claim) world_.activity_.enter();
  if (!world_.schedule(task, handover_)) return "is submitting task " + std::to_string(task);
  ++next_;
  if (world_.activity_.leave()) world_.quiet();
  return "has submitted task " + std::to_string(task);
}

// One step of it. True: the last.
template <class Policy>
bool FiberWorld<Policy>::schedule(uint32_t task, Handover& handover) {
  using Next = typename Handover::Next;
  switch (handover.next) {
    case Next::Claim: {
      const auto idle = placement_.claim();
      handover = {Next::Push, idle ? *idle : placement_.turn()};
      return false;
    }
    case Next::Push: {
      const Injector::Owner owner = workers_[handover.worker]->push(tasks_[task]);
      handover.next = owner == Injector::Owner::Locked ? Next::Add : owner == Injector::Owner::Busy ? Next::Call : Next::Claim;
      break;
    }
    case Next::Add:
      handover.next = workers_[handover.worker]->add(tasks_[task]) ? Next::Call : Next::Claim;
      break;
    case Next::Call:
      call_somebody();
      handover.next = Next::Claim;
      break;
  }
  return handover.next == Next::Claim;
}

template <class Policy>
void FiberWorld<Policy>::call_somebody() {
  while (const auto idle = placement_.claim()) {
    if (workers_[*idle]->call()) return;
  }
}

template <class Policy>
void FiberWorld<Policy>::signal(uint32_t event) {
  events_[event].signalled = true;
  std::vector<SimFiber*> waiting;
  waiting.swap(events_[event].waiting);
  for (SimFiber* fiber : waiting) {
    fiber->enlisted = false;
    workers_[fiber->worker()]->unpark(*fiber);
  }
}

template <class Policy>
void FiberWorld<Policy>::quiet() {
  const auto seen = activity_.quiet();
  if (!seen || !stopping_) return;
  for (const auto& worker : workers_) {
    if (worker->policy().busy() > 0 || worker->policy().tasks() > 0) return;
  }
  if (!activity_.finish(*seen)) return;
  for (const auto& worker : workers_) worker->end();
}

// ---- workers ----

template <class Policy>
std::string FiberWorld<Policy>::Worker::step() {
  switch (state_) {
    case State::Looks: return look();
    case State::Spins: return spin();
    case State::Arrives: return arrive();
    case State::Calls: return call_others();
    case State::LooksAgain: return look();
    case State::Sleeps:
      policy_.awake();
      world_.activity_.enter();
      state_ = State::Looks;
      return "wakes for a deadline";
    case State::Runs: return run();
    case State::Ended: break;
  }
  return "";
}

// What the deadlines that have come make of the reference.
template <class Policy>
void FiberWorld<Policy>::Worker::expire() {
  std::stable_sort(timed_.begin(), timed_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  while (!timed_.empty() && timed_.front().first <= world_.simulation_.now_ns()) {
    unblocked_.push_back(timed_.front().second);
    timed_.pop_front();
  }
}

template <class Policy>
void FiberWorld<Policy>::Worker::check_order(const WorkerPolicy::Decision& decision, const SimFiber* free) {
  using Do = WorkerPolicy::Do;
  const auto fail = [this](const std::string& problem) { world_.simulation_.fail("order", name() + " " + problem); };
  const bool could_start = policy_.tasks() > 0 && (free || policy_.idle_fibers() > 0 || policy_.fibers() < world_.plan_.max_fibers);
  const bool passes = !unblocked_.empty() && (could_start || !preempted_.empty());
  const bool unblocked_turn = !unblocked_.empty() && !(passes && passed_ == WorkerPolicy::kMostPassed);
  passed_ = passes && unblocked_turn ? passed_ + 1 : 0;
  if (unblocked_turn) {
    SimFiber* first = unblocked_.front();
    unblocked_.pop_front();
    if (decision.what != Do::Resume || decision.fiber != first) fail("passes fiber " + std::to_string(first->number()) + ", which is unblocked");
    return;
  }
  if (decision.what == Do::Resume) {
    if (preempted_.empty() || decision.fiber != preempted_.front()) return fail("resumes a fiber out of turn");
    preempted_.pop_front();
    if (could_start && !last_was_task_) fail("resumes a second preempted fiber while a task waits");
    last_was_task_ = false;
  } else if (decision.what == Do::Start) {
    if (!preempted_.empty() && last_was_task_) fail("begins a second task while a preempted fiber waits");
    last_was_task_ = true;
  } else if (!preempted_.empty()) {
    fail("has nothing to do, and a preempted fiber waits");
  }
}

template <class Policy>
std::string FiberWorld<Policy>::Worker::look() {
  expire();
  SimFiber* const free = current_;
  const WorkerPolicy::Decision decision = policy_.next(free);
  check_order(decision, free);
  switch (decision.what) {
    case WorkerPolicy::Do::Resume: return go_on(decision);
    case WorkerPolicy::Do::Start: return begin(decision);
    case WorkerPolicy::Do::End:
      state_ = State::Ended;
      if (policy_.busy() > 0 || policy_.tasks() > 0) world_.simulation_.fail("end", name() + " ends too early");
      return "ends";
    case WorkerPolicy::Do::Nothing: break;
  }
  const bool has_spun = state_ == State::LooksAgain && !policy_.looks_again();
  if (has_spun || policy_.ready() > 0 || !policy_.can_begin()) return sleep();
  state_ = State::Spins;
  scanned_ = 0;
  policy_.look_around();
  world_.placement_.set_idle(number_);
  world_.placement_.spins(number_);
  return "finds nothing";
}

template <class Policy>
std::string FiberWorld<Policy>::Worker::begin(const WorkerPolicy::Decision& decision) {
  current_ = static_cast<SimFiber*>(decision.fiber);
  if (!current_) {
    fibers_.push_back(std::make_unique<SimFiber>(number_, policy_.next_number()));
    current_ = fibers_.back().get();
    policy_.add_fiber(*current_);
  }
  current_->task = static_cast<SimTask*>(decision.task);
  current_->at = 0;
  if (++current_->task->runs > 1) world_.simulation_.fail("order", "task " + std::to_string(current_->task->number) + " runs twice");
  goes_on(decision);
  return "begins task " + std::to_string(current_->task->number) + " on fiber " + std::to_string(current_->number());
}

template <class Policy>
std::string FiberWorld<Policy>::Worker::go_on(const WorkerPolicy::Decision& decision) {
  current_ = static_cast<SimFiber*>(decision.fiber);
  const SimFiber& fiber = *current_;
  if (fiber.worker() != number_) world_.simulation_.fail("home", name() + " resumes a fiber of worker" + std::to_string(fiber.worker()));
  goes_on(decision);
  return "resumes fiber " + std::to_string(fiber.number());
}

// Looks at each of the others in turn.
template <class Policy>
std::string FiberWorld<Policy>::Worker::spin() {
  if (policy_.ready() > 0 || ++scanned_ == world_.workers_.size()) {
    if (policy_.ready() == 0) policy_.has_looked_around();
    state_ = State::LooksAgain;
    return "has spun";
  }
  Worker& victim = *world_.workers_[(number_ + scanned_) % world_.workers_.size()];
  stolen_ = victim.steal();
  if (!stolen_) return "spins";
  state_ = State::Arrives;
  return "steals task " + std::to_string(stolen_->number) + " from " + victim.name();
}

template <class Policy>
std::string FiberWorld<Policy>::Worker::arrive() {
  policy_.add_stolen(*std::exchange(stolen_, nullptr));
  state_ = State::LooksAgain;
  return look();
}

template <class Policy>
std::string FiberWorld<Policy>::Worker::call_others() {
  world_.call_somebody();
  state_ = State::Runs;
  return "calls for help";
}

template <class Policy>
std::string FiberWorld<Policy>::Worker::sleep() {
  const std::optional<int64_t> until_ns = policy_.sleep();
  if (!until_ns) {
    state_ = State::Looks;
    return "was handed something";
  }
  state_ = State::Sleeps;
  until_ns_ = *until_ns;
  if (until_ns_ != kNever) world_.simulation_.wake_at(until_ns_);
  if (world_.activity_.leave()) world_.quiet();
  return "sleeps";
}

template <class Policy>
std::string FiberWorld<Policy>::Worker::run() {
  SimFiber& fiber = *current_;
  const std::vector<SimStep>& script = world_.plan_.tasks[fiber.task->number];
  if (fiber.at == script.size()) return finish();
  const SimStep& step = script[fiber.at];
  if (step.act == SimStep::Do::Wait) return wait(step);
  if (step.act == SimStep::Do::Spawn) return spawn(step.what);
  ++fiber.at;
  switch (step.act) {
    case SimStep::Do::Work:
      until_ns_ = world_.simulation_.now_ns() + step.ns;
      world_.simulation_.wake_at(until_ns_);
      return "works";
    case SimStep::Do::Signal:
      world_.signal(step.what);
      return "signals event " + std::to_string(step.what);
    case SimStep::Do::Preempt:
      expire();
      if (!policy_.preempt(fiber)) return "is not preempted";
      if (preempted_.empty()) last_was_task_ = false;  // it is not the next itself
      preempted_.push_back(&fiber);
      current_ = nullptr;
      state_ = State::Looks;
      return "is preempted";
    case SimStep::Do::Spawn:
    case SimStep::Do::Wait: break;
  }
  return "";
}

template <class Policy>
std::string FiberWorld<Policy>::Worker::spawn(uint32_t task) {
  if (!world_.schedule(task, handover_)) return "is spawning task " + std::to_string(task);
  ++current_->at;
  return "has spawned task " + std::to_string(task);
}

// One look at the event, or parking: between two of these anything may happen.
template <class Policy>
std::string FiberWorld<Policy>::Worker::wait(const SimStep& step) {
  SimFiber& fiber = *current_;
  if (fiber.parking) return park(fiber);
  SimEvent& event = world_.events_[step.what];
  const int64_t now_ns = world_.simulation_.now_ns();
  const bool first = fiber.deadline_ns == kNever && !fiber.enlisted;
  if (first && step.ns >= 0) fiber.deadline_ns = now_ns + step.ns;
  const bool expired = fiber.deadline_ns != kNever && now_ns >= fiber.deadline_ns;
  if (event.signalled || expired) {
    std::erase(event.waiting, &fiber);
    fiber.enlisted = false;
    fiber.deadline_ns = kNever;
    ++fiber.at;
    return event.signalled ? "sees event " + std::to_string(step.what) : "gives up";
  }
  if (!fiber.enlisted) event.waiting.push_back(&fiber);
  fiber.enlisted = fiber.parking = true;
  return "waits for event " + std::to_string(step.what);
}

template <class Policy>
std::string FiberWorld<Policy>::Worker::park(SimFiber& fiber) {
  fiber.parking = false;
  if (!policy_.park(fiber, fiber.deadline_ns)) return "does not park";
  if (fiber.deadline_ns != kNever) timed_.emplace_back(fiber.deadline_ns, &fiber);
  current_ = nullptr;
  state_ = State::Looks;
  return "parks";
}

template <class Policy>
std::string FiberWorld<Policy>::Worker::finish() {
  current_->task->ended = true;
  policy_.finish(*current_);
  state_ = State::Looks;
  return "ends task " + std::to_string(current_->task->number);
}

template <class Policy>
std::string FiberWorld<Policy>::Worker::check_wake_up() const {
  if (state_ != State::Sleeps || policy_.ready() == 0) return "";
  const bool can_start = current_ || policy_.idle_fibers() > 0 || policy_.fibers() < world_.plan_.max_fibers;
  const bool only_tasks = policy_.queued() == policy_.tasks();
  return only_tasks && !can_start ? "" : name() + " sleeps while something could run";
}

// ---- all of it ----

template <class Policy>
void FiberWorld<Policy>::Worker::hash_into(StateHash& hash) const {
  hash.add(static_cast<uint64_t>(state_));
  hash.add(current_ ? current_->number() : UINT32_MAX);
  hash.add(static_cast<uint64_t>(until_ns_ == kNever ? -1 : until_ns_ - world_.simulation_.now_ns()));
  hash.add(policy_.ready());
  hash.add(last_was_task_ * 2 + policy_.looks_again());
  hash.add(scanned_ * 4 + static_cast<size_t>(handover_.next));
  for (const auto& fiber : fibers_) {
    hash.add(static_cast<uint64_t>(fiber->state()) * 1024 + fiber->at);
    hash.add(fiber->task ? fiber->task->number : UINT32_MAX);
    hash.add(fiber->enlisted * 2 + fiber->parking);
  }
}

template <class Policy>
void FiberWorld<Policy>::hash_into(StateHash& hash) const {
  for (const SimTask& task : tasks_) hash.add(static_cast<uint64_t>(task.runs) * 2 + task.ended);
  for (const SimEvent& event : events_) hash.add(event.signalled);
  hash.add(stopping_);
}

template <class Policy>
std::string FiberWorld<Policy>::unfinished() const {
  for (const SimTask& task : tasks_) {
    if (task.runs > 0 && !task.ended) return "task " + std::to_string(task.number) + " never ended";
  }
  for (const auto& submission : plan_.submissions) {
    if (tasks_[submission.second].runs == 0) return "task " + std::to_string(submission.second) + " never began";
  }
  for (const auto& worker : workers_) {
    if (worker->state() != Worker::State::Ended) return worker->name() + " sleeps at the end";
  }
  return "";
}

}  // namespace posset::sched::fiber
