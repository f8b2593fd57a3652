// The iteration protocol: one cursor per kind of value. See iterate.h for the hidden slots.
#include "interp/runtime/iterate.h"

#include <algorithm>
#include <cstring>

#include "interp/runtime/channel.h"
#include "interp/runtime/messages.h"
#include "interp/runtime/work.h"
#include "interp/value/map.h"

namespace posset::interp {

namespace {

constexpr int64_t kLines = 1;  // hidden[2] of an iteration over the lines of a string

uint64_t cursor_of(const Borrowed* hidden) { return static_cast<uint64_t>(hidden[1].as_int()); }
void set_cursor(Borrowed* hidden, uint64_t at) {
  hidden[1] = Borrowed::integer(static_cast<int64_t>(at));
}

// A range whose end fits is counted without the range.
void begin_range(Borrowed* hidden) {
  Borrowed value = hidden[0];
  const auto* range = value.as<Range>();
  if (range->inclusive() && range->last == INT64_MAX) return;
  const bool down = range->descending();
  const Borrowed first = Borrowed::integer(range->first), end = Borrowed::integer(range->last + (range->inclusive() ? 1 : 0));
  hidden[1] = down ? end : first;
  hidden[2] = down ? first : end;
  hidden[0] = down ? Borrowed::boolean(true) : Borrowed::nil();
  release(value);
}

Step next_counted(Borrowed* hidden, Value& item) {
  int64_t at = hidden[1].as_int();
  if (at >= hidden[2].as_int()) return Step::End;
  hidden[1] = Borrowed::integer(at + 1);
  item = Value::integer(at);
  return Step::Item;
}

Step next_counted_down(Borrowed* hidden, Value& item) {
  const int64_t before = hidden[1].as_int();
  if (before <= hidden[2].as_int()) return Step::End;
  hidden[1] = Borrowed::integer(before - 1);
  item = Value::integer(before - 1);
  return Step::Item;
}

Step next_of_list(Borrowed* hidden, Value& item) {
  const auto* list = hidden[0].as<List>();
  uint64_t at = cursor_of(hidden);
  if (at >= list->size) return Step::End;
  set_cursor(hidden, at + 1);
  item = list_copy(list, at);
  return Step::Item;
}

Step next_of_range(Borrowed* hidden, Value& item) {
  const auto* range = hidden[0].as<Range>();
  uint64_t at = cursor_of(hidden);
  if (at >= range->size()) return Step::End;
  set_cursor(hidden, at + 1);
  item = Value::integer(range->at(at));
  return Step::Item;
}

// False: it holds numbers, and these are none, or the other way round.
bool fill_again(List* pair, const MapEntry& entry) {
  const Borrowed both[] = {entry.key, entry.value};
  if (packing_for_all(both, 2) != pair->packing()) return false;
  const bool counted = pair->packing() == Packing::Any;
  for (uint64_t i = 0; i < 2; ++i) {
    const Borrowed before = list_get(pair, i);
    retain(both[i]);
    list_store(pair, i, both[i]);
    if (counted) release(before);
  }
  return true;
}

// One that is taken apart serves the next entry, too, if nobody has kept it.
Value pair_of(Context& context, Borrowed& last, const MapEntry& entry) {
  if (last.is_list() && is_unique(last.object()) && fill_again(last.as<List>(), entry)) return Value::copy(last);
  Value made = make_pair(context, Value::copy(entry.key), Value::copy(entry.value));
  if (!last.is_int() && !made.failed()) release(std::exchange(last, Value::copy(made).take()));
  return made;
}

Step next_of_map(Context& context, Borrowed* hidden, Value& item) {
  const auto* map = hidden[0].as<Map>();
  uint32_t at = map_next(map, static_cast<uint32_t>(cursor_of(hidden)));
  if (at >= map->used) return Step::End;
  set_cursor(hidden, at + uint64_t{1});
  item = pair_of(context, hidden[2], map->entries[at]);
  return item.failed() ? Step::Failed : Step::Item;
}

Step next_scalar(Borrowed* hidden, Value& item) {
  std::string_view bytes = string_view_of(hidden[0]);
  size_t at = cursor_of(hidden);
  if (at >= bytes.size()) return Step::End;
  if (static_cast<unsigned char>(bytes[at]) < 0x80) {
    item = Value::adopt(make_short(bytes.substr(at, 1)));
    set_cursor(hidden, at + 1);
    return Step::Item;
  }
  item = Value::adopt(make_scalar(decode_scalar(bytes, at)));
  set_cursor(hidden, at);
  return Step::Item;
}

// The next line break at or after that place, or the end. False: raised.
bool find_line_break(Context& context, std::string_view bytes, size_t from, size_t& at) {
  for (size_t looked = from;; looked = at) {
    const std::string_view part = bytes.substr(looked, Heap::kCopyPortion);
    const void* newline = memchr(part.data(), '\n', part.size());
    at = newline ? static_cast<size_t>(static_cast<const char*>(newline) - bytes.data()) : looked + part.size();
    if (newline || at == bytes.size()) return true;
    if (context.must_stop() && !context.poll()) return false;
  }
}

// Lines end at \n or \r\n; what follows the last break is a line only when it is not empty.
Step next_line(Context& context, Borrowed* hidden, Value& item) {
  std::string_view bytes = string_view_of(hidden[0]);
  size_t at = cursor_of(hidden);
  if (at >= bytes.size()) return Step::End;
  size_t end;
  if (!find_line_break(context, bytes, at, end)) return Step::Failed;
  const bool is_ended = end < bytes.size();
  set_cursor(hidden, is_ended ? end + 1 : end);
  if (is_ended && end > at && bytes[end - 1] == '\r') --end;
  item = or_memory_limit(context, make_string(context.heap, bytes.substr(at, end - at)));
  return item.failed() ? Step::Failed : Step::Item;
}

}  // namespace

bool begin_iteration(Context& context, Borrowed* hidden, bool taken_apart) {
  hidden[1] = Borrowed::integer(0);
  hidden[2] = Borrowed::integer(0);
  switch (hidden[0].tag()) {
    case Tag::Range:
      begin_range(hidden);
      return true;
    case Tag::Map:
      if (taken_apart) hidden[2] = Borrowed::nil();
      return true;
    case Tag::List:
    case Tag::Str:
    case Tag::ShortStr:
    case Tag::Chan:
      return true;
    default:
      raise_not_iterable(context, hidden[0]);
      return false;
  }
}

bool begin_lines(Context& context, Borrowed* hidden) {
  hidden[1] = Borrowed::integer(0);
  hidden[2] = Borrowed::integer(kLines);
  if (hidden[0].is_string()) return true;
  context.raise(ErrorCode::TypeMismatch,
                "argument s of lines(s): expected str, got " + kind_and_value(context, hidden[0]));
  return false;
}

bool begin_counted(Context& context, Borrowed* hidden, Borrowed first, Borrowed last,
                   bool inclusive) {
  bool fits = first.is_int() && last.is_int() && !(inclusive && last.as_int() == INT64_MAX);
  if (!fits) {
    Value range = make_range(context, first, last, inclusive);
    hidden[0] = hidden[1] = hidden[2] = Borrowed::nil();
    if (range.failed()) return false;
    hidden[0] = range.take();
    return begin_iteration(context, hidden);
  }
  hidden[0] = Borrowed::nil();
  hidden[1] = first;
  hidden[2] = Borrowed::integer(last.as_int() + (inclusive ? 1 : 0));
  return true;
}

Step next_item(Context& context, Borrowed* hidden, Value& item) {
  switch (hidden[0].tag()) {
    case Tag::Nil:
      return next_counted(hidden, item);
    case Tag::Bool:
      return next_counted_down(hidden, item);
    case Tag::List:
      return next_of_list(hidden, item);
    case Tag::Range:
      return next_of_range(hidden, item);
    case Tag::Map:
      return next_of_map(context, hidden, item);
    case Tag::Chan:
      return receive(context, hidden[0], item);
    default:
      return hidden[2].as_int() == kLines ? next_line(context, hidden, item)
                                          : next_scalar(hidden, item);
  }
}

uint64_t item_count(Borrowed iterable) {
  switch (iterable.tag()) {
    case Tag::List:
      return iterable.as<List>()->size;
    case Tag::Map:
      return iterable.as<Map>()->live;
    case Tag::Range:
      return iterable.as<Range>()->size();
    case Tag::Str:
    case Tag::ShortStr:
      return string_length(iterable);
    default:
      return UINT64_MAX;
  }
}

uint64_t items_expected(const Borrowed* hidden) {
  constexpr uint64_t kUnknown = 4096;
  if (hidden[0].is_nil() || hidden[0].is_bool()) {
    const int64_t from = hidden[hidden[0].is_nil() ? 1 : 2].as_int(), end = hidden[hidden[0].is_nil() ? 2 : 1].as_int();
    return from < end ? static_cast<uint64_t>(end) - static_cast<uint64_t>(from) : 0;
  }
  const uint64_t count = item_count(hidden[0]);
  const bool is_known = hidden[0].is_list() || hidden[0].is_range() || hidden[0].is_map();
  return is_known ? count : std::min(count, kUnknown);
}

}  // namespace posset::interp
