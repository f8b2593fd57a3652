// What a native tier's `compile` gives: the linked code of one unit, with how it is entered.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "interp/runtime/native_plugin.h"
#include "jit/linker.h"

namespace posset::jit {

struct NativeCode : interp::NativeCodeHead {
  std::unique_ptr<Code> code;
  std::vector<interp::Inlined> parts;  // what `inlined` shows
  std::vector<interp::NativeDirect> direct;  // what `entrance` shows

  // To be called for each version in their order; without a symbol it has none.
  void add_direct(std::string_view symbol, uint64_t kinds, uint32_t registers, uint32_t depth) {
    direct.push_back({symbol.empty() ? nullptr : const_cast<void*>(code->entry(symbol)), kinds, registers, depth});
    entrance.direct = direct;
  }
};

}  // namespace posset::jit
