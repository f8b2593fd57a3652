// Places: a variable followed by fields and indexes, as the target of an assignment, an inout
// argument or a `with`. The root must be a variable that may change.
//
// One exception: behind a field called `value` there may be a ref, the shared cell, which may
// change whatever holds it (`let total = ref(0)`, `total.value += 1`, also when captured). Such a
// place is let through unless the root is known to be no ref; when it turns out not to lead through
// one, storing raises. The same holds for a field with the name of a property that some host object
// has. Tiers see it by the root's Binding::is_var being false.
#include <algorithm>

#include "interp/syntax/module_resolver.h"

namespace posset::syntax {

namespace {

const char* purpose(PlaceUse use) {
  switch (use) {
    case PlaceUse::Assign:
      return "";
    case PlaceUse::Inout:
      return ", which this call changes";
    case PlaceUse::With:
      return ", which this `with` changes";
  }
  return "";
}

bool is_literal_container(const Node* node) {
  return node && (node->kind == NodeKind::RecordLiteral || node->kind == NodeKind::ListLiteral ||
                  node->kind == NodeKind::MapLiteral || node->kind == NodeKind::Comprehension);
}

}  // namespace

// Resolves the place and checks its root; false when it was reported.
bool ModuleResolver::place(Node* node, PlaceUse use, PlacePath& path) {
  std::vector<Node*> steps;
  if (!place_steps(node, use, path, steps)) return false;
  const bool good = place_root(path, use);
  for (Node* step : steps) {
    auto* index = as<IndexNode>(step);
    if (!index) continue;
    if (index->index) expression(index->index);
    if (index->fallback) expression(index->fallback);
  }
  return good;
}

// Fills the path and the nodes of its steps, from the root outwards.
bool ModuleResolver::place_steps(Node* node, PlaceUse use, PlacePath& path,
                                 std::vector<Node*>& steps) {
  Node* at = node;
  while (at->kind != NodeKind::Name) {
    Node* base = nullptr;
    if (auto* field = as<FieldNode>(at); field && !field->optional) {
      path.steps.push_back({.is_field = true, .name = field->name});
      base = field->base;
    } else if (auto* index = as<IndexNode>(at)) {
      path.steps.push_back({});
      base = index->base;
    }
    if (!base) {
      report_not_a_place(node, use);
      return false;
    }
    steps.push_back(at);
    at = base;
  }
  std::reverse(steps.begin(), steps.end());
  std::reverse(path.steps.begin(), path.steps.end());
  path.root = static_cast<NameNode*>(at);
  path.meaning = find(path.root->name);
  return true;
}

void ModuleResolver::report_not_a_place(Node* node, PlaceUse use) {
  Node* copy = node;
  expression(copy);  // for its own mistakes; the tree is not used any more
  if (node->kind == NodeKind::Malformed) return;
  const bool assign = use == PlaceUse::Assign;
  error(assign ? ErrorCode::CannotAssign : ErrorCode::BadInout, node->span,
        assign ? "cannot assign to this expression"
               : "an inout argument (`&`) must be a variable, or a field or element of one",
        assign ? "a place is a variable followed by fields and indexes; `?.` is not part of one"
               : "put the value into a `var` first");
}

bool ModuleResolver::place_root(PlacePath& path, PlaceUse use) {
  const Meaning& meaning = path.meaning;
  const NameNode& root = *path.root;
  switch (meaning.kind) {
    case Meaning::Kind::Nothing:
      report_undefined(root.name, root.span, use == PlaceUse::Assign && path.steps.empty());
      return false;
    case Meaning::Kind::ModuleVar:
    case Meaning::Kind::Broken:
      bind(meaning, root.name, root.span, path.root->binding);
      return false;
    case Meaning::Kind::Constant:
      report_not_assignable(path, use);
      return false;
    case Meaning::Kind::Linked: {
      const bool value =
          meaning.link.kind == Link::Kind::Global || meaning.link.kind == Link::Kind::HostGlobal;
      if (value && goes_through_ref(path)) break;
      report_not_assignable(path, use);
      return false;
    }
    case Meaning::Kind::Variable: {
      const Variable& variable = scopes_.variable(meaning.variable);
      if (variable.level == scopes_.level() && is_assignable(variable.kind)) break;
      if (variable.kind != VariableKind::Function && goes_through_ref(path)) break;
      report_variable(variable, use, root.span);
      return false;
    }
  }
  const size_t before = errors_;
  bind(meaning, root.name, root.span, path.root->binding);
  return errors_ == before;
}

bool ModuleResolver::goes_through_ref(const PlacePath& path) {
  // What a literal made is no ref or host object itself, but may hold one.
  const bool root_is_no_ref = is_literal_container(known_value(path.root->name));
  for (size_t i = root_is_no_ref ? 1 : 0; i < path.steps.size(); ++i) {
    if (!path.steps[i].is_field) continue;
    if (path.steps[i].name == "value" || world_.environment.host_property(path.steps[i].name)) return true;
  }
  return false;
}

// A root that is not a variable of this or an enclosing function.
void ModuleResolver::report_not_assignable(const PlacePath& path, PlaceUse use) {
  const char* what = "a constant";
  if (path.meaning.kind == Meaning::Kind::Linked) {
    switch (path.meaning.link.kind) {
      case Link::Kind::Function:
        what = "a function";
        break;
      case Link::Kind::Global:
        what = "a `let` of a module";
        break;
      case Link::Kind::Builtin:
        what = "a built-in function";
        break;
      case Link::Kind::BuiltinExport:
        what = "imported";
        break;
      case Link::Kind::Constructor:
        what = "a constructor";
        break;
      case Link::Kind::Type:
        what = "a type";
        break;
      case Link::Kind::Module:
        what = "a module";
        break;
      case Link::Kind::HostGlobal:
        what = "a value the host has set";
        break;
      case Link::Kind::Literal:
      case Link::Kind::Container:  // no name means one
        break;
    }
  }
  const std::string name(path.root->name);
  // The value may well be an object of the host, which is changed through whatever holds it.
  if (path.meaning.link.kind == Link::Kind::HostGlobal && !path.steps.empty() && path.steps[0].is_field) {
    const std::string field(path.steps[0].name);
    error(ErrorCode::CannotAssign, path.root->span,
          "cannot assign to " + quoted(field) + " of " + quoted(name) + purpose(use) + ": the host has set " + quoted(name) +
              ", and no object of the host has a property " + quoted(field) + " that can be written",
          "a property may be read-only; a record of the host can be copied: `var copy = " + name + "`");
    return;
  }
  const bool top = scopes_.root_function().is_top_level && scopes_.level() == 0;
  error(ErrorCode::CannotAssign, path.root->span,
        "cannot assign to " + quoted(name) + purpose(use) + ": it is " + what,
        top ? "declare a variable of your own: `var " + name + " = ...`"
            : "use a `var` of your own, or share one cell: `let " + name + " = ref(...)`");
}

void ModuleResolver::report_variable(const Variable& variable, PlaceUse use, Span span) {
  const std::string name(variable.name);
  const std::string message = "cannot assign to " + quoted(name) + purpose(use) + ": it is ";
  if (variable.level != scopes_.level() && variable.kind != VariableKind::Function) {
    error(ErrorCode::CapturedAssignment, span, message + "captured, and a closure has its own copy",
          "share one cell: `let " + name + " = ref(...)`, then `" + name + ".value`");
    return;
  }
  std::string hint;
  switch (variable.kind) {
    case VariableKind::Let:
      hint = "declare it with `var " + name + "` to change it";
      break;
    case VariableKind::Parameter:
      hint = "copy it into a variable (`var " + name + " = " + name + "`), or declare it `inout " +
             name + "`";
      break;
    case VariableKind::Loop:
    case VariableKind::Pattern:
      hint = "copy it into a variable: `var copy = " + name + "`";
      break;
    case VariableKind::Function:
      hint = "a `fn` always stands for the same function; use a `var` of another name";
      break;
    case VariableKind::Var:
    case VariableKind::InoutParameter:
    case VariableKind::With:
      break;
  }
  error(ErrorCode::CannotAssign, span, message + describe(variable.kind), std::move(hint));
}

// ---- assignment and `with` ----

void ModuleResolver::assign(AssignNode* node) {
  PlacePath path;
  if (node->place) place(node->place, PlaceUse::Assign, path);
  if (node->value) expression(node->value);
}

void ModuleResolver::with(WithNode* node) {
  PlacePath path;
  const bool good = place(node->place, PlaceUse::With, path);
  const ScopeGuard scope(scopes_);
  if (good) return lend(path, node);
  if (node->pattern) pattern(node->pattern, VariableKind::With);
  if (node->body) expression(node->body);
}

// Resolves the block while the root is out of reach.
void ModuleResolver::lend(const PlacePath& path, WithNode* node) {
  const bool is_variable = path.meaning.kind == Meaning::Kind::Variable;
  if (node->pattern) pattern(node->pattern, VariableKind::With);
  if (is_variable) {
    scopes_.variable(path.meaning.variable).lent = true;
  } else {
    lent_.push_back(key_of(path.meaning.link));
  }
  if (node->body) expression(node->body);
  if (is_variable) {
    scopes_.variable(path.meaning.variable).lent = false;
  } else {
    lent_.pop_back();
  }
}

}  // namespace posset::syntax
