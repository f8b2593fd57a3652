// Counters that many threads add to and somebody reads now and then. Each counter is a few cells on cache
// lines of their own; a thread adds to one of them without contention and a reader sums all. Sums are exact
// once the adding threads are quiet.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

namespace posset::sched {

class Counter {
 public:
  void add(uint64_t n = 1) {
    // Relaxed: nothing else is published by a count.
    cells_[cell()].count.fetch_add(n, std::memory_order_relaxed);
  }
  uint64_t sum() const {
    uint64_t total = 0;
    for (const Cell& cell : cells_) total += cell.count.load(std::memory_order_relaxed);
    return total;
  }

 private:
  static constexpr size_t kCells = 4;
  struct alignas(64) Cell {
    std::atomic<uint64_t> count{0};
  };
  static size_t cell() { return std::hash<std::thread::id>()(std::this_thread::get_id()) % kCells; }
  std::array<Cell, kCells> cells_;
};

// A counter of one thread that any may read: adding is as cheap as to a plain number, and what is read is some number
// it has had.
class SoloCounter {
 public:
  // Only by the thread it belongs to.
  void add(uint64_t n = 1) { set(get() + n); }
  void raise_to(uint64_t n) {
    if (n > get()) set(n);
  }
  void set(uint64_t n) { count_.store(n, std::memory_order_relaxed); }  // relaxed: nothing is published by it
  uint64_t get() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> count_{0};
};

}  // namespace posset::sched
