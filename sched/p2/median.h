// The running median of a stream in constant memory: the P² algorithm (R. Jain and I. Chlamtac, "The P²
// algorithm for dynamic calculation of quantiles and histograms without storing observations",
// Communications of the ACM 28 (10), 1985). Five markers stand at the minimum, the quartiles and the
// maximum of what was seen; each new observation moves the markers above it, and a middle marker that is a
// whole place away from where it should be is moved by one along a parabola through its neighbours.
//
// After five observations: heights do not decrease, positions increase strictly from 1 to `count`, the outer
// heights are the exact extremes. Below five the observations themselves are kept and the median is exact.
// Where a marker should be is not stored: for the median it is an exact function of the count.
//
// The estimate is no worse than the paper says for distributions with one hump. A mixture of two narrow
// ones far apart does not get better with time: only order and range hold there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace posset::sched {

// The state and the rule. Takes any finite numbers.
struct MedianMarkers {
  static constexpr size_t kMarkers = 5;

  std::array<double, kMarkers> height{};     // below five observations: those, as they came
  // 64 bits: at a million observations a second, 32 would wrap after 36 minutes.
  std::array<int64_t, kMarkers> position{};  // place in the sorted stream, from 1
  int64_t count = 0;

  void add(double x);
  double median() const;  // 0 when there is nothing
  bool warm() const { return count >= static_cast<int64_t>(kMarkers); }
  // Where marker `i` should be: 1 + (count - 1) i / 4, exact in binary.
  double desired(size_t i) const { return 1 + static_cast<double>(count - 1) * 0.25 * static_cast<double>(i); }
  // The invariants above; for tests and assertions.
  bool valid() const;

 private:
  size_t cell_of(double x);
  void adjust(size_t i);
  double parabolic(size_t i, int64_t direction) const;
  double linear(size_t i, int64_t direction) const;
};

// A median of durations or other amounts: what is negative or not a number is refused and counted.
//
// P² never forgets: after a thousand observations near 1 it takes some 1150 near 10 until the estimate passes
// 5. With a `horizon`, a second set of markers is begun every `horizon` observations and takes the place of
// the first when it has seen horizon / 2, so that an estimate speaks of the last half to one and a half.
class MedianEstimator {
 public:
  explicit MedianEstimator(int64_t horizon = 0) : horizon_(horizon) {}
  // Goes on from a state; for tests of what takes years to reach.
  MedianEstimator(const MedianMarkers& markers, int64_t horizon) : horizon_(horizon), main_(markers) {}

  // False: refused.
  bool record(double x);
  double median() const { return main_.median(); }
  // Observations the estimate stands on.
  int64_t count() const { return main_.count; }
  // Five of them: below, an estimate says less than that of a wider class.
  bool warm() const { return main_.warm(); }
  uint64_t rejected() const { return rejected_; }
  const MedianMarkers& markers() const { return main_; }

 private:
  void record_in_shadow(double x);

  int64_t horizon_;  // 0: never forget
  int64_t in_period_ = 0;
  uint64_t rejected_ = 0;
  MedianMarkers main_;
  MedianMarkers shadow_;
};

}  // namespace posset::sched
