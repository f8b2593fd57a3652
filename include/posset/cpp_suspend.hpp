// Host functions whose calls end later, in the C++ layer. A part of posset.hpp, which is what to include; suspend.h
// says which thread waits and what becomes of a call that is never completed.
//
//   context.define("fetch", posset::suspending([&](posset::Completion done, std::string url) {
//     requests.begin(url, [done](std::string body) { done.complete(std::move(body)); });
//   }));
//
// The function gets its completion first, then the arguments of the call (of a method: the object, then those). What it
// keeps of the arguments it must own: they are gone when it has returned.
//
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cpp_convert.hpp"
#include "cpp_define.hpp"
#include "cpp_error.hpp"
#include "cpp_value.hpp"
#include "posset.h"

namespace posset {

// What a call that has been suspended waits for. Copies stand for the same call; any thread, also when the context is
// gone. When the last copy goes and none was used, the script gets an error that says so.
class Completion {
 public:
  // Takes it.
  explicit Completion(posset_completion* owned) : completion_(Owner(owned)) {}

  // Gives the call its value: anything that can be given to scripts. It is copied, or moved, and becomes a value on the
  // script's thread, where views in it must still be good (but not a text: that is copied) and where it is destroyed; a
  // Value can be given on that thread only. False: nobody waits (any more). Throws Misuse, with the call still to be completed,
  // for an integer beyond those of scripts and a `const char*` that is null.
  template <class T>
  bool complete(T&& value) const {
    using Kept = std::decay_t<T>;
    if constexpr (detail::is_datum<Kept>) {
      posset_datum datum = {};
      if (!detail::fill(value, datum))
        throw Misuse(POSSET_MISUSE, "complete: a null pointer for a text, or an integer of 64 bits and no sign");
      return tell(posset_complete(handle(), &datum));
    } else {
      return tell(posset_complete_with(handle(), convert<Kept>, new Kept(std::forward<T>(value)), drop<Kept>));
    }
  }
  // With nil.
  bool complete() const { return tell(posset_complete(handle(), nullptr)); }
  // Raises that error at the call.
  bool fail(std::string_view message, posset_code code = POSSET_ERROR_HostError) const {
    return tell(posset_complete_error(handle(), code, to_text(message)));
  }
  // False once it was completed, or the script waits no more.
  bool is_wanted() const { return posset_completion_wanted(handle()); }
  posset_completion* handle() const { return completion_->get(); }

 private:
  static bool tell(posset_status status) {
    if (status != POSSET_OK && status != POSSET_NOT_FOUND) throw Misuse(status, "complete");
    return status == POSSET_OK;
  }
  template <class T>
  static posset_status convert(posset_call* call) noexcept {
    return detail::guarded(call->context, [&] {
      return detail::ConvertOf<T>::to(call->context, std::move(*static_cast<T*>(call->data)), &call->result);
    });
  }
  template <class T>
  static void drop(void* data) {
    delete static_cast<T*>(data);
  }

  struct Free {
    void operator()(posset_completion* owned) const { posset_completion_free(owned); }
  };
  using Owner = detail::Owner<posset_completion, Free>;
  detail::Shared<Owner> completion_;
};

// Marks a host function as one whose calls end when their Completion, its first parameter, is completed. Give it to
// Context::define or Type::method.
template <class F>
struct Suspending {
  F function;
};
template <class F>
Suspending<std::decay_t<F>> suspending(F&& function) {
  return {std::forward<F>(function)};
}

namespace detail {

template <class List>
struct BehindFirst;
template <class First, class... Rest>
struct BehindFirst<TypeList<First, Rest...>> {
  static_assert(std::is_same_v<std::decay_t<First>, Completion>,
                "the first parameter of a suspending function is a posset::Completion");
  using List = TypeList<Rest...>;
};

// Suspends the call and goes on with `function`.
template <class F, class... Args>
void begin_suspended(posset_call* call, F& function, Args&&... args) {
  posset_completion* made = nullptr;
  check(call->context, posset_suspend(call, &made), "suspend");
  function(Completion(made), std::forward<Args>(args)...);
}

// What a script calls. The arguments are read first: what is wrong with them is told at once.
template <class F>
struct SuspendingTrampoline {
  using Arguments = typename BehindFirst<typename Signature<F>::Arguments>::List;
  static_assert(std::is_void_v<typename Signature<F>::Result>,
                "a suspending function gives its result to its Completion");

  static posset_status entry(posset_call* call) noexcept {
    return guarded(call->context, [&] {
      auto begin = [&](auto&&... args) {
        begin_suspended(call, *static_cast<F*>(call->data), std::forward<decltype(args)>(args)...);
      };
      return call_with<void>(call, Arguments(), std::make_index_sequence<Arguments::size>(), begin);
    });
  }
};

// The same of a method, whose second parameter is the object.
template <class T, class F>
struct SuspendingMethod {
  using Arguments = typename MethodArguments<F, typename BehindFirst<typename Signature<F>::Arguments>::List>::List;

  static posset_status entry(posset_call* call) noexcept {
    return guarded(call->context, [&] {
      auto begin = [&](auto&&... args) {
        T& object = *static_cast<T*>(call->self);
        begin_suspended(call, *static_cast<F*>(call->data), object, std::forward<decltype(args)>(args)...);
      };
      return call_with<void>(call, Arguments(), std::make_index_sequence<Arguments::size>(), begin);
    });
  }
};

}  // namespace detail

}  // namespace posset
