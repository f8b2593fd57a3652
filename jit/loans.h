// Loans: what a register has of a container for so short a time that nobody can tell whether the container still has
// it too. Three kinds, each a run of bytecode from the instruction that begins it to the one that ends it:
//
//   taken     TakeIndex, TakeField ... the same place given the register back, as `with` makes them
//   read      Index, Field         ... Drop of the register, or Field that consumes it
//   argument  Copy of a variable, or Move of a parameter that is lent itself
//                                  ... a call that is inlined, or of the function itself, and only reads what it is given
//
// Of a value taken out the container keeps its word instead of nil, and of a value read or copied the count is not raised; the
// end does nothing. What is lent to a call is the callee's until that returns: it releases nothing then, and counts the value
// where it moves it on (Kinds::only_reads). In between there are only instructions that cannot see the container change or its
// element's count: no calls, no rounds of a loop, nothing that touches the variable it stands in, and nothing that exec does.
// What a function lends to itself is settled for all of its calls (settle_loans_to_itself): its callee never owns that, and who calls
// gives up what it has made for it when the call is over, as does who enters it from elsewhere.
// Where such code exits to bytecode, or raises, it first makes good what the beginning has left out
// (Translator::settle_loans, bytecode/frame_map.h), so that no other tier knows of loans.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "jit/kinds.h"

namespace posset::jit {

struct Loan {
  uint32_t first = 0;     // the instruction that begins it
  uint32_t end_begin = 0; // the instructions that end it, from
  uint32_t end = 0;       // to
  uint16_t reg = 0;       // what has the value meanwhile
  bool is_argument = false;
};

// Begun by the instruction, with what is known after it.
std::optional<Loan> find_loan(const Kinds& kinds, uint32_t pc, const State& after);

// Settles which arguments a function lends to itself, for all of those that call each other. What it lends lives until the call is
// over. So that nothing lives longer than in bytecode, and nothing is copied that was unique there, such a parameter must be held by the
// frame to its end, or be handed on to another such call.
void settle_loans_to_itself(std::span<const Kinds* const> versions);

}  // namespace posset::jit
