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
  double rate = 0, cost = 0;
  if (scan.updates > before_.updates) {
    const auto made = static_cast<double>(scan.updates - before_.updates);
    if (scans_ > 1) rate = std::log(before_.residual / scan.residual) / made;
    cost = static_cast<double>(scan.updating_ns) / made;
  }
  switch (phase_) {
    case Phase::Plain: observe_plain(scan, rate, cost); break;
    case Phase::Trial: end_trial(rate, cost); break;
    case Phase::Proven: observe_proven(scan, rate, cost); break;
  }
  before_ = scan;
  return current();
}

void ScheduleChoice::observe_plain(const Scan& scan, double rate, double cost) {
  skewed_ = scan.hot <= scan.n / 4 ? skewed_ + 1 : 0;
  plain_rate_ = rate;
  if (cost > 0) plain_cost_ = plain_cost_ > 0 ? std::min(plain_cost_, cost) : cost;
  if (skewed_ >= 2 && scans_ >= next_trial_ && is_worth_a_trial(scan)) phase_ = Phase::Trial;
}

// With a tolerance of 0, or a residual that does not fall, there is no end in sight.
bool ScheduleChoice::is_worth_a_trial(const Scan& scan) const {
  if (!(plain_rate_ > 0) || tolerance_ == 0) return true;
  const double left = std::log(scan.residual / tolerance_) / plain_rate_;
  return left >= kWorthwhile * static_cast<double>(trial_length(scan.n));
}

double ScheduleChoice::lead(double rate, double cost) const {
  if (!(rate > 0)) return 0;
  const double dearer = plain_cost_ > 0 && cost > 0 ? cost / plain_cost_ : kCost;
  return plain_rate_ > 0 ? rate / (plain_rate_ * dearer) : std::numeric_limits<double>::infinity();
}

void ScheduleChoice::end_trial(double rate, double cost) {
  behind_ = 0;
  if (lead(rate, cost) >= kMargin) {
    phase_ = Phase::Proven;
  } else {
    go_back();
  }
}

void ScheduleChoice::observe_proven(const Scan& scan, double rate, double cost) {
  behind_ = lead(rate, cost) < 1 ? behind_ + 1 : 0;
  if (scan.hot > scan.n / 2 || behind_ >= 2) go_back();
}

void ScheduleChoice::go_back() {
  phase_ = Phase::Plain;
  skewed_ = 0;
  next_trial_ = 2 * scans_;
}

}  // namespace posset::sched::fixpoint
