// Tier 0: places. Their indexes are evaluated first, in order, into a Place; everything after that
// is one walk from the root that runs no script code, because the address a step gives holds only
// until anything else runs (place.h). Defaults that do run code are therefore evaluated before the
// walk.
//
// A place whose root cannot be assigned leads through the cell of a ref: what stands before
// `.value` is then read like any expression, and the walk starts in the cell.
//
// How often a key is looked for is charged (work.h), so walks follow the same scheme as those of
// tier 1. What is done at the end of a walk by assignments is in walk_assign.cpp.
#include "interp/runtime/messages.h"
#include "interp/runtime/place.h"
#include "interp/walk/walker.h"

namespace posset::interp {

using namespace syntax;

namespace {

bool is_value_field(const Node* node) {
  auto* field = as<FieldNode>(node);
  return field && field->name == "value";
}

bool is_property(const Context& context, const Node* node) {
  auto* field = as<FieldNode>(node);
  return field && context.runtime.host_types.has_property_to_set(field->name);
}

// Evaluating it runs no script code and always gives the same: literals and containers of them.
// What is nested deeper than anybody writes counts as computed, which is never wrong.
constexpr int kSimpleDepth = 40;
bool is_simple(const Node* node, int depth = kSimpleDepth) {
  switch (node->kind) {
    case NodeKind::NilLiteral:
    case NodeKind::BoolLiteral:
    case NodeKind::IntLiteral:
    case NodeKind::FloatLiteral:
    case NodeKind::StringLiteral:
      return true;
    case NodeKind::ListLiteral:
    case NodeKind::MapLiteral:
    case NodeKind::RecordLiteral:
    case NodeKind::MapEntry:
    case NodeKind::RecordField:
      break;
    default:
      return false;
  }
  bool simple = depth > 0;
  for_each_child(const_cast<Node*>(node),
                 [&](Node*& child) { simple = simple && is_simple(child, depth - 1); });
  return simple;
}

}  // namespace

// ---- from tree to place ----

Borrowed* Walker::assignable_slot(const NameNode& name) {
  return name.binding.kind == BindingKind::Local && name.binding.is_var
             ? frame_ + name.binding.index
             : nullptr;
}

// Evaluates the indexes. False: stopped.
bool Walker::make_place(const Node* node, Place& place) {
  place.node = node;
  std::vector<const Node*> chain;
  while (node->kind != NodeKind::Name) {
    chain.push_back(node);
    auto* index = as<IndexNode>(node);
    node = index ? index->base : static_cast<const FieldNode*>(node)->base;
  }
  std::reverse(chain.begin(), chain.end());
  auto* root = static_cast<const NameNode*>(node);
  size_t next = 0;
  place.slot = assignable_slot(*root);
  if (!place.slot) {
    place.cell = eval(root);
    if (place.cell.failed() || !find_cell(chain, next, place)) return false;
  }
  place.steps.reserve(chain.size() - next);
  for (; next < chain.size(); ++next) {
    if (!add_step(chain[next], place)) return false;
  }
  return true;
}

bool Walker::add_step(const Node* node, Place& place) {
  PlaceStep step;
  step.node = node;
  step.index = as<IndexNode>(node);
  if (!step.index) {
    step.field = symbol(static_cast<const FieldNode*>(node)->name);
  } else {
    step.key = eval(step.index->index);
    if (step.key.failed()) return false;
    step.computed = step.index->fallback && !is_simple(step.index->fallback);
    place.computed_defaults += step.computed;
  }
  place.steps.push_back(std::move(step));
  return true;
}

// Reads up to the first `.value` of a ref, `next` is then the step behind it; or else up to the last property of
// a host object, which `next` is then. Where there is neither, what has the last such field is left in its stead,
// and the walk will say so.
bool Walker::find_cell(const std::vector<const Node*>& chain, size_t& next, Place& place) {
  auto may_be_cell = [&](const Node* step) { return is_value_field(step) || is_property(context_, step); };
  size_t cells = static_cast<size_t>(std::count_if(chain.begin(), chain.end(), may_be_cell));
  for (; next < chain.size() && cells > 0; ++next) {
    const bool is_value = is_value_field(chain[next]);
    const bool is_last = may_be_cell(chain[next]) && --cells == 0;
    place.host = is_last && is_property(context_, chain[next]) && (place.cell->is(Tag::Host) || !is_value);
    if (place.host) return true;
    if (is_value && (is_last || place.cell->is(Tag::Ref))) {
      ++next;
      return true;
    }
    place.cell = read_step(place.cell, chain[next]);
    if (place.cell.failed()) {
      if (signal_ == Signal::None) note(chain[next]);
      return false;
    }
  }
  return true;
}

Value Walker::read_step(Borrowed base, const Node* node) {
  auto* index = as<IndexNode>(node);
  if (!index) return load_field(context_, base, symbol(static_cast<const FieldNode*>(node)->name));
  Value key = eval(index->index);
  if (key.failed()) return key;
  if (!index->fallback) return load_index(context_, base, key);
  Value found = load_index_or_unset(context_, base, key);
  return found->is_unset() ? eval(index->fallback) : std::move(found);
}

// ---- reading ----

// Evaluates the step's default unless that has been done. False: stopped.
bool Walker::default_of(PlaceStep& step) {
  if (step.fallback->is_unset()) step.fallback = eval(step.index->fallback);
  return !step.fallback.failed();
}

Value Walker::load_step(Borrowed base, PlaceStep& step) {
  Value v;
  if (!step.index) {
    v = load_field(context_, base, step.field);
  } else if (!step.has_default()) {
    v = load_index(context_, base, step.key);
  } else {
    v = load_index_or_unset(context_, base, step.key);
    if (v->is_unset()) v = default_of(step) ? Value::copy(step.fallback) : Value::failure();
  }
  if (v.failed() && signal_ == Signal::None) note(step.node);
  return v;
}

Value Walker::read_root(Place& place) {
  if (place.slot || place.host) return Value::copy(place.slot ? *place.slot : place.cell.view());
  Value at = load_field(context_, place.cell, symbol("value"));
  if (at.failed()) note(place.node);
  return at;
}

// The value at the place, without changing anything.
Value Walker::read(Place& place) {
  Value at = read_root(place);
  for (PlaceStep& step : place.steps) {
    if (at.failed()) return at;
    at = load_step(at, step);
  }
  return at;
}

// Evaluates the defaults that run code, among the first `count` steps, where the key is missing. Each may change what the walk
// will find, so where there are several they are looked at again after each; none is evaluated twice.
bool Walker::prepare_defaults(Place& place, size_t count) {
  if (place.computed_defaults == 0 || place.prepared) return true;
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < count; ++i) {
      PlaceStep& step = place.steps[i];
      if (!step.computed || !step.fallback->is_unset()) continue;
      bool evaluated = false;
      if (!prepare_default(place, i, evaluated)) return false;
      again = again || (evaluated && place.computed_defaults > 1);
    }
  }
  place.prepared = true;
  return true;
}

// False: stopped.
bool Walker::prepare_default(Place& place, size_t i, bool& evaluated) {
  Value at = read_root(place);
  for (size_t n = 0; n < i && !at.failed(); ++n) at = load_step(at, place.steps[n]);
  if (at.failed()) return false;
  PlaceStep& step = place.steps[i];
  const Value present = load_index_or_unset(context_, at, step.key);
  if (present.failed()) note(step.node);
  evaluated = !present.failed() && present->is_unset();
  return !present.failed() && (!evaluated || default_of(step));
}

// ---- walking ----

Borrowed* Walker::root_of(Place& place, bool& shared) {
  shared = place.slot == nullptr;
  if (place.slot) return place.slot;
  if (!place.host && place.cell->is(Tag::Ref)) return &place.cell->as<Ref>()->value;
  // The address of a variable that holds the object: what follows does not change it.
  static_assert(sizeof(Value) == sizeof(Borrowed));
  if (place.host && place.cell->is(Tag::Host)) return reinterpret_cast<Borrowed*>(&place.cell);
  context_.raise(ErrorCode::CannotAssign,
                 "cannot assign to a field of " + kind_and_value(context_, place.cell) +
                     " through a name that is no var",
                 "declare the variable with var");
  note(place.node);
  return nullptr;
}

// One step on, inserting a default where its key is missing. One that runs code has been evaluated before the walk if it was: a
// key that has gone missing since is missing.
Borrowed* Walker::step_into(Borrowed* at, PlaceStep& step, bool& shared) {
  if (!step.index) {
    shared = shared || at->is(Tag::Ref);
    return place_field(context_, at, step.field);
  }
  const bool inserts = step.has_default() && !(step.computed && step.fallback->is_unset());
  if (!inserts || !at->is_map()) return place_index(context_, at, step.key);
  Value present = load_index_or_unset(context_, *at, step.key);
  if (present.failed()) return nullptr;
  if (!present->is_unset()) {
    present = Value();  // the place must be the only owner
    return place_index(context_, at, step.key);
  }
  if (!default_of(step)) return nullptr;
  Value inserted = std::exchange(step.fallback, Value::adopt(Borrowed::unset()));
  return place_index_default(context_, at, step.key, inserted);
}

// The address of what the first `count` steps lead to, on the way made unique. Null: raised and
// noted.
Borrowed* Walker::walk(Place& place, size_t count, bool& shared) {
  begin_insertions(context_);
  Borrowed* at = root_of(place, shared);
  for (size_t i = 0; at && i < count; ++i) {
    at = step_into(at, place.steps[i], shared);
    if (!at) give_up(place.steps[i].node);
  }
  return at;
}

// A walk has raised, in a step or at its end.
void Walker::give_up(const Node* where) {
  undo_insertions(context_);
  note(where);
}

// False: stopped; a raise is noted.
bool Walker::store(Place& place, Value v) {
  bool shared = false;
  const size_t count = place.steps.size();
  if (count > 0 && !prepare_defaults(place, count - 1)) return false;
  Borrowed* at = walk(place, count == 0 ? 0 : count - 1, shared);
  if (!at) return false;
  if (count == 0) {
    // Released last: what dies may own much, and nothing may see a dead slot.
    Value old = Value::adopt(std::exchange(*at, v.take()));
    return true;
  }
  PlaceStep& last = place.steps.back();
  const bool done = last.index ? store_index(context_, at, last.key, std::move(v))
                               : store_field(context_, at, last.field, std::move(v));
  if (!done) give_up(place.node);
  return done;
}

// Moves the value out, leaving nil; a copy where the walk went through a ref. Failed: raised.
Value Walker::take(Place& place) {
  bool shared = false;
  const size_t count = place.steps.size();
  const bool whole = count == 0 || place.steps.back().has_default();
  Borrowed* at = walk(place, whole ? count : count - 1, shared);
  if (!at) return Value::failure();
  for (PlaceStep& step : place.steps) {
    if (step.computed) step.fallback = Value::adopt(Borrowed::unset());  // what is stored goes where this was taken
  }
  if (whole) return shared ? Value::copy(*at) : Value::adopt(std::exchange(*at, Borrowed::nil()));
  PlaceStep& last = place.steps.back();
  Value v = last.index ? take_index(context_, at, last.key, shared)
                       : take_field(context_, at, last.field, shared);
  if (v.failed()) give_up(place.node);
  return v;
}

}  // namespace posset::interp
