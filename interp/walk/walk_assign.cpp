// Tier 0: assignment: plain, compound, `??=`, destructuring. The order: the indexes of the place,
// then (for a compound one) the old value, then the right side, then the store.
#include "interp/runtime/messages.h"
#include "interp/runtime/place.h"
#include "interp/runtime/work.h"
#include "interp/value/list.h"
#include "interp/walk/walker.h"

namespace posset::interp {

using namespace syntax;

namespace {

// A literal or variable on the right cannot change anything, so the old value is read with the
// store.
bool cannot_disturb(const Node* right) {
  switch (right->kind) {
    case NodeKind::NilLiteral:
    case NodeKind::BoolLiteral:
    case NodeKind::IntLiteral:
    case NodeKind::FloatLiteral:
    case NodeKind::StringLiteral:
      return true;
    case NodeKind::Name:
      return static_cast<const NameNode*>(right)->binding.kind == BindingKind::Local;
    default:
      return false;
  }
}

}  // namespace

Value Walker::visit(const AssignNode& node) {
  if (node.op == AssignOp::Coalesce) return assign_coalesce(node);
  if (node.op != AssignOp::Set) return compound(node);
  if (auto* name = as<NameNode>(node.place)) {
    if (Borrowed* slot = assignable_slot(*name)) {
      Value v = eval(node.value);
      if (v.failed()) return v;
      Value old = Value::adopt(std::exchange(*slot, v.take()));
      return Value();
    }
  }
  Place place;
  if (!make_place(node.place, place)) return Value::failure();
  Value v = eval(node.value);
  if (v.failed()) return v;
  return store(place, std::move(v)) ? Value() : Value::failure();
}

Value Walker::assign_coalesce(const AssignNode& node) {
  Place place;
  if (!make_place(node.place, place) || !prepare_defaults(place, place.steps.size())) return Value::failure();
  Value old = read(place);
  if (old.failed() || !old->is_nil()) return old.failed() ? std::move(old) : Value();
  Value v = eval(node.value);
  if (v.failed()) return v;
  return store(place, std::move(v)) ? Value() : Value::failure();
}

Value Walker::compound(const AssignNode& node) {
  if (auto* name = as<NameNode>(node.place)) {
    if (Borrowed* slot = assignable_slot(*name)) return compound_variable(node, slot);
  }
  Place place;
  if (!make_place(node.place, place)) return Value::failure();
  const bool late = place.computed_defaults == 0 && cannot_disturb(node.value);
  Value old;
  if (!late) {
    if (!prepare_defaults(place, place.steps.size())) return Value::failure();
    old = read(place);
    if (old.failed()) return old;
  }
  Value right = eval(node.value);
  if (right.failed()) return right;
  return update(place, operator_of(node.op), late ? nullptr : &old, right) ? Value()
                                                                           : Value::failure();
}

// x op= v. The copy that is read first is given up where x is still what it was, so that `+` finds
// a string or list that nobody else holds.
Value Walker::compound_variable(const AssignNode& node, Borrowed* slot) {
  Value old = Value::copy(*slot);
  Value right = eval(node.value);
  if (right.failed()) return right;
  if (update_cell(context_, slot, operator_of(node.op), &old, right)) return Value();
  note(node.place);
  return Value::failure();
}

// `old`: the value read before, or null: it is read now. False: raised and noted.
bool Walker::update(Place& place, BinaryOp op, Value* old, Borrowed right) {
  bool shared = false;
  const size_t count = place.steps.size();
  if (count > 0 && !prepare_defaults(place, count - 1)) return false;
  Borrowed* at = walk(place, count == 0 ? 0 : count - 1, shared);
  if (!at) return false;
  const bool done = count == 0 ? update_cell(context_, at, op, old, right)
                               : update_last(at, place.steps.back(), op, old, right);
  if (!done) give_up(place.node);
  return done;
}

bool Walker::update_last(Borrowed* container, PlaceStep& step, BinaryOp op, Value* old,
                         Borrowed right) {
  if (!step.index) return update_field(context_, container, step.field, op, old, right);
  OldValue start{.read = old};
  // A simple one: runs no code, so the container stays good.
  if (!old && step.has_default()) {
    if (!default_of(step)) return false;
    start.fallback = &step.fallback;
  }
  return update_index(context_, container, step.key, op, start, right);
}

// ---- destructuring assignment ----

Value Walker::visit(const DestructuringAssignNode& node) {
  auto& target = *static_cast<const PlaceListNode*>(node.target);
  auto is_single = [](const Node* n) { return !as<SpreadNode>(n) && !as<PlaceListNode>(n); };
  auto* values = as<ListLiteralNode>(node.value);
  if (values && values->items.count == target.items.count &&
      std::all_of(values->items.begin(), values->items.end(), is_single) &&
      std::all_of(target.items.begin(), target.items.end(), is_single)) {
    return assign_pairwise(target, *values);
  }
  Value list = eval(node.value);
  if (list.failed()) return list;
  std::vector<Value> items;
  if (!fits_targets(target, list, items)) {
    if (!context_.error_pending()) {
      context_.raise(ErrorCode::PatternMismatch,
                     brief(list) + " does not match the places on the left");
    }
    note(&target);
    return Value::failure();
  }
  list = Value();
  size_t next = 0;
  return store_targets(target, items, next) ? Value() : Value::failure();
}

// [a, b] = [b, a]: no list is made.
Value Walker::assign_pairwise(const PlaceListNode& target, const ListLiteralNode& values) {
  std::vector<Value> items;
  items.reserve(values.items.size());
  for (const Node* item : values.items) {
    items.push_back(eval(item));
    if (items.back().failed()) return Value::failure();
  }
  for (size_t i = 0; i < items.size(); ++i) {
    if (!store_target(target.items[i], std::move(items[i]))) return Value::failure();
  }
  return Value();
}

// Collects what each place will get, in order. False: the shape differs, or an error is pending.
bool Walker::fits_targets(const PlaceListNode& target, Borrowed list, std::vector<Value>& items) {
  if (!list.is_list()) return false;
  auto* from = list.as<List>();
  const uint64_t count = target.items.count;
  auto* rest = std::find_if(target.items.begin(), target.items.end(),
                            [](const Node* n) { return as<SpreadNode>(n) != nullptr; });
  const auto at_rest = static_cast<uint64_t>(rest - target.items.begin());
  const bool has_rest = at_rest < count;
  if (has_rest ? from->size < count - 1 : from->size != count) return false;
  const uint64_t behind = has_rest ? count - 1 - at_rest : 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (i == at_rest) {
      Value some = list_slice(context_.heap, from, at_rest, from->size - behind);
      if (some.failed()) return or_memory_limit(context_, false);
      items.push_back(std::move(some));
      continue;
    }
    Borrowed item = list_get(from, i > at_rest ? from->size - (count - i) : i);
    auto* nested = as<PlaceListNode>(target.items[i]);
    if (!nested) {
      items.push_back(Value::copy(item));
    } else if (!on_some_stack([&] { return fits_targets(*nested, item, items); })) {
      return false;
    }
  }
  return true;
}

bool Walker::store_targets(const PlaceListNode& target, std::vector<Value>& items, size_t& next) {
  for (const Node* item : target.items) {
    if (auto* nested = as<PlaceListNode>(item)) {
      if (!on_some_stack([&] { return store_targets(*nested, items, next); })) return false;
      continue;
    }
    auto* rest = as<SpreadNode>(item);
    if (!store_target(rest ? rest->value : item, std::move(items[next++]))) return false;
  }
  return true;
}

bool Walker::store_target(const Node* node, Value v) {
  if (node->kind == NodeKind::WildcardPattern) return true;
  Place place;
  return make_place(node, place) && store(place, std::move(v));
}

}  // namespace posset::interp
