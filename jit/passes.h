// What is done to a module before code generation, by pipeline, with the analyses that it asks for. Passes are named
// one by one: LLVM's PassBuilder, which takes them as text, knows all that there are: with it the library would be
// a third larger, and the options of all of them registered each time it is opened.
#pragma once

#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>

namespace llvm {
class TargetMachine;
}

namespace posset::jit {

enum class Optimisation : uint8_t { None, Light, Full };

class Passes {
 public:
  // The target must live as long.
  Passes(Optimisation amount, llvm::TargetMachine& target);
  Passes(const Passes&) = delete;
  Passes& operator=(const Passes&) = delete;

  void run(llvm::Module& module);

 private:
  void register_analyses(llvm::TargetMachine& target);

  // They refer to each other: destroyed in the reverse order.
  llvm::LoopAnalysisManager loop_analyses_;
  llvm::FunctionAnalysisManager function_analyses_;
  llvm::ModuleAnalysisManager module_analyses_;
  llvm::ModulePassManager passes_;  // none: nothing is done
};

}  // namespace posset::jit
