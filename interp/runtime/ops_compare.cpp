// Comparison operators and `in`. What equality and order mean is in value/compare.h; here they get
// their errors, and are charged by the size of what is looked at.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "interp/runtime/list_search.h"
#include "interp/runtime/messages.h"
#include "interp/runtime/ops.h"
#include "interp/runtime/text_search.h"
#include "interp/runtime/work.h"
#include "interp/value/compare.h"
#include "interp/value/map.h"

namespace posset::interp {

namespace {

// Whether comparing the two may mean looking at every value inside; most unequal pairs are told
// apart by kind or size.
bool needs_a_walk(Borrowed a, Borrowed b) {
  if (a.word0 != b.word0 || !a.is_heap()) return false;
  switch (a.tag()) {
    case Tag::Str:
      return a.as<Str>()->size == b.as<Str>()->size && a.as<Str>()->size >= kCounted;
    case Tag::List:
      return true;
    case Tag::Map:
      return a.as<Map>()->live == b.as<Map>()->live;
    case Tag::Record:
    case Tag::Variant:
      return a.as<Record>()->size == b.as<Record>()->size;
    case Tag::Fn:
      return true;
    default:
      return false;
  }
}

bool charge_comparison(Context& context, Borrowed a, Borrowed b) {
  if (a.is(Tag::Str)) return charge_texts(context, a, b);
  if (!needs_a_walk(a, b)) return true;
  if (a.is_list()) {
    uint64_t smaller = std::min(a.as<List>()->size, b.as<List>()->size);
    bool flat = a.as<List>()->packing() != Packing::Any || b.as<List>()->packing() != Packing::Any;
    if (flat || smaller == 0) return charge_elements(context, smaller);
    return charge_weight(context, a.as<List>()->size <= b.as<List>()->size ? a : b);
  }
  return charge_weight(context, a);
}

// 1, 0, or -1: raised.
int same(Context& context, Borrowed a, Borrowed b) {
  if (!needs_a_walk(a, b)) return equal(a, b);
  ContextPatience patience(context);
  const bool found = equal(a, b, &patience);
  return patience.held() ? found : -1;
}

bool holds(BinaryOp op, Order o) {
  switch (op) {
    case BinaryOp::Lt:
      return o == Order::Less;
    case BinaryOp::Le:
      return o == Order::Less || o == Order::Equal;
    case BinaryOp::Gt:
      return o == Order::Greater;
    case BinaryOp::Ge:
      return o == Order::Greater || o == Order::Equal;
    default:
      return false;
  }
}

}  // namespace

int compare(Context& context, BinaryOp op, Borrowed left, Borrowed right) {
  if (!charge_comparison(context, left, right)) return -1;
  if (op == BinaryOp::Eq) return same(context, left, right);
  if (op == BinaryOp::Ne) {
    const int found = same(context, left, right);
    return found < 0 ? found : !found;
  }
  Borrowed inner_left = left, inner_right = right;
  ContextPatience patience(context);
  Order o = order(left, right, &inner_left, &inner_right, &patience);
  if (!patience.held()) return -1;
  if (o != Order::Incomparable) return holds(op, o);
  raise_not_comparable(context, std::string(" ") + spelling(op) + " ", left, right, inner_left,
                       inner_right);
  return -1;
}

// ---- in ----

namespace {

// In portions with a look at the limits between, whatever the elements are.
int list_contains(Context& context, Borrowed item, const List* list) {
  Meter meter(context);
  for (uint64_t i = 0; i < list->size; ++i) {
    Borrowed element = list_get(list, i);
    if (!meter.add(1) || !charge_comparison(context, item, element)) return -1;
    if (const int found = same(context, item, element); found != 0) return found;
  }
  return 0;
}

int packed_contains(Context& context, Borrowed item, const List* list) {
  uint64_t at;
  switch (find_packed(context, item, list, at)) {
    case PackedFind::Found: return 1;
    case PackedFind::Absent: return 0;
    case PackedFind::Raised: return -1;
    case PackedFind::NotPacked: break;
  }
  return list_contains(context, item, list);
}

bool range_contains(const Range* range, Borrowed item) {
  int64_t wanted = 0;
  if (item.is_int()) {
    wanted = item.as_int();
  } else if (!item.is_float() || item.as_float() != std::floor(item.as_float()) ||
             !float_to_int(item.as_float(), wanted)) {
    return false;  // a float that is an int counts: 2.0 == 2
  }
  return wanted >= range->first &&
         (wanted < range->last || (range->inclusive() && wanted == range->last));
}

int string_contains(Context& context, Borrowed item, Borrowed text) {
  std::string_view whole = string_view_of(text), part = string_view_of(item);
  if (!charge_bytes(context, whole.size())) return -1;
  if (part.empty()) return 1;
  size_t at;
  if (!find_text(context, whole, part, 0, at)) return -1;
  return at != std::string_view::npos;
}

int map_contains(Context& context, Borrowed key, const Map* map) {
  const KeyScope scope(context);
  if (!charge_key(context, map, key)) return -1;
  return key_problem(context, key) == KeyProblem::None && map_find(map, key, context.heap.known_key()) != nullptr;
}

}  // namespace

int contains(Context& context, Borrowed item, Borrowed container) {
  switch (container.tag()) {
    case Tag::List:
      return packed_contains(context, item, container.as<List>());
    case Tag::Range:
      return range_contains(container.as<Range>(), item);
    case Tag::Map:
      return map_contains(context, item, container.as<Map>());
    case Tag::Str:
    case Tag::ShortStr:
      if (item.is_string()) return string_contains(context, item, container);
      break;
    default:
      break;
  }
  raise_operands(context, BinaryOp::In, item, container);
  return -1;
}

}  // namespace posset::interp
