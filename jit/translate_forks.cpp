// Fork records (interp/runtime/forks.h). A record refers to the frame, where the inputs are put before it is
// left: whoever takes it up reads them there. That somebody has is seen when it is taken back, and the rest of the
// function runs in bytecode then, which takes the result. It happens to some of the oldest records only. Many more have
// been looked at when a quantum ended, and nobody wanted them: a call finds that out.
//
// Code that is inlined leaves no records: those of the function around it stand for more work. So its instructions do
// nothing, and if it exits between them, the machine finds that the record on top is another's.
//
// The stores have no TBAA tags. Inputs and records are read where the limits are polled, by calls that otherwise touch
// nothing but the context.
#include <cstddef>

#include "bytecode/exits.h"
#include "interp/runtime/forks.h"
#include "jit/translator.h"

namespace posset::jit {

using interp::Context;
using interp::ForkRecord;
using interp::LeftPart;

// Of two functions one does (translate_recursion.cpp).
bool Translator::leaves_records() const { return !caller_ && (!forking_ || function_ == forking_); }

llvm::Value* Translator::fork_top() {
  return of(Memory::Host, load(b_.getPtrTy(), word_pointer(host(), offsetof(Context, fork_top))));
}

void Translator::set_fork_top(llvm::Value* record) {
  of(Memory::Host, put(record, word_pointer(host(), offsetof(Context, fork_top))));
}

// The activation is at hand, the closure would have to be kept so.
uint64_t Translator::fresh_header(uint32_t point) const {
  return ForkRecord::fresh(point) | (activation_ ? ForkRecord::kActivation : 0);
}

bool Translator::leave_forks(const Insn& insn) {
  if (!leaves_records()) return true;
  settle_loans();
  for (uint32_t n = 0; n < insn.b; ++n) {
    for (uint32_t slot : chunk_.outline.forks[insn.a + n]) {
      if (!cached(slot)) continue;
      const Operand v = read(static_cast<uint16_t>(slot));
      llvm::Value* to = register_pointer(static_cast<uint16_t>(slot));
      store_word(to, 0, tag_of(v));
      store_word(to, 8, payload_of(v));
    }
  }
  llvm::Value* record = fork_top();
  for (uint32_t n = insn.b; n-- > 0;) {
    store_word(record, offsetof(ForkRecord, header), word(fresh_header(insn.a + n)));
    put(registers_, word_pointer(record, offsetof(ForkRecord, frame)));
    put(activation_ ? activation_ : closure(), word_pointer(record, offsetof(ForkRecord, closure)));
    record = word_pointer(record, sizeof(ForkRecord));
  }
  set_fork_top(record);
  count_forking_call();
  return true;
}

// The depth of a call follows from its room.
void Translator::count_forking_call() {
  if (!forking_) return;
  auto* enough = cold("enough");
  auto* counted = block("counted");
  llvm::Value* place = word_pointer(host(), offsetof(Context, fork_depth) + offsetof(interp::ForkDepth, calls));
  llvm::Value* left = b_.CreateSub(load(b_.getInt32Ty(), place), b_.getInt32(1));
  put(left, place);
  b_.CreateCondBr(b_.CreateICmpSLT(left, b_.getInt32(0)), enough, counted);
  b_.SetInsertPoint(enough);
  b_.CreateCall(helper("fork_less", b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty()}), {host(), activation_, room_});
  b_.CreateBr(counted);
  go_on_in(counted);
}

// Code that was entered in the middle may not have left one.
bool Translator::take_back_fork(uint32_t pc, const Insn& insn) {
  if (!leaves_records()) return true;
  auto* none = block("none");
  llvm::Value* record = word_pointer(fork_top(), uint64_t{0} - sizeof(ForkRecord));
  llvm::Value* fresh = b_.CreateICmpEQ(load_word(record, offsetof(ForkRecord, header)), word(fresh_header(insn.b)));
  llvm::Value* from = load(b_.getPtrTy(), word_pointer(record, offsetof(ForkRecord, frame)));
  auto* untaken = block("untaken");
  auto* touched = cold("touched");
  b_.CreateCondBr(b_.CreateAnd(fresh, b_.CreateICmpEQ(from, registers_)), untaken, touched);
  b_.SetInsertPoint(touched);
  llvm::Function* ask = helper("left_part", b_.getInt8Ty(), {b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy(), b_.getInt32Ty()});
  auto* taken = exit_with(pc, bytecode::Expected::because(bytecode::Expected::Why::Part));
  llvm::SwitchInst* found = b_.CreateSwitch(b_.CreateCall(ask, {host(), record, registers_, b_.getInt32(insn.b)}), taken);
  found->addCase(b_.getInt8(static_cast<uint8_t>(LeftPart::Untaken)), untaken);
  found->addCase(b_.getInt8(static_cast<uint8_t>(LeftPart::None)), none);
  go_on_in(untaken);
  set_fork_top(record);
  b_.CreateBr(none);
  go_on_in(none);
  return true;
}

llvm::Value* Translator::quanta() { return of(Memory::Host, load_word(host(), offsetof(Context, quanta))); }

// The rounds that are left are divided in bytecode (interp/runtime/rounds.h).
bool Translator::leave_rounds(uint32_t pc, uint16_t begun_in) {
  llvm::Value* wanted = of(Memory::Host, load_word(host(), offsetof(Context, rest_wanted)));
  llvm::Value* begun = payload_of(read(begun_in));
  auto* goes_on = block("goes_on");
  auto* left = exit_with(pc, bytecode::Expected::because(bytecode::Expected::Why::Part));
  b_.CreateCondBr(b_.CreateICmpSLT(begun, wanted), left, goes_on);
  go_on_in(goes_on);
  return true;
}

}  // namespace posset::jit
