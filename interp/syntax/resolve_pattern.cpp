// Patterns: the names they bind, once each, and the constructors they name. Alternatives share the
// slots of their names, so whichever fits fills the same ones.
#include <algorithm>

#include "interp/syntax/module_resolver.h"

namespace posset::syntax {

namespace {

bool is_bound(Text name) { return !name.empty() && name != "_"; }

void append_names(Node* node, std::vector<PatternName>& out) {
  if (const auto* binding = as<BindingPatternNode>(node)) {
    if (is_bound(binding->name)) out.push_back({binding->name, binding->span, binding});
  } else if (const auto* rest = as<RestPatternNode>(node)) {
    if (is_bound(rest->name)) out.push_back({rest->name, rest->span, rest});
  } else {
    for_each_child(node, [&](Node*& child) { append_names(child, out); });
  }
}

void sort_by_name(std::vector<PatternName>& names) {
  std::stable_sort(names.begin(), names.end(),
                   [](const PatternName& a, const PatternName& b) { return a.name < b.name; });
}

// Sorted, each name once.
std::vector<PatternName> distinct(std::vector<PatternName> names) {
  sort_by_name(names);
  const auto same = [](const PatternName& a, const PatternName& b) { return a.name == b.name; };
  names.erase(std::unique(names.begin(), names.end(), same), names.end());
  return names;
}

// A name that only one of the two lists has, or empty.
Text difference(const std::vector<PatternName>& a, const std::vector<PatternName>& b) {
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i].name == b[i].name) ++i;
  if (i == a.size() && i == b.size()) return {};
  if (i == a.size()) return b[i].name;
  if (i == b.size()) return a[i].name;
  return std::min(a[i].name, b[i].name);
}

}  // namespace

std::vector<PatternName> names_in(Node* pattern) {
  std::vector<PatternName> names;
  if (pattern) append_names(pattern, names);
  return names;
}

// ---- checks ----

// `out`: the names bound, those of alternatives once. Reports alternatives that differ.
void ModuleResolver::gather_names(Node* node, std::vector<PatternName>& out) {
  if (const auto* alternatives = as<AlternativePatternNode>(node)) {
    check_alternatives(*alternatives, out);
  } else if (node->kind == NodeKind::BindingPattern || node->kind == NodeKind::RestPattern) {
    append_names(node, out);
  } else {
    if (const auto* record = as<RecordPatternNode>(node)) check_field_names(*record);
    for_each_child(node, [&](Node*& child) { gather_names(child, out); });
  }
}

void ModuleResolver::check_alternatives(const AlternativePatternNode& node,
                                        std::vector<PatternName>& out) {
  std::vector<PatternName> first;
  for (size_t i = 0; i < node.alternatives.size(); ++i) {
    Node* alternative = node.alternatives[i];
    std::vector<PatternName> names;
    gather_names(alternative, names);
    check_twice(names, "name");
    names = distinct(std::move(names));
    if (i == 0) {
      first = std::move(names);
      continue;
    }
    const Text missing = difference(first, names);
    if (missing.empty()) continue;
    error(ErrorCode::BadPattern, alternative->span,
          "alternatives must bind the same names; " + quoted(missing) + " is not in all of them",
          "write two arms, or `_` for what is not used");
  }
  out.insert(out.end(), first.begin(), first.end());
}

void ModuleResolver::check_twice(std::vector<PatternName> names, const char* what) {
  sort_by_name(names);
  for (size_t i = 1; i < names.size(); ++i) {
    if (names[i].name != names[i - 1].name || !is_bound(names[i].name)) continue;
    error(ErrorCode::DuplicateName, names[i].span,
          "the " + std::string(what) + " " + quoted(names[i].name) + " appears twice here",
          "every name can be bound once; use another name or `_`");
  }
}

void ModuleResolver::check_field_names(const RecordPatternNode& node) {
  std::vector<PatternName> names;
  for (Node* each : node.fields) {
    if (const auto* field = as<RecordPatternFieldNode>(each))
      names.push_back({field->name, field->span});
  }
  check_twice(std::move(names), "field");
}

// ---- binding ----

void ModuleResolver::pattern(Node* node, VariableKind kind, const Node* known) {
  std::vector<PatternName> names;
  gather_names(node, names);
  check_twice(std::move(names), "name");
  pattern_bindings_.clear();
  bind_pattern(node, kind, known);
}

void ModuleResolver::bind_pattern(Node* node, VariableKind kind, const Node* known) {
  switch (node->kind) {
    case NodeKind::WildcardPattern:
      return;
    case NodeKind::LiteralPattern:
      if (auto* string = as<StringLiteralNode>(static_cast<LiteralPatternNode*>(node)->value)) text(string);
      return;
    case NodeKind::BindingPattern: {
      auto* self = static_cast<BindingPatternNode*>(node);
      annotation(self->type);
      return bind_name(self->name, self, kind, known, self->binding);
    }
    case NodeKind::RestPattern: {
      auto* self = static_cast<RestPatternNode*>(node);
      return bind_name(self->name, self, kind, nullptr, self->binding);
    }
    case NodeKind::ConstructorPattern:
      return constructor_pattern(static_cast<ConstructorPatternNode*>(node), kind);
    case NodeKind::ListPattern:
    case NodeKind::RecordPattern:
    case NodeKind::RecordPatternField:
    case NodeKind::AlternativePattern:
      return for_each_child(node, [&](Node*& child) { bind_pattern(child, kind, nullptr); });
    default:
      break;
  }
  ++errors_;  // Malformed, or something that is no pattern: the parser has reported it
}

void ModuleResolver::bind_name(Text name, const Node* node, VariableKind kind, const Node* known,
                               Binding& binding) {
  if (!is_bound(name)) return;
  const auto earlier = pattern_bindings_.find(name);
  if (earlier !=
      pattern_bindings_.end()) {  // another alternative (or a name reported as bound twice)
    binding = earlier->second;
    return;
  }
  const auto module_let = let_of_pattern_.find(node);
  const uint32_t let = module_let == let_of_pattern_.end() ? kNone : module_let->second;
  const bool global = let != kNone && lets_[let].global != kNone && !lets_[let].is_var;
  const uint32_t id = global ? scopes_.declare_without_slot(name, node->span, kind)
                             : scopes_.declare(name, node->span, kind);
  Variable& variable = scopes_.variable(id);
  variable.known = known;
  variable.module_let = let;
  if (global) {
    const Link link{.kind = Link::Kind::Global, .name = name, .index = lets_[let].global};
    binding = {.kind = BindingKind::Link, .index = scopes_.link(link)};
  } else {
    binding = {.kind = BindingKind::Local, .is_var = is_assignable(kind), .index = variable.slot};
    if (let != kNone && lets_[let].is_var) note_session_var(let, variable.slot);
  }
  pattern_bindings_.emplace(name, binding);
}

// ---- constructors ----

void ModuleResolver::constructor_pattern(ConstructorPatternNode* node, VariableKind kind) {
  const Meaning meaning = find_constructor(*node);
  if (meaning.kind == Meaning::Kind::Linked) {
    check_constructor(*node, meaning.link);
    node->binding = {.kind = BindingKind::Link, .index = scopes_.link(meaning.link)};
  }
  for (Node* argument : node->arguments) bind_pattern(argument, kind, nullptr);
}

// Linked to a constructor; anything else has been reported.
Meaning ModuleResolver::find_constructor(const ConstructorPatternNode& node) {
  Meaning meaning;
  if (!node.module.empty()) {
    const Meaning module = find(node.module);
    if (module.kind == Meaning::Kind::Broken) {
      meaning = module;
    } else if (module.kind == Meaning::Kind::Linked && module.link.kind == Link::Kind::Module) {
      meaning = world_.exported_value(module.link, node.name);
    }
  } else {
    // Variables do not count: a capitalised name in a pattern is a constructor, never a value.
    const auto found = values_.find(node.name);
    if (found != values_.end()) {
      meaning = found->second;
    } else if (sees_session_) {
      meaning = world_.session_value(node.name);
    }
  }
  if (meaning.kind == Meaning::Kind::Linked && meaning.link.kind == Link::Kind::Constructor)
    return meaning;
  if (meaning.kind == Meaning::Kind::Broken) {
    ++errors_;
    return meaning;
  }
  const bool is_value = node.module.empty() && find(node.name).kind != Meaning::Kind::Nothing;
  const std::string name(node.name);
  error(ErrorCode::NotDefined, node.span, "the constructor " + quoted(name) + " is not defined",
        is_value
            ? quoted(name) +
                  " is a value, not a constructor; compare in a guard: `x if x == " + name + "`"
            : suggestion(node.name, visible_names()));
  return {};
}

void ModuleResolver::check_constructor(const ConstructorPatternNode& node, const Link& link) {
  const ConstructorDecl& decl = link.type->constructors[link.index];
  const size_t fields = decl.fields.size();
  size_t given = node.arguments.size();
  bool open = false;  // `Rect(w, ..)`
  for (Node* each : node.arguments) open = open || each->kind == NodeKind::RestPattern;
  if (open) --given;
  if (open ? given <= fields : given == fields) return;
  std::string shape(decl.name);
  for (size_t i = 0; i < fields; ++i)
    shape += (i == 0 ? "(" : ", ") + std::string(decl.fields[i].name);
  if (fields != 0) shape += ")";
  error(ErrorCode::BadPattern, node.span,
        quoted(shape) + " takes " + std::to_string(fields) +
            (fields == 1 ? " argument" : " arguments") + ", this pattern has " +
            std::to_string(given),
        "write `_` for a field that does not matter");
}

}  // namespace posset::syntax
