// Seeded random numbers for schedulers: which executor to look at first, which actor of a simulation moves.
// The generator is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
// 2014): one word of state, every seed is good. Not for scripts; their `rand` is a value of its own.
#pragma once

#include <cstdint>

namespace posset::sched {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // Evenly in [0, bound), bound > 0: Lemire's multiplication with rejection ("Fast random integer generation
  // in an interval", 2019).
  uint64_t below(uint64_t bound) {
    auto product = static_cast<unsigned __int128>(next()) * bound;
    if (static_cast<uint64_t>(product) < bound) {
      const uint64_t threshold = -bound % bound;
      while (static_cast<uint64_t>(product) < threshold) product = static_cast<unsigned __int128>(next()) * bound;
    }
    return static_cast<uint64_t>(product >> 64);
  }

  // Evenly in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  // A generator for a part of the system that shall not depend on how much the others draw.
  Random split() { return Random(next()); }

 private:
  uint64_t state_;
};

}  // namespace posset::sched
