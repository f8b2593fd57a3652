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
  Shard& shard = shard_of(type);
  MutexLock lock(shard.mutex);
  slot_of(shard, type).estimator.record(took_ns);
  return true;
}

double RuntimeTracker::estimate_ns(TaskType type) {
  {
    Shard& shard = shard_of(type);
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

RuntimeTracker::Slot& RuntimeTracker::slot_of(Shard& shard, const TaskType& type) {
  auto found = shard.index.find(type);
  if (found != shard.index.end()) {
    Slot& slot = shard.slots[found->second];
    slot.used_lately = true;
    return slot;
  }
  const uint32_t place = free_place(shard);
  shard.slots[place] = Slot{.type = type, .estimator = MedianEstimator(horizon_)};
  shard.index.emplace(type, place);
  return shard.slots[place];
}

// A new place while there may be more, else that of a type not used since the hand last passed.
uint32_t RuntimeTracker::free_place(Shard& shard) {
  if (shard.slots.size() < max_in_shard_) {
    shard.slots.emplace_back();
    return static_cast<uint32_t>(shard.slots.size() - 1);
  }
  for (;;) {
    const size_t place = shard.hand;
    shard.hand = (shard.hand + 1) % shard.slots.size();
    Slot& slot = shard.slots[place];
    if (!slot.used_lately) {
      shard.index.erase(slot.type);
      ++shard.evicted;
      return static_cast<uint32_t>(place);
    }
    slot.used_lately = false;
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
