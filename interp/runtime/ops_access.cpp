// Reading indexes and fields: xs[i], m[k], s[i], slices, r.f. Places (the same on the left of an
// assignment) are in place.cpp.
#include "interp/runtime/channel.h"
#include "interp/runtime/messages.h"
#include "interp/runtime/ops.h"
#include "interp/runtime/work.h"
#include "interp/value/compare.h"
#include "interp/value/map.h"
#include "interp/value/print.h"
#include "interp/value/record.h"

namespace posset::interp {

// ---- slices ----

namespace {

// Of a slice first..last of something of that size.
bool slice_bounds(int64_t first, int64_t last, bool inclusive, uint64_t size, uint64_t& from, uint64_t& to) {
  if (first < 0 || last < 0) return false;
  from = static_cast<uint64_t>(first);
  to = static_cast<uint64_t>(last) + (inclusive ? 1 : 0);
  return from <= to && to <= size;
}

bool slice_bounds(const Range* range, uint64_t size, uint64_t& from, uint64_t& to) {
  return !range->descending() && slice_bounds(range->first, range->last, range->inclusive(), size, from, to);
}

Value raise_slice(Context& context, Borrowed range, const char* of, uint64_t size) {
  return context.raise(
      ErrorCode::OutOfRange,
      "slice " + brief(range) + " is out of range for " + of + " of " + std::to_string(size),
      "a slice a..b needs 0 <= a <= b <= length");
}

Value part_of_list(Context& context, const List* list, uint64_t from, uint64_t to) {
  if (!charge_elements(context, to - from)) return Value::failure();
  return or_memory_limit(context, list_slice(context.heap, list, from, to));
}

Value part_of_text(Context& context, Borrowed text, uint64_t from, uint64_t to) {
  if (!charge_bytes(context, to - from)) return Value::failure();
  return or_memory_limit(context, substring(context.heap, text, from, to));
}

Value slice_list(Context& context, const List* list, Borrowed range) {
  uint64_t from = 0, to = 0;
  if (!slice_bounds(range.as<Range>(), list->size, from, to))
    return raise_slice(context, range, "a list", list->size);
  return part_of_list(context, list, from, to);
}

Value slice_string(Context& context, Borrowed text, Borrowed range) {
  uint64_t from = 0, to = 0, size = string_length(text);
  if (!slice_bounds(range.as<Range>(), size, from, to))
    return raise_slice(context, range, "a str", size);
  return part_of_text(context, text, from, to);
}

Value new_range(Context& context, int64_t first, int64_t last, uint8_t flags) {
  auto* range = context.heap.make<Range>(Tag::Range, sizeof(Range), flags);
  if (!range) return context.raise_memory_limit();
  range->first = first;
  range->last = last;
  return Value::adopt(Borrowed::heap(Tag::Range, range));
}

// Part of a range as a range. Inclusive bounds are used where an exclusive end would leave 64 bits.
Value slice_range(Context& context, const Range* whole, Borrowed range) {
  uint64_t from = 0, to = 0;
  if (!slice_bounds(range.as<Range>(), whole->size(), from, to)) {
    return raise_slice(context, range, "a range", whole->size());
  }
  const uint8_t direction = whole->flags & Range::kDescending;
  if (from == to) return new_range(context, whole->first, whole->first, direction);
  int64_t low = whole->at(direction ? to - 1 : from), high = whole->at(direction ? from : to - 1);
  if (high == INT64_MAX) return new_range(context, low, high, direction | Range::kInclusive);
  return new_range(context, low, high + 1, direction);
}

}  // namespace

Value make_range(Context& context, Borrowed first, Borrowed last, bool inclusive) {
  if (first.is_int() && last.is_int()) [[likely]] {
    return new_range(context, first.as_int(), last.as_int(), inclusive ? Range::kInclusive : 0);
  }
  Borrowed wrong = first.is_int() ? last : first;
  return context.raise(ErrorCode::WrongOperands,
                       "cannot make a range " + brief(first) + (inclusive ? "..=" : "..") +
                           brief(last) + ": expected int, got " + kind_and_value(context, wrong),
                       wrong.is_float() ? "int(...) makes an int of a float" : "");
}

// ---- indexes ----

namespace {

// What a container gives for an index that is not a slice: the element, Unset when there is none,
// Failed.
Value element_or_unset(Context& context, Borrowed base, Borrowed index) {
  const bool by_position = !base.is_map();
  if (by_position && !index.is_int())
    return raise_index_kind(context, type_name(base.tag()), index, "int");
  const auto at =
      static_cast<uint64_t>(index.as_int());  // a negative one becomes larger than any size
  switch (base.tag()) {
    case Tag::List:
      if (at < base.as<List>()->size) return list_copy(base.as<List>(), at);
      break;
    case Tag::Str:
    case Tag::ShortStr:
      if (at >= string_length(base)) break;
      if (is_ascii_string(base)) return Value::adopt(string_at(base, at));
      return or_memory_limit(context, string_at(context.heap, base, at));
    case Tag::Range:
      if (at < base.as<Range>()->size()) return Value::integer(base.as<Range>()->at(at));
      break;
    case Tag::Map: {
      auto* map = base.as<Map>();
      const KeyScope scope(context);
      if (!charge_key(context, map, index)) return Value::failure();
      if (key_problem(context, index) != KeyProblem::None) break;
      if (const Borrowed* found = map_find(map, index, context.heap.known_key())) return Value::copy(*found);
      break;
    }
    default:
      break;
  }
  return Value::adopt(Borrowed::unset());
}

bool has_elements(Borrowed v) { return v.is_list() || v.is_map() || v.is_string() || v.is_range(); }

Value raise_cannot_index(Context& context, Borrowed base) {
  const char* hint = "lists, strings, ranges and maps have indexes";
  if (base.is_record() || base.is_variant()) hint = "fields are read with a dot: r.name";
  if (base.is(Tag::Ref)) hint = "what a ref holds is its field 'value'";
  if (base.is_nil()) hint = "give a default with ??";
  return context.raise(ErrorCode::WrongOperands, "cannot index " + kind_and_value(context, base),
                       hint);
}

Value raise_missing(Context& context, Borrowed base, Borrowed index) {
  if (base.is_map()) {
    if (key_problem(context, index) != KeyProblem::None) return raise_key_kind(context, index);
    return raise_key_not_found(context, base.as<Map>(), index);
  }
  uint64_t size = base.is_list()    ? base.as<List>()->size
                  : base.is_range() ? base.as<Range>()->size()
                                    : string_length(base);
  return raise_index(context, index.as_int(), type_name(base.tag()), size);
}

}  // namespace

Value load_index(Context& context, Borrowed base, Borrowed index) {
  if (!has_elements(base)) return raise_cannot_index(context, base);
  if (index.is_range() && !base.is_map()) {
    if (base.is_list()) return slice_list(context, base.as<List>(), index);
    if (base.is_range()) return slice_range(context, base.as<Range>(), index);
    return slice_string(context, base, index);
  }
  Value found = element_or_unset(context, base, index);
  return found->is_unset() ? raise_missing(context, base, index) : std::move(found);
}

Value load_slice(Context& context, Borrowed base, Borrowed first, Borrowed last, bool inclusive) {
  uint64_t from = 0, to = 0;
  if (first.is_int() && last.is_int() && (base.is_list() || base.is_string())) {
    const uint64_t size = base.is_list() ? base.as<List>()->size : string_length(base);
    if (slice_bounds(first.as_int(), last.as_int(), inclusive, size, from, to)) {
      return base.is_list() ? part_of_list(context, base.as<List>(), from, to) : part_of_text(context, base, from, to);
    }
  }
  Value range = make_range(context, first, last, inclusive);
  return range.failed() ? Value::failure() : load_index(context, base, range);
}

Value load_index_or_unset(Context& context, Borrowed base, Borrowed index) {
  if (!has_elements(base)) return raise_cannot_index(context, base);
  return element_or_unset(context, base, index);
}

// ---- fields ----

namespace {

Value trace_list(Context& context, const ErrorData& data) {
  std::vector<TracePoint> points;
  try {
    points = data.trace.points();
  } catch (const std::bad_alloc&) {
    return context.raise_memory_limit();
  }
  ListBuilder lines(context, points.size());
  Meter meter(context);
  for (const TracePoint& point : points) {
    Value line = or_memory_limit(context, make_string_lossy(context.heap, trace_line(point)));
    if (line.failed() || !meter.add(1) || !lines.push(std::move(line))) return Value::failure();
  }
  return lines.finish();
}

// An error made by `error(...)` and not raised yet has no place: its line, column and file are nil.
Value place_field_of(Context& context, const ErrorData* data, std::string_view name) {
  if (!data || !data->located) return Value();
  const syntax::Source* source = source_of(data->place);
  if (name == "file")
    return or_memory_limit(context, make_string_lossy(context.heap, source->name()));
  syntax::Position at = source->position(span_of(data->place).begin);
  return Value::integer(name == "line" ? at.line : at.column);
}

Value load_error_field(Context& context, Borrowed base, std::string_view name) {
  const auto* error = base.as<ErrorObject>();
  if (name == "message") return Value::copy(error->message);
  if (name == "value") return Value::copy(error->value.is_unset() ? error->message : error->value);
  if (name == "line" || name == "column" || name == "file")
    return place_field_of(context, error->data, name);
  if (name != "trace") return raise_no_field(context, base, name);
  return error->data ? trace_list(context, *error->data) : ListBuilder(context).finish();
}

Value literal_value(Context& context, const syntax::Node* node) {
  switch (node->kind) {
    case syntax::NodeKind::BoolLiteral:
      return Value::boolean(syntax::as<syntax::BoolLiteralNode>(node)->value);
    case syntax::NodeKind::IntLiteral:
      return Value::integer(syntax::as<syntax::IntLiteralNode>(node)->value);
    case syntax::NodeKind::FloatLiteral:
      return Value::floating(syntax::as<syntax::FloatLiteralNode>(node)->value);
    case syntax::NodeKind::StringLiteral:
      return or_memory_limit(
          context, make_string(context.heap, syntax::as<syntax::StringLiteralNode>(node)->value));
    case syntax::NodeKind::Unary: {
      const auto* negation = syntax::as<syntax::UnaryNode>(node);
      Value operand = literal_value(context, negation->operand);
      return operand.failed() ? std::move(operand) : unary(context, negation->op, operand);
    }
    default:
      return Value();
  }
}

Value load_export(Context& context, const ModuleInstance& instance, const syntax::Export& found) {
  switch (found.kind) {
    case syntax::Export::Kind::Function:
      return Value::copy(instance.closures[found.function->index]);
    case syntax::Export::Kind::Constructor:
      return Value::copy(instance.constructors[found.type->index][found.index]);
    case syntax::Export::Kind::Global: {
      if (found.constant) return literal_value(context, found.constant);
      Borrowed value = instance.globals[found.index];
      if (!value.is_unset()) return Value::copy(value);
      return context.raise(ErrorCode::UsedBeforeDefinition,
                           std::string(found.name) + " is used before its definition has run");
    }
    case syntax::Export::Kind::Type:
      break;
  }
  return Value::adopt(Borrowed::unset());
}

// A module as a value; names bound by `import` are resolved before anything runs and do not come
// here.
Value load_module_field(Context& context, Borrowed base, std::string_view name) {
  const auto* module = base.as<ModuleObject>();
  Value found = Value::adopt(Borrowed::unset());
  if (const ModuleInstance* const instance = module->instance) {
    for (const syntax::Export& row : instance->tree->exports) {
      if (row.name == name && found->is_unset()) found = load_export(context, *instance, row);
    }
  } else if (const BuiltinModule::Export* const row = module->builtin->find(name)) {
    found = row->value();
  }
  return found->is_unset() ? raise_no_field(context, base, name) : std::move(found);
}

}  // namespace

Value load_field(Context& context, Borrowed base, const Symbol* name) {
  switch (base.tag()) {
    case Tag::Record:
    case Tag::Variant: {
      auto* record = base.as<Record>();
      int index = field_index(context.heap, record, name);
      if (index == Shape::kNotFound) break;
      return Value::copy(record->fields()[index]);
    }
    case Tag::Ref:
      if (name->text == "value") return Value::copy(base.as<Ref>()->value);
      break;
    case Tag::Error:
      return load_error_field(context, base, name->text);
    case Tag::Module:
      return load_module_field(context, base, name->text);
    case Tag::Host:
      return load_member(context, base, name->text);
    case Tag::Chan:
      return load_channel_method(context, base, name->text);
    default:
      break;
  }
  return raise_no_field(context, base, name->text);
}

}  // namespace posset::interp
