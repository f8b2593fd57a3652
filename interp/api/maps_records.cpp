// Maps, records and variants, as the C interface has them: finding, changing in place, enumerating.
#include "interp/api/handles.h"
#include "interp/api/host_text.h"
#include "interp/api/misuse.h"
#include "interp/runtime/messages.h"
#include "interp/runtime/place.h"
#include "interp/runtime/work.h"
#include "interp/value/compare.h"
#include "interp/value/map.h"
#include "interp/value/record.h"

using posset::api::Evaluation;
using posset::api::give;
using posset::api::in;
using posset::api::ok_or_limit;
using posset::api::out;
using posset::api::view;
using posset::interp::Borrowed;
using posset::interp::Map;
using posset::interp::Record;
using posset::interp::Shape;
using posset::interp::Symbol;
using posset::interp::Tag;
using posset::interp::Value;

namespace {

using posset::interp::KeyProblem;

// The place as a unique map: null when it is none or memory ran out; then `status` says so.
Map* unique_map(posset_context* context, posset_value* place, posset_status& status) {
  if (!place || !in(*place).is_map() || posset::api::is_foreign(context, in(*place))) {
    status = POSSET_MISUSE;
    return nullptr;
  }
  Borrowed map = in(*place);
  bool ok = is_unique(map.object()) || make_unique_map(context->heap, map);
  *place = out(map);
  status = ok_or_limit(context, ok);
  return ok ? map.as<Map>() : nullptr;
}

bool is_recordlike(Borrowed v) { return v.is_record() || v.is_variant(); }

const Shape* shape_of_value(posset_context* context, Borrowed v) {
  return context && is_recordlike(v) ? shape_of(context->heap, v.as<Record>()) : nullptr;
}

// Adds a field at the end of a record: a new one with the old fields moved or copied over.
posset_status add_field(posset_context* context, posset_value* place, const Symbol* name,
                        Value value) {
  posset::interp::RecordBuilder builder(context->heap);
  builder.spread(in(*place).as<Record>());
  builder.set(name, std::move(value));
  Value made = builder.finish();
  if (made.failed()) return ok_or_limit(context, false);
  posset::interp::release(in(*place));
  *place = out(made.take());
  return POSSET_OK;
}

bool names_differ(const std::vector<const Symbol*>& names) {
  for (size_t i = 0; i < names.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (names[i] == names[j]) return false;
    }
  }
  return true;
}

// Takes the values when it gives POSSET_OK, else none.
posset_status make_record(posset_context* context, const posset_text* names, posset_value* values, uint32_t count,
                          posset_value* to) {
  std::vector<const Symbol*> symbols;
  for (uint32_t i = 0; i < count; ++i) {
    if (!posset::api::want_utf8(context, view(names[i]), "the name of a field")) return POSSET_RAISED;
    symbols.push_back(context->runtime.shapes.symbol(view(names[i])));
  }
  if (!names_differ(symbols)) return posset::api::misuse(context, "two fields have one name");
  const Shape* shape = context->runtime.shapes.record(symbols);
  Record* record = shape ? new_record(context->heap, shape) : nullptr;
  if (!record) return ok_or_limit(context, false);
  for (uint32_t i = 0; i < count; ++i) record->store(i, in(std::exchange(values[i], posset_nil())));
  return give(Value::adopt(Borrowed::heap(Tag::Record, record)), to);
}

}  // namespace

extern "C" {

// ---- maps ----

posset_status posset_map(posset_context* context, uint64_t capacity, posset_value* to) {
  constexpr uint64_t kMostReserved = 4096;
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  Map* map = posset::interp::new_map(context->heap, std::min(capacity, kMostReserved));
  if (!map) return ok_or_limit(context, false);
  return give(Value::adopt(Borrowed::heap(Tag::Map, map)), to);
}

uint64_t posset_map_size(posset_value map) {
  return in(map).is_map() ? in(map).as<Map>()->live : 0;
}

bool posset_map_find(posset_value map, posset_value key, posset_value* to) {
  if (!in(map).is_map() || posset::interp::is_valid_key(in(key)) != KeyProblem::None) return false;
  const Borrowed* found = map_find(in(map).as<Map>(), in(key));
  if (found && to) *to = out(*found);
  return found != nullptr;
}

posset_status posset_map_get(posset_context* context, posset_value map, posset_value key, posset_value* to) {
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  if (!in(map).is_map() || !to) return POSSET_MISUSE;
  *to = posset_nil();
  const posset::interp::KeyScope scope(*context);
  if (!charge_key(*context, in(map).as<Map>(), in(key))) return POSSET_RAISED;
  if (key_problem(*context, in(key)) != KeyProblem::None) return POSSET_NOT_FOUND;
  const Borrowed* found = map_find(in(map).as<Map>(), in(key), context->heap.known_key());
  if (!found) return POSSET_NOT_FOUND;
  *to = out(*found);
  return POSSET_OK;
}

posset_status posset_map_set(posset_context* context, posset_value* map, posset_value key,
                             posset_value value) {
  Evaluation evaluation(context);
  Value owned_key = evaluation.take(key);
  Value owned_value = evaluation.take(value);
  if (evaluation.failed()) return evaluation.status();
  const posset::interp::KeyScope scope(*context);
  const bool is_map = map && in(*map).is_map();
  if (is_map && !posset::interp::check_key(*context, in(*map).as<Map>(), owned_key)) return POSSET_RAISED;
  posset_status status = POSSET_OK;
  Map* unique = unique_map(context, map, status);
  if (!unique) return status;
  posset::interp::Heap& heap = context->heap;
  return ok_or_limit(context, map_set(heap, unique, std::move(owned_key), std::move(owned_value), heap.known_key()));
}

posset_status posset_map_remove(posset_context* context, posset_value* map, posset_value key,
                                posset_value* removed) {
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  if (!map || !in(*map).is_map()) return POSSET_MISUSE;
  const posset::interp::KeyScope scope(*context);
  if (!charge_key(*context, in(*map).as<Map>(), in(key))) return POSSET_RAISED;
  const posset::interp::KnownKey* const known = context->heap.known_key();
  if (key_problem(*context, in(key)) != KeyProblem::None || !map_find(in(*map).as<Map>(), in(key), known)) return POSSET_NOT_FOUND;
  posset_status status = POSSET_OK;
  Map* unique = unique_map(context, map, status);
  if (!unique) return status;
  return give(map_remove(context->heap, unique, in(key), context->heap.known_key()), removed);
}

bool posset_map_next(posset_value map, uint64_t* position, posset_value* key, posset_value* value) {
  if (!in(map).is_map() || *position > UINT32_MAX) return false;
  const auto* object = in(map).as<Map>();
  uint32_t at = map_next(object, static_cast<uint32_t>(*position));
  if (at >= object->used) return false;
  if (key) *key = out(object->entries[at].key);
  if (value) *value = out(object->entries[at].value);
  *position = at + 1;
  return true;
}

// ---- records and variants ----

posset_status posset_record(posset_context* context, const posset_text* names, posset_value* values,
                            uint32_t count, posset_value* to) {
  if (count != 0 && (!names || !values)) return POSSET_MISUSE;
  Evaluation evaluation(context);
  if (evaluation.failed()) {
    if (evaluation.status() == POSSET_RAISED) posset_release_all(values, count);
    return evaluation.status();
  }
  if (posset::api::has_foreign(context, values, count)) return posset::api::misuse(context, posset::api::kForeign);
  const posset_status status =
      posset::api::guarded(context, [&] { return make_record(context, names, values, count, to); });
  if (status != POSSET_OK) posset_release_all(values, count);
  return status;
}

uint32_t posset_field_count(posset_value value) {
  return is_recordlike(in(value)) ? in(value).as<Record>()->size : 0;
}

posset_text posset_field_name(posset_context* context, posset_value value, uint32_t index) {
  const Shape* shape = shape_of_value(context, in(value));
  if (!shape || index >= shape->fields.size()) return posset::api::text({});
  return posset::api::text(shape->fields[index]->text);
}

posset_value posset_field_at(posset_value value, uint32_t index) {
  return index < posset_field_count(value) ? out(in(value).as<Record>()->fields()[index])
                                           : posset_nil();
}

bool posset_field(posset_context* context, posset_value value, posset_text name, posset_value* to) {
  const Shape* shape = shape_of_value(context, in(value));
  const Symbol* symbol = shape ? context->runtime.shapes.find_symbol(view(name)) : nullptr;
  int index = symbol ? shape->index_of(symbol) : Shape::kNotFound;
  if (index == Shape::kNotFound) return false;
  if (to) *to = out(in(value).as<Record>()->fields()[index]);
  return true;
}

posset_status posset_field_set(posset_context* context, posset_value* place, posset_text name,
                               posset_value value) {
  Evaluation evaluation(context);
  Value held = evaluation.take(value);
  if (evaluation.failed()) return evaluation.status();
  if (!place || !is_recordlike(in(*place)) || posset::api::is_foreign(context, in(*place))) return POSSET_MISUSE;
  if (!posset::api::want_utf8(context, view(name), "the name of a field")) return POSSET_RAISED;
  const Symbol* symbol = context->runtime.shapes.symbol(view(name));
  int index = shape_of_value(context, in(*place))->index_of(symbol);
  if (index == Shape::kNotFound) {
    if (in(*place).is_variant()) return POSSET_NOT_FOUND;
    return add_field(context, place, symbol, std::move(held));
  }
  Borrowed record = in(*place);
  bool ok = is_unique(record.object()) || make_unique_record(context->heap, record);
  *place = out(record);
  if (ok) posset::interp::release(record.as<Record>()->store(static_cast<uint32_t>(index), held.take()));
  return ok_or_limit(context, ok);
}

posset_text posset_variant_name(posset_context* context, posset_value value) {
  const Shape* shape = shape_of_value(context, in(value));
  return posset::api::text(shape && shape->is_variant() ? std::string_view(shape->constructor)
                                                        : std::string_view());
}

}  // extern "C"
