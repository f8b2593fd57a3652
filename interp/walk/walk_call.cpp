// Tier 0: calls, lending (&, `with`), and what of tasks there is.
//
// The callee is evaluated first, then the arguments into a window above the frame. A lent argument
// takes part in three steps: the indexes of its place in order with the other arguments, its value
// once all of them are evaluated, and the store of what the parameter holds afterwards, however the
// call ended.
#include "interp/runtime/call.h"
#include "interp/runtime/callback_loop.h"
#include "interp/runtime/rounds.h"
#include "interp/runtime/messages.h"
#include "interp/runtime/work.h"
#include "interp/value/list.h"
#include "interp/walk/walker.h"

namespace posset::interp {

using namespace syntax;

namespace {

const ArgumentNode& argument(const CallNode& node, size_t i) {
  return *static_cast<const ArgumentNode*>(node.arguments[i]);
}

bool lends(const CallNode& node) {
  return std::any_of(node.arguments.begin(), node.arguments.end(),
                     [](const Node* n) { return static_cast<const ArgumentNode*>(n)->inout; });
}

// Functions known by name: the resolver has checked the marks, so a wrong count is what is
// reported.
uint64_t marks_to_check(const Link* link, const CallNode& node, uint64_t marks) {
  const bool known =
      link && (link->kind == Link::Kind::Function || link->kind == Link::Kind::Builtin ||
               link->kind == Link::Kind::BuiltinExport);
  if (!known) return marks;
  const bool spread = std::any_of(node.arguments.begin(), node.arguments.end(), [](const Node* n) {
    return static_cast<const ArgumentNode*>(n)->spread;
  });
  return spread ? marks : kAnyMarks;
}

// push(&place, x), written with the name of the built-in. What a property gives has no place.
bool is_push(const Context& context, const CallNode& node, const Link* link, Borrowed callee) {
  if (!link || link->kind != Link::Kind::Builtin ||
      callee.as_builtin()->intrinsic != Intrinsic::Push)
    return false;
  if (node.arguments.size() != 2 || node.optional || !argument(node, 0).inout) return false;
  auto* field = as<FieldNode>(argument(node, 0).value);
  if (field && context.runtime.host_types.has_property_to_set(field->name)) return false;
  return !argument(node, 1).inout && !argument(node, 1).spread;
}

// `var` (or what is like one) followed by fields and indexes, or a place in a ref's cell.
bool is_place(const Node* node) {
  bool through_value = false;
  for (;;) {
    if (auto* index = as<IndexNode>(node)) {
      node = index->base;
    } else if (auto* field = as<FieldNode>(node)) {
      if (field->optional || field->binding.kind == BindingKind::Link) return false;
      through_value = through_value || field->name == "value";
      node = field->base;
    } else {
      break;
    }
  }
  auto* name = as<NameNode>(node);
  if (!name) return false;
  return through_value || (name->binding.kind == BindingKind::Local && name->binding.is_var);
}

}  // namespace

const Link* Walker::callee_link(const CallNode& node) const {
  const Binding* binding = nullptr;
  if (auto* name = as<NameNode>(node.callee)) binding = &name->binding;
  if (auto* field = as<FieldNode>(node.callee)) binding = &field->binding;
  return binding && binding->kind == BindingKind::Link ? &decl_.links[binding->index] : nullptr;
}

// Which of its parameters a function value changes is known only when it is called; x.f(a) then
// lends x.
bool Walker::may_lend_receiver(const CallNode& node, Borrowed callee) const {
  if (node.form != CallForm::Method || node.optional || node.arguments.empty()) return false;
  const ArgumentNode& receiver = argument(node, 0);
  return !receiver.inout && !receiver.spread && (inout_mask_of(callee) & 1) != 0 &&
         is_place(receiver.value);
}

Value Walker::visit(const CallNode& node) {
  if (node.tail) return tail_call(node);
  Value callee = eval(node.callee);
  if (callee.failed()) return callee;
  if (node.is_loop) return callback_loop(node, callee);
  const bool lend_receiver = may_lend_receiver(node, callee);
  return lend_receiver || lends(node) ? lending_call(node, callee, lend_receiver)
                                      : call(node, callee);
}

Value Walker::call(const CallNode& node, Borrowed callee) {
  Window window(context_);
  for (size_t i = 0; i < node.arguments.size(); ++i) {
    if (!push_argument(node, i, window)) return Value::failure();
  }
  const uint64_t marks = marks_to_check(callee_link(node), node, 0);
  const uint32_t count = window.count();
  window.given_away();
  note_call_place(node, callee);
  return call_value(context_, callee, window.base(), count, marks);
}

void Walker::note_call_place(const CallNode& node, Borrowed callee) {
  if (context_.runtime.trace && callee.is(Tag::Builtin)) context_.call_place = {&decl_, node.site};
}

// A built-in that is a loop here: what it does is done round by round in slots of the frame, so that the loop's own code can
// go on with it.
Value Walker::callback_loop(const CallNode& node, Borrowed callee) {
  const CallbackLoop& loop = *interp::callback_loop(callee.as_builtin()->intrinsic);
  Scope scope(*this);
  {
    Window window(context_);
    for (size_t i = 0; i < node.arguments.size(); ++i) {
      if (!push_argument(node, i, window)) return Value::failure();
    }
    const Borrowed* const given = window.base();
    if (!callback_loop_fits(loop, given[0], given[loop.arguments - 1u])) {
      const uint32_t count = window.count();
      window.given_away();
      note_call_place(node, callee);
      return call_value(context_, callee, window.base(), count, kAnyMarks);
    }
    set_slot(node.hidden + kCallbackFunction, window.take(loop.arguments - 1u));
    set_slot(node.hidden + kCallbackResult, loop.takes_start() ? window.take(1) : Value());
    set_slot(node.hidden + kCallbackBegun, Value::integer(context_.quanta));
    set_slot(node.hidden, window.take(0));
    live_ = std::max(live_, node.hidden + kCallbackSlots);
  }
  CallbackRun run(context_, loop, callee.as_builtin()->name, frame_ + node.hidden);
  if (!run.begin()) return Value::failure();
  const Borrowed& begun = frame_[node.hidden + kCallbackBegun];
  for (Value result;;) {
    if (go_on_elsewhere(node.loop, result)) return result;
    if (loop.splits && is_rest_wanted(context_, begun)) {
      note_call_place(node, callee);
      if (!divide_callbacks(context_, *callee.as_builtin(), frame_ + node.hidden)) return Value::failure();
    }
    const Step step = run.round();
    if (step == Step::Failed) return Value::failure();
    if (step == Step::End) return Value::adopt(std::exchange(frame_[node.hidden + kCallbackResult], Borrowed::nil()));
  }
}

// ---- arguments ----

// False: stopped.
bool Walker::push_argument(const CallNode& node, size_t i, Window& window) {
  const ArgumentNode& item = argument(node, i);
  if (item.spread) return push_spread(item, window);
  Value v = eval(item.value);
  if (v.failed()) return false;
  if (i == 0 && node.optional && v->is_nil()) {
    stop(Signal::NilChain, Value());
    return false;
  }
  return window.push(std::move(v));
}

bool Walker::push_spread(const ArgumentNode& item, Window& window) {
  Value v = eval(item.value);
  if (v.failed()) return false;
  Holder list;
  List* made = new_list(context_.heap, Packing::Any, 0);
  if (!made) {
    context_.raise_memory_limit();
    return false;
  }
  list.raw = Borrowed::heap(Tag::List, made);
  if (!append_spread(context_, list.raw, v)) {
    note(&item);
    return false;
  }
  for (uint64_t i = 0; i < list.raw.as<List>()->size; ++i) {
    if (!window.push(list_copy(list.raw.as<List>(), i))) return false;
  }
  return true;
}

// ---- lending ----

Value Walker::lending_call(const CallNode& node, Borrowed callee, bool lend_receiver) {
  if (is_push(context_, node, callee_link(node), callee)) return push_on_place(node, callee.as_builtin());
  Window window(context_);
  std::vector<Lent> lent;
  uint64_t marks = 0;
  for (size_t i = 0; i < node.arguments.size(); ++i) {
    if (!argument(node, i).inout && !(i == 0 && lend_receiver)) {
      if (!push_argument(node, i, window)) return Value::failure();
      continue;
    }
    const uint32_t at = window.count();
    if (at >= 64) {
      return context_.raise(
          ErrorCode::InoutMismatch,
          "the & marks of this call do not fit the inout parameters of " + signature_of(callee));
    }
    marks |= uint64_t{1} << at;
    lent.emplace_back().at = at;
    if (!make_place(argument(node, i).value, lent.back().place) || !window.push(Value()))
      return Value::failure();
  }
  // Defaults first: they may read variables whose value is about to be taken.
  for (Lent& each : lent) {
    if (!prepare_defaults(each.place, each.place.steps.size())) return Value::failure();
  }
  if (!take_lent(lent, window)) {
    give_back(lent, window, true);
    return Value::failure();
  }
  const uint32_t count = window.count();
  Value result = call_value(context_, callee, window.base(), count,
                            marks_to_check(callee_link(node), node, marks));
  // Consumed, all but what is lent.
  for (uint32_t i = 0; i < count; ++i) {
    if ((i >= 64 || !(marks >> i & 1))) window.base()[i] = Borrowed::nil();
  }
  if (result.failed()) note(&node);
  return give_back(lent, window, result.failed()) ? std::move(result) : Value::failure();
}

bool Walker::take_lent(std::vector<Lent>& lent, Window& window) {
  for (Lent& each : lent) {
    Value v = take(each.place);
    if (v.failed()) {
      note(each.place.node);
      return false;
    }
    each.taken = true;
    window.base()[each.at] = v.take();
  }
  return true;
}

// What the parameters hold goes back to where it was taken, whether the call `failed` or not. The
// error, if any, is set aside meanwhile; one in storing takes its place. False: an error is
// pending.
bool Walker::give_back(std::vector<Lent>& lent, Window& window, bool failed) {
  uint32_t site = noted_site_;
  Value error;
  if (failed) error = context_.take_error();
  for (Lent& each : lent) {
    if (!each.taken || store(each.place, window.take(each.at))) continue;
    note(each.place.node);
    site = noted_site_;
    error = context_.take_error();
    failed = true;
  }
  if (!failed) return true;
  context_.restore_error(std::move(error));
  noted_site_ = site;
  context_.note_failure(function_, site);
  return false;
}

// push(&place, x) needs no taking: it cannot run any code that could see the place meanwhile.
Value Walker::push_on_place(const CallNode& node, const NativeFunction* push) {
  Place place;
  if (!make_place(argument(node, 0).value, place)) return Value::failure();
  Value v = eval(argument(node, 1).value);
  if (v.failed()) return v;
  if (!prepare_defaults(place, place.steps.size())) return Value::failure();
  bool shared = false;
  Borrowed* cell = walk(place, place.steps.size(), shared);
  if (!cell) return Value::failure();
  Borrowed arguments[2] = {std::exchange(*cell, Borrowed::nil()), v.take()};
  NativeCall call{context_, arguments, 2, push};
  Value result = push->entry(call);
  *cell = arguments[0];
  release(arguments[1]);
  return result;
}

Value Walker::visit(const WithNode& node) {
  auto* name = static_cast<const BindingPatternNode*>(node.pattern);
  Scope scope(*this);
  Place place;
  if (!make_place(node.place, place) || !prepare_defaults(place, place.steps.size()))
    return Value::failure();
  Value lent = take(place);
  if (lent.failed()) {
    note(node.place);
    return lent;
  }
  const uint32_t slot = name->binding.index;
  set_slot(slot, std::move(lent));
  ++lending_;
  Value result = eval(node.body);
  --lending_;
  return with_result(place, Value::adopt(std::exchange(frame_[slot], Borrowed::nil())),
                     std::move(result));
}

// As `give_back`, for one place; break, continue and return in the block pass on.
Value Walker::with_result(Place& place, Value back, Value result) {
  const bool raised = result.failed() && signal_ == Signal::None;
  const uint32_t site = noted_site_;
  Value error;
  if (raised) error = context_.take_error();
  // Storing may evaluate a default, which must not see where control is on its way to.
  const Signal signal = std::exchange(signal_, Signal::None);
  Value signal_value = std::move(signal_value_);
  if (!store(place, std::move(back))) {
    if (signal_ == Signal::None) note(place.node);
    return Value::failure();
  }
  signal_ = signal;
  signal_value_ = std::move(signal_value);
  if (raised) {
    context_.restore_error(std::move(error));
    noted_site_ = site;
    context_.note_failure(function_, site);
  }
  return result;
}

// ---- self calls in tail position ----

// The arguments stay above the frame, where nothing is written while control goes back to `run`.
Value Walker::tail_call(const CallNode& node) {
  Window window(context_);
  for (size_t i = 0; i < node.arguments.size(); ++i) {
    if (argument(node, i).inout) {
      if (!window.push(Value())) return Value::failure();
    } else if (!push_argument(node, i, window)) {
      return Value::failure();
    }
  }
  const uint32_t given = window.count();
  if (given < function_.required || (!function_.has_rest && given > function_.parameter_count)) {
    window.given_away();
    return call_closure(context_, closure_, window.base(), given);  // which says so
  }
  if (!complete_arguments(window)) return Value::failure();
  for (const Parameter& parameter : decl_.parameters) {
    const Borrowed v = (parameter.inout ? frame_ : window.base())[parameter.slot];
    // Where it starts again nobody knows any more which call it was.
    if (parameter.type && !v.is_unset() && !check_argument(parameter, v)) return Value::failure();
  }
  tail_ = &node;
  staged_ = window.base();
  window.given_away();
  return stop(Signal::TailCall, Value());
}

// One value for each parameter: Unset for absent ones, the surplus in the rest list.
bool Walker::complete_arguments(Window& window) {
  const uint32_t given = window.count();
  const uint32_t fixed = function_.parameter_count - (function_.has_rest ? 1 : 0);
  while (window.count() < fixed) {
    if (!window.push(Value::adopt(Borrowed::unset()))) return false;
  }
  if (!function_.has_rest) return true;
  Holder rest;
  List* made = new_list(context_.heap, Packing::Any, given > fixed ? given - fixed : 0);
  if (!or_memory_limit(context_, made != nullptr)) return false;
  rest.raw = Borrowed::heap(Tag::List, made);
  for (uint32_t i = fixed; i < given; ++i) {
    if (!or_memory_limit(context_, list_push(context_.heap, rest.raw, window.take(i))))
      return false;
  }
  if (given <= fixed) return window.push(rest.finish());
  window.base()[fixed] = rest.finish().take();
  return true;
}

// ---- tasks ----

Value Walker::visit(const SpawnNode& node) {
  const auto& call = *static_cast<const CallNode*>(node.call);
  Value callee = eval(call.callee);
  if (callee.failed()) return callee;
  Value arguments = list_of(call.arguments);
  if (arguments.failed()) return arguments;
  Value task = spawn_task(context_, std::move(callee), std::move(arguments), {function_, call.site, !node.is_statement});
  if (task.failed()) note(&call);
  return task;
}

Value Walker::visit(const AwaitNode& node) {
  Value task = eval(node.task);
  if (task.failed()) return task;
  return await_task(context_, task);
}

}  // namespace posset::interp
