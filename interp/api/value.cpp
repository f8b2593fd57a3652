// Values: kinds, ownership, comparing, ranges, refs and error values. Text is in text.cpp, lists,
// maps and records in collections_*.cpp.
#include "interp/api/handles.h"
#include "interp/runtime/ops.h"
#include "interp/value/compare.h"
#include "interp/value/record.h"

using posset::api::Entry;
using posset::api::Evaluation;
using posset::api::in;
using posset::api::out;
using posset::api::view;
using posset::interp::Borrowed;
using posset::interp::ErrorObject;
using posset::interp::Heap;
using posset::interp::Object;
using posset::interp::Range;
using posset::interp::Ref;
using posset::interp::Tag;
using posset::interp::Value;

namespace {

// Whether this thread may count an object's references, and has nothing to count before. Those that are shared or immortal any may.
bool is_counted_here(const Object* object) {
  if (posset::interp::count_of(object) <= 0) return true;
  const Heap& heap = Heap::heap_of(object);
  return !heap.outside.any() && heap.may_count_here();
}

// The others. False: there was no memory.
[[gnu::noinline, gnu::cold]] bool count_outside(Object* object, int references) noexcept {
  Heap& heap = Heap::heap_of(object);
  try {
    heap.outside.add(object, references);
  } catch (const std::bad_alloc&) {
    return false;
  }
  if (heap.may_count_here()) heap.outside.count();
  return true;
}

constexpr posset_kind kKinds[] = {
    POSSET_NIL,
    POSSET_BOOL,
    POSSET_INT,
    POSSET_FLOAT,
    POSSET_STR,
    POSSET_FN,
    POSSET_NIL /* Unset */,
    POSSET_NIL /* Failed */,
    POSSET_STR,
    POSSET_LIST,
    POSSET_MAP,
    POSSET_RECORD,
    POSSET_VARIANT,
    POSSET_FN,
    POSSET_RANGE,
    POSSET_REF,
    POSSET_ERROR,
    POSSET_MODULE,
    POSSET_FN,
    POSSET_TASK,
    POSSET_CHAN,
    POSSET_HOST,
};
static_assert(std::size(kKinds) == static_cast<size_t>(Tag::Host) + 1);
static_assert(kKinds[static_cast<size_t>(Tag::Builtin)] == POSSET_FN &&
              kKinds[static_cast<size_t>(Tag::Fn)] == POSSET_FN &&
              kKinds[static_cast<size_t>(Tag::Constructor)] == POSSET_FN &&
              kKinds[static_cast<size_t>(Tag::Range)] == POSSET_RANGE);

}  // namespace

extern "C" {

// ---- kinds ----

posset_kind posset_kind_of_other(posset_value value) {
  if (is_bound_method(in(value))) return POSSET_FN;
  auto tag = static_cast<size_t>(in(value).tag());
  return tag < std::size(kKinds) ? kKinds[tag] : POSSET_NIL;
}

bool posset_is_callable(posset_value value) { return posset_kind_of(value) == POSSET_FN; }

bool posset_is_iterable(posset_value value) {
  switch (posset_kind_of(value)) {
    case POSSET_STR:
    case POSSET_LIST:
    case POSSET_MAP:
    case POSSET_RANGE:
    case POSSET_CHAN:
      return true;
    default:
      return false;
  }
}

const char* posset_kind_name(posset_kind kind) {
  for (size_t tag = 0; tag < std::size(kKinds); ++tag) {
    if (kKinds[tag] == kind) return posset::interp::type_name(static_cast<Tag>(tag));
  }
  return "";
}

posset_text posset_type_name(posset_context* context, posset_value value) {
  Borrowed v = in(value);
  if (context && v.is_variant()) {
    const auto* shape = shape_of(context->heap, v.as<posset::interp::Record>());
    return posset::api::text(shape->type->name);
  }
  if (v.is(Tag::Host)) return posset::api::text(posset::interp::type_name_of_host_object(v));
  return posset_text_of(posset::interp::type_name(v.tag()));
}

// ---- ownership ----

posset_value posset_retain(posset_value value) {
  const Borrowed v = in(value);
  if (!v.is_heap() || is_counted_here(v.object())) [[likely]] posset::interp::retain(v);
  else if (!count_outside(v.object(), 1)) return posset_nil();
  return value;
}

void posset_release(posset_value value) {
  const Borrowed v = in(value);
  if (!v.is_heap() || is_counted_here(v.object())) [[likely]] posset::interp::release(v);
  else count_outside(v.object(), -1);
}

void posset_release_all(posset_value* values, size_t count) {
  for (size_t i = 0; values && i < count; ++i) posset_release(std::exchange(values[i], posset_nil()));
}

// ---- comparing ----

bool posset_equal(posset_value a, posset_value b) { return posset::interp::equal(in(a), in(b)); }

int posset_order(posset_value a, posset_value b) {
  return static_cast<int>(posset::interp::order(in(a), in(b)));
}

uint64_t posset_hash(posset_value value) { return posset::interp::hash_of(in(value)); }

// ---- ranges ----

posset_status posset_range(posset_context* context, int64_t first, int64_t last, bool inclusive,
                           posset_value* to) {
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  return posset::api::give(
      make_range(*context, Borrowed::integer(first), Borrowed::integer(last), inclusive), to);
}

bool posset_range_ints(posset_value value, int64_t* first, int64_t* step, uint64_t* count) {
  if (!in(value).is_range()) return false;
  const auto* range = in(value).as<Range>();
  uint64_t size = range->size();
  if (first) *first = size ? range->at(0) : 0;
  if (step) *step = range->descending() ? -1 : 1;
  if (count) *count = size;
  return true;
}

// ---- refs ----

posset_status posset_ref(posset_context* context, posset_value value, posset_value* to) {
  Evaluation evaluation(context);
  Value held = evaluation.take(value);
  if (evaluation.failed()) return evaluation.status();
  auto* ref = context->heap.make<Ref>(Tag::Ref);
  if (!ref) return posset::api::ok_or_limit(context, false);
  ref->value = held.take();
  return posset::api::give(Value::adopt(Borrowed::heap(Tag::Ref, ref)), to);
}

posset_value posset_ref_get(posset_value ref) {
  return in(ref).is(Tag::Ref) ? out(in(ref).as<Ref>()->value) : posset_nil();
}

posset_status posset_ref_set(posset_value ref, posset_value value) {
  if (!in(ref).is(Tag::Ref)) return POSSET_MISUSE;
  const posset::interp::Heap& heap = posset::interp::Heap::heap_of(in(ref).object());
  if (heap.is_guarded()) return POSSET_BUSY;
  if (in(value).is_heap() && posset::interp::count_of(in(value).object()) != 0 &&
      &posset::interp::Heap::heap_of(in(value).object()) != &heap) {
    return POSSET_MISUSE;
  }
  posset::interp::release(std::exchange(in(ref).as<Ref>()->value, in(value)));
  return POSSET_OK;
}

// ---- error values ----

posset_status posset_error_value(posset_context* context, posset_text message, posset_value value,
                                 posset_value* to) {
  Evaluation evaluation(context);
  Value held = evaluation.take(value);
  if (evaluation.failed()) return evaluation.status();
  Value words = make_string_lossy(context->heap, view(message));
  if (words.failed()) return posset::api::ok_or_limit(context, false);
  Value error = posset::interp::make_error_value(context->heap, std::move(words), std::move(held));
  if (error.failed()) return posset::api::ok_or_limit(context, false);
  return posset::api::give(std::move(error), to);
}

posset_value posset_error_message_of(posset_value error) {
  return in(error).is(Tag::Error) ? out(in(error).as<ErrorObject>()->message) : posset_nil();
}

posset_value posset_error_value_of(posset_value error) {
  if (!in(error).is(Tag::Error)) return posset_nil();
  const auto* object = in(error).as<ErrorObject>();
  return out(object->value.is_unset() ? object->message : object->value);
}

}  // extern "C"
