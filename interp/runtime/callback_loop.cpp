// See callback_loop.h.
#include "interp/runtime/callback_loop.h"

#include <string>

#include "interp/runtime/builtins.h"
#include "interp/runtime/call.h"
#include "interp/syntax/ast.h"

namespace posset::interp {

using syntax::kCallbackFunction;
using syntax::kCallbackResult;
using syntax::kCallbackSlots;

namespace {

// In the order of their rows in intrinsics.def.
constexpr CallbackLoop kCallbackLoops[] = {
    {Intrinsic::Map, 2, Answer::Append, false, true},  {Intrinsic::Tabulate, 2, Answer::Append, true, true},
    {Intrinsic::Filter, 2, Answer::Keep, false, true}, {Intrinsic::Fold, 3, Answer::Fold},
    {Intrinsic::Each, 2, Answer::Ignore},              {Intrinsic::Find, 2, Answer::Find},
    {Intrinsic::Any, 2, Answer::Any},                  {Intrinsic::All, 2, Answer::All},
    {Intrinsic::Count, 2, Answer::Count},
};

constexpr size_t place_of(Intrinsic intrinsic) {
  return static_cast<size_t>(intrinsic) - static_cast<size_t>(Intrinsic::Map);
}

constexpr bool in_order() {
  for (size_t i = 0; i < std::size(kCallbackLoops); ++i) {
    if (place_of(kCallbackLoops[i].intrinsic) != i) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

const CallbackLoop* callback_loop(Intrinsic intrinsic) {
  const size_t place = place_of(intrinsic);
  return place < std::size(kCallbackLoops) ? &kCallbackLoops[place] : nullptr;
}

bool callback_loop_fits(uint32_t parameters, bool counts, bool shares, Borrowed over, Borrowed function) {
  if (function.is(Tag::Fn)) {
    const Function& f = *function.as<Closure>()->function;
    if (f.parameter_count != parameters || f.has_rest || f.inout_mask != 0 || (shares && f.splits)) return false;
  } else if (!function.is(Tag::Builtin)) {
    return false;
  }
  if (counts) return over.is_int() && over.as_int() >= 0;
  return over.is_list() || over.is_range() || over.is_map() || over.is_string();
}

CallbackRun::CallbackRun(Context& context, const CallbackLoop& loop, const char* name, Borrowed* slots)
    : context_(context), loop_(loop), name_(name), slots_(slots) {}

Borrowed& CallbackRun::result() { return slots_[kCallbackResult]; }
Value CallbackRun::take_result() { return Value::adopt(std::exchange(result(), Borrowed::nil())); }

bool CallbackRun::begin() {
  if (loop_.counts) {
    const Borrowed count = std::exchange(slots_[0], Borrowed::nil());
    if (!begin_counted(context_, slots_, Borrowed::integer(0), count, false)) return false;
  } else if (!begin_iteration(context_, slots_)) {
    return false;
  }
  switch (loop_.answer) {
    case Answer::Append:
    case Answer::Keep: {
      // Numbers are expected; the first element says what they are.
      const uint64_t expected = loop_.answer == Answer::Append ? items_expected(slots_) : 0;
      List* list = new_list_expecting(context_, Packing::Int, expected);
      if (list) result() = Borrowed::heap(Tag::List, list);
      return or_memory_limit(context_, list != nullptr);
    }
    case Answer::Count: result() = Borrowed::integer(0); break;
    case Answer::Any:
    case Answer::All: result() = Borrowed::boolean(loop_.answer == Answer::All); break;
    case Answer::Fold:
    case Answer::Ignore:
    case Answer::Find: break;
  }
  return true;
}

Step CallbackRun::round() {
  constexpr uint32_t kRoundsPerLook = 4096;  // a slice of steps is many times as many, and items may be new pairs
  Value item;
  const Step step = next_item(context_, slots_, item);
  if (step != Step::Item) return step;
  if (!slots_[kCallbackFunction].is(Tag::Fn) && !context_.charge_one()) return Step::Failed;
  if (++rounds_ % kRoundsPerLook == 0 && context_.must_stop() && !context_.poll()) return Step::Failed;
  Callback f(context_, slots_[kCallbackFunction]);
  switch (loop_.answer) {
    case Answer::Append: {
      Value made = f(std::move(item));
      return !made.failed() && append(std::move(made)) ? Step::Item : Step::Failed;
    }
    case Answer::Fold: {
      Value state = f(take_result(), std::move(item));
      if (state.failed()) return Step::Failed;
      result() = state.take();
      return Step::Item;
    }
    case Answer::Ignore: return f(std::move(item)).failed() ? Step::Failed : Step::Item;
    default: return tested(std::move(item));
  }
}

// Of a function that says true or false.
Step CallbackRun::tested(Value item) {
  Callback f(context_, slots_[kCallbackFunction]);
  Value said = f(loop_.keeps_item() ? Value::copy(item) : std::move(item));
  if (said.failed()) return Step::Failed;
  if (!said->is_bool()) {
    expect_bool(context_, said, ("the result of " + std::string(name_) + "'s function").c_str());
    return Step::Failed;
  }
  const bool yes = said->as_bool();
  if (yes == (loop_.answer == Answer::All)) return Step::Item;
  switch (loop_.answer) {
    case Answer::Keep: return append(std::move(item)) ? Step::Item : Step::Failed;
    case Answer::Count: result() = Borrowed::integer(result().as_int() + 1); return Step::Item;
    case Answer::Find: result() = item.take(); return Step::End;
    default: result() = Borrowed::boolean(yes); return Step::End;
  }
}

bool CallbackRun::append(Value v) { return or_memory_limit(context_, list_push(context_.heap, result(), std::move(v))); }

Value run_callbacks(NativeCall& call) {
  const CallbackLoop& loop = *callback_loop(call.function->intrinsic);
  struct Slots {
    Borrowed all[kCallbackSlots];
    ~Slots() {
      release(all[0]);
      release(all[kCallbackResult]);
    }
  } slots{{Value::copy(call[0]).take(), Borrowed::nil(), Borrowed::nil(), call[loop.arguments - 1u],
           loop.answer == Answer::Fold ? call.take(1).take() : Borrowed::nil()}};
  CallbackRun run(call.context, loop, call.function->name, slots.all);
  if (!run.begin()) return Value::failure();
  Step step;
  while ((step = run.round()) == Step::Item) continue;
  if (step == Step::Failed) return Value::failure();
  return Value::adopt(std::exchange(slots.all[kCallbackResult], Borrowed::nil()));
}

}  // namespace posset::interp
