// Evaluating on another thread, in the C++ layer: the options and the future. A part of posset.hpp, which is
// what to include; submit.h says what belongs to whom meanwhile.
//
//   auto future = context.submit<double>(text, {.priority = POSSET_PRIORITY_INTERACTIVE, .deadline_seconds = 2});
//   ...
//   double price = future.get();      // waits; throws posset::Error as eval does
//
//   future.on_done([&](posset_progress how) { queue.post(how); });   // instead of waiting
//
// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "cpp_error.hpp"
#include "cpp_value.hpp"
#include "posset.h"

namespace posset {

struct SubmitOptions {
  posset_priority priority = POSSET_PRIORITY_NORMAL;
  double deadline_seconds = 0;  // 0: none
  double room_seconds = 0;      // how long to wait when too many are waiting
  posset_submit_options raw() const {
    posset_submit_options options = posset_submit_defaults();
    options.priority = priority;
    options.deadline_seconds = deadline_seconds;
    options.room_seconds = room_seconds;
    return options;
  }
};

// What a submitted evaluation will give: a T, or nothing with Future<void>. It holds its context; a Value that
// `get` gives must not outlive that. Letting go of a future leaves the evaluation alone, but one that is pending
// when the context goes is cancelled.
template <class T>
class [[nodiscard]] Future {
 public:
  Future() = default;
  explicit Future(posset_future* owned) : future_(owned) {}

  bool valid() const { return static_cast<bool>(future_); }
  posset_progress progress() const { return posset_future_progress(handle()); }
  void wait() const { posset_future_wait(handle(), -1); }
  // True: it has ended.
  template <class Duration>  // a std::chrono::duration
  bool wait_for(const Duration& time) const {
    using Period = typename Duration::period;
    const double seconds = static_cast<double>(time.count()) * Period::num / Period::den;
    return posset_future_wait(handle(), seconds > 0 ? seconds : 0);
  }
  // Asks only; false: it had ended.
  bool cancel() const { return posset_future_cancel(handle()); }

  // Waits for the end and takes the result, once. Throws Error as the evaluation would have, and Misuse when
  // the context has been put to other use by then.
  T get() {
    wait();
    posset_context* context = posset_future_context(handle());
    posset_value out = posset_nil();
    posset_diagnostics* diagnostics = nullptr;
    const posset_status status = posset_future_take(handle(), &out, &diagnostics);
    detail::check(context, status, diagnostics, "get");
    Value value(context, out);
    if constexpr (!std::is_void_v<T>) return std::move(value).template to<T>();
  }
  auto try_get() -> Result<std::conditional_t<std::is_void_v<T>, Value, T>> {
    return detail::attempt([&] {
      if constexpr (std::is_void_v<T>) {
        get();
        return Value();
      } else {
        return get();
      }
    });
  }

  // What an inout argument of a submitted call has become; waits. Once for all arguments.
  template <class... Args>
  void take_arguments(Args&... to) {
    wait();
    posset_value made[sizeof...(Args) + 1];
    posset_context* context = posset_future_context(handle());
    detail::check(context, posset_future_take_arguments(handle(), made, sizeof...(Args)), "take_arguments");
    Value values[sizeof...(Args) + 1];
    for (size_t i = 0; i < sizeof...(Args); ++i) values[i] = Value(context, made[i]);
    size_t i = 0;
    (set_if_given(to, std::move(values[i++])), ...);
  }

  // Calls f(posset_progress) once, when it has ended: on the thread that ended it, or now. `f` is destroyed
  // afterwards and must not throw; it may use the future and the context if they are still there. A context's
  // end waits for it.
  template <class F>
  void on_done(F&& f) const {
    using Kept = std::decay_t<F>;
    auto* const kept = new Kept(std::forward<F>(f));
    const posset_future_callback call = [](void* data, posset_progress progress) noexcept {
      const detail::Owner<Kept, detail::Delete> owned(static_cast<Kept*>(data));
      (*owned.get())(progress);
    };
    // Taken when it is called, which may be before this returns.
    const posset_status status = posset_future_on_done(handle(), call, kept);
    if (status != POSSET_OK) delete kept;
    detail::check(posset_future_context(handle()), status, "on_done");
  }
  posset_future* handle() const { return future_.get(); }

 private:
  // Arguments that were not inout keep what they have.
  template <class Arg>
  static void set_if_given(Arg& to, Value value) {
    if (!posset_is_nil(value.raw())) to = std::move(value).template to<Arg>();
  }

  detail::Owned<posset_future> future_;
};

namespace detail {

template <class T, class Submit>
Future<T> submit(posset_context* context, const SubmitOptions& options, const char* what, Submit&& submit) {
  const posset_submit_options raw = options.raw();
  posset_future* made = nullptr;
  check(context, submit(&raw, &made), what);
  return Future<T>(made);
}

}  // namespace detail

}  // namespace posset
