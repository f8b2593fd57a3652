// What the shared object exports: the functions of native_plugin.h. Nothing is thrown out of here; the program
// around may have another copy of the C++ library.
#include <mutex>
#include <utility>
#include <vector>

#include "interp/runtime/context.h"
#include "interp/runtime/native_layout.h"
#include "jit/code.h"
#include "jit/engine.h"
#include "jit/translate.h"

namespace posset::jit {

namespace {

using interp::NativeFunctions;
using interp::Reason;
using interp::RuntimeState;

extern const NativeFunctions kFunctions;

Reason reason_of(Failure failure) {
  switch (failure) {
    case Failure::Refused:
      return Reason::executable_refused;
    case Failure::OutOfMemory:
      return Reason::failed;
    case Failure::None:
    case Failure::Fault:
      break;
  }
  return Reason::internal;
}

// The engine of the helpers given; made when first asked for, once. Two runtimes of one program share it; two
// copies of the library in one process have helpers, and engines, of their own.
struct Made {
  const interp::Helper* helpers;
  std::unique_ptr<Engine> engine;  // null: it could not be made
  Problem problem;
};

const Made& engine_of(std::span<const interp::Helper> helpers) {
  static std::mutex mutex;
  // Never destroyed: at the end of the process other threads may still be in it.
  static auto& all = *new std::vector<std::unique_ptr<Made>>;
  std::lock_guard lock(mutex);
  for (const auto& each : all) {
    if (each->helpers == helpers.data()) return *each;
  }
  auto made = std::make_unique<Made>();
  made->helpers = helpers.data();
  made->engine = Engine::create(helpers, EngineOptions{}, made->problem);
  all.push_back(std::move(made));
  return *all.back();
}

// A unit on its way: its module with the engine that is to take it.
struct Prepared {
  Engine* engine = nullptr;
  std::unique_ptr<Translation> translation;  // null: refused
};

Prepared prepare(RuntimeState& runtime, const void* below, int level, Reason& refusal) {
  const interp::TierInterface* bytecode = runtime.tier(1);
  if (!bytecode || !below) {
    refusal = Reason::evicted;  // between the wish for native code and this
    return {};
  }
  if (bytecode->instructions != bytecode::instruction_set()) {
    refusal = Reason::no_native_plugin;  // of another version
    return {};
  }
  const Made& made = engine_of(bytecode->helpers);
  if (!made.engine) {
    refusal = reason_of(made.problem.kind);
    return {};
  }
  made.engine->watch(runtime.options.native_watch);
  const Bodies bodies = [&](uint32_t unit) {
    return static_cast<const bytecode::Chunk*>(bytecode->body_of_unit(runtime, unit));
  };
  return {made.engine.get(), translate(*static_cast<const bytecode::Chunk*>(below), level - 1, bodies,
                                      [&](llvm::Module& module) { made.engine->prepare(module); }, refusal)};
}

// Stage 1 is to be there soon, stage 2 to be fast.
Pipeline pipeline_of(const RuntimeState& runtime, int level) {
  return level == 2 ? Pipeline::Quick : static_cast<Pipeline>(runtime.options.native_passes);
}

void* compile_unit(RuntimeState& runtime, void* below, int level, Reason& refusal) {
  Prepared prepared = prepare(runtime, below, level, refusal);
  if (!prepared.translation) return nullptr;
  Problem problem;
  std::unique_ptr<Code> code = prepared.engine->compile(*prepared.translation->module, pipeline_of(runtime, level), problem);
  if (!code) {
    refusal = reason_of(problem.kind);
    return nullptr;
  }
  auto made = std::make_unique<NativeCode>();
  made->functions = &kFunctions;
  made->below = below;
  made->entrance = {const_cast<void*>(code->entry(prepared.translation->symbol)), prepared.translation->heads};
  made->code = std::move(code);
  made->parts = std::move(prepared.translation->inlined);
  made->inlined = made->parts;
  return made.release();
}

// Runs body(); gives `otherwise`, with `refusal` set, when it throws.
template <class Body, class Result>
Result guarded_call(Reason& refusal, Result otherwise, Body&& body) {
  Problem problem;
  Result result = otherwise;
  if (!guarded(problem, [&] { result = body(); })) refusal = reason_of(problem.kind);
  return result;
}

void* compile(RuntimeState& runtime, const syntax::FunctionDecl&, int, void* below, int level,
              Reason& refusal) noexcept {
  return guarded_call(refusal, static_cast<void*>(nullptr),
                      [&] { return compile_unit(runtime, below, level, refusal); });
}

void drop(void* code) noexcept { delete static_cast<NativeCode*>(code); }

size_t memory(const void* code) noexcept {
  return sizeof(NativeCode) + static_cast<const NativeCode*>(code)->code->bytes();
}

bool describe_unit(RuntimeState& runtime, void* below, int level, interp::NativeForm form,
                   void (*write)(void*, const char*, size_t), void* sink, Reason& refusal) {
  Prepared prepared = prepare(runtime, below, level, refusal);
  if (!prepared.translation) return false;
  Problem problem;
  llvm::Module& module = *prepared.translation->module;
  const std::string text = form == interp::NativeForm::Ir
                               ? prepared.engine->ir(module, pipeline_of(runtime, level), problem)
                               : prepared.engine->assembly(module, pipeline_of(runtime, level), problem);
  if (problem.kind != Failure::None) {
    refusal = reason_of(problem.kind);
    return false;
  }
  write(sink, text.data(), text.size());
  return true;
}

bool describe(RuntimeState& runtime, const syntax::FunctionDecl&, int, void* below, int level, interp::NativeForm form,
              void (*write)(void*, const char*, size_t), void* sink, Reason& refusal) noexcept {
  return guarded_call(refusal, false,
                      [&] { return describe_unit(runtime, below, level, form, write, sink, refusal); });
}

const NativeFunctions kFunctions = [] {
  NativeFunctions functions{};
  functions.layout = interp::native_layout();
  functions.compile = compile;
  functions.drop = drop;
  functions.memory = memory;
  functions.describe = describe;
  return functions;
}();

}  // namespace

}  // namespace posset::jit

extern "C" __attribute__((visibility("default"))) const posset::interp::NativeFunctions* posset_jit_entry() {
  return &posset::jit::kFunctions;
}
