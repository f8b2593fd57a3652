// The native compiler as the translator and the plugin see it: modules of LLVM's in, code that runs out. The
// pieces are emitter.h (passes and code generation), linker.h and memory.h.
//
// An Engine knows the helpers its code may call. It is used from any number of threads at the same time: each
// compilation borrows an Emitter of its pipeline, and a new one is made when all are lent. After a fatal error
// of LLVM's (fatal.h) an Engine compiles nothing more; the code it made stays good.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "interp/runtime/tier.h"
#include "jit/emitter.h"
#include "jit/fatal.h"
#include "jit/linker.h"

namespace posset::jit {

struct EngineOptions {
  const Mapper* mapper = &system_mapper();
};

class Engine {
 public:
  // Null with `problem` set when nothing can be compiled here.
  static std::unique_ptr<Engine> create(std::span<const interp::Helper> helpers, const EngineOptions& options,
                                        Problem& problem);
  ~Engine();  // no Code is left
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Gives an empty module the machine's layout, for a translator that asks it for sizes or alignments; compiling
  // sets it in any case. Throws when there is no code generator for this machine.
  void prepare(llvm::Module& module);

  // Code of a module, which is used up. Null with `problem` set.
  std::unique_ptr<Code> compile(llvm::Module& module, Pipeline pipeline, Problem& problem);

  // The two halves of `compile`: an object file, which can be kept and linked in another process, where no code
  // generator is set up for it.
  Emitter::Object emit(llvm::Module& module, Pipeline pipeline, Problem& problem);
  std::unique_ptr<Code> link(llvm::StringRef object, Problem& problem, const Bindings* bindings = nullptr);

  // A module as it leaves the passes, and its code, as text. Uses the module up; empty with `problem` set.
  std::string ir(llvm::Module& module, Pipeline pipeline, Problem& problem);
  std::string assembly(llvm::Module& module, Pipeline pipeline, Problem& problem);

  // Who is told of what is linked from now on, besides those already told: interp::kWatchPerf, kWatchGdb.
  void watch(uint32_t watchers) { watchers_.fetch_or(watchers, std::memory_order_relaxed); }

  // Memory mapped for code now.
  size_t bytes() const { return memory_.bytes(); }

 private:
  Engine(std::span<const interp::Helper> helpers, const EngineOptions& options);
  template <class Body>
  void with_emitter(Pipeline pipeline, Problem& problem, Body&& body);
  std::unique_ptr<Emitter> borrow(Pipeline pipeline);

  Addresses known_;
  CodeMemory memory_;
  std::atomic<bool> broken_{false};
  std::atomic<uint32_t> watchers_{0};
  std::mutex mutex_;
  std::optional<llvm::DataLayout> layout_;                 // guarded by mutex_
  std::vector<std::unique_ptr<Emitter>> idle_[kPipelines];  // guarded by mutex_
};

}  // namespace posset::jit
