// The C++ layer: posset.h with RAII, typed calls and exceptions. It is header-only and thin: every
// function here is a few calls of the C interface, whose headers say what units, limits and threads
// mean.
//
//   posset::Runtime runtime;                                      // shared by all contexts
//   posset::Context context(runtime, {.memory_limit = 64 << 20}); // isolated
//   context.set("rate", 0.19);
//   context.define("lookup", [&](std::string_view key) { return table.at(std::string(key)); });
//   auto price = context.compile<double(double, int64_t)>("(net, n) => net * n * (1.0 + rate)");
//   double gross = price(12.5, 3);
//
// Errors: functions throw posset::Error for errors of scripts and sources, posset::Misuse for
// mistakes of the host. Each that runs something has a sibling `try_...` that gives a
// posset::Result instead. An exception in a host function becomes a script error with its message.
//
// Lifetimes: a Value must not outlive its Context. An Error may.
//
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "posset.h"

namespace posset {

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
  explicit Misuse(posset_status status, const std::string& what)
      : std::logic_error(what + ": " + posset_status_text(status)), status_(status) {}
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
  struct Data {
    ~Data() { posset_error_free(error); }
    posset_error* error = nullptr;
    posset_code code = posset_code();
    std::string message, hint, file;
    uint32_t line = 0, column = 0;
    bool is_limit = false, is_interrupt = false;
    std::vector<std::string> trace;
    std::vector<Diagnostic> diagnostics;
    std::string what;  // "FILE:LINE:COL: error: MESSAGE"
  };
  explicit Error(std::shared_ptr<Data> data) : data_(std::move(data)) {}

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

  // For the layer itself: the error's handle moved out, to be put back on its way.
  posset_error* take_handle() const { return std::exchange(data_->error, nullptr); }

 private:
  std::shared_ptr<Data> data_;
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
  auto data = std::make_shared<Error::Data>();
  data->error = error;
  posset_error_info info = {};
  info.size = sizeof info;
  posset_error_get(error, &info);
  data->code = info.code;
  data->message = to_view(info.message);
  data->hint = to_view(info.hint);
  data->file = to_view(info.file);
  data->line = info.line;
  data->column = info.column;
  data->is_limit = info.is_limit;
  data->is_interrupt = info.is_interrupt;
  for (size_t i = 0; i < info.trace_count; ++i)
    data->trace.emplace_back(to_view(posset_error_trace(error, i)));
  data->what = place_of(data->file, data->line, data->column) + "error: " + data->message;
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
  auto data = std::make_shared<Error::Data>();
  for (const Diagnostic& d : all) {
    if (d.is_warning) continue;
    data->code = d.code;
    data->message = d.message;
    data->hint = d.hint;
    data->file = d.file;
    data->line = d.line;
    data->column = d.column;
    break;
  }
  data->what = place_of(data->file, data->line, data->column) + "error: " + data->message;
  data->diagnostics = std::move(all);
  return Error(std::move(data));
}

// Frees what a C function has made.
struct Freer {
  void operator()(posset_diagnostics* p) const { posset_diagnostics_free(p); }
  void operator()(posset_program* p) const { posset_program_free(p); }
  void operator()(posset_runtime* p) const { posset_runtime_release(p); }
  void operator()(posset_context* p) const { posset_context_release(p); }
};
template <class T>
using Owned = std::unique_ptr<T, Freer>;

// Success, or the exception that fits.
inline void check(posset_context* context, posset_status status, const char* what) {
  if (status == POSSET_OK) return;
  if (status == POSSET_RAISED) {
    if (posset_error* error = posset_take_error(context)) throw error_of(error);
  }
  throw Misuse(status, what);
}
inline void check(posset_context* context, posset_status status, posset_diagnostics* diagnostics,
                  const char* what) {
  Owned<posset_diagnostics> owner(diagnostics);
  if (status == POSSET_INVALID) throw error_of(collect(diagnostics));
  check(context, status, what);
}

}  // namespace detail

inline std::string Error::report(bool color) const {
  std::string out;
  if (data_->error) posset_error_render(data_->error, color, detail::append_to_string, &out);
  for (const Diagnostic& d : data_->diagnostics) out += d.report;
  return out;
}

inline posset_value Error::thrown() const {
  posset_error_info info = {};
  info.size = sizeof info;
  if (data_->error) posset_error_get(data_->error, &info);
  return data_->error ? info.value : posset_nil();
}

// A T or an Error, for who prefers no exceptions.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT: results are made by returning values
  Result(Error error) : error_(std::move(error)) {}  // NOLINT
  explicit operator bool() const { return value_.has_value(); }
  bool ok() const { return value_.has_value(); }
  T& value() {
    if (!value_) throw *error_;
    return *value_;
  }
  T& operator*() { return value(); }
  T* operator->() { return &value(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<T> value_;
  std::optional<Error> error_;
};

// ---- values ----

template <class T, class = void>
struct Convert;  // below: how a C++ type is read from and made into a value

// A value of a context, which it must not outlive. Copying shares it, as values do.
class Value {
 public:
  Value() = default;
  // Takes an owned value.
  Value(posset_context* context, posset_value owned) : context_(context), raw_(owned) {}
  static Value copy(posset_context* context, posset_value view) {
    return {context, posset_retain(view)};
  }
  Value(const Value& other) : context_(other.context_), raw_(posset_retain(other.raw_)) {}
  Value(Value&& other) noexcept
      : context_(other.context_), raw_(std::exchange(other.raw_, posset_value{0, 0})) {}
  Value& operator=(Value other) noexcept {
    std::swap(context_, other.context_);
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Value() { posset_release(raw_); }

  posset_value raw() const { return raw_; }
  posset_value& place() { return raw_; }  // to be changed by the functions of collections.h
  posset_value take() { return std::exchange(raw_, posset_value{0, 0}); }
  posset_context* context() const { return context_; }

  posset_kind kind() const { return posset_kind_of(raw_); }
  bool is_nil() const { return posset_is_nil(raw_); }
  std::string type() const { return std::string(to_view(posset_type_name(context_, raw_))); }
  // As print shows it, or as a literal.
  std::string text(bool literal = false) const {
    std::string out;
    detail::check(context_, posset_print(context_, raw_, literal, detail::append_to_string, &out),
                  "text");
    return out;
  }
  // As a C++ value; throws Error (TypeMismatch) when it is something else.
  template <class T>
  T to() const;
  template <class T>
  bool is() const {
    T ignored{};
    return Convert<T>::from(context_, raw_, ignored);
  }

  // Elements of a list, map or range; fields of a record.
  uint64_t size() const { return posset_count_items(raw_); }
  Value operator[](uint64_t index) const { return copy(context_, posset_list_at(raw_, index)); }
  // A field, or the value of a key; nil when there is none.
  Value operator[](std::string_view name) const;

  // Calls it; throws Error.
  template <class... Args>
  Value operator()(Args&&... args) const;
  template <class... Args>
  Result<Value> try_call(Args&&... args) const {
    try {
      return (*this)(std::forward<Args>(args)...);
    } catch (const Error& error) {
      return error;
    }
  }

  friend bool operator==(const Value& a, const Value& b) { return posset_equal(a.raw_, b.raw_); }

 private:
  posset_context* context_ = nullptr;
  posset_value raw_ = {0, 0};
};

// Each conversion has `name`, for messages; `from`, which gives false when the value is something
// else; and `to`, which makes an owned value.
template <>
struct Convert<bool> {
  static constexpr const char* name = "bool";
  static bool from(posset_context*, const posset_value& v, bool& out) {
    out = posset_as_bool(v);
    return posset_is_bool(v);
  }
  static posset_status to(posset_context*, bool b, posset_value* out) {
    *out = posset_bool(b);
    return POSSET_OK;
  }
};
template <class T>
struct Convert<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
  static constexpr const char* name = "int";
  static bool from(posset_context*, const posset_value& v, T& out) {
    if (!posset_is_int(v)) return false;
    int64_t i = posset_as_int(v);
    out = static_cast<T>(i);
    return static_cast<int64_t>(out) == i && (out < T{}) == (i < 0);
  }
  static posset_status to(posset_context*, T i, posset_value* out) {
    if (std::is_unsigned_v<T> && static_cast<uint64_t>(i) > uint64_t{INT64_MAX})
      return POSSET_MISUSE;
    *out = posset_int(static_cast<int64_t>(i));
    return POSSET_OK;
  }
};
template <class T>
struct Convert<T, std::enable_if_t<std::is_floating_point_v<T>>> {
  static constexpr const char* name = "number";
  static bool from(posset_context*, const posset_value& v, T& out) {
    if (!posset_is_number(v)) return false;
    out = static_cast<T>(posset_as_number(v));
    return true;
  }
  static posset_status to(posset_context*, T d, posset_value* out) {
    *out = posset_float(static_cast<double>(d));
    return POSSET_OK;
  }
};
template <>
struct Convert<std::string_view> {
  static constexpr const char* name = "str";
  // The view is good as long as `v`, the variable, is: for arguments, during the call.
  static bool from(posset_context*, const posset_value& v, std::string_view& out) {
    out = to_view(posset_string_text(&v));
    return posset_is(v, POSSET_STR);
  }
  static posset_status to(posset_context* context, std::string_view text, posset_value* out) {
    return posset_string(context, to_text(text), out);
  }
};
template <>
struct Convert<std::string> {
  static constexpr const char* name = "str";
  static bool from(posset_context*, const posset_value& v, std::string& out) {
    out = to_view(posset_string_text(&v));
    return posset_is(v, POSSET_STR);
  }
  static posset_status to(posset_context* context, const std::string& text, posset_value* out) {
    return posset_string(context, to_text(text), out);
  }
};
template <>
struct Convert<const char*> {
  static constexpr const char* name = "str";
  static posset_status to(posset_context* context, const char* text, posset_value* out) {
    return posset_string(context, posset_text_of(text), out);
  }
};
template <>
struct Convert<Value> {
  static constexpr const char* name = "any";
  static bool from(posset_context* context, const posset_value& v, Value& out) {
    out = Value::copy(context, v);
    return true;
  }
  static posset_status to(posset_context*, Value value, posset_value* out) {
    *out = value.take();
    return POSSET_OK;
  }
};
template <class T>
struct Convert<std::vector<T>> {
  static constexpr const char* name = "list";
  static bool from(posset_context* context, const posset_value& v, std::vector<T>& out) {
    if (!posset_is(v, POSSET_LIST)) return false;
    out.clear();
    out.reserve(posset_list_size(v));
    for (uint64_t i = 0; i < posset_list_size(v); ++i) {
      posset_value item = posset_list_at(v, i);
      T element{};
      if (!Convert<T>::from(context, item, element)) return false;
      out.push_back(std::move(element));
    }
    return true;
  }
  static posset_status to(posset_context* context, const std::vector<T>& items, posset_value* out) {
    posset_status status = posset_list(context, items.size(), out);
    for (size_t i = 0; status == POSSET_OK && i < items.size(); ++i) {
      posset_value item = posset_nil();
      status = Convert<T>::to(context, items[i], &item);
      if (status == POSSET_OK) status = posset_list_push(context, out, item);
      if (status != POSSET_OK) posset_release(std::exchange(*out, posset_nil()));
    }
    return status;
  }
};

namespace detail {

// Convert for what a caller writes: string literals are const char*, references are what they refer
// to.
template <class T>
using ConvertOf = Convert<std::decay_t<T>>;

template <class T>
T read(posset_context* context, const posset_value& v, const char* what) {
  T out{};
  if (Convert<T>::from(context, v, out)) return out;
  char shown[128];
  posset_brief(context, v, 60, shown, sizeof shown);
  std::string message = std::string(what) + ": expected " + Convert<T>::name + ", got " +
                        std::string(to_view(posset_type_name(context, v))) + " (" + shown + ")";
  check(context, posset_raise(context, POSSET_ERROR_TypeMismatch, to_text(message)), what);
  return out;
}

// Arguments on their way into a call: those already made are released when a later one fails.
template <size_t N>
struct Arguments {
  posset_value values[N == 0 ? 1 : N] = {};
  ~Arguments() { posset_release_all(values, N); }
};

inline Value invoke(posset_context* context, posset_value function, posset_value* arguments,
                    size_t count) {
  posset_value result = posset_nil();
  check(context, posset_invoke(context, function, arguments, count, &result), "call");
  return {context, result};
}

template <class... Args>
Value call(posset_context* context, posset_value function, Args&&... args) {
  Arguments<sizeof...(Args)> made;
  size_t i = 0;
  (check(context, ConvertOf<Args>::to(context, std::forward<Args>(args), &made.values[i++]),
         "argument"),
   ...);
  return invoke(context, function, made.values, sizeof...(Args));
}

}  // namespace detail

template <class T>
T Value::to() const {
  static_assert(!std::is_same_v<T, std::string_view>,
                "the bytes may stand inside the value: use std::string");
  return detail::read<T>(context_, raw_, "value");
}

inline Value Value::operator[](std::string_view name) const {
  posset_value found = posset_nil();
  if (posset_field(context_, raw_, to_text(name), &found)) return copy(context_, found);
  posset_value key = posset_nil();
  detail::check(context_, posset_string(context_, to_text(name), &key), "key");
  Value owner(context_, key);
  posset_map_find(raw_, key, &found);
  return copy(context_, found);
}

template <class... Args>
Value Value::operator()(Args&&... args) const {
  return detail::call(context_, raw_, std::forward<Args>(args)...);
}

// A script function with the signature of a C++ one: `posset::Function<double(double, int64_t)>`.
template <class Signature>
class Function;
template <class R, class... Args>
class Function<R(Args...)> {
 public:
  Function() = default;
  explicit Function(Value function) : function_(std::move(function)) {}
  // Throws Error, also when the result is something else than an R.
  R operator()(Args... args) const {
    Value result = detail::call(function_.context(), function_.raw(), std::forward<Args>(args)...);
    if constexpr (!std::is_void_v<R>) {
      return detail::read<R>(result.context(), result.raw(), "result");
    }
  }
  auto try_call(Args... args) const -> Result<std::conditional_t<std::is_void_v<R>, Value, R>> {
    try {
      if constexpr (std::is_void_v<R>) {
        return detail::call(function_.context(), function_.raw(), std::forward<Args>(args)...);
      } else {
        return (*this)(std::forward<Args>(args)...);
      }
    } catch (const Error& error) {
      return error;
    }
  }
  const Value& value() const { return function_; }

 private:
  Value function_;
};

// ---- host functions ----

// Marks a host function as pure: no effect, and the result depends on nothing but the arguments.
template <class F>
struct Pure {
  F function;
};
template <class F>
Pure<std::decay_t<F>> pure(F&& function) {
  return {std::forward<F>(function)};
}

namespace detail {

template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class... Args>
struct Signature<R (*)(Args...)> {
  using Result = R;
  using Arguments = std::tuple<std::decay_t<Args>...>;
};
template <class C, class R, class... Args>
struct Signature<R (C::*)(Args...) const> : Signature<R (*)(Args...)> {};
template <class C, class R, class... Args>
struct Signature<R (C::*)(Args...)> : Signature<R (*)(Args...)> {};
template <class C, class R, class... Args>
struct Signature<R (C::*)(Args...) const noexcept> : Signature<R (*)(Args...)> {};

// What a script calls: reads the arguments, calls the C++ function, and lets no exception out.
template <class F>
struct Trampoline {
  using Result = typename Signature<F>::Result;
  using Arguments = typename Signature<F>::Arguments;
  static constexpr size_t kCount = std::tuple_size_v<Arguments>;

  static posset_status entry(posset_call* call) noexcept {
    try {
      return run(call, std::make_index_sequence<kCount>());
    } catch (const Error& error) {
      if (posset_error* handle = error.take_handle())
        return posset_restore_error(call->context, handle);
      return raise(call, error.what());
    } catch (const std::exception& exception) {
      return raise(call, exception.what());
    } catch (...) {
      return raise(call, "an exception of an unknown type");
    }
  }

 private:
  static posset_status raise(posset_call* call, const char* what) {
    return posset_raise(call->context, POSSET_ERROR_HostError, posset_text_of(what));
  }

  template <size_t... I>
  static posset_status run(posset_call* call, std::index_sequence<I...>) {
    Arguments arguments{};
    posset_status status = POSSET_OK;
    ((status = status == POSSET_OK ? read_one<I>(call, std::get<I>(arguments)) : status), ...);
    if (status != POSSET_OK) return status;
    F& function = *static_cast<F*>(call->data);
    if constexpr (std::is_void_v<Result>) {
      function(std::move(std::get<I>(arguments))...);
      return POSSET_OK;
    } else {
      return ConvertOf<Result>::to(call->context, function(std::move(std::get<I>(arguments))...),
                                   &call->result);
    }
  }

  template <size_t I, class T>
  static posset_status read_one(posset_call* call, T& out) {
    if (Convert<T>::from(call->context, call->arguments[I], out)) return POSSET_OK;
    return posset_raise_kind(call, I, Convert<T>::name);
  }
};

}  // namespace detail

// ---- runtimes, programs, contexts ----

// The options of options.def under their own names; `.size` and the like are the C layer's affair.
struct RuntimeOptions {
#define RUNTIME_OPTION(field, flag, type, fallback, environment, value, help) \
  posset_option_##type field = fallback;
#define CONTEXT_OPTION(field, flag, type, fallback, environment, value, help)
#include "options.def"
#undef RUNTIME_OPTION
#undef CONTEXT_OPTION
  posset_runtime_options raw() const {
    posset_runtime_options options = posset_runtime_defaults();
#define RUNTIME_OPTION(field, flag, type, fallback, environment, value, help) options.field = field;
#define CONTEXT_OPTION(field, flag, type, fallback, environment, value, help)
#include "options.def"
#undef RUNTIME_OPTION
#undef CONTEXT_OPTION
    return options;
  }
};

struct ContextOptions {
#define RUNTIME_OPTION(field, flag, type, fallback, environment, value, help)
#define CONTEXT_OPTION(field, flag, type, fallback, environment, value, help) \
  posset_option_##type field = fallback;
#include "options.def"
#undef RUNTIME_OPTION
#undef CONTEXT_OPTION
  uint32_t grants = 0;  // POSSET_GRANT_...
  const char* read_directory = nullptr;
  const char* write_directory = nullptr;
  posset_context_options raw() const {
    posset_context_options options = posset_context_defaults();
#define RUNTIME_OPTION(field, flag, type, fallback, environment, value, help)
#define CONTEXT_OPTION(field, flag, type, fallback, environment, value, help) options.field = field;
#include "options.def"
#undef RUNTIME_OPTION
#undef CONTEXT_OPTION
    options.grants = grants;
    options.read_directory = read_directory;
    options.write_directory = write_directory;
    return options;
  }
};

// What contexts share: code, built-ins, later threads. Used by any thread.
class Runtime {
 public:
  explicit Runtime(const RuntimeOptions& options = {}) {
    posset_runtime_options raw = options.raw();
    posset_runtime* made = nullptr;
    posset_status status = posset_default_runtime(&raw, &made);
    if (status != POSSET_OK) throw Misuse(status, "runtime");
    runtime_.reset(made);
  }
  // Takes a runtime put together by hand (attach.h).
  explicit Runtime(posset_runtime* owned) : runtime_(owned) {}
  posset_runtime* handle() const { return runtime_.get(); }

 private:
  detail::Owned<posset_runtime> runtime_;
};

// A loaded program. Must not outlive its context.
class Program {
 public:
  Program(posset_context* context, posset_program* owned, std::vector<Diagnostic> warnings)
      : context_(context), program_(owned), warnings_(std::move(warnings)) {}
  // Runs the top level; the value of its last expression. Throws Error.
  Value run() {
    posset_value out = posset_nil();
    detail::check(context_, posset_run(program_.get(), &out), "run");
    return {context_, out};
  }
  Result<Value> try_run() {
    try {
      return run();
    } catch (const Error& error) {
      return error;
    }
  }
  // A value or function of its top level.
  template <class T = Value>
  T get(std::string_view name) const {
    posset_value found = posset_nil();
    detail::check(context_, posset_program_get(program_.get(), to_text(name), &found), "get");
    return Value(context_, found).to<T>();
  }
  template <class Signature>
  Function<Signature> function(std::string_view name) const {
    return Function<Signature>(get(name));
  }
  const std::vector<Diagnostic>& warnings() const { return warnings_; }
  posset_program* handle() const { return program_.get(); }

 private:
  posset_context* context_;
  detail::Owned<posset_program> program_;
  std::vector<Diagnostic> warnings_;
};

// An isolated world of globals, modules and limits. One thread at a time, except for `interrupt`.
class Context {
 public:
  explicit Context(const Runtime& runtime, const ContextOptions& options = {}) {
    posset_context_options raw = options.raw();
    posset_context* made = nullptr;
    posset_status status = posset_context_create(runtime.handle(), &raw, &made);
    if (status != POSSET_OK) throw Misuse(status, "context");
    context_.reset(made);
  }
  posset_context* handle() const { return context_.get(); }

  // ---- globals ----
  template <class T>
  void set(std::string_view name, T&& value) {
    posset_value made = posset_nil();
    check(detail::ConvertOf<T>::to(handle(), std::forward<T>(value), &made), "set");
    check(posset_set_global(handle(), to_text(name), made), "set");
  }
  template <class T = Value>
  T get(std::string_view name) const {
    posset_value found = posset_nil();
    check(posset_get_global(handle(), to_text(name), &found), "get");
    return Value(handle(), found).to<T>();
  }

  // ---- host functions ----
  // A lambda or function of numbers, bools, strings, vectors of them, and Values. Impure, unless it
  // is wrapped in posset::pure.
  template <class F>
  void define(const char* name, F function, const char* doc = "") {
    define_row(name, std::move(function), doc, false);
  }
  template <class F>
  void define(const char* name, Pure<F> function, const char* doc = "") {
    define_row(name, std::move(function.function), doc, true);
  }

  // ---- running ----
  template <class T = Value>
  T eval(std::string_view text) {
    posset_value out = posset_nil();
    posset_diagnostics* diagnostics = nullptr;
    posset_status status = posset_eval(handle(), to_text(text), &out, &diagnostics);
    detail::check(handle(), status, diagnostics, "eval");
    return Value(handle(), out).to<T>();
  }
  template <class T = Value>
  Result<T> try_eval(std::string_view text) {
    try {
      return eval<T>(text);
    } catch (const Error& error) {
      return error;
    }
  }
  // An expression whose value is a function, as a typed callable.
  template <class Signature>
  Function<Signature> compile(std::string_view text) {
    return Function<Signature>(eval(text));
  }
  Program load(std::string_view name, std::string_view text) {
    posset_source source = posset_source_of("", to_text(text));
    source.name = source.key = to_text(name);
    posset_program* program = nullptr;
    posset_diagnostics* diagnostics = nullptr;
    posset_status status = posset_load(handle(), &source, &program, &diagnostics);
    std::vector<Diagnostic> warnings;
    if (status == POSSET_OK) warnings = detail::collect(diagnostics);
    detail::check(handle(), status, diagnostics, "load");
    return {handle(), program, std::move(warnings)};
  }
  Value run(std::string_view name, std::string_view text) { return load(name, text).run(); }

  // ---- output, limits ----
  // `write(std::string_view)`, which may give a bool: false when it cannot write.
  template <class Write>
  void set_output(Write write) {
    auto* kept = new Write(std::move(write));
    check(posset_set_data(handle(), output_key<Write>(), kept, drop<Write>), "output");
    posset_write entry = [](void* data, const char* text, size_t size) -> bool {
      try {
        if constexpr (std::is_void_v<decltype((*static_cast<Write*>(data))(std::string_view()))>) {
          (*static_cast<Write*>(data))(std::string_view(text, size));
          return true;
        } else {
          return (*static_cast<Write*>(data))(std::string_view(text, size));
        }
      } catch (...) {
        return false;
      }
    };
    check(posset_context_set_output(handle(), entry, kept), "output");
  }
  void set_options(const ContextOptions& options) {
    posset_context_options raw = options.raw();
    check(posset_context_set_options(handle(), &raw), "options");
  }
  void interrupt() noexcept { posset_interrupt(handle()); }
  posset_statistics statistics() const {
    posset_statistics out = {};
    out.size = sizeof out;
    check(posset_context_statistics(handle(), &out), "statistics");
    return out;
  }

 private:
  void check(posset_status status, const char* what) const {
    detail::check(handle(), status, what);
  }
  template <class T>
  static void drop(void* data) {
    delete static_cast<T*>(data);
  }
  template <class Write>
  static const void* output_key() {
    static const char key = 0;
    return &key;
  }

  template <class F>
  void define_row(const char* name, F function, const char* doc, bool is_pure) {
    using Trampoline = detail::Trampoline<F>;
    std::string signature = std::string(name) + "(";
    for (size_t i = 0; i < Trampoline::kCount; ++i) {
      signature += (i ? ", " : "") + std::string(1, static_cast<char>('a' + i % 26));
    }
    signature += ")";
    posset_function_row row = {};
    row.name = name;
    row.signature = signature.c_str();
    row.doc = doc;
    row.min_arguments = row.max_arguments = static_cast<uint32_t>(Trampoline::kCount);
    row.pure = is_pure;
    row.function = Trampoline::entry;
    row.data = new F(std::move(function));
    check(posset_define(handle(), &row, sizeof row, drop<F>), name);
  }

  detail::Owned<posset_context> context_;
};

}  // namespace posset
