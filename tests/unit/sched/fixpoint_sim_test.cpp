// The fixed-point solver's schedule and its halts under every order of events: random plans, all orders of small ones,
// and broken versions that must be caught.
#include <map>

#include <doctest/doctest.h>

#include "sched/base/random.h"
#include "sched/sim/explore.h"
#include "sched/sim/fixpoint_halt_world.h"
#include "sched/sim/fixpoint_world.h"

using namespace posset::sched;
using namespace posset::sched::fixpoint;

namespace {

double random_residual(Random& random) {
  return std::ldexp(1.0 + random.unit(), static_cast<int>(random.below(7)) - 1);
}

FixpointPlan random_plan(uint64_t seed) {
  Random random(seed);
  FixpointPlan plan;
  plan.n = random.below(9);
  plan.workers = 1 + random.below(4);
  plan.claims = 5 + random.below(40);
  plan.options = {.buckets = static_cast<uint32_t>(1 + random.below(6)), .base = 1, .fallback = random.below(4) != 0};
  for (uint64_t r = 1 + random.below(2); r > 0; --r) {
    plan.rebuilders.emplace_back();
    for (uint64_t k = random.below(10); k > 0; --k) {
      std::vector<double> residuals(plan.n);
      for (double& residual : residuals) residual = random_residual(random);
      if (random.below(5) == 0) residuals.assign(plan.n, 0.5);  // all tiny
      plan.rebuilders.back().push_back(random.below(3) ? std::optional(residuals) : std::nullopt);
    }
  }
  for (size_t k = 0; k < 7; ++k) plan.notes.push_back(random_residual(random));
  return plan;
}

// Eight coordinates in four buckets, which are put in order again and again.
FixpointPlan busy(size_t rebuilds) {
  FixpointPlan plan{.n = 8, .workers = 3, .claims = 40, .options = {.buckets = 4, .base = 1}};
  const std::vector<double> up{1.5, 1.5, 3, 3, 5, 5, 9, 9}, down{9, 9, 5, 5, 3, 3, 1.5, 1.5};
  plan.rebuilders.emplace_back();
  for (size_t k = 0; k < rebuilds; ++k) plan.rebuilders[0].push_back(k % 2 ? up : down);
  return plan;
}

// The original's: nobody resets the hints when a new order comes.
class KeepsHints : public ResidualBuckets {
 public:
  using ResidualBuckets::ResidualBuckets;
  void renew(Place& place) {
    const size_t hint = place.hint;
    ResidualBuckets::renew(place);
    place.hint = hint;
  }
};

// The position comes from the old order's cursor, the coordinate from the new one.
class MixesOrders : public ResidualBuckets {
 public:
  using ResidualBuckets::ResidualBuckets;
  std::optional<size_t> take(Place& place) {
    const std::optional<size_t> taken = ResidualBuckets::take(place);
    const std::shared_ptr<BucketSnapshot> newest = snapshot();
    if (!taken || newest->is_sweep()) return taken;
    return newest->indices()[static_cast<size_t>(std::find(place.snapshot->indices().begin(), place.snapshot->indices().end(),
                                                            *taken) -
                                                 place.snapshot->indices().begin())];
  }
};

// Takes what it saw when it looked, and writes the cursor back: two steps where there must be one.
class TakesWhatItSaw : public ResidualBuckets {
 public:
  using ResidualBuckets::ResidualBuckets;
  Look look(Place& place) {
    const Look found = ResidualBuckets::look(place);
    if (found == Look::Entered) seen_[&place] = place.cursor->load();
    return found;
  }
  std::optional<size_t> take(Place& place) {
    const uint64_t k = seen_[&place];
    place.cursor->store(k + 1);
    place.cursor = nullptr;
    return place.coordinates[k];
  }

 private:
  std::map<Place*, uint64_t> seen_;
};

// The original's: no sweeps, so that rebuilding often starves the small residuals.
class NeverSweeps : public ResidualBuckets {
 public:
  explicit NeverSweeps(BucketOptions options) : ResidualBuckets(without_sweeps(options)) {}

 private:
  static BucketOptions without_sweeps(BucketOptions options) {
    options.coverage_period = UINT32_MAX;
    return options;
  }
};

// Holds every order it has seen.
class KeepsOrders : public ResidualBuckets {
 public:
  using ResidualBuckets::ResidualBuckets;
  void renew(Place& place) {
    kept_.push_back(place.snapshot);
    ResidualBuckets::renew(place);
  }

 private:
  std::vector<std::shared_ptr<BucketSnapshot>> kept_;
};

template <class Buckets>
std::string broken_by(const FixpointPlan& plan) {
  const std::optional<Finding> found = search(FixpointWorld<Buckets>::scenario(plan), 1, 200);
  REQUIRE(found);
  CHECK(replay(FixpointWorld<Buckets>::scenario(plan), found->choices).trace == found->shortest.trace);
  return found->shortest.broken;
}

// A worker that is the last to run goes to sleep like any other.
class SleepsLast : public Quiescence {
 public:
  explicit SleepsLast(size_t workers) : Quiescence(workers + 1), workers_(workers) {}
  bool arrive() { return Quiescence::arrive() || arrived() == workers_; }

 private:
  const size_t workers_;
};

// Begins when all but one have arrived.
class BeginsEarly : public Quiescence {
 public:
  explicit BeginsEarly(size_t workers) : Quiescence(workers), workers_(workers) {}
  bool arrive() { return Quiescence::arrive() || arrived() + 1 == workers_; }

 private:
  const size_t workers_;
};

// Forgets to say that those who are parked must be woken.
class ForgetsParked : public Quiescence {
 public:
  using Quiescence::Quiescence;
  bool request() {
    Quiescence::request();
    return false;
  }
};

// All workers go round in the first block.
class SharesBlocks {
 public:
  void init(size_t n, size_t workers) { blocks_.init(n, workers); }
  std::optional<size_t> next(size_t) { return blocks_.next(0); }

 private:
  StaticBlocks blocks_;
};

// The last coordinates are left out.
class LeavesOut {
 public:
  void init(size_t n, size_t workers) { blocks_.init(n > workers ? n - workers : n, workers); }
  std::optional<size_t> next(size_t worker) { return blocks_.next(worker); }

 private:
  StaticBlocks blocks_;
};

template <class Halting, class Blocks = StaticBlocks>
std::string halt_broken_by(const FixpointHaltPlan& plan) {
  const std::optional<Finding> found = search(FixpointHaltWorld<Halting, Blocks>::scenario(plan), 1, 300);
  REQUIRE(found);
  return found->shortest.broken;
}

}  // namespace

TEST_CASE("fixpoint sim: random plans in random orders break nothing") {
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    const FixpointPlan plan = random_plan(seed);
    const std::optional<Finding> found = search(FixpointWorld<>::scenario(plan), seed * 10, 3);
    REQUIRE_MESSAGE(!found, "plan ", seed, ": ", found ? found->report() : "");
  }
}

TEST_CASE("fixpoint sim: every order of two workers and two rebuilds") {
  FixpointPlan plan{.n = 3, .workers = 2, .claims = 3, .options = {.buckets = 2, .base = 1}};
  plan.rebuilders = {{std::vector<double>{1, 3, 3}, std::vector<double>{3, 1, 1}}};
  const Exploration all = explore_all(FixpointWorld<>::scenario(plan), {.choices = 60, .runs = 400'000});
  REQUIRE_MESSAGE(!all.failure, all.failure->broken, ": ", all.failure->problem, "\n", all.failure->trace);
  CHECK(all.complete);
  CHECK(all.states > 1000);
}

TEST_CASE("fixpoint sim: rebuilding as often as can be leaves no coordinate out") {
  const FixpointPlan plan = busy(100);
  CHECK_FALSE(search(FixpointWorld<>::scenario(plan), 1, 300));
}

TEST_CASE("fixpoint sim: a trace is the same on every machine") {
  FixpointPlan plan{.n = 2, .workers = 1, .claims = 2, .options = {.buckets = 2, .base = 1}};
  plan.rebuilders = {{std::vector<double>{1, 3}}};
  CHECK(replay(FixpointWorld<>::scenario(plan), {1}).trace ==
        "0 @0 rebuilder0 publishes order 2\n"
        "1 @0 worker0 sees a new order\n"
        "2 @0 worker0 takes order 2\n"
        "3 @0 worker0 enters a bucket\n"
        "4 @0 worker0 claims 1 of bucket 1\n"
        "5 @0 worker0 notes 1\n"
        "6 @0 worker0 sees its order is the newest\n"
        "7 @0 worker0 comes too late to a bucket\n"
        "8 @0 worker0 finds a bucket empty\n"
        "9 @0 worker0 enters a bucket\n"
        "10 @0 worker0 claims 0 of bucket 0\n");
}

TEST_CASE("fixpoint sim regression: hints that outlive their order are caught") {
  CHECK(broken_by<KeepsHints>(busy(4)) == "highest");
}

TEST_CASE("fixpoint sim regression: mixing two orders is caught") { CHECK(broken_by<MixesOrders>(busy(4)) == "purity"); }

TEST_CASE("fixpoint sim: a claim in two steps is caught") {
  CHECK(broken_by<TakesWhatItSaw>(busy(1)) == "permutation");
}

TEST_CASE("fixpoint sim regression: starving the small residuals is caught") {
  CHECK(broken_by<NeverSweeps>(busy(100)) == "coverage");
}

TEST_CASE("fixpoint sim: orders that are never given back are caught") { CHECK(broken_by<KeepsOrders>(busy(20)) == "memory"); }

TEST_CASE("fixpoint halt sim: workers halt, scan, go on and leave, in any order") {
  Random random(3);
  for (uint64_t seed = 0; seed < 600; ++seed) {
    FixpointHaltPlan plan{.n = 1 + random.below(6), .workers = 1 + random.below(5), .batch = 1 + random.below(3),
                          .halt_after = 1 + random.below(12), .ends = random.below(3) == 0};
    const std::optional<Finding> found = search(FixpointHaltWorld<>::scenario(plan), seed * 10, 3);
    REQUIRE_MESSAGE(!found, "plan ", seed, ": ", found ? found->report() : "");
  }
}

TEST_CASE("fixpoint halt sim: every order of three workers, one without coordinates, and an end") {
  const FixpointHaltPlan plan{.n = 2, .workers = 3, .batch = 1, .halt_after = 2, .tolerance = 0.3, .ends = true};
  const Exploration all = explore_all(FixpointHaltWorld<>::scenario(plan), {.choices = 60, .runs = 300'000});
  REQUIRE_MESSAGE(!all.failure, all.failure->broken, ": ", all.failure->problem, "\n", all.failure->trace);
  CHECK(all.states > 500);
}

TEST_CASE("fixpoint sim: sixteen workers, two of whom rebuild at the same time as the rest claims") {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    FixpointPlan plan{.n = 24, .workers = 16, .claims = 12, .options = {.buckets = 5, .base = 1}};
    for (int rebuilder = 0; rebuilder < 2; ++rebuilder) {
      plan.rebuilders.emplace_back();
      for (int k = 0; k < 4; ++k) {
        std::vector<double> residuals(plan.n);
        for (double& residual : residuals) residual = random_residual(random);
        plan.rebuilders.back().push_back(residuals);
      }
    }
    const std::optional<Finding> found = search(FixpointWorld<>::scenario(plan), seed * 10, 3);
    REQUIRE_MESSAGE(!found, "plan ", seed, ": ", found ? found->report() : "");
  }
}

TEST_CASE("fixpoint halt sim: sixteen workers come to the solution, with less and more coordinates") {
  for (size_t n : {5, 16, 37}) {
    const FixpointHaltPlan plan{.n = n, .workers = 16, .batch = 2, .halt_after = 3 * n};
    const std::optional<Finding> found = search(FixpointHaltWorld<>::scenario(plan), n, 20);
    REQUIRE_MESSAGE(!found, "n ", n, ": ", found ? found->report() : "");
  }
}

TEST_CASE("fixpoint halt sim: workers in one block, and blocks that are not all, are caught") {
  CHECK(halt_broken_by<Quiescence, SharesBlocks>({.n = 6, .workers = 2}) == "blocks");
  CHECK(halt_broken_by<Quiescence, LeavesOut>({.n = 6, .workers = 2}) == "blocks");
}

TEST_CASE("fixpoint halt sim: no coordinates at all, and nobody sleeps for ever") {
  const FixpointHaltPlan plan{.n = 0, .workers = 3};
  CHECK_FALSE(search(FixpointHaltWorld<>::scenario(plan), 1, 100));
}

TEST_CASE("fixpoint halt sim: the last to run must not sleep") {
  CHECK(halt_broken_by<SleepsLast>({.n = 0, .workers = 2}) == "finished");
}

TEST_CASE("fixpoint halt sim regression: a scan before all have halted is caught") {
  CHECK(halt_broken_by<BeginsEarly>({.n = 4, .workers = 2}) == "scan");
}

TEST_CASE("fixpoint halt sim: a halt that does not wake the parked is caught") {
  CHECK(halt_broken_by<ForgetsParked>({.n = 1, .workers = 2}) == "finished");
}
