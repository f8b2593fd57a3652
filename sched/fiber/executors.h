// Fiber executors: tasks that may block without blocking a thread. A task runs on a fiber, a stack of its own; when it waits
// (mutex.h, event.h, channel.h and their like), its worker runs something else. In the manner of marl's scheduler, whose
// faults are not shared (docs/schedulers.md tells).
//
//   SystemClock clock;
//   Executors executors(clock, {.workers = 4});
//   TaskHandle task = executors.spawn([] { ... }, {.name = "count"});
//   task.join();
//
// With worker threads, tasks run on those, never on the caller's. Without (`workers = 0`) a task runs on the thread that
// scheduled it, which has to be bound, and only while that thread waits: nothing runs behind its back. Threads are started
// by the first tasks that need them.
//
// A fiber never changes its thread, so addresses of thread-local variables stay valid in a task. A task may throw, also
// block in a catch block or destructor; it must not block while it holds a mutex of the thread (std::mutex).
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "sched/base/trace.h"
#include "sched/fiber/config.h"
#include "sched/fiber/task.h"

namespace posset::sched::fiber {

class Crew;

class Executors {
 public:
  // `clock` and `trace` (which may be null) outlive it. At most kMaxWorkers workers.
  explicit Executors(const Clock& clock, Config config = {}, Trace* trace = nullptr);
  // Stops, with `config.stop_ns` for what goes on, and waits until no thread is bound. Not from a task.
  ~Executors();
  Executors(const Executors&) = delete;
  Executors& operator=(const Executors&) = delete;

  // The calling thread becomes a worker as well: what it waits for suspends it, and meanwhile it runs its tasks. Bindings to
  // several executors nest. False: it is bound to these already, or they have stopped.
  bool bind();
  // Runs the tasks of the calling thread to the end; at the deadline their waits return Cancelled. In the reverse order of
  // `bind`, not from a task. False: it is not bound to these, or to others since.
  bool unbind(int64_t deadline_ns = kNever);
  // The tasks of the calling thread that have not begun never begin, and what they hold goes now. Not where the thread has none.
  void drop_waiting();
  // The calling thread does something else for a while: what it has begun stays where it is, and its tasks wait. As for
  // `unbind`.
  bool detach();
  // It takes up again what it detached from. False: it did not.
  bool attach();

  // Runs `body()` once, on a fiber. Any thread; from a task without limit, from foreign threads up to `max_pending`.
  template <std::invocable Body>
  Scheduled schedule(Body&& body, TaskOptions options = {}) {
    return hand_over(*make_task(std::forward<Body>(body), std::move(options)));
  }

  struct Spawned {
    Scheduled answer = Scheduled::Accepted;
    TaskHandle task;  // of one that was refused: Cancelled
    explicit operator bool() const { return answer == Scheduled::Accepted; }
  };
  // The same, with a handle.
  template <std::invocable Body>
  Spawned spawn(Body&& body, TaskOptions options = {}) {
    Task* task = make_task(std::forward<Body>(body), std::move(options));
    TaskHandle handle(*task);
    const Scheduled answer = hand_over(*task);
    return {answer, std::move(handle)};
  }

  // Whether a worker has nothing to do, as far as can be seen. Any thread.
  bool is_idle(uint32_t worker) const;
  // The same, and then it is the caller's: nobody else is told so until it has looked for something to do once more. Its thread is
  // started. False: it has something to do, or the system gives no thread.
  bool claim(uint32_t worker);
  // A task for a worker that the caller will claim, made before so that nothing can fail then. Somebody who has begun waits for it: it
  // has a stack before others, and that it never begins is told by its closure being destroyed alone.
  using Prepared = std::unique_ptr<Task, void (*)(Task*)>;
  template <std::invocable Body>
  static Prepared prepare(Body&& body, TaskOptions options = {}) {
    options.same_thread = true;
    Task* const task = make_task(std::forward<Body>(body), std::move(options));
    task->set_awaited();
    return {task, [](Task* unused) { unused->release(); }};
  }
  // Runs it there. Any thread.
  Scheduled schedule_on(uint32_t worker, Prepared task);

  // Refuses tasks of foreign threads and waits until everything has ended and no other thread is bound. At the deadline
  // every wait returns Cancelled, tasks that have not begun never begin, and a task that waits on regardless is unwound.
  // Tasks that compute for ever are waited for. May be called again. From a task it only asks, and returns at once.
  StopReport stop(int64_t deadline_ns = kNever);

  // Whether the calling thread is one of theirs, which must not wait for their end; also under others bound in their tasks.
  bool is_own_thread() const;
  // The number of its worker, likewise; -1: it has none.
  int own_worker() const;

  // Which tasks are blocked, on what: by worker and in the order of their fibers.
  std::vector<BlockedTask> blocked() const;
  Statistics statistics() const;
  // For tests: what is wrong inside, else empty.
  std::string check() const;

 private:
  template <class Body>
  static Task* make_task(Body&& body, TaskOptions&& options) {
    return new BodyTask<std::decay_t<Body>>(std::move(options), std::forward<Body>(body));
  }
  Scheduled hand_over(Task& task);

  const Clock& clock_;
  const std::unique_ptr<Crew> crew_;
};

// What a task may ask about where it runs.
namespace this_fiber {

// The end of a quantum: whatever else is ready comes first, unblocked fibers before all, then one new task and one
// preempted fiber by turns. Returns at once when there is nothing. Cancelled: the task shall end. Throws FiberUnwind.
Wait yield_preempted();
// The same for what somebody waits for: it goes on whatever happens, and nothing is thrown.
void yield_preempted_regardless();
// How many fibers and tasks are ready and wait for this thread. Timers are not looked at.
uint32_t others_ready();
// Cancelled, or Timeout once the clock has reached it.
Wait sleep_until(int64_t deadline_ns);
// Whether the task shall end.
bool cancelled();
// The lowest address of the stack that may be used; null where there is no fiber of ours.
const char* stack_low();
// The number of the worker, for telling them apart; -1: not on one.
int worker();

}  // namespace this_fiber

}  // namespace posset::sched::fiber
