// How many threads of one runtime compute, beside the processors there are. What is compiled natively makes all that comes
// after it faster, so whoever only helps makes way for it where a processor is missing: a compilation that shares its own
// takes longer, and everybody computes for as long in slower code. What is not counted here (other processes, a host's own
// threads) is the system's affair.
//
// Hints: any thread may call anything, and nothing waits.
#pragma once

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstddef>
#include <thread>

namespace posset::sched {

// Never 0, which the standard library says when it does not know.
inline size_t hardware_threads() { return std::max(1U, std::thread::hardware_concurrency()); }

class Processors {
 public:
  explicit Processors(size_t count) : count_(static_cast<int>(count)) {}
  Processors(const Processors&) = delete;
  Processors& operator=(const Processors&) = delete;

  // While one lives a thread compiles. Null: nothing is counted.
  class Compiling {
   public:
    explicit Compiling(Processors* processors) : processors_(processors) { add(1); }
    ~Compiling() { add(-1); }
    Compiling(const Compiling&) = delete;
    Compiling& operator=(const Compiling&) = delete;

   private:
    void add(int by) {
      if (processors_) processors_->compiling_.fetch_add(by, std::memory_order_relaxed);
    }
    Processors* const processors_;
  };

  // A thread computes from now on, or does not.
  void begin() { computing_.fetch_add(1, std::memory_order_relaxed); }
  void end() { computing_.fetch_sub(1, std::memory_order_relaxed); }

  // While one lives a thread that computes does not.
  class Waiting {
   public:
    explicit Waiting(Processors& processors) : processors_(processors) { processors_.end(); }
    ~Waiting() { processors_.begin(); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    Processors& processors_;
  };

  bool has_room() const { return computing_.load(std::memory_order_relaxed) < room(); }
  // By one that computes. True: there were too many, and it is not counted any more.
  bool end_if_short() {
    int now = computing_.load(std::memory_order_relaxed);
    while (now > room()) {
      if (computing_.compare_exchange_weak(now, now - 1, std::memory_order_relaxed)) return true;
    }
    return false;
  }
  // True: it is counted.
  bool begin_if_room() {
    int now = computing_.load(std::memory_order_relaxed);
    while (now < room()) {
      if (computing_.compare_exchange_weak(now, now + 1, std::memory_order_relaxed)) return true;
    }
    return false;
  }

 private:
  // For those who compute. One always may, and all while nothing is compiled: somebody has asked for more threads than
  // there are processors then.
  int room() const {
    const int compiling = compiling_.load(std::memory_order_relaxed);
    return compiling == 0 ? INT_MAX : std::max(1, count_ - compiling);
  }

  const int count_;
  std::atomic<int> compiling_{0};
  std::atomic<int> computing_{0};
};

}  // namespace posset::sched
