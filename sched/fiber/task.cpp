// See task.h.
#include "sched/fiber/task.h"

namespace posset::sched::fiber {

const char* name_of(TaskState state) {
  switch (state) {
    case TaskState::Pending: return "pending";
    case TaskState::Started: return "started";
    case TaskState::Done: return "done";
    case TaskState::Failed: return "failed";
    case TaskState::Cancelled: return "cancelled";
  }
  return "";
}

std::string Task::title() const { return name_ ? *name_ : "task " + std::to_string(number_); }

void Task::release() {
  // Acquire and release: what others did with it comes before its end. Who is alone stays so, which spares the exchange.
  if (alone() || references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

bool Task::try_start(Parker& fiber) {
  if (!alone()) {
    TaskState pending = TaskState::Pending;
    // Together with the fiber, or a request to cancel might find the one and not the other.
    MutexLock lock(mutex_);
    if (!state_.compare_exchange_strong(pending, TaskState::Started, std::memory_order_acq_rel)) return false;
    fiber_ = &fiber;
    return true;
  }
  // Nobody has a handle, and nobody can get one any more.
  if (state_.load(std::memory_order_relaxed) != TaskState::Pending) return false;
  state_.store(TaskState::Started, std::memory_order_relaxed);
  return true;
}

void Task::end(TaskState state, std::exception_ptr error) {
  if (alone()) {
    state_.store(state, std::memory_order_relaxed);
    return;
  }
  MutexLock lock(mutex_);
  fiber_ = nullptr;
  error_ = std::move(error);
  state_.store(state, std::memory_order_release);
  joining_.wake_all();
}

bool Task::give_up() {
  // The state is claimed first, so that the closure is destroyed without the lock and before the end is told. Started keeps
  // everybody else away.
  TaskState pending = TaskState::Pending;
  if (!state_.compare_exchange_strong(pending, TaskState::Started, std::memory_order_acq_rel)) return false;
  drop();
  end(TaskState::Cancelled, nullptr);
  return true;
}

bool Task::cancel() {
  if (cancel_requested_.exchange(true, std::memory_order_relaxed)) return false;
  if (give_up()) return true;
  MutexLock lock(mutex_);
  if (ended()) return false;
  // Under the lock the task cannot end, nor its fiber go.
  if (fiber_) fiber_->unpark();
  return true;
}

Wait Task::join(int64_t deadline_ns) {
  if (ended()) return Wait::Ok;
  ThisParker parker;
  Wish wish(*parker);
  Waiter waiter(wish);
  MutexLock lock(mutex_);
  if (ended()) return Wait::Ok;
  return joining_.wait(mutex_, waiter, deadline_ns, "a task");
}

std::exception_ptr Task::error() const {
  MutexLock lock(mutex_);
  return error_;
}

}  // namespace posset::sched::fiber
