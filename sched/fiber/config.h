// What a host decides about executors, and what they tell it: settings, answers, reports, figures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sched/base/clock.h"
#include "sched/base/stack_pool.h"
#include "sched/base/wake_up.h"

namespace posset::sched::fiber {

// Whether a task was taken. One that was not has been destroyed, and nothing of it ran.
enum class Scheduled : uint8_t {
  Accepted,
  QueueFull,  // foreign threads have handed in `max_pending` tasks that have not begun
  Stopped,    // the executors, or the worker that had to take it
  NotBound,   // there are no worker threads (or it is for this thread), and the caller is not bound
  NoThread,   // the system gave no thread, and there is none
};

// For people: what to do about it.
const char* explain(Scheduled answer);

// A task that has begun and is blocked.
struct BlockedTask {
  std::string title;
  std::string waits_for;  // an event, a mutex ...
  uint32_t worker = 0;
  bool timed = false;     // its wait has a deadline
};

// Why nothing goes on.
struct StuckReport {
  enum class Reason : uint8_t {
    AllBlocked,  // every task that has begun is blocked without a deadline, and nothing else is to be done
    AtCap,       // tasks wait for a fiber, and every fiber their worker may have is blocked without a deadline
  };
  Reason reason = Reason::AllBlocked;
  uint32_t waiting = 0;  // tasks that have not begun
  std::vector<BlockedTask> blocked;

  std::string text() const;
};

// What a stop had to give up.
struct StopReport {
  bool in_time = true;  // everything ended by itself before the deadline
  uint64_t never_began = 0;
  std::vector<BlockedTask> blocked;  // whose waits were answered Cancelled
  uint32_t bound = 0;   // threads that were still bound

  std::string text() const;
};

struct Config {
  uint32_t workers = 0;             // with threads of their own; 0: tasks run on the threads that are bound, when they wait
  size_t stack_bytes = 1 << 20;     // of a fiber: address space, of which memory is taken as it is touched
  StackPool* stacks = nullptr;      // where they come from and go back to, whatever size those have; null: the system
  uint32_t max_fibers = 1024;       // of a worker: so many tasks may have begun and not ended
  uint32_t max_pending = 65'536;    // tasks of foreign threads that have not begun
  uint32_t placing = 0;             // tasks begin on the first so many workers, the others have only what is for them alone; 0: on all
  bool tasks_last = false;          // a task begins when nothing that has begun can go on; else it has its turn
  int64_t spin_ns = kMillisecond;   // a worker without work looks for some, before it sleeps
  int64_t stop_ns = 10 * kSecond;   // what the destructor gives tasks to end by themselves
  uint64_t seed = 1;                // of whom a worker looks at first to steal
  std::string name = "executor";    // of the threads, in traces

  // All of these may be empty, and are called on any thread with no lock held; what they throw is counted and forgotten.
  // An exception has left the task of that title.
  std::function<void(std::string_view title, std::exception_ptr)> on_error;
  // A worker with a thread of its own had nothing to do for so long, and has now. The one exception: with the worker's lock held.
  std::function<void(int64_t took_ns)> on_idle;
  // Nothing goes on. Outside threads may yet wake tasks: only the host knows whether any will. Once for each time.
  std::function<void(const StuckReport&)> on_stuck;
  // Where there is one worker, a bound thread: for what ends its sleep without being about tasks.
  // Whoever posts `wake_up` (any thread, signal handlers) has `on_watch` called on the worker's
  // thread; so it is before each sleep, and when a sleep has come to the time that `watch_at` gave
  // (kNever: none).
  WakeUp* wake_up = nullptr;
  std::function<void()> on_watch;
  std::function<int64_t()> watch_at;
  // In place of waiting for `wake_up`, which it takes: until there was a post or the clock has come to that; may
  // return early. On the worker's thread, on whichever stack it stands.
  std::function<void(int64_t until_ns)> on_sleep;
};

constexpr uint32_t kMaxWorkers = 256;

// Sums over all workers, exact when they are quiet.
struct Statistics {
  uint64_t done = 0;       // tasks that returned
  uint64_t failed = 0;
  uint64_t cancelled = 0;
  uint64_t stolen = 0;     // tasks that began on another worker than the one they were given to
  uint64_t switches = 0;   // from one fiber to another
  uint64_t refused = 0;    // tasks not accepted
  uint64_t lost_errors = 0;  // exceptions of what the host has given
  uint32_t threads = 0;    // that were started
  uint32_t fibers = 0;     // stacks there are
  uint32_t busy = 0;       // tasks that have begun and not ended
  uint32_t ready = 0;      // tasks and fibers that wait for a thread
  uint32_t idle = 0;       // workers without work
};

}  // namespace posset::sched::fiber
