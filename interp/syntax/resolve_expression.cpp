// The walk over expressions: one case per node, the ones with rules of their own elsewhere. Nodes
// are visited in evaluation order, because links are numbered by first reference. A child is passed
// by reference where it may be replaced (constants, method calls).
#include <unordered_map>

#include "interp/syntax/module_resolver.h"

namespace posset::syntax {

void ModuleResolver::expression(Node*& node) {
  module_.arena.tick();
  switch (node->kind) {
    case NodeKind::NilLiteral:
    case NodeKind::BoolLiteral:
    case NodeKind::IntLiteral:
    case NodeKind::FloatLiteral: return;
    case NodeKind::StringLiteral: return text(static_cast<StringLiteralNode*>(node));
    case NodeKind::Name: return name(node);
    case NodeKind::MethodCall: return method_call(node);
    case NodeKind::Call: return call(static_cast<CallNode*>(node));
    case NodeKind::Field: return field(node);
    case NodeKind::Binary: return binary(static_cast<BinaryNode*>(node));
    case NodeKind::Index: return children(node), share_constant(static_cast<IndexNode*>(node)->base);
    case NodeKind::ListLiteral: return items(static_cast<ListLiteralNode*>(node)->items);
    case NodeKind::RecordLiteral: return record(static_cast<RecordLiteralNode*>(node));
    case NodeKind::Lambda: return function(*static_cast<LambdaNode*>(node)->function, kNone);
    case NodeKind::If: return if_chain(static_cast<IfNode*>(node));
    case NodeKind::Spawn: return spawn(static_cast<SpawnNode*>(node));
    case NodeKind::Interpolation:
    case NodeKind::FormatPart:
    case NodeKind::MapLiteral:
    case NodeKind::MapEntry:
    case NodeKind::RecordField:
    case NodeKind::RangeLiteral:
    case NodeKind::Unary:
    case NodeKind::Logical:
    case NodeKind::OptionalChain:
    case NodeKind::Argument:
    case NodeKind::Await:
    case NodeKind::Throw: return children(node);
    case NodeKind::Spread:
      error(ErrorCode::UnexpectedToken, node->span, "`..` cannot spread here",
            "it stands at the start of a list element, an argument or a record field");
      return children(node);
    case NodeKind::Malformed:
      ++errors_;
      return;  // the parser has reported it
    case NodeKind::Fork:
    case NodeKind::Merge: return;  // only in resolved trees
    case NodeKind::Comprehension:
    case NodeKind::Block:
    case NodeKind::While:
    case NodeKind::For:
    case NodeKind::Match:
    case NodeKind::MatchArm:
    case NodeKind::Try:
    case NodeKind::Return:
    case NodeKind::Break:
    case NodeKind::Continue:
    case NodeKind::With:
    case NodeKind::Let:
    case NodeKind::Assign:
    case NodeKind::DestructuringAssign:
    case NodeKind::PlaceList:
    case NodeKind::FunctionStatement:
    case NodeKind::TypeDeclaration:
    case NodeKind::Import:
    case NodeKind::ExportedLet:
    case NodeKind::WildcardPattern:
    case NodeKind::LiteralPattern:
    case NodeKind::BindingPattern:
    case NodeKind::ListPattern:
    case NodeKind::RestPattern:
    case NodeKind::RecordPattern:
    case NodeKind::RecordPatternField:
    case NodeKind::ConstructorPattern:
    case NodeKind::AlternativePattern: return statement(node);
  }
}

void ModuleResolver::children(Node* node) {
  for_each_child(node, [this](Node*& child) { expression(child); });
}

namespace {

bool only_looks(BinaryOp op) {
  switch (op) {
    case BinaryOp::Eq:
    case BinaryOp::Ne:
    case BinaryOp::Lt:
    case BinaryOp::Le:
    case BinaryOp::Gt:
    case BinaryOp::Ge:
    case BinaryOp::In: return true;
    default: return false;
  }
}

}  // namespace

void ModuleResolver::binary(BinaryNode* node) {
  children(node);
  if (!only_looks(node->op)) return;
  share_constant(node->left);
  share_constant(node->right);
}

// Elements of a list or record: the places where a Spread may stand.
void ModuleResolver::items(const NodeList& list) {
  for (Node*& item : list) {
    if (item->kind == NodeKind::Spread) {
      children(item);
    } else {
      expression(item);
    }
  }
}

void ModuleResolver::record(RecordLiteralNode* node) {
  std::unordered_map<Text, Span> seen;
  for (Node* item : node->fields) {
    const auto* field = as<RecordFieldNode>(item);
    if (!field || seen.try_emplace(field->name, field->span).second) continue;
    error(ErrorCode::DuplicateName, field->span,
          "the field " + quoted(field->name) + " is written twice",
          "leave one of them out; a later spread (`..r`) may replace a field");
  }
  items(node->fields);
}

// An `else if` chain may be longer than the stack is deep, so it is walked in a loop.
void ModuleResolver::if_chain(IfNode* node) {
  for (;;) {
    expression(node->condition);
    expression(node->then_branch);
    if (!node->else_branch) return;
    auto* next = as<IfNode>(node->else_branch);
    if (!next) return expression(node->else_branch);
    node = next;
  }
}

void ModuleResolver::field(Node*& node) {
  auto* self = static_cast<FieldNode*>(node);
  Link module;
  if (!is_module_name(self->base, module)) return expression(self->base);
  const Meaning meaning = bind_module_field(self, module);
  if (meaning.kind == Meaning::Kind::Constant) node = copy_literal(*meaning.constant, self->span);
}

// Is it a name that an `import` bound to a module? (A `let m = math` is an ordinary value.)
bool ModuleResolver::is_module_name(const Node* node, Link& module) {
  const auto* name = as<NameNode>(node);
  if (!name) return false;
  const Meaning meaning = find(name->name);
  if (meaning.kind != Meaning::Kind::Linked || meaning.link.kind != Link::Kind::Module)
    return false;
  module = meaning.link;
  return true;
}

// `module.name`: the base is bound too, though nothing evaluates it. A constant is left to the
// caller.
Meaning ModuleResolver::bind_module_field(FieldNode* field, const Link& module) {
  const Meaning meaning = world_.exported_value(module, field->name);
  field->optional = false;  // a module is never nil
  auto* base = static_cast<NameNode*>(field->base);
  if (meaning.kind == Meaning::Kind::Nothing) {
    error(ErrorCode::NotExported, field->span,
          "module " + quoted(base->name) + " does not export " + quoted(field->name),
          hint_for_export(module, field->name));
    return meaning;
  }
  if (meaning.kind == Meaning::Kind::Constant) return meaning;
  bind(find(base->name), base->name, base->span, base->binding);
  bind(meaning, field->name, field->span, field->binding);
  return meaning;
}

// What a task does to its arguments nobody waits for, so there is nothing to write back to.
void ModuleResolver::spawn(SpawnNode* node) {
  has_spawn_ = true;
  expression(node->call);
  const auto* call = as<CallNode>(node->call);
  if (!call) return;
  for (Node* each : call->arguments) {
    const auto* argument = as<ArgumentNode>(each);
    if (!argument || !argument->inout) continue;
    error(ErrorCode::BadInout, argument->span, "a spawned call cannot take an inout argument (`&`)",
          "let the function return the new value, and `await` it");
  }
}

}  // namespace posset::syntax
