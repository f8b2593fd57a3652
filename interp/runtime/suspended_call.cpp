// See suspended_call.h.
#include "interp/runtime/suspended_call.h"

#include <cassert>
#include <utility>

#include "interp/runtime/tasks.h"

namespace posset::interp {

bool SuspendedCall::complete(Answer&& answer) {
  {
    sched::MutexLock lock(mutex_);
    if (state_ != State::Open) return false;
    state_ = State::Answered;
    answer_ = std::move(answer);
  }
  bell_.ring();
  return true;
}

bool SuspendedCall::is_wanted() const {
  sched::MutexLock lock(mutex_);
  return state_ == State::Open;
}

bool SuspendedCall::wait(Context& context) {
  while (is_wanted()) {
    if (!tasks_of(context).wait_outside(bell_, "a call of the host")) return false;
  }
  return true;
}

SuspendedCall::Answer SuspendedCall::take() {
  sched::MutexLock lock(mutex_);
  assert(state_ == State::Answered);
  state_ = State::Over;
  return std::move(answer_);
}

void SuspendedCall::withdraw() {
  Answer unused;  // destroyed without the lock: that may run code of the host
  sched::MutexLock lock(mutex_);
  state_ = State::Over;
  unused = std::move(answer_);
}

}  // namespace posset::interp
