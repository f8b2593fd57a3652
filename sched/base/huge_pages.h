// Huge pages for memory that is probably used whole. A fault for 2 MiB costs a fifth of 512 for 4 KiB, and less
// where the system is itself a guest (docs/decisions/014). Where the system does not know the advice, and under a sanitizer,
// pages stay small.
#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace posset::sched {

#if defined(MADV_HUGEPAGE) && !defined(POSSET_SANITIZED)
constexpr bool kAdvisesHugePages = true;
constexpr int kHugePages = MADV_HUGEPAGE, kSmallPages = MADV_NOHUGEPAGE;
#else
constexpr bool kAdvisesHugePages = false;
constexpr int kHugePages = 0, kSmallPages = 0;
#endif

constexpr size_t kHugePageBytes = size_t{2} << 20;

// So much of a stack keeps small pages: most need less, and one that needs more will need much.
constexpr size_t kStackInSmallPages = size_t{1} << 20;

// Asks for huge pages in [memory, memory + bytes), whose pages nobody has touched. The answer is of no interest. Any thread.
inline void advise_huge_pages(void* memory, size_t bytes) {
  if (kAdvisesHugePages) madvise(memory, bytes, kHugePages);
}

// Asks for small ones in what nobody touches from now on; huge pages that are there stay so.
inline void advise_small_pages(void* memory, size_t bytes) {
  if (kAdvisesHugePages) madvise(memory, bytes, kSmallPages);
}

}  // namespace posset::sched
