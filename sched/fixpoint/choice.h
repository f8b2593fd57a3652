// Which schedule is the better one, where the host leaves it to the solver. Buckets pay where few coordinates hold the
// residual up: they update those several times while blocks go round once. Where many do, they cost their cursors, their
// rebuilds and the order of memory for nothing; and where the operator is cheap that is more than it is itself.
//
// So: begin with blocks. When two scans in a row find that at most a quarter of the coordinates is hot, that is above the
// tolerance and above 1/64 of the largest residual, buckets are tried for some updates. They stay if the largest
// residual fell by enough more for each update, as the logarithm goes, than it did before under blocks; else blocks come
// back, and the next trial is put off until there were twice as many scans. They go when more than half are hot again, or
// when two scans in a row find that they fall behind.
//
// A trial may be for nothing, so it is only made where blocks, at the rate they go, would need at least kWorthwhile times
// as many updates yet. If an update of the trial costs four times one of theirs, a tenth of the time is lost at most.
//
// What is enough: where updates are timed, what they cost more. Else twice as much, as for an operator of some 50 ns; then
// only counts and residuals decide, and for one worker the choice is the same every time. A state machine; one
// thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace posset::sched::fixpoint {

enum class Schedule : uint8_t { Static, Residual, Auto };

// What a scan found.
struct Scan {
  uint64_t updates = 0;  // that were made before it
  double residual = 0;   // the largest
  size_t hot = 0;
  size_t n = 0;
  int64_t updating_ns = 0;  // what the updates since the scan before took; 0: they are not timed
};

// A residual above this is hot, in a scan whose largest is `largest`.
double hot_above(double largest, double tolerance);

class ScheduleChoice {
 public:
  // How much more an update of buckets costs, where that is not measured.
  static constexpr double kCost = 2;
  // By so much buckets must be ahead to come in.
  static constexpr double kMargin = 1.1;
  static constexpr double kWorthwhile = 32;

  ScheduleChoice(Schedule asked, double tolerance)
      : asked_(asked), tolerance_(tolerance), phase_(asked == Schedule::Residual ? Phase::Proven : Phase::Plain) {}

  // Static or Residual: with what to go on.
  Schedule current() const { return phase_ == Phase::Plain ? Schedule::Static : Schedule::Residual; }
  // The same after this scan.
  Schedule observe(const Scan& scan);
  bool on_trial() const { return phase_ == Phase::Trial; }
  // The updates of a trial, of n coordinates.
  static uint64_t trial_length(size_t n) { return std::max<uint64_t>(4 * uint64_t{n}, 4096); }

 private:
  enum class Phase : uint8_t { Plain, Trial, Proven };

  void observe_plain(const Scan& scan, double rate, double cost);
  void end_trial(double rate, double cost);
  void observe_proven(const Scan& scan, double rate, double cost);
  bool is_worth_a_trial(const Scan& scan) const;
  // How far buckets are ahead of blocks with that rate: above 1, they are.
  double lead(double rate, double cost) const;
  void go_back();

  const Schedule asked_;
  const double tolerance_;
  Phase phase_;
  Scan before_;
  uint64_t scans_ = 0;
  uint64_t next_trial_ = 0;  // not before so many scans
  uint64_t skewed_ = 0;      // scans in a row
  uint64_t behind_ = 0;      // likewise, that found buckets behind
  double plain_rate_ = 0;    // fall of the residual's logarithm for each update, under blocks
  // Time for each update under blocks, the least that was seen: what else ran on the machine does not count. 0: not timed.
  double plain_cost_ = 0;
};

}  // namespace posset::sched::fixpoint
