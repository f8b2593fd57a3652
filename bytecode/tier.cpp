// Tier 1 as the core sees it. See interp/runtime/tier.h.
#include <algorithm>
#include <cassert>

#include "bytecode/compiler.h"
#include "bytecode/native.h"
#include "bytecode/slow.h"
#include "bytecode/vm.h"
#include "interp/runtime/tier.h"
#include "posset/attach.h"

namespace posset::bytecode {

namespace {

void* compile_unit(interp::RuntimeState& runtime, const syntax::FunctionDecl& function, int loop,
                   void* /*below*/, interp::Refusal& refusal) {
  return compile(runtime, function, loop, refusal).release();
}

bool has_registers(Context& context, const Chunk& chunk, const Borrowed* frame) {
  return frame + chunk.registers <= context.stack_end;
}

Value enter(Context& context, void* code, Closure* closure, Borrowed* frame) {
  auto* chunk = static_cast<Chunk*>(code);
  if (!has_registers(context, *chunk, frame)) {
    drop_arguments(*closure->function, frame);
    context.raise_stack_overflow();
    context.blame_caller();
    return Value::failure();
  }
  if (chunk->entry.load(std::memory_order_acquire) == &kEnterNative) {
    return Value::adopt(enter_native(context, *chunk, closure, frame, 0));
  }
  Value result;
  if (run(context, chunk, closure, frame, result) == Leave::Failed) return Value::failure();
  return result;
}

// What a loop's own variables are left with is taken over by whoever comes next in their places.
[[maybe_unused]] bool holds_nothing(const Chunk& chunk, const Borrowed* frame) {
  return std::none_of(frame + chunk.first_local, frame + std::max<uint32_t>(chunk.first_local, chunk.slots),
                      [](Borrowed v) { return v.is_heap(); });
}

interp::LoopExit enter_loop(Context& context, void* code, Closure* closure, Borrowed* frame, Value& value) {
  auto* chunk = static_cast<Chunk*>(code);
  if (!has_registers(context, *chunk, frame)) return interp::LoopExit::NoRoom;
  const Leave how = run(context, chunk, closure, frame, value);
  assert(holds_nothing(*chunk, frame));
  switch (how) {
    case Leave::LoopDone: return interp::LoopExit::Finished;
    case Leave::LoopReturned:
    case Leave::Returned: return interp::LoopExit::Returned;
    case Leave::Failed: break;
  }
  return interp::LoopExit::Failed;
}

interp::TierInterface make_tier() {
  interp::TierInterface tier;
  tier.level = 1;
  tier.name = "bytecode";
  tier.compile = compile_unit;
  tier.enter = enter;
  tier.enter_loop = enter_loop;
  tier.drop = [](void* code) { delete static_cast<Chunk*>(code); };
  tier.memory = [](const void* code) { return static_cast<const Chunk*>(code)->memory(); };
  tier.describe = [](const void* code) { return disassemble(*static_cast<const Chunk*>(code)); };
  tier.go_over = [](void* code, interp::NativeEntrance entrance) {
    static_cast<Chunk*>(code)->install(reinterpret_cast<NativeEntry>(entrance.entry), entrance);
  };
  tier.helpers = helpers();
  tier.instructions = instruction_set();
  tier.body_of_unit = [](interp::RuntimeState& runtime, uint32_t number) { return runtime.units.body_code(number); };
  tier.learn = [](void* code, std::span<const void* const> loops, const interp::Signatures& signatures) {
    learn(*static_cast<Chunk*>(code), loops, signatures);
  };
  tier.want_columns = [](void* code) { static_cast<Chunk*>(code)->wants_columns.store(true, std::memory_order_relaxed); };
  tier.types_seen = [](const void* code) { return types_seen(*static_cast<const Chunk*>(code)); };
  return tier;
}

}  // namespace

}  // namespace posset::bytecode

// Made when first asked for: a runtime may be a variable of the host's that is made before this file's.
extern "C" const void* posset_bytecode_tier(void) {
  static const posset::interp::TierInterface tier = posset::bytecode::make_tier();
  return &tier;
}
