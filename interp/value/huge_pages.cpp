// See huge_pages.h.
#include "interp/value/huge_pages.h"

#include <mimalloc.h>
#include <sys/mman.h>

#include "sched/base/huge_pages.h"

namespace posset::interp {

namespace {
#ifdef MADV_COLLAPSE
constexpr int kCollapse = MADV_COLLAPSE;
#else
constexpr int kCollapse = 25;  // Linux 6.1; headers may be older than the system
#endif

void* start_of(const void* memory, size_t bytes) {
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(memory) / bytes * bytes);
}
}  // namespace

void HugePages::map_segments_whole() { mi_option_set(mi_option_eager_commit_delay, 0); }

void HugePages::advise(const void* memory) {
  const uintptr_t segment = reinterpret_cast<uintptr_t>(memory) / kSegmentBytes;
  advised_[segment % kRemembered] = segment;
  sched::advise_huge_pages(start_of(memory, kSegmentBytes), kSegmentBytes);
  if (sched::kAdvisesHugePages) madvise(start_of(memory, sched::kHugePageBytes), sched::kHugePageBytes, kCollapse);
}

}  // namespace posset::interp
