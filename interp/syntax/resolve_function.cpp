// Functions, their parameters, and annotations. The raw argument sits in the slot of its position;
// the names of a destructuring parameter get slots behind all parameters, bound in order with the
// defaults, so that a default sees everything to its left.
#include "interp/syntax/module_resolver.h"

namespace posset::syntax {

void ModuleResolver::count_parameters(FunctionDecl& decl) {
  decl.required = 0;
  decl.inout_mask = 0;
  decl.has_rest = false;
  for (size_t i = 0; i < decl.parameters.size(); ++i) {
    const Parameter& parameter = decl.parameters[i];
    if (!parameter.fallback && !parameter.rest) ++decl.required;
    if (parameter.inout && i < 64) decl.inout_mask |= uint64_t{1} << i;
    decl.has_rest = decl.has_rest || parameter.rest;
  }
}

void ModuleResolver::function(FunctionDecl& decl, uint32_t self) {
  decl.module = &module_;
  decl.parent = scopes_.in_function() ? &scopes_.function() : module_.top;
  count_parameters(decl);
  scopes_.push_function(&decl, self);
  parameters(decl);
  annotation(decl.result);
  if (decl.body) expression(decl.body);
  scopes_.pop_function();
}

void ModuleResolver::parameters(FunctionDecl& decl) {
  scopes_.reserve(static_cast<uint32_t>(decl.parameters.size()));
  std::vector<PatternName> names;
  uint32_t slot = 0;
  for (Parameter& parameter : decl.parameters) {
    parameter.slot = slot++;
    annotation(parameter.type);
    if (parameter.fallback) expression(parameter.fallback);
    if (parameter.pattern) {
      gather_names(parameter.pattern, names);
      pattern_bindings_.clear();
      bind_pattern(parameter.pattern, VariableKind::Parameter, nullptr);
    } else if (!parameter.name.empty() && parameter.name != "_") {
      names.push_back({parameter.name, parameter.span});
      const VariableKind kind =
          parameter.inout ? VariableKind::InoutParameter : VariableKind::Parameter;
      scopes_.declare_at(parameter.name, parameter.span, kind, parameter.slot);
    }
  }
  check_twice(std::move(names), "parameter");
}

// ---- annotations ----

void ModuleResolver::annotation(TypeExpr* type) {
  while (type && type->element) type = type->element;
  if (!type || type->kind != TypeKind::Declared) return;
  TypeDecl* decl = find_type(*type);
  if (!decl) return;
  Link link;
  link.kind = Link::Kind::Type;
  link.name = decl->name;
  link.type = decl;
  link.module = decl->module == &module_ ? nullptr : decl->module;
  type->binding = {.kind = BindingKind::Link, .index = scopes_.link(link)};
}

// Null when it was reported.
TypeDecl* ModuleResolver::find_type(const TypeExpr& type) {
  const std::string what = "the type " + quoted(type.name);
  if (!type.module.empty()) {
    const Meaning module = find(type.module);
    if (module.kind != Meaning::Kind::Linked || module.link.kind != Link::Kind::Module) {
      if (module.kind == Meaning::Kind::Broken) {
        ++errors_;
      } else {
        error(ErrorCode::NotDefined, type.span,
              "the module " + quoted(type.module) + " is not defined", "import it first");
      }
      return nullptr;
    }
    TypeDecl* found = world_.exported_type(module.link, type.name);
    if (!found) {
      error(ErrorCode::NotExported, type.span,
            "module " + quoted(type.module) + " does not export " + what,
            hint_for_export(module.link, type.name));
    }
    return found;
  }
  const auto found = types_.find(type.name);
  if (found != types_.end()) {
    if (!found->second) ++errors_;  // from an import that failed
    return found->second;
  }
  if (TypeDecl* earlier = sees_session_ ? world_.session_type(type.name) : nullptr) return earlier;
  std::vector<Text> names = {"nil",  "bool", "int",    "float", "num",   "str",
                             "list", "map",  "record", "fn",    "range", "any"};
  for (const TypeDecl* each : module_.types) names.push_back(each->name);
  error(ErrorCode::NotDefined, type.span, what + " is not defined", suggestion(type.name, names));
  return nullptr;
}

// ---- type declarations ----

bool ModuleResolver::is_module_type(const TypeDecl& type) const {
  return type.index < module_.types.size() && module_.types[type.index] == &type;
}

// The annotations of constructor fields are bound in the links of the module's top level.
void ModuleResolver::type_declaration(TypeDeclarationNode* node) {
  TypeDecl& type = *node->type;
  if (!is_module_type(type)) return misplaced(node, "type");
  for (ConstructorDecl& constructor : type.constructors) {
    check_fields(constructor);
    for (Parameter& field : constructor.fields) {
      annotation(field.type);
      if (field.fallback) expression(field.fallback);
    }
  }
}

void ModuleResolver::check_fields(const ConstructorDecl& constructor) {
  std::vector<PatternName> names;
  for (const Parameter& field : constructor.fields) names.push_back({field.name, field.span});
  check_twice(std::move(names), "field");
}

}  // namespace posset::syntax
