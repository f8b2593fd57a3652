// Lists that grow, iterations that begin, and the loops that stand for calls of map, filter and their kin
// (bytecode/compile_callback.cpp): the instructions around the call of such a loop.
#include <cstddef>

#include "interp/runtime/callback_loop.h"
#include "interp/runtime/function.h"
#include "interp/value/objects.h"
#include "jit/translator.h"

namespace posset::jit {

using interp::List;
using interp::Packing;

namespace {

// Elements of this packing, as what they are when read; Any: every kind.
Kind element_kind(Packing packing) {
  switch (packing) {
    case Packing::Int: return Kind::Int;
    case Packing::Float: return Kind::Float;
    case Packing::Bool: return Kind::Bool;
    case Packing::Any: break;
  }
  return Kind::Any;
}

// Whether a value of that kind can be an element of the packing.
bool may_fit(Kind kind, Packing packing) {
  return packing == Packing::Any || kind == Kind::Any || kind == element_kind(packing);
}

}  // namespace

bool Translator::build(uint32_t pc, const Insn& insn) {
  switch (static_cast<Op>(insn.op)) {
    case Op::AppendItem: append_item(pc, insn); return true;
    case Op::IterBegin: iter_begin(pc, insn); return true;
    case Op::ViewCaptured:
    case Op::GetCaptured: captured(insn); return true;
    case Op::ViewLink:
    case Op::GetLink: linked(pc, insn); return true;
    case Op::CallbackReady: callback_loop_fits(pc, insn); return true;
    case Op::JumpAnswer: jump_on_bool(pc, insn, false); return true;
    default: return false;
  }
}

// An element that fits, into a list that has room; nobody else has a list under construction. An empty one takes
// the packing of its first element, which is exec's.
void Translator::append_item(uint32_t pc, const Insn& insn) {
  const Operand list = read(insn.a);
  const Operand v = read(insn.b);
  if (is_proved_append(pc)) return append_proved(insn, v);
  llvm::Value* size = size_of(list);
  auto* after = block("after");
  auto* slow = slow_way(pc, after);
  llvm::Value* capacity = capacity_of(list);
  auto* roomy = block("roomy");
  llvm::Value* has_room = is_packed(list.kind)
                              ? b_.CreateICmpULT(size, capacity)
                              : b_.CreateICmpULT(b_.CreateSub(size, word(1)), b_.CreateSub(capacity, word(1)));
  b_.CreateCondBr(has_room, roomy, slow);
  go_on_in(roomy);
  auto append = [&](Packing packing) {
    append_element(list, size, packing, v, !(insn.x & bytecode::kConsumeB), slow);
    count_appended(insn, list, size, v);
    b_.CreateBr(after);
  };
  if (is_packed(list.kind)) {
    append(packing_of_kind(list.kind));
    return go_on_in(after);
  }
  auto* choice = b_.CreateSwitch(packing_of(list), slow, 4);
  for (Packing packing : {Packing::Any, Packing::Int, Packing::Float, Packing::Bool}) {
    if (!may_fit(v.kind, packing)) continue;
    auto* here = block("packing");
    choice->addCase(b_.getInt8(static_cast<uint8_t>(packing)), here);
    go_on_in(here);
    append(packing);
  }
  go_on_in(after);
}

// In a strip, out of which the list takes its size along. What is appended is plain.
void Translator::append_proved(const Insn& insn, const Operand& v) {
  const Operand list = appended_list(insn.a);
  llvm::AllocaInst* size = size_in_strip(insn.a);
  llvm::Value* before = load(b_.getInt64Ty(), size);
  put_element(list, before, packing_of_kind(list.kind), v);
  put(b_.CreateAdd(before, word(1), "", /*HasNUW=*/true, /*HasNSW=*/true), size);
  if (cached(insn.a)) write(insn.a, read(insn.a));
}

void Translator::count_appended(const Insn& insn, const Operand& list, llvm::Value* size, const Operand& v) {
  set_size(list, b_.CreateAdd(size, word(1)));
  if (leaves_nil(insn, v.kind)) write(insn.b, nil());
  if (cached(insn.a)) write(insn.a, list);
}

void Translator::append_element(const Operand& list, llvm::Value* at, Packing packing, const Operand& v, bool copies,
                                llvm::BasicBlock* slow) {
  if (packing == Packing::Any) {
    if (copies) retain(v);
  } else {
    auto* fits = block("fits");
    b_.CreateCondBr(is(v, element_kind(packing)), fits, slow);
    go_on_in(fits);
  }
  put_element(list, at, packing, v);
}

// A list of the packing seen, or an empty one, of which nothing will be read: lists begin as such, and would exit
// here for ever. The cursor stands at the first element (interp/runtime/iterate.h).
void Translator::iter_begin(uint32_t pc, const Insn& insn) {
  const Operand v = read(insn.a);
  if (v.kind != plan_.result) {
    auto* other = block("other");
    auto* empty = block("empty");
    auto* fits = block("fits");
    b_.CreateCondBr(is_kind(v, plan_.result), fits, other);
    go_on_in(other);
    b_.CreateCondBr(is(v, Kind::Items), empty, exit_at(pc));
    go_on_in(empty);
    b_.CreateCondBr(b_.CreateICmpEQ(size_of(v), word(0)), fits, exit_at(pc));
    go_on_in(fits);
    write(insn.a, {plan_.result, nullptr, v.payload});
  }
  write(static_cast<uint16_t>(insn.a + 1), integer(0));
  write(static_cast<uint16_t>(insn.a + 2), integer(0));
}

void Translator::captured(const Insn& insn) {
  const Operand v = captured_value(insn.b);
  if (static_cast<Op>(insn.op) == Op::GetCaptured) retain(v);
  write(insn.a, v);
}

// exec raises what is not defined yet. No cell is fixed: a call may come to the host, which replaces its globals.
void Translator::linked(uint32_t pc, const Insn& insn) {
  Operand v = load_value(link_cell(closure(), insn.b), Memory::Links);
  auto* after = block("after");
  auto* slow = slow_way(pc, after);
  if (plan_.way == Way::Inline && plan_.result != Kind::Any) {
    v = narrowed(v, plan_.result, slow);
  } else {
    auto* defined = block("defined");
    b_.CreateCondBr(b_.CreateICmpNE(tag_of(v), tag_word(Tag::Unset)), defined, slow);
    go_on_in(defined);
  }
  if (static_cast<Op>(insn.op) == Op::GetLink) retain(v);
  write(insn.a, v);
  b_.CreateBr(after);
  go_on_in(after);
}

// As callback_loop_fits.
void Translator::callback_loop_fits(uint32_t pc, const Insn& insn) {
  llvm::BasicBlock* other = block_at(chunk_.target_at(pc));
  const Operand callee = read(insn.b);
  auto* closure = block("closure");
  auto* native = block("native");
  auto* fits = block("fits");
  b_.CreateCondBr(b_.CreateICmpEQ(tag_of(callee), tag_word(Tag::Fn)), closure, native);
  go_on_in(native);
  b_.CreateCondBr(b_.CreateICmpEQ(tag_of(callee), tag_word(Tag::Builtin)), fits, other);
  go_on_in(closure);
  llvm::Value* function = load(b_.getPtrTy(), word_pointer(object(callee), offsetof(interp::Closure, function)));
  llvm::Value* ready = takes_plainly(function, bytecode::parameters_of(insn.x));
  if (insn.x & bytecode::kSplits) {
    llvm::Value* splits = load(b_.getInt8Ty(), word_pointer(function, offsetof(interp::Function, splits)));
    ready = b_.CreateAnd(ready, b_.CreateICmpEQ(splits, b_.getInt8(0)));
  }
  b_.CreateCondBr(ready, fits, other);
  go_on_in(fits);
  const Operand over = read(insn.a);
  llvm::Value* begins = insn.x & bytecode::kFromFirst ? b_.CreateICmpULT(b_.CreateSub(list_size(over, other), word(1)), word(interp::kReduceLeaf))
                                                      : iterates(over, insn.x & bytecode::kSense);
  b_.CreateCondBr(begins, block_at(pc + 1), other);
}

// A count, or anything `for` takes.
llvm::Value* Translator::iterates(const Operand& v, bool counts) {
  if (counts) return b_.CreateAnd(is(v, Kind::Int), b_.CreateICmpSGE(payload_of(v), word(0)));
  if (is_list(v.kind)) return b_.getTrue();
  llvm::Value* yes = b_.getFalse();
  llvm::Value* tag = b_.CreateAnd(tag_of(v), word(0xff));  // a short string has its bytes in the others
  for (Tag each : {Tag::List, Tag::Range, Tag::Map, Tag::Str, Tag::ShortStr}) {
    yes = b_.CreateOr(yes, b_.CreateICmpEQ(tag, tag_word(each)));
  }
  return yes;
}

}  // namespace posset::jit
