// How many evaluations a worker makes before it looks up at stop requests, the clock and the others: up to a limit while
// they are quick, fewer where each takes long, so that an answer to a stop takes some milliseconds or one evaluation.
// It begins with one, because nothing is known of the operator.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sched/base/clock.h"

namespace posset::sched::fixpoint {

class Pace {
 public:
  size_t batch(size_t most) const { return std::min(batch_, most); }
  // A batch took so long.
  void took(int64_t ns) {
    if (ns > kLong) {
      batch_ = std::max<size_t>(batch_ / 2, 1);
    } else if (ns < kShort) {
      batch_ = std::min<size_t>(2 * batch_, size_t{1} << 20);
    }
  }

 private:
  static constexpr int64_t kShort = kMillisecond;
  static constexpr int64_t kLong = 4 * kMillisecond;
  size_t batch_ = 1;
};

}  // namespace posset::sched::fixpoint
