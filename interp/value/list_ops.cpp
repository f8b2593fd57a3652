// New lists of old ones: slices, concatenation, filling, reversing. Packed lists are copied as
// bytes.
#include <algorithm>

#include "interp/value/list.h"

namespace posset::interp {

namespace {

// Appends elements [from, from + count) of `source`, which may be `list` itself. Prepared: there is
// room, and the packing is that of the source or Any.
void copy_elements(List* list, const List* source, uint64_t from, uint64_t count) {
  if (list->packing() != source->packing()) {
    for (uint64_t i = 0; i < count; ++i) list->any()[list->size + i] = list_get(source, from + i);
  } else {
    list_copy_storage(list, list->size, source, from, count);
  }
  if (source->packing() == Packing::Any) {
    for (uint64_t i = 0; i < count; ++i) retain(list->any()[list->size + i]);
  }
  list->size += count;
}

Value owned(List* list) {
  return list == nullptr ? Value::failure() : Value::adopt(Borrowed::heap(Tag::List, list));
}

}  // namespace

bool list_append(Heap& heap, Borrowed& place, const List* more) {
  uint64_t count = more->size;
  if (count == 0) return true;
  bool same = more == place.object();
  if (!list_prepare(heap, place, more->packing(), count)) return false;
  auto* list = place.as<List>();
  copy_elements(list, same ? list : more, 0, count);
  return true;
}

Value list_slice(Heap& heap, const List* list, uint64_t from, uint64_t to) {
  List* slice = new_list(heap, list->packing(), to - from);
  if (slice != nullptr) copy_elements(slice, list, from, to - from);
  return owned(slice);
}

Value list_concatenate(Heap& heap, Value left, const List* right) {
  auto* list = left->as<List>();
  if (right->size == 0) return left;
  if (is_unique(list)) {
    Borrowed place = left.take();
    bool ok = list_append(heap, place, right);
    left = Value::adopt(place);
    return ok ? std::move(left) : Value::failure();
  }
  Packing packing =
      list->packing() == right->packing() || list->size == 0 ? right->packing() : Packing::Any;
  List* joined = new_list(heap, packing, list->size + right->size);
  if (joined == nullptr) return Value::failure();
  if (list->size != 0) copy_elements(joined, list, 0, list->size);
  copy_elements(joined, right, 0, right->size);
  return owned(joined);
}

Value list_filled(Heap& heap, uint64_t n, Borrowed v) {
  List* list = new_list(heap, packing_for(v), n);
  if (list == nullptr) return Value::failure();
  switch (list->packing()) {
    case Packing::Any:
      for (uint64_t i = 0; i < n; ++i) retain(list->any()[i] = v);
      break;
    case Packing::Bool:
      std::fill_n(list->bools(), n, static_cast<uint8_t>(v.as_bool()));
      break;
    case Packing::Int:
    case Packing::Float:
      std::fill_n(list->data<uint64_t>(), n, v.word1);
      break;
  }
  list->size = n;
  return owned(list);
}

Value list_reversed(Heap& heap, const List* list) {
  List* reversed = new_list(heap, list->packing(), list->size);
  if (reversed == nullptr) return Value::failure();
  copy_elements(reversed, list, 0, list->size);
  switch (list->packing()) {
    case Packing::Any:
      std::reverse(reversed->any(), reversed->any() + reversed->size);
      break;
    case Packing::Bool:
      std::reverse(reversed->bools(), reversed->bools() + reversed->size);
      break;
    case Packing::Int:
    case Packing::Float:
      std::reverse(reversed->ints(), reversed->ints() + reversed->size);
      break;
  }
  return owned(reversed);
}

Value list_of_range(Heap& heap, int64_t first, uint64_t count) {
  List* list = new_list(heap, Packing::Int, count);
  if (list == nullptr) return Value::failure();
  int64_t* out = list->ints();
  for (uint64_t i = 0; i < count; ++i)
    out[i] = static_cast<int64_t>(static_cast<uint64_t>(first) + i);
  list->size = count;
  return owned(list);
}

}  // namespace posset::interp
