// See emitter.h.
#include "jit/emitter.h"

#include <cassert>
#include <stdexcept>

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

namespace posset::jit {

namespace {

// Codegen levels below Default other than None with FastISel, and the fast register allocator with anything
// but None, are dominated: they cost nearly as much and ruin the code.
struct PipelineRow {
  const char* name;
  llvm::CodeGenOptLevel level;
  const char* passes;
};

constexpr PipelineRow kRows[kPipelines] = {
    {"quick", llvm::CodeGenOptLevel::None, ""},
    {"light", llvm::CodeGenOptLevel::Less, "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg)"},
    {"full", llvm::CodeGenOptLevel::Default, "default<O2>"},
};

const PipelineRow& row_of(Pipeline pipeline) { return kRows[static_cast<size_t>(pipeline)]; }

Machine find_machine() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  Machine found{llvm::sys::getProcessTriple(), llvm::sys::getHostCPUName().str(), ""};
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    if (!found.features.empty()) found.features += ',';
    found.features.append(feature.second ? "+" : "-").append(feature.first());
  }
  return found;
}

llvm::TargetOptions exact_floats() {
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return options;
}

std::unique_ptr<llvm::TargetMachine> make_target(const PipelineRow& row) {
  const Machine& machine = this_machine();
  std::string problem;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(machine.triple, problem);
  if (!target) throw std::runtime_error(problem);
  // Position-independent and small: everything of one object lies together, and JITLink makes a stub for what
  // is called and lies too far away.
  std::unique_ptr<llvm::TargetMachine> made(target->createTargetMachine(
      machine.triple, machine.processor, machine.features, exact_floats(), llvm::Reloc::PIC_,
      llvm::CodeModel::Small, row.level, /*JIT=*/true));
  if (!made) throw std::runtime_error("no code generator for " + machine.triple);
  made->setFastISel(row.level == llvm::CodeGenOptLevel::None);
  return made;
}

// Errors that LLVM reports through a module's context. Without a handler it would print them and exit.
class Diagnostics : public llvm::DiagnosticHandler {
 public:
  explicit Diagnostics(std::string& problem) : problem_(problem) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream stream(problem_);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    return true;
  }

 private:
  std::string& problem_;
};

// While it lives, errors about a module go into `problem`.
class Watch {
 public:
  Watch(llvm::Module& module, std::string& problem) : context_(module.getContext()) {
    context_.setDiagnosticHandler(std::make_unique<Diagnostics>(problem));
  }
  ~Watch() { context_.setDiagnosticHandler(std::make_unique<llvm::DiagnosticHandler>()); }

 private:
  llvm::LLVMContext& context_;
};

}  // namespace

const char* name_of(Pipeline pipeline) { return row_of(pipeline).name; }

const Machine& this_machine() {
  static const Machine machine = find_machine();
  return machine;
}

// The analysis managers refer to each other: destroyed in the reverse order.
struct Emitter::Parts {
  explicit Parts(Pipeline pipeline)
      : row(row_of(pipeline)), target(make_target(row)), layout(target->createDataLayout()), builder(target.get()) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }

  void run_passes(llvm::Module& module) {
    if (!*row.passes) return;
    // Made anew each time: the inliner's pass manager gives its passes away when it is run.
    llvm::ModulePassManager passes;
    llvm::cantFail(builder.parsePassPipeline(passes, row.passes));
    passes.run(module, modules);
    // What was found out about this module; the next may lie at the same address.
    modules.clear();
    components.clear();
    functions.clear();
    loops.clear();
  }

  const PipelineRow& row;
  std::unique_ptr<llvm::TargetMachine> target;
  llvm::DataLayout layout;
  llvm::PassBuilder builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
};

Emitter::Emitter(Pipeline pipeline) : parts_(std::make_unique<Parts>(pipeline)) {}
Emitter::~Emitter() = default;

const llvm::DataLayout& Emitter::layout() const { return parts_->layout; }

bool Emitter::generate(llvm::Module& module, bool as_text, Object& out, std::string& problem) {
  llvm::raw_svector_ostream stream(out);
  llvm::legacy::PassManager passes;
  passes.add(new llvm::TargetLibraryInfoWrapperPass(parts_->target->getTargetTriple()));
  const auto type = as_text ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  // Verifying is the translator's affair, in debug builds.
  if (parts_->target->addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true)) {
    problem = "this target writes no object files";
    return false;
  }
  passes.run(module);
  return problem.empty();
}

Emitter::Object Emitter::object(llvm::Module& module, std::string& problem) {
  Watch watch(module, problem);
  Object made;
  parts_->run_passes(module);
  if (!problem.empty() || !generate(module, false, made, problem)) made.clear();
  return made;
}

std::string Emitter::optimised(llvm::Module& module) {
  parts_->run_passes(module);
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

std::string Emitter::assembly(llvm::Module& module, std::string& problem) {
  Watch watch(module, problem);
  Object made;
  parts_->run_passes(module);
  if (!problem.empty() || !generate(module, true, made, problem)) return {};
  return {made.begin(), made.end()};
}

}  // namespace posset::jit
