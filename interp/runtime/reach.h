// How many objects would have to be marked before others may read a value, guessed without looking at all of them: from
// random ways down (D. E. Knuth, "Estimating the efficiency of backtrack programs", 1975). What is shared already has been
// marked and counts as nothing.
//
// The mean is right for trees. What is reached in several ways counts as often, and long chains are mostly guessed too
// short.
#pragma once

#include "interp/value/value.h"
#include "sched/base/random.h"

namespace posset::interp {

double guess_reached(Borrowed v, sched::Random& random);

}  // namespace posset::interp
