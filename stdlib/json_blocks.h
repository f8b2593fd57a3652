// What stands where in JSON text, 64 bytes at a time as the bits of a word: cheap enough to look at
// a document before simdjson does, to say where it can be cut. Quotes, escapes and strings are told
// apart as simdjson tells them: a backslash escapes outside strings, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace posset::stdlib {

inline constexpr size_t kBlock = 64;

// The lowest bit is the first byte.
#if defined(__SSE2__)
class BlockBytes {
 public:
  explicit BlockBytes(const char* from) {
    for (int i = 0; i < 4; ++i)
      parts_[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from) + i);
  }
  uint64_t equal(char c) const {
    return bits([wanted = _mm_set1_epi8(c)](__m128i part) { return _mm_cmpeq_epi8(part, wanted); });
  }
  // [ and {, ] and } differ by one bit.
  uint64_t brackets() const {
    return bits([](__m128i part) {
      const __m128i folded = _mm_or_si128(part, _mm_set1_epi8(0x20));
      return _mm_or_si128(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')),
                          _mm_cmpeq_epi8(folded, _mm_set1_epi8('}')));
    });
  }
  uint64_t controls() const {
    return bits(
        [](__m128i part) { return _mm_cmpeq_epi8(_mm_min_epu8(part, _mm_set1_epi8(0x1f)), part); });
  }

 private:
  template <class Test>
  uint64_t bits(Test&& test) const {
    uint64_t out = 0;
    for (int i = 0; i < 4; ++i)
      out |= uint64_t(static_cast<uint32_t>(_mm_movemask_epi8(test(parts_[i])))) << (16 * i);
    return out;
  }
  __m128i parts_[4];
};
#else
class BlockBytes {
 public:
  explicit BlockBytes(const char* from) : from_(from) {}
  uint64_t equal(char wanted) const {
    return bits([=](char c) { return c == wanted; });
  }
  uint64_t brackets() const {
    return bits([](char c) { return (c | 0x20) == '{' || (c | 0x20) == '}'; });
  }
  uint64_t controls() const {
    return bits([](char c) { return static_cast<unsigned char>(c) < 0x20; });
  }

 private:
  template <class Test>
  uint64_t bits(Test&& test) const {
    uint64_t out = 0;
    for (size_t i = 0; i < kBlock; ++i) out |= uint64_t(test(from_[i])) << i;
    return out;
  }
  const char* from_;
};
#endif

struct Block {
  uint64_t quotes;  // that begin or end a string
  uint64_t backslashes;
  uint64_t inside;  // of strings, with the quote that begins one
  uint64_t commas;  // the rest: outside strings
  uint64_t brackets;
  uint64_t controls;  // characters below the space, inside strings
};

// Goes through text from a place that is outside strings and not escaped.
class Blocks {
 public:
  // The next 64 bytes, or `size` that are left; those behind them count as spaces.
  Block next(const char* from, size_t size) {
    if (size >= kBlock) return next(BlockBytes(from));
    char rest[kBlock];
    std::memset(rest, ' ', sizeof rest);
    std::memcpy(rest, from, size);
    return next(BlockBytes(rest));
  }
  bool is_inside() const { return inside_ != 0; }

 private:
  Block next(const BlockBytes& bytes) {
    Block out;
    out.backslashes = bytes.equal('\\');
    out.quotes = bytes.equal('"') & ~escaped(out.backslashes);
    out.inside = odd_before_and_here(out.quotes) ^ inside_;
    inside_ = out.inside >> 63 ? ~uint64_t{0} : 0;
    out.commas = bytes.equal(',') & ~out.inside;
    out.brackets = bytes.brackets() & ~out.inside;
    out.controls = bytes.controls() & out.inside;
    return out;
  }
  uint64_t escaped(uint64_t backslashes) {
    uint64_t out = std::exchange(is_escaped_, 0);
    for (backslashes &= ~out; backslashes;) {
      const uint64_t first = backslashes & -backslashes;
      out |= first << 1;
      is_escaped_ = first >> 63;
      backslashes &= ~(first | first << 1);
    }
    return out;
  }
  // A bit is set where the number of bits up to it is odd.
  static uint64_t odd_before_and_here(uint64_t bits) {
    for (int by = 1; by < 64; by *= 2) bits ^= bits << by;
    return bits;
  }
  uint64_t inside_ = 0;      // all bits, or none
  uint64_t is_escaped_ = 0;  // the first of the next block: 1
};

}  // namespace posset::stdlib
