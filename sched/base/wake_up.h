// Ends the sleep of a thread, also from a signal handler: nothing is locked or allocated, so it may come in the middle of
// anything, the sleeper's own code included. (A condition variable may not be notified there.) A post that comes before the
// sleep is kept, and several are one; who wakes looks at everything that may have been posted for.
//
// A thread may also sleep in a place of its own, as in an event loop of a host: then that is told (`tell_too`), and
// whoever goes to sleep there first takes what was posted (`take`).
#pragma once

#include <semaphore.h>
#include <time.h>

#include <atomic>

#include "sched/base/clock.h"

namespace posset::sched {

class WakeUp {
 public:
  WakeUp() { sem_init(&semaphore_, 0, 0); }
  ~WakeUp() { sem_destroy(&semaphore_); }
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;

  // Any thread, and signal handlers. What was written before is seen by who wakes.
  void post() {
    if (const Listener* const listener = leave()) listener->wake(listener->data);
  }
  // The same by whoever may wait for a lock: no signal handler.
  void post_from_thread() {
    const Listener* const listener = leave();
    if (listener) (listener->wake_from_thread ? listener->wake_from_thread : listener->wake)(listener->data);
  }

  // Who else is told of a post, where it is made; may be null. It stays until this goes: a post may be about to tell.
  struct Listener {
    void (*wake)(void* data);  // as careful as signal handlers must be
    void* data;
    void (*wake_from_thread)(void* data) = nullptr;  // in its place where that is not needed; null: it serves both
  };
  void tell_too(const Listener* listener) { listener_.store(listener, std::memory_order_release); }
  // The thread that would sleep: whether there was a post since the last time.
  bool take() {
    const int answer = sem_trywait(&semaphore_);
    took(answer);
    return answer == 0;
  }

  // One thread at a time: until there was a post or the clock reaches the deadline; may return early.
  void wait_until(const Clock& clock, int64_t deadline_ns) {
    if (deadline_ns == kNever) {
      took(sem_wait(&semaphore_));
      return;
    }
    // The system knows only its own clock, as in wait.h.
    const int64_t left_ns = deadline_ns - clock.now_ns();
    if (left_ns <= 0) return;
    const int64_t until_ns = SystemClock().now_ns() + left_ns;
    const timespec until{static_cast<time_t>(until_ns / kSecond), static_cast<long>(until_ns % kSecond)};
    took(sem_clockwait(&semaphore_, CLOCK_MONOTONIC, &until));
  }

 private:
  // Gives who is to be told too; null: nobody, or it has been.
  const Listener* leave() {
    if (posted_.exchange(true, std::memory_order_acq_rel)) return nullptr;
    sem_post(&semaphore_);
    return listener_.load(std::memory_order_acquire);
  }
  void took(int answer) {
    if (answer == 0) posted_.exchange(false, std::memory_order_acq_rel);
  }

  std::atomic<bool> posted_{false};
  std::atomic<const Listener*> listener_{nullptr};
  sem_t semaphore_;
};

}  // namespace posset::sched
