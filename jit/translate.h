// From one chunk of bytecode to LLVM IR. What the code does is the chunk's business: the translation repeats
// only guarded fast paths, and leaves every other instruction to `exec` (bytecode/native.h).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "bytecode/chunk.h"
#include "jit/bindings.h"

namespace posset::jit {

// Of a version, see interp::NativeDirect.
struct Direct {
  std::string symbol;  // empty: there is none
  uint64_t kinds = 0;
  uint32_t registers = 0, depth = 0;
};

// The module owns nothing of the context's; whoever compiles it takes both.
struct Translation {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::string symbol;  // of the function to enter, a bytecode::NativeEntry
  std::string numbers;  // of the one that takes numbers (interp::NativeCodeHead); empty: there is none
  std::string plain;    // of the one that only computes; empty: there is none
  std::string columns;  // of the one that does so for rows; likewise
  bool gives_floats = false;  // what only computes has turned out to be a formula (`is_formula`)
  bool for_columns = false;   // `columns` was wanted
  std::vector<Direct> direct;  // by version
  uint64_t heads = 0;  // bit n: it can be entered at loop head n
  Bindings bindings;   // what its symbols mean
  std::vector<Bindings::Part> inlined;
};

// Tells a fresh module what machine it is for.
using Prepare = std::function<void(llvm::Module&)>;

// Tier 1's code of the body of a unit, by its number; null: none.
using Bodies = std::function<const bytecode::Chunk*(uint32_t unit)>;

// Of the function that only computes, when it has been optimised: it always gives a float, and asks for no place to say otherwise
// nor for a frame (interp::NativeEntrance::formula).
bool is_formula(const llvm::Function& plain);

// `stage` 1: for the types seen, in the order of the bytecode, to be compiled as it is. 2: for an optimiser. Null with
// `refusal` set when the chunk is too large for it. Any thread; reads the chunk only, and those it inlines.
std::unique_ptr<Translation> translate(const bytecode::Chunk& chunk, int stage, const Bodies& bodies,
                                       const Prepare& prepare, interp::Reason& refusal);

}  // namespace posset::jit
