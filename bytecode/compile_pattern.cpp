// Patterns in two phases: first tests that jump away on a mismatch and make views of the parts, then the
// names are bound by copying, so that a failing pattern leaves nothing behind.
#include <algorithm>

#include "bytecode/compiler.h"

namespace posset::bytecode {

void Compiler::test_literal(const Node* literal, uint16_t value, Label& fail) {
  Borrowed wanted;
  switch (literal->kind) {
    case NodeKind::NilLiteral: wanted = Borrowed::nil(); break;
    case NodeKind::BoolLiteral:
      wanted = Borrowed::boolean(static_cast<const BoolLiteralNode*>(literal)->value);
      break;
    case NodeKind::IntLiteral:
      wanted = Borrowed::integer(static_cast<const IntLiteralNode*>(literal)->value);
      break;
    case NodeKind::FloatLiteral:
      wanted = Borrowed::floating(static_cast<const FloatLiteralNode*>(literal)->value);
      break;
    case NodeKind::StringLiteral: {
      auto* string = static_cast<const StringLiteralNode*>(literal);
      if (string->binding.kind == BindingKind::Link) return jump3(fail, Op::TestLink, value, string->binding.index);
      wanted = interp::make_short(string->value);
      break;
    }
    default: return refuse(Reason::internal, literal);
  }
  jump3(fail, Op::TestConst, value, constant(wanted));
}

void Compiler::test(const Node* pattern, uint16_t value, Label& fail, std::vector<Bound>& bound) {
  Site site(*this, pattern);
  switch (pattern->kind) {
    case NodeKind::WildcardPattern: return;
    case NodeKind::LiteralPattern: {
      test_literal(static_cast<const LiteralPatternNode*>(pattern)->value, value, fail);
      return;
    }
    case NodeKind::BindingPattern: {
      auto* name = static_cast<const BindingPatternNode*>(pattern);
      if (name->type) jump3(fail, Op::TestType, value, type_index(name->type));
      if (name->binding.kind != BindingKind::None) bound.push_back({pattern, value});  // else `_: T`
      return;
    }
    case NodeKind::ListPattern: return test_list(*static_cast<const ListPatternNode*>(pattern), value, fail, bound);
    case NodeKind::RecordPattern:
      return test_record(*static_cast<const RecordPatternNode*>(pattern), value, fail, bound);
    case NodeKind::ConstructorPattern:
      return test_constructor(*static_cast<const ConstructorPatternNode*>(pattern), value, fail, bound);
    case NodeKind::AlternativePattern:
      return test_alternatives(*static_cast<const AlternativePatternNode*>(pattern), value, fail, bound);
    default: refuse(Reason::internal, pattern);
  }
}

void Compiler::test_list(const ListPatternNode& pattern, uint16_t value, Label& fail, std::vector<Bound>& bound) {
  uint32_t count = pattern.items.count, rest = count;
  for (uint32_t i = 0; i < count; ++i) {
    if (pattern.items[i]->kind == NodeKind::RestPattern) rest = i;
  }
  bool has_rest = rest < count;
  if (count > 250) return refuse(Reason::long_list_pattern, &pattern);
  jump3(fail, Op::TestList, value, has_rest ? count - 1 : count, has_rest ? kSense : 0);
  for (uint32_t i = 0; i < count; ++i) {
    if (i == rest) {
      Bound b{pattern.items[i], value};
      b.skip = static_cast<uint16_t>(i);
      b.drop = static_cast<uint8_t>(count - 1 - i);
      bound.push_back(b);
      continue;
    }
    if (pattern.items[i]->kind == NodeKind::WildcardPattern) continue;
    uint16_t item = alloc();
    emit(Op::ViewItem, item, value, i > rest ? count - 1 - i : i, i > rest ? kSense : 0);
    test(pattern.items[i], item, fail, bound);
  }
}

void Compiler::test_record(const RecordPatternNode& pattern, uint16_t value, Label& fail,
                           std::vector<Bound>& bound) {
  jump3(fail, Op::TestRecord, value, 0);
  FieldNames names;
  for (Node* item : pattern.fields) {
    auto* field = as<RecordPatternFieldNode>(item);
    if (!field) {
      Bound b{item, value};
      b.fields = descriptor(chunk_->field_names, names);
      bound.push_back(b);
      continue;
    }
    names.push_back(runtime_.shapes.symbol(field->name));
    uint16_t reg = alloc();
    jump3(fail, Op::TestField, reg, value);
    emit_word(field_cache(field->name));
    test(field->pattern, reg, fail, bound);
  }
}

void Compiler::test_constructor(const ConstructorPatternNode& pattern, uint16_t value, Label& fail,
                                std::vector<Bound>& bound) {
  jump3(fail, Op::TestVariant, value, pattern.binding.index);
  for (uint32_t i = 0; i < pattern.arguments.count; ++i) {
    Node* item = pattern.arguments[i];
    if (item->kind == NodeKind::WildcardPattern) continue;
    uint16_t reg = alloc();
    emit(Op::ViewItem, reg, value, i);
    test(item, reg, fail, bound);
  }
}

// Each alternative that fits binds the same names to the same slots, then all meet. Names go through
// registers common to the alternatives, so that binding stays the second phase.
void Compiler::test_alternatives(const AlternativePatternNode& pattern, uint16_t value, Label& fail,
                                 std::vector<Bound>& bound) {
  Label fits;
  std::vector<Bound> common;  // by slot: where every alternative puts the value
  for (uint32_t i = 0; i < pattern.alternatives.count; ++i) {
    Label next;
    bool last = i + 1 == pattern.alternatives.count;
    std::vector<Bound> mine;
    test(pattern.alternatives[i], value, last ? fail : next, mine);
    for (const Bound& b : mine) {
      if (b.pattern->kind != NodeKind::BindingPattern) return refuse(Reason::rest_in_alternatives, b.pattern);
      auto* name = static_cast<const BindingPatternNode*>(b.pattern);
      auto same = std::find_if(common.begin(), common.end(), [&](const Bound& c) {
        return static_cast<const BindingPatternNode*>(c.pattern)->binding.index == name->binding.index;
      });
      if (same == common.end()) {
        common.push_back({b.pattern, alloc()});
        same = std::prev(common.end());
      }
      // A view of a view: the subject owns it all.
      emit(Op::ViewItem, same->reg, b.reg, kNoRegister);
    }
    if (!last) {
      jump(fits, Op::Jump);
      bind(next);
    }
  }
  bind(fits);
  bound.insert(bound.end(), common.begin(), common.end());
}

void Compiler::bind_names(const std::vector<Bound>& bound) {
  // In slot order, so that the live locals stay a prefix.
  std::vector<Bound> ordered = bound;
  auto binding_of = [](const Bound& b) -> const Binding& {
    if (auto* name = as<BindingPatternNode>(b.pattern)) return name->binding;
    return static_cast<const RestPatternNode*>(b.pattern)->binding;
  };
  std::stable_sort(ordered.begin(), ordered.end(),
                   [&](const Bound& a, const Bound& b) { return binding_of(a).index < binding_of(b).index; });
  for (const Bound& b : ordered) {
    const Binding& binding = binding_of(b);
    Site site(*this, b.pattern);
    if (b.pattern->kind == NodeKind::BindingPattern) {
      set_name(binding, b.reg, false);
      continue;
    }
    if (binding.kind == BindingKind::None) continue;  // `..` without a name
    Temps temps(*this);
    bool local = binding.kind == BindingKind::Local;
    uint16_t dst = local ? static_cast<uint16_t>(binding.index) : alloc();
    if (b.fields >= 0) {
      emit(Op::RestRecord, dst, b.reg, static_cast<uint32_t>(b.fields));
    } else {
      emit(Op::RestList, dst, b.reg, b.skip, b.drop);
    }
    set_name(binding, dst, true);
  }
}

void Compiler::destructure(const Node* pattern, uint16_t value) {
  Temps temps(*this);
  Label fail, done;
  std::vector<Bound> bound;
  uint16_t before = locals_;
  test(pattern, value, fail, bound);
  bind_names(bound);
  if (fail.jumps.empty()) return;
  uint16_t after = locals_;
  jump(done, Op::Jump);
  locals_ = before;
  bind(fail);
  Site site(*this, pattern);
  raise(ErrorCode::PatternMismatch, "% does not match the pattern", value);
  locals_ = after;
  bind(done);
}

}  // namespace posset::bytecode
