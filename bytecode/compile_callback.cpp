// Calls of built-ins that call a function for every element: map, filter, fold and their kin become loops of the
// caller's own, so that a round is a call within the machine and the native tiers see the loop and the function
// together.
//
// The built-in in interp/runtime stays the one place of the semantics. A loop is entered only behind
// CallbackReady (callback_loop_fits): something that `for` takes (or a count), and a built-in, or a script function that takes
// exactly these arguments, none of them inout. Where several workers are allowed, others may do elements for a function whose calls
// are pure and take long: a loop for one that is known to be so looks for that in each round (CallbackRounds), and the built-in lets
// them do half for one that turns out to be. Everything else goes on at the ordinary call. What the loop does is what the built-in
// would have done: the same items by the same protocol, and one step for each round (interp/runtime/work.h: calls of script
// functions charge theirs). All of it has the site of the call, as errors of the built-in have.
//
// In tier 0 such a call is a loop of the function's with slots of its own (interp/walk), which is compiled from its head.
#include "bytecode/compiler.h"
#include "interp/runtime/callback_loop.h"

namespace posset::bytecode {

using interp::Answer;

struct CallbackRegisters {
  const interp::CallbackLoop& loop;
  uint16_t hidden;    // of the iteration
  uint16_t function;
  uint16_t result;    // list, state or count
  bool looks = false;  // whether others want to do the rest; all are laid out like slots then
  uint16_t call = 0;   // window of the function's call
  uint16_t item = 0;
};

namespace {

const interp::CallbackLoop& loop_of(const interp::RuntimeState& runtime, const Link& link) {
  return *interp::callback_loop(runtime.builtins.at(link.name)->intrinsic);
}

}  // namespace

// Where others may do elements: whether the function given is one whose calls they may do.
interp::Divided Compiler::divided(const interp::CallbackLoop& loop, const CallNode& node) const {
  using interp::Divided;
  if (runtime_.options.workers <= 1 || !loop.splits) return Divided::No;
  const Node* given = static_cast<const ArgumentNode*>(node.arguments[1])->value;
  const FunctionDecl* function = nullptr;
  if (auto* lambda = as<LambdaNode>(given)) function = lambda->function;
  auto* name = as<NameNode>(given);
  if (name && name->binding.kind == BindingKind::Link) function = function_.links[name->binding.index].function;
  if (!function) return Divided::Unknown;
  return function->purity == syntax::Purity::Pure && function->costly && function->inout_mask == 0 ? Divided::Yes : Divided::No;
}

bool Compiler::callback_call(const CallNode& node, const Link& link, uint16_t dst) {
  if (!node.is_loop) return false;
  const interp::CallbackLoop& loop = loop_of(runtime_, link);
  const interp::Divided divides = divided(loop, node);
  Temps temps(*this);
  const uint16_t window = alloc(2 + uint32_t{loop.arguments}), first = static_cast<uint16_t>(window + 2);
  const auto function = static_cast<uint16_t>(window + 1 + loop.arguments);
  std::vector<PlacePath> none;
  arguments(node, first, none);
  const std::vector<uint16_t> evaluated = owned_;
  Label other, done;
  const auto x = static_cast<uint8_t>(loop.parameters() << kParametersShift | (loop.counts ? kSense : 0) |
                                      (divides == interp::Divided::Unknown ? kSplits : 0) | (loop.from_first ? kFromFirst : 0));
  jump3(other, Op::CallbackReady, first, function, x);
  const bool looks = divides == interp::Divided::Yes;
  const uint16_t hidden = alloc(looks ? kCallbackSlots : 3);
  CallbackRegisters in{loop, hidden, function, 0};
  if (looks) {
    in.function = static_cast<uint16_t>(hidden + kCallbackFunction);
    in.result = static_cast<uint16_t>(hidden + kCallbackResult);
    emit(Op::Move, in.function, function);
    disown(function);
    own(in.function);
    in.looks = true;
    emit(Op::LoadQuanta, hidden + kCallbackBegun);
  } else {
    in.result = loop.takes_start() ? static_cast<uint16_t>(first + 1) : alloc();
  }
  begin_callbacks(in, first);
  callback_rounds(node, in);
  emit(Op::Move, window, in.result);
  own(window);
  disown(in.result);
  emit(Op::Drop, hidden);
  emit(Op::Drop, in.function);
  jump(done, Op::Jump);
  bind(other);
  owned_ = evaluated;
  for (uint32_t i = 0; i < loop.arguments; ++i) disown(static_cast<uint16_t>(first + i));
  call_native(node, window, callee_index(node), loop.arguments);
  bind(done);
  emit(Op::Move, dst, window);  // last of all: the variable of a let lives from here on
  return true;
}

// From its head, with what a round has left in the slots of the call.
void Compiler::callback_loop_only(const CallNode& node, uint16_t dst) {
  const auto slot = static_cast<uint16_t>(node.hidden);
  CallbackRegisters in{loop_of(runtime_, *callee_link(node)), slot, static_cast<uint16_t>(slot + kCallbackFunction),
                       static_cast<uint16_t>(slot + kCallbackResult)};
  in.looks = divided(in.loop, node) != interp::Divided::No;
  callback_rounds(node, in);
  emit(Op::Move, dst, in.result);
}

void Compiler::callback_rounds(const CallNode& node, CallbackRegisters& in) {
  in.item = alloc();
  in.call = alloc(2 + in.loop.parameters());
  if (!in.loop.keeps_item()) in.item = static_cast<uint16_t>(in.call + 1 + in.loop.parameters());
  // A counted range leaves nil in the first hidden slot: the instruction says which of the two to expect.
  const Node* iterable = unwrapped(static_cast<const ArgumentNode*>(node.arguments[0])->value);
  const Op advance = in.loop.counts || as<RangeLiteralNode>(iterable) ? Op::ForRange : Op::ForNext;
  Label body, next, leave;
  jump(next, Op::Jump);
  bind(body);
  callback_round(callee_index(node), in, leave);
  bind(next);
  if (in.looks) emit(Op::CallbackRounds, in.hidden, callee_index(node));
  jump3(body, advance, in.hidden, in.item, kFree);
  bind(leave);
}

// The iteration and the result before the first round. The first argument goes into the iteration.
void Compiler::begin_callbacks(const CallbackRegisters& in, uint16_t first) {
  if (in.loop.counts) {
    Temps temps(*this);
    const uint16_t zero = alloc();
    emit(Op::LoadInt, zero, 0);
    emit(Op::IterRange, in.hidden, zero, first);
  } else {
    emit(Op::Move, in.hidden, first);
    disown(first);
    emit(Op::IterBegin, in.hidden);
  }
  own(in.hidden);
  switch (in.loop.answer) {
    case Answer::Append: emit(Op::NewListFor, in.result, in.hidden); break;
    case Answer::Keep: emit(Op::NewList, in.result, 0); break;
    case Answer::Fold:
      if (in.loop.from_first) {
        first_item(in);
      } else {
        disown(in.result);
      }
      break;
    case Answer::Count: emit(Op::LoadInt, in.result, 0); break;
    case Answer::Any:
    case Answer::All: emit(Op::LoadBool, in.result, in.loop.answer == Answer::All); break;
    case Answer::Ignore:
    case Answer::Find: emit(Op::LoadNil, in.result); break;
  }
  own(in.result);
}

// There is one.
void Compiler::first_item(const CallbackRegisters& in) {
  Label done;
  jump3(done, Op::ForNext, in.hidden, in.result, kFree);
  emit(Op::LoadNil, in.result);
  emit(Op::Throw, in.result);
  bind(done);
}

// The call, then what its answer is for. `leave`: the result is known.
void Compiler::callback_round(uint16_t link, const CallbackRegisters& in, Label& leave) {
  if (in.loop.keeps_item()) {
    own(in.item);
    emit(Op::Copy, in.call + 2, in.item);
  } else if (in.loop.answer == Answer::Fold) {
    emit(Op::Move, in.call + 2, in.result);
  }
  emit(Op::CallValue, in.call, in.function, in.loop.parameters(), kCharged);
  emit_word(0);
  switch (in.loop.answer) {
    case Answer::Append:
      own(in.call);
      emit(Op::AppendItem, in.result, in.call, 0, kConsumeB);
      disown(in.call);
      break;
    case Answer::Fold: emit(Op::Move, in.result, in.call); break;
    case Answer::Ignore: emit(Op::Drop, in.call); break;
    default: callback_answer(link, in, leave);
  }
  if (in.loop.keeps_item()) {
    emit(Op::Drop, in.item);
    disown(in.item);
  }
}

// Of a function that says true or false.
void Compiler::callback_answer(uint16_t link, const CallbackRegisters& in, Label& leave) {
  Label skip;
  own(in.call);
  jump3(skip, Op::JumpAnswer, in.call, link, in.loop.answer == Answer::All ? kSense : 0);
  disown(in.call);
  switch (in.loop.answer) {
    case Answer::Keep: emit(Op::AppendItem, in.result, in.item, 0, kConsumeB); break;
    case Answer::Count: emit(Op::AddI, in.result, in.result, 1); break;
    case Answer::Find:
      emit(Op::Move, in.result, in.item);
      jump(leave, Op::Jump);
      break;
    default:
      emit(Op::LoadBool, in.result, in.loop.answer == Answer::Any);
      jump(leave, Op::Jump);
  }
  bind(skip);
}

}  // namespace posset::bytecode
