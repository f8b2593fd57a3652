// Built-in functions on numbers, in place: see intrinsics.h. What they cannot give exits to bytecode, which raises.
#include <cstddef>

#include <llvm/IR/Intrinsics.h>

#include "interp/runtime/native.h"
#include "jit/intrinsics.h"
#include "jit/translator.h"

namespace posset::jit {

using interp::Intrinsic;

bool Translator::intrinsic(uint32_t pc, const Insn& insn) {
  if (plan_.way != Way::Inline) return false;
  const Intrinsic which = kinds_->intrinsic(pc);
  if (which == Intrinsic::None) return false;
  llvm::Value* function = static_cast<Op>(insn.op) == Op::CallNative ? nullptr : require_native(pc, insn, which);
  const Operand result = is_of_floats(which, insn.c) ? call_of_floats(pc, insn, function) : on_numbers(pc, insn, which);
  // Behind whatever may exit, because bytecode charges it again.
  if (static_cast<Op>(insn.op) == Op::CallValue && (insn.x & bytecode::kCharged)) {
    strip_ ? charge_strip_call() : charge_call(pc, 1);
  }
  write(insn.a, result);
  return true;
}

// Of a value that is called: the function, asked for in front of a strip where it is the same in all rounds.
llvm::Value* Translator::require_native(uint32_t pc, const Insn& insn, Intrinsic which) {
  if (strip_) {
    const auto proved = proved_->natives.find({kinds_, pc});
    if (proved != proved_->natives.end()) return proved->second;
  }
  return require_intrinsic(called_by(insn), which, exit_at(pc));
}

// Another built-in function, or none: `otherwise`.
llvm::Value* Translator::require_intrinsic(const Operand& callee, Intrinsic which, llvm::BasicBlock* otherwise) {
  auto* native = block("native");
  auto* known = block("known");
  b_.CreateCondBr(b_.CreateICmpEQ(tag_of(callee), tag_word(Tag::Builtin)), native, otherwise);
  go_on_in(native);
  llvm::Value* found = fixed(load(b_.getInt8Ty(), word_pointer(object(callee), offsetof(interp::NativeFunction, intrinsic))));
  b_.CreateCondBr(b_.CreateICmpEQ(found, b_.getInt8(static_cast<uint8_t>(which))), known, otherwise);
  go_on_in(known);
  return object(callee);
}

Operand Translator::on_numbers(uint32_t pc, const Insn& insn, Intrinsic which) {
  const auto first = static_cast<uint16_t>(insn.a + 2);
  for (uint16_t n = 0; n < insn.c; ++n) require(pc, static_cast<uint16_t>(first + n), plan_.a);
  const Operand v = read(first);
  switch (which) {
    case Intrinsic::Sqrt: return floating(b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, number_of(v)));
    case Intrinsic::Float: return floating(number_of(v));
    case Intrinsic::Abs: return absolute(pc, v);
    case Intrinsic::Int: return whole(pc, v, llvm::Intrinsic::not_intrinsic);
    case Intrinsic::Floor: return whole(pc, v, llvm::Intrinsic::floor);
    case Intrinsic::Ceil: return whole(pc, v, llvm::Intrinsic::ceil);
    case Intrinsic::Round: return whole(pc, v, llvm::Intrinsic::round);
    case Intrinsic::Clamp: return clamped(pc, v, read(static_cast<uint16_t>(first + 1)), read(static_cast<uint16_t>(first + 2)));
    default: break;
  }
  Operand best = v;
  for (uint16_t n = 1; n < insn.c; ++n) best = better(read(static_cast<uint16_t>(first + n)), best, which == Intrinsic::Max);
  return best;
}

// Of a value (`function`: which) by what it says, else under a name that says nothing to the optimiser: what it knows of the C
// library's functions need not give the same bits.
Operand Translator::call_of_floats(uint32_t pc, const Insn& insn, llvm::Value* function) {
  const auto first = static_cast<uint16_t>(insn.a + 2), second = static_cast<uint16_t>(insn.a + 3);
  require(pc, first, plan_.a);
  if (insn.c == 2) require(pc, second, plan_.c);
  std::vector<llvm::Value*> arguments{number_of(read(first))};
  if (insn.c == 2) arguments.push_back(number_of(read(second)));
  const std::vector<llvm::Type*> types(insn.c, b_.getDoubleTy());
  auto* type = llvm::FunctionType::get(b_.getDoubleTy(), types, false);
  llvm::CallInst* made = b_.CreateCall(type, function ? entry_of_floats(function, insn.c) : linked_of_floats(insn.b, type), arguments);
  made->addFnAttr(llvm::Attribute::NoUnwind);
  made->addFnAttr(llvm::Attribute::WillReturn);
  made->setMemoryEffects(llvm::MemoryEffects::none());
  return floating(made);
}

llvm::Value* Translator::entry_of_floats(llvm::Value* function, uint32_t count) {
  using interp::NativeFunction;
  const uint64_t offset = count == 1 ? offsetof(NativeFunction, of_float) : offsetof(NativeFunction, of_floats);
  return fixed_pointer(function, offset);
}

llvm::Value* Translator::linked_of_floats(uint32_t link, llvm::FunctionType* type) {
  const std::string name = unit_.bindings.of_floats(chunk_, link);
  if (llvm::Function* known = module_->getFunction(name)) return known;
  return llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, *module_);
}

Operand Translator::absolute(uint32_t pc, const Operand& v) {
  if (v.kind == Kind::Float) return floating(b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, as_double(v)));
  llvm::Value* negated = checked(word(0), v.payload, llvm::Intrinsic::ssub_with_overflow, exit_at(pc));
  llvm::Value* below = b_.CreateICmpSLT(v.payload, word(0));
  return {Kind::Int, nullptr, b_.CreateSelect(below, negated, v.payload)};
}

// As float_to_int (interp/runtime/ops.h).
Operand Translator::whole(uint32_t pc, const Operand& v, unsigned rounding) {
  if (v.kind == Kind::Int) return v;
  constexpr double kTwoTo63 = 9223372036854775808.0;
  auto bound = [&](double d) { return llvm::ConstantFP::get(b_.getDoubleTy(), d); };
  llvm::Value* number = as_double(v);
  if (rounding != llvm::Intrinsic::not_intrinsic) number = b_.CreateUnaryIntrinsic(static_cast<llvm::Intrinsic::ID>(rounding), number);
  llvm::Value* fits = b_.CreateAnd(b_.CreateFCmpOGE(number, bound(-kTwoTo63)), b_.CreateFCmpOLT(number, bound(kTwoTo63)));
  auto* inside = block("inside");
  b_.CreateCondBr(fits, inside, exit_at(pc));
  go_on_in(inside);
  return {Kind::Int, nullptr, b_.CreateFPToSI(number, b_.getInt64Ty())};
}

// Of two of one kind; the first when neither is.
Operand Translator::better(const Operand& v, const Operand& best, bool larger) {
  return either(is_beyond(v, best, larger), v, best);
}

// As builtin_clamp: the lower bound is asked for first, and NaN is beyond nothing.
Operand Translator::clamped(uint32_t pc, const Operand& v, const Operand& low, const Operand& high) {
  auto* ordered = block("ordered");
  b_.CreateCondBr(is_beyond(high, low, false), exit_at(pc), ordered);
  go_on_in(ordered);
  return either(is_beyond(v, low, false), low, better(high, v, false));
}

llvm::Value* Translator::is_beyond(const Operand& v, const Operand& limit, bool above) {
  if (v.kind == Kind::Float) {
    llvm::Value* a = as_double(v);
    llvm::Value* b = as_double(limit);
    return above ? b_.CreateFCmpOGT(a, b) : b_.CreateFCmpOLT(a, b);
  }
  return above ? b_.CreateICmpSGT(v.payload, limit.payload) : b_.CreateICmpSLT(v.payload, limit.payload);
}

}  // namespace posset::jit
