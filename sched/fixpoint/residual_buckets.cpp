// See residual_buckets.h.
#include "sched/fixpoint/residual_buckets.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace posset::sched::fixpoint {

void ResidualBuckets::init(size_t n, size_t workers) {
  if (n > kMaxCoordinates) throw std::length_error(std::to_string(n) + " coordinates, at most " + std::to_string(kMaxCoordinates));
  std::vector<Place> places(std::max<size_t>(workers, 1));
  {
    MutexLock lock(rebuild_mutex_);
    notes_.assign(n, kUnknown);
    keys_.assign(n, 0);
    rebuilds_ = 0;
    covering_ = false;
    diverged_.store(false, std::memory_order_relaxed);
  }
  const uint64_t generation = generation_.load(std::memory_order_relaxed) + 1;
  publish(std::make_shared<BucketSnapshot>(generation, n, 0, 0));
  places_.swap(places);
}

void ResidualBuckets::rebuild(std::span<const double> residuals) {
  if (residuals.size() != notes_.size()) {
    throw std::invalid_argument(std::to_string(residuals.size()) + " residuals for " + std::to_string(notes_.size()) +
                                " coordinates");
  }
  rebuild_by([&](size_t i) {
    notify(0, i, residuals[i]);
    return residuals[i];
  });
}

void ResidualBuckets::rebuild_from_notes() {
  rebuild_by([this](size_t i) { return std::atomic_ref<double>(notes_[i]).load(std::memory_order_relaxed); });
}

template <class Read>
void ResidualBuckets::rebuild_by(const Read& read) {
  MutexLock lock(rebuild_mutex_);
  const bool all_tiny = sort_into_keys(read);
  publish(make_next(*snapshot(), all_tiny));
}

// Each residual is read once: it may change meanwhile, and the sizes and places of an order must agree. True when
// none is larger than the base.
template <class Read>
bool ResidualBuckets::sort_into_keys(const Read& read) {
  bool all_tiny = true;
  bool diverged = false;
  for (size_t i = 0; i < keys_.size(); ++i) {
    const double residual = read(i);
    all_tiny = all_tiny && residual <= options_.base;
    diverged = diverged || !std::isfinite(residual);
    keys_[i] = static_cast<uint16_t>(bucket_of(residual, options_.base, options_.buckets));
  }
  if (diverged) diverged_.store(true, std::memory_order_relaxed);
  return all_tiny;
}

std::shared_ptr<BucketSnapshot> ResidualBuckets::make_next(const BucketSnapshot& current, bool all_tiny) {
  const uint64_t generation = current.generation() + 1;
  const size_t n = current.size();
  const bool swept = covering_;
  const size_t done = current.sweep_done();  // once: workers go on
  if (swept ? done >= n : current.finished()) rebuilds_ = 0;
  covering_ = rebuilds_ >= options_.coverage_period;
  if (covering_) {
    if (!swept) return std::make_shared<BucketSnapshot>(generation, n, 0, 0);
    return std::make_shared<BucketSnapshot>(generation, n, current.sweep_start(done), done);
  }
  ++rebuilds_;
  // With nothing to put first, index order is the better one: neighbours share cache lines.
  if (all_tiny && options_.fallback) return std::make_shared<BucketSnapshot>(generation, n, 0, 0);
  return std::make_shared<BucketSnapshot>(generation, keys_, options_.buckets);
}

void ResidualBuckets::publish(std::shared_ptr<BucketSnapshot> made) {
  const uint64_t generation = made->generation();
  {
    MutexLock lock(mutex_);
    current_.swap(made);
  }
  // Release pairs with the acquire of `stale`: who sees the number finds that snapshot, or a later one.
  generation_.store(generation, std::memory_order_release);
  // `made`, now the old one, goes here unless a worker holds it: outside the lock.
}

std::shared_ptr<BucketSnapshot> ResidualBuckets::snapshot() const {
  MutexLock lock(mutex_);
  return current_;
}

void ResidualBuckets::renew(Place& place) {
  std::shared_ptr<BucketSnapshot> newest = snapshot();
  place.generation = newest->generation();
  place.cursor = nullptr;
  place.hint = 0;
  place.snapshot.swap(newest);
}

ResidualBuckets::Look ResidualBuckets::look(Place& place) {
  BucketSnapshot& snapshot = *place.snapshot;
  if (place.hint >= snapshot.buckets()) return Look::Exhausted;
  const size_t b = snapshot.buckets() - 1 - place.hint;
  std::atomic<uint64_t>& cursor = snapshot.cursor(b);
  if (cursor.load(std::memory_order_relaxed) >= snapshot.bucket_size(b)) {
    ++place.hint;
    return Look::Passed;
  }
  place.cursor = &cursor;
  place.coordinates = snapshot.bucket(b);
  place.size = snapshot.bucket_size(b);
  return Look::Entered;
}

std::optional<size_t> ResidualBuckets::take_in_order(Place& place) const {
  BucketSnapshot& snapshot = *place.snapshot;
  if (snapshot.size() == 0) return std::nullopt;
  if (options_.fallback) return snapshot.in_order();
  return snapshot.in_order_once();
}

size_t ResidualBuckets::next_run(size_t worker, size_t most, uint32_t* coordinates) {
  if (worker >= places_.size()) return 0;
  Place& place = places_[worker];
  if (stale(place)) renew(place);
  size_t count = 0;
  while (count < most) {
    if (place.cursor) {
      count += claim_several(place, most - count, coordinates + count);
    } else if (const std::optional<size_t> i = next_elsewhere(place)) {
      coordinates[count++] = static_cast<uint32_t>(*i);
    } else {
      break;
    }
  }
  return count;
}

size_t ResidualBuckets::claim_several(Place& place, size_t most, uint32_t* coordinates) {
  const uint64_t k = place.cursor->fetch_add(most, std::memory_order_relaxed);
  const size_t count = k < place.size ? std::min<uint64_t>(most, place.size - k) : 0;
  if (count > 0) std::copy_n(place.coordinates + k, count, coordinates);
  if (count < most) place.cursor = nullptr;
  return count;
}

std::optional<size_t> ResidualBuckets::next_elsewhere(Place& place) const {
  for (;;) {
    Look found;
    while ((found = look(place)) == Look::Passed) {
    }
    if (found == Look::Exhausted) return take_in_order(place);
    if (const std::optional<size_t> i = take(place)) return i;
  }
}

}  // namespace posset::sched::fixpoint
