// See spare_chunks.h.
#include "interp/value/spare_chunks.h"

#include <mimalloc.h>

namespace posset::interp {

void* SpareChunks::take() {
  if (count_.load(std::memory_order_relaxed) == 0) return nullptr;
  std::lock_guard lock(mutex_);
  const size_t count = count_.load(std::memory_order_relaxed);
  if (count == 0) return nullptr;
  count_.store(count - 1, std::memory_order_relaxed);
  return memory_[count - 1];
}

bool SpareChunks::keep(void* memory) {
  std::lock_guard lock(mutex_);
  const size_t count = count_.load(std::memory_order_relaxed);
  if (count == kMost) return false;
  memory_[count] = memory;
  count_.store(count + 1, std::memory_order_relaxed);
  return true;
}

void SpareChunks::free_all() {
  while (void* const memory = take()) mi_free(memory);
}

}  // namespace posset::interp
