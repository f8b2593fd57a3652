// New lists of old ones: slices, concatenation, filling, reversing. Packed lists are copied as
// bytes.
#include <algorithm>

#include "interp/value/list.h"

namespace posset::interp {

namespace {

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
  const uint64_t before = list->size;
  if (list_copy_elements(heap, list, same ? list : more, 0, count)) return true;
  list_truncate(place, before);
  return false;
}

Value list_slice(Heap& heap, const List* list, uint64_t from, uint64_t to) {
  Value slice = owned(new_list(heap, list->packing(), to - from));
  if (slice.failed()) return slice;
  return list_copy_elements(heap, slice->as<List>(), list, from, to - from) ? std::move(slice) : Value::failure();
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
  Value joined = owned(new_list(heap, packing, list->size + right->size));
  if (joined.failed()) return joined;
  auto* target = joined->as<List>();
  const bool whole = (list->size == 0 || list_copy_elements(heap, target, list, 0, list->size)) &&
                     list_copy_elements(heap, target, right, 0, right->size);
  return whole ? std::move(joined) : Value::failure();
}

namespace {

void fill(List* list, uint64_t from, uint64_t count, Borrowed v) {
  switch (list->packing()) {
    case Packing::Any:
      for (uint64_t i = from; i < from + count; ++i) retain(list->any()[i] = v);
      break;
    case Packing::Bool:
      std::fill_n(list->bools() + from, count, static_cast<uint8_t>(v.as_bool()));
      break;
    case Packing::Int:
    case Packing::Float:
      std::fill_n(list->data<uint64_t>() + from, count, v.word1);
      break;
  }
}

void reverse(List* list, uint64_t from) {
  switch (list->packing()) {
    case Packing::Any:
      std::reverse(list->any() + from, list->any() + list->size);
      break;
    case Packing::Bool:
      std::reverse(list->bools() + from, list->bools() + list->size);
      break;
    case Packing::Int:
    case Packing::Float:
      std::reverse(list->ints() + from, list->ints() + list->size);
      break;
  }
}

}  // namespace

Value list_filled(Heap& heap, uint64_t n, Borrowed v) {
  Value filled = owned(new_list(heap, packing_for(v), n));
  if (filled.failed()) return filled;
  auto* list = filled->as<List>();
  const bool whole = heap.in_portions(list, n, element_bytes(list->packing()), [&](uint64_t begin, uint64_t end) {
    fill(list, begin, end - begin, v);
    list->size = end;
  });
  return whole ? std::move(filled) : Value::failure();
}

Value list_reversed(Heap& heap, const List* list) {
  Value reversed = owned(new_list(heap, list->packing(), list->size));
  if (reversed.failed()) return reversed;
  auto* target = reversed->as<List>();
  const uint64_t portion = Heap::kCopyPortion / element_bytes(list->packing());
  for (uint64_t left = list->size; left != 0;) {
    const uint64_t count = std::min(left, portion), at = target->size;
    left -= count;
    if (!list_copy_elements(heap, target, list, left, count)) return Value::failure();
    reverse(target, at);
    if (left != 0 && heap.is_to_stop()) return Value::failure();
  }
  return reversed;
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
