// Built-in functions on numbers, in place: see intrinsics.h. What they cannot give exits to bytecode, which raises.
#include <llvm/IR/Intrinsics.h>

#include "jit/intrinsics.h"
#include "jit/translator.h"

namespace posset::jit {

using interp::Intrinsic;

bool Translator::intrinsic(uint32_t pc, const Insn& insn) {
  if (static_cast<Op>(insn.op) != Op::CallNative || plan_.way != Way::Inline) return false;
  if (calls_of_floats(chunk_, insn)) return call_of_floats(pc, insn);
  const Intrinsic which = intrinsic_called(chunk_, insn);
  const auto first = static_cast<uint16_t>(insn.a + 2);
  for (uint16_t n = 0; n < insn.c; ++n) require(pc, static_cast<uint16_t>(first + n), plan_.b);
  Operand result = read(first);
  switch (which) {
    case Intrinsic::Sqrt: result = floating(b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, number_of(result))); break;
    case Intrinsic::Float: result = floating(number_of(result)); break;
    case Intrinsic::Abs: result = absolute(pc, result); break;
    case Intrinsic::Floor: result = whole(pc, result, true); break;
    case Intrinsic::Int: result = whole(pc, result, false); break;
    default:
      for (uint16_t n = 1; n < insn.c; ++n) {
        result = better(read(static_cast<uint16_t>(first + n)), result, which == Intrinsic::Max);
      }
  }
  write(insn.a, result);
  return true;
}

// Under a name that says nothing to the optimiser: what it knows of the C library's functions need not give the same bits.
bool Translator::call_of_floats(uint32_t pc, const Insn& insn) {
  const auto first = static_cast<uint16_t>(insn.a + 2), second = static_cast<uint16_t>(insn.a + 3);
  require(pc, first, plan_.b);
  if (insn.c == 2) require(pc, second, plan_.c);
  std::vector<llvm::Value*> arguments{number_of(read(first))};
  if (insn.c == 2) arguments.push_back(number_of(read(second)));
  const std::vector<llvm::Type*> types(insn.c, b_.getDoubleTy());
  const std::string name = unit_.bindings.of_floats(chunk_, insn.b);
  llvm::Function* called = module_->getFunction(name);
  if (!called) {
    called = llvm::Function::Create(llvm::FunctionType::get(b_.getDoubleTy(), types, false), llvm::Function::ExternalLinkage, name, *module_);
    called->addFnAttr(llvm::Attribute::NoUnwind);
    called->addFnAttr(llvm::Attribute::WillReturn);
    called->setMemoryEffects(llvm::MemoryEffects::none());
  }
  write(insn.a, floating(b_.CreateCall(called, arguments)));
  return true;
}

Operand Translator::absolute(uint32_t pc, const Operand& v) {
  if (v.kind == Kind::Float) return floating(b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, as_double(v)));
  llvm::Value* negated = checked(word(0), v.payload, llvm::Intrinsic::ssub_with_overflow, exit_at(pc));
  llvm::Value* below = b_.CreateICmpSLT(v.payload, word(0));
  return {Kind::Int, nullptr, b_.CreateSelect(below, negated, v.payload)};
}

// As float_to_int (interp/runtime/ops.h).
Operand Translator::whole(uint32_t pc, const Operand& v, bool down) {
  if (v.kind == Kind::Int) return v;
  constexpr double kTwoTo63 = 9223372036854775808.0;
  auto bound = [&](double d) { return llvm::ConstantFP::get(b_.getDoubleTy(), d); };
  llvm::Value* number = as_double(v);
  if (down) number = b_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, number);
  llvm::Value* fits = b_.CreateAnd(b_.CreateFCmpOGE(number, bound(-kTwoTo63)), b_.CreateFCmpOLT(number, bound(kTwoTo63)));
  auto* inside = block("inside");
  b_.CreateCondBr(fits, inside, exit_at(pc));
  go_on_in(inside);
  return {Kind::Int, nullptr, b_.CreateFPToSI(number, b_.getInt64Ty())};
}

// Of two of one kind; the first when neither is.
Operand Translator::better(const Operand& v, const Operand& best, bool larger) {
  if (best.kind == Kind::Float) {
    llvm::Value* a = as_double(v);
    llvm::Value* b = as_double(best);
    llvm::Value* beyond = larger ? b_.CreateFCmpOGT(a, b) : b_.CreateFCmpOLT(a, b);
    return floating(b_.CreateSelect(beyond, a, b));
  }
  llvm::Value* beyond = larger ? b_.CreateICmpSGT(v.payload, best.payload) : b_.CreateICmpSLT(v.payload, best.payload);
  return {Kind::Int, nullptr, b_.CreateSelect(beyond, v.payload, best.payload)};
}

}  // namespace posset::jit
