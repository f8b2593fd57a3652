// Records and short lists that are no objects: their parts, numbers and bools all of them, are in variables
// (Kind::UnboxedRecord, Kind::UnboxedList). Most are made by one small function and read by another, both of which are
// inlined; then they cost nothing at all. One is boxed, that is made an object, where an instruction wants it as such, where
// ways meet of which another brings an object, and where the frame is to hold it. Allocation sinking, with what values are
// in place of an escape analysis: each way makes its own. Compare Stadler, Würthinger, Mössenböck, "Partial Escape Analysis
// and Scalar Replacement for Java" (CGO 2014).
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
  assert(known.fields != 0);
  Operand v{known.kind};
  v.shape = known.shape;
  for (uint32_t field = 0; field < count_parts(known.fields); ++field) {
    const Kind kind = field_kind(known.fields, field);
    llvm::AllocaInst* variable = part_variable(reg, field, kind);
    llvm::Value* part = load(variable->getAllocatedType(), variable);
    v.parts.push_back(kind == Kind::Float ? floating(part) : Operand{kind, nullptr, part});
  }
  return v;
}

void Translator::keep_parts(uint32_t reg, const Operand& v) {
  assert(is_unboxed(v.kind) && !v.parts.empty());
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

bool Translator::make_unboxed(const Insn& insn) {
  Operand v{plan_.result};
  v.shape = plan_.shape;
  for (uint32_t part = 0; part < count_parts(plan_.fields); ++part) {
    v.parts.push_back(moved_out(static_cast<uint16_t>(insn.b + part)));
  }
  write(insn.a, v);
  return true;
}

bool Translator::is_item_unboxed(const Insn& insn) const {
  const Op op = static_cast<Op>(insn.op);
  return (op == Op::Index || op == Op::ViewIndex || op == Op::ViewItem) && plan_.b == Kind::UnboxedList;
}

void Translator::unboxed_part(const Insn& insn) {
  const Operand base = read(insn.b);
  const Op op = static_cast<Op>(insn.op);
  const bool consumes = (op == Op::Field || op == Op::Index) && (insn.x & bytecode::kConsumeB);
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
    const Known known = state_.known(each.reg);
    const Kind kind = boxed(known).kind;
    const Operand v = is_copy ? cached_value(each.source, kind) : fresh_object(cached_value(each.reg, known));
    if (is_copy) retain(v);
    keep(each.reg, kind, v);
  }
  Kinds::box(boxings, state_);
}

Known Translator::known_of(const Operand& v) {
  uint32_t kinds = 0;
  for (uint32_t part = 0; part < v.parts.size(); ++part) kinds |= field_of_kind(part, v.parts[part].kind);
  return {v.kind, v.shape, static_cast<uint16_t>(kinds)};
}

// With one owner.
Operand Translator::fresh_object(const Operand& v) {
  const Kind kind = boxed(known_of(v)).kind;
  auto* slow = cold("full");
  auto* made = block("boxed");
  const Operand fast = object_made(kind, is_list(kind) ? fresh_list(v, kind, slow) : fresh_record(v, slow));
  llvm::BasicBlock* from_fast = b_.GetInsertBlock();
  b_.CreateBr(made);
  b_.SetInsertPoint(slow);
  give_fuel_back();
  llvm::Value* by_helper = object_by_helper(v, true);
  take_fuel();  // none is left where the limit was overdrawn
  b_.CreateBr(made);
  go_on_in(made);
  llvm::PHINode* object = b_.CreatePHI(b_.getInt64Ty(), 2);
  object->addIncoming(fast.payload, from_fast);
  object->addIncoming(by_helper, slow);
  return {kind, nullptr, object};
}

llvm::Value* Translator::fresh_record(const Operand& v, llvm::BasicBlock* slow) {
  const auto count = static_cast<uint32_t>(v.parts.size());
  llvm::Value* cell = allocate_record(Tag::Record, shape_id(v.shape), count, slow);
  of(Memory::Kinds, put(b_.getInt16(known_of(v).fields), fields_pointer(cell)));
  for (uint32_t field = 0; field < count; ++field) {
    store_value(word_pointer(cell, sizeof(Record) + field * sizeof(Borrowed)), v.parts[field], Memory::Fields);
  }
  return cell;
}

llvm::Value* Translator::fresh_list(const Operand& v, Kind kind, llvm::BasicBlock* slow) {
  const interp::Packing packing = packing_of_kind(kind);
  llvm::Value* cell = allocate_list(kind, v.parts.size(), v.parts.size(), slow);
  const Operand list = object_made(kind, cell);
  for (uint32_t n = 0; n < v.parts.size(); ++n) put_item(packing, v.parts[n], element_pointer(list, word(n), packing));
  return cell;
}

llvm::Value* Translator::object_by_helper(const Operand& v, bool goes_on) {
  unit_.root->parts_boxed_ = FieldKinds::kFields;
  for (uint32_t part = 0; part < v.parts.size(); ++part) {
    put(payload_of(v.parts[part]), word_pointer(parts_passed(), part * sizeof(uint64_t)));
  }
  llvm::Value* shape = v.kind == Kind::UnboxedList ? b_.getInt32(kNoShape) : shape_id(v.shape);
  llvm::Function* box = helper("box", b_.getInt64Ty(), {b_.getPtrTy(), b_.getInt32Ty(), b_.getInt32Ty(), b_.getPtrTy(), b_.getInt8Ty()});
  llvm::Value* kinds = b_.getInt32(known_of(v).fields);
  return b_.CreateCall(box, {host(), shape, kinds, parts_passed(), b_.getInt8(goes_on)});
}

// ---- entries ----

// Whether a list that is to be unboxed has such items, its packing being what they make it.
llvm::Value* Translator::has_parts(const Operand& list, const Known& known) {
  const uint32_t count = count_parts(known.fields);
  llvm::Value* sized = b_.CreateICmpEQ(size_of(list), word(count));
  if (list.kind != Kind::Items) return sized;
  return both_hold(sized, [&] {
    llvm::Value* fit = b_.getTrue();
    for (uint32_t n = 0; n < count; ++n) {
      fit = b_.CreateAnd(fit, is(load_element(list, word(n), interp::Packing::Any), field_kind(known.fields, n)));
    }
    return fit;
  });
}

// The object is left as it is.
Operand Translator::unpacked(const Operand& object, const Known& known) {
  Operand v{known.kind};
  v.shape = known.shape;
  for (uint32_t n = 0; n < count_parts(known.fields); ++n) {
    const bool is_field = known.kind == Kind::UnboxedRecord;
    const Operand part = is_field ? load_field(field_at(object, n)) : load_element(object, word(n), packing_of_kind(object.kind));
    v.parts.push_back(part.kind == Kind::Any ? assumed(part, field_kind(known.fields, n)) : part);
  }
  return v;
}

}  // namespace posset::jit
