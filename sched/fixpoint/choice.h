// Which schedule is the better one, where the host leaves it to the solver. Buckets pay where few coordinates hold the
// residual up: they update those several times while blocks go round once. Where many do, they cost their cursors, their
// rebuilds and the order of memory for nothing; and where the operator is cheap that is more than it is itself.
//
// What decides is what the residual falls by for what is paid: the logarithm of the norm over the
// cost of the updates. The norm is the Euclidean one of what is hot, that is above the tolerance
// and above 1/64 of the largest residual. The largest alone goes up and down by a factor of two
// while buckets are in use: a coordinate that has just got what its neighbours held back stands out
// until its turn comes. Of a few hundred together that is a tenth.
//
// So: begin with blocks. When two scans in a row find that at most a quarter of the coordinates is
// hot, buckets are tried. The trial goes on, scan after scan, each twice as far as the one before,
// until it is certain: what the norm fell by is above or below what it would have fallen by under
// blocks, for the same cost, by more than a single scan can be wrong (kDoubt). While that is open
// neither is much better, so that an open trial costs little. Then buckets stay until the same
// comparison says with the same certainty that they have fallen behind, or until more than half of
// the coordinates are hot; blocks stay until there were twice as many scans.
//
// A trial may be for nothing, so it is only made where blocks, at the rate they go, would need at least kWorthwhile times
// as many updates yet. If an update of the trial costs four times one of theirs, a tenth of the time is lost at most.
//
// A cost is time, or whatever the host says that does not depend on a clock; then only counts and
// residuals decide, and for one worker the choice is the same every time. Where there is none an
// update by buckets counts as twice one by blocks, as for an operator of some 50 ns. A state
// machine; one thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace posset::sched::fixpoint {

enum class Schedule : uint8_t { Static, Residual, Auto };

// What a scan found.
struct Scan {
  uint64_t updates = 0;  // that were made before it
  double residual = 0;   // the largest
  size_t hot = 0;
  size_t n = 0;
  double log_norm = 0;  // the logarithm of the norm of what is hot
  double cost = 0;      // of an update since the scan before; 0: not known
};

// A residual above this is hot, in a scan whose largest is `largest`.
double hot_above(double largest, double tolerance);
// Sets `hot` and `log_norm` from all residuals; the largest is known.
void look_for_hot(Scan& scan, std::span<const double> residuals, double tolerance);

class ScheduleChoice {
 public:
  // How much more an update of buckets costs, where that is not measured.
  static constexpr double kCost = 2;
  // By so much buckets must be ahead to come in.
  static constexpr double kMargin = 1.1;
  static constexpr double kWorthwhile = 32;
  // So far the logarithm of a norm may be from where the iteration stands: seen on systems of
  // several hundred and of twenty hot coordinates it is 0.1.
  static constexpr double kDoubt = 0.25;

  ScheduleChoice(Schedule asked, double tolerance)
      : asked_(asked), tolerance_(tolerance), phase_(asked == Schedule::Residual ? Phase::Proven : Phase::Plain) {}

  // Static or Residual: with what to go on.
  Schedule current() const { return phase_ == Phase::Plain ? Schedule::Static : Schedule::Residual; }
  // The same after this scan.
  Schedule observe(const Scan& scan);
  bool on_trial() const { return phase_ == Phase::Trial; }
  // Updates until the next scan of a trial, of n coordinates.
  uint64_t trial_length(size_t n) const { return std::max(first_trial(n), made_); }
  static uint64_t first_trial(size_t n) { return std::max<uint64_t>(4 * uint64_t{n}, 4096); }

 private:
  enum class Phase : uint8_t { Plain, Trial, Proven };

  void observe_plain(const Scan& scan, uint64_t made);
  void observe_buckets(const Scan& scan, uint64_t made);
  bool is_worth_a_trial(const Scan& scan) const;
  // What the logarithm would have fallen by under blocks for what the updates since
  // `begin_comparison` cost.
  double blocks_fall() const;
  void begin_comparison();
  void go_back();

  const Schedule asked_;
  const double tolerance_;
  Phase phase_;
  Scan before_;
  uint64_t scans_ = 0;
  uint64_t next_trial_ = 0;  // not before so many scans
  uint64_t skewed_ = 0;      // scans in a row
  double plain_rate_ = 0;    // fall of the norm's logarithm for each update, under blocks
  // Of an update, the least that was seen: what else ran on the machine does not count. 0: not
  // known.
  double plain_cost_ = 0;
  double buckets_cost_ = 0;
  // Under buckets, since the comparison began: updates, and the fall of the logarithm.
  uint64_t made_ = 0;
  double fell_ = 0;
};

}  // namespace posset::sched::fixpoint
