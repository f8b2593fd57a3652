// Declarations made ready to run. A Function is one FunctionDecl in one ModuleInstance of one context: its
// unit (shared code), and what its links mean here. Structurally equal functions share the Unit; places
// and links come from the Function of the closure that runs.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "interp/runtime/unit.h"
#include "interp/syntax/ast.h"
#include "interp/value/objects.h"

namespace posset::interp {

class Context;
struct ModuleInstance;

struct Function {
  const syntax::FunctionDecl* decl = nullptr;
  UnitRef unit;
  ModuleInstance* module = nullptr;
  const Context* context = nullptr;  // it was made in; helpers of that (posse.h) call it, too
  uint32_t parameter_count = 0;
  uint32_t required = 0;
  uint32_t slot_count = 0;
  bool has_rest = false;
  bool pure = false;
  bool splits = false;              // built-ins that call it for many elements leave fork records (halves.h)
  bool has_types = false;           // some parameter or the result is annotated
  bool in_top_level = false;        // the top level, or a lambda of it
  uint64_t inout_mask = 0;
  // Code of tier 1 once this function has been seen to have it: what a call inside that tier needs first.
  // Cleared when the code is evicted.
  mutable std::atomic<void*> direct_code{nullptr};
  mutable const Function* next_of_unit = nullptr;      // both guarded by the unit table
  mutable const Function* previous_of_unit = nullptr;
  const Borrowed** links = nullptr; // by link number: the cell that holds the value (Unset: not run yet)
  std::vector<const Borrowed*> link_cells;
  std::vector<Value> link_values;   // values that have no cell elsewhere
  std::vector<const VariantType*> link_types;  // by link number, for annotations; null where none
  std::vector<Function*> children;  // by FunctionDecl::children
  const syntax::Module* tree() const { return decl->module; }
};

// What a Constructor value points to: the declaration and where its annotations are looked up.
struct ConstructorInfo {
  const syntax::ConstructorDecl* decl = nullptr;
  ModuleInstance* module = nullptr;
};

// One module in one context: globals, functions, and whether its top level has run.
struct ModuleInstance {
  enum class State : uint8_t { Fresh, Running, Done, Failed };
  std::shared_ptr<syntax::Module> tree;
  std::vector<std::unique_ptr<Function>> functions;       // all of them, nested ones too
  std::vector<Function*> by_index;                        // module-level fns
  std::vector<Value> closures;                            // of by_index: closures without captures
  std::unique_ptr<Borrowed[]> globals;                    // owned values; Unset until the let has run
  uint32_t global_count = 0;
  std::vector<const VariantType*> types;
  std::vector<std::unique_ptr<ConstructorInfo>> constructor_infos;
  std::vector<std::vector<Value>> constructors;           // by type, by ordinal: Constructor or Variant
  Function* top = nullptr;
  State state = State::Fresh;
  std::string failure;                                    // the message with which it Failed
  int64_t live_closures = 0;                              // Closure::owner_count
};

}  // namespace posset::interp
