// Values in the C++ layer: Value, the conversions between C++ types and values, and typed script
// functions. A part of posset.hpp, which is what to include.
//
// A C++ type joins by a specialisation of Convert; those of containers are in cpp_convert.hpp.
//
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cpp_error.hpp"
#include "posset.h"

namespace posset {

class Items;
class Entries;

template <class T, class = void>
struct Convert;  // below: how a C++ type is read from and made into a value

// What something that was read from a value may look into instead of being a copy. A Convert says so by a constant
// `view`; without one it copies. What would be left without what it looks into does not compile.
enum class View : uint8_t {
  None,     // nothing: it is the host's own
  Content,  // what the value refers to: good as long as some Value of that is
  Place,    // the variable with the value, where short strings stand: good as long as that, for arguments the call
};

namespace detail {

template <class T, class = void>
struct HasConvert : std::false_type {};
template <class T>
struct HasConvert<T, std::void_t<decltype(Convert<T>::name)>> : std::true_type {};

// What is a value, though a class: a container, a function, a time, a variant.
template <class T>
concept LooksLikeValue = requires(T& given) {
  typename T::value_type;
  given.begin();
} || requires { typename T::result_type; } || requires {
  typename T::rep;
  typename T::period;
} || requires {
  typename T::clock;
  typename T::duration;
} || requires(const T& given) { given.valueless_by_exception(); };

}  // namespace detail

// Whether scripts may have handles of objects of a class (cpp_host.hpp). What looks like a container of the standard library and has
// no conversion is most likely a mistake, and does not compile as a parameter; a class of your own that only looks so is said to be
// one: `template <> inline constexpr bool posset::is_host_type<Inventory> = true;`
template <class T>
inline constexpr bool is_host_type = std::is_class_v<T> && !detail::LooksLikeValue<T>;

namespace detail {

template <class T>
inline constexpr bool is_host_class = is_host_type<T> && !HasConvert<T>::value;

template <class T, class = void>
inline constexpr View view_of = View::None;
template <class T>
inline constexpr View view_of<T, std::void_t<decltype(Convert<T>::view)>> = Convert<T>::view;

}  // namespace detail

namespace detail {

template <class T>
struct Conversion {
  static_assert(HasConvert<T>::value,
                "no conversion for this type: specialise posset::Convert for a value; give an object of the host as a "
                "std::shared_ptr or std::unique_ptr, or lend it");
  using Type = Convert<T>;
};
// Convert for what a caller writes: string literals are const char*, references are what they refer to.
template <class T>
using ConvertOf = typename Conversion<std::decay_t<T>>::Type;

}  // namespace detail

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
  // As a C++ value; throws Error (TypeMismatch) when it is something else. A span is good as long as this Value, or
  // another of the same list, which nobody changes meanwhile.
  template <class T>
  T to() const&;
  template <class T>
  T to() &&;
  template <class T>
  bool is() const {
    T ignored{};
    return detail::ConvertOf<T>::from(context_, raw_, ignored);
  }

  // How many elements of a list, map or range, fields of a record or variant, characters of a string. Throws Error (TypeMismatch)
  // for what has no size: a number, nil, a function, a channel.
  uint64_t size() const;
  // An element of a list or range; nil beyond its end, and for any other kind.
  Value operator[](uint64_t index) const;
  // A field, or the value of a key; nil when there is none.
  Value operator[](std::string_view name) const;

  // For loops (cpp_items.hpp): the elements of a list or range; the entries of a map, or fields of a record or variant, as pairs of
  // `key` and `value`. Throw Error (TypeMismatch) for anything else.
  Items items() const;
  Entries entries() const;

  // Calls it; throws Error. Objects of the host are lent for the call, as by Function.
  template <class... Args>
  Value operator()(Args&&... args) const;
  template <class... Args>
  Result<Value> try_call(Args&&... args) const {
    return detail::attempt([&] { return (*this)(std::forward<Args>(args)...); });
  }

  friend bool operator==(const Value& a, const Value& b) { return posset_equal(a.raw_, b.raw_); }

 private:
  posset_context* context_ = nullptr;
  posset_value raw_ = {0, 0};
};

// Each conversion has `name`, for messages; `from`, which gives false when the value is something
// else; and `to`, which makes an owned value. One whose `from` gives a view has `view`, too.
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
namespace detail {

template <class T>
constexpr void expect_script_int() {
  static_assert(sizeof(T) <= sizeof(int64_t), "a script's int has 64 bits: pass an int64_t, or a double, or a text");
}
// The ints of scripts that a T holds.
template <class T>
struct IntRange {
  static constexpr int kBits = 8 * static_cast<int>(sizeof(T)) - (std::is_signed_v<T> ? 1 : 0);
  static constexpr int64_t kMost = INT64_MAX >> (kBits < 63 ? 63 - kBits : 0);
  static constexpr int64_t kLeast = std::is_signed_v<T> ? -kMost - 1 : 0;
};
template <class T>
inline constexpr bool is_int = std::is_integral_v<T> && !std::is_same_v<T, bool>;

// Finite, and rounded to a T it is no longer.
template <class T>
constexpr bool is_beyond(double d) {
  if constexpr (sizeof(T) >= sizeof(double)) {
    return false;
  } else {
    constexpr double kEnd = 0x1.ffffffp127;  // what is below rounds to the largest float
    return (d >= kEnd || d <= -kEnd) && d - d == 0;
  }
}

// False: a long double that would become infinite.
template <class T>
bool rounds(T from, double& to) {
  to = static_cast<double>(from);
  return to - to == 0 || from - from != 0;
}

[[gnu::noinline, gnu::cold]] inline posset_status raise_too_large(posset_context* context, uint64_t number) {
  const std::string text = "the host gives " + std::to_string(number) + ", and an int is at most " + std::to_string(INT64_MAX);
  return posset_raise(context, POSSET_ERROR_HostError, to_text(text));
}

// The misuse of a conversion: what the library has to say of an earlier call, and nobody has asked for, is not said of this.
[[gnu::noinline, gnu::cold]] inline posset_status refuse(posset_context* context) {
  if (context) posset_misuse_text(context);
  return POSSET_MISUSE;
}

}  // namespace detail

// What a narrower type does not hold is an error.
template <class T>
struct Convert<T, std::enable_if_t<detail::is_int<T>>> {
  static constexpr const char* name = "int";
  static std::string expected(posset_context*, const posset_value& v) {
    using Range = detail::IntRange<T>;
    return posset_is_int(v) ? "an int from " + std::to_string(Range::kLeast) + " to " + std::to_string(Range::kMost) : name;
  }
  static bool from(posset_context*, const posset_value& v, T& out) {
    detail::expect_script_int<T>();
    if (!posset_is_int(v)) return false;
    int64_t i = posset_as_int(v);
    out = static_cast<T>(i);
    return static_cast<int64_t>(out) == i && (out < T{}) == (i < 0);
  }
  static posset_status to(posset_context* context, T i, posset_value* out) {
    detail::expect_script_int<T>();
    if (std::is_unsigned_v<T> && static_cast<uint64_t>(i) > uint64_t{INT64_MAX})
      return detail::raise_too_large(context, static_cast<uint64_t>(i));
    *out = posset_int(static_cast<int64_t>(i));
    return POSSET_OK;
  }
};
template <class T>
struct Convert<T, std::enable_if_t<std::is_floating_point_v<T>>> {
  static constexpr const char* name = std::is_same_v<T, float> ? "number of the size of a C++ float" : "number";
  // What rounds fits; a number that would become infinite does not.
  static bool from(posset_context*, const posset_value& v, T& out) {
    if (!posset_is_number(v)) return false;
    const double number = posset_as_number(v);
    if (detail::is_beyond<T>(number)) return false;
    out = static_cast<T>(number);
    return true;
  }
  static posset_status to(posset_context* context, T d, posset_value* out) {
    double number = 0;
    if (!detail::rounds(d, number)) return detail::refuse(context);
    *out = posset_float(number);
    return POSSET_OK;
  }
};
template <>
struct Convert<std::string_view> {
  static constexpr const char* name = "str";
  static constexpr View view = View::Place;
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
// A null pointer is no text, and raises; nil is given as nullptr or an empty std::optional.
template <>
struct Convert<const char*> {
  static constexpr const char* name = "str";
  static posset_status to(posset_context* context, const char* text, posset_value* out) {
    if (!text) return posset_raise(context, POSSET_ERROR_HostError, posset_text_of("the host gives a null pointer for a text"));
    return posset_string(context, posset_text_of(text), out);
  }
};
template <>
struct Convert<char*> : Convert<const char*> {};
template <>
struct Convert<Value> {
  static constexpr const char* name = "any";
  static bool from(posset_context* context, const posset_value& v, Value& out) {
    out = Value::copy(context, v);
    return true;
  }
  // A value of another context stays where it is.
  static posset_status to(posset_context* context, Value value, posset_value* out) {
    if (value.context() && value.context() != context) return detail::refuse(context);
    *out = value.take();
    return POSSET_OK;
  }
};
// By its number, which need not be that of an enumerator.
template <class T>
struct Convert<T, std::enable_if_t<std::is_enum_v<T>>> {
  using ReadAs = std::underlying_type_t<T>;
  using Number = Convert<ReadAs>;
  static constexpr const char* name = Number::name;
  static bool from(posset_context* context, const posset_value& v, T& out) {
    std::underlying_type_t<T> number{};
    if (!Number::from(context, v, number)) return false;
    out = static_cast<T>(number);
    return true;
  }
  static posset_status to(posset_context* context, T from, posset_value* out) {
    return Number::to(context, static_cast<std::underlying_type_t<T>>(from), out);
  }
};
template <>
struct Convert<std::nullptr_t> {
  static constexpr const char* name = "nil";
  static bool from(posset_context*, const posset_value& v, std::nullptr_t&) { return posset_is_nil(v); }
  static posset_status to(posset_context*, std::nullptr_t, posset_value* out) {
    *out = posset_nil();
    return POSSET_OK;
  }
};
namespace detail {

// ---- values outside of contexts ----

template <class T>
inline constexpr bool is_datum =
    std::is_arithmetic_v<T> || std::is_null_pointer_v<T> || std::is_convertible_v<const T&, std::string_view>;

// A number, bool, text or nullptr. False: a number that a script's does not hold, or a text that is a null pointer.
template <class T>
bool fill(const T& v, posset_datum& datum) {
  if constexpr (std::is_same_v<T, bool>) {
    datum.kind = POSSET_BOOL;
    datum.of.truth = v;
  } else if constexpr (std::is_integral_v<T>) {
    expect_script_int<T>();
    datum.kind = POSSET_INT;
    datum.of.integer = static_cast<int64_t>(v);
    return std::is_signed_v<T> || datum.of.integer >= 0;
  } else if constexpr (std::is_floating_point_v<T>) {
    datum.kind = POSSET_FLOAT;
    return rounds(v, datum.of.number);
  } else if constexpr (std::is_same_v<T, std::nullptr_t>) {
    datum.kind = POSSET_NIL;
  } else {
    if constexpr (std::is_pointer_v<T>) {
      if (!v) return false;
    }
    datum.kind = POSSET_STR;
    datum.of.text = to_text(v);
  }
  return true;
}


// Throws Error (TypeMismatch); a Value without a context is nil, and Misuse.
[[noreturn, gnu::noinline, gnu::cold]] inline void throw_kind(posset_context* context, const posset_value& v, const char* what,
                                                              const char* expected) {
  const std::string wanted = std::string(what) + ": expected " + expected + ", got ";
  if (context) {
    char shown[128];
    posset_brief(context, v, 60, shown, sizeof shown);
    const std::string message = wanted + std::string(to_view(posset_type_name(context, v))) + " (" + shown + ")";
    check(context, posset_raise(context, POSSET_ERROR_TypeMismatch, to_text(message)), what);
  }
  throw Misuse(POSSET_MISUSE, wanted + "a Value without a context");
}

// ---- what is wrong with a value, for messages ----

// What of a value cannot be read: all of it, or something inside.
struct Misfit {
  posset_value found = posset_nil();
  bool is_inside = false;
  posset_value place = posset_nil();  // its index or key; nil where it is a key itself
  std::string expected;
};

// The name of a conversion; one whose name depends on the runtime has `name_in`.
template <class T>
std::string name_of(posset_context* context) {
  if constexpr (requires { Convert<T>::name_in(context); }) {
    return Convert<T>::name_in(context);
  } else {
    return Convert<T>::name;
  }
}
// What a conversion expects in place of `v`: its name, or, where it has `expected`, what is more to the point. One that has
// `ReadAs` expects what that does.
template <class T>
std::string expected(posset_context* context, const posset_value& v) {
  if constexpr (requires { typename Convert<T>::ReadAs; }) {
    return expected<typename Convert<T>::ReadAs>(context, v);
  } else if constexpr (requires { Convert<T>::expected(context, v); }) {
    return Convert<T>::expected(context, v);
  } else {
    return name_of<T>(context);
  }
}
// Something that a T cannot be read from; containers look for it inside, by `find_misfit`.
template <class T>
Misfit misfit_of(posset_context* context, const posset_value& v) {
  if constexpr (requires { typename Convert<T>::ReadAs; }) {
    return misfit_of<typename Convert<T>::ReadAs>(context, v);
  } else {
    Misfit found;
    if constexpr (requires { Convert<T>::find_misfit(context, v, found); }) {
      if (Convert<T>::find_misfit(context, v, found)) return found;
    }
    found.found = v;
    found.expected = expected<T>(context, v);
    return found;
  }
}
// Whether `v`, which stands inside of something at `place`, is what cannot be read.
template <class T>
bool is_misfit(posset_context* context, const posset_value& v, const posset_value& place, Misfit& out) {
  std::decay_t<T> read{};
  if (ConvertOf<T>::from(context, v, read)) return false;
  out = {v, true, place, expected<std::decay_t<T>>(context, v)};
  return true;
}

[[noreturn, gnu::noinline, gnu::cold]] inline void throw_inside(posset_context* context, const posset_value& v, const Misfit& misfit,
                                                                const char* what) {
  std::string where = std::string(what) + ": a key";
  if (!posset_is_nil(misfit.place)) {
    char shown[128];
    posset_brief(context, misfit.place, 60, shown, sizeof shown);
    where = std::string(what) + (posset_is(v, POSSET_MAP) ? ": value at " : ": element ") + shown;
  }
  throw_kind(context, misfit.found, where.c_str(), misfit.expected.c_str());
}
template <class T>
[[noreturn, gnu::noinline, gnu::cold]] void throw_misfit(posset_context* context, const posset_value& v, const char* what) {
  const Misfit misfit = misfit_of<T>(context, v);
  if (misfit.is_inside && context) throw_inside(context, v, misfit, what);
  throw_kind(context, v, what, misfit.expected.c_str());
}

template <class T>
T read(posset_context* context, const posset_value& v, const char* what) {
  T out{};
  if (!ConvertOf<T>::from(context, v, out)) throw_misfit<T>(context, v, what);
  return out;
}

// Arguments on their way into a call: those already made are released when a later one fails.
template <size_t N>
struct Arguments {
  posset_value values[N == 0 ? 1 : N] = {};
  ~Arguments() { posset_release_all(values, N); }
};

[[noreturn, gnu::noinline, gnu::cold]] inline void throw_empty_call() {
  throw Misuse(POSSET_MISUSE, "call", "the posset::Function or Value is empty");
}

// What is no float, owned, or there is nothing.
[[gnu::noinline, gnu::cold]] inline double number_of(posset_context* context, posset_status status, const posset_value& result) {
  if (!context) throw_empty_call();
  check(context, status, "call");
  const Value owner(context, result);
  return read<double>(context, owner.raw(), "result");
}

template <class... Zeros>
posset_number compute(posset_context* context, posset_value function, size_t count, posset_value* other, Zeros... numbers) {
  if constexpr (sizeof...(Zeros) < 8) {
    return compute(context, function, count, other, numbers..., 0.0);
  } else {
    return posset_compute(context, function, count, other, numbers...);
  }
}

// A call with numbers only, in processor registers if it can be. What is not set beforehand is set where it is read.
template <class... Args>
double invoke_numbers(posset_context* context, posset_value function, Args... args) {
  if constexpr (sizeof...(Args) <= 8) {
    posset_value other;
    const posset_number made = compute(context, function, sizeof...(Args), &other, static_cast<double>(args)...);
    return made.kind == POSSET_FLOAT ? made.number : number_of(context, made.status, other);
  } else {
    const double numbers[] = {static_cast<double>(args)...};
    posset_value result = posset_nil();
    const posset_status status = posset_invoke_numbers(context, function, numbers, sizeof...(Args), &result);
    return number_of(context, status, result);
  }
}

// Numbers that a column has for parameters of type T, and results: double or int64_t; void: no column can be made of such.
template <class T>
using ColumnNumber = std::conditional_t<
    std::is_floating_point_v<T>, double,
    std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int64_t, void>>;

// Numbers that stand one behind the other: a vector, an array, a span.
template <class C, class T>
concept ColumnOf = requires(const C& column) {
  { column.data() } -> std::convertible_to<const ColumnNumber<std::decay_t<T>>*>;
  { column.size() } -> std::convertible_to<size_t>;
};

inline posset_column column_of(const double* numbers) { return {numbers, POSSET_FLOAT}; }
inline posset_column column_of(const int64_t* numbers) { return {numbers, POSSET_INT}; }

template <class... Numbers, class Out>
void invoke_columns(posset_context* context, posset_value function, Out* out, size_t rows, const Numbers*... columns) {
  if (!context) throw_empty_call();
  if constexpr (std::is_same_v<Out, double> && (std::is_same_v<Numbers, double> && ...)) {
    const double* const all[] = {columns...};
    check(context, posset_invoke_columns(context, function, all, sizeof...(Numbers), out, rows, nullptr), "call");
  } else {
    const posset_column all[] = {column_of(columns)...};
    const posset_kind kind = column_of(out).kind;
    check(context, posset_invoke_mixed_columns(context, function, all, sizeof...(Numbers), kind, out, rows, nullptr), "call");
  }
}

inline Value invoke(posset_context* context, posset_value function, posset_value* arguments,
                    size_t count) {
  posset_value result = posset_nil();
  check(context, posset_invoke(context, function, arguments, count, &result), "call");
  return {context, result};
}

// ---- objects of the host as arguments (cpp_host.hpp) ----

// Is an argument the host's own object, `T&` or `T*`, which is lent for the call?
template <class A>
inline constexpr bool is_lent =
    std::is_pointer_v<std::decay_t<A>>
        ? is_host_class<std::remove_cv_t<std::remove_pointer_t<std::decay_t<A>>>>
        : std::is_lvalue_reference_v<A> && is_host_class<std::decay_t<A>>;

template <class T>
posset_status make_lent(posset_context* context, T* object, posset_value* out);
inline void end_loan(posset_context* context, posset_value handle) noexcept;

// What is lent to a call, until it has returned.
template <size_t N>
struct Lent {
  Value handles[N];
  size_t count = 0;
  template <class T>
  posset_status lend(posset_context* context, T* object, posset_value* out) {
    static_assert(!std::is_const_v<T>, "scripts may change an object that they are lent: pass one that is not const");
    const posset_status status = make_lent(context, object, out);
    if (status == POSSET_OK) handles[count++] = Value::copy(context, *out);
    return status;
  }
  template <class A>
  posset_status make(posset_context* context, A&& argument, posset_value* out) {
    if constexpr (!is_lent<A>) {
      return ConvertOf<A>::to(context, std::forward<A>(argument), out);
    } else if constexpr (std::is_pointer_v<std::decay_t<A>>) {
      return argument ? lend(context, argument, out) : POSSET_OK;
    } else {
      return lend(context, &argument, out);
    }
  }
  ~Lent() {
    for (size_t i = 0; i < count; ++i) end_loan(handles[i].context(), handles[i].raw());
  }
};
template <>
struct Lent<0> {
  template <class A>
  posset_status make(posset_context* context, A&& argument, posset_value* out) {
    return ConvertOf<A>::to(context, std::forward<A>(argument), out);
  }
};

template <class... Args>
Value call(posset_context* context, posset_value function, Args&&... args) {
  if (!context) throw_empty_call();
  [[maybe_unused]] Lent<(size_t{is_lent<Args>} + ... + 0)> lent;
  Arguments<sizeof...(Args)> made;
  size_t i = 0;
  (check(context, lent.make(context, std::forward<Args>(args), &made.values[i++]), "argument"), ...);
  return invoke(context, function, made.values, sizeof...(Args));
}

}  // namespace detail

template <class T>
T Value::to() const& {
  static_assert(detail::view_of<T> != View::Place,
                "the bytes may stand inside the value: take a std::string");
  return detail::read<T>(context_, raw_, "value");
}
template <class T>
T Value::to() && {
  static_assert(detail::view_of<T> == View::None,
                "a view into a value that is gone at once: keep the Value, or take a std::string, std::vector or posset::Handle");
  return detail::read<T>(context_, raw_, "value");
}

inline uint64_t Value::size() const {
  switch (kind()) {
    case POSSET_LIST:
    case POSSET_MAP:
    case POSSET_RANGE:
      return posset_count_items(raw_);
    case POSSET_RECORD:
    case POSSET_VARIANT:
      return posset_field_count(raw_);
    case POSSET_STR:
      return posset_string_length(raw_);
    default:
      detail::throw_kind(context_, raw_, "size", "list, map, range, record, variant or str");
  }
}

inline Value Value::operator[](uint64_t index) const {
  int64_t first = 0, step = 0;
  uint64_t count = 0;
  if (!posset_range_ints(raw_, &first, &step, &count)) return copy(context_, posset_list_at(raw_, index));
  // Without signs, as a range may be longer than an int64_t counts.
  const uint64_t at = static_cast<uint64_t>(first) + static_cast<uint64_t>(step) * index;
  return {context_, index < count ? posset_int(static_cast<int64_t>(at)) : posset_nil()};
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

// A script function with the signature of a C++ one: `posset::Function<double(double, int64_t)>`. An object of the host that it takes as
// `T&` or `T*` is lent for the call: afterwards what the script has kept of it is closed.
template <class Signature>
class Function;
template <class R, class... Args>
class Function<R(Args...)> {
  static_assert(detail::view_of<std::decay_t<R>> == View::None,
                "a view into a result that is gone at once: let the function give a Value, std::string, std::vector or posset::Handle");
  static_assert(!std::is_reference_v<R>, "a script function gives no references: let it give a value, or a posset::Handle of an object");

 public:
  Function() = default;
  explicit Function(Value function) : function_(std::move(function)) {}
  // Throws Error, also when the result is something else than an R.
  R operator()(Args... args) const {
    if constexpr (sizeof...(Args) != 0 && (std::is_floating_point_v<Args> && ...) && std::is_same_v<R, double>) {
      return detail::invoke_numbers(function_.context(), function_.raw(), args...);
    }
    Value result = detail::call(function_.context(), function_.raw(), std::forward<Args>(args)...);
    if constexpr (!std::is_void_v<R>) {
      return detail::read<R>(result.context(), result.raw(), "result");
    }
  }
  // Of a function of numbers: out[i] becomes what it gives for the i-th number of each column, in one evaluation. A parameter
  // that is a floating-point number takes a column of double, one that is an integer a column of int64_t, and so
  // for the result, double or int64_t. All have the same length, or Misuse is thrown. Columns and `out` are vectors, arrays or
  // spans of the host: they are read and written where they stand, and `out` may be one of the columns. Throws Error at the
  // first row that raises or does not give such a number: the rows before are done.
  template <class Out, class... Columns>
    requires(sizeof...(Columns) == sizeof...(Args) && sizeof...(Args) != 0 &&
             (std::is_same_v<R, double> || std::is_same_v<R, int64_t>) && (detail::ColumnOf<Columns, Args> && ...))
  void map_into(Out&& out, const Columns&... columns) const {
    const size_t rows = out.size();
    if (((static_cast<size_t>(columns.size()) != rows) || ...)) throw Misuse(POSSET_MISUSE, "columns of different lengths");
    R* const results = out.data();
    detail::invoke_columns<detail::ColumnNumber<std::decay_t<Args>>...>(function_.context(), function_.raw(), results, rows,
                                                                       columns.data()...);
  }
  // The number of rows, or the error of the first that has none.
  template <class Out, class... Columns>
  Result<size_t> try_map_into(Out&& out, const Columns&... columns) const {
    return detail::attempt([&] {
      map_into(out, columns...);
      return static_cast<size_t>(out.size());
    });
  }
  auto try_call(Args... args) const -> Result<std::conditional_t<std::is_void_v<R>, Value, R>> {
    return detail::attempt([&] {
      if constexpr (std::is_void_v<R>) {
        return detail::call(function_.context(), function_.raw(), std::forward<Args>(args)...);
      } else {
        return (*this)(std::forward<Args>(args)...);
      }
    });
  }
  const Value& value() const { return function_; }

 private:
  Value function_;
};

}  // namespace posset
