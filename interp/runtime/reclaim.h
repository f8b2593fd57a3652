// When evicted code may be freed. Code is evicted while other threads run, and some of them may be inside it.
// Every context that evaluates has a slot which says since which epoch it has been running; code evicted at
// epoch e is freed once every running context began after e (epoch-based reclamation: Fraser, "Practical
// lock-freedom", 2004). An evaluation that never ends delays freeing, it does not stop eviction: what is
// evicted is not entered again.
//
// Calls that are over in no time have no epoch: that one runs holds up all freeing (ShortCalls). While code waits there are to be none,
// so that it does not wait for a moment when nobody is inside.
//
// Code waits in the order of its epochs, so what may be freed stands in front. An evaluation that ends frees a few
// pieces only: thousands may be evicted at once, and whoever evaluates is not to wait for all of them. Compilations,
// which nobody waits for, free all they can.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "sched/base/asymmetric_fence.h"
#include "sched/base/thread_safety.h"

namespace posset::interp {

struct TierInterface;

// By plain stores of one thread and a light fence; any thread reads them.
struct ShortCalls {
  std::atomic<uintptr_t> inside{0};  // not 0: one runs
  std::atomic<uintptr_t> open{0};    // not 0: whose the next may be; 0: it enters a slot, and leaves it, as others do. Anybody may clear it
};

class Reclaimer {
 public:
  Reclaimer() = default;
  ~Reclaimer();  // nobody runs any more
  Reclaimer(const Reclaimer&) = delete;
  Reclaimer& operator=(const Reclaimer&) = delete;

  // Held by whoever may read code pointers: a context, a compilation. Used by one thread at a time.
  class Slot {
   public:
    explicit Slot(Reclaimer& owner);
    ~Slot();
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    // Around all reading and running of code.
    void enter() {
      // Sequentially consistent: either the collector sees this slot, or this thread sees that the code is no
      // longer published.
      since_.exchange(owner_.epoch_.load(std::memory_order_seq_cst), std::memory_order_seq_cst);
    }
    // The same without atomics, where there is an asymmetric fence: the collector makes the fence for both.
    void enter_lightly() {
      since_.store(owner_.epoch_.load(std::memory_order_relaxed), std::memory_order_relaxed);
      sched::light_fence();
    }
    void leave() {
      since_.store(0, std::memory_order_release);
      owner_.collect_few();
    }
    // They run code, too. Null, as at first: there are none.
    void watch(ShortCalls* short_calls) POSSET_EXCLUDES(owner_.mutex_);
    // As `leave`, where a short call is still said to run; who has done with that calls `collect_few`.
    void leave_quietly() { since_.store(0, std::memory_order_release); }
    void leave_and_free() {
      since_.store(0, std::memory_order_release);
      if (owner_.waiting_.load(std::memory_order_relaxed) != 0) owner_.collect();
    }

   private:
    friend class Reclaimer;
    Reclaimer& owner_;
    std::atomic<uint64_t> since_{0};  // 0: not running
    ShortCalls* short_calls_ = nullptr;  // guarded by the owner's mutex
  };

  // Enters for a scope.
  class Pin {
   public:
    explicit Pin(Reclaimer& owner) : slot_(owner) { slot_.enter(); }
    ~Pin() { slot_.leave_and_free(); }

   private:
    Slot slot_;
  };

  // Takes code that is no longer published; frees it now or when it can.
  void retire(const TierInterface* tier, void* code) POSSET_EXCLUDES(mutex_) {
    add(tier, code);
    collect();
  }
  // The same in two steps, for whoever holds a lock.
  void add(const TierInterface* tier, void* code) POSSET_EXCLUDES(mutex_);
  // Slots are entered lightly from here on.
  void allow_light_entries() { light_.store(true, std::memory_order_seq_cst); }
  void collect_few() POSSET_EXCLUDES(mutex_) {
    if (waiting_.load(std::memory_order_relaxed) != 0) collect(kFew);
  }
  size_t waiting() const { return waiting_.load(std::memory_order_relaxed); }

 private:
  struct Retired {
    const TierInterface* tier;
    void* code;
    uint64_t epoch;
  };
  static constexpr size_t kFew = 16;  // some microseconds

  void collect(size_t most = SIZE_MAX) POSSET_EXCLUDES(mutex_);
  size_t take_free(std::array<Retired, kFew>& into, size_t most) POSSET_EXCLUDES(mutex_);
  static uint64_t running_since(const Slot& slot);
  uint64_t oldest_running() const POSSET_REQUIRES(mutex_);
  void fence_light_entries() POSSET_REQUIRES(mutex_);
  void close_short_calls() POSSET_REQUIRES(mutex_);

  static constexpr uint64_t kFirstEpoch = 1;  // of the first code that is retired

  std::atomic<uint64_t> epoch_{kFirstEpoch};
  std::atomic<size_t> waiting_{0};
  std::atomic<bool> light_{false};
  sched::Mutex mutex_;
  std::vector<Slot*> slots_ POSSET_GUARDED_BY(mutex_);
  std::deque<Retired> retired_ POSSET_GUARDED_BY(mutex_);
  uint64_t fenced_ POSSET_GUARDED_BY(mutex_) = 0;  // the epoch when light entries were fenced last
};

}  // namespace posset::interp
