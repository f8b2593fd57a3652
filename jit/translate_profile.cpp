// Stage 1 goes on recording, for stage 2, what bytecode could not see while it recorded: instructions that have not run
// until now note what they meet when they first do. Without that stage 2 would leave code at every branch that is taken
// rarely, be withdrawn and be made again, several times where there are several such branches.
#include "jit/translator.h"

namespace posset::jit {

using bytecode::Seen;

void Translator::note_first_run(uint32_t pc) {
  static_assert(Seen::kRan == uint64_t{1} << 63, "the sign");
  if (chunk_.profile[pc].load(std::memory_order_relaxed) & Seen::kRan) return;
  auto* first = cold("first");
  auto* known = block("known");
  llvm::Value* seen = load(b_.getInt64Ty(), symbol(unit_.bindings.profile(chunk_, pc)));
  b_.CreateCondBr(b_.CreateICmpSLT(seen, word(0)), known, first);
  b_.SetInsertPoint(first);
  llvm::Function* note = helper("note", b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy()});
  b_.CreateCall(note, {frame(), pc_address(pc)});
  b_.CreateBr(known);
  go_on_in(known);
}

}  // namespace posset::jit
