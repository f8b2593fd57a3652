// The residual over time, in bounded memory: when there is no room for another scan, every second one that was kept is
// dropped and from then on only every second one is kept. The newest is always there. One thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace posset::sched::fixpoint {

struct ResidualPoint {
  int64_t time_ns = 0;   // since the solve began
  uint64_t updates = 0;  // that were made until then
  double residual = 0;   // the largest of all coordinates
};

class ResidualHistory {
 public:
  // Keeps at most `capacity` points, at least 2.
  explicit ResidualHistory(size_t capacity) : capacity_(std::max<size_t>(capacity, 2)) {}

  void add(const ResidualPoint& point) {
    const uint64_t number = seen_++;
    // One place is left for the newest.
    if (number % stride_ == 0 && points_.size() + 1 == capacity_) thin();
    if (number % stride_ != 0) {
      newest_ = point;
    } else {
      points_.push_back(point);
      newest_.reset();
    }
  }

  // In the order of time.
  std::vector<ResidualPoint> points() const {
    std::vector<ResidualPoint> all = points_;
    if (newest_) all.push_back(*newest_);
    return all;
  }

 private:
  void thin() {
    size_t kept = 0;
    for (size_t i = 0; i < points_.size(); i += 2) points_[kept++] = points_[i];
    points_.resize(kept);
    stride_ *= 2;
  }

  const size_t capacity_;
  uint64_t seen_ = 0;
  uint64_t stride_ = 1;
  std::vector<ResidualPoint> points_;
  std::optional<ResidualPoint> newest_;  // unless it is among the points
};

}  // namespace posset::sched::fixpoint
