// How deep recursions in optimised code leave fork records (forks.h). Of a recursion the outermost calls stand for nearly
// all the work, and most calls are none of these. So there are two functions (jit/translate_recursion.cpp): one leaves
// records, and runs where the call is not nested too deep; the other leaves none and costs what it would cost without forks.
//
// Where that is the border is looked at after every used quantum. What has been left at the beginning stays; if nobody waits,
// no call need leave more. If somebody waits and nothing is there that can be given, calls that are made from there on leave
// records again, on twice as many levels each time. Where that does not help either, because what is there is too small, it
// is tried more and more rarely. The stack of one thing that runs; its thread only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace posset::interp {

struct Closure;

// What native code that calls itself keeps in one place for all its calls; it may have more behind that. The room of a
// call is how deep calls may still be nested in it: it and the depth are `top` together. Those with less than `fork_room`
// leave no records. A call that reaches below `lowest` on the native stack is not made before more has been looked at: that
// is how far the stack reaches, or above it all where calls are to ask anew which function to call.
struct Activation {
  void* host;
  Closure* closure;
  int64_t top;
  int64_t lowest;
  int64_t stack_limit;
  int64_t fork_room;  // this and the next only where it leaves any
  Activation* outer;
};

class ForkDepth {
 public:
  static constexpr uint32_t kFirstLevels = 16, kMostLevels = 1U << 30, kLongestWait = 64;
  static constexpr uint32_t kQuantaAsked = 3;  // a record can be given when it has outlasted one

  // Code reads and writes these. Calls nested deeper than `limit` leave none; `innermost`: of the activations that may.
  uint32_t limit = 0;
  Activation* innermost = nullptr;

  // Something begins to run so deep.
  void begin(uint32_t depth) {
    levels_ = kFirstLevels;
    wait_ = waited_ = asked_ = 0;
    put(depth + levels_);
  }
  // After a used quantum: somebody waits, and has been given something;
  void given() { settle(limit); }
  // nobody waits;
  void unwanted() { settle(0); }
  // or somebody waits, and there is nothing to give.
  void wanted(uint32_t depth) {
    if (asked_ == 0 && waited_ >= wait_) {
      levels_ = std::min(2 * levels_, kMostLevels);
      asked_ = 1;
      put(depth + levels_);
    } else if (asked_ != 0 && asked_ < kQuantaAsked) {
      ++asked_;
    } else {
      if (asked_ != 0) wait_ = std::clamp(2 * wait_, 1U, kLongestWait);
      waited_ = asked_ != 0 ? 1 : waited_ + 1;
      asked_ = 0;
      put(0);
    }
  }

 private:
  void settle(uint32_t deepest) {
    wait_ = waited_ = 0;
    if (deepest == limit && asked_ == 0) return;
    asked_ = 0;
    put(deepest);
  }
  void put(uint32_t deepest) {
    limit = deepest;
    for (Activation* each = innermost; each; each = each->outer) {
      each->fork_room = each->top - limit;
      each->lowest = asked_ != 0 ? std::numeric_limits<int64_t>::max() : each->stack_limit;
    }
  }

  uint32_t levels_ = 0;
  uint32_t wait_ = 0, waited_ = 0;  // quanta that are let pass before it is tried again
  uint32_t asked_ = 0;              // for so many quanta calls have looked which function to call
};

}  // namespace posset::interp
