// Tier 0: blocks, branches, loops, match, try.
//
// Loops follow the protocol of runtime/iterate.h with their state in hidden slots of the frame, so
// that at any head another tier can take over, provided that nothing half evaluated lies above the
// frame. A round's step is charged when it begins.
#include "interp/runtime/forks.h"
#include "interp/runtime/rounds.h"
#include "interp/runtime/iterate.h"
#include "interp/runtime/messages.h"
#include "interp/runtime/program.h"
#include "interp/runtime/work.h"
#include "interp/value/list.h"
#include "interp/walk/walker.h"

namespace posset::interp {

using namespace syntax;

// ---- blocks and branches ----

Value Walker::visit(const BlockNode& node) {
  Scope scope(*this);
  return statements(node);
}

Value Walker::statements(const BlockNode& node) {
  if (node.statements.empty()) return Value();
  const size_t last = node.statements.size() - 1;
  for (size_t i = 0; i < last; ++i) {
    Value v = eval(node.statements[i]);
    if (v.failed()) return v;
  }
  return eval(node.statements[last]);
}

// Long chains of `else if` are followed in a loop.
Value Walker::visit(const IfNode& first) {
  for (const IfNode* node = &first;;) {
    const int truth = condition(node->condition);
    if (truth < 0) return Value::failure();
    if (truth) return eval(node->then_branch);
    if (!node->else_branch) return Value();
    auto* next = as<IfNode>(node->else_branch);
    if (!next) return eval(node->else_branch);
    node = next;
  }
}

// ---- loops ----

// A round has given Failed: what that means for its loop. `result` is what `break` gives.
Walker::Round Walker::after_stop(Value& result) {
  if (signal_ == Signal::Continue) {
    signal_ = Signal::None;
    return Round::Next;
  }
  if (signal_ != Signal::Break) return Round::Stop;
  signal_ = Signal::None;
  result = std::move(signal_value_);
  return Round::Done;
}

// A loop's own code has its registers above the frame's slots. Where a call or a text around the loop is waiting there with
// what it has of its parts, the frame stands above those meanwhile.
class Walker::LoopFrame {
 public:
  explicit LoopFrame(Walker& walker)
      : walker_(walker), top_(walker.context_.stack_top), slots_(walker.function_.slot_count),
        moved_(top_ != walker.frame_ + slots_) {
    if (moved_) move(walker.frame_, top_);
  }
  ~LoopFrame() {
    if (moved_) move(top_, walker_.frame_);
    walker_.context_.stack_top = top_;
  }
  LoopFrame(const LoopFrame&) = delete;
  LoopFrame& operator=(const LoopFrame&) = delete;
  Borrowed* slots() const { return moved_ ? top_ : walker_.frame_; }

  // Records that the function has left say where its slots are, and others read them.
  static bool can_stand(const Walker& walker) {
    const Context& context = walker.context_;
    const uint32_t slots = walker.function_.slot_count;
    return context.stack_top == walker.frame_ + slots || (context.fork_top == walker.forks_before_ && context.has_stack(slots));
  }

 private:
  void move(const Borrowed* from, Borrowed* to) {
    std::copy(from, from + slots_, to);
    walker_.context_.stack_top = to + slots_;
  }

  Walker& walker_;
  Borrowed* const top_;
  const uint32_t slots_;
  const bool moved_;
};

bool Walker::go_on_elsewhere(uint32_t loop, Value& result) {
  Counted& counted = function_.unit->loops[loop];
  const ReadyCode ready = ready_code(context_, function_, counted, static_cast<int>(loop));
  // The place at which an error surfaced elsewhere is not known here, and `with` has to set it
  // again.
  if (ready.level == 0 || lending_ != 0 || !LoopFrame::can_stand(*this)) return false;
  Value v;
  LoopExit exit;
  {
    InsideLoop inside(counted);
    LoopFrame frame(*this);
    exit = context_.runtime.tier(ready.level)->enter_loop(context_, ready.code, closure_, frame.slots(), v);
  }
  switch (exit) {
    case LoopExit::NoRoom:
      return false;
    case LoopExit::Finished:
      result = std::move(v);
      break;
    case LoopExit::Returned:
      result = stop(Signal::Return, std::move(v));
      break;
    case LoopExit::Failed:
      result = Value::failure();
      break;
  }
  return true;
}

Value Walker::visit(const WhileNode& node) {
  Value result;
  for (;;) {
    if (go_on_elsewhere(node.loop, result)) return result;
    const int truth = condition(node.condition);
    if (truth == 0) return Value();
    // Also a round whose condition goes on to the next one, or it could do so for ever.
    if ((truth > 0 || signal_ == Signal::Continue) && !context_.charge_one()) {
      signal_ = Signal::None;
      return Value::failure();
    }
    if (truth > 0 && !eval(node.body).failed()) continue;
    switch (after_stop(result)) {
      case Round::Next:
        break;
      case Round::Done:
        return result;
      case Round::Stop:
        return Value::failure();
    }
  }
}

// `lines(s)` in the head of a loop is not made into a list.
bool Walker::is_lines_call(const Node* node) const {
  auto* call = as<CallNode>(node);
  auto* name = call ? as<NameNode>(call->callee) : nullptr;
  if (!name || name->binding.kind != BindingKind::Link || call->arguments.size() != 1) return false;
  auto* argument = static_cast<const ArgumentNode*>(call->arguments[0]);
  const Link& link = decl_.links[name->binding.index];
  return link.kind == Link::Kind::Builtin && link.name == "lines" && !argument->spread &&
         !argument->inout;
}

// Evaluates what is iterated and sets the hidden slots. False: stopped.
bool Walker::begin_loop(const Node* iterable, const Node* pattern, uint32_t at) {
  Borrowed* hidden = frame_ + at;
  bool begun = false;
  if (auto* range = as<RangeLiteralNode>(iterable)) {
    Value first = eval(range->first);
    if (first.failed()) return false;
    Value last = eval(range->last);
    if (last.failed()) return false;
    live_ = std::max(live_, at + 3);
    begun = begin_counted(context_, hidden, first, last, range->inclusive);
  } else {
    const bool lines = is_lines_call(iterable);
    const Node* source =
        lines
            ? static_cast<const ArgumentNode*>(static_cast<const CallNode*>(iterable)->arguments[0])
                  ->value
            : iterable;
    Value v = eval(source);
    if (v.failed()) return false;
    set_slot(at, std::move(v));
    live_ = std::max(live_, at + 3);
    begun = lines ? begin_lines(context_, hidden) : begin_iteration(context_, hidden, pattern->kind == NodeKind::ListPattern);
  }
  if (!begun) note(iterable);
  return begun;
}

Value Walker::visit(const ForNode& node) {
  Scope scope(*this);
  if (!begin_loop(node.iterable, node.pattern, node.hidden)) return Value::failure();
  Value result;
  for (;;) {
    if (go_on_elsewhere(node.loop, result)) return result;
    Value item;
    const Step step = next_item(context_, frame_ + node.hidden, item);
    if (step == Step::End) return Value();
    if (step == Step::Failed || !context_.charge_one()) return Value::failure();
    if (!for_round(node, std::move(item)).failed()) continue;
    switch (after_stop(result)) {
      case Round::Next:
        break;
      case Round::Done:
        return result;
      case Round::Stop:
        return Value::failure();
    }
  }
}

Value Walker::for_round(const ForNode& node, Value item) {
  Scope round(*this);
  if (!destructure(node.pattern, std::move(item)) || !bind_lets(node.lets)) return Value::failure();
  return eval(node.body);
}

bool Walker::bind_lets(const NodeList& lets) {
  return std::all_of(lets.begin(), lets.end(), [this](const Node* let) { return !eval(let).failed(); });
}

Value Walker::visit(const ComprehensionNode& node) {
  Scope scope(*this);
  if (!begin_loop(node.iterable, node.pattern, node.hidden)) return Value::failure();
  // Numbers are expected; the first element says what they are.
  List* made = new_list_expecting(context_, Packing::Int, node.condition ? 0 : items_expected(frame_ + node.hidden));
  if (!made) return context_.raise_memory_limit();
  set_slot(node.hidden + kComprehensionList, Value::adopt(Borrowed::heap(Tag::List, made)));
  set_slot(node.hidden + kComprehensionBegun, Value::integer(context_.quanta));
  return comprehension_rounds(node);
}

// Those that are left.
Value Walker::comprehension_rounds(const ComprehensionNode& node) {
  const uint32_t list = node.hidden + kComprehensionList;
  Value result;
  for (;;) {
    if (go_on_elsewhere(node.loop, result)) return result;
    if (node.division != 0 && is_rest_wanted(context_, frame_[node.hidden + kComprehensionBegun])) {
      if (!divide_rest(context_, closure_, frame_, node.division - 1)) return Value::failure();
    }
    Value item;
    const Step step = next_item(context_, frame_ + node.hidden, item);
    if (step == Step::End) break;
    if (step == Step::Failed || !context_.charge_one()) return Value::failure();
    if (!comprehension_round(node, std::move(item), frame_[list]).failed()) continue;
    const Round round = after_stop(result);
    if (round == Round::Stop) return Value::failure();
    if (round == Round::Done) break;
  }
  return Value::adopt(std::exchange(frame_[list], Borrowed::nil()));
}

Value Walker::comprehension_round(const ComprehensionNode& node, Value item, Borrowed& list) {
  Scope round(*this);
  if (!destructure(node.pattern, std::move(item)) || !bind_lets(node.lets)) return Value::failure();
  if (node.condition) {
    const int truth = condition(node.condition);
    if (truth <= 0) return truth < 0 ? Value::failure() : Value();
  }
  Value v = eval(node.body);
  if (v.failed()) return v;
  return or_memory_limit(context_, list_push(context_.heap, list, std::move(v))) ? Value()
                                                                                 : Value::failure();
}

Value Walker::visit(const BreakNode& node) {
  Value v;
  if (node.value) v = eval(node.value);
  return v.failed() ? std::move(v) : stop(Signal::Break, std::move(v));
}

Value Walker::visit(const ContinueNode&) { return stop(Signal::Continue, Value()); }

// ---- match ----

Value Walker::visit(const MatchNode& node) {
  Scope scope(*this);
  Value subject = eval(node.subject);
  if (subject.failed()) return subject;
  set_slot(node.hidden, std::move(subject));
  for (const Node* arm : node.arms) {
    bool fitted = false;
    Value v = match_arm(*static_cast<const MatchArmNode*>(arm), node.hidden, fitted);
    if (fitted || v.failed()) return v;
  }
  return context_.raise(ErrorCode::NoArm, "no arm of the match fits " + brief(frame_[node.hidden]));
}

Value Walker::match_arm(const MatchArmNode& arm, uint32_t subject, bool& fitted) {
  Scope names(*this);
  {
    std::vector<Bound> bound;
    if (!fits(arm.pattern, frame_[subject], bound)) {
      return context_.error_pending() ? Value::failure() : Value();
    }
    if (!bind_names(bound)) return Value::failure();
  }
  if (arm.guard) {
    const int truth = condition(arm.guard);
    if (truth <= 0) return truth < 0 ? Value::failure() : Value();
  }
  fitted = true;
  // Kept, it would only share the parts that have names now.
  release(std::exchange(frame_[subject], Borrowed::nil()));
  return eval(arm.body);
}

// ---- try ----

Value Walker::visit(const TryNode& node) {
  ForkRecord* const forks = context_.fork_top;
  const uint32_t early = early_count_;
  {
    Value v = eval(node.body);
    if (!v.failed() || signal_ != Signal::None) return v;
  }
  drop_forks(context_, forks);
  if (early_count_ != early) return nobody_catches();
  Value error = context_.catch_error();
  if (error.failed()) return error;  // a limit
  Scope scope(*this);
  if (node.pattern && !destructure(node.pattern, std::move(error))) return Value::failure();
  error = Value();
  return eval(node.handler);
}

Value Walker::visit(const ThrowNode& node) {
  Value v = eval(node.value);
  return v.failed() ? std::move(v) : context_.throw_value(std::move(v));
}

// ---- declarations ----

Value Walker::visit(const TypeDeclarationNode&) { return Value(); }

Value Walker::visit(const ImportNode& node) {
  if (!node.import->module) return Value();  // a built-in one has nothing to run
  Value v = run_module(context_, context_.instances.at(node.import->module).get());
  return v.failed() ? std::move(v) : Value();
}

Value Walker::visit(const LetNode& node) {
  Value v = eval(node.value);
  if (v.failed()) return v;
  auto* name = as<BindingPatternNode>(node.pattern);
  const TypeExpr* type = node.type ? node.type : name ? name->type : nullptr;
  if (type && !fits_type(function_, *type, v)) {
    raise_variable_type(context_, decl_, node.pattern->site, *type, v);
    note(node.pattern);
    return Value::failure();
  }
  if (name) {
    set(name->binding, std::move(v));
    return Value();
  }
  return destructure(node.pattern, std::move(v)) ? Value() : Value::failure();
}

Value Walker::visit(const ExportedLetNode& node) { return eval(node.let); }

}  // namespace posset::interp
