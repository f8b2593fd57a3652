// What updates take, where others on the machine get in between: the mean of what was measured,
// each measurement cut down to a few times the median of those before it. A batch that another
// process interrupted takes some milliseconds instead of some microseconds; as it is it would
// outweigh a thousand others, and a comparison of two schedules would be one of interruptions. Rows
// of different lengths stay within the bound. One thread at a time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sched/p2/median.h"

namespace posset::sched::fixpoint {

class CostMeter {
 public:
  // `units` of work took so long.
  void took(int64_t ns, uint64_t units) {
    const double each = static_cast<double>(ns) / static_cast<double>(units);
    const double most = median_.warm() ? kOutlier * median_.median() : each;
    sum_ns_ += std::min(each, most) * static_cast<double>(units);
    median_.add(each);
  }
  double sum_ns() const { return sum_ns_; }
  // Also of the median: another schedule may have another.
  void reset() { *this = {}; }

 private:
  static constexpr double kOutlier = 8;
  MedianMarkers median_;
  double sum_ns_ = 0;
};

}  // namespace posset::sched::fixpoint
