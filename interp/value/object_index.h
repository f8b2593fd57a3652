// From objects to numbers, for walks that note what they have seen without a write into an object. All numbers are 0 at first.
// Objects that lie side by side have theirs side by side, and what has been noted never moves: only a small index of regions of
// memory does, as it grows. Takes 4 bytes for each 16 bytes of memory around the objects, from mimalloc and charged to nobody.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <mimalloc.h>

#include "interp/value/object.h"

namespace posset::interp {

class ObjectIndex {
 public:
  ObjectIndex() = default;
  ~ObjectIndex() {
    for (size_t i = 0; i < capacity_; ++i) mi_free(regions_[i].cells);
    mi_free(regions_);
  }
  ObjectIndex(const ObjectIndex&) = delete;
  ObjectIndex& operator=(const ObjectIndex&) = delete;

  // Null: no memory.
  uint32_t* at(const Object* object) {
    const auto address = reinterpret_cast<uintptr_t>(object);
    const uintptr_t number = address / kRegionBytes;
    if (number != last_.number && !find(number)) return nullptr;
    return &last_.cells[address % kRegionBytes / kGranule];
  }
  size_t bytes() const { return size_ * kCellsBytes + capacity_ * sizeof(Region); }

 private:
  static constexpr size_t kRegionBytes = size_t{1} << 16, kGranule = 16, kCellsBytes = kRegionBytes / kGranule * sizeof(uint32_t);
  struct Region {
    uintptr_t number;
    uint32_t* cells;  // null: free
  };

  Region& place(uintptr_t number) {
    size_t i = number * 0x9e3779b97f4a7c15u >> 32;
    for (;; ++i) {
      Region& region = regions_[i & (capacity_ - 1)];
      if (region.cells == nullptr || region.number == number) return region;
    }
  }
  bool find(uintptr_t number) {
    if (capacity_ == 0 || place(number).cells == nullptr) {
      if (2 * size_ >= capacity_ && !grow()) return false;
      auto* cells = static_cast<uint32_t*>(mi_zalloc(kCellsBytes));
      if (cells == nullptr) return false;
      place(number) = {number, cells};
      ++size_;
    }
    last_ = place(number);
    return true;
  }
  bool grow() {
    const size_t before = capacity_;
    auto* grown = static_cast<Region*>(mi_zalloc(std::max<size_t>(16, 2 * before) * sizeof(Region)));
    if (grown == nullptr) return false;
    Region* const old = std::exchange(regions_, grown);
    capacity_ = std::max<size_t>(16, 2 * before);
    for (size_t i = 0; i < before; ++i)
      if (old[i].cells != nullptr) place(old[i].number) = old[i];
    mi_free(old);
    return true;
  }

  Region* regions_ = nullptr;  // open addressing
  size_t size_ = 0, capacity_ = 0;
  Region last_ = {UINTPTR_MAX, nullptr};
};

}  // namespace posset::interp
