// Serialises resolved functions: see canonical_form.h. The field macros of nodes.def make the walk,
// so a new node or field enters by itself; a NOTE needs a `note_NAME` here that says whether it
// belongs to the meaning.
#include "interp/syntax/canonical_form.h"

#include <algorithm>
#include <cstring>

namespace posset::syntax {

namespace {

constexpr size_t kReferenceSize = 17;

class FormWriter {
 public:
  FormWriter(const FunctionDecl& function, CanonicalForms& forms, CanonicalForm& out)
      : function_(function), forms_(forms), out_(out) {}

  void function();
  void loop(const Node& node);

 private:
  void byte(uint8_t value) { out_.bytes.push_back(static_cast<char>(value)); }
  template <class T>
  void raw(const T& value) {
    char buffer[sizeof(T)];
    std::memcpy(buffer, &value, sizeof(T));
    out_.bytes.append(buffer, sizeof(T));
  }
  void number(uint32_t value) { raw(value); }

  void node(const Node* node);
  void fields(const Node* node);
  void list(const NodeList& nodes) {
    number(nodes.count);
    for (const Node* each : nodes) node(each);
  }
  void function_statement(const FunctionStatementNode& statement);

  void value(bool value) { byte(value); }
  void value(int64_t value) { raw(value); }
  void value(uint32_t value) { raw(value); }
  void value(double value) { raw(value); }
  void value(Text text) {
    number(static_cast<uint32_t>(text.size()));
    out_.bytes.append(text);
  }
  void value(UnaryOp op) { byte(static_cast<uint8_t>(op)); }
  void value(BinaryOp op) { byte(static_cast<uint8_t>(op)); }
  void value(LogicalOp op) { byte(static_cast<uint8_t>(op)); }
  void value(AssignOp op) { byte(static_cast<uint8_t>(op)); }
  void value(CallForm form) { byte(static_cast<uint8_t>(form)); }
  void value(const Span&) {}  // only in MethodCall, which is gone
  void value(const FormatSpec& spec);
  void value(const TypeExpr* type);

  void note_binding(const Binding& binding);
  void note_hidden(uint32_t slot) { number(slot); }
  void note_division(uint32_t division) { number(division); }
  void note_tail(bool tail) { byte(tail); }
  void note_is_loop(bool is_loop) { byte(is_loop); }
  void note_loop(uint32_t) {}   // follows from the order
  void note_is_statement(bool) {}  // follows from where it stands
  void note_child(uint32_t) {}  // likewise
  void note_function(const FunctionDecl* child) { nested(*child); }
  void note_type(const TypeDecl* type);
  void note_import(const ImportDecl* import) { value(import->path); }

  void parameter(const Parameter& parameter);
  void nested(const FunctionDecl& child);
  void link(const Link& link);

  const FunctionDecl& function_;
  CanonicalForms& forms_;
  CanonicalForm& out_;
  std::vector<uint32_t> used_links_;
};

// ---- nodes ----

void FormWriter::node(const Node* node) {
  while (node) {
    byte(static_cast<uint8_t>(static_cast<uint8_t>(node->kind) + 1));
    const auto* branch = as<IfNode>(node);
    if (!branch) return fields(node);
    this->node(branch->condition);  // `else if` chains are followed without recursion
    this->node(branch->then_branch);
    node = branch->else_branch;
  }
  byte(0);
}

void FormWriter::fields(const Node* node) {
  if (const auto* statement = as<FunctionStatementNode>(node))
    return function_statement(*statement);
  switch (node->kind) {
#define CHILD(name) this->node(self->name);
#define CHILDREN(name) list(self->name);
#define VALUE(type, name) value(self->name);
#define NAME(name)
#define NOTE(type, name) note_##name(self->name);
#define NODE(Name, row)                                                 \
  case NodeKind::Name: {                                                \
    [[maybe_unused]] auto* self = static_cast<const Name##Node*>(node); \
    row return;                                                         \
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

// A module-level fn is a unit of its own and no part of the top level.
void FormWriter::function_statement(const FunctionStatementNode& statement) {
  note_binding(statement.binding);
  if (statement.binding.kind != BindingKind::None) nested(*statement.function);
}

void FormWriter::note_binding(const Binding& binding) {
  byte(static_cast<uint8_t>(binding.kind));
  if (binding.kind == BindingKind::None) return;
  byte(static_cast<uint8_t>(binding.last_use | binding.is_var << 1 | binding.first_use_unset << 2));
  number(binding.index);
  if (binding.kind == BindingKind::Link) used_links_.push_back(binding.index);
}

void FormWriter::note_type(const TypeDecl* type) {
  value(type->name);
  number(static_cast<uint32_t>(type->constructors.size()));
  for (const ConstructorDecl& constructor : type->constructors) {
    value(constructor.name);
    number(static_cast<uint32_t>(constructor.fields.size()));
    for (const Parameter& field : constructor.fields) {
      value(field.name);  // a field's name is seen by `c.r`
      parameter(field);
    }
  }
}

void FormWriter::value(const FormatSpec& spec) {
  value(Text(spec.fill));
  byte(static_cast<uint8_t>(spec.align));
  byte(static_cast<uint8_t>(spec.plus | spec.zero << 1 | spec.present << 2));
  byte(static_cast<uint8_t>(spec.type));
  raw(spec.width);
  raw(spec.precision);
}

void FormWriter::value(const TypeExpr* type) {
  for (; type; type = type->element) {
    byte(static_cast<uint8_t>(static_cast<uint8_t>(type->kind) + 1));
    if (type->kind == TypeKind::Declared) note_binding(type->binding);
  }
  byte(0);
}

// ---- functions ----

void FormWriter::parameter(const Parameter& parameter) {
  byte(static_cast<uint8_t>(parameter.inout | parameter.rest << 1));
  value(parameter.type);
  node(parameter.fallback);
  node(parameter.pattern);
}

void FormWriter::function() {
  byte(function_.is_top_level);
  number(static_cast<uint32_t>(function_.parameters.size()));
  for (const Parameter& each : function_.parameters) parameter(each);
  value(function_.result);
  number(static_cast<uint32_t>(function_.captures.size()));
  number(function_.slot_count);
  node(function_.body);
  number(static_cast<uint32_t>(function_.links.size()));
  for (const Link& each : function_.links) link(each);
}

// What a nested function is, and from where its captures are taken. The latter is no part of its
// own form: two closures of one structure share code wherever they are made.
void FormWriter::nested(const FunctionDecl& child) {
  const CanonicalForm& form = forms_.of(child);
  number(static_cast<uint32_t>(form.bytes.size()));
  const size_t offset = out_.bytes.size();
  out_.bytes += form.bytes;
  for (const auto& each : form.references)
    out_.references.push_back({offset + each.offset, each.callee});
  for (const Capture& each : child.captures) {
    byte(static_cast<uint8_t>(each.from));
    byte(each.last_use);
    number(each.index);
  }
}

// A module is known by what is taken from it, not by its path, so it enters without one.
void FormWriter::link(const Link& link) {
  byte(static_cast<uint8_t>(link.kind));
  switch (link.kind) {
    case Link::Kind::Function:
      out_.references.push_back({out_.bytes.size(), link.function});
      out_.bytes.append(kReferenceSize, '\0');
      return;
    case Link::Kind::Global:
      byte(link.module != nullptr);
      number(link.index);
      return;
    case Link::Kind::Builtin:
    case Link::Kind::HostGlobal:
    case Link::Kind::Literal:
      return value(link.name);
    case Link::Kind::Container:
      return;  // its elements are in the tree, where it stands
    case Link::Kind::BuiltinExport:
      value(link.owner);
      return value(link.name);
    case Link::Kind::Constructor: {
      const ConstructorDecl& constructor = link.type->constructors[link.index];
      value(link.type->name);
      value(constructor.name);
      return number(static_cast<uint32_t>(constructor.fields.size()));
    }
    case Link::Kind::Type:
      return value(link.type->name);
    case Link::Kind::Module:
      return value(link.owner);
  }
}

// A loop runs in its function's frame, and a `return` in it is the function's.
void FormWriter::loop(const Node& loop) {
  byte(function_.is_top_level);
  raw(function_.inout_mask);
  number(function_.slot_count);
  value(function_.result);
  node(&loop);
  std::sort(used_links_.begin(), used_links_.end());
  used_links_.erase(std::unique(used_links_.begin(), used_links_.end()), used_links_.end());
  for (const uint32_t each : used_links_) {
    number(each);
    link(function_.links[each]);
  }
}

}  // namespace

void write_hash(std::string& bytes, size_t offset, const StructuralHash& hash) {
  bytes[offset] = 'F';
  std::memcpy(&bytes[offset + 1], &hash.low, 8);
  std::memcpy(&bytes[offset + 9], &hash.high, 8);
}

void write_group_number(std::string& bytes, size_t offset, uint32_t number) {
  std::memset(&bytes[offset], 0, kReferenceSize);
  bytes[offset] = 'G';
  std::memcpy(&bytes[offset + 1], &number, sizeof number);
}

const CanonicalForm& CanonicalForms::of(const FunctionDecl& function) {
  const auto found = forms_.find(&function);
  if (found != forms_.end()) return found->second;
  CanonicalForm form;
  FormWriter(function, *this, form).function();
  return forms_[&function] = std::move(form);
}

CanonicalForm CanonicalForms::of_loop(const FunctionDecl& function, const Node& loop) {
  CanonicalForm form;
  FormWriter(function, *this, form).loop(loop);
  return form;
}

}  // namespace posset::syntax
