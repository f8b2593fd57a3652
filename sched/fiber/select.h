// Waiting for several channels at once: the first thing that can happen does, and nothing else.
//
//   ReceiveCase<int> number(numbers, n);
//   SendCase<std::string> line(lines, text);
//   const Selected chosen = select({&number, &line}, deadline_ns);
//
// All channels are locked together, in the order of their addresses, while it looks and while it queues up in all of them:
// so between looking and waiting nothing happens that it would miss, and nobody grants it two things. What can happen at
// once is looked for in the order given, so what stands first is preferred.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>

#include "sched/base/clock.h"
#include "sched/base/thread_safety.h"
#include "sched/fiber/wait_list.h"

namespace posset::sched::fiber {

// Something that may happen. What it is about, and all of this, is used by `select` with the lock `mutex()` held.
class SelectCase {
 public:
  virtual Mutex& mutex() = 0;
  // Empty: it has to wait.
  virtual std::optional<Wait> try_now() = 0;
  virtual WaitList& list() = 0;
  virtual void* slot() = 0;
  // After it was granted.
  virtual Wait answer() const = 0;

 protected:
  ~SelectCase() = default;
};

struct Selected {
  Wait answer = Wait::Timeout;  // Ok and Closed are the case's
  size_t index = 0;             // of the case
};

// Without cases it waits for the deadline, or to be cancelled.
Selected select(std::initializer_list<SelectCase*> cases, int64_t deadline_ns = kNever);

}  // namespace posset::sched::fiber
