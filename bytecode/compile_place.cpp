// Places: assignment, compound assignment, destructuring assignment, `with`, and what lending needs. The
// operands of a place are evaluated first, in order; then one uninterrupted run of Place... instructions
// walks to it, because the address they pass along is good only while nothing else runs.
#include <algorithm>

#include "bytecode/compiler.h"

namespace posset::bytecode {

namespace {

std::vector<const Node*> chain_of(const Node* place) {
  std::vector<const Node*> chain;
  while (place && place->kind != NodeKind::Name) {
    chain.push_back(place);
    if (auto* index = as<IndexNode>(place)) {
      place = index->base;
    } else if (auto* field = as<FieldNode>(place)) {
      place = field->base;
    } else {
      break;
    }
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

// Of the first `count` steps the one whose default runs code; there is at most one. Null: none.
const PlaceStep* computed_step(const PlacePath& path, size_t count) {
  const auto end = path.steps.begin() + static_cast<ptrdiff_t>(count);
  const auto found = std::find_if(path.steps.begin(), end, [](const PlaceStep& step) { return step.computed; });
  return found == end ? nullptr : &*found;
}

bool is_literal(const Node* node) {
  switch (node->kind) {
    case NodeKind::NilLiteral:
    case NodeKind::BoolLiteral:
    case NodeKind::IntLiteral:
    case NodeKind::FloatLiteral:
    case NodeKind::StringLiteral: return true;
    default: return false;
  }
}

}  // namespace

// Defaults that can be evaluated at any time with the same outcome: literals, lists, maps and records of
// them. Others are evaluated before the walk.
bool Compiler::simple_default(const Node* node) const {
  if (is_literal(node)) return true;
  if (node->kind != NodeKind::ListLiteral && node->kind != NodeKind::MapLiteral &&
      node->kind != NodeKind::RecordLiteral && node->kind != NodeKind::MapEntry &&
      node->kind != NodeKind::RecordField) {
    return false;
  }
  bool simple = true;
  for_each_child(const_cast<Node*>(node), [&](Node*& child) { simple = simple && simple_default(child); });
  return simple;
}

// A field that may be a property of a host object.
bool Compiler::is_property(const Node* node) const {
  auto* field = as<FieldNode>(node);
  return field && runtime_.host_types.has_property_to_set(field->name);
}

uint32_t Compiler::place_temporaries(const Node* place) const {
  uint32_t count = 1;
  for (const Node* step : chain_of(place)) {
    auto* index = as<IndexNode>(step);
    count += index && index->fallback && !simple_default(index->fallback) ? 2 : 1;
  }
  return count;
}

// What a place is made of, kept until the walk. `later`: what is evaluated until then.
Operand Compiler::place_operand(const Node* node, const PlacePath& path, const Node* later, uint16_t& reserve) {
  const int64_t slot = local_slot(node);
  const auto disturbed = [&] {
    const auto by = [&](const Node* other) { return disturbs(other, static_cast<uint32_t>(slot)); };
    const std::vector<const Node*> chain = chain_of(path.node);
    return by(later) || std::any_of(chain.begin(), chain.end(), [&](const Node* step) {
             auto* index = as<IndexNode>(step);
             return index && by(index->fallback);
           });
  };
  // Not the root itself: walking to the place may already change it.
  if (slot >= 0 && slot != path.slot && !static_cast<const NameNode*>(node)->binding.last_use && !disturbed()) {
    return {static_cast<uint16_t>(slot), false};
  }
  const uint16_t reg = reserve != kNoRegister ? reserve++ : alloc();
  expression(node, reg);
  if (facts_.plain(node)) return {reg, false};
  own(reg);
  return {reg, true};
}

// One that runs code, and so cannot be evaluated in the middle of a walk.
void Compiler::computed_default(PlacePath& path, PlaceStep& step, uint16_t& reserve) {
  const bool is_second = computed_step(path, path.steps.size());
  const bool changes_root = path.slot >= 0 && disturbs(step.fallback, static_cast<uint32_t>(path.slot));
  if (is_second || changes_root) return refuse(Reason::computed_default, step.fallback);
  step.computed = true;
  step.fallback_reg = reserve != kNoRegister ? reserve++ : alloc();
  emit(Op::LoadUnset, step.fallback_reg);
  own(step.fallback_reg);
}

PlacePath Compiler::place_path(const Node* place, const Node* later, uint16_t reserve) {
  PlacePath path;
  path.node = place;
  std::vector<const Node*> chain = chain_of(place);
  const NameNode* root = place_root(place);  // there is one: the resolver takes nothing else for a place
  size_t first = 0;
  if (root->binding.kind == BindingKind::Local && root->binding.is_var) {
    path.slot = root->binding.index;
  } else {
    // Only the cell of a ref and the property of a host object can be changed through a name that cannot. Which
    // field that is, and of what, is clear when there is one.
    auto is_value = [](const Node* step) {
      auto* field = as<FieldNode>(step);
      return field && field->name == "value";
    };
    auto may_be_cell = [&](const Node* step) { return is_value(step) || is_property(step); };
    auto cell = std::find_if(chain.begin(), chain.end(), may_be_cell);
    if (std::count_if(chain.begin(), chain.end(), may_be_cell) != 1 || (is_value(*cell) && is_property(*cell))) {
      refuse(Reason::place_through_value, place);
      return path;
    }
    path.cell = place_operand(static_cast<const FieldNode*>(*cell)->base, path, later, reserve);
    path.through_ref = true;
    path.host = !is_value(*cell);
    first = static_cast<size_t>(cell - chain.begin()) + (path.host ? 0 : 1);
  }
  for (size_t i = first; i < chain.size(); ++i) {
    PlaceStep step;
    step.node = chain[i];
    if (auto* field = as<FieldNode>(chain[i])) {
      step.kind = PlaceStep::Kind::Field;
      step.cache = field_cache(field->name);
    } else {
      auto* index = static_cast<const IndexNode*>(chain[i]);
      step.kind = index->fallback ? PlaceStep::Kind::IndexOr : PlaceStep::Kind::Index;
      step.index = place_operand(index->index, path, later, reserve);
      step.fallback = index->fallback;
      if (index->fallback && !simple_default(index->fallback)) computed_default(path, step, reserve);
    }
    path.steps.push_back(step);
  }
  return path;
}

// Evaluates the default that runs code, if one of the first `count` steps has such a one and its key is missing. Before the walk.
void Compiler::prepare(const PlacePath& path, size_t count) {
  const PlaceStep* const step = computed_step(path, count);
  if (!step) return;
  Temps temps(*this);
  const uint16_t present = alloc();
  const uint16_t base = load_steps(path, static_cast<size_t>(step - path.steps.data()), present, false);
  Label found, done;
  {
    Site site(*this, step->node);
    if (base == present) own(present);
    emit(Op::IndexOr, present, base, step->index.reg, base == present ? kConsumeB : 0);
    if (base == present) disown(present);
  }
  jump(found, Op::JumpSet, present);
  expression(step->fallback, step->fallback_reg);
  jump(done, Op::Jump);
  bind(found);
  emit(Op::Drop, present);
  bind(done);
}

void Compiler::release_path(const PlacePath& path) {
  auto drop = [&](Operand o) {
    if (!o.consume) return;
    emit(Op::Drop, o.reg);
    disown(o.reg);
  };
  for (const PlaceStep& step : path.steps) {
    drop(step.index);
    if (step.computed) drop({step.fallback_reg, true});
  }
  drop(path.cell);
}

void Compiler::walk_step(const PlaceStep& step, bool& may_insert) {
  if (step.kind == PlaceStep::Kind::Field) {
    emit(Op::PlaceField, step.cache);
  } else if (step.kind == PlaceStep::Kind::Index) {
    emit(Op::PlaceIndex, step.index.reg);
  } else {
    Temps temps(*this);
    Label found;
    jump3(found, Op::PlaceFind, step.index.reg, 0, may_insert ? 0 : kSense);
    may_insert = true;
    uint16_t fallback = alloc();
    expression(step.fallback, fallback);
    own(fallback);
    emit(Op::PlaceIndexOr, step.index.reg, fallback);
    disown(fallback);
    bind(found);
  }
}

// Without a default a key that has gone missing since is missing.
void Compiler::walk_computed(const PlaceStep& step, bool& may_insert) {
  Temps temps(*this);
  Label evaluated, there;
  jump(evaluated, Op::JumpSet, step.fallback_reg);
  emit(Op::PlaceIndex, step.index.reg);
  jump(there, Op::Jump);
  bind(evaluated);
  jump3(there, Op::PlaceFind, step.index.reg, 0, may_insert ? 0 : kSense);
  may_insert = true;
  const uint16_t fallback = alloc();
  emit(Op::Copy, fallback, step.fallback_reg);
  emit(Op::PlaceIndexOr, step.index.reg, fallback);
  bind(there);
}

// Again: defaults have been inserted where they had to be.
void Compiler::walk(const PlacePath& path, size_t steps, bool again) {
  if (path.slot >= 0) {
    emit(Op::PlaceLocal, static_cast<uint32_t>(path.slot));
  } else {
    emit(Op::PlaceRef, path.cell.reg, 0, 0, path.host ? kSense : 0);
  }
  bool may_insert = false;
  for (size_t i = 0; i < steps; ++i) {
    const PlaceStep& step = path.steps[i];
    Site site(*this, step.node);
    if (!step.computed) {
      walk_step(step, may_insert);
    } else if (again) {
      emit(Op::PlaceIndex, step.index.reg);
    } else {
      walk_computed(step, may_insert);
    }
  }
}

void Compiler::store(const PlacePath& path, Operand value) {
  Site site(*this, path.node);
  if (path.steps.empty()) {
    if (path.slot >= 0) return store_local(static_cast<uint16_t>(path.slot), value);
    walk(path, 0);
    emit(Op::StorePlace, value.reg, 0, 0, consume_flag_a(value));
    return;
  }
  const PlaceStep& last = path.steps.back();
  if (path.steps.size() == 1 && path.slot >= 0) {
    auto slot = static_cast<uint32_t>(path.slot);
    uint8_t x = consume_flags({}, value);
    if (last.kind == PlaceStep::Kind::Field) {
      emit(Op::SetField, slot, last.cache, value.reg, x);
    } else {
      emit(Op::SetIndex, slot, last.index.reg, value.reg, x);
    }
    return;
  }
  walk(path, path.steps.size() - 1, path.lends);
  if (last.kind == PlaceStep::Kind::Field) {
    emit(Op::StoreField, last.cache, value.reg, 0, value.consume ? kConsumeB : 0);
  } else {
    emit(Op::StoreIndex, last.index.reg, value.reg, 0, value.consume ? kConsumeB : 0);
  }
}

// Moves the value of the place into a dead register, leaving nil (or a copy where it is in a ref's cell).
void Compiler::take(const PlacePath& path, uint16_t dst) {
  if (path.steps.empty() && path.slot >= 0) {
    emit(Op::Move, dst, static_cast<uint32_t>(path.slot));
    return;
  }
  bool whole = path.steps.empty() || path.steps.back().kind == PlaceStep::Kind::IndexOr;
  walk(path, whole ? path.steps.size() : path.steps.size() - 1);
  if (whole) {
    emit(Op::TakePlace, dst);
  } else if (path.steps.back().kind == PlaceStep::Kind::Field) {
    emit(Op::TakeField, dst, path.steps.back().cache);
  } else {
    emit(Op::TakeIndex, dst, path.steps.back().index.reg);
  }
}

// A value on its way into a place must be counted before the place is made unique: with `xs[0] = xs` or
// `p.a.b = p.a` the container would otherwise seem to have one owner and end up inside itself.
Operand Compiler::stored_operand(const Node* node, const PlacePath& path) {
  int64_t slot = local_slot(node);
  bool part = node->kind == NodeKind::Index || node->kind == NodeKind::Field;
  if (part || (slot >= 0 && slot == path.slot)) return owned_operand(node);
  const PlaceStep* const computed = computed_step(path, path.steps.size());
  return operand(node, computed ? computed->fallback : nullptr);
}

// ---- assignment ----

void Compiler::store_local(uint16_t slot, Operand value) {
  if (facts_.plain_slot(slot)) {
    emit(Op::Copy, slot, value.reg);
  } else {
    emit(Op::Store, slot, value.reg, 0, value.consume ? kConsumeB : 0);
  }
}

// The instruction that gives the value writes its destination after having read everything, and no
// nested block may use the destination's slot in the meantime.
bool Compiler::writes_last(const Node* node) const {
  node = unwrapped(node);
  switch (node->kind) {
    case NodeKind::NilLiteral:
    case NodeKind::BoolLiteral:
    case NodeKind::IntLiteral:
    case NodeKind::FloatLiteral:
    case NodeKind::StringLiteral:
    case NodeKind::Interpolation:
    case NodeKind::ListLiteral:
    case NodeKind::MapLiteral:
    case NodeKind::RecordLiteral:
    case NodeKind::RangeLiteral:
    case NodeKind::Lambda:
    case NodeKind::Name:
    case NodeKind::Unary:
    case NodeKind::Binary:
    case NodeKind::Field:
    case NodeKind::Call: return true;
    case NodeKind::Index: return static_cast<const IndexNode*>(node)->fallback == nullptr;
    default: return false;
  }
}

void Compiler::assign_local(const AssignNode& node, uint16_t slot) {
  Temps temps(*this);
  BinaryOp op = operator_of(node.op);
  if (op != BinaryOp::None) {
    // x op= v: the old value is read before v is evaluated.
    Site site(*this, node.place);
    if (!disturbs(node.value, slot)) {
      arithmetic(op, node.place, node.value, slot);
      return;
    }
    uint16_t result = alloc();
    arithmetic(op, node.place, node.value, result);
    own(result);
    store_local(slot, {result, true});
    return;
  }
  if (facts_.plain_slot(slot) && facts_.plain(node.value) && writes_last(node.value)) {
    expression(node.value, slot);
    return;
  }
  auto* binary = as<BinaryNode>(node.value);
  if (binary && local_slot(binary->left) == slot && !disturbs(binary->right, slot) &&
      (binary->op == BinaryOp::Add || binary->op == BinaryOp::Sub || binary->op == BinaryOp::Mul)) {
    Site site(*this, binary);
    arithmetic(binary->op, binary->left, binary->right, slot);  // x = x + v, in place
    return;
  }
  Operand value = operand(node.value);
  store_local(slot, value);
  release_operand(value);
}

void Compiler::assign_coalesce(const AssignNode& node) {
  Label done;
  PlacePath path = place_path(node.place, node.value);
  prepare(path, path.steps.size());
  uint16_t old = alloc();
  load_place(path, old);
  own(old);
  {
    Label keep;
    emit(Op::Nop);
    jump(keep, Op::JumpNil, old, 0);
    {
      Temps temps(*this);
      Operand value = stored_operand(node.value, path);
      store(path, value);
      release_operand(value);
    }
    bind(keep);
  }
  emit(Op::Drop, old);
  disown(old);
  release_path(path);
  bind(done);
}

// The value at a place, read without changing anything (a missing key with a default gives the default).
void Compiler::load_place(const PlacePath& path, uint16_t dst) {
  Temps temps(*this);
  load_steps(path, path.steps.size(), dst, true);
}

// What the first `count` steps lead to: in `dst`, or not `to_dst` where it is, to be looked into.
uint16_t Compiler::load_steps(const PlacePath& path, size_t count, uint16_t dst, bool to_dst) {
  auto current = path.slot >= 0 ? static_cast<uint16_t>(path.slot) : path.cell.reg;
  if (path.slot < 0 && !path.host) {
    Site site(*this, path.node);
    emit(Op::Field, dst, current, field_cache("value"));
    current = dst;
  } else if (count == 0 && to_dst) {
    emit(Op::Copy, dst, current);
    return dst;
  }
  for (size_t n = 0; n < count; ++n) {
    const bool is_last = to_dst && n + 1 == count;
    if (current != dst && !is_last && is_view_step(path.steps[n])) {
      current = view_step(path.steps[n], current);
    } else {
      load_step(path.steps[n], current, dst);
      current = dst;
    }
  }
  return current;
}

// Nothing runs between the steps but properties of host objects and defaults: until then what the place is in stays
// alive without being counted, and unique.
bool Compiler::is_view_step(const PlaceStep& step) const {
  if (step.kind == PlaceStep::Kind::Index) return true;
  auto* field = as<FieldNode>(step.node);
  return field && !runtime_.host_types.has_member(field->name);
}

uint16_t Compiler::view_step(const PlaceStep& step, uint16_t base) {
  Site site(*this, step.node);
  const uint16_t reg = alloc();
  if (step.kind == PlaceStep::Kind::Index) {
    emit(Op::ViewIndex, reg, base, step.index.reg);
  } else {
    emit(Op::ViewField, reg, base, step.cache);
  }
  return reg;
}

// `dst` may be the base, which is given up.
void Compiler::load_step(const PlaceStep& step, uint16_t base, uint16_t dst) {
  Site site(*this, step.node);
  const bool owned = base == dst;
  const uint8_t x = owned ? kConsumeB : 0;
  if (owned) own(dst);
  if (step.kind == PlaceStep::Kind::Field) {
    emit(Op::Field, dst, base, step.cache, x);
  } else if (step.kind == PlaceStep::Kind::Index) {
    emit(Op::Index, dst, base, step.index.reg, x);
  } else {
    Label found;
    emit(Op::IndexOr, dst, base, step.index.reg, x);
    if (owned) disown(dst);
    jump(found, Op::JumpSet, dst);
    if (step.computed) {
      emit(Op::Copy, dst, step.fallback_reg);
    } else {
      expression(step.fallback, dst);
    }
    bind(found);
    if (owned) own(dst);
  }
  if (owned) disown(dst);
}

void Compiler::update(const AssignNode& node, const PlacePath& path, Operand value, uint16_t old) {
  Site site(*this, node.place);
  uint64_t op = static_cast<uint64_t>(operator_of(node.op));
  uint8_t x = value.consume ? kConsumeB : 0;
  if (path.steps.empty()) {
    walk(path, 0);
    emit(Op::UpdatePlace, value.reg, old, 0, x & kConsumeB ? kConsumeA : 0);
    return emit_word(op);
  }
  const PlaceStep& last = path.steps.back();
  walk(path, path.steps.size() - 1);
  if (last.kind == PlaceStep::Kind::Field) {
    emit(Op::UpdateField, last.cache, value.reg, old, x);
  } else if (last.kind == PlaceStep::Kind::IndexOr && old == kNoRegister) {
    Temps temps(*this);
    uint16_t fallback = alloc();
    expression(last.fallback, fallback);  // runs no code, so the place stays good
    own(fallback);
    emit(Op::UpdateIndex, last.index.reg, value.reg, fallback, static_cast<uint8_t>(x | kSense));
  } else {
    emit(Op::UpdateIndex, last.index.reg, value.reg, old, x);
  }
  emit_word(op);
}

void Compiler::compound(const AssignNode& node) {
  Temps temps(*this);
  PlacePath path = place_path(node.place, node.value);
  uint16_t old = kNoRegister;
  // A plain name or literal on the right cannot fail, so the old value may as well be read with the store.
  const bool late = !computed_step(path, path.steps.size()) && (is_literal(node.value) || local_slot(node.value) >= 0);
  if (!late) {
    prepare(path, path.steps.size());
    old = alloc();
    load_place(path, old);
    own(old);
  }
  Operand value = stored_operand(node.value, path);
  update(node, path, value, old);
  release_operand(value);
  if (!late) disown(old);
  release_path(path);
}

void Compiler::assign(const AssignNode& node) {
  if (node.op == AssignOp::Coalesce) return assign_coalesce(node);
  int64_t slot = local_slot(node.place);
  if (slot >= 0) return assign_local(node, static_cast<uint16_t>(slot));
  if (node.op != AssignOp::Set) return compound(node);
  Temps temps(*this);
  PlacePath path = place_path(node.place, node.value);
  Operand value = stored_operand(node.value, path);
  prepare(path, std::max<size_t>(path.steps.size(), 1) - 1);
  store(path, value);
  release_operand(value);
  release_path(path);
}

// ---- destructuring assignment ----

void Compiler::store_target(const Node* place, Operand value) {
  if (place->kind == NodeKind::WildcardPattern) {
    if (value.consume) emit(Op::Drop, value.reg);
    release_operand(value);
    return;
  }
  Temps temps(*this);
  PlacePath path = place_path(place, nullptr);
  prepare(path, std::max<size_t>(path.steps.size(), 1) - 1);
  store(path, value);
  release_operand(value);
  release_path(path);
}

void Compiler::test_targets(const PlaceListNode& target, uint16_t list, Label& fail, std::vector<uint16_t>& items) {
  uint32_t count = target.items.count, rest = count;
  for (uint32_t i = 0; i < count; ++i) {
    if (as<SpreadNode>(target.items[i])) rest = i;
  }
  bool has_rest = rest < count;
  jump3(fail, Op::TestList, list, has_rest ? count - 1 : count, has_rest ? kSense : 0);
  for (uint32_t i = 0; i < count; ++i) {
    if (i == rest) {  // made when it is stored: nothing must be left when a later shape does not fit
      items.push_back(list);
      continue;
    }
    uint16_t reg = alloc();
    items.push_back(reg);
    emit(Op::ViewItem, reg, list, i > rest ? count - 1 - i : i, i > rest ? kSense : 0);
    if (auto* nested = as<PlaceListNode>(target.items[i])) test_targets(*nested, reg, fail, items);
  }
}

void Compiler::store_targets(const PlaceListNode& target, const std::vector<uint16_t>& items, size_t& next) {
  uint32_t count = target.items.count;
  for (uint32_t i = 0; i < count; ++i) {
    Node* item = target.items[i];
    uint16_t reg = items[next++];
    if (auto* nested = as<PlaceListNode>(item)) {
      store_targets(*nested, items, next);
    } else if (auto* rest = as<SpreadNode>(item)) {
      Temps temps(*this);
      uint16_t made = alloc();
      emit(Op::RestList, made, reg, i, static_cast<uint8_t>(count - 1 - i));
      own(made);
      store_target(rest->value, {made, true});
    } else {
      store_target(item, {reg, false});
    }
  }
}

void Compiler::destructuring_assign(const DestructuringAssignNode& node) {
  Temps temps(*this);
  auto& target = *static_cast<PlaceListNode*>(node.target);
  auto* values = as<ListLiteralNode>(node.value);
  auto is_simple = [](Node* n) { return !as<SpreadNode>(n) && !as<PlaceListNode>(n); };
  bool pairwise = values && values->items.count == target.items.count &&
                  std::all_of(values->items.begin(), values->items.end(), is_simple) &&
                  std::all_of(target.items.begin(), target.items.end(), is_simple);
  if (pairwise) {
    // [a, b] = [b, a]: no list is made.
    std::vector<uint16_t> regs;
    for (Node* item : values->items) {
      uint16_t reg = alloc();
      expression(item, reg);
      own(reg);
      regs.push_back(reg);
    }
    for (size_t i = 0; i < regs.size(); ++i) store_target(target.items[i], {regs[i], true});
    return;
  }
  uint16_t list = alloc();
  expression(node.value, list);
  own(list);
  Label fail, done;
  size_t owned = owned_.size();
  std::vector<uint16_t> items;
  {
    Site site(*this, node.target);
    test_targets(target, list, fail, items);
    size_t next = 0;
    store_targets(target, items, next);
    emit(Op::Drop, list);
    jump(done, Op::Jump);
    owned_.resize(std::min(owned_.size(), owned));
    bind(fail);
    raise(ErrorCode::PatternMismatch, "% does not match the places on the left", list);
  }
  bind(done);
  disown(list);
}

// ---- with ----

void Compiler::leave_with(const Scope& scope) {
  store(*scope.path, {scope.name_slot, true});
  release_path(*scope.path);
}

void Compiler::with(const WithNode& node, uint16_t dst) {
  Temps temps(*this);
  auto* name = static_cast<BindingPatternNode*>(node.pattern);
  auto slot = static_cast<uint16_t>(name->binding.index);
  uint16_t saved = locals_;
  PlacePath path = place_path(node.place, node.body);
  path.lends = true;
  prepare(path, path.steps.size());
  {
    Site site(*this, node.place);
    take(path, slot);
  }
  locals_ = static_cast<uint16_t>(slot + 1);
  uint16_t error = alloc(2);  // and its site
  Scope scope;
  scope.kind = Scope::Kind::With;
  scope.path = &path;
  scope.name_slot = slot;
  scope.regions.push_back(open_region(error, true));
  scopes_.push_back(std::move(scope));
  expression(node.body, dst);
  Scope done_scope = std::move(scopes_.back());
  scopes_.pop_back();
  close_region(done_scope.regions.back());
  own(dst);
  std::vector<uint16_t> at_end = owned_;
  leave_with(done_scope);
  Label done;
  jump(done, Op::Jump);
  disown(dst);
  // The block raised: give the value back, then go on raising.
  for (size_t region : done_scope.regions) chunk_->regions[region].handler = here();
  owned_ = at_end;
  disown(dst);
  own(error);
  leave_with(done_scope);
  emit(Op::Rethrow, error);
  disown(error);
  bind(done);
  locals_ = saved;
}

}  // namespace posset::bytecode
