// The residual buckets of the fixed-point solver in the simulator: workers that claim and notify, and rebuilders, each
// touching one atomic in a step. Between a worker's look at the generation, its look at a bucket and its claim anything
// may happen, so that every mixture of old and new orders is met.
//
// The schedule is a parameter so that a test can put a broken one in and see it caught. Invariants:
//   permutation  the first n claims of an order are all different
//   purity       a claim gives what the order holds that the worker took it from: the next of that bucket
//   highest      nothing is claimed from a bucket while one above it has something left; so the bucket of one worker
//                never goes up within an order
//   coverage     no coordinate waits for more than so many claims
//   memory       no more orders are alive than workers can hold, and the newest
//
// Elsewhere: halts and scans (fixpoint_halt_world.h).
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sched/fixpoint/residual_buckets.h"
#include "sched/sim/simulation.h"

namespace posset::sched {

struct FixpointPlan {
  size_t n = 0;
  size_t workers = 1;
  size_t claims = 0;  // of each worker
  fixpoint::BucketOptions options;
  // Residuals to rebuild by, one after the other; none: by the notes. Each list is one rebuilder's.
  std::vector<std::vector<std::optional<std::vector<double>>>> rebuilders;
  // What workers find, a turn of theirs after the other.
  std::vector<double> notes = {1};
  bool check_coverage = true;
};

template <class Buckets = fixpoint::ResidualBuckets>
class FixpointWorld final : public World {
 public:
  FixpointWorld(Simulation& simulation, const FixpointPlan& plan);

  void hash_into(StateHash& hash) const override;
  std::string unfinished() const override;

  static Scenario scenario(const FixpointPlan& plan) {
    return [&plan](Simulation& simulation) { return std::make_unique<FixpointWorld>(simulation, plan); };
  }

 private:
  // What an order was when it was published, and what was claimed of it since.
  struct Order {
    std::vector<uint32_t> indices;
    std::vector<size_t> offsets;  // empty: a sweep
    std::vector<size_t> taken;    // by bucket
    std::set<size_t> claimed;     // of the first n claims
    size_t claims = 0;
    std::weak_ptr<fixpoint::BucketSnapshot> snapshot;
  };

  class Worker final : public Actor {
   public:
    enum class State : uint8_t { Checks, Renews, Claims, InOrder, Notifies, Idles };
    Worker(FixpointWorld& world, size_t number) : world_(world), number_(number) {}
    std::string name() const override { return "worker" + std::to_string(number_); }
    bool enabled() const override {
      if (claimed_ >= world_.plan_.claims) return false;
      return state_ != State::Idles || world_.buckets_.stale(world_.buckets_.place(number_));
    }
    std::string step() override;
    void hash_into(StateHash& hash) const override;

   private:
    std::string check();
    std::string claim();
    std::string claim_in_order();
    std::string notify();
    std::string got(size_t coordinate, std::optional<size_t> bucket);

    FixpointWorld& world_;
    const size_t number_;
    State state_ = State::Checks;
    size_t coordinate_ = 0;
    size_t claimed_ = 0;
  };

  class Rebuilder final : public Actor {
   public:
    Rebuilder(FixpointWorld& world, size_t number) : world_(world), number_(number) {}
    std::string name() const override { return "rebuilder" + std::to_string(number_); }
    bool enabled() const override { return next_ < world_.plan_.rebuilders[number_].size(); }
    std::string step() override { return world_.rebuild(world_.plan_.rebuilders[number_][next_++]); }
    void hash_into(StateHash& hash) const override { hash.add(next_); }

   private:
    FixpointWorld& world_;
    const size_t number_;
    size_t next_ = 0;
  };

  std::string rebuild(const std::optional<std::vector<double>>& residuals);
  void keep_order();
  void check_buckets(const Order& order, const std::vector<double>& residuals);
  void check_claim(uint64_t generation, size_t coordinate, std::optional<size_t> bucket);
  void check_coverage(size_t coordinate);
  std::string check_memory() const;

  Simulation& simulation_;
  const FixpointPlan& plan_;
  Buckets buckets_;
  std::map<uint64_t, Order> orders_;  // by generation
  std::vector<uint64_t> last_claim_;  // by coordinate: how many claims there had been
  uint64_t claims_ = 0;
  std::vector<std::unique_ptr<Actor>> actors_;
};

template <class Buckets>
FixpointWorld<Buckets>::FixpointWorld(Simulation& simulation, const FixpointPlan& plan)
    : simulation_(simulation), plan_(plan), buckets_(plan.options), last_claim_(plan.n) {
  buckets_.init(plan.n, plan.workers);
  keep_order();
  for (size_t i = 0; i < plan.workers; ++i) actors_.push_back(std::make_unique<Worker>(*this, i));
  for (size_t i = 0; i < plan.rebuilders.size(); ++i) actors_.push_back(std::make_unique<Rebuilder>(*this, i));
  for (auto& actor : actors_) simulation.add(*actor);
  simulation.invariant("memory", [this] { return check_memory(); });
}

template <class Buckets>
std::string FixpointWorld<Buckets>::rebuild(const std::optional<std::vector<double>>& residuals) {
  if (residuals) {
    buckets_.rebuild(*residuals);
  } else {
    buckets_.rebuild_from_notes();
  }
  keep_order();
  const auto& [generation, order] = *orders_.rbegin();
  if (residuals && !order.offsets.empty()) check_buckets(order, *residuals);
  return "publishes order " + std::to_string(generation) + (order.offsets.empty() ? ", a sweep" : "");
}

template <class Buckets>
void FixpointWorld<Buckets>::keep_order() {
  const std::shared_ptr<fixpoint::BucketSnapshot> snapshot = buckets_.snapshot();
  Order order;
  order.snapshot = snapshot;
  order.indices.assign(snapshot->indices().begin(), snapshot->indices().end());
  order.offsets.assign(snapshot->offsets().begin(), snapshot->offsets().end());
  order.taken.assign(snapshot->buckets(), 0);
  orders_.emplace(snapshot->generation(), std::move(order));
}

// Against the formula, coordinate by coordinate.
template <class Buckets>
void FixpointWorld<Buckets>::check_buckets(const Order& order, const std::vector<double>& residuals) {
  const fixpoint::BucketOptions& options = buckets_.options();
  for (size_t b = 0; b + 1 < order.offsets.size(); ++b) {
    for (size_t at = order.offsets[b]; at < order.offsets[b + 1]; ++at) {
      const uint32_t should = fixpoint::bucket_of(residuals[order.indices[at]], options.base, options.buckets);
      if (should != b) simulation_.fail("purity", std::to_string(order.indices[at]) + " is in bucket " + std::to_string(b));
    }
  }
}

template <class Buckets>
void FixpointWorld<Buckets>::check_claim(uint64_t generation, size_t coordinate, std::optional<size_t> bucket) {
  Order& order = orders_.at(generation);
  const std::string what = "coordinate " + std::to_string(coordinate) + " of order " + std::to_string(generation);
  if (order.claims++ < plan_.n && !order.claimed.insert(coordinate).second) {
    simulation_.fail("permutation", what + " was claimed twice");
  }
  if (!bucket) return check_coverage(coordinate);
  const size_t at = order.offsets[*bucket] + order.taken[*bucket]++;
  if (at >= order.offsets[*bucket + 1] || order.indices[at] != coordinate) {
    simulation_.fail("purity", what + " is not the next of bucket " + std::to_string(*bucket));
  }
  for (size_t b = *bucket + 1; b < order.taken.size(); ++b) {
    if (order.taken[b] < order.offsets[b + 1] - order.offsets[b]) {
      simulation_.fail("highest", what + " was claimed before those of bucket " + std::to_string(b));
    }
  }
  check_coverage(coordinate);
}

// At most: a round from the beginning of a pass to its end, as many orders cut short as are allowed, a sweep, and what
// workers claim late from orders they still hold.
template <class Buckets>
void FixpointWorld<Buckets>::check_coverage(size_t coordinate) {
  last_claim_[coordinate] = ++claims_;
  if (!plan_.check_coverage) return;
  const uint64_t most = (plan_.n + plan_.workers) * (fixpoint::BucketOptions().coverage_period + 3);
  for (size_t i = 0; i < plan_.n; ++i) {
    if (claims_ - last_claim_[i] <= most) continue;
    simulation_.fail("coverage", "coordinate " + std::to_string(i) + " was not claimed for " + std::to_string(most) + " claims");
  }
}

template <class Buckets>
std::string FixpointWorld<Buckets>::check_memory() const {
  size_t alive = 0;
  for (const auto& [generation, order] : orders_) alive += !order.snapshot.expired();
  return alive <= plan_.workers + 1 ? "" : std::to_string(alive) + " orders are alive";
}

template <class Buckets>
std::string FixpointWorld<Buckets>::Worker::step() {
  switch (state_) {
    case State::Checks:
    case State::Idles: return check();
    case State::Renews:
      world_.buckets_.renew(world_.buckets_.place(number_));
      state_ = State::Claims;
      return "takes order " + std::to_string(world_.buckets_.place(number_).snapshot->generation());
    case State::Claims: return claim();
    case State::InOrder: return claim_in_order();
    case State::Notifies: return notify();
  }
  return "";
}

template <class Buckets>
std::string FixpointWorld<Buckets>::Worker::check() {
  const bool stale = world_.buckets_.stale(world_.buckets_.place(number_));
  state_ = stale ? State::Renews : State::Claims;
  return stale ? "sees a new order" : "sees its order is the newest";
}

template <class Buckets>
std::string FixpointWorld<Buckets>::Worker::claim() {
  Buckets& buckets = world_.buckets_;
  auto& place = buckets.place(number_);
  if (!place.cursor) {
    const auto found = buckets.look(place);
    if (found == Buckets::Look::Exhausted) state_ = State::InOrder;
    return found == Buckets::Look::Entered ? "enters a bucket" : "finds a bucket empty";
  }
  const size_t bucket = place.snapshot->buckets() - 1 - place.hint;
  const std::optional<size_t> coordinate = buckets.take(place);
  return coordinate ? got(*coordinate, bucket) : "comes too late to a bucket";
}

template <class Buckets>
std::string FixpointWorld<Buckets>::Worker::claim_in_order() {
  const std::optional<size_t> coordinate = world_.buckets_.take_in_order(world_.buckets_.place(number_));
  if (coordinate) return got(*coordinate, std::nullopt);
  state_ = State::Idles;
  return "has none";
}

template <class Buckets>
std::string FixpointWorld<Buckets>::Worker::got(size_t coordinate, std::optional<size_t> bucket) {
  coordinate_ = coordinate;
  state_ = State::Notifies;
  ++claimed_;
  world_.check_claim(world_.buckets_.place(number_).generation, coordinate, bucket);
  return "claims " + std::to_string(coordinate) + (bucket ? " of bucket " + std::to_string(*bucket) : " in index order");
}

template <class Buckets>
std::string FixpointWorld<Buckets>::Worker::notify() {
  const double note = world_.plan_.notes[(number_ + coordinate_ + claimed_) % world_.plan_.notes.size()];
  world_.buckets_.notify(number_, coordinate_, note);
  state_ = State::Checks;
  return "notes " + std::to_string(coordinate_);
}

template <class Buckets>
void FixpointWorld<Buckets>::Worker::hash_into(StateHash& hash) const {
  const auto& place = world_.buckets_.place(number_);
  hash.add(static_cast<uint64_t>(state_));
  hash.add(claimed_ * 1'000'003 + coordinate_);
  hash.add(place.generation * 1'000'003 + place.hint * 2 + (place.cursor != nullptr));
}

template <class Buckets>
void FixpointWorld<Buckets>::hash_into(StateHash& hash) const {
  for (const auto& [generation, order] : orders_) {
    hash.add(order.claims);
    for (size_t taken : order.taken) hash.add(taken);
    for (uint32_t i : order.indices) hash.add(i);
  }
  for (uint64_t last : last_claim_) hash.add(claims_ - last);
}

// Without fallback workers may be left with nothing; with it each makes all its claims.
template <class Buckets>
std::string FixpointWorld<Buckets>::unfinished() const {
  if (plan_.n == 0 || !plan_.options.fallback) return "";
  return claims_ == plan_.workers * plan_.claims ? "" : "a worker stands still";
}

}  // namespace posset::sched
