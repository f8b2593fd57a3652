// C++ functions for scripts: reading a lambda's signature, and the trampoline that a script calls.
// A part of posset.hpp, which is what to include.
//
// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cpp_error.hpp"
#include "cpp_value.hpp"
#include "posset.h"

namespace posset {

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
      posset_status status = posset_restore_error(call->context, error.handle());
      if (status == POSSET_RAISED) return status;
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

}  // namespace posset
