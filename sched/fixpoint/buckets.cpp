// See buckets.h. The order is made by counting: sizes, their sums, then every coordinate to its place in increasing
// order, so that the order within a bucket is that of the coordinates.
#include "sched/fixpoint/buckets.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace posset::sched::fixpoint {

BucketOptions sane(BucketOptions options) {
  constexpr double kLeastBase = 1e-300;
  options.buckets = std::clamp<uint32_t>(options.buckets, 1, kMaxBuckets);
  if (!(options.base >= kLeastBase)) options.base = kLeastBase;
  options.coverage_period = std::max<uint32_t>(options.coverage_period, 1);
  return options;
}

uint32_t bucket_of(double residual, double base, uint32_t buckets) {
  if (!std::isfinite(residual)) return buckets - 1;
  const double quotient = residual / base;
  if (!(quotient > 1)) return 0;
  if (std::isinf(quotient)) return buckets - 1;  // larger than any bucket, and no exponent to take
  int exponent;
  std::frexp(quotient, &exponent);  // in [0.5, 1), so the logarithm is one less
  return std::min(buckets - 1, static_cast<uint32_t>(exponent - 1));
}

BucketSnapshot::BucketSnapshot(uint64_t generation, std::span<const uint16_t> keys, uint32_t buckets)
    : generation_(generation), n_(keys.size()), indices_(keys.size()), offsets_(buckets + 1), cursors_(buckets) {
  for (uint16_t key : keys) ++offsets_[key + 1];
  std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
  std::vector<size_t> place(offsets_.begin(), offsets_.end() - 1);
  for (size_t i = 0; i < n_; ++i) indices_[place[keys[i]]++] = static_cast<uint32_t>(i);
}

BucketSnapshot::BucketSnapshot(uint64_t generation, size_t n, size_t start, size_t carried)
    : generation_(generation), n_(n), start_(start), carried_(carried) {}

size_t BucketSnapshot::hot(double tolerance, double base) const {
  constexpr size_t kSpread = 6;
  if (is_sweep()) return n_;
  size_t top = buckets() - 1;
  while (top > 0 && bucket_size(top) == 0) --top;
  const size_t least = bucket_of(tolerance, base, static_cast<uint32_t>(buckets()));
  return n_ - offsets_[std::min(top, std::max(least, top > kSpread ? top - kSpread : 0))];
}

std::optional<size_t> BucketSnapshot::in_order_once() {
  const size_t left = is_sweep() ? n_ - carried_ : 0;
  // The load keeps the cursor from running away where workers ask again and again.
  if (round_.next.load(std::memory_order_relaxed) >= left) return std::nullopt;
  const uint64_t k = round_.next.fetch_add(1, std::memory_order_relaxed);
  if (k >= left) return std::nullopt;
  return (start_ + k) % n_;
}

bool BucketSnapshot::finished() const {
  if (is_sweep()) return sweep_done() >= n_;
  for (size_t b = 0; b < buckets(); ++b) {
    if (cursors_[b].next.load(std::memory_order_relaxed) < bucket_size(b)) return false;
  }
  return true;
}

}  // namespace posset::sched::fixpoint
