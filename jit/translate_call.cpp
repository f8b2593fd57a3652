// Calls and the ways out of a frame. A function is called natively where it has native code and no
// limit is near; what a call must check or charge beyond that is done by the helper, in one place for all tiers.
#include <algorithm>
#include <bit>
#include <cstddef>

#include "bytecode/vm.h"
#include "interp/runtime/context.h"
#include "jit/translator.h"

namespace posset::jit {

namespace {

// A call with so many arguments needs no arranging.
bool takes(const bytecode::Outline::Link& link, uint32_t arguments) {
  return link.kind == syntax::Link::Kind::Function && link.exact && link.count == arguments;
}

}  // namespace

bool Translator::call(uint32_t pc, const Insn& insn) {
  const Op op = static_cast<Op>(insn.op);
  if (plan_.way == Way::Inline && op >= Op::CallKnown && op <= Op::CallValue) {
    inline_call(pc, insn);
    return true;
  }
  switch (op) {
    case Op::CallKnown:
      if (call_known(pc, insn)) return true;
      [[fallthrough]];
    case Op::CallLink:
    case Op::CallValue:
      if (op != Op::CallKnown && std::bit_cast<uint64_t>(chunk_.at(pc + 1)) == 0) {
        direct_call(pc, insn);
        return true;
      }
      flush_operands(pc);
      call_by_helper(pc);
      finish_helper_call(pc, insn);
      return true;
    case Op::Return:
    case Op::LoopDone:
    case Op::LoopReturn: leave(insn); return true;
    default: return false;
  }
}

// False: by the helper.
bool Translator::call_known(uint32_t pc, const Insn& insn) {
  llvm::BasicBlock* after_leaf = calls_itself(pc) && kinds_->has_leaf(pc) ? begin_with_leaf(pc, insn) : nullptr;
  if (!calls_itself(pc) || !call_itself(pc, insn)) {
    settle_arguments(insn);
    if (!takes(chunk_.outline.links[insn.b], insn.c)) return false;
    direct_call(pc, insn);
  }
  if (after_leaf) {
    b_.CreateBr(after_leaf);
    go_on_in(after_leaf);
  }
  return true;
}

void Translator::call_by_helper(uint32_t pc) {
  llvm::Function* callee = helper("call", b_.getInt8Ty(), {b_.getPtrTy(), b_.getPtrTy()});
  give_fuel_back();
  llvm::Value* ok = call_framed(callee, {frame(), pc_address(pc)});
  take_fuel();
  raise_unless(ok, pc);
}

// A function that has native code is called without a detour when no limit is near; everything
// else is the helper's, which charges what this has not.
void Translator::direct_call(uint32_t pc, const Insn& insn) {
  const bool by_kind = version_called(pc, insn).has_value();
  if (!by_kind) flush_operands(pc);
  auto* slow = cold("slow");
  auto* after = block("after");
  const Callee callee = load_callee(insn, slow);
  if (by_kind) {
    auto* by_frame = cold("by_frame");
    call_by_kind(pc, insn, callee, by_frame, after);
    b_.SetInsertPoint(by_frame);
    flush_operands(pc);
  }
  call_by_frame(pc, insn, callee, slow, after);
  b_.SetInsertPoint(slow);
  if (by_kind) flush_operands(pc);
  call_by_helper(pc);
  finish_helper_call(pc, insn);
  b_.CreateBr(after);
  go_on_in(after);
}

// Arguments are in the frame.
void Translator::call_by_frame(uint32_t pc, const Insn& insn, const Callee& callee, llvm::BasicBlock* slow,
                               llvm::BasicBlock* after) {
  llvm::Value* code = acquired(callee.chunk, offsetof(Chunk, native));
  llvm::Value* base = register_pointer(static_cast<uint16_t>(insn.a + 2));
  llvm::Value* depth = b_.CreateAdd(depth_here(), b_.getInt32(calls_deep()));
  llvm::Value* registers = load(b_.getInt32Ty(), word_pointer(callee.chunk, offsetof(Chunk, registers)));
  auto* direct = block("direct");
  b_.CreateCondBr(b_.CreateAnd(b_.CreateIsNotNull(code), has_room(registers, base, depth)), direct, slow);
  go_on_in(direct);
  llvm::Value* arguments[] = {host(), callee.closure, base, b_.getInt32(0)};
  finish_call(pc, insn, enter_callee(code, entry_type(), arguments, depth), after);
}

// Charges the call, which has room.
llvm::Value* Translator::enter_callee(llvm::Value* code, llvm::FunctionType* type, llvm::ArrayRef<llvm::Value*> arguments,
                                      llvm::Value* depth) {
  llvm::Value* to_depth = word_pointer(host(), offsetof(interp::Context, depth));
  spend(word(1));
  give_fuel_back();
  put(b_.CreateAdd(depth, b_.getInt32(1)), to_depth);
  llvm::Value* result = b_.CreateCall(type, code, arguments);
  take_fuel();
  put(b_.CreateSub(depth, b_.getInt32(calls_deep())), to_depth);
  return result;
}

Translator::Callee Translator::load_callee(const Insn& insn, llvm::BasicBlock* slow) {
  const bool known = static_cast<Op>(insn.op) == Op::CallKnown;
  llvm::Value* closure = known ? closure_of_link(this->closure(), insn.b) : fitting_closure(insn, slow);
  llvm::Value* function = load(b_.getPtrTy(), word_pointer(closure, offsetof(interp::Closure, function)));
  llvm::Value* chunk = acquired(function, offsetof(interp::Function, direct_code));
  auto* compiled = block("compiled");
  b_.CreateCondBr(b_.CreateIsNotNull(chunk), compiled, slow);
  go_on_in(compiled);
  return {closure, chunk};
}

// What is called, if it is a closure that takes the call's arguments as they are, else `slow`.
llvm::Value* Translator::fitting_closure(const Insn& insn, llvm::BasicBlock* slow) {
  const Operand callee = called_by(insn);
  auto* closure = block("closure");
  auto* fits = block("fits");
  b_.CreateCondBr(b_.CreateICmpEQ(tag_of(callee), tag_word(Tag::Fn)), closure, slow);
  go_on_in(closure);
  llvm::Value* function = load(b_.getPtrTy(), word_pointer(object(callee), offsetof(interp::Closure, function)));
  b_.CreateCondBr(takes_plainly(function, insn.c), fits, slow);
  go_on_in(fits);
  return object(callee);
}

// A function that takes so many arguments, none of them inout, no fewer and no more.
llvm::Value* Translator::takes_plainly(llvm::Value* function, uint32_t arguments) {
  using interp::Function;
  llvm::Value* parameters = load(b_.getInt32Ty(), word_pointer(function, offsetof(Function, parameter_count)));
  llvm::Value* rest = load(b_.getInt8Ty(), word_pointer(function, offsetof(Function, has_rest)));
  llvm::Value* lent = load_word(function, offsetof(Function, inout_mask));
  llvm::Value* yes = b_.CreateICmpEQ(parameters, b_.getInt32(arguments));
  yes = b_.CreateAnd(yes, b_.CreateICmpEQ(rest, b_.getInt8(0)));
  return b_.CreateAnd(yes, b_.CreateICmpEQ(lent, word(0)));
}

llvm::Value* Translator::acquired(llvm::Value* base, uint64_t offset) {
  llvm::LoadInst* loaded = b_.CreateAlignedLoad(b_.getPtrTy(), word_pointer(base, offset), llvm::Align(8));
  loaded->setAtomic(llvm::AtomicOrdering::Acquire);
  return loaded;
}

// Registers, nesting, steps and native stack.
llvm::Value* Translator::has_room(llvm::Value* registers, llvm::Value* base, llvm::Value* depth) {
  using interp::Context;
  llvm::Value* end = b_.CreateGEP(llvm::ArrayType::get(b_.getInt64Ty(), 2), base, b_.CreateZExt(registers, b_.getInt64Ty()));
  llvm::Value* most = load(b_.getPtrTy(), word_pointer(host(), offsetof(Context, stack_end)));
  llvm::Value* limit = load(b_.getInt32Ty(), word_pointer(host(), offsetof(Context, depth_limit)));
  const uint64_t low = offsetof(Context, native) + sched::StackChain::limit_offset();
  llvm::Value* lowest = load(b_.getPtrTy(), word_pointer(host(), low));
  llvm::Value* yes = b_.CreateICmpULE(end, most);
  yes = b_.CreateAnd(yes, b_.CreateICmpULT(depth, limit));
  yes = b_.CreateAnd(yes, b_.CreateICmpUGE(native_frame(), lowest));
  return b_.CreateAnd(yes, b_.CreateICmpSGT(fuel(), word(0)));
}

void Translator::finish_call(uint32_t pc, const Insn& insn, llvm::Value* result, llvm::BasicBlock* after) {
  llvm::Value* tag = b_.CreateExtractValue(result, 0);
  auto* failed = cold("failed");
  auto* fine = block("fine");
  b_.CreateCondBr(b_.CreateICmpEQ(tag, tag_word(Tag::Failed)), failed, fine);
  go_on_in(fine);
  const Operand given = unknown(tag, b_.CreateExtractValue(result, 1));
  take_back(pc, insn, given);
  write_result(pc, insn, given);
  b_.CreateBr(after);
  b_.SetInsertPoint(failed);
  b_.CreateCall(helper("left", b_.getVoidTy(), {b_.getPtrTy()}), {host()});
  raise(pc, true);
}

// Return gives up the first b registers; a loop's own code leaves the function's as they are.
void Translator::leave(const Insn& insn) {
  if (caller_) return leave_inlined(insn);
  const Op op = static_cast<Op>(insn.op);
  const Operand v = read(insn.a);
  if (op == Op::Return) {
    const bool consume = insn.x & bytecode::kConsumeA;
    if (!consume || is_borrowed(insn.a)) retain(v);
    release_slots(insn.b, consume ? insn.a : bytecode::kNoRegister);
    for (uint64_t mask = chunk_.inout_mask; mask != 0; mask &= mask - 1) {
      flush_slot(static_cast<uint32_t>(std::countr_zero(mask)));
    }
  } else {
    const auto how = op == Op::LoopDone ? bytecode::Leave::LoopDone : bytecode::Leave::LoopReturned;
    llvm::Value* to = word_pointer(host(), offsetof(interp::Context, native_leave));
    put(b_.getInt8(static_cast<uint8_t>(how)), to);
    for (uint32_t slot = 0; slot < chunk_.slots; ++slot) {
      if (kinds_->is_handed_on(slot)) flush_slot(slot);
    }
  }
  return_value(v);
}

void Translator::release_slots(uint16_t count, uint16_t taken) {
  for (uint16_t slot = 0; slot < count; ++slot) {
    if (slot != taken && !is_borrowed(slot)) release(read(slot));
  }
}

// Of a register that outlives the code: an inout parameter, or one that a loop's own code hands on.
void Translator::flush_slot(uint32_t slot) {
  if (cached(slot) && state_.dirty.has(slot) && state_.kinds[slot] != Kind::None) flush(slot, state_.known(slot));
}

}  // namespace posset::jit
