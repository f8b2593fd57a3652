// Which schedule is the better one, where the host leaves it to the solver. Buckets pay where few coordinates hold the
// residual up: they update those several times while blocks go round once. Where many do, they cost their cursors and
// the order of memory for nothing.
//
// So: begin with blocks. When two scans in a row find that at most a quarter of the coordinates is hot, that is above the
// tolerance and above 1/64 of the largest residual, buckets are tried until the next scan. They stay if the largest
// residual fell by enough more for each update, as the logarithm goes, than it did before under blocks; else blocks come
// back, and the next trial is put off until there were twice as many scans. They go when more than half are hot again.
//
// Counts and residuals decide, never times: for one worker the choice is the same every time, and for several it does
// not depend on what else the machine does. A state machine; one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace posset::sched::fixpoint {

enum class Schedule : uint8_t { Static, Residual, Auto };

// What a scan found.
struct Scan {
  uint64_t updates = 0;  // that were made before it
  double residual = 0;   // the largest
  size_t hot = 0;
  size_t n = 0;
};

// A residual above this is hot, in a scan whose largest is `largest`.
double hot_above(double largest, double tolerance);

class ScheduleChoice {
 public:
  // How much more for each update buckets must achieve; an update of theirs costs more.
  static constexpr double kAdvantage = 2;

  explicit ScheduleChoice(Schedule asked)
      : asked_(asked), phase_(asked == Schedule::Residual ? Phase::Proven : Phase::Plain) {}

  // Static or Residual: with what to go on.
  Schedule current() const { return phase_ == Phase::Plain ? Schedule::Static : Schedule::Residual; }
  // The same after this scan.
  Schedule observe(const Scan& scan);
  bool on_trial() const { return phase_ == Phase::Trial; }

 private:
  enum class Phase : uint8_t { Plain, Trial, Proven };

  void observe_plain(const Scan& scan, double rate);
  void end_trial(double rate);

  const Schedule asked_;
  Phase phase_;
  Scan before_;
  uint64_t scans_ = 0;
  uint64_t next_trial_ = 0;   // not before so many scans
  uint64_t skewed_ = 0;       // scans in a row
  double plain_rate_ = 0;     // fall of the residual's logarithm for each update, under blocks
};

}  // namespace posset::sched::fixpoint
