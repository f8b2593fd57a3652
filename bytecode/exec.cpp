// One function per instruction that does it on the frame of native code, made of the same handlers as the
// machine's loop (vm.cpp).
#include "bytecode/handlers_arith.h"
#include "bytecode/handlers_call.h"
#include "bytecode/handlers_control.h"
#include "bytecode/handlers_data.h"
#include "bytecode/native.h"

namespace posset::bytecode {

namespace {

// These push or leave frames, which a handler can do only inside the machine.
constexpr bool changes_frames(Op op) {
  return is_call(op) || op == Op::Return || op == Op::LoopDone || op == Op::LoopReturn;
}

using Handler = const Insn* (*)(State&, Insn);

template <Handler kHandler>
const Insn* exec(NativeFrame* frame, const Insn* pc) {
  State s{*frame->context,       pc,           frame->registers,
          frame->chunk->constants.data(), frame->closure, frame->chunk,
          frame->place,          frame->shared_cell != 0, frame->registers,
          Borrowed::nil(),       Leave::Failed, false};
  const Insn* next = nullptr;
  try {
    next = kHandler(s, *pc);
  } catch (const std::bad_alloc&) {  // native code does not let it through
    s.cx.raise_no_memory();
  }
  frame->place = s.place;
  frame->shared_cell = s.shared_cell;
  return next;
}

template <Op kOp, Handler kHandler>
constexpr Exec exec_of() {
  if constexpr (changes_frames(kOp)) {
    return nullptr;
  } else {
    return &exec<kHandler>;
  }
}

}  // namespace

const Exec kExec[static_cast<size_t>(Op::kCount)] = {
#define OP(Name, a, b, c, flags, meaning) exec_of<Op::Name, op_##Name>(),
#include "bytecode/opcodes.def"
#undef OP
};

}  // namespace posset::bytecode
