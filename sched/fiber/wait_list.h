// What waits for one thing, in the order it came: the list inside of every mutex, event or channel, under the lock of that.
// Who waits brings its place in the list along, on its stack. A wish may stand in several lists (a select); whoever grants
// it first, in one of them, is the only one. Granting takes the waiter out of the list and unparks it, still under the lock:
// so a waiter that takes the lock again knows whether it was granted, and that nobody will touch it any more.
//
// A wait is granted even when its deadline has passed or it was cancelled meanwhile: what was handed over is not lost.
#pragma once

#include <atomic>

#include "sched/base/thread_safety.h"
#include "sched/fiber/parker.h"

namespace posset::sched::fiber {

class Waiter;

// Something somebody waits for, in one list or several.
struct Wish {
  explicit Wish(Parker& who) : parker(who) {}
  Parker& parker;
  // Who granted it. Relaxed throughout: whatever comes with it is under the locks of the lists, all of which the waiter
  // takes before it looks.
  std::atomic<Waiter*> granted{nullptr};
};

class Waiter {
 public:
  explicit Waiter(Wish& wish, void* slot = nullptr) : wish_(wish), slot_(slot) {}
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  bool granted() const { return wish_.granted.load(std::memory_order_relaxed) == this; }
  // Where what is handed over comes from or goes to.
  void* slot() const { return slot_; }
  // Lets it go on. Once, by whoever got it from `WaitList::claim`, after it was given what it waits for.
  void unpark() { wish_.parker.unpark(); }

 private:
  friend class WaitList;
  bool try_grant() {
    Waiter* nobody = nullptr;
    return wish_.granted.compare_exchange_strong(nobody, this, std::memory_order_relaxed);
  }

  Wish& wish_;
  void* const slot_;
  Waiter* next_ = nullptr;
  Waiter* previous_ = nullptr;
  bool listed_ = false;
};

// All calls with the lock held that the list stands under.
class WaitList {
 public:
  WaitList() = default;
  WaitList(const WaitList&) = delete;
  WaitList& operator=(const WaitList&) = delete;

  bool empty() const { return first_ == nullptr; }
  void push(Waiter& waiter);
  // Nothing, if it is not in it any more.
  void remove(Waiter& waiter);
  // Takes out the first whose wish is granted by that. The caller then unparks it. Null: there is none.
  Waiter* claim();
  // Grants the first, or all.
  bool wake_one();
  void wake_all();

  // Parks until this is granted, `mutex` being held before and afterwards, but not while it waits.
  Wait wait(Mutex& mutex, Waiter& waiter, int64_t deadline_ns, const char* what) POSSET_REQUIRES(mutex);
  // As above for what has to be had, whether the task is cancelled or not. False: everything is being unwound.
  bool wait_regardless(Mutex& mutex, Waiter& waiter, const char* what) POSSET_REQUIRES(mutex);

 private:
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
};

}  // namespace posset::sched::fiber
