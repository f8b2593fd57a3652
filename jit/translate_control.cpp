// Moves, comparisons, jumps and counted loops.
#include <cstddef>
#include <utility>

#include <llvm/IR/Intrinsics.h>

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
constexpr int kLastOfEquality = 1;  // Eq, Ne

// Nil, a bool or a short text of the program.
bool is_atom(const Operand& v) {
  if (v.kind == Kind::Nil || v.kind == Kind::Bool) return true;
  const auto* tag = llvm::dyn_cast_or_null<llvm::ConstantInt>(v.tag);
  return v.kind == Kind::Any && tag && (tag->getZExtValue() & 0xff) == static_cast<uint64_t>(Tag::ShortStr);
}

bool consumes(const Insn& insn) { return insn.x & (bytecode::kConsumeB | bytecode::kConsumeC); }

bool is_next(const Insn& insn) { return is_next_item(static_cast<Op>(insn.op)); }

}  // namespace

bool Translator::move(const Insn& insn) {
  switch (static_cast<Op>(insn.op)) {
    case Op::Nop: return true;
    case Op::LoadNil: write(insn.a, nil()); return true;
    case Op::LoadUnset: write(insn.a, unknown(tag_word(Tag::Unset), word(0))); return true;
    case Op::LoadBool: write(insn.a, {Kind::Bool, nullptr, word(insn.b != 0)}); return true;
    case Op::LoadInt: write(insn.a, integer(insn.imm_b())); return true;
    case Op::LoadConst: write(insn.a, constant(insn.b)); return true;
    case Op::LoadQuanta: write(insn.a, {Kind::Int, nullptr, quanta()}); return true;
    case Op::Copy: {
      const Operand v = read(insn.b);
      if (!lend_argument(insn)) retain(v);
      write(insn.a, v);
      return true;
    }
    case Op::Move: {
      const Operand v = read(insn.b);
      if (is_borrowed(insn.b) && !lend_argument(insn)) retain(v);
      write(insn.b, nil());
      write(insn.a, v);
      return true;
    }
    case Op::Store: store(insn); return true;
    case Op::Drop: drop(insn.a, 1); return true;
    case Op::DropRange: drop(insn.a, insn.b); return true;
    default: return false;
  }
}

void Translator::store(const Insn& insn) {
  if (insn.a == insn.b) return;  // x = x: the value neither comes nor goes
  const Operand v = read(insn.b);
  const Operand old = read(insn.a);
  const bool consume = insn.x & bytecode::kConsumeB;
  if (!consume) retain(v);
  if (consume) write(insn.b, nil());
  write(insn.a, v);
  release(old);
}

void Translator::drop(uint16_t first, uint16_t count) {
  for (uint16_t n = 0; n < count; ++n) {
    const auto reg = static_cast<uint16_t>(first + n);
    const Operand v = read(reg);
    write(reg, nil());
    if (!is_lent(reg)) release(v);
  }
}

// ---- comparisons ----

// With what is equal to nothing else: both words are the same or it is different.
void Translator::word_branch(const Operand& v, const Operand& atom, llvm::BasicBlock* same, llvm::BasicBlock* different) {
  llvm::Value* equal = b_.CreateICmpEQ(tag_of(v), tag_of(atom));
  if (atom.kind != Kind::Nil) equal = b_.CreateAnd(equal, b_.CreateICmpEQ(payload_of(v), payload_of(atom)));
  b_.CreateCondBr(equal, same, different);
}

void Translator::compare_branch(int which, const Operand& b, const Operand& c, bool consumes, llvm::BasicBlock* holds,
                                llvm::BasicBlock* fails, llvm::BasicBlock* slow) {
  if (which <= kLastOfEquality && is_atom(c)) {
    // What is counted and ends here is released by exec.
    if (consumes && !is_plain(b.kind)) {
      auto* uncounted = block("uncounted");
      b_.CreateCondBr(is_heap(b), slow, uncounted);
      go_on_in(uncounted);
    }
    return word_branch(b, c, which == 0 ? holds : fails, which == 0 ? fails : holds);
  }
  if (plan_.texts && !is_plain(b.kind) && !is_plain(c.kind)) return text_branch(which, b, c, holds, fails, slow);
  auto* ints = block("ints");
  auto* others = block("others");
  b_.CreateCondBr(b_.CreateAnd(is(b, Kind::Int), is(c, Kind::Int)), ints, others);
  go_on_in(ints);
  b_.CreateCondBr(b_.CreateICmp(kOnInts[which], payload_of(b), payload_of(c)), holds, fails);
  go_on_in(others);
  auto* floats = block("floats");
  auto is_usable = [&](const Operand& v, const Operand& beside) {
    return v.kind == Kind::Int && beside.kind != Kind::Int ? b_.getTrue() : is(v, Kind::Float);
  };
  b_.CreateCondBr(b_.CreateAnd(is_usable(b, c), is_usable(c, b)), floats, slow);
  go_on_in(floats);
  llvm::Value* left = exact_number(b, slow);
  b_.CreateCondBr(b_.CreateFCmp(kOnFloats[which], left, exact_number(c, slow)), holds, fails);
}

// A float, or an int that is one without loss.
llvm::Value* Translator::exact_number(const Operand& v, llvm::BasicBlock* otherwise) {
  if (v.kind != Kind::Int) return as_double(v);
  auto* exact = block("exact");
  llvm::Value* above_least = b_.CreateAdd(v.payload, word(kMostExact));
  b_.CreateCondBr(b_.CreateICmpULE(above_least, word(2 * kMostExact)), exact, otherwise);
  go_on_in(exact);
  return number_of(v);
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

// What an instruction of the block has written into the register, if it was such a one.
const Insn* Translator::written_by(uint16_t reg, Op op) const {
  const auto writer = writers_.find(reg);
  if (writer == writers_.end() || chunk_.op_at(writer->second) != op || chunk_.at(writer->second).a != reg) return nullptr;
  return &chunk_.at(writer->second);
}

void Translator::note_written(uint32_t pc) {
  for_each_access(chunk_, pc, [&](const Access& each) {
    for (uint32_t reg = each.first; each.written && reg < each.first + each.count; ++reg) writers_[reg] = pc;
  });
}

// What stands on the left of a comparison. Whether a remainder is 0 does not depend on its sign, so that what makes a
// floored remainder of that of the processor is left out, and nobody may need it then.
Operand Translator::compared(uint16_t reg, int which, bool with_zero) {
  const Operand v = read(reg);
  const Insn* rest = which <= kLastOfEquality && with_zero && v.kind == Kind::Int ? written_by(reg, Op::ModI) : nullptr;
  if (!rest || rest->b == reg || rest->imm_c() <= 0 || !cached(rest->b) || state_.kinds[rest->b] != Kind::Int) return v;
  const auto changed = writers_.find(rest->b);
  if (changed != writers_.end() && changed->second > writers_.at(reg)) return v;
  return {Kind::Int, nullptr, b_.CreateSRem(read(rest->b).payload, integer(rest->imm_c()).payload)};
}

void Translator::compare_value(uint32_t pc, const Insn& insn, int which) {
  auto* after = block("after");
  auto* holds = block("holds");
  auto* fails = block("fails");
  const Operand c = read(insn.c);
  const Insn* number = written_by(insn.c, Op::LoadInt);
  const Operand b = compared(insn.b, which, number && number->imm_b() == 0);
  compare_branch(which, b, c, consumes(insn), holds, fails, slow_way(pc, after));
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
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantInt>(b.payload);
  const Operand left = compared(insn.a, which, b.kind == Kind::Int && number && number->isZero());
  if (!back && plan_.way == Way::Inline && choose(pc, comparison(which, left, b, sense))) return;
  llvm::BasicBlock* taken = back ? round_block(pc, chunk_.target_at(pc)) : block_at(chunk_.target_at(pc));
  llvm::BasicBlock* next = block_at(pc + chunk_.length_at(pc));
  auto* slow = cold("slow");
  compare_branch(which, left, b, consumes(insn), sense ? taken : next, sense ? next : taken, slow);
  exec_in(slow, pc);
}

// Of two ints, or of floats and what is one without loss.
llvm::Value* Translator::comparison(int which, const Operand& b, const Operand& c, bool sense) {
  const bool ints = b.kind == Kind::Int && c.kind == Kind::Int;
  llvm::Value* holds = ints ? b_.CreateICmp(kOnInts[which], b.payload, c.payload)
                            : b_.CreateFCmp(kOnFloats[which], number_of(b), number_of(c));
  return sense ? holds : b_.CreateNot(holds);
}

// What a jump leaves to exec, in a cold block.
void Translator::exec_in(llvm::BasicBlock* slow, uint32_t pc) {
  llvm::IRBuilder<>::InsertPointGuard keep_place(b_);
  b_.SetInsertPoint(slow);
  if (plan_.way == Way::Inline) {
    b_.CreateBr(exit_at(pc));
  } else {
    generic(pc);
  }
}

// ---- jumps ----

llvm::BasicBlock* Translator::round_block(uint32_t pc, uint32_t to) {
  llvm::IRBuilder<>::InsertPointGuard keep(b_);
  llvm::BasicBlock* round = block("round");
  go_on_in(round);
  go_round(pc, to, [] {});
  return round;
}

void Translator::go_round(uint32_t pc, uint32_t to, const std::function<void()>& advance) {
  if (chunk_.at(pc).x & bytecode::kFree && is_next(chunk_.at(pc))) return go_round_free(to, advance);
  llvm::Value* left = spend(word(1));
  auto* poll = cold("poll");
  auto* fine = block("fine");
  b_.CreateCondBr(b_.CreateICmpSLT(left, word(0)), poll, fine);
  {
    llvm::IRBuilder<>::InsertPointGuard keep(b_);
    b_.SetInsertPoint(poll);
    poll_round(pc, to, fine, advance);
  }
  go_on_in(fine);
  advance();
  forget_dead(to);
  b_.CreateBr(block_at(to));
}

// The slice ends in the call that is part of the round; just before that stage 1 looks for newer code.
void Translator::go_round_free(uint32_t to, const std::function<void()>& advance) {
  advance();
  if (is_quick()) {
    auto* ends = cold("ends");
    auto* fine = block("fine");
    b_.CreateCondBr(b_.CreateICmpSGT(load_word(host(), offsetof(interp::Context, fuel)), word(0)), fine, ends);
    b_.SetInsertPoint(ends);
    newer_code(to);
    go_on_in(fine);
  }
  b_.CreateBr(block_at(to));
}

// The end of a slice. From stage 1 a loop goes over to newer code there.
void Translator::poll_round(uint32_t pc, uint32_t to, llvm::BasicBlock* fine, const std::function<void()>& advance) {
  llvm::Value* ok = call_poll();
  auto* raises = cold("raises");
  auto* polled = is_quick() ? cold("polled") : fine;
  b_.CreateCondBr(b_.CreateICmpNE(ok, b_.getInt8(0)), polled, raises);
  b_.SetInsertPoint(raises);
  raise(pc);
  if (!is_quick()) return;
  b_.SetInsertPoint(polled);
  advance();
  newer_code(to);
}

// Goes over to code that has replaced this one, which finds what lives in the frame, or goes on at a loop head.
void Translator::newer_code(uint32_t to) {
  for (uint32_t reg = 0; reg < chunk_.registers; ++reg) {
    if (cached(reg) && after_.dirty.has(reg) && kinds_->live(to, reg)) flush(reg, after_.known(reg));
  }
  llvm::Type* pair = llvm::StructType::get(b_.getInt64Ty(), b_.getInt64Ty());
  llvm::Function* newer = helper("newer", pair, {b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy()});
  llvm::Value* result = b_.CreateCall(newer, {native_frame(), function_, pc_address(to)});
  auto* left = cold("left");
  llvm::Value* stays = b_.CreateICmpEQ(b_.CreateExtractValue(result, 0), tag_word(Tag::Unset));
  b_.CreateCondBr(stays, block_at(to), left);
  b_.SetInsertPoint(left);
  b_.CreateRet(result);
}

bool Translator::jump(uint32_t pc, const Insn& insn) {
  switch (static_cast<Op>(insn.op)) {
    case Op::Jump:
      if (!guard_loop(pc)) b_.CreateBr(block_at(chunk_.target_at(pc)));
      return true;
    case Op::Loop:
    case Op::TailJump: go_round(pc, chunk_.target_at(pc), [] {}); return true;
    case Op::JumpIf: jump_on_bool(pc, insn, false); return true;
    case Op::LoopIf: jump_on_bool(pc, insn, true); return true;
    case Op::JumpSet: {
      llvm::Value* unset = b_.CreateICmpEQ(tag_of(read(insn.a)), tag_word(Tag::Unset));
      b_.CreateCondBr(unset, block_at(pc + 1), block_at(chunk_.target_at(pc)));
      return true;
    }
    case Op::JumpNil: {
      llvm::Value* nil = b_.CreateICmpEQ(tag_of(read(insn.a)), tag_word(Tag::Nil));
      const bool sense = insn.x & bytecode::kSense;
      auto* to = block_at(chunk_.target_at(pc));
      auto* next = block_at(pc + 1);
      b_.CreateCondBr(nil, sense ? to : next, sense ? next : to);
      return true;
    }
    case Op::Fork: return leave_forks(insn);
    case Op::Merge: return take_back_fork(pc, insn);
    case Op::Rounds: return leave_rounds(pc, static_cast<uint16_t>(insn.a + syntax::kComprehensionBegun));
    case Op::CallbackRounds: return leave_rounds(pc, static_cast<uint16_t>(insn.a + syntax::kCallbackBegun));
    case Op::ForRange: for_range(pc, insn); return true;
    case Op::IterRange: iter_range(pc, insn); return true;
    case Op::ForNext:
      if (plan_.a == Kind::Nil || plan_.a == Kind::Bool) {
        for_range(pc, insn);
      } else {
        for_next(pc, insn);
      }
      return true;
    default: return false;
  }
}

void Translator::jump_on_bool(uint32_t pc, const Insn& insn, bool back) {
  const Operand v = read(insn.a);
  const bool sense = insn.x & bytecode::kSense;
  if (!back && v.kind == Kind::Bool && choose(pc, b_.CreateICmpEQ(v.payload, word(sense ? 1 : 0)))) return;
  auto* fast = block("fast");
  auto* slow = cold("slow");
  b_.CreateCondBr(is(v, Kind::Bool), fast, slow);
  exec_in(slow, pc);
  go_on_in(fast);
  llvm::Value* holds = b_.CreateICmpNE(payload_of(v), word(0));
  llvm::BasicBlock* next = block_at(pc + 1);
  llvm::BasicBlock* taken = back ? round_block(pc, chunk_.target_at(pc)) : block_at(chunk_.target_at(pc));
  b_.CreateCondBr(holds, sense ? taken : next, sense ? next : taken);
}

// Where there is no further item; its register is as it was before.
llvm::BasicBlock* Translator::behind_rounds(uint32_t pc, const Insn& insn) {
  const Known item = after_.known(insn.b);
  after_.know(insn.b, state_.known(insn.b));
  llvm::BasicBlock* there = block_at(pc + 1);
  after_.know(insn.b, item);
  return there;
}

// Counted ranges have nil in the first hidden register, or true, counted down; other iterations are exec's.
void Translator::for_range(uint32_t pc, const Insn& insn) {
  const auto cursor_register = static_cast<uint16_t>(insn.a + 1);
  const bool down = plan_.a == Kind::Bool;
  auto* counted = block("counted");
  auto* more = block("more");
  auto* slow = cold("slow");
  b_.CreateCondBr(is(read(insn.a), down ? Kind::Bool : Kind::Nil), counted, slow);
  exec_in(slow, pc);
  go_on_in(counted);
  llvm::Value* cursor = read(cursor_register).payload;
  llvm::Value* end = read(static_cast<uint16_t>(insn.a + 2)).payload;
  b_.CreateCondBr(down ? b_.CreateICmpSGT(cursor, end) : b_.CreateICmpSLT(cursor, end), more, behind_rounds(pc, insn));
  go_on_in(more);
  go_round(pc, chunk_.target_at(pc), [&] { down ? advance_down(insn) : advance_range(insn); });
}

void Translator::advance_range(const Insn& insn) {
  const auto cursor_register = static_cast<uint16_t>(insn.a + 1);
  llvm::Value* cursor = read(cursor_register).payload;
  write(cursor_register, {Kind::Int, nullptr, b_.CreateAdd(cursor, word(1), "", false, true)});
  write(insn.b, {Kind::Int, nullptr, cursor});
}

void Translator::advance_down(const Insn& insn) {
  const auto cursor_register = static_cast<uint16_t>(insn.a + 1);
  llvm::Value* cursor = b_.CreateSub(read(cursor_register).payload, word(1), "", false, true);
  write(cursor_register, {Kind::Int, nullptr, cursor});
  write(insn.b, {Kind::Int, nullptr, cursor});
}

// Two ints: the hidden registers are nil, the cursor and the end (interp/runtime/iterate.h).
void Translator::iter_range(uint32_t pc, const Insn& insn) {
  const Operand first = read(insn.b);
  llvm::Value* end = payload_of(read(insn.c));
  if (insn.x & bytecode::kSense) end = checked(end, word(1), llvm::Intrinsic::sadd_with_overflow, exit_at(pc));
  write(insn.a, nil());
  write(static_cast<uint16_t>(insn.a + 1), first);
  write(static_cast<uint16_t>(insn.a + 2), {Kind::Int, nullptr, end});
}

// Lists; other iterations are exec's.
void Translator::for_next(uint32_t pc, const Insn& insn) {
  if (plan_.texts) return next_character(pc, insn);
  const auto cursor_register = static_cast<uint16_t>(insn.a + 1);
  const Operand list = read(insn.a);
  auto* listed = block("list");
  auto* more = block("more");
  auto* slow = cold("slow");
  b_.CreateCondBr(b_.CreateICmpEQ(tag_of(list), tag_word(Tag::List)), listed, slow);
  exec_in(slow, pc);
  go_on_in(listed);
  llvm::Value* cursor = payload_of(read(cursor_register));
  llvm::Value* size = size_of(list);
  b_.CreateCondBr(b_.CreateICmpULT(cursor, size), more, behind_rounds(pc, insn));
  go_on_in(more);
  // Before the step is charged: an exit comes back to this instruction.
  Operand known;
  const bool narrows = list.kind == Kind::Items && plan_.result != Kind::Any;
  if (narrows) known = narrowed(load_element(list, cursor, interp::Packing::Any), plan_.result, exit_at(pc));
  go_round(pc, chunk_.target_at(pc), [&] { advance_items(insn, known); });
}

// `narrowed`: the item, where more is known of it than that it is one of the list's.
void Translator::advance_items(const Insn& insn, const Operand& narrowed) {
  const auto cursor_register = static_cast<uint16_t>(insn.a + 1);
  const Operand list = read(insn.a);
  llvm::Value* cursor = payload_of(read(cursor_register));
  auto* done = block("done");
  by_packing(list, done, done, [&](interp::Packing packing) {
    const Operand item = narrowed.kind != Kind::Any ? narrowed : load_element(list, cursor, packing);
    retain(item);
    write(insn.b, item);
  });
  write(cursor_register, {Kind::Int, nullptr, b_.CreateAdd(cursor, word(1), "", true, true)});
}

}  // namespace posset::jit
