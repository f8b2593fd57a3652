// The schedule that takes the largest residuals first. `rebuild` makes a new order (buckets.h) and publishes it;
// workers claim from the one they hold without a lock and go over to the new one with their next claim.
//
// A claim is one load, of the number of the newest generation, and one fetch_add on the cursor of the bucket the worker
// is in. A worker enters a bucket only after it has loaded its cursor and seen something left; so at most one
// fetch_add of each worker finds a bucket exhausted, and cursors do not run away. The worker's place (snapshot,
// bucket, hint that all buckets above are exhausted) is its own and is valid only for the generation it was made
// with: whoever takes a new snapshot begins at its top.
//
// Old snapshots live as long as a worker holds them, at most one for each worker.
//
// Claims alone do not see to it that every coordinate is updated again and again: whoever rebuilds before an order
// is through starves the small residuals, and with them the proof of convergence (Bertsekas, "Distributed asynchronous
// computation of fixed points", 1983, needs bounded delays). So after `coverage_period` orders that were replaced
// unfinished comes a sweep, and where that is replaced unfinished the next one goes on from there, until all n
// coordinates were handed out.
//
// `notify` keeps the residuals that workers met; `rebuild_from_notes` puts in order by them, which costs no
// evaluation of the operator. What a worker met is old: it was there before its own update, and neighbours have
// moved since. A coordinate whose neighbours happened not to move finds no residual at all and would be thought done
// with until the next sweep. So notes fade: a smaller one takes half of the one before at most.
//
//   ResidualBuckets schedule;
//   schedule.init(n, workers);           // the first order is a sweep: nothing is known yet
//   while (auto i = schedule.next(worker)) update(*i);
//   schedule.rebuild(residuals);         // from any thread
#pragma once

#include <atomic>
#include <limits>
#include <memory>
#include <vector>

#include "sched/base/thread_safety.h"
#include "sched/fixpoint/buckets.h"
#include "sched/fixpoint/scheduler.h"

namespace posset::sched::fixpoint {

class ResidualBuckets : public Scheduler {
 public:
  explicit ResidualBuckets(const BucketOptions& options = {}) : options_(sane(options)) {}

  void init(size_t n, size_t workers) override POSSET_EXCLUDES(rebuild_mutex_, mutex_);
  // These are final so that a loop that knows the type compiles them in.
  std::optional<size_t> next(size_t worker) final {
    if (worker >= places_.size()) return std::nullopt;
    Place& place = places_[worker];
    if (stale(place)) renew(place);
    const uint64_t i = place.cursor ? claim(place) : kNone;
    return i != kNone ? std::optional<size_t>(i) : next_elsewhere(place);
  }
  // The next ones, at most so many, as if they had been asked for one by one: how many there are. All of a bucket with one
  // fetch_add, which may leave its cursor behind its end.
  size_t next_run(size_t worker, size_t most, uint32_t* coordinates);
  void notify(size_t, size_t i, double residual) final {
    std::atomic_ref<double> note(notes_[i]);
    const double before = note.load(std::memory_order_relaxed);
    // In this order, so that NaN stays.
    const bool fades = before != kUnknown && before / 2 > residual;
    note.store(fades ? before / 2 : residual, std::memory_order_relaxed);
  }
  void rebuild(std::span<const double> residuals) override POSSET_EXCLUDES(rebuild_mutex_, mutex_);
  bool supports_rebuild() const final { return true; }
  std::string_view name() const override { return "residual"; }

  // As `rebuild`, by what `notify` was told and `rebuild` was given of each coordinate, faded as said above.
  // Coordinates nothing is known of come first.
  void rebuild_from_notes() POSSET_EXCLUDES(rebuild_mutex_, mutex_);

  // Whether a residual was NaN or infinite since `init`.
  bool diverged() const { return diverged_.load(std::memory_order_relaxed); }
  // The newest one.
  std::shared_ptr<BucketSnapshot> snapshot() const POSSET_EXCLUDES(mutex_);
  const BucketOptions& options() const { return options_; }

  // The parts of `next`, each of which touches one atomic; the simulator lets others in between. `next` calls nothing
  // else.

  // A worker's own. `cursor` is null unless the bucket had something left when the worker last looked.
  struct alignas(128) Place {
    uint64_t generation = 0;
    std::atomic<uint64_t>* cursor = nullptr;
    const uint32_t* coordinates = nullptr;
    uint64_t size = 0;
    size_t hint = 0;  // so many buckets from the top are exhausted
    std::shared_ptr<BucketSnapshot> snapshot;
  };
  Place& place(size_t worker) { return places_[worker]; }

  bool stale(const Place& place) const {
    // Acquire only for the sake of reading it together with what `renew` finds: the snapshot itself comes by the mutex.
    return generation_.load(std::memory_order_acquire) != place.generation;
  }
  // Goes over to the newest snapshot.
  void renew(Place& place) POSSET_EXCLUDES(mutex_);
  enum class Look : uint8_t { Entered, Passed, Exhausted };
  // Looks at the bucket at the hint: enters it, or passes it by.
  static Look look(Place& place);
  // Claims from the bucket it has entered. Empty: others were faster, and the worker has left it.
  static std::optional<size_t> take(Place& place) {
    const uint64_t i = claim(place);
    return i != kNone ? std::optional<size_t>(i) : std::nullopt;
  }
  // Claims in index order, where the snapshot is a sweep or its buckets are exhausted.
  std::optional<size_t> take_in_order(Place& place) const;

 private:
  // In place of an empty optional, which would be put together in memory.
  static constexpr uint64_t kNone = UINT64_MAX;
  // What nothing is known of is as urgent as can be, and yet finite: it is no divergence.
  static constexpr double kUnknown = std::numeric_limits<double>::max();

  static size_t claim_several(Place& place, size_t most, uint32_t* coordinates);
  static uint64_t claim(Place& place) {
    const uint64_t k = place.cursor->fetch_add(1, std::memory_order_relaxed);
    if (k < place.size) [[likely]] return place.coordinates[k];
    place.cursor = nullptr;
    return kNone;
  }
  std::optional<size_t> next_elsewhere(Place& place) const;
  template <class Read>
  void rebuild_by(const Read& read) POSSET_EXCLUDES(rebuild_mutex_, mutex_);
  template <class Read>
  bool sort_into_keys(const Read& read) POSSET_REQUIRES(rebuild_mutex_);
  std::shared_ptr<BucketSnapshot> make_next(const BucketSnapshot& current, bool all_tiny) POSSET_REQUIRES(rebuild_mutex_);
  void publish(std::shared_ptr<BucketSnapshot> made) POSSET_EXCLUDES(mutex_);

  const BucketOptions options_;
  std::vector<Place> places_;  // by worker
  std::vector<double> notes_;  // through atomic_ref, relaxed: each is by itself
  std::atomic<uint64_t> generation_{0};
  std::atomic<bool> diverged_{false};  // relaxed: nothing else is told by it

  Mutex rebuild_mutex_;  // taken before mutex_
  std::vector<uint16_t> keys_ POSSET_GUARDED_BY(rebuild_mutex_);  // buckets of the coordinates while an order is made
  uint32_t rebuilds_ POSSET_GUARDED_BY(rebuild_mutex_) = 0;  // since an order was last finished, sweeps not counted
  bool covering_ POSSET_GUARDED_BY(rebuild_mutex_) = false;  // the newest is a sweep because there were too many

  mutable Mutex mutex_;
  std::shared_ptr<BucketSnapshot> current_ POSSET_GUARDED_BY(mutex_);
};

}  // namespace posset::sched::fixpoint
