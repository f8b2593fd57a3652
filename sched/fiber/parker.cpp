// See parker.h.
#include "sched/fiber/parker.h"

#include "sched/base/wait.h"
#include "sched/fiber/worker.h"

namespace posset::sched::fiber {

const char* name_of(Wait wait) {
  switch (wait) {
    case Wait::Ok: return "ok";
    case Wait::Timeout: return "timeout";
    case Wait::Cancelled: return "cancelled";
    case Wait::Closed: return "closed";
  }
  return "";
}

void ThreadParker::park(int64_t deadline_ns, const char*) {
  MutexLock lock(mutex_);
  while (!permit_ && wait_on(clock_, lock, wake_, deadline_ns)) {
  }
  permit_ = false;
}

void ThreadParker::unpark() {
  MutexLock lock(mutex_);
  permit_ = true;
  // Under the lock: who is woken may destroy this as soon as it has it.
  wake_.notify_one();
}

ThisParker::ThisParker(Regardless) : ThisParker(Worker::current_fiber()) {}

ThisParker::ThisParker(Fiber* fiber) : parker_(fiber ? static_cast<Parker*>(fiber) : &thread_.emplace()) {}

ThisParker::ThisParker() : ThisParker(kRegardless) {
  if (!thread_) static_cast<Fiber*>(parker_)->about_to_wait();
}

}  // namespace posset::sched::fiber
