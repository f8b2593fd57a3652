// UTF-8: checking, decoding, encoding, repairing. Everything inside the language is valid UTF-8;
// bytes from outside pass through `is_valid_utf8` or `make_string_lossy`.
#include <algorithm>
#include <cstring>

#include "interp/value/string.h"

namespace posset::interp {

namespace {

constexpr uint32_t kReplacement = 0xfffd;

bool is_continuation(uint8_t byte) { return (byte & 0xc0) == 0x80; }

// How many of eight bytes are. A product adds up the bits, as not every processor this is made for counts them.
uint64_t continuations_in(const char* eight_bytes) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  uint64_t word;
  std::memcpy(&word, eight_bytes, 8);
  return (word >> 7 & ~word >> 6 & kOnes) * kOnes >> 56;
}

// What may follow a first byte: how many bytes, and the range of the second (the others
// are 80..BF). Keeps out overlong forms, surrogates and what is above 10FFFF. No bytes: not a first
// byte.
struct Sequence {
  uint8_t following;
  uint8_t low;
  uint8_t high;
};

Sequence sequence_of(uint8_t first) {
  if (first >= 0xc2 && first <= 0xdf) return {1, 0x80, 0xbf};
  if (first == 0xe0) return {2, 0xa0, 0xbf};
  if (first == 0xed) return {2, 0x80, 0x9f};
  if (first >= 0xe1 && first <= 0xef) return {2, 0x80, 0xbf};
  if (first == 0xf0) return {3, 0x90, 0xbf};
  if (first >= 0xf1 && first <= 0xf3) return {3, 0x80, 0xbf};
  if (first == 0xf4) return {3, 0x80, 0x8f};
  return {0, 0, 0};
}

// Length of the longest piece at `at` that begins like a scalar; `whole` says if it is one.
size_t piece_at(std::string_view bytes, size_t at, bool& whole) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  whole = byte(at) < 0x80;
  if (whole) return 1;
  Sequence sequence = sequence_of(byte(at));
  size_t n = 1;
  while (n <= sequence.following && at + n < bytes.size()) {
    bool fits = n == 1 ? byte(at + 1) >= sequence.low && byte(at + 1) <= sequence.high
                       : is_continuation(byte(at + n));
    if (!fits) break;
    ++n;
  }
  whole = sequence.following != 0 && n == sequence.following + size_t{1};
  return n;
}

}  // namespace

bool is_ascii(std::string_view bytes) {
  const char* p = bytes.data();
  size_t n = bytes.size();
  uint64_t seen = 0;
  for (; n >= 8; p += 8, n -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    seen |= word;
  }
  for (; n > 0; ++p, --n) seen |= static_cast<uint8_t>(*p);
  return (seen & 0x8080808080808080) == 0;
}

uint64_t count_scalars(std::string_view bytes) {
  const char* p = bytes.data();
  size_t n = bytes.size();
  uint64_t continuations = 0;
  for (; n >= 8; p += 8, n -= 8) continuations += continuations_in(p);
  for (; n > 0; ++p, --n) continuations += is_continuation(static_cast<uint8_t>(*p));
  return bytes.size() - continuations;
}

size_t offset_of_scalar(std::string_view bytes, uint64_t index) {
  size_t at = 0;
  while (index >= 8 && bytes.size() - at >= 8) {  // eight bytes hold at most eight scalars
    index -= 8 - continuations_in(bytes.data() + at);
    at += 8;
  }
  auto inside = [&] {
    return at < bytes.size() && is_continuation(static_cast<uint8_t>(bytes[at]));
  };
  while (inside()) ++at;  // the scalar that stands across the eighth byte has been counted
  while (index > 0) {
    ++at;
    while (inside()) ++at;
    --index;
  }
  return at;
}

bool find_scalar(const Heap& heap, std::string_view bytes, uint64_t index, size_t& at) {
  constexpr uint64_t kNear = Heap::kCopyPortion / 4;  // so many scalars are in a portion in any case
  for (at = 0; index > kNear && bytes.size() - at > Heap::kCopyPortion; at += Heap::kCopyPortion) {
    const uint64_t scalars = count_scalars(bytes.substr(at, Heap::kCopyPortion));
    if (scalars >= index) break;
    index -= scalars;
    if (heap.is_to_stop()) return false;
  }
  at += offset_of_scalar(bytes.substr(at), index);
  return true;
}

Borrowed string_back(Borrowed v) {
  const std::string_view bytes = string_view_of(v);
  size_t from = bytes.size() - 1;
  while (is_continuation(static_cast<uint8_t>(bytes[from]))) --from;
  return make_short(bytes.substr(from));
}

bool is_valid_utf8(std::string_view bytes, Patience* patience) {
  constexpr size_t kAtOnce = 64 << 10;
  for (size_t at = 0; at < bytes.size();) {
    const size_t end = std::min(bytes.size(), at + kAtOnce);
    while (at < end) {
      if (bytes.size() - at >= 8) {
        uint64_t word;
        std::memcpy(&word, bytes.data() + at, 8);
        if ((word & 0x8080808080808080) == 0) {
          at += 8;
          continue;
        }
      }
      bool whole;
      at += piece_at(bytes, at, whole);
      if (!whole) return false;
    }
    if (!lasts(patience, kAtOnce / kBytesPerUnit)) return false;
  }
  return true;
}

Value make_string_lossy(Heap& heap, std::string_view bytes) {
  WishPatience patience(heap);
  if (is_valid_utf8(bytes, &patience)) return make_string(heap, bytes);
  StringBuilder out(heap);
  char replacement[4];
  std::string_view replaced(replacement, encode_scalar(kReplacement, replacement));
  size_t at = 0;
  while (at < bytes.size() && !out.failed()) {
    if (!patience.lasts()) out.fail();
    bool whole;
    size_t n = piece_at(bytes, at, whole);
    out.append(whole ? bytes.substr(at, n) : replaced);
    at += n;
  }
  return out.finish();
}

uint32_t decode_scalar(std::string_view bytes, size_t& at) {
  auto next = [&] { return static_cast<uint8_t>(bytes[at++]); };
  uint32_t first = next();
  if (first < 0x80) return first;
  uint32_t scalar = first < 0xe0 ? first & 0x1f : first < 0xf0 ? first & 0x0f : first & 0x07;
  int following = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
  for (; following > 0; --following) scalar = scalar << 6 | (next() & 0x3fu);
  return scalar;
}

size_t encode_scalar(uint32_t scalar, char out[4]) {
  auto put = [&](int i, uint32_t byte) { out[i] = static_cast<char>(byte); };
  auto tail = [&](int shift) { return 0x80 | ((scalar >> shift) & 0x3f); };
  if (scalar < 0x80) {
    put(0, scalar);
    return 1;
  }
  if (scalar < 0x800) {
    put(0, 0xc0 | scalar >> 6);
    put(1, tail(0));
    return 2;
  }
  if (scalar < 0x10000) {
    put(0, 0xe0 | scalar >> 12);
    put(1, tail(6));
    put(2, tail(0));
    return 3;
  }
  put(0, 0xf0 | scalar >> 18);
  put(1, tail(12));
  put(2, tail(6));
  put(3, tail(0));
  return 4;
}

}  // namespace posset::interp
