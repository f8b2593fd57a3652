// What a name means: innermost scope outward to the built-ins, and what to say when it means
// nothing.
//
// The top level sees its own lets in the order of the source, like any block. A module-level fn may
// be called at any time, so it sees the newest let declared before it in the source or, failing
// that, the module's last one of that name; fns, constructors and imports of a module are visible
// everywhere.
#include <algorithm>
#include <array>
#include <cassert>
#include <cctype>

#include "interp/syntax/module_resolver.h"

namespace posset::syntax {

// ---- lookup ----

Meaning ModuleResolver::find(Text name) {
  const uint32_t id = scopes_.find(name);
  return id == kNone ? find_in_module(name) : find_variable(id);
}

Meaning ModuleResolver::find_variable(uint32_t id) {
  const Variable& variable = scopes_.variable(id);
  Meaning meaning;
  meaning.declared = variable.span;
  if (variable.module_let != kNone && !lets_[variable.module_let].is_var) {
    const ModuleLet& let = lets_[variable.module_let];
    if (let.constant) {
      meaning.kind = Meaning::Kind::Constant;
      meaning.constant = let.constant;
      return meaning;
    }
    if (let.global != kNone) {
      meaning.kind = Meaning::Kind::Linked;
      meaning.link.kind = Link::Kind::Global;
      meaning.link.name = let.name;
      meaning.link.index = let.global;
      return meaning;
    }
  }
  meaning.kind = Meaning::Kind::Variable;
  meaning.variable = id;
  return meaning;
}

Meaning ModuleResolver::find_in_module(Text name) {
  const bool in_fn = !scopes_.root_function().is_top_level;
  if (in_fn) {
    const uint32_t let = let_before_function(name);
    if (let != kNone) return meaning_of_let(let);
  }
  const auto found = values_.find(name);
  if (found != values_.end()) return found->second;
  if (in_fn) {
    const auto lets = lets_by_name_.find(name);
    if (lets != lets_by_name_.end()) return meaning_of_let(lets->second.back());
  }
  return find_outside(name);
}

uint32_t ModuleResolver::let_before_function(Text name) {
  const auto lets = lets_by_name_.find(name);
  if (lets == lets_by_name_.end()) return kNone;
  const uint32_t position = scopes_.root_function().span.begin;
  for (auto let = lets->second.rbegin(); let != lets->second.rend(); ++let) {
    if (lets_[*let].span.begin < position) return *let;
  }
  return kNone;
}

// Seen from a fn. The link holds the place in lets_ until the globals are numbered.
Meaning ModuleResolver::meaning_of_let(uint32_t id) {
  const ModuleLet& let = lets_[id];
  Meaning meaning;
  meaning.declared = let.span;
  if (let.is_var) {
    meaning.kind = Meaning::Kind::ModuleVar;
  } else if (let.constant) {
    meaning.kind = Meaning::Kind::Constant;
    meaning.constant = let.constant;
  } else {
    meaning.kind = Meaning::Kind::Linked;
    meaning.link.kind = Link::Kind::Global;
    meaning.link.name = let.name;
    meaning.link.index = id;
    meaning.unset = true;
  }
  return meaning;
}

Meaning ModuleResolver::find_outside(Text name) {
  if (sees_session_) {
    Meaning meaning = world_.session_value(name);
    if (meaning.kind != Meaning::Kind::Nothing) return meaning;
  }
  Meaning meaning;
  meaning.link.name = name;
  if (world_.environment.host_global(name)) {
    meaning.kind = Meaning::Kind::Linked;
    meaning.link.kind = Link::Kind::HostGlobal;
  } else if (const BuiltinInfo* info = world_.environment.builtin(name)) {
    meaning.kind = Meaning::Kind::Linked;
    meaning.link.kind = Link::Kind::Builtin;
    meaning.info = info;
  }
  return meaning;
}

// ---- binding ----

bool ModuleResolver::is_lent(const Meaning& meaning) {
  if (meaning.kind == Meaning::Kind::Variable) return scopes_.variable(meaning.variable).lent;
  if (meaning.kind != Meaning::Kind::Linked || lent_.empty()) return false;
  return std::find(lent_.begin(), lent_.end(), key_of(meaning.link)) != lent_.end();
}

void ModuleResolver::bind(const Meaning& meaning, Text name, Span span, Binding& binding) {
  if (is_lent(meaning)) {
    error(ErrorCode::WithRootUsed, span,
          quoted(name) + " cannot be used while a `with` block holds a part of it",
          "use the `with` name, or read what you need into a `let` before the block");
    return;
  }
  switch (meaning.kind) {
    case Meaning::Kind::Nothing:
      report_undefined(name, span);
      return;
    case Meaning::Kind::ModuleVar:
      report_module_var(name, span);
      return;
    case Meaning::Kind::Broken:
      ++errors_;
      return;  // reported where it was imported
    case Meaning::Kind::Constant:
      assert(false && "constants are replaced");
      return;
    case Meaning::Kind::Variable:
      binding = scopes_.reach(meaning.variable);
      return;
    case Meaning::Kind::Linked:
      break;
  }
  const bool own_global = meaning.link.kind == Link::Kind::Global && !meaning.link.module;
  if (own_global && !scopes_.root_function().is_top_level)
    lets_[meaning.link.index].read_by_function = true;
  binding = {.kind = BindingKind::Link,
             .first_use_unset = meaning.unset,
             .index = scopes_.link(meaning.link)};
}

void ModuleResolver::name(Node*& node) {
  auto* self = static_cast<NameNode*>(node);
  const Meaning meaning = find(self->name);
  if (meaning.kind == Meaning::Kind::Constant) {
    node = copy_literal(*meaning.constant, self->span);
    if (auto* string = as<StringLiteralNode>(node)) text(string);
  } else {
    bind(meaning, self->name, self->span, self->binding);
  }
}

void ModuleResolver::text(StringLiteralNode* node) {
  if (node->value.size() <= kInlineText) return;
  Link link{.kind = Link::Kind::Literal};
  link.name = node->value;
  node->binding = {.kind = BindingKind::Link, .index = scopes_.link(link)};
}

namespace {

bool is_negated_number(const UnaryNode& node) {
  if (node.op != UnaryOp::Neg) return false;
  const auto* number = as<IntLiteralNode>(node.operand);
  return number ? number->value != INT64_MIN : as<FloatLiteralNode>(node.operand) != nullptr;
}

}  // namespace

// A literal, a constructor without fields, or a list, map or record of such, not nested deeper than that.
bool ModuleResolver::is_constant(const Node* node, uint32_t levels) {
  const auto fieldless = [this](const Binding& binding) {
    if (binding.kind != BindingKind::Link) return false;
    return scopes_.function().links[binding.index].is_fieldless_constructor();
  };
  switch (node->kind) {
    case NodeKind::NilLiteral:
    case NodeKind::BoolLiteral:
    case NodeKind::IntLiteral:
    case NodeKind::FloatLiteral:
    case NodeKind::StringLiteral: return true;
    case NodeKind::Unary: return is_negated_number(*static_cast<const UnaryNode*>(node));
    case NodeKind::Name: return fieldless(static_cast<const NameNode*>(node)->binding);
    case NodeKind::Field: return fieldless(static_cast<const FieldNode*>(node)->binding);
    case NodeKind::ListLiteral:
    case NodeKind::MapLiteral:
    case NodeKind::MapEntry:
    case NodeKind::RecordLiteral:
    case NodeKind::RecordField: break;
    default: return false;
  }
  bool all = levels != 0;
  for_each_child(const_cast<Node*>(node), [&](Node*& child) { all = all && is_constant(child, levels - 1); });
  return all;
}

// Called for what stands where it is only looked at, resolved: a list or map of literals is a link there, made once. What runs
// once itself would only make it earlier; an empty one is there to be filled.
void ModuleResolver::share_constant(Node* node) {
  auto* list = as<ListLiteralNode>(node);
  auto* map = as<MapLiteralNode>(node);
  const bool is_filled = list ? !list->items.empty() : map && !map->entries.empty();
  constexpr uint32_t kLevels = 16;  // instantiate.cpp makes them without asking for stack
  if (!is_filled || (scopes_.function().is_top_level && !scopes_.in_loop()) || !is_constant(node, kLevels)) return;
  Link link{.kind = Link::Kind::Container};
  link.literal = node;
  (list ? list->binding : map->binding) = {.kind = BindingKind::Link, .index = scopes_.link(link)};
}

Node* ModuleResolver::copy_literal(const Node& literal, Span span) {
  Arena& arena = module_.arena;
  const auto copy = [&]<class T>(const T& from) {
    T* made = arena.node<T>(span);
    made->value = from.value;
    return made;
  };
  switch (literal.kind) {
    case NodeKind::BoolLiteral:
      return copy(static_cast<const BoolLiteralNode&>(literal));
    case NodeKind::IntLiteral:
      return copy(static_cast<const IntLiteralNode&>(literal));
    case NodeKind::FloatLiteral:
      return copy(static_cast<const FloatLiteralNode&>(literal));
    case NodeKind::StringLiteral: {
      StringLiteralNode* made = copy(static_cast<const StringLiteralNode&>(literal));
      made->value = arena.text(made->value);  // the literal may be another module's
      return made;
    }
    default:
      return arena.node<NilLiteralNode>(span);
  }
}

// ---- what to say ----

void ModuleResolver::report_undefined(Text name, Span span, bool is_assigned) {
  // Past what is shown, searching for suggestions would only cost time.
  std::string hint =
      errors_ < Diagnostics::kMaxDiagnostics ? hint_for_undefined(name) : std::string();
  if (is_assigned && hint.empty()) hint = "`var " + std::string(name) + " = ...` declares a variable";
  error(ErrorCode::NotDefined, span, quoted(name) + " is not defined", std::move(hint));
}

void ModuleResolver::report_module_var(Text name, Span span) {
  error(ErrorCode::ModuleVariable, span,
        "the module's `var` " + quoted(name) + " cannot be used inside a `fn`",
        "pass it as a parameter, make it a `let`, or share it with `let " + std::string(name) +
            " = ref(...)`");
}

std::string ModuleResolver::suggestion(Text name, const std::vector<Text>& candidates) const {
  const std::string_view near = did_you_mean(name, candidates);
  return near.empty() ? std::string() : "did you mean " + quoted(near) + "?";
}

namespace {

// Words of other languages, and what they are called here.
struct ForeignWord {
  Text word;
  Text hint;
};
constexpr std::array kForeignWords = {
    ForeignWord{"null", "it is called `nil` here"},
    ForeignWord{"None", "it is called `nil` here"},
    ForeignWord{"undefined", "it is called `nil` here"},
    ForeignWord{"True", "it is written `true` here"},
    ForeignWord{"False", "it is written `false` here"},
    ForeignWord{"elif", "write `else if`"},
    ForeignWord{"const", "write `let`"},
    ForeignWord{"def", "write `fn`"},
    ForeignWord{"function", "write `fn`"},
    ForeignWord{"switch", "write `match`"},
    ForeignWord{"raise", "write `throw`"},
    ForeignWord{"except", "write `catch`"},
    ForeignWord{"length", "write `len(x)`"},
    ForeignWord{"append", "write `push(&xs, x)`"},
};

}  // namespace

std::string ModuleResolver::hint_for_undefined(Text name) {
  if (std::string later = later_declaration(name); !later.empty()) return later;
  for (const ForeignWord& each : kForeignWords) {
    if (each.word == name) return std::string(each.hint);
  }
  if (types_.contains(name))
    return quoted(name) + " is a type; a value is made by one of its constructors";
  std::string module(name);
  std::ranges::transform(module, module.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (world_.environment.builtin_module(module)) {
    return quoted(module) + " is a module: write `import \"" + module + "\"` first";
  }
  if (const std::string of(world_.environment.module_with(name)); !of.empty()) {
    return "it is of the module " + of + ": write `import \"" + of + "\"` and `" + of + "." + std::string(name) + "`";
  }
  return suggestion(name, visible_names());
}

std::string ModuleResolver::hint_for_export(const Link& module, Text name) {
  if (module.module) {
    for (const FunctionDecl* each : module.module->functions) {
      if (each->name == name) return "write `export` before its `fn` to make it visible";
    }
  }
  return suggestion(name, world_.export_names(module));
}

// A declaration further down in a block that is open here: order matters for locals.
std::string ModuleResolver::later_declaration(Text name) {
  for (auto open = blocks_.rbegin(); open != blocks_.rend(); ++open) {
    const NodeList& statements = open->block->statements;
    for (size_t i = open->statement; i < statements.size(); ++i) {
      Node* statement = statements[i];
      if (const auto* exported = as<ExportedLetNode>(statement)) statement = exported->let;
      if (const auto* function = as<FunctionStatementNode>(statement)) {
        if (function->function->name != name || i == open->statement) continue;
        return quoted(name) + " is declared in line " + line_of(function->span) +
               ", after this use; a local `fn` is made where it is declared";
      }
      const auto* let = as<LetNode>(statement);
      if (!let) continue;
      for (const PatternName& each : names_in(let->pattern)) {
        if (each.name != name) continue;
        if (i != open->statement) {
          return quoted(name) + " is declared in line " + line_of(let->span) + ", after this use";
        }
        return as<LambdaNode>(let->value)
                   ? "a lambda cannot call itself: declare `fn " + std::string(name) + "(...)`"
                   : quoted(name) + " has no value yet: this statement declares it";
      }
    }
  }
  return {};
}

std::vector<Text> ModuleResolver::visible_names() {
  constexpr size_t kMaxVariables = 2000;  // the innermost; generated sources may have any number
  std::vector<Text> names;
  const std::vector<Variable>& variables = scopes_.variables();
  for (size_t i = variables.size(); i-- > 0 && names.size() < kMaxVariables;)
    names.push_back(variables[i].name);
  for (const auto& entry : values_) names.push_back(entry.first);
  if (!scopes_.root_function().is_top_level) {
    for (const ModuleLet& let : lets_) names.push_back(let.name);
  }
  if (sees_session_) {
    const std::vector<Text> session = world_.session_names();
    names.insert(names.end(), session.begin(), session.end());
  }
  const std::vector<Text> builtins = world_.environment.builtin_names();
  names.insert(names.end(), builtins.begin(), builtins.end());
  // Two equally near candidates must not depend on the order of a hash table.
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace posset::syntax
