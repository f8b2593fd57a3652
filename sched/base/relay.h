// Does on a thread of its own what a signal handler may only ask for: the handler leaves an item and posts a semaphore, neither
// of which locks or allocates anything. Several times before its turn are once.
#pragma once

#include <semaphore.h>

#include <atomic>
#include <condition_variable>
#include <thread>

#include "sched/base/thread_safety.h"

namespace posset::sched {

class Relay {
 public:
  // Stays where it is until it was forgotten.
  struct Item {
    void (*call)(void* data);  // on the relay's thread; must not throw, nor ask the relay for anything
    void* data;
    std::atomic<bool> left{false};
    Item* next = nullptr;
  };

  Relay();
  ~Relay();  // after every item was forgotten
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // Starts the thread, unless it runs; until then nothing is called. False: there is none to be had. Any thread.
  bool start() POSSET_EXCLUDES(mutex_);
  // Any thread, and signal handlers. What was written before is seen by the call.
  void leave(Item& item) {
    if (item.left.exchange(true, std::memory_order_acq_rel)) return;
    Item* first = first_.load(std::memory_order_relaxed);
    do {
      item.next = first;
    } while (!first_.compare_exchange_weak(first, &item, std::memory_order_release, std::memory_order_relaxed));
    sem_post(&semaphore_);
  }
  // Waits until it was called, if it was left; without a thread calls it. Nobody leaves it any more.
  void forget(Item& item) POSSET_EXCLUDES(mutex_);

 private:
  void work() POSSET_EXCLUDES(mutex_);
  void call_all() POSSET_REQUIRES(mutex_);

  std::atomic<Item*> first_{nullptr};
  std::atomic<bool> ends_{false};
  sem_t semaphore_;
  Mutex mutex_;  // held while items are called
  std::condition_variable called_;
  std::thread thread_ POSSET_GUARDED_BY(mutex_);
};

}  // namespace posset::sched
