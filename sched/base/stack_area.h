// Address space for what grows by itself: native stacks, registers, fork records. Memory is committed where it is touched; what
// is scarce are the mappings, of which Linux gives a process 65,530 (vm.max_map_count), shared with heaps, threads and the host.
// So they are counted, over all runtimes of the process because the system counts so:
//
// - While few are taken an area has a mapping of its own, with huge pages where it is probably used whole: two or three.
// - Then areas of one size lie side by side in slabs, one mapping for 32 of them, in small pages.
// - A share is never taken: what is refused then may be asked for again when others have gone. What begins is refused sooner than what
//   has begun and goes on, which others wait for; the first of many that have begun has a share between, which leaves enough for
//   what they all need to go on.
//
// Below an area that grows down is a guard page. Since Linux 6.13 it costs no mapping; before, it splits one, which makes two more.
// The count is of what may be taken at most: the system may join what lies side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace posset::sched {

class StackArea {
 public:
  enum class Grows : uint8_t { Up, Down };
  enum class Use : uint8_t { Begins, First, GoesOn };

  // To whole pages.
  static size_t rounded(size_t bytes);

  // None.
  StackArea() = default;
  // `bytes`, rounded; all zero.
  StackArea(size_t bytes, Grows grows, Use use) noexcept;
  StackArea(StackArea&& other) noexcept { swap(other); }
  StackArea& operator=(StackArea&& other) noexcept {
    StackArea(std::move(other)).swap(*this);
    return *this;
  }
  ~StackArea();

  // Null: refused. The guard page is the lowest.
  char* memory() const { return memory_; }
  size_t bytes() const { return bytes_; }
  // Refused for the share, not by the system: it may be had later.
  bool comes_later() const { return comes_later_; }

 private:
  struct Slab;
  struct Size;
  class Slabs;
  void swap(StackArea& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    std::swap(slab_, other.slab_);
    std::swap(mappings_, other.mappings_);
    std::swap(comes_later_, other.comes_later_);
  }
  bool map(size_t bytes, Grows grows);

  char* memory_ = nullptr;
  size_t bytes_ = 0;
  Slab* slab_ = nullptr;  // null: it is its own
  uint8_t mappings_ = 0;  // then
  bool comes_later_ = false;
};

// What areas have of the mappings that a process may have.
class StackMappings {
 public:
  // As many as may be taken, by then; for tests, which put it back.
  static size_t set_most(size_t most);
  static size_t taken();
  // Whether new areas share mappings.
  static bool are_scarce();
  // Guard pages cost mappings from now on, or as the system does it; for tests.
  static void set_guards_by_mapping(bool on);

 private:
  friend class StackArea;
  static bool take(size_t mappings, StackArea::Use use);
  static void give(size_t mappings);
};

}  // namespace posset::sched
