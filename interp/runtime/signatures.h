// What a function has been called with, by kinds of numbers and of lists, for native tiers that make code for each of
// them (jit/versions.h). A few are kept; a function that meets more is one for which there is nothing to be gained. The
// walker notes them for the unit, which bytecode learns when it is made and goes on noting while it records.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "interp/value/value.h"

namespace posset::interp {

// Of one argument. Ints to Items are lists by packing.
enum class ArgumentKind : uint8_t { None, Int, Float, Ints, Floats, Bools, Items, Other };

// Of all arguments, four bits each, the first lowest; of those beyond the last that fits nothing is said.
struct Signature {
  static constexpr uint32_t kMostParameters = 16;
  uint64_t word = 0;

  static Signature of(const Borrowed* arguments, uint32_t count);
  // For people: `(int, list of float)`.
  std::string text(uint32_t count) const;
  ArgumentKind kind(uint32_t parameter) const {
    return parameter < kMostParameters ? static_cast<ArgumentKind>(word >> (4 * parameter) & 15) : ArgumentKind::Other;
  }
};

// Any thread may use it.
class Signatures {
 public:
  static constexpr uint32_t kMost = 3;
  // All that is known of them, for keeping it: the last word says that there have been more.
  using Words = std::array<uint64_t, kMost + 1>;

  void note(Signature met);
  // Empty when there have been more than are kept.
  std::vector<Signature> all() const;
  Words words() const;
  void add(const Words& kept);

 private:
  std::atomic<uint64_t> met_[kMost] = {};
  std::atomic<bool> more_{false};
};

}  // namespace posset::interp
