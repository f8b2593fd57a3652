// Containers off the fast paths. See slow.h.
#include <algorithm>

#include "bytecode/slow.h"
#include "interp/runtime/builtins.h"
#include "interp/runtime/call.h"
#include "interp/runtime/iterate.h"
#include "interp/runtime/ops.h"
#include "interp/runtime/place.h"
#include "interp/runtime/work.h"
#include "interp/value/list.h"
#include "interp/value/map.h"
#include "interp/value/record.h"
#include "interp/value/string.h"

namespace posset::bytecode {

using interp::builtin_number;
using interp::List;
using interp::Packing;
using interp::Record;

namespace {

bool finish(Value result, Borrowed* dst) {
  if (result.failed()) return false;
  *dst = result.take();
  return true;
}

// Remembers where a shape keeps the field; gives its index or -1.
int64_t fill_cache(Context& context, Borrowed base, FieldCache& cache) {
  if (!base.is_record() && !base.is_variant()) return -1;
  auto* record = base.as<Record>();
  int at = interp::field_index(context.heap, record, cache.name);
  if (at < 0) return -1;
  cache.seen.store(uint64_t{record->shape} << 32 | static_cast<uint32_t>(at), std::memory_order_relaxed);
  return at;
}

// As the cache has it where that knows the shape.
int64_t field_number(Context& context, Borrowed base, FieldCache& cache) {
  if (!base.is_record() && !base.is_variant()) return -1;
  const uint64_t seen = cache.seen.load(std::memory_order_relaxed);
  return seen >> 32 == base.as<Record>()->shape ? static_cast<int64_t>(seen & 0xffffffff) : fill_cache(context, base, cache);
}

// A built-in called on a place directly: its value lent as the first argument, then put back.
Value call_on_place(Context& context, size_t number, Borrowed* place, Borrowed* arguments, uint32_t count) {
  arguments[0] = std::exchange(*place, Borrowed::nil());
  interp::NativeCall call{context, arguments, count, &interp::builtin(number)};
  Value result = call.function->entry(call);
  *place = arguments[0];
  for (uint32_t i = 1; i < count; ++i) interp::release(arguments[i]);
  return result;
}

}  // namespace

void remember_field(Context& context, Borrowed base, FieldCache& cache) { fill_cache(context, base, cache); }

// ---- reading ----

bool slow_index(Context& context, Borrowed* dst, Borrowed* base, Borrowed* index, uint8_t x) {
  Value result = interp::load_index(context, *base, *index);
  drop_consumed(base, index, x);
  return finish(std::move(result), dst);
}

// A view is not owned, so what load_index makes anew cannot be one: such values are plain (characters,
// numbers) or live in the container; a slice is kept alive by the context until the next one, or by `holds`, which is nil.
bool slow_view_index(Context& context, Borrowed* dst, Borrowed* base, Borrowed* index, Borrowed* holds) {
  Value result = interp::load_index(context, *base, *index);
  if (result.failed()) return false;
  *dst = result.view();
  if (!result->is_heap()) return true;
  if (holds) {
    *holds = result.take();
  } else if (result->object()->count == 1) {
    context.keep_view(std::move(result));
  }
  return true;
}

bool slow_index_or(Context& context, Borrowed* dst, Borrowed* base, Borrowed* index, uint8_t x) {
  Value result = interp::load_index_or_unset(context, *base, *index);
  drop_consumed(base, index, x);
  return finish(std::move(result), dst);
}

bool slow_field(Context& context, Borrowed* dst, Borrowed* base, FieldCache& cache, uint8_t x) {
  fill_cache(context, *base, cache);
  Value result = interp::load_field(context, *base, cache.name);
  drop_consumed(base, nullptr, x & kConsumeB);
  return finish(std::move(result), dst);
}

bool slow_view_field(Context& context, Borrowed* dst, Borrowed* base, FieldCache& cache) {
  int64_t at = fill_cache(context, *base, cache);
  if (at >= 0) {
    *dst = base->as<Record>()->fields()[at];
    return true;
  }
  Value result = interp::load_field(context, *base, cache.name);
  if (result.failed()) return false;
  *dst = result.view();
  if (result->is_heap() && result->object()->count == 1) context.keep_view(std::move(result));
  return true;
}

bool slow_slice(Context& context, Borrowed* dst, Borrowed* base, Borrowed* bounds, uint8_t x) {
  Value result = interp::load_slice(context, *base, bounds[0], bounds[1], (x & kSense) != 0);
  drop(bounds[0]);
  drop(bounds[1]);
  if (x & kConsumeB) drop(*base);
  return finish(std::move(result), dst);
}

bool slow_len(Context& context, Borrowed* dst, Borrowed* operand, uint8_t x) {
  interp::NativeCall call{context, operand, 1, &interp::builtin(builtin_number("len"))};
  Value result = call.function->entry(call);
  if (x & kConsumeB) drop(*operand);
  return finish(std::move(result), dst);
}

namespace {

// A built-in of two arguments.
bool call_on_two(Context& context, size_t number, Borrowed* dst, Borrowed* first, Borrowed* second, uint8_t x) {
  Borrowed arguments[2] = {*first, *second};
  interp::NativeCall call{context, arguments, 2, &interp::builtin(number)};
  Value result = call.function->entry(call);
  drop_consumed(first, second, x);
  return finish(std::move(result), dst);
}

}  // namespace

bool slow_code_at(Context& context, Borrowed* dst, Borrowed* text, Borrowed* index, uint8_t x) {
  return call_on_two(context, builtin_number("code"), dst, text, index, x);
}

bool slow_has(Context& context, Borrowed* dst, Borrowed* map, Borrowed* key, uint8_t x) {
  return call_on_two(context, builtin_number("has"), dst, map, key, x);
}

// ---- changing in place ----

bool slow_set_index(Context& context, Borrowed* container, Borrowed* index, Borrowed* value, bool consume) {
  return interp::store_index(context, container, *index, operand_value(*value, consume));
}

bool slow_set_field(Context& context, Borrowed* container, FieldCache& cache, Borrowed* value, bool consume) {
  const int64_t at = field_number(context, *container, cache);
  Value v = operand_value(*value, consume);
  if (at < 0) return interp::store_field(context, container, cache.name, std::move(v));
  if (!interp::or_memory_limit(context, interp::make_unique_record(context.heap, *container))) return false;
  interp::release(container->as<Record>()->store(static_cast<uint32_t>(at), v.take()));
  return true;
}

namespace {

// Room for one more, the packing fits, nobody else sees the list: nothing can go wrong.
bool push_in_room(Borrowed place, Borrowed v) {
  if (!place.is_list() || !interp::is_unique(place.object())) return false;
  auto* list = place.as<List>();
  if (list->size >= list->capacity || list->size == 0 || !interp::fits(list->packing(), v)) return false;
  uint64_t at = list->size++;
  switch (list->packing()) {
    case Packing::Any: list->any()[at] = v; break;
    case Packing::Int: list->ints()[at] = v.as_int(); break;
    case Packing::Float: list->floats()[at] = v.as_float(); break;
    case Packing::Bool: list->bools()[at] = v.as_bool(); break;
  }
  return true;
}

}  // namespace

bool slow_push(Context& context, Borrowed* place, Borrowed* value, bool consume) {
  Value v = operand_value(*value, consume);
  if (push_in_room(*place, v)) [[likely]] {
    (void)v.take();
    return true;
  }
  if (place->is_list() && interp::is_unique(place->object())) {
    return interp::or_memory_limit(context, interp::list_push(context.heap, *place, std::move(v)));
  }
  Borrowed arguments[2] = {Borrowed::nil(), v.take()};
  return !call_on_place(context, builtin_number("push"), place, arguments, 2).failed();
}

bool slow_pop(Context& context, Borrowed* dst, Borrowed* place) {
  Borrowed arguments[1];
  return finish(call_on_place(context, builtin_number("pop"), place, arguments, 1), dst);
}

bool slow_swap(Context& context, Borrowed* place, Borrowed i, Borrowed j) {
  if (place->is_list() && i.is_int() && j.is_int() && interp::is_unique(place->object())) {
    auto* list = place->as<List>();
    auto a = static_cast<uint64_t>(i.as_int()), b = static_cast<uint64_t>(j.as_int());
    if (a < list->size && b < list->size) {
      interp::list_swap(list, a, b);
      return true;
    }
  }
  interp::retain(i);
  interp::retain(j);
  Borrowed arguments[3] = {Borrowed::nil(), i, j};
  return !call_on_place(context, builtin_number("swap"), place, arguments, 3).failed();
}

// ---- building ----

bool new_list(Context& context, Borrowed* dst, uint32_t capacity) {
  List* list = interp::new_list(context.heap, Packing::Any, capacity);
  if (!list) return interp::or_memory_limit(context, false);
  *dst = Borrowed::heap(interp::Tag::List, list);
  return true;
}

bool make_list(Context& context, Borrowed* dst, Borrowed* first, uint32_t count) {
  List* list = interp::new_list_of(context.heap, first, count);
  if (!list) return interp::or_memory_limit(context, false);
  std::fill_n(first, count, Borrowed::nil());
  *dst = Borrowed::heap(interp::Tag::List, list);
  return true;
}

bool append_item(Context& context, Borrowed* list, Borrowed* value, uint8_t x) {
  Value v = operand_value(*value, x & kConsumeB);
  if (push_in_room(*list, v)) {
    (void)v.take();
    return true;
  }
  return interp::or_memory_limit(context, interp::list_push(context.heap, *list, std::move(v)));
}

bool append_spread_items(Context& context, Borrowed* list, Borrowed* value, uint8_t x) {
  if (x & kSense) return interp::begin_with_spread(context, *list, operand_value(*value, x & kConsumeB));
  bool ok = interp::append_spread(context, *list, *value);
  if (x & kConsumeB) drop(*value);
  return ok;
}

bool new_map(Context& context, Borrowed* dst, uint32_t capacity) {
  interp::Map* map = interp::new_map(context.heap, capacity);
  if (!map) return interp::or_memory_limit(context, false);
  *dst = Borrowed::heap(interp::Tag::Map, map);
  return true;
}

bool map_put(Context& context, Borrowed* map, Borrowed* key, Borrowed* value, uint8_t x) {
  bool ok = interp::store_index(context, map, *key, operand_value(*value, x & kConsumeC));
  if (x & kConsumeB) drop(*key);
  return ok;
}

bool make_record(Context& context, Borrowed* dst, Borrowed* first, const interp::Shape* shape) {
  auto* record = context.heap.make<Record>(interp::Tag::Record,
                                           sizeof(Record) + shape->fields.size() * sizeof(Borrowed));
  if (!record) return interp::or_memory_limit(context, false);
  record->shape = shape->id;
  record->size = static_cast<uint16_t>(shape->fields.size());
  for (uint32_t i = 0; i < record->size; ++i) record->new_fields()[i] = std::exchange(first[i], Borrowed::nil());
  record->note_kinds();
  *dst = Borrowed::heap(interp::Tag::Record, record);
  return true;
}

bool build_record(Context& context, Borrowed* dst, Borrowed* first, const FieldNames& names) {
  interp::RecordBuilder builder(context.heap);
  for (size_t i = 0; i < names.size(); ++i) {
    Value v = move_out(first[i]);
    if (names[i]) {
      builder.set(names[i], std::move(v));
    } else if (v->is_record()) {
      builder.spread(v->as<Record>());
    } else {
      context.raise(interp::ErrorCode::WrongOperands,
                    "cannot spread " + interp::kind_and_value(context, v) + " into a record", "..r takes a record");
      return false;
    }
  }
  return finish(interp::or_memory_limit(context, builder.finish()), dst);
}

bool make_variant(Context& context, Borrowed* dst, Borrowed* first, uint32_t count, Borrowed constructor) {
  auto* info = static_cast<const interp::ConstructorInfo*>(constructor.as<interp::Constructor>()->declaration);
  bool typed = std::any_of(info->decl->fields.begin(), info->decl->fields.end(), [](auto& f) { return f.type; });
  if (typed) {
    Value result = interp::call_value(context, constructor, first, count, 0);
    for (uint32_t i = 0; i < count; ++i) first[i] = Borrowed::nil();
    return finish(std::move(result), dst);
  }
  const interp::Shape* shape = context.runtime.shapes.shape(constructor.as<interp::Constructor>()->shape);
  return finish(interp::make_variant(context, shape, first, count), dst);
}

bool make_range(Context& context, Borrowed* dst, Borrowed* first, Borrowed* last, uint8_t x) {
  Value result = interp::make_range(context, *first, *last, (x & kSense) != 0);
  drop_consumed(first, last, x);
  return finish(std::move(result), dst);
}

bool interpolate(Context& context, Borrowed* dst, Borrowed* first, const std::vector<Piece>& pieces,
                 const interp::Function& function) {
  interp::Interpolated out(context);
  uint32_t next = 0;
  bool ok = true;
  for (const Piece& piece : pieces) {
    if (!piece.is_value) {
      out.append(piece.text);
      continue;
    }
    Value v = move_out(first[next++]);
    if (!ok) continue;
    ok = out.append(std::move(v), piece.spec ? &*piece.spec : nullptr);
    if (!ok) context.note_failure(function, piece.site);
  }
  return ok && finish(out.finish(), dst);
}

bool make_closure(Context& context, Borrowed* dst, Closure* running, uint32_t child, Borrowed* registers) {
  const interp::Function* function = running->function->children[child];
  const auto& captures = function->decl->captures;
  Closure* closure = interp::new_closure(context, function, static_cast<uint32_t>(captures.size()));
  if (!closure) return false;
  Borrowed* values = closure->captured();
  for (size_t i = 0; i < captures.size(); ++i) {
    const syntax::Capture& capture = captures[i];
    using From = syntax::Capture::From;
    if (capture.from == From::Local) {
      values[i] = operand_value(registers[capture.index], capture.last_use).take();
      continue;
    }
    values[i] = capture.from == From::Self ? Borrowed::heap(interp::Tag::Fn, running)
                                           : running->captured()[capture.index];
    interp::retain(values[i]);
  }
  *dst = Borrowed::heap(interp::Tag::Fn, closure);
  return true;
}

// ---- patterns ----

Borrowed item_of(Borrowed container, uint32_t at, bool from_end) {
  if (container.is_variant()) return container.as<Record>()->fields()[at];
  auto* list = container.as<List>();
  return interp::list_get(list, from_end ? list->size - 1 - at : at);
}

bool rest_list(Context& context, Borrowed* dst, Borrowed list, uint32_t skip, uint32_t drop_last) {
  uint64_t size = list.as<List>()->size;
  Value rest = interp::list_slice(context.heap, list.as<List>(), skip, size - drop_last);
  return finish(interp::or_memory_limit(context, std::move(rest)), dst);
}

bool rest_record(Context& context, Borrowed* dst, Borrowed record, const FieldNames& names) {
  auto* from = record.as<Record>();
  const interp::Shape* shape = interp::shape_of(context.heap, from);
  interp::RecordBuilder builder(context.heap);
  for (uint32_t i = 0; i < from->size; ++i) {
    bool named = std::find(names.begin(), names.end(), shape->fields[i]) != names.end();
    if (!named) builder.set(shape->fields[i], Value::copy(from->fields()[i]));
  }
  return finish(interp::or_memory_limit(context, builder.finish()), dst);
}

bool fits_constructor(const Closure*, Borrowed value, Borrowed constructor) {
  if (!value.is_variant()) return false;
  uint32_t shape = constructor.is_variant() ? constructor.as<Record>()->shape
                                            : constructor.as<interp::Constructor>()->shape;
  return value.as<Record>()->shape == shape;
}

bool test_field(Context& context, Borrowed* dst, Borrowed base, FieldCache& cache) {
  const int64_t at = field_number(context, base, cache);
  if (at < 0) return false;
  *dst = base.as<Record>()->fields()[at];
  return true;
}

}  // namespace posset::bytecode
