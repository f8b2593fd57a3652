// Marks the self calls in tail position (Call::tail), which run in constant stack. A tail position
// is the function's body and, within one, the last of a block, both branches, match arms and the
// operand of `return`; nothing inside `try`, `with`, `and`, `or`, `??` or an optional chain is one,
// and of a loop only what it returns. Left unmarked are calls that cannot fit the parameters (they
// raise), and inout arguments other than the very parameter they are for. Whether spread arguments
// fit is seen when the call is made.
#include <algorithm>

#include "interp/syntax/module_resolver.h"

namespace posset::syntax {

namespace {

class TailCalls {
 public:
  explicit TailCalls(FunctionDecl& function) : function_(function) {}

  // `tail`: the node's value is the function's. `may_return`: a `return` in it leaves at once.
  void visit(Node* node, bool tail, bool may_return) {
    while (node) {
      switch (node->kind) {
        case NodeKind::Block:
          node = last_statement(static_cast<BlockNode*>(node), may_return);
          continue;
        case NodeKind::If: {
          auto* self = static_cast<IfNode*>(node);
          visit(self->condition, false, may_return);
          visit(self->then_branch, tail, may_return);
          node = self->else_branch;
          continue;
        }
        case NodeKind::Match:
          return match(static_cast<MatchNode*>(node), tail, may_return);
        case NodeKind::Return:
          node = static_cast<ReturnNode*>(node)->value;
          tail = may_return;
          continue;
        case NodeKind::Try:
        case NodeKind::With:
          return inside(node, false);
        case NodeKind::Call:
          if (tail && is_plain_self_call(*static_cast<CallNode*>(node)))
            static_cast<CallNode*>(node)->tail = true;
          return inside(node, may_return);
        case NodeKind::Lambda:
        case NodeKind::FunctionStatement:
          return nested(node);
        default:
          return inside(node, may_return);
      }
    }
  }

 private:
  // Everything but the last statement, which is given back to go on with in the block's own
  // position.
  Node* last_statement(BlockNode* block, bool may_return) {
    const size_t count = block->statements.size();
    for (size_t i = 0; i + 1 < count; ++i) visit(block->statements[i], false, may_return);
    return count == 0 ? nullptr : block->statements[count - 1];
  }

  void match(MatchNode* node, bool tail, bool may_return) {
    visit(node->subject, false, may_return);
    for (Node* each : node->arms) {
      auto* arm = static_cast<MatchArmNode*>(each);
      if (arm->guard) visit(arm->guard, false, may_return);
      visit(arm->body, tail, may_return);
    }
  }

  // No child of the node is in tail position.
  void inside(Node* node, bool may_return) {
    for_each_child(node, [&](Node*& child) { visit(child, false, may_return); });
  }

  void nested(Node* node) {
    if (const auto* lambda = as<LambdaNode>(node)) return mark_tail_calls(*lambda->function);
    const auto* statement = static_cast<FunctionStatementNode*>(node);
    if (statement->binding.kind != BindingKind::None) mark_tail_calls(*statement->function);
  }

  bool is_self(const Node* callee) const {
    const auto* name = as<NameNode>(callee);
    if (!name) return false;
    if (name->binding.kind == BindingKind::Self) return true;
    if (name->binding.kind != BindingKind::Link) return false;
    return function_.links[name->binding.index].function == &function_;
  }

  bool is_plain_self_call(const CallNode& call) const {
    if (!is_self(call.callee) || call.optional) return false;
    const size_t count = call.arguments.size();
    const size_t spread = first_spread(call);
    if (spread == count && count < function_.required) return false;
    if (spread == count && !function_.has_rest && count > function_.parameters.size()) return false;
    for (size_t i = 0; i < count; ++i) {
      const auto& argument = *static_cast<const ArgumentNode*>(call.arguments[i]);
      if (argument.inout ? i > spread || !is_own_inout(argument.value, i) : is_inout(i))
        return false;
    }
    // Behind a spread argument no position is known.
    return spread == count || function_.inout_mask >> std::min<size_t>(spread, 63) == 0;
  }

  static size_t first_spread(const CallNode& call) {
    size_t at = 0;
    while (at < call.arguments.size() &&
           !static_cast<const ArgumentNode*>(call.arguments[at])->spread)
      ++at;
    return at;
  }

  bool is_inout(size_t i) const {
    return i < function_.parameters.size() && function_.parameters[i].inout;
  }

  // The parameter itself, lent in its own position.
  bool is_own_inout(const Node* value, size_t i) const {
    const auto* name = as<NameNode>(value);
    return is_inout(i) && name && name->binding.kind == BindingKind::Local &&
           name->binding.index == i;
  }

  FunctionDecl& function_;
};

}  // namespace

void mark_tail_calls(FunctionDecl& function) {
  TailCalls calls(function);
  for (const Parameter& parameter : function.parameters) {
    if (parameter.fallback) calls.visit(parameter.fallback, false, false);
  }
  calls.visit(function.body, true, true);
}

}  // namespace posset::syntax
