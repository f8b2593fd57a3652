// What the tests of the resolver and its analyses share: a small world of built-ins and modules,
// and ways to look into a resolved tree.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "interp/syntax/parser.h"
#include "interp/syntax/resolver.h"

namespace posset::syntax {

// Other tests of this folder have helpers of their own; the names must not meet when linked
// together.
inline namespace resolver_fixture {

class TestEnvironment : public NameEnvironment {
 public:
  TestEnvironment() {
    functions["len"] = {};
    functions["println"] = {.pure = false};
    functions["ref"] = {};
    functions["push"] = {.inout_mask = 1};
    functions["swap"] = {.inout_mask = 1};
    functions["map"] = {.calls_mask = 2, .costly = true};
    functions["find"] = {.calls_mask = 2, .costly = true};
    functions["sqrt"] = {};
    functions["count"] = {.calls_mask = 2, .costly = true};
    functions["sort"] = {.costly = true};
    functions["fill"] = {};
    modules_["math"]["pi"] = {.is_function = false};
    modules_["math"]["sin"] = {};
    modules_["time"]["now"] = {.is_function = true, .info = {.pure = false}};
    modules_["lists"]["shuffle"] = {.is_function = true, .info = {.inout_mask = 1}};
  }

  std::map<std::string, BuiltinInfo> functions;
  // The text of script modules, by import path.
  std::map<std::string, std::string> sources;
  Diagnostics parse_reports;
  bool writes_forks = false;

  const BuiltinInfo* builtin(Text name) const override {
    const auto found = functions.find(std::string(name));
    return found == functions.end() ? nullptr : &found->second;
  }
  bool host_global(Text name) const override { return name == "args"; }
  bool builtin_module(Text name) const override { return modules_.contains(std::string(name)); }
  const BuiltinExport* builtin_export(Text module, Text name) const override {
    const auto found = modules_.find(std::string(module));
    if (found == modules_.end()) return nullptr;
    const auto entry = found->second.find(std::string(name));
    return entry == found->second.end() ? nullptr : &entry->second;
  }
  bool forks() const override { return writes_forks; }
  std::vector<Text> builtin_names() const override {
    std::vector<Text> names;
    for (const auto& each : functions) names.push_back(each.first);
    return names;
  }
  std::vector<Text> builtin_exports(Text module) const override {
    std::vector<Text> names;
    for (const auto& each : modules_.at(std::string(module))) names.push_back(each.first);
    return names;
  }
  std::shared_ptr<Module> load(const Module&, Text path, std::string& why) override {
    const std::string key(path);
    if (loaded_.contains(key)) return loaded_[key];
    if (!sources.contains(key)) {
      why = "there is no such file";
      return nullptr;
    }
    auto module = parse(std::make_shared<Source>(key + ".posset", sources[key]), parse_reports);
    module->key = key;
    return loaded_[key] = module;
  }

 private:
  std::map<std::string, std::map<std::string, BuiltinExport>> modules_;
  std::map<std::string, std::shared_ptr<Module>> loaded_;
};

struct Resolved {
  std::shared_ptr<Module> module;
  Diagnostics diagnostics;
  bool good = false;

  // The first report with this code, or null.
  const Diagnostic* find(ErrorCode code) const {
    for (const Diagnostic& each : diagnostics.all()) {
      if (each.code == code) return &each;
    }
    return nullptr;
  }
  std::string text() const {
    std::string all;
    for (const Diagnostic& each : diagnostics.all()) {
      all += std::string(name_of(each.code)) + ": " + each.message + " [" + each.hint + "]\n";
    }
    return all;
  }
};

inline Resolved resolve_text(std::string text, TestEnvironment& environment,
                             const SessionScope* session = nullptr) {
  Resolved out;
  out.module = parse(std::make_shared<Source>("main.posset", std::move(text)), out.diagnostics);
  INFO(out.text());
  REQUIRE_FALSE(out.diagnostics.has_errors());
  out.module->key = "main";
  out.module->is_session = session != nullptr;
  out.good = resolve(out.module, environment, out.diagnostics, session);
  return out;
}

inline Resolved resolve_text(std::string text) {
  TestEnvironment environment;
  return resolve_text(std::move(text), environment);
}

// Resolved without an error.
inline Resolved good(std::string text) {
  Resolved out = resolve_text(std::move(text));
  INFO(out.text());
  REQUIRE(out.good);
  return out;
}

// ---- looking into a tree ----

inline void collect_nodes(Node* node, std::vector<Node*>& out) {
  if (!node) return;
  out.push_back(node);
  for_each_child(node, [&](Node*& child) { collect_nodes(child, out); });
}

// All nodes of one function in evaluation order, a node before its children.
inline std::vector<Node*> nodes_of(const FunctionDecl& function) {
  std::vector<Node*> nodes;
  for (const Parameter& each : function.parameters) {
    collect_nodes(each.fallback, nodes);
    collect_nodes(each.pattern, nodes);
  }
  collect_nodes(function.body, nodes);
  return nodes;
}

template <class T>
std::vector<T*> all_of(const FunctionDecl& function) {
  std::vector<T*> found;
  for (Node* node : nodes_of(function)) {
    if (T* match = as<T>(node)) found.push_back(match);
  }
  return found;
}

template <class T>
T& only(const FunctionDecl& function) {
  const std::vector<T*> found = all_of<T>(function);
  REQUIRE(found.size() == 1);
  return *found[0];
}

// The module-level fn of this name, or the top level for "".
inline FunctionDecl& function(const Resolved& resolved, Text name) {
  if (name.empty()) return *resolved.module->top;
  for (FunctionDecl* each : resolved.module->functions) {
    if (each->name == name) return *each;
  }
  FAIL("no such function");
  return *resolved.module->top;
}

// "Local 3", "Captured 0", "Self 0", "Link 1".
inline std::string text_of(const Binding& binding) {
  static const char* const kinds[] = {"None", "Local", "Captured", "Self", "Link"};
  return std::string(kinds[static_cast<int>(binding.kind)]) + " " + std::to_string(binding.index);
}

// The uses of a name in one function, in evaluation order.
inline std::vector<NameNode*> uses(const FunctionDecl& function, Text name) {
  std::vector<NameNode*> found;
  for (NameNode* each : all_of<NameNode>(function)) {
    if (each->name == name) found.push_back(each);
  }
  return found;
}

inline std::string use(const FunctionDecl& function, Text name, size_t which = 0) {
  const auto found = uses(function, name);
  REQUIRE(which < found.size());
  return text_of(found[which]->binding);
}

// Where a pattern binds the name.
inline std::string declared(const FunctionDecl& function, Text name, size_t which = 0) {
  std::vector<std::string> found;
  for (Node* node : nodes_of(function)) {
    if (auto* binding = as<BindingPatternNode>(node); binding && binding->name == name) {
      found.push_back(text_of(binding->binding));
    }
    if (auto* rest = as<RestPatternNode>(node); rest && rest->name == name)
      found.push_back(text_of(rest->binding));
  }
  REQUIRE(which < found.size());
  return found[which];
}

inline const Link& link_of(const FunctionDecl& function, const Binding& binding) {
  REQUIRE(binding.kind == BindingKind::Link);
  REQUIRE(binding.index < function.links.size());
  return function.links[binding.index];
}

}  // namespace resolver_fixture

}  // namespace posset::syntax
