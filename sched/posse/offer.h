// An executor's word that it has nothing to do. It is made by the executor, and taken back by it or claimed by whoever has
// something for it: one of them succeeds. Who has claimed it sends one piece of work, so the executor waits for that.
#pragma once

#include <atomic>
#include <cstddef>

#include "sched/base/random.h"

namespace posset::sched::posse {

// Whose work an executor does while it waits. Null: anybody's.
using Owner = const void*;

class Offer {
 public:
  void make(Owner owner) { to_.store(owner ? owner : everybody(), std::memory_order_release); }
  bool is_made_to(Owner owner) const { return fits(to_.load(std::memory_order_relaxed), owner); }
  // It is busy, or will be.
  bool is_claimed() const { return to_.load(std::memory_order_relaxed) == nullptr; }
  // False: there is none to that owner, or somebody was faster.
  bool claim(Owner owner) {
    const void* to = to_.load(std::memory_order_relaxed);
    return fits(to, owner) && to_.compare_exchange_strong(to, nullptr, std::memory_order_acquire, std::memory_order_relaxed);
  }
  // False: somebody has claimed it, and sends something.
  bool withdraw() {
    const void* to = to_.load(std::memory_order_relaxed);
    return to && to_.compare_exchange_strong(to, nullptr, std::memory_order_relaxed);
  }

 private:
  static const void* everybody() {
    static const char address = 0;
    return &address;
  }
  static bool fits(const void* to, Owner owner) { return to && (to == owner || to == everybody()); }

  std::atomic<const void*> to_{nullptr};  // null: busy, or claimed
};

// The first of `count` executors that fits, from a random one on, so that no one is always asked first. Null: none.
template <class At, class Fits>
auto find_from_random(Random& random, size_t count, At&& at, Fits&& fits) {
  const size_t first = random.below(count);
  for (size_t n = 0; n < count; ++n) {
    auto* const executor = at((first + n) % count);
    if (fits(*executor)) return executor;
  }
  return decltype(at(first)){nullptr};
}

}  // namespace posset::sched::posse
