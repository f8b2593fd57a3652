// What a function of the host gets: the public part, and behind it the call it stands for.
#pragma once

#include <memory>

#include <posset/function.h>

#include "interp/runtime/native.h"
#include "interp/runtime/suspended_call.h"

namespace posset::api {

struct RunningCall : posset_call {
  interp::NativeCall* native = nullptr;
  std::shared_ptr<interp::SuspendedCall> suspended;  // that it is to wait for, once its function has returned
};

inline interp::NativeCall& native_of(posset_call* call) { return *static_cast<RunningCall*>(call)->native; }

// The function has returned that, and suspended: waits until it is completed; gives what comes of that (suspend.cpp).
posset_status await_completion(RunningCall& running, posset_status status);

}  // namespace posset::api
