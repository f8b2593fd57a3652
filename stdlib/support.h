// What the modules share: shorter names for the C interface, owned values that release themselves, rows.
#pragma once

#include <posset/posset.h>

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace posset::stdlib {

inline posset_text text_of(std::string_view text) { return posset_text_n(text.data(), text.size()); }
inline std::string_view view_of(posset_text text) { return {text.data ? text.data : "", text.size}; }

// Where `part` (not empty) occurs in `text` at or after `from`; npos: nowhere. In linear time, as it is charged:
// the standard library's find compares from anew at every place, which a part that almost matches makes quadratic.
inline size_t find_text(std::string_view text, std::string_view part, size_t from = 0) {
  const void* found = memmem(text.data() + from, text.size() - from, part.data(), part.size());
  return found ? static_cast<size_t>(static_cast<const char*>(found) - text.data()) : std::string_view::npos;
}

// Owns one reference.
class Owned {
 public:
  Owned() = default;
  explicit Owned(posset_value value) : value_(value) {}
  Owned(Owned&& other) noexcept : value_(other.take()) {}
  Owned& operator=(Owned&& other) noexcept {
    posset_release(std::exchange(value_, other.take()));
    return *this;
  }
  ~Owned() { posset_release(value_); }
  static Owned copy(posset_value view) { return Owned(posset_retain(view)); }
  posset_value get() const { return value_; }
  posset_value take() { return std::exchange(value_, posset_nil()); }
  posset_value* place() { return &value_; }  // for results and in-place changes

 private:
  posset_value value_ = posset_nil();
};

// Early return on anything but POSSET_OK.
#define POSSET_TRY(expression)                                         \
  do {                                                                 \
    if (posset_status status_ = (expression); status_ != POSSET_OK) {  \
      return status_;                                                  \
    }                                                                  \
  } while (false)

inline posset_status give(posset_call* call, Owned& result) { return posset_return(call, result.take()); }

// A row of a pure function without function arguments, the common case.
constexpr posset_function_row pure_row(const char* name, const char* signature, const char* doc, uint32_t min,
                                       uint32_t max, posset_function function) {
  return {name, signature, doc, min, max, 0, 0, true, function, nullptr};
}
constexpr posset_function_row calling_row(const char* name, const char* signature, const char* doc, uint32_t min,
                                          uint32_t max, uint64_t calls, posset_function function) {
  return {name, signature, doc, min, max, 0, calls, true, function, nullptr};
}
constexpr posset_function_row impure_row(const char* name, const char* signature, const char* doc, uint32_t min,
                                         uint32_t max, posset_function function) {
  return {name, signature, doc, min, max, 0, 0, false, function, nullptr};
}

template <size_t N>
posset_status register_rows(posset_runtime* runtime, const char* module, const posset_function_row (&rows)[N]) {
  return posset_register_functions(runtime, module, rows, N, sizeof rows[0]);
}

// Calls a script function and wants a bool back.
inline posset_status test_with(posset_call* call, uint32_t function, posset_value* arguments, uint32_t count,
                               bool& out) {
  Owned answer;
  POSSET_TRY(posset_invoke(call->context, call->arguments[function], arguments, count, answer.place()));
  if (!posset_is_bool(answer.get())) {
    return posset_raisef(call->context, POSSET_ERROR_NotBool, "the function's answer must be bool, got %s",
                         posset_kind_name(posset_kind_of(answer.get())));
  }
  out = posset_as_bool(answer.get());
  return POSSET_OK;
}

}  // namespace posset::stdlib
