// Source text to a resolved program, and the names a resolution may use.
#include "interp/runtime/program.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "interp/runtime/callback_loop.h"
#include "interp/syntax/parser.h"
#include "sched/base/stack_pool.h"
#include "sched/base/thread_stack.h"

namespace posset::interp {

namespace {

// Functions that do something for every element.
bool goes_over_all(const NativeFunction& function) {
  if (function.calls_mask != 0) return true;
  const std::string_view name = *function.module ? std::string_view() : function.name;
  return name == "sum" || name == "product" || name == "sort";
}

using Divides = syntax::BuiltinInfo::Divides;

// How those that call a function for every element divide them (halves.h).
constexpr std::pair<std::string_view, Divides> kDivides[] = {
    {"map", Divides::Sequences},   {"filter", Divides::Sequences},   {"tabulate", Divides::All},
    {"find", Divides::Sequences},  {"any", Divides::Sequences},      {"all", Divides::Sequences},
    {"count", Divides::Sequences}, {"reduce", Divides::Sequences},   {"flat_map", Divides::Sequences},
    {"sort_by", Divides::All},     {"group_by", Divides::Sequences}, {"fold", Divides::InOrder},
    {"each", Divides::InOrder},    {"sort_with", Divides::InOrder},  {"remove_if", Divides::InOrder},
};

Divides divides(const NativeFunction& function) {
  if (*function.module || function.is_host) return Divides::No;
  const auto* const found = std::find_if(std::begin(kDivides), std::end(kDivides), [&](const auto& row) { return row.first == function.name; });
  return found == std::end(kDivides) ? Divides::No : found->second;
}

// Row (unpaired_NAME) of builtins.def gives what the pairs of NAME are of.
syntax::Text unpaired(const NativeFunction& function) {
  if (*function.module || function.is_host) return "";
  const std::string_view name = function.name;
  return name == "enumerate" ? "(unpaired_enumerate)" : name == "zip" ? "(unpaired_zip)" : "";
}

syntax::BuiltinInfo info_of(const NativeFunction& function) {
  syntax::BuiltinInfo info;
  info.inout_mask = function.inout_mask;
  info.pure = function.pure;
  info.calls_mask = function.calls_mask;
  if (const CallbackLoop* loop = callback_loop(function.intrinsic)) info.loop_arguments = loop->arguments;
  info.costly = goes_over_all(function) || function.is_host;
  info.divides = divides(function);
  info.unpaired = unpaired(function);
  info.min_args = function.min_arguments;
  info.max_args = function.max_arguments == NativeFunction::kAnyCount ? -1 : function.max_arguments;
  return info;
}

// What a load reads is its own until all of it is resolved: a module that did not resolve must not be found by a later
// program, nor one that is not resolved yet by a program that the loader of modules loads meanwhile.
class ContextEnvironment : public syntax::NameEnvironment {
 public:
  explicit ContextEnvironment(Context& context) : context_(context) {}

  void add(const std::string& key, std::shared_ptr<syntax::Module> tree) { trees_[key] = std::move(tree); }
  // For later programs of the context.
  void publish() {
    for (auto& [key, tree] : trees_) context_.trees[key] = tree;
  }

  const syntax::BuiltinInfo* builtin(syntax::Text name) const override {
    std::string key(name);
    auto known = builtins_.find(key);
    if (known != builtins_.end()) return &known->second;
    auto host = context_.host_functions.find(key);
    if (host != context_.host_functions.end()) return &builtins_.emplace(key, info_of(*host->second)).first->second;
    const NativeFunction* const found = context_.runtime.find_builtin(name);
    return found ? &builtins_.emplace(key, info_of(*found)).first->second : nullptr;
  }

  bool host_global(syntax::Text name) const override { return context_.host_globals.contains(std::string(name)); }

  bool impure_host_member(syntax::Text name) const override { return context_.runtime.host_types.has_impure_member(name); }
  bool host_property(syntax::Text name) const override {
    return context_.runtime.host_types.has_property_to_set(name);
  }

  bool forks() const override { return context_.runtime.options.workers > 1; }

  bool builtin_module(syntax::Text name) const override {
    return context_.runtime.modules.contains(std::string(name));
  }

  syntax::Text module_with(syntax::Text name) const override { return context_.runtime.module_with(name); }

  const BuiltinExport* builtin_export(syntax::Text module, syntax::Text name) const override {
    std::string key = std::string(module) + "." + std::string(name);
    auto known = exports_.find(key);
    if (known != exports_.end()) return &known->second;
    const BuiltinModule::Export* entry = context_.runtime.export_of(module, name);
    if (!entry) return nullptr;
    BuiltinExport made;
    made.is_function = entry->function != nullptr;
    if (made.is_function) made.info = info_of(*entry->function);
    return &exports_.emplace(key, made).first->second;
  }

  std::vector<syntax::Text> builtin_names() const override {
    std::vector<syntax::Text> names;
    for (auto& [name, function] : context_.runtime.builtins) names.push_back(name);
    for (auto& [name, function] : context_.host_functions) names.push_back(name);
    for (auto& [name, cell] : context_.host_globals) names.push_back(name);
    return names;
  }

  std::vector<syntax::Text> builtin_exports(syntax::Text module) const override {
    std::vector<syntax::Text> names;
    auto found = context_.runtime.modules.find(std::string(module));
    if (found == context_.runtime.modules.end()) return names;
    for (auto& [name, entry] : found->second.exports) names.push_back(name);
    return names;
  }

  std::shared_ptr<syntax::Module> load(const syntax::Module& from, syntax::Text path, std::string& why) override {
    std::string key, name, text;
    if (!context_.loader) {
      why = "this host loads no modules";
      return nullptr;
    }
    if (!context_.loader(from.key, std::string(path), key, name, text, why)) return nullptr;
    if (auto known = read_before(key)) return known;
    syntax::Diagnostics diagnostics;
    auto source = std::make_shared<syntax::Source>(name, std::move(text));
    auto tree = syntax::parse(source, diagnostics, context_.tree_account);
    tree->key = key;
    for (const auto& diagnostic : diagnostics.all()) pending_.push_back(diagnostic);
    add(key, tree);
    return tree;
  }

  // What parsing imported modules reported, in order.
  const std::vector<syntax::Diagnostic>& pending() const { return pending_; }

 private:
  std::shared_ptr<syntax::Module> read_before(const std::string& key) {
    auto own = trees_.find(key);
    if (own != trees_.end()) return own->second;
    auto known = context_.trees.find(key);
    if (known == context_.trees.end()) return nullptr;
    add(key, known->second);  // imports refer to it as long as this load takes
    return known->second;
  }

  Context& context_;
  std::unordered_map<std::string, std::shared_ptr<syntax::Module>> trees_;  // of this load, by key
  mutable std::unordered_map<std::string, syntax::BuiltinInfo> builtins_;
  mutable std::unordered_map<std::string, BuiltinExport> exports_;
  std::vector<syntax::Diagnostic> pending_;
};

std::shared_ptr<syntax::Module> read_program(Context& context, syntax::SourcePtr source, std::string key,
                                             syntax::Diagnostics& diagnostics, bool session) {
  auto tree = syntax::parse(std::move(source), diagnostics, context.tree_account);
  tree->key = key;
  tree->is_session = session;
  if (diagnostics.has_errors()) return nullptr;
  ContextEnvironment environment(context);
  if (!key.empty()) environment.add(key, tree);
  syntax::Diagnostics resolving;
  const bool ok = syntax::resolve(tree, environment, resolving, session ? &context.session : nullptr);
  // What is wrong with a module first: that it does not export what it is imported for may follow from that.
  for (const auto& diagnostic : environment.pending()) diagnostics.report(diagnostic);
  for (const auto& diagnostic : resolving.all()) diagnostics.report(diagnostic);
  if (!ok || diagnostics.has_errors()) return nullptr;
  environment.publish();
  return tree;
}

// Where the front end has the stack that it needs. A segment of the context first, so that evaluations which a loader begins in
// its middle know how much is left there; limits may have left none.
template <class Body>
void on_roomy_stack(Context& context, Body&& body) {
  if (sched::thread_stack_left() >= kFrontEndStack) return body();
  if (!context.native.on_fresh_segment(body)) sched::StackPool(kFrontEndStack, 0).run(body);
}

}  // namespace

bool is_incomplete(std::string_view source) {
  if (sched::thread_stack_left() >= kFrontEndStack) return syntax::is_incomplete(source);
  bool incomplete = false;
  sched::StackPool(kFrontEndStack, 0).run([&] { incomplete = syntax::is_incomplete(source); });
  return incomplete;
}

syntax::SourcePtr make_source(Context& context, std::string_view name, std::string_view text) {
  const size_t bytes = syntax::Source::bytes_of(text);
  if (!context.heap.charge(bytes)) {
    context.raise_memory_limit();
    return nullptr;
  }
  context.heap.discharge(bytes);  // it is counted with its tree
  return std::make_shared<syntax::Source>(std::string(name), std::string(text));
}

std::unique_ptr<syntax::NameEnvironment> make_environment(Context& context) {
  return std::make_unique<ContextEnvironment>(context);
}

std::shared_ptr<syntax::Module> load_program(Context& context, syntax::SourcePtr source, std::string key,
                                             syntax::Diagnostics& diagnostics, bool session) {
  TreeAccount::Loading loading(*context.tree_account, context);
  try {
    std::shared_ptr<syntax::Module> tree;
    on_roomy_stack(context, [&] { tree = read_program(context, std::move(source), std::move(key), diagnostics, session); });
    return tree;
  } catch (const syntax::Stopped&) {
    loading.raise();
    return nullptr;
  }
}

}  // namespace posset::interp
