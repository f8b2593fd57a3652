// Where the solver's workers run. The solver asks for T bodies to run at the same time and lets them sleep in events;
// whether they are threads or fibers on a runtime's executors, it does not know. Here: threads that live as long as the
// solve.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "sched/base/clock.h"
#include "sched/base/thread_safety.h"

namespace posset::sched::fixpoint {

// Where bodies sleep until something happens (an event count): take a ticket, look whether there is a reason to go on,
// wait with the ticket. A `wake_all` after the ticket was taken ends the wait, even if it comes before it. May wake
// for no reason.
class Event {
 public:
  virtual ~Event() = default;
  virtual uint64_t ticket() const = 0;
  virtual void wait(uint64_t ticket) = 0;
  virtual void wake_all() = 0;
};

class WorkerExecutor {
 public:
  virtual ~WorkerExecutor() = default;

  // Runs body(0) .. body(count - 1), all at the same time, one of them on the caller if it likes, and returns when all
  // have. They throw nothing. Throws std::system_error when there cannot be so many; then it has called none.
  virtual void run(size_t count, const std::function<void(size_t)>& body) = 0;
  // Called by bodies between batches of work, where a fiber gives its executor to others at the end of a quantum.
  virtual void pause() {}
  virtual std::unique_ptr<Event> make_event() = 0;
};

// For bodies that are threads. With `look`, every waiting one calls it that often: where what may end the solve is not told
// to it.
std::unique_ptr<Event> make_thread_event(std::function<void()> look = {}, int64_t every_ns = kNever);

// A thread for each body but the first, which runs on the caller. No thread outlives `run`. Any thread may use it, and
// several at the same time.
class ThreadExecutor final : public WorkerExecutor {
 public:
  void run(size_t count, const std::function<void(size_t)>& body) override;
  std::unique_ptr<Event> make_event() override;
};

}  // namespace posset::sched::fixpoint
