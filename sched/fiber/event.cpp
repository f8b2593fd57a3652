// See event.h.
#include "sched/fiber/event.h"

#include <cassert>

namespace posset::sched::fiber {

bool Event::take() {
  const bool was = signalled_;
  if (reset_ == Reset::Auto) signalled_ = false;
  return was;
}

void Event::signal() {
  MutexLock lock(mutex_);
  if (reset_ == Reset::Manual) {
    signalled_ = true;
    waiting_.wake_all();
  } else if (!waiting_.wake_one()) {
    signalled_ = true;
  }
}

void Event::clear() {
  MutexLock lock(mutex_);
  signalled_ = false;
}

Wait Event::wait(int64_t deadline_ns) {
  ThisParker parker;
  Wish wish(*parker);
  Waiter waiter(wish);
  MutexLock lock(mutex_);
  if (take()) return Wait::Ok;
  return waiting_.wait(mutex_, waiter, deadline_ns, "an event");
}

bool Event::signalled() const {
  MutexLock lock(mutex_);
  return signalled_;
}

void WaitGroup::add(uint64_t count) {
  MutexLock lock(mutex_);
  count_ += count;
}

void WaitGroup::done() {
  MutexLock lock(mutex_);
  assert(count_ > 0);
  if (--count_ == 0) waiting_.wake_all();
}

Wait WaitGroup::wait(int64_t deadline_ns) {
  ThisParker parker;
  Wish wish(*parker);
  Waiter waiter(wish);
  MutexLock lock(mutex_);
  if (count_ == 0) return Wait::Ok;
  return waiting_.wait(mutex_, waiter, deadline_ns, "a wait group");
}

uint64_t WaitGroup::count() const {
  MutexLock lock(mutex_);
  return count_;
}

}  // namespace posset::sched::fiber
