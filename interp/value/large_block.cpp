// Large blocks from mimalloc and, where they grow far, from the system (see large_block.h). Without
// mremap, which is Linux's own, and where a sanitizer watches mimalloc's blocks, mimalloc serves
// all of them.
#include "interp/value/large_block.h"

#include <cstring>
#include <mimalloc.h>
#include <sys/mman.h>

namespace posset::interp {

namespace {
// Where mimalloc goes to the system for each block as well. Below, it hands freed memory out again:
// lists of 4 MiB, grown again and again, took three times as long with fresh pages.
constexpr size_t kMappedBytes = size_t{16} << 20;

#if defined(MREMAP_MAYMOVE) && !defined(POSSET_SANITIZED)
constexpr bool kMaps = true;
void* map(size_t bytes) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
void* remap(void* memory, size_t old_bytes, size_t bytes) {
  return mremap(memory, old_bytes, bytes, MREMAP_MAYMOVE);
}
#else
constexpr bool kMaps = false;
void* map(size_t) { return MAP_FAILED; }
void* remap(void*, size_t, size_t) { return MAP_FAILED; }
#endif

LargeBlock* set_size(void* memory, size_t bytes, bool mapped) {
  auto* block = static_cast<LargeBlock*>(memory);
  block->bytes = bytes;
  block->mapped = mapped ? 1 : 0;
  return block;
}
}  // namespace

size_t LargeBlock::good_bytes(size_t payload) {
  // Whole pages beyond a page, as munmap and mremap want them.
  return mi_good_size(payload + sizeof(LargeBlock));
}

LargeBlock* LargeBlock::allocate(size_t bytes) {
  void* memory = mi_malloc(bytes);
  return memory == nullptr ? nullptr : set_size(memory, bytes, false);
}

LargeBlock* LargeBlock::grow(size_t to) {
  if (mapped != 0) {
    void* memory = remap(this, bytes, to);
    return memory == MAP_FAILED ? nullptr : set_size(memory, to, true);
  }
  bool maps = kMaps && to >= kMappedBytes;
  void* memory = maps ? map(to) : mi_malloc(to);
  if (memory == nullptr || memory == MAP_FAILED) return nullptr;
  std::memcpy(memory, static_cast<void*>(this), bytes);
  mi_free(this);
  return set_size(memory, to, maps);
}

void LargeBlock::free() {
  if (mapped != 0) {
    munmap(this, bytes);
  } else {
    mi_free(this);
  }
}

}  // namespace posset::interp
