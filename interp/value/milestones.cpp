// See milestones.h. Behind `capacity` bytes, a multiple of four, stand 32-bit numbers: how many milestones are made, and these; the
// one at `i` is the offset of scalar i * kEvery.
#include "interp/value/milestones.h"

#include <algorithm>

#include "interp/value/string.h"

namespace posset::interp {

namespace {

constexpr size_t kEvery = 64;    // scalars; to find one among them takes some 10 ns, and they take 4 bytes: 6% of the text or less
constexpr size_t kFewest = 256;  // bytes of a block from which on it has them: a shorter text is walked as fast
constexpr size_t kNumber = sizeof(uint32_t);

size_t room_of(const Str* string) { return Heap::usable_bytes(string) - sizeof(Str); }

// In which as many milestones as the text can have fit behind it.
size_t text_room(size_t room) {
  const size_t numbers = 1 + room / (kEvery + kNumber);
  return std::min<size_t>((room - numbers * kNumber) / kNumber * kNumber, Str::kMaxBytes / kNumber * kNumber);
}

uint32_t* numbers_of(const Str* string) {
  return reinterpret_cast<uint32_t*>(const_cast<char*>(string->data()) + string->capacity);
}

// Goes on to milestone `wanted`. Others may do the same (milestones.h).
bool make_milestones(const Heap& heap, const Str* string, uint32_t made, uint32_t wanted) {
  uint32_t* const numbers = numbers_of(string);
  const std::string_view bytes(string->data(), string->size);
  const auto tell = [&](uint32_t count) {
    if (__atomic_load_n(&numbers[0], __ATOMIC_RELAXED) < count) __atomic_store_n(&numbers[0], count, __ATOMIC_RELEASE);
  };
  size_t at = made == 0 ? 0 : __atomic_load_n(&numbers[made], __ATOMIC_RELAXED);
  size_t looked_at = at;
  for (uint32_t i = made + 1; i <= wanted; ++i) {
    at += offset_of_scalar(bytes.substr(at), kEvery);
    __atomic_store_n(&numbers[i], static_cast<uint32_t>(at), __ATOMIC_RELAXED);
    if (at - looked_at < Heap::kCopyPortion) continue;
    looked_at = at;
    tell(i);
    if (heap.is_to_stop()) return false;
  }
  tell(wanted);
  return true;
}

}  // namespace

size_t bytes_with_milestones(size_t text_bytes) {
  if (text_bytes < kFewest) return text_bytes;
  return text_bytes + (3 + text_bytes / kEvery) * kNumber;  // one says how many, one and another for what is rounded down
}

bool fits_with_milestones(const Str* string, size_t text_bytes) {
  const size_t room = room_of(string);
  return text_bytes <= (room < kFewest ? room : text_room(room));
}

void divide_block(Str* string) {
  const size_t room = room_of(string);
  string->flags &= static_cast<uint8_t>(~Str::kMilestones);
  string->capacity = static_cast<uint32_t>(std::min<size_t>(room, Str::kMaxBytes));
  if (string->ascii() || room < kFewest || text_room(room) < string->size) return;
  string->flags |= Str::kMilestones;
  string->capacity = static_cast<uint32_t>(text_room(room));
  numbers_of(string)[0] = 0;
}

uint32_t milestones_made(const Str* string) { return __atomic_load_n(&numbers_of(string)[0], __ATOMIC_ACQUIRE); }

bool find_by_milestones(const Heap& heap, const Str* string, uint64_t index, size_t& offset) {
  uint32_t* const numbers = numbers_of(string);
  const auto wanted = static_cast<uint32_t>(index / kEvery);
  const uint32_t made = milestones_made(string);
  if (made < wanted && !make_milestones(heap, string, made, wanted)) return false;
  offset = wanted == 0 ? 0 : __atomic_load_n(&numbers[wanted], __ATOMIC_RELAXED);
  offset += offset_of_scalar(std::string_view(string->data(), string->size).substr(offset), index % kEvery);
  return true;
}

}  // namespace posset::interp
