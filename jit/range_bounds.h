// Where the range begins and ends that a loop counts through, if the program says so right in front of the loop.
#pragma once

#include <cstdint>
#include <optional>

#include "jit/kinds.h"
#include "jit/loops.h"

namespace posset::jit {

struct RangeBounds {
  std::optional<int64_t> first, last;  // `last` is in it

  // If both are known.
  std::optional<int64_t> rounds() const {
    return first && last ? std::optional(*last - *first + 1) : std::nullopt;
  }
};

// `range`: the first of the loop's hidden registers.
RangeBounds range_bounds(const Kinds& kinds, const Loop& loop, uint16_t range);

}  // namespace posset::jit
