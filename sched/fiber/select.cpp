// See select.h.
#include "sched/fiber/select.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <vector>

namespace posset::sched::fiber {

namespace {

// The locks of all channels, each once. Not analysed: which and how many is known when it runs.
class AllLocks {
 public:
  explicit AllLocks(std::initializer_list<SelectCase*> cases) {
    for (SelectCase* one : cases) locks_.push_back(&one->mutex());
    std::sort(locks_.begin(), locks_.end(), std::less<>());
    locks_.erase(std::unique(locks_.begin(), locks_.end()), locks_.end());
    lock();
  }
  ~AllLocks() { unlock(); }
  AllLocks(const AllLocks&) = delete;
  AllLocks& operator=(const AllLocks&) = delete;

  POSSET_NOT_ANALYSED void lock() {
    for (Mutex* mutex : locks_) mutex->lock();
  }
  POSSET_NOT_ANALYSED void unlock() {
    for (auto mutex = locks_.rbegin(); mutex != locks_.rend(); ++mutex) (*mutex)->unlock();
  }

 private:
  std::vector<Mutex*> locks_;
};

// Until the wish is granted. With the locks held, before and after.
Wait wait_for(const Wish& wish, AllLocks& locks, int64_t deadline_ns) {
  for (;;) {
    if (wish.granted.load(std::memory_order_relaxed)) return Wait::Ok;
    if (wish.parker.cancelled()) return Wait::Cancelled;
    if (deadline_ns != kNever && wish.parker.now_ns() >= deadline_ns) return Wait::Timeout;
    locks.unlock();
    wish.parker.park(deadline_ns, "several channels");
    locks.lock();
  }
}

}  // namespace

Selected select(std::initializer_list<SelectCase*> cases, int64_t deadline_ns) {
  ThisParker parker;
  Wish wish(*parker);
  std::deque<Waiter> waiters;  // never moved
  for (SelectCase* one : cases) waiters.emplace_back(wish, one->slot());
  AllLocks locks(cases);
  size_t index = 0;
  for (SelectCase* one : cases) {
    if (const auto answer = one->try_now()) return {*answer, index};
    ++index;
  }
  for (index = 0; index < cases.size(); ++index) cases.begin()[index]->list().push(waiters[index]);
  Selected chosen{.answer = wait_for(wish, locks, deadline_ns)};
  for (index = 0; index < cases.size(); ++index) {
    SelectCase& one = *cases.begin()[index];
    one.list().remove(waiters[index]);
    if (waiters[index].granted()) chosen = {one.answer(), index};
  }
  return chosen;
}

}  // namespace posset::sched::fiber
