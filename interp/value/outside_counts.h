// References to a heap's objects that a host takes and gives back while another thread is using the heap, whose counts only that
// thread may touch. They are noted here, by object, and counted when the heap is next entered, or between two slices of what runs
// on an executor. Until then nothing dies of it:
// whoever takes one more reference has one already, or a container's that has.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace posset::interp {

struct Object;

class OutsideCounts {
 public:
  // Any thread. Throws std::bad_alloc; nothing has happened then.
  void add(Object* object, int64_t references);
  bool any() const { return any_.load(std::memory_order_acquire); }
  // By the thread that may touch the objects. What dies of it may run functions of the host.
  void count() {
    if (any()) [[unlikely]] apply();
  }

 private:
  void apply();

  std::mutex mutex_;
  std::unordered_map<Object*, int64_t> counts_;  // none is 0
  std::atomic<bool> any_{false};
};

}  // namespace posset::interp
