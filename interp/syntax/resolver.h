// Names to slots, captures and links; everything that `language.md` wants reported before anything runs.
// After it the tree satisfies the invariants of `ast.h`. The analyses that later tiers and the units
// need (last uses, purity, structural hash) run from here too, each in a file of its own.
//
// What later stages may rely on, beyond the invariants:
//  - Parameters are bound from left to right, each with its default and then its pattern.
//  - A place's root is an assignable local (`Binding::is_var`), or the path has a field `value`, behind
//    which there may be a ref, or one with the name of a host object's property: then storing must go
//    through one, or raise.
//  - `break` and `continue` in the condition of a `while` or comprehension mean that loop; in the
//    iterable of a `for` they mean the loop around it.
//  - A read marked `last_use` may come after an earlier operand that read the same slot: what an
//    operand has read must be held, not borrowed from the slot. Reads inside the default of a place
//    (`m[k, d]`) are never marked.
//  - Of a Field with a bound `binding` the base is bound to the module and need not be evaluated.
//  - A pattern name `_` (with an annotation) has no binding. A module-level FunctionStatement has none
//    either, and nothing to do.
//  - Annotations of constructor fields are bound in the links of their module's top level.
#pragma once

#include <functional>
#include <memory>

#include "interp/syntax/ast.h"
#include "interp/syntax/diagnostic.h"

namespace posset::syntax {

struct Facts;

// What the resolver must know of a built-in function.
struct BuiltinInfo {
  uint64_t inout_mask = 0;   // bit i: parameter i is passed with &
  bool pure = true;          // calling it has no effect (of itself)
  uint64_t calls_mask = 0;   // bit i: calls its argument i (map, fold); pure only if that is
  uint32_t loop_arguments = 0;  // a call with so many arguments is a loop over the first one (map, fold); 0: none is
  bool costly = false;       // a call may take long: it goes over what it is given, or is the host's
  // What calls a function for every element, which others may do for some of them: of any that `for` takes, or of lists and
  // ranges only; or one after the other.
  enum class Divides : uint8_t { No, All, Sequences, InOrder } divides = Divides::No;
  Text unpaired;             // the built-in that gives what the pairs are of that it gives (zip, enumerate); or empty
  int min_args = 0;
  int max_args = -1;         // -1: any number
};

// The world outside the module. Lookups must be stable during a resolution.
class NameEnvironment {
 public:
  virtual ~NameEnvironment() = default;
  // A function that is always in scope (`len`), or one the host has defined.
  virtual const BuiltinInfo* builtin(Text name) const = 0;
  // A value the host has set (`args`).
  virtual bool host_global(Text name) const = 0;
  // A built-in module ("math"), and an export of it: null when there is none. Constants (math.pi) have
  // `is_function` false.
  virtual bool builtin_module(Text name) const = 0;
  struct BuiltinExport {
    bool is_function = true;
    BuiltinInfo info;
  };
  virtual const BuiltinExport* builtin_export(Text module, Text name) const = 0;
  // A built-in module that exports it; empty: none.
  virtual Text module_with(Text) const { return {}; }
  // Some type of host objects has a property or method of that name that is not pure; a property that can be stored to.
  virtual bool impure_host_member(Text) const { return false; }
  virtual bool host_property(Text) const { return false; }
  // Pure work may go to several executors: forks are written into the trees.
  virtual bool forks() const { return false; }
  // For suggestions.
  virtual std::vector<Text> builtin_names() const = 0;
  virtual std::vector<Text> builtin_exports(Text module) const = 0;
  // Loads and parses (does not resolve) a script module; the same key gives the same Module. On failure
  // gives null and sets `why`. `from` is the importing module.
  virtual std::shared_ptr<Module> load(const Module& from, Text path, std::string& why) = 0;
};

// What earlier inputs of a session (REPL) have declared, newest last; shadowed names are skipped.
struct SessionScope {
  std::vector<std::shared_ptr<Module>> inputs;
};

// Resolves `module` and every module it imports (each once; import cycles are reported). With `session`,
// names that are not found in the module are looked up in earlier inputs. True when nothing was reported
// as an error.
bool resolve(const std::shared_ptr<Module>& module, NameEnvironment& environment, Diagnostics& diagnostics,
             const SessionScope* session = nullptr);

// Run by `resolve` for every function of a module that resolved without error:
void mark_last_uses(FunctionDecl& function);       // liveness.cpp: Binding::last_use, Capture::last_use
// purity.cpp. What it found out on the way serves the next.
std::vector<Facts> infer_purity(Module& module, NameEnvironment& environment, Diagnostics& diagnostics);
void find_forks(Module& module, std::vector<Facts> facts, bool insert);  // fork_points.h
void hash_functions(Module& module);               // structural_hash.cpp: hash, canonical, loop_hashes

// Of a function without what it calls: the same after an edit elsewhere.
StructuralHash own_hash(const FunctionDecl& function);  // structural_hash.cpp

// "calls println (impure: output)\n  in f (FILE:L:C) ...", one line a step; "pure" when it is.
std::string explain_purity(const FunctionDecl& function);
// "calls log, and log calls println", of one step.
std::string explain_step(const PurityStep& step);

}  // namespace posset::syntax
