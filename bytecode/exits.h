// What an exit of native code tells: where it was, what the code had taken for granted there and what it found. The
// exit block says little (Expected, a word that costs the running code nothing); the rest is found out afterwards,
// from the instruction, the operands in the rebuilt frame, the inline cache and the profile. Nothing is when nobody
// traces.
#pragma once

#include <cstdint>

#include "bytecode/native.h"

namespace posset::bytecode {

// Kinds are numbers of bits of a Seen mask: a tag, or a list's packing.
struct Expected {
  static constexpr int kBits = 5;
  static constexpr uint32_t kAnything = (1 << kBits) - 1;
  // Of the instruction's three operands, and of what it reads in a container.
  enum Operand : int { A, B, C, Part, kOperands };
  // An exit out of a walk to a place is at its first instruction: how far ahead of it the guard stands.
  static constexpr int kAheadShift = kBits * kOperands;
  static constexpr uint32_t kMostAhead = 255;
  static constexpr int kWhyShift = 28;
  enum class Why : uint32_t {
    Operands,
    New,    // nothing had run there when the code was made
    Entry,  // the code cannot be entered so: a register, see reg(), is not of the kind of Part
    // Behind a call of a function of the module: what it leaves is expected to be of the kind of Part. In the place of
    // A stands the inout argument that is meant, or kAnything for the result.
    Result,
    Choice,  // at a jump behind which both ways have been computed: a sum on the one taken does not overflow
    Captured,  // before a call: what its callee has captured, number A, is of the kind of Part
    Part,      // at a Merge: the part is still to be computed here
    Steps,     // before a call: there are enough steps for all that its callee calls, too, within what the limit leaves
    Raised,    // it is no exit: the instruction has raised an error
    Refused,   // nor that: the step of the call is, and its arguments are still to be given up
  };
  static constexpr uint32_t kMostRegisters = (1 << 2 * kBits) - 1;  // in the place of A and B
  static constexpr uint32_t kLastNumber = kAnything - 1;  // in the place of a kind; and those behind it
  uint32_t word = 0;

  static constexpr uint32_t because(Why why) { return static_cast<uint32_t>(why) << kWhyShift; }
  Why why() const { return static_cast<Why>(word >> kWhyShift); }

  uint32_t kind(Operand operand) const { return word >> (kBits * operand) & kAnything; }
  uint32_t reg() const { return word & kMostRegisters; }
  // Results of calls and parts are no fault of the code behind them: an exit of the callee's has been noted where it was.
  bool is_fault() const { return why() != Why::Result && why() != Why::Part && why() != Why::Steps; }
  bool is_error() const { return why() == Why::Raised || why() == Why::Refused; }
  uint32_t ahead() const { return word >> kAheadShift & kMostAhead; }
};

// The closure that the call at `at` calls; null when it is none.
const interp::Closure* callee_at(const NativeFrame& frame, uint32_t at);

// `frame` stands at instruction `at` and is inlined into as many others as `depth` says.
interp::SideExit tell_exit(const NativeFrame& frame, uint32_t at, uint32_t depth, Expected expected);

}  // namespace posset::bytecode
