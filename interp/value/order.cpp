// Ordering. Lists and variants are walked side by side until a pair that is not `==`; when that
// pair are lists or variants themselves, the first difference inside them is what decides, so one
// walk does both.
#include <algorithm>
#include <cstring>

#include "interp/value/compare.h"
#include "interp/value/list.h"
#include "interp/value/record.h"
#include "interp/value/small_stack.h"
#include "interp/value/string.h"

namespace posset::interp {

namespace {

struct OrderedFrame {
  Object* a;
  Object* b;
  uint64_t next;
};

Order sign(int c) { return c < 0 ? Order::Less : c > 0 ? Order::Greater : Order::Equal; }

Order compare_floats(double a, double b) {
  if (a < b) return Order::Less;
  if (a > b) return Order::Greater;
  return a == b ? Order::Equal : Order::Unordered;
}

Order compare_numbers(Borrowed a, Borrowed b) {
  if (a.is_int() && b.is_int()) return sign(a.as_int() < b.as_int() ? -1 : a.as_int() > b.as_int());
  if (a.is_float() && b.is_float()) return compare_floats(a.as_float(), b.as_float());
  int c = a.is_int() ? compare_int_float(a.as_int(), b.as_float())
                     : compare_int_float(b.as_int(), a.as_float());
  if (c == 2) return Order::Unordered;
  return sign(a.is_int() ? c : -c);
}

const Shape* shape_of_variant(const Object* object) {
  return Heap::heap_of(object).shapes().shape(static_cast<const Record*>(object)->shape);
}

Order compare_texts(std::string_view a, std::string_view b, Patience* patience) {
  constexpr size_t kAtOnce = size_t{1} << 20;
  const size_t shorter = std::min(a.size(), b.size());
  for (size_t at = 0; at < shorter; at += kAtOnce) {
    const size_t n = std::min(shorter - at, kAtOnce);
    if (const int c = std::memcmp(a.data() + at, b.data() + at, n)) return sign(c);
    if (!lasts(patience, n / kBytesPerUnit)) return Order::Equal;
  }
  return sign(a.size() < b.size() ? -1 : a.size() > b.size());
}

// Decides everything but lists, and variants of one constructor: those must be looked into.
Order compare_shallow(Borrowed a, Borrowed b, bool& inside, Patience* patience) {
  inside = false;
  if (a.is_number() && b.is_number()) return compare_numbers(a, b);
  if (a.is_string() && b.is_string()) return compare_texts(string_view_of(a), string_view_of(b), patience);
  if (a.is_list() && b.is_list()) {
    inside = true;
    return Order::Equal;
  }
  if (a.is_variant() && b.is_variant()) {
    const Shape *x = shape_of_variant(a.object()), *y = shape_of_variant(b.object());
    if (x->type != y->type) return Order::Incomparable;
    inside = x == y;
    return sign(x->ordinal < y->ordinal ? -1 : x->ordinal > y->ordinal);
  }
  return Order::Incomparable;
}

uint64_t size_of(const Object* object) {
  return object->tag == Tag::List ? static_cast<const List*>(object)->size
                                  : static_cast<const Record*>(object)->size;
}
Borrowed item_of(const Object* object, uint64_t i) {
  return object->tag == Tag::List ? list_get(static_cast<const List*>(object), i)
                                  : static_cast<const Record*>(object)->fields()[i];
}

// Before which packed numbers at the same places are equal, so that these need not be looked at one by one. Numbers are, of which
// none equals a NaN.
uint64_t first_difference(Borrowed a, Borrowed b, Patience* patience) {
  constexpr uint64_t kAtOnce = uint64_t{1} << 17;  // between two looks at the patience
  if (!a.is_list() || a.as<List>()->packing() != b.as<List>()->packing() || a.as<List>()->packing() == Packing::Any) return 0;
  const auto *x = a.as<List>(), *y = b.as<List>();
  const auto first = [&](auto&& differ) {
    const uint64_t size = std::min(x->size, y->size);
    uint64_t i = 0;
    for (; i < size && !differ(i); ++i) {
      if (i % kAtOnce == kAtOnce - 1 && !lasts(patience, kAtOnce)) break;
    }
    return i;
  };
  if (x->packing() == Packing::Float) return first([&](uint64_t i) { return x->float_at(i) != y->float_at(i); });
  if (x->packing() == Packing::Bool) return first([&](uint64_t i) { return x->data<uint8_t>()[i] != y->data<uint8_t>()[i]; });
  return first([&](uint64_t i) { return x->data<int64_t>()[i] != y->data<int64_t>()[i]; });
}

// Of two containers, of which `compare_shallow` has said that they are to be looked into.
Order compare_inside(Borrowed a, Borrowed b, Borrowed* left, Borrowed* right, Patience* patience) {
  SmallStack<OrderedFrame, 12> stack;
  stack.push({a.object(), b.object(), first_difference(a, b, patience)});
  while (true) {
    // The next pair: of the innermost frame that is not through.
    while (true) {
      if (stack.empty()) return Order::Equal;
      OrderedFrame& frame = stack.top();
      uint64_t x = size_of(frame.a), y = size_of(frame.b);
      if (frame.next < x && frame.next < y) {
        a = item_of(frame.a, frame.next);
        b = item_of(frame.b, frame.next++);
        break;
      }
      if (x != y) return x < y ? Order::Less : Order::Greater;
      stack.pop();
    }
    if (!lasts(patience)) return Order::Equal;
    bool inside;
    const Order found = compare_shallow(a, b, inside, patience);
    if (inside) {
      stack.push({a.object(), b.object(), first_difference(a, b, patience)});
    } else if (found != Order::Equal && !(found == Order::Incomparable && equal(a, b, patience))) {
      *left = a;
      *right = b;
      return found;
    }
  }
}

}  // namespace

// Most pairs hold nothing: they need no stack.
Order order(Borrowed a, Borrowed b, Borrowed* left, Borrowed* right, Patience* patience) {
  if (!lasts(patience)) return Order::Equal;
  Borrowed different_left = a, different_right = b;
  bool inside;
  Order found = compare_shallow(a, b, inside, patience);
  if (inside) found = compare_inside(a, b, &different_left, &different_right, patience);
  if (left != nullptr) *left = different_left;
  if (right != nullptr) *right = different_right;
  return found;
}

}  // namespace posset::interp
