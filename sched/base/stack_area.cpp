// See stack_area.h.
#include "sched/base/stack_area.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstdio>
#include <memory>
#include <new>
#include <vector>

#include "sched/base/huge_pages.h"
#include "sched/base/thread_safety.h"

namespace posset::sched {

namespace {

constexpr size_t kUsualMost = 65'530;
// Of what a process may have: up to here areas are made for speed; and up to there they are had for each use, in its order. The
// rest is the host's. Before Linux 6.13 twenty thousand tasks that wait take two each.
constexpr size_t kSixteenths = 16, kForSpeed = 2, kForUse[] = {12, 13, 14};

// Read once: who raises it does so for the next process.
size_t most_of_system() {
  size_t most = 0;
  if (FILE* const file = std::fopen("/proc/sys/vm/max_map_count", "re")) {
    if (std::fscanf(file, "%zu", &most) != 1) most = 0;
    static_cast<void>(std::fclose(file));
  }
  return most != 0 ? most : kUsualMost;
}

// Relaxed: figures, by which nothing else is published. Of the process, as the mappings are.
std::atomic<size_t>& most_there_are() {
  static std::atomic<size_t> most = most_of_system();
  return most;
}
std::atomic<size_t> mappings_taken{0};
std::atomic<bool> guards_by_mapping{false};

size_t share(size_t sixteenths) { return most_there_are().load(std::memory_order_relaxed) / kSixteenths * sixteenths; }

size_t page_bytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// Newer than the headers of many systems. It marks the page in the page tables, and outlasts MADV_DONTNEED.
constexpr int kInstallGuard = 102;

constexpr size_t kMappingsOfGuard = 2;  // itself, and the other part of what it splits

char* map_memory(size_t bytes, int more_flags = 0) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kFlags | more_flags, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
}

// False where the system does not know that, or not there, as where the process has locked its memory.
bool guard_for_free(char* page) {
  return !guards_by_mapping.load(std::memory_order_relaxed) && madvise(page, page_bytes(), kInstallGuard) == 0;
}

bool guard_by_mapping(char* page) { return mprotect(page, page_bytes(), PROT_NONE) == 0; }

}  // namespace

// ---- the count ----

size_t StackMappings::set_most(size_t most) { return most_there_are().exchange(most, std::memory_order_relaxed); }

size_t StackMappings::taken() { return mappings_taken.load(std::memory_order_relaxed); }

bool StackMappings::are_scarce() { return taken() >= share(kForSpeed); }

void StackMappings::set_guards_by_mapping(bool on) { guards_by_mapping.store(on, std::memory_order_relaxed); }

bool StackMappings::take(size_t mappings, StackArea::Use use) {
  const size_t most = share(kForUse[static_cast<size_t>(use)]);
  if (mappings_taken.fetch_add(mappings, std::memory_order_relaxed) + mappings <= most) return true;
  give(mappings);
  return false;
}

void StackMappings::give(size_t mappings) { mappings_taken.fetch_sub(mappings, std::memory_order_relaxed); }

// ---- slabs ----

constexpr size_t kAreasInSlab = 32;

struct StackArea::Slab {
  Size& size;
  char* memory = nullptr;
  uint32_t taken = 0;    // a bit for each area
  uint32_t guarded = 0;  // those that have their guard page, which stays
  size_t mappings = 1;
  Slab *next = nullptr, *previous = nullptr;  // of those that have room
};

// Slabs whose areas are alike.
struct StackArea::Size {
  size_t bytes;
  Grows grows;
  size_t slabs = 0;
  Slab* with_room = nullptr;

  void link(Slab& slab) {
    slab.previous = nullptr;
    slab.next = with_room;
    if (with_room) with_room->previous = &slab;
    with_room = &slab;
  }
  void unlink(Slab& slab) {
    (slab.previous ? slab.previous->next : with_room) = slab.next;
    if (slab.next) slab.next->previous = slab.previous;
  }
};

class StackArea::Slabs {
 public:
  // Of the process; never destroyed, as areas may be given back when it ends.
  static Slabs& all() {
    static Slabs& the = *new Slabs;
    return the;
  }
  bool take(StackArea& area, size_t bytes, Grows grows, Use use) POSSET_EXCLUDES(mutex_);
  void give(StackArea& area) POSSET_EXCLUDES(mutex_);

 private:
  Size& size_of(size_t bytes, Grows grows) POSSET_REQUIRES(mutex_);
  void forget(Slab* slab) POSSET_REQUIRES(mutex_);
  Slab* make(Size& size, Use use, bool& comes_later) POSSET_REQUIRES(mutex_);
  bool guard(Slab& slab, uint32_t number, Use use, bool& comes_later) POSSET_REQUIRES(mutex_);

  Mutex mutex_;
  std::vector<std::unique_ptr<Size>> sizes_ POSSET_GUARDED_BY(mutex_);
};

StackArea::Size& StackArea::Slabs::size_of(size_t bytes, Grows grows) {
  for (const auto& each : sizes_) {
    if (each->bytes == bytes && each->grows == grows) return *each;
  }
  return *sizes_.emplace_back(std::make_unique<Size>(Size{bytes, grows}));
}

// Null: refused.
StackArea::Slab* StackArea::Slabs::make(Size& size, Use use, bool& comes_later) {
  if (size.bytes > SIZE_MAX / kAreasInSlab) return nullptr;
  comes_later = !StackMappings::take(1, use);
  if (comes_later) return nullptr;
  const size_t bytes = size.bytes * kAreasInSlab;
  std::unique_ptr<Slab> slab(new (std::nothrow) Slab{size});
  if (slab) slab->memory = map_memory(bytes);
  if (!slab || !slab->memory) {
    StackMappings::give(1);
    return nullptr;
  }
  // Also where the system gives them unasked: the bottom of one stack would take in its neighbours.
  advise_small_pages(slab->memory, bytes);
  ++size.slabs;
  size.link(*slab);
  return slab.release();
}

// One of which no area is taken.
void StackArea::Slabs::forget(Slab* slab) {
  Size& size = slab->size;
  size.unlink(*slab);
  munmap(slab->memory, size.bytes * kAreasInSlab);
  StackMappings::give(slab->mappings);
  delete slab;
  if (--size.slabs == 0) std::erase_if(sizes_, [&](const auto& each) { return each.get() == &size; });
}

bool StackArea::Slabs::guard(Slab& slab, uint32_t number, Use use, bool& comes_later) {
  const uint32_t bit = uint32_t{1} << number;
  char* const page = slab.memory + number * slab.size.bytes;
  if (slab.size.grows == Grows::Up || (slab.guarded & bit) != 0) return true;
  if (!guard_for_free(page)) {
    comes_later = !StackMappings::take(kMappingsOfGuard, use);
    if (comes_later) return false;
    if (!guard_by_mapping(page)) {
      StackMappings::give(kMappingsOfGuard);
      return false;
    }
    slab.mappings += kMappingsOfGuard;
  }
  slab.guarded |= bit;
  return true;
}

bool StackArea::Slabs::take(StackArea& area, size_t bytes, Grows grows, Use use) try {
  const MutexLock lock(mutex_);
  Size& size = size_of(bytes, grows);
  Slab* const slab = size.with_room ? size.with_room : make(size, use, area.comes_later_);
  if (!slab) {
    if (size.slabs == 0) std::erase_if(sizes_, [&](const auto& each) { return each.get() == &size; });
    return false;
  }
  // One that has its guard first.
  const uint32_t free = ~slab->taken;
  const auto number = static_cast<uint32_t>(std::countr_zero((free & slab->guarded) != 0 ? free & slab->guarded : free));
  if (!guard(*slab, number, use, area.comes_later_)) {
    if (slab->taken == 0) forget(slab);
    return false;
  }
  slab->taken |= uint32_t{1} << number;
  if (slab->taken == UINT32_MAX) size.unlink(*slab);
  area.slab_ = slab;
  area.memory_ = slab->memory + number * bytes;
  area.bytes_ = bytes;
  return true;
} catch (const std::bad_alloc&) {
  return false;  // for what is kept about sizes: nothing was taken by then
}

void StackArea::Slabs::give(StackArea& area) {
  // The next one finds nothing there. Where the system cannot take it back it is cleared, which commits it.
  char* const begin = area.memory_ + (area.slab_->size.grows == Grows::Down ? page_bytes() : 0);
  const auto bytes = static_cast<size_t>(area.memory_ + area.bytes_ - begin);
  if (madvise(begin, bytes, MADV_DONTNEED) != 0) std::fill_n(begin, bytes, 0);
  const MutexLock lock(mutex_);
  Slab& slab = *area.slab_;
  if (slab.taken == UINT32_MAX) slab.size.link(slab);
  slab.taken &= ~(uint32_t{1} << static_cast<size_t>(area.memory_ - slab.memory) / area.bytes_);
  if (slab.taken == 0) forget(&slab);
}

// ---- areas ----

// One of its own; the mappings it may need are taken, and are given back where they are not needed.
bool StackArea::map(size_t bytes, Grows grows) {
  const bool has_guard = grows == Grows::Down;
  char* const memory = map_memory(bytes, has_guard ? MAP_STACK : 0);
  if (!memory) return false;
  mappings_ = 1;
  const size_t below = has_guard ? page_bytes() : 0;
  if (has_guard && !guard_for_free(memory)) {
    // Without a guard page it is no stack.
    if (!guard_by_mapping(memory)) {
      munmap(memory, bytes);
      return false;
    }
    ++mappings_;
  }
  if (bytes >= 2 * kStackInSmallPages) {
    const size_t rest = bytes - kStackInSmallPages;
    advise_huge_pages(memory + (has_guard ? below : kStackInSmallPages), rest - below);
    if (kAdvisesHugePages) ++mappings_;
  }
  memory_ = memory;
  bytes_ = bytes;
  return true;
}

// One that is larger than anything stays so, and is refused.
size_t StackArea::rounded(size_t bytes) {
  const size_t page = page_bytes();
  return bytes > SIZE_MAX - page ? bytes : (bytes + page - 1) / page * page;
}

StackArea::StackArea(size_t bytes, Grows grows, Use use) noexcept {
  constexpr uint8_t kMost = 3;
  bytes = rounded(bytes);
  if (StackMappings::are_scarce() && Slabs::all().take(*this, bytes, grows, use)) return;
  if (comes_later_ || !StackMappings::take(kMost, use)) {
    comes_later_ = true;
    return;
  }
  if (!map(bytes, grows)) mappings_ = 0;
  StackMappings::give(size_t{kMost} - mappings_);
}

StackArea::~StackArea() {
  if (!memory_) return;
  if (slab_) {
    Slabs::all().give(*this);
  } else {
    munmap(memory_, bytes_);
    StackMappings::give(mappings_);
  }
}

}  // namespace posset::sched
