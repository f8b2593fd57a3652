// What the shared object exports: the functions of native_plugin.h. Nothing is thrown out of here; the program
// around may have another copy of the C++ library.
#include <mutex>
#include <utility>
#include <vector>

#include "interp/runtime/context.h"
#include "interp/runtime/native_layout.h"
#include "jit/code.h"
#include "jit/engine.h"
#include "jit/keep.h"
#include "jit/translate.h"

namespace posset::jit {

namespace {

using interp::NativeFunctions;
using interp::NativeRequest;
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

// Null with `refusal` set: nothing can be compiled here.
Engine* find_engine(RuntimeState& runtime, const void* below, Reason& refusal) {
  const interp::TierInterface* bytecode = runtime.tier(1);
  if (!bytecode || !below) {
    refusal = Reason::evicted;  // between the wish for native code and this
    return nullptr;
  }
  if (bytecode->instructions != bytecode::instruction_set()) {
    refusal = Reason::no_native_plugin;  // of another version
    return nullptr;
  }
  const Made& made = engine_of(bytecode->helpers);
  if (!made.engine) {
    refusal = reason_of(made.problem.kind);
    return nullptr;
  }
  made.engine->watch(runtime.options.native_watch);
  return made.engine.get();
}

std::unique_ptr<Translation> translated(Engine& engine, RuntimeState& runtime, const void* below, int level,
                                        Reason& refusal) {
  const Bodies bodies = [&](uint32_t unit) {
    return static_cast<const bytecode::Chunk*>(runtime.tier(1)->body_of_unit(runtime, unit));
  };
  return translate(*static_cast<const bytecode::Chunk*>(below), level - 1, bodies,
                   [&](llvm::Module& module) { engine.prepare(module); }, refusal);
}

// Stage 1 is to be there soon, stage 2 to be fast.
Pipeline pipeline_of(const RuntimeState& runtime, int level, const llvm::Module& module) {
  return level == 2 ? Pipeline::Quick : affordable(static_cast<Pipeline>(runtime.options.native_passes), module);
}

std::unique_ptr<NativeCode> make_code(Engine& engine, const NativeRequest& request, interp::CacheUse& cache,
                                      Reason& refusal) {
  recall_profile(request);
  const auto translation = translated(engine, request.runtime, request.below, request.level, refusal);
  if (!translation) return nullptr;
  Problem problem;
  llvm::Module& module = *translation->module;
  const Emitter::Object object = engine.emit(module, pipeline_of(request.runtime, request.level, module), problem);
  translation->gives_floats = !translation->plain.empty() && is_formula(*module.getFunction(translation->plain));
  auto made = std::make_unique<NativeCode>();
  if (!object.empty()) made->code = engine.link({object.data(), object.size()}, problem, &translation->bindings);
  if (!made->code) {
    refusal = reason_of(problem.kind);
    return nullptr;
  }
  made->entrance = {const_cast<void*>(made->code->entry(translation->symbol)), translation->heads};
  for (const Direct& each : translation->direct) made->add_direct(each.symbol, each.kinds, each.registers, each.depth);
  if (!translation->numbers.empty()) made->numbers = const_cast<void*>(made->code->entry(translation->numbers));
  if (!translation->plain.empty()) made->plain = const_cast<void*>(made->code->entry(translation->plain));
  if (translation->gives_floats) made->entrance.formula = made->plain;
  if (!translation->columns.empty()) made->columns = const_cast<void*>(made->code->entry(translation->columns));
  made->for_columns = translation->for_columns;
  for (const Bindings::Part& each : translation->inlined) made->parts.push_back({each.unit, each.chunk});
  keep(request, *translation, {object.data(), object.size()}, cache);
  return made;
}

void* compile_unit(const NativeRequest& request, interp::CacheUse& cache, Reason& refusal) {
  Engine* engine = find_engine(request.runtime, request.below, refusal);
  if (!engine) return nullptr;
  std::unique_ptr<NativeCode> made = find_kept(*engine, request, cache);
  if (!made && !cache.only) made = make_code(*engine, request, cache, refusal);
  if (!made) return nullptr;
  made->functions = &kFunctions;
  made->below = request.below;
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

void* compile(const NativeRequest& request, interp::CacheUse& cache, Reason& refusal) noexcept {
  return guarded_call(refusal, static_cast<void*>(nullptr), [&] { return compile_unit(request, cache, refusal); });
}

void drop(void* code) noexcept { delete static_cast<NativeCode*>(code); }

size_t memory(const void* code) noexcept {
  return sizeof(NativeCode) + static_cast<const NativeCode*>(code)->code->bytes();
}

bool describe_unit(RuntimeState& runtime, void* below, int level, interp::NativeForm form,
                   void (*write)(void*, const char*, size_t), void* sink, Reason& refusal) {
  Engine* engine = find_engine(runtime, below, refusal);
  const auto translation = engine ? translated(*engine, runtime, below, level, refusal) : nullptr;
  if (!translation) return false;
  Problem problem;
  llvm::Module& module = *translation->module;
  const Pipeline pipeline = pipeline_of(runtime, level, module);
  const std::string text = form == interp::NativeForm::Ir ? engine->ir(module, pipeline, problem)
                                                          : engine->assembly(module, pipeline, problem);
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
