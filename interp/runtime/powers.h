// Which powers of floats are multiplied out, whoever does it: the order of the multiplications is part of the answer, and so
// is where they end. The order is in ops_arith.cpp (float_power_int); native code follows it.
#pragma once

#include <cstdint>

namespace posset::interp {

// The largest exponent, and the smallest below zero.
inline constexpr int64_t kMostMultiplied = 32;

}  // namespace posset::interp
