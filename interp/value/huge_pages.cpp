// See huge_pages.h.
#include "interp/value/huge_pages.h"

#include <mimalloc.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>

#include "sched/base/huge_pages.h"

namespace posset::interp {

namespace {
#ifdef MADV_COLLAPSE
constexpr int kCollapse = MADV_COLLAPSE;
#else
constexpr int kCollapse = 25;  // Linux 6.1; headers may be older than the system
#endif

// What a huge page takes at most where the memory is there, 0.1 to 0.5 ms, and at least where the host must find it, 4 to 14.
constexpr int64_t kSlowNs = 2'000'000;

void* start_of(const void* memory, size_t bytes) {
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(memory) / bytes * bytes);
}
}  // namespace

int64_t HugePages::thread_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void HugePages::map_segments_whole() { mi_option_set(mi_option_eager_commit_delay, 0); }

bool HugePages::are_tried() {
  if (!sched::kAdvisesHugePages) return false;
  if (untried_ == 0) return true;
  --untried_;
  return false;
}

bool HugePages::note(bool are_quick) {
  constexpr uint32_t kMostUntried = 64;
  next_untried_ = are_quick ? next_untried_ / 2 : std::min(2 * next_untried_ + 1, kMostUntried);
  untried_ = next_untried_;
  return are_quick;
}

void HugePages::use_around(const void* memory) {
  if (have_asked_around(memory)) return;
  const uintptr_t segment = reinterpret_cast<uintptr_t>(memory) / kSegmentBytes;
  asked_[segment % kRemembered] = segment;
  if (!are_tried()) return;
  const int64_t since_ns = clock_();
  const bool made = madvise(start_of(memory, sched::kHugePageBytes), sched::kHugePageBytes, kCollapse) == 0;
  const bool quick = clock_() - since_ns < kSlowNs;
  if (made) note(quick);
  if (quick) sched::advise_huge_pages(start_of(memory, kSegmentBytes), kSegmentBytes);
}

// All of a block has the same advice: the system moves only what does.
void HugePages::use_in(void* block, size_t touched, size_t bytes) {
  if (are_tried()) {
    sched::advise_huge_pages(block, bytes);
    // Where mappings are not aligned, before Linux 6.7, the first page is small in any case.
    char* const fresh = static_cast<char*>(block) + touched;
    volatile char* const first = static_cast<char*>(start_of(fresh + sched::kHugePageBytes - 1, sched::kHugePageBytes));
    const int64_t since_ns = clock_();
    *first = 0;
    if (note(clock_() - since_ns < kSlowNs)) {
      if (small_ == block) small_ = nullptr;
      return;
    }
  }
  use_small_in(block, bytes);
}

void HugePages::use_small_in(void* block, size_t bytes) {
  small_ = block;
  sched::advise_small_pages(block, bytes);
}

// What small pages take says nothing of huge ones.
void HugePages::note_portion(void* block, size_t bytes, int64_t& since_ns) {
  if (!sched::kAdvisesHugePages || block == small_) return;
  const int64_t now = clock_();
  if (now - since_ns >= kSlowNs) {
    note(false);
    use_small_in(block, bytes);
  }
  since_ns = now;
}

}  // namespace posset::interp
