// Calls and the ways out of a frame.
#include <cstddef>

#include "bytecode/vm.h"
#include "interp/runtime/context.h"
#include "jit/translator.h"

namespace posset::jit {

bool Translator::call(uint32_t pc, const Insn& insn) {
  switch (static_cast<Op>(insn.op)) {
    case Op::CallKnown:
    case Op::CallLink:
    case Op::CallValue: {
      llvm::Function* callee = helper("call", b_.getInt8Ty(), {b_.getPtrTy(), b_.getPtrTy()});
      raise_unless(b_.CreateCall(callee, {frame_, pc_address(pc)}), pc);
      return true;
    }
    case Op::Return:
    case Op::LoopDone:
    case Op::LoopReturn: leave(insn); return true;
    default: return false;
  }
}

void Translator::release_registers(llvm::Value* first, llvm::Value* count) {
  b_.CreateCall(helper("release", b_.getVoidTy(), {b_.getPtrTy(), b_.getInt64Ty()}), {first, count});
}

// Return gives up the first b registers; a loop's own code leaves the function's as they are.
void Translator::leave(const Insn& insn) {
  const Op op = static_cast<Op>(insn.op);
  const Operand v = read(insn.a);
  if (op == Op::Return) {
    if (insn.x & bytecode::kConsumeA) {
      write(insn.a, unknown(tag_word(Tag::Nil), word(0)));
    } else {
      retain(v);
    }
    if (insn.b != 0) release_registers(registers_, word(insn.b));
  } else {
    const auto how = op == Op::LoopDone ? bytecode::Leave::LoopDone : bytecode::Leave::LoopReturned;
    llvm::Value* to = word_pointer(host_, offsetof(interp::Context, native_leave));
    b_.CreateStore(b_.getInt8(static_cast<uint8_t>(how)), to);
  }
  llvm::Value* words[] = {tag_of(v), v.payload};
  b_.CreateAggregateRet(words, 2);
}

}  // namespace posset::jit
