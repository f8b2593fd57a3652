// Built-ins that do no more than call a function for every element, as loops: map, filter, fold and their kin. One table
// says what becomes of the function's answers, and one class does a round, so that the built-ins themselves and the walker,
// whose loop goes on in another tier once there is code, mean the same. Bytecode repeats it as instructions
// (bytecode/compile_callback.cpp), behind `callback_loop_fits`.
//
// Where others may do elements, a loop of a function that is known to be pure and to take long looks in each round whether anybody
// wants to (rounds.h). Of one that is known only at run time the built-in does it in halves from the beginning.
//
// reduce is one where it has no more elements than go from left to right (builtins_reduce.cpp). sort_by, group_by and flat_map are
// none: they visit their elements in an order, or charge for them in a way, that no loop over them has.
#pragma once

#include <cstdint>

#include "interp/runtime/iterate.h"
#include "interp/runtime/native.h"
#include "interp/runtime/work.h"

namespace posset::interp {

// What becomes of the function's answer.
enum class Answer : uint8_t { Append, Keep, Fold, Ignore, Find, Any, All, Count };

// Whether others may do elements for it; Unknown: that is seen when it is called.
enum class Divided : uint8_t { No, Yes, Unknown };

struct CallbackLoop {
  Intrinsic intrinsic;
  uint8_t arguments;    // of the built-in; the function is the last one
  Answer answer;
  bool counts = false;  // the first argument is how many times
  bool splits = false;  // the built-in lets others do half, of a function that takes long
  bool from_first = false;  // the first item is what the state begins with; of a list of 1 to kReduceLeaf items

  bool takes_start() const { return answer == Answer::Fold && !from_first; }
  uint32_t parameters() const { return answer == Answer::Fold ? 2 : 1; }
  // The item is needed when the function has answered.
  bool keeps_item() const { return answer == Answer::Keep || answer == Answer::Find; }
};

// So many elements go from left to right in reduce, sum and product; more are cut in halves.
constexpr uint64_t kReduceLeaf = 1024;

// Null: that built-in is none.
const CallbackLoop* callback_loop(Intrinsic intrinsic);

// Whether a loop may be entered: over something that `for` takes (or a count), with a built-in, whose call sees to its
// arguments, or a function of the script that takes exactly so many, none of them inout; where the built-in shares calls
// with others (`shares`), not with one whose calls it would. Everything else is for the built-in.
struct CallbackForm {
  uint32_t parameters;
  bool counts, shares, from_first;
};
bool callback_loop_fits(CallbackForm form, Borrowed over, Borrowed function);
// Of a loop that looks in each round whether others want to do the rest, as those of tier 0 do.
inline bool callback_loop_fits(const CallbackLoop& loop, Borrowed over, Borrowed function) {
  return callback_loop_fits({loop.parameters(), loop.counts, false, loop.from_first}, over, function);
}

// One run. Its state is in slots of its owner (kCallbackSlots of interp/syntax/ast.h), so that other code can go on with it
// between two rounds.
class CallbackRun {
 public:
  CallbackRun(Context& context, const CallbackLoop& loop, const char* name, Borrowed* slots);
  // The first slot has what is iterated, or the count; that of the function the function, that of the result a fold's start.
  // False: raised.
  bool begin();
  // Where the iteration has begun, with so many items.
  bool begin_result(uint64_t items);
  // Item: go on. End: the result is there. Failed: raised.
  Step round();

 private:
  Step tested(Value item);
  bool append(Value v);
  Borrowed& result();
  Value take_result();

  Context& context_;
  const CallbackLoop& loop_;
  const char* name_;  // of the built-in
  Borrowed* slots_;
  uint32_t rounds_ = 0;
};

// The built-in itself, for any function and iterable. Takes the fold's start. Others do parts of it where it is worth that.
Value run_callbacks(NativeCall& call);
// In the middle of such a loop with these slots, of a function of the script: others do what is left where that is worth it. What
// is left then is none. False: raised.
bool divide_callbacks(Context& context, const NativeFunction& builtin, Borrowed* slots);
// What `map` gives for a list or range, and a function that may be split, to the built-in of that name.
Value map_in_halves(Context& context, const char* name, Borrowed items, Borrowed callee);

}  // namespace posset::interp
