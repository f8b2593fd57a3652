// The driver: finds the modules a program consists of, orders them so that a module comes after
// what it imports, resolves each and runs the analyses. Discovery walks the import graph with a
// stack of its own (a chain of imports may be longer than the native stack is deep) and reports
// cycles; the import that closes one is left unbound, so that the rest can still be checked.
#include "interp/syntax/resolver.h"

#include <unordered_set>

#include "interp/syntax/module_resolver.h"
#include "interp/syntax/purity_facts.h"

namespace posset::syntax {

namespace {

class Discovery {
 public:
  explicit Discovery(World& world) : world_(world) {}

  // All modules that still need resolving, imported ones first, `root` last.
  std::vector<std::shared_ptr<Module>> run(const std::shared_ptr<Module>& root) {
    enter(root, {});
    while (!open_.empty()) {
      // Not a reference: entering a module moves the stack.
      const size_t at = open_.size() - 1;
      if (open_[at].next < open_[at].module->imports.size()) {
        ImportDecl& import = *open_[at].module->imports[open_[at].next++];
        follow(open_[at].module, import);
      } else {
        leave();
      }
    }
    return std::move(order_);
  }

  bool failed() const { return failed_; }

 private:
  struct Open {
    std::shared_ptr<Module> module;
    Text path;  // as the importing module wrote it
    size_t next = 0;
  };

  void enter(const std::shared_ptr<Module>& module, Text path) {
    seen_.insert(module.get());
    module->imports.clear();
    if (auto* body = as<BlockNode>(module->top->body)) {
      for (Node* statement : body->statements) {
        if (const auto* import = as<ImportNode>(statement))
          module->imports.push_back(import->import);
      }
    }
    open_modules_.insert(module.get());
    if (!module->key.empty()) open_keys_.insert(module->key);
    open_.push_back({module, path});
  }

  void leave() {
    const std::shared_ptr<Module>& module = open_.back().module;
    open_modules_.erase(module.get());
    open_keys_.erase(module->key);
    order_.push_back(module);
    open_.pop_back();
  }

  void follow(const std::shared_ptr<Module>& from, ImportDecl& import) {
    import.builtin = world_.environment.builtin_module(import.path);
    if (import.builtin) return;
    import.module = nullptr;
    std::string why;
    const std::shared_ptr<Module> module = world_.environment.load(*from, import.path, why);
    if (!module) {
      fail(*from, ErrorCode::ImportFailed, import.path_span,
           "cannot import " + quoted(import.path) + ": " + why,
           "the path is relative to this file, without the extension");
      return;
    }
    if (closes_cycle(*from, import, *module)) return;
    import.module = module.get();
    if (module->resolution == Module::Resolution::Failed) {
      fail(*from, ErrorCode::ImportFailed, import.path_span,
           "the module " + quoted(import.path) + " has errors",
           "they were reported when it was first imported");
    } else if (module->resolution == Module::Resolution::None && !seen_.contains(module.get())) {
      enter(module, import.path);
    }
  }

  // The root may be a second copy of a module that is also loaded by key; keys tell.
  static bool same_module(const Module& a, const Module& b) {
    return &a == &b || (!a.key.empty() && a.key == b.key);
  }

  bool closes_cycle(const Module& from, const ImportDecl& import, const Module& module) {
    // Asked of every import, and a chain of imports may be long.
    if (!open_modules_.contains(&module) && !open_keys_.contains(module.key)) return false;
    size_t start = 0;
    while (start < open_.size() && !same_module(*open_[start].module, module)) ++start;
    if (start == open_.size()) return false;
    std::string cycle(import.path);
    for (size_t i = start + 1; i < open_.size(); ++i) cycle += " -> " + std::string(open_[i].path);
    cycle += " -> " + std::string(import.path);
    fail(from, ErrorCode::ImportCycle, import.path_span, "import cycle: " + cycle,
         "move what both need into a module of its own");
    return true;
  }

  void fail(const Module& module, ErrorCode code, Span span, std::string message,
            std::string hint) {
    failed_ = true;
    world_.diagnostics.error(module.source, code, span, std::move(message), std::move(hint));
  }

  World& world_;
  std::vector<Open> open_;
  std::unordered_set<const Module*> open_modules_;  // the same, to be found
  std::unordered_set<Text> open_keys_;              // of those that have one
  std::unordered_set<const Module*> seen_;
  std::vector<std::shared_ptr<Module>> order_;
  bool failed_ = false;
};

bool imports_are_good(const Module& module) {
  for (const ImportDecl* import : module.imports) {
    if (import->builtin) continue;
    if (!import->module || import->module->resolution != Module::Resolution::Done) return false;
  }
  return true;
}

// Purity needs the purity of what is imported; `pure fn` is checked there and may be refused.
bool analyse(Module& module, World& world) {
  std::vector<Facts> facts = infer_purity(module, world.environment, world.diagnostics);
  const std::vector<FunctionDecl*> functions = functions_of(module);
  for (const FunctionDecl* decl : functions) {
    if (decl->declared_pure && decl->purity != Purity::Pure) return false;
  }
  for (FunctionDecl* decl : functions) mark_last_uses(*decl);
  find_forks(module, std::move(facts), world.environment.forks());
  hash_functions(module);
  return true;
}

}  // namespace

bool resolve(const std::shared_ptr<Module>& module, NameEnvironment& environment,
             Diagnostics& diagnostics, const SessionScope* session) {
  if (module->resolution != Module::Resolution::None)
    return module->resolution == Module::Resolution::Done;
  World world(environment, diagnostics, session);
  Discovery discovery(world);
  const std::vector<std::shared_ptr<Module>> order = discovery.run(module);
  bool good = !discovery.failed();
  for (const std::shared_ptr<Module>& each : order) {
    ModuleResolver resolver(*each, world, session != nullptr && each == module);
    bool done = resolver.run();
    if (done) done = imports_are_good(*each) && analyse(*each, world);
    each->resolution = done ? Module::Resolution::Done : Module::Resolution::Failed;
    good = good && done;
  }
  return good;
}

}  // namespace posset::syntax
