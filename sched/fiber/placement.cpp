// See placement.h.
#include "sched/fiber/placement.h"

#include <bit>

namespace posset::sched::fiber {

Placement::Placement(uint32_t workers)
    : workers_(workers), words_((workers + 63) / 64), idle_(new std::atomic<uint64_t>[words_]) {
  for (uint32_t word = 0; word < words_; ++word) idle_[word].store(0, std::memory_order_relaxed);
  for (std::atomic<int32_t>& slot : spinning_) slot.store(kNobody, std::memory_order_relaxed);
}

// Most orders here are relaxed: a bit says only where a task would be welcome. The task itself is handed over under the
// worker's mutex, and a worker that is not idle after all takes it as well.
void Placement::set_idle(uint32_t worker) {
  idle_[worker / 64].fetch_or(uint64_t{1} << (worker % 64));
}

void Placement::set_busy(uint32_t worker) { claim(worker); }

void Placement::spins(uint32_t worker) {
  const uint32_t slot = next_spinning_.fetch_add(1, std::memory_order_relaxed) % kRing;
  spinning_[slot].store(static_cast<int32_t>(worker), std::memory_order_relaxed);
}

bool Placement::claim(uint32_t worker) {
  const uint64_t bit = uint64_t{1} << (worker % 64);
  std::atomic<uint64_t>& word = idle_[worker / 64];
  return (word.load(std::memory_order_relaxed) & bit) != 0 && (word.fetch_and(~bit, std::memory_order_relaxed) & bit) != 0;
}

std::optional<uint32_t> Placement::claim() {
  const uint32_t latest = next_spinning_.load(std::memory_order_relaxed) - 1;
  std::atomic<int32_t>& slot = spinning_[latest % kRing];
  const bool any = slot.load(std::memory_order_relaxed) != kNobody;
  const int32_t spinning = any ? slot.exchange(kNobody, std::memory_order_relaxed) : kNobody;
  if (spinning != kNobody) {
    next_spinning_.fetch_sub(1, std::memory_order_relaxed);
    if (claim(static_cast<uint32_t>(spinning))) return static_cast<uint32_t>(spinning);
  }
  for (uint32_t word = 0; word < words_; ++word) {
    while (const uint64_t bits = idle_[word].load(std::memory_order_relaxed)) {
      const uint32_t worker = word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
      if (claim(worker)) return worker;
    }
  }
  return std::nullopt;
}

bool Placement::any_idle() const {
  for (uint32_t word = 0; word < words_; ++word) {
    if (idle_[word].load() != 0) return true;
  }
  return false;
}

// Two that ask at once may be told the same: that is no worse than asking a worker twice.
uint32_t Placement::turn() {
  const uint32_t turn = next_turn_.load(std::memory_order_relaxed);
  next_turn_.store(turn + 1, std::memory_order_relaxed);
  return turn % workers_;
}

uint32_t Placement::idle() const {
  uint32_t count = 0;
  for (uint32_t word = 0; word < words_; ++word) {
    count += static_cast<uint32_t>(std::popcount(idle_[word].load(std::memory_order_relaxed)));
  }
  return count;
}

}  // namespace posset::sched::fiber
