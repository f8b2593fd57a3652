// Moves, comparisons, jumps and counted loops.
#include <cstddef>

#include "interp/runtime/context.h"
#include "jit/translator.h"

namespace posset::jit {

namespace {

// By distance from the first of a family in the opcode table: Eq, Ne, Lt, Le, Gt, Ge.
constexpr llvm::CmpInst::Predicate kOnInts[] = {llvm::CmpInst::ICMP_EQ,  llvm::CmpInst::ICMP_NE,
                                                llvm::CmpInst::ICMP_SLT, llvm::CmpInst::ICMP_SLE,
                                                llvm::CmpInst::ICMP_SGT, llvm::CmpInst::ICMP_SGE};
constexpr llvm::CmpInst::Predicate kOnFloats[] = {llvm::CmpInst::FCMP_OEQ, llvm::CmpInst::FCMP_UNE,
                                                  llvm::CmpInst::FCMP_OLT, llvm::CmpInst::FCMP_OLE,
                                                  llvm::CmpInst::FCMP_OGT, llvm::CmpInst::FCMP_OGE};
// Rows of one comparison of the table: JumpX, JumpXI, JumpXK, LoopX, LoopXI, LoopXK.
constexpr int kJumpVariants = 6;

}  // namespace

bool Translator::move(uint32_t pc, const Insn& insn) {
  switch (static_cast<Op>(insn.op)) {
    case Op::Nop: return true;
    case Op::LoadNil: write(insn.a, unknown(tag_word(Tag::Nil), word(0))); return true;
    case Op::LoadUnset: write(insn.a, unknown(tag_word(Tag::Unset), word(0))); return true;
    case Op::LoadBool: write(insn.a, {Kind::Bool, nullptr, word(insn.b != 0)}); return true;
    case Op::LoadInt: write(insn.a, integer(insn.imm_b())); return true;
    case Op::LoadConst: write(insn.a, constant(insn.b)); return true;
    case Op::Copy: {
      const Operand v = read(insn.b);
      retain(v);
      write(insn.a, v);
      return true;
    }
    case Op::Move: {
      const Operand v = read(insn.b);
      write(insn.b, unknown(tag_word(Tag::Nil), word(0)));
      write(insn.a, v);
      return true;
    }
    case Op::Store: store(pc, insn); return true;
    case Op::Drop: drop(insn.a, 1); return true;
    case Op::DropRange: drop(insn.a, insn.b); return true;
    default: return false;
  }
}

// Where neither the old nor the new value is counted, two words are copied; exec does the rest.
void Translator::store(uint32_t pc, const Insn& insn) {
  const Operand v = read(insn.b);
  const Operand old = read(insn.a);
  auto* plain = block("plain");
  auto* after = block("after");
  auto* slow = slow_way(pc, after);
  b_.CreateCondBr(b_.CreateOr(is_heap(v), is_heap(old)), slow, plain);
  go_on_in(plain);
  write(insn.a, v);
  if (insn.x & bytecode::kConsumeB) write(insn.b, unknown(tag_word(Tag::Nil), word(0)));
  b_.CreateBr(after);
  go_on_in(after);
}

void Translator::drop(uint16_t first, uint16_t count) {
  for (uint16_t n = 0; n < count; ++n) {
    const auto reg = static_cast<uint16_t>(first + n);
    auto* counted = cold("counted");
    auto* done = block("done");
    b_.CreateCondBr(is_heap(read(reg)), counted, done);
    b_.SetInsertPoint(counted);
    release_registers(register_pointer(reg), word(1));
    b_.CreateBr(done);
    go_on_in(done);
    write(reg, unknown(tag_word(Tag::Nil), word(0)));
  }
}

// ---- comparisons ----

void Translator::compare_branch(int which, const Operand& b, const Operand& c, llvm::BasicBlock* holds,
                                llvm::BasicBlock* fails, llvm::BasicBlock* slow) {
  auto* ints = block("ints");
  auto* others = block("others");
  b_.CreateCondBr(b_.CreateAnd(is(b, Kind::Int), is(c, Kind::Int)), ints, others);
  go_on_in(ints);
  b_.CreateCondBr(b_.CreateICmp(kOnInts[which], b.payload, c.payload), holds, fails);
  go_on_in(others);
  auto* floats = block("floats");
  b_.CreateCondBr(b_.CreateAnd(is(b, Kind::Float), is(c, Kind::Float)), floats, slow);
  go_on_in(floats);
  b_.CreateCondBr(b_.CreateFCmp(kOnFloats[which], as_double(b), as_double(c)), holds, fails);
}

bool Translator::compare(uint32_t pc, const Insn& insn) {
  const Op op = static_cast<Op>(insn.op);
  if (op >= Op::Eq && op <= Op::Ge) {
    compare_value(pc, insn, static_cast<int>(op) - static_cast<int>(Op::Eq));
    return true;
  }
  if (op < Op::JumpEq || op > Op::LoopGeK) return false;
  const int row = static_cast<int>(op) - static_cast<int>(Op::JumpEq);
  const int variant = row % kJumpVariants;
  Operand b = variant % 3 == 0 ? read(insn.b) : variant % 3 == 1 ? integer(insn.imm_b()) : constant(insn.b);
  compare_jump(pc, insn, row / kJumpVariants, variant >= 3, b);
  return true;
}

void Translator::compare_value(uint32_t pc, const Insn& insn, int which) {
  auto* after = block("after");
  auto* holds = block("holds");
  auto* fails = block("fails");
  compare_branch(which, read(insn.b), read(insn.c), holds, fails, slow_way(pc, after));
  go_on_in(holds);
  write(insn.a, {Kind::Bool, nullptr, word(1)});
  b_.CreateBr(after);
  go_on_in(fails);
  write(insn.a, {Kind::Bool, nullptr, word(0)});
  b_.CreateBr(after);
  go_on_in(after);
}

void Translator::compare_jump(uint32_t pc, const Insn& insn, int which, bool back, const Operand& b) {
  const bool sense = insn.x & bytecode::kSense;
  llvm::BasicBlock* taken = back ? round_block(pc, target(pc)) : block_at(target(pc));
  llvm::BasicBlock* next = block_at(pc + length(pc));
  auto* slow = cold("slow");
  compare_branch(which, read(insn.a), b, sense ? taken : next, sense ? next : taken, slow);
  llvm::IRBuilder<>::InsertPointGuard keep(b_);
  b_.SetInsertPoint(slow);
  generic(pc);
}

// ---- jumps ----

llvm::BasicBlock* Translator::round_block(uint32_t pc, uint32_t to) {
  llvm::IRBuilder<>::InsertPointGuard keep(b_);
  llvm::BasicBlock* round = block("round");
  go_on_in(round);
  go_round(pc, to);
  return round;
}

void Translator::go_round(uint32_t pc, uint32_t to) {
  charge_step(pc);
  b_.CreateBr(block_at(to));
}

void Translator::charge_step(uint32_t pc) {
  constexpr uint64_t kFuel = offsetof(interp::Context, fuel);
  llvm::Value* left = b_.CreateSub(load_word(host_, kFuel), word(1));
  store_word(host_, kFuel, left);
  auto* poll = cold("poll");
  auto* fine = block("fine");
  b_.CreateCondBr(b_.CreateICmpSLT(left, word(0)), poll, fine);
  b_.SetInsertPoint(poll);
  llvm::Value* ok = b_.CreateCall(helper("poll", b_.getInt8Ty(), {b_.getPtrTy()}), {host_});
  auto* raises = cold("raises");
  b_.CreateCondBr(b_.CreateICmpNE(ok, b_.getInt8(0)), fine, raises);
  b_.SetInsertPoint(raises);
  raise(pc);
  go_on_in(fine);
}

bool Translator::jump(uint32_t pc, const Insn& insn) {
  switch (static_cast<Op>(insn.op)) {
    case Op::Jump: b_.CreateBr(block_at(target(pc))); return true;
    case Op::Loop:
    case Op::TailJump: go_round(pc, target(pc)); return true;
    case Op::JumpIf: jump_on_bool(pc, insn, false); return true;
    case Op::LoopIf: jump_on_bool(pc, insn, true); return true;
    case Op::JumpSet: {
      llvm::Value* unset = b_.CreateICmpEQ(read(insn.a).tag, tag_word(Tag::Unset));
      b_.CreateCondBr(unset, block_at(pc + 1), block_at(target(pc)));
      return true;
    }
    case Op::JumpNil: {
      llvm::Value* nil = b_.CreateICmpEQ(read(insn.a).tag, tag_word(Tag::Nil));
      const bool sense = insn.x & bytecode::kSense;
      auto* to = block_at(target(pc));
      auto* next = block_at(pc + 1);
      b_.CreateCondBr(nil, sense ? to : next, sense ? next : to);
      return true;
    }
    case Op::ForRange: for_range(pc, insn); return true;
    default: return false;
  }
}

void Translator::jump_on_bool(uint32_t pc, const Insn& insn, bool back) {
  const Operand v = read(insn.a);
  const bool sense = insn.x & bytecode::kSense;
  auto* fast = block("fast");
  auto* slow = cold("slow");
  b_.CreateCondBr(is(v, Kind::Bool), fast, slow);
  {
    llvm::IRBuilder<>::InsertPointGuard keep(b_);
    b_.SetInsertPoint(slow);
    generic(pc);
  }
  go_on_in(fast);
  llvm::Value* holds = b_.CreateICmpNE(v.payload, word(0));
  llvm::BasicBlock* next = block_at(pc + 1);
  llvm::BasicBlock* taken = back ? round_block(pc, target(pc)) : block_at(target(pc));
  b_.CreateCondBr(holds, sense ? taken : next, sense ? next : taken);
}

// Counted ranges have nil in the first hidden register; other iterations are exec's.
void Translator::for_range(uint32_t pc, const Insn& insn) {
  const auto cursor_register = static_cast<uint16_t>(insn.a + 1);
  auto* counted = block("counted");
  auto* more = block("more");
  auto* slow = cold("slow");
  b_.CreateCondBr(b_.CreateICmpEQ(read(insn.a).tag, tag_word(Tag::Nil)), counted, slow);
  {
    llvm::IRBuilder<>::InsertPointGuard keep(b_);
    b_.SetInsertPoint(slow);
    generic(pc);
  }
  go_on_in(counted);
  llvm::Value* cursor = read(cursor_register).payload;
  llvm::Value* end = read(static_cast<uint16_t>(insn.a + 2)).payload;
  b_.CreateCondBr(b_.CreateICmpSLT(cursor, end), more, block_at(pc + 1));
  go_on_in(more);
  charge_step(pc);
  store_word(register_pointer(cursor_register), 8, b_.CreateAdd(cursor, word(1)));
  write(insn.b, {Kind::Int, nullptr, cursor});
  b_.CreateBr(block_at(target(pc)));
}

}  // namespace posset::jit
