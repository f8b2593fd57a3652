// See tracker.h.
#include "sched/p2/tracker.h"

#include <algorithm>

#include "sched/base/random.h"

namespace posset::sched {

RuntimeTracker::RuntimeTracker(size_t max_types, int64_t horizon)
    : horizon_(horizon),
      shards_in_use_(std::clamp<size_t>(max_types, 1, kShards)),
      max_in_shard_(std::max<size_t>(max_types / shards_in_use_, 1)) {
  for (World* world : {&evaluations_, &compilations_}) {
    MutexLock lock(world->mutex);
    world->estimator = MedianEstimator(horizon);
  }
}

uint64_t RuntimeTracker::mix(const TaskType& type) {
  return Random(type.hash ^ (static_cast<uint64_t>(type.kind) << 61)).next();
}

RuntimeTracker::World& RuntimeTracker::world_of(const TaskType& type) {
  switch (type.kind) {
    case TaskKind::BytecodeCompile:
    case TaskKind::JitCompile: return compilations_;
    case TaskKind::Eval:
    case TaskKind::Generic: break;
  }
  return evaluations_;
}

bool RuntimeTracker::record_in_world(const TaskType& type, double took_ns) {
  World& world = world_of(type);
  MutexLock lock(world.mutex);
  if (!world.estimator.record(took_ns)) return false;
  ++world.recorded;
  return true;
}

bool RuntimeTracker::record(TaskType type, double took_ns) {
  if (!record_in_world(type, took_ns)) return false;
  const uint64_t mixed = mix(type);
  Shard& shard = shard_of(mixed);
  MutexLock lock(shard.mutex);
  const Recent& recent = recent_of(shard, mixed);
  // What was recorded lately is found without the index.
  const bool is_recent = recent.key.load(std::memory_order_relaxed) == key_of(mixed);
  const uint32_t place = is_recent ? use(shard, recent.place) : place_of(shard, type);
  MedianEstimator& estimator = shard.slots[place].estimator;
  estimator.record(took_ns);
  if (estimator.warm()) publish(shard, mixed, place);
  return true;
}

double RuntimeTracker::estimate_ns(TaskType type) {
  const uint64_t mixed = mix(type);
  Shard& shard = shard_of(mixed);
  Recent& recent = recent_of(shard, mixed);
  // Acquire, twice: the median is read after the key, and the key again after the median.
  if (recent.key.load(std::memory_order_acquire) == key_of(mixed)) {
    const double median_ns = recent.median_ns.load(std::memory_order_acquire);
    if (recent.key.load(std::memory_order_relaxed) == key_of(mixed)) {
      if (!recent.asked.load(std::memory_order_relaxed)) recent.asked.store(true, std::memory_order_relaxed);
      return median_ns;
    }
  }
  {
    MutexLock lock(shard.mutex);
    auto found = shard.index.find(type);
    if (found != shard.index.end()) {
      Slot& slot = shard.slots[found->second];
      slot.used_lately = true;
      if (slot.estimator.warm()) return slot.estimator.median();
    }
  }
  World& world = world_of(type);
  MutexLock lock(world.mutex);
  return world.estimator.median();
}

uint32_t RuntimeTracker::use(Shard& shard, uint32_t place) {
  shard.slots[place].used_lately = true;
  return place;
}

uint32_t RuntimeTracker::place_of(Shard& shard, const TaskType& type) {
  auto found = shard.index.find(type);
  if (found != shard.index.end()) return use(shard, found->second);
  const uint32_t place = free_place(shard);
  shard.slots[place] = Slot{.type = type, .estimator = MedianEstimator(horizon_)};
  shard.index.emplace(type, place);
  return place;
}

// A new place while there may be more, else that of a type not used since the hand last passed.
uint32_t RuntimeTracker::free_place(Shard& shard) {
  if (shard.slots.size() < max_in_shard_) {
    shard.slots.emplace_back();
    return static_cast<uint32_t>(shard.slots.size() - 1);
  }
  for (;;) {
    const auto place = static_cast<uint32_t>(shard.hand);
    shard.hand = (shard.hand + 1) % shard.slots.size();
    Slot& slot = shard.slots[place];
    const bool asked = take_asked(shard, place);
    if (!slot.used_lately && !asked) {
      withdraw(shard, place);
      shard.index.erase(slot.type);
      ++shard.evicted;
      return place;
    }
    slot.used_lately = false;
  }
}

void RuntimeTracker::publish(Shard& shard, uint64_t mixed, uint32_t place) {
  Recent& recent = recent_of(shard, mixed);
  const double median_ns = shard.slots[place].estimator.median();
  const uint64_t before = recent.key.load(std::memory_order_relaxed);
  if (before != key_of(mixed)) {
    if (before != 0 && take_asked(shard, recent.place)) shard.slots[recent.place].used_lately = true;
    recent.key.store(0, std::memory_order_relaxed);
    recent.place = place;
  }
  // Release: who reads this median does not find the key of the type before.
  recent.median_ns.store(median_ns, std::memory_order_release);
  if (before != key_of(mixed)) recent.key.store(key_of(mixed), std::memory_order_release);
}

bool RuntimeTracker::take_asked(Shard& shard, uint32_t place) {
  for (Recent& recent : shard.recent) {
    const bool of_place = recent.key.load(std::memory_order_relaxed) != 0 && recent.place == place;
    if (of_place && recent.asked.load(std::memory_order_relaxed)) {
      recent.asked.store(false, std::memory_order_relaxed);
      return true;
    }
  }
  return false;
}

void RuntimeTracker::withdraw(Shard& shard, uint32_t place) {
  for (Recent& recent : shard.recent) {
    if (recent.place == place) recent.key.store(0, std::memory_order_relaxed);
  }
}

RuntimeTracker::Statistics RuntimeTracker::statistics() const {
  Statistics sum;
  for (const Shard& shard : shards_) {
    MutexLock lock(shard.mutex);
    sum.types += shard.slots.size();
    sum.evicted += shard.evicted;
  }
  for (const World* world : {&evaluations_, &compilations_}) {
    MutexLock lock(world->mutex);
    sum.recorded += world->recorded;
    sum.rejected += world->estimator.rejected();
  }
  return sum;
}

}  // namespace posset::sched
