// From an object file to code that runs: JITLink lays it out in memory, binds its calls and makes it executable.
// JITLink is used directly, without a session of ORC above it: a unit's code refers to helpers, whose addresses never
// change, and to what the unit itself binds, so there are no libraries, lookups or dependencies to keep book of.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <llvm/ADT/StringMap.h>

#include "jit/fatal.h"
#include "jit/memory.h"

namespace posset::jit {

class Bindings;

// The helpers object files may refer to.
using Addresses = llvm::StringMap<const void*>;

// What undoes the announcement of code (watch.h).
class Registration;

// Linked code. Its memory goes with it; nobody may be running it then.
class Code {
 public:
  struct Symbol {
    std::string name;
    const void* address;
    size_t bytes;
  };

  struct Section {
    std::string name;
    const void* address;
  };

  Code(CodeMemory& memory, CodeMemory::FinalizedAlloc allocation, std::vector<Symbol> symbols,
       std::vector<Section> sections);
  ~Code();
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;

  // The address of a function; null: there is none of that name.
  void* entry(std::string_view symbol) const;
  // Memory mapped for it.
  size_t bytes() const;
  const std::vector<Symbol>& symbols() const { return symbols_; }
  const std::vector<Section>& sections() const { return sections_; }

  void keep(std::unique_ptr<Registration> registration);

 private:
  CodeMemory& memory_;
  CodeMemory::FinalizedAlloc allocation_;
  const std::vector<Symbol> symbols_;
  const std::vector<Section> sections_;
  std::unique_ptr<Registration> registration_;
};

// Null with `problem` set: no memory, or `object` refers to what is neither in `known` nor in `bindings` (null: none).
// `known` and `memory` outlive the code.
std::unique_ptr<Code> link(llvm::StringRef object, const Addresses& known, const Bindings* bindings,
                           CodeMemory& memory, Problem& problem);

}  // namespace posset::jit
