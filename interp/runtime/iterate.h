// The one protocol of `for` and comprehensions, over three hidden slots of the frame, so that a loop can
// change tier at its head:
//   hidden[0]  what is iterated, owned (nil for a counted range, true for one that is counted down)
//   hidden[1]  Int cursor: next value (the one before it, counted down), index, byte offset or entry
//   hidden[2]  Int: for a counted range its exclusive end, counted down its last value; else 0, or 1 for the lines of a string.
//              Of a map whose pairs are taken apart: the last pair, owned, or nil
#pragma once

#include "interp/runtime/context.h"

namespace posset::interp {

enum class Step : uint8_t { Item, End, Failed };

// hidden[0] holds the iterable; sets the cursor. Ranges that fit become counted (hidden[0] = nil or true). False:
// "cannot iterate over int", raised. `taken_apart`: nothing keeps an item beyond its round, and hidden[2] is released as well.
bool begin_iteration(Context& context, Borrowed* hidden, bool taken_apart = false);
// `for` over lines(s): hidden[0] holds the string.
bool begin_lines(Context& context, Borrowed* hidden);
// Counted range from two values already evaluated (`a..b` written in the loop head).
bool begin_counted(Context& context, Borrowed* hidden, Borrowed first, Borrowed last, bool inclusive);
// Does not charge steps.
Step next_item(Context& context, Borrowed* hidden, Value& item);

// Runs `visit(Value item)` (false: stop) over anything `for` takes; `visit` charges (work.h). False: raised.
// For built-ins.
template <class Visit>
bool for_each_item(Context& context, Borrowed iterable, Visit&& visit);
// How many items there will be, or UINT64_MAX when not known.
uint64_t item_count(Borrowed iterable);
// How many the iteration has left, as far as that is worth expecting: a text may be gone through by lines, and of what is
// not known little is expected.
uint64_t items_expected(const Borrowed* hidden);

template <class Visit>
bool for_each_item(Context& context, Borrowed iterable, Visit&& visit) {
  constexpr uint32_t kItemsPerLook = 4096;  // a slice of steps is many times as many, and items may be new pairs
  struct Hidden {
    Borrowed all[3];
    ~Hidden() { release(all[0]); }  // also where there is no memory
  } hidden{{iterable, Borrowed::nil(), Borrowed::nil()}};
  retain(iterable);
  bool ok = begin_iteration(context, hidden.all);
  for (uint32_t n = 1; ok; ++n) {
    Value item;
    Step step = next_item(context, hidden.all, item);
    if (step == Step::Failed) ok = false;
    if (step != Step::Item || !visit(std::move(item))) break;
    if (n % kItemsPerLook == 0 && context.must_stop()) ok = context.poll();
  }
  return ok && !context.error_pending();
}

}  // namespace posset::interp
