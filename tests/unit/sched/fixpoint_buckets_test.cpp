// Residual buckets with one thread: which bucket, which order, rebuilds, coverage, and the faults of the original
// that must not come back.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>

#include "sched/base/random.h"
#include "sched/fixpoint/residual_buckets.h"

using namespace posset::sched;
using namespace posset::sched::fixpoint;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<size_t> claims(ResidualBuckets& schedule, size_t worker, size_t count) {
  std::vector<size_t> made;
  while (made.size() < count) {
    const std::optional<size_t> i = schedule.next(worker);
    if (!i) break;
    made.push_back(*i);
  }
  return made;
}

bool is_permutation_of_all(std::vector<size_t> made, size_t n) {
  std::sort(made.begin(), made.end());
  for (size_t i = 0; i < made.size(); ++i) {
    if (made[i] != i) return false;
  }
  return made.size() == n;
}

// Residuals of those buckets, base 1.
std::vector<double> in_buckets(const std::vector<int>& buckets) {
  std::vector<double> residuals;
  for (int b : buckets) residuals.push_back(std::ldexp(1.5, b));
  return residuals;
}

const std::vector<int> kWorked = {0, 0, 1, 1, 1, 2, 2, 3, 3, 3};

}  // namespace

TEST_CASE("fixpoint buckets: the formula, at and around every boundary") {
  for (double base : {1.0, 0x1p-40}) {
    CHECK(bucket_of(-1, base, 32) == 0);
    CHECK(bucket_of(-kInfinity, base, 32) == 31);
    CHECK(bucket_of(0, base, 32) == 0);
    CHECK(bucket_of(base / 2, base, 32) == 0);
    CHECK(bucket_of(base, base, 32) == 0);
    for (uint32_t k = 1; k < 40; ++k) {
      const double boundary = std::ldexp(base, static_cast<int>(k));
      CHECK(bucket_of(std::nextafter(boundary, 0), base, 32) == std::min(k - 1, 31u));
      CHECK(bucket_of(boundary, base, 32) == std::min(k, 31u));
      CHECK(bucket_of(std::nextafter(boundary, kInfinity), base, 32) == std::min(k, 31u));
    }
  }
}

TEST_CASE("fixpoint buckets regression: the formula is the contract, not the table that was off by one") {
  // The original's own comments for base 1, and the table's errors for 1e-12.
  CHECK(bucket_of(1, 1, 4) == 0);
  CHECK(bucket_of(1.99, 1, 4) == 0);
  CHECK(bucket_of(2, 1, 4) == 1);
  CHECK(bucket_of(5, 1, 4) == 2);
  CHECK(bucket_of(100, 1, 4) == 3);
  CHECK(bucket_of(1.5e-12, 1e-12, 32) == 0);  // the table: bucket 1
  CHECK(bucket_of(2.5e-12, 1e-12, 32) == 1);
  CHECK(bucket_of(1.1e-3, 1e-12, 32) == 30);  // the table: 31 from 1.07e-3 on
  CHECK(bucket_of(2.1474e-3, 1e-12, 32) == 30);
  CHECK(bucket_of(2.1475e-3, 1e-12, 32) == 31);
}

TEST_CASE("fixpoint buckets regression: the double below a boundary is in the lower bucket, where log2 rounds up") {
  int log2_is_wrong = 0;
  for (int k = 1; k <= 31; ++k) {
    double below = std::ldexp(1e-12, k);
    while (below / 1e-12 >= std::ldexp(1.0, k)) below = std::nextafter(below, 0);
    CHECK(bucket_of(below, 1e-12, 64) == static_cast<uint32_t>(k - 1));
    log2_is_wrong += std::floor(std::log2(below / 1e-12)) >= k;
  }
  CHECK(log2_is_wrong > 0);  // or this test would say nothing
}

TEST_CASE("fixpoint buckets regression: NaN and infinity are in the last bucket, and flagged") {
  for (double bad : {kNaN, kInfinity, -kInfinity}) {
    CHECK(bucket_of(bad, 1e-12, 32) == 31);
    ResidualBuckets schedule;
    schedule.init(4, 1);
    schedule.rebuild(std::vector<double>{1e-9, 1e-10, bad, 1e-11});
    CHECK(schedule.diverged());
    CHECK(schedule.next(0) == 2u);
    schedule.init(4, 1);
    CHECK_FALSE(schedule.diverged());
    schedule.rebuild(std::vector<double>{1, 2, 3, 1e300});
    CHECK_FALSE(schedule.diverged());
  }
}

TEST_CASE("fixpoint buckets: the largest numbers, with the smallest base") {
  constexpr double kMax = std::numeric_limits<double>::max();
  CHECK(bucket_of(kMax, 1e-300, 32) == 31);
  CHECK(bucket_of(kMax, 1, kMaxBuckets) == 1023);
  CHECK(bucket_of(kMax, 1e-300, kMaxBuckets) == kMaxBuckets - 1);
  CHECK(bucket_of(std::numeric_limits<double>::denorm_min(), 1e-300, 32) == 0);
}

TEST_CASE("fixpoint buckets regression: bucket numbers and bases out of bounds are brought back") {
  CHECK(sane({.buckets = 0}).buckets == 1);
  CHECK(sane({.buckets = UINT32_MAX}).buckets == kMaxBuckets);
  for (double base : {0.0, -1.0, kNaN, 1e-310}) CHECK(sane({.base = base}).base == 1e-300);
  CHECK(sane({.coverage_period = 0}).coverage_period == 1);
  ResidualBuckets schedule({.buckets = 0, .base = 0});
  schedule.init(3, 1);
  schedule.rebuild(std::vector<double>{1, 2, 3});
  CHECK(claims(schedule, 0, 4) == std::vector<size_t>{0, 1, 2, 0});
}

TEST_CASE("fixpoint buckets: the defaults") {
  const BucketOptions options = ResidualBuckets().options();
  CHECK(options.buckets == 32);
  CHECK(options.base == 1e-12);
  CHECK(options.fallback);
  CHECK(options.coverage_period == 4);
}

TEST_CASE("fixpoint buckets: the worked example, its offsets and its order") {
  ResidualBuckets schedule({.buckets = 4, .base = 1});
  schedule.init(10, 1);
  schedule.rebuild(in_buckets(kWorked));
  const std::shared_ptr<BucketSnapshot> order = schedule.snapshot();
  const std::span<const size_t> offsets = order->offsets();
  CHECK(std::vector<size_t>(offsets.begin(), offsets.end()) == std::vector<size_t>{0, 2, 5, 7, 10});
  const std::span<const uint32_t> indices = order->indices();
  CHECK(std::vector<uint32_t>(indices.begin(), indices.end()) == std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(claims(schedule, 0, 13) == std::vector<size_t>{7, 8, 9, 5, 6, 2, 3, 4, 0, 1, 0, 1, 2});
}

TEST_CASE("fixpoint buckets: four buckets of four, from the top") {
  ResidualBuckets schedule({.buckets = 4, .base = 1});
  schedule.init(16, 1);
  std::vector<double> residuals(16);
  for (size_t i = 0; i < 16; ++i) residuals[i] = std::ldexp(1.0, static_cast<int>(i / 4));
  schedule.rebuild(residuals);
  CHECK(claims(schedule, 0, 16) == std::vector<size_t>{12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3});
}

TEST_CASE("fixpoint buckets: before the first rebuild all coordinates in turn, over all workers") {
  ResidualBuckets schedule;
  schedule.init(100, 4);
  std::vector<size_t> made;
  for (size_t k = 0; k < 100; ++k) made.push_back(*schedule.next(k % 4));
  CHECK(is_permutation_of_all(made, 100));
}

TEST_CASE("fixpoint buckets: after a rebuild the first n claims are a permutation, for any number of workers") {
  Random random(2);
  for (size_t workers = 1; workers <= 16; ++workers) {
    ResidualBuckets schedule({.base = 1e-8});
    schedule.init(1000, workers);
    std::vector<double> residuals(1000);
    for (double& r : residuals) r = std::ldexp(random.unit(), -static_cast<int>(random.below(40)));
    schedule.rebuild(residuals);
    std::vector<size_t> made;
    while (made.size() < 1000) made.push_back(*schedule.next(random.below(workers)));
    CHECK(is_permutation_of_all(made, 1000));
  }
}

TEST_CASE("fixpoint buckets: runs are what claims one by one are, across buckets, passes and orders") {
  constexpr size_t n = 100;
  Random random(7);
  for (const bool fallback : {true, false}) {
    ResidualBuckets runs({.fallback = fallback}), single({.fallback = fallback});
    runs.init(n, 1);
    single.init(n, 1);
    for (int round = 0; round < 200; ++round) {
      uint32_t run[64];
      const size_t most = 1 + random.below(std::size(run));
      const size_t count = runs.next_run(0, most, run);
      CHECK((count == most || !fallback));
      for (size_t k = 0; k < count; ++k) REQUIRE(single.next(0) == run[k]);
      if (count < most) CHECK_FALSE(single.next(0));
      if (random.below(4) != 0) continue;
      std::vector<double> residuals(n);
      for (double& r : residuals) r = std::ldexp(1.0, -static_cast<int>(random.below(40)));
      runs.rebuild(residuals);
      single.rebuild(residuals);
    }
    uint32_t none;
    CHECK(runs.next_run(1, 1, &none) == 0);
  }
}

TEST_CASE("fixpoint buckets: all tiny goes round in index order, from the first on") {
  ResidualBuckets schedule({.base = 1});
  schedule.init(5, 1);
  schedule.rebuild(std::vector<double>{0.5, 1, 0, -1, 0.25});
  CHECK(claims(schedule, 0, 7) == std::vector<size_t>{0, 1, 2, 3, 4, 0, 1});
}

TEST_CASE("fixpoint buckets: without fallback there are none after a pass, tiny or not") {
  for (double scale : {1.0, 1e-3}) {
    ResidualBuckets schedule({.buckets = 4, .base = 1, .fallback = false});
    schedule.init(10, 2);
    CHECK(claims(schedule, 0, 20).size() == 10);  // the first order is a sweep
    std::vector<double> residuals = in_buckets(kWorked);
    for (double& r : residuals) r *= scale;
    schedule.rebuild(residuals);
    CHECK(is_permutation_of_all(claims(schedule, 0, 20), 10));
    CHECK_FALSE(schedule.next(0));
    CHECK_FALSE(schedule.next(1));
    schedule.rebuild(residuals);
    CHECK(claims(schedule, 1, 20).size() == 10);
  }
}

TEST_CASE("fixpoint buckets regression: no coordinates, no workers, and a worker that is not there") {
  ResidualBuckets none;
  none.init(0, 2);
  CHECK_FALSE(none.next(0));
  none.rebuild({});
  none.rebuild_from_notes();
  CHECK_FALSE(none.next(1));

  ResidualBuckets no_workers;
  no_workers.init(3, 0);
  CHECK(no_workers.next(0) == 0u);
  CHECK_FALSE(no_workers.next(1));

  // Clamped, worker 2 would move the hint of worker 1.
  ResidualBuckets schedule({.buckets = 4, .base = 1});
  schedule.init(10, 2);
  schedule.rebuild(in_buckets(kWorked));
  for (size_t k = 0; k < 20; ++k) CHECK_FALSE(schedule.next(2));
  CHECK_FALSE(schedule.next(SIZE_MAX));
  CHECK(schedule.next(1) == 7u);
  CHECK_FALSE(ResidualBuckets().next(0));
}

TEST_CASE("fixpoint buckets regression: residuals of another number are an error, not memory") {
  ResidualBuckets schedule;
  schedule.init(4, 1);
  CHECK_THROWS_AS(schedule.rebuild(std::vector<double>(3)), std::invalid_argument);
  CHECK_THROWS_AS(schedule.rebuild(std::vector<double>(5)), std::invalid_argument);
  CHECK_THROWS_WITH(schedule.rebuild({}), "0 residuals for 4 coordinates");
  CHECK(is_permutation_of_all(claims(schedule, 0, 4), 4));
  CHECK_THROWS_AS(schedule.init(kMaxCoordinates + 1, 1), std::length_error);
}

TEST_CASE("fixpoint buckets regression: a rebuild after an exhausted pass puts the new high residuals first") {
  ResidualBuckets schedule;
  schedule.init(100, 2);
  schedule.rebuild(std::vector<double>(100, 1e-9));
  for (size_t k = 0; k < 150; ++k) schedule.next(k % 2);
  std::vector<double> residuals(100, 1e-9);
  for (size_t i : {17, 42, 63, 99}) residuals[i] = 1;
  schedule.rebuild(residuals);
  CHECK(schedule.next(0) == 17u);
  CHECK(schedule.next(1) == 42u);
  CHECK(schedule.next(1) == 63u);
  CHECK(schedule.next(0) == 99u);
}

TEST_CASE("fixpoint buckets regression: cursors are of 64 bits and do not run away") {
  ResidualBuckets schedule({.buckets = 4, .base = 1});
  schedule.init(10, 3);
  schedule.rebuild(in_buckets(kWorked));
  const std::shared_ptr<BucketSnapshot> order = schedule.snapshot();
  for (size_t k = 0; k < 10'000; ++k) schedule.next(k % 3);
  for (size_t b = 0; b < 4; ++b) CHECK(order->cursor(b).load() <= order->bucket_size(b) + 3);
  // Where a cursor of 32 bits would stand at 0 again.
  schedule.rebuild(in_buckets(kWorked));
  const std::shared_ptr<BucketSnapshot> next = schedule.snapshot();
  next->cursor(3).store(uint64_t{1} << 32);
  next->cursor(2).store((uint64_t{1} << 32) + 1);
  CHECK(claims(schedule, 0, 5) == std::vector<size_t>{2, 3, 4, 0, 1});
}

TEST_CASE("fixpoint buckets: for one worker the bucket never goes up within a pass") {
  Random random(5);
  ResidualBuckets schedule;
  schedule.init(500, 3);
  for (int round = 0; round < 20; ++round) {
    std::vector<double> residuals(500);
    for (double& r : residuals) r = std::ldexp(1.0, -static_cast<int>(random.below(45)));
    schedule.rebuild(residuals);
    const bool sweep = schedule.snapshot()->is_sweep();
    std::vector<uint32_t> last(3, UINT32_MAX);
    for (size_t k = 0; k < 500 && !sweep; ++k) {
      const size_t worker = random.below(3);
      const uint32_t b = bucket_of(residuals[*schedule.next(worker)], 1e-12, 32);
      REQUIRE(b <= last[worker]);
      last[worker] = b;
    }
  }
}

TEST_CASE("fixpoint buckets regression: after four orders that were cut short comes a full sweep") {
  ResidualBuckets schedule({.buckets = 4, .base = 1});
  schedule.init(10, 1);
  const std::vector<double> residuals = in_buckets(kWorked);
  for (int round = 0; round < 3; ++round) {
    for (int rebuild = 0; rebuild < 4; ++rebuild) {
      schedule.rebuild(residuals);
      CHECK_FALSE(schedule.snapshot()->is_sweep());
      CHECK(claims(schedule, 0, 4) == std::vector<size_t>{7, 8, 9, 5});
    }
    schedule.rebuild(residuals);
    REQUIRE(schedule.snapshot()->is_sweep());
    CHECK(claims(schedule, 0, 11) == std::vector<size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0});
  }
}

TEST_CASE("fixpoint buckets: a sweep that is cut short goes on with the next order until all were handed out") {
  ResidualBuckets schedule({.buckets = 4, .base = 1, .coverage_period = 1});
  schedule.init(10, 1);
  const std::vector<double> residuals = in_buckets(kWorked);
  schedule.rebuild(residuals);
  claims(schedule, 0, 4);
  schedule.rebuild(residuals);
  CHECK(claims(schedule, 0, 4) == std::vector<size_t>{0, 1, 2, 3});
  schedule.rebuild(residuals);
  CHECK(claims(schedule, 0, 4) == std::vector<size_t>{4, 5, 6, 7});
  schedule.rebuild(residuals);
  CHECK(claims(schedule, 0, 10) == std::vector<size_t>{8, 9, 0, 1, 2, 3, 4, 5, 6, 7});  // a permutation, again
  schedule.rebuild(residuals);
  CHECK(claims(schedule, 0, 1) == std::vector<size_t>{7});
}

TEST_CASE("fixpoint buckets: orders that were finished are followed by orders, for ever") {
  ResidualBuckets schedule({.buckets = 4, .base = 1});
  schedule.init(10, 1);
  for (int rebuild = 0; rebuild < 20; ++rebuild) {
    schedule.rebuild(in_buckets(kWorked));
    REQUIRE_FALSE(schedule.snapshot()->is_sweep());
    claims(schedule, 0, 10);
  }
}

TEST_CASE("fixpoint buckets: notes put in order as residuals do, and what is not known comes first") {
  ResidualBuckets schedule({.buckets = 4, .base = 1});
  schedule.init(4, 1);
  schedule.notify(0, 0, 1.5);
  schedule.notify(0, 2, 5);
  schedule.rebuild_from_notes();
  CHECK(claims(schedule, 0, 4) == std::vector<size_t>{1, 3, 2, 0});
  CHECK_FALSE(schedule.diverged());
  schedule.rebuild(std::vector<double>{1, 2, 4, 8});
  // A note fades by half with each that is smaller: one quiet update does not say that a coordinate is done with.
  schedule.notify(0, 3, 0);
  schedule.rebuild_from_notes();
  CHECK(claims(schedule, 0, 4) == std::vector<size_t>{2, 3, 1, 0});
  schedule.notify(0, 3, 0);
  schedule.notify(0, 3, 0);
  schedule.rebuild_from_notes();
  CHECK(claims(schedule, 0, 4) == std::vector<size_t>{2, 1, 0, 3});
  schedule.notify(0, 1, kNaN);
  schedule.rebuild_from_notes();
  CHECK(schedule.diverged());
}

TEST_CASE("fixpoint buckets: how many are hot") {
  ResidualBuckets schedule({.base = 1});
  schedule.init(100, 1);
  CHECK(schedule.snapshot()->hot(1, 1) == 100);  // a sweep knows nothing
  std::vector<double> residuals(100, 3.0);
  for (size_t i = 0; i < 10; ++i) residuals[i] = 1024;
  schedule.rebuild(residuals);
  CHECK(schedule.snapshot()->hot(1, 1) == 10);    // 3 is less than 1024 / 64
  schedule.rebuild(std::vector<double>(100, 3.0));
  CHECK(schedule.snapshot()->hot(1, 1) == 100);
  residuals.assign(100, 3.0);
  residuals[7] = 20;
  schedule.rebuild(residuals);
  CHECK(schedule.snapshot()->hot(1, 1) == 100);
  CHECK(schedule.snapshot()->hot(8, 1) == 1);     // the others are within the tolerance
  CHECK(schedule.snapshot()->hot(1e6, 1) == 1);   // never none
}

TEST_CASE("fixpoint buckets: an order lives as long as a worker holds it, and all go with the schedule") {
  std::vector<std::weak_ptr<BucketSnapshot>> orders;
  {
    ResidualBuckets schedule({.buckets = 4, .base = 1});
    schedule.init(10, 2);
    orders.push_back(schedule.snapshot());
    schedule.next(0);
    schedule.next(1);
    for (int i = 0; i < 3; ++i) {
      schedule.rebuild(in_buckets(kWorked));
      orders.push_back(schedule.snapshot());
    }
    CHECK_FALSE(orders[0].expired());  // both workers have it
    CHECK(orders[1].expired());        // nobody saw these
    CHECK(orders[2].expired());
    schedule.next(0);
    CHECK_FALSE(orders[0].expired());
    schedule.next(1);
    CHECK(orders[0].expired());
    CHECK_FALSE(orders[3].expired());
  }
  CHECK(orders[3].expired());
}
