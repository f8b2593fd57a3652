// Calls whose callee's code takes their place (kinds_call.cpp says which). Each inlined frame has a translator of its own
// that emits into the caller's function; its registers are where the machine would have them, above the
// caller's window, and in variables like all others. Nothing is written for the frame as such until something
// needs it: before a helper runs, the native frame is filled in and the nesting counted; an exit also leaves
// what the frames around own, and goes on in bytecode with all of them.
//
// A step is charged for the call as everywhere. Room for registers and nesting is checked once, where the
// function is entered.
#include <algorithm>
#include <cstddef>

#include "bytecode/exits.h"
#include "interp/runtime/context.h"
#include "jit/translator.h"

namespace posset::jit {

using bytecode::Expected;
using bytecode::NativeFrame;
using interp::Context;

Translator::Translator(Translator& caller, const Kinds& kinds, uint32_t call_pc)
    : chunk_(kinds.chunk()),
      kinds_(&kinds),
      unit_(caller.unit_),
      caller_(&caller),
      call_pc_(call_pc),
      context_(caller.context_),
      module_(caller.module_),
      b_(caller.b_),
      late_(caller.late_),
      function_(caller.function_),
      blocks_(chunk_.size, nullptr),
      strip_(caller.strip_),
      proved_(caller.proved_),
      left_(caller.left_),
      fuel_behind_(caller.fuel_behind_),
      tags_(chunk_.registers, nullptr),
      payloads_(chunk_.registers, nullptr),
      numbers_(chunk_.registers, nullptr) {}

// ---- the call ----

void Translator::inline_call(uint32_t pc, const Insn& insn) {
  const bool itself = calls_itself(pc);
  Translator callee(*this, *kinds_->inlined(pc), pc);
  if (!itself && !begin_proved_call(pc, callee)) {
    require_unit(*kinds_, pc, take_callee(pc, insn, callee), exit_at(pc));
    callee.read_captured();
  }
  begin_steps(pc, callee);
  callee.is_outermost_closure_ = itself;
  callee.registers_ = register_pointer(static_cast<uint16_t>(insn.a + 2));
  callee.after_call_ = block("after");
  callee.take_arguments(insn);
  callee.run_inlined();
  if (!is_charged_) unit_.steps_ahead = 0;
  go_on_in(callee.after_call_);
}

llvm::Value* Translator::closure_called(uint32_t pc, const Insn& insn) {
  // Functions of a module are where they are for good; what a let holds is not.
  if (static_cast<Op>(insn.op) == Op::CallKnown) return closure_of_link(closure(), insn.b);
  const Operand callee = called_by(insn);
  require_function(callee, exit_at(pc));
  return object(callee);
}

// A CallLink or CallValue.
Operand Translator::called_by(const Insn& insn) {
  if (static_cast<Op>(insn.op) == Op::CallValue) return read(insn.b);
  llvm::Value* cell = link_cell(closure(), insn.b);
  return unknown(load_word(cell, 0), load_word(cell, 8));
}

llvm::Value* Translator::link_cell(llvm::Value* closure, uint16_t link) {
  llvm::Value* function = fixed_pointer(closure, offsetof(interp::Closure, function));
  llvm::Value* links = fixed_pointer(function, offsetof(interp::Function, links));
  return fixed_pointer(links, uint64_t{link} * sizeof(void*));
}

llvm::Value* Translator::closure_of_link(llvm::Value* closure, uint16_t link) {
  return fixed_pointer(link_cell(closure, link), offsetof(Borrowed, word1));
}

// What never changes while a closure lives.
llvm::Value* Translator::fixed_pointer(llvm::Value* base, uint64_t offset) {
  return fixed(load(b_.getPtrTy(), word_pointer(base, offset)));
}

void Translator::require_function(const Operand& v, llvm::BasicBlock* otherwise) {
  auto* function = block("function");
  b_.CreateCondBr(b_.CreateICmpEQ(tag_of(v), tag_word(Tag::Fn)), function, otherwise);
  go_on_in(function);
}

// The callee by its unit: closures of one unit have the same code, wherever they were made.
void Translator::require_unit(const Kinds& caller, uint32_t pc, llvm::Value* number, llvm::BasicBlock* otherwise) {
  const std::string wanted = unit_.bindings.unit(caller.inlined(pc)->chunk(), caller.unit_inlined(pc));
  auto* expected = block("expected");
  b_.CreateCondBr(b_.CreateICmpEQ(number, symbol_number(wanted)), expected, otherwise);
  go_on_in(expected);
}

llvm::Value* Translator::unit_number(llvm::Value* closure) {
  llvm::Value* function = fixed_pointer(closure, offsetof(interp::Closure, function));
  const uint64_t to_unit = offsetof(interp::Function, unit) + interp::UnitRef::unit_offset();
  llvm::Value* unit = fixed_pointer(function, to_unit);
  return fixed(load(b_.getInt32Ty(), word_pointer(unit, offsetof(interp::Unit, number))));
}

// Whether the callee is a function of the module that is called again and again: then it is read where the code is
// entered, seven loads that wait for each other. The optimiser would not do so: what a loop may leave before it comes to
// the call might not be there. Not what is linked to inlined functions: before it is known that they are the right ones
// they may have other links. A function that calls itself would save at each call what it has read.
bool Translator::is_read_early(uint32_t pc, const Insn& insn) const {
  if (caller_ || recursive() || static_cast<Op>(insn.op) != Op::CallKnown) return false;
  return std::any_of(loops_.begin(), loops_.end(), [&](const Loop& each) { return each.contains(pc); });
}

// The callee's closure and the number of its unit.
llvm::Value* Translator::take_callee(uint32_t pc, const Insn& insn, Translator& callee) {
  if (!is_read_early(pc, insn)) {
    callee.closure_ = closure_called(pc, insn);
    return unit_number(callee.closure_);
  }
  llvm::IRBuilder<>::InsertPointGuard keep_place(b_);
  b_.SetInsertPoint(function_->getEntryBlock().getTerminator());
  callee.closure_ = closure_of_link(closure(), insn.b);
  return unit_number(callee.closure_);
}

// Of the callee, which this is. Before the step of the call is charged, which may leave the code: so it can be done in
// front of a loop whose callee does not change.
void Translator::read_captured() {
  for (const auto& [number, kind] : kinds_->captured()) {
    if (kind == Kind::Any) continue;
    llvm::BasicBlock* exit = caller_->exit_with(call_pc_, expectation_of_captured(kind, number));
    captured_[number] = require_captured(closure(), number, kind, exit);
  }
}

Operand Translator::require_captured(llvm::Value* closure, uint32_t number, Kind kind, llvm::BasicBlock* otherwise) {
  const Operand v = captured_by(closure, number);
  auto* fits = block("fits");
  b_.CreateCondBr(is(v, kind), fits, otherwise);
  go_on_in(fits);
  return {kind, nullptr, v.payload};
}

Operand Translator::captured_value(uint32_t number) {
  const auto known = captured_.find(number);
  return known != captured_.end() ? known->second : captured_by(closure(), number);
}

Operand Translator::captured_by(llvm::Value* closure, uint32_t number) {
  llvm::Value* from = word_pointer(closure, sizeof(interp::Closure) + uint64_t{number} * sizeof(Borrowed));
  return unknown(fixed(load_word(from, 0)), fixed(load_word(from, 8)));
}

// What only computes is charged for all calls that it makes, at once.
void Translator::begin_steps(uint32_t pc, Translator& callee) {
  callee.is_charged_ = is_charged_;
  if (strip_) return charge_strip_call();
  if (is_charged_) {
    --unit_.steps_ahead;
    return;
  }
  const uint32_t ahead = callee.kinds_->steps_of_calls().value_or(0);
  charge_call(pc, 1 + ahead);
  callee.is_charged_ = ahead != 0;
  unit_.steps_ahead = ahead;
}

// Where the first step is refused the arguments go, as they would with a frame of the callee. A slice may end before several
// steps; if the next has too few of them the limit is near, and bytecode finds out at which of them it is.
void Translator::charge_call(uint32_t pc, uint32_t steps) {
  auto* poll = cold("poll");
  auto* charged = block("charged");
  llvm::Value* left = steps == 1 ? spend(word(1)) : b_.CreateSub(fuel(), word(steps));
  b_.CreateCondBr(b_.CreateICmpSLT(left, word(0)), poll, charged);
  b_.SetInsertPoint(poll);
  llvm::Value* polled = b_.CreateICmpNE(call_poll(), b_.getInt8(0));
  auto* enough = steps == 1 ? charged : cold("enough");
  b_.CreateCondBr(polled, enough, refused_at(pc));
  if (steps != 1) {
    b_.SetInsertPoint(enough);
    llvm::BasicBlock* few = exit_with(pc, Expected::because(Expected::Why::Steps));
    b_.CreateCondBr(b_.CreateICmpSLT(fuel(), word(steps)), few, charged);
  }
  go_on_in(charged);
  if (steps != 1) spend(word(steps));
}

// ---- the callee's frame ----

void Translator::take_arguments(const Insn& insn) {
  for (uint16_t n = 0; n < insn.c; ++n) {
    const auto reg = static_cast<uint16_t>(insn.a + 2 + n);
    const Operand v = caller_->read(reg);
    if (caller_->is_lent(reg)) borrowed_.push_back(n);
    if (cached(n)) {
      keep(n, kinds_->at_leader(0).kinds[n], v);
    } else {
      store_value(register_pointer(n), is_unboxed(v.kind) ? fresh_object(v) : v, Memory::Frame);
    }
  }
}

void Translator::run_inlined() {
  fuel_ = caller_->fuel_;
  find_leaders();
  shape_loops();
  b_.CreateBr(way_to(0));
  for (uint32_t pc = 0; pc < chunk_.size; pc += chunk_.length_at(pc)) instruction(pc);
  if (!b_.GetInsertBlock()->getTerminator()) b_.CreateUnreachable();
}

// As leave() does, with the caller's registers in place of the words returned.
void Translator::leave_inlined(const Insn& insn) {
  const Operand v = read(insn.a);
  const bool consume = insn.x & bytecode::kConsumeA;
  if (!consume || is_borrowed(insn.a)) retain(v);
  release_slots(insn.b, consume ? insn.a : bytecode::kNoRegister);
  const Insn& call = caller_->chunk_.at(call_pc_);
  for (uint32_t slot = 0; slot < call.c && slot < 64; ++slot) {
    if (!(chunk_.inout_mask >> slot & 1)) continue;
    caller_->write(static_cast<uint16_t>(call.a + 2 + slot), read(static_cast<uint16_t>(slot)));
  }
  caller_->write(call.a, v);
  b_.CreateBr(after_call_);
}

// ---- what helpers see ----

llvm::Value* Translator::frame() {
  if (caller_ || fills_frame_late()) fill_frame();
  return native_frame();
}

void Translator::fill_frame() {
  llvm::Value* filled = native_frame();
  auto set = [&](uint64_t offset, llvm::Value* v) { put(v, word_pointer(filled, offset)); };
  set(offsetof(NativeFrame, context), host());
  set(offsetof(NativeFrame, closure), closure());
  set(offsetof(NativeFrame, registers), registers_);
  set(offsetof(NativeFrame, chunk), passed_symbol(unit_.bindings.chunk(chunk_)));
}

llvm::Value* Translator::call_framed(llvm::Function* callee, llvm::ArrayRef<llvm::Value*> arguments) {
  if (!caller_) return b_.CreateCall(callee, arguments);
  llvm::Value* at = word_pointer(host(), offsetof(Context, depth));
  llvm::Value* depth = load(b_.getInt32Ty(), at);
  put(b_.CreateAdd(depth, b_.getInt32(calls_deep())), at);
  llvm::Value* result = b_.CreateCall(callee, arguments);
  put(depth, at);
  return result;
}

// Of both functions, where there are two: it is not known which will be entered.
uint32_t Translator::most_with_forking(uint32_t (Kinds::*count)() const) const {
  const Kinds* forking = versions_ ? (*versions_)[version_].forking.get() : nullptr;
  return std::max((kinds_->*count)(), forking ? (forking->*count)() : 0);
}

llvm::Value* Translator::has_room_inlined() {
  llvm::Value* end = word_pointer(registers_, uint64_t{most_with_forking(&Kinds::extent)} * sizeof(Borrowed));
  llvm::Value* most = load(b_.getPtrTy(), word_pointer(host(), offsetof(Context, stack_end)));
  llvm::Value* depth = depth_here();
  llvm::Value* limit = load(b_.getInt32Ty(), word_pointer(host(), offsetof(Context, depth_limit)));
  llvm::Value* deepest = b_.CreateAdd(depth, b_.getInt32(most_with_forking(&Kinds::depth)));
  return b_.CreateAnd(b_.CreateICmpULE(end, most), b_.CreateICmpULE(deepest, limit));
}

}  // namespace posset::jit
