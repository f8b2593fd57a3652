// See linker.h.
#include "jit/linker.h"

#include <llvm/ExecutionEngine/JITLink/JITLink.h>

#include "jit/bindings.h"
#include "jit/watch.h"

namespace posset::jit {

namespace jitlink = llvm::jitlink;
using llvm::Error;

namespace {

// Memory's errors are the system's (memory.cpp); all others are of what was linked.
Problem problem_of(Error error) {
  Problem found{Failure::Fault, ""};
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase& info) {
    const std::error_code code = info.convertToErrorCode();
    found.text = info.message();
    if (code.category() == std::generic_category()) {
      found.kind = code == std::errc::not_enough_memory ? Failure::OutOfMemory : Failure::Refused;
    }
  });
  return found;
}

// What JITLink asks while it links one object, and what came of it.
class Link : public jitlink::JITLinkContext {
 public:
  struct Outcome {
    std::unique_ptr<Code> code;
    Problem problem;
  };

  Link(const Addresses& known, const Bindings* bindings, CodeMemory& memory, Outcome& outcome)
      : JITLinkContext(nullptr), known_(known), bindings_(bindings), memory_(memory), outcome_(outcome) {}

  jitlink::JITLinkMemoryManager& getMemoryManager() override { return memory_; }
  void notifyFailed(Error error) override { outcome_.problem = problem_of(std::move(error)); }

  void lookup(const LookupMap& wanted, std::unique_ptr<jitlink::JITLinkAsyncLookupContinuation> then) override {
    jitlink::AsyncLookupResult found;
    for (const auto& [name, flags] : wanted) {
      const std::optional<uint64_t> value = value_of(name);
      if (!value) {
        then->run(llvm::createStringError(llvm::inconvertibleErrorCode(), "native code refers to an unknown symbol, " + name));
        return;
      }
      found[name] = {llvm::orc::ExecutorAddr(*value), llvm::JITSymbolFlags::Exported};
    }
    then->run(std::move(found));
  }

  Error notifyResolved(jitlink::LinkGraph& graph) override {
    for (const jitlink::Symbol* symbol : graph.defined_symbols()) {
      if (!symbol->hasName() || !symbol->isCallable()) continue;
      symbols_.push_back({symbol->getName().str(), symbol->getAddress().toPtr<const void*>(), symbol->getSize()});
    }
    for (const jitlink::Section& section : graph.sections()) {
      const jitlink::SectionRange range(section);
      if (!range.empty()) sections_.push_back({section.getName().str(), range.getStart().toPtr<const void*>()});
    }
    return Error::success();
  }

  void notifyFinalized(CodeMemory::FinalizedAlloc allocation) override {
    outcome_.code = std::make_unique<Code>(memory_, std::move(allocation), std::move(symbols_), std::move(sections_));
  }

 private:
  std::optional<uint64_t> value_of(llvm::StringRef name) const {
    const auto at = known_.find(name);
    if (at != known_.end()) return reinterpret_cast<uint64_t>(at->second);
    return bindings_ ? bindings_->value_of({name.data(), name.size()}) : std::nullopt;
  }

  const Addresses& known_;
  const Bindings* const bindings_;
  CodeMemory& memory_;
  Outcome& outcome_;
  std::vector<Code::Symbol> symbols_;
  std::vector<Code::Section> sections_;
};

}  // namespace

Code::Code(CodeMemory& memory, CodeMemory::FinalizedAlloc allocation, std::vector<Symbol> symbols,
           std::vector<Section> sections)
    : memory_(memory), allocation_(std::move(allocation)), symbols_(std::move(symbols)), sections_(std::move(sections)) {}

void Code::keep(std::unique_ptr<Registration> registration) { registration_ = std::move(registration); }

Code::~Code() {
  registration_.reset();  // before the addresses mean something else
  std::vector<CodeMemory::FinalizedAlloc> all;
  all.push_back(std::move(allocation_));
  memory_.deallocate(std::move(all), [](Error error) { llvm::consumeError(std::move(error)); });
}

void* Code::entry(std::string_view symbol) const {
  for (const Symbol& each : symbols_) {
    if (each.name == symbol) return const_cast<void*>(each.address);
  }
  return nullptr;
}

size_t Code::bytes() const { return CodeMemory::bytes_of(allocation_); }

std::unique_ptr<Code> link(llvm::StringRef object, const Addresses& known, const Bindings* bindings,
                           CodeMemory& memory, Problem& problem) {
  auto graph = jitlink::createLinkGraphFromObject(llvm::MemoryBufferRef(object, "unit"));
  if (!graph) {
    problem = {Failure::Fault, llvm::toString(graph.takeError())};
    return nullptr;
  }
  // Nothing here waits for anything, so the outcome is there when this returns.
  Link::Outcome outcome;
  jitlink::link(std::move(*graph), std::make_unique<Link>(known, bindings, memory, outcome));
  problem = std::move(outcome.problem);
  return std::move(outcome.code);
}

}  // namespace posset::jit
