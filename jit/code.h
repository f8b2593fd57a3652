// What a native tier's `compile` gives: the linked code of one unit, with how it is entered.
#pragma once

#include <memory>

#include "bytecode/chunk.h"
#include "interp/runtime/native_plugin.h"
#include "jit/linker.h"

namespace posset::jit {

// Native code of a unit. The value comes back in two registers; Tag::Failed means that an error is pending.
using Native = interp::Borrowed (*)(interp::Context* context, interp::Closure* closure, interp::Borrowed* frame,
                                    uint32_t entry);

struct NativeCode : interp::NativeCodeHead {
  std::unique_ptr<Code> code;
  Native entry = nullptr;
  const bytecode::Chunk* chunk = nullptr;  // it was made from; outlives it
};

}  // namespace posset::jit
