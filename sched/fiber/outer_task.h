// The task that the calling thread runs, as seen from executors that were bound in it. Those take the thread for a host's: what
// runs is one of their fibers, or nothing. When they have nothing to do, or have computed for long, it is the task around
// them that waits or gives others their turn, with all that is in it, on whichever stack that stands.
//
//   OuterTask outer;                                       // on the task's fiber
//   WakeUp wake_up; ...                                    // whose listener calls outer.unpark()
//   Executors inner(clock, {.wake_up = &wake_up, .on_sleep = [&](int64_t until_ns) {
//     if (!wake_up.take()) outer.park(until_ns, "its tasks");
//   }});
//   inner.bind();
//
// So a fiber's stack may be left from any other; context.h follows that.
#pragma once

#include <cstdint>

namespace posset::sched::fiber {

class Fiber;
class Worker;

class OuterTask {
 public:
  // Of the task that runs here; outlived by it.
  OuterTask();
  OuterTask(const OuterTask&) = delete;
  OuterTask& operator=(const OuterTask&) = delete;

  // By the task's thread, while nothing else of the task runs: until it is unparked or the clock of its executors reaches the
  // deadline; may return early.
  void park(int64_t deadline_ns, const char* what);
  // Any thread. Before it parks too: then it does not.
  void unpark();
  // The end of a quantum, as this_fiber::yield_preempted. False: nothing else was ready.
  bool yield_preempted();

 private:
  Worker& worker_;
  Fiber& fiber_;
};

}  // namespace posset::sched::fiber
