// Coordinates in buckets by the size of their residuals, the largest first: bucket b holds base * 2^b up to
// base * 2^(b+1), bucket 0 everything below, the last everything above.
//
// A BucketSnapshot is one such order with a cursor for each bucket. It never changes but for its cursors, so any
// number of workers can claim from it while the next one is being made; each coordinate is handed out exactly once,
// because a cursor gives each number to one worker. Then it goes round in index order, from 0.
//
// A snapshot may also be a sweep: index order from the start, without buckets.
//
// Elsewhere: which snapshot is the current one, and who holds the old ones (residual_buckets.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace posset::sched::fixpoint {

struct BucketOptions {
  uint32_t buckets = 32;      // at least 1; more than kMaxBuckets could not be told apart
  double base = 1e-12;        // at least 1e-300
  bool fallback = true;       // when every coordinate was handed out: go round, else there are none
  uint32_t coverage_period = 4;  // at least 1: so many orders may be replaced before they were handed out whole
};

// The quotient of two doubles is below 2^1024 or infinite.
constexpr uint32_t kMaxBuckets = 1025;

// Within the bounds above; a base that is no number becomes the least.
BucketOptions sane(BucketOptions options);

// min(buckets - 1, floor(log2(residual / base))), and 0 where that is negative or the residual is not positive.
// Exact at every boundary: the logarithm is the binary exponent of the quotient. NaN and infinity are in the last
// bucket: who looks for what is wrong finds it first.
uint32_t bucket_of(double residual, double base, uint32_t buckets);

class BucketSnapshot {
 public:
  // A position that many workers move on, on cache lines of its own.
  struct alignas(64) Cursor {
    // 64 bits do not wrap. Relaxed everywhere: a cursor hands out numbers and publishes nothing else.
    std::atomic<uint64_t> next{0};
  };

  // By buckets: coordinate i belongs to bucket keys[i].
  BucketSnapshot(uint64_t generation, std::span<const uint16_t> keys, uint32_t buckets);
  // A sweep from `start` on, of which `carried` coordinates before `start` were handed out by its predecessors.
  BucketSnapshot(uint64_t generation, size_t n, size_t start, size_t carried);
  BucketSnapshot(const BucketSnapshot&) = delete;
  BucketSnapshot& operator=(const BucketSnapshot&) = delete;

  uint64_t generation() const { return generation_; }
  size_t size() const { return n_; }
  bool is_sweep() const { return cursors_.empty(); }
  size_t buckets() const { return cursors_.size(); }

  size_t bucket_size(size_t b) const { return offsets_[b + 1] - offsets_[b]; }
  const uint32_t* bucket(size_t b) const { return indices_.data() + offsets_[b]; }
  std::atomic<uint64_t>& cursor(size_t b) { return cursors_[b].next; }
  // Of all buckets one after the other, the smallest residuals first.
  std::span<const uint32_t> indices() const { return indices_; }
  std::span<const size_t> offsets() const { return offsets_; }
  // How many coordinates are hot, as the buckets tell: those not below the tolerance's bucket, and at most six below the
  // topmost that is not empty, which is 1/64 of its residuals. All, where there are no buckets.
  size_t hot(double tolerance, double base) const;

  // In index order, round and round: the sweep, or what comes when the buckets are exhausted. n > 0.
  size_t in_order() { return (start_ + round_.next.fetch_add(1, std::memory_order_relaxed)) % n_; }
  // The same without another round: what is left of a sweep, and nothing after buckets.
  std::optional<size_t> in_order_once();

  // Was every coordinate handed out?
  bool finished() const;
  // How many coordinates a sweep and those it goes on from have handed out.
  size_t sweep_done() const { return carried_ + round_.next.load(std::memory_order_relaxed); }
  // Where a sweep goes on that has `done` behind it; n > 0.
  size_t sweep_start(size_t done) const { return (start_ + done - carried_) % n_; }

 private:
  const uint64_t generation_;
  const size_t n_;
  const size_t start_ = 0;
  const size_t carried_ = 0;
  std::vector<uint32_t> indices_;
  std::vector<size_t> offsets_;  // one more than buckets
  std::vector<Cursor> cursors_;  // by bucket
  Cursor round_;
};

}  // namespace posset::sched::fixpoint
