// How deep recursions in optimised code leave fork records (forks.h). Of a recursion the outermost calls stand for nearly
// all the work, and most calls are none of these. So there are two functions (jit/translate_recursion.cpp): one leaves
// records, and runs where the call is not nested too deep; the other leaves none and costs what it would cost without forks.
//
// Where the border is, is looked at after every used quantum. As a rule it is some levels below where the recursion began.
// Recursions that are over within a quantum have nothing that others could be given: they leave nothing, until one lasts
// longer. If somebody waits and nothing is there that can be given, then for some quanta calls of the function that leaves none
// look which one to call, too: first down to the usual levels, which may not have been left; then to more levels from where it
// runs, twice as many each time. Where that does not help, because what is there is too small, it is tried more and more rarely.
//
// Of one thing that runs (Strand), and used by its thread only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace posset::interp {

struct Closure;

// What native code that calls itself keeps in one place for all its calls; it may have more behind that. The room of a
// call is how deep calls may still be nested in it: it and the depth are `top` together. Those with less than `fork_room`
// leave no records. A call that reaches below `lowest` on the native stack is not made before more has been looked at: that
// is how far the stack reaches, or above it all where calls are to look which function to call.
struct Activation {
  void* host;
  Closure* closure;
  int64_t top;
  int64_t lowest;
  int64_t stack_limit;  // this and what follows only where there are two functions
  int64_t fork_room;
  Activation* outer;
  int64_t depth;     // of what has entered it
  int64_t outlasts;  // it was there when a quantum had been used
};

class ForkDepth {
 public:
  static constexpr uint32_t kLevels = 16, kMostLevels = 1U << 30, kLongestWait = 64;
  static constexpr uint32_t kQuantaAsked = 3;  // a record can be given when it has outlasted one
  static constexpr uint32_t kFewBrief = 2;

  // Code reads and writes these. Calls nested deeper than `limit` leave none; `innermost`: of the activations that may.
  uint32_t limit = 0;
  Activation* innermost = nullptr;

  // Something begins to run so deep.
  void begin(uint32_t depth) {
    forget_tries();
    brief_ = 0;
    put(depth + kLevels);
  }

  enum class Need : uint8_t {
    None,   // nobody waits
    Given,  // somebody does, and has been given something
    Unmet,  // there was nothing to give
  };
  // After a used quantum.
  void end_quantum(uint32_t depth, Need need) {
    const Activation* outermost = note_outermost();
    if (!outermost) return forget_tries();
    const uint32_t usual = brief_ < kFewBrief ? static_cast<uint32_t>(outermost->depth) + kLevels : 0;
    if (need == Need::Unmet) return try_more(depth, usual);
    forget_tries(need == Need::Given ? levels_ : 0);
    put(need == Need::Given ? std::max(limit, usual) : usual);
  }

 private:
  // Null: no recursion runs. One that began in this quantum is brief so far.
  Activation* note_outermost() {
    if (!innermost) return nullptr;
    Activation* outermost = innermost;
    while (outermost->outer) outermost = outermost->outer;
    brief_ = outermost->outlasts ? 0 : std::min(brief_ + 1, kFewBrief);
    outermost->outlasts = 1;
    return outermost;
  }

  void try_more(uint32_t depth, uint32_t usual) {
    if (asked_ != 0 && asked_ < kQuantaAsked) {
      ++asked_;
    } else if (asked_ == 0 && waited_ >= wait_) {
      asked_ = 1;
      put(levels_ == 0 && usual != 0 ? usual : depth + std::max(levels_, kLevels));
      levels_ = std::clamp(2 * levels_, kLevels, kMostLevels);
    } else {
      if (asked_ != 0) wait_ = std::clamp(2 * wait_, 1U, kLongestWait), waited_ = 0;
      ++waited_;
      asked_ = 0;
      put(usual);
    }
  }

  void forget_tries(uint32_t levels = 0) {
    levels_ = levels;
    wait_ = waited_ = asked_ = 0;
  }

  void put(uint32_t deepest) {
    limit = deepest;
    for (Activation* each = innermost; each; each = each->outer) {
      each->fork_room = each->top - limit;
      each->lowest = asked_ != 0 ? std::numeric_limits<int64_t>::max() : each->stack_limit;
    }
  }

  uint32_t levels_ = 0;             // were wanted from where it ran; 0: none have been
  uint32_t wait_ = 0, waited_ = 0;  // quanta that are let pass before it is tried again
  uint32_t asked_ = 0;              // for so many quanta calls have looked which function to call
  uint32_t brief_ = 0;              // quanta at whose ends another recursion ran than at the one before
};

}  // namespace posset::interp
