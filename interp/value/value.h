// `Value` owns one reference to a value and moves; `Borrowed` (borrowed.h) is the view that does
// not count.
#pragma once

#include <utility>

#include "interp/value/borrowed.h"
#include "interp/value/object.h"

namespace posset::interp {

// One owned reference. Moving leaves nil behind. Copying is spelled out: `Value::copy(b)`.
class Value {
 public:
  Value() = default;
  Value(Value&& other) noexcept : raw_(other.take()) {}
  Value& operator=(Value&& other) noexcept {
    Borrowed old = raw_;
    raw_ = other.take();
    release(old);
    return *this;
  }
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  ~Value() { release(raw_); }

  static Value adopt(Borrowed owned) { return Value(owned); }
  static Value copy(Borrowed b) {
    retain(b);
    return Value(b);
  }
  static Value nil() { return {}; }
  static Value boolean(bool b) { return Value(Borrowed::boolean(b)); }
  static Value integer(int64_t i) { return Value(Borrowed::integer(i)); }
  static Value floating(double d) { return Value(Borrowed::floating(d)); }
  static Value failure() { return Value(Borrowed::failure()); }

  // Gives the reference away; this becomes nil.
  [[nodiscard]] Borrowed take() {
    uint64_t word0 = raw_.word0, word1 = raw_.word1;  // as two scalars, see above
    raw_.word0 = 0;
    raw_.word1 = 0;
    return {word0, word1};
  }
  Borrowed view() const { return raw_; }
  operator Borrowed() const { return raw_; }  // NOLINT: a view is what most callees want
  const Borrowed* operator->() const { return &raw_; }
  bool failed() const { return raw_.failed(); }

 private:
  explicit Value(Borrowed owned) : raw_(owned) {}
  Borrowed raw_;
};

}  // namespace posset::interp
