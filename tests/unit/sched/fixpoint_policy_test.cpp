// The solver's smaller state machines by themselves: the choice of a schedule, when something is due, halting, the
// length of batches, the history.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
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
Scan scan(uint64_t updates, double log, size_t hot) { return {updates, std::exp(-log), hot, 100, 0}; }

// As a solve would, of a system of 10^4 coordinates that blocks bring from e^0 to a tolerance of e^-23 at `rate` for each n
// updates: gives back what the choice lets it run with at every scan. Buckets fall `better` times as fast; an update of
// theirs takes `dearer` times as long.
std::vector<Schedule> schedules_of(double rate, double better, double dearer, bool timed) {
  constexpr size_t n = 10'000;
  constexpr double kEnd = 23;
  ScheduleChoice choice(Schedule::Auto, std::exp(-kEnd));
  std::vector<Schedule> seen;
  uint64_t updates = 0, interval = 4 * n;
  double log = 0;
  while (log < kEnd) {
    const bool buckets = choice.current() == Schedule::Residual;
    const uint64_t made = choice.on_trial() ? std::min(interval, ScheduleChoice::trial_length(n)) : interval;
    interval = std::min<uint64_t>(2 * interval, 64 * n);
    updates += made;
    log += rate * (buckets ? better : 1) * static_cast<double>(made) / n;
    const double ns = 20 * (buckets ? dearer : 1) * static_cast<double>(made);
    seen.push_back(choice.observe({updates, std::exp(-log), n / 50, n, timed ? static_cast<int64_t>(ns) : 0}));
  }
  return seen;
}

size_t trials_in(const std::vector<Schedule>& seen) {
  size_t trials = 0;
  for (size_t k = 0; k < seen.size(); ++k) trials += seen[k] == Schedule::Residual && (k == 0 || seen[k - 1] == Schedule::Static);
  return trials;
}

}  // namespace

TEST_CASE("fixpoint choice: what was asked for stays") {
  ScheduleChoice blocks(Schedule::Static, 0), buckets(Schedule::Residual, 0);
  for (uint64_t k = 1; k < 20; ++k) {
    CHECK(blocks.observe(scan(k * 100, 1, 1)) == Schedule::Static);
    CHECK(buckets.observe(scan(k * 100, 1, 100)) == Schedule::Residual);
  }
}

TEST_CASE("fixpoint choice: buckets are tried after two skewed scans and stay when they do better") {
  ScheduleChoice choice(Schedule::Auto, 0);
  CHECK(choice.current() == Schedule::Static);
  CHECK(choice.observe(scan(100, 1, 25)) == Schedule::Static);
  CHECK(choice.observe(scan(200, 2, 25)) == Schedule::Residual);
  CHECK(choice.on_trial());
  CHECK(choice.observe(scan(300, 4.3, 25)) == Schedule::Residual);
  CHECK_FALSE(choice.on_trial());
  CHECK(choice.observe(scan(400, 6.6, 50)) == Schedule::Residual);
  CHECK(choice.observe(scan(500, 8.9, 51)) == Schedule::Static);
}

TEST_CASE("fixpoint choice: buckets that fall behind in two scans in a row go") {
  ScheduleChoice choice(Schedule::Auto, 0);
  for (const auto& [updates, log] : {std::pair{100, 1.0}, {200, 2.0}, {300, 4.3}, {400, 5.0}, {500, 7.3}, {600, 8.0}}) {
    choice.observe(scan(static_cast<uint64_t>(updates), log, 1));
  }
  CHECK(choice.current() == Schedule::Residual);
  CHECK(choice.observe(scan(700, 9, 1)) == Schedule::Static);
}

TEST_CASE("fixpoint choice: no trial where blocks are soon done, as on PageRank") {
  // It falls by 0.92 for each n updates: 25 n to the end.
  for (bool timed : {false, true}) CHECK(trials_in(schedules_of(0.92, 2, 1, timed)) == 0);
  CHECK(trials_in(schedules_of(0.02, 3, 1, true)) == 1);
}

TEST_CASE("fixpoint choice: timed, what updates cost decides") {
  for (const auto& [better, dearer, wins] :
       {std::tuple{2.3, 3.5, false}, {2.3, 2.0, true}, {2.3, 2.2, false}, {1.3, 1.05, true}, {4.0, 3.5, true}}) {
    CAPTURE(better);
    CAPTURE(dearer);
    const std::vector<Schedule> seen = schedules_of(0.02, better, dearer, true);
    CHECK(trials_in(seen) >= 1);
    CHECK((seen.back() == Schedule::Residual) == wins);
  }
  // Not timed, an update by buckets counts as two, whatever it takes.
  CHECK(schedules_of(0.02, 2.3, 100, false).back() == Schedule::Residual);
  CHECK(schedules_of(0.02, 2.1, 1, false).back() == Schedule::Static);
}

TEST_CASE("fixpoint choice: trials that are for nothing cost a tenth of the time at most") {
  for (double rate : {0.001, 0.01, 0.02, 0.1, 0.17, 0.5, 1.0}) {
    for (double better : {1.0, 0.5}) {
      constexpr double kDearer = 4;
      const std::vector<Schedule> seen = schedules_of(rate, better, kDearer, true);
      double lost = 0, all = 0;  // in updates of blocks, n = 1
      double interval = 4;
      for (size_t k = 0; k < seen.size(); ++k) {
        const bool trial = k > 0 && seen[k - 1] == Schedule::Residual;
        const double made = trial ? 4 : interval;
        interval = std::min(2 * interval, 64.0);
        all += trial ? 0 : made;
        lost += trial ? made * (kDearer - better) : 0;
      }
      CAPTURE(rate);
      CHECK(lost <= 0.11 * all);
    }
  }
}

TEST_CASE("fixpoint choice: buckets that do no better go, and come back rarely") {
  ScheduleChoice choice(Schedule::Auto, 0);
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
  ScheduleChoice choice(Schedule::Auto, 0);
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

TEST_CASE("fixpoint monitor: a scan can be asked for earlier, once, not later") {
  Monitor monitor(10'000, 1);
  monitor.scanned(40'000, false);
  monitor.scan_within(40'000, 1000);
  CHECK(monitor.due(40'999, 0) == Monitor::Due::Nothing);
  CHECK(monitor.due(41'000, 0) == Monitor::Due::Scan);
  monitor.scan_within(40'000, 1'000'000);
  CHECK(monitor.due(119'999, 0) == Monitor::Due::Nothing);
  CHECK(monitor.due(120'000, 0) == Monitor::Due::Scan);
  monitor.scanned(41'000, false);
  CHECK(monitor.due(41'000 + 159'999, 0) == Monitor::Due::Nothing);
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
