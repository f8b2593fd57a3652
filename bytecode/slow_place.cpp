// Compound assignment to places, and finding a place that may be missing. See slow.h.
//
// The old value of `place op= v` is taken out of its container for the operation when that lets `+` extend
// it in place; it is only taken when the operation cannot fail, so a failing one changes nothing.
#include "bytecode/slow.h"
#include "interp/runtime/messages.h"
#include "interp/runtime/ops.h"
#include "interp/runtime/place.h"
#include "interp/runtime/work.h"
#include "interp/value/compare.h"
#include "interp/value/list.h"
#include "interp/value/map.h"

namespace posset::bytecode {

using interp::List;
using interp::Packing;

bool place_ref(Context& context, Borrowed& reg, Borrowed*& place) {
  if (!reg.is(interp::Tag::Ref)) {
    context.raise(interp::ErrorCode::CannotAssign,
                  "cannot assign to a field of " + interp::kind_and_value(context, reg) + " through a name that is no var",
                  "declare the variable with var");
    return false;
  }
  place = &reg.as<interp::Ref>()->value;
  return true;
}

Borrowed* place_find(Context& context, Borrowed* container, Borrowed index, bool& failed) {
  if (!container->is_map()) {
    Borrowed* found = interp::place_index(context, container, index);
    failed = found == nullptr;
    return found;
  }
  Value present = interp::load_index_or_unset(context, *container, index);
  if (present.failed()) failed = true;
  if (present.failed() || present->is_unset()) return nullptr;
  present = Value();  // the place must be the only owner
  Borrowed* found = interp::place_index(context, container, index);
  failed = found == nullptr;
  return found;
}

namespace {

bool concatenates(syntax::BinaryOp op, Borrowed left, Borrowed right) {
  if (op != syntax::BinaryOp::Add) return false;
  return (left.is_string() && right.is_string()) || (left.is_list() && right.is_list());
}

}  // namespace

bool update_cell(Context& context, Borrowed* cell, syntax::BinaryOp op, Borrowed* old, Borrowed* right, bool consume) {
  // The copy read earlier would keep the value shared.
  bool same = old && old->word0 == cell->word0 && old->word1 == cell->word1;
  Value left;
  if (old && !same) {
    left = move_out(*old);
  } else {
    if (old) drop(*old);
    left = operand_value(*cell, concatenates(op, *cell, *right));
  }
  Value result = interp::binary(context, op, std::move(left), *right);
  if (consume) drop(*right);
  if (result.failed()) return false;
  interp::release(std::exchange(*cell, result.take()));
  return true;
}

bool update_field(Context& context, Borrowed* container, FieldCache& cache, syntax::BinaryOp op, Borrowed* old,
                  Borrowed* right, bool consume) {
  Borrowed* cell = interp::place_field(context, container, cache.name);
  remember_field(context, *container, cache);
  return cell && update_cell(context, cell, op, old, right, consume);
}

namespace {

// m[k, default] op= v: one search; the key stays out when the operation fails.
bool update_or_insert(Context& context, Borrowed* container, Borrowed index, syntax::BinaryOp op, Borrowed* fallback,
                      Borrowed* right, bool consume) {
  interp::Map* map = container->as<interp::Map>();
  Value none = Value::adopt(Borrowed::nil());
  bool inserted = false;
  if (interp::is_valid_key(index) != interp::KeyProblem::None || !interp::is_unique(map)) {
    none = Value::copy(*fallback);
    Borrowed* cell = interp::place_index_default(context, container, index, none);
    inserted = none->is_nil();
    if (!cell) return false;
    return update_cell(context, cell, op, nullptr, right, consume);
  }
  if (!interp::charge_key(context, index)) return false;
  Borrowed* cell = interp::map_slot(context.heap, map, index, inserted);
  if (!cell) return interp::or_memory_limit(context, false);
  if (inserted) *cell = std::exchange(*fallback, Borrowed::nil());
  if (update_cell(context, cell, op, nullptr, right, consume)) return true;
  if (inserted) interp::map_remove(context.heap, map, index);
  return false;
}

bool update_packed(Context& context, Borrowed* container, Borrowed index, syntax::BinaryOp op, Borrowed* old,
                   Borrowed* right, bool consume) {
  Value left = old ? move_out(*old)
                   : interp::list_copy(container->as<List>(), static_cast<uint64_t>(index.as_int()));
  Value result = interp::binary(context, op, std::move(left), *right);
  if (consume) drop(*right);
  return !result.failed() && interp::store_index(context, container, index, std::move(result));
}

}  // namespace

bool update_index(Context& context, Borrowed* container, Borrowed index, syntax::BinaryOp op, Borrowed* old,
                  bool old_is_default, Borrowed* right, bool consume) {
  if (old_is_default && container->is_map()) {
    return update_or_insert(context, container, index, op, old, right, consume);
  }
  if (old_is_default) old = nullptr;
  bool packed = container->is_list() && index.is_int() &&
                static_cast<uint64_t>(index.as_int()) < container->as<List>()->size &&
                container->as<List>()->packing() != Packing::Any;
  if (packed) return update_packed(context, container, index, op, old, right, consume);
  Borrowed* cell = interp::place_index(context, container, index);
  return cell && update_cell(context, cell, op, old, right, consume);
}

}  // namespace posset::bytecode
