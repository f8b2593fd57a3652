// See wait_list.h.
#include "sched/fiber/wait_list.h"

#include <cassert>

namespace posset::sched::fiber {

void WaitList::push(Waiter& waiter) {
  assert(!waiter.listed_);
  waiter.listed_ = true;
  waiter.next_ = nullptr;
  waiter.previous_ = last_;
  (last_ ? last_->next_ : first_) = &waiter;
  last_ = &waiter;
}

void WaitList::remove(Waiter& waiter) {
  if (!waiter.listed_) return;
  waiter.listed_ = false;
  (waiter.previous_ ? waiter.previous_->next_ : first_) = waiter.next_;
  (waiter.next_ ? waiter.next_->previous_ : last_) = waiter.previous_;
}

Waiter* WaitList::claim() {
  while (first_) {
    Waiter& waiter = *first_;
    remove(waiter);
    if (waiter.try_grant()) return &waiter;
  }
  return nullptr;
}

bool WaitList::wake_one() {
  Waiter* waiter = claim();
  if (waiter) waiter->unpark();
  return waiter != nullptr;
}

void WaitList::wake_all() {
  while (wake_one()) {
  }
}

Wait WaitList::wait(Mutex& mutex, Waiter& waiter, int64_t deadline_ns, const char* what) {
  Parker& parker = waiter.wish_.parker;
  push(waiter);
  for (;;) {
    // In this order: what is granted counts, however late; and the deadline is looked at before there is any wait.
    if (waiter.granted()) return Wait::Ok;
    const bool cancelled = parker.cancelled();
    if (cancelled || (deadline_ns != kNever && parker.now_ns() >= deadline_ns)) {
      remove(waiter);
      return cancelled ? Wait::Cancelled : Wait::Timeout;
    }
    mutex.unlock();
    parker.park(deadline_ns, what);
    mutex.lock();
  }
}

bool WaitList::wait_regardless(Mutex& mutex, Waiter& waiter, const char* what) {
  Parker& parker = waiter.wish_.parker;
  push(waiter);
  while (!waiter.granted()) {
    if (parker.unwinding()) {
      remove(waiter);
      return false;
    }
    mutex.unlock();
    parker.park(kNever, what);
    mutex.lock();
  }
  return true;
}

}  // namespace posset::sched::fiber
