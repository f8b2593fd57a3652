// See choice.h.
#include "sched/fixpoint/choice.h"

#include <algorithm>
#include <cmath>

namespace posset::sched::fixpoint {

namespace {

void keep_least(double& least, double cost) {
  if (cost > 0 && !(least > 0 && least <= cost)) least = cost;
}

}  // namespace

double hot_above(double largest, double tolerance) {
  constexpr double kSpread = 64;
  return std::max(tolerance, largest / kSpread);
}

void look_for_hot(Scan& scan, std::span<const double> residuals, double tolerance) {
  const double above = hot_above(scan.residual, tolerance);
  double sum = 0;
  for (double residual : residuals) {
    if (!(residual > above)) continue;
    ++scan.hot;
    // In parts of the largest: squares of large residuals are beyond all numbers.
    const double part = residual / scan.residual;
    sum += part * part;
  }
  scan.log_norm = std::log(scan.residual) + std::log(sum) / 2;
}

Schedule ScheduleChoice::observe(const Scan& scan) {
  if (asked_ != Schedule::Auto) return current();
  ++scans_;
  const uint64_t made = scan.updates - before_.updates;
  if (phase_ == Phase::Plain) {
    observe_plain(scan, made);
  } else {
    observe_buckets(scan, made);
  }
  before_ = scan;
  return current();
}

void ScheduleChoice::observe_plain(const Scan& scan, uint64_t made) {
  skewed_ = scan.hot <= scan.n / 4 ? skewed_ + 1 : 0;
  // What lies before the first scan is no fall: the start may be anywhere.
  plain_rate_ =
      scans_ > 1 && made > 0 ? (before_.log_norm - scan.log_norm) / static_cast<double>(made) : 0;
  keep_least(plain_cost_, scan.cost);
  if (skewed_ < 2 || scans_ < next_trial_ || !is_worth_a_trial(scan)) return;
  phase_ = Phase::Trial;
  begin_comparison();
}

// With a tolerance of 0, or a residual that does not fall, there is no end in sight.
bool ScheduleChoice::is_worth_a_trial(const Scan& scan) const {
  if (!(plain_rate_ > 0) || tolerance_ == 0) return true;
  const double left = std::log(scan.residual / tolerance_) / plain_rate_;
  return left >= kWorthwhile * static_cast<double>(first_trial(scan.n));
}

void ScheduleChoice::begin_comparison() {
  made_ = 0;
  fell_ = 0;
}

double ScheduleChoice::blocks_fall() const {
  const double dearer = plain_cost_ > 0 && buckets_cost_ > 0 ? buckets_cost_ / plain_cost_ : kCost;
  return std::max(plain_rate_, 0.0) * static_cast<double>(made_) * dearer;
}

void ScheduleChoice::observe_buckets(const Scan& scan, uint64_t made) {
  made_ += made;
  keep_least(buckets_cost_, scan.cost);
  fell_ += before_.log_norm - scan.log_norm;
  const bool proven = phase_ == Phase::Proven;
  if (proven && scan.hot > scan.n / 2) return go_back();
  const double wanted = (proven ? 1 : kMargin) * blocks_fall();
  if (fell_ + kDoubt < wanted) return go_back();
  if (fell_ - kDoubt <= wanted) return;
  phase_ = Phase::Proven;
  begin_comparison();
}

void ScheduleChoice::go_back() {
  phase_ = Phase::Plain;
  skewed_ = 0;
  next_trial_ = 2 * scans_;
}

}  // namespace posset::sched::fixpoint
