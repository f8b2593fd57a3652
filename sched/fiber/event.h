// An event that tasks wait for, and a count that they wait to see at zero. Threads that are bound nowhere may use both.
#pragma once

#include <cstdint>

#include "sched/base/clock.h"
#include "sched/base/thread_safety.h"
#include "sched/fiber/wait_list.h"

namespace posset::sched::fiber {

class Event {
 public:
  enum class Reset : uint8_t {
    Manual,  // stays signalled until it is cleared: all that wait go on
    Auto,    // one that waits goes on, and takes the signal
  };
  explicit Event(Reset reset = Reset::Manual, bool signalled = false) : reset_(reset), signalled_(signalled) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void signal() POSSET_EXCLUDES(mutex_);
  void clear() POSSET_EXCLUDES(mutex_);
  // Ok at once when it is signalled, whatever the deadline and though the task be cancelled.
  Wait wait(int64_t deadline_ns = kNever) POSSET_EXCLUDES(mutex_);
  bool signalled() const POSSET_EXCLUDES(mutex_);

 private:
  bool take() POSSET_REQUIRES(mutex_);

  const Reset reset_;
  mutable Mutex mutex_;
  bool signalled_ POSSET_GUARDED_BY(mutex_);
  WaitList waiting_ POSSET_GUARDED_BY(mutex_);
};

// Counts what has not ended.
class WaitGroup {
 public:
  explicit WaitGroup(uint64_t count = 0) : count_(count) {}
  WaitGroup(const WaitGroup&) = delete;
  WaitGroup& operator=(const WaitGroup&) = delete;

  void add(uint64_t count = 1) POSSET_EXCLUDES(mutex_);
  // One less; there has to be one.
  void done() POSSET_EXCLUDES(mutex_);
  // Until there is none.
  Wait wait(int64_t deadline_ns = kNever) POSSET_EXCLUDES(mutex_);
  uint64_t count() const POSSET_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  uint64_t count_ POSSET_GUARDED_BY(mutex_);
  WaitList waiting_ POSSET_GUARDED_BY(mutex_);
};

}  // namespace posset::sched::fiber
