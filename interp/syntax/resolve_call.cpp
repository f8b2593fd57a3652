// Calls: what `x.f(a)` means, and whether the `&` marks fit the callee. A method call becomes an
// ordinary Call here, so later stages never see one:
//
//   g.f(a), g bound by import      Call{callee = Field{g, f} bound to the export}
//   x.f(a), a function f in scope  Call{callee = f, arguments = x, a; form Method}
//   x.f(a) otherwise               Call{callee = Field{x, f}}
//
// "A function in scope" leaves out what is surely none (constants, modules, constructors, a `let`
// of a literal), so that a variable called `count` does not hide the built-in from `xs.count(f)`.
#include <algorithm>

#include "interp/syntax/module_resolver.h"

namespace posset::syntax {

// ---- method calls ----

void ModuleResolver::method_call(Node*& node) {
  auto* self = static_cast<MethodCallNode*>(node);
  Link module;
  if (is_module_name(self->receiver, module)) {
    node = module_call(self, module);
    return;
  }
  const Meaning meaning = find_function(self->name);
  node = meaning.kind == Meaning::Kind::Nothing ? field_call(self) : function_call(self, meaning);
}

namespace {

CallNode* make_call(Arena& arena, const MethodCallNode& from, CallForm form) {
  auto* call = arena.node<CallNode>(from.span);
  call->parenthesised = from.parenthesised;
  call->arguments = from.arguments;
  call->form = form;
  return call;
}

FieldNode* make_field(Arena& arena, const MethodCallNode& from) {
  auto* field = arena.node<FieldNode>({from.receiver->span.begin, from.name_span.end});
  field->base = from.receiver;
  field->name = from.name;
  field->optional = from.optional;
  return field;
}

// A literal of any kind, or a block that ends in one: a value that is no function.
bool is_plain_value(const Node* node) {
  switch (node->kind) {
    case NodeKind::NilLiteral:
    case NodeKind::BoolLiteral:
    case NodeKind::IntLiteral:
    case NodeKind::FloatLiteral:
    case NodeKind::StringLiteral:
    case NodeKind::Interpolation:
    case NodeKind::ListLiteral:
    case NodeKind::MapLiteral:
    case NodeKind::RecordLiteral:
    case NodeKind::RangeLiteral:
    case NodeKind::Comprehension:
      return true;
    case NodeKind::Block: {
      const NodeList& statements = static_cast<const BlockNode*>(node)->statements;
      return !statements.empty() && is_plain_value(statements[statements.size() - 1]);
    }
    default:
      return false;
  }
}

}  // namespace

Node* ModuleResolver::module_call(MethodCallNode* node, const Link& module) {
  CallNode* made = make_call(module_.arena, *node, CallForm::Plain);
  FieldNode* field = make_field(module_.arena, *node);
  made->callee = field;
  const Meaning meaning = bind_module_field(field, module);
  if (meaning.kind == Meaning::Kind::Constant)
    made->callee = copy_literal(*meaning.constant, field->span);
  arguments(made, callee_of(meaning, node->name));
  return made;
}

Node* ModuleResolver::function_call(MethodCallNode* node, const Meaning& meaning) {
  Arena& arena = module_.arena;
  CallNode* made = make_call(arena, *node, CallForm::Method);
  auto* callee = arena.node<NameNode>(node->name_span);
  callee->name = node->name;
  made->callee = callee;
  made->optional = node->optional;
  auto* receiver = arena.node<ArgumentNode>(node->receiver->span);
  receiver->value = node->receiver;
  std::vector<Node*> all{receiver};
  all.insert(all.end(), node->arguments.begin(), node->arguments.end());
  made->arguments = arena.list(all);
  warn_shadowed_field(*node, meaning);
  bind(meaning, callee->name, callee->span, callee->binding);
  arguments(made, callee_of(meaning, node->name));
  return made;
}

Node* ModuleResolver::field_call(MethodCallNode* node) {
  CallNode* made = make_call(module_.arena, *node, CallForm::Plain);
  made->callee = make_field(module_.arena, *node);
  expression(made->callee);
  arguments(made, {});
  return made;
}

// The innermost thing of that name which may be a function.
Meaning ModuleResolver::find_function(Text name) {
  for (uint32_t id = scopes_.find(name); id != kNone; id = scopes_.variable(id).shadowed) {
    const Meaning meaning = find_variable(id);
    if (is_callable(meaning)) return meaning;
  }
  Meaning meaning = find_in_module(name);
  if (is_callable(meaning)) return meaning;
  const auto declared = values_.find(name);  // may be hidden by a `let`
  if (declared != values_.end() && is_callable(declared->second)) return declared->second;
  meaning = find_outside(name);
  if (is_callable(meaning)) return meaning;
  meaning = {};
  if (const BuiltinInfo* info = world_.environment.builtin(name)) {
    meaning.kind = Meaning::Kind::Linked;
    meaning.link.name = name;
    meaning.info = info;
  }
  return meaning;
}

bool ModuleResolver::is_callable(const Meaning& meaning) {
  switch (meaning.kind) {
    case Meaning::Kind::Nothing:
    case Meaning::Kind::Constant:
    case Meaning::Kind::ModuleVar:
      return false;
    case Meaning::Kind::Broken:
      return true;
    case Meaning::Kind::Variable: {
      const Variable& variable = scopes_.variable(meaning.variable);
      return !variable.known || !is_plain_value(variable.known);
    }
    case Meaning::Kind::Linked:
      break;
  }
  switch (meaning.link.kind) {
    case Link::Kind::Function:
    case Link::Kind::Builtin:
      return true;
    case Link::Kind::BuiltinExport:
      return meaning.info != nullptr;
    case Link::Kind::Global: {
      const Node* known = meaning.link.module ? nullptr : known_value(meaning.link.name);
      return !known || !is_plain_value(known);
    }
    case Link::Kind::Constructor:
    case Link::Kind::Type:
    case Link::Kind::Module:
    case Link::Kind::HostGlobal:
    case Link::Kind::Literal:
    case Link::Kind::Container:  // no name means one
      return false;
  }
  return false;
}

// What a `let` of this name was bound to, when that is plain to see.
const Node* ModuleResolver::known_value(Text name) {
  const uint32_t id = scopes_.find(name);
  if (id != kNone) return scopes_.variable(id).known;
  if (scopes_.root_function().is_top_level) return nullptr;
  const uint32_t let = let_before_function(name);
  return let == kNone ? nullptr : lets_[let].known;
}

void ModuleResolver::warn_shadowed_field(const MethodCallNode& node, const Meaning& meaning) {
  const auto* receiver = as<NameNode>(node.receiver);
  if (!receiver || meaning.kind != Meaning::Kind::Linked ||
      meaning.link.kind != Link::Kind::Builtin)
    return;
  const auto* record = as<RecordLiteralNode>(known_value(receiver->name));
  if (!record) return;
  for (Node* each : record->fields) {
    const auto* field = as<RecordFieldNode>(each);
    if (!field || field->name != node.name || !as<LambdaNode>(field->value)) continue;
    const std::string text = std::string(receiver->name) + "." + std::string(node.name);
    warn(ErrorCode::FieldShadowedByFn, node.name_span,
         "`" + text + "(...)` calls the built-in " + quoted(node.name) + ", not the field of " +
             quoted(receiver->name),
         "write `(" + text + ")(...)` to call the field");
    return;
  }
}

// ---- calls ----

void ModuleResolver::call(CallNode* node) {
  Callee callee;
  Link module;
  if (const auto* named = as<NameNode>(node->callee)) {
    const Meaning meaning = find(named->name);
    callee = callee_of(meaning, named->name);
    name(node->callee);
  } else if (auto* field = as<FieldNode>(node->callee);
             field && is_module_name(field->base, module)) {
    const Meaning meaning = bind_module_field(field, module);
    callee = callee_of(meaning, field->name);
    if (meaning.kind == Meaning::Kind::Constant)
      node->callee = copy_literal(*meaning.constant, field->span);
  } else {
    expression(node->callee);
  }
  arguments(node, callee);
}

Callee ModuleResolver::callee_of(const Meaning& meaning, Text name) {
  Callee callee;
  callee.name = name;
  if (meaning.kind == Meaning::Kind::Variable) {
    const FunctionDecl* function = scopes_.variable(meaning.variable).function;
    callee.known = function != nullptr;
    if (function) callee.inout_mask = function->inout_mask;
  } else if (meaning.kind == Meaning::Kind::Linked) {
    const Link& link = meaning.link;
    callee.known = link.function || meaning.info || link.kind == Link::Kind::Constructor;
    if (link.function) callee.inout_mask = link.function->inout_mask;
    if (meaning.info) {
      callee.inout_mask = meaning.info->inout_mask;
      callee.loop_arguments = meaning.info->loop_arguments;
    }
  }
  return callee;
}

void ModuleResolver::arguments(CallNode* node, const Callee& callee) {
  std::vector<PlacePath> paths;
  bool positions_known = callee.known;
  for (size_t i = 0; i < node->arguments.size(); ++i) {
    auto* argument = as<ArgumentNode>(node->arguments[i]);
    if (!argument) {
      ++errors_;
      continue;
    }
    if (argument->spread) positions_known = false;
    if (i == 0 && node->form == CallForm::Method && positions_known && callee.takes_inout(0)) {
      inout_receiver(node, callee, paths);
      continue;
    }
    const size_t lent = paths.size();
    if (argument->inout) {
      inout_argument(argument, paths);
    } else {
      expression(argument->value);
    }
    // One mistake, one report: what is not to be lent at all cannot overlap either.
    if (positions_known && !check_mark(*argument, i, callee)) paths.resize(lent);
  }
  check_overlap(paths);
  note_loop(node, callee);
}

// Its arguments are evaluated when it begins.
void ModuleResolver::note_loop(CallNode* node, const Callee& callee) {
  if (callee.loop_arguments != node->arguments.size() || node->arguments.empty() || node->optional) return;
  for (const Node* each : node->arguments) {
    const auto* argument = as<ArgumentNode>(each);
    if (!argument || argument->spread || argument->inout) return;
  }
  const ScopeGuard scope(scopes_);
  share_constant(static_cast<ArgumentNode*>(node->arguments[0])->value);
  node->hidden = scopes_.reserve(kCallbackSlots);
  node->is_loop = true;
}

void ModuleResolver::inout_argument(ArgumentNode* argument, std::vector<PlacePath>& paths) {
  PlacePath path;
  if (place(argument->value, PlaceUse::Inout, path)) paths.push_back(std::move(path));
}

// The receiver of a method call needs no mark: the function says that it changes it.
void ModuleResolver::inout_receiver(CallNode* node, const Callee& callee,
                                    std::vector<PlacePath>& paths) {
  auto* receiver = static_cast<ArgumentNode*>(node->arguments[0]);
  Node* root = receiver->value;
  while (root->kind == NodeKind::Field || root->kind == NodeKind::Index) {
    if (const auto* field = as<FieldNode>(root); field && field->optional) break;
    root = root->kind == NodeKind::Field ? static_cast<FieldNode*>(root)->base
                                         : static_cast<IndexNode*>(root)->base;
  }
  if (root->kind == NodeKind::Name && !node->optional) {
    receiver->inout = true;
    return inout_argument(receiver, paths);
  }
  expression(receiver->value);
  if (receiver->value->kind == NodeKind::Malformed) return;
  error(ErrorCode::BadInout, receiver->span,
        quoted(callee.name) +
            " changes its receiver (an inout parameter), which must be a variable, or a field "
            "or element of one",
        node->optional ? "`?.` does not lead to a place; test for nil with `if` first"
                       : "put the value into a `var` first");
}

bool ModuleResolver::check_mark(const ArgumentNode& argument, size_t position,
                                const Callee& callee) {
  const bool wanted = callee.takes_inout(position);
  if (wanted == argument.inout) return true;
  const std::string which = "argument " + std::to_string(position + 1);
  if (!wanted) {
    error(ErrorCode::BadInout, argument.span,
          quoted(callee.name) + " does not take " + which + " as inout", "leave out the `&`");
    return false;
  }
  const auto* name = as<NameNode>(argument.value);
  error(ErrorCode::BadInout, argument.span,
        quoted(callee.name) + " changes " + which + " (inout): mark it with `&`",
        name ? "write `&" + std::string(name->name) + "`"
             : "write `&` before the variable it belongs to");
  return false;
}

// ---- overlap ----

namespace {

bool same_root(const PlacePath& a, const PlacePath& b) {
  if (a.meaning.kind != b.meaning.kind) return false;
  if (a.meaning.kind == Meaning::Kind::Variable) return a.meaning.variable == b.meaning.variable;
  return key_of(a.meaning.link) == key_of(b.meaning.link);
}

// Apart only where fields of different names stand at the same step: indexes may always be equal.
bool may_overlap(const PlacePath& a, const PlacePath& b) {
  if (!same_root(a, b)) return false;
  const size_t steps = std::min(a.steps.size(), b.steps.size());
  for (size_t i = 0; i < steps; ++i) {
    if (a.steps[i].is_field && b.steps[i].is_field && a.steps[i].name != b.steps[i].name)
      return false;
  }
  return true;
}

}  // namespace

void ModuleResolver::check_overlap(const std::vector<PlacePath>& paths) {
  for (size_t i = 1; i < paths.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!may_overlap(paths[i], paths[j])) continue;
      error(ErrorCode::BadInout, paths[i].root->span,
            "two inout arguments (`&`) of one call may not overlap: both belong to " +
                quoted(paths[i].root->name),
            "pass different fields, or copy one into a `var` and store it back");
      break;
    }
  }
}

}  // namespace posset::syntax
