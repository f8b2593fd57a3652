// A worker: one thread and the fibers that run on it, by the rules of policy.h. It has a thread of its own, which starts
// with its first task, or lives on the thread of a host that has bound itself; there tasks run only while the host's own
// code waits.
//
// Every context of the thread, the thread's own among them, is a fiber to the rules. Whoever cannot go on asks what is
// next, under the worker's mutex, and switches there itself: there is no dispatcher in between. A fiber whose task has
// ended takes the next task without any switch. When there is nothing to do the thread waits on the stack it is on.
//
// Who unparks another of the worker and parks then does both under one lock (`hand_over`), and asks what is next only where
// something may come before that one.
//
// The mutex is given back before a switch: only this thread resumes its fibers, so nobody can be earlier. Lock order: what
// a task waits for, a task's own mutex, the worker's; after the worker's none. A condition is notified under the mutex,
// since who is woken may be the last thing the worker was waiting for.
//
// Elsewhere: who gets a task, stealing, ends (crew.h), stacks (context.h).
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "sched/base/random.h"
#include "sched/base/thread_safety.h"
#include "sched/fiber/config.h"
#include "sched/fiber/context.h"
#include "sched/fiber/parker.h"
#include "sched/fiber/policy.h"
#include "sched/fiber/task.h"

namespace posset::sched::fiber {

class Crew;
class Worker;

class Fiber final : public FiberCore, public Parker {
 public:
  // The calling thread's own.
  explicit Fiber(Worker& home);
  Fiber(Worker& home, uint32_t number, std::unique_ptr<NativeStack> stack);

  void park(int64_t deadline_ns, const char* what) override;
  void unpark() override;
  void hand_over(Parker& next, int64_t deadline_ns, const char* what) override;
  Fiber* fiber() override { return this; }
  bool cancelled() const override;
  bool unwinding() const override;
  int64_t now_ns() const override;
  // Before each wait, on the fiber. Throws FiberUnwind when it was told often enough.
  void about_to_wait();
  const Context& context() const { return context_; }
  std::unique_ptr<NativeStack> take_stack() { return context_.take_stack(); }
  const Task* task() const { return task_; }

 private:
  friend class Worker;
  // After so many answers Cancelled a task that waits on will not see it by itself.
  static constexpr uint32_t kMostTold = 64;

  Worker& home_;
  Context context_;
  // Written by the worker's thread, with its mutex; so that thread reads them without. Null: the fiber is to end.
  Task* task_ = nullptr;
  const char* waits_for_ = "";
  uint32_t told_ = 0;  // by that thread alone
};

class Worker {
 public:
  Worker(Crew& crew, uint32_t number, bool own_thread);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Of the calling thread; null: it is no worker's.
  static Worker* current();
  static Fiber* current_fiber();
  // Whose the calling thread is from now on; gives whose it was.
  static Worker* exchange_current(Worker* worker);
  // The calling thread's of these executors, also under others that were bound in their tasks; null: there is none.
  static const Worker* current_of(const Crew& crew);

  Crew& crew() const { return crew_; }
  uint32_t number() const { return number_; }
  bool own_thread() const { return own_thread_; }

  // ---- any thread ----

  enum class Added : uint8_t { Yes, Behind, Busy, Closed, NoThread };
  // Takes over the caller's reference when it says Yes, or Behind: something runs there, and somebody else would begin it
  // sooner.
  Added add(Task& task) POSSET_EXCLUDES(mutex_);
  // The same for one that is awaited.
  Added add_awaited(Task& task) POSSET_EXCLUDES(mutex_);
  // Busy: somebody else has the mutex.
  Added try_add(Task& task) POSSET_EXCLUDES(mutex_);
  // Null: there is none; or, unless the caller is `patient`, there is none to be had at this moment.
  Task* steal(bool patient, bool begun) POSSET_EXCLUDES(mutex_);
  // Its thread runs. False: the system gives none.
  bool start() POSSET_EXCLUDES(mutex_);
  // How many have begun on it and not ended. Relaxed: a hint.
  uint32_t held() const { return held_.load(std::memory_order_relaxed); }
  // How many wait for its thread. Without the lock, so a hint.
  uint32_t ready() const;
  // Tasks from strangers that are in no queue any more. Relaxed.
  uint64_t begun() const { return begun_.load(std::memory_order_relaxed); }
  // There is something to steal: it looks, at once or before it sleeps. False: it does not, and another one is to be called.
  bool call() POSSET_EXCLUDES(mutex_);
  void unpark(Fiber& fiber) POSSET_EXCLUDES(mutex_);
  // It ends when nothing is left. Then `join`.
  void end() POSSET_EXCLUDES(mutex_);
  // All its waits return Cancelled. The tasks that wait to begin are the caller's, to be given up.
  void cancel(Fifo<TaskCore>& dropped) POSSET_EXCLUDES(mutex_);
  void join() POSSET_EXCLUDES(mutex_);
  // Relaxed: set before everything is unparked, under the mutex.
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  bool unwinding() const { return unwinding_.load(std::memory_order_relaxed); }

  struct Load {
    uint32_t busy = 0;
    uint32_t tasks = 0;
    bool timers = false;
    bool main_blocked = false;  // a host waits
  };
  Load load() const POSSET_EXCLUDES(mutex_);
  void add_blocked(std::vector<BlockedTask>& blocked) const POSSET_EXCLUDES(mutex_);
  void add_to(Statistics& statistics) const POSSET_EXCLUDES(mutex_);
  std::string check() const POSSET_EXCLUDES(mutex_);

  // ---- its own thread ----

  // The body of a fiber's context.
  static void run_fiber(void* fiber);
  // A host's thread becomes its thread, until `leave`.
  void enter() POSSET_EXCLUDES(mutex_);
  // Runs everything there is until all has ended. False: the deadline came first.
  bool drain(int64_t deadline_ns) POSSET_EXCLUDES(mutex_);
  // After everything has ended: its fibers go.
  void leave() POSSET_EXCLUDES(mutex_);
  // What has not begun never does.
  void drop_tasks(Fifo<TaskCore>& dropped) POSSET_EXCLUDES(mutex_);
  // A host's thread is not its thread for a while. False: it is one of another set of executors now.
  bool detach();
  // False: it is not the one that detached.
  bool attach();
  void park(Fiber& fiber, int64_t deadline_ns, const char* what) POSSET_EXCLUDES(mutex_);
  // Unparks `next`, which is one of its own, and parks `fiber`.
  void hand_over(Fiber& fiber, Fiber& next, int64_t deadline_ns, const char* what) POSSET_EXCLUDES(mutex_);
  // False: nothing else is ready.
  bool preempt(Fiber& fiber) POSSET_EXCLUDES(mutex_);

 private:
  // For a stack that others have: longer each time, as all who wait for one would look.
  static constexpr int64_t kShortestPauseNs = 10 * kMillisecond, kLongestPauseNs = 320 * kMillisecond;

  struct Counts {
    uint64_t stolen = 0, switches = 0;
  };
  // How tasks ended. Written by its own thread before the end is told, so that who is told finds it here; relaxed.
  struct Ends {
    std::atomic<uint64_t> done{0}, failed{0}, cancelled{0};
    void add(TaskState state);
  };

  bool push(Task& task, Added& added);
  bool start_thread() POSSET_REQUIRES(mutex_);
  Added add_locked(Task& task) POSSET_REQUIRES(mutex_);
  void wake() POSSET_REQUIRES(mutex_);
  void run_thread();
  void work(Fiber& fiber);
  void run_task(Fiber& fiber);
  void note_wait(Fiber& fiber, const char* what) POSSET_REQUIRES(mutex_);
  void park_locked(Fiber& fiber, int64_t deadline_ns, const char* what) POSSET_RELEASE(mutex_);
  void suspend(Fiber& self) POSSET_RELEASE(mutex_);
  void next_task(Fiber& self) POSSET_RELEASE(mutex_);
  void switch_to(Fiber& from, Fiber& to) POSSET_RELEASE(mutex_);
  Fiber* fiber_for(const WorkerPolicy::Decision& decision) POSSET_REQUIRES(mutex_);
  Fiber* new_fiber(Task& task) POSSET_REQUIRES(mutex_);
  void has_no_fiber(Task& task, bool comes_later) POSSET_REQUIRES(mutex_);
  void fail_to_start(Task& task) POSSET_EXCLUDES(mutex_);
  void wait_for_work() POSSET_REQUIRES(mutex_);
  bool is_to_spin() const POSSET_REQUIRES(mutex_);
  void spin() POSSET_REQUIRES(mutex_);
  Task* look_around(int64_t left_ns) POSSET_EXCLUDES(mutex_);
  void set_busy();
  void sleep() POSSET_REQUIRES(mutex_);
  bool sleep_until(MutexLock& lock, int64_t deadline_ns) POSSET_REQUIRES(mutex_);
  void report_cap() POSSET_REQUIRES(mutex_);
  std::unique_ptr<Fiber> retire() POSSET_EXCLUDES(mutex_);

  Crew& crew_;
  const uint32_t number_;
  const bool own_thread_;
  mutable Mutex mutex_;
  std::condition_variable more_;
  WorkerPolicy policy_ POSSET_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Fiber>> fibers_ POSSET_GUARDED_BY(mutex_);  // by number
  Counts counts_ POSSET_GUARDED_BY(mutex_);
  Ends ends_;
  std::atomic<uint64_t> begun_{0};
  std::atomic<uint32_t> held_{0};  // written by its own thread
  int64_t pause_ns_ POSSET_GUARDED_BY(mutex_) = kShortestPauseNs;  // until a stack is tried for again
  bool cap_reported_ POSSET_GUARDED_BY(mutex_) = false;
  const char* main_waits_for_ POSSET_GUARDED_BY(mutex_) = "";
  bool started_ POSSET_GUARDED_BY(mutex_) = false;
  std::thread thread_ POSSET_GUARDED_BY(mutex_);
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> unwinding_{false};
  // Of its own thread alone.
  std::optional<Fiber> main_;
  Fiber* running_ = nullptr;
  bool spun_ = false;  // since there was something to do
  bool idle_;  // said so, to be given work; before its thread begins the crew says it
  int64_t idle_since_ns_ = 0;  // where anybody is told
  Worker* outer_ = nullptr;  // whose thread this was before
  std::atomic<std::thread::id> detached_{};  // the thread that is to come back; none: it is there
  Random random_;
};

}  // namespace posset::sched::fiber
