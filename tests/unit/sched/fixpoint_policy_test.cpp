// The solver's smaller state machines by themselves: the choice of a schedule, when something is due, halting, the
// length of batches, the history.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sched/fixpoint/choice.h"
#include "sched/fixpoint/cost.h"
#include "sched/fixpoint/history.h"
#include "sched/fixpoint/monitor.h"
#include "sched/fixpoint/pace.h"
#include "sched/fixpoint/quiescence.h"

using namespace posset::sched;
using namespace posset::sched::fixpoint;

namespace {

// A scan after that many updates whose residual is e^-log.
Scan scan(uint64_t updates, double log, size_t hot) {
  return {.updates = updates, .residual = std::exp(-log), .hot = hot, .n = 100, .log_norm = -log};
}

// A system of 10^4 coordinates that blocks bring from e^0 to a tolerance of e^-23 at `rate` for
// each n updates. Buckets fall `better` times as fast; an update of theirs takes `dearer` times as
// long.
struct Course {
  double rate, better, dearer;
  bool timed = true;
  // By what a scan finds more or less than where the iteration stands, in turns: of the largest
  // residual, of the logarithm of the norm.
  double noise_of_largest = 0, noise_of_norm = 0;
};

struct Seen {
  std::vector<Schedule> schedules;  // what the choice lets it go on with, at every scan
  double paid = 0;                  // in n updates of blocks
  double lost = 0;  // of that for trials, more than blocks would have paid to come as far
};

Seen follow(const Course& course) {
  constexpr size_t n = 10'000;
  constexpr double kEnd = 23;
  ScheduleChoice choice(Schedule::Auto, std::exp(-kEnd));
  Seen seen;
  uint64_t updates = 0, interval = 16 * n;
  double log = 0, sign = 1;
  while (log < kEnd) {
    const bool buckets = choice.current() == Schedule::Residual;
    const uint64_t made = choice.on_trial() ? std::min(interval, choice.trial_length(n)) : interval;
    interval = std::min<uint64_t>(2 * interval, 64 * n);
    updates += made;
    const double passes = static_cast<double>(made) / n, dearer = buckets ? course.dearer : 1,
                 better = buckets ? course.better : 1;
    log += course.rate * better * passes;
    seen.paid += passes * dearer;
    if (buckets) seen.lost += passes * (dearer - better);
    sign = buckets ? -sign : 0;
    seen.schedules.push_back(
        choice.observe({.updates = updates,
                        .residual = std::exp(-log + sign * course.noise_of_largest),
                        .hot = n / 50,
                        .n = n,
                        .log_norm = -log + sign * course.noise_of_norm,
                        .cost = course.timed ? 20 * dearer : 0}));
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
  CHECK(choice.observe(scan(300, 4.5, 25)) == Schedule::Residual);
  CHECK_FALSE(choice.on_trial());
  CHECK(choice.observe(scan(400, 6.8, 50)) == Schedule::Residual);
  CHECK(choice.observe(scan(500, 9.1, 51)) == Schedule::Static);
}

TEST_CASE("fixpoint choice: a trial goes on, each time twice as far, until it is certain") {
  ScheduleChoice choice(Schedule::Auto, 0);
  choice.observe(scan(5000, 1, 1));
  choice.observe(scan(10'000, 1.1, 1));
  REQUIRE(choice.on_trial());
  CHECK(choice.trial_length(100) == 4096);
  // An update of theirs counts as two: 2.2 times as fast would do, 2.3 times is not enough more in
  // so few.
  choice.observe(scan(15'000, 1.33, 1));
  CHECK(choice.on_trial());
  CHECK(choice.trial_length(100) == 5000);
  choice.observe(scan(20'000, 1.56, 1));
  CHECK(choice.on_trial());
  CHECK(choice.trial_length(100) == 10'000);
  SUBCASE("that they are ahead") {
    CHECK(choice.observe(scan(30'000, 2.6, 1)) == Schedule::Residual);
  }
  SUBCASE("that they are not") { CHECK(choice.observe(scan(30'000, 1.6, 1)) == Schedule::Static); }
  CHECK_FALSE(choice.on_trial());
}

TEST_CASE("fixpoint choice: buckets that fall behind go as soon as that is certain") {
  ScheduleChoice choice(Schedule::Auto, 0);
  choice.observe(scan(100, 1, 1));
  choice.observe(scan(200, 2, 1));
  choice.observe(scan(300, 4.6, 1));
  REQUIRE(choice.current() == Schedule::Residual);
  // Two for each hundred updates is what blocks would do: a little less may be chance.
  CHECK(choice.observe(scan(400, 6.4, 1)) == Schedule::Residual);
  CHECK(choice.observe(scan(500, 8.3, 1)) == Schedule::Static);
}

TEST_CASE("fixpoint choice: no trial where blocks are soon done, as on PageRank") {
  // It falls by 0.92 for each n updates: 25 n to the end.
  for (bool timed : {false, true}) CHECK(trials_in(follow({0.92, 2, 1, timed}).schedules) == 0);
  CHECK(trials_in(follow({0.02, 3, 1}).schedules) == 1);
}

TEST_CASE("fixpoint choice: what updates cost decides") {
  for (const auto& [better, dearer, wins] : {std::tuple{2.3, 3.5, false},
                                             {2.3, 2.0, true},
                                             {2.3, 2.2, false},
                                             {1.3, 1.05, true},
                                             {4.0, 3.5, true}}) {
    CAPTURE(better);
    CAPTURE(dearer);
    const std::vector<Schedule> seen = follow({0.02, better, dearer}).schedules;
    CHECK(trials_in(seen) >= 1);
    CHECK((seen.back() == Schedule::Residual) == wins);
  }
  // Where that is not known an update by buckets counts as two, whatever it takes.
  CHECK(follow({0.02, 2.4, 100, false}).schedules.back() == Schedule::Residual);
  CHECK(follow({0.02, 2.0, 1, false}).schedules.back() == Schedule::Static);
}

TEST_CASE(
    "fixpoint choice regression: the largest residual alone, which goes up and down, turned good "
    "buckets away") {
  for (double largest : {0.0, 0.5, 1.0}) {
    for (double norm : {-0.1, 0.1}) {
      const std::vector<Schedule> seen = follow({0.02, 2.3, 1.45, true, largest, norm}).schedules;
      CHECK(trials_in(seen) == 1);
      CHECK(seen.back() == Schedule::Residual);
      CHECK(trials_in(follow({0.02, 2.3, 3.5, true, largest, norm}).schedules) <= 4);
    }
  }
}

TEST_CASE("fixpoint choice: trials that are for nothing cost a tenth of the time at most") {
  for (double rate : {0.001, 0.01, 0.02, 0.1, 0.17, 0.5, 1.0}) {
    for (double better : {1.0, 0.5, 2.0, 3.0}) {
      const Seen seen = follow({rate, better, 4});
      CAPTURE(rate);
      CAPTURE(better);
      CHECK(seen.lost <= 0.11 * seen.paid);
    }
  }
}

TEST_CASE("fixpoint choice: where neither is better, whatever it takes costs nothing") {
  for (double better : {1.9, 2.0, 2.1, 2.2, 2.3}) {
    const Seen seen = follow({0.02, better, 2});
    // It is followed to the first scan behind the end, half an interval behind it as a rule.
    CHECK(seen.paid <= 1.02 * 23 / 0.02 + 32);
  }
}

TEST_CASE("fixpoint choice: buckets that do no better go, and come back rarely") {
  ScheduleChoice choice(Schedule::Auto, 0);
  uint64_t trials = 0;
  double log = 0;
  for (uint64_t k = 1; k <= 1000; ++k) {
    trials += choice.on_trial();
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
  const auto look = [](std::initializer_list<double> residuals, double tolerance) {
    Scan scan{.residual = std::max(residuals)};
    look_for_hot(scan, residuals, tolerance);
    return scan;
  };
  const Scan small = look({3, 4, 0.01}, 1e-9);
  CHECK(small.hot == 2);
  CHECK(small.log_norm == doctest::Approx(std::log(5)));
  // Squares of these are beyond all numbers, or nothing.
  CHECK(look({3e300, 4e300}, 1e-9).log_norm == doctest::Approx(std::log(5e300)));
  CHECK(look({3e-200, 4e-200}, 0).log_norm == doctest::Approx(std::log(5e-200)));
}

TEST_CASE("fixpoint cost: what was interrupted counts as a few times the median at most") {
  CostMeter meter;
  for (int k = 0; k < 100; ++k) meter.took(1000, 10);
  CHECK(meter.sum_ns() == doctest::Approx(100'000));
  meter.took(4'000'000, 10);
  CHECK(meter.sum_ns() == doctest::Approx(108'000));
  // Rows of different lengths are what they are.
  meter.reset();
  for (int k = 0; k < 100; ++k) meter.took(k % 2 ? 500 : 100, 1);
  CHECK(meter.sum_ns() == doctest::Approx(30'000));
}

TEST_CASE("fixpoint monitor: scans after 16 n, 32 n and 64 n updates, and again and again 64 n") {
  constexpr uint64_t n = 10'000;
  Monitor monitor(n, 2);
  uint64_t updates = 0;
  for (uint64_t times : {16, 32, 64, 64, 64}) {
    CHECK(monitor.due(updates + times * n - 1, 0) == Monitor::Due::Nothing);
    updates += times * n;
    CHECK(monitor.due(updates, 0) == Monitor::Due::Scan);
    monitor.scanned(updates, false);
  }
}

TEST_CASE("fixpoint monitor: a scan can be asked for earlier, once, not later") {
  Monitor monitor(10'000, 1);
  monitor.scanned(160'000, false);
  monitor.scan_within(160'000, 1000);
  CHECK(monitor.due(160'999, 0) == Monitor::Due::Nothing);
  CHECK(monitor.due(161'000, 0) == Monitor::Due::Scan);
  monitor.scan_within(160'000, 1'000'000);
  CHECK(monitor.due(479'999, 0) == Monitor::Due::Nothing);
  CHECK(monitor.due(480'000, 0) == Monitor::Due::Scan);
  monitor.scanned(161'000, false);
  CHECK(monitor.due(161'000 + 639'999, 0) == Monitor::Due::Nothing);
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
  CHECK(monitor.allowance(159'995, 0) == 5);
  CHECK(monitor.allowance(170'000, 0) == 1);
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
