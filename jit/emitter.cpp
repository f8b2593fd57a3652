// See emitter.h.
#include "jit/emitter.h"

#include <stdexcept>

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include "jit/fast_selection.h"
#include "jit/passes.h"

namespace posset::jit {

namespace {

// Levels of code generation between these, and the fast register allocator with anything but None,
// are not worth having: they cost nearly as much and ruin the code.
struct PipelineRow {
  const char* name;
  llvm::CodeGenOptLevel level;
  Optimisation passes;
};

constexpr PipelineRow kRows[kPipelines] = {
    {"quick", llvm::CodeGenOptLevel::None, Optimisation::None},
    {"light", llvm::CodeGenOptLevel::Less, Optimisation::Light},
    {"full", llvm::CodeGenOptLevel::Default, Optimisation::Full},
};

const PipelineRow& row_of(Pipeline pipeline) { return kRows[static_cast<size_t>(pipeline)]; }

const llvm::Target& find_target(const std::string& triple) {
  std::string problem;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!target) throw std::runtime_error(problem);
  return *target;
}

// Passes of code generation that cost more than they give, by the options that turn them off; they cannot be left out
// one by one otherwise. All together take a tenth of the time, and without them sixteen programs run as fast: the
// processor reorders, too, and what is common or invariant has been found before. Sinking what only a cold way uses into
// that way is worth its time (loops 1.07, fib 1.10 without it).
struct UnusedPass {
  const char* option;
  const char* value;
};
constexpr UnusedPass kUnused[] = {
    {"disable-post-ra", "true"},                  // scheduling after registers are given
    {"enable-misched", "false"},                  // and before
    {"disable-machine-licm", "true"},             // invariants
    {"disable-machine-cse", "true"},              // common subexpressions
    {"disable-copyprop", "true"},                 // copies
    {"disable-early-ifcvt", "true"},              // selections instead of branches
    {"disable-x86-domain-reassignment", "true"},  // mask registers
};

void leave_out_passes() {
  auto& options = llvm::cl::getRegisteredOptions();
  for (const auto& [name, value] : kUnused) {
    const auto found = options.find(name);
    if (found != options.end()) found->second->addOccurrence(0, name, value);
  }
}

// What the processor's name implies.
llvm::StringMap<bool> features_of(const Machine& machine) {
  llvm::StringMap<bool> features;
  const std::unique_ptr<llvm::MCSubtargetInfo> implied(
      find_target(machine.triple).createMCSubtargetInfo(machine.triple, machine.processor, machine.features));
  if (!implied) return features;
  for (const llvm::SubtargetFeatureKV& each : implied->getAllProcessorFeatures()) {
    features[each.Key] = implied->hasFeature(each.Value);
  }
  return features;
}

// Of the features found only those are named that the processor's name does not imply: code
// generation looks its tables up by this text, several times for each function.
Machine find_machine() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  leave_out_passes();
  Machine found{llvm::sys::getProcessTriple(), llvm::sys::getHostCPUName().str(), ""};
  const llvm::StringMap<bool> implied = features_of(found);
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    const llvm::StringRef name = feature.first();
    const auto known = implied.find(name);
    if (known == implied.end() || known->second == feature.second) continue;
    if (!found.features.empty()) found.features += ',';
    found.features.append(feature.second ? "+" : "-").append(name);
  }
  return found;
}

llvm::TargetOptions target_options() {
  llvm::TargetOptions options;
  options.LoopAlignment = 32;  // a short loop across two lines of the instruction cache is a tenth slower
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return options;
}

std::unique_ptr<llvm::TargetMachine> make_target(const PipelineRow& row) {
  const Machine& machine = this_machine();
  // Position-independent and small: everything of one object lies together, and JITLink makes a
  // stub for what is called and lies too far away.
  std::unique_ptr<llvm::TargetMachine> made(
      find_target(machine.triple)
          .createTargetMachine(machine.triple, machine.processor, machine.features, target_options(),
                               llvm::Reloc::PIC_, llvm::CodeModel::Small, row.level, /*JIT=*/true));
  if (!made) throw std::runtime_error("no code generator for " + machine.triple);
  made->setFastISel(row.level == llvm::CodeGenOptLevel::None);
  return made;
}

// Errors that LLVM reports through a module's context. Without a handler it would print them and
// exit.
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

// Code generation into a buffer. Setting the passes up takes as long as generating a small
// function, so they are kept; LLVM's own printers and streams reset themselves after each module.
class CodeGenerator {
 public:
  CodeGenerator(llvm::TargetMachine& target, llvm::CodeGenFileType type) : stream_(buffer_) {
    passes_.add(new llvm::TargetLibraryInfoWrapperPass(target.getTargetTriple()));
    // Verifying is the engine's affair, in debug builds.
    if (target.addPassesToEmitFile(passes_, stream_, nullptr, type, /*DisableVerify=*/true)) {
      throw std::runtime_error("this target writes no such files");
    }
  }

  Emitter::Object run(llvm::Module& module) {
    buffer_.clear();
    passes_.run(module);
    return std::move(buffer_);
  }

 private:
  Emitter::Object buffer_;
  llvm::raw_svector_ostream stream_;
  llvm::legacy::PassManager passes_;
};

}  // namespace

const char* name_of(Pipeline pipeline) { return row_of(pipeline).name; }

// Common subexpressions, the combination of instructions and the allocation of registers take a time that grows with the square
// of the size in long chains of comparisons: a `match` of 1,000 arms has 38,000 instructions and took 7.5 s, of 2,000 arms 30 s;
// quick code takes 0.3 and 0.8 s.
Pipeline affordable(Pipeline wanted, const llvm::Module& module) {
  constexpr unsigned kMostInstructions = 30'000;
  return module.getInstructionCount() <= kMostInstructions ? wanted : Pipeline::Quick;
}

const Machine& this_machine() {
  static const Machine machine = find_machine();
  return machine;
}

struct Emitter::Parts {
  explicit Parts(Pipeline pipeline)
      : row(row_of(pipeline)),
        target(make_target(row)),
        layout(target->createDataLayout()),
        passes(row.passes, *target),
        objects(*target, llvm::CodeGenFileType::ObjectFile) {}

  void run_passes(llvm::Module& module) {
    // A module made by somebody who does not care has another layout, and code generation would
    // follow it.
    module.setTargetTriple(this_machine().triple);
    module.setDataLayout(layout);
    if (row.level == llvm::CodeGenOptLevel::None) prepare_fast_selection(module);
    passes.run(module);
  }

  const PipelineRow& row;
  std::unique_ptr<llvm::TargetMachine> target;
  llvm::DataLayout layout;
  Passes passes;
  CodeGenerator objects;
};

Emitter::Emitter(Pipeline pipeline) : parts_(std::make_unique<Parts>(pipeline)) {}
Emitter::~Emitter() = default;

const llvm::DataLayout& Emitter::layout() const { return parts_->layout; }

Emitter::Object Emitter::object(llvm::Module& module, std::string& problem) {
  Watch watch(module, problem);
  parts_->run_passes(module);
  if (!problem.empty()) return {};
  Object made = parts_->objects.run(module);
  return problem.empty() ? std::move(made) : Object();
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
  parts_->run_passes(module);
  CodeGenerator generator(*parts_->target, llvm::CodeGenFileType::AssemblyFile);
  const Object made = problem.empty() ? generator.run(module) : Object();
  return {made.begin(), made.end()};
}

}  // namespace posset::jit
