// The advice of huge_pages.h, by Linux's madvise. Its answers are of no interest: pages stay small then.
#include "interp/value/huge_pages.h"

#include <mimalloc.h>
#include <sys/mman.h>

namespace posset::interp {

namespace {
#if defined(MADV_HUGEPAGE) && !defined(POSSET_SANITIZED)
constexpr bool kAdvises = true;
constexpr int kUseHugePages = MADV_HUGEPAGE;
#ifdef MADV_COLLAPSE
constexpr int kCollapse = MADV_COLLAPSE;
#else
constexpr int kCollapse = 25;  // Linux 6.1; headers may be older than the system
#endif
#else
constexpr bool kAdvises = false;
constexpr int kUseHugePages = 0, kCollapse = 0;
#endif
constexpr size_t kHugePageBytes = size_t{2} << 20;

void* start_of(const void* memory, size_t bytes) {
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(memory) / bytes * bytes);
}
}  // namespace

void advise_huge_pages(void* memory, size_t bytes) {
  if (kAdvises) madvise(memory, bytes, kUseHugePages);
}

void HugePages::map_segments_whole() { mi_option_set(mi_option_eager_commit_delay, 0); }

void HugePages::advise(const void* memory) {
  const uintptr_t segment = reinterpret_cast<uintptr_t>(memory) / kSegmentBytes;
  advised_[segment % kRemembered] = segment;
  advise_huge_pages(start_of(memory, kSegmentBytes), kSegmentBytes);
  if (kAdvises) madvise(start_of(memory, kHugePageBytes), kHugePageBytes, kCollapse);
}

}  // namespace posset::interp
