// String values: making, joining, indexing, hashing. Bytes are in utf8.cpp, building piece by piece
// in string_builder.cpp, where scalars stand in milestones.cpp.
#include "interp/value/string.h"

#include <algorithm>
#include <bit>

#include "interp/value/milestones.h"

namespace posset::interp {

namespace {

constexpr size_t kHashedAtOnce = size_t{1} << 20;  // between two looks at the patience

size_t block_bytes(size_t text_bytes, bool ascii) {
  return sizeof(Str) + (ascii ? text_bytes : bytes_with_milestones(text_bytes));
}

// An empty Str with room for `size` bytes, or null.
Str* new_str(Heap& heap, size_t size, bool ascii) {
  if (size > Str::kMaxBytes) return nullptr;
  auto* string = heap.make<Str>(Tag::Str, block_bytes(size, ascii), ascii ? Str::kAscii : 0);
  if (string == nullptr) return nullptr;
  string->hash = 0;
  string->size = 0;
  string->scalars = Str::kUncounted;
  divide_block(string);
  return string;
}

uint32_t known_scalars(const Str* string) { return string->ascii() ? string->size : string->scalars; }

// Whether the number of its scalars has been asked for, or is known anyway; it stays known as the string grows.
bool is_counted(const Str* string) { return !string->ascii() && string->scalars != Str::kUncounted; }

// Of a string that is about to have `bytes` more. False: given up.
bool count_with(const Heap& heap, const Str* string, std::string_view bytes, uint64_t& scalars) {
  const auto count = [&](std::string_view part) { scalars += count_scalars(part); };
  const uint32_t known = known_scalars(string);
  scalars = known == Str::kUncounted ? 0 : known;
  if (known == Str::kUncounted && !in_portions(heap, {string->data(), string->size}, count)) return false;
  return in_portions(heap, bytes, count);
}

// There must be room. The cached facts stay right. False: given up, the string is as it was.
bool append_bytes(Heap& heap, Str* string, std::string_view bytes, bool ascii) {
  uint64_t scalars = Str::kUncounted;
  const size_t size = string->size + bytes.size();
  const bool counts = is_counted(string) || (size >= kCounted && !(ascii && string->ascii()));
  if (counts && !count_with(heap, string, bytes, scalars)) return false;
  if (!heap.copy(string->data() + string->size, bytes.data(), bytes.size())) return false;
  string->size = static_cast<uint32_t>(size);
  string->hash = 0;
  string->scalars = static_cast<uint32_t>(scalars);
  if (!ascii && string->ascii()) {
    string->flags &= static_cast<uint8_t>(~Str::kAscii);
    divide_block(string);
  }
  return true;
}

// A short string's bytes as they stand in its words: two stores, no call. Writes 14 bytes. The string stays shorter than kCounted,
// and ASCII if it was.
void append_short(Str* string, Borrowed v) {
  uint64_t low = v.word0 >> 16;
  char* at = string->data() + string->size;
  std::memcpy(at, &low, 8);
  std::memcpy(at + 6, &v.word1, 8);
  string->size += static_cast<uint32_t>(short_size(v));
  string->hash = 0;
  if (is_counted(string)) string->scalars += static_cast<uint32_t>(count_scalars(string_view_of(v)));
}

Value owned(Str* string) { return Value::adopt(Borrowed::heap(Tag::Str, string)); }

// `left` is unique and `size` is what it will hold.
Value extend(Heap& heap, Value left, Borrowed right, size_t size) {
  Str* string = left->as<Str>();
  const bool ascii = string->ascii() && is_ascii_string(right), stays = ascii == string->ascii();
  if (stays && right.is_short_string() && string->capacity - string->size >= kMaxShort && size < kCounted) {
    append_short(string, right);
    return left;
  }
  bool same = right.is(Tag::Str) && right.object() == string;
  if (stays ? size > string->capacity : !fits_with_milestones(string, size)) {
    if (size > Str::kMaxBytes) return Value::failure();
    // As lists do (list.cpp): by half, near the limit by a sixteenth.
    auto resize = [&](size_t capacity) {
      return heap.resize_object(string, block_bytes(std::min<size_t>(capacity, Str::kMaxBytes), ascii));
    };
    Object* moved = resize(size + size / 2);
    if (moved == nullptr) moved = resize(std::max<size_t>(size, string->size + string->size / 16));
    if (moved == nullptr) return Value::failure();
    static_cast<void>(left.take());
    string = static_cast<Str*>(moved);
    divide_block(string);
    left = owned(string);
  }
  std::string_view bytes =
      same ? std::string_view(string->data(), string->size) : string_view_of(right);
  const bool done = append_bytes(heap, string, bytes, same ? string->ascii() : is_ascii_string(right));
  return done ? std::move(left) : Value::failure();
}

}  // namespace

Value make_string(Heap& heap, std::string_view utf8) {
  if (utf8.size() <= kMaxShort) return Value::adopt(make_short(utf8));
  bool ascii = true;
  if (!in_portions(heap, utf8, [&](std::string_view part) { ascii = ascii && is_ascii(part); })) return Value::failure();
  Str* string = new_str(heap, utf8.size(), ascii);
  if (string == nullptr) return Value::failure();
  Value made = owned(string);
  return append_bytes(heap, string, utf8, ascii) ? std::move(made) : Value::failure();
}

Value concatenate(Heap& heap, Value left, Borrowed right) {
  Borrowed l = left.view();
  std::string_view a = string_view_of(l), b = string_view_of(right);
  size_t size = a.size() + b.size();
  if (l.is(Tag::Str) && is_unique(l.object())) return extend(heap, std::move(left), right, size);
  if (b.empty()) return left;
  Borrowed joined;
  if (l.is_short_string() && right.is_short_string() && join_short(l, right, joined)) return Value::adopt(joined);
  if (a.empty()) return Value::copy(right);
  Str* string = new_str(heap, size, is_ascii_string(l) && is_ascii_string(right));
  if (string == nullptr) return Value::failure();
  Value made = owned(string);
  const bool done = append_bytes(heap, string, a, is_ascii_string(l)) && append_bytes(heap, string, b, is_ascii_string(right));
  return done ? std::move(made) : Value::failure();
}

uint64_t string_length(Borrowed v) {
  if (v.is_short_string()) return short_ascii(v) ? short_size(v) : count_scalars(string_view_of(v));
  Str* string = v.as<Str>();
  if (string->ascii()) return string->size;
  uint32_t known = __atomic_load_n(&string->scalars, __ATOMIC_RELAXED);
  if (known != Str::kUncounted) return known;
  auto counted = static_cast<uint32_t>(count_scalars({string->data(), string->size}));
  __atomic_store_n(&string->scalars, counted, __ATOMIC_RELAXED);
  return counted;
}

bool byte_offset(const Heap& heap, Borrowed v, uint64_t index, size_t& offset) {
  offset = index;
  if (is_ascii_string(v)) return true;
  if (v.is(Tag::Str) && v.as<Str>()->flags & Str::kMilestones) return find_by_milestones(heap, v.as<Str>(), index, offset);
  return find_scalar(heap, string_view_of(v), index, offset);
}

Value string_at(const Heap& heap, Borrowed v, uint64_t index) {
  size_t from;
  if (!byte_offset(heap, v, index, from)) return Value::failure();
  const std::string_view bytes = string_view_of(v);
  size_t to = from;
  decode_scalar(bytes, to);
  return Value::adopt(make_short(bytes.substr(from, to - from)));
}

bool scalar_at(const Heap& heap, Borrowed v, uint64_t index, uint32_t& scalar) {
  size_t at;
  if (!byte_offset(heap, v, index, at)) return false;
  scalar = decode_scalar(string_view_of(v), at);
  return true;
}

Value substring(Heap& heap, Borrowed v, uint64_t from, uint64_t to) {
  const std::string_view bytes = string_view_of(v);
  size_t begin, end;
  if (!byte_offset(heap, v, from, begin) || !byte_offset(heap, v, to, end)) return Value::failure();
  if (begin == 0 && end == bytes.size()) return Value::copy(v);
  return make_string(heap, bytes.substr(begin, end - begin));
}

// Sixteen bytes a step. The constants are no UTF-8, so no text makes a factor of `mix` zero at
// will.
uint64_t long_string_hash(const Str* string, Patience* patience) {
  const char* p = string->data();
  size_t n = string->size;
  uint64_t state = mix(n ^ kMixA, kMixB);
  auto load = [](const char* at) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    return word;
  };
  while (n > 16) {
    size_t portion = std::min(n - 1, kHashedAtOnce) / 16 * 16;
    n -= portion;
    for (; portion > 0; p += 16, portion -= 16) state = mix(load(p) ^ kMixA, load(p + 8) ^ state);
    if (n > 16 && !lasts(patience, kHashedAtOnce / kBytesPerUnit)) return 0;
  }
  if (n > 8) {
    state = mix(load(p) ^ kMixB, load(p + n - 8) ^ state);
  } else {
    // The string has more than 14 bytes, so what is before p belongs to it.
    state = mix(load(p + n - 8) ^ kMixB, state ^ kMixC);
  }
  auto hash = static_cast<uint32_t>(state ^ state >> 32);
  if (hash == 0) hash = 1;
  __atomic_store_n(const_cast<uint32_t*>(&string->hash), hash, __ATOMIC_RELAXED);
  return widen_hash(hash);
}

bool equal_bytes(const char* a, const char* b, size_t size, Patience* patience) {
  constexpr size_t kComparedAtOnce = size_t{1} << 20;
  for (size_t at = 0; at < size; at += kComparedAtOnce) {
    const size_t n = std::min(size - at, kComparedAtOnce);
    if (std::memcmp(a + at, b + at, n) != 0 || !lasts(patience, n / kBytesPerUnit)) return false;
  }
  return true;
}

bool equal_long_strings(const Str* a, const Str* b, Patience* patience) {
  if (a->size != b->size) return false;
  uint32_t hash_a = __atomic_load_n(&a->hash, __ATOMIC_RELAXED);
  uint32_t hash_b = __atomic_load_n(&b->hash, __ATOMIC_RELAXED);
  if (hash_a != hash_b && hash_a != 0 && hash_b != 0) return false;
  return equal_bytes(a->data(), b->data(), a->size, patience);
}

}  // namespace posset::interp
