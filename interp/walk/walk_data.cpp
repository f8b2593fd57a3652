// Tier 0: literals, text, lists, maps, records, ranges.
#include "interp/runtime/messages.h"
#include "interp/runtime/place.h"
#include "interp/runtime/work.h"
#include "interp/value/list.h"
#include "interp/value/map.h"
#include "interp/value/record.h"
#include "interp/walk/walker.h"

namespace posset::interp {

using namespace syntax;

Value Walker::visit(const NilLiteralNode&) { return Value(); }
Value Walker::visit(const BoolLiteralNode& node) { return Value::boolean(node.value); }
Value Walker::visit(const IntLiteralNode& node) { return Value::integer(node.value); }
Value Walker::visit(const FloatLiteralNode& node) { return Value::floating(node.value); }
Value Walker::visit(const StringLiteralNode& node) {
  if (node.binding.kind == BindingKind::Link) return Value::copy(*function_.links[node.binding.index]);
  return Value::adopt(make_short(node.value));
}

// All values are evaluated before the first is formatted.
Value Walker::visit(const InterpolationNode& node) {
  Window values(context_);
  for (const Node* part : node.parts) {
    auto* piece = as<FormatPartNode>(part);
    if (!piece) continue;
    Value v = eval(piece->value);
    if (v.failed() || !values.push(std::move(v))) return Value::failure();
  }
  Interpolated out(context_);
  uint32_t next = 0;
  for (const Node* part : node.parts) {
    if (auto* text = as<StringLiteralNode>(part)) {
      out.append(text->value);
      continue;
    }
    auto* piece = static_cast<const FormatPartNode*>(part);
    if (out.append(values.take(next++), &piece->spec)) continue;
    note(piece);
    return Value::failure();
  }
  return out.finish();
}

// ---- lists and maps ----

namespace {

// Room is taken as compiled code takes it: memory limits must not tell the tiers apart.
constexpr uint32_t kMostRoom = UINT16_MAX;

}  // namespace

Value Walker::visit(const ListLiteralNode& node) {
  if (node.binding.kind == BindingKind::Link) return Value::copy(*function_.links[node.binding.index]);
  return list_of(node.items);
}

Value Walker::list_of(const NodeList& items) {
  const bool spread = std::any_of(items.begin(), items.end(), [](const Node* n) { return ListItem(n).spread; });
  if (!spread && items.count <= syntax::kMostAtOnce) return short_list(items);
  Holder list;
  List* made = new_list(context_.heap, Packing::Any, std::min(items.count, kMostRoom));
  if (!made) return context_.raise_memory_limit();
  list.raw = Borrowed::heap(Tag::List, made);
  return append_items(list.raw, items) ? list.finish() : Value::failure();
}

Value Walker::short_list(const NodeList& nodes) {
  Window items(context_);
  for (const Node* node : nodes) {
    Value v = eval(ListItem(node).value);
    if (v.failed() || !items.push(std::move(v))) return Value::failure();
  }
  List* list = new_list_of(context_.heap, items.base(), items.count());
  if (!list) return context_.raise_memory_limit();
  items.given_away();
  return Value::adopt(Borrowed::heap(Tag::List, list));
}

bool Walker::append_items(Borrowed& list, const NodeList& items) {
  for (const Node* node : items) {
    const ListItem item(node);
    Value v = eval(item.value);
    if (v.failed()) return false;
    const bool ok = !item.spread       ? or_memory_limit(context_, list_push(context_.heap, list, std::move(v)))
                    : node->kind == NodeKind::Spread && node == items[0] ? begin_with_spread(context_, list, std::move(v))
                                       : append_spread(context_, list, v);
    if (ok) continue;
    if (item.spread) note(node);
    return false;
  }
  return true;
}

Value Walker::visit(const MapLiteralNode& node) {
  if (node.binding.kind == BindingKind::Link) return Value::copy(*function_.links[node.binding.index]);
  Holder map;
  Map* made = new_map(context_.heap, std::min(node.entries.count, kMostRoom));
  if (!made) return context_.raise_memory_limit();
  map.raw = Borrowed::heap(Tag::Map, made);
  for (const Node* item : node.entries) {
    auto* entry = static_cast<const MapEntryNode*>(item);
    Value key = eval(entry->key);
    if (key.failed()) return key;
    Value v = eval(entry->value);
    if (v.failed()) return v;
    if (store_index(context_, &map.raw, key, std::move(v))) continue;
    note(entry);
    return Value::failure();
  }
  return map.finish();
}

// ---- records and ranges ----

Value Walker::visit(const RecordLiteralNode& node) {
  Window values(context_);
  for (const Node* item : node.fields) {
    auto* spread = as<SpreadNode>(item);
    Value v = eval(spread ? spread->value : static_cast<const RecordFieldNode*>(item)->value);
    if (v.failed() || !values.push(std::move(v))) return Value::failure();
  }
  return build_record(node, values);
}

Value Walker::build_record(const RecordLiteralNode& node, Window& values) {
  RecordBuilder builder(context_.heap);
  for (uint32_t i = 0; i < node.fields.count; ++i) {
    Value v = values.take(i);
    if (auto* field = as<RecordFieldNode>(node.fields[i])) {
      builder.set(symbol(field->name), std::move(v));
    } else if (v->is_record()) {
      builder.spread(v->as<Record>());
    } else {
      return context_.raise(ErrorCode::WrongOperands,
                            "cannot spread " + kind_and_value(context_, v) + " into a record",
                            "..r takes a record");
    }
  }
  return or_memory_limit(context_, builder.finish());
}

Value Walker::visit(const RangeLiteralNode& node) {
  Value first = eval(node.first);
  if (first.failed()) return first;
  Value last = eval(node.last);
  if (last.failed()) return last;
  return make_range(context_, first, last, node.inclusive);
}

}  // namespace posset::interp
