// The rules of the priority queue by themselves: order, ageing, admission, lanes, wake-ups, stop. No threads;
// time is what the test says.
#include "sched/p2/policy.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "sched/base/random.h"
#include "sched/p2/hybrid.h"

using namespace posset::sched;

namespace {

using Entry = PriorityPolicy::Entry;
using ConsumerId = PriorityPolicy::ConsumerId;

Entry entry(uint64_t job, Priority priority, double enqueued_s = 0, double estimate_s = 0, Lane lane = Lane::Compile) {
  return {.estimate_s = estimate_s,
          .enqueued_ns = static_cast<int64_t>(std::llround(enqueued_s * 1e9)),
          .job = job,
          .lane = lane,
          .priority = priority};
}

PriorityPolicy::Config wide() { return {.max_queue_size = 100'000}; }

std::vector<uint64_t> pop_all(PriorityPolicy& policy, LaneMask lanes = kAllLanes) {
  std::vector<uint64_t> jobs;
  while (auto next = policy.pop(lanes)) jobs.push_back(next->job);
  return jobs;
}

// The score as the seed defines it, of a task at a time.
double score(const Entry& e, const PriorityPolicy::Config& config, double now_s) {
  const double age_s = now_s - static_cast<double>(e.enqueued_ns) / 1e9;
  return static_cast<double>(e.priority) + e.estimate_s * config.weight - age_s * config.decay_per_s;
}

constexpr Priority kPriorities[] = {Priority::Interactive, Priority::Normal, Priority::BackgroundCompile, Priority::Low,
                                    Priority::Batch};

}  // namespace

TEST_CASE("policy: the levels and defaults of the specification") {
  CHECK(static_cast<int>(Priority::Interactive) == 0);
  CHECK(static_cast<int>(Priority::Normal) == 5);
  CHECK(static_cast<int>(Priority::BackgroundCompile) == 10);
  CHECK(static_cast<int>(Priority::Low) == 20);
  CHECK(static_cast<int>(Priority::Batch) == 50);
  const HybridOptions options{.hardware = 24};
  CHECK(options.pool_threads == 6);
  CHECK(options.max_queue_size == 24 * 16);
  CHECK(options.runtime_weight == 1.0);
  CHECK(options.decay_per_s == 0.1);
  CHECK(HybridOptions{.hardware = 2}.pool_threads == 1);
}

TEST_CASE("policy P4: order equals a reference sort by score at any instant") {
  Random random(11);
  for (int round = 0; round < 300; ++round) {
    // An eighth is exact in binary, so that what is equal on paper is equal here.
    const PriorityPolicy::Config config{.decay_per_s = 0.125, .max_queue_size = 100};
    PriorityPolicy policy(config);
    std::vector<Entry> reference;
    const uint64_t tasks = 1 + random.below(60);
    for (uint64_t job = 0; job < tasks; ++job) {
      Entry e = entry(job, kPriorities[random.below(5)], static_cast<double>(random.below(1000)),
                      static_cast<double>(random.below(50)));
      e.key = policy.push(e).key;
      e.sequence = job;
      reference.push_back(e);
    }
    for (double now_s : {1000.0, 5000.0, 1e6}) {
      auto by_score = [&](const Entry& a, const Entry& b) {
        const double sa = score(a, config, now_s), sb = score(b, config, now_s);
        return std::abs(sa - sb) > 1e-6 ? sa < sb : a.sequence < b.sequence;
      };
      std::vector<Entry> sorted = reference;
      std::sort(sorted.begin(), sorted.end(), by_score);
      PriorityPolicy copy = policy;
      std::vector<uint64_t> expected;
      for (const Entry& e : sorted) expected.push_back(e.job);
      REQUIRE(pop_all(copy) == expected);
    }
  }
}

TEST_CASE("policy: equals leave in the order they came (upstream: the last first)") {
  PriorityPolicy policy(wide());
  std::vector<uint64_t> expected;
  for (uint64_t job = 0; job < 1000; ++job) {
    policy.push(entry(job, Priority::Normal));
    expected.push_back(job);
  }
  CHECK(pop_all(policy) == expected);
}

TEST_CASE("policy P5: age overtakes a better level after 400 seconds, to a tenth") {
  for (auto [gap_s, batch_first] : {std::pair(399.9, false), std::pair(400.1, true)}) {
    PriorityPolicy policy(wide());
    policy.push(entry(1, Priority::Batch, 0));
    policy.push(entry(2, Priority::BackgroundCompile, gap_s));
    CHECK(pop_all(policy).front() == (batch_first ? 1 : 2));
  }
}

TEST_CASE("policy P5: the other overtakings") {
  struct Case {
    Priority old, young;
    double after_s;
  };
  for (const Case& c : {Case{Priority::Batch, Priority::Normal, 450}, Case{Priority::Batch, Priority::Interactive, 500},
                        Case{Priority::Batch, Priority::Low, 300}, Case{Priority::Low, Priority::BackgroundCompile, 100}}) {
    for (double off_s : {-0.1, 0.1}) {
      PriorityPolicy policy(wide());
      policy.push(entry(1, c.old, 3));
      policy.push(entry(2, c.young, 3 + c.after_s + off_s));
      CHECK(pop_all(policy).front() == (off_s > 0 ? 1 : 2));
    }
  }
}

TEST_CASE("policy: a task that waits under a stream of better ones runs (upstream: never)") {
  PriorityPolicy policy(wide());
  policy.push(entry(999'999, Priority::Batch, 0));
  double now_s = 0;
  for (uint64_t job = 0;; ++job, now_s += 1) {
    policy.push(entry(job, Priority::BackgroundCompile, now_s));
    if (policy.pop(kAllLanes)->job == 999'999) break;
    REQUIRE(now_s < 500);
  }
  CHECK(now_s >= 400);
  CHECK(now_s <= 401);
}

TEST_CASE("policy: a millisecond of estimate is worth ten of age") {
  PriorityPolicy policy(wide());
  policy.push(entry(1, Priority::Normal, 0.000, 0.002));
  policy.push(entry(2, Priority::Normal, 0.009, 0.001));
  CHECK(pop_all(policy).front() == 2);
  policy.push(entry(1, Priority::Normal, 0.000, 0.002));
  policy.push(entry(2, Priority::Normal, 0.011, 0.001));
  CHECK(pop_all(policy).front() == 1);
}

TEST_CASE("policy: new weights order anew what is queued") {
  PriorityPolicy policy(wide());
  policy.push(entry(1, Priority::Batch, 0, 1));
  policy.push(entry(2, Priority::Normal, 100, 30));
  policy.push(entry(3, Priority::BackgroundCompile, 50, 2));
  PriorityPolicy by_age = policy, by_estimate = policy;
  by_age.set_weights(0, 1000);
  CHECK(pop_all(by_age) == std::vector<uint64_t>{1, 3, 2});
  by_estimate.set_weights(1000, 0);
  CHECK(pop_all(by_estimate) == std::vector<uint64_t>{1, 3, 2});
  policy.set_weights(0, 0);
  CHECK(pop_all(policy) == std::vector<uint64_t>{2, 3, 1});
}

TEST_CASE("policy P9: the place after the last is refused, and free again after a task left") {
  PriorityPolicy policy({.max_queue_size = 16 * 4});
  for (uint64_t job = 0; job < 64; ++job) {
    REQUIRE(policy.admission(Lane::Compile) == Admission::Accepted);
    policy.push(entry(job, Priority::Normal, 0, 0, job % 2 ? Lane::Eval : Lane::Compile));
  }
  CHECK(policy.admission(Lane::Compile) == Admission::QueueFull);
  policy.pop(kEvalLane);
  CHECK(policy.admission(Lane::Compile) == Admission::Accepted);
}

TEST_CASE("policy: native compilations leave half of the queue to others") {
  PriorityPolicy policy({.max_queue_size = 8});
  for (uint64_t job = 0; job < 4; ++job) {
    REQUIRE(policy.admission(Lane::Native) == Admission::Accepted);
    policy.push(entry(job, Priority::Normal, 0, 0, Lane::Native));
  }
  CHECK(policy.admission(Lane::Native) == Admission::QueueFull);
  CHECK(policy.admission(Lane::Compile) == Admission::Accepted);
  policy.pop(kNativeLane);
  CHECK(policy.admission(Lane::Native) == Admission::Accepted);
}

TEST_CASE("policy: a consumer sees the lanes of its mask") {
  PriorityPolicy policy(wide());
  policy.push(entry(1, Priority::Batch, 0, 0, Lane::Compile));
  policy.push(entry(2, Priority::Interactive, 0, 0, Lane::Eval));
  policy.push(entry(3, Priority::Normal, 0, 0, Lane::Compile));
  policy.push(entry(4, Priority::Low, 0, 0, Lane::Eval));
  PriorityPolicy both = policy;
  CHECK(pop_all(both) == std::vector<uint64_t>{2, 3, 4, 1});
  CHECK(pop_all(policy, kCompileLane) == std::vector<uint64_t>{3, 1});
  CHECK(pop_all(policy, kCompileLane).empty());
  CHECK(pop_all(policy, kEvalLane) == std::vector<uint64_t>{2, 4});
}

TEST_CASE("policy: a queued task can be taken out by its number") {
  PriorityPolicy policy(wide());
  for (uint64_t job = 0; job < 50; ++job) policy.push(entry(job, kPriorities[job % 5], 0, static_cast<double>(job % 7)));
  PriorityPolicy whole = policy;
  std::vector<uint64_t> expected = pop_all(whole);
  for (uint64_t job : {13, 0, 49, 25}) {
    CHECK(policy.cancel(job)->job == job);
    CHECK_FALSE(policy.cancel(job));
    std::erase(expected, job);
  }
  CHECK(pop_all(policy) == expected);
}

TEST_CASE("policy: a push wakes one parked consumer that may take it") {
  PriorityPolicy policy(wide());
  REQUIRE(policy.park(0, kAllLanes));
  REQUIRE(policy.park(1, kCompileLane));
  REQUIRE(policy.park(2, kEvalLane));
  // The one that sees both is spared while another will do.
  CHECK(policy.push(entry(1, Priority::Normal)).wake == ConsumerId{1});
  CHECK(policy.push(entry(2, Priority::Normal)).wake == ConsumerId{0});
  CHECK_FALSE(policy.push(entry(3, Priority::Normal)).wake);  // consumer 2 does not compile
  CHECK(policy.parked(2));
  CHECK(policy.push(entry(4, Priority::Normal, 0, 0, Lane::Eval)).wake == ConsumerId{2});
}

TEST_CASE("policy: stop wakes all, takes nothing in and lets nobody sleep") {
  PriorityPolicy policy(wide());
  policy.park(0, kCompileLane);
  policy.park(1, kEvalLane);
  PriorityPolicy::Stop stop = policy.stop(StopMode::Drain);
  CHECK(stop.wake.size() == 2);
  CHECK(stop.dropped.empty());
  CHECK(policy.admission(Lane::Compile) == Admission::Stopped);
  CHECK_FALSE(policy.park(0, kCompileLane));
}

TEST_CASE("policy: a drain keeps what is queued, a discard gives it back (upstream drops both)") {
  PriorityPolicy policy(wide());
  for (uint64_t job = 0; job < 10; ++job) policy.push(entry(job, Priority::Normal));
  PriorityPolicy drained = policy;
  CHECK(drained.stop(StopMode::Drain).dropped.empty());
  CHECK(pop_all(drained).size() == 10);
  CHECK(policy.stop(StopMode::Discard).dropped.size() == 10);
  CHECK(pop_all(policy).empty());
  CHECK(policy.stop(StopMode::Discard).dropped.empty());
}
