// What the tests of the compile scheduler share: gates to hold tasks at, a tally of outcomes.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <doctest/doctest.h>

#include "sched/p2/hybrid.h"

namespace posset::sched {

// Closed until opened; whoever passes waits for that.
class Gate {
 public:
  void open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  // Until `count` threads have come to the gate.
  void await(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this, count] { return arrived_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int arrived_ = 0;
};

// How often tasks were told each outcome.
class Tally {
 public:
  std::function<void(Outcome)> teller() {
    return [this](Outcome outcome) {
      std::lock_guard lock(mutex_);
      ++told_[static_cast<size_t>(outcome)];
      ++sum_;
      changed_.notify_all();
    };
  }
  int count(Outcome outcome) const {
    std::lock_guard lock(mutex_);
    return told_[static_cast<size_t>(outcome)];
  }
  int sum() const {
    std::lock_guard lock(mutex_);
    return sum_;
  }
  void await(int sum) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this, sum] { return sum_ >= sum; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::array<int, 5> told_{};
  int sum_ = 0;
};

// Small and without the arena, for tests that are not about it.
inline HybridOptions pool_only(size_t threads = 1) {
  return {.hardware = 1, .pool_threads = threads, .evaluation_threads = 1, .max_queue_size = 10'000, .use_arena = false};
}

// The same, with nobody for evaluations but who takes them by `run_one`.
inline HybridOptions for_executors() {
  HybridOptions options = pool_only();
  options.evaluation_threads = 0;
  return options;
}

inline Task compile_task(std::function<void(TaskContext&)> run, Tally& tally, uint64_t job = 0) {
  return {.run = std::move(run), .done = tally.teller(), .type = {TaskKind::BytecodeCompile, job}, .job = job};
}

// Looks until it holds, for what other threads will do soon; false after ten seconds.
template <class Condition>
bool eventually(Condition&& condition) {
  for (int i = 0; i < 10'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace posset::sched
