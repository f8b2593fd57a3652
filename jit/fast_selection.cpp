// See fast_selection.h.
#include "jit/fast_selection.h"

#include <utility>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>

namespace posset::jit {

namespace {

using llvm::BasicBlock;

// Two ways from one block to another are two entries of a phi, with the same value.
void move_edge(BasicBlock* to, BasicBlock* from, BasicBlock* moved) {
  if (from == moved) return;
  for (llvm::PHINode& phi : to->phis()) phi.setIncomingBlock(static_cast<unsigned>(phi.getBasicBlockIndex(from)), moved);
}

// In the order of the cases, of which none is known to be the likely one. The first comparison stays in the switch's
// block, so its ways are moved last.
void lower_switch(llvm::SwitchInst& choice) {
  BasicBlock* const first = choice.getParent();
  llvm::IRBuilder<> build(&choice);
  std::vector<std::pair<BasicBlock*, BasicBlock*>> edges;
  BasicBlock* here = first;
  for (const auto& each : choice.cases()) {
    auto* next = BasicBlock::Create(first->getContext(), "case", first->getParent(), here->getNextNode());
    build.CreateCondBr(build.CreateICmpEQ(choice.getCondition(), each.getCaseValue()), each.getCaseSuccessor(), next);
    edges.emplace_back(here, each.getCaseSuccessor());
    here = next;
    build.SetInsertPoint(here);
  }
  build.CreateBr(choice.getDefaultDest());
  edges.emplace_back(here, choice.getDefaultDest());
  choice.eraseFromParent();
  for (const auto& [from, to] : llvm::reverse(edges)) move_edge(to, first, from);
}

// The words of what a return gives, each by itself.
std::vector<llvm::Value*> parts_of(llvm::ReturnInst& returned, unsigned count) {
  std::vector<llvm::Value*> parts;
  llvm::IRBuilder<> build(&returned);
  for (unsigned part = 0; part < count; ++part) {
    llvm::Value* known = llvm::FindInsertedValue(returned.getReturnValue(), part);
    parts.push_back(known ? known : build.CreateExtractValue(returned.getReturnValue(), part));
  }
  return parts;
}

void share_return(llvm::Function& function, const std::vector<llvm::ReturnInst*>& returns) {
  auto* type = llvm::cast<llvm::StructType>(function.getReturnType());
  auto* shared = BasicBlock::Create(function.getContext(), "return", &function);
  llvm::IRBuilder<> build(shared);
  std::vector<llvm::PHINode*> parts;
  for (llvm::Type* each : type->elements()) parts.push_back(build.CreatePHI(each, static_cast<unsigned>(returns.size())));
  llvm::Value* all = llvm::PoisonValue::get(type);
  for (unsigned part = 0; part < parts.size(); ++part) all = build.CreateInsertValue(all, parts[part], part);
  build.CreateRet(all);
  for (llvm::ReturnInst* each : returns) {
    const std::vector<llvm::Value*> given = parts_of(*each, type->getNumElements());
    for (unsigned part = 0; part < parts.size(); ++part) parts[part]->addIncoming(given[part], each->getParent());
    auto* made = llvm::dyn_cast<llvm::Instruction>(each->getReturnValue());
    llvm::IRBuilder<>(each).CreateBr(shared);
    each->eraseFromParent();
    while (made && made->use_empty() && llvm::isa<llvm::InsertValueInst>(made)) {
      auto* before = llvm::dyn_cast<llvm::Instruction>(made->getOperand(0));
      made->eraseFromParent();
      made = before;
    }
  }
}

void prepare(llvm::Function& function, bool loads_are_ordered) {
  std::vector<llvm::SwitchInst*> switches;
  std::vector<llvm::ReturnInst*> returns;
  for (BasicBlock& block : function) {
    if (auto* choice = llvm::dyn_cast<llvm::SwitchInst>(block.getTerminator())) switches.push_back(choice);
    auto* returned = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator());
    if (returned && function.getReturnType()->isStructTy()) returns.push_back(returned);
    for (llvm::Instruction& each : block) {
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&each);
      if (!load || !load->isAtomic() || !loads_are_ordered) continue;
      load->setAtomic(llvm::AtomicOrdering::NotAtomic);
      load->setVolatile(true);
    }
  }
  for (llvm::SwitchInst* each : switches) lower_switch(*each);
  if (!returns.empty()) share_return(function, returns);
}

}  // namespace

void prepare_fast_selection(llvm::Module& module) {
  const bool loads_are_ordered = llvm::Triple(module.getTargetTriple()).isX86();
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) prepare(function, loads_are_ordered);
  }
}

}  // namespace posset::jit
