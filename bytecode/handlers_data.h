// Containers: reading, changing in place, building, patterns. Fast paths for lists and for fields whose
// shape the inline cache knows.
#pragma once

#include "bytecode/machine.h"

namespace posset::bytecode {

using interp::List;
using interp::Map;
using interp::Packing;
using interp::Record;

// ---- reading ----
POSSET_HANDLER bool list_item(Borrowed base, Borrowed index, Borrowed& out) {
  if (!base.is_list() || !index.is_int()) return false;
  auto* list = base.as<List>();
  auto at = static_cast<uint64_t>(index.as_int());
  if (at >= list->size) return false;
  switch (list->packing()) {
    case Packing::Any: out = list->any()[at]; return true;
    case Packing::Int: out = Borrowed::integer(list->ints()[at]); return true;
    case Packing::Float: out = Borrowed::floating(list->float_at(at)); return true;
    case Packing::Bool: out = Borrowed::boolean(list->bools()[at]); return true;
  }
  return false;
}
// A character of a text of which every byte is one.
POSSET_HANDLER bool ascii_item(Borrowed base, Borrowed index, Borrowed& out) {
  if (!base.is_string() || !index.is_int() || !interp::is_ascii_string(base)) return false;
  if (static_cast<uint64_t>(index.as_int()) >= interp::ascii_length(base)) return false;
  out = interp::string_at(base, static_cast<uint64_t>(index.as_int()));
  return true;
}
// What a map has for a key of few words, which is not counted.
POSSET_HANDLER bool is_light_key(Borrowed base, Borrowed key) {
  return base.is_map() && interp::same_words_only(base.as<Map>(), key);
}
POSSET_HANDLER bool map_item(Borrowed base, Borrowed key, Borrowed& out) {
  if (!is_light_key(base, key)) return false;
  const Borrowed* found = interp::map_find(base.as<Map>(), key);
  if (!found) return false;
  out = *found;
  return true;
}
POSSET_HANDLER bool item_at_once(Borrowed base, Borrowed index, Borrowed& out) {
  return list_item(base, index, out) || ascii_item(base, index, out) || map_item(base, index, out);
}
POSSET_HANDLER const Insn* op_Index(State& s, Insn i) {
  Borrowed item;
  if (item_at_once(s.r[i.b], s.r[i.c], item)) [[likely]] {
    interp::retain(item);
    if (i.x & kConsumeB) drop(s.r[i.b]);
    s.r[i.a] = item;
    return s.pc + 1;
  }
  return slow_index(s.cx, &s.r[i.a], &s.r[i.b], &s.r[i.c], i.x) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_ViewIndex(State& s, Insn i) {
  Borrowed item;
  if (item_at_once(s.r[i.b], s.r[i.c], item)) [[likely]] {
    s.r[i.a] = item;
    return s.pc + 1;
  }
  Borrowed* const holds = i.x & kHolds ? &s.r[i.a - s.chunk->slots] : nullptr;
  return slow_view_index(s.cx, &s.r[i.a], &s.r[i.b], &s.r[i.c], holds) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_IndexOr(State& s, Insn i) {
  if (is_light_key(s.r[i.b], s.r[i.c])) {
    const Borrowed* found = interp::map_find(s.r[i.b].as<Map>(), s.r[i.c]);
    const Borrowed item = found ? *found : Borrowed::unset();
    interp::retain(item);
    if (i.x & kConsumeB) drop(s.r[i.b]);
    s.r[i.a] = item;
    return s.pc + 1;
  }
  return slow_index_or(s.cx, &s.r[i.a], &s.r[i.b], &s.r[i.c], i.x) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_Field(State& s, Insn i) {
  Borrowed base = s.r[i.b];
  FieldCache& cache = cache_at(s, i.c);
  int64_t at = cached_field(cache, base);
  if (at >= 0) [[likely]] {
    Borrowed v = base.as<Record>()->fields()[at];
    interp::retain(v);
    if (i.x & kConsumeB) drop(s.r[i.b]);
    s.r[i.a] = v;
    return s.pc + 1;
  }
  return slow_field(s.cx, &s.r[i.a], &s.r[i.b], cache, i.x) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_ViewField(State& s, Insn i) {
  Borrowed base = s.r[i.b];
  FieldCache& cache = cache_at(s, i.c);
  int64_t at = cached_field(cache, base);
  if (at >= 0) [[likely]] {
    s.r[i.a] = base.as<Record>()->fields()[at];
    return s.pc + 1;
  }
  return slow_view_field(s.cx, &s.r[i.a], &s.r[i.b], cache) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_Slice(State& s, Insn i) {
  return slow_slice(s.cx, &s.r[i.a], &s.r[i.b], &s.r[i.c], i.x) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_Len(State& s, Insn i) {
  Borrowed b = s.r[i.b];
  if (b.is_list() || (b.is_string() && interp::is_ascii_string(b))) {
    const uint64_t size = b.is_list() ? b.as<List>()->size : interp::ascii_length(b);
    if (i.x & kConsumeB) drop(s.r[i.b]);
    s.r[i.a] = Borrowed::integer(static_cast<int64_t>(size));
    return s.pc + 1;
  }
  return slow_len(s.cx, &s.r[i.a], &s.r[i.b], i.x) ? s.pc + 1 : nullptr;
}
// Answers whether a map has a key of few words. False: it is something else.
POSSET_HANDLER bool has_at_once(Borrowed& result, Borrowed& base, Borrowed key, bool consumes) {
  if (!is_light_key(base, key)) return false;
  const bool has = interp::map_find(base.as<Map>(), key) != nullptr;
  if (consumes) drop(base);
  result = Borrowed::boolean(has);
  return true;
}
POSSET_HANDLER const Insn* op_Has(State& s, Insn i) {
  if (has_at_once(s.r[i.a], s.r[i.b], s.r[i.c], i.x & kConsumeB)) return s.pc + 1;
  return slow_has(s.cx, &s.r[i.a], &s.r[i.b], &s.r[i.c], i.x) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_In(State& s, Insn i) {
  if (has_at_once(s.r[i.a], s.r[i.c], s.r[i.b], i.x & kConsumeC)) return s.pc + 1;
  int outcome = slow_contains(s.cx, &s.r[i.b], &s.r[i.c], i.x);
  if (outcome < 0) return nullptr;
  s.r[i.a] = Borrowed::boolean(outcome);
  return s.pc + 1;
}
POSSET_HANDLER const Insn* op_CodeAt(State& s, Insn i) {
  Borrowed b = s.r[i.b], at = s.r[i.c];
  if (b.is(interp::Tag::Str) && at.is_int() && i.x == 0) {
    auto* text = b.as<interp::Str>();
    if (text->ascii() && static_cast<uint64_t>(at.as_int()) < text->size) {
      s.r[i.a] = Borrowed::integer(static_cast<uint8_t>(text->data()[at.as_int()]));
      return s.pc + 1;
    }
  }
  return slow_code_at(s.cx, &s.r[i.a], &s.r[i.b], &s.r[i.c], i.x) ? s.pc + 1 : nullptr;
}

// ---- changing in place ----
// True when the element could be replaced by a plain value without any bookkeeping.
POSSET_HANDLER bool set_packed(List* list, uint64_t at, Borrowed v) {
  switch (list->packing()) {
    case Packing::Int:
      if (!v.is_int()) return false;
      list->ints()[at] = v.as_int();
      return true;
    case Packing::Float:
      if (!v.is_float()) return false;
      list->set_float(at, v.as_float());
      return true;
    case Packing::Bool:
      if (!v.is_bool()) return false;
      list->bools()[at] = v.as_bool();
      return true;
    case Packing::Any: return false;
  }
  return false;
}
POSSET_HANDLER bool set_item(Borrowed container, Borrowed index, Borrowed& value, bool consume) {
  if (!container.is_list() || !index.is_int()) return false;
  auto* list = container.as<List>();
  auto at = static_cast<uint64_t>(index.as_int());
  if (at >= list->size || !interp::is_unique(list)) return false;
  if (list->packing() != Packing::Any) return set_packed(list, at, value);
  Borrowed v = value;
  if (consume) {
    value = Borrowed::nil();
  } else {
    interp::retain(v);
  }
  Borrowed old = list->any()[at];
  list->any()[at] = v;
  interp::release(old);
  return true;
}
POSSET_HANDLER bool set_cached_field(Borrowed container, const FieldCache& cache, Borrowed& value, bool consume) {
  int64_t at = cached_field(cache, container);
  if (at < 0 || !interp::is_unique(container.object())) return false;
  Borrowed v = value;
  if (consume) {
    value = Borrowed::nil();
  } else {
    interp::retain(v);
  }
  interp::release(container.as<Record>()->store(static_cast<uint32_t>(at), v));
  return true;
}
POSSET_HANDLER const Insn* op_SetIndex(State& s, Insn i) {
  bool consume = i.x & kConsumeC;
  if (set_item(s.r[i.a], s.r[i.b], s.r[i.c], consume)) [[likely]] return s.pc + 1;
  return slow_set_index(s.cx, &s.r[i.a], &s.r[i.b], &s.r[i.c], consume) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_SetField(State& s, Insn i) {
  bool consume = i.x & kConsumeC;
  FieldCache& cache = cache_at(s, i.b);
  if (set_cached_field(s.r[i.a], cache, s.r[i.c], consume)) [[likely]] return s.pc + 1;
  return slow_set_field(s.cx, &s.r[i.a], cache, &s.r[i.c], consume) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_PlaceLocal(State& s, Insn i) {
  s.place = &s.r[i.a];
  s.shared_cell = false;
  return s.pc + 1;
}
POSSET_HANDLER const Insn* op_PlaceRef(State& s, Insn i) {
  s.shared_cell = true;
  Borrowed* cell = nullptr;
  if (!place_ref(s.cx, s.r[i.a], (i.x & kSense) != 0, cell)) return nullptr;
  s.place = cell;
  return s.pc + 1;
}
POSSET_HANDLER const Insn* op_PlaceIndex(State& s, Insn i) {
  Borrowed base = *s.place, index = s.r[i.a];
  if (base.is_list() && index.is_int() && interp::is_unique(base.object())) {
    auto* list = base.as<List>();
    auto at = static_cast<uint64_t>(index.as_int());
    if (at < list->size && list->packing() == Packing::Any) {
      s.place = &list->any()[at];
      return s.pc + 1;
    }
  }
  s.place = interp::place_index(s.cx, s.place, index);
  return s.place ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_PlaceIndexOr(State& s, Insn i) {
  Value fallback = move_out(s.r[i.b]);
  s.place = interp::place_index_default(s.cx, s.place, s.r[i.a], fallback);
  return s.place ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_PlaceFind(State& s, Insn i) {
  if (i.x & kSense) interp::begin_insertions(s.cx);
  bool failed = false;
  Borrowed* found = place_find(s.cx, s.place, s.r[i.a], failed);
  if (failed) return nullptr;
  if (!found) return s.pc + 1;
  s.place = found;
  return s.pc + i.imm_c();
}
POSSET_HANDLER const Insn* op_PlaceField(State& s, Insn i) {
  Borrowed base = *s.place;
  FieldCache& cache = cache_at(s, i.a);
  int64_t at = cached_field(cache, base);
  if (at >= 0 && interp::is_unique(base.object())) [[likely]] {
    s.place = base.as<Record>()->field_place(static_cast<uint32_t>(at));
    return s.pc + 1;
  }
  if (base.is(interp::Tag::Ref)) s.shared_cell = true;
  remember_field(s.cx, base, cache);
  s.place = interp::place_field(s.cx, s.place, cache.name);
  return s.place ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_StoreIndex(State& s, Insn i) {
  bool consume = i.x & kConsumeB;
  if (set_item(*s.place, s.r[i.a], s.r[i.b], consume)) [[likely]] return s.pc + 1;
  return slow_set_index(s.cx, s.place, &s.r[i.a], &s.r[i.b], consume) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_StoreField(State& s, Insn i) {
  bool consume = i.x & kConsumeB;
  FieldCache& cache = cache_at(s, i.a);
  if (set_cached_field(*s.place, cache, s.r[i.b], consume)) [[likely]] return s.pc + 1;
  return slow_set_field(s.cx, s.place, cache, &s.r[i.b], consume) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_StorePlace(State& s, Insn i) {
  Value v = operand_value(s.r[i.a], i.x & kConsumeA);
  interp::release(std::exchange(*s.place, v.take()));
  return s.pc + 1;
}
POSSET_HANDLER Borrowed* old_value(State& s, uint16_t reg) { return reg == kNoRegister ? nullptr : &s.r[reg]; }

// place.field op= number where the field is in the cache: no call at all. The cell's kind stays.
POSSET_HANDLER bool update_number(Borrowed& cell, syntax::BinaryOp op, Borrowed right) {
  using syntax::BinaryOp;
  if (cell.is_float() && right.is_float()) {
    double a = cell.as_float(), b = right.as_float();
    if (op == BinaryOp::Add) cell = Borrowed::floating(a + b);
    else if (op == BinaryOp::Sub) cell = Borrowed::floating(a - b);
    else if (op == BinaryOp::Mul) cell = Borrowed::floating(a * b);
    else return false;
    return true;
  }
  if (cell.is_int() && right.is_int()) {
    int64_t out;
    bool over = true;
    if (op == BinaryOp::Add) over = __builtin_add_overflow(cell.as_int(), right.as_int(), &out);
    if (op == BinaryOp::Sub) over = __builtin_sub_overflow(cell.as_int(), right.as_int(), &out);
    if (over) return false;
    cell = Borrowed::integer(out);
    return true;
  }
  return false;
}
// The old value that was read before the right side ran is still the one in the place.
POSSET_HANDLER bool old_is_current(State& s, uint16_t reg, Borrowed cell) {
  if (reg == kNoRegister) return true;
  return s.r[reg].word0 == cell.word0 && s.r[reg].word1 == cell.word1;
}
// m[k] op= number for a key that is there and costs no steps. A default is not looked at then; who has to give one back
// goes the other way.
POSSET_HANDLER bool update_entry(State& s, Insn i, syntax::BinaryOp op) {
  const Borrowed base = *s.place, key = s.r[i.a];
  const bool is_quick = key.is_int() || key.is_short_string() || (key.is(interp::Tag::Str) && key.as<interp::Str>()->size < interp::kCounted);
  if (!base.is_map() || !interp::is_unique(base.object()) || !is_quick) return false;
  Borrowed* cell = interp::map_find(base.as<interp::Map>(), key);
  if (!cell) return false;
  const bool ready = i.x & kSense ? !s.r[i.c].is_heap() : old_is_current(s, i.c, *cell);
  return ready && update_number(*cell, op, s.r[i.b]);
}
POSSET_HANDLER const Insn* op_UpdateIndex(State& s, Insn i) {
  auto op = static_cast<syntax::BinaryOp>(next_word(s));
  Borrowed base = *s.place, index = s.r[i.a];
  bool fallback = i.x & kSense;
  if (base.is_list() && index.is_int() && interp::is_unique(base.object()) && !s.r[i.b].is_heap() && !fallback) {
    auto* list = base.as<List>();
    auto at = static_cast<uint64_t>(index.as_int());
    Borrowed cell;
    if (at < list->size && list_item(base, index, cell) && old_is_current(s, i.c, cell) &&
        update_number(cell, op, s.r[i.b])) {
      if (list->packing() != Packing::Any) {
        if (set_packed(list, at, cell)) return s.pc + 2;
      } else {
        list->any()[at] = cell;
        return s.pc + 2;
      }
    }
  }
  if (update_entry(s, i, op)) return s.pc + 2;
  bool ok = update_index(s.cx, s.place, s.r[i.a], op, old_value(s, i.c), fallback, &s.r[i.b], i.x & kConsumeB);
  return ok ? s.pc + 2 : nullptr;
}
POSSET_HANDLER const Insn* op_UpdateField(State& s, Insn i) {
  auto op = static_cast<syntax::BinaryOp>(next_word(s));
  FieldCache& cache = cache_at(s, i.a);
  int64_t at = cached_field(cache, *s.place);
  if (at >= 0 && interp::is_unique(s.place->object()) &&
      old_is_current(s, i.c, s.place->as<Record>()->fields()[at]) &&
      update_number(s.place->as<Record>()->new_fields()[at], op, s.r[i.b])) {
    return s.pc + 2;
  }
  bool ok = update_field(s.cx, s.place, cache, op, old_value(s, i.c), &s.r[i.b], i.x & kConsumeB);
  return ok ? s.pc + 2 : nullptr;
}
POSSET_HANDLER const Insn* op_UpdatePlace(State& s, Insn i) {
  auto op = static_cast<syntax::BinaryOp>(next_word(s));
  if (old_is_current(s, i.b, *s.place) && update_number(*s.place, op, s.r[i.a])) return s.pc + 2;
  bool ok = update_cell(s.cx, s.place, op, old_value(s, i.b), &s.r[i.a], i.x & kConsumeA);
  return ok ? s.pc + 2 : nullptr;
}
POSSET_HANDLER const Insn* op_TakeIndex(State& s, Insn i) {
  Value v = interp::take_index(s.cx, s.place, s.r[i.b], s.shared_cell);
  if (v.failed()) return nullptr;
  s.r[i.a] = v.take();
  return s.pc + 1;
}
POSSET_HANDLER const Insn* op_TakeField(State& s, Insn i) {
  Value v = interp::take_field(s.cx, s.place, cache_at(s, i.b).name,
                               s.shared_cell || s.place->is(interp::Tag::Ref));
  if (v.failed()) return nullptr;
  s.r[i.a] = v.take();
  return s.pc + 1;
}
POSSET_HANDLER const Insn* op_TakePlace(State& s, Insn i) {
  s.r[i.a] = operand_value(*s.place, !s.shared_cell).take();
  return s.pc + 1;
}
POSSET_HANDLER const Insn* op_Push(State& s, Insn i) {
  return slow_push(s.cx, &s.r[i.a], &s.r[i.b], i.x & kConsumeB) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_PushPlace(State& s, Insn i) {
  return slow_push(s.cx, s.place, &s.r[i.a], i.x & kConsumeA) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_Pop(State& s, Insn i) {
  Borrowed base = s.r[i.b];
  if (base.is_list() && interp::is_unique(base.object()) && base.as<List>()->size > 0) {
    auto* list = base.as<List>();
    s.r[i.a] = interp::list_get(list, --list->size);  // the reference moves
    return s.pc + 1;
  }
  return slow_pop(s.cx, &s.r[i.a], &s.r[i.b]) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_Swap(State& s, Insn i) {
  return slow_swap(s.cx, &s.r[i.a], s.r[i.b], s.r[i.c]) ? s.pc + 1 : nullptr;
}

// ---- building ----
POSSET_HANDLER const Insn* op_NewList(State& s, Insn i) { return new_list(s.cx, &s.r[i.a], i.b) ? s.pc + 1 : nullptr; }
POSSET_HANDLER const Insn* op_NewListFor(State& s, Insn i) {
  return new_list_for(s.cx, &s.r[i.a], &s.r[i.b]) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_MakeList(State& s, Insn i) {
  return make_list(s.cx, &s.r[i.a], &s.r[i.b], i.c) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_AppendItem(State& s, Insn i) {
  return append_item(s.cx, &s.r[i.a], &s.r[i.b], i.x) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_AppendSpread(State& s, Insn i) {
  return append_spread_items(s.cx, &s.r[i.a], &s.r[i.b], i.x) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_NewMap(State& s, Insn i) { return new_map(s.cx, &s.r[i.a], i.b) ? s.pc + 1 : nullptr; }
POSSET_HANDLER const Insn* op_MapPut(State& s, Insn i) {
  return map_put(s.cx, &s.r[i.a], &s.r[i.b], &s.r[i.c], i.x) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_MakeRecord(State& s, Insn i) {
  return make_record(s.cx, &s.r[i.a], &s.r[i.b], s.chunk->shapes[i.c]) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_BuildRecord(State& s, Insn i) {
  return build_record(s.cx, &s.r[i.a], &s.r[i.b], s.chunk->field_names[i.c]) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_MakeVariant(State& s, Insn i) {
  return make_variant(s.cx, &s.r[i.a], &s.r[i.b], i.x, link_cell(s, i.c)) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_MakeRange(State& s, Insn i) {
  return make_range(s.cx, &s.r[i.a], &s.r[i.b], &s.r[i.c], i.x) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_Interpolate(State& s, Insn i) {
  bool ok = interpolate(s.cx, &s.r[i.a], &s.r[i.b], s.chunk->texts[i.c], *s.closure->function);
  return ok ? s.pc + 1 : nullptr;
}

// ---- patterns ----
POSSET_HANDLER const Insn* unless(State& s, Insn i, bool fits) { return fits ? s.pc + 1 : s.pc + i.imm_c(); }
POSSET_HANDLER const Insn* op_TestConst(State& s, Insn i) { return unless(s, i, interp::equal(s.r[i.a], s.k[i.b])); }
POSSET_HANDLER const Insn* op_TestLink(State& s, Insn i) {
  return unless(s, i, interp::equal(s.r[i.a], link_cell(s, i.b)));
}
POSSET_HANDLER const Insn* op_TestType(State& s, Insn i) {
  const Chunk::Type& type = s.chunk->types[i.b];
  const Borrowed v = s.r[i.a];
  if (!type.tags.is_open(v)) [[likely]] return unless(s, i, type.tags.fits(v));
  return unless(s, i, interp::fits_type(*s.closure->function, *type.written, v));
}
POSSET_HANDLER const Insn* op_TestList(State& s, Insn i) {
  Borrowed v = s.r[i.a];
  if (!v.is_list()) return s.pc + i.imm_c();
  uint64_t size = v.as<List>()->size;
  return unless(s, i, (i.x & kSense) ? size >= i.b : size == i.b);
}
POSSET_HANDLER const Insn* op_TestRecord(State& s, Insn i) {
  return unless(s, i, s.r[i.a].is_record());
}
POSSET_HANDLER const Insn* op_TestField(State& s, Insn i) {
  FieldCache& cache = *s.chunk->caches[next_word(s)];
  return test_field(s.cx, &s.r[i.a], s.r[i.b], cache) ? s.pc + 2 : s.pc + i.imm_c();
}
POSSET_HANDLER const Insn* op_TestVariant(State& s, Insn i) {
  return unless(s, i, fits_constructor(s.closure, s.r[i.a], link_cell(s, i.b)));
}
POSSET_HANDLER const Insn* op_ViewItem(State& s, Insn i) {
  s.r[i.a] = i.c == kNoRegister ? s.r[i.b] : item_of(s.r[i.b], i.c, i.x & kSense);
  return s.pc + 1;
}
POSSET_HANDLER const Insn* op_RestList(State& s, Insn i) {
  return rest_list(s.cx, &s.r[i.a], s.r[i.b], i.c, i.x) ? s.pc + 1 : nullptr;
}
POSSET_HANDLER const Insn* op_RestRecord(State& s, Insn i) {
  return rest_record(s.cx, &s.r[i.a], s.r[i.b], s.chunk->field_names[i.c]) ? s.pc + 1 : nullptr;
}

}  // namespace posset::bytecode
