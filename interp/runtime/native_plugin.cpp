// See native_plugin.h.
#include "interp/runtime/native_plugin.h"

#include <exception>
#include <mimalloc.h>

#include "interp/runtime/context.h"
#include "interp/runtime/native_layout.h"
#include "interp/runtime/trace_events.h"
#include "interp/value/huge_pages.h"
#include "sched/base/plugin.h"

namespace posset::interp {

namespace {

const NativeCodeHead& head_of(const void* code) { return *static_cast<const NativeCodeHead*>(code); }

template <int level>
void* compile(RuntimeState& runtime, const syntax::FunctionDecl& function, int loop, void* below, Refusal& refusal) {
  const NativeFunctions* functions = runtime.native.open(runtime, refusal.reason);
  if (!functions) return nullptr;
  const NativeRequest request{runtime, function, loop, below, level, native_cache(runtime)};
  return functions->compile(request, refusal.cache, refusal.reason);
}

template <int level>
constexpr TierInterface make_tier() {
  TierInterface tier;
  tier.level = level;
  tier.name = level == 2 ? "native" : "optimised";
  tier.prepare = [](RuntimeState& runtime) {
    Reason refusal;
    try {
      runtime.native.open(runtime, refusal);
    } catch (const std::exception&) {
      // Whoever compiles tries again, and says so.
    }
  };
  tier.compile = compile<level>;
  tier.enter = [](Context& context, void* code, Closure* closure, Borrowed* frame) {
    return context.runtime.tier(1)->enter(context, head_of(code).below, closure, frame);
  };
  tier.enter_loop = [](Context& context, void* code, Closure* closure, Borrowed* frame, Value& value) {
    return context.runtime.tier(1)->enter_loop(context, head_of(code).below, closure, frame, value);
  };
  tier.entrance = [](const void* code) { return head_of(code).entrance; };
  tier.inlined = [](const void* code) { return head_of(code).inlined; };
  tier.drop = [](void* code) { head_of(code).functions->drop(code); };
  tier.memory = [](const void* code) { return head_of(code).functions->memory(code); };
  return tier;
}

// The compiler takes some megabytes from the thread that opens it, which is the one that compiles.
void use_huge_pages() {
  void* block = mi_malloc(1);
  if (block) HugePages().use_around(block);
  mi_free(block);
}

}  // namespace

// The threads that compile begin later.
NativePlugin::NativePlugin(std::string file) : file_(std::move(file)) { HugePages::map_segments_whole(); }

void NativePlugin::try_open() {
  auto entry = reinterpret_cast<NativePluginEntry>(sched::plugin_symbol(file_, POSSET_JIT_SYMBOL));
  const NativeFunctions* found = entry ? entry() : nullptr;
  if (found && found->layout == native_layout()) functions_ = found;
}

const NativeFunctions* NativePlugin::open(RuntimeState& runtime, Reason& refusal) {
  std::call_once(once_, [&] {
    const int64_t start_ns = runtime.clock.now_ns();
    use_huge_pages();
    try_open();
    if (!runtime.trace) return;
    runtime.trace->record(static_cast<uint16_t>(TierEvent::native_opened),
                          {functions_ != nullptr, runtime.clock.now_ns() - start_ns});
  });
  if (!functions_) refusal = Reason::no_native_plugin;
  return functions_;
}

std::string native_text(RuntimeState& runtime, const syntax::FunctionDecl& function, int loop, void* below, int level,
                        NativeForm form, Reason& refusal) {
  std::string made;
  const NativeFunctions* functions = runtime.native.open(runtime, refusal);
  if (!functions) return made;
  auto append = [](void* sink, const char* text, size_t size) { static_cast<std::string*>(sink)->append(text, size); };
  if (!functions->describe(runtime, function, loop, below, level, form, append, &made, refusal)) made.clear();
  return made;
}

const TierInterface* native_tier(int level) {
  static constexpr TierInterface kRows[] = {make_tier<2>(), make_tier<3>()};
  return level == 2 || level == 3 ? &kRows[level - 2] : nullptr;
}

}  // namespace posset::interp
