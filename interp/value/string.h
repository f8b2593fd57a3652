// Strings: immutable UTF-8, short ones inside the value. Indexes and lengths count Unicode scalars, in O(1). In a string that is not
// ASCII an index is found by milestones (milestones.h), made when they are first needed; it is counted when its length is first asked for,
// or when it is made, if it has kCounted bytes or more.
// Every function that makes a string gives Failed when memory ran out, or was given up because the heap's owner is to stop
// (Heap::stop_wish), which is asked once in a portion of a long text.
#pragma once

#include <string_view>

#include "interp/value/heap.h"
#include "interp/value/mixing.h"
#include "interp/value/objects.h"
#include "interp/value/patience.h"
#include "interp/value/value.h"

namespace posset::interp {

constexpr size_t kMaxShort = 14;

// The bytes of a string value. For a ShortStr they are inside `v` itself: the view lives as long as
// the variable does, so pass an lvalue.
inline std::string_view string_view_of(const Borrowed& v);
inline size_t short_size(Borrowed v) { return (v.word0 >> 8) & 0x7f; }
inline bool short_ascii(Borrowed v) { return (v.word0 & 0x8000) == 0; }
inline bool is_ascii_string(Borrowed v) {
  return v.is_short_string() ? short_ascii(v) : v.as<Str>()->ascii();
}
inline uint64_t ascii_length(Borrowed v) { return v.is_short_string() ? short_size(v) : v.as<Str>()->size; }

Value make_string(Heap& heap, std::string_view utf8);         // must be valid UTF-8
Value make_string_lossy(Heap& heap, std::string_view bytes);  // invalid sequences become U+FFFD
inline Borrowed make_short(std::string_view utf8);            // at most kMaxShort bytes
inline Borrowed make_ascii(uint8_t byte);                     // a string of one byte below 0x80
inline Borrowed make_scalar(uint32_t scalar);                 // a string of one; always short
bool is_valid_utf8(std::string_view bytes, Patience* patience = nullptr);
bool is_ascii(std::string_view bytes);
uint64_t count_scalars(std::string_view utf8);
size_t offset_of_scalar(std::string_view utf8, uint64_t index);  // byte offset, index <= count
bool find_scalar(const Heap& heap, std::string_view utf8, uint64_t index, size_t& offset);  // the same; false: given up

// `left + right`. `left` is consumed: when it is a unique Str it is extended in place (amortised
// O(1) per byte), which is what makes `s += x` linear.
Value concatenate(Heap& heap, Value left, Borrowed right);

// From so many bytes on a string that is not ASCII knows how many scalars it has: to count them may take long, and who asks for the
// length cannot be told to stop.
constexpr size_t kCounted = Heap::kCopyPortion;
// Calls act(part) for the portions of a text, none of them long. False: the heap's owner is to stop.
template <class Act>
bool in_portions(const Heap& heap, std::string_view bytes, Act&& act) {
  for (size_t at = 0; at < bytes.size(); at += Heap::kCopyPortion) {
    if (at != 0 && heap.is_to_stop()) return false;
    act(bytes.substr(at, Heap::kCopyPortion));
  }
  return true;
}

// False: given up.
inline bool count_scalars(const Heap& heap, std::string_view utf8, uint64_t& scalars) {
  scalars = 0;
  return in_portions(heap, utf8, [&](std::string_view part) { scalars += count_scalars(part); });
}

uint64_t string_length(Borrowed v);  // scalars
// Byte offset of scalar `index` (0..length). False: given up.
bool byte_offset(const Heap& heap, Borrowed v, uint64_t index, size_t& offset);
inline Borrowed string_at(Borrowed v, uint64_t index);  // of an ASCII string, index < length; short, so owned by nobody
Value string_at(const Heap& heap, Borrowed v, uint64_t index);  // of any
Borrowed string_back(Borrowed v);                       // the last scalar; not empty
bool scalar_at(const Heap& heap, Borrowed v, uint64_t index, uint32_t& scalar);
Value substring(Heap& heap, Borrowed v, uint64_t from,
                uint64_t to);                       // scalars, from <= to <= length
inline uint64_t string_hash(Borrowed v, Patience* patience = nullptr);  // equal strings, equal hashes
inline bool equal_strings(Borrowed a, Borrowed b);  // both must be strings

// Decodes the scalar at `bytes[at]` and moves `at` past it. The text is valid UTF-8.
uint32_t decode_scalar(std::string_view bytes, size_t& at);
size_t encode_scalar(uint32_t scalar, char out[4]);  // number of bytes; scalar is valid

// Accumulates bytes charged to a heap; used by printing, join, interpolation. After an allocation
// failed, `finish` gives Failed.
class StringBuilder {
 public:
  explicit StringBuilder(Heap& heap) : heap_(heap) {}
  ~StringBuilder();
  StringBuilder(const StringBuilder&) = delete;
  StringBuilder& operator=(const StringBuilder&) = delete;
  void append(std::string_view bytes) {
    if (bytes.empty() || (bytes.size() > capacity_ - size_ && !grow(bytes.size()))) return;
    if (bytes.size() > Heap::kCopyPortion) [[unlikely]] return append_long(bytes);
    std::memcpy(data_ + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  void append(char c) {
    if (size_ == capacity_ && !grow(1)) return;
    data_[size_++] = c;
  }
  void append(size_t count, char c);
  inline void append_short(Borrowed v);  // a string in a value
  bool failed() const { return failed_; }
  void fail();  // as if memory had run out: what was to be appended could not be made
  std::string_view view() const { return {data_, size_}; }
  void clear() { size_ = 0; }
  void reserve(size_t bytes);  // room for so much more, if there is; appending up to that copies nothing again
  Heap& heap() const { return heap_; }
  Value finish();

 private:
  void append_long(std::string_view bytes);
  bool grow(size_t bytes);
  bool make_room(size_t bytes);  // for all
  Str* grown() {
    return reinterpret_cast<Str*>(data_) - 1;
  }  // beyond inline_, the bytes are a Str already
  Heap& heap_;
  char inline_[256];
  char* data_ = inline_;
  size_t size_ = 0;
  size_t capacity_ = sizeof inline_;
  bool failed_ = false;
};

// ---- inline parts ----

uint64_t long_string_hash(const Str* string, Patience* patience = nullptr);  // and makes it known, unless it was given up
bool equal_long_strings(const Str* a, const Str* b, Patience* patience = nullptr);
bool equal_bytes(const char* a, const char* b, size_t size, Patience* patience);

inline std::string_view string_view_of(const Borrowed& v) {
  if (v.is_short_string()) return {reinterpret_cast<const char*>(&v) + 2, short_size(v)};
  return {v.as<Str>()->data(), v.as<Str>()->size};
}

// All that a value has room for, as two words, and the next goes over what was too much: strings of a few characters are most of
// what is put together, and copying so many bytes and no more is several branches.
inline void StringBuilder::append_short(Borrowed v) {
  if (capacity_ - size_ < 2 * sizeof(uint64_t)) return append(string_view_of(v));
  const uint64_t bytes[2] = {v.word0 >> 16 | v.word1 << 48, v.word1 >> 16};
  std::memcpy(data_ + size_, bytes, sizeof bytes);
  size_ += short_size(v);
}

// The bytes stand at offset 2 of the value: six in word0, eight in word1. Overlapping loads put any
// size together in at most two steps.
inline Borrowed make_short(std::string_view utf8) {
  const char* p = utf8.data();
  size_t n = utf8.size();
  uint64_t low = 0, high = 0;
  if (n >= 8) {
    std::memcpy(&low, p, 8);
    std::memcpy(&high, p + n - 8, 8);
    high = high >> 1 >> (8 * (16 - n) - 1);  // all 64 bits when n is 8
  } else if (n >= 4) {
    uint32_t first, last;
    std::memcpy(&first, p, 4);
    std::memcpy(&last, p + n - 4, 4);
    low = first | uint64_t{last} << (8 * (n - 4));
  } else if (n > 0) {
    auto byte = [&](size_t i) { return uint64_t{static_cast<uint8_t>(p[i])} << (8 * i); };
    low = byte(0) | byte(n / 2) | byte(n - 1);
  }
  uint64_t not_ascii = ((low | high) & 0x8080808080808080) != 0;
  return {static_cast<uint64_t>(Tag::ShortStr) | n << 8 | not_ascii << 15 | low << 16,
          low >> 48 | high << 16};
}

// Two short texts as one. False: it would not be short.
inline bool join_short(Borrowed a, Borrowed b, Borrowed& joined) {
  using Bytes = unsigned __int128;
  const size_t before = short_size(a), size = before + short_size(b);
  if (size > kMaxShort) return false;
  auto bytes = [](Borrowed v) { return (static_cast<Bytes>(v.word1) << 64 | v.word0) >> 16; };
  const Bytes both = bytes(a) | bytes(b) << (8 * before);
  const uint64_t not_ascii = (a.word0 | b.word0) & 0x8000;
  joined = {static_cast<uint64_t>(Tag::ShortStr) | size << 8 | not_ascii | static_cast<uint64_t>(both) << 16,
            static_cast<uint64_t>(both >> 48)};
  return true;
}

inline Borrowed make_ascii(uint8_t byte) {
  return {static_cast<uint64_t>(Tag::ShortStr) | 1 << 8 | uint64_t{byte} << 16, 0};
}

inline Borrowed make_scalar(uint32_t scalar) {
  if (scalar < 0x80) [[likely]]
    return make_ascii(static_cast<uint8_t>(scalar));
  char bytes[8];  // four are used; the compiler sees make_short's loads of eight
  size_t n = encode_scalar(scalar, bytes);
  return make_short({bytes, n});
}

inline Borrowed string_at(Borrowed v, uint64_t index) {
  if (v.is(Tag::Str)) return make_ascii(static_cast<uint8_t>(v.as<Str>()->data()[index]));
  auto bytes = static_cast<unsigned __int128>(v.word1) << 64 | v.word0;
  return make_ascii(static_cast<uint8_t>(bytes >> (16 + 8 * index)));
}

inline uint64_t string_hash(Borrowed v, Patience* patience) {
  if (v.is_short_string()) return hash_words(v.word0, v.word1);
  Str* string = v.as<Str>();
  uint32_t known = __atomic_load_n(&string->hash, __ATOMIC_RELAXED);
  return known != 0 ? widen_hash(known) : long_string_hash(string, patience);
}

inline bool equal_strings(Borrowed a, Borrowed b) {
  if (a.word0 != b.word0) return false;
  return a.word1 == b.word1 || (a.is(Tag::Str) && equal_long_strings(a.as<Str>(), b.as<Str>()));
}

}  // namespace posset::interp
