// Calls of built-ins that are compiled as instructions of their own: they have an opcode, or a question comes first whose
// answer makes the call needless. What the built-in means stays in interp/runtime; where the question is answered
// otherwise its call follows, which also raises.
#include "bytecode/compiler.h"

namespace posset::bytecode {

namespace {

const ArgumentNode& nth_argument(const CallNode& node, size_t i) { return *static_cast<const ArgumentNode*>(node.arguments[i]); }

}  // namespace

bool Compiler::intrinsic_call(const CallNode& node, const Link& link, uint16_t dst) {
  Temps temps(*this);
  size_t n = node.arguments.size();
  if (link.name == "len" && n == 1) {
    Operand o = chain_base(nth_argument(node, 0).value, nullptr);
    emit(Op::Len, dst, o.reg, 0, consume_flags(o));
    return true;
  }
  const bool lends = n > 0 && nth_argument(node, 0).inout, lends_second = n > 1 && nth_argument(node, 1).inout;
  if ((link.name == "code" || link.name == "has") && n == 2 && !lends && !lends_second) {
    Operand first = chain_base(nth_argument(node, 0).value, nth_argument(node, 1).value);
    Operand second = operand(nth_argument(node, 1).value);
    emit(link.name == "has" ? Op::Has : Op::CodeAt, dst, first.reg, second.reg, consume_flags(first, second));
    return true;
  }
  const bool end = link.name == "first" || link.name == "last";
  if (end && n == 1 && !lends) return end_call(node, link.name == "last", dst), true;
  if (link.name == "assert" && (n == 1 || n == 2) && !lends && !nth_argument(node, n - 1).inout) return assert_call(node, dst), true;
  return false;
}

// The first or last element of a list that has one; everything else is for the call.
void Compiler::end_call(const CallNode& node, bool last, uint16_t dst) {
  const Operand list = chain_base(nth_argument(node, 0).value, nullptr);
  const uint16_t window = alloc(3), item = alloc();
  Label other, done;
  jump3(other, Op::TestList, list.reg, 1, kSense);
  emit(Op::ViewItem, item, list.reg, 0, last ? kSense : 0);
  emit(Op::Copy, window, item);
  jump(done, Op::Jump);
  bind(other);
  emit(Op::Copy, window + 2, list.reg);
  emit(Op::CallNative, window, callee_index(node), 1);
  bind(done);
  release_after(list, window);
  emit(Op::Move, dst, window);
}

namespace {

// Nothing happens when it is evaluated, so that this can wait.
bool is_literal_text(const Node* node) { return as<StringLiteralNode>(node) != nullptr; }

bool is_comparison(const Node* node) {
  auto* binary = as<BinaryNode>(node);
  return binary && binary->op >= BinaryOp::Eq && binary->op <= BinaryOp::Ge;
}

}  // namespace

// The call is made where the condition is not true, and raises.
void Compiler::assert_call(const CallNode& node, uint16_t dst) {
  const uint32_t count = node.arguments.count;
  if (is_comparison(nth_argument(node, 0).value) && (count == 1 || is_literal_text(nth_argument(node, 1).value))) {
    return assert_comparison(node, dst);
  }
  const uint16_t window = alloc(2 + count), first = static_cast<uint16_t>(window + 2);
  std::vector<PlacePath> none;
  arguments(node, first, none);
  const std::vector<uint16_t> evaluated = owned_;
  Label other, done;
  jump3(other, Op::TestConst, first, constant(Borrowed::boolean(true)));
  for (uint32_t i = 0; i < count; ++i) disown(static_cast<uint16_t>(first + i));
  if (count == 2) emit(Op::Drop, first + 1);
  emit(Op::LoadNil, window);
  jump(done, Op::Jump);
  bind(other);
  owned_ = evaluated;
  for (uint32_t i = 0; i < count; ++i) disown(static_cast<uint16_t>(first + i));
  emit(Op::CallNative, window, callee_index(node), count);
  bind(done);
  emit(Op::Move, dst, window);
}

void Compiler::assert_comparison(const CallNode& node, uint16_t dst) {
  const uint32_t count = node.arguments.count;
  const uint16_t window = alloc(2 + count), first = static_cast<uint16_t>(window + 2);
  Label other, done;
  condition(nth_argument(node, 0).value, false, other);
  emit(Op::LoadNil, window);
  jump(done, Op::Jump);
  bind(other);
  emit(Op::LoadBool, first, false);
  if (count == 2) expression(nth_argument(node, 1).value, static_cast<uint16_t>(first + 1));
  emit(Op::CallNative, window, callee_index(node), count);
  bind(done);
  emit(Op::Move, dst, window);
}

// ---- type(x) == "int" ----

// Null: the node is no such call.
const CallNode* Compiler::type_call(const Node* node) const {
  auto* found = as<CallNode>(node);
  if (!found || found->optional || found->tail || found->arguments.size() != 1 || nth_argument(*found, 0).spread) return nullptr;
  const Link* link = callee_link(*found);
  const bool asks = link && link->kind == Link::Kind::Builtin && link->name == "type" && !nth_argument(*found, 0).inout;
  return asks ? found : nullptr;
}

namespace {

// Of what `type` gives a name by the tag alone.
interp::TypeTags named_by_tag(std::string_view name) {
  interp::TypeTags tags;
  for (int n = 0; n <= static_cast<int>(interp::Tag::Host); ++n) {
    const auto tag = static_cast<interp::Tag>(n);
    if (interp::type_name(tag) == name && !interp::is_named_by_value(tag)) tags.fit |= interp::TypeTags::bit(tag);
  }
  return tags;
}

}  // namespace

bool Compiler::asks_type(const BinaryNode& node) const {
  if (node.op != BinaryOp::Eq && node.op != BinaryOp::Ne) return false;
  const bool left = type_call(node.left);
  auto* name = as<StringLiteralNode>(left ? node.right : node.left);
  return name && name->value.size() <= interp::kMaxShort && (left || type_call(node.right));
}

// Whether the type has that name, without the text of its name: a question of tags, but for what is named by its
// declaration or by the host.
void Compiler::type_question(const BinaryNode& node, uint16_t dst) {
  Temps temps(*this);
  const CallNode* left = type_call(node.left);
  const CallNode* asked = left ? left : type_call(node.right);
  auto* name = static_cast<const StringLiteralNode*>(left ? node.right : node.left);
  const bool equal = node.op == BinaryOp::Eq;
  const Operand v = chain_base(nth_argument(*asked, 0).value, nullptr);
  const uint16_t window = alloc(3), wanted = alloc();
  Label other, unnamed, done;
  jump3(other, Op::TestType, v.reg, tags_index(named_by_tag(name->value)));
  emit(Op::LoadBool, window, equal);
  jump(done, Op::Jump);
  bind(other);
  jump3(unnamed, Op::TestType, v.reg, tags_index(interp::kNamedByTag));
  emit(Op::LoadBool, window, !equal);
  jump(done, Op::Jump);
  bind(unnamed);
  emit(Op::Copy, window + 2, v.reg);
  {
    Site site(*this, asked);
    emit(Op::CallNative, window, callee_index(*asked), 1);
  }
  emit(Op::LoadConst, wanted, constant(interp::make_short(name->value)));
  emit(equal ? Op::Eq : Op::Ne, window, window, wanted, kConsumeB);
  bind(done);
  release_after(v, window);
  emit(Op::Move, dst, window);
}

}  // namespace posset::bytecode
