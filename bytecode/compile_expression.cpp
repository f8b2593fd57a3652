// Names, operators, conditions, reading containers. Evaluation order is left to right; a local that is
// read directly by a later instruction is safe only while nothing in between disturbs it, which `operand`
// decides with the help of facts.h.
#include <algorithm>

#include "bytecode/compiler.h"

namespace posset::bytecode {

namespace {

bool small_int(const Node* node, int64_t& out) {
  auto* literal = as<IntLiteralNode>(node);
  if (!literal || literal->value < INT16_MIN || literal->value > INT16_MAX) return false;
  out = literal->value;
  return true;
}

bool number_literal(const Node* node, Borrowed& out) {
  if (auto* i = as<IntLiteralNode>(node)) {
    out = Borrowed::integer(i->value);
    return true;
  }
  if (auto* f = as<FloatLiteralNode>(node)) {
    out = Borrowed::floating(f->value);
    return true;
  }
  return false;
}

// A literal that comparisons have in their constants: what is not counted, and cannot be the reason why they raise.
bool compared_literal(const Node* node, BinaryOp op, Borrowed& out) {
  const bool equality = op == BinaryOp::Eq || op == BinaryOp::Ne;
  if (auto* text = as<StringLiteralNode>(node); text && text->value.size() <= interp::kMaxShort) {
    out = interp::make_short(text->value);
    return true;
  }
  if (auto* truth = as<BoolLiteralNode>(node); truth && equality) {
    out = Borrowed::boolean(truth->value);
    return true;
  }
  if (as<NilLiteralNode>(node) && equality) {
    out = Borrowed::nil();
    return true;
  }
  auto* negated = as<UnaryNode>(node);
  if (!negated || negated->op != UnaryOp::Neg || !number_literal(negated->operand, out)) return number_literal(node, out);
  if (out.is_int() && out.as_int() == INT64_MIN) return false;
  out = out.is_int() ? Borrowed::integer(-out.as_int()) : Borrowed::floating(-out.as_float());
  return true;
}

// The four forms of an arithmetic opcode; None where there is no such form.
struct Forms {
  Op plain, constant, left, immediate;
};
bool forms_of(BinaryOp op, Forms& out) {
  switch (op) {
    case BinaryOp::Add: out = {Op::Add, Op::AddK, Op::AddL, Op::AddI}; return true;
    case BinaryOp::Sub: out = {Op::Sub, Op::SubK, Op::SubL, Op::SubI}; return true;
    case BinaryOp::Mul: out = {Op::Mul, Op::MulK, Op::MulL, Op::MulI}; return true;
    case BinaryOp::Div: out = {Op::Div, Op::DivK, Op::DivL, Op::Nop}; return true;
    case BinaryOp::IntDiv: out = {Op::IntDiv, Op::IntDivK, Op::IntDivL, Op::IntDivI}; return true;
    case BinaryOp::Mod: out = {Op::Mod, Op::ModK, Op::ModL, Op::ModI}; return true;
    default: return false;
  }
}

struct CompareForms {
  Op value, jump, jump_imm, jump_const, loop, loop_imm, loop_const;
};
bool compare_forms(BinaryOp op, CompareForms& out) {
#define FORMS(N) \
  {Op::N, Op::Jump##N, Op::Jump##N##I, Op::Jump##N##K, Op::Loop##N, Op::Loop##N##I, Op::Loop##N##K}
  switch (op) {
    case BinaryOp::Eq: out = FORMS(Eq); return true;
    case BinaryOp::Ne: out = FORMS(Ne); return true;
    case BinaryOp::Lt: out = FORMS(Lt); return true;
    case BinaryOp::Le: out = FORMS(Le); return true;
    case BinaryOp::Gt: out = FORMS(Gt); return true;
    case BinaryOp::Ge: out = FORMS(Ge); return true;
    default: return false;
  }
#undef FORMS
}

}  // namespace

// ---- operands ----

uint8_t Compiler::consume_flags(Operand b, Operand c) const {
  return static_cast<uint8_t>((b.consume ? kConsumeB : 0) | (c.consume ? kConsumeC : 0));
}

void Compiler::release_operand(Operand o) {
  if (o.consume) disown(o.reg);
}

Operand Compiler::owned_operand(const Node* node) {
  uint16_t reg = alloc();
  expression(node, reg);
  if (facts_.plain(node)) return {reg, false};
  own(reg);
  return {reg, true};
}

Operand Compiler::operand(const Node* node, const Node* later) {
  if (auto* n = as<NameNode>(node)) {
    const Binding& binding = n->binding;
    if (binding.kind == BindingKind::Local) {
      auto slot = static_cast<uint16_t>(binding.index);
      if (is_view(slot)) return {view_register(slot), false};
      if (!disturbs(later, slot)) return {slot, binding.last_use && !facts_.plain_slot(slot)};
      return owned_operand(node);
    }
    Site site(*this, node);
    if (binding.kind == BindingKind::Captured) {
      uint16_t reg = alloc();
      emit(Op::ViewCaptured, reg, binding.index);
      return {reg, false};
    }
    if (binding.kind == BindingKind::Link && !is_host_global(binding)) return view_link(binding);
    return owned_operand(node);
  }
  if (const Binding& made = container_binding(node); made.kind == BindingKind::Link) {
    Site site(*this, node);
    return view_link(made);
  }
  if (can_view(node, later)) return chain_base(node, later);
  return owned_operand(node);
}

Operand Compiler::view_link(const Binding& binding) {
  uint16_t reg = alloc();
  emit(Op::ViewLink, reg, binding.index);
  return {reg, false};
}

bool Compiler::is_host_global(const Binding& binding) const {
  return binding.kind == BindingKind::Link && function_.links[binding.index].kind == Link::Kind::HostGlobal;
}

// An index or field read whose result may be used as a view: the containers on its way stay alive and
// unchanged until the instruction that uses it. What a host object gives belongs to no container.
bool Compiler::can_view(const Node* node, const Node* later) const {
  if (!transparent(node) || !transparent(later)) return false;
  auto* index = as<IndexNode>(node);
  auto* field = as<FieldNode>(node);
  if (!(index && !index->fallback) && !(field && field->binding.kind == BindingKind::None && !field->optional)) {
    return false;
  }
  if (field && runtime_.host_types.has_member(field->name)) return false;
  return view_root_is_safe(node, later);
}

bool Compiler::view_root_is_safe(const Node* node, const Node* later) const {
  const NameNode* root = place_root(node);
  if (!root) return false;
  if (root->binding.kind == BindingKind::Captured) return true;
  if (root->binding.kind == BindingKind::Link) return !is_host_global(root->binding);
  if (root->binding.kind == BindingKind::Local && is_view(root->binding.index)) return true;
  if (root->binding.kind != BindingKind::Local || root->binding.last_use) return false;
  return !disturbs(node, root->binding.index) && !disturbs(later, root->binding.index);
}

// The base of an index or field: a variable as it is, a view where that is safe, else an owned temporary.
Operand Compiler::chain_base(const Node* base, const Node* later) {
  // A function of the host may set another value, but properties of its objects, which alone may run here, may not.
  if (auto* name = as<NameNode>(base); name && is_host_global(name->binding) && transparent(later)) {
    Site site(*this, base);
    return view_link(name->binding);
  }
  if (!can_view(base, later)) return operand(base, later);
  uint16_t reg = alloc();
  if (auto* node = as<IndexNode>(base)) {
    Operand b = chain_base(node->base, node->index);
    Operand i = operand(node->index);
    Site site(*this, base);
    emit(Op::ViewIndex, reg, b.reg, i.reg, consume_flags({}, i));
    release_operand(i);
  } else {
    auto* read = static_cast<const FieldNode*>(base);
    Operand b = chain_base(read->base, nullptr);
    Site site(*this, base);
    emit(Op::ViewField, reg, b.reg, field_cache(read->name));
  }
  return {reg, false};
}

// ---- expressions ----

void Compiler::expression(const Node* node, uint16_t dst) {
  Site site(*this, node);
  switch (node->kind) {
    case NodeKind::NilLiteral:
    case NodeKind::BoolLiteral:
    case NodeKind::IntLiteral:
    case NodeKind::FloatLiteral:
    case NodeKind::StringLiteral: return literal(node, dst);
    case NodeKind::Interpolation: return interpolation(*static_cast<const InterpolationNode*>(node), dst);
    case NodeKind::ListLiteral:
    case NodeKind::MapLiteral: return container_literal(node, dst);
    case NodeKind::RecordLiteral: return record_literal(*static_cast<const RecordLiteralNode*>(node), dst);
    case NodeKind::RangeLiteral: return range_literal(*static_cast<const RangeLiteralNode*>(node), dst);
    case NodeKind::Comprehension: return comprehension(*static_cast<const ComprehensionNode*>(node), dst, false);
    case NodeKind::Lambda: return closure(static_cast<const LambdaNode*>(node)->child, node, dst);
    case NodeKind::Name: return name(*static_cast<const NameNode*>(node), dst);
    case NodeKind::Unary: return unary(*static_cast<const UnaryNode*>(node), dst);
    case NodeKind::Binary: return binary(*static_cast<const BinaryNode*>(node), dst);
    case NodeKind::Logical: return logical(*static_cast<const LogicalNode*>(node), dst);
    case NodeKind::Index: return index(*static_cast<const IndexNode*>(node), dst);
    case NodeKind::Field: return field(*static_cast<const FieldNode*>(node), dst);
    case NodeKind::OptionalChain: return optional_chain(*static_cast<const OptionalChainNode*>(node), dst);
    case NodeKind::Call: return call(*static_cast<const CallNode*>(node), dst);
    case NodeKind::Block: return block(*static_cast<const BlockNode*>(node), dst, true);
    case NodeKind::If: return if_else(static_cast<const IfNode*>(node), dst, true);
    case NodeKind::While: return while_loop(*static_cast<const WhileNode*>(node), dst, false);
    case NodeKind::For: return for_loop(*static_cast<const ForNode*>(node), dst, false);
    case NodeKind::Match: return match(*static_cast<const MatchNode*>(node), dst);
    case NodeKind::Try: return try_catch(*static_cast<const TryNode*>(node), dst);
    case NodeKind::With: return with(*static_cast<const WithNode*>(node), dst);
    case NodeKind::Spawn: return spawn(*static_cast<const SpawnNode*>(node), dst);
    case NodeKind::Await: return await(*static_cast<const AwaitNode*>(node), dst);
    case NodeKind::Fork: return fork(*static_cast<const ForkNode*>(node), dst);
    case NodeKind::Merge: return merge(*static_cast<const MergeNode*>(node), dst);
    default: break;
  }
  statement(node);
  emit(Op::LoadNil, dst);
}

void Compiler::effect(const Node* node) {
  Temps temps(*this);
  Site site(*this, node);
  switch (node->kind) {
    case NodeKind::Let:
    case NodeKind::ExportedLet:
    case NodeKind::Assign:
    case NodeKind::DestructuringAssign:
    case NodeKind::FunctionStatement:
    case NodeKind::TypeDeclaration:
    case NodeKind::Import:
    case NodeKind::Return:
    case NodeKind::Break:
    case NodeKind::Continue:
    case NodeKind::Throw: return statement(node);
    case NodeKind::Block: return block(*static_cast<const BlockNode*>(node), 0, false);
    case NodeKind::If: return if_else(static_cast<const IfNode*>(node), 0, false);
    default: break;
  }
  uint16_t reg = alloc();
  expression(node, reg);
  if (!facts_.plain(node)) emit(Op::Drop, reg);
}

void Compiler::name(const NameNode& node, uint16_t dst) {
  const Binding& binding = node.binding;
  switch (binding.kind) {
    case BindingKind::Local: {
      if (is_view(binding.index)) return void(emit(Op::Copy, dst, view_register(binding.index)));
      bool move = binding.last_use && !facts_.plain_slot(binding.index);
      emit(move ? Op::Move : Op::Copy, dst, binding.index);
      return;
    }
    case BindingKind::Captured: emit(Op::GetCaptured, dst, binding.index); return;
    case BindingKind::Self: emit(Op::GetSelf, dst); return;
    case BindingKind::Link: emit(Op::GetLink, dst, binding.index); return;
    case BindingKind::None: refuse(Reason::internal, &node); return;
  }
}

void Compiler::unary(const UnaryNode& node, uint16_t dst) {
  Temps temps(*this);
  Operand o = operand(node.operand);
  Op op = node.op == UnaryOp::Neg ? Op::Neg : node.op == UnaryOp::BitNot ? Op::BitNot : Op::Not;
  emit(op, dst, o.reg, 0, consume_flags(o));
  release_operand(o);
}

// True where control falls through, false where it goes to `no`.
void Compiler::load_truth(Label& no, uint16_t dst) {
  Temps temps(*this);
  const uint16_t truth = alloc();
  Label done;
  emit(Op::LoadBool, truth, true);
  jump(done, Op::Jump);
  bind(no);
  emit(Op::LoadBool, truth, false);
  bind(done);
  emit(Op::Move, dst, truth);  // last of all: the variable of a let lives from here on
}

void Compiler::binary(const BinaryNode& node, uint16_t dst) {
  if (const Among known = among(node); known.value) {
    Label no;
    among_jump(known, false, no, false);
    return load_truth(no, dst);
  }
  CompareForms compare;
  if (asks_type(node)) return type_question(node, dst);
  if (compare_forms(node.op, compare) || node.op == BinaryOp::In) {
    Temps temps(*this);
    Operand l = operand(node.left, node.right);
    Operand r = operand(node.right);
    emit(node.op == BinaryOp::In ? Op::In : compare.value, dst, l.reg, r.reg, consume_flags(l, r));
    release_operand(l);
    release_operand(r);
    return;
  }
  arithmetic(node.op, node.left, node.right, dst);
}

void Compiler::arithmetic(BinaryOp op, const Node* left, const Node* right, uint16_t dst) {
  Temps temps(*this);
  Forms forms;
  bool has_forms = forms_of(op, forms);
  int64_t imm;
  Borrowed number;
  if (has_forms && forms.immediate != Op::Nop && small_int(right, imm)) {
    Operand l = operand(left);
    emit(forms.immediate, dst, l.reg, static_cast<uint16_t>(imm), consume_flags(l));
    release_operand(l);
  } else if (has_forms && number_literal(right, number)) {
    Operand l = operand(left);
    emit(forms.constant, dst, l.reg, constant(number), consume_flags(l));
    release_operand(l);
  } else if (has_forms && number_literal(left, number)) {
    Operand r = operand(right);
    emit(forms.left, dst, constant(number), r.reg, consume_flags({}, r));
    release_operand(r);
  } else {
    Operand l = operand(left, right);
    Operand r = operand(right);
    emit(has_forms ? forms.plain : Op::Binary, dst, l.reg, r.reg, consume_flags(l, r));
    if (!has_forms) emit_word(static_cast<uint64_t>(op));
    release_operand(l);
    release_operand(r);
  }
}

// ---- one of a few constants ----

namespace {

// From so many on looking through a list charges steps (interp/runtime/work.h).
constexpr uint32_t kMostCompared = 15;

}  // namespace

// The link of a constructor without fields, which is its one value: what equals that was made by it. -1: the node is none.
int64_t Compiler::fieldless_link(const Node* node) const {
  auto* name = as<NameNode>(node);
  auto* field = as<FieldNode>(node);
  const Binding binding = name ? name->binding : field ? field->binding : Binding();
  if (binding.kind != BindingKind::Link || !function_.links[binding.index].is_fieldless_constructor()) return -1;
  return binding.index;
}

// `v == Dot`, `v != Dot`, `v in [1, 2, Dot]`; no value: the node is none of these.
Compiler::Among Compiler::among(const BinaryNode& node) const {
  if (node.op == BinaryOp::Eq || node.op == BinaryOp::Ne) {
    const bool equal = node.op == BinaryOp::Eq;
    if (fieldless_link(node.right) >= 0) return {node.left, {&node.right, 1}, equal};
    if (fieldless_link(node.left) >= 0) return {node.right, {&node.left, 1}, equal};
    return {};
  }
  auto* list = as<ListLiteralNode>(node.right);
  if (node.op != BinaryOp::In || !list || list->binding.kind != BindingKind::Link || list->items.size() > kMostCompared) return {};
  const bool all = std::all_of(list->items.begin(), list->items.end(), [this](const Node* item) {
    Borrowed literal;
    return fieldless_link(item) >= 0 || compared_literal(item, BinaryOp::Eq, literal);
  });
  return all ? Among{node.left, {list->items.begin(), list->items.size()}, true} : Among{};
}

// Jumps ahead when (value is the constant `item`) equals the sense.
void Compiler::constant_jump(uint16_t value, const Node* item, bool sense, Label& target) {
  const uint8_t x = sense ? kSense : 0;
  int64_t imm;
  Borrowed literal;
  if (small_int(item, imm)) return jump3(target, Op::JumpEqI, value, static_cast<uint16_t>(imm), x);
  if (compared_literal(item, BinaryOp::Eq, literal)) return jump3(target, Op::JumpEqK, value, constant(literal), x);
  const auto link = static_cast<uint32_t>(fieldless_link(item));
  if (!sense) return jump3(target, Op::TestVariant, value, link);
  Label other;
  jump3(other, Op::TestVariant, value, link);
  jump(target, Op::Jump);
  bind(other);
}

void Compiler::among_jump(const Among& node, bool jump_when, Label& target, bool backwards) {
  Temps temps(*this);
  const Operand value = operand(node.value);
  const bool held = value.consume && is_temp(value.reg);
  const bool when_among = jump_when == node.sense;
  const bool direct = !held && !backwards;
  Label among, done;
  for (Node* const& item : node.items) {
    const bool ends = direct && !when_among && &item == &node.items.back();
    constant_jump(value.reg, item, !ends, ends || (direct && when_among) ? target : among);
  }
  if (direct) return bind(among);
  const Op leave = backwards ? Op::Loop : Op::Jump;
  auto drop_held = [&] {
    if (held) emit(Op::Drop, value.reg);
    release_operand(value);
  };
  drop_held();
  when_among ? jump(done, Op::Jump) : jump(target, leave);
  if (held) own(value.reg);
  bind(among);
  drop_held();
  if (when_among) jump(target, leave);
  bind(done);
}

// ---- conditions ----

void Compiler::compare_jump(const BinaryNode& node, bool jump_when, Label& target, bool backwards) {
  Temps temps(*this);
  Site site(*this, &node);
  CompareForms forms;
  compare_forms(node.op, forms);
  uint8_t sense = jump_when ? kSense : 0;
  if (asks_type(node)) {
    const uint16_t answer = alloc();
    type_question(node, answer);
    return jump(target, backwards ? Op::LoopIf : Op::JumpIf, answer, sense);
  }
  int64_t imm;
  Borrowed literal;
  const Node *left = node.left, *right = node.right;
  // Equal is equal either way round.
  if ((node.op == BinaryOp::Eq || node.op == BinaryOp::Ne) && compared_literal(left, node.op, literal)) std::swap(left, right);
  if (small_int(right, imm)) {
    Operand l = operand(left);
    uint8_t x = static_cast<uint8_t>(sense | (l.consume ? kConsumeB : 0));
    jump3(target, backwards ? forms.loop_imm : forms.jump_imm, l.reg, static_cast<uint16_t>(imm), x);
    release_operand(l);
  } else if (compared_literal(right, node.op, literal)) {
    Operand l = operand(left);
    uint8_t x = static_cast<uint8_t>(sense | (l.consume ? kConsumeB : 0));
    jump3(target, backwards ? forms.loop_const : forms.jump_const, l.reg, constant(literal), x);
    release_operand(l);
  } else {
    Operand l = operand(left, right);
    Operand r = operand(right);
    jump3(target, backwards ? forms.loop : forms.jump, l.reg, r.reg,
          static_cast<uint8_t>(sense | consume_flags(l, r)));
    release_operand(l);
    release_operand(r);
  }
}

void Compiler::asked(const Node* node, bool jump_when, Label& target, bool backwards, interp::Asker asker, const Node* blamed) {
  auto* compare = as<BinaryNode>(node);
  if (const Among known = compare ? among(*compare) : Among(); known.value) {
    Site site(*this, node);
    return among_jump(known, jump_when, target, backwards);
  }
  CompareForms forms;
  if (compare && compare_forms(compare->op, forms)) return compare_jump(*compare, jump_when, target, backwards);
  if (auto* negated = as<UnaryNode>(node); negated && negated->op == UnaryOp::Not) {
    return asked(negated->operand, !jump_when, target, backwards, interp::Asker::Not, node);
  }
  auto* logical = as<LogicalNode>(node);
  if (logical && logical->op != LogicalOp::Coalesce) return asked_logical(*logical, jump_when, target, backwards);
  if (auto* literal = as<BoolLiteralNode>(node)) {
    if (literal->value == jump_when) {
      Site site(*this, node);
      jump(target, backwards ? Op::Loop : Op::Jump);
    }
    return;
  }
  Temps temps(*this);
  Operand o = operand(node);
  Site site(*this, blamed);
  const int asks = static_cast<int>(asker) << kAskerShift;
  jump(target, backwards ? Op::LoopIf : Op::JumpIf, o.reg,
       static_cast<uint8_t>((jump_when ? kSense : 0) | consume_flag_a(o) | asks));
  release_operand(o);
}

void Compiler::asked_logical(const LogicalNode& node, bool jump_when, Label& target, bool backwards) {
  // and: false decides; or: true decides.
  const bool deciding = node.op == LogicalOp::Or;
  const interp::Asker left = interp::left_of(node.op), right = interp::right_of(node.op);
  if (jump_when == deciding) {
    asked(node.left, deciding, target, backwards, left, &node);
    asked(node.right, deciding, target, backwards, right, &node);
  } else {
    Label decided;
    asked(node.left, deciding, decided, false, left, &node);
    asked(node.right, jump_when, target, backwards, right, &node);
    bind(decided);
  }
}

void Compiler::logical(const LogicalNode& node, uint16_t dst) {
  if (node.op == LogicalOp::Coalesce) {
    Label done;
    expression(node.left, dst);
    jump(done, Op::JumpNil, dst, 0);  // jump when it is not nil
    expression(node.right, dst);
    bind(done);
    return;
  }
  Label decided, done;
  bool deciding = node.op == LogicalOp::Or;
  asked(node.left, deciding, decided, false, interp::left_of(node.op), &node);
  if (as<ReturnNode>(node.right) || as<ThrowNode>(node.right) || as<BreakNode>(node.right) ||
      as<ContinueNode>(node.right)) {
    statement(node.right);
  } else {
    asked(node.right, deciding, decided, false, interp::right_of(node.op), &node);
  }
  emit(Op::LoadBool, dst, !deciding);
  jump(done, Op::Jump);
  bind(decided);
  emit(Op::LoadBool, dst, deciding);
  bind(done);
}

// ---- reading containers ----

void Compiler::optional_chain(const OptionalChainNode& node, uint16_t dst) {
  Label nil, done;
  Label* outer = std::exchange(nil_exit_, &nil);
  expression(node.chain, dst);
  nil_exit_ = outer;
  jump(done, Op::Jump);
  bind(nil);
  emit(Op::LoadNil, dst);
  bind(done);
}

void Compiler::index(const IndexNode& node, uint16_t dst) {
  Temps temps(*this);
  if (node.fallback) return index_with_default(node, dst);
  auto* range = as<RangeLiteralNode>(node.index);
  if (range && range->first && range->last) {
    Operand b = chain_base(node.base, node.index);
    uint16_t bounds = alloc(2);
    expression(range->first, bounds);
    if (!facts_.plain(range->first)) own(bounds);
    expression(range->last, static_cast<uint16_t>(bounds + 1));
    if (!facts_.plain(range->last)) own(static_cast<uint16_t>(bounds + 1));
    uint8_t x = static_cast<uint8_t>(consume_flags(b) | kConsumeC | (range->inclusive ? kSense : 0));
    emit(Op::Slice, dst, b.reg, bounds, x);
    return;
  }
  Operand b = chain_base(node.base, node.index);
  Operand i = operand(node.index);
  emit(Op::Index, dst, b.reg, i.reg, consume_flags(b, i));
  release_operand(b);
  release_operand(i);
}

void Compiler::index_with_default(const IndexNode& node, uint16_t dst) {
  Label found;
  {
    Temps temps(*this);
    Operand b = chain_base(node.base, node.index);
    Operand i = operand(node.index);
    emit(Op::IndexOr, dst, b.reg, i.reg, consume_flags(b, i));
    release_operand(b);
    release_operand(i);
  }
  jump(found, Op::JumpSet, dst);
  expression(node.fallback, dst);
  bind(found);
}

void Compiler::field(const FieldNode& node, uint16_t dst) {
  if (node.binding.kind == BindingKind::Link) {
    emit(Op::GetLink, dst, node.binding.index);
    return;
  }
  Temps temps(*this);
  Operand b = node.optional ? operand(node.base) : chain_base(node.base, nullptr);
  if (node.optional && nil_exit_) {
    // The owned base, if any, is nil at the exit: nothing to release there.
    jump(*nil_exit_, Op::JumpNil, b.reg, kSense);
  }
  emit(Op::Field, dst, b.reg, field_cache(node.name), consume_flags(b));
  release_operand(b);
}

}  // namespace posset::bytecode
