// The solver's smaller state machines by themselves: the choice of a schedule, when something is due, halting, the
// length of batches, the history.
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "sched/fixpoint/choice.h"
#include "sched/fixpoint/history.h"
#include "sched/fixpoint/monitor.h"
#include "sched/fixpoint/pace.h"
#include "sched/fixpoint/quiescence.h"

using namespace posset::sched;
using namespace posset::sched::fixpoint;

namespace {

// A scan after that many updates whose residual is e^-log.
Scan scan(uint64_t updates, double log, size_t hot) { return {updates, std::exp(-log), hot, 100}; }

}  // namespace

TEST_CASE("fixpoint choice: what was asked for stays") {
  ScheduleChoice blocks(Schedule::Static), buckets(Schedule::Residual);
  for (uint64_t k = 1; k < 20; ++k) {
    CHECK(blocks.observe(scan(k * 100, 1, 1)) == Schedule::Static);
    CHECK(buckets.observe(scan(k * 100, 1, 100)) == Schedule::Residual);
  }
}

TEST_CASE("fixpoint choice: buckets are tried after two skewed scans and stay when they do better") {
  ScheduleChoice choice(Schedule::Auto);
  CHECK(choice.current() == Schedule::Static);
  CHECK(choice.observe(scan(100, 1, 25)) == Schedule::Static);
  CHECK(choice.observe(scan(200, 2, 25)) == Schedule::Residual);
  CHECK(choice.on_trial());
  CHECK(choice.observe(scan(300, 4, 25)) == Schedule::Residual);
  CHECK_FALSE(choice.on_trial());
  CHECK(choice.observe(scan(400, 4, 50)) == Schedule::Residual);
  CHECK(choice.observe(scan(500, 5, 51)) == Schedule::Static);
}

TEST_CASE("fixpoint choice: buckets that do no better go, and come back rarely") {
  ScheduleChoice choice(Schedule::Auto);
  uint64_t trials = 0;
  double log = 0;
  for (uint64_t k = 1; k <= 1000; ++k) {
    trials += choice.on_trial();
    // Once more and a half for each update is not reached.
    log += choice.on_trial() ? 1.4 : 1;
    choice.observe(scan(k * 100, log, 1));
  }
  CHECK(trials >= 2);
  CHECK(trials <= 10);
}

TEST_CASE("fixpoint choice: even residuals never lead to a trial") {
  ScheduleChoice choice(Schedule::Auto);
  for (uint64_t k = 1; k < 100; ++k) CHECK(choice.observe(scan(k * 100, static_cast<double>(k), k % 2 ? 26 : 1)) == Schedule::Static);
}

TEST_CASE("fixpoint choice: what is hot") {
  CHECK(hot_above(64, 1e-3) == 1);
  CHECK(hot_above(1e-3, 1e-3) == 1e-3);
}

TEST_CASE("fixpoint monitor: scans after 4 n, 8 n and so on up to 64 n updates") {
  constexpr uint64_t n = 10'000;
  Monitor monitor(n, 2);
  uint64_t updates = 0;
  for (uint64_t times : {4, 8, 16, 32, 64, 64, 64}) {
    CHECK(monitor.due(updates + times * n - 1, 0) == Monitor::Due::Nothing);
    updates += times * n;
    CHECK(monitor.due(updates, 0) == Monitor::Due::Scan);
    monitor.scanned(updates, false);
  }
}

TEST_CASE("fixpoint monitor: quiet updates lead to a scan, each time it was for nothing twice as many, up to 8 n") {
  Monitor monitor(10'000, 4);
  for (uint64_t times : {1, 2, 4, 8, 8}) {
    CHECK(monitor.quiet_share() == times * 2500);
    CHECK(monitor.due(1, times * 10'000 - 1) == Monitor::Due::Nothing);
    CHECK(monitor.due(1, times * 10'000) == Monitor::Due::Scan);
    CHECK(monitor.is_quiet(times * 10'000));
    monitor.scanned(1, true);
  }
}

TEST_CASE("fixpoint monitor: a rebuild when the hot ones were handed out, at least a sixteenth, at most all") {
  Monitor monitor(10'000, 1);
  CHECK(monitor.due(39'999, 0) == Monitor::Due::Nothing);
  for (const auto& [hot, after] : {std::pair<size_t, uint64_t>{0, 626}, {3000, 3000}, {10'000, 10'000}, {99'999, 10'000}}) {
    monitor.rebuilt(1000, hot);
    CHECK(monitor.due(1000 + after - 1, 0) == Monitor::Due::Nothing);
    CHECK(monitor.due(1000 + after, 0) == Monitor::Due::Rebuild);
  }
  monitor.never_rebuild();
  CHECK(monitor.due(39'999, 0) == Monitor::Due::Nothing);
}

TEST_CASE("fixpoint monitor: nothing becomes due within the allowance of one worker") {
  Monitor monitor(10'000, 1);
  CHECK(monitor.allowance(0, 0) == 10'000);
  CHECK(monitor.allowance(0, 9'990) == 10);
  CHECK(monitor.allowance(39'995, 0) == 5);
  CHECK(monitor.allowance(50'000, 0) == 1);
  monitor.rebuilt(0, 3000);
  CHECK(monitor.allowance(2'900, 0) == 100);
}

TEST_CASE("fixpoint quiescence: the last to arrive is told, and the last to run does not park") {
  Quiescence halting(3);
  CHECK(halting.park());
  CHECK(halting.request());
  CHECK_FALSE(halting.request());
  CHECK_FALSE(halting.park());
  halting.unpark();
  CHECK_FALSE(halting.arrive());
  CHECK_FALSE(halting.arrive());
  CHECK(halting.arrive());
  halting.release(false);
  CHECK(halting.requested());
  CHECK(halting.round() == 1);
  halting.release(true);
  CHECK_FALSE(halting.requested());
  CHECK(halting.park());
  CHECK(halting.park());
  CHECK_FALSE(halting.park());
  CHECK(halting.requested());
}

TEST_CASE("fixpoint pace: doubles while batches are quick, halves when they are slow, never above what is allowed") {
  Pace pace;
  CHECK(pace.batch(256) == 1);
  for (int k = 0; k < 100; ++k) pace.took(0);
  CHECK(pace.batch(256) == 256);
  Pace slow;
  slow.took(0);
  slow.took(0);
  CHECK(slow.batch(256) == 4);
  slow.took(2 * kMillisecond);
  CHECK(slow.batch(256) == 4);
  for (int k = 0; k < 10; ++k) slow.took(kSecond);
  CHECK(slow.batch(256) == 1);
}

TEST_CASE("fixpoint history: thinned evenly, the first and the newest kept") {
  for (size_t capacity : {0, 2, 3, 10, 100}) {
    ResidualHistory history(capacity);
    for (int64_t k = 0; k < 1000; ++k) {
      history.add({k, static_cast<uint64_t>(k), 1.0});
      const std::vector<ResidualPoint> points = history.points();
      REQUIRE(points.size() <= std::max<size_t>(capacity, 2));
      REQUIRE(points.front().time_ns == 0);
      REQUIRE(points.back().time_ns == k);
      for (size_t i = 2; i + 1 < points.size(); ++i) {
        REQUIRE(points[i].time_ns - points[i - 1].time_ns == points[1].time_ns - points[0].time_ns);
      }
    }
  }
}
