// From the bytecode of one unit to a module of LLVM's, which the engine then compiles (engine.h).
#pragma once

#include <memory>
#include <string>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "bytecode/chunk.h"
#include "interp/runtime/reasons.h"

namespace posset::jit {

struct Translation {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::string symbol;  // of the function to enter
};

// Stage 1 or 2. Null with `refusal` set: native code cannot do what the unit does.
std::unique_ptr<Translation> translate(const bytecode::Chunk& chunk, int stage, interp::Reason& refusal);

}  // namespace posset::jit
