// How deep recursions in optimised code leave fork records (forks.h). Of a recursion the outermost calls stand for nearly
// all the work, and most calls are none of these. So there are two functions (jit/translate_recursion.cpp): one leaves
// records, and runs where the call is not nested too deep; the other leaves none and costs what it would cost without forks.
//
// Where the border is, is looked at after every used quantum. As a rule it is some levels below where the recursion began.
// Recursions that are over within a quantum have nothing that others could be given: they leave nothing, until one lasts
// longer. If somebody waits and nothing is there that can be given, then for some quanta calls of the function that leaves none
// are made as from elsewhere, where it is chosen which one to call: first down to the usual levels, which may not have been left; then to more levels from where it
// runs, twice as many each time. Where that does not help, because what is there is too small, it is tried more and more rarely.
//
// Where a call makes many others, or a recursion is not deep, these levels would be most of its calls. So calls that leave records are
// counted, and when there have been many in a quantum (kCalls), no more are to be nested so deep and half as many may follow: fewer
// levels leave records then, also in the next quanta, until few calls do.
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
  static constexpr int32_t kCalls = 2048;  // each takes some nanoseconds more than it would, so a hundredth of a quantum of 1 ms
  static constexpr uint32_t kLevelsLess = 2;

  // Code reads and writes these. Calls nested deeper than `limit` leave none; `innermost`: of the activations that may. So many may
  // yet leave some: below zero the code says so (use_up). A round of a loop that leaves some counts as a call.
  uint32_t limit = 0;
  Activation* innermost = nullptr;
  int32_t calls = kCalls;

  // Something begins to run so deep.
  void begin(uint32_t depth) {
    forget_tries();
    brief_ = 0;
    most_levels_ = kLevels;
    calls = renewed_ = kCalls;
    put(depth + kLevels);
  }

  // As many calls of a recursion have left records as may, the last of them so deep. Where deeper ones are to leave none already, this
  // is a loop's, and would be again and again.
  void use_up(uint32_t depth) {
    const uint32_t deepest = depth - std::min(depth, kLevelsLess);
    renewed_ /= 2;
    calls = deepest < limit ? renewed_ : kCalls;
    if (deepest >= limit) return;
    const Activation* const outermost = this->outermost();
    const uint32_t first = outermost ? static_cast<uint32_t>(outermost->depth) : 0;
    most_levels_ = std::min(most_levels_, deepest - std::min(deepest, first));
    put(deepest);
  }

  enum class Need : uint8_t {
    None,   // nobody waits
    Given,  // somebody does, and has been given something
    Unmet,  // there was nothing to give
  };
  // After a used quantum.
  void end_quantum(uint32_t depth, Need need) {
    const Activation* outermost = note_outermost();
    renew_calls();
    if (!outermost) return forget_tries();
    const uint32_t usual = brief_ < kFewBrief ? static_cast<uint32_t>(outermost->depth) + most_levels_ : 0;
    if (need == Need::Unmet) return try_more(depth, usual);
    forget_tries(need == Need::Given ? levels_ : 0);
    put(need == Need::Given ? std::max(limit, usual) : usual);
  }

 private:
  // Null: no recursion runs.
  Activation* outermost() const {
    Activation* found = innermost;
    while (found && found->outer) found = found->outer;
    return found;
  }

  // One that began in this quantum is brief so far.
  Activation* note_outermost() {
    Activation* const outermost = this->outermost();
    if (!outermost) return nullptr;
    brief_ = outermost->outlasts ? 0 : std::min(brief_ + 1, kFewBrief);
    outermost->outlasts = 1;
    return outermost;
  }

  // Where few calls left records, those of the next level may, too: it has some times the calls of the one above it.
  void renew_calls() {
    constexpr int32_t kFew = kCalls / 8;
    if (renewed_ == kCalls && calls >= kCalls - kFew && most_levels_ < kLevels) ++most_levels_;
    calls = renewed_ = kCalls;
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

  uint32_t most_levels_ = kLevels;  // from where the recursion began that leave records; fewer where these were too many calls
  int32_t renewed_ = kCalls;        // what `calls` was last set to; less: they have been used up in this quantum
  uint32_t levels_ = 0;             // were wanted from where it ran; 0: none have been
  uint32_t wait_ = 0, waited_ = 0;  // quanta that are let pass before it is tried again
  uint32_t asked_ = 0;              // for so many quanta calls have looked which function to call
  uint32_t brief_ = 0;              // quanta at whose ends another recursion ran than at the one before
};

}  // namespace posset::interp
