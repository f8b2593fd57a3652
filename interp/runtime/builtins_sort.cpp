// sort, sort_by, sort_with: one stable merge sort over fixed halves (at n // 2, the right one waits
// for the left), written here because std::sort must not meet a predicate that contradicts itself,
// nor one that raises. What is sorted are views; the list that owns the elements is held meanwhile,
// and the result is made at the end, so an error leaves nothing half done.
//
// Packed ints and floats, and keys that are, take a radix sort: same result, no comparisons. Charged alike: one step
// per 16 elements for each halving, whatever way is taken; calls of a script's `before` charge
// themselves.
#include <cmath>
#include <cstring>

#include "interp/runtime/builtins.h"
#include "interp/runtime/callback_loop.h"
#include "interp/runtime/halves.h"
#include "interp/value/compare.h"

namespace posset::interp {

namespace {

// A block of the context's heap for n things of type T.
template <class T>
class Buffer {
 public:
  Buffer(Context& context, uint64_t n) : heap_(context.heap), bytes_(n * sizeof(T)) {
    data_ = n > kMaxElements ? nullptr
                             : static_cast<T*>(heap_.allocate_block(std::max(bytes_, sizeof(T))));
    if (!data_) context.raise_memory_limit();
  }
  ~Buffer() {
    if (data_) heap_.free_block(data_, std::max(bytes_, sizeof(T)));
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  bool ok() const { return data_ != nullptr; }
  T* data() { return data_; }
  T& operator[](uint64_t i) { return data_[i]; }

 private:
  Heap& heap_;
  size_t bytes_;
  T* data_;
};

// Sorts in place with as much room beside it. `before(a, b)`: whether a must stand before b, -1
// when it raised. Its answers need not agree with each other: every element is moved, none compared
// out of bounds.
template <class T, class Before>
class MergeSort {
 public:
  MergeSort(T* items, T* room, Before& before, Patience* patience)
      : items_(items), room_(room), before_(before), patience_(patience) {}

  bool run(uint64_t from, uint64_t to) {
    constexpr uint64_t kInsertion = 6;
    if (to - from <= kInsertion) return insertion(from, to);
    const uint64_t middle = from + (to - from) / 2;
    return run(from, middle) && run(middle, to) && merge(from, middle, to);
  }

 private:
  bool insertion(uint64_t from, uint64_t to) {
    for (uint64_t i = from + 1; i < to; ++i) {
      T item = items_[i];
      uint64_t at = i;
      for (; at > from; --at) {
        int less = before_(item, items_[at - 1]);
        if (less < 0) return false;
        if (less == 0) break;
        items_[at] = items_[at - 1];
      }
      items_[at] = item;
    }
    return true;
  }

  bool merge(uint64_t from, uint64_t middle, uint64_t to) {
    int mixed = before_(items_[middle], items_[middle - 1]);
    if (mixed <= 0) return mixed == 0;
    if (!lasts(patience_, middle - from)) return false;
    std::copy(items_ + from, items_ + middle, room_ + from);
    uint64_t left = from, right = middle, out = from;
    while (left < middle && right < to) {
      int less = before_(items_[right], room_[left]);
      if (less < 0) return false;
      items_[out++] = less ? items_[right++] : room_[left++];
      if (!lasts(patience_)) return false;
    }
    std::copy(room_ + left, room_ + middle, items_ + out);
    return true;
  }

  T* items_;
  T* room_;
  Before& before_;
  Patience* const patience_;
};

template <class T, class Before>
bool merge_sort(Context& context, T* items, T* room, uint64_t n, Before& before) {
  ContextPatience patience(context);
  return MergeSort<T, Before>(items, room, before, &patience).run(0, n) || (patience.ended() && patience.held());
}

// ---- the order of sort ----

// The first pair of parts, going down, that are neither == nor containers of one kind: what decides
// the order of two values that hold a NaN somewhere.
bool step_inside(Borrowed& a, Borrowed& b, Patience& patience) {
  if (a.is_list() && b.is_list()) {
    const auto *x = a.as<List>(), *y = b.as<List>();
    for (uint64_t i = 0; i < std::min(x->size, y->size); ++i) {
      if (equal(list_get(x, i), list_get(y, i), &patience)) continue;
      a = list_get(x, i);
      b = list_get(y, i);
      return true;
    }
  } else if (a.is_variant() && b.is_variant() && a.as<Record>()->shape == b.as<Record>()->shape) {
    const auto *x = a.as<Record>(), *y = b.as<Record>();
    for (uint32_t i = 0; i < x->size; ++i) {
      if (equal(x->fields()[i], y->fields()[i], &patience)) continue;
      a = x->fields()[i];
      b = y->fields()[i];
      return true;
    }
  }
  return false;
}

bool is_nan(Borrowed v) { return v.is_float() && std::isnan(v.as_float()); }

class SortOrder {
 public:
  explicit SortOrder(Context& context) : context_(context) {}
  int operator()(Borrowed a, Borrowed b) {
    if (a.is_int() && b.is_int()) return a.as_int() < b.as_int();
    if (!charge_texts(context_, a, b) || !charge(a)) return -1;
    Borrowed left = a, right = b;
    const Order found = order(a, b, &left, &right, &patience_);
    if (!patience_.held()) return -1;
    switch (found) {
      case Order::Less:
        return 1;
      case Order::Unordered:
        return before_with_nan(a, b);
      case Order::Incomparable:
        raise_not_comparable(context_, " and ", a, b, left, right);
        return -1;
      default:
        return 0;
    }
  }

 private:
  // NaN after everything, so that the order is one. Each step down looks at all that is below,
  // which a deep value must pay for.
  int before_with_nan(Borrowed a, Borrowed b) {
    while (step_inside(a, b, patience_)) {
      if (!patience_.held() || !charge(a)) return -1;
    }
    if (!patience_.held()) return -1;
    return is_nan(b) && !is_nan(a);
  }

  bool charge(Borrowed v) { return !v.is_heap() || v.is(Tag::Str) || charge_weight(context_, v); }

  Context& context_;
  ContextPatience patience_{context_};
};

// Each halving looks at every element once.
bool charge_sort(Context& context, uint64_t n) {
  for (uint64_t width = 1; width < n; width *= 2) {
    if (!charge_elements(context, n)) return false;
  }
  return true;
}

// ---- packed numbers ----

// Keys whose order as unsigned numbers is the order of the elements. Zeros of both signs are equal,
// and so are all NaNs, which go last.
uint64_t key_of_int(uint64_t bits) { return bits ^ (uint64_t{1} << 63); }
uint64_t key_of_float(uint64_t bits) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  const double d = std::bit_cast<double>(bits);
  if (std::isnan(d)) return UINT64_MAX;
  if (d == 0) return kSign;
  return bits & kSign ? ~bits : bits | kSign;
}

constexpr uint64_t kFew = 256;  // that are sorted by comparing them

template <uint64_t key(uint64_t)>
bool sort_few(uint64_t* items, uint64_t* room, uint64_t n) {
  auto before = [](uint64_t a, uint64_t b) -> int { return key(a) < key(b); };
  return MergeSort(items, room, before, nullptr).run(0, n);
}

constexpr int kDigitBits = 8, kDigits = 64 / kDigitBits;
constexpr uint64_t kBuckets = uint64_t{1} << kDigitBits;

// A number that is a key, and the index of what it is the key of.
struct PackedKey {
  uint64_t bits;
  uint64_t index;
};
uint64_t bits_of(uint64_t number) { return number; }
uint64_t bits_of(const PackedKey& item) { return item.bits; }

template <uint64_t key(uint64_t), class Item>
uint64_t digit_of(const Item& item, int digit) {
  return key(bits_of(item)) >> (digit * kDigitBits) & (kBuckets - 1);
}

template <uint64_t key(uint64_t), class Item>
void count_digits(const Item* items, uint64_t n, uint64_t (*counts)[kBuckets]) {
  for (uint64_t i = 0; i < n; ++i) {
    for (int digit = 0; digit < kDigits; ++digit) ++counts[digit][digit_of<key>(items[i], digit)];
  }
}

// Calls visit(from, to) for one portion of n elements after the other, with a look at the limits between them.
template <class Visit>
bool in_portions(Context& context, uint64_t n, Visit&& visit) {
  for (uint64_t from = 0; from < n; from += kPortion) {
    if (from != 0 && !context.poll()) return false;
    visit(from, std::min(n, from + kPortion));
  }
  return true;
}

// Fresh memory is touched here, so that what goes on to write to all of it at once does not wait for the system to provide it.
template <class Item>
bool touch(Context& context, Item* fresh, uint64_t n) {
  constexpr uint64_t kPage = 4096 / sizeof *fresh;
  return in_portions(context, n, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; i += kPage) fresh[i] = {};
  });
}

// From the lowest digit up; a digit that is the same in all elements is skipped. The result is in
// `items`.
template <uint64_t key(uint64_t), class Item>
bool radix_sort(Context& context, Item* items, Item* room, uint64_t n) {
  uint64_t counts[kDigits][kBuckets] = {};
  const auto count = [&](uint64_t begin, uint64_t end) { count_digits<key>(items + begin, end - begin, counts); };
  if (!touch(context, room, n) || !in_portions(context, n, count)) return false;
  Item *from = items, *to = room;
  for (int digit = 0; digit < kDigits; ++digit) {
    uint64_t* starts = counts[digit];
    if (starts[digit_of<key>(from[0], digit)] == n) continue;
    uint64_t next = 0;
    for (uint64_t bucket = 0; bucket < kBuckets; ++bucket)
      next += std::exchange(starts[bucket], next);
    const bool done = in_portions(context, n, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i) to[starts[digit_of<key>(from[i], digit)]++] = from[i];
    });
    if (!done) return false;
    std::swap(from, to);
  }
  return from == items || in_portions(context, n, [&](uint64_t begin, uint64_t end) { std::copy(from + begin, from + end, items + begin); });
}

// A copy of a packed list, sorted.
template <uint64_t key(uint64_t)>
Value sort_packed(Context& context, const List* list) {
  const uint64_t n = list->size;
  List* made = new_list(context.heap, list->packing(), n);
  if (!made) return context.raise_memory_limit();
  Value result = list_value(made);
  Buffer<uint64_t> room(context, n);
  if (!room.ok()) return Value::failure();
  const auto copy = [&](uint64_t begin, uint64_t end) { list_copy_storage(made, begin, list, begin, end - begin); };
  if (!in_portions(context, n, copy)) return Value::failure();
  made->size = n;
  bool ok = n <= kFew ? sort_few<key>(made->data<uint64_t>(), room.data(), n)
                      : radix_sort<key>(context, made->data<uint64_t>(), room.data(), n);
  return ok ? std::move(result) : Value::failure();
}

// ---- everything else ----

// The result, from views in their order.
template <class At>
Value list_of_sorted(Context& context, uint64_t n, At&& at) {
  ListBuilder out(context, n);
  for (uint64_t i = 0; i < n; ++i) {
    if (i % kPortion == kPortion - 1 && !context.poll()) return Value::failure();
    if (!out.push(Value::copy(at(i)))) return Value::failure();
  }
  return out.finish();
}

template <class Before>
Value sort_views(Context& context, const Elements& elements, Before& before) {
  const uint64_t n = elements.size();
  Buffer<Borrowed> views(context, n);
  if (!views.ok()) return Value::failure();
  Buffer<Borrowed> room(context, n);
  if (!room.ok()) return Value::failure();
  const bool viewed = in_portions(context, n, [&](uint64_t from, uint64_t to) {
    for (uint64_t i = from; i < to; ++i) views[i] = elements.view(i);
  });
  if (!viewed || !merge_sort(context, views.data(), room.data(), n, before)) return Value::failure();
  return list_of_sorted(context, n, [&](uint64_t i) { return views[i]; });
}

// ---- strings ----

// A string with its first bytes beside it, so that most comparisons touch no other memory.
struct Prefixed {
  uint64_t prefix;
  Borrowed text;
};

Prefixed with_prefix(Borrowed text) {
  const std::string_view bytes = string_view_of(text);
  uint64_t prefix = 0;
  for (size_t i = 0; i < sizeof prefix; ++i) {
    prefix = prefix << 8 | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0);
  }
  return {prefix, text};
}

bool all_strings(const List* list) {
  if (list->packing() != Packing::Any) return false;
  const Borrowed* items = list->data<Borrowed>();
  return std::all_of(items, items + list->size, [](Borrowed v) { return v.is_string(); });
}

// Strings go by scalar value, which is the order of their bytes.
Value sort_strings(Context& context, const List* list) {
  const uint64_t n = list->size;
  Buffer<Prefixed> items(context, n);
  if (!items.ok()) return Value::failure();
  Buffer<Prefixed> room(context, n);
  if (!room.ok()) return Value::failure();
  const bool prepared = in_portions(context, n, [&](uint64_t from, uint64_t to) {
    for (uint64_t i = from; i < to; ++i) items[i] = with_prefix(list_get(list, i));
  });
  ContextPatience patience(context);
  auto before = [&](const Prefixed& a, const Prefixed& b) -> int {
    if (!charge_texts(context, a.text, b.text)) return -1;
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    if (a.text.is_short_string() || b.text.is_short_string()) return string_view_of(a.text) < string_view_of(b.text);
    const Order found = order(a.text, b.text, nullptr, nullptr, &patience);
    return patience.held() ? found == Order::Less : -1;
  };
  if (!prepared || !merge_sort(context, items.data(), room.data(), n, before)) return Value::failure();
  return list_of_sorted(context, n, [&](uint64_t i) { return items[i].text; });
}

}  // namespace

Value builtin_sort(NativeCall& call) {
  if (!want_iterable(call, 0)) return Value::failure();
  Context& context = call.context;
  Elements elements(context, call[0]);
  if (!elements.ok()) return Value::failure();
  if (elements.range() && !elements.range()->descending()) return list_of(context, call[0]);
  if (!charge_sort(context, elements.size())) return Value::failure();
  if (const List* list = elements.list()) {
    if (list->packing() == Packing::Int) return sort_packed<key_of_int>(context, list);
    if (list->packing() == Packing::Float) return sort_packed<key_of_float>(context, list);
    if (all_strings(list)) return sort_strings(context, list);
  }
  SortOrder before(context);
  return sort_views(context, elements, before);
}

Value builtin_sort_with(NativeCall& call) {
  if (!want_iterable(call, 0) || !want_function(call, 1)) return Value::failure();
  Context& context = call.context;
  Elements elements(context, call[0]);
  if (!elements.ok()) return Value::failure();
  if (!call[1].is(Tag::Fn) && !charge_sort(context, elements.size())) return Value::failure();
  Callback f(context, call[1]);
  auto before = [&](Borrowed a, Borrowed b) -> int {
    Value answer = f(Value::copy(a), Value::copy(b));
    return answer.failed() ? -1
                           : expect_bool(context, answer, "the result of sort_with's function");
  };
  return sort_views(context, elements, before);
}

// ---- sort_by ----

namespace {

// An element and what it is sorted by; both are owned by lists that live meanwhile.
struct Keyed {
  Borrowed key;
  Borrowed item;
};

// The keys in a list, made by calling f for each element in order, or in halves.
Value keys_of(NativeCall& call, const Elements& elements) {
  if (may_split(call.context, call[1])) {
    const Borrowed items = elements.list() ? Borrowed::heap(Tag::List, elements.list()) : call[0];
    return map_in_halves(call.context, call.function->name, items, call[1]);
  }
  ListBuilder keys(call.context, elements.size());
  Callback f(call.context, call[1]);
  Meter meter(call.context, call[1]);
  for (uint64_t i = 0; i < elements.size(); ++i) {
    Value key = meter.add(1) ? f(elements.at(i)) : Value::failure();
    if (key.failed() || !keys.push(std::move(key))) return Value::failure();
  }
  return keys.finish();
}

Value sorted_by_keys(Context& context, const Elements& elements, const List* keys) {
  const uint64_t n = elements.size();
  Buffer<Keyed> pairs(context, n);
  if (!pairs.ok()) return Value::failure();
  Buffer<Keyed> room(context, n);
  if (!room.ok()) return Value::failure();
  const bool paired = in_portions(context, n, [&](uint64_t from, uint64_t to) {
    for (uint64_t i = from; i < to; ++i) pairs[i] = {list_get(keys, i), elements.view(i)};
  });
  SortOrder order_of(context);
  auto before = [&](const Keyed& a, const Keyed& b) { return order_of(a.key, b.key); };
  if (!paired || !merge_sort(context, pairs.data(), room.data(), n, before)) return Value::failure();
  return list_of_sorted(context, n, [&](uint64_t i) { return pairs[i].item; });
}

// The same for many packed keys.
template <uint64_t key(uint64_t)>
Value sorted_by_packed_keys(Context& context, const Elements& elements, const List* keys) {
  const uint64_t n = elements.size();
  Buffer<PackedKey> items(context, n);
  if (!items.ok()) return Value::failure();
  Buffer<PackedKey> room(context, n);
  if (!room.ok()) return Value::failure();
  const bool numbered = in_portions(context, n, [&](uint64_t from, uint64_t to) {
    for (uint64_t i = from; i < to; ++i) items[i] = {keys->data<uint64_t>()[i], i};
  });
  if (!numbered || !radix_sort<key>(context, items.data(), room.data(), n)) return Value::failure();
  return list_of_sorted(context, n, [&](uint64_t i) { return elements.view(items[i].index); });
}

}  // namespace

Value builtin_sort_by(NativeCall& call) {
  if (!want_iterable(call, 0) || !want_function(call, 1)) return Value::failure();
  Elements elements(call.context, call[0]);
  if (!elements.ok()) return Value::failure();
  Value keys = keys_of(call, elements);
  if (keys.failed() || !charge_sort(call.context, elements.size())) return Value::failure();
  const auto* list = keys->as<List>();
  if (list->size > kFew && list->packing() == Packing::Int) return sorted_by_packed_keys<key_of_int>(call.context, elements, list);
  if (list->size > kFew && list->packing() == Packing::Float) return sorted_by_packed_keys<key_of_float>(call.context, elements, list);
  return sorted_by_keys(call.context, elements, list);
}

}  // namespace posset::interp
