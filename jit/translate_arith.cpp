// Arithmetic: two ints or two floats in place, everything else by exec. The same cases as the machine's
// handlers (bytecode/handlers_arith.h), which say why a destination needs no release.
#include <bit>

#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Operator.h>

#include "jit/translator.h"

namespace posset::jit {

// One row per operator: the variants stand behind one another in the opcode table, registers, constant on the
// right, constant on the left, immediate.
struct Translator::Arith {
  Op first;
  Op last;
  llvm::Intrinsic::ID checked;                // for ints; not_intrinsic: floor division, or floats only
  llvm::Instruction::BinaryOps on_floats;     // BinaryOpsEnd: not in place
};

namespace {

constexpr auto kNone = llvm::Intrinsic::not_intrinsic;
constexpr auto kNoFloat = llvm::Instruction::BinaryOpsEnd;

}  // namespace

bool Translator::arith(uint32_t pc, const Insn& insn) {
  static constexpr Arith kRules[] = {
      {Op::Add, Op::AddI, llvm::Intrinsic::sadd_with_overflow, llvm::Instruction::FAdd},
      {Op::Sub, Op::SubI, llvm::Intrinsic::ssub_with_overflow, llvm::Instruction::FSub},
      {Op::Mul, Op::MulI, llvm::Intrinsic::smul_with_overflow, llvm::Instruction::FMul},
      {Op::Div, Op::DivL, kNone, llvm::Instruction::FDiv},
      {Op::IntDiv, Op::IntDivI, kNone, kNoFloat},
      {Op::Mod, Op::ModI, kNone, kNoFloat},
  };
  const Op op = static_cast<Op>(insn.op);
  if (op == Op::Binary) return kinds_->operator_at(pc) == syntax::BinaryOp::Pow ? power(pc, insn) : on_bits(pc, insn);
  for (const Arith& rule : kRules) {
    if (op < rule.first || op > rule.last) continue;
    const int variant = static_cast<int>(op) - static_cast<int>(rule.first);
    Operand b = variant == 2 ? constant(insn.b) : read(insn.b);
    Operand c = variant == 1 ? constant(insn.c) : variant == 3 ? integer(insn.imm_c()) : read(insn.c);
    two_numbers(pc, insn, rule, b, c);
    return true;
  }
  return unary(pc, insn);
}

bool Translator::on_bits(uint32_t pc, const Insn& insn) {
  using syntax::BinaryOp;
  if (plan_.way != Way::Inline) return false;
  const BinaryOp op = kinds_->operator_at(pc);
  llvm::Value *b = read(insn.b).payload, *c = read(insn.c).payload;
  if (op == BinaryOp::Shl || op == BinaryOp::Shr) {
    auto* within = block("within");
    b_.CreateCondBr(b_.CreateICmpULT(c, word(64)), within, exit_at(pc));
    go_on_in(within);
  }
  llvm::Value* result = nullptr;
  switch (op) {
    case BinaryOp::WrapAdd: result = b_.CreateAdd(b, c); break;
    case BinaryOp::WrapSub: result = b_.CreateSub(b, c); break;
    case BinaryOp::WrapMul: result = b_.CreateMul(b, c); break;
    case BinaryOp::Shl: result = b_.CreateShl(b, c); break;
    case BinaryOp::Shr: result = b_.CreateAShr(b, c); break;
    case BinaryOp::BitAnd: result = b_.CreateAnd(b, c); break;
    case BinaryOp::BitXor: result = b_.CreateXor(b, c); break;
    default: result = b_.CreateOr(b, c); break;
  }
  write(insn.a, {Kind::Int, nullptr, result});
  return true;
}

// A number to a small power that is known. Floats are multiplied out in the order of interp::float_power_int, which is part
// of the answer. Of ints no power on the way is larger than the last, so that what overflows there does so in any case.
bool Translator::power(uint32_t pc, const Insn& insn) {
  if (plan_.way != Way::Inline) return false;
  const auto exponent = static_cast<uint64_t>(*kinds_->loaded_before(pc, insn.c));
  const Operand base = read(insn.b);
  const bool ints = base.kind == Kind::Int;
  auto product = [&](const Operand& a, const Operand& b) {
    if (!ints) return floating(b_.CreateFMul(as_double(a), as_double(b)));
    return Operand{Kind::Int, nullptr, checked(a.payload, b.payload, llvm::Intrinsic::smul_with_overflow, exit_at(pc))};
  };
  Operand result = exponent > 0 ? base : ints ? integer(1) : floating(llvm::ConstantFP::get(b_.getDoubleTy(), 1.0));
  for (int bit = std::bit_width(exponent) - 2; bit >= 0; --bit) {
    result = product(result, result);
    if (exponent >> bit & 1) result = product(result, base);
  }
  write(insn.a, result);
  return true;
}

void Translator::two_numbers(uint32_t pc, const Insn& insn, const Arith& rule, const Operand& b, const Operand& c) {
  auto* after = block("after");
  auto* slow = slow_way(pc, after);
  if (is_number(b.kind) && is_number(c.kind)) {
    known_numbers(insn, rule, b, c, slow);
    b_.CreateBr(after);
    go_on_in(after);
    return;
  }
  if (plan_.way == Way::Inline) {
    llvm::Value* left = any_number(b, slow);
    write(insn.a, floating(b_.CreateBinOp(rule.on_floats, left, any_number(c, slow))));
    b_.CreateBr(after);
    go_on_in(after);
    return;
  }
  if (rule.first != Op::Div) {
    auto* ints = block("ints");
    auto* others = block("others");
    b_.CreateCondBr(b_.CreateAnd(is(b, Kind::Int), is(c, Kind::Int)), ints, others);
    go_on_in(ints);
    write(insn.a, {Kind::Int, nullptr, int_result(rule, payload_of(b), payload_of(c), slow)});
    b_.CreateBr(after);
    go_on_in(others);
  }
  if (rule.on_floats == kNoFloat) {
    b_.CreateBr(slow);
  } else {
    float_result(insn, rule, b, c, slow);
    b_.CreateBr(after);
  }
  go_on_in(after);
}

void Translator::known_numbers(const Insn& insn, const Arith& rule, const Operand& b, const Operand& c,
                               llvm::BasicBlock* slow) {
  if (b.kind == Kind::Int && c.kind == Kind::Int && rule.first != Op::Div) {
    return write(insn.a, {Kind::Int, nullptr, int_result(rule, b.payload, c.payload, slow)});
  }
  write(insn.a, floating(b_.CreateBinOp(rule.on_floats, number_of(b), number_of(c))));
}

llvm::Value* Translator::number_of(const Operand& v) {
  return v.kind == Kind::Int ? b_.CreateSIToFP(v.payload, b_.getDoubleTy()) : as_double(v);
}

// As a float, of what may be an int or a float.
llvm::Value* Translator::any_number(const Operand& v, llvm::BasicBlock* otherwise) {
  if (is_number(v.kind)) return number_of(v);
  auto *is_float = block("is_float"), *other = block("other"), *is_int = block("is_int"), *known = block("known");
  b_.CreateCondBr(is(v, Kind::Float), is_float, other);
  go_on_in(is_float);
  llvm::Value* as_it_is = as_double(v);
  b_.CreateBr(known);
  go_on_in(other);
  b_.CreateCondBr(is(v, Kind::Int), is_int, otherwise);
  go_on_in(is_int);
  llvm::Value* converted = b_.CreateSIToFP(payload_of(v), b_.getDoubleTy());
  b_.CreateBr(known);
  go_on_in(known);
  auto* number = b_.CreatePHI(b_.getDoubleTy(), 2);
  number->addIncoming(as_it_is, is_float);
  number->addIncoming(converted, is_int);
  return number;
}

namespace {

unsigned plain_of(unsigned intrinsic) {
  if (intrinsic == llvm::Intrinsic::smul_with_overflow) return llvm::Instruction::Mul;
  return intrinsic == llvm::Intrinsic::sadd_with_overflow ? llvm::Instruction::Add : llvm::Instruction::Sub;
}

// Products that an address computation gives in a third of a multiplication's time, and what is added to them: whether
// such a sum overflows follows from the range of the one number in it.
bool is_asked_by_range(unsigned intrinsic, bool behind_product, llvm::Value* b, llvm::Value* c) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(c);
  if (!constant || llvm::isa<llvm::Constant>(b)) return false;
  if (intrinsic == llvm::Intrinsic::smul_with_overflow) {
    return constant->equalsInt(3) || constant->equalsInt(5) || constant->equalsInt(9);
  }
  return behind_product;
}

}  // namespace

llvm::Value* Translator::int_result(const Arith& rule, llvm::Value* b, llvm::Value* c, llvm::BasicBlock* slow) {
  if (is_proved_sum(here_)) {
    const auto plain = rule.first == Op::Add   ? llvm::Instruction::Add
                       : rule.first == Op::Sub ? llvm::Instruction::Sub
                                               : llvm::Instruction::Mul;
    llvm::Value* result = b_.CreateBinOp(plain, b, c);
    if (auto* made = llvm::dyn_cast<llvm::BinaryOperator>(result)) made->setHasNoSignedWrap();
    return result;
  }
  if (rule.checked != kNone) return checked(b, c, rule.checked, slow);
  return floor_divided(rule, b, c, slow);
}

llvm::Value* Translator::checked(llvm::Value* b, llvm::Value* c, unsigned intrinsic, llvm::BasicBlock* slow) {
  if (llvm::isa<llvm::ConstantInt>(b) && intrinsic != llvm::Intrinsic::ssub_with_overflow) std::swap(b, c);
  if (overflowed_ && is_asked_by_range(intrinsic, !llvm::isa<llvm::Constant>(overflowed_), b, c)) return checked_by_range(b, c, intrinsic);
  llvm::Value* both = b_.CreateBinaryIntrinsic(static_cast<llvm::Intrinsic::ID>(intrinsic), b, c);
  if (overflowed_) {
    overflowed_ = b_.CreateLogicalOr(overflowed_, b_.CreateExtractValue(both, 1));
    return b_.CreateExtractValue(both, 0);
  }
  auto* fits = block("fits");
  b_.CreateCondBr(b_.CreateExtractValue(both, 1), slow, fits);
  go_on_in(fits);
  return b_.CreateExtractValue(both, 0);
}

// As one of two ways (choices.h), where what is computed is waited for and what is asked is not. What has overflowed is
// poison, which nothing but the answer, made first, stands in front of.
llvm::Value* Translator::checked_by_range(llvm::Value* b, llvm::Value* c, unsigned intrinsic) {
  const auto op = static_cast<llvm::Instruction::BinaryOps>(plain_of(intrinsic));
  const auto fitting = llvm::ConstantRange::makeExactNoWrapRegion(op, llvm::cast<llvm::ConstantInt>(c)->getValue(),
                                                                  llvm::OverflowingBinaryOperator::NoSignedWrap);
  llvm::CmpInst::Predicate compare{};
  llvm::APInt with, from;
  fitting.getEquivalentICmp(compare, with, from);
  llvm::Value* fits = b_.CreateICmp(compare, b_.CreateAdd(b, b_.getInt(from)), b_.getInt(with));
  overflowed_ = b_.CreateLogicalOr(overflowed_, b_.CreateNot(fits));
  llvm::Value* result = b_.CreateBinOp(op, b, c);
  if (auto* made = llvm::dyn_cast<llvm::BinaryOperator>(result)) made->setHasNoSignedWrap();
  return result;
}

// Positive divisors only; the rarer sign, zero and overflow are exec's. By a power of two, floor division is a
// shift and its rest a mask, whatever the sign.
llvm::Value* Translator::floor_divided(const Arith& rule, llvm::Value* b, llvm::Value* c, llvm::BasicBlock* slow) {
  if (auto* by = llvm::dyn_cast<llvm::ConstantInt>(c); by && by->getValue().isStrictlyPositive()) {
    return floor_divided_by(rule.first == Op::Mod, b, *by);
  }
  auto* positive = block("positive");
  b_.CreateCondBr(b_.CreateICmpSGT(c, word(0)), positive, slow);
  go_on_in(positive);
  llvm::Value* rest = b_.CreateSRem(b, c);
  llvm::Value* below = b_.CreateICmpSLT(rest, word(0));
  if (rule.first == Op::Mod) return b_.CreateSelect(below, b_.CreateAdd(rest, c), rest);
  return b_.CreateSub(b_.CreateSDiv(b, c), b_.CreateZExt(below, b_.getInt64Ty()));
}

// Without asking for the rest, which the quotient would have to wait for: of what is negative the complement is divided,
// since floor(x / c) = ~floor(~x / c). Where LLVM knows the sign, an unsigned division is all that is left of it.
llvm::Value* Translator::floor_divided_by(bool rest, llvm::Value* b, const llvm::ConstantInt& by) {
  const llvm::APInt& divisor = by.getValue();
  if (divisor.isPowerOf2()) return rest ? b_.CreateAnd(b, divisor - 1) : b_.CreateAShr(b, divisor.logBase2());
  llvm::Constant* c = b_.getInt(divisor);
  llvm::Value* sign = b_.CreateAShr(b, 63);
  llvm::Value* quotient = b_.CreateXor(b_.CreateUDiv(b_.CreateXor(b, sign), c), sign);
  return rest ? b_.CreateSub(b, b_.CreateMul(quotient, c)) : quotient;
}

// Floats, or a float and an int; one that is not known as such in optimised code only.
void Translator::float_result(const Insn& insn, const Arith& rule, const Operand& b, const Operand& c,
                              llvm::BasicBlock* slow) {
  if (!is_quick()) {
    llvm::Value* left = any_number(b, slow);
    return write(insn.a, floating(b_.CreateBinOp(rule.on_floats, left, any_number(c, slow))));
  }
  auto usable = [&](const Operand& v) { return v.kind == Kind::Int ? b_.getTrue() : is(v, Kind::Float); };
  auto* floats = block("floats");
  b_.CreateCondBr(b_.CreateAnd(usable(b), usable(c)), floats, slow);
  go_on_in(floats);
  llvm::Value* result = b_.CreateBinOp(rule.on_floats, number_of(b), number_of(c));
  write(insn.a, floating(result));
}

bool Translator::unary(uint32_t pc, const Insn& insn) {
  const Op op = static_cast<Op>(insn.op);
  if (op == Op::BitNot && plan_.way == Way::Inline) {
    write(insn.a, {Kind::Int, nullptr, b_.CreateNot(read(insn.b).payload)});
    return true;
  }
  if (op != Op::Neg && op != Op::Not) return false;
  const Operand v = read(insn.b);
  auto* after = block("after");
  auto* slow = slow_way(pc, after);
  auto* fast = block("fast");
  if (op == Op::Not) {
    b_.CreateCondBr(is(v, Kind::Bool), fast, slow);
    go_on_in(fast);
    write(insn.a, {Kind::Bool, nullptr, b_.CreateXor(payload_of(v), word(1))});
  } else if (v.kind == Kind::Int) {
    b_.CreateBr(fast);
    go_on_in(fast);
    write(insn.a, {Kind::Int, nullptr, checked(word(0), v.payload, llvm::Intrinsic::ssub_with_overflow, slow)});
  } else {
    b_.CreateCondBr(is(v, Kind::Float), fast, slow);
    go_on_in(fast);
    write(insn.a, floating(b_.CreateFNeg(as_double(v))));
  }
  b_.CreateBr(after);
  go_on_in(after);
  return true;
}

}  // namespace posset::jit
