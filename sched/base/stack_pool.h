// Native stacks that are kept for the next: making one and giving it up costs the system more than most that runs on it. For
// what may recurse deeply and is begun where little stack may be left (a compilation in the middle of an evaluation), and for
// fibers. Any thread.
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
  // `bytes` of address space for each; so many are kept, with what memory was touched of them.
  explicit StackPool(size_t bytes, size_t most_kept = 4, StackArea::Use use = StackArea::Use::GoesOn)
      : bytes_(bytes), most_kept_(most_kept), use_(use) {}
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

  size_t bytes() const { return bytes_; }
  // Throws as `run`.
  std::unique_ptr<NativeStack> take() POSSET_EXCLUDES(mutex_) {
    auto taken = try_take();
    if (!taken->ok()) throw std::bad_alloc();
    return taken;
  }
  // The same, but one that the system refuses is there to say so.
  std::unique_ptr<NativeStack> try_take() POSSET_EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<NativeStack> last = std::move(free_.back());
        free_.pop_back();
        return last;
      }
      free_.reserve(most_kept_);  // so that giving back needs no memory
    }
    return std::make_unique<NativeStack>(bytes_, use_);
  }
  // One that was taken from here, and is empty again.
  void give_back(std::unique_ptr<NativeStack> stack) POSSET_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (free_.size() < most_kept_) free_.push_back(std::move(stack));
  }

 private:
  const size_t bytes_;
  const size_t most_kept_;
  const StackArea::Use use_;
  Mutex mutex_;
  std::vector<std::unique_ptr<NativeStack>> free_ POSSET_GUARDED_BY(mutex_);
};

}  // namespace posset::sched
