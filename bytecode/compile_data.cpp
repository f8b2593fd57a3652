// Literals, text, lists, maps, records, ranges, closures.
#include <algorithm>

#include "bytecode/compiler.h"

namespace posset::bytecode {

void Compiler::literal(const Node* node, uint16_t dst) {
  switch (node->kind) {
    case NodeKind::NilLiteral: emit(Op::LoadNil, dst); return;
    case NodeKind::BoolLiteral: emit(Op::LoadBool, dst, static_cast<const BoolLiteralNode*>(node)->value); return;
    case NodeKind::IntLiteral: {
      int64_t value = static_cast<const IntLiteralNode*>(node)->value;
      if (value >= INT16_MIN && value <= INT16_MAX) {
        emit(Op::LoadInt, dst, static_cast<uint16_t>(value));
      } else {
        emit(Op::LoadConst, dst, constant(Borrowed::integer(value)));
      }
      return;
    }
    case NodeKind::FloatLiteral:
      emit(Op::LoadConst, dst, constant(Borrowed::floating(static_cast<const FloatLiteralNode*>(node)->value)));
      return;
    case NodeKind::StringLiteral:
      string_literal(*static_cast<const StringLiteralNode*>(node), dst);
      return;
    default: refuse(Reason::internal, node);
  }
}

void Compiler::string_literal(const StringLiteralNode& node, uint16_t dst) {
  if (node.binding.kind == BindingKind::Link) {
    emit(Op::GetLink, dst, node.binding.index);
  } else {
    emit(Op::LoadConst, dst, constant(interp::make_short(node.value)));
  }
}

void Compiler::interpolation(const InterpolationNode& node, uint16_t dst) {
  Temps temps(*this);
  std::vector<Piece> pieces;
  uint32_t values = 0;
  for (Node* part : node.parts) values += part->kind == NodeKind::FormatPart;
  uint16_t first = alloc(std::max<uint32_t>(values, 1));
  uint16_t next = first;
  for (Node* part : node.parts) {
    Piece piece;
    if (auto* text = as<StringLiteralNode>(part)) {
      piece.text = std::string(text->value);
    } else {
      auto* format = static_cast<FormatPartNode*>(part);
      piece.is_value = true;
      if (format->spec.present) piece.spec = format->spec;
      piece.site = format->site;
      expression(format->value, next);
      own(next++);
    }
    pieces.push_back(std::move(piece));
  }
  emit(Op::Interpolate, dst, first, descriptor(chunk_->texts, std::move(pieces)));
}

void Compiler::container_literal(const Node* node, uint16_t dst) {
  if (const Binding& made = container_binding(node); made.kind == BindingKind::Link) return void(emit(Op::GetLink, dst, made.index));
  if (auto* list = as<ListLiteralNode>(node)) return list_of(list->items, dst);
  map_literal(*static_cast<const MapLiteralNode*>(node), dst);
}

void Compiler::list_of(const NodeList& items, uint16_t dst) {
  Temps temps(*this);
  bool spread = std::any_of(items.begin(), items.end(), [](Node* n) { return ListItem(n).spread; });
  if (!spread && items.count <= kMostAtOnce) {
    uint16_t first = alloc(std::max<uint32_t>(items.count, 1));
    for (uint32_t i = 0; i < items.count; ++i) {
      auto reg = static_cast<uint16_t>(first + i);
      const Node* value = ListItem(items[i]).value;
      expression(value, reg);
      if (!facts_.plain(value)) own(reg);
    }
    emit(Op::MakeList, dst, first, items.count);
    return;
  }
  uint16_t list = alloc();
  emit(Op::NewList, list, std::min<uint32_t>(items.count, UINT16_MAX));
  own(list);
  for (Node* node : items) {
    Temps inner(*this);
    const ListItem item(node);
    Operand o = item.lent ? Operand{alloc(), false} : operand(item.value);
    if (item.lent) emit(Op::LoadNil, o.reg);
    Site site(*this, node);
    const bool begins = node->kind == NodeKind::Spread && node == items[0];
    emit(item.spread ? Op::AppendSpread : Op::AppendItem, list, o.reg, 0,
         static_cast<uint8_t>(consume_flags(o) | (begins ? kSense : 0)));
    release_operand(o);
  }
  emit(Op::Move, dst, list);
}

void Compiler::map_literal(const MapLiteralNode& node, uint16_t dst) {
  Temps temps(*this);
  uint16_t map = alloc();
  emit(Op::NewMap, map, std::min<uint32_t>(node.entries.count, UINT16_MAX));
  own(map);
  for (Node* item : node.entries) {
    Temps inner(*this);
    auto* entry = static_cast<MapEntryNode*>(item);
    Operand key = operand(entry->key, entry->value);
    Operand value = operand(entry->value);
    Site site(*this, item);
    emit(Op::MapPut, map, key.reg, value.reg, consume_flags(key, value));
  }
  emit(Op::Move, dst, map);
}

void Compiler::record_literal(const RecordLiteralNode& node, uint16_t dst) {
  Temps temps(*this);
  bool spread = std::any_of(node.fields.begin(), node.fields.end(), [](Node* n) { return as<SpreadNode>(n); });
  uint16_t first = alloc(std::max<uint32_t>(node.fields.count, 1));
  FieldNames names;
  for (uint32_t i = 0; i < node.fields.count; ++i) {
    auto reg = static_cast<uint16_t>(first + i);
    Node* item = node.fields[i];
    auto* many = as<SpreadNode>(item);
    Node* value = many ? many->value : static_cast<RecordFieldNode*>(item)->value;
    names.push_back(many ? nullptr : runtime_.shapes.symbol(static_cast<RecordFieldNode*>(item)->name));
    expression(value, reg);
    if (!facts_.plain(value)) own(reg);
  }
  // Where there can be no such shape, building fails.
  if (const interp::Shape* shape = spread ? nullptr : runtime_.shapes.record(names)) {
    emit(Op::MakeRecord, dst, first, descriptor(chunk_->shapes, shape));
    return;
  }
  if (is_update(names)) return record_update(node, first, std::move(names), dst);
  emit(Op::BuildRecord, dst, first, descriptor(chunk_->field_names, std::move(names)));
}

// {..r, x: v}
bool Compiler::is_update(const FieldNames& names) {
  constexpr size_t kMost = 8;  // whose code is no longer than what it saves
  return !names[0] && names.size() > 1 && names.size() <= 1 + kMost && std::count(names.begin(), names.end(), nullptr) == 1;
}

// Where `first` is a record that has all the fields it becomes the result.
void Compiler::record_update(const RecordLiteralNode& node, uint16_t first, FieldNames names, uint16_t dst) {
  Label other, built;
  const std::vector<uint16_t> evaluated = owned_;
  std::vector<uint16_t> caches;
  jump3(other, Op::TestRecord, first, 0);
  const uint16_t unused = alloc(), made = alloc();
  for (uint32_t i = 1; i < node.fields.count; ++i) {
    caches.push_back(field_cache(static_cast<RecordFieldNode*>(node.fields[i])->name));
    jump3(other, Op::TestField, unused, first);
    emit_word(caches.back());
  }
  for (uint32_t i = 1; i < node.fields.count; ++i) {
    const auto value = static_cast<uint16_t>(first + i);
    const bool counted = !facts_.plain(static_cast<RecordFieldNode*>(node.fields[i])->value);
    emit(Op::SetField, first, caches[i - 1], value, counted ? kConsumeC : 0);
    if (counted) disown(value);
  }
  emit(Op::Move, made, first);
  disown(first);
  own(made);
  jump(built, Op::Jump);
  bind(other);
  owned_ = evaluated;
  emit(Op::BuildRecord, made, first, descriptor(chunk_->field_names, std::move(names)));
  for (uint32_t i = 0; i < node.fields.count; ++i) disown(static_cast<uint16_t>(first + i));
  own(made);
  bind(built);
  emit(Op::Move, dst, made);  // last of all: the variable of a let lives from here on
}

void Compiler::range_literal(const RangeLiteralNode& node, uint16_t dst) {
  Temps temps(*this);
  Operand first = operand(node.first, node.last);
  Operand last = operand(node.last);
  emit(Op::MakeRange, dst, first.reg, last.reg,
       static_cast<uint8_t>(consume_flags(first, last) | (node.inclusive ? kSense : 0)));
}

void Compiler::closure(uint32_t child, const Node* node, uint16_t dst) {
  Site site(*this, node);
  emit(Op::Closure, dst, child);
}

}  // namespace posset::bytecode
