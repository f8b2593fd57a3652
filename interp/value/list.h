// Lists: one allocation, header and elements. Elements that are all int, all float or all bool are
// stored packed; the packing is never visible. Functions that change a list take it as a unique
// object and give the (possibly moved) object back, null when memory ran out (the list is then
// unchanged and still owned by the caller). `make_unique_list` is the one place where copy-on-write
// happens.
#pragma once

#include "interp/value/heap.h"
#include "interp/value/objects.h"

namespace posset::interp {

// What all of the values fit.
Packing packing_for_all(const Borrowed* values, uint32_t count);
// Of a new object of that packing with room for them.
void fill_new_list(List* list, const Borrowed* values, uint32_t count);
List* new_list(Heap& heap, Packing packing, uint64_t capacity);  // size 0
// Of values that are taken, packed if all are of a kind that can be. Null: no memory, nothing is taken.
List* new_list_of(Heap& heap, const Borrowed* values, uint32_t count);
// Element as a value. `list_get` gives a view (packed elements are made into views: they are not
// counted); `list_copy` an owned value.
inline Borrowed list_get(const List* list, uint64_t index);
inline Value list_copy(const List* list, uint64_t index) {
  return Value::copy(list_get(list, index));
}

// Stores elements [from, from + count) of `source` in `list` from `at` on, of the same packing and with room; what they
// refer to is not counted.
void list_copy_storage(List* list, uint64_t at, const List* source, uint64_t from, uint64_t count);

// Appends elements [from, from + count) of `source`, which may be `list` itself, to a list that has room and whose packing
// is that of the source or Any. False: given up (Heap::stop_wish), the list has a part of them.
bool list_copy_elements(Heap& heap, List* list, const List* source, uint64_t from, uint64_t count);

// Not counted in the stats. A failure: no memory, or given up.
Value copy_list(Heap& heap, const List* list);

// In: an owned list value. Out: the same value with count 1 (itself, or a copy, counted in the
// stats). False: no memory, `place` unchanged.
bool make_unique_list(Heap& heap, Borrowed& place);

// Takes ownership of `v` on success. Widens the packing when `v` does not fit it.
inline bool list_push(Heap& heap, Borrowed& place, Value v);  // place: a unique list
inline bool list_set(Heap& heap, Borrowed& place, uint64_t index, Value v);
bool list_insert(Heap& heap, Borrowed& place, uint64_t index, Value v);
Value list_remove(Borrowed& place, uint64_t index);  // gives what was there
bool list_reserve(Heap& heap, Borrowed& place, uint64_t capacity);
bool list_append(Heap& heap, Borrowed& place, const List* more);  // `more` may be the same object
// Makes the storage Packing::Any (so that a place inside an element can be pointed to).
bool list_unpack(Heap& heap, Borrowed& place);
void list_truncate(Borrowed& place, uint64_t size);
void list_swap(List* list, uint64_t i, uint64_t j);

Value list_slice(Heap& heap, const List* list, uint64_t from, uint64_t to);
Value list_concatenate(Heap& heap, Value left,
                       const List* right);  // left consumed, in place when unique
Value list_filled(Heap& heap, uint64_t n, Borrowed v);
Value list_reversed(Heap& heap, const List* list);
Value list_of_range(Heap& heap, int64_t first, uint64_t count);

inline bool fits(Packing packing, Borrowed v) {
  switch (packing) {
    case Packing::Any:
      return true;
    case Packing::Int:
      return v.is_int();
    case Packing::Float:
      return v.is_float();
    case Packing::Bool:
      return v.is_bool();
  }
  return false;
}
inline Packing packing_for(Borrowed v) {
  return v.is_int()     ? Packing::Int
         : v.is_float() ? Packing::Float
         : v.is_bool()  ? Packing::Bool
                        : Packing::Any;
}
inline size_t element_bytes(Packing packing) {
  return packing == Packing::Any ? sizeof(Borrowed) : packing == Packing::Bool ? 1 : 8;
}

// ---- inline parts ----

// Makes a unique list ready for `count` more elements of a packing: afterwards its own packing is
// that one or Any, and there is room.
bool list_prepare(Heap& heap, Borrowed& place, Packing packing, uint64_t count);
bool list_push_slow(Heap& heap, Borrowed& place, Value v);
bool list_set_slow(Heap& heap, Borrowed& place, uint64_t index, Value v);

inline Borrowed list_get(const List* list, uint64_t index) {
  switch (list->packing()) {
    case Packing::Any:
      return list->data<Borrowed>()[index];
    case Packing::Int:
      return Borrowed::integer(list->data<int64_t>()[index]);
    case Packing::Float:
      return Borrowed::floating(list->float_at(index));
    case Packing::Bool:
      break;
  }
  return Borrowed::boolean(list->data<uint8_t>()[index] != 0);
}

// Stores what is known to fit the packing; no reference is counted.
inline void list_store(List* list, uint64_t index, Borrowed v) {
  if (list->packing() == Packing::Any) {
    list->any()[index] = v;
  } else if (list->packing() == Packing::Bool) {
    list->data<uint8_t>()[index] = v.as_bool();
  } else {
    // An int's or a float's bits; relaxed as List::set_float.
    __atomic_store_n(list->data<uint64_t>() + index, v.word1, __ATOMIC_RELAXED);
  }
}

inline bool list_push(Heap& heap, Borrowed& place, Value v) {
  auto* list = place.as<List>();
  // Not for an empty list, whose packing is still open: size - 1 is then larger than anything.
  if (list->size - 1 < list->capacity - 1 && fits(list->packing(), v)) [[likely]] {
    list_store(list, list->size++, v.take());
    return true;
  }
  return list_push_slow(heap, place, std::move(v));
}

inline bool list_set(Heap& heap, Borrowed& place, uint64_t index, Value v) {
  auto* list = place.as<List>();
  if (list->packing() == Packing::Any) {
    release(std::exchange(list->any()[index], v.take()));
    return true;
  }
  if (fits(list->packing(), v)) [[likely]] {
    list_store(list, index, v.take());
    return true;
  }
  return list_set_slow(heap, place, index, std::move(v));
}

}  // namespace posset::interp
