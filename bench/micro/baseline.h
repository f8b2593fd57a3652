// What benchmarks of schedulers compare with and share: a queue under a lock with one thread, and a batch of tasks that is
// waited for.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace posset::bench {

constexpr int kBatch = 1000;

class LockedQueue {
 public:
  LockedQueue() : worker_([this] { work(); }) {}
  ~LockedQueue() {
    {
      std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    more_.notify_all();
    worker_.join();
  }
  void submit(std::function<void()> task) {
    {
      std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    more_.notify_one();
  }

 private:
  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      more_.wait(lock, [this] { return stopped_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::function<void()>> tasks_;
  bool stopped_ = false;
  std::thread worker_;
};

// Counts down to the end of a batch.
class Batch {
 public:
  void begin() { left_.store(kBatch, std::memory_order_relaxed); }
  void end_one() {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) left_.notify_all();
  }
  void wait() {
    for (int left; (left = left_.load(std::memory_order_acquire)) != 0;) left_.wait(left);
  }

 private:
  std::atomic<int> left_{0};
};

}  // namespace posset::bench
