// What the rules of a worker (policy.h) see of fibers and tasks: a link, a state, and nothing of stacks, closures or
// threads. The executors derive from these what they run, the simulator derives from them what it pretends to run, and
// both are moved by the same rules.
//
// Links are intrusive: no queue asks for memory, so nothing can fail after a task was accepted.
#pragma once

#include <cassert>
#include <cstdint>

#include "sched/base/timer.h"

namespace posset::sched::fiber {

// First in, first out, by the links of its elements, each of which is in one queue at most.
template <class T>
class Fifo {
 public:
  bool empty() const { return first_ == nullptr; }
  uint32_t size() const { return size_; }
  T* front() const { return first_; }

  void push_back(T& item) {
    item.next_ = nullptr;
    (last_ ? last_->next_ : first_) = &item;
    last_ = &item;
    ++size_;
  }
  void push_front(T& item) {
    item.next_ = first_;
    first_ = &item;
    if (!last_) last_ = &item;
    ++size_;
  }
  T* pop_front() {
    assert(first_);
    T* item = first_;
    first_ = item->next_;
    if (!first_) last_ = nullptr;
    --size_;
    item->next_ = nullptr;
    return item;
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
  uint32_t size_ = 0;
};

// A task that has not begun, in the queue of a worker.
class TaskCore {
 public:
  explicit TaskCore(bool same_thread) : same_thread_(same_thread) {}
  // Whether it must begin on the worker it was given to: no other takes it away.
  bool same_thread() const { return same_thread_; }
  // Something that has begun waits for it: before anything else that begins. Set before it is given to a worker.
  bool awaited() const { return awaited_; }
  void set_awaited() { awaited_ = true; }

 private:
  friend class Fifo<TaskCore>;
  friend class Injector;
  TaskCore* next_ = nullptr;
  const bool same_thread_;
  bool awaited_ = false;
};

// The life of a fiber:
//
//   Idle       has no task; kept for the next one
//   Running    has the worker's thread
//   Queued     was blocked and is no more; resumed before anything new begins
//   Preempted  gave the thread up at the end of its quantum; takes turns with new tasks
//   Yielded    blocked until it is unparked
//   Waiting    blocked until it is unparked or its deadline has come
//
//   Idle -> Running                  a task begins, or (the main fiber) the worker ends
//   Running -> Yielded, Waiting      park          Yielded, Waiting -> Queued   unpark, deadline
//   Running -> Preempted             preempt       Queued, Preempted -> Running  next
//   Running -> Idle                  its task has ended and there is something else to do
//
// Invariants: a worker has one Running fiber; a fiber in a queue is in the one its state names; only a Waiting fiber has
// a timer; a fiber never leaves the worker it was made on.
enum class FiberState : uint8_t { Idle, Running, Queued, Preempted, Yielded, Waiting };

class FiberCore {
 public:
  FiberCore(uint32_t worker, uint32_t number) : worker_(worker), number_(number) {}
  FiberCore(const FiberCore&) = delete;
  FiberCore& operator=(const FiberCore&) = delete;

  uint32_t worker() const { return worker_; }  // its home
  uint32_t number() const { return number_; }  // there
  FiberState state() const { return state_; }
  bool blocked() const { return state_ == FiberState::Yielded || state_ == FiberState::Waiting; }
  // Has a task that began and has not ended.
  bool busy() const { return busy_; }
  // What it has from now on, under the lock of its worker.
  void take(const TaskCore& task) { awaited_ = task.awaited(); }

 private:
  friend class Fifo<FiberCore>;
  friend class WorkerPolicy;
  FiberCore* next_ = nullptr;
  TimerSet::Id timer_ = 0;
  const uint32_t worker_;
  const uint32_t number_;
  FiberState state_ = FiberState::Idle;
  bool busy_ = false;
  bool permit_ = false;  // was unparked while it ran: the next park returns at once
  bool awaited_ = false;  // its task is
};

}  // namespace posset::sched::fiber
