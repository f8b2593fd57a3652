// The tree as text, for `posset dump --tree` and for tests. One node a line, indented by depth:
//
//   Binary + site=2
//     left: Name x local 0 last
//     right: IntLiteral 1
//
// A lone property is printed bare, the others as name=value; those that are false, empty or
// unresolved are left out. Nested functions are printed where they stand. The printer is made from
// nodes.def, so a new node needs nothing here. A chain of `else if` stays on its level and is
// walked in a loop, because it may be of any length.
#include <charconv>
#include <string>

#include "interp/syntax/parser.h"
#include "interp/syntax/utf8.h"

namespace posset::syntax {

namespace {

constexpr size_t kLongestText = 200;

const char* name_of(TypeKind kind) {
  switch (kind) {
    case TypeKind::Nil:
      return "nil";
    case TypeKind::Bool:
      return "bool";
    case TypeKind::Int:
      return "int";
    case TypeKind::Float:
      return "float";
    case TypeKind::Str:
      return "str";
    case TypeKind::Num:
      return "num";
    case TypeKind::List:
      return "list";
    case TypeKind::Map:
      return "map";
    case TypeKind::Record:
      return "record";
    case TypeKind::Fn:
      return "fn";
    case TypeKind::Range:
      return "range";
    case TypeKind::Any:
      return "any";
    case TypeKind::Task:
      return "task";
    case TypeKind::Chan:
      return "chan";
    case TypeKind::Ref:
      return "ref";
    case TypeKind::Error:
      return "error";
    case TypeKind::Module:
      return "module";
    case TypeKind::ListOf:
    case TypeKind::Optional:
    case TypeKind::Declared:
      break;
  }
  return "";
}

std::string show(const TypeExpr* type) {
  if (!type) return {};
  if (type->kind == TypeKind::ListOf) return "[" + show(type->element) + "]";
  if (type->kind == TypeKind::Optional) return show(type->element) + "?";
  if (type->kind != TypeKind::Declared) return name_of(type->kind);
  return type->module.empty() ? std::string(type->name)
                              : std::string(type->module) + "." + std::string(type->name);
}

std::string quoted_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : clip(text, kLongestText)) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += "\\?";
    } else {
      out += c;
    }
  }
  return out + (text.size() > kLongestText ? "...\"" : "\"");
}

std::string show(double value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  std::string out(digits, end);
  const bool looks_like_int = out.find_first_of(".en") == std::string::npos;
  return looks_like_int ? out + ".0" : out;
}

std::string show(const FormatSpec& spec) {
  if (!spec.present) return {};
  std::string out = ":";
  if (spec.align && std::string_view(spec.fill) != " ") out += spec.fill;
  if (spec.align) out += spec.align;
  if (spec.plus) out += '+';
  if (spec.zero) out += '0';
  if (spec.width != 0) out += std::to_string(spec.width);
  if (spec.precision >= 0) out += "." + std::to_string(spec.precision);
  if (spec.type) out += spec.type;
  return out;
}

std::string show(const Binding& binding) {
  std::string out;
  switch (binding.kind) {
    case BindingKind::None:
      return {};
    case BindingKind::Local:
      out = "local:";
      break;
    case BindingKind::Captured:
      out = "captured:";
      break;
    case BindingKind::Self:
      return "self";
    case BindingKind::Link:
      out = "link:";
      break;
  }
  out += std::to_string(binding.index);
  if (binding.last_use) out += ",last";
  if (binding.is_var) out += ",var";
  if (binding.first_use_unset) out += ",maybe_unset";
  return out;
}

std::string show(CallForm form) {
  if (form == CallForm::Plain) return {};
  return form == CallForm::Method ? "method" : "piped";
}

std::string show(bool value) { return value ? "true" : ""; }
std::string show(int64_t value) { return std::to_string(value); }
std::string show(uint32_t value) { return value == 0 ? "" : std::to_string(value); }
std::string show(Text value) { return std::string(clip(value, kLongestText)); }
std::string show(BinaryOp op) { return spelling(op); }
std::string show(LogicalOp op) { return spelling(op); }
std::string show(UnaryOp op) { return spelling(op); }
std::string show(AssignOp op) { return spelling(op); }
std::string show(const Span&) { return {}; }

class Printer {
 public:
  std::string take() { return std::move(out_); }

  void function(const FunctionDecl& decl, int depth) {
    indent(depth);
    out_ += decl.is_top_level ? "top" : decl.is_lambda ? "lambda" : "fn " + std::string(decl.name);
    if (decl.declared_pure) out_ += " pure";
    if (!decl.is_top_level) parameters(decl);
    if (decl.result) out_ += " -> " + show(decl.result);
    if (decl.slot_count != 0) out_ += " slots=" + std::to_string(decl.slot_count);
    for (const Capture& each : decl.captures) out_ += " captures:" + std::string(each.name);
    out_ += '\n';
    for (const Parameter& each : decl.parameters) {
      if (each.pattern) node("pattern", each.pattern, depth + 1);
      if (each.fallback) node("default", each.fallback, depth + 1);
    }
    if (decl.body) node("", decl.body, depth + 1);
  }

 private:
  void indent(int depth) { out_.append(static_cast<size_t>(depth) * 2, ' '); }

  void parameters(const FunctionDecl& decl) {
    out_ += '(';
    const char* separator = "";
    for (const Parameter& each : decl.parameters) {
      out_ += separator;
      if (each.inout) out_ += "inout ";
      if (each.rest) out_ += "..";
      out_ += each.name.empty() ? "_" : std::string(each.name);
      if (each.type) out_ += ": " + show(each.type);
      if (each.fallback) out_ += " = ...";
      separator = ", ";
    }
    out_ += ')';
  }

  void node(const char* label, const Node* node, int depth) {
    while (node) {
      const auto* choice = as<IfNode>(node);
      const bool goes_on = choice && as<IfNode>(choice->else_branch);
      line(label, node, depth);
      children(node, depth + 1, goes_on);
      // The rest of the chain is this one's else branch: said on the same level.
      node = goes_on ? choice->else_branch : nullptr;
      label = "else";
    }
  }

  void line(const char* label, const Node* node, int depth) {
    indent(depth);
    if (*label) out_ += std::string(label) + ": ";
    out_ += syntax::name_of(node->kind);
    properties(node);
    if (node->site != 0) out_ += " site=" + std::to_string(node->site);
    out_ += '\n';
  }

  // The first property stands bare, as it says which node of its kind it is.
  void property(const char* name, const std::string& shown, bool& first) {
    if (shown.empty()) return;
    out_ += ' ';
    if (shown == "true") {
      out_ += name;
    } else {
      out_ += first ? shown : std::string(name) + "=" + shown;
    }
    first = false;
  }
  template <class T>
  void property(const char* name, const T& value, bool& first) {
    property(name, show(value), first);
  }
  void property(const char*, FunctionDecl* const&, bool&) {}
  void property(const char* name, TypeDecl* const& type, bool& first) {
    property(name, std::string(type->name), first);
  }
  void property(const char* name, ImportDecl* const& import, bool& first) {
    property(name, quoted_text(import->path) + " " + std::string(import->alias), first);
  }
  void property(const char* name, TypeExpr* const& type, bool& first) {
    if (type) first = false;
    property(name, show(type), first);
  }

  void properties(const Node* node) {
    if (const auto* string = as<StringLiteralNode>(node)) {
      out_ += " " + quoted_text(string->value);
      return;
    }
    if (const auto* literal = as<BoolLiteralNode>(node)) {
      out_ += literal->value ? " true" : " false";
      return;
    }
    if (const auto* fork = as<ForkNode>(node)) {
      out_ += " " + std::to_string(fork->first) + ".." + std::to_string(fork->first + fork->count);
      return;
    }
    if (const auto* merge = as<MergeNode>(node)) {
      out_ += " " + std::to_string(merge->point);
      return;
    }
    [[maybe_unused]] bool first = true;
    switch (node->kind) {
#define CHILD(name)
#define CHILDREN(name)
#define VALUE(type, name) property(#name, self->name, first);
#define NAME(name) property(#name, self->name, first);
#define NOTE(type, name) property(#name, self->name, first);
#define NODE(Name, fields)                                                    \
  case NodeKind::Name: {                                                      \
    [[maybe_unused]] const auto* self = static_cast<const Name##Node*>(node); \
    fields break;                                                             \
  }
#include "interp/syntax/nodes.def"
#undef NODE
#undef CHILD
#undef CHILDREN
#undef VALUE
#undef NAME
#undef NOTE
    }
  }

  void nested(const Node* node, int depth) {
    const FunctionDecl* decl = nullptr;
    if (const auto* lambda = as<LambdaNode>(node)) decl = lambda->function;
    if (const auto* statement = as<FunctionStatementNode>(node)) decl = statement->function;
    if (decl) function(*decl, depth);
  }

  void children(const Node* node, int depth, bool without_else) {
    nested(node, depth);
    switch (node->kind) {
#define CHILD(name)                                                              \
  if (self->name && !(without_else && std::string_view(#name) == "else_branch")) \
    this->node(#name, self->name, depth);
#define CHILDREN(name) \
  for (const Node* child : self->name) this->node("", child, depth);
#define VALUE(type, name)
#define NAME(name)
#define NOTE(type, name)
#define NODE(Name, fields)                                                    \
  case NodeKind::Name: {                                                      \
    [[maybe_unused]] const auto* self = static_cast<const Name##Node*>(node); \
    fields break;                                                             \
  }
#include "interp/syntax/nodes.def"
#undef NODE
#undef CHILD
#undef CHILDREN
#undef VALUE
#undef NAME
#undef NOTE
    }
  }

  std::string out_;
};

}  // namespace

std::string print_tree(const FunctionDecl& function) {
  Printer printer;
  printer.function(function, 0);
  return printer.take();
}

std::string print_tree(const Module& module) {
  return module.top ? print_tree(*module.top) : std::string();
}

}  // namespace posset::syntax
