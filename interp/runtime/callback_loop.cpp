// See callback_loop.h.
#include "interp/runtime/callback_loop.h"

#include <cassert>
#include <string>

#include "interp/runtime/builtins.h"
#include "interp/runtime/call.h"
#include "interp/runtime/halves.h"
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
    {Intrinsic::Each, 2, Answer::Ignore},              {Intrinsic::Find, 2, Answer::Find, false, true},
    {Intrinsic::Any, 2, Answer::Any, false, true},     {Intrinsic::All, 2, Answer::All, false, true},
    {Intrinsic::Count, 2, Answer::Count, false, true},
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

bool CallbackRun::begin(uint64_t most) {
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
      const uint64_t expected = loop_.answer == Answer::Append ? std::min(most, items_expected(slots_)) : 0;
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

namespace {

struct Slots {
  Borrowed all[kCallbackSlots];
  ~Slots() {
    release(all[0]);
    release(all[kCallbackResult]);
  }
  Value take_result() { return Value::adopt(std::exchange(all[kCallbackResult], Borrowed::nil())); }
};

// The elements of a list or range, or numbers from 0, done in halves (halves.h): a run for each executor, which goes from
// place to place.
struct CallbackWork {
  class Out;
  const CallbackLoop& loop;
  const char* name;
  Borrowed items, callee;
  TracePoint place;

  bool share(Sharing& sharing) const { return sharing.add(callee) && sharing.add(items); }
};

class CallbackWork::Out {
 public:
  Out(Context& context, const CallbackWork& work, uint64_t elements)
      : context_(context),
        loop_(work.loop),
        slots_{{Value::copy(work.items).take(), Borrowed::nil(), Borrowed::nil(), work.callee, Borrowed::nil()}},
        run_(context, work.loop, work.name, slots_.all),
        ok_(run_.begin(elements)) {
    if (ok_) first_ = slots_.all[1].as_int();
  }

  bool ok() const { return ok_; }
  Step piece(uint64_t from, uint64_t to) {
    slots_.all[1] = Borrowed::integer(first_ + static_cast<int64_t>(from));
    Step step = Step::Item;
    for (uint64_t i = from; i < to && step == Step::Item; ++i) step = run_.round();
    return step;
  }
  Step add(Value part, uint64_t, uint64_t);
  Value result() { return slots_.take_result(); }
  // What was found may be nil.
  Value part(Step step) {
    if (loop_.answer != Answer::Find || step != Step::End) return result();
    const Borrowed found = slots_.all[kCallbackResult];
    List* const list = new_list_of(context_.heap, &found, 1);
    if (!list) return context_.raise_memory_limit();
    static_cast<void>(result().take());
    return list_value(list);
  }

 private:
  Context& context_;
  const CallbackLoop& loop_;
  Slots slots_;
  CallbackRun run_;
  const bool ok_;
  int64_t first_ = 0;
};

Step CallbackWork::Out::add(Value part, uint64_t, uint64_t) {
  Borrowed& result = slots_.all[kCallbackResult];
  switch (loop_.answer) {
    case Answer::Append:
    case Answer::Keep:
      if (part->as<List>()->size == 0) return Step::Item;
      return or_memory_limit(context_, list_append(context_.heap, result, part->as<List>())) ? Step::Item : Step::Failed;
    case Answer::Count: result = Borrowed::integer(result.as_int() + part->as_int()); return Step::Item;
    case Answer::Any:
    case Answer::All:
      if (part->as_bool() == (loop_.answer == Answer::All)) return Step::Item;
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

Value callbacks_in_halves(Context& context, const CallbackWork& work) {
  const uint64_t elements = work.loop.counts ? static_cast<uint64_t>(work.items.as_int()) : item_count(work.items);
  CallbackWork::Out out(context, work, elements);
  return out.ok() && in_halves(context, work, out, elements) != Step::Failed ? out.result() : Value::failure();
}

}  // namespace

Value map_in_halves(Context& context, const char* name, Borrowed items, Borrowed callee) {
  return callbacks_in_halves(context, {*callback_loop(Intrinsic::Map), name, items, callee, context.take_call_place()});
}

Value run_callbacks(NativeCall& call) {
  const CallbackLoop& loop = *callback_loop(call.function->intrinsic);
  if (is_halved(call, loop)) {
    return callbacks_in_halves(call.context, {loop, call.function->name, call[0], call[1], call.context.take_call_place()});
  }
  Slots slots{{Value::copy(call[0]).take(), Borrowed::nil(), Borrowed::nil(), call[loop.arguments - 1u],
               loop.answer == Answer::Fold ? call.take(1).take() : Borrowed::nil()}};
  CallbackRun run(call.context, loop, call.function->name, slots.all);
  if (!run.begin()) return Value::failure();
  Step step;
  while ((step = run.round()) == Step::Item) continue;
  return step == Step::Failed ? Value::failure() : slots.take_result();
}

}  // namespace posset::interp
