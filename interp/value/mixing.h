// The arithmetic of hashing: one 64 x 64 -> 128 bit multiplication folded onto itself, which
// spreads every bit of the input over all of the output (maps take slots from the low bits and tags
// from the high ones). Hashes are never visible to a script, and differ from nothing but speed when
// they change.
#pragma once

#include <cstdint>

namespace posset::interp {

constexpr uint64_t kMixA = 0xa0761d6478bd642f;  // odd, random
constexpr uint64_t kMixB = 0xe7037ed1a0b428db;
constexpr uint64_t kMixC = 0x8ebc6af09c88c6e3;

inline uint64_t mix(uint64_t a, uint64_t b) {
  auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}
inline uint64_t hash_int(int64_t i) { return mix(static_cast<uint64_t>(i) ^ kMixA, kMixB); }
inline uint64_t hash_words(uint64_t a, uint64_t b) { return mix(a ^ kMixA, b ^ kMixC); }
// A long string remembers 32 bits of its hash.
inline uint64_t widen_hash(uint32_t hash) { return hash * kMixB; }

// Is the float equal to some int?
inline bool is_integral(double d) {
  constexpr double kTwo63 = 9223372036854775808.0;
  return d >= -kTwo63 && d < kTwo63 && static_cast<double>(static_cast<int64_t>(d)) == d;
}

}  // namespace posset::interp
