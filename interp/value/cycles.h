// What an object holds, for everything that walks the graph of objects: cycle collection for `ref`
// (the only way to make a cycle; see Heap::collect_cycles) and sharing.
#pragma once

#include <span>

#include "interp/value/objects.h"

namespace posset::interp {

// Where an object keeps its values side by side: there. Plain values of a record are not to be replaced (its kinds).
inline std::span<Borrowed> values_of(Object* object) {
  switch (object->tag) {
    case Tag::List: {
      auto* list = static_cast<List*>(object);
      return list->packing() == Packing::Any ? std::span(list->any(), list->size) : std::span<Borrowed>();
    }
    case Tag::Record:
    case Tag::Variant: {
      auto* record = static_cast<Record*>(object);
      return {record->new_fields(), record->size};
    }
    case Tag::Fn: {
      auto* closure = static_cast<Closure*>(object);
      return {closure->captured(), closure->size};
    }
    default: return {};
  }
}

// Calls visit(Borrowed) for each value an object holds directly.
template <class Visit>
void for_each_value(Object* object, Visit&& visit) {
  switch (object->tag) {
    case Tag::List:
    case Tag::Record:
    case Tag::Variant:
    case Tag::Fn:
      for (Borrowed& each : values_of(object)) visit(each);
      break;
    case Tag::Map: {
      auto* map = static_cast<Map*>(object);
      for (uint32_t i = map->first; i < map->used; ++i) {
        if (map->entries[i].key.is_unset()) continue;
        visit(map->entries[i].key);
        visit(map->entries[i].value);
      }
      break;
    }
    case Tag::Ref:
      visit(static_cast<Ref*>(object)->value);
      break;
    case Tag::Error: {
      auto* error = static_cast<ErrorObject*>(object);
      visit(error->message);
      visit(error->value);
      break;
    }
    case Tag::Task:
      visit(static_cast<TaskObject*>(object)->result);
      break;
    case Tag::Chan:
      visit(static_cast<ChanObject*>(object)->held);
      break;
    case Tag::Host:
      if (object->flags & HostObject::kMethod) visit(static_cast<BoundMethod*>(object)->receiver);
      if (object->flags & HostObject::kHolds) visit(static_cast<HoldingObject*>(object)->held);
      break;
    default:
      break;  // no values inside
  }
}

// The same until visit gives false, which is given.
template <class Visit>
bool each_value(Object* object, Visit&& visit) {
  if (object->tag == Tag::Map) {
    auto* map = static_cast<Map*>(object);
    for (uint32_t i = map->first; i < map->used; ++i) {
      if (map->entries[i].key.is_unset()) continue;
      if (!visit(map->entries[i].key) || !visit(map->entries[i].value)) return false;
    }
    return true;
  }
  for (Borrowed& each : values_of(object)) {
    if (!visit(each)) return false;
  }
  if (!values_of(object).empty()) return true;
  bool goes_on = true;
  for_each_value(object, [&](Borrowed& v) { goes_on = goes_on && visit(v); });
  return goes_on;
}

}  // namespace posset::interp
