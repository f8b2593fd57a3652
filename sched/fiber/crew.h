// The workers of one set of executors together: who gets a task, stealing, when everything has ended, and what is told to
// the host. Executors (executors.h) is the view of it that a host has.
//
// A task goes to a worker that is idle, else to one after the other, past those whose mutex somebody else has. A worker
// that has none takes the oldest task of another, starting at a random one. Where tasks come last, what has begun matters more than
// who is awake, since it stays where it is: a task goes to the worker that holds least, and who has begun others does not take one
// from a worker that is about to begin it.
//
// End. While executors drain, tasks may still schedule tasks. The end is the moment when nobody is active (placement.h) and no
// task is left, begun or not; it is decided by whoever becomes inactive last, once, and then nothing is taken any more. So a
// worker never ends while another may still have something for it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <vector>

#include "sched/base/thread_safety.h"
#include "sched/base/trace.h"
#include "sched/fiber/config.h"
#include "sched/fiber/placement.h"
#include "sched/fiber/worker.h"

namespace posset::sched::fiber {

class Crew {
 public:
  // `clock` and `trace` (which may be null) outlive it.
  Crew(const Clock& clock, Trace* trace, Config config);
  ~Crew();  // after `stop`, and when no thread is bound any more
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  const Clock& clock() const { return clock_; }
  Trace* trace() const { return trace_; }
  const Config& config() const { return config_; }
  Placement& placement() { return placement_; }
  Activity& activity() { return activity_; }
  bool stopping() const { return stopping_.load(); }

  // Takes over the caller's reference, whatever the answer. Any thread.
  Scheduled schedule(Task& task);

  // See Executors.
  bool is_idle(uint32_t worker) const { return worker < workers_.size() && placement_.is_idle(worker); }
  bool claim(uint32_t worker);
  Scheduled schedule_on(uint32_t worker, Task& task);

  // The calling thread gets a worker. False: it has one of these executors, or they have stopped.
  bool bind() POSSET_EXCLUDES(mutex_);
  // False: it has none, or is running a task.
  bool detach();
  bool attach() POSSET_EXCLUDES(mutex_);
  bool unbind(int64_t deadline_ns) POSSET_EXCLUDES(mutex_);
  void drop_waiting();
  StopReport stop(int64_t deadline_ns) POSSET_EXCLUDES(mutex_);
  void wait_unbound() POSSET_EXCLUDES(mutex_);

  std::vector<BlockedTask> blocked() const POSSET_EXCLUDES(mutex_);
  Statistics statistics() const POSSET_EXCLUDES(mutex_);
  std::string check() const POSSET_EXCLUDES(mutex_);

  // ---- for the workers ----

  Task* steal_for(const Worker& thief, uint64_t random, bool patient);
  // Tasks wait that an idle worker would begin sooner.
  void call_somebody();
  // Nobody was active: looks whether all has ended, or nothing can go on. With no lock held.
  void quiet() POSSET_EXCLUDES(mutex_);
  // Null: there is no stack; `comes_later`: for the time being, as all stacks of the process have what they may have.
  std::unique_ptr<Fiber> make_fiber(Worker& worker, uint32_t number, const Task& task, bool& comes_later);
  void give_back(std::unique_ptr<NativeStack> stack);
  // Half of the stacks of fibers in the process, or more, are of these: who waits for one here waits for these.
  bool has_most_stacks() const;
  // It was in no queue any more, and never begins. False: it had been cancelled before.
  bool give_up(Task& task);
  void tell_error(const Task& task, const std::exception_ptr& error);
  // Of all workers, or of that one.
  void watch();
  int64_t watch_at();
  void sleep_until(int64_t until_ns);
  void tell_idle(int64_t took_ns);
  void tell_stuck(StuckReport::Reason reason, uint32_t waiting, const Worker* worker);
  int64_t trace_started(const Task& task);
  void trace_finished(const Task& task, TaskState state, int64_t began_ns);

 private:
  Worker* here() const;
  Worker::Added place(Task& task);
  Worker& least_loaded();
  std::optional<uint32_t> claim_idle();
  Scheduled hand_over(Task& task, Worker* here);
  Scheduled hand_in(Task& task);
  Scheduled refuse(Task& task, Scheduled answer);
  bool has_room();
  bool wait_ended(int64_t deadline_ns, bool own) POSSET_EXCLUDES(mutex_);
  uint64_t give_up_all(Fifo<TaskCore>& dropped);
  uint64_t cancel_all() POSSET_EXCLUDES(mutex_);
  std::vector<Worker*> everybody() const POSSET_REQUIRES(mutex_);
  bool drain(Worker& worker, int64_t deadline_ns);

  const Clock& clock_;
  Trace* const trace_;
  const Config config_;
  const uint32_t placing_;  // workers that tasks begin on, the first of them
  Placement placement_;
  Activity activity_;
  std::vector<std::unique_ptr<Worker>> workers_;  // with threads of their own; fixed
  std::atomic<bool> stopping_{false};
  // Of strangers' tasks, which a bound limits: how many were handed in, and up to how many there is room for certain. All
  // relaxed, since nothing hangs on their order. Workers count what began by themselves (Worker::begun).
  alignas(64) std::atomic<uint64_t> handed_in_{0};
  std::atomic<uint64_t> room_until_{0};
  std::atomic<uint64_t> next_number_{1};  // relaxed: only different
  std::atomic<size_t> latest_{0};         // of `least_loaded`; relaxed: a hint
  alignas(64) std::atomic<uint64_t> begun_elsewhere_{0};  // given up by whoever
  std::atomic<uint64_t> refused_{0}, given_up_{0}, lost_errors_{0};  // relaxed: figures
  std::atomic<size_t> stacks_{0};  // relaxed: a figure
  Mutex joining_;        // before all others
  mutable Mutex mutex_;  // before the workers'
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Worker>> bound_ POSSET_GUARDED_BY(mutex_);
  bool ended_ POSSET_GUARDED_BY(mutex_) = false;
  uint32_t next_bound_ POSSET_GUARDED_BY(mutex_) = 0;
};

}  // namespace posset::sched::fiber
