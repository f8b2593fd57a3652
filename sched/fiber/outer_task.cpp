// See outer_task.h.
#include "sched/fiber/outer_task.h"

#include <cassert>

#include "sched/fiber/worker.h"

namespace posset::sched::fiber {

namespace {

// While it lives the thread is the outer worker's alone.
class Out {
 public:
  explicit Out(Worker& outer) : inner_(Worker::exchange_current(&outer)) {}
  ~Out() { Worker::exchange_current(inner_); }
  Out(const Out&) = delete;
  Out& operator=(const Out&) = delete;

 private:
  Worker* const inner_;
};

}  // namespace

OuterTask::OuterTask() : worker_(*Worker::current()), fiber_(*Worker::current_fiber()) { assert(fiber_.task()); }

void OuterTask::park(int64_t deadline_ns, const char* what) {
  const Out out(worker_);
  fiber_.park(deadline_ns, what);
}

void OuterTask::unpark() { fiber_.unpark(); }

bool OuterTask::yield_preempted() {
  const Out out(worker_);
  return worker_.preempt(fiber_);
}

}  // namespace posset::sched::fiber
