// The module level: collecting its names before anything is resolved, numbering the lets that
// functions read, sessions, and exports. See module_resolver.h for the order of the steps.
#include <algorithm>
#include <string>

#include "interp/syntax/module_resolver.h"

namespace posset::syntax {

bool ModuleResolver::run() {
  collect_names();
  for (FunctionDecl* decl : module_.functions) function(*decl, kNone);
  number_globals();
  top_level();
  export_names();
  flush_reports();
  if (errors_ != 0) return false;
  mark_tail_calls(*module_.top);
  number_sites(*module_.top);
  for (FunctionDecl* decl : module_.functions) {
    mark_tail_calls(*decl);
    number_sites(*decl);
  }
  return true;
}

// ---- names ----

void ModuleResolver::collect_names() {
  module_.functions.clear();
  module_.types.clear();
  module_.top->module = &module_;
  module_.top->is_top_level = true;
  auto* body = as<BlockNode>(module_.top->body);
  if (!body) return;
  for (Node* statement : body->statements) collect_statement(statement);
}

void ModuleResolver::collect_statement(Node* statement) {
  if (auto* function = as<FunctionStatementNode>(statement)) {
    collect_function(function);
  } else if (auto* type = as<TypeDeclarationNode>(statement)) {
    collect_type(type);
  } else if (auto* import = as<ImportNode>(statement)) {
    collect_import(import);
  } else if (auto* let = as<LetNode>(statement)) {
    collect_let(let, false);
  } else if (auto* exported = as<ExportedLetNode>(statement)) {
    if (auto* inner = as<LetNode>(exported->let)) collect_let(inner, true);
  }
}

void ModuleResolver::collect_function(FunctionStatementNode* statement) {
  FunctionDecl* decl = statement->function;
  decl->parent = module_.top;
  decl->index = static_cast<uint32_t>(module_.functions.size());
  count_parameters(*decl);
  module_.functions.push_back(decl);
  Meaning meaning;
  meaning.kind = Meaning::Kind::Linked;
  meaning.link.kind = Link::Kind::Function;
  meaning.link.name = decl->name;
  meaning.link.function = decl;
  add_value(decl->name, decl->name_span, meaning);
}

void ModuleResolver::collect_type(TypeDeclarationNode* statement) {
  TypeDecl* type = statement->type;
  type->module = &module_;
  type->exported = type->exported || statement->exported;
  type->index = static_cast<uint32_t>(module_.types.size());
  module_.types.push_back(type);
  add_type(type->name, type->span, type);
  for (uint32_t i = 0; i < type->constructors.size(); ++i) {
    const ConstructorDecl& constructor = type->constructors[i];
    Meaning meaning;
    meaning.kind = Meaning::Kind::Linked;
    meaning.link.kind = Link::Kind::Constructor;
    meaning.link.name = constructor.name;
    meaning.link.type = type;
    meaning.link.index = i;
    add_value(constructor.name, constructor.span, meaning);
  }
}

void ModuleResolver::collect_import(ImportNode* statement) {
  const ImportDecl& import = *statement->import;
  for (const ImportName& imported : import.names) collect_import_name(import, imported);
  if (!import.names.empty() || import.alias.empty()) return;
  Meaning meaning;
  meaning.kind = is_broken(import) ? Meaning::Kind::Broken : Meaning::Kind::Linked;
  meaning.link = module_link(import);
  add_value(import.alias, import.span, meaning);
}

// A type and a constructor of one name may both be exported; the import takes both.
void ModuleResolver::collect_import_name(const ImportDecl& import, const ImportName& imported) {
  const Text alias = imported.alias.empty() ? imported.name : imported.alias;
  Meaning meaning;
  TypeDecl* type = nullptr;
  if (is_broken(import)) {
    meaning.kind = Meaning::Kind::Broken;
  } else {
    meaning = world_.exported_value(module_link(import), imported.name);
    type = world_.exported_type(module_link(import), imported.name);
  }
  if (meaning.kind == Meaning::Kind::Nothing && !type) {
    error(ErrorCode::NotExported, imported.span,
          "module " + quoted(import.path) + " does not export " + quoted(imported.name),
          hint_for_export(module_link(import), imported.name));
    meaning.kind = Meaning::Kind::Broken;
  }
  if (type || meaning.kind == Meaning::Kind::Broken) add_type(alias, imported.span, type);
  if (meaning.kind != Meaning::Kind::Nothing) add_value(alias, imported.span, meaning);
}

void ModuleResolver::collect_let(LetNode* let, bool exported) {
  if (exported && let->is_var) {
    error(ErrorCode::MisplacedStatement, let->span, "a `var` cannot be exported",
          "export a `let`, or a `fn` that returns the value");
  }
  const bool plain = !let->is_var && as<BindingPatternNode>(let->pattern);
  const Node* constant = plain ? constant_of(let->value) : nullptr;
  std::unordered_map<Text, uint32_t> seen;  // alternatives bind a name several times
  for (const PatternName& each : names_in(let->pattern)) {
    const auto [entry, inserted] = seen.try_emplace(each.name, static_cast<uint32_t>(lets_.size()));
    let_of_pattern_[each.node] = entry->second;
    if (!inserted) continue;
    lets_by_name_[each.name].push_back(entry->second);
    lets_.push_back({.name = each.name,
                     .span = each.span,
                     .is_var = let->is_var,
                     .exported = exported,
                     .constant = constant,
                     .known = plain ? let->value : nullptr});
  }
}

void ModuleResolver::add_value(Text name, Span span, Meaning meaning) {
  meaning.declared = span;
  const auto [entry, inserted] = values_.try_emplace(name, meaning);
  if (inserted) return;
  error(ErrorCode::DuplicateName, span, quoted(name) + " is declared twice in this module",
        "the first is in line " + line_of(entry->second.declared) + "; rename one of them");
}

void ModuleResolver::add_type(Text name, Span span, TypeDecl* type) {
  if (types_.try_emplace(name, type).second || !type) return;
  error(ErrorCode::DuplicateName, span,
        "the type " + quoted(name) + " is declared twice in this module", "rename one of them");
}

// The literal a `let` stands for, with a minus folded in; null when it is not a constant.
const Node* ModuleResolver::constant_of(Node* value) {
  if (!value) return nullptr;
  switch (value->kind) {
    case NodeKind::NilLiteral:
    case NodeKind::BoolLiteral:
    case NodeKind::IntLiteral:
    case NodeKind::FloatLiteral:
    case NodeKind::StringLiteral:
      return value;
    default:
      break;
  }
  const auto* unary = as<UnaryNode>(value);
  if (!unary || unary->op != UnaryOp::Neg) return nullptr;
  if (const auto* number = as<IntLiteralNode>(unary->operand)) {
    if (number->value == INT64_MIN) return nullptr;  // overflows when it is evaluated
    auto* folded = module_.arena.node<IntLiteralNode>(value->span);
    folded->value = -number->value;
    return folded;
  }
  if (const auto* number = as<FloatLiteralNode>(unary->operand)) {
    auto* folded = module_.arena.node<FloatLiteralNode>(value->span);
    folded->value = -number->value;
    return folded;
  }
  return nullptr;
}

// ---- globals and exports ----

// In order of declaration, so that the numbers do not depend on who reads them first. Until here
// the links of the functions held the let's place in lets_.
void ModuleResolver::number_globals() {
  module_.global_names.clear();
  for (ModuleLet& let : lets_) {
    const bool shown = module_.is_session || let.exported || let.read_by_function;
    if (let.is_var ? !module_.is_session : !shown) continue;
    let.global = static_cast<uint32_t>(module_.global_names.size());
    module_.global_names.push_back(let.name);
  }
  for (const auto& decl : module_.owned_functions) {
    for (Link& link : decl->links) {
      if (link.kind == Link::Kind::Global && !link.module) link.index = lets_[link.index].global;
    }
  }
}

void ModuleResolver::export_names() {
  module_.exports.clear();
  std::unordered_map<Text, Span> seen;
  const auto add = [&](Export entry, Span span) {
    if (entry.kind != Export::Kind::Type && !seen.try_emplace(entry.name, span).second) {
      error(ErrorCode::DuplicateName, span, quoted(entry.name) + " is exported twice",
            "the first is in line " + line_of(seen[entry.name]));
    }
    module_.exports.push_back(entry);
  };
  auto* body = as<BlockNode>(module_.top->body);
  if (!body) return;
  for (Node* statement : body->statements) {
    const auto* function = as<FunctionStatementNode>(statement);
    if (!function || !function->exported) continue;
    FunctionDecl* decl = function->function;
    add({.kind = Export::Kind::Function, .name = decl->name, .function = decl}, decl->name_span);
  }
  for (const ModuleLet& let : lets_) {
    if (!let.exported || let.is_var) continue;
    add({.kind = Export::Kind::Global,
         .name = let.name,
         .index = let.global,
         .constant = const_cast<Node*>(let.constant)},
        let.span);
  }
  for (TypeDecl* type : module_.types) {
    if (!type->exported) continue;
    add({.kind = Export::Kind::Type, .name = type->name, .type = type}, type->span);
    for (uint32_t i = 0; i < type->constructors.size(); ++i) {
      const ConstructorDecl& each = type->constructors[i];
      add({.kind = Export::Kind::Constructor, .name = each.name, .type = type, .index = i},
          each.span);
    }
  }
}

// ---- the top level ----

namespace {

bool gives_value(const Node* node) {
  switch (node->kind) {
    case NodeKind::Let:
    case NodeKind::ExportedLet:
    case NodeKind::Assign:
    case NodeKind::DestructuringAssign:
    case NodeKind::FunctionStatement:
    case NodeKind::TypeDeclaration:
    case NodeKind::Import:
    case NodeKind::Throw:
    case NodeKind::Break:
    case NodeKind::Continue:
      return false;
    default:
      return true;
  }
}

}  // namespace

// A script waits for its tasks while it still has their handles, which the end of its variables would cancel:
// `task.join_all(x)` around its last value. Only where there may be tasks.
void ModuleResolver::wait_at_end(BlockNode* body) {
  Link task;
  task.kind = Link::Kind::Module;
  task.owner = "task";
  const Meaning meaning = builtin_export(world_.environment, task, "join_all");
  if (meaning.kind == Meaning::Kind::Nothing || body->statements.empty()) return;
  Arena& arena = module_.arena;
  std::vector<Node*> all(body->statements.begin(), body->statements.end());
  Node* const last = all.back();
  auto* callee = arena.node<NameNode>(last->span);
  callee->name = meaning.link.name;
  bind(meaning, callee->name, callee->span, callee->binding);
  auto* call = arena.node<CallNode>(last->span);
  call->callee = callee;
  if (gives_value(last)) {
    auto* value = arena.node<ArgumentNode>(last->span);
    value->value = last;
    call->arguments = arena.list({value});
    all.back() = call;
  } else {
    all.push_back(call);
  }
  body->statements = arena.list(all);
}

void ModuleResolver::top_level() {
  scopes_.push_function(module_.top, kNone);
  declare_session_vars();
  if (auto* body = as<BlockNode>(module_.top->body)) {
    statements(body);
    if (!module_.is_session && (has_spawn_ || !module_.imports.empty())) wait_at_end(body);
  } else if (module_.top->body) {
    expression(module_.top->body);
  }
  scopes_.pop_function();
}

namespace {

// Every spelling that could be a variable's, found without recursion: depth does not matter here.
std::unordered_set<Text> mentioned_names(Node* root) {
  std::unordered_set<Text> names;
  std::vector<Node*> pending{root};
  const auto push = [&](Node* node) {
    if (node) pending.push_back(node);
  };
  const auto push_function = [&](FunctionDecl* decl) {
    for (const Parameter& parameter : decl->parameters) {
      push(parameter.fallback);
      push(parameter.pattern);
    }
    push(decl->body);
  };
  while (!pending.empty()) {
    Node* node = pending.back();
    pending.pop_back();
    if (const auto* name = as<NameNode>(node)) names.insert(name->name);
    if (const auto* call = as<MethodCallNode>(node)) names.insert(call->name);
    if (const auto* lambda = as<LambdaNode>(node)) push_function(lambda->function);
    if (const auto* function = as<FunctionStatementNode>(node)) push_function(function->function);
    for_each_child(node, [&](Node*& child) { pending.push_back(child); });
  }
  return names;
}

}  // namespace

// The vars of earlier inputs that this one may touch become the first slots of its top level. A
// name that turns out to mean something else only costs a load and a store of an unchanged value.
void ModuleResolver::declare_session_vars() {
  module_.session_variables.clear();
  if (!sees_session_ || !module_.top->body) return;
  std::vector<SessionVariable> vars = world_.session_vars();
  if (vars.empty()) return;
  std::sort(vars.begin(), vars.end(),
            [](const SessionVariable& a, const SessionVariable& b) { return a.name < b.name; });
  const std::unordered_set<Text> mentioned = mentioned_names(module_.top->body);
  for (SessionVariable& variable : vars) {
    if (!mentioned.contains(variable.name) || values_.contains(variable.name)) continue;
    const uint32_t id = scopes_.declare(variable.name, {}, VariableKind::Var);
    variable.slot = scopes_.variable(id).slot;
    module_.session_variables.push_back(variable);
  }
}

void ModuleResolver::note_session_var(uint32_t let, uint32_t slot) {
  if (!module_.is_session) return;
  module_.session_variables.push_back(
      {.name = lets_[let].name, .module = &module_, .global = lets_[let].global, .slot = slot});
}

// ---- reports ----

namespace {

// Far more than are shown; a source of nothing but mistakes must not fill the memory with reports.
constexpr size_t kMaxReports = 10 * Diagnostics::kMaxDiagnostics;

}  // namespace

void ModuleResolver::error(ErrorCode code, Span span, std::string message, std::string hint) {
  ++errors_;
  if (reports_.size() >= kMaxReports) return;
  reports_.push_back(
      {Severity::Error, code, module_.source, span, std::move(message), std::move(hint)});
}

void ModuleResolver::warn(ErrorCode code, Span span, std::string message, std::string hint) {
  if (reports_.size() >= kMaxReports) return;
  reports_.push_back(
      {Severity::Warning, code, module_.source, span, std::move(message), std::move(hint)});
}

std::string ModuleResolver::line_of(Span span) const {
  return std::to_string(module_.source->position(span.begin).line);
}

void ModuleResolver::flush_reports() {
  std::stable_sort(reports_.begin(), reports_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return a.span.begin < b.span.begin;
  });
  for (Diagnostic& each : reports_) world_.diagnostics.report(std::move(each));
  reports_.clear();
}

// ---- all functions ----

std::vector<FunctionDecl*> functions_of(Module& module) {
  std::vector<FunctionDecl*> all{module.top};
  all.insert(all.end(), module.functions.begin(), module.functions.end());
  for (size_t i = 0; i < all.size(); ++i) {
    const FunctionDecl* decl = all[i];
    all.insert(all.end(), decl->children.begin(), decl->children.end());
  }
  return all;
}

}  // namespace posset::syntax
