// Who waits: a fiber, whose worker does something else meanwhile, or a thread that is bound to no executors and sleeps. A
// parker that is unparked before it parks does not park: so no wake-up is lost between the look and the sleep. Parking
// may end for no reason; what waits looks again.
//
// Who gives something to another and waits then says both at once (`hand_over`): between two fibers of a worker that is one
// step, and the thread goes over from the one to the other unless something comes before it.
//
// What is waited for is in wait_list.h. Fibers as parkers are in worker.h.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <optional>

#include "sched/base/clock.h"
#include "sched/base/thread_safety.h"

namespace posset::sched::fiber {

// How a wait ended.
enum class Wait : uint8_t {
  Ok,         // with what was waited for
  Timeout,    // the deadline came first
  Cancelled,  // the task was cancelled, or the executors' deadline to stop has passed
  Closed,     // the channel was closed
};

const char* name_of(Wait wait);

class Fiber;

// Thrown through a task that waits on although its waits were answered Cancelled so many times, after the deadline of
// Executors::stop. Who catches everything must let it pass.
struct FiberUnwind {};

class Parker {
 public:
  // Until it is unparked or the clock reaches the deadline; may return early. `what` is waited for, for reports; it
  // is kept as it is. By whoever it is.
  virtual void park(int64_t deadline_ns, const char* what) = 0;
  // Any thread.
  virtual void unpark() = 0;
  // Unparks `next`, and parks.
  virtual void hand_over(Parker& next, int64_t deadline_ns, const char* what) {
    next.unpark();
    park(deadline_ns, what);
  }
  // Whether it shall give up waiting.
  virtual bool cancelled() const { return false; }
  // Whether it shall give up even what is not given up when a task is cancelled.
  virtual bool unwinding() const { return false; }
  virtual int64_t now_ns() const = 0;

  // Null: a thread.
  virtual Fiber* fiber() { return nullptr; }

 protected:
  ~Parker() = default;
};

// A thread that no executors know. Its deadlines are the system clock's.
class ThreadParker final : public Parker {
 public:
  void park(int64_t deadline_ns, const char* what) override POSSET_EXCLUDES(mutex_);
  void unpark() override POSSET_EXCLUDES(mutex_);
  int64_t now_ns() const override { return clock_.now_ns(); }

 private:
  SystemClock clock_;
  Mutex mutex_;
  bool permit_ POSSET_GUARDED_BY(mutex_) = false;
  std::condition_variable wake_;
};

// Whoever runs here: made on the stack, before any lock is taken, by what may have to wait. Throws FiberUnwind.
class ThisParker {
 public:
  ThisParker();
  // For what is waited for though the task be cancelled: does not throw.
  enum Regardless { kRegardless };
  explicit ThisParker(Regardless);
  ThisParker(const ThisParker&) = delete;
  ThisParker& operator=(const ThisParker&) = delete;
  Parker& operator*() const { return *parker_; }

 private:
  explicit ThisParker(Fiber* fiber);

  std::optional<ThreadParker> thread_;
  Parker* const parker_;
};

}  // namespace posset::sched::fiber
