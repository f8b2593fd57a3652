// Maps: keys, values, items, get, has, group_by.
#include "interp/runtime/builtins.h"
#include "interp/runtime/halves.h"
#include "interp/runtime/iterate.h"
#include "interp/runtime/place.h"
#include "interp/value/compare.h"
#include "interp/value/map.h"

namespace posset::interp {

namespace {

// One element of the result for every entry, in order.
template <class Pick>
Value list_of_entries(NativeCall& call, Pick&& pick) {
  if (!want_map(call, 0)) return Value::failure();
  const auto* map = call[0].as<Map>();
  ListBuilder out(call.context, map->live);
  Meter meter(call.context);
  for (uint32_t at = map_next(map, 0); at < map->used; at = map_next(map, at + 1)) {
    Value picked = pick(map->entries[at]);
    if (picked.failed() || !meter.add(1) || !out.push(std::move(picked))) return Value::failure();
  }
  return out.finish();
}

}  // namespace

Value builtin_keys(NativeCall& call) {
  return list_of_entries(call, [](const MapEntry& entry) { return Value::copy(entry.key); });
}

Value builtin_values(NativeCall& call) {
  return list_of_entries(call, [](const MapEntry& entry) { return Value::copy(entry.value); });
}

Value builtin_items(NativeCall& call) {
  return list_of_entries(call, [&](const MapEntry& entry) {
    return make_pair(call.context, Value::copy(entry.key), Value::copy(entry.value));
  });
}

Value builtin_get(NativeCall& call) {
  if (!call[0].is_map() && !call[0].is_list() && !call[0].is_string() && !call[0].is_range()) {
    return raise_argument(call, 0, "map, list, str or range", call[0].is_nil() ? "give a default with ??" : "");
  }
  Value found = load_index_or_unset(call.context, call[0], call[1]);
  if (!found->is_unset()) return found;
  return call.has(2) ? call.take(2) : Value();
}

Value builtin_has(NativeCall& call) {
  if (!want_map(call, 0)) return Value::failure();
  int found = contains(call.context, call[1], call[0]);
  return found < 0 ? Value::failure() : Value::boolean(found != 0);
}

namespace {

// Adds an item to the list under its key, which has been checked. The list is the map's own, so it grows in place.
bool add_to_checked_group(Context& context, Map* map, Borrowed key, Value item) {
  bool inserted = false;
  Borrowed* slot = map_slot(context.heap, map, key, inserted, context.heap.known_key());
  if (!slot) return or_memory_limit(context, false);
  if (inserted) {
    List* group = new_list(context.heap, packing_for(item), 1);
    if (!group) return or_memory_limit(context, false);
    *slot = Borrowed::heap(Tag::List, group);
  }
  return or_memory_limit(context, list_push(context.heap, *slot, std::move(item)));
}

bool add_to_group(Context& context, Map* map, Borrowed key, Value item) {
  const KeyScope scope(context);
  return check_key(context, map, key) && add_to_checked_group(context, map, key, std::move(item));
}

// group_by in halves. Elsewhere the keys are computed, charged for and checked, in the order of the elements; the groups are
// made where all is.
struct GroupWork {
  class Out;
  Borrowed items, callee;
  TracePoint place;

  bool share(Sharing& sharing) const { return sharing.add(callee) && sharing.add(items); }
};

class GroupWork::Out {
 public:
  // Without groups: the keys.
  Out(Context& context, const GroupWork& work, uint64_t elements, Map* groups = nullptr)
      : context_(context), work_(work), keys_(context, elements), groups_(groups) {}

  bool ok() const { return true; }
  Step piece(uint64_t from, uint64_t to) {
    Callback f(context_, work_.callee);
    for (uint64_t i = from; i < to; ++i) {
      Value key = f(element_at(work_.items, i));
      if (key.failed() || !add(std::move(key), i)) return Step::Failed;
    }
    return Step::Item;
  }
  Step add(Value part, uint64_t from, uint64_t to) {
    const auto* keys = part->as<List>();
    if (!groups_) return keys_.append(keys) ? Step::Item : Step::Failed;
    for (uint64_t i = from; i < to; ++i) {
      const Value key = list_copy(keys, i - from);
      if (!add_to_checked_group(context_, groups_, key, element_at(work_.items, i))) return Step::Failed;
    }
    return Step::Item;
  }
  Value part(Step) { return keys_.finish(); }

 private:
  bool add(Value key, uint64_t i) {
    if (groups_) return add_to_group(context_, groups_, key, element_at(work_.items, i));
    return charge_light_key(context_, key) && keys_.push(std::move(key));
  }

  Context& context_;
  const GroupWork& work_;
  ListBuilder keys_;
  Map* const groups_;
};

}  // namespace

Value builtin_group_by(NativeCall& call) {
  if (!want_iterable(call, 0) || !want_function(call, 1)) return Value::failure();
  Map* map = new_map(call.context.heap);
  if (!map) return call.context.raise_memory_limit();
  Value groups = Value::adopt(Borrowed::heap(Tag::Map, map));
  if (has_halves(call.context, call[0], call[1])) {
    const GroupWork work{call[0], call[1], call.context.take_call_place()};
    const uint64_t elements = item_count(call[0]);
    GroupWork::Out out(call.context, work, 0, map);
    return in_halves(call.context, work, out, elements) == Step::Failed ? Value::failure() : std::move(groups);
  }
  Callback f(call.context, call[1]);
  Meter meter(call.context, call[1]);
  bool ok = for_each_item(call.context, call[0], [&](Value item) {
    if (!meter.add(1)) return false;
    Value key = f(Value::copy(item));
    return !key.failed() && add_to_group(call.context, map, key, std::move(item));
  });
  return ok ? std::move(groups) : Value::failure();
}

}  // namespace posset::interp
