// What a native tier's `compile` gives: the linked code of one unit, with how it is entered.
#pragma once

#include <memory>
#include <vector>

#include "interp/runtime/native_plugin.h"
#include "jit/linker.h"

namespace posset::jit {

struct NativeCode : interp::NativeCodeHead {
  std::unique_ptr<Code> code;
  std::vector<interp::Inlined> parts;  // what `inlined` shows
};

}  // namespace posset::jit
