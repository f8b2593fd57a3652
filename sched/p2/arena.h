// The way of low overhead, for when one evaluation runs alone: tasks go to oneTBB's arena in the order they
// come. Its code is a shared object (sched/arena) that `open` loads, on a thread that may take its time; until
// then, and where the object is missing, the arena takes nothing and tasks go the way of the queue.
//
// What waits here is kept here: a call enqueued in the arena takes the first task waiting, whichever that is by
// then, and goes on until nothing has come for about a thousandth of a second (linger.h). So a task can be cancelled,
// a stop can drop what has not begun, `outstanding` is exact, and a burst pays oneTBB for one call and one wake-up.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "sched/arena/arena.h"
#include "sched/base/background.h"
#include "sched/base/clock.h"
#include "sched/base/thread_safety.h"
#include "sched/base/trace.h"
#include "sched/p2/runner.h"
#include "sched/p2/task.h"

namespace posset::sched {

// Unused: nothing asked for it. Wanted: to be opened by the next worker. Missing: looked for in vain.
enum class ArenaState : uint8_t { Unused, Wanted, Opening, Open, Missing, Closed };

class Arena {
 public:
  struct Config {
    std::string file = "libposset_arena.so";
    int threads = 1;
    size_t max_waiting = 16;
  };

  // All outlive it; `trace` may be null. Its threads are those of `background`, while they work here: oneTBB's may work
  // for the host, too.
  Arena(const Clock& clock, TaskRunner& runner, Trace* trace, Background& background, Config config);
  ~Arena();  // as stop(Discard)
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  ArenaState state() const { return state_.load(std::memory_order_acquire); }
  // Somebody would like to use it.
  void want();
  // Loads it if it is wanted. May take a millisecond: for worker threads. False: it was not wanted.
  bool open_if_wanted() POSSET_EXCLUDES(mutex_);

  // `task` is moved from only when the answer is Accepted. Stopped: it is not open (any more).
  Admission try_submit(Task& task, double estimate_ns) POSSET_EXCLUDES(mutex_);
  // Takes out a waiting task, to be told Cancelled.
  std::optional<Task> cancel(uint64_t job) POSSET_EXCLUDES(mutex_);

  // Nothing comes in any more; gives what the stop drops, to be told Cancelled.
  std::vector<Task> close(StopMode mode) POSSET_EXCLUDES(mutex_);
  // Waits until every task has begun. False: the clock reached the deadline before.
  bool wait_begun(int64_t deadline_ns) POSSET_EXCLUDES(mutex_);
  // Until the last task has ended; then gives the threads back. After `close`, and not from a task. Whoever
  // might be in `open_if_wanted` has been joined.
  void wait() POSSET_EXCLUDES(mutex_);
  // Waiting and running.
  size_t outstanding() const POSSET_EXCLUDES(mutex_);
  // Whether the calling thread takes tasks from here.
  bool is_worker() const POSSET_EXCLUDES(mutex_);

 private:
  struct Waiting {
    Task task;
    int64_t enqueued_ns;
  };

  static void work(void* arena);
  bool call_in() POSSET_REQUIRES(mutex_);
  std::optional<Waiting> take() POSSET_EXCLUDES(mutex_);
  void begin_work() POSSET_EXCLUDES(mutex_);
  void ended() POSSET_EXCLUDES(mutex_);
  void trace_queued(const Task& task, double estimate_ns) POSSET_REQUIRES(mutex_);

  const Clock& clock_;
  TaskRunner& runner_;
  Trace* const trace_;
  Background& background_;
  const Config config_;
  std::atomic<ArenaState> state_{ArenaState::Unused};
  mutable Mutex mutex_;
  bool closed_ POSSET_GUARDED_BY(mutex_) = false;
  std::deque<Waiting> waiting_ POSSET_GUARDED_BY(mutex_);
  size_t running_ POSSET_GUARDED_BY(mutex_) = 0;                    // tasks
  size_t called_ POSSET_GUARDED_BY(mutex_) = 0;                     // calls enqueued that have not returned
  size_t lingering_ POSSET_GUARDED_BY(mutex_) = 0;                  // those that wait for a task
  std::vector<std::thread::id> workers_ POSSET_GUARDED_BY(mutex_);  // the threads of those that have begun
  std::condition_variable fewer_;  // tasks waiting or running, or calls, once closed
  std::condition_variable more_;   // tasks waiting: many, or a stop
  std::atomic<uint64_t> came_{0};  // tasks so far; written under the mutex, a hint for those who spin
  const posset_arena_functions* functions_ POSSET_GUARDED_BY(mutex_) = nullptr;
  posset_arena* arena_ POSSET_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace posset::sched
