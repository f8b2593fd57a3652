// See engine.h.
#include "jit/engine.h"

#include <cmath>
#include <cstring>
#include <utility>

#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "jit/watch.h"

namespace posset::jit {

namespace {

// What code generation itself calls, whatever the translator wrote. Floats that no instruction rounds go to
// the same entry points the interpreter uses.
const interp::Helper kOwn[] = {
    {"memcpy", reinterpret_cast<const void*>(static_cast<void* (*)(void*, const void*, size_t)>(std::memcpy))},
    {"memmove", reinterpret_cast<const void*>(static_cast<void* (*)(void*, const void*, size_t)>(std::memmove))},
    {"memset", reinterpret_cast<const void*>(static_cast<void* (*)(void*, int, size_t)>(std::memset))},
    {"memcmp", reinterpret_cast<const void*>(static_cast<int (*)(const void*, const void*, size_t)>(std::memcmp))},
#define POSSET_LIBM(name) {#name, reinterpret_cast<const void*>(static_cast<double (*)(double)>(std::name))}
    POSSET_LIBM(floor), POSSET_LIBM(ceil), POSSET_LIBM(trunc), POSSET_LIBM(round), POSSET_LIBM(rint),
    POSSET_LIBM(nearbyint), POSSET_LIBM(sqrt),
#undef POSSET_LIBM
    {"fmod", reinterpret_cast<const void*>(static_cast<double (*)(double, double)>(std::fmod))},
};

// Looked at in debug builds only: it costs as much as the quick pipeline.
bool is_sound(const llvm::Module& module, Problem& problem) {
#ifndef NDEBUG
  llvm::raw_string_ostream stream(problem.text);
  if (!llvm::verifyModule(module, &stream)) return true;
  problem.kind = Failure::Fault;
  return false;
#else
  return (void)module, (void)problem, true;
#endif
}

}  // namespace

Engine::Engine(std::span<const interp::Helper> helpers, const EngineOptions& options)
    : memory_(*options.mapper, helpers.empty() ? kOwn[0].address : helpers.front().address) {
  for (const interp::Helper& helper : kOwn) known_[helper.name] = helper.address;
  for (const interp::Helper& helper : helpers) known_[helper.name] = helper.address;
}

Engine::~Engine() = default;

std::unique_ptr<Engine> Engine::create(std::span<const interp::Helper> helpers, const EngineOptions& options,
                                       Problem& problem) {
  catch_fatal_errors();
  std::unique_ptr<Engine> made;
  problem = {};
  guarded(problem, [&] {
    made.reset(new Engine(helpers, options));
    problem = made->memory_.refusal();
  });
  if (problem.kind != Failure::None) made.reset();
  return made;
}

// The first emitter, which whoever asks is about to need, tells the layout.
void Engine::prepare(llvm::Module& module) {
  std::lock_guard lock(mutex_);
  if (!layout_) {
    auto emitter = std::make_unique<Emitter>(Pipeline::Quick);
    layout_ = emitter->layout();
    idle_[static_cast<size_t>(Pipeline::Quick)].push_back(std::move(emitter));
  }
  module.setTargetTriple(this_machine().triple);
  module.setDataLayout(*layout_);
}

std::unique_ptr<Emitter> Engine::borrow(Pipeline pipeline) {
  {
    std::lock_guard lock(mutex_);
    auto& idle = idle_[static_cast<size_t>(pipeline)];
    if (!idle.empty()) {
      std::unique_ptr<Emitter> last = std::move(idle.back());
      idle.pop_back();
      return last;
    }
  }
  return std::make_unique<Emitter>(pipeline);
}

// Runs body(emitter, text), which sets the text when there is an error in the module. An Emitter that was left
// by an exception is given up: not even its destructor may run.
template <class Body>
void Engine::with_emitter(Pipeline pipeline, Problem& problem, Body&& body) {
  problem = {};
  if (broken_.load(std::memory_order_relaxed)) {
    problem = {Failure::Fault, "the native compiler met a fatal error before"};
    return;
  }
  std::unique_ptr<Emitter> emitter;
  std::string text;
  const bool ended = guarded(problem, [&] {
    emitter = borrow(pipeline);
    body(*emitter, text);
    std::lock_guard lock(mutex_);
    idle_[static_cast<size_t>(pipeline)].push_back(std::move(emitter));
  });
  if (!ended) {
    broken_.store(true, std::memory_order_relaxed);
    (void)emitter.release();
  } else if (!text.empty()) {
    problem = {Failure::Fault, std::move(text)};
  }
}

Emitter::Object Engine::emit(llvm::Module& module, Pipeline pipeline, Problem& problem) {
  Emitter::Object made;
  if (!is_sound(module, problem)) return made;
  with_emitter(pipeline, problem, [&](Emitter& emitter, std::string& text) { made = emitter.object(module, text); });
  return made;
}

std::unique_ptr<Code> Engine::link(llvm::StringRef object, Problem& problem, const Bindings* bindings) {
  std::unique_ptr<Code> made;
  problem = {};
  guarded(problem, [&] {
    made = jit::link(object, known_, bindings, memory_, problem);
    const uint32_t watchers = watchers_.load(std::memory_order_relaxed);
    if (made && watchers != 0) made->keep(announce(*made, object, watchers));
  });
  return made;
}

std::unique_ptr<Code> Engine::compile(llvm::Module& module, Pipeline pipeline, Problem& problem) {
  Emitter::Object object = emit(module, pipeline, problem);
  if (object.empty()) return nullptr;
  return link({object.data(), object.size()}, problem);
}

std::string Engine::ir(llvm::Module& module, Pipeline pipeline, Problem& problem) {
  std::string made;
  with_emitter(pipeline, problem, [&](Emitter& emitter, std::string&) { made = emitter.optimised(module); });
  return made;
}

std::string Engine::assembly(llvm::Module& module, Pipeline pipeline, Problem& problem) {
  std::string made;
  with_emitter(pipeline, problem, [&](Emitter& emitter, std::string& text) { made = emitter.assembly(module, text); });
  return made;
}

}  // namespace posset::jit
