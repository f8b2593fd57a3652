// Calls of built-ins that call a function for every element: map, filter, fold and their kin become loops of the
// caller's own, so that a round is a call within the machine and the native tiers see the loop and the function
// together.
//
// The built-in in interp/runtime stays the one place of the semantics. A loop is entered only behind
// CallbackReady: something that `for` takes (or a count), and a script function that takes exactly these
// arguments, none of them inout; and where several workers are allowed, not behind it for a function whose calls are pure
// and take long, because the built-in lets others do half. Everything else goes on at the ordinary call. What the loop does is what the
// built-in would have done: the same items by the same protocol, and no step of its own (interp/runtime/work.h:
// the calls charge theirs). All of it has the site of the call, as errors of the built-in have.
//
// reduce, sort_by, group_by and flat_map stay with the built-in: they visit their elements in an order, or charge
// for them in a way, that no loop over them has.
#include "bytecode/compiler.h"

namespace posset::bytecode {

// What becomes of a function's answer.
enum class Answer : uint8_t { Append, Keep, Fold, Ignore, Find, Any, All, Count };

struct CallbackLoop {
  std::string_view name;
  uint8_t arguments;     // of the built-in; the function is the last one
  Answer answer;
  bool counts = false;   // the first argument is how many times
  bool splits = false;   // the built-in lets others do half, of a function that takes long

  // Its registers.
  uint16_t window = 0;   // of the built-in's own call: the arguments begin at window + 2
  uint16_t hidden = 0;   // of the iteration
  uint16_t result = 0;   // list, state or count
  uint16_t call = 0;     // window of the function's call
  uint16_t item = 0;

  uint16_t first() const { return static_cast<uint16_t>(window + 2); }
  uint16_t function() const { return static_cast<uint16_t>(window + 1 + arguments); }
  uint16_t parameters() const { return answer == Answer::Fold ? 2 : 1; }
  bool makes_list() const { return answer == Answer::Append || answer == Answer::Keep; }
  // The item is needed when the function has answered.
  bool keeps_item() const { return answer == Answer::Keep || answer == Answer::Find; }
};

namespace {

constexpr CallbackLoop kLoops[] = {
    {"map", 2, Answer::Append, false, true},  {"tabulate", 2, Answer::Append, true, true},
    {"filter", 2, Answer::Keep, false, true}, {"fold", 3, Answer::Fold},
    {"each", 2, Answer::Ignore}, {"find", 2, Answer::Find},
    {"any", 2, Answer::Any},     {"all", 2, Answer::All},
    {"count", 2, Answer::Count},
};

const CallbackLoop* loop_of(const CallNode& node, const Link& link) {
  for (Node* item : node.arguments) {
    auto* argument = static_cast<const ArgumentNode*>(item);
    if (argument->inout || argument->spread) return nullptr;
  }
  for (const CallbackLoop& each : kLoops) {
    if (each.name == link.name && each.arguments == node.arguments.size()) return &each;
  }
  return nullptr;
}

}  // namespace

// Whether the function given is known, and one for which the loop would never be entered.
bool Compiler::is_split(const CallNode& node) const {
  if (runtime_.options.workers <= 1) return false;
  const Node* given = static_cast<const ArgumentNode*>(node.arguments[1])->value;
  const FunctionDecl* function = nullptr;
  if (auto* lambda = as<LambdaNode>(given)) function = lambda->function;
  auto* name = as<NameNode>(given);
  if (name && name->binding.kind == BindingKind::Link) function = function_.links[name->binding.index].function;
  return function && function->purity == syntax::Purity::Pure && function->costly && function->inout_mask == 0;
}

bool Compiler::callback_call(const CallNode& node, const Link& link, uint16_t dst) {
  const CallbackLoop* known = loop_of(node, link);
  if (!known || (known->splits && is_split(node))) return false;
  Temps temps(*this);
  CallbackLoop loop = *known;
  loop.window = alloc(2 + uint32_t{loop.arguments});
  std::vector<PlacePath> none;
  arguments(node, loop.first(), none);
  const std::vector<uint16_t> evaluated = owned_;
  Label other, done;
  const auto x = static_cast<uint8_t>(loop.parameters() << kParametersShift | (loop.counts ? kSense : 0) |
                                      (loop.splits && runtime_.options.workers > 1 ? kSplits : 0));
  jump3(other, Op::CallbackReady, loop.first(), loop.function(), x);
  callback_loop(node, loop);
  jump(done, Op::Jump);
  bind(other);
  owned_ = evaluated;
  for (uint32_t i = 0; i < loop.arguments; ++i) disown(static_cast<uint16_t>(loop.first() + i));
  emit(Op::CallNative, loop.window, callee_index(node), loop.arguments);
  bind(done);
  emit(Op::Move, dst, loop.window);  // last of all: the variable of a let lives from here on
  return true;
}

void Compiler::callback_loop(const CallNode& node, CallbackLoop& loop) {
  loop.hidden = alloc(3);
  loop.result = loop.answer == Answer::Fold ? static_cast<uint16_t>(loop.first() + 1) : alloc();
  loop.item = alloc();
  loop.call = alloc(2 + uint32_t{loop.parameters()});
  if (!loop.keeps_item()) loop.item = static_cast<uint16_t>(loop.call + 1 + loop.parameters());
  begin_callbacks(loop);
  // A counted range leaves nil in the first hidden slot: the instruction says which of the two to expect.
  const Node* iterable = unwrapped(static_cast<const ArgumentNode*>(node.arguments[0])->value);
  const Op advance = loop.counts || as<RangeLiteralNode>(iterable) ? Op::ForRange : Op::ForNext;
  Label body, next, leave;
  jump(next, Op::Jump);
  bind(body);
  callback_round(callee_index(node), loop, leave);
  bind(next);
  jump3(body, advance, loop.hidden, loop.item, kFree);
  bind(leave);
  emit(Op::Move, loop.window, loop.result);
  own(loop.window);
  disown(loop.result);
  emit(Op::Drop, loop.hidden);
  emit(Op::Drop, loop.function());
}

// The iteration and the result before the first round. The first argument goes into the iteration.
void Compiler::begin_callbacks(const CallbackLoop& loop) {
  if (loop.counts) {
    emit(Op::LoadInt, loop.call, 0);
    emit(Op::IterRange, loop.hidden, loop.call, loop.first());
  } else {
    emit(Op::Move, loop.hidden, loop.first());
    disown(loop.first());
    emit(Op::IterBegin, loop.hidden);
  }
  own(loop.hidden);
  switch (loop.answer) {
    case Answer::Append: emit(Op::NewListFor, loop.result, loop.hidden); break;
    case Answer::Keep: emit(Op::NewList, loop.result, 0); break;
    case Answer::Fold: disown(loop.result); break;
    case Answer::Count: emit(Op::LoadInt, loop.result, 0); break;
    case Answer::Any:
    case Answer::All: emit(Op::LoadBool, loop.result, loop.answer == Answer::All); break;
    case Answer::Ignore:
    case Answer::Find: emit(Op::LoadNil, loop.result); break;
  }
  own(loop.result);
}

// The call, then what its answer is for. `leave`: the result is known.
void Compiler::callback_round(uint16_t link, const CallbackLoop& loop, Label& leave) {
  if (loop.keeps_item()) {
    own(loop.item);
    emit(Op::Copy, loop.call + 2, loop.item);
  } else if (loop.answer == Answer::Fold) {
    emit(Op::Move, loop.call + 2, loop.result);
  }
  emit(Op::CallValue, loop.call, loop.function(), loop.parameters());
  emit_word(0);
  switch (loop.answer) {
    case Answer::Append:
      own(loop.call);
      emit(Op::AppendItem, loop.result, loop.call, 0, kConsumeB);
      disown(loop.call);
      break;
    case Answer::Fold: emit(Op::Move, loop.result, loop.call); break;
    case Answer::Ignore: emit(Op::Drop, loop.call); break;
    default: callback_answer(link, loop, leave);
  }
  if (loop.keeps_item()) {
    emit(Op::Drop, loop.item);
    disown(loop.item);
  }
}

// Of a function that says true or false.
void Compiler::callback_answer(uint16_t link, const CallbackLoop& loop, Label& leave) {
  Label skip;
  own(loop.call);
  jump3(skip, Op::JumpAnswer, loop.call, link, loop.answer == Answer::All ? kSense : 0);
  disown(loop.call);
  switch (loop.answer) {
    case Answer::Keep: emit(Op::AppendItem, loop.result, loop.item, 0, kConsumeB); break;
    case Answer::Count: emit(Op::AddI, loop.result, loop.result, 1); break;
    case Answer::Find:
      emit(Op::Move, loop.result, loop.item);
      jump(leave, Op::Jump);
      break;
    default:
      emit(Op::LoadBool, loop.result, loop.answer == Answer::Any);
      jump(leave, Op::Jump);
  }
  bind(skip);
}

}  // namespace posset::bytecode
