// What other threads hand to a worker that is awake, without its mutex: a stack that the worker empties at once and turns
// round (Treiber, "Systems Programming: Coping with Parallelism", 1986; whoever only adds, and only takes everything, has
// no ABA to fear). In the same word is what the worker does, so that whoever adds a task learns with it whether the
// worker will look or has to be told; there is no moment in between.
//
// Any thread pushes. Everything else is done under the worker's mutex, by the worker or by whoever takes its tasks.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "sched/fiber/core.h"

namespace posset::sched::fiber {

class Injector {
 public:
  enum class Owner : uintptr_t {
    Busy,    // runs something, and looks here afterwards
    Looks,   // for something to do, and will see what comes
    Locked,  // sleeps, has not begun or has ended: tasks are added under its mutex
  };

  // What the worker does at that moment. Locked: the task was not taken.
  Owner push(TaskCore& task) {
    uintptr_t head = head_.load(std::memory_order_relaxed);
    do {
      if (owner_of(head) == Owner::Locked) return Owner::Locked;
      task.next_ = first_of(head);
    } while (!head_.compare_exchange_weak(head, reinterpret_cast<uintptr_t>(&task) | (head & kOwner)));
    return owner_of(head);
  }

  // Sequentially consistent, as `push` is: placement.h says what for.
  bool empty() const { return first_of(head_.load()) == nullptr; }

  // The worker does something else now. True: there is something here.
  bool change(Owner from, Owner to) {
    const uintptr_t change = static_cast<uintptr_t>(from) ^ static_cast<uintptr_t>(to);
    return first_of(head_.fetch_xor(change)) != nullptr;
  }
  // Nothing is pushed any more. False: there is something here, and nothing has changed.
  bool lock(Owner from) {
    auto head = static_cast<uintptr_t>(from);
    return head_.compare_exchange_strong(head, static_cast<uintptr_t>(Owner::Locked));
  }
  // All of it, in the order it came, linked by `next`. What the worker does from now on is `owner`.
  TaskCore* take(Owner owner) {
    TaskCore* first = nullptr;
    for (TaskCore* task = first_of(head_.exchange(static_cast<uintptr_t>(owner))); task;) {
      TaskCore* const before = std::exchange(task->next_, first);
      first = std::exchange(task, before);
    }
    return first;
  }
  static TaskCore* next(const TaskCore& task) { return task.next_; }
  uint32_t size() const {
    uint32_t count = 0;
    for (const TaskCore* task = first_of(head_.load()); task; task = task->next_) ++count;
    return count;
  }

 private:
  static constexpr uintptr_t kOwner = 3;
  static_assert(alignof(TaskCore) > kOwner);
  static Owner owner_of(uintptr_t head) { return static_cast<Owner>(head & kOwner); }
  static TaskCore* first_of(uintptr_t head) { return reinterpret_cast<TaskCore*>(head & ~kOwner); }

  // Alone in its line: those who push and the worker take it from each other.
  alignas(64) std::atomic<uintptr_t> head_{static_cast<uintptr_t>(Owner::Locked)};
};

}  // namespace posset::sched::fiber
