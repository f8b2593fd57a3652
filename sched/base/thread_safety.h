// Locks that say what they guard, and that spin a little before they sleep: most are held for some instructions
// (spin.h has the reckoning). The annotations are clang's thread safety analysis (its manual has the
// rules); clang builds compile with -Wthread-safety as an error, other compilers see plain mutexes.
//
//   Mutex mutex_;
//   int count_ POSSET_GUARDED_BY(mutex_) = 0;
//   void add() { MutexLock lock(mutex_); ++count_; }
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "sched/base/spin.h"

#if defined(__clang__)
#define POSSET_ANNOTATE(x) __attribute__((x))
#else
#define POSSET_ANNOTATE(x)
#endif

#define POSSET_CAPABILITY(name) POSSET_ANNOTATE(capability(name))
#define POSSET_SCOPED_CAPABILITY POSSET_ANNOTATE(scoped_lockable)
#define POSSET_GUARDED_BY(mutex) POSSET_ANNOTATE(guarded_by(mutex))
#define POSSET_REQUIRES(...) POSSET_ANNOTATE(requires_capability(__VA_ARGS__))
#define POSSET_EXCLUDES(...) POSSET_ANNOTATE(locks_excluded(__VA_ARGS__))
#define POSSET_ACQUIRE(...) POSSET_ANNOTATE(acquire_capability(__VA_ARGS__))
#define POSSET_TRY_ACQUIRE(...) POSSET_ANNOTATE(try_acquire_capability(__VA_ARGS__))
#define POSSET_RELEASE(...) POSSET_ANNOTATE(release_capability(__VA_ARGS__))
// Not analysed: for locks whose number is known only when it runs, and hints read without one. Say why.
#define POSSET_NOT_ANALYSED POSSET_ANNOTATE(no_thread_safety_analysis)

namespace posset::sched {

class POSSET_CAPABILITY("mutex") Mutex {
 public:
  void lock() POSSET_ACQUIRE() { lock_soon(mutex_); }
  bool try_lock() POSSET_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
  void unlock() POSSET_RELEASE() { mutex_.unlock(); }

 private:
  friend class MutexLock;
  static constexpr std::chrono::microseconds kSpin{10};  // most are held for less

  template <class Lock>
  static void lock_soon(Lock& lock) {
    if (!spin_until(kSpin, [&lock] { return lock.try_lock(); })) lock.lock();
  }

  std::mutex mutex_;
};

// Holds a mutex for a scope. A condition variable waits on it as on a std::unique_lock.
class POSSET_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) POSSET_ACQUIRE(mutex) : lock_(mutex.mutex_, std::defer_lock) { Mutex::lock_soon(lock_); }
  ~MutexLock() POSSET_RELEASE() {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  // Gives the mutex back before the end of the scope, and takes it again.
  void unlock() POSSET_RELEASE() { lock_.unlock(); }
  void lock() POSSET_ACQUIRE() { Mutex::lock_soon(lock_); }

  // Waits once; may return early. The caller loops over its condition, where the analysis sees it.
  void wait(std::condition_variable& condition) { condition.wait(lock_); }
  // False when `deadline` passed.
  bool wait_until(std::condition_variable& condition, std::chrono::steady_clock::time_point deadline) {
    return condition.wait_until(lock_, deadline) == std::cv_status::no_timeout;
  }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace posset::sched
