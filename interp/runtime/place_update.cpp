// Compound assignment to places: `place op= v` once the place has been walked to.
//
// The value at the place is taken out of its container for the operation when that lets `+` extend
// it in place; it is only taken when the operation cannot fail, so a failing one changes nothing.
#include "interp/runtime/messages.h"
#include "interp/runtime/ops.h"
#include "interp/runtime/place.h"
#include "interp/runtime/work.h"
#include "interp/value/compare.h"
#include "interp/value/list.h"
#include "interp/value/map.h"

namespace posset::interp {

namespace {

bool concatenates(BinaryOp op, Borrowed left, Borrowed right) {
  if (op != BinaryOp::Add) return false;
  return (left.is_string() && right.is_string()) || (left.is_list() && right.is_list());
}

bool same_words(Borrowed a, Borrowed b) { return a.word0 == b.word0 && a.word1 == b.word1; }

// What the operation starts from where the place holds nothing.
Value start_value(const OldValue& old) { return std::move(old.read ? *old.read : *old.fallback); }

// One search. A missing key is inserted with the result, so not when the operation fails.
bool update_map(Context& context, Borrowed* container, Borrowed key, BinaryOp op,
                const OldValue& old, Borrowed right) {
  if (!old.read && !old.fallback) {
    Borrowed* cell = place_index(context, container, key);
    return cell && update_cell(context, cell, op, nullptr, right);
  }
  const KeyScope scope(context);
  if (!check_key(context, container->as<Map>(), key) || !own_map(context, container)) return false;
  auto* map = container->as<Map>();
  bool inserted = false;
  Borrowed* cell = map_slot(context.heap, map, key, inserted, context.heap.known_key());
  if (!cell) return or_memory_limit(context, false);
  if (!inserted) return update_cell(context, cell, op, old.read, right);
  Value result = binary(context, op, start_value(old), right);
  if (result.failed()) {
    map_remove(context.heap, map, key, context.heap.known_key());
    return false;
  }
  *cell = result.take();
  return true;
}

bool update_packed(Context& context, Borrowed* container, Borrowed index, BinaryOp op, Value* old,
                   Borrowed right) {
  auto* list = container->as<List>();
  Value left = old ? std::move(*old) : list_copy(list, static_cast<uint64_t>(index.as_int()));
  Value result = binary(context, op, std::move(left), right);
  return !result.failed() && store_index(context, container, index, std::move(result));
}

bool is_packed_item(Borrowed container, Borrowed index) {
  return container.is_list() && index.is_int() &&
         static_cast<uint64_t>(index.as_int()) < container.as<List>()->size &&
         container.as<List>()->packing() != Packing::Any;
}

}  // namespace

bool update_cell(Context& context, Borrowed* cell, BinaryOp op, Value* old, Borrowed right) {
  Value left;
  if (old && !same_words(*old, *cell)) {
    left = std::move(*old);
  } else {
    if (old) *old = Value();  // the copy read earlier would keep the value shared
    const bool move = concatenates(op, *cell, right);
    left = move ? Value::adopt(std::exchange(*cell, Borrowed::nil())) : Value::copy(*cell);
  }
  Value result = binary(context, op, std::move(left), right);
  if (result.failed()) return false;
  release(std::exchange(*cell, result.take()));
  return true;
}

bool update_index(Context& context, Borrowed* container, Borrowed index, BinaryOp op,
                  const OldValue& old, Borrowed right) {
  if (container->is_map()) return update_map(context, container, index, op, old, right);
  if (is_packed_item(*container, index))
    return update_packed(context, container, index, op, old.read, right);
  Borrowed* cell = place_index(context, container, index);
  return cell && update_cell(context, cell, op, old.read, right);
}

namespace {

// A property: read unless that was done, then stored.
bool update_property(Context& context, Borrowed object, const Symbol* name, BinaryOp op, Value* old, Borrowed right) {
  Value left = old ? std::move(*old) : load_field(context, object, name);
  if (left.failed()) return false;
  Value result = binary(context, op, std::move(left), right);
  return !result.failed() && store_member(context, object, name->text, std::move(result));
}

}  // namespace

bool update_field(Context& context, Borrowed* container, const Symbol* name, BinaryOp op,
                  Value* old, Borrowed right) {
  if (container->is(Tag::Host)) return update_property(context, *container, name, op, old, right);
  Borrowed* cell = place_field(context, container, name);
  if (!cell || !update_cell(context, cell, op, old, right)) return false;
  note_field(*container, cell);
  return true;
}

}  // namespace posset::interp
