// See list_search.h.
#include "interp/runtime/list_search.h"

#include <algorithm>
#include <functional>

#include "interp/runtime/work.h"

namespace posset::interp {

namespace {

template <class Fits>
PackedFind scan(Context& context, uint64_t size, uint64_t& at, Fits&& fits) {
  for (uint64_t from = 0; from < size; from += kPortion) {
    const uint64_t end = std::min(size, from + kPortion);
    uint64_t i = from;
    while (i < end && !fits(i)) ++i;
    const bool found = i < end;
    if (!charge_elements(context, i - from + (found ? 1 : 0))) return PackedFind::Raised;
    at = i;
    if (found) return PackedFind::Found;
  }
  return PackedFind::Absent;
}

// `beyond(a, b)`: a takes the place of b.
template <class T, class At, class Beyond>
bool best_of(Context& context, uint64_t size, T& best, At&& at, Beyond&& beyond) {
  Meter meter(context);
  best = at(0);
  for (uint64_t from = 0; from < size; from += kPortion) {
    const uint64_t end = std::min(size, from + kPortion);
    T found = best;  // in a register, whatever may be written through `best`
    for (uint64_t i = from; i < end; ++i) {
      const T each = at(i);
      found = beyond(each, found) ? each : found;
    }
    best = found;
    if (!meter.add(end - from)) return false;
  }
  return true;
}

template <class T, class At>
bool best_of(Context& context, uint64_t size, bool greatest, T& best, At&& at) {
  return greatest ? best_of(context, size, best, at, std::greater<T>()) : best_of(context, size, best, at, std::less<T>());
}

}  // namespace

PackedFind find_packed(Context& context, Borrowed item, const List* list, uint64_t& at) {
  if (list->packing() == Packing::Int && item.is_int()) {
    const int64_t* const ints = list->data<int64_t>();
    return scan(context, list->size, at, [ints, wanted = item.as_int()](uint64_t i) { return ints[i] == wanted; });
  }
  if (list->packing() == Packing::Float && item.is_float()) {
    return scan(context, list->size, at, [list, wanted = item.as_float()](uint64_t i) { return list->float_at(i) == wanted; });
  }
  return PackedFind::NotPacked;
}

bool best_packed(Context& context, const List* list, bool greatest, Value& best) {
  if (list->packing() == Packing::Int) {
    int64_t found;
    const int64_t* const ints = list->data<int64_t>();
    if (!best_of(context, list->size, greatest, found, [ints](uint64_t i) { return ints[i]; })) return false;
    best = Value::integer(found);
    return true;
  }
  double found;
  if (!best_of(context, list->size, greatest, found, [list](uint64_t i) { return list->float_at(i); })) return false;
  best = Value::floating(found);
  return true;
}

}  // namespace posset::interp
