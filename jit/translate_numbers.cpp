// Functions of floats, as a host calls them again and again: their direct entry (translate_direct.cpp) takes doubles, for
// the host as well (interp::NativeCodeHead::numbers). What it needs in the frame is written where something asks for it,
// as for a function that calls itself (translate_recursion.cpp). Only for code without calls that have been inlined, which
// would have to ask for room first.
//
// What of it only computes can do without a frame and without an evaluation around it. So there is a further function, a copy
// of the direct one that gives up where that writes or calls anything, and that gives its result in a register, too
// (interp::NativeCodeHead::plain). Nothing has happened then, and the call is made as always. And where a host calls the
// function for columns of numbers there is a loop around that, to be vectorized.
#include "jit/translator.h"

#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace posset::jit {

namespace {

constexpr uint32_t kMostNumbers = 8;  // of a direct function
// Arguments of the function that only computes: context, where the tag goes, closure, registers, numbers.
constexpr unsigned kTagOfPlain = 1, kClosureOfPlain = 2, kRegistersOfPlain = 3, kFirstOfPlain = 4;

// Nobody but the function itself could tell whether it has been executed.
bool only_computes(const llvm::Instruction& each) {
  if (each.isTerminator() || each.isLifetimeStartOrEnd()) return true;
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&each)) {
    return llvm::isa<llvm::AllocaInst>(store->getPointerOperand()->stripInBoundsOffsets());
  }
  return !each.mayHaveSideEffects();
}

llvm::Instruction* first_deed(llvm::BasicBlock& block) {
  for (llvm::Instruction& each : block) {
    if (!only_computes(each)) return &each;
  }
  return nullptr;
}

// The block returns what it is given instead of going on at `from`.
void end_block(llvm::Instruction& from, llvm::Value* given) {
  llvm::BasicBlock& block = *from.getParent();
  for (llvm::BasicBlock* next : llvm::successors(&block)) next->removePredecessor(&block);
  while (&block.back() != &from) {
    block.back().replaceAllUsesWith(llvm::PoisonValue::get(block.back().getType()));
    block.back().eraseFromParent();
  }
  from.replaceAllUsesWith(llvm::PoisonValue::get(from.getType()));
  from.eraseFromParent();
  llvm::ReturnInst::Create(block.getContext(), given, &block);
}

}  // namespace

bool is_formula(const llvm::Function& plain) {
  return plain.getArg(kTagOfPlain)->use_empty() && plain.getArg(kRegistersOfPlain)->use_empty();
}

bool Translator::takes_numbers() const {
  if (!is_direct() || kinds_->depth() != 0) return false;
  for (uint32_t n = 0; n < chunk_.outline.parameters; ++n) {
    if (kinds_->at_leader(0).kinds[n] != Kind::Float) return false;
  }
  return true;
}

// When the function of numbers is there. Null: it always does something.
llvm::Function* Translator::make_plain_function() {
  llvm::ValueToValueMapTy copies;
  llvm::Function* body = llvm::CloneFunction(direct_, copies);
  std::vector<llvm::Instruction*> deeds;
  for (llvm::BasicBlock& each : *body) {
    if (llvm::Instruction* deed = first_deed(each)) deeds.push_back(deed);
  }
  llvm::Function* made = nullptr;
  if (deeds.empty() || deeds.front()->getParent() != &body->getEntryBlock()) {
    llvm::Constant* words[] = {llvm::cast<llvm::Constant>(tag_word(Tag::Unset)), llvm::cast<llvm::Constant>(word(0))};
    auto* given_up = llvm::ConstantStruct::get(llvm::cast<llvm::StructType>(body->getReturnType()), words);
    for (llvm::Instruction* each : deeds) end_block(*each, given_up);
    made = enter_plainly(*body);
  }
  body->eraseFromParent();
  return made;
}

// A PlainEntry (interp/api/numbers_entry.h) of what gives a value.
llvm::Function* Translator::enter_plainly(llvm::Function& body) {
  llvm::Type* pointer = b_.getPtrTy();
  std::vector<llvm::Type*> types(kFirstOfPlain, pointer);
  types.insert(types.end(), kMostNumbers, b_.getDoubleTy());
  auto* type = llvm::FunctionType::get(b_.getDoubleTy(), types, false);
  auto* made = llvm::Function::Create(type, llvm::Function::ExternalLinkage, direct_->getName() + " plain", *module_);
  made->addFnAttr(llvm::Attribute::NoUnwind);
  b_.SetInsertPoint(llvm::BasicBlock::Create(*context_, "entry", made));
  std::vector<llvm::Value*> arguments{made->getArg(0), made->getArg(kClosureOfPlain), made->getArg(kRegistersOfPlain)};
  for (uint32_t n = 0; n < chunk_.outline.parameters; ++n) arguments.push_back(made->getArg(kFirstOfPlain + n));
  llvm::CallInst* given = b_.CreateCall(&body, arguments);
  llvm::Value* tag = b_.CreateExtractValue(given, 0);
  auto* other = llvm::BasicBlock::Create(*context_, "other", made);
  auto* number = llvm::BasicBlock::Create(*context_, "number", made);
  b_.CreateCondBr(b_.CreateICmpEQ(tag, tag_word(Tag::Float)), number, other);
  b_.SetInsertPoint(other);
  b_.CreateStore(tag, made->getArg(kTagOfPlain));
  b_.CreateBr(number);
  b_.SetInsertPoint(number);
  b_.CreateRet(b_.CreateBitCast(b_.CreateExtractValue(given, 1), b_.getDoubleTy()));
  llvm::InlineFunctionInfo how;
  llvm::InlineFunction(*given, how);
  return made;
}

// An interp::ColumnsEntry: the loop around what only computes, which is inlined so that the vectorizer sees it.
llvm::Function* Translator::make_columns_function(llvm::Function& plain) {
  llvm::Type *pointer = b_.getPtrTy(), *size = b_.getInt64Ty();
  auto* type = llvm::FunctionType::get(size, {pointer, pointer, pointer, pointer, pointer, size, size}, false);
  auto* made = llvm::Function::Create(type, llvm::Function::ExternalLinkage, direct_->getName() + " columns", *module_);
  made->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::Value *columns = made->getArg(3), *results = made->getArg(4), *from = made->getArg(5), *to = made->getArg(6);
  made->addParamAttr(4, llvm::Attribute::NoAlias);
  auto* entry = llvm::BasicBlock::Create(*context_, "entry", made);
  auto* row = llvm::BasicBlock::Create(*context_, "row", made);
  auto* done = llvm::BasicBlock::Create(*context_, "done", made);
  auto* left = llvm::BasicBlock::Create(*context_, "left", made);
  b_.SetInsertPoint(entry);
  llvm::Value* tag = b_.CreateAlloca(size);
  std::vector<llvm::Value*> starts;
  for (uint32_t n = 0; n < chunk_.outline.parameters; ++n) {
    starts.push_back(b_.CreateLoad(pointer, b_.CreateConstInBoundsGEP1_64(pointer, columns, n)));
  }
  b_.CreateCondBr(b_.CreateICmpULT(from, to), row, left);
  b_.SetInsertPoint(row);
  auto* at = b_.CreatePHI(size, 2);
  b_.CreateStore(tag_word(Tag::Float), tag);
  std::vector<llvm::Value*> arguments{made->getArg(0), tag, made->getArg(1), made->getArg(2)};
  for (llvm::Value* start : starts) {
    arguments.push_back(b_.CreateLoad(b_.getDoubleTy(), b_.CreateInBoundsGEP(b_.getDoubleTy(), start, at)));
  }
  arguments.resize(kFirstOfPlain + kMostNumbers, llvm::ConstantFP::get(b_.getDoubleTy(), 0));
  llvm::CallInst* given = b_.CreateCall(&plain, arguments);
  b_.CreateCondBr(b_.CreateICmpEQ(b_.CreateLoad(size, tag), tag_word(Tag::Float)), done, left);
  b_.SetInsertPoint(done);
  b_.CreateStore(given, b_.CreateInBoundsGEP(b_.getDoubleTy(), results, at));
  llvm::Value* next = b_.CreateAdd(at, word(1), "", /*HasNUW=*/true);
  b_.CreateCondBr(b_.CreateICmpULT(next, to), row, left);
  at->addIncoming(from, entry);
  at->addIncoming(next, done);
  b_.SetInsertPoint(left);
  auto* reached = b_.CreatePHI(size, 3);
  reached->addIncoming(from, entry);
  reached->addIncoming(at, row);
  reached->addIncoming(next, done);
  b_.CreateRet(reached);
  llvm::InlineFunctionInfo how;
  llvm::InlineFunction(*given, how);
  return made;
}

}  // namespace posset::jit
