// A context that one thread has been calling again and again is reserved for that thread (lock reservation, as for
// monitors: Kawachiya, Koseki, Onodera, "Lock reservation", 2002). The thread then enters with plain stores for calls that
// are likely to be short; everybody else, and this thread for everything else, enters as always, by the atomic exchange
// of posset_context::thread, and takes the reservation away first.
//
// `owner_` is written by whoever is inside by that exchange, `inside` by the owner alone. The owner says that it is
// inside, then looks whether it still is the owner; whoever takes the reservation away does these two the other way
// around. The fence between them is asymmetric (sched/base/asymmetric_fence.h): free for the owner. Where there is no such
// fence nothing is reserved.
//
// A call that does nothing but compute asks for less still: `open` is the owner while nothing is in the way of such a call, which
// begins, then looks at `owner_`. It is set and cleared by the owner, inside or where it is given the reservation, and cleared by who
// has taken that away and has seen that the owner is outside, so it cannot be set behind that. Anybody may clear it.
//
// Taking it away costs the other thread a microsecond, and a context that goes from thread to thread must not pay that
// each time: every time doubles the calls after which it is reserved again.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "interp/runtime/reclaim.h"
#include "sched/base/asymmetric_fence.h"

namespace posset::api {

class Reservation {
 public:
  // ---- the owner; threads are numbers, never 0 ----
  // False: it is not reserved for this thread, or that is inside already.
  bool enter(uintptr_t me) {
    // Relaxed: only this thread makes itself the owner, and what it is told by others it looks for again below.
    return owner_.load(std::memory_order_relaxed) == me && !is_inside(me) && begin(me);
  }
  // The same for a call that only computes: false also where it is closed to those.
  bool enter_to_compute(uintptr_t me) {
    return state_.open.load(std::memory_order_relaxed) == me && begin(me);
  }
  // Inside, and not by a call that only computes: it is closed to those meanwhile. Opened for what may be found to be in the way
  // after that: who has put it there makes a heavy fence and closes it.
  void open(uintptr_t me) {
    state_.open.store(me, std::memory_order_relaxed);
    sched::light_fence();
  }
  void close() { state_.open.store(0, std::memory_order_relaxed); }
  // By any thread, for what `open` is followed by a look at, and that is there now.
  void close_from_outside() {
    sched::heavy_fence();
    close();
  }
  interp::ShortCalls* short_calls() { return &state_; }
  // Release: whoever takes the reservation away sees what was done inside.
  void leave() { state_.inside.store(0, std::memory_order_release); }
  bool has_inside() const { return state_.inside.load(std::memory_order_acquire) != 0; }
  bool is_inside(uintptr_t me) const { return state_.inside.load(std::memory_order_relaxed) == me; }

  // ---- whoever is inside by posset_context::thread ----
  // False: the owner is inside, and nothing has changed.
  bool take_away(uintptr_t me) {
    const uintptr_t owner = owner_.load(std::memory_order_relaxed);
    if (owner == 0) return true;
    owner_.store(0, std::memory_order_relaxed);
    if (owner == me && !is_inside(me)) {
      close();
      comes_back_ = true;
      return true;
    }
    sched::heavy_fence();
    if (state_.inside.load(std::memory_order_acquire) != 0) {
      owner_.store(owner, std::memory_order_relaxed);
      return false;
    }
    close();
    wanted_ = std::min(wanted_ * 2, kMostCalls);
    forget();
    return true;
  }
  // Calls begin to be counted anew: something is no longer as the owner found it.
  void forget() {
    comes_back_ = false;
    calls_ = 0;
  }
  // One more call by this thread has ended. True: reserve it.
  bool has_called(uintptr_t me) {
    if (me != caller_) {
      caller_ = me;
      calls_ = 0;
    }
    return ++calls_ >= wanted_;
  }
  void reserve() { comes_back_ = true; }
  // It is being left. True: it is reserved from here on.
  bool come_back(uintptr_t me) {
    if (!comes_back_) return false;
    comes_back_ = false;
    owner_.store(me, std::memory_order_relaxed);
    return true;
  }

 private:
  bool begin(uintptr_t me) {
    state_.inside.store(me, std::memory_order_relaxed);
    sched::light_fence();
    if (owner_.load(std::memory_order_relaxed) == me) [[likely]] return true;
    leave();
    return false;
  }

  static constexpr uint32_t kFirstCalls = 64;
  static constexpr uint32_t kMostCalls = uint32_t{1} << 24;

  std::atomic<uintptr_t> owner_{0};
  interp::ShortCalls state_;  // and longer ones that begin as those do
  bool comes_back_ = false;
  uintptr_t caller_ = 0;
  uint32_t calls_ = 0;
  uint32_t wanted_ = kFirstCalls;
};

}  // namespace posset::api
