// Conversion: type, str, int, float, bool, list, map_of, and strings to scalar values and back.
#include <cmath>

#include "interp/runtime/builtins.h"
#include "interp/runtime/iterate.h"
#include "interp/runtime/place.h"
#include "interp/value/compare.h"
#include "interp/value/map.h"

namespace posset::interp {

Value builtin_type(NativeCall& call) {
  return or_memory_limit(call.context,
                         make_string(call.context.heap, type_text(call.context, call[0])));
}

Value builtin_str(NativeCall& call) {
  if (call[0].is_string()) return Value::copy(call[0]);
  StringBuilder out(call.context.heap);
  if (!append_formatted(call.context, out, call[0], nullptr)) return Value::failure();
  return or_memory_limit(call.context, out.finish());
}

// ---- numbers ----

namespace {

// "cannot convert "abc" to int"
Value raise_cannot_convert(NativeCall& call, const char* to, const char* because,
                           const char* hint) {
  bool shown = call[0].is_string() || call[0].is_number();
  std::string what = shown ? brief(call[0]) : kind_and_value(call.context, call[0]);
  return call.context.raise(ErrorCode::BadArgument,
                            "cannot convert " + what + " to " + to + because, hint);
}

Value float_as_int(NativeCall& call, double d) {
  int64_t out = 0;
  if (float_to_int(d, out)) return Value::integer(out);
  if (std::isnan(d)) return call.context.raise(ErrorCode::NotANumber, "cannot convert NaN to int");
  return call.context.raise(ErrorCode::OutOfRange,
                            "cannot convert " + brief(call[0]) + " to int: out of range",
                            "an int has 64 bits");
}

Value text_as_int(NativeCall& call) {
  const Borrowed text = call[0];
  int64_t out = 0;
  if (!charge_bytes(call.context, string_view_of(text).size())) return Value::failure();
  ContextPatience patience(call.context);
  const ParseResult result = parse_int(string_view_of(text), out, &patience);
  if (!patience.held()) return Value::failure();
  switch (result) {
    case ParseResult::Ok:
      return Value::integer(out);
    case ParseResult::OutOfRange:
      return raise_cannot_convert(call, "int", ": out of range",
                                  "an int has 64 bits; float(...) takes more");
    case ParseResult::Malformed:
      break;
  }
  double number = 0;
  const bool is_float = parse_float(string_view_of(text), number, &patience) == ParseResult::Ok;
  if (!patience.held()) return Value::failure();
  return raise_cannot_convert(
      call, "int", "", is_float ? "int(float(s)) reads a float first" : "expected decimal digits");
}

Value text_as_float(NativeCall& call) {
  const Borrowed text = call[0];
  double out = 0;
  if (!charge_bytes(call.context, string_view_of(text).size())) return Value::failure();
  ContextPatience patience(call.context);
  const ParseResult result = parse_float(string_view_of(text), out, &patience);
  if (!patience.held()) return Value::failure();
  switch (result) {
    case ParseResult::Ok:
      return Value::floating(out);
    case ParseResult::OutOfRange:
      return raise_cannot_convert(call, "float", ": out of range", "");
    case ParseResult::Malformed:
      break;
  }
  return raise_cannot_convert(call, "float", "", "expected a number such as 12, 1.5 or 1e-3");
}

}  // namespace

Value builtin_int(NativeCall& call) {
  if (call[0].is_int()) return Value::copy(call[0]);
  if (call[0].is_float()) return float_as_int(call, call[0].as_float());
  if (call[0].is_string()) return text_as_int(call);
  if (call[0].is_bool()) return Value::integer(call[0].as_bool());
  return raise_cannot_convert(call, "int", "", "expected int, float, str or bool");
}

Value builtin_float(NativeCall& call) {
  if (call[0].is_number()) return Value::floating(call[0].number());
  if (call[0].is_string()) return text_as_float(call);
  if (call[0].is_bool()) return Value::floating(call[0].as_bool());
  return raise_cannot_convert(call, "float", "", "expected int, float, str or bool");
}

Value builtin_bool(NativeCall& call) {
  if (call[0].is_bool()) return Value::copy(call[0]);
  const Borrowed text = call[0];
  if (text.is_string()) {
    if (string_view_of(text) == "true") return Value::boolean(true);
    if (string_view_of(text) == "false") return Value::boolean(false);
  }
  return raise_cannot_convert(
      call, "bool", "", "expected \"true\" or \"false\"; compare to make a bool of anything else");
}

// ---- containers ----

Value builtin_list(NativeCall& call) {
  if (!want_iterable(call, 0)) return Value::failure();
  return list_of(call.context, call[0]);
}

namespace {

bool add_pair(NativeCall& call, Map* map, Borrowed pair) {
  if (!pair.is_list() || pair.as<List>()->size != 2) {
    raise_argument(call, ErrorCode::TypeMismatch, 0,
                   "expected pairs [key, value], got " + kind_and_value(call.context, pair));
    return false;
  }
  Value key = list_copy(pair.as<List>(), 0), value = list_copy(pair.as<List>(), 1);
  Heap& heap = call.context.heap;
  const KeyScope scope(call.context);
  if (!check_key(call.context, map, key)) return false;
  return or_memory_limit(call.context, map_set(heap, map, std::move(key), std::move(value), heap.known_key()));
}

}  // namespace

Value builtin_map_of(NativeCall& call) {
  if (!want_iterable(call, 0)) return Value::failure();
  if (call[0].is_map()) return Value::copy(call[0]);
  Map* map = new_map(call.context.heap);
  if (!map) return call.context.raise_memory_limit();
  Value made = Value::adopt(Borrowed::heap(Tag::Map, map));
  Meter meter(call.context);
  bool ok = for_each_item(call.context, call[0],
                          [&](Value pair) { return meter.add(1) && add_pair(call, map, pair); });
  return ok ? std::move(made) : Value::failure();
}

// ---- scalar values ----

Value builtin_code(NativeCall& call) {
  if (!want_string(call, 0)) return Value::failure();
  const uint64_t n = string_length(call[0]);
  uint64_t at = 0;
  if (call.has(1) && !want_index(call, 1, n, at)) return Value::failure();
  if (n == 0) return raise_index(call.context, 0, "str", 0);
  uint32_t scalar;
  if (!scalar_at(call.context.heap, call[0], at, scalar)) return call.context.raise_memory_limit();
  return Value::integer(scalar);
}

Value builtin_codes(NativeCall& call) {
  if (!want_string(call, 0)) return Value::failure();
  const Borrowed text = call[0];
  const std::string_view bytes = string_view_of(text);
  const uint64_t n = string_length(text);
  List* list = new_list(call.context.heap, Packing::Int, n);
  if (!list) return call.context.raise_memory_limit();
  Value made = list_value(list);
  Meter meter(call.context);
  for (size_t at = 0; at < bytes.size();) {
    const uint64_t end = std::min(n, list->size + kPortion), begin = list->size;
    for (uint64_t i = begin; i < end; ++i) list->ints()[i] = decode_scalar(bytes, at);
    list->size = end;
    if (!meter.add(end - begin)) return Value::failure();
  }
  return made;
}

namespace {

bool append_code(NativeCall& call, StringBuilder& out, Borrowed code) {
  if (!code.is_int()) {
    raise_argument(call, ErrorCode::TypeMismatch, 0,
                   "expected ints, got " + kind_and_value(call.context, code));
    return false;
  }
  const int64_t scalar = code.as_int();
  bool surrogate = scalar >= 0xd800 && scalar <= 0xdfff;
  if (scalar < 0 || scalar > 0x10ffff || surrogate) {
    raise_argument(call, ErrorCode::OutOfRange, 0,
                   std::to_string(scalar) + " is out of range: no Unicode scalar value");
    return false;
  }
  char bytes[4];
  out.append(std::string_view(bytes, encode_scalar(static_cast<uint32_t>(scalar), bytes)));
  return or_memory_limit(call.context, !out.failed());
}

}  // namespace

Value builtin_from_codes(NativeCall& call) {
  if (!want_iterable(call, 0)) return Value::failure();
  StringBuilder out(call.context.heap);
  Meter meter(call.context);
  bool ok = for_each_item(call.context, call[0],
                          [&](Value code) { return meter.add(1) && append_code(call, out, code); });
  return ok ? or_memory_limit(call.context, out.finish()) : Value::failure();
}

}  // namespace posset::interp
