// Fields of a known shape, and walks to places done in place (kinds_data.cpp plans them). A walk keeps no
// pointer from one instruction to the next, only the container it has come to; whatever does not fit exits at
// the walk's beginning, before anything has been changed.
#include <algorithm>
#include <bit>
#include <cstddef>

#include <llvm/IR/Intrinsics.h>

#include "jit/translator.h"

namespace posset::jit {

using interp::Record;

bool Translator::place(uint32_t pc, const Insn& insn) {
  switch (static_cast<Op>(insn.op)) {
    case Op::SetField: set_field(pc, insn); return true;
    case Op::PlaceLocal: place_ = read(insn.a); return true;
    case Op::PlaceRef: place_ref(pc, insn); return true;
    case Op::StorePlace: replace_part(cell_of(place_), insn.a, insn.x & bytecode::kConsumeA, Memory::Cells); return true;
    case Op::UpdatePlace: update_cell(pc, insn); return true;
    case Op::TakePlace: take_cell(pc, insn); return true;
    case Op::PlaceIndex:
    case Op::PlaceField: walk_step(pc); return true;
    case Op::StoreIndex:
    case Op::StoreField: store_part(pc, insn); return true;
    case Op::UpdateIndex:
    case Op::UpdateField: update_part(pc, insn); return true;
    case Op::TakeIndex:
    case Op::TakeField: take_part(pc, insn); return true;
    default: return false;
  }
}

// ---- guards ----

Operand Translator::narrowed(const Operand& v, Kind wanted, llvm::BasicBlock* otherwise) {
  if (wanted == Kind::Any || v.kind == wanted) return v;
  auto* fits = block("fits");
  b_.CreateCondBr(is_kind(v, wanted), fits, otherwise);
  go_on_in(fits);
  return assumed(v, wanted);
}

Operand Translator::assumed(const Operand& v, Kind kind) {
  if (kind == Kind::Float) return floating(loaded_number(v.payload));
  return {kind, nullptr, v.payload};
}

// Read once more as what it is: one read that exits store as a word goes by way of a register for words, of which
// there are few.
llvm::Value* Translator::loaded_number(llvm::Value* payload) {
  auto* word = llvm::dyn_cast<llvm::LoadInst>(payload);
  if (!word) return b_.CreateBitCast(payload, b_.getDoubleTy());
  llvm::LoadInst* number = load(b_.getDoubleTy(), word->getPointerOperand());
  number->copyMetadata(*word);
  return number;
}

void Translator::check_shape(const Operand& v, uint32_t known, uint32_t wanted, llvm::BasicBlock* otherwise) {
  if (known == wanted) return;
  auto* shaped = block("shaped");
  b_.CreateCondBr(b_.CreateICmpEQ(shape_of(v), shape_id(wanted)), shaped, otherwise);
  go_on_in(shaped);
}

llvm::Value* Translator::shape_of(const Operand& v) {
  return of(Memory::Shape, load(b_.getInt32Ty(), word_pointer(object(v), offsetof(Record, shape))));
}

// ---- what a record says of its fields ----

llvm::Value* Translator::fields_pointer(llvm::Value* object) { return word_pointer(object, offsetof(Record, kinds)); }

llvm::Value* Translator::tells_fields(const Operand& base, uint16_t wanted) {
  llvm::Value* kinds = of(Memory::Kinds, load(b_.getInt16Ty(), fields_pointer(object(base))));
  return b_.CreateICmpEQ(b_.CreateAnd(kinds, b_.getInt16(fields_told(wanted))), b_.getInt16(wanted));
}

void Translator::check_fields(const Operand& base, uint16_t wanted, llvm::BasicBlock* otherwise) {
  auto* told = block("told");
  b_.CreateCondBr(tells_fields(base, wanted), told, otherwise);
  go_on_in(told);
}

// Whether the plan's field need not be looked at itself.
bool Translator::is_told(const Operand& base, uint16_t known, Kind wanted, llvm::BasicBlock* otherwise) {
  const uint16_t told = field_of_kind(plan_.field, wanted);
  if (!told) return false;
  if (tells(known, told)) return true;
  if (plan_.together) check_fields(base, plan_.together, otherwise);
  return plan_.together != 0;
}

// As FieldKinds has it: of plain values the tags are small, and whole words.
llvm::Value* Translator::kind_noted(const Operand& v) {
  using interp::FieldKinds;
  constexpr uint64_t kTags = static_cast<uint64_t>(Tag::Float) + 1;
  static_assert(static_cast<uint64_t>(Tag::Bool) < kTags && static_cast<uint64_t>(Tag::Int) < kTags);
  if (v.kind != Kind::Any) return b_.getInt16(field_of_kind(0, v.kind));
  uint64_t kinds = 0;
  for (uint64_t tag = 0; tag < kTags; ++tag) kinds |= uint64_t{FieldKinds::of(static_cast<Tag>(tag))} << (2 * tag);
  llvm::Value* tag = tag_of(v);
  llvm::Value* kind = b_.CreateLShr(word(kinds), b_.CreateAnd(b_.CreateShl(tag, 1), word(63)));
  llvm::Value* plain = b_.CreateICmpULT(tag, word(kTags));
  return b_.CreateTrunc(b_.CreateSelect(plain, b_.CreateAnd(kind, word(3)), word(0)), b_.getInt16Ty());
}

void Translator::note_field(llvm::Value* object, uint32_t field, const Operand& v) {
  const uint16_t mask = field_mask(field);
  if (!mask) return;
  llvm::Value* to = fields_pointer(object);
  llvm::Value* others = b_.CreateAnd(of(Memory::Kinds, load(b_.getInt16Ty(), to)), b_.getInt16(static_cast<uint16_t>(~mask)));
  llvm::Value* noted = b_.CreateShl(kind_noted(v), 2 * field);
  of(Memory::Kinds, put(b_.CreateOr(others, noted), to));
}

// Where the field is known only when it runs.
void Translator::note_field_at(const Operand& base, llvm::Value* field, const Operand& v) {
  auto* early = block("early");
  auto* noted = block("noted");
  b_.CreateCondBr(b_.CreateICmpULT(field, word(interp::FieldKinds::kFields)), early, noted);
  go_on_in(early);
  llvm::Value* shift = b_.CreateTrunc(b_.CreateShl(field, 1), b_.getInt16Ty());
  llvm::Value* mask = b_.CreateShl(b_.getInt16(3), shift);
  llvm::Value* to = fields_pointer(object(base));
  llvm::Value* others = b_.CreateAnd(of(Memory::Kinds, load(b_.getInt16Ty(), to)), b_.CreateNot(mask));
  of(Memory::Kinds, put(b_.CreateOr(others, b_.CreateShl(kind_noted(v), shift)), to));
  b_.CreateBr(noted);
  go_on_in(noted);
}

void Translator::demand_unique(const Operand& v, llvm::BasicBlock* otherwise) {
  auto* unique = block("unique");
  b_.CreateCondBr(is_unique(v), unique, otherwise);
  go_on_in(unique);
}

// ---- fields of values ----

llvm::Value* Translator::field_at(const Operand& base, uint32_t field) {
  return word_pointer(object(base), sizeof(Record) + uint64_t{field} * sizeof(Borrowed));
}

void Translator::known_field(uint32_t pc, const Insn& insn) {
  const Operand base = read(insn.b);
  if (base.kind == Kind::UnboxedRecord) return unboxed_part(insn);
  if (base.kind == Kind::Ref) return value_of_ref(pc, insn);
  llvm::BasicBlock* exit = exit_at(pc);
  check_shape(base, state_.shapes[insn.b], plan_.shape, exit);
  const bool told = is_told(base, state_.fields[insn.b], plan_.result, exit);
  const Operand read = load_field(field_at(base, plan_.field));
  const Operand v = told ? assumed(read, plan_.result) : narrowed(read, plan_.result, exit);
  const bool counts = static_cast<Op>(insn.op) == Op::Field;
  if (counts) {
    if (!lend(pc, nullptr)) retain(v);
    consume_container(insn, base);
  }
  write(insn.a, v);
}

void Translator::set_field(uint32_t pc, const Insn& insn) {
  const bool consume = insn.x & bytecode::kConsumeC;
  const Operand base = read(insn.a);
  if (base.kind == Kind::UnboxedRecord) return set_unboxed_field(insn);
  auto* after = block("after");
  auto* slow = slow_way(pc, after);
  if (plan_.way == Way::Inline) {
    check_shape(base, state_.shapes[insn.a], plan_.shape, slow);
    demand_unique(base, slow);
    store_field(base, state_.fields[insn.a], insn.c, consume);
  } else {
    llvm::Value* number = nullptr;
    llvm::Value* to = field_pointer(base, insn.b, slow, &number);
    demand_unique(base, slow);
    note_field_at(base, number, read(insn.c));
    replace_part(to, insn.c, consume, Memory::Fields);
  }
  b_.CreateBr(after);
  go_on_in(after);
}

// Into the plan's field, by what is known of those of the record.
void Translator::store_field(const Operand& base, uint16_t known, uint16_t reg, bool consume) {
  const Operand v = read(reg);
  llvm::Value* to = field_at(base, plan_.field);
  const uint16_t told = field_of_kind(plan_.field, v.kind);
  if (told && tells(known, told)) {
    if (consume) write(reg, nil());
    of(Memory::Fields, store_word(to, 8, payload_of(v)));
    return;
  }
  note_field(object(base), plan_.field, v);
  replace_part(to, reg, consume, Memory::Fields, known & field_mask(plan_.field));
}

// The old value dies last: nothing may see a slot whose value is gone.
void Translator::replace_part(llvm::Value* to, uint16_t reg, bool consume, Memory memory, bool is_plain) {
  const Operand v = read(reg);
  const Operand old = is_plain ? nil() : load_value(to, memory);
  if (consume) {
    write(reg, nil());
  } else {
    retain(v);
  }
  store_value(to, v, memory);
  release(old);
}

// ---- walks ----

// Where the instruction's item or field is, in a container that nobody else has.
llvm::Value* Translator::place_part(uint32_t pc, const Insn& insn) {
  const Op op = static_cast<Op>(insn.op);
  llvm::BasicBlock* exit = exit_at(pc);
  if (has_fields(place_.kind)) {
    check_shape(place_, state_.place_shape, plan_.shape, exit);
    demand_unique(place_, exit);
    return field_at(place_, plan_.field);
  }
  llvm::Value* at = changed_element(place_, read(op == Op::TakeIndex ? insn.b : insn.a), exit);
  return element_pointer(place_, at, packing_of_kind(place_.kind));
}

// What is there, of a kind that the container or the plan tells.
Operand Translator::part_at(llvm::Value* from, Kind kind, llvm::BasicBlock* otherwise) {
  if (is_tagged_place()) return narrowed(load_value(from, place_memory()), kind, otherwise);
  return load_item(from, packing_of_kind(place_.kind));
}

void Translator::walk_step(uint32_t pc) {
  llvm::Value* part = place_part(pc, chunk_.at(pc));
  if (is_proved_walk(pc)) {
    place_ = assumed(load_value(part, Memory::Items), plan_.result);
  } else {
    place_ = part_at(part, plan_.result, exit_at(pc));
  }
}

void Translator::store_part(uint32_t pc, const Insn& insn) {
  llvm::Value* to = place_part(pc, insn);
  if (has_fields(place_.kind)) return store_field(place_, state_.place_fields, insn.b, insn.x & bytecode::kConsumeB);
  if (is_tagged_place()) return replace_part(to, insn.b, insn.x & bytecode::kConsumeB, place_memory());
  put_item(packing_of_kind(place_.kind), read(insn.b), to);
}

// Moves the value out and leaves nil; numbers of a packed list are copied.
void Translator::take_part(uint32_t pc, const Insn& insn) {
  llvm::Value* from = place_part(pc, insn);
  const Operand v = part_at(from, plan_.result, exit_at(pc));
  if (is_tagged_place() && !lend(pc, from)) {
    if (has_fields(place_.kind) && !is_counted(v.kind)) note_field(object(place_), plan_.field, nil());
    store_value(from, nil(), place_memory());
  }
  write(insn.a, v);
}

void Translator::update_part(uint32_t pc, const Insn& insn) {
  llvm::Value* to = place_part(pc, insn);
  llvm::BasicBlock* exit = exit_at(pc);
  const bool told = has_fields(place_.kind) && is_told(place_, state_.place_fields, plan_.part, exit);
  const Operand old = told ? assumed(load_field(to), plan_.part) : part_at(to, plan_.part, exit);
  if (insn.c != bytecode::kNoRegister) demand_same(old, read(insn.c), exit);
  const Operand result = updated(pc, old, read(insn.b));
  if (!is_tagged_place()) return put_item(packing_of_kind(place_.kind), result, to);
  if (result.kind != old.kind) {
    of(place_memory(), store_word(to, 0, tag_of(result)));
    if (has_fields(place_.kind)) note_field(object(place_), plan_.field, result);
  }
  of(place_memory(), store_word(to, 8, payload_of(result)));
}

// ---- refs ----

llvm::Value* Translator::cell_of(const Operand& ref) { return word_pointer(object(ref), offsetof(interp::Ref, value)); }

// Not lent: whoever has the ref may replace what is in it.
void Translator::value_of_ref(uint32_t pc, const Insn& insn) {
  const Operand ref = read(insn.b);
  const Operand v = narrowed(load_value(cell_of(ref), Memory::Cells), plan_.result, exit_at(pc));
  if (static_cast<Op>(insn.op) == Op::Field) {
    retain(v);
    consume_container(insn, ref);
  }
  write(insn.a, v);
}

void Translator::place_ref(uint32_t pc, const Insn& insn) {
  place_ = read(insn.a);
  if (plan_.result == Kind::Ref) return;
  place_ = narrowed(load_value(cell_of(place_), Memory::Cells), plan_.result, exit_at(pc));
}

void Translator::take_cell(uint32_t pc, const Insn& insn) {
  const Operand v = narrowed(load_value(cell_of(place_), Memory::Cells), plan_.result, exit_at(pc));
  retain(v);
  write(insn.a, v);
}

void Translator::update_cell(uint32_t pc, const Insn& insn) {
  llvm::Value* cell = cell_of(place_);
  const Operand old = narrowed(load_value(cell, Memory::Cells), plan_.part, exit_at(pc));
  if (insn.b != bytecode::kNoRegister) demand_same(old, read(insn.b), exit_at(pc));
  const Operand result = updated(pc, old, read(insn.a));
  if (result.kind != old.kind) of(Memory::Cells, store_word(cell, 0, tag_of(result)));
  of(Memory::Cells, store_word(cell, 8, payload_of(result)));
}

// The old value as it was read before the right side ran is still the one in the place.
void Translator::demand_same(const Operand& now, const Operand& before, llvm::BasicBlock* otherwise) {
  auto* current = block("current");
  llvm::Value* same = b_.CreateICmpEQ(payload_of(now), payload_of(before));
  if (before.tag) same = b_.CreateAnd(same, b_.CreateICmpEQ(tag_of(now), before.tag));
  b_.CreateCondBr(same, current, otherwise);
  go_on_in(current);
}

Operand Translator::updated(uint32_t pc, const Operand& old, const Operand& right) {
  using syntax::BinaryOp;
  struct Row {
    BinaryOp op;
    llvm::Intrinsic::ID on_ints;
    llvm::Instruction::BinaryOps on_floats;
  };
  static constexpr Row kRows[] = {
      {BinaryOp::Add, llvm::Intrinsic::sadd_with_overflow, llvm::Instruction::FAdd},
      {BinaryOp::Sub, llvm::Intrinsic::ssub_with_overflow, llvm::Instruction::FSub},
      {BinaryOp::Mul, llvm::Intrinsic::smul_with_overflow, llvm::Instruction::FMul},
      {BinaryOp::Div, llvm::Intrinsic::not_intrinsic, llvm::Instruction::FDiv},
  };
  const auto op = static_cast<BinaryOp>(std::bit_cast<uint64_t>(chunk_.at(pc + 1)));
  const Row& row = *std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& each) { return each.op == op; });
  if (plan_.result == Kind::Float) return floating(b_.CreateBinOp(row.on_floats, number_of(old), number_of(right)));
  return {Kind::Int, nullptr, checked(payload_of(old), payload_of(right), row.on_ints, exit_at(pc))};
}

}  // namespace posset::jit
