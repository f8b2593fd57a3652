// Where registers are: see translator.h. Variables, by kind, that the optimiser turns into values and the quick
// pipeline keeps on the native stack.
#include <algorithm>
#include <cassert>
#include <cstddef>

#include "jit/translator.h"

namespace posset::jit {

interp::Packing packing_of_kind(Kind kind) {
  switch (kind) {
    case Kind::Ints: return interp::Packing::Int;
    case Kind::Floats: return interp::Packing::Float;
    case Kind::Bools: return interp::Packing::Bool;
    default: return interp::Packing::Any;
  }
}

// ---- operands ----

Operand Translator::read(uint16_t reg) {
  for (const auto& [refined, v] : refined_) {
    if (refined == reg) return v;
  }
  if (cached(reg)) return cached_value(reg, state_.known(reg));
  return load_value(register_pointer(reg), Memory::Frame);
}

void Translator::write(uint16_t reg, const Operand& v) {
  if (cached(reg)) return keep(reg, after_.kinds[reg], v);
  store_value(register_pointer(reg), is_unboxed(v.kind) ? fresh_object(v) : v, Memory::Frame);
}

void Translator::store_value(llvm::Value* to, const Operand& v, Memory memory) {
  of(memory, store_word(to, 0, tag_of(v)));
  of(memory, store_word(to, 8, payload_of(v)));
}

Operand Translator::load_value(llvm::Value* from, Memory memory) {
  llvm::Value* tag = of(memory, load_word(from, 0));
  return unknown(tag, of(memory, load_word(from, 8)));
}

llvm::Value* Translator::tag_of(const Operand& v) { return is_unknown(v.kind) ? v.tag : tag_word(tag_of_kind(v.kind)); }

llvm::Value* Translator::payload_of(const Operand& v) {
  assert(!is_unboxed(v.kind));
  if (v.kind == Kind::Nil) return word(0);
  return v.payload ? v.payload : b_.CreateBitCast(v.number, b_.getInt64Ty());
}

llvm::Value* Translator::is(const Operand& v, Kind kind) {
  if (!is_unknown(v.kind)) return b_.getInt1(v.kind == kind);
  return b_.CreateICmpEQ(v.tag, tag_word(tag_of_kind(kind)));
}

llvm::Value* Translator::is_heap(const Operand& v) {
  if (is_uncounted(v.kind)) return b_.getFalse();
  if (is_counted(v.kind)) return b_.getTrue();
  return b_.CreateICmpNE(b_.CreateAnd(v.tag, word(0xf8)), word(0));
}

// ---- variables ----

llvm::AllocaInst* Translator::variable(std::vector<llvm::AllocaInst*>& all, uint32_t reg, llvm::Type* type) {
  if (!all[reg]) all[reg] = new_unset_variable(type);
  return all[reg];
}

// Where nothing is kept in it yet, nothing is read: said so, no bound of what is kept is lost where ways meet.
llvm::AllocaInst* Translator::new_unset_variable(llvm::Type* type) {
  llvm::AllocaInst* made = new_variable(type);
  if (is_quick()) return made;
  auto* nothing = new llvm::StoreInst(llvm::PoisonValue::get(type), made, false, alignment(type));
  nothing->insertAfter(made);
  unit_.unset.push_back(nothing);
  return made;
}

// What is set in one place, as most are, has its value wherever it is read: without the other store that is plain to see
// and costs no search for where ways meet, which took a third of the time to optimise code with many variables.
void Translator::forget_needless_unsets() {
  for (llvm::StoreInst* nothing : unit_.unset) {
    const llvm::Value* variable = nothing->getPointerOperand();
    const auto stores = std::count_if(variable->user_begin(), variable->user_end(),
                                      [](const llvm::User* each) { return llvm::isa<llvm::StoreInst>(each); });
    if (stores <= 2) nothing->eraseFromParent();
  }
  unit_.unset.clear();
}

llvm::AllocaInst* Translator::new_variable(llvm::Type* type) {
  llvm::BasicBlock& entry = function_->getEntryBlock();
  return llvm::IRBuilder<>(&entry, entry.getFirstInsertionPt()).CreateAlloca(type);
}

Operand Translator::cached_value(uint32_t reg, const Known& known) {
  llvm::Type* word_type = b_.getInt64Ty();
  const Kind kind = known.kind;
  if (is_unboxed(kind)) return unboxed_value(reg, known);
  if (kind == Kind::Nil) return {kind, nullptr, word(0)};
  if (kind == Kind::Float) {
    return floating(load(b_.getDoubleTy(), variable(numbers_, reg, b_.getDoubleTy())));
  }
  llvm::Value* payload = load(word_type, variable(payloads_, reg, word_type));
  if (!is_unknown(kind)) return {kind, nullptr, payload};
  return unknown(load(word_type, variable(tags_, reg, word_type)), payload);
}

void Translator::keep(uint32_t reg, Kind kind, const Operand& v) {
  llvm::Type* word_type = b_.getInt64Ty();
  if (kind == Kind::None || kind == Kind::Nil) return;
  if (is_unboxed(kind)) return keep_parts(reg, v);
  if (is_unboxed(v.kind)) return keep(reg, kind, fresh_object(v));
  if (kind == Kind::Float) {
    put(as_double(v), variable(numbers_, reg, b_.getDoubleTy()));
    return;
  }
  put(payload_of(v), variable(payloads_, reg, word_type));
  if (kind == Kind::Any) put(tag_of(v), variable(tags_, reg, word_type));
}

void Translator::release(const Operand& v) {
  if (is_uncounted(v.kind)) return;
  auto* counted = late("counted");
  auto* done = block("done");
  b_.CreateCondBr(is_heap(v), one_less(v, counted, done), done);
  b_.SetInsertPoint(counted);
  auto* owned = late("owned");
  llvm::Value* owners = of(Memory::Count, load(b_.getInt32Ty(), object(v)));
  b_.CreateCondBr(b_.CreateICmpEQ(owners, b_.getInt32(0)), done, owned);  // never counted
  b_.SetInsertPoint(owned);
  llvm::Type* type = b_.getInt64Ty();
  b_.CreateCall(helper("release_value", b_.getVoidTy(), {type, type}), {tag_of(v), payload_of(v)});
  b_.CreateBr(done);
  go_on_in(done);
}

// Where a local object with other owners loses one; the last reference and shared objects are the helper's.
llvm::BasicBlock* Translator::one_less(const Operand& v, llvm::BasicBlock* otherwise, llvm::BasicBlock* done) {
  llvm::IRBuilder<>::InsertPointGuard keep_place(b_);
  auto* count = block("count");
  auto* several = block("several");
  go_on_in(count);
  llvm::Value* owners = of(Memory::Count, load(b_.getInt32Ty(), object(v)));
  b_.CreateCondBr(b_.CreateICmpSGT(owners, b_.getInt32(1)), several, otherwise);
  go_on_in(several);
  of(Memory::Count, put(b_.CreateSub(owners, b_.getInt32(1)), object(v)));
  b_.CreateBr(done);
  return count;
}

// ---- variables and frame ----

void Translator::flush(uint32_t reg, const Known& known) {
  Operand v = cached_value(reg, known);
  if (is_unboxed(v.kind)) v = {boxed(known).kind, nullptr, object_by_helper(v, false)};
  store_value(register_pointer(static_cast<uint16_t>(reg)), v, Memory::Frame);
}

void Translator::flush_operands(uint32_t pc) {
  for_each_access(chunk_, pc, [&](const Access& each) {
    for (uint32_t reg = each.first; each.read && reg < each.first + each.count; ++reg) {
      if (cached(reg) && state_.dirty.has(reg)) flush(reg, state_.known(reg));
    }
  });
}

void Translator::reload(uint32_t reg, Kind kind) {
  if (!cached(reg)) return;
  keep(reg, kind, load_value(register_pointer(static_cast<uint16_t>(reg)), Memory::Frame));
}

void Translator::reload_written(uint32_t pc) {
  for_each_access(chunk_, pc, [&](const Access& each) {
    for (uint32_t reg = each.first; each.written && reg < each.first + each.count; ++reg) {
      reload(reg, after_.kinds[reg]);
    }
  });
  if (const auto root = kinds_->walk_root(pc)) reload(*root, after_.kinds[*root]);
}

// The way into a block: registers of which it knows less than this place does get their tags.
llvm::BasicBlock* Translator::block_at(uint32_t pc) {
  const State& there = kinds_->at_leader(pc);
  llvm::IRBuilder<>::InsertPointGuard keep_place(b_);
  llvm::BasicBlock* way = nullptr;
  for (uint32_t reg = 0; reg < chunk_.registers; ++reg) {
    const Known from = after_.known(reg);
    const Kind to = there.kinds[reg];
    if (!cached(reg) || from.kind == to || to == Kind::None || from.kind == Kind::None) continue;
    if (!way) {
      way = block("way");
      go_on_in(way);
    }
    keep(reg, to, cached_value(reg, from));
  }
  if (!way && leaves_strip(pc)) {
    way = block("way");
    go_on_in(way);
  }
  if (!way) return way_to(pc);
  if (leaves_strip(pc)) leave_strip(pc);
  b_.CreateBr(way_to(pc));
  return way;
}

// ---- speculation ----

// Plans the instruction and puts guards before it. False: it exits.
bool Translator::start_instruction(uint32_t pc) {
  refined_.clear();
  exit_ = nullptr;
  plan_ = kinds_->plan(pc, state_);
  after_ = state_;
  if (plan_.way == Way::Exit) {
    b_.CreateBr(exit_at(pc));
    reached_ = false;
    return false;
  }
  after_ = kinds_->after(pc, plan_, state_);
  if (plan_.way == Way::Inline) speculate(pc, chunk_.at(pc));
  return true;
}

void Translator::speculate(uint32_t pc, const Insn& insn) {
  const bytecode::OpInfo& known = bytecode::info(static_cast<Op>(insn.op));
  auto guard = [&](char kind, uint16_t reg, Kind wanted) {
    if ((kind == 'R' || kind == 'V') && wanted != Kind::Any) require(pc, reg, wanted);
  };
  guard(known.a, insn.a, plan_.a);
  if (known.b != 'W') guard(known.b, insn.b, plan_.b);
  guard(known.c, insn.c, plan_.c);
}

void Translator::require(uint32_t pc, uint16_t reg, Kind wanted) {
  const Operand v = read(reg);
  if (v.kind == wanted) return;
  if (!is_proved_kind(reg, wanted)) {
    auto* fits = block("fits");
    b_.CreateCondBr(is_kind(v, wanted), fits, exit_at(pc));
    go_on_in(fits);
  }
  const Operand refined{wanted, nullptr, v.payload};
  refined_.emplace_back(reg, refined);
  if (cached(reg)) keep(reg, wanted, refined);
}

// The whole kind, a list's packing included.
llvm::Value* Translator::is_kind(const Operand& v, Kind wanted) {
  if (is_unknown(wanted)) return b_.getTrue();
  llvm::Value* tagged = is(v, wanted);
  if (!is_list(wanted)) return tagged;
  return both_hold(tagged, [&] {
    return b_.CreateICmpEQ(packing_of(v), b_.getInt8(static_cast<uint8_t>(packing_of_kind(wanted))));
  });
}

// `second` is computed only where the first holds.
llvm::Value* Translator::both_hold(llvm::Value* first, const std::function<llvm::Value*()>& second) {
  auto* asked = block("asked");
  auto* told = block("told");
  llvm::BasicBlock* before = b_.GetInsertBlock();
  b_.CreateCondBr(first, asked, told);
  go_on_in(asked);
  llvm::Value* holds = second();
  llvm::BasicBlock* behind = b_.GetInsertBlock();
  b_.CreateBr(told);
  go_on_in(told);
  llvm::PHINode* both = b_.CreatePHI(b_.getInt1Ty(), 2);
  both->addIncoming(b_.getFalse(), before);
  both->addIncoming(holds, behind);
  return both;
}

}  // namespace posset::jit
