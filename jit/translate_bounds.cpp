// What the numbers of loops are for certain where code is entered in the middle of them: a counted loop has come past
// its first number, and a condition held when the round began. The optimiser sees neither, because these numbers are read
// out of the frame, and would make code for all others too. So they are given the bound that they keep anyhow, in a way
// that it understands.
#include <optional>

#include <llvm/IR/Intrinsics.h>

#include "jit/range_bounds.h"
#include "jit/translator.h"

namespace posset::jit {

// Right in front of the loop, or the bound would be lost on the way through the loops around it.
void Translator::bound_by_loop(const Loop& loop) {
  if (!loop.one_latch) return;
  const Insn& latch = chunk_.at(loop.latch);
  if (static_cast<Op>(latch.op) == Op::ForRange) {
    bound_by_range(loop, latch);
  } else if (latch.x & bytecode::kSense) {
    bound_by_condition(loop, latch);
  }
}

void Translator::bound_by_range(const Loop& loop, const Insn& latch) {
  const std::optional<int64_t> first = range_bounds(*kinds_, loop, latch.a).first;
  if (!first) return;
  bound(loop, static_cast<uint16_t>(latch.a + 1), llvm::Intrinsic::smax, *first);
  bool changes = false;
  for (uint32_t pc = loop.head; pc < loop.latch; pc += chunk_.length_at(pc)) {
    for_each_access(chunk_, pc, [&](const Access& each) {
      changes |= each.written && each.first <= latch.b && latch.b < each.first + each.count;
    });
  }
  if (!changes) bound(loop, latch.b, llvm::Intrinsic::smax, *first);
}

// Of a number compared with one that the program says.
void Translator::bound_by_condition(const Loop& loop, const Insn& latch) {
  const int64_t with = latch.imm_b();
  switch (static_cast<Op>(latch.op)) {
    case Op::LoopGtI: return bound(loop, latch.a, llvm::Intrinsic::smax, with + 1);
    case Op::LoopGeI: return bound(loop, latch.a, llvm::Intrinsic::smax, with);
    case Op::LoopLtI: return bound(loop, latch.a, llvm::Intrinsic::smin, with - 1);
    case Op::LoopLeI: return bound(loop, latch.a, llvm::Intrinsic::smin, with);
    default: return;
  }
}

void Translator::bound(const Loop& loop, uint16_t reg, unsigned intrinsic, int64_t by) {
  const State& there = kinds_->at_leader(loop.head);
  if (!cached(reg) || !there.reached || there.kinds[reg] != Kind::Int) return;
  // Not by the builder, which asks the block for its module: cold ones are nowhere yet.
  llvm::Function* nearest = llvm::Intrinsic::getDeclaration(module_, intrinsic, {b_.getInt64Ty()});
  const Operand v = cached_value(reg, Kind::Int);
  llvm::Value* within = b_.CreateCall(nearest, {v.payload, word(static_cast<uint64_t>(by))});
  keep(reg, Kind::Int, {Kind::Int, nullptr, within});
}

}  // namespace posset::jit
