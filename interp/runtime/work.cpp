// The larger parts of work.h: what a whole value weighs, lists under construction, ranges as lists.
#include "interp/runtime/work.h"

#include <algorithm>

#include "interp/value/string.h"

namespace posset::interp {

bool charge_weight(Context& context, Borrowed v, uint64_t* weighs) {
  constexpr uint64_t kFirstRound = 1024, kGrowth = 4;
  if (!v.is_heap()) return true;
  uint64_t charged = 0;
  ContextPatience patience(context);
  for (uint64_t enough = kFirstRound;; enough *= kGrowth) {
    uint64_t weight = weight_of(v, enough, &patience);
    if (weighs) *weighs = weight;
    if (!patience.held()) return false;
    uint64_t steps = weight / kElementsPerStep;
    if (steps > charged && !context.charge(steps - charged)) return false;
    charged = std::max(charged, steps);
    if (weight < enough || enough >= UINT64_MAX / kGrowth) return true;
    if (enough >= kPortion && !context.poll()) return false;
  }
}

bool charge_heap_key(Context& context, const Map* map, Borrowed key) {
  uint64_t weight = 0;
  if (key.is(Tag::Str)) {
    if (key.as<Str>()->size < kCounted) return true;
  } else {
    if (!charge_weight(context, key, &weight)) return false;
    if (weight < kPortion) return true;
  }
  ContextPatience patience(context);
  know_key(context.heap, map, key, patience);
  return patience.held();
}

bool charge_light_key(Context& context, Borrowed key) {
  uint64_t weight = 0;
  if (key.is(Tag::Str)) return key.as<Str>()->size < kCounted;
  if (key.is_heap() && !charge_weight(context, key, &weight)) return false;
  return weight < kPortion && is_valid_key(key) == KeyProblem::None;
}

List* new_list_expecting(Context& context, Packing packing, uint64_t expected) {
  constexpr uint64_t kModest = 4096;
  constexpr uint64_t kMost = uint64_t{1} << 20;
  constexpr size_t kPartOfRoom = 8;
  Heap& heap = context.heap;
  const uint64_t many = std::min(expected, kMost);
  const size_t room = heap.limit_bytes() - std::min(heap.limit_bytes(), heap.used_bytes());
  const bool is_plenty = many * element_bytes(packing) <= room / kPartOfRoom;
  List* list = many > kModest && is_plenty ? new_list(heap, packing, many) : nullptr;
  return list ? list : new_list(heap, packing, std::min(expected, kModest));
}

bool ListBuilder::start(Packing packing) {
  List* list = new_list_expecting(context_, packing, expected_);
  if (!list) {
    context_.raise_memory_limit();
    return false;
  }
  list_ = Borrowed::heap(Tag::List, list);
  return true;
}

Value make_pair(Context& context, Value a, Value b) {
  const Borrowed both[] = {a, b};
  List* list = new_list_of(context.heap, both, 2);
  if (!list) return context.raise_memory_limit();
  static_cast<void>(a.take());
  static_cast<void>(b.take());
  return list_value(list);
}

namespace {

// Room for `more` elements beyond those there are, growing at least by half so that repeated
// appends stay linear.
bool make_room(Context& context, Borrowed& place, uint64_t more) {
  auto* list = place.as<List>();
  if (more > kMaxElements) return or_memory_limit(context, false);
  uint64_t wanted = list->size + more;
  if (wanted <= list->capacity) return true;
  return or_memory_limit(
      context, list_reserve(context.heap, place, std::max(wanted, list->size + list->size / 2)));
}

// Reserving fixes nothing about the packing of an empty list, the first element does.
bool push_first(Context& context, Borrowed& place, int64_t first) {
  return or_memory_limit(context, list_push(context.heap, place, Value::integer(first)));
}

}  // namespace

bool append_range(Context& context, Borrowed& list, const Range* range) {
  const uint64_t n = range->size();
  if (n == 0) return true;
  uint64_t done = 0;
  if (list.as<List>()->size == 0) {
    if (!push_first(context, list, range->at(0))) return false;
    done = 1;
  }
  if (!make_room(context, list, n - done)) return false;
  // Charged by portions that are whole steps, so the total is n / 16 like everywhere.
  uint64_t charged = 0;
  while (done < n) {
    uint64_t end = std::min(n, (done / kPortion + 1) * kPortion);
    auto* target = list.as<List>();
    if (target->packing() == Packing::Int && target->capacity - target->size >= end - done) {
      int64_t* out = target->ints() + target->size;
      target->size += end - done;
      for (; done < end; ++done) *out++ = range->at(done);
    } else {
      for (; done < end; ++done) {
        if (!or_memory_limit(context,
                             list_push(context.heap, list, Value::integer(range->at(done)))))
          return false;
      }
    }
    uint64_t steps = done / kElementsPerStep;
    if (steps > charged && !context.charge(steps - charged)) return false;
    charged = steps;
  }
  return true;
}

}  // namespace posset::interp
