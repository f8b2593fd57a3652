// From a module of LLVM's to an object file in memory: passes, then code generation, as the row of the chosen
// pipeline says. An Emitter keeps what is dear to set up (the target, the pass managers) from module to module;
// it serves one thread at a time, and a process has as many as have compiled at the same time (engine.h).
//
// What never changes between pipelines: floats are exact (no contraction, no reassociation), because the
// interpreter's results must come out to the last bit.
#pragma once

#include <memory>
#include <string>

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Module.h>

namespace posset::jit {

// How much is done for the speed of the code. The rows with the measurements behind them: emitter.cpp.
enum class Pipeline : uint8_t { Quick, Light, Full };
constexpr int kPipelines = 3;
const char* name_of(Pipeline pipeline);

// `wanted`, or Quick where the module is so large that optimising it would take seconds. As the translator made it.
Pipeline affordable(Pipeline wanted, const llvm::Module& module);

// The machine this process runs on, found out once.
struct Machine {
  std::string triple;
  std::string processor;
  std::string features;
};
const Machine& this_machine();

class Emitter {
 public:
  using Object = llvm::SmallVector<char, 0>;

  // Throws std::runtime_error when LLVM has no code generator for this machine.
  explicit Emitter(Pipeline pipeline);
  ~Emitter();
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;

  // The object file of a module, which the passes change. Empty with `problem` set when there is an error in
  // it. May be left by an exception (fatal.h): the Emitter must then not be used or destroyed any more.
  Object object(llvm::Module& module, std::string& problem);

  // The module after the passes, and its code, as text.
  std::string optimised(llvm::Module& module);
  std::string assembly(llvm::Module& module, std::string& problem);

  const llvm::DataLayout& layout() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace posset::jit
