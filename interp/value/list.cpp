// One list at a time: storage, growth, packing, changing elements. What makes new lists of old ones
// is in list_ops.cpp.
//
// A list whose packing does not fit a new element is widened to Any; an empty one takes the packing
// of its first element, whatever it held before. Packing is never narrowed otherwise: that would
// cost a pass.
#include "interp/value/list.h"

#include <algorithm>

namespace posset::interp {

namespace {

constexpr uint64_t kFirstCapacityBytes = 64;  // four values, eight numbers
constexpr uint64_t kMaxElements = Heap::kMaxBytes / sizeof(Borrowed) / 2;

uint64_t capacity_of(const List* list) {
  return (Heap::usable_bytes(list) - sizeof(List)) / element_bytes(list->packing());
}

void set_packing(List* list, Packing packing) {
  list->flags = static_cast<uint8_t>(packing);
  list->capacity = capacity_of(list);
}

// Room for `capacity` elements of `bytes` each; the packing is not touched.
bool resize(Heap& heap, Borrowed& place, uint64_t capacity, size_t bytes) {
  if (capacity > kMaxElements) return false;
  Object* moved = heap.resize_object(place.object(), sizeof(List) + capacity * bytes);
  if (moved == nullptr) return false;
  place = Borrowed::heap(Tag::List, moved);
  place.as<List>()->capacity = capacity_of(place.as<List>());
  return true;
}

// Room for `needed` elements and some to spare. Doubling while small, then by half: copying stays
// cheap and the waste bounded. Near the limit a sixteenth must do; with less, pushing would copy
// again and again.
bool grow(Heap& heap, Borrowed& place, uint64_t needed, size_t bytes) {
  constexpr uint64_t kDoubleUpTo = 4096;
  auto* list = place.as<List>();
  uint64_t size = list->size;
  uint64_t roomy = std::max(
      {size < kDoubleUpTo ? size * 2 : size + size / 2, needed, kFirstCapacityBytes / bytes});
  if (resize(heap, place, roomy, bytes)) return true;
  return !heap.is_to_stop() && resize(heap, place, std::max(needed, size + size / 16), bytes);
}

// Turns packed elements into values, from the back, in a block that has room for them.
void spread_elements(List* list) {
  for (uint64_t i = list->size; i-- > 0;) {
    Borrowed v = list_get(list, i);
    list->any()[i] = v;
  }
  set_packing(list, Packing::Any);
}

// Makes the storage Any with room for `needed` elements.
bool widen(Heap& heap, Borrowed& place, uint64_t needed) {
  auto* list = place.as<List>();
  if (list->packing() == Packing::Any)
    return needed <= list->capacity || grow(heap, place, needed, sizeof(Borrowed));
  uint64_t room = (Heap::usable_bytes(list) - sizeof(List)) / sizeof(Borrowed);
  if (needed > room && !grow(heap, place, needed, sizeof(Borrowed))) return false;
  spread_elements(place.as<List>());
  return true;
}

}  // namespace

bool list_prepare(Heap& heap, Borrowed& place, Packing packing, uint64_t count) {
  auto* list = place.as<List>();
  uint64_t needed = list->size + count;
  if (list->size == 0) set_packing(list, packing);
  if (list->packing() != packing) return widen(heap, place, needed);
  return needed <= list->capacity || grow(heap, place, needed, element_bytes(packing));
}

List* new_list(Heap& heap, Packing packing, uint64_t capacity) {
  if (capacity > kMaxElements) return nullptr;
  size_t bytes = sizeof(List) + capacity * element_bytes(packing);
  auto* list = heap.make<List>(Tag::List, bytes, static_cast<uint8_t>(packing));
  if (list == nullptr) return nullptr;
  list->size = 0;
  list->capacity = capacity_of(list);
  return list;
}

Packing packing_for_all(const Borrowed* values, uint32_t count) {
  const Packing packing = count != 0 ? packing_for(values[0]) : Packing::Any;
  const bool all = std::all_of(values, values + count, [&](Borrowed v) { return fits(packing, v); });
  return all ? packing : Packing::Any;
}

void fill_new_list(List* list, const Borrowed* values, uint32_t count) {
  list->size = count;
  list->capacity = capacity_of(list);
  for (uint32_t i = 0; i < count; ++i) list_store(list, i, values[i]);
}

List* new_list_of(Heap& heap, const Borrowed* values, uint32_t count) {
  List* list = new_list(heap, packing_for_all(values, count), count);
  if (list != nullptr) fill_new_list(list, values, count);
  return list;
}

void list_copy_storage(List* list, uint64_t at, const List* source, uint64_t from, uint64_t count) {
  const size_t bytes = element_bytes(list->packing());
  if (source->packing() == Packing::Float && count_of(source) == 0) {  // others may be changing it
    for (uint64_t i = 0; i < count; ++i) list->floats()[at + i] = source->float_at(from + i);
  } else {
    std::memcpy(list->data<char>() + at * bytes, source->data<char>() + from * bytes, count * bytes);
  }
}

namespace {

void copy_portion(List* list, const List* source, uint64_t from, uint64_t count) {
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

}  // namespace

bool list_copy_elements(Heap& heap, List* list, const List* source, uint64_t from, uint64_t count) {
  const bool as_bytes = list->packing() == source->packing() && list->packing() != Packing::Any;
  return heap.in_portions(as_bytes ? list : nullptr, count, element_bytes(list->packing()), [&](uint64_t begin, uint64_t end) {
    copy_portion(list, source, from + begin, end - begin);
  });
}

// A list that was growing goes on growing: its copy gets some room.
Value copy_list(Heap& heap, const List* list) {
  uint64_t room = list->capacity > list->size ? list->size / 8 : 0;
  List* copy = new_list(heap, list->packing(), list->size + room);
  if (copy == nullptr && room != 0) copy = new_list(heap, list->packing(), list->size);
  if (copy == nullptr) return Value::failure();
  Value owned = Value::adopt(Borrowed::heap(Tag::List, copy));
  return list_copy_elements(heap, copy, list, 0, list->size) ? std::move(owned) : Value::failure();
}

bool make_unique_list(Heap& heap, Borrowed& place) {
  auto* list = place.as<List>();
  if (is_unique(list)) return true;
  const size_t bytes = list->size * element_bytes(list->packing());
  return heap.put_copy(place, copy_list(heap, list), bytes);
}

bool list_push_slow(Heap& heap, Borrowed& place, Value v) {
  if (!list_prepare(heap, place, packing_for(v), 1)) return false;
  auto* list = place.as<List>();
  list_store(list, list->size++, v.take());
  return true;
}

bool list_set_slow(Heap& heap, Borrowed& place, uint64_t index, Value v) {
  if (!widen(heap, place, place.as<List>()->size)) return false;
  place.as<List>()->any()[index] = v.take();  // what was there was a number
  return true;
}

bool list_insert(Heap& heap, Borrowed& place, uint64_t index, Value v) {
  if (!list_prepare(heap, place, packing_for(v), 1)) return false;
  auto* list = place.as<List>();
  size_t bytes = element_bytes(list->packing());
  char* at = list->data<char>() + index * bytes;
  std::memmove(at + bytes, at, (list->size - index) * bytes);
  ++list->size;
  list_store(list, index, v.take());
  return true;
}

Value list_remove(Borrowed& place, uint64_t index) {
  auto* list = place.as<List>();
  Value removed = Value::adopt(list_get(list, index));
  size_t bytes = element_bytes(list->packing());
  char* at = list->data<char>() + index * bytes;
  std::memmove(at, at + bytes, (list->size - index - 1) * bytes);
  --list->size;
  return removed;
}

bool list_reserve(Heap& heap, Borrowed& place, uint64_t capacity) {
  auto* list = place.as<List>();
  return capacity <= list->capacity ||
         resize(heap, place, capacity, element_bytes(list->packing()));
}

bool list_unpack(Heap& heap, Borrowed& place) { return widen(heap, place, place.as<List>()->size); }

void list_truncate(Borrowed& place, uint64_t size) {
  auto* list = place.as<List>();
  if (size >= list->size) return;
  uint64_t old_size = std::exchange(list->size, size);
  if (list->packing() != Packing::Any) return;
  for (uint64_t i = old_size; i-- > size;) release(list->any()[i]);
}

void list_swap(List* list, uint64_t i, uint64_t j) {
  Borrowed first = list_get(list, i);
  list_store(list, i, list_get(list, j));
  list_store(list, j, first);
}

}  // namespace posset::interp
