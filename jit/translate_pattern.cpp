// Patterns: tests that jump when they fail, and views of the parts.
#include <bit>
#include <cstddef>

#include "interp/value/shape.h"
#include "jit/translator.h"

namespace posset::jit {

using interp::List;
using interp::Record;

bool Translator::pattern(uint32_t pc, const Insn& insn) {
  const Op op = static_cast<Op>(insn.op);
  if (op == Op::TestConst) return test_const(pc, insn);
  switch (op) {
    case Op::TestRecord: return test(pc, b_.CreateICmpEQ(tag_of(read(insn.a)), tag_word(Tag::Record)));
    case Op::TestVariant: test_variant(pc, insn); return true;
    case Op::TestType:
    case Op::CheckParam:
    case Op::CheckType: return type_test(pc, insn);
    case Op::TestList: test_list(pc, insn); return true;
    case Op::TestField:
      if (plan_.way == Way::Inline) {
        known_field(pc, insn);
      } else {
        test_field(pc, insn);
      }
      return true;
    case Op::ViewItem: view_item(pc, insn); return true;
    default: return false;
  }
}

bool Translator::test(uint32_t pc, llvm::Value* fits) {
  b_.CreateCondBr(fits, block_at(pc + chunk_.length_at(pc)), block_at(chunk_.target_at(pc)));
  return true;
}

// By the set of tags that fit; values of the open ones, and what fails a check, are exec's.
bool Translator::type_test(uint32_t pc, const Insn& insn) {
  const Chunk::Type& type = chunk_.types[insn.b];
  const bool jumps = static_cast<Op>(insn.op) == Op::TestType;
  if (plan_.way == Way::Exec) return false;
  if (plan_.way == Way::Inline) return !jumps || test(pc, b_.getInt1(*told_by_kind(type, type_tested(insn.a))));
  llvm::Value* tag = b_.CreateAnd(tag_of(read(insn.a)), word(0xff));
  auto is_in = [&](uint32_t tags) { return b_.CreateTrunc(b_.CreateLShr(word(tags), tag), b_.getInt1Ty()); };
  auto* told = block("told");
  if (!jumps) {
    b_.CreateCondBr(is_in(type.tags.fit), told, slow_way(pc, told));
    go_on_in(told);
    return true;
  }
  auto* slow = cold("slow");
  b_.CreateCondBr(is_in(type.tags.open), slow, told);
  exec_in(slow, pc);
  go_on_in(told);
  return test(pc, is_in(type.tags.fit));
}

// Of a constructor with fields, or of the value that one without is. Links of constructors are there before any
// code runs, and stay.
llvm::Value* Translator::constructed_shape(uint16_t link) {
  static_assert(offsetof(Record, shape) == offsetof(interp::Constructor, shape));
  llvm::Value* constructor = closure_of_link(closure(), link);
  return fixed(load(b_.getInt32Ty(), word_pointer(constructor, offsetof(Record, shape))));
}

void Translator::test_variant(uint32_t pc, const Insn& insn) {
  const Operand v = read(insn.a);
  llvm::BasicBlock* fails = block_at(chunk_.target_at(pc));
  auto* variant = block("variant");
  b_.CreateCondBr(b_.CreateICmpEQ(tag_of(v), tag_word(Tag::Variant)), variant, fails);
  go_on_in(variant);
  test(pc, b_.CreateICmpEQ(shape_of(v), constructed_shape(insn.b)));
}

void Translator::test_list(uint32_t pc, const Insn& insn) {
  const Operand list = read(insn.a);
  const bool is_known = list.kind == Kind::UnboxedList;
  llvm::Value* size = is_known ? word(list.parts.size()) : list_size(list, block_at(chunk_.target_at(pc)));
  const bool at_least = insn.x & bytecode::kSense;
  test(pc, at_least ? b_.CreateICmpUGE(size, word(insn.b)) : b_.CreateICmpEQ(size, word(insn.b)));
}

// Nil, bools, ints and short strings are equal when both words are, except that an int may equal a float.
bool Translator::test_const(uint32_t pc, const Insn& insn) {
  const Borrowed wanted = chunk_.constants[insn.b];
  if (!wanted.is_nil() && !wanted.is_bool() && !wanted.is_int() && !wanted.is_short_string()) return false;
  const Operand v = read(insn.a);
  llvm::Value* same = b_.CreateICmpEQ(tag_of(v), word(wanted.word0));
  if (!wanted.is_nil()) same = b_.CreateAnd(same, b_.CreateICmpEQ(payload_of(v), word(wanted.word1)));
  if (!wanted.is_int()) return test(pc, same);
  auto* slow = cold("slow");
  auto* other = block("other");
  b_.CreateCondBr(is(v, Kind::Float), slow, other);
  exec_in(slow, pc);
  go_on_in(other);
  return test(pc, same);
}

void Translator::test_field(uint32_t pc, const Insn& insn) {
  const auto cache = static_cast<uint16_t>(std::bit_cast<uint64_t>(chunk_.at(pc + 1)));
  auto* slow = cold("slow");
  llvm::Value* from = field_pointer(read(insn.b), cache, slow);
  exec_in(slow, pc);
  write(insn.a, load_field(from));
  b_.CreateBr(block_at(pc + chunk_.length_at(pc)));
}

// The test before it has told that the item is there.
void Translator::view_item(uint32_t pc, const Insn& insn) {
  if (is_item_unboxed(insn)) return unboxed_part(insn);
  const Operand base = read(insn.b);
  if (insn.c == bytecode::kNoRegister) return write(insn.a, base);
  if (base.kind == Kind::Variant) {
    const Operand part = load_field(field_at(base, insn.c));
    return write(insn.a, narrowed(part, plan_.result, exit_at(pc)));
  }
  llvm::Value* index = word(insn.c);
  if (insn.x & bytecode::kSense) {
    index = b_.CreateSub(size_of(base), word(uint64_t{insn.c} + 1));
  }
  const Operand item = load_element(base, index, packing_of_kind(base.kind));
  write(insn.a, narrowed(item, plan_.result, exit_at(pc)));
}

}  // namespace posset::jit
