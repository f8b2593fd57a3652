// See pattern_cover.h.
#include "interp/syntax/pattern_cover.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "interp/syntax/resolve_scope.h"

namespace posset::syntax {

namespace {

std::string number_key(double value) {
  // Literals compare with `==`, so 1.0 is the literal 1.
  if (value == std::floor(value) && value >= -0x1p63 && value < 0x1p63) {
    return "i" + std::to_string(static_cast<int64_t>(value));
  }
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return "f" + std::to_string(bits);
}

TypeKind kind_of_literal(const Node* value) {
  if (const auto* unary = as<UnaryNode>(value)) value = unary->operand;
  switch (value->kind) {
    case NodeKind::NilLiteral: return TypeKind::Nil;
    case NodeKind::BoolLiteral: return TypeKind::Bool;
    case NodeKind::IntLiteral:
    case NodeKind::FloatLiteral: return TypeKind::Num;  // 1 is 1.0, too
    case NodeKind::StringLiteral: return TypeKind::Str;
    default: return TypeKind::Any;
  }
}

bool is_within(TypeKind all, TypeKind some) {
  if (all == TypeKind::Any || (all == some && all != TypeKind::ListOf && all != TypeKind::Declared)) return true;
  if (all == TypeKind::Num) return some == TypeKind::Int || some == TypeKind::Float;
  return all == TypeKind::List && some == TypeKind::ListOf;
}

// Where the one rest is; as many as there are when there is none.
uint32_t rest_of(const NodeList& items) {
  const auto found = std::find_if(items.begin(), items.end(), [](const Node* each) { return each->kind == NodeKind::RestPattern; });
  return static_cast<uint32_t>(found - items.begin());
}

}  // namespace

std::string literal_key(const Node* value) {
  bool negative = false;
  if (const auto* unary = as<UnaryNode>(value)) {
    negative = true;
    value = unary->operand;
  }
  if (as<NilLiteralNode>(value)) return "nil";
  if (const auto* boolean = as<BoolLiteralNode>(value)) return boolean->value ? "true" : "false";
  if (const auto* text = as<StringLiteralNode>(value)) return "s" + std::string(text->value);
  if (const auto* number = as<FloatLiteralNode>(value)) return number_key(negative ? -number->value : number->value);
  if (const auto* number = as<IntLiteralNode>(value)) {
    if (negative && number->value == INT64_MIN) return {};
    return "i" + std::to_string(negative ? -number->value : number->value);
  }
  return {};
}

bool PatternCover::takes_everything(const Node* pattern) {
  if (pattern->kind == NodeKind::WildcardPattern || pattern->kind == NodeKind::RestPattern) return true;
  if (const auto* binding = as<BindingPatternNode>(pattern)) return !binding->type || binding->type->kind == TypeKind::Any;
  const auto* alternatives = as<AlternativePatternNode>(pattern);
  return alternatives && std::any_of(alternatives->alternatives.begin(), alternatives->alternatives.end(), takes_everything);
}

bool PatternCover::covers(const Node* all, const Node* some) const {
  if (takes_everything(all)) return true;
  if (const auto* several = as<AlternativePatternNode>(some)) {
    return std::all_of(several->alternatives.begin(), several->alternatives.end(), [&](Node* each) { return covers(all, each); });
  }
  if (const auto* several = as<AlternativePatternNode>(all)) {
    return std::any_of(several->alternatives.begin(), several->alternatives.end(), [&](Node* each) { return covers(each, some); });
  }
  if (const auto* typed = as<BindingPatternNode>(all)) return fits(*typed->type, some);
  if (all->kind != some->kind) return false;
  if (const auto* literal = as<LiteralPatternNode>(all)) {
    const std::string key = literal_key(literal->value);
    return !key.empty() && key == literal_key(as<LiteralPatternNode>(some)->value);
  }
  if (const auto* list = as<ListPatternNode>(all)) return covers_list(list->items, as<ListPatternNode>(some)->items);
  if (const auto* record = as<RecordPatternNode>(all)) return covers_fields(record->fields, as<RecordPatternNode>(some)->fields);
  const auto* variant = as<ConstructorPatternNode>(all);
  return variant && is_same_constructor(all, some) && covers_list(variant->arguments, as<ConstructorPatternNode>(some)->arguments);
}

// Items before the rest go by their place from the beginning, those behind it from the end.
bool PatternCover::covers_list(const NodeList& all, const NodeList& some) const {
  const uint32_t before = rest_of(all), given = rest_of(some);
  if (before == all.size()) {
    if (given != some.size() || all.size() != some.size()) return false;
    return std::equal(all.begin(), all.end(), some.begin(), [&](Node* a, Node* b) { return covers(a, b); });
  }
  const auto behind = static_cast<uint32_t>(all.size()) - before - 1;
  const bool open = given != some.size();
  const uint32_t at_end = open ? static_cast<uint32_t>(some.size()) - given - 1 : static_cast<uint32_t>(some.size());
  if (open ? given < before || at_end < behind : some.size() < size_t{before} + behind) return false;
  for (uint32_t n = 0; n < before; ++n) {
    if (!covers(all[n], some[n])) return false;
  }
  for (uint32_t n = 1; n <= behind; ++n) {
    if (!covers(all[all.size() - n], some[some.size() - n])) return false;
  }
  return true;
}

bool PatternCover::covers_fields(const NodeList& all, const NodeList& some) const {
  return std::all_of(all.begin(), all.end(), [&](Node* each) {
    const auto* field = as<RecordPatternFieldNode>(each);
    return !field || std::any_of(some.begin(), some.end(), [&](Node* other) {
      const auto* same = as<RecordPatternFieldNode>(other);
      return same && same->name == field->name && covers(field->pattern, same->pattern);
    });
  });
}

bool PatternCover::is_same_constructor(const Node* all, const Node* some) const {
  const Binding &a = as<ConstructorPatternNode>(all)->binding, &b = as<ConstructorPatternNode>(some)->binding;
  return a.kind == BindingKind::Link && b.kind == BindingKind::Link &&
         key_of(function_.links[a.index]) == key_of(function_.links[b.index]);
}

bool PatternCover::fits(const TypeExpr& type, const Node* some) const {
  if (type.kind == TypeKind::Optional) {
    const auto* literal = as<LiteralPatternNode>(some);
    if (literal && literal->value->kind == NodeKind::NilLiteral) return true;
    if (!as<BindingPatternNode>(some)) return fits(*type.element, some);
  }
  if (const auto* literal = as<LiteralPatternNode>(some)) return is_within(type.kind, kind_of_literal(literal->value));
  if (const auto* typed = as<BindingPatternNode>(some)) return typed->type && fits(type, *typed->type);
  if (some->kind == NodeKind::ListPattern) return type.kind == TypeKind::List;
  if (some->kind == NodeKind::RecordPattern) return type.kind == TypeKind::Record;
  const auto* variant = as<ConstructorPatternNode>(some);
  if (!variant || type.kind != TypeKind::Declared) return false;
  const bool known = variant->binding.kind == BindingKind::Link && type.binding.kind == BindingKind::Link;
  return known && function_.links[variant->binding.index].type == function_.links[type.binding.index].type;
}

bool PatternCover::fits(const TypeExpr& type, const TypeExpr& some) const {
  if (type.kind == TypeKind::Any) return true;
  if (some.kind == TypeKind::Optional) return type.kind == TypeKind::Optional && fits(type, *some.element);
  if (type.kind == TypeKind::Optional) return some.kind == TypeKind::Nil || fits(*type.element, some);
  if (type.kind == TypeKind::ListOf && some.kind == TypeKind::ListOf) return fits(*type.element, *some.element);
  if (type.kind != TypeKind::Declared || some.kind != TypeKind::Declared) return is_within(type.kind, some.kind);
  const bool known = type.binding.kind == BindingKind::Link && some.binding.kind == BindingKind::Link;
  return known && function_.links[type.binding.index].type == function_.links[some.binding.index].type;
}

}  // namespace posset::syntax
