// See facts.h. Trees are at most 1000 levels deep (the parser's bound), so plain recursion is safe.
#include "bytecode/facts.h"

#include <algorithm>
#include <string_view>

namespace posset::bytecode {

using namespace syntax;

namespace {

Node* mutable_node(const Node* node) { return const_cast<Node*>(node); }

template <class Test>
bool any_child(const Node* node, Test&& test) {
  bool found = false;
  for_each_child(mutable_node(node), [&](Node*& child) { found = found || test(child); });
  return found;
}

constexpr std::string_view kPlainBuiltins[] = {"len", "int",  "float", "abs", "floor", "ceil",
                                               "round", "sqrt", "code", "count", "has", "any", "all"};

bool is_plain_type(const TypeExpr* type) {
  if (!type) return false;
  switch (type->kind) {
    case TypeKind::Nil:
    case TypeKind::Bool:
    case TypeKind::Int:
    case TypeKind::Float:
    case TypeKind::Num: return true;
    default: return false;
  }
}

}  // namespace

int64_t local_slot(const Node* node) {
  auto* name = as<NameNode>(node);
  return name && name->binding.kind == BindingKind::Local ? int64_t{name->binding.index} : -1;
}

const NameNode* place_root(const Node* place) {
  for (;;) {
    if (auto* index = as<IndexNode>(place)) {
      place = index->base;
    } else if (auto* field = as<FieldNode>(place)) {
      place = field->base;
    } else {
      return as<NameNode>(place);
    }
  }
}

bool disturbs(const Node* node, uint32_t slot) {
  if (!node) return false;
  auto roots_here = [&](const Node* place) { return local_slot(place_root(place)) == int64_t{slot}; };
  switch (node->kind) {
    case NodeKind::Name: {
      auto* name = static_cast<const NameNode*>(node);
      return name->binding.kind == BindingKind::Local && name->binding.index == slot && name->binding.last_use;
    }
    case NodeKind::Assign:
      if (roots_here(static_cast<const AssignNode*>(node)->place)) return true;
      break;
    case NodeKind::With:
      if (roots_here(static_cast<const WithNode*>(node)->place)) return true;
      break;
    case NodeKind::Argument:
      if (static_cast<const ArgumentNode*>(node)->inout && roots_here(static_cast<const ArgumentNode*>(node)->value)) {
        return true;
      }
      break;
    case NodeKind::PlaceList:
    case NodeKind::Lambda:
    case NodeKind::FunctionStatement: return true;  // may assign it, or move it into a capture
    default: break;
  }
  return any_child(node, [&](const Node* child) { return disturbs(child, slot); });
}

const Binding& container_binding(const Node* node) {
  static constexpr Binding kNone;
  if (auto* list = as<ListLiteralNode>(node)) return list->binding;
  auto* map = as<MapLiteralNode>(node);
  return map ? map->binding : kNone;
}

bool transparent(const Node* node) {
  if (!node || container_binding(node).kind == BindingKind::Link) return true;
  switch (node->kind) {
    case NodeKind::NilLiteral:
    case NodeKind::BoolLiteral:
    case NodeKind::IntLiteral:
    case NodeKind::FloatLiteral:
    case NodeKind::StringLiteral:
    case NodeKind::Name: return true;
    case NodeKind::Unary:
    case NodeKind::Binary:
    case NodeKind::Logical:
    case NodeKind::Index:
    case NodeKind::Field: return !any_child(node, [](const Node* child) { return !transparent(child); });
    default: return false;
  }
}

bool has_tail_call(const Node* node) {
  if (!node) return false;
  if (auto* call = as<CallNode>(node); call && call->tail) return true;
  return any_child(node, [](const Node* child) { return has_tail_call(child); });
}

// ---- plain values ----

Facts::Facts(const FunctionDecl& function) : function_(function), plain_(function.slot_count, true) {
  for (const Parameter& p : function.parameters) {
    if (p.inout || p.rest || !is_plain_type(p.type)) plain_[p.slot] = false;
  }
  if (function.is_top_level) {
    for (const SessionVariable& v : function.module->session_variables) plain_[v.slot] = false;
  }
  do {
    changed_ = false;
    for (const Parameter& p : function.parameters) {
      if (p.pattern) define_pattern(p.pattern, false);
      visit(p.fallback);
    }
    visit(function.body);
  } while (changed_);
}

void Facts::define(uint32_t slot, bool plain) {
  if (plain || slot >= plain_.size() || !plain_[slot]) return;
  plain_[slot] = false;
  changed_ = true;
}

void Facts::define_pattern(Node* pattern, bool plain) {
  if (!pattern) return;
  if (auto* name = as<BindingPatternNode>(pattern)) {
    if (name->binding.kind == BindingKind::Local) define(name->binding.index, plain || is_plain_type(name->type));
    return;
  }
  if (auto* rest = as<RestPatternNode>(pattern)) {
    if (rest->binding.kind == BindingKind::Local) define(rest->binding.index, false);
    return;
  }
  for_each_child(pattern, [&](Node*& child) { define_pattern(child, false); });
}

void Facts::define_place(Node* place) {
  const NameNode* root = place_root(place);
  if (root && root->binding.kind == BindingKind::Local) define(root->binding.index, false);
}

void Facts::visit_assign(const AssignNode& assign) {
  int64_t slot = local_slot(assign.place);
  if (slot < 0) return define_place(assign.place);
  BinaryOp op = operator_of(assign.op);
  bool plain_result = plain(assign.value);
  if (op == BinaryOp::Add) plain_result = plain_result || plain_slot(static_cast<uint32_t>(slot));
  if (op != BinaryOp::Add && op != BinaryOp::None) plain_result = true;
  define(static_cast<uint32_t>(slot), plain_result);
}

void Facts::define_target(Node* target) {
  if (auto* spread = as<SpreadNode>(target)) return define_target(spread->value);
  if (target->kind != NodeKind::PlaceList) return define_place(target);
  for_each_child(target, [&](Node*& child) { define_target(child); });
}

void Facts::visit_destructuring(const DestructuringAssignNode& assign) {
  auto* target = as<PlaceListNode>(assign.target);
  auto* values = as<ListLiteralNode>(assign.value);
  bool pairwise = target && values && target->items.size() == values->items.size() &&
                  std::none_of(values->items.begin(), values->items.end(), [](Node* n) { return as<SpreadNode>(n); });
  if (!target) return;
  for (size_t i = 0; i < target->items.size(); ++i) {
    int64_t slot = local_slot(target->items[i]);
    if (slot >= 0) {
      define(static_cast<uint32_t>(slot), pairwise && plain(values->items[i]));
    } else {
      define_target(target->items[i]);
    }
  }
}

bool Facts::gives_ints(const Node* iterable) const {
  if (as<RangeLiteralNode>(iterable)) return true;
  return false;
}

void Facts::visit(Node* node) {
  if (!node) return;
  switch (node->kind) {
    case NodeKind::Let: {
      auto* let = static_cast<LetNode*>(node);
      define_pattern(let->pattern, plain(let->value));
      break;
    }
    case NodeKind::Assign: visit_assign(*static_cast<AssignNode*>(node)); break;
    case NodeKind::DestructuringAssign: visit_destructuring(*static_cast<DestructuringAssignNode*>(node)); break;
    case NodeKind::For: {
      auto* loop = static_cast<ForNode*>(node);
      for (uint32_t i = 0; i < 3; ++i) define(loop->hidden + i, false);
      define_pattern(loop->pattern, gives_ints(loop->iterable));
      break;
    }
    case NodeKind::Comprehension: {
      auto* loop = static_cast<ComprehensionNode*>(node);
      for (uint32_t i = 0; i < syntax::kComprehensionSlots; ++i) define(loop->hidden + i, false);
      define_pattern(loop->pattern, gives_ints(loop->iterable));
      break;
    }
    case NodeKind::Match: define(static_cast<MatchNode*>(node)->hidden, false); break;
    case NodeKind::MatchArm: define_pattern(static_cast<MatchArmNode*>(node)->pattern, false); break;
    case NodeKind::Try: define_pattern(static_cast<TryNode*>(node)->pattern, false); break;
    case NodeKind::With: {
      auto* with = static_cast<WithNode*>(node);
      define_place(with->place);
      define_pattern(with->pattern, false);
      break;
    }
    case NodeKind::Argument: {
      auto* argument = static_cast<ArgumentNode*>(node);
      if (argument->inout) define_place(argument->value);
      break;
    }
    case NodeKind::FunctionStatement: {
      auto* statement = static_cast<FunctionStatementNode*>(node);
      if (statement->binding.kind == BindingKind::Local) define(statement->binding.index, false);
      break;
    }
    default: break;
  }
  for_each_child(node, [&](Node*& child) { visit(child); });
}

bool Facts::plain_call(const CallNode& call) const {
  auto* name = as<NameNode>(call.callee);
  if (!name || name->binding.kind != BindingKind::Link) return false;
  const Link& link = function_.links[name->binding.index];
  if (link.kind != Link::Kind::Builtin) return false;
  return std::find(std::begin(kPlainBuiltins), std::end(kPlainBuiltins), link.name) != std::end(kPlainBuiltins);
}

bool Facts::plain(const Node* node) const {
  if (!node) return true;
  switch (node->kind) {
    case NodeKind::NilLiteral:
    case NodeKind::BoolLiteral:
    case NodeKind::IntLiteral:
    case NodeKind::FloatLiteral:
    case NodeKind::Unary:
    case NodeKind::Assign:
    case NodeKind::DestructuringAssign:
    case NodeKind::Return:
    case NodeKind::Break:
    case NodeKind::Continue:
    case NodeKind::Throw: return true;
    case NodeKind::Name: return local_slot(node) >= 0 && plain_slot(static_cast<uint32_t>(local_slot(node)));
    case NodeKind::Binary: {
      auto* binary = static_cast<const BinaryNode*>(node);
      return binary->op != BinaryOp::Add || plain(binary->left) || plain(binary->right);
    }
    case NodeKind::Logical: {
      auto* logical = static_cast<const LogicalNode*>(node);
      return logical->op != LogicalOp::Coalesce || (plain(logical->left) && plain(logical->right));
    }
    case NodeKind::If: {
      auto* branch = static_cast<const IfNode*>(node);
      return plain(branch->then_branch) && plain(branch->else_branch);
    }
    case NodeKind::Block: {
      auto* block = static_cast<const BlockNode*>(node);
      return block->statements.empty() || plain(block->statements[block->statements.size() - 1]);
    }
    case NodeKind::Fork:
    case NodeKind::Merge: return plain(unwrapped(node));
    case NodeKind::Call: return plain_call(*static_cast<const CallNode*>(node));
    default: return false;
  }
}

}  // namespace posset::bytecode
