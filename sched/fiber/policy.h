// The rules of one worker, without threads, locks or stacks: which fiber or task is next, who is blocked and until when,
// when the worker may sleep and when it has ended. The worker's thread calls it under the worker's mutex; the simulator
// (sched/sim/fiber_world.h) calls it directly. Each call is one atomic step.
//
// Order: fibers that were blocked and are no more, in the order they were unparked; then one new task and one preempted
// fiber by turns. What has begun comes before what has not, because each task that begins needs a stack; and a preempted
// fiber is not among the first, or two that compute would keep every new task waiting for ever. Where tasks come last, they
// do wait until nothing that has begun can go on, and are no reason to preempt; a preempted fiber has its turn there after each that
// was unblocked. Else `kMostPassed` unblocked ones at most pass those that wait: two fibers that only hand things to each other are
// unblocked for ever.
//
// A parked fiber cannot miss its wake-up: unparking one that still runs leaves a permit, and its next park returns at
// once. So a park may return for no reason, and who waits for something looks again.
//
// A worker that is awake is handed tasks without its mutex (injector.h), and looks for them when it has no others. Before it
// sleeps the injector is locked, which fails while a task is in it: so no task waits for a worker that has gone to sleep.
//
// Which worker gets a task is decided elsewhere (placement.h), and what a wait is for (wait_list.h).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sched/base/clock.h"
#include "sched/base/timer.h"
#include "sched/fiber/core.h"
#include "sched/fiber/injector.h"

namespace posset::sched::fiber {

class WorkerPolicy {
 public:
  // `clock` outlives it. At most `max_fibers` have a stack at a time; at the cap new tasks wait.
  static constexpr uint32_t kMostPassed = 1024;
  WorkerPolicy(const Clock& clock, uint32_t max_fibers, bool tasks_last = false)
      : clock_(clock), max_fibers_(max_fibers), tasks_last_(tasks_last) {}

  // ---- what comes in, from any thread ----

  // Without the lock. Locked: it is to be added; Busy: it waits for what runs (`Added::waits`).
  Injector::Owner push(TaskCore& task) { return injector_.push(task); }
  // From now on tasks may be pushed while the worker is awake.
  void open() { open_ = true; }

  struct Added {
    bool accepted;  // false: the worker takes no more
    bool wake;      // it slept
    bool waits;     // for what runs: somebody else would begin it sooner, and is to be called
  };
  // One that is awaited goes before all, and begins by turns with what was preempted where tasks come last, too; while it goes on, it is
  // preempted for what has not begun.
  Added add(TaskCore& task);
  // One that was stolen goes before all: it has waited longest.
  void add_stolen(TaskCore& task);
  // There is something to steal.
  enum class Called : uint8_t {
    Runs,   // something, and looks when that has ended, which may be never: another is to be called
    Looks,  // or does before it sleeps
    Wakes,  // it slept, and is to be woken
  };
  Called call();
  // The fiber need not wait any longer. True: the worker slept and is to be woken.
  bool unpark(FiberCore& fiber);
  // Takes the oldest task away. Null: there is none, or it has to stay. Where tasks come last a thief that has `begun` others
  // leaves it to a worker that is about to begin it.
  TaskCore* steal(bool begun = false);

  // ---- the fiber that runs ----

  // A new fiber, counted by `next` (what it answered had no fiber), Running and with its task.
  void add_fiber(FiberCore& fiber);
  // There is no memory for a stack: the task waits until something changes, or until it may be tried `again_ns`, where others
  // have the stacks who do not tell when they go. False: there is no fiber at all that could ever take it, so it was not put back.
  bool cannot_grow(TaskCore& task, int64_t again_ns = kNever);
  // The thread's own, which runs no tasks. Counts as Running.
  void add_main(FiberCore& main);

  // False: there is a permit, and the fiber goes on.
  bool park(FiberCore& fiber, int64_t deadline_ns);
  // Unparks `next`, parks `fiber` without a deadline and gives `next` the thread, where that is what `unpark`, `park` and the
  // answer of `next` come to: it is one comparison where nothing else is ready, as between two that take turns. False: nothing
  // was done.
  bool hand_over(FiberCore& fiber, FiberCore& next);
  // The main fiber waits for `end`, and until nothing is left then: `next` answers End.
  void park_until_end();
  // It waits until nothing is left, whether `end` was called or not, or until the deadline.
  void drain(int64_t deadline_ns);
  // False: nothing else wants the thread, and the fiber goes on.
  bool preempt(FiberCore& fiber);
  // Its task has ended.
  void finish(FiberCore& fiber);

  enum class Do : uint8_t {
    Resume,   // that fiber, which may be the one that asks
    Start,    // that task on that fiber; null: on a new one
    Nothing,  // wait for something
    End,      // resume the main fiber: nothing is left, and nothing more is wanted
  };
  struct Decision {
    Do what = Do::Nothing;
    FiberCore* fiber = nullptr;
    TaskCore* task = nullptr;
    bool calls_another = false;  // that is idle: there may be tasks that wait for what runs
  };
  // What the thread does next. `free` is the fiber that asks, when its task has ended: it can take another, and is Idle if
  // it is not what comes next. Null: the one that asks is blocked.
  Decision next(FiberCore* free);

  // ---- sleep ----

  // Nothing to do: sleeps until it is told to wake, or until the time it answers. Empty: something was pushed meanwhile, and
  // `next` is to be asked again.
  std::optional<int64_t> sleep();
  bool asleep() const { return asleep_; }
  // It could begin another task, when it looks for something to do.
  bool can_begin() const { return looks_free_ || can_start(nullptr); }
  // Somebody counts on it since it began to look around: it looks once more before it sleeps.
  bool looks_again() const { return looks_again_; }
  // It begins to look for something to steal; everywhere, unless it finds something.
  void look_around() { looks_again_ = false; }
  void has_looked_around() { called_ = looks_again_; }
  // It woke by itself.
  void awake() { asleep_ = false; }
  // When the next deadline is.
  int64_t next_deadline_ns() const { return tries_again() ? std::min(timers_.next_ns(), again_ns_) : timers_.next_ns(); }
  // Tasks wait for a stack, which is tried again at a time.
  bool tries_again() const { return no_memory_ && again_ns_ != kNever && !tasks_.empty(); }

  // ---- end ----

  // When nothing is left the worker ends. True: it slept and is to be woken.
  bool end();
  // Nothing new begins any more: every fiber that is blocked is unparked, and the tasks that wait are handed back. True:
  // as above.
  bool cancel(Fifo<TaskCore>& dropped);
  // Hands back the tasks that wait, and goes on.
  void drop_tasks(Fifo<TaskCore>& dropped);
  // Unparks every fiber once more, for those that wait on regardless.
  bool unpark_all();

  // ---- what others may know ----

  // Fibers and tasks that wait for the thread; not none where there are some. Any thread, without the lock: a hint then,
  // except as `add` says.
  uint32_t ready() const {
    // In this order, because `collect` counts what it then takes.
    const bool pushed = !injector_.empty();
    const uint32_t ready = ready_.load();
    return ready == 0 && pushed ? 1 : ready;
  }
  // The same under the lock, where it is exact.
  uint32_t queued() const { return ready_.load() + injector_.size(); }
  uint32_t tasks() const { return tasks_.size() + injector_.size(); }
  uint32_t busy() const { return busy_; }
  uint32_t fibers() const { return fibers_; }
  uint32_t idle_fibers() const { return static_cast<uint32_t>(idle_.size()); }
  bool main_blocked() const { return main_ && main_->blocked(); }
  // Nothing more is taken.
  bool closed() const { return ending_; }
  // Tasks wait, and every fiber there may be is blocked without a deadline.
  bool stuck_at_cap() const;
  // Takes an Idle fiber out for good, at the end. Null: there is none.
  FiberCore* retire_idle();
  // The number of the next new fiber.
  uint32_t next_number() const { return static_cast<uint32_t>(all_.size()); }
  // Everything that began, running or blocked; by number, null where one has gone.
  const std::vector<FiberCore*>& all() const { return all_; }
  // What is wrong, else empty: for tests and the simulator.
  std::string check() const;

 private:
  void count(int by) {
    // Relaxed: it is written under the lock, and who reads it without looks again under the lock.
    ready_.store(ready_.load(std::memory_order_relaxed) + static_cast<uint32_t>(by), std::memory_order_relaxed);
  }
  bool wake() {
    const bool was = asleep_;
    asleep_ = false;
    return was;
  }
  bool can_start(const FiberCore* free) const {
    return free || !idle_.empty() || (fibers_ < max_fibers_ && !no_memory_);
  }
  // Whether the first task comes by turns with what was preempted, or after that. What is awaited is no reason to come last.
  bool has_turns() const { return !tasks_last_ || tasks_.front()->awaited() || preempted_awaited_ == preempted_.size(); }
  void queue(FiberCore& fiber);
  void expire();
  void collect();
  void take_pushed();
  void begin_look(bool free);
  bool end_look();
  Decision resume(FiberCore& fiber, FiberCore* free);
  Decision start(FiberCore* free);
  bool unblocked_turn(bool task);
  void make_idle(FiberCore& fiber);

  Injector injector_;
  Injector::Owner owner_ = Injector::Owner::Locked;  // what it says there
  bool open_ = false;
  const Clock& clock_;
  const uint32_t max_fibers_;
  const bool tasks_last_;
  Fifo<FiberCore> unblocked_;
  Fifo<TaskCore> tasks_;
  Fifo<FiberCore> preempted_;
  uint32_t preempted_awaited_ = 0;  // of these
  TimerSet timers_;
  std::vector<FiberCore*> idle_;  // the last one first: its stack is warm
  std::vector<FiberCore*> all_;   // by number; null: has gone
  FiberCore* main_ = nullptr;
  std::atomic<uint32_t> ready_{0};
  TimerSet::Id drain_timer_ = 0;
  uint32_t fibers_ = 0;  // that have a stack of ours
  uint32_t busy_ = 0;
  uint32_t passed_ = 0;  // unblocked fibers in a row, while others waited
  bool preempted_turn_ = false;
  bool task_turn_ = true;
  bool no_memory_ = false;  // there was none for a stack, and nothing has changed
  int64_t again_ns_ = kNever;  // when it is tried again then
  bool asleep_ = false;
  bool looks_again_ = false;
  bool called_ = false;      // and has not looked around in vain since
  bool looking_ = true;      // for something to do: it will see what is added
  bool looks_free_ = false;  // with a fiber that can take a task
  bool draining_ = false;  // the main fiber waits for the end
  bool ending_ = false;
};

}  // namespace posset::sched::fiber
