// The generator that rand and lists.shuffle share. It is a value, a record {seed, counter}, so using one is
// pure: the n-th number of a seed is a hash of (seed, n) (counter-based generation, as Salmon et al.,
// "Parallel random numbers: as easy as 1, 2, 3", 2011; here with XXH3).
#pragma once

#include "stdlib/support.h"

namespace posset::stdlib {

class Generator {
 public:
  // Takes the record out of argument i, which is an inout one. POSSET_RAISED: it is no generator.
  posset_status take(posset_call* call, uint32_t i);
  // Puts it back, advanced.
  posset_status put_back(posset_call* call, uint32_t i);

  uint64_t next();
  double next_float();                  // [0, 1), 53 bits
  uint64_t below(uint64_t limit);       // [0, limit), unbiased; limit > 0

  static posset_status make(posset_context* context, int64_t seed, int64_t counter, posset_value* out);

 private:
  int64_t seed_ = 0;
  int64_t counter_ = 0;
};

}  // namespace posset::stdlib
