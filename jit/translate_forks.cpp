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

bool Translator::leaves_forks() const {
  for (uint32_t pc = 0; pc < chunk_.size; pc += chunk_.length_at(pc)) {
    if (chunk_.op_at(pc) == Op::Fork) return true;
  }
  return false;
}

llvm::Value* Translator::fork_top() {
  if (forks_) return load(b_.getPtrTy(), forks_);
  return of(Memory::Host, load(b_.getPtrTy(), word_pointer(host(), offsetof(Context, fork_top))));
}

void Translator::set_fork_top(llvm::Value* record) {
  if (forks_) {
    put(record, forks_);
  } else {
    of(Memory::Host, put(record, word_pointer(host(), offsetof(Context, fork_top))));
  }
}

// Where they are in a variable.
void Translator::give_forks_back() {
  of(Memory::Host, put(fork_top(), word_pointer(host(), offsetof(Context, fork_top))));
}

// A handler has dropped those that were left behind its beginning, and what was called had left.
void Translator::take_forks() {
  put(of(Memory::Host, load(b_.getPtrTy(), word_pointer(host(), offsetof(Context, fork_top)))), forks_);
}

// The activation is at hand, the closure would have to be kept so.
uint64_t Translator::fresh_header(uint32_t point) const {
  return ForkRecord::fresh(point) | (activation_ ? ForkRecord::kActivation : 0);
}

// Code that is entered at its beginning only knows what it has left.
bool Translator::may_leave_none() const { return recursive() && chunk_.loop_heads.empty(); }

bool Translator::leave_forks(const Insn& insn) {
  if (caller_) return true;
  settle_loans();
  if (!may_leave_none()) {
    leave_records(insn);
    return true;
  }
  auto* leaves = block("leaves");
  auto* after = block("after");
  llvm::Value* wanted = leaves_here();
  for (uint32_t n = 0; n < insn.b; ++n) {
    llvm::AllocaInst*& left = left_records_[insn.a + n];
    if (!left) left = new_variable(b_.getInt8Ty());
    put(b_.CreateZExt(wanted, b_.getInt8Ty()), left);
  }
  b_.CreateCondBr(wanted, leaves, after);
  go_on_in(leaves);
  leave_records(insn);
  b_.CreateBr(after);
  go_on_in(after);
  return true;
}

void Translator::leave_records(const Insn& insn) {
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
}

bool Translator::take_back_fork(uint32_t pc, const Insn& insn) {
  if (caller_) return true;
  llvm::BasicBlock* none = nullptr;
  if (const auto known = left_records_.find(insn.b); known != left_records_.end()) {
    none = block("none");
    auto* left = block("left");
    b_.CreateCondBr(b_.CreateICmpNE(load(b_.getInt8Ty(), known->second), b_.getInt8(0)), left, none);
    go_on_in(left);
  }
  llvm::Value* record = word_pointer(fork_top(), uint64_t{0} - sizeof(ForkRecord));
  llvm::Value* fresh = b_.CreateICmpEQ(load_word(record, offsetof(ForkRecord, header)), word(fresh_header(insn.b)));
  if (!none) {
    llvm::Value* from = load(b_.getPtrTy(), word_pointer(record, offsetof(ForkRecord, frame)));
    fresh = b_.CreateAnd(fresh, b_.CreateICmpEQ(from, registers_));
  }
  auto* untaken = block("untaken");
  auto* touched = cold("touched");
  b_.CreateCondBr(fresh, untaken, touched);
  b_.SetInsertPoint(touched);
  llvm::Function* ask = helper("untaken", b_.getInt8Ty(), {b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy(), b_.getInt32Ty()});
  llvm::Value* still = b_.CreateCall(ask, {host(), record, registers_, b_.getInt32(insn.b)});
  auto* taken = exit_with(pc, bytecode::Expected::because(bytecode::Expected::Why::Part));
  b_.CreateCondBr(b_.CreateICmpNE(still, b_.getInt8(0)), untaken, taken);
  go_on_in(untaken);
  set_fork_top(record);
  if (!none) return true;
  b_.CreateBr(none);
  go_on_in(none);
  return true;
}

}  // namespace posset::jit
