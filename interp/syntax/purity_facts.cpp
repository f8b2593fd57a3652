// The walk that collects the facts: see purity_facts.h.
#include "interp/syntax/purity_facts.h"

#include "interp/syntax/module_resolver.h"

namespace posset::syntax {

// ---- known values ----

namespace {

bool is_ref_call(const FunctionDecl& function, const Node* value) {
  const auto* call = as<CallNode>(value);
  const auto* name = call ? as<NameNode>(call->callee) : nullptr;
  if (!name || name->binding.kind != BindingKind::Link) return false;
  const Link& link = function.links[name->binding.index];
  return link.kind == Link::Kind::Builtin && link.name == "ref";
}

// Made of literals and functions only, so that there is no ref in it.
bool is_without_cells(const Node* value) {
  switch (value->kind) {
    case NodeKind::NilLiteral:
    case NodeKind::BoolLiteral:
    case NodeKind::IntLiteral:
    case NodeKind::FloatLiteral:
    case NodeKind::StringLiteral:
    case NodeKind::Interpolation:
    case NodeKind::RangeLiteral:
    case NodeKind::Lambda:
      return true;
    case NodeKind::ListLiteral:
    case NodeKind::MapLiteral:
    case NodeKind::MapEntry:
    case NodeKind::RecordLiteral:
    case NodeKind::RecordField:
    case NodeKind::Unary:
    case NodeKind::Binary:
      break;
    default:
      return false;
  }
  bool without = true;
  for_each_child(const_cast<Node*>(value),
                 [&](Node*& child) { without = without && is_without_cells(child); });
  return without;
}

KnownValue::Cells cells_in(const FunctionDecl& function, const Node* value) {
  if (is_ref_call(function, value)) return KnownValue::Cells::Ref;
  return is_without_cells(value) ? KnownValue::Cells::None : KnownValue::Cells::Unknown;
}

const FunctionDecl* function_value(const Module& module, const Node* value) {
  if (const auto* lambda = as<LambdaNode>(value)) return lambda->function;
  const auto* name = as<NameNode>(value);
  if (!name || name->binding.kind != BindingKind::Link) return nullptr;
  return module.top->links[name->binding.index].function;
}

void add_known(const Module& module, const Node* statement,
               std::unordered_map<uint32_t, KnownValue>& table) {
  if (const auto* exported = as<ExportedLetNode>(statement)) statement = exported->let;
  const auto* let = as<LetNode>(statement);
  if (!let || let->is_var) return;
  const auto* pattern = as<BindingPatternNode>(let->pattern);
  if (!pattern || pattern->binding.kind != BindingKind::Link) return;
  table[module.top->links[pattern->binding.index].index] = {
      .cells = cells_in(*module.top, let->value), .function = function_value(module, let->value)};
}

}  // namespace

KnownValue KnownGlobals::find(const Module& module, uint32_t index) {
  const auto [entry, inserted] = tables_.try_emplace(&module);
  Table& table = entry->second;
  if (const auto* body = as<BlockNode>(module.top->body); inserted && body) {
    for (const Node* statement : body->statements) add_known(module, statement, table);
  }
  const auto found = table.find(index);
  return found == table.end() ? KnownValue() : found->second;
}

// ---- one function ----

namespace {

using KnownCaptures = std::vector<KnownValue>;

class Collector {
 public:
  Collector(FunctionDecl& function, KnownCaptures captures, NameEnvironment& environment,
            KnownGlobals& globals, std::vector<Facts>& out)
      : function_(function),
        captures_(std::move(captures)),
        environment_(environment),
        globals_(globals),
        out_(out) {}

  void run() {
    facts_.function = &function_;
    for (const Parameter& parameter : function_.parameters) {
      if (parameter.fallback) visit(parameter.fallback);
      if (parameter.pattern) visit(parameter.pattern);
    }
    if (function_.body) visit(function_.body);
    out_.push_back(std::move(facts_));
  }

 private:
  void visit(Node* node);
  void let(LetNode* node);
  void nested(FunctionDecl& child);
  void call(CallNode* node);
  void call_link(const Link& link, CallNode* node);
  void call_builtin(Text name, const BuiltinInfo* info, CallNode* node);
  void called_back(Text by, const CallNode* call, const Node* value);
  std::string passes(const Node* value, Text by);
  Passed passed(const Node* value);
  std::vector<Passed> passed_to(const CallNode* node);
  void place(const Node* node);
  void if_chain(IfNode* node);

  const Link& link(const Binding& binding) const { return function_.links[binding.index]; }
  const FunctionDecl* known(const Node* value);
  KnownValue known(const Binding& binding);
  static const Binding* bound_root(const Node*& base);
  void reads_value(const FieldNode* node);
  void reads_member(const FieldNode* node);
  void forget(const Binding& binding) {
    if (binding.kind == BindingKind::Local) slots_.erase(binding.index);
  }
  std::string describe(const Node* callee) const;
  // `by`: the node that has the effect, where that is not the one to blame.
  void impure(const Node* node, std::string what, const Node* by = nullptr) {
    facts_.impure.push_back({node->span, std::move(what), nullptr, (by ? by : node)->site});
  }
  void unproved(const Node* node, std::string what, const Node* by = nullptr, Given given = {}) {
    facts_.unproved.push_back({node->span, std::move(what), nullptr, (by ? by : node)->site, given});
  }

  FunctionDecl& function_;
  KnownCaptures captures_;
  NameEnvironment& environment_;
  KnownGlobals& globals_;
  std::vector<Facts>& out_;
  std::unordered_map<uint32_t, KnownValue> slots_;  // what a slot surely holds
  Facts facts_;
};

void Collector::visit(Node* node) {
  function_.module->arena.tick();
  switch (node->kind) {
    case NodeKind::If:
      return if_chain(static_cast<IfNode*>(node));
    case NodeKind::Let:
      return let(static_cast<LetNode*>(node));
    case NodeKind::Call:
      return call(static_cast<CallNode*>(node));
    case NodeKind::Lambda:
      return nested(*static_cast<LambdaNode*>(node)->function);
    case NodeKind::FunctionStatement: {
      auto* self = static_cast<FunctionStatementNode*>(node);
      if (self->binding.kind != BindingKind::Local) return;  // module level: a root of its own
      nested(*self->function);
      slots_[self->binding.index].function = self->function;
      return;
    }
    case NodeKind::BindingPattern:
      return forget(static_cast<BindingPatternNode*>(node)->binding);
    case NodeKind::RestPattern:
      return forget(static_cast<RestPatternNode*>(node)->binding);
    case NodeKind::Spawn:
      impure(node, "starts a task");
      break;
    case NodeKind::Await:
      impure(node, "awaits a task");
      break;
    case NodeKind::Assign:
      place(static_cast<AssignNode*>(node)->place);
      break;
    case NodeKind::With:
      place(static_cast<WithNode*>(node)->place);
      break;
    case NodeKind::Field:
      reads_value(static_cast<FieldNode*>(node));
      break;
    case NodeKind::Argument:
      if (static_cast<ArgumentNode*>(node)->inout) place(static_cast<ArgumentNode*>(node)->value);
      break;
    case NodeKind::PlaceList:
      for (Node* item : static_cast<PlaceListNode*>(node)->items) {
        const auto* rest = as<SpreadNode>(item);
        place(rest ? rest->value : item);
      }
      break;
    default:
      break;
  }
  for_each_child(node, [this](Node*& child) { visit(child); });
}

void Collector::if_chain(IfNode* node) {
  for (;;) {
    visit(node->condition);
    visit(node->then_branch);
    if (!node->else_branch) return;
    auto* next = as<IfNode>(node->else_branch);
    if (!next) return visit(node->else_branch);
    node = next;
  }
}

void Collector::let(LetNode* node) {
  visit(node->value);
  KnownValue value;
  if (!node->is_var)
    value = {.cells = cells_in(function_, node->value), .function = known(node->value)};
  visit(node->pattern);
  const auto* pattern = as<BindingPatternNode>(node->pattern);
  if (!node->is_var && pattern && pattern->binding.kind == BindingKind::Local)
    slots_[pattern->binding.index] = value;
}

void Collector::nested(FunctionDecl& child) {
  KnownCaptures captures;
  for (const Capture& each : child.captures) {
    Binding source{.kind = BindingKind::Local, .index = each.index};
    if (each.from == Capture::From::Captured) source.kind = BindingKind::Captured;
    if (each.from == Capture::From::Self) source.kind = BindingKind::Self;
    captures.push_back(known(source));
  }
  Collector(child, std::move(captures), environment_, globals_, out_).run();
}

// Storing to `.value` changes a ref if there is one: the one effect an assignment can have.
void Collector::place(const Node* node) {
  const Node* whole = node;
  while (node) {
    if (const auto* field = as<FieldNode>(node)) {
      if (field->name == "value")
        return unproved(whole, "stores to a field 'value', which may be a ref's");
      if (environment_.host_property(field->name))
        return unproved(whole, "stores to a field " + quoted(field->name) + ", which may be a host object's");
      node = field->base;
    } else if (const auto* index = as<IndexNode>(node)) {
      node = index->base;
    } else {
      return;
    }
  }
}

// The name at the start of a chain of fields and indexes, or the export of a module; null: there is
// none.
const Binding* Collector::bound_root(const Node*& base) {
  for (;;) {
    if (const auto* name = as<NameNode>(base)) return &name->binding;
    if (const auto* index = as<IndexNode>(base)) {
      base = index->base;
    } else if (const auto* field = as<FieldNode>(base)) {
      if (field->binding.kind == BindingKind::Link) return &field->binding;
      base = field->base;
    } else {
      return nullptr;
    }
  }
}

// What a property of a host object is depends on the host, unless that says it is pure. Literals are none.
void Collector::reads_member(const FieldNode* node) {
  if (!environment_.impure_host_member(node->name)) return;
  const Node* base = node->base;
  const Binding* binding = bound_root(base);
  if (is_without_cells(node->base)) return;
  if (binding && known(*binding).cells == KnownValue::Cells::None) return;
  unproved(node, "reads a field " + quoted(node->name) + ", which may be a host object's");
}

// Reading `.value` of a ref is an effect. What a module let holds may be one unless it is seen that
// it is not; of parameters and variables it is not assumed.
void Collector::reads_value(const FieldNode* node) {
  if (node->binding.kind == BindingKind::Link) return;
  reads_member(node);
  if (node->name != "value") return;
  const Node* base = node->base;
  const Binding* binding = bound_root(base);
  if (!binding) return;
  const KnownValue::Cells cells = known(*binding).cells;
  const bool global =
      binding->kind == BindingKind::Link && link(*binding).kind == Link::Kind::Global;
  if (cells == KnownValue::Cells::Ref) {
    const auto* name = as<NameNode>(base);
    const Text text = name ? name->name : static_cast<const FieldNode*>(base)->name;
    impure(node, "reads the ref " + quoted(text));
  } else if (global && cells == KnownValue::Cells::Unknown) {
    unproved(node, "reads a field 'value', which may be a ref's");
  }
}

// ---- calls ----

KnownValue Collector::known(const Binding& binding) {
  switch (binding.kind) {
    case BindingKind::None:
      return {};
    case BindingKind::Self:
      return {.function = &function_};
    case BindingKind::Captured:
      return captures_[binding.index];
    case BindingKind::Local: {
      const auto found = slots_.find(binding.index);
      return found == slots_.end() ? KnownValue() : found->second;
    }
    case BindingKind::Link:
      break;
  }
  const Link& target = link(binding);
  if (target.kind != Link::Kind::Global) return {.function = target.function};
  return globals_.find(target.module ? *target.module : *function_.module, target.index);
}

const FunctionDecl* Collector::known(const Node* value) {
  if (const auto* lambda = as<LambdaNode>(value)) return lambda->function;
  if (const auto* name = as<NameNode>(value)) return known(name->binding).function;
  const auto* field = as<FieldNode>(value);
  return field ? known(field->binding).function : nullptr;
}

std::string Collector::describe(const Node* callee) const {
  if (const auto* name = as<NameNode>(callee)) {
    const Binding& binding = name->binding;
    std::string text = quoted(name->name);
    if (binding.kind == BindingKind::Captured) return "the captured " + text;
    if (binding.kind != BindingKind::Local) return text;
    return (binding.index < function_.parameters.size() ? "the parameter " : "the variable ") +
           text;
  }
  if (const auto* field = as<FieldNode>(callee)) return "the field " + quoted(field->name);
  if (as<IndexNode>(callee)) return "an element";
  return "a computed function";
}

void Collector::call(CallNode* node) {
  const auto* name = as<NameNode>(node->callee);
  const auto* field = as<FieldNode>(node->callee);
  const Binding binding = name ? name->binding : field ? field->binding : Binding();
  if (const FunctionDecl* callee = known(node->callee)) {
    std::string what =
        "calls " + (name || field ? quoted(name ? name->name : field->name) : "a lambda");
    facts_.calls.push_back({callee, node->span, std::move(what), node->site, passed_to(node)});
  } else if (binding.kind == BindingKind::Link) {
    call_link(link(binding), node);
  } else {
    unproved(node, "calls " + describe(node->callee), nullptr, passed(node->callee).given);
  }
  for_each_child(node, [this](Node*& child) { visit(child); });
}

void Collector::call_link(const Link& target, CallNode* node) {
  switch (target.kind) {
    case Link::Kind::Builtin:
      return call_builtin(target.name, environment_.builtin(target.name), node);
    case Link::Kind::BuiltinExport: {
      const auto* found = environment_.builtin_export(target.owner, target.name);
      return call_builtin(target.name, found && found->is_function ? &found->info : nullptr, node);
    }
    case Link::Kind::Global:
      return unproved(node, "calls the `let` " + quoted(target.name));
    case Link::Kind::HostGlobal:
      return unproved(node, "calls the host's value " + quoted(target.name));
    case Link::Kind::Function:
    case Link::Kind::Constructor:
    case Link::Kind::Type:
    case Link::Kind::Module:
    case Link::Kind::Literal:
    case Link::Kind::Container:
      return;  // pure, or an error
  }
}

void Collector::call_builtin(Text name, const BuiltinInfo* info, CallNode* node) {
  if (!info) return unproved(node, "calls " + quoted(name));
  // A ref is made to be shared and changed, whatever its row says.
  if (!info->pure || name == "ref") return impure(node, "calls " + quoted(name));
  if (info->costly) facts_.costs.push_back(node->site);
  if (info->calls_mask == 0) return;
  for (size_t i = 0; i < node->arguments.size() && i < 64; ++i) {
    const auto* argument = static_cast<const ArgumentNode*>(node->arguments[i]);
    if (argument->spread) return unproved(argument, "spreads arguments into " + quoted(name), node);
    if ((info->calls_mask >> i & 1) == 0) continue;
    if (info->divides != BuiltinInfo::Divides::No && !argument->inout) {
      facts_.for_each.push_back({node, info->divides, passed(argument->value), passes(argument->value, name)});
    }
    called_back(name, node, argument->value);
  }
}

// The argument of a function that may call it.
Passed Collector::passed(const Node* value) {
  if (const FunctionDecl* function = known(value)) return {.kind = Passed::Kind::Function, .function = function};
  const auto* name = as<NameNode>(value);
  if (!name) return {};
  const Binding& binding = name->binding;
  if (binding.kind == BindingKind::Local)
    return {.kind = Passed::Kind::Given, .given = {Given::From::Local, binding.index}};
  if (binding.kind == BindingKind::Captured)
    return {.kind = Passed::Kind::Given, .given = {Given::From::Captured, binding.index}};
  if (binding.kind != BindingKind::Link) return {};
  const Link& target = link(binding);
  if (target.kind == Link::Kind::Constructor) return {.kind = Passed::Kind::Pure};
  const BuiltinInfo* info = target.kind == Link::Kind::Builtin ? environment_.builtin(target.name) : nullptr;
  const bool pure = info && info->pure && info->calls_mask == 0 && target.name != "ref";
  return {.kind = pure ? Passed::Kind::Pure : Passed::Kind::Unknown};
}

// Up to where a spread makes the places unknown.
std::vector<Passed> Collector::passed_to(const CallNode* node) {
  std::vector<Passed> all;
  for (const Node* each : node->arguments) {
    const auto* argument = static_cast<const ArgumentNode*>(each);
    if (argument->spread) break;
    all.push_back(argument->inout ? Passed() : passed(argument->value));
  }
  return all;
}

// "passes 'f' to 'map'"
std::string Collector::passes(const Node* value, Text by) {
  const auto* name = known(value) ? as<NameNode>(value) : nullptr;
  const std::string told = name ? quoted(name->name) : known(value) ? "a lambda" : describe(value);
  return "passes " + told + " to " + quoted(by);
}

// `value` is passed to a built-in that calls it: an effect of the call, not of evaluating `value`.
void Collector::called_back(Text by, const CallNode* call, const Node* value) {
  if (const FunctionDecl* callee = known(value)) {
    facts_.calls.push_back({callee, value->span, passes(value, by), call->site});
    return;
  }
  const auto* name = as<NameNode>(value);
  const auto* field = as<FieldNode>(value);
  const Binding binding = name ? name->binding : field ? field->binding : Binding();
  const std::string what = passes(value, by);
  if (value->kind == NodeKind::NilLiteral) return;
  if (binding.kind != BindingKind::Link) return unproved(value, what, call, passed(value).given);
  const Link& target = link(binding);
  const BuiltinInfo* info = nullptr;
  if (target.kind == Link::Kind::Constructor) return;
  if (target.kind == Link::Kind::Builtin) info = environment_.builtin(target.name);
  if (target.kind == Link::Kind::BuiltinExport) {
    const auto* found = environment_.builtin_export(target.owner, target.name);
    if (found && found->is_function) info = &found->info;
  }
  if (!info || info->calls_mask != 0) return unproved(value, what, call);
  if (!info->pure || target.name == "ref") impure(value, what, call);
}

}  // namespace

void collect_facts(FunctionDecl& function, NameEnvironment& environment, KnownGlobals& globals,
                   std::vector<Facts>& out) {
  Collector(function, {}, environment, globals, out).run();
}

}  // namespace posset::syntax
