// Time for schedulers. Nothing in sched/ reads a system clock except through a Clock, so that the same
// policies run in virtual time (sched/sim). Times are nanoseconds of a monotonic clock with an arbitrary
// origin; they say nothing about the time of day, and a change of the system's date does not move them.
#pragma once

#include <chrono>
#include <cstdint>

namespace posset::sched {

constexpr int64_t kNanosecond = 1;
constexpr int64_t kMicrosecond = 1000;
constexpr int64_t kMillisecond = 1000 * kMicrosecond;
constexpr int64_t kSecond = 1000 * kMillisecond;
constexpr int64_t kNever = INT64_MAX;  // a deadline that does not come

class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t now_ns() const = 0;  // any thread
};

class SystemClock final : public Clock {
 public:
  int64_t now_ns() const override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  // The time point for waiting on a condition variable.
  static std::chrono::steady_clock::time_point time_point(int64_t ns) {
    return std::chrono::steady_clock::time_point(
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::nanoseconds(ns)));
  }
};

}  // namespace posset::sched
