// Size and slots: len, and what changes a list or map in place. An inout argument was taken out of
// its place by the caller, so it is unique unless the value is shared elsewhere; it is made unique
// only after all arguments have been checked, and it stays in `arguments[0]` for the caller to
// write back.
#include <string>

#include "interp/runtime/builtins.h"
#include "interp/runtime/iterate.h"
#include "interp/value/compare.h"
#include "interp/value/map.h"

namespace posset::interp {

Value builtin_len(NativeCall& call) {
  switch (call[0].tag()) {
    case Tag::Str:
    case Tag::ShortStr:
      return Value::integer(static_cast<int64_t>(string_length(call[0])));
    case Tag::List:
      return Value::integer(static_cast<int64_t>(call[0].as<List>()->size));
    case Tag::Map:
      return Value::integer(static_cast<int64_t>(call[0].as<Map>()->live));
    case Tag::Range: {
      uint64_t n = call[0].as<Range>()->size();
      if (n <= INT64_MAX) return Value::integer(static_cast<int64_t>(n));
      return raise_argument(call, ErrorCode::OutOfRange, 0,
                            "the length of " + brief(call[0]) + " is out of range of an int");
    }
    default:
      return raise_argument(call, 0, "str, list, map or range");
  }
}

// ---- lists that grow ----

Value builtin_push(NativeCall& call) {
  if (!own_list_argument(call)) return Value::failure();
  bool ok = list_push(call.context.heap, call.arguments[0], call.take(1));
  return or_memory_limit(call.context, ok) ? Value() : Value::failure();
}

Value builtin_insert(NativeCall& call) {
  if (!want_list(call, 0)) return Value::failure();
  const uint64_t size = call[0].as<List>()->size;
  if (call[1].is_int() && static_cast<uint64_t>(call[1].as_int()) > size) {
    return call.context.raise(ErrorCode::OutOfRange,
                              "index " + std::to_string(call[1].as_int()) + " is out of range for inserting into a list of " + std::to_string(size),
                              "an element can be inserted from 0 to " + std::to_string(size) + ", which is its end");
  }
  uint64_t at = 0;
  if (!want_index(call, 1, size + 1, at)) return Value::failure();
  // What stands behind the place moves.
  if (!charge_elements(call.context, size - at)) return Value::failure();
  if (!own_list_argument(call)) return Value::failure();
  bool ok = list_insert(call.context.heap, call.arguments[0], at, call.take(2));
  return or_memory_limit(call.context, ok) ? Value() : Value::failure();
}

Value builtin_extend(NativeCall& call) {
  if (!want_list(call, 0) || !want_iterable(call, 1) || !own_list_argument(call))
    return Value::failure();
  Context& context = call.context;
  if (call[1].is_list() || call[1].is_range()) {
    return append_spread(context, call.arguments[0], call[1]) ? Value() : Value::failure();
  }
  Meter meter(context);
  bool ok = for_each_item(context, call[1], [&](Value item) {
    return meter.add(1) &&
           or_memory_limit(context, list_push(context.heap, call.arguments[0], std::move(item)));
  });
  return ok ? Value() : Value::failure();
}

Value builtin_reserve(NativeCall& call) {
  uint64_t n = 0;
  if (!call[0].is_list() && !call[0].is_map()) return raise_argument(call, 0, "list or map");
  if (!want_count(call, 1, n)) return Value::failure();
  if (n > kMaxElements) return call.context.raise_memory_limit();
  bool ok = false;
  if (call[0].is_list()) {
    if (!own_list_argument(call)) return Value::failure();
    ok = list_reserve(call.context.heap, call.arguments[0], n);
  } else {
    if (!own_map_argument(call)) return Value::failure();
    ok = map_reserve(call.context.heap, call[0].as<Map>(), n);
  }
  return or_memory_limit(call.context, ok) ? Value() : Value::failure();
}

Value builtin_fill(NativeCall& call) {
  uint64_t n = 0;
  if (!want_count(call, 0, n)) return Value::failure();
  if (n > kMaxElements) return call.context.raise_memory_limit();
  if (!charge_elements(call.context, n)) return Value::failure();
  return or_memory_limit(call.context, list_filled(call.context.heap, n, call[1]));
}

// ---- lists that shrink or change ----

Value builtin_pop(NativeCall& call) {
  if (!want_list(call, 0)) return Value::failure();
  const uint64_t size = call[0].as<List>()->size;
  if (size == 0) return raise_empty(call, "list");
  if (!own_list_argument(call)) return Value::failure();
  return list_remove(call.arguments[0], size - 1);
}

Value builtin_swap(NativeCall& call) {
  if (!want_list(call, 0)) return Value::failure();
  const uint64_t size = call[0].as<List>()->size;
  uint64_t i = 0, j = 0;
  if (!want_index(call, 1, size, i) || !want_index(call, 2, size, j) || !own_list_argument(call)) {
    return Value::failure();
  }
  list_swap(call[0].as<List>(), i, j);
  return Value();
}

namespace {

Value remove_from_list(NativeCall& call) {
  uint64_t at = 0;
  const uint64_t size = call[0].as<List>()->size;
  if (!want_index(call, 1, size, at) || !charge_elements(call.context, size - at))
    return Value::failure();
  if (!own_list_argument(call)) return Value::failure();
  return list_remove(call.arguments[0], at);
}

// A key that is missing (or could not be there) changes nothing, so nothing is copied for it
// either.
Value remove_from_map(NativeCall& call) {
  Heap& heap = call.context.heap;
  auto* map = call[0].as<Map>();
  const KeyScope scope(call.context);
  if (!charge_key(call.context, map, call[1])) return Value::failure();
  if (key_problem(call.context, call[1]) != KeyProblem::None || !map_find(map, call[1], heap.known_key())) return Value();
  if (!own_map_argument(call)) return Value::failure();
  Value removed = map_remove(heap, call[0].as<Map>(), call[1], heap.known_key());
  return removed->is_unset() ? Value() : std::move(removed);
}

}  // namespace

Value builtin_remove(NativeCall& call) {
  if (call[0].is_list()) return remove_from_list(call);
  if (call[0].is_map()) return remove_from_map(call);
  return raise_argument(call, 0, "list or map");
}

// ---- remove_if ----

namespace {

// The answers of the predicate, one bit for each element, charged to the heap. They are all there
// before anything changes, so a predicate that raises leaves the list as it was.
class Answers {
 public:
  Answers(Heap& heap, uint64_t n) : heap_(heap), bytes_(n / 8 + 1) {
    bits_ = static_cast<uint8_t*>(heap.allocate_block(bytes_));
    if (bits_) std::fill_n(bits_, bytes_, uint8_t{0});
  }
  ~Answers() {
    if (bits_) heap_.free_block(bits_, bytes_);
  }
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;
  bool ok() const { return bits_ != nullptr; }
  void set(uint64_t i) {
    bits_[i / 8] |= static_cast<uint8_t>(1 << (i % 8));
    ++count_;
  }
  uint64_t count() const { return count_; }
  bool operator[](uint64_t i) const { return bits_[i / 8] >> (i % 8) & 1; }

 private:
  Heap& heap_;
  size_t bytes_;
  uint8_t* bits_;
  uint64_t count_ = 0;
};

// Asks f about every item of arguments[0]. False: raised.
bool ask_all(NativeCall& call, Answers& answers) {
  if (!answers.ok()) return or_memory_limit(call.context, false);
  Callback f(call.context, call[1]);
  Meter meter(call.context, call[1]);
  uint64_t i = 0;
  return for_each_item(call.context, call[0], [&](Value item) {
    int answer = meter.add(1) ? f.test(std::move(item), "the result of remove_if's function") : -1;
    if (answer > 0) answers.set(i);
    ++i;
    return answer >= 0;
  });
}

template <class T>
void keep_others(T* data, uint64_t size, const Answers& removed) {
  uint64_t kept = 0;
  for (uint64_t i = 0; i < size; ++i) {
    if (!removed[i]) std::swap(data[kept++], data[i]);
  }
}

// Moves what stays to the front, in order; what goes is left behind it.
void compact(List* list, const Answers& removed) {
  switch (list->packing()) {
    case Packing::Any:
      return keep_others(list->any(), list->size, removed);
    case Packing::Int:
      return keep_others(list->ints(), list->size, removed);
    case Packing::Float:
      return keep_others(list->floats(), list->size, removed);
    case Packing::Bool:
      return keep_others(list->bools(), list->size, removed);
  }
}

// A new list of what stays, for which there is room. False: given up.
bool copy_others(Heap& heap, List* made, const List* list, const Answers& removed) {
  return heap.in_portions(nullptr, list->size, sizeof(uint64_t), [&](uint64_t from, uint64_t to) {
    for (uint64_t i = from; i < to; ++i) {
      if (!removed[i]) list_store(made, made->size++, list_copy(list, i).take());
    }
  });
}

// Of so many, moving those that stay and dropping the others takes a millisecond.
uint64_t moved_at_once(Packing packing) { return packing == Packing::Any ? uint64_t{1} << 15 : uint64_t{1} << 18; }

// A long list is not changed in its place unless there is no room for another one: who is to stop in the middle must find it as
// it was. A shared one has to be copied anyway.
Value remove_from_list_if(NativeCall& call) {
  Heap& heap = call.context.heap;
  auto* list = call[0].as<List>();
  Answers removed(heap, list->size);
  if (!ask_all(call, removed)) return Value::failure();
  if (removed.count() == 0) return Value();
  const uint64_t kept = list->size - removed.count();
  if (list->size > moved_at_once(list->packing()) || !is_unique(list)) {
    if (List* made = new_list(heap, list->packing(), kept)) {
      Value owner = Value::adopt(Borrowed::heap(Tag::List, made));
      if (!or_memory_limit(call.context, copy_others(heap, made, list, removed))) return Value::failure();
      release(std::exchange(call.arguments[0], owner.take()));
      return Value();
    }
    if (!own_list_argument(call)) return Value::failure();
  }
  compact(call[0].as<List>(), removed);
  list_truncate(call.arguments[0], kept);
  return Value();
}

Value remove_from_map_if(NativeCall& call) {
  Answers removed(call.context.heap, call[0].as<Map>()->live);
  if (!ask_all(call, removed) || !own_map_argument(call)) return Value::failure();
  auto* map = call[0].as<Map>();
  uint64_t i = 0;
  bool done = true;
  for (uint32_t at = map_next(map, 0); done && at < map->used; at = map_next(map, at + 1)) {
    if (removed[i++]) map_take_entry(map, &map->entries[at]);
    // What has gone by then stays gone. Other tasks, which could see it, have no turn: the poll raises.
    if (i % kPortion == 0 && call.context.must_stop()) done = call.context.poll();
  }
  map_close_gaps(call.context.heap, map);
  return done ? Value() : Value::failure();
}

}  // namespace

Value builtin_remove_if(NativeCall& call) {
  if (!call[0].is_list() && !call[0].is_map()) return raise_argument(call, 0, "list or map");
  if (!want_function(call, 1)) return Value::failure();
  return call[0].is_list() ? remove_from_list_if(call) : remove_from_map_if(call);
}

// ---- ends ----

namespace {

const char* kind_if_empty(Borrowed v) { return item_count(v) == 0 ? type_name(v.tag()) : nullptr; }

// What a channel is empty of shows when it has been asked.
Value found_or_empty(const NativeCall& call, Value found) {
  return found->is_unset() ? raise_empty(call, type_name(call[0].tag())) : std::move(found);
}

Value last_received(const NativeCall& call) {
  Value found = Value::adopt(Borrowed::unset());
  Meter meter(call.context);
  bool ok = for_each_item(call.context, call[0], [&](Value item) {
    found = std::move(item);
    return meter.add(1);
  });
  return ok ? found_or_empty(call, std::move(found)) : Value::failure();
}

Value last_of_map(Context& context, const Map* map) {
  const MapEntry& last = map->entries[map_last(map)];
  return make_pair(context, Value::copy(last.key), Value::copy(last.value));
}

}  // namespace

Value builtin_first(NativeCall& call) {
  if (!want_iterable(call, 0)) return Value::failure();
  if (const char* kind = kind_if_empty(call[0])) return raise_empty(call, kind);
  Value found = Value::adopt(Borrowed::unset());
  bool ok = for_each_item(call.context, call[0], [&](Value item) {
    found = std::move(item);
    return false;
  });
  return ok ? found_or_empty(call, std::move(found)) : Value::failure();
}

Value builtin_last(NativeCall& call) {
  if (!want_iterable(call, 0)) return Value::failure();
  if (const char* kind = kind_if_empty(call[0])) return raise_empty(call, kind);
  const uint64_t n = item_count(call[0]);
  switch (call[0].tag()) {
    case Tag::List:
      return list_copy(call[0].as<List>(), n - 1);
    case Tag::Range:
      return Value::integer(call[0].as<Range>()->back());
    case Tag::Map:
      return last_of_map(call.context, call[0].as<Map>());
    case Tag::Chan:
      return last_received(call);
    default:
      return Value::adopt(string_back(call[0]));
  }
}

}  // namespace posset::interp
