// What the modules share: shorter names for the C interface, owned values that release themselves, rows.
#pragma once

#include <posset/posset.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace posset::stdlib {

inline posset_text text_of(std::string_view text) { return posset_text_n(text.data(), text.size()); }
inline std::string_view view_of(posset_text text) { return {text.data ? text.data : "", text.size}; }

// In UTF-8.
inline bool continues_scalar(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Where `part` (not empty) occurs in `text` at or after `from`; npos: nowhere.
inline posset_status find_text(posset_context* context, std::string_view text, std::string_view part, size_t from, size_t& out) {
  uint64_t at = 0;
  const posset_status status = posset_find_text(context, text_of(text), text_of(part), from, &at);
  out = status == POSSET_OK ? at : std::string_view::npos;
  return status == POSSET_NOT_FOUND ? POSSET_OK : status;
}

// Early return on anything but POSSET_OK.
#define POSSET_TRY(expression)                                         \
  do {                                                                 \
    if (posset_status status_ = (expression); status_ != POSSET_OK) {  \
      return status_;                                                  \
    }                                                                  \
  } while (false)

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

inline posset_status give(posset_call* call, Owned& result) { return posset_return(call, result.take()); }

// Lets limits and interruptions act in the middle of work that has been charged before it is done, or in portions too small
// to cost a step: they are looked at again and again without charging anything.
class Pace {
 public:
  explicit Pace(posset_context* context) : context_(context) {}
  // So much work is done: bytes, or elements of some nanoseconds each; one that makes a value counts kValue.
  posset_status go(uint64_t work) {
    if (work < left_) [[likely]] {
      left_ -= work;
      return POSSET_OK;
    }
    left_ = kBetweenLooks;
    return posset_poll(context_);
  }
  static constexpr uint64_t kValue = 16;

 private:
  static constexpr uint64_t kBetweenLooks = 32768;  // some hundred microseconds
  posset_context* const context_;
  uint64_t left_ = kBetweenLooks;
};
inline constexpr size_t kLongText = 256 << 10;  // bytes; what is longer is copied in pieces

// Text under construction, charged to the context.
class Buffer {
 public:
  explicit Buffer(posset_context* context) : buffer_(posset_buffer_create(context)) {}
  ~Buffer() { posset_buffer_free(buffer_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void reserve(size_t bytes) { posset_buffer_reserve(buffer_, bytes); }
  void append(std::string_view text) { posset_buffer_append(buffer_, text_of(text)); }
  posset_status append(std::string_view text, Pace& pace) {
    if (text.size() > kLongText) reserve(text.size());
    for (; !text.empty() && !failed(); text.remove_prefix(std::min(text.size(), kLongText))) {
      append(text.substr(0, kLongText));
      POSSET_TRY(pace.go(std::min(text.size(), kLongText) / 8));
    }
    return POSSET_OK;
  }
  void append_scalar(uint32_t scalar) { posset_buffer_append_scalar(buffer_, scalar); }
  bool failed() const { return posset_buffer_failed(buffer_); }
  posset_status finish(posset_value& out) {
    return buffer_ ? posset_buffer_finish(buffer_, &out) : POSSET_NO_MEMORY;
  }
  posset_status finish(posset_call* call) {
    posset_value out;
    POSSET_TRY(finish(out));
    return posset_return(call, out);
  }

 private:
  posset_buffer* buffer_;
};

// A row of a pure function without function arguments, the common case.
constexpr posset_function_row pure_row(const char* name, const char* signature, const char* doc, uint32_t min,
                                       uint32_t max, posset_function function) {
  return {name, signature, doc, min, max, 0, 0, true, function, nullptr};
}
// It holds nothing that another evaluation could want while what it calls waits.
constexpr posset_function_row calling_row(const char* name, const char* signature, const char* doc, uint32_t min,
                                          uint32_t max, uint64_t calls, posset_function function) {
  posset_function_row row = {name, signature, doc, min, max, 0, calls, true, function, nullptr};
  row.may_yield = true;
  return row;
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
    char shown[64];
    posset_brief(call->context, answer.get(), 40, shown, sizeof shown);
    const std::string kind = posset_kind_name(posset_kind_of(answer.get()));
    const std::string got = posset_is_nil(answer.get()) ? kind : kind + " (" + shown + ")";
    return posset_raise_argument(call, POSSET_ERROR_NotBool, function, text_of("its result must be bool, got " + got));
  }
  out = posset_as_bool(answer.get());
  return POSSET_OK;
}

}  // namespace posset::stdlib
