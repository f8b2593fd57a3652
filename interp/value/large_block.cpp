// Large blocks from mimalloc and, where they grow far, from the system (see large_block.h). Without
// mremap, which is Linux's own, and where a sanitizer watches mimalloc's blocks, mimalloc serves
// all of them.
#include "interp/value/large_block.h"

#include <mimalloc.h>
#include <sys/mman.h>

#include "interp/value/huge_pages.h"
#include "sched/base/huge_pages.h"

namespace posset::interp {

namespace {
// Where mimalloc goes to the system for each block as well. Below, it hands freed memory out again:
// lists of 4 MiB, grown again and again, took three times as long with fresh pages.
constexpr size_t kMappedBytes = size_t{16} << 20;

#if defined(MREMAP_MAYMOVE) && !defined(POSSET_SANITIZED)
constexpr bool kMaps = true;
// Whoever asks for so much will touch it.
void* map(size_t bytes, HugePages& pages) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) pages.use_in(memory, 0, bytes);
  return memory;
}
void* move(void* memory, size_t old_bytes, size_t bytes) {
  return mremap(memory, old_bytes, bytes, MREMAP_MAYMOVE);
}
#else
constexpr bool kMaps = false;
void* map(size_t, HugePages&) { return MAP_FAILED; }
void* move(void*, size_t, size_t) { return MAP_FAILED; }
#endif

LargeBlock* set_size(void* memory, size_t bytes, bool mapped) {
  auto* block = static_cast<LargeBlock*>(memory);
  block->bytes = bytes;
  block->mapped = mapped ? 1 : 0;
  return block;
}
}  // namespace

size_t LargeBlock::good_bytes(size_t payload) {
  const size_t bytes = mi_good_size(payload + sizeof(LargeBlock));
  if (!kMaps || bytes < kMappedBytes) return bytes;
  return (bytes + sched::kHugePageBytes - 1) / sched::kHugePageBytes * sched::kHugePageBytes;  // the kernel aligns such
}

LargeBlock* LargeBlock::allocate(size_t bytes, HugePages& pages) {
  const bool maps = kMaps && bytes >= kMappedBytes;
  void* memory = maps ? map(bytes, pages) : mi_malloc(bytes);
  return memory == nullptr || memory == MAP_FAILED ? nullptr : set_size(memory, bytes, maps);
}

LargeBlock* LargeBlock::remap(size_t to, HugePages& pages) {
  const size_t from = bytes;
  void* memory = move(this, from, to);
  if (memory == MAP_FAILED) return nullptr;
  if (to > from) pages.use_in(memory, from, to);
  return set_size(memory, to, true);
}

void LargeBlock::cut(size_t to) {
  munmap(reinterpret_cast<char*>(this) + to, bytes - to);
  bytes = to;
}

void LargeBlock::free() {
  if (mapped != 0) {
    munmap(this, bytes);
  } else {
    mi_free(this);
  }
}

}  // namespace posset::interp
