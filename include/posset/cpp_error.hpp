// Errors in the C++ layer: the exceptions, diagnostics, Result for who wants none, and how the
// status of a C function becomes one of them. A part of posset.hpp, which is what to include.
//
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "posset.h"

namespace posset {

namespace detail {

// <memory> takes as long to compile as all the rest, and <functional> a quarter of it, so what this layer owns is held by
// these two, and functions that are kept by Callback.

// The only owner of something that Free gives up.
template <class T, class Free>
class Owner {
 public:
  Owner() = default;
  explicit Owner(T* owned) : pointer_(owned) {}
  Owner(Owner&& other) noexcept : pointer_(other.release()) {}
  Owner& operator=(Owner&& other) noexcept {
    reset(other.release());
    return *this;
  }
  ~Owner() { reset(nullptr); }
  T* get() const { return pointer_; }
  T* operator->() const { return pointer_; }
  T* release() { return std::exchange(pointer_, nullptr); }
  void reset(T* owned) {
    if (T* old = std::exchange(pointer_, owned)) Free()(old);
  }
  explicit operator bool() const { return pointer_ != nullptr; }

 private:
  T* pointer_ = nullptr;
};

struct Delete {
  template <class T>
  void operator()(T* owned) const {
    delete owned;
  }
};

// One of several owners of a T that nobody changes any more.
template <class T>
class Shared {
 public:
  explicit Shared(T&& made) : cell_(new Cell{std::move(made), {1}}) {}
  Shared(const Shared& other) noexcept : cell_(other.cell_) {
    // Made from one that is held, so nothing is ordered by it.
    cell_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  Shared& operator=(Shared other) noexcept {
    std::swap(cell_, other.cell_);
    return *this;
  }
  ~Shared() {
    // What the others did with it comes before its end.
    if (cell_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete cell_;
  }
  const T* operator->() const { return &cell_->kept; }

 private:
  struct Cell {
    T kept;
    std::atomic<size_t> owners;
  };
  Cell* cell_;
};

}  // namespace detail

// A function of the host that is kept to be called later, or none; copied with what it holds, as std::function is, which it
// can be made from.
template <class... Args>
class Callback {
 public:
  Callback() = default;
  Callback(std::nullptr_t) {}
  // None, when it is made from a null pointer or an empty std::function.
  template <class F>
    requires(!std::is_same_v<F, Callback> && std::is_invocable_v<F&, Args...>)
  Callback(F function) {
    if constexpr (std::is_constructible_v<F, std::nullptr_t>) {
      if (function == nullptr) return;
    }
    kept_.reset(new Of<F>(std::move(function)));
  }
  Callback(Callback&& other) noexcept = default;
  Callback(const Callback& other) : kept_(other ? other.kept_->copy() : nullptr) {}
  Callback& operator=(Callback other) noexcept {
    kept_ = std::move(other.kept_);
    return *this;
  }
  explicit operator bool() const { return static_cast<bool>(kept_); }
  // There must be one.
  void operator()(Args... arguments) const { kept_->call(static_cast<Args&&>(arguments)...); }

 private:
  struct Kept {
    virtual ~Kept() = default;
    virtual void call(Args&&... arguments) = 0;
    virtual Kept* copy() const = 0;
  };
  template <class F>
  struct Of final : Kept {
    explicit Of(F&& function) : function(std::move(function)) {}
    void call(Args&&... arguments) override { function(static_cast<Args&&>(arguments)...); }
    Kept* copy() const override { return new Of(F(function)); }
    F function;
  };
  detail::Owner<Kept, detail::Delete> kept_;
};

inline posset_text to_text(std::string_view text) {
  return posset_text_n(text.data(), text.size());
}
inline std::string_view to_view(posset_text text) {
  return {text.data ? text.data : "", text.size};
}

// ---- errors ----

// A mistake of the host: an impossible argument, a name that is taken, a context busy on another
// thread.
class Misuse : public std::logic_error {
 public:
  // `why`, where more is known than the status says.
  explicit Misuse(posset_status status, const std::string& what, std::string_view why = {})
      : std::logic_error(what + ": " + posset_status_text(status) + (why.empty() ? "" : ": ") + std::string(why)), status_(status) {}
  posset_status status() const { return status_; }

 private:
  posset_status status_;
};

// One finding of the front end.
struct Diagnostic {
  bool is_warning = false;
  posset_code code = posset_code();
  std::string message;
  std::string hint;
  std::string file;
  uint32_t line = 0, column = 0;
  std::string report;  // with the source line and a caret
};

// An error of a script, or of a source that does not parse or resolve (then `diagnostics` has all
// of them, and the other members tell of the first). Cheap to copy.
class Error : public std::exception {
 public:
  struct Freer {
    void operator()(posset_error* error) const { posset_error_free(error); }
  };
  struct Data {
    detail::Owner<posset_error, Freer> error;
    posset_code code = posset_code();
    std::string message, hint, file;
    uint32_t line = 0, column = 0;
    bool is_limit = false, is_interrupt = false;
    std::vector<std::string> trace;
    std::vector<Diagnostic> diagnostics;
    std::string what;  // "FILE:LINE:COL: error: MESSAGE"
  };
  explicit Error(Data data) : data_(std::move(data)) {}

  const char* what() const noexcept override { return data_->what.c_str(); }
  posset_code code() const { return data_->code; }
  const char* code_name() const { return posset_code_name(data_->code); }
  const std::string& message() const { return data_->message; }
  const std::string& hint() const { return data_->hint; }
  const std::string& file() const { return data_->file; }
  uint32_t line() const { return data_->line; }
  uint32_t column() const { return data_->column; }
  bool is_limit() const { return data_->is_limit; }
  bool is_interrupt() const { return data_->is_interrupt; }
  const std::vector<std::string>& trace() const { return data_->trace; }  // innermost first
  const std::vector<Diagnostic>& diagnostics() const { return data_->diagnostics; }
  // What the command would print.
  std::string report(bool color = false) const;
  // What was thrown, as a view; nil for diagnostics.
  posset_value thrown() const;

  // The C interface's own handle, null for diagnostics; it lives as long as this and its copies.
  posset_error* handle() const { return data_->error.get(); }

 private:
  detail::Shared<Data> data_;
};

// ---- details of texts and errors ----

namespace detail {

inline bool append_to_string(void* data, const char* text, size_t size) {
  static_cast<std::string*>(data)->append(text, size);
  return true;
}

inline std::string place_of(const std::string& file, uint32_t line, uint32_t column) {
  if (file.empty()) return "";
  return file + ":" + std::to_string(line) + ":" + std::to_string(column) + ": ";
}

inline Error error_of(posset_error* error) {
  Error::Data data;
  data.error.reset(error);
  posset_error_info info = {};
  info.size = sizeof info;
  posset_error_get(error, &info);
  data.code = info.code;
  data.message = to_view(info.message);
  data.hint = to_view(info.hint);
  data.file = to_view(info.file);
  data.line = info.line;
  data.column = info.column;
  data.is_limit = info.is_limit;
  data.is_interrupt = info.is_interrupt;
  for (size_t i = 0; i < info.trace_count; ++i)
    data.trace.emplace_back(to_view(posset_error_trace(error, i)));
  data.what = place_of(data.file, data.line, data.column) + "error: " + data.message;
  return Error(std::move(data));
}

inline std::vector<Diagnostic> collect(const posset_diagnostics* diagnostics) {
  std::vector<Diagnostic> all;
  for (size_t i = 0; i < posset_diagnostics_count(diagnostics); ++i) {
    posset_diagnostic d = {};
    d.size = sizeof d;
    posset_diagnostics_get(diagnostics, i, &d);
    Diagnostic& made = all.emplace_back();
    made.is_warning = d.severity == POSSET_SEVERITY_WARNING;
    made.code = d.code;
    made.message = to_view(d.message);
    made.hint = to_view(d.hint);
    made.file = to_view(d.file);
    made.line = d.line;
    made.column = d.column;
    posset_diagnostics_render(diagnostics, i, false, append_to_string, &made.report);
  }
  return all;
}

inline Error error_of(std::vector<Diagnostic> all) {
  Error::Data data;
  for (const Diagnostic& d : all) {
    if (d.is_warning) continue;
    data.code = d.code;
    data.message = d.message;
    data.hint = d.hint;
    data.file = d.file;
    data.line = d.line;
    data.column = d.column;
    break;
  }
  data.what = place_of(data.file, data.line, data.column) + "error: " + data.message;
  data.diagnostics = std::move(all);
  return Error(std::move(data));
}

// Frees what a C function has made.
struct Freer {
  void operator()(posset_diagnostics* p) const { posset_diagnostics_free(p); }
  void operator()(posset_program* p) const { posset_program_free(p); }
  void operator()(posset_runtime* p) const { posset_runtime_release(p); }
  void operator()(posset_context* p) const { posset_context_release(p); }
  void operator()(posset_future* p) const { posset_future_release(p); }
};
template <class T>
using Owned = Owner<T, Freer>;

// What the library has to say about a call that it refused.
inline std::string_view misuse_text(posset_context* context, posset_status status) {
  const bool is_told = status == POSSET_MISUSE || status == POSSET_EXISTS || status == POSSET_NOT_FOUND;
  return is_told && context ? to_view(posset_misuse_text(context)) : std::string_view();
}

// The exception that fits.
[[noreturn, gnu::noinline, gnu::cold]] inline void throw_failed(posset_context* context, posset_status status, const char* what) {
  if (status == POSSET_RAISED) {
    if (posset_error* error = posset_take_error(context)) throw error_of(error);
  }
  throw Misuse(status, what, misuse_text(context, status));
}
// Success, or the exception that fits.
inline void check(posset_context* context, posset_status status, const char* what) {
  if (status != POSSET_OK) throw_failed(context, status, what);
}
inline void check(posset_context* context, posset_status status, posset_diagnostics* diagnostics,
                  const char* what) {
  Owned<posset_diagnostics> owner(diagnostics);
  if (status == POSSET_INVALID) throw error_of(collect(diagnostics));
  check(context, status, what);
}

// The same for what a name stands for: that there is nothing is no mistake of the host, but told as the front end tells of it.
inline void check_found(posset_context* context, posset_status status, const char* what) {
  if (status != POSSET_NOT_FOUND) return check(context, status, what);
  Diagnostic missing;
  missing.code = POSSET_ERROR_NotDefined;
  missing.message = misuse_text(context, status);
  missing.report = "error: " + missing.message + "\n";
  throw error_of(std::vector<Diagnostic>{std::move(missing)});
}

// The same for what gives warnings.
inline std::vector<Diagnostic> check_warned(posset_context* context, posset_status status, posset_diagnostics* diagnostics,
                                            const char* what) {
  Owned<posset_diagnostics> owner(diagnostics);
  if (status == POSSET_INVALID) throw error_of(collect(diagnostics));
  check(context, status, what);
  return collect(diagnostics);
}

}  // namespace detail

inline std::string Error::report(bool color) const {
  std::string out;
  if (data_->error) posset_error_render(data_->error.get(), color, detail::append_to_string, &out);
  for (const Diagnostic& d : data_->diagnostics) out += d.report;
  return out;
}

inline posset_value Error::thrown() const {
  posset_error_info info = {};
  info.size = sizeof info;
  if (data_->error) posset_error_get(data_->error.get(), &info);
  return data_->error ? info.value : posset_nil();
}

// A T or an Error, for who prefers no exceptions. Asked for a value that it does not have it throws the Error; for an error that
// it does not have, Misuse.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT: results are made by returning values
  Result(Error error) : error_(std::move(error)) {}  // NOLINT
  explicit operator bool() const { return value_.has_value(); }
  bool ok() const { return value_.has_value(); }
  T& value() & { return expect_value(), *value_; }
  const T& value() const& { return expect_value(), *value_; }
  T&& value() && { return expect_value(), *std::move(value_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  // The value, or `other` where there is an error.
  template <class U>
  T value_or(U&& other) const& {
    return value_ ? *value_ : static_cast<T>(std::forward<U>(other));
  }
  template <class U>
  T value_or(U&& other) && {
    return value_ ? *std::move(value_) : static_cast<T>(std::forward<U>(other));
  }
  const Error& error() const {
    if (!error_) throw Misuse(POSSET_MISUSE, "error: the Result has a value");
    return *error_;
  }

 private:
  void expect_value() const {
    if (!value_) throw *error_;
  }

  std::optional<T> value_;
  std::optional<Error> error_;
};

namespace detail {

// What `body` gives, or the Error that it throws.
template <class Body>
auto attempt(Body&& body) -> Result<std::decay_t<decltype(body())>> {
  try {
    return body();
  } catch (const Error& error) {
    return error;
  }
}

}  // namespace detail

}  // namespace posset
