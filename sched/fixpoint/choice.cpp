// See choice.h.
#include "sched/fixpoint/choice.h"

#include <algorithm>
#include <cmath>

namespace posset::sched::fixpoint {

double hot_above(double largest, double tolerance) {
  constexpr double kSpread = 64;
  return std::max(tolerance, largest / kSpread);
}

Schedule ScheduleChoice::observe(const Scan& scan) {
  if (asked_ != Schedule::Auto) return current();
  ++scans_;
  double rate = 0;
  if (scans_ > 1 && scan.updates > before_.updates) {
    rate = std::log(before_.residual / scan.residual) / static_cast<double>(scan.updates - before_.updates);
  }
  if (phase_ == Phase::Trial) {
    end_trial(rate);
  } else if (phase_ == Phase::Plain) {
    observe_plain(scan, rate);
  } else if (scan.hot > scan.n / 2) {
    phase_ = Phase::Plain;
    skewed_ = 0;
  }
  before_ = scan;
  return current();
}

void ScheduleChoice::observe_plain(const Scan& scan, double rate) {
  skewed_ = scan.hot <= scan.n / 4 ? skewed_ + 1 : 0;
  plain_rate_ = rate;
  if (skewed_ >= 2 && scans_ >= next_trial_) phase_ = Phase::Trial;
}

void ScheduleChoice::end_trial(double rate) {
  const bool better = rate > 0 && rate >= kAdvantage * plain_rate_;
  phase_ = better ? Phase::Proven : Phase::Plain;
  next_trial_ = 2 * scans_;
}

}  // namespace posset::sched::fixpoint
