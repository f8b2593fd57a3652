// Going through values and making records, in the C++ layer. A part of posset.hpp, which is what to include.
//
//   for (const posset::Value& x : list.items()) ...                 // a list or range
//   for (const auto& [key, value] : map.entries()) ...              // a map; of a record or variant the names of fields
//   context.record({{"name", "pear"}, {"price", 2.5}});
//
// Both hold what they go through, so they may begin with a value that is gone at once, and what the script or the loop changes
// meanwhile does not change what they give.
//
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpp_value.hpp"
#include "posset.h"

namespace posset {

namespace detail {

// Where a loop of `for` ends: the iterator knows.
struct AtEnd {};

}  // namespace detail

// The elements of a list or range, for a loop.
class Items {
 public:
  class Iterator {
   public:
    explicit Iterator(const Items& items) : items_(&items) {}
    Value operator*() const { return items_->list_[at_]; }
    Iterator& operator++() { return ++at_, *this; }
    bool operator!=(detail::AtEnd) const { return at_ < items_->size_; }

   private:
    const Items* items_;
    uint64_t at_ = 0;
  };

  // Throws Error when it is something else.
  explicit Items(Value list) : list_(std::move(list)) {
    const posset_kind kind = list_.kind();
    if (kind != POSSET_LIST && kind != POSSET_RANGE) detail::throw_kind(list_.context(), list_.raw(), "items", "list or range");
    size_ = list_.size();
  }
  Iterator begin() const { return Iterator(*this); }
  detail::AtEnd end() const { return {}; }

 private:
  Value list_;
  uint64_t size_ = 0;
};

// A key of a map and what it has there, or a field: its name and its value.
struct Entry {
  Value key, value;
};

// The entries of a map, or fields of a record or variant, in their order, for a loop.
class Entries {
 public:
  class Iterator {
   public:
    explicit Iterator(const Value& of) : of_(&of) { ++*this; }
    const Entry& operator*() const { return entry_; }
    Iterator& operator++() {
      is_there_ = posset_is(of_->raw(), POSSET_MAP) ? read_key() : read_field();
      return *this;
    }
    bool operator!=(detail::AtEnd) const { return is_there_; }

   private:
    bool read_key() {
      posset_value key, value;
      if (!posset_map_next(of_->raw(), &at_, &key, &value)) return false;
      entry_ = {Value::copy(of_->context(), key), Value::copy(of_->context(), value)};
      return true;
    }
    bool read_field() {
      if (at_ >= posset_field_count(of_->raw())) return false;
      const auto index = static_cast<uint32_t>(at_++);
      posset_value name = posset_nil();
      posset_context* const context = of_->context();
      detail::check(context, posset_string(context, posset_field_name(context, of_->raw(), index), &name), "entries");
      entry_ = {Value(context, name), Value::copy(context, posset_field_at(of_->raw(), index))};
      return true;
    }

    const Value* of_;
    uint64_t at_ = 0;
    bool is_there_ = false;
    Entry entry_;
  };

  // Throws Error when it is something else.
  explicit Entries(Value of) : of_(std::move(of)) {
    const posset_kind kind = of_.kind();
    if (kind != POSSET_MAP && kind != POSSET_RECORD && kind != POSSET_VARIANT)
      detail::throw_kind(of_.context(), of_.raw(), "entries", "map, record or variant");
  }
  Iterator begin() const { return Iterator(of_); }
  detail::AtEnd end() const { return {}; }

 private:
  Value of_;
};

inline Items Value::items() const { return Items(*this); }
inline Entries Value::entries() const { return Entries(*this); }

// A field on its way into a record: it refers to what it was made from, and is there for the call alone.
class Field {
 public:
  template <class T>
  Field(std::string_view name, const T& value)  // NOLINT: written as {name, value}
      : name_(name), value_(&value), make_(make<T>) {}
  posset_text name() const { return to_text(name_); }
  posset_status make(posset_context* context, posset_value* out) const { return make_(context, value_, out); }

 private:
  template <class T>
  static posset_status make(posset_context* context, const void* value, posset_value* out) {
    return detail::ConvertOf<T>::to(context, *static_cast<const T*>(value), out);
  }

  std::string_view name_;
  const void* value_;
  posset_status (*make_)(posset_context*, const void*, posset_value*);
};

namespace detail {

inline Value make_record(posset_context* context, std::initializer_list<Field> fields) {
  struct Made {
    std::vector<posset_value> values;
    ~Made() { posset_release_all(values.data(), values.size()); }
  } made{std::vector<posset_value>(fields.size(), posset_nil())};
  std::vector<posset_text> names;
  names.reserve(fields.size());
  for (const Field& field : fields) {
    check(context, field.make(context, &made.values[names.size()]), "record");
    names.push_back(field.name());
  }
  posset_value record = posset_nil();
  const auto count = static_cast<uint32_t>(fields.size());
  check(context, posset_record(context, names.data(), made.values.data(), count, &record), "record");
  return {context, record};
}

}  // namespace detail

}  // namespace posset
