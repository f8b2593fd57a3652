// See mutex.h.
#include "sched/fiber/mutex.h"

#include <cassert>

namespace posset::sched::fiber {

bool FiberMutex::try_lock() {
  MutexLock lock(inner_);
  return !std::exchange(held_, true);
}

Wait FiberMutex::lock(int64_t deadline_ns) {
  if (try_lock()) return Wait::Ok;
  ThisParker parker;
  Wish wish(*parker);
  Waiter waiter(wish);
  MutexLock lock(inner_);
  if (!std::exchange(held_, true)) return Wait::Ok;
  return waiting_.wait(inner_, waiter, deadline_ns, "a mutex");
}

bool FiberMutex::lock_regardless() {
  if (try_lock()) return true;
  const ThisParker parker(ThisParker::kRegardless);
  Wish wish(*parker);
  Waiter waiter(wish);
  MutexLock lock(inner_);
  if (!std::exchange(held_, true)) return true;
  return waiting_.wait_regardless(inner_, waiter, "a mutex");
}

void FiberMutex::unlock() {
  MutexLock lock(inner_);
  assert(held_);
  // Whom it is handed to holds it from now on.
  if (!waiting_.wake_one()) held_ = false;
}

Wait Condition::wait(FiberLock& lock, int64_t deadline_ns) {
  assert(lock.owns());
  ThisParker parker;
  Wish wish(*parker);
  Waiter waiter(wish);
  Wait answer = Wait::Ok;
  {
    MutexLock inner(inner_);
    // It stands in the list before the mutex is free: who notifies after that finds it.
    lock.unlock();
    answer = waiting_.wait(inner_, waiter, deadline_ns, "a condition");
  }
  if (!lock.mutex_.lock_regardless()) return Wait::Cancelled;
  lock.answer_ = Wait::Ok;
  return answer;
}

void Condition::notify_one() {
  MutexLock lock(inner_);
  waiting_.wake_one();
}

void Condition::notify_all() {
  MutexLock lock(inner_);
  waiting_.wake_all();
}

}  // namespace posset::sched::fiber
