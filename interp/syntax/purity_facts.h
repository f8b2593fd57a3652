// What one function does that bears on its purity: collected by one walk over its tree, spread over
// the call graph by purity.cpp.
//
// A value is a known function when it is a `fn` or a lambda bound by a plain `let`; such a slot
// never changes, so one forward walk that notes what each slot was bound to knows all of them. A
// ref is known in the same way: reading its `value` is an effect, as is reading the `value` of what
// a module `let` holds when that may be a ref.
// Making a lambda is pure, whatever calling it does; raising and changing locals are pure.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "interp/syntax/resolver.h"

namespace posset::syntax {

// An argument, as far as purity asks.
struct Passed {
  enum class Kind : uint8_t { Unknown, Pure, Function, Given } kind = Kind::Unknown;
  const FunctionDecl* function = nullptr;
  Given given;
};

struct KnownCall {
  const FunctionDecl* callee = nullptr;
  Span span;
  std::string what;
  uint32_t site = 0;
  std::vector<Passed> passed = {};  // not of calls by a built-in
  // Set by find_given: this call of what is not pure is, if these are.
  std::optional<std::vector<Given>> given = {};
};

// What one function does, in evaluation order. The site of a fact lies within those of every expression it is a
// part of.
struct Facts {
  FunctionDecl* function = nullptr;
  std::vector<PurityStep> impure;
  std::vector<PurityStep> unproved;
  std::vector<KnownCall> calls;
  std::vector<uint32_t> costs;  // sites of calls of built-ins that may take long
  // Calls of built-ins that call a function for every element, and that function.
  struct ForEach {
    const Node* call = nullptr;
    BuiltinInfo::Divides divides = BuiltinInfo::Divides::No;
    Passed passed;
    std::string what;  // "passes 'f' to 'map'"
  };
  std::vector<ForEach> for_each;
};

// What a name that is never assigned was bound to, as far as purity asks.
struct KnownValue {
  enum class Cells : uint8_t {
    Unknown,
    None,
    Ref
  } cells = Cells::Unknown;  // a ref itself, or one inside
  const FunctionDecl* function = nullptr;
};

// What the lets of modules hold.
class KnownGlobals {
 public:
  KnownValue find(const Module& module, uint32_t index);

 private:
  using Table = std::unordered_map<uint32_t, KnownValue>;
  std::unordered_map<const Module*, Table> tables_;
};

// Appends the facts of `function` and of the functions nested in it.
void collect_facts(FunctionDecl& function, NameEnvironment& environment, KnownGlobals& globals,
                   std::vector<Facts>& out);

// Of functions and calls that impurity does not reach: what they are given that would have to be pure (FunctionDecl::given,
// KnownCall::given). purity_given.cpp.
void find_given(std::vector<Facts>& facts);

}  // namespace posset::syntax
