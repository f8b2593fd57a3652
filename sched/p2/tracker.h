// How long tasks took, by type: one median estimator for each type, and one for all compilations and one
// for all evaluations, which answer for a type that was seen fewer than five times. The two worlds are kept
// apart because a compilation says nothing about how long an evaluation takes.
//
// Any thread may record and ask. The median of a type that was recorded lately stands where it is read without a
// lock, so that whoever submits does not wait for whoever records. Otherwise types are spread over shards by their hash, each with its lock. There are
// at most `max_types` types; beyond, a shard gives the place of a type that was not used lately to the new
// one (CLOCK: a hand goes round, takes the first place whose mark is clear and clears marks on its way; every
// use but the first sets a mark, so a flood of types seen once does not drive out those in use).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sched/base/thread_safety.h"
#include "sched/p2/median.h"
#include "sched/p2/task.h"

namespace posset::sched {

class RuntimeTracker {
 public:
  static constexpr size_t kMaxTypes = 65'536;

  // `horizon`: of every estimator, see MedianEstimator.
  explicit RuntimeTracker(size_t max_types = kMaxTypes, int64_t horizon = 0);

  // False: not a duration; counted.
  bool record(TaskType type, double took_ns);
  // The type's own median from its fifth record on; that of its world before; 0 when that is empty too.
  double estimate_ns(TaskType type);

  struct Statistics {
    size_t types = 0;
    uint64_t recorded = 0;
    uint64_t rejected = 0;
    uint64_t evicted = 0;
  };
  Statistics statistics() const;

 private:
  struct Slot {
    TaskType type;
    bool used_lately = false;  // not by the record that brought it: what comes once goes first
    MedianEstimator estimator;
  };
  // The median of a type that knows its own. Written under the shard's lock. A reader that sees the key before and
  // after sees the type's median, or, where the place changed hands twice meanwhile, another one: it is an estimate.
  struct alignas(64) Recent {
    std::atomic<uint64_t> key{0};  // of the type; 0: none
    std::atomic<double> median_ns{0};
    std::atomic<bool> asked{false};  // since the hand last passed
    uint32_t place = 0;              // of the type's slot; for writers
  };
  struct HashType {
    size_t operator()(const TaskType& type) const { return mix(type); }
  };
  // Cache lines of their own: threads of different types do not disturb each other.
  struct alignas(64) Shard {
    mutable Mutex mutex;
    std::vector<Slot> slots POSSET_GUARDED_BY(mutex);
    std::unordered_map<TaskType, uint32_t, HashType> index POSSET_GUARDED_BY(mutex);  // never iterated
    size_t hand POSSET_GUARDED_BY(mutex) = 0;
    uint64_t evicted POSSET_GUARDED_BY(mutex) = 0;
    std::array<Recent, 2> recent;
  };
  struct alignas(64) World {
    mutable Mutex mutex;
    MedianEstimator estimator POSSET_GUARDED_BY(mutex);
    uint64_t recorded POSSET_GUARDED_BY(mutex) = 0;
  };

  static uint64_t mix(const TaskType& type);
  Shard& shard_of(uint64_t mixed) { return shards_[(mixed >> 32) % shards_in_use_]; }
  World& world_of(const TaskType& type);
  bool record_in_world(const TaskType& type, double took_ns);
  static uint32_t use(Shard& shard, uint32_t place) POSSET_REQUIRES(shard.mutex);
  uint32_t place_of(Shard& shard, const TaskType& type) POSSET_REQUIRES(shard.mutex);
  uint32_t free_place(Shard& shard) POSSET_REQUIRES(shard.mutex);

  static Recent& recent_of(Shard& shard, uint64_t mixed) { return shard.recent[(mixed >> 1) % shard.recent.size()]; }
  static uint64_t key_of(uint64_t mixed) { return mixed | 1; }  // not 0
  static void publish(Shard& shard, uint64_t mixed, uint32_t place) POSSET_REQUIRES(shard.mutex);
  static bool take_asked(Shard& shard, uint32_t place) POSSET_REQUIRES(shard.mutex);
  static void withdraw(Shard& shard, uint32_t place) POSSET_REQUIRES(shard.mutex);

  static constexpr size_t kShards = 16;
  const int64_t horizon_;
  const size_t shards_in_use_;  // fewer when there are fewer types than shards
  const size_t max_in_shard_;
  std::array<Shard, kShards> shards_;
  World evaluations_;
  World compilations_;
};

}  // namespace posset::sched
