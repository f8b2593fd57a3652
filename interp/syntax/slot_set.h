// A set of frame slots. Nearly every function has at most 64, which then need no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace posset::syntax {

class SlotSet {
 public:
  explicit SlotSet(uint32_t slots) {
    if (slots > 64) rest_.resize((slots - 1) / 64);
  }
  bool has(uint32_t slot) const { return (word(slot) >> slot % 64 & 1) != 0; }
  void add(uint32_t slot) { word(slot) |= uint64_t{1} << slot % 64; }
  void remove(uint32_t slot) { word(slot) &= ~(uint64_t{1} << slot % 64); }
  void add(const SlotSet& other) {
    first_ |= other.first_;
    for (std::size_t i = 0; i < rest_.size(); ++i) rest_[i] |= other.rest_[i];
  }
  void clear() {
    first_ = 0;
    for (uint64_t& each : rest_) each = 0;
  }

 private:
  uint64_t& word(uint32_t slot) { return slot < 64 ? first_ : rest_[slot / 64 - 1]; }
  const uint64_t& word(uint32_t slot) const { return slot < 64 ? first_ : rest_[slot / 64 - 1]; }

  uint64_t first_ = 0;
  std::vector<uint64_t> rest_;  // slots from 64 on; all sets of one function have the same size
};

}  // namespace posset::syntax
