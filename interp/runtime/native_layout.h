// What the core and the native compiler must agree on, as each of them was compiled: see native_plugin.h. A file
// of its own because it needs the types whole.
#pragma once

#include "interp/runtime/context.h"
#include "interp/runtime/native_plugin.h"

namespace posset::interp {

constexpr NativeLayout native_layout() {
  return {kNativeVersion,       sizeof(NativeFunctions), sizeof(Context),
          sizeof(RuntimeState), sizeof(Function),        sizeof(Closure)};
}

}  // namespace posset::interp
