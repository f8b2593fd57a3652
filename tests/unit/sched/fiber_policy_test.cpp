// The rules of one worker, step by step, and what workers know of each other: placement and activity.
#include "sched/fiber/policy.h"

#include <deque>
#include <set>

#include <doctest/doctest.h>

#include "sched/base/random.h"
#include "sched/fiber/placement.h"
#include "sched/sim/simulation.h"

using namespace posset::sched;
using namespace posset::sched::fiber;

namespace {

using Do = WorkerPolicy::Do;

// A worker, and fibers that a test moves by hand.
struct Bench {
  explicit Bench(uint32_t max_fibers = 4, bool tasks_last = false)
      : policy(clock, max_fibers, tasks_last), main(0, UINT32_MAX) {
    policy.add_main(main);
  }

  // Takes what is next, which has to be a new task, onto a fiber.
  FiberCore& begin(FiberCore* free = nullptr) {
    const auto decision = policy.next(free);
    REQUIRE(decision.what == Do::Start);
    if (decision.fiber) return *decision.fiber;
    fibers.push_back(std::make_unique<FiberCore>(0, policy.next_number()));
    policy.add_fiber(*fibers.back());
    return *fibers.back();
  }
  // The main fiber waits, so that others may run.
  void leave_main() { REQUIRE(policy.park(main, kNever)); }

  VirtualClock clock;
  WorkerPolicy policy;
  FiberCore main;
  std::vector<std::unique_ptr<FiberCore>> fibers;
};

// A worker that may hand over in one go (`whole`), and one to which the same is done step by step. All that is asked of them
// has to have the same answer.
class Twins {
 public:
  Twins(uint64_t seed, bool tasks_last) : whole_(kFibers, tasks_last), steps_(kFibers, tasks_last), random_(seed) {
    for (Bench* each : {&whole_, &steps_}) {
      for (uint32_t i = 0; i < kFibers; ++i) each->policy.add(tasks_.emplace_back(false));
      each->leave_main();
    }
    look();
  }

  void step() {
    const uint32_t other = some();
    switch (random_.below(10)) {
      case 0:
        unpark(other);
        break;
      case 1:
        for (Bench* each : {&whole_, &steps_}) each->clock.advance_to(each->clock.now_ns() + 10);
        break;
      case 2:
        park(whole_.clock.now_ns() + 5 + static_cast<int64_t>(random_.below(20)));
        break;
      case 3:
        if (both([&](Bench& each) { return each.policy.preempt(*each.fibers[running_]); })) look();
        break;
      default:
        if (other != running_) hand_over(other);
        break;
    }
  }
  uint64_t in_one_go() const { return in_one_go_; }

 private:
  static constexpr uint32_t kFibers = 4;

  template <class Step>
  bool both(Step&& step) {
    const bool answer = step(whole_);
    CHECK(answer == step(steps_));
    return answer;
  }
  uint32_t some() { return static_cast<uint32_t>(random_.below(whole_.fibers.size())); }

  void unpark(uint32_t fiber) {
    both([&](Bench& each) { return each.policy.unpark(*each.fibers[fiber]); });
  }
  void park(int64_t deadline_ns) {
    if (both([&](Bench& each) { return each.policy.park(*each.fibers[running_], deadline_ns); })) look();
  }
  void hand_over(uint32_t next) {
    if (whole_.policy.hand_over(*whole_.fibers[running_], *whole_.fibers[next])) {
      ++in_one_go_;
      steps_.policy.unpark(*steps_.fibers[next]);
      REQUIRE(steps_.policy.park(*steps_.fibers[running_], kNever));
      CHECK(steps_.policy.next(nullptr).fiber == steps_.fibers[next].get());
      running_ = next;
      return;
    }
    unpark(next);
    park(kNever);
  }
  // Whatever is next runs; where nothing is, somebody is unparked.
  void look() {
    const auto decision = whole_.policy.next(nullptr), other = steps_.policy.next(nullptr);
    REQUIRE(decision.what == other.what);
    if (decision.what == Do::Nothing) {
      unpark(some());
      return look();
    }
    if (decision.what == Do::Start) {
      REQUIRE(decision.fiber == nullptr);
      REQUIRE(other.fiber == nullptr);
      for (Bench* each : {&whole_, &steps_}) {
        each->fibers.push_back(std::make_unique<FiberCore>(0, each->policy.next_number()));
        each->policy.add_fiber(*each->fibers.back());
      }
      running_ = static_cast<uint32_t>(whole_.fibers.size() - 1);
    } else {
      running_ = decision.fiber->number();
      CHECK(other.fiber->number() == running_);
    }
    for (Bench* each : {&whole_, &steps_}) CHECK(each->policy.check() == "");
  }

  std::deque<TaskCore> tasks_;
  Bench whole_, steps_;
  Random random_;
  uint32_t running_ = 0;
  uint64_t in_one_go_ = 0;
};

}  // namespace

TEST_CASE("fiber policy: a permit lets the next park return, once") {
  Bench bench;
  CHECK_FALSE(bench.policy.unpark(bench.main));
  CHECK_FALSE(bench.policy.park(bench.main, kNever));
  CHECK(bench.policy.park(bench.main, kNever));
  CHECK(bench.main.state() == FiberState::Yielded);
  bench.policy.sleep();
  CHECK(bench.policy.unpark(bench.main));
  CHECK(bench.main.state() == FiberState::Queued);
  CHECK_FALSE(bench.policy.unpark(bench.main));  // once more: nothing
  const auto decision = bench.policy.next(nullptr);
  CHECK(decision.what == Do::Resume);
  CHECK(decision.fiber == &bench.main);
  CHECK(bench.policy.check() == "");
}

TEST_CASE("fiber policy: a deadline ends a wait, and not one that has ended") {
  Bench bench;
  REQUIRE(bench.policy.park(bench.main, 100));
  CHECK(bench.main.state() == FiberState::Waiting);
  CHECK(bench.policy.sleep() == 100);
  bench.clock.advance_to(99);
  CHECK(bench.policy.next(nullptr).what == Do::Nothing);
  bench.clock.advance_to(100);
  CHECK(bench.policy.next(nullptr).fiber == &bench.main);
  REQUIRE(bench.policy.park(bench.main, 200));
  bench.policy.unpark(bench.main);
  CHECK(bench.policy.next_deadline_ns() == kNever);
  bench.clock.advance_to(300);
  CHECK(bench.policy.next(nullptr).fiber == &bench.main);
  CHECK(bench.policy.next(nullptr).what == Do::Nothing);
  CHECK(bench.policy.check() == "");
}

TEST_CASE("fiber policy: a free fiber takes the next task, or stands aside") {
  Bench bench;
  TaskCore first(false), second(false), third(false);
  bench.leave_main();
  for (TaskCore* task : {&first, &second}) CHECK(bench.policy.add(*task).accepted);
  FiberCore& fiber = bench.begin();
  bench.policy.finish(fiber);
  CHECK(&bench.begin(&fiber) == &fiber);
  CHECK(bench.policy.fibers() == 1);
  bench.policy.finish(fiber);
  bench.policy.unpark(bench.main);
  CHECK(bench.policy.next(&fiber).fiber == &bench.main);
  CHECK(fiber.state() == FiberState::Idle);
  bench.leave_main();
  bench.policy.add(third);
  CHECK(&bench.begin() == &fiber);
  CHECK(bench.policy.check() == "");
}

TEST_CASE("fiber policy: at the cap tasks wait, and do not wake the worker for nothing") {
  Bench bench(1);
  TaskCore first(false), second(false);
  bench.leave_main();
  bench.policy.add(first);
  FiberCore& fiber = bench.begin();
  REQUIRE(bench.policy.park(fiber, kNever));
  bench.policy.sleep();
  CHECK_FALSE(bench.policy.add(second).wake);
  CHECK(bench.policy.stuck_at_cap());
  CHECK(bench.policy.unpark(fiber));
  CHECK(bench.policy.next(nullptr).fiber == &fiber);
  bench.policy.finish(fiber);
  CHECK(&bench.begin(&fiber) == &fiber);
  // Free and asleep it can take a task, though it is the only one.
  TaskCore third(false);
  bench.policy.finish(fiber);
  CHECK(bench.policy.next(&fiber).what == Do::Nothing);
  bench.policy.sleep();
  CHECK(bench.policy.add(third).wake);
}

TEST_CASE("fiber policy: without memory a task waits for a fiber, or is handed back") {
  Bench bench;
  TaskCore first(false), second(false), third(false);
  bench.leave_main();
  bench.policy.add(first);
  auto decision = bench.policy.next(nullptr);
  CHECK(decision.fiber == nullptr);
  CHECK_FALSE(bench.policy.cannot_grow(*decision.task));  // there is no fiber that could ever
  bench.policy.add(first);
  FiberCore& fiber = bench.begin();
  REQUIRE(bench.policy.park(fiber, kNever));
  bench.policy.add(second);
  decision = bench.policy.next(nullptr);
  CHECK(decision.fiber == nullptr);
  CHECK(bench.policy.cannot_grow(*decision.task));
  CHECK(bench.policy.next(nullptr).what == Do::Nothing);  // it does not try for ever
  bench.policy.add(third);
  CHECK(bench.policy.next(nullptr).task == &second);      // but again when something has changed
}

TEST_CASE("fiber policy: where others have the stacks a task tries for one again at its time, though there is no fiber at all") {
  Bench bench;
  TaskCore task(false);
  bench.leave_main();
  bench.policy.add(task);
  auto decision = bench.policy.next(nullptr);
  REQUIRE(decision.what == Do::Start);
  CHECK(bench.policy.cannot_grow(*decision.task, bench.clock.now_ns() + 10));
  CHECK(bench.policy.next(nullptr).what == Do::Nothing);
  CHECK(bench.policy.tries_again());
  CHECK(bench.policy.sleep() == bench.clock.now_ns() + 10);  // nobody wakes it
  bench.clock.advance_to(10);
  bench.policy.awake();
  decision = bench.policy.next(nullptr);
  CHECK(decision.what == Do::Start);
  CHECK(decision.task == &task);
  CHECK_FALSE(bench.policy.tries_again());
  // What is handed back is tried for no more.
  CHECK(bench.policy.cannot_grow(*decision.task, bench.clock.now_ns() + 10));
  Fifo<TaskCore> dropped;
  bench.policy.drop_tasks(dropped);
  CHECK(dropped.pop_front() == &task);
  CHECK(bench.policy.sleep() == kNever);
  CHECK(bench.policy.check() == "");
}

TEST_CASE("fiber policy: the oldest task is stolen, and one that has to stay is not") {
  Bench bench;
  TaskCore first(false), second(false), stays(true), last(false);
  for (TaskCore* task : {&first, &second, &stays, &last}) bench.policy.add(*task);
  CHECK(bench.policy.steal() == &first);
  CHECK(bench.policy.steal() == &second);
  CHECK(bench.policy.steal() == nullptr);
  bench.policy.add_stolen(first);
  bench.leave_main();
  CHECK(bench.policy.next(nullptr).task == &first);
}

TEST_CASE("fiber policy: it ends when nothing is left, and takes nothing then") {
  Bench bench;
  TaskCore task(false), late(false);
  bench.policy.add(task);
  bench.policy.park_until_end();
  FiberCore& fiber = bench.begin();
  CHECK_FALSE(bench.policy.end());
  CHECK_FALSE(bench.policy.add(late).accepted);
  REQUIRE(bench.policy.park(fiber, kNever));
  CHECK(bench.policy.next(nullptr).what == Do::Nothing);  // one is blocked
  bench.policy.unpark(fiber);
  CHECK(bench.policy.next(nullptr).fiber == &fiber);
  bench.policy.finish(fiber);
  const auto decision = bench.policy.next(&fiber);
  CHECK(decision.what == Do::End);
  CHECK(decision.fiber == &bench.main);
}

TEST_CASE("fiber policy: draining has a deadline") {
  Bench bench;
  TaskCore task(false);
  bench.policy.add(task);
  bench.policy.drain(50);
  FiberCore& fiber = bench.begin();
  REQUIRE(bench.policy.park(fiber, kNever));
  CHECK(bench.policy.sleep() == 50);
  bench.clock.advance_to(50);
  const auto decision = bench.policy.next(nullptr);
  CHECK(decision.what == Do::Resume);
  CHECK(decision.fiber == &bench.main);
  CHECK(bench.policy.busy() == 1);
  CHECK(bench.policy.check() == "");
}

TEST_CASE("fiber policy: cancelling unparks all and hands back what has not begun") {
  Bench bench;
  TaskCore first(false), second(false), third(false);
  bench.leave_main();
  bench.policy.add(first);
  FiberCore& fiber = bench.begin();
  REQUIRE(bench.policy.park(fiber, 100));
  bench.policy.add(second);
  bench.policy.add(third);
  bench.policy.sleep();
  Fifo<TaskCore> dropped;
  CHECK(bench.policy.cancel(dropped));
  CHECK(dropped.size() == 2);
  CHECK(dropped.pop_front() == &second);
  CHECK(bench.main.state() == FiberState::Queued);
  CHECK(fiber.state() == FiberState::Queued);
  CHECK(bench.policy.next_deadline_ns() == kNever);
  CHECK(bench.policy.check() == "");
}

TEST_CASE("fiber placement: idle workers are claimed once each, those that spin first") {
  for (uint32_t workers : {1U, 63U, 64U, 65U, 256U}) {
    Placement placement(workers);
    for (uint32_t worker = 0; worker < workers; ++worker) placement.set_idle(worker);
    CHECK(placement.idle() == workers);
    placement.spins(workers / 2);
    std::set<uint32_t> claimed;
    CHECK(*placement.claim() == workers / 2);
    for (uint32_t i = 1; i < workers; ++i) claimed.insert(*placement.claim());
    CHECK(claimed.size() == workers - 1);
    CHECK_FALSE(placement.claim());
    CHECK(placement.idle() == 0);
    std::set<uint32_t> turns;
    for (uint32_t i = 0; i < workers; ++i) turns.insert(placement.turn());
    CHECK(turns.size() == workers);
  }
}

TEST_CASE("fiber placement: one that spun and found something is not claimed") {
  Placement placement(2);
  placement.set_idle(1);
  placement.spins(1);
  placement.set_busy(1);
  CHECK_FALSE(placement.claim());
}

TEST_CASE("fiber activity: the end is a moment in which nobody has entered") {
  Activity activity;
  activity.enter();
  CHECK_FALSE(activity.quiet());
  CHECK(activity.try_enter());
  CHECK_FALSE(activity.leave());
  CHECK(activity.leave());
  const auto seen = activity.quiet();
  REQUIRE(seen);
  activity.enter();
  CHECK(activity.leave());
  CHECK_FALSE(activity.finish(*seen));  // somebody was there meanwhile
  CHECK(activity.finish(*activity.quiet()));
  CHECK(activity.finished());
  CHECK_FALSE(activity.try_enter());
  CHECK_FALSE(activity.quiet());
}

TEST_CASE("fiber policy: tasks are pushed to a worker that is awake, and add to their order whoever takes them") {
  Bench bench;
  TaskCore tasks[4] = {TaskCore(false), TaskCore(false), TaskCore(false), TaskCore(false)};
  bench.policy.park_until_end();
  bench.policy.open();
  CHECK(bench.policy.push(tasks[0]) == Injector::Owner::Locked);  // it has not begun to look
  CHECK(bench.policy.next(nullptr).what == Do::Nothing);
  CHECK(bench.policy.push(tasks[0]) == Injector::Owner::Looks);
  CHECK(bench.policy.push(tasks[1]) == Injector::Owner::Looks);
  CHECK(bench.policy.ready() > 0);
  CHECK(bench.policy.tasks() == 2);
  CHECK(bench.policy.check() == "");
  // What was to be begun at once waits behind the first: somebody else is called.
  const auto first = bench.policy.next(nullptr);
  CHECK(first.task == &tasks[0]);
  CHECK(first.calls_another);
  CHECK(bench.policy.push(tasks[2]) == Injector::Owner::Busy);
  CHECK(bench.policy.push(tasks[3]) == Injector::Owner::Busy);
  CHECK(bench.policy.tasks() == 3);
  CHECK(bench.policy.steal() == &tasks[1]);
  CHECK(bench.policy.steal() == &tasks[2]);
  CHECK(bench.policy.steal() == &tasks[3]);
  CHECK(bench.policy.steal() == nullptr);
  CHECK(bench.policy.ready() == 0);
  CHECK(bench.policy.check() == "");
}

TEST_CASE("fiber policy: a worker does not sleep beside what was pushed, and takes no more when it ends") {
  Bench bench;
  TaskCore tasks[3] = {TaskCore(false), TaskCore(false), TaskCore(false)};
  bench.policy.park_until_end();
  bench.policy.open();
  CHECK(bench.policy.next(nullptr).what == Do::Nothing);
  CHECK(bench.policy.push(tasks[0]) == Injector::Owner::Looks);
  CHECK_FALSE(bench.policy.sleep());
  CHECK_FALSE(bench.policy.asleep());
  FiberCore& fiber = bench.begin();
  bench.policy.finish(fiber);
  CHECK(bench.policy.next(&fiber).what == Do::Nothing);
  REQUIRE(bench.policy.sleep());
  CHECK(bench.policy.push(tasks[1]) == Injector::Owner::Locked);
  CHECK(bench.policy.add(tasks[1]).wake);
  bench.begin(&fiber);
  CHECK(bench.policy.push(tasks[2]) == Injector::Owner::Busy);
  Fifo<TaskCore> dropped;
  bench.policy.cancel(dropped);
  CHECK(dropped.front() == &tasks[2]);
  CHECK(dropped.size() == 1);
  CHECK(bench.policy.push(tasks[0]) == Injector::Owner::Locked);
  CHECK_FALSE(bench.policy.add(tasks[0]).accepted);
  CHECK(bench.policy.check() == "");
}

TEST_CASE("fiber policy: a worker that runs something is not called") {
  using Called = WorkerPolicy::Called;
  Bench bench;
  CHECK(bench.policy.call() == Called::Looks);  // it has not begun, and looks first
  TaskCore tasks[2] = {TaskCore(false), TaskCore(false)};
  bench.policy.add(tasks[0]);
  bench.leave_main();
  FiberCore& one = bench.begin();
  CHECK(bench.policy.call() == Called::Runs);
  bench.policy.finish(one);
  CHECK(bench.policy.next(&one).what == Do::Nothing);
  CHECK(bench.policy.call() == Called::Looks);
  bench.policy.look_around();
  bench.policy.has_looked_around();
  bench.policy.sleep();
  CHECK(bench.policy.call() == Called::Wakes);
  bench.policy.add(tasks[1]);
  CHECK(bench.policy.next(&one).calls_another);  // what it was called for may still be there
}

TEST_CASE("fiber policy: where tasks come last a thief that has begun others takes what waits for something that runs") {
  Bench bench(4, /*tasks_last=*/true);
  TaskCore tasks[2] = {TaskCore(false), TaskCore(false)};
  bench.policy.add(tasks[0]);
  CHECK(bench.policy.steal(true) == nullptr);  // it is about to begin
  bench.leave_main();
  bench.begin();
  bench.policy.add(tasks[1]);
  CHECK(bench.policy.steal(true) == &tasks[1]);
  bench.policy.add(tasks[1]);
  CHECK(bench.policy.steal() == &tasks[1]);
}

TEST_CASE("fiber policy: two that wake each other for ever do not keep a new task or a preempted fiber waiting for ever") {
  Bench bench;
  TaskCore tasks[4] = {TaskCore(false), TaskCore(false), TaskCore(false), TaskCore(false)};
  for (int i = 0; i < 3; ++i) bench.policy.add(tasks[i]);
  bench.leave_main();
  FiberCore& one = bench.begin();
  REQUIRE(bench.policy.park(one, kNever));
  FiberCore& two = bench.begin();
  REQUIRE(bench.policy.park(two, kNever));
  FiberCore& other = bench.begin();
  REQUIRE(bench.policy.preempt(other) == false);
  bench.policy.add(tasks[3]);
  REQUIRE(bench.policy.preempt(other));
  FiberCore* parked = &one;
  std::vector<uint32_t> passed;  // between those that waited
  uint32_t row = 0;
  for (int turn = 0; turn < 5000 && passed.size() < 3; ++turn) {
    bench.policy.unpark(*parked);
    const auto decision = bench.policy.next(nullptr);
    if (decision.fiber == parked) {
      ++row;
      REQUIRE(bench.policy.park(*parked, kNever));
      parked = parked == &one ? &two : &one;
      continue;
    }
    passed.push_back(std::exchange(row, 0));
    if (decision.what == Do::Start) {
      bench.fibers.push_back(std::make_unique<FiberCore>(0, bench.policy.next_number()));
      bench.policy.add_fiber(*bench.fibers.back());
      REQUIRE(bench.policy.park(*bench.fibers.back(), kNever));
    } else {
      REQUIRE(decision.fiber == &other);
      REQUIRE(bench.policy.preempt(other));
    }
    // What was unblocked is still the next.
    CHECK(bench.policy.next(nullptr).fiber == parked);
    REQUIRE(bench.policy.park(*parked, kNever));
    parked = parked == &one ? &two : &one;
  }
  REQUIRE(passed.size() == 3);
  for (const uint32_t each : passed) CHECK(each >= WorkerPolicy::kMostPassed - 1);
}

TEST_CASE("fiber policy: handing over is what unparking, parking and asking for the next come to") {
  uint64_t in_one_go = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Twins twins(seed, seed % 2 == 0);
    for (int step = 0; step < 200; ++step) twins.step();
    in_one_go += twins.in_one_go();
  }
  CHECK(in_one_go > 1000);
}

TEST_CASE("fiber policy: one that gives way is not the next itself while a task could begin") {
  Bench bench;
  TaskCore tasks[3] = {TaskCore(false), TaskCore(false), TaskCore(false)};
  for (TaskCore& each : tasks) bench.policy.add(each);
  bench.leave_main();
  FiberCore& one = bench.begin();
  REQUIRE(bench.policy.preempt(one));
  FiberCore& two = bench.begin();
  REQUIRE(bench.policy.preempt(two));
  CHECK(bench.policy.next(nullptr).fiber == &one);  // by turns
  REQUIRE(bench.policy.preempt(one));
  bench.begin();
}

TEST_CASE("fiber policy: where tasks come last none begins before what has begun has had its turn") {
  Bench bench(4, /*tasks_last=*/true);
  TaskCore first(false), second(false), third(false);
  bench.policy.add(first);
  bench.leave_main();
  FiberCore& one = bench.begin();
  bench.policy.add(second);
  CHECK_FALSE(bench.policy.preempt(one));  // a new task is no reason
  REQUIRE(bench.policy.park(one, kNever));
  FiberCore& two = bench.begin();
  bench.policy.add(third);
  bench.policy.unpark(one);
  CHECK(bench.policy.preempt(two));
  CHECK(bench.policy.next(nullptr).fiber == &one);
  CHECK(bench.policy.preempt(one));  // for the other that was preempted
  CHECK(bench.policy.next(nullptr).fiber == &two);
  bench.policy.finish(two);
  CHECK(bench.policy.next(&two).fiber == &one);  // by turns it would be the task's
  bench.policy.finish(one);
  CHECK(bench.policy.next(&one).task == &third);
}

TEST_CASE("fiber policy: where tasks come last two that are woken again and again do not keep a preempted one waiting") {
  Bench bench(4, /*tasks_last=*/true);
  TaskCore tasks[3] = {TaskCore(false), TaskCore(false), TaskCore(false)};
  for (TaskCore& each : tasks) bench.policy.add(each);
  bench.leave_main();
  FiberCore& one = bench.begin();
  REQUIRE(bench.policy.park(one, kNever));
  FiberCore& two = bench.begin();
  REQUIRE(bench.policy.park(two, kNever));
  FiberCore& computes = bench.begin();
  bench.policy.unpark(one);
  bench.policy.unpark(two);
  REQUIRE(bench.policy.preempt(computes));
  REQUIRE(bench.policy.next(nullptr).fiber == &one);
  bench.policy.park(one, kNever);
  bench.policy.unpark(one);
  CHECK(bench.policy.next(nullptr).fiber == &computes);
  REQUIRE(bench.policy.preempt(computes));
  CHECK(bench.policy.next(nullptr).fiber == &two);
}

TEST_CASE("fiber policy: what is awaited begins before other tasks, and where tasks come last by turns with what was preempted") {
  for (const bool tasks_last : {false, true}) {
    CAPTURE(tasks_last);
    Bench bench(4, tasks_last);
    TaskCore others[2] = {TaskCore(false), TaskCore(false)}, awaited[2] = {TaskCore(true), TaskCore(true)};
    for (TaskCore& each : awaited) each.set_awaited();
    bench.policy.add(others[0]);
    bench.leave_main();
    FiberCore& runs = bench.begin();
    bench.policy.add(others[1]);
    // A new task is no reason to give way where tasks come last; one that is awaited is.
    if (tasks_last) CHECK_FALSE(bench.policy.preempt(runs));
    bench.policy.add(awaited[0]);
    CHECK(bench.policy.steal() == &others[1]);  // it hides none, and stays itself
    CHECK(bench.policy.steal() == nullptr);
    bench.policy.add(others[1]);
    REQUIRE(bench.policy.preempt(runs));
    const auto first = bench.policy.next(nullptr);
    CHECK(first.what == Do::Start);
    CHECK(first.task == &awaited[0]);
    bench.fibers.push_back(std::make_unique<FiberCore>(0, bench.policy.next_number()));
    bench.policy.add_fiber(*bench.fibers.back());
    FiberCore& part = *bench.fibers.back();
    // The turn is the other's then, though there is one more.
    bench.policy.add(awaited[1]);
    REQUIRE(bench.policy.preempt(part));
    CHECK(bench.policy.next(nullptr).fiber == &runs);
    REQUIRE(bench.policy.preempt(runs));
    CHECK(bench.policy.next(nullptr).task == &awaited[1]);
    CHECK(bench.policy.check() == "");
  }
}

TEST_CASE("fiber policy: what is awaited gives way to tasks that have not begun, also where they come last, but not before those that have") {
  Bench bench(4, /*tasks_last=*/true);
  TaskCore awaited(true), evaluations[2] = {TaskCore(false), TaskCore(false)};
  awaited.set_awaited();
  bench.policy.add(awaited);
  bench.leave_main();
  FiberCore& part = bench.begin();
  part.take(awaited);
  CHECK_FALSE(bench.policy.preempt(part));
  bench.policy.add(evaluations[0]);
  REQUIRE(bench.policy.preempt(part));
  FiberCore& runs = bench.begin();
  bench.policy.add(evaluations[1]);
  REQUIRE(bench.policy.preempt(runs));
  CHECK(bench.policy.next(nullptr).fiber == &part);
  REQUIRE(bench.policy.preempt(part));
  CHECK(bench.policy.next(nullptr).fiber == &runs);
  CHECK(bench.policy.check() == "");
}
