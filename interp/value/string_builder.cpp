// Text put together piece by piece. The first 256 bytes stand on the native stack; beyond them the
// bytes are those of a Str object under construction, which `finish` hands over without copying.
#include <algorithm>

#include "interp/value/milestones.h"
#include "interp/value/string.h"

namespace posset::interp {

StringBuilder::~StringBuilder() {
  if (data_ != inline_) heap_.free_object(grown());
}

// There is room.
void StringBuilder::append_long(std::string_view bytes) {
  if (!heap_.copy(data_ + size_, bytes.data(), bytes.size())) return fail();
  size_ += bytes.size();
}

void StringBuilder::append(size_t count, char c) {
  if (count > capacity_ - size_ && !grow(count)) return;
  const auto set = [&](size_t begin, size_t end) {
    std::memset(data_ + size_, c, end - begin);
    size_ += end - begin;
  };
  if (!heap_.in_portions(data_, count, 1, set)) fail();
}

void StringBuilder::fail() {
  failed_ = true;
  capacity_ = size_;
}

// Room for `bytes` more. After a failure nothing is appended any more, not even what would fit.
bool StringBuilder::grow(size_t bytes) {
  if (failed_ || bytes > Str::kMaxBytes - size_) {
    fail();
    return false;
  }
  const size_t needed = size_ + bytes;
  // As lists do (list.cpp): by half, near the limit by a sixteenth.
  if (make_room(std::max<size_t>(needed + needed / 2, 1024)) || make_room(std::max(needed, size_ + size_ / 16))) return true;
  fail();
  return false;
}

bool StringBuilder::make_room(size_t bytes) {
  const size_t total = sizeof(Str) + bytes;
  Object* block = data_ == inline_ ? heap_.make<Str>(Tag::Str, total) : heap_.resize_object(grown(), total);
  if (block == nullptr) return false;
  auto* string = static_cast<Str*>(block);
  if (data_ == inline_) std::memcpy(string->data(), inline_, size_);
  data_ = string->data();
  capacity_ = std::min<size_t>(Heap::usable_bytes(string) - sizeof(Str), Str::kMaxBytes);
  return true;
}

void StringBuilder::reserve(size_t bytes) {
  if (!failed_ && bytes > capacity_ - size_ && bytes <= Str::kMaxBytes - size_) make_room(size_ + bytes);
}

Value StringBuilder::finish() {
  if (failed_) return Value::failure();
  if (data_ == inline_ || size_ <= kMaxShort) return make_string(heap_, view());
  bool ascii = true;
  uint64_t scalars = 0;
  const bool is_counted = in_portions(heap_, view(), [&](std::string_view part) {
    ascii = ascii && is_ascii(part);
    if (size_ >= kCounted) scalars += count_scalars(part);
  });
  if (!is_counted) return Value::failure();
  auto* string = static_cast<Str*>(heap_.resize_object(grown(), sizeof(Str) + (ascii ? size_ : bytes_with_milestones(size_))));
  if (string == nullptr) string = grown();
  string->flags = ascii ? Str::kAscii : 0;
  string->hash = 0;
  string->size = static_cast<uint32_t>(size_);
  divide_block(string);
  string->scalars = size_ >= kCounted ? static_cast<uint32_t>(scalars) : Str::kUncounted;
  data_ = inline_;
  size_ = 0;
  capacity_ = sizeof inline_;
  return Value::adopt(Borrowed::heap(Tag::Str, string));
}

}  // namespace posset::interp
