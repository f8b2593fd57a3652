// C++ functions for scripts: reading a function's signature, and the trampoline that a script calls.
// A part of posset.hpp, which is what to include.
//
// A parameter of a type that has a Convert is read by it; those at the end that are std::optional need not be given. A reference or
// pointer to any other class is one to a host object (cpp_host.hpp): `Player&` takes a Player, `Player*` also nil.
//
// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cpp_convert.hpp"
#include "cpp_error.hpp"
#include "cpp_value.hpp"
#include "posset.h"

namespace posset {

// Marks a host function, a method or a property as pure: no effect, and the result depends on nothing but the arguments; of
// members, and on an object of which that does not change (host.h).
template <class F>
struct Pure {
  F function;
};
template <class F>
Pure<std::decay_t<F>> pure(F&& function) {
  return {std::forward<F>(function)};
}

// Marks one that calls script functions, and lets the thread do something else while what it calls in a submitted evaluation
// waits: it holds no lock meanwhile (`may_yield` in function.h).
template <class F>
struct Yielding {
  F function;
};
template <class F>
Yielding<std::decay_t<F>> may_yield(F&& function) {
  return {std::forward<F>(function)};
}

namespace detail {

// A function and how it was marked.
template <class F>
struct Unwrapped {
  using Function = F;
  static constexpr bool is_pure = false, may_yield = false;
  static F& of(F& function) { return function; }
};
template <class F>
struct Unwrapped<Pure<F>> : Unwrapped<F> {
  static constexpr bool is_pure = true;
  static auto& of(Pure<F>& wrapped) { return Unwrapped<F>::of(wrapped.function); }
};
template <class F>
struct Unwrapped<Yielding<F>> : Unwrapped<F> {
  static constexpr bool may_yield = true;
  static auto& of(Yielding<F>& wrapped) { return Unwrapped<F>::of(wrapped.function); }
};

// Puts the marks into a row.
template <class Given>
void mark_row(posset_function_row& row) {
  row.pure = Unwrapped<Given>::is_pure;
  row.may_yield = Unwrapped<Given>::may_yield;
}

// ---- signatures ----

template <class... T>
struct TypeList {
  static constexpr size_t size = sizeof...(T);
};

template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class... Args>
struct Signature<R (*)(Args...)> {
  using Result = R;
  using Arguments = TypeList<Args...>;
};
template <class R, class... Args>
struct Signature<R (*)(Args...) noexcept> : Signature<R (*)(Args...)> {};
template <class C, class R, class... Args>
struct Signature<R (C::*)(Args...) const> : Signature<R (*)(Args...)> {};
template <class C, class R, class... Args>
struct Signature<R (C::*)(Args...)> : Signature<R (*)(Args...)> {};
template <class C, class R, class... Args>
struct Signature<R (C::*)(Args...) const noexcept> : Signature<R (*)(Args...)> {};
template <class C, class R, class... Args>
struct Signature<R (C::*)(Args...) noexcept> : Signature<R (*)(Args...)> {};

// The parameters behind the object.
template <class F, class List = typename Signature<F>::Arguments>
struct MethodArguments;
template <class F, class First, class... Rest>
  requires(!std::is_member_function_pointer_v<F>)
struct MethodArguments<F, TypeList<First, Rest...>> {
  using List = TypeList<Rest...>;
};
template <class F, class... All>
  requires std::is_member_function_pointer_v<F>
struct MethodArguments<F, TypeList<All...>> {
  using List = TypeList<All...>;
};

// ---- arguments ----

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

// How many arguments a call has at least: parameters at the end that are optionals need not be given.
template <class... Args>
constexpr size_t count_required(TypeList<Args...>) {
  size_t at = 0, required = 0;
  ((++at, required = is_optional<std::decay_t<Args>> ? required : at), ...);
  return required;
}

// The key of a C++ type's posset_type.
template <class T>
const void* type_key() {
  static const char key = 0;
  return &key;
}
template <class T>
T* object_in(const posset_value& v) {
  const posset_type* type = posset_host_type(v);
  if (!type || posset_type_key(type) != type_key<T>()) return nullptr;
  return static_cast<T*>(posset_host_pointer(v, type));
}
template <class T>
std::string type_name_in(posset_context* context) {
  const posset_type* type = nullptr;
  if (posset_find_type(posset_context_runtime(context), type_key<T>(), &type) != POSSET_OK)
    return "an object of a type that was not registered";
  return std::string(to_view(posset_type_text(type)));
}

// What is wrong with argument i.
[[gnu::noinline, gnu::cold]] inline posset_status raise_found(posset_call* call, uint32_t i, const Misfit& misfit) {
  const char* const expected = misfit.expected.c_str();
  return misfit.is_inside ? posset_raise_element(call, i, misfit.place, misfit.found, expected) : posset_raise_kind(call, i, expected);
}
template <class T>
[[gnu::noinline, gnu::cold]] posset_status raise_misfit(posset_call* call, uint32_t i) {
  if constexpr (requires { typename Convert<T>::ReadAs; }) {
    return raise_misfit<typename Convert<T>::ReadAs>(call, i);
  } else if constexpr (is_int<T>) {
    return posset_raise_range(call, i, IntRange<T>::kLeast, IntRange<T>::kMost);
  } else {
    return raise_found(call, i, misfit_of<T>(call->context, call->arguments[i]));
  }
}

// One argument on its way: read(call, i), then get().
template <class A>
struct ReadArgument {
  using T = std::decay_t<A>;
  static_assert(HasConvert<T>::value,
                "no conversion for this parameter: take host objects by reference or pointer; other types need a posset::Convert");
  T value{};
  // An optional one that was not given stays empty.
  posset_status read(posset_call* call, uint32_t i) {
    if (i >= call->count || Convert<T>::from(call->context, call->arguments[i], value)) return POSSET_OK;
    return raise_misfit<T>(call, i);
  }
  T&& get() { return std::move(value); }
};
// A list of numbers, seen where it stands, or, where it is stored otherwise, in the equal one that takes the argument's place.
inline posset_status want_numbers(posset_call* call, uint32_t i, const double** data, uint64_t* count) {
  return posset_want_floats(call, i, data, count);
}
inline posset_status want_numbers(posset_call* call, uint32_t i, const int64_t** data, uint64_t* count) {
  return posset_want_ints(call, i, data, count);
}
template <class S>
[[gnu::noinline, gnu::cold]] posset_status want_span(posset_call* call, uint32_t i, S& out) {
  typename Convert<S>::Item const* data = nullptr;
  uint64_t count = 0;
  const posset_status status = want_numbers(call, i, &data, &count);
  if (status == POSSET_OK) out = S(data, static_cast<size_t>(count));
  return status;
}
template <class A>
  requires SpanLike<std::decay_t<A>>
struct ReadArgument<A> {
  using T = std::decay_t<A>;
  T value{};
  posset_status read(posset_call* call, uint32_t i) {
    if (Convert<T>::from(call->context, call->arguments[i], value)) return POSSET_OK;
    return want_span(call, i, value);
  }
  T&& get() { return std::move(value); }
};
template <class A>
  requires(is_optional<std::decay_t<A>> && SpanLike<typename std::decay_t<A>::value_type>)
struct ReadArgument<A> {
  using T = std::decay_t<A>;
  T value{};
  posset_status read(posset_call* call, uint32_t i) {
    if (i >= call->count || Convert<T>::from(call->context, call->arguments[i], value)) return POSSET_OK;
    return want_span(call, i, *value);
  }
  T&& get() { return std::move(value); }
};
template <class A>
  requires(std::is_reference_v<A> && is_host_class<std::decay_t<A>>)
struct ReadArgument<A> {
  using T = std::remove_cv_t<std::remove_reference_t<A>>;
  T* object = nullptr;
  posset_status read(posset_call* call, uint32_t i) {
    object = object_in<T>(call->arguments[i]);
    return object ? POSSET_OK : posset_raise_kind(call, i, type_name_in<T>(call->context).c_str());
  }
  T& get() { return *object; }
};
template <class P>
  requires is_host_class<std::remove_cv_t<P>>
struct ReadArgument<P*> : ReadArgument<P&> {
  posset_status read(posset_call* call, uint32_t i) {
    return posset_is_nil(call->arguments[i]) ? POSSET_OK : ReadArgument<P&>::read(call, i);
  }
  P* get() { return this->object; }
};

// ---- calls ----

inline posset_status raise_host_error(posset_context* context, const char* what) {
  return posset_raise(context, POSSET_ERROR_HostError, posset_text_of(what));
}

// Runs what the library has called, and lets no exception out.
template <class Body>
posset_status guarded(posset_context* context, Body&& body) noexcept {
  try {
    return body();
  } catch (const Error& error) {
    const posset_status status = posset_restore_error(context, error.handle());
    return status == POSSET_RAISED ? status : raise_host_error(context, error.what());
  } catch (const std::exception& exception) {
    return raise_host_error(context, exception.what());
  } catch (...) {
    return raise_host_error(context, "an exception of an unknown type");
  }
}

// Reads the arguments, calls `function` with them, and gives the result back.
template <class Result, class... Args, size_t... I, class F>
posset_status call_with(posset_call* call, TypeList<Args...>, std::index_sequence<I...>, F&& function) {
  std::tuple<ReadArgument<Args>...> arguments;
  posset_status status = POSSET_OK;
  ((status = status == POSSET_OK ? std::get<I>(arguments).read(call, I) : status), ...);
  if (status != POSSET_OK) return status;
  if constexpr (std::is_void_v<Result>) {
    function(std::get<I>(arguments).get()...);
    return POSSET_OK;
  } else {
    return ConvertOf<Result>::to(call->context, function(std::get<I>(arguments).get()...), &call->result);
  }
}

// What a script calls.
template <class F>
struct Trampoline {
  using Arguments = typename Signature<F>::Arguments;

  static posset_status entry(posset_call* call) noexcept {
    return guarded(call->context, [&] {
      return call_with<typename Signature<F>::Result>(call, Arguments(), std::make_index_sequence<Arguments::size>(),
                                                      *static_cast<F*>(call->data));
    });
  }
};

// "move(a, b = nil)": C++ does not tell the names of parameters.
inline std::string signature_text(const std::string& name, size_t count, size_t required) {
  std::string text = name + "(";
  for (size_t i = 0; i < count; ++i) {
    text += (i ? ", " : "") + std::string(1, static_cast<char>('a' + i % 26));
    if (i >= required) text += " = nil";
  }
  return text + ")";
}

// What a row says of the arguments; `signature` keeps its text.
template <class List>
void describe_arguments(posset_function_row& row, const char* name, std::string& signature) {
  constexpr size_t kRequired = count_required(List());
  signature = signature_text(name, List::size, kRequired);
  row.name = name;
  row.signature = signature.c_str();
  row.min_arguments = static_cast<uint32_t>(kRequired);
  row.max_arguments = static_cast<uint32_t>(List::size);
}

}  // namespace detail

}  // namespace posset
