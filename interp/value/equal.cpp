// Structural equality. Pairs that need no descent are decided on the spot; containers become a
// frame of an explicit stack. There is no shortcut for "the same object", because a NaN inside
// equals nothing.
#include <algorithm>
#include <cstring>

#include "interp/value/compare.h"
#include "interp/value/list.h"
#include "interp/value/map.h"
#include "interp/value/record.h"
#include "interp/value/small_stack.h"
#include "interp/value/string.h"

namespace posset::interp {

namespace {

constexpr double kTwo63 = 9223372036854775808.0;

enum class Verdict : uint8_t { Different, Same, Inside };  // Inside: the elements decide

struct ComparedFrame {
  Object* a;
  Object* b;
  uint64_t next;
};

Verdict verdict(bool same) { return same ? Verdict::Same : Verdict::Different; }

constexpr uint64_t kFloatsAtOnce = uint64_t{1} << 17;  // between two looks at the patience

bool equal_floats(const List* a, const List* b, Patience* patience) {
  for (uint64_t i = 0; i < a->size; ++i) {
    if (a->float_at(i) != b->float_at(i)) return false;
    if (i % kFloatsAtOnce == kFloatsAtOnce - 1 && !lasts(patience, kFloatsAtOnce)) return false;
  }
  return true;
}

Verdict compare_lists(List* a, List* b, Patience* patience) {
  if (a->size != b->size) return Verdict::Different;
  if (a->size == 0) return Verdict::Same;
  if (a->packing() != b->packing() || a->packing() == Packing::Any) return Verdict::Inside;
  if (a->packing() == Packing::Float) return verdict(equal_floats(a, b, patience));
  return verdict(equal_bytes(a->data<char>(), b->data<char>(), a->size * element_bytes(a->packing()), patience));
}

bool same_ints(const Range* a, const Range* b) {
  RangeInts x = ints_of(a), y = ints_of(b);
  return x.empty == y.empty && x.first == y.first && x.last == y.last;
}

Verdict inside_unless_empty(uint64_t size) { return size == 0 ? Verdict::Same : Verdict::Inside; }

// Two handles of one object of the host are one to a script. A closed one stands for itself.
bool same_host_object(const Object* a, const Object* b) {
  if (a == b || a->flags != b->flags) return a == b;
  if (a->flags & HostObject::kMethod) {
    const auto *x = static_cast<const BoundMethod*>(a), *y = static_cast<const BoundMethod*>(b);
    return x->function == y->function && same_host_object(x->receiver.object(), y->receiver.object());
  }
  const auto *x = static_cast<const HostObject*>(a), *y = static_cast<const HostObject*>(b);
  return x->type == y->type && x->pointer == y->pointer && x->pointer != nullptr;
}

// Two heap objects of one tag.
Verdict compare_objects(Tag tag, Object* a, Object* b, Patience* patience) {
  switch (tag) {
    case Tag::Str:
      return verdict(a == b || equal_long_strings(static_cast<Str*>(a), static_cast<Str*>(b), patience));
    case Tag::List:
      return compare_lists(static_cast<List*>(a), static_cast<List*>(b), patience);
    case Tag::Map: {
      auto *x = static_cast<Map*>(a), *y = static_cast<Map*>(b);
      return x->live != y->live ? Verdict::Different : inside_unless_empty(x->live);
    }
    case Tag::Record: {
      auto *x = static_cast<Record*>(a), *y = static_cast<Record*>(b);
      return x->size != y->size ? Verdict::Different : inside_unless_empty(x->size);
    }
    case Tag::Variant: {
      auto *x = static_cast<Record*>(a), *y = static_cast<Record*>(b);
      return x->shape != y->shape ? Verdict::Different : inside_unless_empty(x->size);
    }
    case Tag::Fn: {
      auto *x = static_cast<Closure*>(a), *y = static_cast<Closure*>(b);
      return x->function != y->function || x->size != y->size ? Verdict::Different
                                                              : inside_unless_empty(x->size);
    }
    case Tag::Range:
      return verdict(same_ints(static_cast<Range*>(a), static_cast<Range*>(b)));
    case Tag::Error:
      return Verdict::Inside;
    case Tag::Module:
      return verdict(static_cast<ModuleObject*>(a)->identity() == static_cast<ModuleObject*>(b)->identity());
    case Tag::Constructor:
      return verdict(static_cast<Constructor*>(a)->shape == static_cast<Constructor*>(b)->shape);
    case Tag::Host:
      return verdict(same_host_object(a, b));
    default:
      return verdict(a == b);  // refs and handles
  }
}

Verdict compare_shallow(Borrowed a, Borrowed b, Patience* patience) {
  if (a.is_number() && b.is_number()) {
    if (a.is_int() && b.is_int()) return verdict(a.word1 == b.word1);
    if (a.is_float() && b.is_float()) return verdict(a.as_float() == b.as_float());
    return verdict(a.is_int() ? compare_int_float(a.as_int(), b.as_float()) == 0
                              : compare_int_float(b.as_int(), a.as_float()) == 0);
  }
  if (a.word0 != b.word0) return Verdict::Different;
  if (!a.is_heap()) return verdict(a.word1 == b.word1);
  return compare_objects(a.tag(), a.object(), b.object(), patience);
}

// The pairs of two containers, one after the other.
enum class Next : uint8_t { Pair, End, Missing };

Next next_of_records(ComparedFrame& frame, Borrowed& a, Borrowed& b) {
  auto *x = static_cast<Record*>(frame.a), *y = static_cast<Record*>(frame.b);
  if (frame.next == x->size) return Next::End;
  uint64_t place = frame.next++;
  a = x->fields()[place];
  if (x->shape != y->shape) {
    const ShapeTable& shapes = Heap::heap_of(x).shapes();
    int other = shapes.shape(y->shape)->index_of(shapes.shape(x->shape)->fields[place]);
    if (other == Shape::kNotFound) return Next::Missing;
    place = static_cast<uint64_t>(other);
  }
  b = y->fields()[place];
  return Next::Pair;
}

Next next_of_maps(ComparedFrame& frame, Borrowed& a, Borrowed& b, Patience* patience) {
  auto *x = static_cast<Map*>(frame.a), *y = static_cast<Map*>(frame.b);
  uint32_t place = map_next(x, static_cast<uint32_t>(frame.next));
  if (place == x->used) return Next::End;
  frame.next = place + uint64_t{1};
  const Borrowed* found = map_find_like(y, x->entries[place], patience);
  if (found == nullptr) return Next::Missing;
  a = x->entries[place].value;
  b = *found;
  return Next::Pair;
}

Next next_of(ComparedFrame& frame, Borrowed& a, Borrowed& b, Patience* patience) {
  switch (frame.a->tag) {
    case Tag::List: {
      auto *x = static_cast<List*>(frame.a), *y = static_cast<List*>(frame.b);
      if (frame.next == x->size) return Next::End;
      a = list_get(x, frame.next);
      b = list_get(y, frame.next++);
      return Next::Pair;
    }
    case Tag::Map:
      return next_of_maps(frame, a, b, patience);
    case Tag::Record:
    case Tag::Variant:
      return next_of_records(frame, a, b);
    case Tag::Fn: {
      auto *x = static_cast<Closure*>(frame.a), *y = static_cast<Closure*>(frame.b);
      if (frame.next == x->size) return Next::End;
      a = x->captured()[frame.next];
      b = y->captured()[frame.next++];
      return Next::Pair;
    }
    default: {
      auto *x = static_cast<ErrorObject*>(frame.a), *y = static_cast<ErrorObject*>(frame.b);
      if (frame.next == 2) return Next::End;
      bool message = frame.next++ == 0;
      a = message ? x->message : x->value;
      b = message ? y->message : y->value;
      return Next::Pair;
    }
  }
}

bool equal_inside(Object* first, Object* second, Patience* patience) {
  SmallStack<ComparedFrame, 12> stack;
  stack.push({first, second, 0});
  while (!stack.empty()) {
    Borrowed a, b;
    Next next = next_of(stack.top(), a, b, patience);
    if (next == Next::Missing || !lasts(patience)) return false;
    if (next == Next::End) {
      stack.pop();
      continue;
    }
    Verdict found = compare_shallow(a, b, patience);
    if (found == Verdict::Different) return false;
    if (found == Verdict::Inside) stack.push({a.object(), b.object(), 0});
  }
  return true;
}

}  // namespace

bool equal_slow(Borrowed a, Borrowed b, Patience* patience) {
  Verdict found = compare_shallow(a, b, patience);
  return found == Verdict::Inside ? equal_inside(a.object(), b.object(), patience) : found == Verdict::Same;
}

int compare_int_float(int64_t a, double b) {
  if (b != b) return 2;
  if (b >= kTwo63) return -1;
  if (b < -kTwo63) return 1;
  auto whole = static_cast<int64_t>(b);  // toward zero
  if (a != whole) return a < whole ? -1 : 1;
  double rest = b - static_cast<double>(whole);
  return rest > 0 ? -1 : rest < 0 ? 1 : 0;
}

}  // namespace posset::interp
