// Records that are no objects: their fields, numbers and bools all of them, are in variables (Kind::Unboxed). Most are
// made by one small function and read by another, both of which are inlined; then they cost nothing at all. One is boxed,
// that is made an object, where an instruction wants it as such, where ways meet of which another brings an object, and
// where the frame is to hold it. Allocation sinking, with what records are in place of an escape analysis: values, so that
// each way makes its own. Compare Stadler, Würthinger, Mössenböck, "Partial Escape Analysis and Scalar Replacement for
// Java" (CGO 2014).
//
// Boxing does not fail: native_box says what happens where there is no memory.
#include <cassert>
#include <cstddef>

#include "jit/translator.h"

namespace posset::jit {

using interp::FieldKinds;
using interp::Record;

// ---- variables ----

llvm::AllocaInst* Translator::part_variable(uint32_t reg, uint32_t field, Kind kind) {
  const bool is_float = kind == Kind::Float;
  llvm::AllocaInst*& found = parts_[{part_number(reg, field), is_float}];
  if (!found) found = new_unset_variable(is_float ? b_.getDoubleTy() : b_.getInt64Ty());
  return found;
}

Operand Translator::unboxed_value(uint32_t reg, const Known& known) {
  Operand v{Kind::Unboxed};
  v.shape = known.shape;
  for (uint32_t field = 0; field < count_fields(known.fields); ++field) {
    const Kind kind = field_kind(known.fields, field);
    llvm::AllocaInst* variable = part_variable(reg, field, kind);
    llvm::Value* part = load(variable->getAllocatedType(), variable);
    v.parts.push_back(kind == Kind::Float ? floating(part) : Operand{kind, nullptr, part});
  }
  return v;
}

void Translator::keep_parts(uint32_t reg, const Operand& v) {
  assert(v.kind == Kind::Unboxed);
  for (uint32_t field = 0; field < v.parts.size(); ++field) {
    const Operand& part = v.parts[field];
    put(part.kind == Kind::Float ? as_double(part) : payload_of(part), part_variable(reg, field, part.kind));
  }
}

void Translator::forget_parts(uint32_t reg) {
  const auto end = parts_.lower_bound({part_number(reg + 1, 0), false});
  for (auto each = parts_.lower_bound({part_number(reg, 0), false}); each != end; ++each) {
    put(llvm::PoisonValue::get(each->second->getAllocatedType()), each->second);
  }
}

// ---- instructions ----

void Translator::make_unboxed(const Insn& insn) {
  Operand v{Kind::Unboxed};
  v.shape = plan_.shape;
  for (uint32_t field = 0; field < count_fields(plan_.fields); ++field) {
    v.parts.push_back(moved_out(static_cast<uint16_t>(insn.b + field)));
  }
  write(insn.a, v);
}

void Translator::unboxed_field(const Insn& insn) {
  const Operand base = read(insn.b);
  const bool consumes = static_cast<Op>(insn.op) == Op::Field && (insn.x & bytecode::kConsumeB);
  if (consumes && insn.b != insn.a) write(insn.b, nil());
  write(insn.a, base.parts[plan_.field]);
}

void Translator::set_unboxed_field(const Insn& insn) {
  Operand base = read(insn.a);
  base.parts[plan_.field] = read(insn.c);
  if (insn.x & bytecode::kConsumeC) write(insn.c, nil());
  write(insn.a, base);
}

// ---- boxing ----

void Translator::box_operands(uint32_t pc) {
  const auto boxings = kinds_->to_box(pc, state_);
  for (const auto& each : boxings) {
    const bool is_copy = each.source != each.reg;
    const Operand v = is_copy ? cached_value(each.source, Kind::Record) : fresh_record(cached_value(each.reg, state_.known(each.reg)));
    if (is_copy) retain(v);
    keep(each.reg, Kind::Record, v);
  }
  Kinds::box(boxings, state_);
}

// With one owner.
Operand Translator::fresh_record(const Operand& v) {
  const auto count = static_cast<uint32_t>(v.parts.size());
  auto* slow = cold("full");
  auto* made = block("boxed");
  llvm::Value* cell = allocate(Tag::Record, sizeof(Record) + count * sizeof(Borrowed), 0, slow);
  of(Memory::Shape, put(shape_id(v.shape), word_pointer(cell, offsetof(Record, shape))));
  put(b_.getInt16(static_cast<uint16_t>(count)), word_pointer(cell, offsetof(Record, size)));
  of(Memory::Kinds, put(b_.getInt16(kinds_of_parts(v)), fields_pointer(cell)));
  for (uint32_t field = 0; field < count; ++field) {
    store_value(word_pointer(cell, sizeof(Record) + field * sizeof(Borrowed)), v.parts[field], Memory::Fields);
  }
  const Operand fast = object_made(Kind::Record, cell);
  llvm::BasicBlock* from_fast = b_.GetInsertBlock();
  b_.CreateBr(made);
  b_.SetInsertPoint(slow);
  llvm::Value* by_helper = record_by_helper(v);
  b_.CreateBr(made);
  go_on_in(made);
  llvm::PHINode* object = b_.CreatePHI(b_.getInt64Ty(), 2);
  object->addIncoming(fast.payload, from_fast);
  object->addIncoming(by_helper, slow);
  return {Kind::Record, nullptr, object};
}

uint16_t Translator::kinds_of_parts(const Operand& v) {
  uint32_t kinds = 0;
  for (uint32_t field = 0; field < v.parts.size(); ++field) kinds |= field_of_kind(field, v.parts[field].kind);
  return static_cast<uint16_t>(kinds);
}

llvm::Value* Translator::record_by_helper(const Operand& v) {
  constexpr uint64_t kMost = FieldKinds::kFields;
  Translator& root = *unit_.root;
  if (!root.parts_passed_) root.parts_passed_ = new_variable(llvm::ArrayType::get(b_.getInt64Ty(), kMost));
  for (uint32_t field = 0; field < v.parts.size(); ++field) {
    put(payload_of(v.parts[field]), word_pointer(root.parts_passed_, field * sizeof(uint64_t)));
  }
  llvm::Function* box = helper("box", b_.getInt64Ty(), {b_.getPtrTy(), b_.getInt32Ty(), b_.getInt32Ty(), b_.getPtrTy()});
  return b_.CreateCall(box, {host(), shape_id(v.shape), b_.getInt32(kinds_of_parts(v)), root.parts_passed_});
}

// What the object in the frame is unboxed to, where code is entered; the object is left as it is.
Operand Translator::unpacked(const Operand& object, const Known& known) {
  Operand v{Kind::Unboxed};
  v.shape = known.shape;
  for (uint32_t field = 0; field < count_fields(known.fields); ++field) {
    v.parts.push_back(assumed(load_field(field_at(object, field)), field_kind(known.fields, field)));
  }
  return v;
}

}  // namespace posset::jit
