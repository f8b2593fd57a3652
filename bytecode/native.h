// Between bytecode and native code (jit/): how the machine enters native code, and what native code calls.
// Native code runs one frame of the register stack, whose layout is the chunk's own: at every instruction
// that may raise, and at every exit, the registers hold what the machine would have there. Whatever a tier
// does not do itself it leaves to `exec` of that instruction, so the semantics stay in the handlers.
#pragma once

#include "bytecode/chunk.h"
#include "bytecode/vm.h"

namespace posset::bytecode {

// What a native call of a function by itself gives in place of the steps left, where the context has them: the callee has been left
// by an exit or an error; or by an error that has its place in the trace already.
constexpr int64_t kCalleeLeft = -1, kCalleeGone = -2;

// One native activation, in its own native frame. What handlers keep between instructions lives here.
struct NativeFrame {
  Context* context;
  Closure* closure;
  Borrowed* registers;
  Chunk* chunk;
  Borrowed* place;       // as in State
  uint64_t shared_cell;
  NativeFrame* caller;   // of an inlined frame the one around it,
  const Insn* call;      // and the call there
};

// The next, where there is a trace, little stack, or no native code any more.
Borrowed enter_native_otherwise(Context& context, Chunk& chunk, Closure* closure, Borrowed* registers, uint32_t entry);
// Runs the chunk's native code, or its bytecode from that entry if the code has just been taken back.
// The result is owned; Failed: the error is pending. The registers are released either way.
inline Borrowed enter_native(Context& context, Chunk& chunk, Closure* closure, Borrowed* registers, uint32_t entry) {
  const NativeEntry code = chunk.native.load(std::memory_order_acquire);
  if (code && !context.runtime.trace && !context.native.low()) [[likely]] return code(&context, closure, registers, entry);
  return enter_native_otherwise(context, chunk, closure, registers, entry);
}
// How code that did not fail was left.
inline Leave native_leave(const Context& context, const Chunk& chunk) {
  return chunk.is_loop ? static_cast<Leave>(context.native_leave) : Leave::Returned;
}

// ---- what native code calls: see helpers.def ----

// Does one instruction on the frame. The next one; null: it raised.
using Exec = const Insn* (*)(NativeFrame*, const Insn* pc);
// By opcode; null for those that change frames (calls of closures, Return and its kin).
extern const Exec kExec[static_cast<size_t>(Op::kCount)];

#define HELPER(name, result, parameters, meaning) result native_##name parameters;
#include "bytecode/helpers.def"
#undef HELPER

// Every helper and every `exec` ("exec_Add"), for the linker of native code.
const std::vector<interp::Helper>& helpers();

}  // namespace posset::bytecode
