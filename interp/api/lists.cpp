// Lists, and going through whatever `for` takes. The value layer does the work; here places are
// copied in and out, and what runs out of memory becomes the context's error.
#include "interp/api/handles.h"
#include "interp/runtime/iterate.h"
#include "interp/runtime/work.h"
#include "interp/value/list.h"

using posset::api::Evaluation;
using posset::api::give;
using posset::api::give_or_limit;
using posset::api::in;
using posset::api::ok_or_limit;
using posset::api::out;
using posset::interp::Borrowed;
using posset::interp::List;
using posset::interp::Packing;
using posset::interp::Tag;
using posset::interp::Value;

namespace {

// The place as a unique list for as long as this lives; the caller's variable follows.
class ListPlace {
 public:
  explicit ListPlace(posset_value* place) : place_(place) {
    if (place) list_ = in(*place);
  }
  ~ListPlace() {
    if (is_list()) *place_ = out(list_);
  }
  ListPlace(const ListPlace&) = delete;
  ListPlace& operator=(const ListPlace&) = delete;
  bool is_list() const { return place_ && list_.is_list(); }
  Borrowed& unique(posset_context* context, bool& ok) {
    ok = is_unique(list_.object()) || make_unique_list(context->heap, list_);
    return list_;
  }
  uint64_t size() const { return list_.as<List>()->size; }

 private:
  posset_value* place_;
  Borrowed list_ = Borrowed::nil();
};

// Changes a list in its place: `change(list)` gives false when memory ran out.
template <class Change>
posset_status change_list(posset_context* context, posset_value* place, Change&& change) {
  ListPlace list(place);
  if (!list.is_list() || posset::api::is_foreign(context, in(*place))) return POSSET_MISUSE;
  bool ok = true;
  Borrowed& unique = list.unique(context, ok);
  return ok_or_limit(context, ok && change(unique));
}

template <class T>
posset_status list_of_numbers(posset_context* context, const T* values, uint64_t count,
                              Packing packing, posset_value* to) {
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  if (count != 0 && !values) return POSSET_MISUSE;
  List* list = new_list(context->heap, packing, count);
  if (!list) return ok_or_limit(context, false);
  if (count != 0) std::memcpy(list->data<T>(), values, count * sizeof(T));
  list->size = count;
  return give(Value::adopt(Borrowed::heap(Tag::List, list)), to);
}

template <class T>
bool packed_elements(posset_value list, Packing packing, const T** data, uint64_t* count) {
  if (!in(list).is_list()) return false;
  const auto* object = in(list).as<List>();
  if (object->size != 0 && object->packing() != packing) return false;
  *data = object->size ? object->data<T>() : nullptr;
  *count = object->size;
  return true;
}

}  // namespace

extern "C" {

// ---- making ----

posset_status posset_list(posset_context* context, uint64_t capacity, posset_value* to) {
  constexpr uint64_t kMostReserved = 4096;  // a hint must not be able to fail
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  List* list = new_list(context->heap, Packing::Any, std::min(capacity, kMostReserved));
  if (!list) return ok_or_limit(context, false);
  return give(Value::adopt(Borrowed::heap(Tag::List, list)), to);
}

posset_status posset_list_of_ints(posset_context* context, const int64_t* values, uint64_t count,
                                  posset_value* to) {
  return list_of_numbers(context, values, count, Packing::Int, to);
}

posset_status posset_list_of_floats(posset_context* context, const double* values, uint64_t count,
                                    posset_value* to) {
  return list_of_numbers(context, values, count, Packing::Float, to);
}

posset_status posset_list_of(posset_context* context, posset_value* values, uint64_t count,
                             posset_value* to) {
  if ((count != 0 && !values) || !to) return POSSET_MISUSE;
  if (context && posset::api::has_foreign(context, values, count)) return POSSET_MISUSE;
  posset_value list = posset_nil();
  posset_status status = posset_list(context, count, &list);
  if (status == POSSET_OK) status = posset_list_reserve(context, &list, count);
  for (uint64_t i = 0; status == POSSET_OK && i < count; ++i) {
    status = posset_list_push(context, &list, std::exchange(values[i], posset_nil()));
  }
  if (status != POSSET_OK) {
    posset_release(list);
    if (status == POSSET_RAISED) posset_release_all(values, count);
    return status;
  }
  *to = list;
  return POSSET_OK;
}

// ---- reading ----

uint64_t posset_list_size(posset_value list) {
  return in(list).is_list() ? in(list).as<List>()->size : 0;
}

posset_value posset_list_at(posset_value list, uint64_t index) {
  if (index >= posset_list_size(list)) return posset_nil();
  return out(list_get(in(list).as<List>(), index));
}

bool posset_list_ints(posset_value list, const int64_t** data, uint64_t* count) {
  return packed_elements(list, Packing::Int, data, count);
}

bool posset_list_floats(posset_value list, const double** data, uint64_t* count) {
  return packed_elements(list, Packing::Float, data, count);
}

posset_status posset_list_slice(posset_context* context, posset_value list, uint64_t from,
                                uint64_t to, posset_value* result) {
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  if (!in(list).is_list() || posset::api::is_foreign(context, in(list))) return POSSET_MISUSE;
  if (from > to || to > posset_list_size(list)) return POSSET_NOT_FOUND;
  return give_or_limit(context, list_slice(context->heap, in(list).as<List>(), from, to), result);
}

// ---- changing ----

posset_status posset_list_push(posset_context* context, posset_value* list, posset_value value) {
  Evaluation evaluation(context);
  Value item = evaluation.take(value);
  if (evaluation.failed()) return evaluation.status();
  return change_list(context, list, [&](Borrowed& place) {
    return list_push(context->heap, place, std::move(item));
  });
}

posset_status posset_list_set(posset_context* context, posset_value* list, uint64_t index,
                              posset_value value) {
  Evaluation evaluation(context);
  Value item = evaluation.take(value);
  if (evaluation.failed()) return evaluation.status();
  if (list && index >= posset_list_size(*list)) return POSSET_NOT_FOUND;
  return change_list(context, list, [&](Borrowed& place) {
    return list_set(context->heap, place, index, std::move(item));
  });
}

posset_status posset_list_insert(posset_context* context, posset_value* list, uint64_t index,
                                 posset_value value) {
  Evaluation evaluation(context);
  Value item = evaluation.take(value);
  if (evaluation.failed()) return evaluation.status();
  if (list && index > posset_list_size(*list)) return POSSET_NOT_FOUND;
  return change_list(context, list, [&](Borrowed& place) {
    return list_insert(context->heap, place, index, std::move(item));
  });
}

posset_status posset_list_remove(posset_context* context, posset_value* list, uint64_t index,
                                 posset_value* removed) {
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  if (list && index >= posset_list_size(*list)) return POSSET_NOT_FOUND;
  return change_list(context, list, [&](Borrowed& place) {
    give(list_remove(place, index), removed);
    return true;
  });
}

posset_status posset_list_swap(posset_context* context, posset_value* list, uint64_t i,
                               uint64_t j) {
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  if (list && std::max(i, j) >= posset_list_size(*list)) return POSSET_NOT_FOUND;
  return change_list(context, list, [&](Borrowed& place) {
    list_swap(place.as<List>(), i, j);
    return true;
  });
}

posset_status posset_list_reserve(posset_context* context, posset_value* list, uint64_t capacity) {
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  return change_list(context, list, [&](Borrowed& place) {
    return capacity <= posset::interp::kMaxElements && list_reserve(context->heap, place, capacity);
  });
}

posset_status posset_list_truncate(posset_context* context, posset_value* list, uint64_t size) {
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  return change_list(context, list, [&](Borrowed& place) {
    if (size < place.as<List>()->size) list_truncate(place, size);
    return true;
  });
}

// ---- going through ----

uint64_t posset_count_items(posset_value iterable) {
  return posset_is_iterable(iterable) ? posset::interp::item_count(in(iterable)) : UINT64_MAX;
}

posset_status posset_iterate(posset_context* context, posset_value iterable,
                             posset_visit_item visit, void* data) {
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  if (!visit) return POSSET_MISUSE;
  posset_status result = POSSET_OK;
  bool ok = for_each_item(*context, in(iterable), [&](Value item) {
    return posset::api::goes_on(visit(data, out(item)), result);
  });
  if (!ok || context->error_pending()) return POSSET_RAISED;
  return result;
}

}  // extern "C"
