// Which reads of a local are the last on every path, so that the value can be moved out of its
// slot: backward liveness over the tree. `live_` is the set of slots that are read again before
// they are bound anew, as seen from the point the walk has reached; nodes are visited last
// evaluated first.
//
// - Jumps: `break`, `continue` and `?.` continue with the set at their target, `return` and `throw`
// with
//   the empty set.
// - `pinned_` holds what is live wherever control may go unseen: what a handler reads, throughout
// its
//   `try` (anything may raise); root and name of a `with` throughout its block (written back
//   however it ends); inout parameters and session variables throughout the function, for the same
//   reason; and what may hold the handle of a task (task_holders.h).
// - Loops: the set at the head is the fixpoint of the body. As every path into the body counts on
// its
//   own, it is reached after one walk from the empty set; so a loop is walked once without marking
//   to find it and once with. A walk without marking does not walk inner loops twice, which keeps
//   nested loops at depth times size instead of two to the depth.
// - Roots of places that are assigned or lent are read, but never moved. A default inside such a
// place is
//   evaluated later than it stands (language.md section 4), so nothing is moved in it either, and
//   what it reads counts as read at the end of the construct.
#include "interp/syntax/liveness.h"

#include "interp/syntax/resolver.h"
#include "interp/syntax/task_holders.h"

namespace posset::syntax {

void Liveness::run() {
  for (const Parameter& each : function_.parameters) {
    if (each.inout) pinned_.add(each.slot);
  }
  if (function_.is_top_level) {
    for (const SessionVariable& each : function_.module->session_variables) pinned_.add(each.slot);
  }
  add_task_holders(function_, pinned_);
  if (function_.body) visit(function_.body);
  for (size_t i = function_.parameters.size(); i-- > 0;) parameter(function_.parameters[i]);
}

void Liveness::parameter(const Parameter& parameter) {
  if (parameter.pattern) visit(parameter.pattern);
  if (!parameter.fallback) return;
  const SlotSet without = live_;
  visit(parameter.fallback);
  live_.add(without);
}

// ---- slots ----

void Liveness::bind(const Binding& binding) {
  if (binding.kind == BindingKind::Local) live_.remove(binding.index);
}

void Liveness::read(const Binding& binding) {
  if (binding.kind == BindingKind::Local) live_.add(binding.index);
}

void Liveness::name(NameNode* node) {
  Binding& binding = node->binding;
  if (binding.kind != BindingKind::Local) return;
  if (marking_) binding.last_use = !live_.has(binding.index) && !pinned_.has(binding.index);
  live_.add(binding.index);
}

// Making a closure reads what it captures.
void Liveness::read_captures(const FunctionDecl& closure) {
  // The captures belong to the nested function, but whether they may be moved is known only here.
  auto& captures = const_cast<FunctionDecl&>(closure).captures;
  for (Capture& each : captures) {
    if (each.from != Capture::From::Local) continue;
    if (marking_) each.last_use = !live_.has(each.index) && !pinned_.has(each.index);
    live_.add(each.index);
  }
}

// ---- the walk ----

void Liveness::visit(Node* node) {
  function_.module->arena.tick();
  switch (node->kind) {
    case NodeKind::Name:
      return name(static_cast<NameNode*>(node));
    case NodeKind::Lambda:
      return read_captures(*static_cast<LambdaNode*>(node)->function);
    case NodeKind::FunctionStatement: {
      auto* self = static_cast<FunctionStatementNode*>(node);
      if (self->binding.kind == BindingKind::None) return;  // module level
      bind(self->binding);
      return read_captures(*self->function);
    }
    case NodeKind::BindingPattern:
      return bind(static_cast<BindingPatternNode*>(node)->binding);
    case NodeKind::RestPattern:
      return bind(static_cast<RestPatternNode*>(node)->binding);
    case NodeKind::Block:
      return visit_all(static_cast<BlockNode*>(node)->statements);
    case NodeKind::Call:
      return call(static_cast<CallNode*>(node));
    case NodeKind::If:
      return branch(static_cast<IfNode*>(node));
    case NodeKind::Match:
      return match(static_cast<MatchNode*>(node));
    case NodeKind::Try:
      return try_catch(static_cast<TryNode*>(node));
    case NodeKind::With:
      return with(static_cast<WithNode*>(node));
    case NodeKind::Index:
      return index(static_cast<IndexNode*>(node));
    case NodeKind::Field:
      return field(static_cast<FieldNode*>(node));
    case NodeKind::OptionalChain:
      return chain(static_cast<OptionalChainNode*>(node));
    case NodeKind::Logical:
      return logical(static_cast<LogicalNode*>(node));
    case NodeKind::While:
      return while_loop(static_cast<WhileNode*>(node));
    case NodeKind::For:
      return for_loop(static_cast<ForNode*>(node));
    case NodeKind::Comprehension:
      return comprehension(static_cast<ComprehensionNode*>(node));
    case NodeKind::Assign:
      return assign(static_cast<AssignNode*>(node));
    case NodeKind::PlaceList:
      return store_list(static_cast<PlaceListNode*>(node));
    case NodeKind::Return:
    case NodeKind::Throw:
      live_.clear();
      return visit_children(node);
    case NodeKind::Break:
      live_ = break_;
      return visit_children(node);
    case NodeKind::Continue:
      live_ = continue_;
      return;
    default:
      return visit_children(node);
  }
}

void Liveness::visit_all(const NodeList& nodes) {
  for (size_t i = nodes.size(); i-- > 0;) visit(nodes[i]);
}

// Children from last to first.
void Liveness::visit_children(Node* node) {
  constexpr size_t kInline = 8;  // most nodes have few; only lists have more
  Node* few[kInline];
  std::vector<Node*> many;
  size_t count = 0;
  for_each_child(node, [&](Node*& child) {
    if (count < kInline) {
      few[count] = child;
    } else {
      many.push_back(child);
    }
    ++count;
  });
  for (size_t i = many.size(); i-- > 0;) visit(many[i]);
  for (size_t i = count < kInline ? count : kInline; i-- > 0;) visit(few[i]);
}

// ---- branches ----

void Liveness::branch(IfNode* node) {
  // The chain's conditions are evaluated top down, so they are collected first and left bottom up.
  std::vector<IfNode*> links;
  Node* last = node;
  while (auto* link = as<IfNode>(last)) {
    links.push_back(link);
    last = link->else_branch;
  }
  const SlotSet after = live_;
  if (last) visit(last);
  for (size_t i = links.size(); i-- > 0;) {
    const SlotSet otherwise = live_;
    live_ = after;
    visit(links[i]->then_branch);
    live_.add(otherwise);
    visit(links[i]->condition);
  }
}

void Liveness::match(MatchNode* node) {
  const SlotSet after = live_;
  SlotSet next(slots_);  // where no arm fits, an error is raised
  for (size_t i = node->arms.size(); i-- > 0;) {
    auto* arm = static_cast<MatchArmNode*>(node->arms[i]);
    live_ = after;
    visit(arm->body);
    if (arm->guard) {
      live_.add(next);
      visit(arm->guard);
    }
    visit(arm->pattern);
    live_.add(next);
    next = live_;
  }
  live_ = next;
  visit(node->subject);
}

void Liveness::try_catch(TryNode* node) {
  const SlotSet after = live_;
  if (node->handler) visit(node->handler);
  if (node->pattern) visit(node->pattern);
  const SlotSet handler = live_;
  const SlotSet pinned = pinned_;
  pinned_.add(handler);
  live_ = after;
  visit(node->body);
  live_.add(handler);
  pinned_ = pinned;
}

void Liveness::logical(LogicalNode* node) {
  const SlotSet after = live_;
  visit(node->right);
  live_.add(after);
  visit(node->left);
}

// A default is evaluated only when the key is missing.
void Liveness::index(IndexNode* node) {
  if (node->fallback) {
    const SlotSet after = live_;
    visit(node->fallback);
    live_.add(after);
  }
  if (node->index) visit(node->index);
  visit(node->base);
}

void Liveness::chain(OptionalChainNode* node) {
  const SlotSet outer = chain_end_;
  chain_end_ = live_;
  visit(node->chain);
  chain_end_ = outer;
}

void Liveness::field(FieldNode* node) {
  if (node->optional) live_.add(chain_end_);
  visit(node->base);
}

// ---- loops ----

// `round` walks one round, from the end of the body to the head, where `continue_` is live
// afterwards. On return live_ is what is live at the head.
template <class Round>
void Liveness::loop(Round&& round) {
  const SlotSet outer_break = break_;
  const SlotSet outer_continue = continue_;
  break_ = live_;
  continue_.clear();
  const bool marking = marking_;
  marking_ = false;
  round();
  marking_ = marking;
  if (marking) {
    continue_ = live_;
    round();
  }
  break_ = outer_break;
  continue_ = outer_continue;
}

void Liveness::while_loop(WhileNode* node) {
  loop([&] {
    live_ = continue_;
    visit(node->body);
    live_.add(break_);
    visit(node->condition);
  });
}

void Liveness::lets(const NodeList& list) {
  for (size_t i = list.size(); i-- > 0;) visit(list[i]);
}

void Liveness::for_loop(ForNode* node) {
  loop([&] {
    live_ = continue_;
    visit(node->body);
    lets(node->lets);
    visit(node->pattern);
    live_.add(break_);
  });
  visit(node->iterable);
}

void Liveness::comprehension(ComprehensionNode* node) {
  loop([&] {
    live_ = continue_;
    visit(node->body);
    if (node->condition) {
      live_.add(continue_);
      visit(node->condition);
    }
    lets(node->lets);
    visit(node->pattern);
    live_.add(break_);
  });
  visit(node->iterable);
}

void mark_last_uses(FunctionDecl& function) { Liveness(function).run(); }

}  // namespace posset::syntax
