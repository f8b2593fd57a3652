// The executors' rules in virtual time: random plans under every order of events, and broken rules that must be caught.
#include "sched/sim/fiber_world.h"

#include <doctest/doctest.h>

#include "../sanitized.h"
#include "sched/sim/explore.h"

using namespace posset::sched;
using namespace posset::sched::fiber;

namespace {

using Do = SimStep::Do;

constexpr uint64_t kSlower = posset::test::kSanitized ? 10 : 1;

// A little of everything, from a seed. An event is signalled by the first tasks, which wait for none without a deadline, so
// that whatever waits for it goes on in the end.
FiberPlan random_plan(uint64_t seed) {
  Random random(seed);
  FiberPlan plan;
  plan.workers = 1 + static_cast<uint32_t>(random.below(4));
  plan.events = 1 + static_cast<uint32_t>(random.below(3));
  const auto tasks = static_cast<uint32_t>(plan.events + random.below(6));
  // At a cap, tasks that wait for one that cannot begin would be a deadlock: then every wait has a deadline.
  const bool capped = random.below(2) == 0;
  plan.max_fibers = capped ? 1 + static_cast<uint32_t>(random.below(4)) : tasks;
  for (uint32_t task = 0; task < tasks; ++task) {
    std::vector<SimStep> script;
    for (uint64_t step = random.below(5); step > 0; --step) {
      const auto event = static_cast<uint32_t>(random.below(plan.events));
      const auto ns = static_cast<int64_t>(random.below(4)) * 10;
      switch (random.below(4)) {
        case 0: script.push_back({Do::Work, 0, ns}); break;
        case 1: script.push_back({Do::Wait, event, capped || task < plan.events ? ns : -1}); break;
        case 2: script.push_back({Do::Wait, event, ns}); break;
        default: script.push_back({Do::Preempt}); break;
      }
    }
    if (task < plan.events) script.push_back({Do::Signal, task});
    plan.tasks.push_back(std::move(script));
  }
  int64_t at_ns = 0;
  for (uint32_t task = 0; task < tasks; ++task) {
    const bool spawned = task > 0 && task < plan.events && random.below(2) == 0;
    if (spawned) plan.tasks[task - 1].push_back({Do::Spawn, task});
    if (!spawned) plan.submissions.emplace_back(at_ns += static_cast<int64_t>(random.below(3)) * 10, task);
  }
  plan.pushes = random.below(4) != 0;
  return plan;
}

// The first that a worker gets unblocks the others while they may be about to park; and some compute in quanta.
FiberPlan crowded() {
  FiberPlan plan;
  plan.workers = 2;
  plan.events = 1;
  plan.tasks = {{{Do::Work, 0, 5}, {Do::Signal, 0}},
                {{Do::Wait, 0}, {Do::Preempt}},
                {{Do::Wait, 0, 20}},
                {{Do::Wait, 0}, {Do::Preempt}},
                {{Do::Preempt}, {Do::Preempt}, {Do::Work, 0, 10}},
                {{Do::Preempt}, {Do::Work, 0, 10}},
                {}};
  for (uint32_t task = 0; task < plan.tasks.size(); ++task) plan.submissions.emplace_back(task / 2 * 5, task);
  return plan;
}

// marl's: a preempted fiber would be queued like one that was blocked, and keep new tasks waiting for ever.
class PreemptedAreUnblocked : public WorkerPolicy {
 public:
  using WorkerPolicy::WorkerPolicy;
  bool preempt(FiberCore& fiber) {
    if (ready() == 0 || !park(fiber, kNever)) return false;
    unpark(fiber);
    return true;
  }
};

// A wake-up between the look and the sleep is lost.
class LosesPermits : public WorkerPolicy {
 public:
  using WorkerPolicy::WorkerPolicy;
  bool unpark(FiberCore& fiber) { return fiber.blocked() && WorkerPolicy::unpark(fiber); }
};

// Nobody wakes a worker whose fiber may go on.
class ForgetsToWake : public WorkerPolicy {
 public:
  using WorkerPolicy::WorkerPolicy;
  bool unpark(FiberCore& fiber) {
    const bool slept = asleep();
    WorkerPolicy::unpark(fiber);
    if (slept) sleep();
    return false;
  }
};

// marl's: a worker that has nothing left ends, though another may still have something for it.
class EndsWhenItIsIdle : public WorkerPolicy {
 public:
  using WorkerPolicy::WorkerPolicy;
  Decision next(FiberCore* free) {
    if (busy() == 0 && tasks() == 0) end();
    return WorkerPolicy::next(free);
  }
};

// A task behind one that runs waits for it, though others are idle: an idle worker that was claimed for it had stolen
// another meanwhile.
class CallsNobody : public WorkerPolicy {
 public:
  using WorkerPolicy::WorkerPolicy;
  Injector::Owner push(TaskCore& task) {
    const Injector::Owner owner = WorkerPolicy::push(task);
    return owner == Injector::Owner::Busy ? Injector::Owner::Looks : owner;
  }
  Added add(TaskCore& task) {
    Added added = WorkerPolicy::add(task);
    added.waits = false;
    return added;
  }
  Decision next(FiberCore* free) {
    Decision decision = WorkerPolicy::next(free);
    decision.calls_another = false;
    return decision;
  }
};

// As many tasks of 100 ns as workers, at once: all from outside, or the first one spawns the others.
FiberPlan at_once(uint32_t workers, int64_t at_ns, bool spawned, bool pushes = true) {
  FiberPlan plan;
  plan.workers = workers;
  plan.pushes = pushes;
  plan.tasks.resize(workers);
  for (uint32_t task = 0; task < workers; ++task) {
    if (!spawned || task == 0) plan.submissions.emplace_back(at_ns, task);
    if (spawned && task > 0) plan.tasks[0].push_back({Do::Spawn, task});
    if (task > 0) plan.tasks[task] = {{Do::Work, 0, 100}};
  }
  plan.tasks[0].push_back({Do::Work, 0, 100});
  return plan;
}

// The latest end of a thousand orders.
template <class Policy>
int64_t latest_end(const FiberPlan& plan) {
  int64_t latest_ns = 0;
  for (uint64_t seed = 1; seed <= 1000 / kSlower; ++seed) {
    const RunResult result = run_seeded(FiberWorld<Policy>::scenario(plan), seed);
    REQUIRE_MESSAGE(result.ok(), result.problem);
    latest_ns = std::max(latest_ns, result.end_ns);
  }
  return latest_ns;
}

template <class Policy>
std::string caught(const FiberPlan& plan) {
  const Scenario scenario = FiberWorld<Policy>::scenario(plan);
  const std::optional<Finding> found = search(scenario, 1, 300);
  REQUIRE(found);
  CHECK(replay(scenario, found->first.choices).trace == found->first.trace);
  CHECK(replay(scenario, found->choices).trace == found->shortest.trace);
  return found->shortest.broken;
}

}  // namespace

TEST_CASE("fiber sim: ten thousand random plans, each in a random order, keep the rules") {
  for (uint64_t seed = 1; seed <= 10'000 / kSlower; ++seed) {
    const FiberPlan plan = random_plan(seed);
    const RunResult result = run_seeded(FiberWorld<>::scenario(plan), seed);
    REQUIRE_MESSAGE(result.ok(), "seed " << seed << ": " << result.broken << ": " << result.problem << "\n" << result.trace);
    REQUIRE_FALSE(result.cut);
  }
}

TEST_CASE("fiber sim: a crowded plan keeps the rules in ten thousand orders, and with changing priorities") {
  const FiberPlan plan = crowded();
  const auto found = search(FiberWorld<>::scenario(plan), 1, 10'000 / kSlower);
  CHECK_MESSAGE(!found, (found ? found->report() : ""));
}

TEST_CASE("fiber sim: all orders of a small plan") {
  FiberPlan plan;
  plan.events = 1;
  plan.tasks = {{{Do::Signal, 0}}, {{Do::Wait, 0}, {Do::Preempt}}, {{Do::Wait, 0, 10}}};
  plan.submissions = {{0, 1}, {0, 2}, {0, 0}};
  const Exploration explored = explore_all(FiberWorld<>::scenario(plan), {.choices = 14, .runs = 50'000});
  CHECK_MESSAGE(!explored.failure, explored.failure->problem);
  CHECK(explored.states > 1000);
}

TEST_CASE("fiber sim: the same seed gives the same trace, to the byte") {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const FiberPlan plan = random_plan(seed);
    const Scenario scenario = FiberWorld<>::scenario(plan);
    CHECK(run_seeded(scenario, seed).trace == run_seeded(scenario, seed).trace);
  }
}

TEST_CASE("fiber sim: as many tasks as idle workers go to as many workers") {
  for (uint32_t workers : {2U, 3U, 4U, 8U}) {
    for (bool spawned : {false, true}) {
      for (bool pushes : {false, true}) {
        // While they spin, and when they sleep. Two on one worker would take 200.
        CHECK(latest_end<WorkerPolicy>(at_once(workers, 0, spawned, pushes)) == 100);
        CHECK(latest_end<WorkerPolicy>(at_once(workers, 1000, spawned, pushes)) == 1100);
      }
    }
  }
}

TEST_CASE("fiber sim regression: a task that comes to a worker that has just stolen another") {
  for (bool pushes : {false, true}) CHECK(latest_end<CallsNobody>(at_once(2, 0, false, pushes)) > 100);
}

TEST_CASE("fiber sim: rules that are broken are caught") {
  // Two that compute in quanta, and two that want to begin.
  FiberPlan computing;
  computing.workers = 1;
  computing.tasks = {{{Do::Preempt}, {Do::Preempt}, {Do::Preempt}}, {{Do::Preempt}, {Do::Preempt}, {Do::Preempt}}, {}, {}};
  for (uint32_t task = 0; task < 4; ++task) computing.submissions.emplace_back(0, task);
  CHECK(caught<PreemptedAreUnblocked>(computing) == "order");
  // One that is about to park when the signal comes.
  FiberPlan meeting;
  meeting.events = 1;
  meeting.tasks = {{{Do::Signal, 0}}, {{Do::Wait, 0}}};
  meeting.submissions = {{0, 0}, {0, 1}};
  CHECK(caught<LosesPermits>(meeting) == "finished");
  CHECK(caught<ForgetsToWake>(crowded()) == "wake-up");
  CHECK(caught<EndsWhenItIsIdle>(crowded()) == "end");
}
