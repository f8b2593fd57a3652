// Steps, which are counted in Context::fuel: every round of a loop and every call charges one.
//
// In stage 2, code with loops keeps the count in a variable, so that a round is a subtraction and a test in a
// processor register. The context has it back whenever something may look: before every call that may charge,
// poll or raise, and on every way out. Stage 1, and code without loops, charges in memory.
//
// What memory an access means is said here too (TBAA): without it every store into a list would make the
// optimiser read sizes and counts anew, and every poll all of them.
#include <array>
#include <cstddef>

#include <llvm/IR/MDBuilder.h>

#include "interp/runtime/context.h"
#include "jit/translator.h"

namespace posset::jit {

namespace {

constexpr uint64_t kFuel = offsetof(interp::Context, fuel);

}  // namespace

// ---- steps ----

void Translator::find_steps() {
  if (is_quick()) return;
  if (recursive() || kinds_->has_loops()) fuel_ = new_variable(b_.getInt64Ty());
  if (recursive()) {
    put(passed_steps(), fuel_);
  } else {
    take_fuel();
  }
}

// The context's count becomes the variable's, and the other way round.
void Translator::take_fuel() {
  if (fuel_) put(of(Memory::Host, load_word(host(), kFuel)), fuel_);
}

void Translator::give_fuel_back() {
  charge_strip();
  return_fuel();
}

void Translator::return_fuel() {
  if (fuel_) of(Memory::Host, put(load(b_.getInt64Ty(), fuel_), word_pointer(host(), kFuel)));
  if (unit_.root->activation_) put(depth_here(), word_pointer(host(), offsetof(interp::Context, depth)));
}

llvm::Value* Translator::fuel() {
  return fuel_ ? load(b_.getInt64Ty(), fuel_) : of(Memory::Host, load_word(host(), kFuel));
}

void Translator::set_fuel(llvm::Value* left) {
  if (fuel_) {
    put(left, fuel_);
  } else {
    of(Memory::Host, put(left, word_pointer(host(), kFuel)));
  }
}

// It never gets near the smallest number: it is polled below zero.
llvm::Value* Translator::spend(llvm::Value* steps) {
  llvm::Value* left = b_.CreateSub(fuel(), steps, "");
  set_fuel(left);
  return left;
}

llvm::Value* Translator::call_poll() {
  if (unit_.root->activation_) {
    charge_strip();
    return poll_apart();
  }
  give_fuel_back();
  llvm::CallInst* ok = b_.CreateCall(helper("poll", b_.getInt8Ty(), {b_.getPtrTy()}), {host()});
  of(Memory::Others, ok);
  take_fuel();
  return ok;
}

// ---- memory ----

llvm::MDNode* Translator::memory_tag(Memory memory) {
  static constexpr std::array kNames = {"others", "host", "cells", "frame", "count", "header", "shape", "kinds",
                                        "ints", "floats", "bools", "items", "fields", "links"};
  static_assert(kNames.size() == static_cast<size_t>(Memory::kCount));
  auto name = [&](Memory of) { return kNames[static_cast<size_t>(of)]; };
  llvm::MDNode*& tag = memory_tags_[static_cast<size_t>(memory)];
  if (tag) return tag;
  llvm::MDBuilder builder(*context_);
  llvm::MDNode* root = builder.createTBAARoot("posset");
  const bool by_others = memory == Memory::Host || memory == Memory::Cells;
  llvm::MDNode* around = by_others ? builder.createTBAAScalarTypeNode(name(Memory::Others), root) : root;
  llvm::MDNode* type = builder.createTBAAScalarTypeNode(name(memory), around);
  tag = builder.createTBAAStructTagNode(type, type, 0);
  return tag;
}

llvm::LoadInst* Translator::fixed(llvm::LoadInst* loaded) {
  if (!is_quick()) loaded->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(*context_, {}));
  return loaded;
}

Memory Translator::elements_of(interp::Packing packing) {
  switch (packing) {
    case interp::Packing::Int: return Memory::Ints;
    case interp::Packing::Float: return Memory::Floats;
    case interp::Packing::Bool: return Memory::Bools;
    case interp::Packing::Any: break;
  }
  return Memory::Items;
}

}  // namespace posset::jit
