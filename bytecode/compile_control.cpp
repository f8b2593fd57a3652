// Blocks, branches, loops, match, try, and the ways out of them.
//
// Loops test at the bottom: the jump back is the instruction that tests, and it charges the round's step.
// Ways out (break, continue, return) first give back what `with` has lent, then drop what they leave.
#include <algorithm>
#include <utility>

#include "bytecode/compiler.h"

namespace posset::bytecode {

// ---- blocks and statements ----

void Compiler::drop_locals(uint16_t from, uint16_t to) {
  while (from < to) {
    while (from < to && facts_.plain_slot(from)) ++from;
    uint16_t first = from;
    while (from < to && !facts_.plain_slot(from)) ++from;
    if (from > first + 1) {
      emit(Op::DropRange, first, from - first);
    } else if (from > first) {
      emit(Op::Drop, first);
    }
  }
}

void Compiler::leave_block(uint16_t locals) {
  if (locals_ > locals) drop_locals(locals, locals_);
  locals_ = locals;
}

void Compiler::block(const BlockNode& node, uint16_t dst, bool wanted) {
  uint16_t saved = locals_;
  for (uint32_t i = 0; i < node.statements.count; ++i) {
    const Node* statement = node.statements[i];
    if (wanted && i + 1 == node.statements.count) {
      expression(statement, dst);
    } else {
      effect(statement);
    }
  }
  if (wanted && node.statements.empty()) emit(Op::LoadNil, dst);
  if (wanted && !facts_.plain(&node)) {
    own(dst);
    leave_block(saved);
    disown(dst);
  } else {
    leave_block(saved);
  }
}

void Compiler::statement(const Node* node) {
  switch (node->kind) {
    case NodeKind::Let: return let(*static_cast<const LetNode*>(node));
    case NodeKind::ExportedLet: return statement(static_cast<const ExportedLetNode*>(node)->let);
    case NodeKind::Assign: return assign(*static_cast<const AssignNode*>(node));
    case NodeKind::DestructuringAssign:
      return destructuring_assign(*static_cast<const DestructuringAssignNode*>(node));
    case NodeKind::FunctionStatement: {
      auto* function = static_cast<const FunctionStatementNode*>(node);
      if (function->binding.kind != BindingKind::Local) return;  // module functions exist already
      closure(function->child, node, static_cast<uint16_t>(function->binding.index));
      locals_ = static_cast<uint16_t>(function->binding.index + 1);
      return;
    }
    case NodeKind::TypeDeclaration: return;
    case NodeKind::Return: return return_value(node, static_cast<const ReturnNode*>(node)->value);
    case NodeKind::Break: return break_loop(*static_cast<const BreakNode*>(node));
    case NodeKind::Continue: return continue_loop();
    case NodeKind::Throw: {
      Temps temps(*this);
      Operand o = operand(static_cast<const ThrowNode*>(node)->value);
      Site site(*this, node);
      emit(Op::Throw, o.reg, 0, 0, consume_flag_a(o));
      return;
    }
    case NodeKind::Import: return refuse(Reason::imports, node);
    default: return refuse(Reason::internal, node);
  }
}

void Compiler::set_name(const Binding& binding, uint16_t value, bool consume) {
  if (binding.kind == BindingKind::None) {  // `_`
    if (consume) emit(Op::Drop, value);
    return;
  }
  if (binding.kind == BindingKind::Link) {
    uint16_t reg = value;
    if (!consume) {
      reg = alloc();
      emit(Op::Copy, reg, value);
    }
    emit(Op::SetLink, reg, binding.index);
    return;
  }
  if (value != binding.index) emit(consume ? Op::Move : Op::Copy, binding.index, value);
  locals_ = static_cast<uint16_t>(binding.index + 1);
}

// What it names is neither copied nor counted; the slot owns it only where nobody else does.
void Compiler::let_view(const LetNode& node, uint16_t slot) {
  const uint16_t view = view_register(slot);
  emit(Op::LoadNil, slot);
  locals_ = static_cast<uint16_t>(slot + 1);
  Site site(*this, node.value);
  if (auto* index = as<IndexNode>(node.value)) {
    Operand base = operand(index->base);
    Operand at = operand(index->index);
    emit(Op::ViewIndex, view, base.reg, at.reg, kHolds);
    if (at.consume && is_temp(at.reg)) emit(Op::Drop, at.reg);
    release_operand(at);
    return;
  }
  auto* name = as<NameNode>(node.value);
  const Binding& binding = name ? name->binding : container_binding(node.value);
  emit(binding.kind == BindingKind::Captured ? Op::ViewCaptured : Op::ViewLink, view, binding.index);
}

void Compiler::let(const LetNode& node) {
  Temps temps(*this);
  auto* name = as<BindingPatternNode>(node.pattern);
  if (name && name->binding.kind == BindingKind::Local && is_view(name->binding.index)) {
    return let_view(node, static_cast<uint16_t>(name->binding.index));
  }
  const TypeExpr* type = node.type ? node.type : name ? name->type : nullptr;
  if (name && name->binding.kind == BindingKind::Local && !type && writes_last(node.value)) {
    expression(node.value, static_cast<uint16_t>(name->binding.index));
    locals_ = static_cast<uint16_t>(name->binding.index + 1);
    return;
  }
  uint16_t value = alloc();
  expression(node.value, value);
  own(value);
  if (type) {
    Site site(*this, node.pattern);
    emit(Op::CheckType, value, type_index(type));
  }
  if (name) {
    set_name(name->binding, value, true);
    disown(value);
    return;
  }
  destructure(node.pattern, value);
  emit(Op::Drop, value);
  disown(value);
}

void Compiler::if_else(const IfNode* node, uint16_t dst, bool wanted) {
  Label done;
  auto branch = [&](const Node* body) {
    if (wanted) {
      expression(body, dst);
    } else {
      effect(body);
    }
  };
  for (;;) {
    Label otherwise;
    condition(node->condition, false, otherwise);
    branch(node->then_branch);
    if (wanted || node->else_branch) jump(done, Op::Jump);
    bind(otherwise);
    auto* next = as<IfNode>(node->else_branch);
    if (!next) break;
    node = next;
    site_ = node->site;
  }
  if (node->else_branch) {
    branch(node->else_branch);
  } else if (wanted) {
    emit(Op::LoadNil, dst);
  }
  bind(done);
}

// ---- loops ----

size_t Compiler::innermost_loop() const {
  for (size_t i = scopes_.size(); i-- > 0;) {
    if (scopes_[i].kind == Scope::Kind::Loop) return i;
  }
  return SIZE_MAX;
}

void Compiler::while_loop(const WhileNode& node, uint16_t dst, bool) {
  Label body, head, done;
  jump(head, Op::Jump);
  bind(body);
  Scope scope;
  scope.on_break = &done;
  scope.on_continue = &head;
  scope.result = dst;
  scope.locals = locals_;
  scope.owned = owned_.size();
  scope.site = node.site;
  scopes_.push_back(scope);
  effect(node.body);
  bind(head);
  uint32_t outer = std::exchange(loop_site_, node.site);
  condition(node.condition, true, body, true);  // its break and continue mean this loop
  loop_site_ = outer;
  scopes_.pop_back();
  emit(Op::LoadNil, dst);
  bind(done);
}

namespace {

bool is_lines_call(const Node* node, const FunctionDecl& function) {
  auto* call = as<CallNode>(node);
  auto* name = call ? as<NameNode>(call->callee) : nullptr;
  if (!name || name->binding.kind != BindingKind::Link || call->arguments.size() != 1) return false;
  auto* argument = static_cast<ArgumentNode*>(call->arguments[0]);
  const Link& link = function.links[name->binding.index];
  return link.kind == Link::Kind::Builtin && link.name == "lines" && !argument->spread && !argument->inout;
}

}  // namespace

void Compiler::begin_iteration(const Node* iterable, const Node* pattern, uint16_t hidden) {
  Temps temps(*this);
  Site site(*this, iterable);
  if (auto* range = as<RangeLiteralNode>(iterable)) {
    Operand first = operand(range->first, range->last);
    Operand last = operand(range->last);
    emit(Op::IterRange, hidden, first.reg, last.reg,
         static_cast<uint8_t>(consume_flags(first, last) | (range->inclusive ? kSense : 0)));
    return;
  }
  bool lines = is_lines_call(iterable, function_);
  const Node* source = lines ? static_cast<ArgumentNode*>(as<CallNode>(iterable)->arguments[0])->value : iterable;
  uint16_t reg = alloc();
  expression(source, reg);
  emit(Op::Move, hidden, reg);
  const bool taken_apart = !lines && pattern->kind == NodeKind::ListPattern;
  emit(lines ? Op::IterLines : Op::IterBegin, hidden, 0, 0, taken_apart ? kSense : 0);
}

uint16_t Compiler::item_register(const Node* pattern, uint16_t) {
  auto* name = as<BindingPatternNode>(pattern);
  if (name && name->binding.kind == BindingKind::Local && !name->type) {
    return static_cast<uint16_t>(name->binding.index);
  }
  return alloc();
}

void Compiler::bind_item(const Node* pattern, uint16_t item) {
  if (!is_temp(item)) {
    locals_ = static_cast<uint16_t>(item + 1);
    return;
  }
  own(item);
  destructure(pattern, item);
  emit(Op::Drop, item);
  disown(item);
}

void Compiler::next_round(const Node*, const Node* iterable, uint16_t hidden, Label& body) {
  // Declared by what the loop is entered with: a counted range leaves nil in the first hidden slot.
  Op op = as<RangeLiteralNode>(iterable) ? Op::ForRange : Op::ForNext;
  jump3(body, op, hidden, 0);
}

void Compiler::for_loop(const ForNode& node, uint16_t dst, bool enter_at_head) {
  Temps temps(*this);
  auto hidden = static_cast<uint16_t>(node.hidden);
  uint16_t saved = locals_;
  if (!enter_at_head) begin_iteration(node.iterable, node.pattern, hidden);
  locals_ = static_cast<uint16_t>(hidden + 3);
  uint16_t item = item_register(node.pattern, 0);
  Label body, next, leave;
  jump(next, Op::Jump);
  bind(body);
  Scope scope;
  scope.on_break = &leave;
  scope.on_continue = &next;
  scope.result = dst;
  scope.locals = locals_;
  scope.owned = owned_.size();
  scopes_.push_back(scope);
  uint16_t outer = locals_;
  bind_item(node.pattern, item);
  for (const Node* let : node.lets) effect(let);
  effect(node.body);
  leave_block(outer);
  scopes_.pop_back();
  bind(next);
  uint32_t at = here();
  next_round(node.pattern, node.iterable, hidden, body);
  code_[at].b = item;
  emit(Op::LoadNil, dst);
  bind(leave);
  if (!enter_at_head) {
    emit(Op::DropRange, hidden, 3);
    locals_ = saved;
  }
}

void Compiler::comprehension(const ComprehensionNode& node, uint16_t dst, bool enter_at_head) {
  Temps temps(*this);
  auto hidden = static_cast<uint16_t>(node.hidden);
  auto list = static_cast<uint16_t>(hidden + syntax::kComprehensionList);
  uint16_t saved = locals_;
  if (!enter_at_head) {
    begin_iteration(node.iterable, node.pattern, hidden);
    locals_ = list;
    if (node.condition) {
      emit(Op::NewList, list, 0);
    } else {
      emit(Op::NewListFor, list, hidden);
    }
    locals_ = static_cast<uint16_t>(list + 1);
    emit(Op::LoadQuanta, hidden + syntax::kComprehensionBegun);
  }
  locals_ = static_cast<uint16_t>(hidden + syntax::kComprehensionSlots);
  uint16_t item = item_register(node.pattern, 0);
  Label body, next, leave;
  jump(next, Op::Jump);
  bind(body);
  Scope scope;
  scope.on_break = &leave;
  scope.on_continue = &next;
  scope.list_result = true;
  scope.locals = locals_;
  scope.owned = owned_.size();
  scopes_.push_back(scope);
  uint16_t outer = locals_;
  bind_item(node.pattern, item);
  for (const Node* let : node.lets) effect(let);
  Label refused;
  if (node.condition) condition(node.condition, false, refused);
  {
    Temps inner(*this);
    Operand o = operand(node.body);
    emit(Op::AppendItem, list, o.reg, 0, consume_flags(o));
  }
  bind(refused);
  leave_block(outer);
  scopes_.pop_back();
  bind(next);
  if (node.division != 0) emit(Op::Rounds, hidden, node.division - 1);
  uint32_t at = here();
  next_round(node.pattern, node.iterable, hidden, body);
  code_[at].b = item;
  bind(leave);
  emit(Op::Move, dst, list);
  if (!enter_at_head) {
    own(dst);
    emit(Op::DropRange, hidden, 3);
    disown(dst);
    locals_ = saved;
  }
}

// ---- match ----

void Compiler::match(const MatchNode& node, uint16_t dst) {
  auto subject = static_cast<uint16_t>(node.hidden);
  uint16_t saved = locals_;
  {
    Temps temps(*this);
    if (writes_last(node.subject)) {
      expression(node.subject, subject);
    } else {
      uint16_t reg = alloc();
      expression(node.subject, reg);
      emit(Op::Move, subject, reg);
    }
  }
  locals_ = static_cast<uint16_t>(subject + 1);
  uint16_t outer = locals_;
  Label done;
  for (Node* item : node.arms) {
    Temps temps(*this);
    auto* arm = static_cast<MatchArmNode*>(item);
    Label fail, refused;
    std::vector<Bound> bound;
    test(arm->pattern, subject, fail, bound);
    bind_names(bound);
    if (arm->guard) condition(arm->guard, false, refused);
    uint16_t with_names = locals_;
    emit(Op::Drop, subject);  // kept, it would only share the parts that have names now
    expression(arm->body, dst);
    leave_block(outer);
    jump(done, Op::Jump);
    if (arm->guard) {
      locals_ = with_names;
      bind(refused);
      leave_block(outer);
    }
    bind(fail);
  }
  raise(ErrorCode::NoArm, "no arm of the match fits %", subject);
  bind(done);
  locals_ = saved;
}

void Compiler::raise(ErrorCode code, std::string message, uint16_t about) {
  emit(Op::Raise, descriptor(chunk_->raises, RaiseInfo{code, std::move(message), {}}), about);
}

// ---- try ----

size_t Compiler::open_region(uint16_t reg, bool cleanup) { return open_region(reg, cleanup, owned_); }

size_t Compiler::open_region(uint16_t reg, bool cleanup, const std::vector<uint16_t>& owned) {
  record_live();
  Region region;
  region.begin = here();
  region.end = UINT32_MAX;
  region.reg = reg;
  region.depth = static_cast<uint32_t>(scopes_.size());
  region.locals = locals_;
  region.cleanup = cleanup;
  region.forks = open_forks_;
  auto [it, fresh] = set_ids_.try_emplace(owned, static_cast<uint32_t>(chunk_->live_sets.size()));
  if (fresh) chunk_->live_sets.push_back(owned);
  region.live_set = it->second;
  chunk_->regions.push_back(region);
  return chunk_->regions.size() - 1;
}

void Compiler::close_region(size_t region) { chunk_->regions[region].end = here(); }

void Compiler::try_catch(const TryNode& node, uint16_t dst) {
  Temps temps(*this);
  auto* name = as<BindingPatternNode>(node.pattern);
  uint16_t saved = locals_;
  uint16_t error = name ? static_cast<uint16_t>(name->binding.index) : alloc();
  Scope scope;
  scope.kind = Scope::Kind::Try;
  scope.regions.push_back(open_region(error, false));
  scopes_.push_back(std::move(scope));
  expression(node.body, dst);
  std::vector<size_t> regions = std::move(scopes_.back().regions);
  scopes_.pop_back();
  close_region(regions.back());
  Label done;
  jump(done, Op::Jump);
  for (size_t region : regions) chunk_->regions[region].handler = here();
  if (name) {
    locals_ = static_cast<uint16_t>(error + 1);
  } else {
    own(error);
    emit(Op::Drop, error);
    disown(error);
  }
  expression(node.handler, dst);
  leave_block(saved);
  bind(done);
}

// ---- forks ----

void Compiler::fork(const ForkNode& node, uint16_t dst) {
  emit(Op::Fork, node.first, node.count);
  open_forks_ |= points_of(node);
  expression(node.body, dst);
}

void Compiler::merge(const MergeNode& node, uint16_t dst) {
  open_forks_ &= ~points_of(node);
  Label done;
  jump3(done, Op::Merge, dst, node.point);
  expression(node.body, dst);
  bind(done);
}

// ---- ways out ----

// Gives back what the `with` blocks above `down_to` have lent. Neither their cleanups nor the `try`s that
// are left must cover this code, so each region is cut here and reopened behind the jump.
void Compiler::leave_scopes(size_t down_to) {
  for (size_t i = scopes_.size(); i-- > down_to;) {
    Scope& scope = scopes_[i];
    if (scope.regions.empty()) continue;
    close_region(scope.regions.back());
    if (scope.kind == Scope::Kind::With) leave_with(scope);
  }
}

void Compiler::reopen_scopes(size_t down_to) {
  for (size_t i = down_to; i < scopes_.size(); ++i) {
    Scope& scope = scopes_[i];
    if (scope.regions.empty()) continue;
    Region again = chunk_->regions[scope.regions.back()];
    again.begin = here();
    again.end = UINT32_MAX;
    scope.regions.push_back(chunk_->regions.size());
    chunk_->regions.push_back(again);
  }
}

void Compiler::drop_owned(size_t down_to) {
  for (size_t i = owned_.size(); i-- > down_to;) emit(Op::Drop, owned_[i]);
}

void Compiler::break_loop(const BreakNode& node) {
  size_t at = innermost_loop();
  if (at == SIZE_MAX) return refuse(Reason::internal);
  Scope loop = scopes_[at];
  uint16_t saved_locals = locals_;
  std::vector<uint16_t> saved_owned = owned_;
  if (node.value) {
    if (loop.list_result) {
      effect(node.value);
    } else {
      uint16_t reg = alloc();
      expression(node.value, reg);
      own(reg);
      leave_scopes(at);
      disown(reg);
      emit(Op::Move, loop.result, reg);
    }
  } else {
    leave_scopes(at);
    if (!loop.list_result) emit(Op::LoadNil, loop.result);
  }
  if (node.value && loop.list_result) leave_scopes(at);
  drop_owned(loop.owned);
  owned_.resize(std::min(owned_.size(), loop.owned));
  leave_block(loop.locals);
  jump(*loop.on_break, Op::Jump);
  owned_ = saved_owned;
  locals_ = saved_locals;
  reopen_scopes(at);
}

void Compiler::continue_loop() {
  size_t at = innermost_loop();
  if (at == SIZE_MAX) return refuse(Reason::internal);
  Scope loop = scopes_[at];
  uint16_t saved_locals = locals_;
  std::vector<uint16_t> saved_owned = owned_;
  leave_scopes(at);
  drop_owned(loop.owned);
  owned_.resize(std::min(owned_.size(), loop.owned));
  leave_block(loop.locals);
  if (loop.on_continue->target == UINT32_MAX) {
    jump(*loop.on_continue, Op::Jump);
  } else {
    uint32_t outer = std::exchange(loop_site_, loop.site);
    jump(*loop.on_continue, Op::Loop);  // from the condition: a round, or it could go on for ever
    loop_site_ = outer;
  }
  owned_ = saved_owned;
  locals_ = saved_locals;
  reopen_scopes(at);
}

void Compiler::return_value(const Node* node, const Node* value) {
  Temps temps(*this);
  uint16_t saved_locals = locals_;
  std::vector<uint16_t> saved_owned = owned_;
  Operand result;
  bool lends = std::any_of(scopes_.begin(), scopes_.end(), [](auto& s) { return s.kind == Scope::Kind::With; });
  if (!value) {
    result = {alloc(), false};
    emit(Op::LoadNil, result.reg);
  } else if (auto* call = as<CallNode>(value); call && call->tail && in_function_) {
    Site site(*this, value);
    tail_call(*call);
    locals_ = saved_locals;
    return;
  } else if (local_slot(value) >= 0 && !lends) {
    result = operand(value);
  } else {
    result = owned_operand(value);
  }
  if (function_.result && value) {
    Site site(*this, last_expression(value));
    check_result(result.reg);
  } else if (function_.result) {
    check_result(result.reg);
  }
  leave_scopes(0);
  release_operand(result);
  drop_owned(0);
  emit_return(result);
  owned_ = saved_owned;
  locals_ = saved_locals;
  if (node) reopen_scopes(0);
}

void Compiler::emit_return(Operand result) {
  uint8_t x = consume_flag_a(result);
  if (!in_function_) {
    // Views of locals do not survive dropping them.
    uint16_t reg = result.reg;
    if (!is_temp(reg)) {
      reg = alloc();
      emit(result.consume ? Op::Move : Op::Copy, reg, result.reg);
    }
    drop_locals(chunk_->first_local, locals_);
    emit(Op::LoopReturn, reg);
    return;
  }
  if (function_.inout_mask == 0) {
    uint16_t end = locals_;
    while (end > 0 && facts_.plain_slot(end - 1u)) --end;
    emit(Op::Return, result.reg, end, 0, x);
    return;
  }
  uint16_t reg = alloc();
  emit(result.consume ? Op::Move : Op::Copy, reg, result.reg);
  for (uint16_t slot = 0; slot < locals_; ++slot) {
    bool lent = slot < 64 && (function_.inout_mask >> slot & 1) && slot < function_.parameters.size();
    if (!lent) drop_locals(slot, static_cast<uint16_t>(slot + 1));
  }
  emit(Op::Return, reg, 0, 0, kConsumeA);
}

}  // namespace posset::bytecode
