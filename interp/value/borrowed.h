// What a value is: 16 bytes, a tag word and a payload word, copied as two scalars (a vector copy
// after two scalar stores misses store forwarding). `Borrowed` is a plain view that does not count;
// `Value` (value.h) owns one reference. Counts live in the Object header (object.h).
//
// Invariants:
//  - the tag word of Nil, Bool, Int, Float and every heap tag is the tag itself, so
//    `word0 == Tag::Int` is a whole-word test;
//  - a string of at most 14 bytes is always ShortStr, a longer one always Str, so strings of
//    different tags differ; unused bytes of a ShortStr are zero, so two are equal exactly when both
//    words are;
//  - Unset and Failed never reach a script.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace posset::interp {

enum class Tag : uint8_t {
#define TAG(Name, type, meaning) Name,
#include "interp/value/tags.def"
#undef TAG
};
constexpr Tag kFirstHeapTag = Tag::Str;
static_assert(static_cast<int>(kFirstHeapTag) == 8);  // is_heap tests the bits above the low three

const char* type_name(Tag tag);  // "int", "list", ...

struct Object;
struct NativeFunction;  // runtime/native.h

struct Borrowed {
  uint64_t word0 = 0;
  uint64_t word1 = 0;

  Tag tag() const { return static_cast<Tag>(word0 & 0xff); }
  bool is(Tag t) const { return word0 == static_cast<uint64_t>(t); }  // not for ShortStr
  bool is_nil() const { return is(Tag::Nil); }
  bool is_bool() const { return is(Tag::Bool); }
  bool is_int() const { return is(Tag::Int); }
  bool is_float() const { return is(Tag::Float); }
  bool is_number() const { return is_int() || is_float(); }
  bool is_short_string() const { return tag() == Tag::ShortStr; }
  bool is_string() const { return is_short_string() || is(Tag::Str); }
  bool is_list() const { return is(Tag::List); }
  bool is_map() const { return is(Tag::Map); }
  bool is_record() const { return is(Tag::Record); }
  bool is_variant() const { return is(Tag::Variant); }
  bool is_range() const { return is(Tag::Range); }
  bool is_unset() const { return is(Tag::Unset); }
  bool failed() const { return is(Tag::Failed); }
  bool is_heap() const { return (word0 & 0xf8) != 0; }

  bool as_bool() const { return word1 != 0; }
  int64_t as_int() const { return static_cast<int64_t>(word1); }
  double as_float() const { return std::bit_cast<double>(word1); }
  Object* object() const { return reinterpret_cast<Object*>(word1); }
  template <class T>
  T* as() const {
    return static_cast<T*>(object());
  }
  const NativeFunction* as_builtin() const {
    return reinterpret_cast<const NativeFunction*>(word1);
  }
  // int or float as double
  double number() const { return is_int() ? static_cast<double>(as_int()) : as_float(); }

  static constexpr Borrowed nil() { return {0, 0}; }
  static constexpr Borrowed boolean(bool b) { return {static_cast<uint64_t>(Tag::Bool), b}; }
  static constexpr Borrowed integer(int64_t i) {
    return {static_cast<uint64_t>(Tag::Int), static_cast<uint64_t>(i)};
  }
  static constexpr Borrowed floating(double d) {
    return {static_cast<uint64_t>(Tag::Float), std::bit_cast<uint64_t>(d)};
  }
  static constexpr Borrowed unset() { return {static_cast<uint64_t>(Tag::Unset), 0}; }
  static constexpr Borrowed failure() { return {static_cast<uint64_t>(Tag::Failed), 0}; }
  static Borrowed heap(Tag tag, const Object* object) {
    return {static_cast<uint64_t>(tag), reinterpret_cast<uint64_t>(object)};
  }
  static Borrowed builtin(const NativeFunction* f) {
    return {static_cast<uint64_t>(Tag::Builtin), reinterpret_cast<uint64_t>(f)};
  }
};

}  // namespace posset::interp
