// See median.h. Step numbers are those of the paper's box 1.
#include "sched/p2/median.h"

#include <algorithm>
#include <cmath>

namespace posset::sched {

void MedianMarkers::add(double x) {
  if (!warm()) {
    height[static_cast<size_t>(count++)] = x;
    if (!warm()) return;
    std::sort(height.begin(), height.end());
    position = {1, 2, 3, 4, 5};
    return;
  }
  const size_t cell = cell_of(x);                                   // B1
  ++count;                                                          // B2: moves the desired positions too
  for (size_t i = cell + 1; i < kMarkers; ++i) ++position[i];
  for (size_t i = 1; i + 1 < kMarkers; ++i) adjust(i);              // B3
}

// The k with height[k] <= x < height[k + 1], after a new extreme has taken the outer marker.
size_t MedianMarkers::cell_of(double x) {
  if (x < height[0]) {
    height[0] = x;
    return 0;
  }
  if (x >= height[kMarkers - 1]) {
    height[kMarkers - 1] = x;
    return kMarkers - 2;
  }
  size_t k = 0;
  while (x >= height[k + 1]) ++k;
  return k;
}

void MedianMarkers::adjust(size_t i) {
  // desired(i) - position[i], four times, in whole numbers.
  const int64_t off = (count - 1) * static_cast<int64_t>(i) - 4 * (position[i] - 1);
  const bool up = off >= 4 && position[i + 1] - position[i] > 1;
  const bool down = off <= -4 && position[i - 1] - position[i] < -1;
  if (!up && !down) return;
  const int64_t direction = up ? 1 : -1;
  const double candidate = parabolic(i, direction);
  // Written so that a candidate that overflowed to NaN is not taken.
  const bool between = height[i - 1] < candidate && candidate < height[i + 1];
  height[i] = between ? candidate : linear(i, direction);
  position[i] += direction;
}

double MedianMarkers::parabolic(size_t i, int64_t direction) const {
  const auto d = static_cast<double>(direction);
  const auto below = static_cast<double>(position[i] - position[i - 1]);
  const auto above = static_cast<double>(position[i + 1] - position[i]);
  const double rise_above = (height[i + 1] - height[i]) / above;
  const double rise_below = (height[i] - height[i - 1]) / below;
  return height[i] + d / (below + above) * ((below + d) * rise_above + (above - d) * rise_below);
}

double MedianMarkers::linear(size_t i, int64_t direction) const {
  const size_t other = direction > 0 ? i + 1 : i - 1;
  const auto apart = static_cast<double>(position[other] - position[i]);
  return height[i] + static_cast<double>(direction) * (height[other] - height[i]) / apart;
}

double MedianMarkers::median() const {
  if (warm()) return height[2];
  if (count == 0) return 0;
  std::array<double, kMarkers> sorted = height;
  const auto n = static_cast<size_t>(count);
  std::sort(sorted.begin(), sorted.begin() + static_cast<ptrdiff_t>(n));
  if (n % 2 == 1) return sorted[n / 2];
  return sorted[n / 2 - 1] + (sorted[n / 2] - sorted[n / 2 - 1]) / 2;
}

bool MedianMarkers::valid() const {
  if (!warm()) return true;
  for (size_t i = 0; i + 1 < kMarkers; ++i) {
    if (!(height[i] <= height[i + 1]) || position[i] >= position[i + 1]) return false;
  }
  return position[0] == 1 && position[kMarkers - 1] == count;
}

bool MedianEstimator::record(double x) {
  if (!std::isfinite(x) || x < 0) {
    ++rejected_;
    return false;
  }
  main_.add(x);
  if (horizon_ > 0) record_in_shadow(x);
  return true;
}

void MedianEstimator::record_in_shadow(double x) {
  // The shadow is filled in the second half of a period and takes over at its end.
  const int64_t half = std::max<int64_t>(horizon_ / 2, static_cast<int64_t>(MedianMarkers::kMarkers));
  const int64_t period = std::max(horizon_, half);
  if (in_period_ >= period - half) shadow_.add(x);
  if (++in_period_ < period) return;
  main_ = shadow_;
  shadow_ = MedianMarkers();
  in_period_ = 0;
}

}  // namespace posset::sched
