// Tier 0: entering and leaving a function, its parameters, self tail calls, closures, session
// variables; and the dispatch over nodes.
#include "interp/runtime/call.h"
#include "interp/runtime/messages.h"
#include "interp/walk/walk.h"
#include "interp/walk/walker.h"

namespace posset::interp {

using namespace syntax;

Walker::Walker(Context& context, Closure* closure, Borrowed* frame)
    : context_(context),
      closure_(closure),
      function_(*closure->function),
      decl_(*closure->function->decl),
      frame_(frame),
      live_(closure->function->parameter_count),
      forks_before_(context.fork_top),
      small_sides_later_(context.small_sides_later == &decl_) {
  if (small_sides_later_) [[unlikely]] context.small_sides_later = nullptr;
}

// ---- entry ----

Value Walker::run() {
  std::fill(frame_ + function_.parameter_count, frame_ + function_.slot_count, Borrowed::nil());
  const bool session = decl_.is_top_level && decl_.module->is_session;
  if (session) load_session();
  Value result;
  for (;;) {
    try {
      result = bind_parameters() ? body() : returned();
    } catch (const std::bad_alloc&) {  // outside of any node
      result = no_memory();
    }
    if (signal_ != Signal::TailCall) break;
    bool elsewhere = false;
    const bool again = start_again(elsewhere, result);
    if (elsewhere) return result;
    if (!again) break;
  }
  if (session) store_session();
  release_frame();
  if (result.failed() && early_count_ != 0) [[unlikely]] return nobody_catches();
  return result;
}

bool Walker::bind_parameters() {
  for (const Parameter& parameter : decl_.parameters) {
    if (!bind_parameter(parameter)) return false;
  }
  return true;
}

bool Walker::bind_parameter(const Parameter& parameter) {
  Borrowed& slot = frame_[parameter.slot];
  if (slot.is_unset() && parameter.fallback) {
    Value v = eval(parameter.fallback);
    if (v.failed()) return false;
    slot = v.take();
  }
  if (parameter.type && !check_argument(parameter, slot)) return context_.blame_caller(), false;
  if (!parameter.pattern) return true;
  // The value has no name of its own: kept, it would only share its parts.
  const bool lent = parameter.inout;
  return destructure(parameter.pattern,
                     lent ? Value::copy(slot) : Value::adopt(std::exchange(slot, Borrowed::nil())));
}

bool Walker::check_argument(const Parameter& parameter, Borrowed v) {
  if (fits_type(function_, *parameter.type, v)) return true;
  raise_argument_type(context_, decl_, parameter.slot, *parameter.type, v);
  return false;
}

bool Walker::check_result(Borrowed v, const Node* where) {
  if (!decl_.result || fits_type(function_, *decl_.result, v)) return true;
  raise_result_type(context_, decl_, *decl_.result, v);
  note(where);
  return false;
}

// A body's own block is no Scope: its variables live as long as the frame, which is what a session
// needs to store them and costs nothing otherwise.
Value Walker::body() {
  if (!decl_.body) return Value();
  auto* block = as<BlockNode>(decl_.body);
  Value v = block ? statements(*block) : eval(decl_.body);
  if (v.failed()) return returned();
  return check_result(v, last_expression(decl_.body)) ? std::move(v) : Value::failure();
}

// Evaluation has stopped, in the body or in the default of a parameter: by a `return`, or an error is pending.
Value Walker::returned() {
  if (signal_ != Signal::Return) return Value::failure();
  signal_ = Signal::None;
  return std::move(signal_value_);  // checked by the `return`
}

void Walker::release_frame() {
  for (uint32_t slot = 0; slot < live_; ++slot) {
    const bool lent =
        slot < 64 && slot < function_.parameter_count && (function_.inout_mask >> slot & 1);
    if (!lent) release(std::exchange(frame_[slot], Borrowed::nil()));
  }
}

// ---- tail calls ----

// The staged arguments become those of this frame, which starts again here or, when the function
// has become hot meanwhile, in a higher tier. False: a limit was hit.
bool Walker::start_again(bool& elsewhere, Value& result) {
  signal_ = Signal::None;
  release_slots(function_.parameter_count);
  for (uint32_t i = 0; i < function_.parameter_count; ++i) {
    if (i < 64 && (function_.inout_mask >> i & 1))
      continue;  // the same parameter in the same place
    release(std::exchange(frame_[i], staged_[i]));
  }
  context_.stack_top = frame_ + function_.slot_count;
  if (!context_.charge_one()) {
    note(tail_);
    result = Value::failure();
    return false;
  }
  const ReadyCode ready = ready_code(context_, function_, function_.unit->body, -1);
  if (ready.level == 0) return true;
  elsewhere = true;
  result = context_.runtime.tier(ready.level)->enter(context_, ready.code, closure_, frame_);
  return true;
}

// ---- sessions ----

namespace {

Borrowed& global_of(Context& context, const Function& function, const SessionVariable& variable) {
  ModuleInstance* owner =
      variable.module ? context.instances.at(variable.module).get() : function.module;
  return owner->globals[variable.global];
}

}  // namespace

void Walker::load_session() {
  for (const SessionVariable& variable : decl_.module->session_variables) {
    Borrowed& global = global_of(context_, function_, variable);
    if (global.is_unset()) continue;
    set_slot(variable.slot, Value::adopt(std::exchange(global, Borrowed::nil())));
  }
}

void Walker::store_session() {
  for (const SessionVariable& variable : decl_.module->session_variables) {
    Borrowed& global = global_of(context_, function_, variable);
    release(std::exchange(global, std::exchange(frame_[variable.slot], Borrowed::nil())));
  }
}

// ---- closures ----

Value Walker::closure_of(uint32_t child) {
  const Function* function = function_.children[child];
  Window captured(context_);
  for (const Capture& capture : function->decl->captures) {
    Value v;
    switch (capture.from) {
      case Capture::From::Local: {
        Borrowed& slot = frame_[capture.index];
        v = capture.last_use ? Value::adopt(std::exchange(slot, Borrowed::nil()))
                             : Value::copy(slot);
        break;
      }
      case Capture::From::Captured:
        v = Value::copy(closure_->captured()[capture.index]);
        break;
      case Capture::From::Self:
        v = Value::copy(Borrowed::heap(Tag::Fn, closure_));
        break;
    }
    if (!captured.push(std::move(v))) return Value::failure();
  }
  const uint32_t count = captured.count();
  captured.given_away();
  return make_closure(context_, function, captured.base(), count);
}

Value Walker::visit(const LambdaNode& node) { return closure_of(node.child); }

// A fn of the module exists before anything runs; a local one is made here.
Value Walker::visit(const FunctionStatementNode& node) {
  if (node.binding.kind != BindingKind::Local) return Value();
  Value closure = closure_of(node.child);
  if (closure.failed()) return closure;
  set_slot(node.binding.index, std::move(closure));
  return Value();
}

Value Walker::visit(const ReturnNode& node) {
  Value v;
  if (node.value) v = eval(node.value);
  if (v.failed()) return v;
  if (!check_result(v, node.value ? last_expression(node.value) : &node)) return Value::failure();
  return stop(Signal::Return, std::move(v));
}

// ---- slots and names ----

Value Walker::stop(Signal signal, Value v) {
  signal_ = signal;
  signal_value_ = std::move(v);
  return Value::failure();
}

void Walker::release_slots(uint32_t from) {
  while (live_ > from) release(std::exchange(frame_[--live_], Borrowed::nil()));
}

void Walker::set_slot(uint32_t slot, Value v) {
  release(std::exchange(frame_[slot], v.take()));
  live_ = std::max(live_, slot + 1);
}

void Walker::set(const Binding& binding, Value v) {
  if (binding.kind == BindingKind::Local) return set_slot(binding.index, std::move(v));
  if (binding.kind != BindingKind::Link) return;  // `_`
  auto* cell = const_cast<Borrowed*>(function_.links[binding.index]);
  release(std::exchange(*cell, v.take()));
}

Value Walker::link_value(uint32_t index) {
  Borrowed v = *function_.links[index];
  if (!v.is_unset()) [[likely]]
    return Value::copy(v);
  return context_.raise(
      ErrorCode::UsedBeforeDefinition,
      "'" + std::string(decl_.links[index].name) + "' is used before its definition",
      "the let that defines it has not run yet");
}

void Walker::note(const Node* node) {
  if (context_.failure_noted()) return;
  noted_site_ = node->site;
  context_.note_failure(function_, node->site);
}

// ---- dispatch ----

[[gnu::noinline, gnu::cold]] Value Walker::no_memory() {
  signal_ = Signal::None;
  return context_.raise_no_memory();
}

// Apart from `eval`, whose frame is on the stack once for every level of nesting.
[[gnu::noinline]] Value Walker::dispatch_elsewhere(const Node* node) {
  return context_.on_fresh_stack([&] { return dispatch(node); });
}

// No memory fails the node that has met it, so that those around it end as with any other error.
Value Walker::eval(const Node* node) {
  Value v;
  try {
    v = context_.native.low() ? dispatch_elsewhere(node) : dispatch(node);
  } catch (const std::bad_alloc&) {
    v = no_memory();
  }
  if (v.failed() && signal_ == Signal::None) [[unlikely]]
    note(node);
  return v;
}

[[gnu::noinline]] Value Walker::dispatch(const Node* node) {
  switch (node->kind) {
#define NODE(Name, fields) \
  case NodeKind::Name:     \
    return visit(*static_cast<const Name##Node*>(node));
#include "interp/syntax/nodes.def"
#undef NODE
  }
  return Value();
}

// Parts that the visit of the node around them takes apart; and what no resolved tree holds.
#define PART(Name)                                                      \
  Value Walker::visit(const Name##Node&) {                              \
    return context_.raise(ErrorCode::HostError, #Name " has no value"); \
  }
PART(FormatPart)
PART(MapEntry)
PART(RecordField)
PART(Spread)
PART(Argument)
PART(MethodCall)
PART(MatchArm)
PART(PlaceList)
PART(WildcardPattern)
PART(LiteralPattern)
PART(BindingPattern)
PART(ListPattern)
PART(RestPattern)
PART(RecordPattern)
PART(RecordPatternField)
PART(ConstructorPattern)
PART(AlternativePattern)
PART(Malformed)
#undef PART

// ---- the tier ----

const TierInterface& walker_tier() {
  static const TierInterface tier = [] {
    TierInterface made;
    made.level = 0;
    made.name = "walk";
    made.enter = [](Context& context, void*, Closure* closure, Borrowed* frame) {
      return Walker(context, closure, frame).run();
    };
    made.evaluate_fork = evaluate_fork_walking;
    made.do_rounds = do_rounds_walking;
    return made;
  }();
  return tier;
}

}  // namespace posset::interp
