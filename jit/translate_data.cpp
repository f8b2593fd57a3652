// Containers: elements of packed and plain lists, fields whose shape the inline cache has seen.
#include <cstddef>

#include <llvm/IR/Intrinsics.h>

#include "interp/value/objects.h"
#include "jit/translator.h"

namespace posset::jit {

using interp::List;
using interp::Packing;

bool Translator::data(uint32_t pc, const Insn& insn) {
  if (is_item_unboxed(insn)) {
    unboxed_part(insn);
    return true;
  }
  switch (static_cast<Op>(insn.op)) {
    case Op::ViewIndex: index(pc, insn); return true;
    case Op::Index:
      if (plan_.way == Way::Exec) return false;
      index(pc, insn);
      return true;
    case Op::SetIndex: set_index(pc, insn); return true;
    case Op::Swap: swap(pc, insn); return true;
    case Op::Field:
    case Op::ViewField:
      if (plan_.way == Way::Inline) {
        known_field(pc, insn);
        return true;
      }
      if (insn.x & bytecode::kConsumeB) return false;
      field(pc, insn);
      return true;
    case Op::Len:
      length_of(pc, insn);
      return true;
    case Op::CodeAt:
      if (plan_.way == Way::Exec) return false;
      code_at(pc, insn);
      return true;
    case Op::In:
      if (!plan_.maps && !plan_.texts) return false;
      if (plan_.maps) {
        key_in_map(pc, insn, insn.c, insn.b, insn.x & bytecode::kConsumeC);
      } else {
        character_in(pc, insn);
      }
      return true;
    case Op::Has:
      if (!plan_.maps) return false;
      key_in_map(pc, insn, insn.b, insn.c, insn.x & bytecode::kConsumeB);
      return true;
    default: return false;
  }
}

// A list and an int within its bounds, else `slow`: the element's place, in elements.
llvm::Value* Translator::element(const Operand& list, const Operand& at, llvm::BasicBlock* slow) {
  if (is_proved_look(here_)) return payload_of(at);
  auto* indexed = block("indexed");
  auto* inside = block("inside");
  llvm::Value* listed = b_.CreateICmpEQ(tag_of(list), tag_word(Tag::List));
  b_.CreateCondBr(b_.CreateAnd(listed, is(at, Kind::Int)), indexed, slow);
  go_on_in(indexed);
  llvm::Value* size = size_of(list);
  b_.CreateCondBr(b_.CreateICmpULT(payload_of(at), size), inside, slow);
  go_on_in(inside);
  return payload_of(at);
}

// The same in a list that nobody else has.
llvm::Value* Translator::changed_element(const Operand& list, const Operand& at, llvm::BasicBlock* slow) {
  llvm::Value* place = element(list, at, slow);
  if (is_proved_look(here_)) return place;
  auto* unique = block("unique");
  b_.CreateCondBr(is_unique(list), unique, slow);
  go_on_in(unique);
  return place;
}

llvm::Value* Translator::packing_of(const Operand& list) {
  return of(Memory::Header, load(b_.getInt8Ty(), word_pointer(object(list), offsetof(List, flags))));
}

llvm::Value* Translator::size_of(const Operand& list) {
  return of(Memory::Header, load_word(object(list), offsetof(List, size)));
}

llvm::Value* Translator::capacity_of(const Operand& list) {
  return of(Memory::Header, load_word(object(list), offsetof(List, capacity)));
}

void Translator::set_size(const Operand& list, llvm::Value* size) {
  of(Memory::Header, store_word(object(list), offsetof(List, size), size));
}

llvm::Value* Translator::element_pointer(const Operand& list, llvm::Value* at, Packing packing) {
  llvm::Value* items = word_pointer(object(list), sizeof(List));
  llvm::Type* type = b_.getInt64Ty();
  if (packing == Packing::Bool) type = b_.getInt8Ty();
  if (packing == Packing::Any) type = llvm::ArrayType::get(b_.getInt64Ty(), 2);
  return b_.CreateInBoundsGEP(type, items, at);
}

// One block per packing, or that of the kind; `after` each.
void Translator::by_packing(const Operand& list, llvm::BasicBlock* slow, llvm::BasicBlock* after,
                            const std::function<void(Packing)>& body) {
  if (is_list(list.kind)) {
    body(packing_of_kind(list.kind));
    b_.CreateBr(after);
    return go_on_in(after);
  }
  auto* choice = b_.CreateSwitch(packing_of(list), slow, 4);
  for (Packing packing : {Packing::Any, Packing::Int, Packing::Float, Packing::Bool}) {
    auto* here = block("packing");
    choice->addCase(b_.getInt8(static_cast<uint8_t>(packing)), here);
    go_on_in(here);
    body(packing);
    b_.CreateBr(after);
  }
  go_on_in(after);
}

void Translator::index(uint32_t pc, const Insn& insn) {
  const Operand list = read(insn.b);
  if (list.kind == Kind::Text && plan_.way == Way::Inline) {
    return write(insn.a, short_text(ascii_byte(list, read(insn.c), exit_at(pc))));
  }
  if (plan_.texts) return index_of_texts(pc, insn);
  if (plan_.maps) return index_of_map(pc, insn);
  auto* after = block("after");
  auto* slow = slow_way(pc, after);
  llvm::Value* at = element(list, read(insn.c), slow);
  by_packing(list, slow, after, [&](Packing packing) {
    Operand item = load_element(list, at, packing);
    if (plan_.way == Way::Inline) item = narrowed(item, plan_.result, slow);
    if (static_cast<Op>(insn.op) == Op::Index) {
      if (!lend(pc, nullptr)) retain(item);
      consume_container(insn, list);
    }
    write(insn.a, item);
  });
}

// What the helper says of the key in a map; what is none goes the slow way.
llvm::Value* Translator::look_up(const char* name, llvm::Type* result, const Operand& map, const Operand& key, llvm::BasicBlock* slow) {
  auto* mapped = block("map");
  b_.CreateCondBr(b_.CreateICmpEQ(tag_of(map), tag_word(Tag::Map)), mapped, slow);
  go_on_in(mapped);
  llvm::Function* look = helper(name, result, {b_.getInt64Ty(), b_.getInt64Ty(), b_.getInt64Ty()});
  return b_.CreateCall(look, {payload_of(map), tag_of(key), payload_of(key)});
}

// A key of few words that is there; others, and what raises, are exec's.
void Translator::index_of_map(uint32_t pc, const Insn& insn) {
  const Operand map = read(insn.b), key = read(insn.c);
  auto* after = block("after");
  auto* there = block("there");
  auto* slow = slow_way(pc, after);
  llvm::Value* found = look_up("map_item", b_.getPtrTy(), map, key, slow);
  b_.CreateCondBr(b_.CreateIsNotNull(found), there, slow);
  go_on_in(there);
  const Operand item = load_value(found, Memory::Items);
  if (static_cast<Op>(insn.op) == Op::Index) {
    retain(item);
    consume_container(insn, map);
  }
  write(insn.a, item);
  b_.CreateBr(after);
  go_on_in(after);
}

// Whether there is such a key.
void Translator::key_in_map(uint32_t pc, const Insn& insn, uint16_t container, uint16_t sought, bool consumes) {
  const Operand map = read(container), key = read(sought);
  auto* after = block("after");
  auto* known = block("known");
  auto* slow = slow_way(pc, after);
  llvm::Value* has = look_up("map_has", b_.getInt32Ty(), map, key, slow);
  b_.CreateCondBr(b_.CreateICmpSGE(has, b_.getInt32(0)), known, slow);
  go_on_in(known);
  if (consumes) give_up(container, insn.a, map);
  write(insn.a, {Kind::Bool, nullptr, b_.CreateZExt(has, b_.getInt64Ty())});
  b_.CreateBr(after);
  go_on_in(after);
}

// What has been read out of it is counted by itself.
void Translator::consume_container(const Insn& insn, const Operand& container) {
  if (insn.x & bytecode::kConsumeB) give_up(insn.b, insn.a, container);
}

// What a register has, for an instruction that consumes it and writes `result`.
void Translator::give_up(uint16_t reg, uint16_t result, const Operand& v) {
  if (reg != result) write(reg, nil());
  if (!is_lent(reg) && !is_borrowed(reg)) release(v);
}

Operand Translator::load_element(const Operand& list, llvm::Value* at, Packing packing) {
  return load_item(element_pointer(list, at, packing), packing);
}

Operand Translator::load_item(llvm::Value* from, Packing packing) {
  switch (packing) {
    case Packing::Int: return {Kind::Int, nullptr, of(Memory::Ints, load_word(from, 0))};
    case Packing::Float: return floating(of(Memory::Floats, load(b_.getDoubleTy(), from)));
    case Packing::Bool: {
      llvm::Value* byte = of(Memory::Bools, load(b_.getInt8Ty(), from));
      return {Kind::Bool, nullptr, b_.CreateZExt(byte, b_.getInt64Ty())};
    }
    case Packing::Any: break;
  }
  return load_value(from, Memory::Items);
}

llvm::Value* Translator::is_unique(const Operand& v) {
  return b_.CreateICmpEQ(of(Memory::Count, load(b_.getInt32Ty(), object(v))), b_.getInt32(1));
}

// An element of the list's packing into a list that nobody else has.
void Translator::set_index(uint32_t pc, const Insn& insn) {
  const Operand list = read(insn.a);
  auto* after = block("after");
  auto* slow = slow_way(pc, after);
  llvm::Value* at = changed_element(list, read(insn.b), slow);
  if (cached(insn.a) && after_.kinds[insn.a] != state_.kinds[insn.a] && plan_.way != Way::Inline) write(insn.a, list);
  by_packing(list, slow, after, [&](Packing packing) {
    if (packing == Packing::Any) {
      replace_part(element_pointer(list, at, packing), insn.c, insn.x & bytecode::kConsumeC, Memory::Items);
    } else {
      store_element(list, at, packing, read(insn.c), slow);
    }
  });
}

// Two elements of a list that nobody else has.
void Translator::swap(uint32_t pc, const Insn& insn) {
  const Operand list = read(insn.a);
  llvm::BasicBlock* slow = exit_at(pc);
  llvm::Value* first = element(list, read(insn.b), slow);
  llvm::Value* second = element(list, read(insn.c), slow);
  auto* unique = block("unique");
  b_.CreateCondBr(is_unique(list), unique, slow);
  go_on_in(unique);
  const Packing packing = packing_of_kind(list.kind);
  const Operand a = load_element(list, first, packing);
  const Operand b = load_element(list, second, packing);
  put_element(list, first, packing, b);
  put_element(list, second, packing, a);
}

// Into a packed list.
void Translator::store_element(const Operand& list, llvm::Value* at, Packing packing, const Operand& v,
                               llvm::BasicBlock* slow) {
  auto* fits = block("fits");
  const Kind kind = packing == Packing::Int ? Kind::Int : packing == Packing::Float ? Kind::Float : Kind::Bool;
  b_.CreateCondBr(is(v, kind), fits, slow);
  go_on_in(fits);
  put_element(list, at, packing, v);
}

// Of the list's packing; what it replaces is not released.
void Translator::put_element(const Operand& list, llvm::Value* at, Packing packing, const Operand& v) {
  put_item(packing, v, element_pointer(list, at, packing));
}

void Translator::put_item(Packing packing, const Operand& v, llvm::Value* to) {
  if (packing == Packing::Any) return store_value(to, v, Memory::Items);
  llvm::Value* stored = packing == Packing::Float ? as_double(v) : payload_of(v);
  if (packing == Packing::Bool) stored = b_.CreateTrunc(stored, b_.getInt8Ty());
  of(elements_of(packing), put(stored, to));
}

// The field's place in a record of the shape the cache has seen, else `slow`.
llvm::Value* Translator::field_pointer(const Operand& base, uint16_t cache, llvm::BasicBlock* slow, llvm::Value** number) {
  auto* shaped = block("shaped");
  auto* known = block("known");
  llvm::Value* is_record = b_.CreateICmpEQ(tag_of(base), tag_word(Tag::Record));
  llvm::Value* is_variant = b_.CreateICmpEQ(tag_of(base), tag_word(Tag::Variant));
  b_.CreateCondBr(b_.CreateOr(is_record, is_variant), shaped, slow);
  go_on_in(shaped);
  llvm::LoadInst* seen = load(b_.getInt64Ty(), symbol(unit_.bindings.cache(chunk_, cache)));
  seen->setAtomic(llvm::AtomicOrdering::Monotonic);
  seen->setAlignment(llvm::Align(8));
  llvm::Value* shape = shape_of(base);
  llvm::Value* expected = b_.CreateTrunc(b_.CreateLShr(seen, 32), b_.getInt32Ty());
  b_.CreateCondBr(b_.CreateICmpEQ(shape, expected), known, slow);
  go_on_in(known);
  llvm::Value* at = b_.CreateAnd(seen, word(0xffffffff));
  if (number) *number = at;
  llvm::Value* fields = word_pointer(object(base), sizeof(interp::Record));
  return b_.CreateInBoundsGEP(llvm::ArrayType::get(b_.getInt64Ty(), 2), fields, at);
}

void Translator::field(uint32_t pc, const Insn& insn) {
  auto* after = block("after");
  auto* slow = slow_way(pc, after);
  llvm::Value* from = field_pointer(read(insn.b), insn.c, slow);
  const Operand v = load_field(from);
  if (static_cast<Op>(insn.op) == Op::Field) retain(v);
  write(insn.a, v);
  b_.CreateBr(after);
  go_on_in(after);
}

llvm::Value* Translator::list_size(const Operand& v, llvm::BasicBlock* slow) {
  auto* list = block("list");
  b_.CreateCondBr(b_.CreateICmpEQ(tag_of(v), tag_word(Tag::List)), list, slow);
  go_on_in(list);
  return size_of(v);
}

llvm::Value* Translator::list_or_map_size(const Operand& v, llvm::BasicBlock* slow) {
  auto* other = block("other");
  auto* map = block("map");
  auto* sized = block("sized");
  llvm::Value* of_list = list_size(v, other);
  llvm::BasicBlock* from_list = b_.GetInsertBlock();
  b_.CreateBr(sized);
  go_on_in(other);
  b_.CreateCondBr(b_.CreateICmpEQ(tag_of(v), tag_word(Tag::Map)), map, slow);
  go_on_in(map);
  llvm::Value* live = load_word(object(v), offsetof(interp::Map, live));
  b_.CreateBr(sized);
  go_on_in(sized);
  return either_way(of_list, from_list, live, map);
}

void Translator::length_of(uint32_t pc, const Insn& insn) {
  const Operand v = read(insn.b);
  if (v.kind == Kind::UnboxedList) {
    if (insn.x & bytecode::kConsumeB) write(insn.b, nil());
    return write(insn.a, integer(static_cast<int64_t>(v.parts.size())));
  }
  auto* after = block("after");
  auto* slow = slow_way(pc, after);
  llvm::Value* size = plan_.texts            ? any_ascii_size(v, slow)
                      : v.kind == Kind::Text ? ascii_size(v, slow)
                      : v.kind == Kind::Any  ? list_or_map_size(v, slow)
                                             : list_size(v, slow);
  consume_container(insn, v);
  write(insn.a, {Kind::Int, nullptr, size});
  b_.CreateBr(after);
  go_on_in(after);
}

}  // namespace posset::jit
