// Tier 0: names, operators, conditions, reading indexes and fields.
#include "interp/walk/walker.h"

namespace posset::interp {

using namespace syntax;

Value Walker::visit(const NameNode& node) {
  const Binding& binding = node.binding;
  switch (binding.kind) {
    case BindingKind::Local: {
      Borrowed& slot = frame_[binding.index];
      return binding.last_use ? Value::adopt(std::exchange(slot, Borrowed::nil()))
                              : Value::copy(slot);
    }
    case BindingKind::Captured:
      return Value::copy(closure_->captured()[binding.index]);
    case BindingKind::Self:
      return Value::copy(Borrowed::heap(Tag::Fn, closure_));
    case BindingKind::Link:
      return link_value(binding.index);
    case BindingKind::None:
      break;
  }
  return context_.raise(ErrorCode::HostError, "'" + std::string(node.name) + "' is not resolved");
}

// ---- operators ----

Value Walker::visit(const UnaryNode& node) {
  Value operand = eval(node.operand);
  return operand.failed() ? std::move(operand) : unary(context_, node.op, operand);
}

Value Walker::visit(const BinaryNode& node) {
  Value left = eval(node.left);
  if (left.failed()) return left;
  Value right = eval(node.right);
  if (right.failed()) return right;
  return binary(context_, node.op, std::move(left), right);
}

Value Walker::visit(const LogicalNode& node) {
  if (node.op == LogicalOp::Coalesce) {
    Value left = eval(node.left);
    return left.failed() || !left->is_nil() ? std::move(left) : eval(node.right);
  }
  const int truth = condition(&node);
  return truth < 0 ? Value::failure() : Value::boolean(truth);
}

int Walker::condition(const Node* node, Asker asker, const Node* blamed) {
  if (context_.native.low()) [[unlikely]] {
    Value v = context_.on_fresh_stack([&] {
      const int truth = condition(node, asker, blamed);
      return truth < 0 ? Value::failure() : Value::boolean(truth);
    });
    if (!v.failed()) return v->as_bool();
    if (signal_ == Signal::None) note(node);
    return -1;
  }
  if (auto* negated = as<UnaryNode>(node); negated && negated->op == UnaryOp::Not) {
    const int truth = condition(negated->operand, Asker::Not, node);
    return truth < 0 ? truth : 1 - truth;
  }
  if (auto* logical = as<LogicalNode>(node); logical && logical->op != LogicalOp::Coalesce) {
    const int left = condition(logical->left, left_of(logical->op), node);
    const int deciding = logical->op == LogicalOp::Or;
    return left < 0 || left == deciding ? left : condition(logical->right, right_of(logical->op), node);
  }
  Value v = eval(node);
  if (v->is_bool()) [[likely]]
    return v->as_bool();
  if (v.failed()) return -1;
  expect_bool(context_, v, asker);
  note(blamed);
  return -1;
}

// ---- reading containers ----

Value Walker::visit(const IndexNode& node) {
  if (auto* range = as<RangeLiteralNode>(node.index); range && !node.fallback)
    return index_slice(node, *range);
  Value base = eval(node.base);
  if (base.failed()) return base;
  Value index = eval(node.index);
  if (index.failed()) return index;
  if (!node.fallback) return load_index(context_, base, index);
  Value found = load_index_or_unset(context_, base, index);
  if (!found->is_unset()) return found;
  // Nothing of the container is kept while the default is evaluated.
  base = Value();
  index = Value();
  return eval(node.fallback);
}

// xs[a..b] with a range that is written out: the whole operation is to blame for its bounds.
Value Walker::index_slice(const IndexNode& node, const RangeLiteralNode& range) {
  Value base = eval(node.base);
  if (base.failed()) return base;
  Value first = eval(range.first);
  if (first.failed()) return first;
  Value last = eval(range.last);
  if (last.failed()) return last;
  Value bounds = make_range(context_, first, last, range.inclusive);
  return bounds.failed() ? std::move(bounds) : load_index(context_, base, bounds);
}

Value Walker::visit(const FieldNode& node) {
  if (node.binding.kind == BindingKind::Link) return link_value(node.binding.index);
  Value base = eval(node.base);
  if (base.failed()) return base;
  if (node.optional && base->is_nil()) return stop(Signal::NilChain, Value());
  return load_field(context_, base, symbol(node.name));
}

Value Walker::visit(const OptionalChainNode& node) {
  Value v = eval(node.chain);
  if (signal_ != Signal::NilChain) [[likely]]
    return v;
  signal_ = Signal::None;
  return Value();
}

}  // namespace posset::interp
