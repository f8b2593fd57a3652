// The functions of the host that a context calls by itself: its output, its loader, its event loop, who watches. A part of
// posset.hpp, which is what to include; Context::set_output and its like are how they get in.
//
// A hook belongs to its context from the moment the C interface has taken it; until then to who sets it, so that nothing is
// lost when the context is busy. One that is set anew goes when the other is in force, and no earlier than it has returned: it
// may be the one that sets the other.
//
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpp_define.hpp"
#include "cpp_error.hpp"
#include "posset.h"

namespace posset::detail {

// Called, replaced and dropped on the thread that uses the context, so it counts without locks.
struct Hook {
  virtual ~Hook() = default;
  posset_context* context = nullptr;  // whose it is
  uint32_t running = 0;               // calls of it, one inside the other
  bool is_replaced = false;           // while it ran
};
template <class F>
struct HookOf final : Hook {
  explicit HookOf(F&& given) : function(std::move(given)) {}
  F function;
};
struct DropHook {
  void operator()(Hook* hook) const {
    if (hook->running == 0) {
      delete hook;
    } else {
      hook->is_replaced = true;
    }
  }
};
using OwnedHook = Owner<Hook, DropHook>;

// One call of a hook.
template <class F>
class HookCall {
 public:
  explicit HookCall(void* data) : hook_(*static_cast<HookOf<F>*>(data)) { ++hook_.running; }
  HookCall(const HookCall&) = delete;
  HookCall& operator=(const HookCall&) = delete;
  ~HookCall() {
    if (--hook_.running == 0 && hook_.is_replaced) delete &hook_;
  }
  F& function() { return hook_.function; }
  posset_context* context() const { return hook_.context; }

 private:
  HookOf<F>& hook_;
};

// Those of one context. What waits stays to its end: other threads may still wake it.
struct Hooks {
  OwnedHook output, progress, loader;
  std::vector<OwnedHook> idles;
};

// What `body` says, true when it says nothing.
template <class Body>
bool answer(Body&& body) {
  if constexpr (std::is_void_v<decltype(body())>) {
    body();
    return true;
  } else {
    return static_cast<bool>(body());
  }
}
// The same, false when it throws.
template <class Body>
bool said(Body&& body) noexcept {
  try {
    return answer(body);
  } catch (...) {
    return false;
  }
}

// What it throws is the error of `print`.
template <class Write>
bool write_output(void* data, const char* text, size_t size) noexcept {
  HookCall<Write> call(data);
  bool is_written = false;
  const posset_status status = guarded(call.context(), [&] {
    is_written = answer([&] { return call.function()(std::string_view(text, size)); });
    return POSSET_OK;
  });
  return status == POSSET_OK && is_written;
}

template <class Watch>
void watch_progress(void* data, const posset_solve_progress* now) noexcept {
  HookCall<Watch> call(data);
  said([&] { static_cast<void>(call.function()(*now)); });
}

template <class Load>
bool load_module(void* data, posset_text from, posset_text path, posset_module_source* answer) noexcept {
  HookCall<Load> call(data);
  try {
    auto found = call.function()(to_view(from), to_view(path));
    if (!found) return false;
    const auto& key = found->key.empty() ? found->name : found->key;
    posset_module_found(answer, to_text(key), to_text(found->name), to_text(found->text));
    return true;
  } catch (const std::exception& why) {
    posset_module_missing(answer, posset_text_of(why.what()));
  } catch (...) {
    posset_module_missing(answer, posset_text_of("an exception of an unknown type"));
  }
  return false;
}

// The host's event loop.
template <class Wait, class Wake>
struct Idle {
  Wait wait;
  Wake wake;
};
template <class Both>
bool wait_idle(void* data, double seconds) noexcept {
  return said([&] { return static_cast<HookOf<Both>*>(data)->function.wait(seconds); });
}
template <class Both>
void wake_idle(void* data) {
  static_cast<HookOf<Both>*>(data)->function.wake();
}

}  // namespace posset::detail
