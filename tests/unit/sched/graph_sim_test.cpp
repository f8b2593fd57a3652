// The graph scheduler in virtual time: random graphs under every order of events, and broken ones that must be caught.
#include "sched/sim/graph_world.h"

#include <doctest/doctest.h>

#include "sched/base/random.h"
#include "sched/sim/explore.h"

using namespace posset::sched;
using namespace posset::sched::graph;

namespace {

EdgeOptions random_options(Random& random, bool lossy) {
  EdgeOptions options;
  options.capacity = 1 + static_cast<int64_t>(random.below(3));
  options.priority = static_cast<int64_t>(random.below(4));
  if (lossy) options.policy = static_cast<EdgePolicy>(random.below(4));
  if (options.policy == EdgePolicy::Coalesce) options.fold = keep_newer();
  return options;
}

// Without `lossy` every edge blocks; without `cyclic` edges go to later nodes only.
GraphSimPlan random_plan(uint64_t seed, bool lossy, bool cyclic) {
  Random random(seed);
  GraphSimPlan plan;
  plan.config.max_batch = 1 + static_cast<uint32_t>(random.below(3));
  plan.config.shutdown_timeout_ns = 100;
  const int count = 1 + static_cast<int>(random.below(5));
  for (int i = 0; i < count; ++i) {
    // Around a cycle time must pass, or it would never get to the stop.
    plan.nodes.push_back({.takes_ns = static_cast<int64_t>(random.below(3)) + cyclic,
                          .fiber = random.below(2) == 0,
                          .emits = static_cast<int>(random.below(3)),
                          .tick_ns = random.below(3) == 0 ? 5 : kNoTicks,
                          .throws_every = random.below(4) == 0 ? 3 : 0,
                          .parks_every = random.below(6) == 0 ? 4 : 0});
  }
  std::vector<size_t> inputs;
  for (int i = 0; i < 2; ++i) {
    inputs.push_back(plan.edges.size());
    plan.edges.push_back({-1, static_cast<int>(random.below(static_cast<uint64_t>(count))), random_options(random, lossy)});
  }
  for (int from = 0; from < count; ++from) {
    for (int to = cyclic ? 0 : from + 1; to < count; ++to) {
      if (random.below(3) == 0) plan.edges.push_back({from, to, random_options(random, lossy)});
    }
  }
  for (int p = 0; p < 2; ++p) {
    std::vector<SimPut> puts;
    int64_t at_ns = 0;
    for (uint64_t n = random.below(8); n > 0; --n) puts.push_back({at_ns += static_cast<int64_t>(random.below(4)), inputs[random.below(2)]});
    plan.putters.push_back(std::move(puts));
  }
  int64_t at_ns = 0;
  for (uint64_t n = random.below(5); n > 0; --n) {
    at_ns += static_cast<int64_t>(random.below(8));
    const auto edge = static_cast<uint32_t>(random.below(plan.edges.size()));
    switch (random.below(3)) {
      case 0: plan.changes.push_back({at_ns, {Command::Kind::SetCapacity, edge, 1 + static_cast<int64_t>(random.below(4))}}); break;
      case 1: plan.changes.push_back({at_ns, {Command::Kind::SetPriority, edge, static_cast<int64_t>(random.below(3))}}); break;
      default: plan.changes.push_back({at_ns, {Command::Kind::Wake, static_cast<uint32_t>(random.below(plan.nodes.size()))}});
    }
  }
  plan.stop_ns = 10 + static_cast<int64_t>(random.below(40));
  return plan;
}

void check_random(bool lossy, bool cyclic, uint64_t plans) {
  for (uint64_t seed = 0; seed < plans; ++seed) {
    const GraphSimPlan plan = random_plan(seed, lossy, cyclic);
    const std::optional<Finding> found = search(GraphWorld<>::scenario(plan), seed * 10, 2);
    REQUIRE_MESSAGE(!found, "plan ", seed, ": ", found ? found->report() : "");
  }
}

// A pipeline with an input, small enough to see what is wrong with it.
GraphSimPlan pipeline() {
  GraphSimPlan plan;
  plan.nodes = {{.takes_ns = 1}, {.takes_ns = 2, .fiber = true, .parks_every = 2}, {.takes_ns = 3}};
  plan.edges = {{-1, 0, {.capacity = 2}}, {0, 1, {.capacity = 1}}, {1, 2, {.capacity = 1}}};
  plan.putters = {{{0, 0}, {0, 0}, {1, 0}, {5, 0}}, {{0, 0}, {30, 0}}};
  plan.changes = {{20, {Command::Kind::Wake, 1}}, {25, {Command::Kind::SetCapacity, 1, 3}}, {40, {Command::Kind::Wake, 1}}};
  plan.stop_ns = 60;
  plan.config.shutdown_timeout_ns = 50;
  return plan;
}

// More than fits comes in from outside.
class TakesAll : public GraphPolicy {
 public:
  using GraphPolicy::GraphPolicy;
  size_t room(EdgeId) const { return SIZE_MAX; }
};

// Upstream's: what cannot go in at once is lost.
class LosesItems : public GraphPolicy {
 public:
  using GraphPolicy::GraphPolicy;
  void put_from_outside(EdgeId edge, Message&& item) {
    if (depth(edge) > 0) return item.reset();
    GraphPolicy::put_from_outside(edge, std::move(item));
  }
};

// The end comes without a drain, as upstream's does.
class ForgetsTheEnd : public GraphPolicy {
 public:
  using GraphPolicy::GraphPolicy;
  void shut_down(bool) {}
};

template <class Policy>
Finding caught(const GraphSimPlan& plan) {
  const Scenario scenario = GraphWorld<Policy>::scenario(plan);
  std::optional<Finding> found = search(scenario, 1, 200);
  REQUIRE(found);
  CHECK(replay(scenario, found->choices).trace == found->shortest.trace);
  CHECK(found->shortest.broken == found->first.broken);
  return *found;
}

}  // namespace

TEST_CASE("graph sim 4.3: random acyclic graphs of block edges deliver everything in order and once") { check_random(false, false, 400); }
TEST_CASE("graph sim 4.3: random graphs with cycles") { check_random(false, true, 300); }
TEST_CASE("graph sim 4.3: random graphs with edges of all policies") { check_random(true, false, 300); }
TEST_CASE("graph sim 4.3: random graphs with everything") { check_random(true, true, 400); }

TEST_CASE("graph sim: every order of a small graph with a put, a change and a stop") {
  GraphSimPlan plan;
  plan.nodes = {{}, {}};
  plan.edges = {{-1, 0, {.capacity = 1}}, {0, 1, {.capacity = 1}}};
  plan.putters = {{{0, 0}, {0, 0}}};
  plan.changes = {{0, {Command::Kind::SetCapacity, 0, 2}}};
  const Exploration all = explore_all(GraphWorld<>::scenario(plan), {.choices = 30, .runs = 100'000});
  REQUIRE_MESSAGE(!all.failure, all.failure->broken, ": ", all.failure->problem, "\n", all.failure->trace);
  CHECK(all.complete);
  CHECK(all.states > 50);
}

TEST_CASE("graph sim: the same seed gives the same bytes") {
  const GraphSimPlan plan = random_plan(7, true, true);
  const RunResult once = run_seeded(GraphWorld<>::scenario(plan), 5);
  CHECK(run_seeded(GraphWorld<>::scenario(plan), 5).trace == once.trace);
  CHECK(once.steps > 20);
}

TEST_CASE("graph sim: the policy itself passes what the broken ones do not") {
  const GraphSimPlan plan = pipeline();
  const std::optional<Finding> found = search(GraphWorld<>::scenario(plan), 1, 200);
  CHECK_MESSAGE(!found, (found ? found->report() : ""));
}

TEST_CASE("graph sim: an input without bound is caught") { CHECK(caught<TakesAll>(pipeline()).shortest.broken == "capacity"); }
TEST_CASE("graph sim: a lost item is caught") { CHECK(caught<LosesItems>(pipeline()).shortest.broken == "once"); }
TEST_CASE("graph sim: a graph that does not end is caught") { CHECK(caught<ForgetsTheEnd>(pipeline()).shortest.broken == "finished"); }

TEST_CASE("graph sim: a loop that sleeps without asking is caught") {
  GraphSimPlan plan = pipeline();
  plan.asks_before_sleep = false;
  CHECK(caught<GraphPolicy>(plan).shortest.broken == "wake-up");
}
