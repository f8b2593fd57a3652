// See callback_loop.h.
#include "interp/runtime/callback_loop.h"

#include <cassert>
#include <string>

#include "interp/runtime/builtins.h"
#include "interp/runtime/call.h"
#include "interp/runtime/halves.h"
#include "interp/runtime/posse.h"
#include "interp/syntax/ast.h"
#include "sched/posse/crew.h"

namespace posset::interp {

using syntax::kCallbackBegun;
using syntax::kCallbackFunction;
using syntax::kCallbackResult;
using syntax::kCallbackSlots;

namespace {

// In the order of their rows in intrinsics.def.
constexpr CallbackLoop kCallbackLoops[] = {
    {Intrinsic::Map, 2, Answer::Append, false, true},  {Intrinsic::Tabulate, 2, Answer::Append, true, true},
    {Intrinsic::Filter, 2, Answer::Keep, false, true}, {Intrinsic::Fold, 3, Answer::Fold},
    {Intrinsic::Each, 2, Answer::Ignore},              {Intrinsic::Find, 2, Answer::Find, false, true},
    {Intrinsic::Any, 2, Answer::Any, false, true},     {Intrinsic::All, 2, Answer::All, false, true},
    {Intrinsic::Count, 2, Answer::Count, false, true}, {Intrinsic::Reduce, 2, Answer::Fold, false, false, true},
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

bool callback_loop_fits(CallbackForm form, Borrowed over, Borrowed function) {
  if (function.is(Tag::Fn)) {
    const Function& f = *function.as<Closure>()->function;
    if (f.parameter_count != form.parameters || f.has_rest || f.inout_mask != 0 || (form.shares && f.splits)) return false;
  } else if (!function.is(Tag::Builtin)) {
    return false;
  }
  if (form.counts) return over.is_int() && over.as_int() >= 0;
  if (form.from_first) return over.is_list() && over.as<List>()->size - 1 < kReduceLeaf;
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
  if (loop_.from_first) {
    Value first;
    if (next_item(context_, slots_, first) != Step::Item) return false;
    result() = first.take();
  }
  return begin_result(items_expected(slots_));
}

bool CallbackRun::begin_result(uint64_t items) {
  switch (loop_.answer) {
    case Answer::Append:
    case Answer::Keep: {
      // Numbers are expected; the first element says what they are.
      List* list = new_list_expecting(context_, Packing::Int, loop_.answer == Answer::Append ? items : 0);
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

namespace {

struct Slots {
  Borrowed all[kCallbackSlots];
  ~Slots() {
    release(all[0]);
    release(all[kCallbackResult]);
  }
  Value take_result() { return Value::adopt(std::exchange(all[kCallbackResult], Borrowed::nil())); }
};

// What is left of a loop over a list or range, or of one that counts, done in halves (halves.h): a run for each executor, which
// goes from place to place.
struct CallbackWork {
  class Out;
  const CallbackLoop& loop;
  const char* name;
  const Borrowed* slots;  // of the loop
  const int64_t first;    // its cursor
  TracePoint place;

  Borrowed callee() const { return slots[kCallbackFunction]; }
  bool counts_down() const { return slots[0].is_bool(); }
  bool share(Sharing& sharing) const { return sharing.add(callee()) && sharing.add(slots[0]); }
};

class CallbackWork::Out {
 public:
  Out(Context& context, const CallbackWork& work, uint64_t elements)
      : context_(context),
        work_(work),
        own_{{Value::copy(work.slots[0]).take(), Borrowed::integer(0), work.slots[2], work.callee()}},
        slots_(own_.all),
        run_(context, work.loop, work.name, slots_),
        ok_(run_.begin_result(elements)) {}
  // Of the loop itself.
  Out(Context& context, const CallbackWork& work, Borrowed* slots)
      : context_(context),
        work_(work),
        own_{},
        slots_(slots),
        run_(context, work.loop, work.name, slots),
        ok_(true) {}

  bool ok() const { return ok_; }
  Step piece(uint64_t from, uint64_t to) {
    slots_[1] = Borrowed::integer(work_.counts_down() ? work_.first - static_cast<int64_t>(from) : work_.first + static_cast<int64_t>(from));
    Step step = Step::Item;
    for (uint64_t i = from; i < to && step == Step::Item; ++i) step = run_.round();
    return step;
  }
  Step add(Value part, uint64_t, uint64_t);
  // What was found may be nil.
  Value part(Step step) {
    if (work_.loop.answer != Answer::Find || step != Step::End) return own_.take_result();
    List* const list = new_list_of(context_.heap, &slots_[kCallbackResult], 1);
    if (!list) return context_.raise_memory_limit();
    static_cast<void>(own_.take_result().take());
    return list_value(list);
  }

 private:
  Context& context_;
  const CallbackWork& work_;
  Slots own_;
  Borrowed* const slots_;
  CallbackRun run_;
  const bool ok_;
};

Step CallbackWork::Out::add(Value part, uint64_t, uint64_t) {
  Borrowed& result = slots_[kCallbackResult];
  switch (work_.loop.answer) {
    case Answer::Append:
    case Answer::Keep:
      if (part->as<List>()->size == 0) return Step::Item;
      return or_memory_limit(context_, list_append(context_.heap, result, part->as<List>())) ? Step::Item : Step::Failed;
    case Answer::Count: result = Borrowed::integer(result.as_int() + part->as_int()); return Step::Item;
    case Answer::Any:
    case Answer::All:
      if (part->as_bool() == (work_.loop.answer == Answer::All)) return Step::Item;
      result = part;
      return Step::End;
    case Answer::Find:
      if (part->is_nil()) return Step::Item;
      result = list_copy(part->as<List>(), 0).take();
      return Step::End;
    case Answer::Fold:
    case Answer::Ignore: break;
  }
  assert(!"such a loop is not split");
  return Step::Failed;
}

bool is_halved(const NativeCall& call, const CallbackLoop& loop) {
  if (!loop.splits) return false;
  return loop.counts ? may_split(call.context, call[1]) : has_halves(call.context, call[0], call[1]);
}

bool is_counted(Borrowed over) { return over.is_nil() || over.is_bool(); }

// Of a list or range, or of what is counted.
int64_t end_of(const Borrowed* slots) {
  if (is_counted(slots[0])) return slots[2].as_int();
  return static_cast<int64_t>(slots[0].is_list() ? slots[0].as<List>()->size : slots[0].as<Range>()->size());
}

// False: raised.
bool rest_in_halves(Context& context, const CallbackLoop& loop, const char* name, Borrowed* slots) {
  const int64_t first = slots[1].as_int(), end = end_of(slots);
  const bool down = slots[0].is_bool();
  if (down ? first <= end : first >= end) return true;
  const CallbackWork work{loop, name, slots, first, context.take_call_place()};
  CallbackWork::Out out(context, work, slots);
  const uint64_t left = static_cast<uint64_t>(down ? first : end) - static_cast<uint64_t>(down ? end : first);
  if (in_halves(context, work, out, left) == Step::Failed) return false;
  slots[1] = Borrowed::integer(end);
  return true;
}

}  // namespace

Value map_in_halves(Context& context, const char* name, Borrowed items, Borrowed callee) {
  const CallbackLoop& loop = *callback_loop(Intrinsic::Map);
  Slots slots{{Value::copy(items).take(), Borrowed::nil(), Borrowed::nil(), callee}};
  const bool ok = CallbackRun(context, loop, name, slots.all).begin() && rest_in_halves(context, loop, name, slots.all);
  return ok ? slots.take_result() : Value::failure();
}

Value run_callbacks(NativeCall& call) {
  const CallbackLoop& loop = *callback_loop(call.function->intrinsic);
  const bool halved = is_halved(call, loop);
  Slots slots{{Value::copy(call[0]).take(), Borrowed::nil(), Borrowed::nil(), call[loop.arguments - 1u],
               loop.takes_start() ? call.take(1).take() : Borrowed::nil()}};
  CallbackRun run(call.context, loop, call.function->name, slots.all);
  if (!run.begin()) return Value::failure();
  Step step = halved && !rest_in_halves(call.context, loop, call.function->name, slots.all) ? Step::Failed : Step::Item;
  while (!halved && (step = run.round()) == Step::Item) continue;
  return step == Step::Failed ? Value::failure() : slots.take_result();
}

// ---- in the middle of a loop ----

namespace {

constexpr int64_t kLongNs = 1000;

// How many rounds there have been, where the slots tell; else 0.
int64_t rounds_done(const CallbackLoop& loop, const Borrowed* slots) {
  if (loop.answer == Answer::Append) return static_cast<int64_t>(slots[kCallbackResult].as<List>()->size);
  return is_counted(slots[0]) ? 0 : slots[1].as_int();
}

// For so long at least it has run, as quanta tell.
int64_t elapsed_ns(const Context& context, const Borrowed* slots) {
  const int64_t used = context.quanta - slots[kCallbackBegun].as_int() - 1;
  return used * posse_quantum_ns(context.runtime.options);
}

// A function may take long, and yet be done at once: handing over elements would take longer than doing them in the loop. Where
// quanta and rounds do not show how long one takes when somebody wants the rest for the first time, that is noted, and a round
// later it is known.
bool takes_long(Context& context, const CallbackLoop& loop, Borrowed* slots) {
  if (context.runtime.options.exit_stress != 0) return true;
  Borrowed& begun = slots[kCallbackBegun];
  const bool first = begun.as_int() >= 0;
  if (const int64_t rounds = rounds_done(loop, slots); first && rounds != 0 && elapsed_ns(context, slots) / rounds >= kLongNs) return true;
  const int64_t now_ns = context.runtime.clock.now_ns();
  const bool is_long = !first && now_ns - (begun.as_int() + INT64_MAX) >= kLongNs;
  begun = Borrowed::integer(first ? now_ns - INT64_MAX : INT64_MAX);
  return is_long;
}

}  // namespace

bool divide_callbacks(Context& context, const NativeFunction& builtin, Borrowed* slots) {
  const CallbackLoop& loop = *callback_loop(builtin.intrinsic);
  const bool fits = (is_counted(slots[0]) || slots[0].is_list() || slots[0].is(Tag::Range)) && may_split(context, slots[kCallbackFunction]);
  const bool is_long = fits && takes_long(context, loop, slots);
  if (!fits || is_long) slots[kCallbackBegun] = Borrowed::integer(INT64_MAX);
  return !is_long || rest_in_halves(context, loop, builtin.name, slots);
}

}  // namespace posset::interp
