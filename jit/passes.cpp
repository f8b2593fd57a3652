// See passes.h.
#include "jit/passes.h"

#include <utility>

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/BasicAliasAnalysis.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/BranchProbabilityInfo.h>
#include <llvm/Analysis/DemandedBits.h>
#include <llvm/Analysis/LoopAccessAnalysis.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/MemoryDependenceAnalysis.h>
#include <llvm/Analysis/MemorySSA.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ProfileSummaryInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScopedNoAliasAA.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/TypeBasedAliasAnalysis.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/DivRemPairs.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/LoopSimplifyCFG.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimpleLoopUnswitch.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Vectorize/LoopVectorize.h>

namespace posset::jit {

namespace {

llvm::InstCombinePass combine() { return llvm::InstCombinePass(llvm::InstCombineOptions().setVerifyFixpoint(false)); }

// Enough to make straight code of what comes from bytecode.
void add_light(llvm::FunctionPassManager& to) {
  to.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  to.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  to.addPass(combine());
  to.addPass(llvm::SimplifyCFGPass());
}

void add_loops(llvm::FunctionPassManager& to) {
  llvm::LoopPassManager turned;
  turned.addPass(llvm::LoopSimplifyCFGPass());
  turned.addPass(llvm::LoopRotatePass());
  turned.addPass(llvm::LICMPass(llvm::LICMOptions()));
  turned.addPass(llvm::SimpleLoopUnswitchPass(/*NonTrivial=*/false, /*Trivial=*/true));
  to.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(turned), /*UseMemorySSA=*/true));
  to.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::IndVarSimplifyPass()));
}

// Of what -O2 does with one function what changes code that comes from bytecode, in its order. The
// translator inlines and knows kinds and bounds; what passes of -O2 would find out about these
// again (jump threading, ranges of values, reassociation, constraints) changed nothing in the code
// of all benchmarks and took a third of the time. So did stores that are overwritten (the frame is
// written where code is left, and hardly ever twice) and invariants sought before loops are turned
// round and after they are unrolled. Left out, too, is what works on a whole program, and the
// vectorizer of straight code: a value is two words, and one load of both waits for the two stores
// of its parts.
void add_full(llvm::FunctionPassManager& to) {
  add_light(to);
  add_loops(to);
  // What is known on one of two ways is not computed on the other to save it after both: mostly both end in an exit.
  to.addPass(llvm::GVNPass(llvm::GVNOptions().setPRE(false)));
  to.addPass(combine());
  to.addPass(llvm::LoopVectorizePass());
  to.addPass(combine());
  to.addPass(llvm::SimplifyCFGPass(llvm::SimplifyCFGOptions().hoistCommonInsts(true)));
  to.addPass(llvm::LoopUnrollPass(llvm::LoopUnrollOptions(/*OptLevel=*/2)));
  to.addPass(llvm::DivRemPairsPass());
}

template <class... Analyses, class Manager>
void add(Manager& to) {
  (to.registerPass([] { return Analyses(); }), ...);
}

llvm::AAManager aliases() {
  llvm::AAManager all;
  all.registerFunctionAnalysis<llvm::BasicAA>();
  all.registerFunctionAnalysis<llvm::ScopedNoAliasAA>();
  all.registerFunctionAnalysis<llvm::TypeBasedAA>();
  return all;
}

}  // namespace

// What the passes ask for, and what these analyses ask for: LLVM's release build does not notice that one lacks, it
// takes what lies there. The list is that of their keys which the passes' object files refer to.
void Passes::register_analyses(llvm::TargetMachine& target) {
  add<llvm::PassInstrumentationAnalysis, llvm::ProfileSummaryAnalysis>(module_analyses_);
  module_analyses_.registerPass([this] { return llvm::FunctionAnalysisManagerModuleProxy(function_analyses_); });

  function_analyses_.registerPass(aliases);
  function_analyses_.registerPass([&target] { return target.getTargetIRAnalysis(); });
  function_analyses_.registerPass([this] { return llvm::ModuleAnalysisManagerFunctionProxy(module_analyses_); });
  function_analyses_.registerPass([this] { return llvm::LoopAnalysisManagerFunctionProxy(loop_analyses_); });
  add<llvm::PassInstrumentationAnalysis, llvm::AssumptionAnalysis, llvm::BasicAA, llvm::BlockFrequencyAnalysis,
      llvm::BranchProbabilityAnalysis, llvm::DemandedBitsAnalysis, llvm::DominatorTreeAnalysis, llvm::LoopAccessAnalysis,
      llvm::LoopAnalysis, llvm::MemoryDependenceAnalysis, llvm::MemorySSAAnalysis, llvm::OptimizationRemarkEmitterAnalysis,
      llvm::PostDominatorTreeAnalysis, llvm::ScalarEvolutionAnalysis, llvm::ScopedNoAliasAA,
      llvm::ShouldRunExtraVectorPasses, llvm::TargetLibraryAnalysis, llvm::TypeBasedAA>(function_analyses_);

  add<llvm::PassInstrumentationAnalysis, llvm::ShouldRunExtraSimpleLoopUnswitch>(loop_analyses_);
  loop_analyses_.registerPass([this] { return llvm::FunctionAnalysisManagerLoopProxy(function_analyses_); });
}

Passes::Passes(Optimisation amount, llvm::TargetMachine& target) {
  if (amount == Optimisation::None) return;
  register_analyses(target);
  llvm::FunctionPassManager functions;
  if (amount == Optimisation::Light) add_light(functions);
  if (amount == Optimisation::Full) {
    passes_.addPass(llvm::AlwaysInlinerPass());
    add_full(functions);
  }
  passes_.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(functions)));
}

void Passes::run(llvm::Module& module) {
  if (passes_.isEmpty()) return;
  passes_.run(module, module_analyses_);
  // What was found out about this module; the next may lie at the same address.
  module_analyses_.clear();
  function_analyses_.clear();
  loop_analyses_.clear();
}

}  // namespace posset::jit
