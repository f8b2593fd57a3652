// Huge pages for heaps that have come to use much memory (sched/base/huge_pages.h). Small ones keep small pages: they would touch
// 2 MiB where they need 200 KiB.
#pragma once

#include <cstddef>
#include <cstdint>

namespace posset::interp {

// Asks for them in whole segments of mimalloc, once in each, or little more often where there are very many. One thread at
// a time.
class HugePages {
 public:
  // Lets a thread's first segment be one mapping, as those that follow it are: pieces that are made writable one after
  // the other cannot have huge pages. For threads that have not asked mimalloc for memory yet; of the whole process.
  static void map_segments_whole();

  // For the segment in which `memory` lies, also for what of it is in use already around `memory`.
  void use_around(const void* memory) {
    const uintptr_t segment = reinterpret_cast<uintptr_t>(memory) / kSegmentBytes;
    if (segment != advised_[segment % kRemembered]) advise(memory);
  }

 private:
  static constexpr size_t kSegmentBytes = size_t{32} << 20;  // mimalloc 2 aligns a segment to its size
  static constexpr size_t kRemembered = 32;                  // segments, which mostly lie one behind the other
  void advise(const void* memory);

  uintptr_t advised_[kRemembered] = {};
};

}  // namespace posset::interp
