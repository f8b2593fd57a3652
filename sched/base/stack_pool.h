// Native stacks for what may recurse deeply and is begun where little stack may be left: a compilation in the middle of an
// evaluation. They are kept for the next. Any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "sched/base/native_stack.h"
#include "sched/base/thread_safety.h"

namespace posset::sched {

class StackPool {
 public:
  // `bytes` of address space for each.
  explicit StackPool(size_t bytes) : bytes_(bytes) {}
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  // Runs body() on one of them; what it throws passes. Throws std::bad_alloc when the system refuses a stack.
  template <class Body>
  void run(Body&& body) {
    struct Lent {
      StackPool& pool;
      std::unique_ptr<NativeStack> stack = pool.take();
      ~Lent() { pool.give_back(std::move(stack)); }
    } lent{*this};
    lent.stack->run([](void* b) { (*static_cast<std::remove_reference_t<Body>*>(b))(); }, &body);
  }

 private:
  static constexpr size_t kMostKept = 4;

  std::unique_ptr<NativeStack> take() POSSET_EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<NativeStack> last = std::move(free_.back());
        free_.pop_back();
        return last;
      }
      free_.reserve(kMostKept);  // so that giving back needs no memory
    }
    auto made = std::make_unique<NativeStack>(bytes_);
    if (!made->ok()) throw std::bad_alloc();
    return made;
  }
  void give_back(std::unique_ptr<NativeStack> stack) POSSET_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (free_.size() < kMostKept) free_.push_back(std::move(stack));
  }

  const size_t bytes_;
  Mutex mutex_;
  std::vector<std::unique_ptr<NativeStack>> free_ POSSET_GUARDED_BY(mutex_);
};

}  // namespace posset::sched
