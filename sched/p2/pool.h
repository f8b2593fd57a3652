// Threads that take tasks of some lanes from the queue and run them, one after another. They start with the
// first submission: a program that never compiles in the background has none.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "sched/base/background.h"
#include "sched/base/processors.h"
#include "sched/base/thread_safety.h"
#include "sched/base/trace.h"
#include "sched/p2/queue.h"
#include "sched/p2/runner.h"

namespace posset::sched {

class WorkerPool {
 public:
  struct Config {
    std::string name;  // of its threads in a trace, with a number
    LaneMask lanes = kAllLanes;
    size_t threads = 1;
    bool dozes = false;  // looks now and then for a while before it sleeps, see queue.h
    Background* background = nullptr;  // whose its threads are; may be null, as the next
    Background* hurries = nullptr;     // whose threads are in a hurry while a task runs
    int niceness = 0;  // of its threads, likewise
    Processors* processors = nullptr;  // where its tasks are counted as compilations; may be null
    std::function<bool()> after_task;  // on the worker, with no lock held; true: it took its time. May be empty
  };

  // All outlive it; `trace` may be null.
  WorkerPool(TaskQueue& queue, TaskRunner& runner, Trace* trace, Config config);
  ~WorkerPool();  // stops the queue, cancels what waits in it, joins
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Starts the threads unless they run. False: there is none, because none is wanted, none could be had (the
  // next call tries again) or `join` was called.
  bool start() POSSET_EXCLUDES(mutex_);
  // Waits for the threads, which end when the queue has stopped and has nothing for them. Not from one of them.
  void join() POSSET_EXCLUDES(mutex_);
  // Whether the calling thread is one of them.
  bool is_worker() const POSSET_EXCLUDES(mutex_);

 private:
  void work(TaskQueue::ConsumerId consumer, size_t number);

  TaskQueue& queue_;
  TaskRunner& runner_;
  Trace* const trace_;
  const Config config_;
  std::atomic<bool> started_{false};
  mutable Mutex mutex_;
  bool joined_ POSSET_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ POSSET_GUARDED_BY(mutex_);
  std::vector<std::thread::id> ids_ POSSET_GUARDED_BY(mutex_);  // of all that were started
};

}  // namespace posset::sched
