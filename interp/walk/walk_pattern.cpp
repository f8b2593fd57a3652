// Tier 0: patterns, in two phases: first tests that collect views of the parts, then the names are
// bound, so that a pattern that does not fit leaves nothing behind.
#include "interp/runtime/messages.h"
#include "interp/runtime/work.h"
#include "interp/value/compare.h"
#include "interp/value/list.h"
#include "interp/value/record.h"
#include "interp/walk/walker.h"

namespace posset::interp {

using namespace syntax;

// ---- fitting ----

bool Walker::fits(const Node* pattern, Borrowed v, std::vector<Bound>& bound) {
  switch (pattern->kind) {
    case NodeKind::WildcardPattern:
      return true;
    case NodeKind::LiteralPattern:
      return fits_literal(static_cast<const LiteralPatternNode*>(pattern)->value, v);
    case NodeKind::BindingPattern: {
      auto* name = static_cast<const BindingPatternNode*>(pattern);
      if (name->type && !fits_type(function_, *name->type, v)) return false;
      bound.push_back({name, v, nullptr});
      return true;
    }
    default:
      return on_some_stack([&] { return fits_parts(pattern, v, bound); });
  }
}

bool Walker::fits_parts(const Node* pattern, Borrowed v, std::vector<Bound>& bound) {
  switch (pattern->kind) {
    case NodeKind::ListPattern:
      return fits_list(*static_cast<const ListPatternNode*>(pattern), v, bound);
    case NodeKind::RecordPattern:
      return fits_record(*static_cast<const RecordPatternNode*>(pattern), v, bound);
    case NodeKind::ConstructorPattern:
      return fits_constructor(*static_cast<const ConstructorPatternNode*>(pattern), v, bound);
    case NodeKind::AlternativePattern:
      return fits_alternatives(*static_cast<const AlternativePatternNode*>(pattern), v, bound);
    default:
      return false;
  }
}

bool Walker::fits_alternatives(const AlternativePatternNode& pattern, Borrowed v,
                               std::vector<Bound>& bound) {
  const size_t before = bound.size();
  for (const Node* alternative : pattern.alternatives) {
    if (fits(alternative, v, bound)) return true;
    bound.resize(before);
    if (context_.error_pending()) return false;
  }
  return false;
}

bool Walker::fits_literal(const Node* literal, Borrowed v) {
  switch (literal->kind) {
    case NodeKind::NilLiteral:
      return v.is_nil();
    case NodeKind::BoolLiteral:
      return equal(v, Borrowed::boolean(static_cast<const BoolLiteralNode*>(literal)->value));
    case NodeKind::IntLiteral:
      return equal(v, Borrowed::integer(static_cast<const IntLiteralNode*>(literal)->value));
    case NodeKind::FloatLiteral:
      return equal(v, Borrowed::floating(static_cast<const FloatLiteralNode*>(literal)->value));
    case NodeKind::StringLiteral:
      return v.is_string() &&
             string_view_of(v) == static_cast<const StringLiteralNode*>(literal)->value;
    default:
      return false;
  }
}

bool Walker::fits_list(const ListPatternNode& pattern, Borrowed v, std::vector<Bound>& bound) {
  if (!v.is_list()) return false;
  auto* list = v.as<List>();
  const uint64_t count = pattern.items.count;
  uint64_t rest = 0;
  while (rest < count && pattern.items[rest]->kind != NodeKind::RestPattern) ++rest;
  const bool has_rest = rest < count;
  if (has_rest ? list->size < count - 1 : list->size != count) return false;
  for (uint64_t i = 0; i < count; ++i) {
    if (i == rest) {
      bound.push_back({pattern.items[i], v, &pattern});
    } else if (!fits(pattern.items[i], list_get(list, i > rest ? list->size - (count - i) : i),
                     bound)) {
      return false;
    }
  }
  return true;
}

bool Walker::fits_record(const RecordPatternNode& pattern, Borrowed v, std::vector<Bound>& bound) {
  if (!v.is_record()) return false;
  auto* record = v.as<Record>();
  for (const Node* item : pattern.fields) {
    auto* field = as<RecordPatternFieldNode>(item);
    if (!field) {
      bound.push_back({item, v, &pattern});
      continue;
    }
    const int at = field_index(context_.heap, record, symbol(field->name));
    if (at == Shape::kNotFound || !fits(field->pattern, record->fields()[at], bound)) return false;
  }
  return true;
}

bool Walker::fits_constructor(const ConstructorPatternNode& pattern, Borrowed v,
                              std::vector<Bound>& bound) {
  if (!v.is_variant()) return false;
  // A constructor without fields is its only variant.
  Borrowed wanted = *function_.links[pattern.binding.index];
  const uint32_t shape =
      wanted.is_variant() ? wanted.as<Record>()->shape : wanted.as<Constructor>()->shape;
  auto* record = v.as<Record>();
  if (record->shape != shape) return false;
  for (uint32_t i = 0; i < pattern.arguments.count; ++i) {
    if (!fits(pattern.arguments[i], record->fields()[i], bound)) return false;
  }
  return true;
}

// ---- binding ----

bool Walker::bind_names(const std::vector<Bound>& bound) {
  for (const Bound& each : bound) {
    if (auto* name = as<BindingPatternNode>(each.name)) {
      set(name->binding, Value::copy(each.value));
      continue;
    }
    auto* rest = static_cast<const RestPatternNode*>(each.name);
    if (rest->binding.kind == BindingKind::None) continue;  // `..` without a name
    Value v = or_memory_limit(context_, rest_of(each));
    if (v.failed()) {
      note(rest);
      return false;
    }
    set(rest->binding, std::move(v));
  }
  return true;
}

// What the pattern around a rest does not name. Failed: no memory.
Value Walker::rest_of(const Bound& rest) {
  if (auto* pattern = as<ListPatternNode>(rest.whole)) {
    auto* list = rest.value.as<List>();
    uint64_t before = 0;
    while (pattern->items[before] != rest.name) ++before;
    const uint64_t behind = pattern->items.count - 1 - before;
    return list_slice(context_.heap, list, before, list->size - behind);
  }
  auto* pattern = static_cast<const RecordPatternNode*>(rest.whole);
  auto* record = rest.value.as<Record>();
  const Shape* shape = shape_of(context_.heap, record);
  RecordBuilder builder(context_.heap);
  for (uint32_t i = 0; i < record->size; ++i) {
    const Symbol* name = shape->fields[i];
    const bool named =
        std::any_of(pattern->fields.begin(), pattern->fields.end(), [&](const Node* item) {
          auto* field = as<RecordPatternFieldNode>(item);
          return field && field->name == name->text;
        });
    if (!named) builder.set(name, Value::copy(record->fields()[i]));
  }
  return builder.finish();
}

bool Walker::destructure(const Node* pattern, Value v) {
  if (auto* name = as<BindingPatternNode>(pattern); name && !name->type) {
    set(name->binding, std::move(v));
    return true;
  }
  std::vector<Bound> bound;
  if (fits(pattern, v, bound)) return bind_names(bound);
  if (!context_.error_pending()) {
    context_.raise(ErrorCode::PatternMismatch, brief(v) + " does not match the pattern");
  }
  note(pattern);
  return false;
}

}  // namespace posset::interp
