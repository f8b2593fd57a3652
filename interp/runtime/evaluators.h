// The executors of a runtime (sched/fiber): threads on which submitted evaluations run, each on a fiber, and the parts of pure work
// that others hand over (sched/posse). What waits leaves its thread to others, and resumes there.
//
// Which evaluation is next, the scheduler's queue says (sched/p2). For each that waits there the executors are given a task that
// takes the first of it; so it is chosen when an executor has nothing left that had begun. Threads start with what is first given
// to them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "sched/base/clock.h"
#include "sched/base/relay.h"
#include "sched/base/thread_safety.h"
#include "sched/fiber/executors.h"
#include "sched/p2/hybrid.h"

namespace posset::interp {

class Evaluators {
 public:
  // All outlive it; `trace` may be null, and is told of the threads' names and of how long they had nothing to do. `queue` has
  // the evaluations that wait.
  // `evaluating` threads at most take evaluations, those and the others parts.
  Evaluators(const sched::Clock& clock, sched::Trace* trace, sched::HybridScheduler& queue, uint32_t threads, uint32_t evaluating,
             int64_t quantum_ns)
      : clock_(clock), trace_(trace), queue_(queue), threads_(threads), evaluating_(evaluating), quantum_ns_(quantum_ns) {}
  ~Evaluators() { stop(); }
  Evaluators(const Evaluators&) = delete;
  Evaluators& operator=(const Evaluators&) = delete;

  // One evaluation more waits in the queue. Any thread. False: there is no thread for it.
  bool take_one() POSSET_EXCLUDES(mutex_);
  // Null: they were never begun and have been stopped, or there is no memory for them. Any thread.
  sched::fiber::Executors* executors() POSSET_EXCLUDES(mutex_);
  uint32_t threads() const { return threads_; }
  // Waits for what runs, and takes nothing more; from one of their threads it only asks.
  void stop() POSSET_EXCLUDES(mutex_);
  bool is_own_thread() const;

  // What an evaluation computes while others are ready.
  int64_t quantum_ns() const { return quantum_ns_; }
  const sched::Clock& clock() const { return clock_; }
  // While one that is to stop waits for its turn, those that compute give theirs up at each slice. Any thread, signal handlers.
  void hurry(int more) { hurried_.fetch_add(more, std::memory_order_relaxed); }
  bool is_hurried() const { return hurried_.load(std::memory_order_relaxed) > 0; }
  // For interrupting what waits from a signal handler.
  sched::Relay& relay() { return relay_; }

 private:
  // Null: nothing was ever asked of them.
  sched::fiber::Executors* begun() const { return begun_.load(std::memory_order_acquire); }

  const sched::Clock& clock_;
  sched::Trace* const trace_;
  sched::HybridScheduler& queue_;
  const uint32_t threads_, evaluating_;
  const int64_t quantum_ns_;
  std::atomic<int> hurried_{0};
  sched::Relay relay_;
  mutable sched::Mutex mutex_;
  bool stopped_ POSSET_GUARDED_BY(mutex_) = false;
  std::unique_ptr<sched::fiber::Executors> executors_ POSSET_GUARDED_BY(mutex_);  // stays once it is there
  std::atomic<sched::fiber::Executors*> begun_{nullptr};                          // the same
};

}  // namespace posset::interp
