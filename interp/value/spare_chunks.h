// Chunks that a heap has given back, for the heaps of its family. What a part computes for another heap goes over to that, and when it
// dies there its memory is free there; the next part makes its result in memory of its own again. mimalloc has that from the system,
// a page fault for every 4 KiB, as the memory that is free is another thread's. In between it waits here, charged to nobody.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>

namespace posset::interp {

class SpareChunks {
 public:
  static constexpr size_t kMost = 32;  // 38 MiB
  SpareChunks() = default;
  ~SpareChunks() { free_all(); }
  SpareChunks(const SpareChunks&) = delete;
  SpareChunks& operator=(const SpareChunks&) = delete;

  // The memory of one; null: there is none.
  void* take();
  // False: there are enough, and it is still the caller's.
  bool keep(void* memory);
  void free_all();
  size_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::mutex mutex_;
  std::atomic<size_t> count_{0};  // changes under the mutex
  void* memory_[kMost];
};

}  // namespace posset::interp
