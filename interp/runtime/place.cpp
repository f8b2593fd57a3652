// Places. Each step checks first (so that a step that raises changes nothing), then makes the
// container unique, then gives the address. See place.h for how long an address holds.
#include "interp/runtime/place.h"

#include "interp/runtime/messages.h"
#include "interp/runtime/ops.h"
#include "interp/runtime/work.h"
#include "interp/value/compare.h"
#include "interp/value/map.h"
#include "interp/value/record.h"

namespace posset::interp {

// Makes a container unique; a large copy looks at the clock.
bool own_map(Context& context, Borrowed* place) {
  if (is_unique(place->object())) [[likely]]
    return true;
  return or_memory_limit(context, make_unique_map(context.heap, *place)) &&
         look_up(context, place->as<Map>()->used);
}

bool check_key(Context& context, const Map* map, Borrowed key) {
  if (!charge_key(context, map, key)) return false;
  if (key_problem(context, key) == KeyProblem::None) [[likely]]
    return true;
  raise_key_kind(context, key);
  return false;
}

namespace {

bool own_list(Context& context, Borrowed* place) {
  if (is_unique(place->object())) [[likely]]
    return true;
  return or_memory_limit(context, make_unique_list(context.heap, *place)) &&
         look_up(context, place->as<List>()->size);
}

bool own_record(Context& context, Borrowed* place) {
  if (is_unique(place->object())) [[likely]]
    return true;
  return or_memory_limit(context, make_unique_record(context.heap, *place));
}

std::nullptr_t raise_no_element_places(Context& context, Borrowed base) {
  const char* hint = "elements of lists and maps can be assigned to";
  if (base.is_string()) hint = "a string does not change; build a new one";
  if (base.is_range()) hint = "list(range) makes a list that can be changed";
  if (base.is_record() || base.is_variant()) hint = "fields are written with a dot: r.name = ...";
  if (base.is(Tag::Ref)) hint = "what a ref holds is its field 'value'";
  context.raise(ErrorCode::WrongOperands,
                "cannot assign to an element of " + kind_and_value(context, base), hint);
  return nullptr;
}

// Whether `index` is an element of the list; raised when not.
bool check_list_index(Context& context, const List* list, Borrowed index) {
  if (!index.is_int()) [[unlikely]] {
    raise_index_kind(context, "list", index, "int");
    return false;
  }
  if (static_cast<uint64_t>(index.as_int()) < list->size) [[likely]]
    return true;
  raise_index(context, index.as_int(), "list", list->size);
  return false;
}

// The value of a key that must be there, in a map that is then unique.
Borrowed* map_place(Context& context, Borrowed* container, Borrowed key) {
  const KeyScope scope(context);
  if (!check_key(context, container->as<Map>(), key)) return nullptr;
  Borrowed* found = map_find(container->as<Map>(), key, context.heap.known_key());
  if (!found) {
    raise_key_not_found(context, container->as<Map>(), key);
    return nullptr;
  }
  if (is_unique(container->object())) [[likely]]
    return found;
  if (!own_map(context, container)) return nullptr;
  return map_find(container->as<Map>(), key, context.heap.known_key());
}

Borrowed* scratch_place(Context& context, Value v) {
  static_assert(sizeof(Value) == sizeof(Borrowed));
  context.scratch = std::move(v);
  return reinterpret_cast<Borrowed*>(&context.scratch);
}

Borrowed* list_place(Context& context, Borrowed* container, Borrowed index) {
  if (!check_list_index(context, container->as<List>(), index)) return nullptr;
  auto* list = container->as<List>();
  const auto at = static_cast<uint64_t>(index.as_int());
  if (list->packing() != Packing::Any) return scratch_place(context, list_copy(list, at));
  if (!own_list(context, container)) return nullptr;
  return &container->as<List>()->any()[at];
}

}  // namespace

Borrowed* place_index(Context& context, Borrowed* container, Borrowed index) {
  if (container->is_list()) return list_place(context, container, index);
  if (container->is_map()) return map_place(context, container, index);
  return raise_no_element_places(context, *container);
}

Borrowed* place_index_default(Context& context, Borrowed* container, Borrowed index,
                              Value& fallback) {
  if (!container->is_map() || fallback->is_unset()) return place_index(context, container, index);
  const KeyScope scope(context);
  if (!check_key(context, container->as<Map>(), index) || !own_map(context, container)) return nullptr;
  bool inserted = false;
  Borrowed* slot = map_slot(context.heap, container->as<Map>(), index, inserted, context.heap.known_key());
  if (!slot) {
    context.raise_memory_limit();
    return nullptr;
  }
  if (inserted) {
    *slot = fallback.take();
    if (!context.grown) context.grown = container;
  }
  return slot;
}

void begin_insertions(Context& context) { context.grown = nullptr; }

// The first insertion is undone; later ones went into what it inserted.
void undo_insertions(Context& context) {
  Borrowed* container = std::exchange(context.grown, nullptr);
  if (!container) return;
  auto* map = container->as<Map>();
  map_take_entry(map, &map->entries[map->used - 1]);
  map_close_gaps(context.heap, map);
}

Borrowed* place_field(Context& context, Borrowed* container, const Symbol* name) {
  if (container->is(Tag::Ref) && name->text == "value") return &container->as<Ref>()->value;
  if (container->is_record() || container->is_variant()) {
    int index = field_index(context.heap, container->as<Record>(), name);
    if (index != Shape::kNotFound) {
      if (!own_record(context, container)) return nullptr;
      return container->as<Record>()->field_place(static_cast<uint32_t>(index));
    }
  } else if (container->is(Tag::Host)) {
    raise_inside_property(context, *container, name->text);
    return nullptr;
  } else if (container->is(Tag::Error) || container->is(Tag::Module)) {
    context.raise(ErrorCode::WrongOperands, "cannot assign to the field '" + name->text + "' of " +
                                                kind_and_value(context, *container));
    return nullptr;
  }
  raise_no_field(context, *container, name->text);
  return nullptr;
}

// ---- storing ----

bool store_index(Context& context, Borrowed* container, Borrowed index, Value v) {
  if (container->is_list()) {
    if (!check_list_index(context, container->as<List>(), index) || !own_list(context, container))
      return false;
    return or_memory_limit(context, list_set(context.heap, *container,
                                             static_cast<uint64_t>(index.as_int()), std::move(v)));
  }
  if (container->is_map()) {
    const KeyScope scope(context);
    if (!check_key(context, container->as<Map>(), index) || !own_map(context, container)) return false;
    Heap& heap = context.heap;
    return or_memory_limit(
        context, map_set(heap, container->as<Map>(), Value::copy(index), std::move(v), heap.known_key()));
  }
  raise_no_element_places(context, *container);
  return false;
}

bool store_field(Context& context, Borrowed* container, const Symbol* name, Value v) {
  if (container->is(Tag::Host)) return store_member(context, *container, name->text, std::move(v));
  Borrowed* slot = place_field(context, container, name);
  if (!slot) return false;
  // Released last: what dies may own much, and nothing may see a dead slot.
  Value old = Value::adopt(std::exchange(*slot, v.take()));
  note_field(*container, slot);
  return true;
}

void note_field(Borrowed container, const Borrowed* slot) {
  if (!container.is_record() && !container.is_variant()) return;
  auto* record = container.as<Record>();
  record->note_kind(static_cast<uint32_t>(slot - record->fields()));
}

// ---- taking ----

Value take_index(Context& context, Borrowed* container, Borrowed index, bool shared_cell) {
  if (container->is_list()) {
    if (!check_list_index(context, container->as<List>(), index)) return Value::failure();
    auto* list = container->as<List>();
    const auto at = static_cast<uint64_t>(index.as_int());
    // Numbers need no moving, and a packed list stays packed.
    if (shared_cell || list->packing() != Packing::Any) return list_copy(list, at);
    if (!own_list(context, container)) return Value::failure();
    return Value::adopt(std::exchange(container->as<List>()->any()[at], Borrowed::nil()));
  }
  if (!container->is_map()) {
    raise_no_element_places(context, *container);
    return Value::failure();
  }
  if (shared_cell) return load_index(context, *container, index);
  Borrowed* slot = map_place(context, container, index);
  return slot ? Value::adopt(std::exchange(*slot, Borrowed::nil())) : Value::failure();
}

Value take_field(Context& context, Borrowed* container, const Symbol* name, bool shared_cell) {
  // A ref is itself the shared cell: its other handles see the old value meanwhile. A property is read.
  if (container->is(Tag::Ref) || container->is(Tag::Host) || shared_cell) {
    if (!container->is(Tag::Error) && !container->is(Tag::Module))
      return load_field(context, *container, name);
  }
  Borrowed* slot = place_field(context, container, name);
  return slot ? Value::adopt(std::exchange(*slot, Borrowed::nil())) : Value::failure();
}

}  // namespace posset::interp
