// Posses in the simulator: random programs on random executors under every order of steps, what is never to be stolen, and
// mistakes that must be caught.
#include "sched/sim/posse_world.h"

#include <doctest/doctest.h>

#include "../sanitized.h"
#include "sched/base/random.h"
#include "sched/sim/explore.h"

using namespace posset::sched;
using namespace posset::sched::posse;

namespace {

using Shape = SimTree::Shape;

constexpr uint64_t kSlower = posset::test::kSanitized ? 10 : 1;

SimTree random_tree(Random& random) {
  SimTree tree;
  tree.shape = static_cast<Shape>(random.below(5));
  tree.leaves = 1 + random.below(80);
  tree.left_share = 0.1 + 0.8 * random.unit();
  tree.leaf_cost = 1 + static_cast<int64_t>(random.below(12));
  tree.seed = random.next();
  const auto sometimes = [&random](uint32_t of_1024) { return random.below(4) == 0 ? of_1024 : 0; };
  tree.fail = sometimes(50);
  tree.recover = sometimes(200);
  tree.refuse = sometimes(200);
  tree.wait = sometimes(50);
  tree.impure = sometimes(200);
  tree.odd = sometimes(100);
  // What comes behind the first error is not wanted, and may never end.
  if (random.below(4) == 0) {
    tree.recover = 0;
    tree.fails_at = random.below(tree.leaves);
    tree.endless_from = tree.fails_at + 1;
  }
  return tree;
}

PossePlan random_plan(uint64_t seed) {
  Random random(seed);
  PossePlan plan;
  plan.executors = 1 + static_cast<uint32_t>(random.below(6));
  for (uint64_t host = 0; host < std::min<uint64_t>(plan.executors, 1 + random.below(2)); ++host) plan.trees.push_back(random_tree(random));
  plan.quantum = 5 + static_cast<int64_t>(random.below(40));
  plan.look = 1 + static_cast<int64_t>(random.below(4));
  plan.timed = random.below(3) == 0;
  plan.latency_ns = static_cast<int64_t>(random.below(30));
  plan.wait_ns = static_cast<int64_t>(random.below(100));
  plan.seed = random.next();
  plan.chain = 1 + random.below(24);
  return plan;
}

// A recursion that leaves a chain of records.
PossePlan chain_plan(uint32_t executors, uint64_t leaves = 300) {
  PossePlan plan;
  plan.trees = {{.shape = Shape::LinearOnRight, .leaves = leaves, .leaf_cost = 10, .seed = 7}};
  plan.executors = executors;
  plan.quantum = 40;
  plan.look = 2;
  plan.chain = 8;
  return plan;
}

// Enough for thefts of every kind.
PossePlan busy_plan(uint32_t executors) {
  PossePlan plan;
  plan.trees = {{.shape = Shape::Random, .leaves = 120, .seed = 3}};
  plan.executors = executors;
  plan.quantum = 20;
  plan.look = 2;
  return plan;
}

PosseOutcome outcome_of(const PossePlan& plan, uint64_t seed = 1) {
  PosseOutcome outcome;
  const RunResult result = run_seeded(PosseWorld<>::scenario(plan, &outcome), seed);
  REQUIRE_MESSAGE(result.ok(), result.broken << ": " << result.problem << "\n" << result.trace);
  return outcome;
}

uint64_t thefts_of(const PossePlan& plan) {
  uint64_t thefts = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const PosseOutcome outcome = outcome_of(plan, seed);
    thefts += outcome.thefts;
  }
  return thefts;
}

// Balanced, so much work for each quantum.
PossePlan sized(uint64_t leaves, int64_t quantum) {
  PossePlan plan;
  plan.trees = {{.leaves = leaves}};
  plan.quantum = quantum;
  plan.look = quantum / 20;
  plan.timed = true;
  return plan;
}

template <class Stack = MemberStack<SimRecord>>
std::string caught(const PossePlan& plan) {
  const Scenario scenario = PosseWorld<Stack>::scenario(plan);
  const std::optional<Finding> found = search(scenario, 1, 300);
  REQUIRE(found);
  CHECK(replay(scenario, found->first.choices).trace == found->first.trace);
  CHECK(replay(scenario, found->choices).trace == found->shortest.trace);
  CHECK(found->shortest.broken == found->first.broken);
  return found->first.broken;
}

// ---- rules that are broken ----

using Stack = MemberStack<SimRecord>;

// Whatever is there at a pause may be handed over.
struct Ageless : Stack {
  auto end_quantum(SimRecord* end) {
    begin_quantum(end);
    return Stack::end_quantum(end);
  }
};

struct SecondFirst : Stack {
  auto end_quantum(SimRecord* end) {
    SimRecord* const given = Stack::end_quantum(end);
    return given && given[1].is_open() && given[1].stamp() != 0 && given[1].stamp() < top().ran_in ? given + 1 : given;
  }
};

// What was scanned and taken back stays scanned, and what comes to lie there is passed.
struct ForgetsToScan : Stack {
  void took_back(SimRecord*) {}
};

// A long chain is taken one by one, or whole.
struct TakesNoChain : Stack {
  size_t count(SimRecord*) const { return 1; }
};
struct TakesWholeChain : Stack {
  size_t count(SimRecord* given) const {
    const size_t count = Stack::count(given);
    return count > 1 ? 2 * count : 1;
  }
};

}  // namespace

TEST_CASE("posse sim 3.5: ten thousand random plans, each in a random order, keep the rules") {
  for (uint64_t seed = 1; seed <= 10'000 / kSlower; ++seed) {
    const PossePlan plan = random_plan(seed);
    const RunResult result = run_seeded(PosseWorld<>::scenario(plan), seed);
    REQUIRE_MESSAGE(result.ok(), "seed " << seed << ": " << result.broken << ": " << result.problem << "\n" << result.trace);
    REQUIRE_FALSE_MESSAGE(result.cut, "seed " << seed);
  }
}

TEST_CASE("posse sim 3.5: a busy program keeps the rules in thousands of orders, and with changing priorities") {
  for (uint32_t executors : {2U, 3U, 5U}) {
    const PossePlan plan = busy_plan(executors);
    const auto found = search(PosseWorld<>::scenario(plan), 1, 500 / kSlower);
    CHECK_MESSAGE(!found, (found ? found->report() : ""));
  }
}

TEST_CASE("posse sim: the plans meet every kind of theft") {
  PosseOutcome all;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const PosseOutcome outcome = outcome_of(random_plan(seed), seed);
    all.thefts += outcome.thefts;
    all.to_waiting += outcome.to_waiting;
    all.given_up += outcome.given_up;
    all.again += outcome.again;
    all.recursions += outcome.recursions;
    all.deepest = std::max(all.deepest, outcome.deepest);
    all.chains += outcome.chains;
  }
  CHECK(all.chains > 20);
  CHECK(all.thefts > 100);
  CHECK(all.to_waiting > 0);
  CHECK(all.given_up > 20);
  CHECK(all.again > 20);
  CHECK(all.recursions > 20);
  CHECK(all.deepest > 1);
}

TEST_CASE("posse sim 3.5: all orders of small trees") {
  std::vector<std::pair<Shape, uint64_t>> trees = {{Shape::Balanced, 12}, {Shape::Random, 11}, {Shape::LinearOnRight, 8}};
  if (!posset::test::kSanitized) trees.insert(trees.end(), {{Shape::Balanced, 16}, {Shape::Random, 16}});
  for (const auto& [shape, leaves] : trees) {
    PossePlan plan;
    plan.trees = {{.shape = shape, .leaves = leaves, .leaf_cost = 4}};
    plan.quantum = 5;
    plan.look = 1;
    CHECK(thefts_of(plan) > 0);
    const Exploration all = explore_all(PosseWorld<>::scenario(plan), {.choices = 400, .runs = 20'000});
    REQUIRE_MESSAGE(!all.failure, all.failure->broken, ": ", all.failure->problem, "\n", all.failure->trace);
    CHECK(all.complete);
  }
}

TEST_CASE("posse sim 3.5: all first orders of three executors") {
  PossePlan plan = busy_plan(3);
  plan.trees[0].leaves = 24;
  plan.quantum = 8;
  const Exploration all = explore_all(PosseWorld<>::scenario(plan), {.choices = 24, .runs = 20'000 / kSlower});
  CHECK_MESSAGE(!all.failure, all.failure->broken, ": ", all.failure->problem, "\n", all.failure->trace);
  CHECK(all.states > 1000 / kSlower);
}

TEST_CASE("posse sim: the same seed gives the same trace, to the byte") {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const PossePlan plan = random_plan(seed);
    CHECK(run_seeded(PosseWorld<>::scenario(plan), seed).trace == run_seeded(PosseWorld<>::scenario(plan), seed).trace);
  }
}

TEST_CASE("posse sim 3.4: long chains are spread half by half, in thousands of orders") {
  for (uint32_t executors : {2U, 3U, 5U}) {
    for (uint32_t fault : {0U, 30U}) {
      PossePlan plan = chain_plan(executors);
      plan.trees[0].fail = plan.trees[0].odd = plan.trees[0].refuse = fault;
      plan.trees[0].recover = 4 * fault;
      CHECK(outcome_of(plan).chains > 0);
      const auto found = search(PosseWorld<>::scenario(plan), 1, 200 / kSlower);
      CHECK_MESSAGE(!found, (found ? found->report() : ""));
    }
  }
}

// Nobody has to be asked for each of the records.
TEST_CASE("posse sim 3.4: a chain takes few thefts, and half the time on two executors") {
  PossePlan plan = chain_plan(2, 4000);
  plan.timed = true;
  plan.chain = kChain;
  plan.quantum = 1000;
  plan.trees[0].leaf_cost = 100;
  const PosseOutcome outcome = outcome_of(plan);
  CHECK(outcome.chains > 0);
  CHECK(outcome.thefts < 40);
  const int64_t end = std::max(outcome.busy[0].back().second, outcome.busy[1].back().second);
  CHECK(static_cast<double>(compute_sequentially(SimProgram(plan.trees[0])).work) / static_cast<double>(end) > 1.8);
}

// Without that a linear recursion leaves nothing to give.
TEST_CASE("posse sim 3.4: the rest of a linear recursion goes first, and takes half the time on two executors") {
  PossePlan plan = chain_plan(2, 2000);
  plan.trees[0].shape = Shape::Linear;
  plan.trees[0].leaf_cost = 1000;
  plan.timed = true;
  plan.chain = kChain;
  plan.quantum = 5000;
  const PosseOutcome outcome = outcome_of(plan);
  CHECK(outcome.recursions == 1);
  CHECK(outcome.thefts < 60);
  const int64_t end = std::max(outcome.busy[0].back().second, outcome.busy[1].back().second);
  CHECK(static_cast<double>(compute_sequentially(SimProgram(plan.trees[0])).work) / static_cast<double>(end) > 1.8);
}

TEST_CASE("posse sim 3.5: nothing is stolen on one executor, nor of less than a quantum") {
  PossePlan plan = busy_plan(1);
  CHECK(thefts_of(plan) == 0);
  plan.executors = 4;
  plan.quantum = compute_sequentially(SimProgram(plan.trees[0])).work;
  CHECK(thefts_of(plan) == 0);
  plan.quantum = 20;
  CHECK(thefts_of(plan) > 0);
}

TEST_CASE("posse sim 3.5: nothing is stolen where nothing forks") {
  PossePlan plan = busy_plan(4);
  plan.trees[0].impure = 1024;
  CHECK(thefts_of(plan) == 0);
}

// What is to the right of an error never ends, so whoever held up what is to the left for it would never end either.
PossePlan endless_plan(Shape shape, uint32_t executors) {
  PossePlan plan = busy_plan(executors);
  plan.trees[0] = {.shape = shape, .leaves = 60, .leaf_cost = 15, .seed = 5, .fails_at = 30, .endless_from = 31};
  return plan;
}

// Linear recursions of which some parts cannot be given.
bool all_end(uint32_t refuse, bool PosseFaults::* fault) {
  PossePlan plan = endless_plan(Shape::Linear, 2);
  plan.trees[0].refuse = refuse;
  if (fault) plan.faults.*fault = true;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    plan.trees[0].seed = seed;
    if (run_seeded(PosseWorld<>::scenario(plan), seed).cut) return false;
  }
  return true;
}

TEST_CASE("posse sim: an error ends what comes behind it, though that would never end by itself") {
  for (Shape shape : {Shape::Balanced, Shape::Random, Shape::LinearOnRight, Shape::Linear}) {
    for (uint32_t executors : {2U, 3U, 6U}) {
      const PossePlan plan = endless_plan(shape, executors);
      for (uint64_t seed = 1; seed <= 100; ++seed) {
        const RunResult result = run_seeded(PosseWorld<>::scenario(plan), seed);
        REQUIRE_MESSAGE(result.ok(), "seed " << seed << ": " << result.broken << ": " << result.problem);
        REQUIRE_FALSE_MESSAGE(result.cut, "seed " << seed);
      }
    }
  }
}

TEST_CASE("posse sim 3.5: nothing is stolen where every quantum ends in a wait") {
  PossePlan plan = busy_plan(4);
  plan.trees[0].wait = 1024;
  CHECK(outcome_of(plan).attempts == 0);
  CHECK(thefts_of(plan) == 0);
}

// The first record stands for half, and must be there when a quantum begins, a twentieth after the start, and ends.
TEST_CASE("posse sim: a balanced tree is spread from 2.1 quanta on") {
  const auto leaves_of = [](double quanta) { return static_cast<uint64_t>(quanta * 1000 / 12); };
  CHECK(thefts_of(sized(leaves_of(2.05), 1000)) == 0);
  CHECK(thefts_of(sized(leaves_of(2.2), 1000)) > 0);
}

TEST_CASE("posse sim: rules that are broken are caught") {
  CHECK(caught<Ageless>(busy_plan(2)) == "age");
  CHECK(caught<SecondFirst>(busy_plan(2)) == "basal");
  CHECK(caught<TakesNoChain>(chain_plan(2)) == "chain");
  CHECK(caught<TakesWholeChain>(chain_plan(2)) == "chain");
  PossePlan refusing = busy_plan(3);
  refusing.trees[0].leaves = 300;
  refusing.trees[0].refuse = 200;
  CHECK(caught<ForgetsToScan>(refusing) == "basal");
}

TEST_CASE("posse sim: mistakes around the rules are caught") {
  const auto with = [](bool PosseFaults::* fault, uint32_t executors) {
    PossePlan plan = busy_plan(executors);
    plan.faults.*fault = true;
    return plan;
  };
  CHECK(caught(with(&PosseFaults::publishes_late, 2)) == "visible");
  CHECK(caught(with(&PosseFaults::forgets_to_wake, 2)) == "wake-up");
  CHECK(caught(with(&PosseFaults::takes_anything, 4)) == "runs");
  CHECK(caught(with(&PosseFaults::keeps_quantum, 2)) == "once");
  CHECK(caught(with(&PosseFaults::sends_unclaimed, 3)) == "mail");
  // They would not end.
  CHECK_FALSE(all_end(0, &PosseFaults::keeps_what_nobody_wants));
  CHECK_FALSE(all_end(0, &PosseFaults::keeps_the_rest));
  CHECK_FALSE(all_end(300, &PosseFaults::keeps_refused));
  CHECK(all_end(0, nullptr));
  CHECK(all_end(300, nullptr));
}
