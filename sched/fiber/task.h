// A task: something to run once, on a fiber, and whoever holds a handle can wait for its end or cancel it.
//
//   Pending   in the queue of a worker
//   Started   has a fiber, and keeps it until the end
//   Done      it returned
//   Failed    an exception left it
//   Cancelled it never began, or was unwound
//
//   Pending -> Started    its worker takes it        Started -> Done, Failed, Cancelled
//   Pending -> Cancelled  `cancel`, or the executors stop, whichever of these three comes first
//
// Cancelling a started task is a request: its waits return Cancelled, and it ends as it sees fit. What the task holds is
// destroyed before its end is told, with no lock held: on its fiber, or if it never began on the thread that gave it up.
//
// Memory: one block with the closure in it, counted by the queue or fiber and by the handles. Handles may outlive the
// executors.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "sched/base/thread_safety.h"
#include "sched/fiber/core.h"
#include "sched/fiber/wait_list.h"

namespace posset::sched::fiber {

enum class TaskState : uint8_t { Pending, Started, Done, Failed, Cancelled };

const char* name_of(TaskState state);

struct TaskOptions {
  std::string name = {};     // for reports; empty: its number
  bool same_thread = false;  // begins on the worker of whoever schedules it
};

class Task : public TaskCore {
 public:
  explicit Task(TaskOptions&& options) : TaskCore(options.same_thread) {
    if (!options.name.empty()) name_ = std::make_unique<const std::string>(std::move(options.name));
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // A name for people.
  std::string title() const;
  uint64_t number() const { return number_; }
  TaskState state() const { return state_.load(std::memory_order_acquire); }
  bool ended() const { return state() > TaskState::Started; }
  bool cancel_requested() const { return cancel_requested_.load(std::memory_order_relaxed); }

  // Any thread. False: it had ended, or been cancelled, before.
  bool cancel() POSSET_EXCLUDES(mutex_);
  // Waits for the end.
  Wait join(int64_t deadline_ns) POSSET_EXCLUDES(mutex_);
  // What left it; null unless it Failed.
  std::exception_ptr error() const POSSET_EXCLUDES(mutex_);

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release();

  // ---- for the executors ----

  // False: it was cancelled, and is told.
  bool try_start(Parker& fiber) POSSET_EXCLUDES(mutex_);
  // It was started, and lets its closure go.
  virtual void run() = 0;
  virtual void drop() = 0;
  void end(TaskState state, std::exception_ptr error) POSSET_EXCLUDES(mutex_);
  // Cancels it unless it was started or cancelled before.
  bool give_up() POSSET_EXCLUDES(mutex_);

  // Written before it is handed over, read by who took it.
  void set_number(uint64_t number) { number_ = number; }
  bool external = false;  // counts among those that a foreign thread has handed in
  int64_t scheduled_ns = 0;  // where there is a trace

 protected:
  virtual ~Task() = default;

 private:
  bool alone() const { return references_.load(std::memory_order_acquire) == 1; }

  std::unique_ptr<const std::string> name_;  // null: its number; a task is small, because another processor reads it
  uint64_t number_ = 0;
  std::atomic<uint32_t> references_{1};
  // Who wins Pending -> Started or Cancelled is decided by it; what belongs to an end is published with it.
  std::atomic<TaskState> state_{TaskState::Pending};
  // Relaxed: who has to see it is unparked after it was set, under a lock.
  std::atomic<bool> cancel_requested_{false};
  mutable Mutex mutex_;
  Parker* fiber_ POSSET_GUARDED_BY(mutex_) = nullptr;
  std::exception_ptr error_ POSSET_GUARDED_BY(mutex_);
  WaitList joining_ POSSET_GUARDED_BY(mutex_);
};

// A task and the closure it runs, in one block.
template <class Body>
class BodyTask final : public Task {
 public:
  template <class B>
  BodyTask(TaskOptions&& options, B&& body) : Task(std::move(options)), body_(std::forward<B>(body)) {}
  void run() override { (*body_)(); }
  void drop() override { body_.reset(); }

 private:
  std::optional<Body> body_;
};

// A task as whoever scheduled it sees it. Any thread; copies are the same task.
class TaskHandle {
 public:
  TaskHandle() = default;
  explicit TaskHandle(Task& task) : task_(&task) { task_->retain(); }
  TaskHandle(const TaskHandle& other) : task_(other.task_) {
    if (task_) task_->retain();
  }
  TaskHandle(TaskHandle&& other) noexcept : task_(std::exchange(other.task_, nullptr)) {}
  TaskHandle& operator=(TaskHandle other) noexcept {
    std::swap(task_, other.task_);
    return *this;
  }
  ~TaskHandle() {
    if (task_) task_->release();
  }

  explicit operator bool() const { return task_ != nullptr; }
  // Waits until it has ended. Ok, Timeout or Cancelled (the one that waits, not the task). Not by the task itself.
  Wait join(int64_t deadline_ns = kNever) const { return task_->join(deadline_ns); }
  // A task that has not begun never begins; one that has gets Cancelled from its waits. False: too late.
  bool cancel() const { return task_->cancel(); }
  TaskState state() const { return task_->state(); }
  bool ended() const { return task_->ended(); }
  std::exception_ptr error() const { return task_->error(); }
  std::string title() const { return task_->title(); }

 private:
  Task* task_ = nullptr;
};

}  // namespace posset::sched::fiber
