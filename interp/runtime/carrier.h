// What an evaluation runs on that gives its thread to others while it waits: a fiber of the runtime's executors, its carrier. A
// context without one has the thread to itself, as where a host evaluates.
//
// Elsewhere: whose fiber it is (api/submit.cpp), and where it is asked (tasks.cpp, Context::poll).
#pragma once

#include <cstdint>

namespace posset::sched::fiber {
class Parker;
}

namespace posset::interp {

class Carrier {
 public:
  // Nothing of the evaluation can go on before the clock reaches that or its context's `wake_up` is posted, which this
  // takes. On whichever stack; may return early.
  virtual void sleep(int64_t until_ns) = 0;
  // A slice of steps has ended, and nothing waits in the middle of anything: after a quantum others have their turn.
  virtual void slice_ends() = 0;
  // For waiting in the middle of something, while nothing of the evaluation can go on. Null: it keeps its thread.
  virtual sched::fiber::Parker* parker() = 0;

 protected:
  ~Carrier() = default;
};

}  // namespace posset::interp
