// Huge pages for heaps that have come to use much memory (sched/base/huge_pages.h). Small ones keep small pages: they would touch
// 2 MiB where they need 200 KiB.
//
// Where the system is a guest and the host has to find the memory first, a huge page takes it 4 ms and more, during which nobody
// looks whether he is to stop, and longer than the same memory in small pages; where the memory is there, a huge page is had in a
// third of the time that small ones take. Nobody tells which it is, so the first page of a block or segment is timed, and what is
// written in portions is, too.
#pragma once

#include <cstddef>
#include <cstdint>

namespace posset::interp {

// Asks for them in whole segments of mimalloc, once in each, or little more often where there are very many, and in blocks with pages
// of their own. One thread at a time.
class HugePages {
 public:
  // In nanoseconds; that of the thread's processor time, of which waiting for others is no part, but in tests.
  using Clock = int64_t (*)();
  explicit HugePages(Clock clock = thread_ns) : clock_(clock) {}

  // Lets a thread's first segment be one mapping, as those that follow it are: pieces that are made writable one after
  // the other cannot have huge pages. For threads that have not asked mimalloc for memory yet; of the whole process.
  static void map_segments_whole();

  // For the segment in which `memory` lies, also for what of it is in use already around `memory`. That takes milliseconds at
  // worst, unless it has been asked before.
  void use_around(const void* memory);
  bool have_asked_around(const void* memory) const {
    const uintptr_t segment = reinterpret_cast<uintptr_t>(memory) / kSegmentBytes;
    return segment == asked_[segment % kRemembered];
  }
  // For a block that is mapped by itself; nobody has touched what of it is behind the first `touched` bytes. Both are whole huge pages.
  void use_in(void* block, size_t touched, size_t bytes);
  // A portion of such a block has been written since `since_ns`, which becomes now: small ones from here on, if it took long.
  void note_portion(void* block, size_t bytes, int64_t& since_ns);
  int64_t now_ns() const { return clock_(); }

 private:
  static constexpr size_t kSegmentBytes = size_t{32} << 20;  // mimalloc 2 aligns a segment to its size
  static constexpr size_t kRemembered = 32;                  // segments, which mostly lie one behind the other
  static int64_t thread_ns();
  bool are_tried();
  bool note(bool are_quick);
  void use_small_in(void* block, size_t bytes);

  Clock clock_;
  // Of so many blocks and segments no page is timed, and they have small pages: after each slow one twice as many as before.
  uint32_t untried_ = 0, next_untried_ = 0;
  const void* small_ = nullptr;  // the block in which small pages were asked for last
  uintptr_t asked_[kRemembered] = {};
};

}  // namespace posset::interp
