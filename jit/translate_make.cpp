// Making small objects, and push and pop. Cells come from the heap's free lists
// as Heap::make_object takes them; when there is none of the size, exec does the instruction.
#include <algorithm>
#include <bit>
#include <cstddef>

#include "interp/runtime/context.h"
#include "interp/value/list.h"
#include "interp/value/shape.h"
#include "jit/translator.h"

namespace posset::jit {

using interp::Heap;
using interp::List;
using interp::Packing;
using interp::Record;

bool Translator::make(uint32_t pc, const Insn& insn) {
  switch (static_cast<Op>(insn.op)) {
    case Op::MakeRecord: {
      if (is_unboxed(plan_.result)) return make_unboxed(insn);
      const interp::Shape* shape = chunk_.shapes[insn.c];
      return make_record(pc, Tag::Record, static_cast<uint32_t>(shape->fields.size()), shape_id(shape->id));
    }
    case Op::MakeVariant: return make_record(pc, Tag::Variant, insn.x, constructed_shape(insn.c));
    case Op::MakeList: return is_unboxed(plan_.result) ? make_unboxed(insn) : make_list(pc, insn);
    case Op::NewList: return new_list(pc, insn);
    case Op::Push: push(pc, insn); return true;
    case Op::Pop: pop(pc, insn); return true;
    default: return false;
  }
}

// ---- objects ----

// A cell with its header, or on to `slow`. Null: not of a size that has cells.
llvm::Value* Translator::allocate(Tag tag, size_t bytes, uint8_t flags, llvm::BasicBlock* slow) {
  const size_t cls = Heap::class_of(bytes);
  llvm::Value* heap = word_pointer(host(), offsetof(interp::Context, heap));
  llvm::Value* to_free = word_pointer(heap, Heap::free_cells_offset(cls));
  llvm::Value* cell = load(b_.getPtrTy(), to_free);
  auto* found = block("found");
  b_.CreateCondBr(b_.CreateIsNotNull(cell), found, slow);
  go_on_in(found);
  put(load_word(cell, 0), to_free);
  llvm::Value* made = word_pointer(heap, Heap::allocations_offset());
  put(b_.CreateAdd(load(b_.getInt64Ty(), made), word(1)), made);
  store_word(cell, 0, word(Heap::header_word(tag, flags, cls)));
  return cell;
}

Operand Translator::object_made(Kind kind, llvm::Value* cell) {
  return {kind, nullptr, b_.CreatePtrToInt(cell, b_.getInt64Ty())};
}

// Its fields, and what is known of them, are still to be set.
llvm::Value* Translator::allocate_record(Tag tag, llvm::Value* shape, uint32_t count, llvm::BasicBlock* slow) {
  llvm::Value* cell = allocate(tag, sizeof(Record) + count * sizeof(Borrowed), 0, slow);
  of(Memory::Shape, put(shape, word_pointer(cell, offsetof(Record, shape))));
  put(b_.getInt16(static_cast<uint16_t>(count)), word_pointer(cell, offsetof(Record, size)));
  return cell;
}

bool Translator::make_record(uint32_t pc, Tag tag, uint32_t count, llvm::Value* shape) {
  const Insn& insn = chunk_.at(pc);
  const size_t bytes = sizeof(Record) + count * sizeof(Borrowed);
  if (plan_.way == Way::Exec || !Heap::has_class(bytes)) return false;
  auto* after = block("after");
  llvm::Value* cell = allocate_record(tag, shape, count, slow_way(pc, after));
  llvm::Value* kinds = b_.getInt16(0);
  for (uint32_t n = 0; n < count; ++n) {
    const Operand v = moved_out(static_cast<uint16_t>(insn.b + n));
    store_value(word_pointer(cell, sizeof(Record) + n * sizeof(Borrowed)), v, Memory::Fields);
    if (field_mask(n)) kinds = b_.CreateOr(kinds, b_.CreateShl(kind_noted(v), 2 * n));
  }
  of(Memory::Kinds, put(kinds, fields_pointer(cell)));
  write(insn.a, object_made(tag == Tag::Record ? Kind::Record : Kind::Variant, cell));
  b_.CreateBr(after);
  go_on_in(after);
  return true;
}

Operand Translator::moved_out(uint16_t reg) {
  const Operand v = read(reg);
  write(reg, nil());
  return v;
}

// ---- lists ----

llvm::Value* Translator::allocate_list(Kind kind, size_t items, size_t size, llvm::BasicBlock* slow) {
  const Packing packing = packing_of_kind(kind);
  const size_t bytes = sizeof(List) + items * interp::element_bytes(packing);
  llvm::Value* cell = allocate(Tag::List, bytes, static_cast<uint8_t>(packing), slow);
  const size_t room = Heap::class_of(bytes) * Heap::kGranule - sizeof(List);
  store_word(cell, offsetof(List, size), word(size));
  store_word(cell, offsetof(List, capacity), word(room / interp::element_bytes(packing)));
  return cell;
}

bool Translator::new_list(uint32_t pc, const Insn& insn) {
  if (plan_.way == Way::Exec || !Heap::has_class(sizeof(List) + insn.b * sizeof(Borrowed))) return false;
  auto* after = block("after");
  llvm::Value* cell = allocate_list(Kind::Items, insn.b, 0, slow_way(pc, after));
  write(insn.a, object_made(Kind::Items, cell));
  b_.CreateBr(after);
  go_on_in(after);
  return true;
}

// What exec has made is empty, and of anything or, for an iteration, of ints: it is made one of what will be put into
// it, which there may be more room for.
void Translator::pack_new_list(uint32_t pc) {
  const Op op = chunk_.op_at(pc);
  const uint16_t reg = chunk_.at(pc).a;
  if ((op != Op::NewList && op != Op::NewListFor) || !is_packed(plan_.result) || !cached(reg)) return;
  const Operand list = cached_value(reg, plan_.result);
  const Packing packing = packing_of_kind(plan_.result);
  of(Memory::Header, put(b_.getInt8(static_cast<uint8_t>(packing)), word_pointer(object(list), offsetof(List, flags))));
  const Packing made = op == Op::NewListFor ? Packing::Int : Packing::Any;
  const size_t times = interp::element_bytes(made) / interp::element_bytes(packing);
  of(Memory::Header, store_word(object(list), offsetof(List, capacity), b_.CreateMul(capacity_of(list), word(times))));
}

// Of items that tell its packing.
bool Translator::make_list(uint32_t pc, const Insn& insn) {
  if (plan_.way == Way::Exec || !Heap::has_class(sizeof(List) + insn.c * sizeof(Borrowed))) return false;
  auto* after = block("after");
  llvm::Value* cell = allocate_list(plan_.result, insn.c, insn.c, slow_way(pc, after));
  const Operand list = object_made(plan_.result, cell);
  for (uint32_t n = 0; n < insn.c; ++n) {
    llvm::Value* to = element_pointer(list, word(n), packing_of_kind(list.kind));
    put_item(packing_of_kind(list.kind), moved_out(static_cast<uint16_t>(insn.b + n)), to);
  }
  write(insn.a, list);
  b_.CreateBr(after);
  go_on_in(after);
  return true;
}

// Into a list that nobody else has, that has room, and whose packing the item fits.
void Translator::push(uint32_t pc, const Insn& insn) {
  const bool consume = insn.x & bytecode::kConsumeB;
  const Operand list = read(insn.a);
  const Operand v = read(insn.b);
  auto* after = block("after");
  auto* slow = slow_way(pc, after);
  auto* listed = block("listed");
  llvm::Value* tagged = b_.CreateICmpEQ(tag_of(list), tag_word(Tag::List));
  // Pushed onto itself it has two owners.
  if (!consume && !is_plain(v.kind)) {
    tagged = b_.CreateAnd(tagged, b_.CreateICmpNE(payload_of(list), payload_of(v)));
  }
  b_.CreateCondBr(tagged, listed, slow);
  go_on_in(listed);
  demand_unique(list, slow);
  llvm::Value* size = size_of(list);
  auto* room = block("room");
  b_.CreateCondBr(b_.CreateICmpULT(size, capacity_of(list)), room, slow);
  go_on_in(room);
  if (cached(insn.a)) write(insn.a, list);
  auto* any = block("any");
  const Kind packed = list_for(v.kind);
  if (packed != Kind::Items) push_packed(list, size, packed, v, any, after);
  if (packed == Kind::Items) b_.CreateBr(any);
  go_on_in(any);
  auto* fits = block("fits");
  llvm::Value* any_packing = b_.CreateICmpEQ(packing_of(list), b_.getInt8(static_cast<uint8_t>(Packing::Any)));
  // The first item gives the list its packing.
  b_.CreateCondBr(b_.CreateAnd(any_packing, b_.CreateICmpNE(size, word(0))), fits, slow);
  go_on_in(fits);
  push_item(list, size, Kind::Items, v);
  if (!consume) retain(v);
  if (consume) write(insn.b, nil());
  b_.CreateBr(after);
  go_on_in(after);
}

void Translator::push_packed(const Operand& list, llvm::Value* size, Kind packed, const Operand& v,
                               llvm::BasicBlock* otherwise, llvm::BasicBlock* after) {
  auto* fits = block("fits");
  const auto packing = static_cast<uint8_t>(packing_of_kind(packed));
  b_.CreateCondBr(b_.CreateICmpEQ(packing_of(list), b_.getInt8(packing)), fits, otherwise);
  go_on_in(fits);
  push_item(list, size, packed, v);
  b_.CreateBr(after);
}

void Translator::push_item(const Operand& list, llvm::Value* size, Kind packed, const Operand& v) {
  put_item(packing_of_kind(packed), v, element_pointer(list, size, packing_of_kind(packed)));
  set_size(list, b_.CreateAdd(size, word(1)));
}

// The reference moves out of the list.
void Translator::pop(uint32_t pc, const Insn& insn) {
  llvm::BasicBlock* exit = exit_at(pc);
  const Operand list = read(insn.b);
  demand_unique(list, exit);
  llvm::Value* size = size_of(list);
  auto* some = block("some");
  b_.CreateCondBr(b_.CreateICmpNE(size, word(0)), some, exit);
  go_on_in(some);
  llvm::Value* left = b_.CreateSub(size, word(1));
  const Operand item = narrowed(load_element(list, left, packing_of_kind(list.kind)), plan_.result, exit);
  set_size(list, left);
  write(insn.a, item);
}

}  // namespace posset::jit
