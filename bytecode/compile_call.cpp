// Calls. A call's window is two frame words and the arguments, at the top of the temporaries: the callee's
// frame lies over the arguments and everything above, so whatever must survive the call (the operands of
// lent places) is allocated below the window.
//
// Lending (&): operands of the place in order with the other arguments; the value is taken out when all
// arguments are evaluated; afterwards, also when the call raised, what the argument register holds is
// stored back. The raising case is a cleanup region around the call.
#include <algorithm>

#include "bytecode/compiler.h"

namespace posset::bytecode {

namespace {

bool has_spread(const CallNode& node) {
  return std::any_of(node.arguments.begin(), node.arguments.end(),
                     [](Node* n) { return static_cast<ArgumentNode*>(n)->spread; });
}

const ArgumentNode& argument(const CallNode& node, size_t i) {
  return *static_cast<const ArgumentNode*>(node.arguments[i]);
}

uint64_t marks_of(const CallNode& node) {
  uint64_t marks = 0;
  for (size_t i = 0; i < node.arguments.size() && i < 64; ++i) {
    if (argument(node, i).inout) marks |= uint64_t{1} << i;
  }
  return marks;
}

// There may be a ref on the way, whose cell is a place whatever the root is.
bool leads_through_value(const Node* place) {
  for (;;) {
    if (auto* index = as<IndexNode>(place)) {
      place = index->base;
    } else if (auto* field = as<FieldNode>(place)) {
      if (field->name == "value") return true;
      place = field->base;
    } else {
      return false;
    }
  }
}

}  // namespace

const Link* Compiler::callee_link(const CallNode& node) const {
  const Binding* binding = nullptr;
  if (auto* name = as<NameNode>(node.callee)) binding = &name->binding;
  if (auto* field = as<FieldNode>(node.callee)) binding = &field->binding;
  if (!binding || binding->kind != BindingKind::Link) return nullptr;
  return &function_.links[binding->index];
}

uint32_t Compiler::callee_index(const CallNode& node) const {
  auto* name = as<NameNode>(node.callee);
  return name ? name->binding.index : static_cast<FieldNode*>(node.callee)->binding.index;
}

// A method call of a function value not known by name lends its receiver when that value says so, which
// is only known at run time; tier 0 does that.
bool Compiler::method_may_lend(const CallNode& node) const {
  if (node.form != CallForm::Method || node.arguments.empty() || argument(node, 0).inout) return false;
  const Link* link = callee_link(node);
  if (link && link->kind != Link::Kind::Global && link->kind != Link::Kind::HostGlobal) return false;
  const Node* receiver = argument(node, 0).value;
  const NameNode* root = place_root(receiver);
  if (!root) return false;
  return (root->binding.kind == BindingKind::Local && root->binding.is_var) || leads_through_value(receiver);
}

void Compiler::call(const CallNode& node, uint16_t dst) {
  if (node.tail && in_function_) return tail_call(node);
  if (method_may_lend(node)) refuse(Reason::method_value, &node);
  if (has_spread(node)) return spread_call(node, dst);
  const Link* link = callee_link(node);
  if (link && link->kind == Link::Kind::Builtin) {
    if (!node.optional && (intrinsic_call(node, *link, dst) || intrinsic_inout(node, *link, dst))) return;
    if (callback_call(node, *link, dst)) return;
  }
  if (link && link->kind == Link::Kind::Constructor &&
      node.arguments.size() == link->type->constructors[link->index].fields.size() && !node.arguments.empty()) {
    return constructor_call(node, static_cast<uint16_t>(callee_index(node)), dst);
  }
  window_call(node, dst);
}

// ---- built-ins with an opcode that change a place ----

bool Compiler::intrinsic_inout(const CallNode& node, const Link& link, uint16_t dst) {
  size_t n = node.arguments.size();
  if (n == 0 || !argument(node, 0).inout) return false;
  const Node* place = argument(node, 0).value;
  int64_t slot = local_slot(place);
  Temps temps(*this);
  if (link.name == "push" && n == 2 && !is_property(place)) {
    if (slot >= 0) {
      Operand v = operand(argument(node, 1).value);
      emit(Op::Push, static_cast<uint32_t>(slot), v.reg, 0, consume_flags(v));
    } else {
      PlacePath path = place_path(place, argument(node, 1).value);
      Operand v = stored_operand(argument(node, 1).value, path);
      prepare(path, path.steps.size());
      walk(path, path.steps.size());
      emit(Op::PushPlace, v.reg, 0, 0, consume_flag_a(v));
      release_operand(v);
      release_path(path);
    }
    emit(Op::LoadNil, dst);
    return true;
  }
  if (slot < 0) return false;
  if (link.name == "pop" && n == 1) {
    emit(Op::Pop, dst, static_cast<uint32_t>(slot));
    return true;
  }
  if (link.name == "swap" && n == 3) {
    Operand i = operand(argument(node, 1).value, argument(node, 2).value);
    Operand j = operand(argument(node, 2).value);
    emit(Op::Swap, static_cast<uint32_t>(slot), i.reg, j.reg, consume_flags(i, j));
    emit(Op::LoadNil, dst);
    return true;
  }
  return false;
}

void Compiler::constructor_call(const CallNode& node, uint16_t link, uint16_t dst) {
  Temps temps(*this);
  uint16_t first = alloc(node.arguments.count);
  for (uint32_t i = 0; i < node.arguments.count; ++i) {
    auto reg = static_cast<uint16_t>(first + i);
    expression(argument(node, i).value, reg);
    if (!facts_.plain(argument(node, i).value)) own(reg);
  }
  emit(Op::MakeVariant, dst, first, link, static_cast<uint8_t>(std::min<uint32_t>(node.arguments.count, 255)));
  if (node.arguments.count > 255) refuse(Reason::many_fields, &node);
}

// ---- the general form ----

void Compiler::arguments(const CallNode& node, uint16_t first, std::vector<PlacePath>& lent) {
  uint16_t reserve = first;  // operands of lent places lie below the window
  for (size_t i = 0; i < node.arguments.size(); ++i) {
    if (argument(node, i).inout) reserve = static_cast<uint16_t>(reserve - place_temporaries(argument(node, i).value));
  }
  reserve = static_cast<uint16_t>(reserve - 2);
  for (size_t i = 0; i < node.arguments.size(); ++i) {
    const Node* value = argument(node, i).value;
    auto reg = static_cast<uint16_t>(first + i);
    if (argument(node, i).inout) {
      lent.push_back(place_path(value, &node, reserve));
      lent.back().lends = true;
      reserve = static_cast<uint16_t>(reserve + place_temporaries(value));
      continue;
    }
    expression(value, reg);
    if (!facts_.plain(value)) own(reg);
    if (i == 0 && node.optional && nil_exit_) jump(*nil_exit_, Op::JumpNil, reg, kSense);
  }
}

namespace {

// Arguments that are not given and have a default. 0 where the callee is not known, or its arguments need arranging.
uint32_t absent_arguments(const CallNode& node, const Link* link) {
  if (!link || link->kind != Link::Kind::Function || !link->function || link->function->has_rest) return 0;
  const auto& parameters = link->function->parameters;
  const uint32_t given = node.arguments.count;
  for (size_t n = given; n < parameters.size(); ++n) {
    if (!parameters[n].fallback || parameters[n].inout) return 0;
  }
  return given < parameters.size() ? static_cast<uint32_t>(parameters.size()) - given : 0;
}

// Modules have constants, too (math.pi), which are called like any value.
bool is_function_of_module(const interp::RuntimeState& runtime, const Link& link) {
  if (link.kind != Link::Kind::BuiltinExport) return false;
  const auto* found = runtime.export_of(link.owner, link.name);
  return found && found->function;
}

}  // namespace

// What calls functions may let others do parts of it, of which a trace tells the place.
void Compiler::call_native(const CallNode& node, uint16_t window, uint32_t index, uint32_t count) {
  const auto found = runtime_.builtins.find(callee_link(node)->name);
  const bool calls = callee_link(node)->kind == Link::Kind::Builtin && found != runtime_.builtins.end() && found->second->calls_mask != 0;
  emit(Op::CallNative, window, index, count, calls ? kSense : 0);
}

void Compiler::emit_call(const CallNode& node, uint16_t window, Operand callee, uint32_t count) {
  const Link* link = callee_link(node);
  if (!link) {
    emit(Op::CallValue, window, callee.reg, count);
    emit_word(marks_of(node));
    return;
  }
  uint32_t index = callee_index(node);
  if (link->kind == Link::Kind::Function) {
    emit(Op::CallKnown, window, index, count);
  } else if (link->kind == Link::Kind::Builtin || is_function_of_module(runtime_, *link)) {
    call_native(node, window, index, count);
  } else {
    emit(Op::CallLink, window, index, count);
    emit_word(marks_of(node));
  }
}

void Compiler::window_call(const CallNode& node, uint16_t dst) {
  Temps temps(*this);
  uint32_t count = node.arguments.count;
  if (count > 1000) return refuse(Reason::many_arguments, &node);
  uint32_t below = 0;
  bool lends = false;
  for (uint32_t i = 0; i < count; ++i) {
    if (!argument(node, i).inout) continue;
    lends = true;
    below += place_temporaries(argument(node, i).value);
  }
  Operand callee;
  const Link* link = callee_link(node);
  if (!link) {
    if (lends) return refuse(Reason::inout_value, &node);
    callee = operand(node.callee, &node);
  } else if (link->kind == Link::Kind::Global) {
    // Before the arguments: the callee comes first.
    Temps unused(*this);
    Site site(*this, node.callee);
    emit(Op::ViewLink, alloc(), callee_index(node));
  }
  if (below) alloc(below);
  // The result lands where the window starts; often that can be the destination itself.
  bool in_place = is_temp(dst) && dst + 1 == top_;
  uint16_t window = in_place ? dst : alloc();
  const uint32_t absent = lends ? 0 : absent_arguments(node, link);
  alloc(1 + count + absent);
  auto first = static_cast<uint16_t>(window + 2);
  std::vector<PlacePath> lent;
  arguments(node, first, lent);
  for (uint32_t i = 0; i < absent; ++i) emit(Op::LoadUnset, first + count + i);
  if (lends) {
    lending_call(node, window, lent);
  } else {
    // Consumed by the call, also when it raises.
    for (uint32_t i = 0; i < count; ++i) disown(static_cast<uint16_t>(first + i));
    emit_call(node, window, callee, count + absent);
  }
  release_operand({window, true});
  release_after(callee, window);
  for (const PlacePath& path : lent) release_path(path);
  if (window != dst) emit(Op::Move, dst, window);
}

// An operand that has been used up, while the result exists.
void Compiler::release_after(Operand used, uint16_t result) {
  if (!used.consume) return;
  own(result);
  emit(Op::Drop, used.reg);
  release_operand(used);
  disown(result);
}

// The arguments in one list; nil stands for lent ones.
uint16_t Compiler::argument_list(const CallNode& node) {
  uint16_t list = alloc();
  list_of(node.arguments, list);
  own(list);
  return list;
}

void Compiler::spread_call(const CallNode& node, uint16_t dst) {
  Temps temps(*this);
  for (Node* item : node.arguments) {
    if (static_cast<ArgumentNode*>(item)->inout) return refuse(Reason::inout_spread, item);
  }
  if (node.optional) return refuse(Reason::optional_spread, &node);
  Operand callee = operand(node.callee, &node);
  uint16_t list = argument_list(node);
  uint16_t result = alloc();
  disown(list);
  emit(Op::CallSpread, result, callee.reg, list);
  release_after(callee, result);
  emit(Op::Move, dst, result);
}

// ---- tasks ----

// The list goes to the task, which may begin long after the frame has gone on.
void Compiler::spawn(const SpawnNode& node, uint16_t dst) {
  const auto& call = *static_cast<const CallNode*>(node.call);
  Temps temps(*this);
  Operand callee = operand(call.callee, &call);
  uint16_t list = argument_list(call);
  uint16_t result = alloc();
  disown(list);
  {
    Site site(*this, &call);  // where what fails in it before it runs has its place
    emit(Op::Spawn, result, callee.reg, list, node.is_statement ? kSense : 0);
  }
  release_after(callee, result);
  emit(Op::Move, dst, result);
}

void Compiler::await(const AwaitNode& node, uint16_t dst) {
  Temps temps(*this);
  Operand task = operand(node.task);
  uint16_t result = alloc();
  emit(Op::Await, result, task.reg);
  release_after(task, result);
  emit(Op::Move, dst, result);
}

// ---- lending ----

namespace {

// Taking or storing a variable as a whole cannot raise.
bool may_raise(const PlacePath& path) { return path.slot < 0 || !path.steps.empty(); }

}  // namespace

// All arguments are evaluated. The others are consumed by the call even when it raises.
void Compiler::lending_call(const CallNode& node, uint16_t window, const std::vector<PlacePath>& lent) {
  // Defaults first: they may read variables whose value is about to be taken.
  for (const PlacePath& path : lent) prepare(path, path.steps.size());
  Lending lending{.paths = lent, .window = window};
  lending.entering.resize(lent.size() + 1);
  std::vector<uint16_t> others;
  for (size_t i = 0; i < node.arguments.size(); ++i) {
    auto reg = static_cast<uint16_t>(window + 2 + i);
    (argument(node, i).inout ? lending.registers : others).push_back(reg);
  }
  auto is_other = [&](uint16_t reg) { return std::find(others.begin(), others.end(), reg) != others.end(); };
  std::remove_copy_if(owned_.begin(), owned_.end(), std::back_inserter(lending.owned), is_other);
  take_lent(node, lending);
  for (uint16_t reg : others) disown(reg);
  lending.entering[0].push_back(open_region(window, true));
  emit_call(node, window, {}, node.arguments.count);
  close_region(lending.entering[0].back());
  own(window);
  give_back(lending);
  Label done;
  jump(done, Op::Jump);
  give_back_failed(lending);
  owned_ = lending.owned;
  own(window);
  bind(done);
}

// When one cannot be taken, those before it go back.
void Compiler::take_lent(const CallNode& node, Lending& lending) {
  size_t next = 0;
  for (Node* item : node.arguments) {
    auto* lent = static_cast<ArgumentNode*>(item);
    if (!lent->inout) continue;
    Site site(*this, lent->value);
    const PlacePath& path = lending.paths[next];
    uint16_t reg = lending.registers[next];
    if (next > 0 && may_raise(path)) {
      size_t region = open_region(lending.window, true, lending.owned_with(0, next));
      take(path, reg);
      close_region(region);
      lending.taking.emplace_back(region, next);
    } else {
      take(path, reg);
    }
    own(reg);
    ++next;
  }
}

// Stores what an argument holds; when that raises, its error is the one that goes on to the next.
void Compiler::put_back(Lending& lending, size_t i) {
  const PlacePath& path = lending.paths[i];
  uint16_t reg = lending.registers[i];
  if (may_raise(path)) {
    size_t region = open_region(lending.window, true, lending.owned_with(i + 1, lending.registers.size()));
    store(path, {reg, true});
    close_region(region);
    lending.entering[i + 1].push_back(region);
  } else {
    store(path, {reg, true});
  }
  disown(reg);
}

void Compiler::give_back(Lending& lending) {
  for (size_t i = 0; i < lending.paths.size(); ++i) put_back(lending, i);
}

void Compiler::give_back_failed(Lending& lending) {
  size_t count = lending.paths.size();
  size_t surely = count;  // arguments before this one hold something
  Label start;
  for (auto [region, next] : lending.taking) {
    chunk_->regions[region].handler = here();
    owned_ = lending.owned_with(0, next);
    own(lending.window);
    for (size_t i = next; i < count; ++i) emit(Op::LoadUnset, lending.registers[i]);
    jump(start, Op::Jump);
    surely = std::min(surely, next);
  }
  bind(start);
  for (size_t i = 0; i <= count; ++i) {
    for (size_t region : lending.entering[i]) chunk_->regions[region].handler = here();
    owned_ = lending.owned_with(i, count);
    own(lending.window);
    if (i == count) break;
    Label taken, next;
    if (i >= surely) {
      jump(taken, Op::JumpSet, lending.registers[i]);
      jump(next, Op::Jump);
    }
    bind(taken);
    put_back(lending, i);
    bind(next);
  }
  emit(Op::Rethrow, lending.window);
}

// ---- self calls in tail position ----

// New values for the parameters, one register for each. Lent parameters keep what they have.
uint16_t Compiler::parameter_values(const CallNode& node) {
  auto parameters = static_cast<uint32_t>(function_.parameters.size());
  uint32_t fixed = parameters - (function_.has_rest ? 1 : 0), given = node.arguments.count;
  uint16_t first = alloc(std::max({given, parameters, 1u}));
  for (uint32_t i = 0; i < given; ++i) {
    if (argument(node, i).inout) continue;
    expression(argument(node, i).value, static_cast<uint16_t>(first + i));
    own(static_cast<uint16_t>(first + i));
  }
  for (uint32_t i = given; i < fixed; ++i) emit(Op::LoadUnset, first + i);
  if (!function_.has_rest) return first;
  uint32_t surplus = given > fixed ? given - fixed : 0;
  emit(Op::MakeList, first + fixed, first + fixed, surplus);
  for (uint32_t i = 0; i < surplus; ++i) disown(static_cast<uint16_t>(first + fixed + i));
  own(static_cast<uint16_t>(first + fixed));
  return first;
}

uint16_t Compiler::spread_parameter_values(const CallNode& node) {
  uint16_t list = argument_list(node);
  auto parameters = static_cast<uint32_t>(function_.parameters.size());
  uint16_t first = alloc(parameters);
  disown(list);
  emit(Op::SpreadParameters, first, list);
  for (uint32_t i = 0; i < parameters; ++i) own(static_cast<uint16_t>(first + i));
  return first;
}

// Where the function starts they are checked like all others, but there nobody knows any more which call it was.
void Compiler::check_parameter_values(const CallNode& node, uint16_t first) {
  const bool spread = has_spread(node);
  for (const Parameter& p : function_.parameters) {
    if (!p.type || (!spread && !p.rest && p.slot >= node.arguments.count)) continue;
    const auto reg = static_cast<uint16_t>(p.inout ? p.slot : first + p.slot);
    Label check, absent;
    if (spread && p.fallback) {
      jump(check, Op::JumpSet, reg);
      jump(absent, Op::Jump);
    }
    bind(check);
    emit(Op::CheckParam, reg, type_index(p.type), p.slot, kSense);
    bind(absent);
  }
}

void Compiler::tail_call(const CallNode& node) {
  Temps temps(*this);
  Site site(*this, &node);
  size_t pending = owned_.size();
  auto parameters = static_cast<uint16_t>(function_.parameters.size());
  uint16_t first = has_spread(node) ? spread_parameter_values(node) : parameter_values(node);
  check_parameter_values(node, first);
  uint16_t saved = locals_;
  if (locals_ > parameters) drop_locals(parameters, locals_);
  locals_ = parameters;
  for (uint16_t i = 0; i < parameters; ++i) {
    auto reg = static_cast<uint16_t>(first + i);
    if (!function_.parameters[i].inout) emit(Op::Store, i, reg, 0, kConsumeB);
    disown(reg);
  }
  // Operands of expressions that the call leaves unfinished.
  for (size_t i = 0; i < pending; ++i) emit(Op::Drop, owned_[i]);
  std::vector<uint16_t> kept;
  std::swap(kept, owned_);
  jump(start_, Op::TailJump);
  std::swap(kept, owned_);
  locals_ = saved;
}

}  // namespace posset::bytecode
