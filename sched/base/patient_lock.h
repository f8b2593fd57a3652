// A lock for threads that nobody waits for. Who sleeps in a mutex has to be woken by whoever holds it: a system call of
// ten microseconds and more, which an evaluation would pay for a compilation that could as well have waited. A thread
// that takes the mutex patiently does not sleep in it: it tries, naps by itself, and tries again.
#pragma once

#include <chrono>
#include <thread>

#include "sched/base/spin.h"
#include "sched/base/thread_safety.h"

namespace posset::sched {

class POSSET_SCOPED_CAPABILITY PatientLock {
 public:
  explicit PatientLock(Mutex& mutex) POSSET_ACQUIRE(mutex) : mutex_(mutex) {
    while (!spin_until(kSpin, [&mutex] { return mutex.try_lock(); })) std::this_thread::sleep_for(kNap);
  }
  ~PatientLock() POSSET_RELEASE() { mutex_.unlock(); }
  PatientLock(const PatientLock&) = delete;
  PatientLock& operator=(const PatientLock&) = delete;

 private:
  static constexpr std::chrono::microseconds kSpin{10};  // most are held for less
  static constexpr std::chrono::microseconds kNap{50};  // it may be that the holder does not run

  Mutex& mutex_;
};

}  // namespace posset::sched
