// What one function does that bears on its purity: collected by one walk over its tree, spread over
// the call graph by purity.cpp.
//
// A value is a known function when it is a `fn` or a lambda bound by a plain `let`; such a slot
// never changes, so one forward walk that notes what each slot was bound to knows all of them.
// Making a lambda is pure, whatever calling it does; raising and changing locals are pure.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "interp/syntax/resolver.h"

namespace posset::syntax {

struct KnownCall {
  const FunctionDecl* callee = nullptr;
  Span span;
  std::string what;
};

// What one function does, in evaluation order.
struct Facts {
  FunctionDecl* function = nullptr;
  std::vector<PurityStep> impure;
  std::vector<PurityStep> unproved;
  std::vector<KnownCall> calls;
};

// What the lets of modules hold, as far as it is a known function.
class KnownGlobals {
 public:
  const FunctionDecl* find(const Module& module, uint32_t index);

 private:
  using Table = std::unordered_map<uint32_t, const FunctionDecl*>;
  std::unordered_map<const Module*, Table> tables_;
};

// Appends the facts of `function` and of the functions nested in it.
void collect_facts(FunctionDecl& function, NameEnvironment& environment, KnownGlobals& globals,
                   std::vector<Facts>& out);

}  // namespace posset::syntax
