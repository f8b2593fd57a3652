// Fork points: where pure work may be done beside what stands before it.
//
// Of siblings (siblings.h) that are evaluated one after the other, an earlier one, the left
// continuation, and later ones, the right continuations, are pure and worth it. A Fork around the
// left one leaves a record for each of the others; a Merge around each takes its record back.
// Nothing else in the tree changes, and where nobody takes a record the Merge evaluates its body in
// its turn, so sequential meaning is kept by construction.
//
// What holds of every point:
//  - From the Fork to its last Merge nothing has an effect, and control leaves only by an error: provided that
//    what is called without being known is pure, which who takes the record looks up (ForkPoint::given).
//  - The body sets nothing that lies outside it. Its inputs are set before the Fork, and until the
//    Merge they are neither bound nor assigned nor moved out of their slots.
//  - The records of a group are left together and taken back in the order of their numbers, and
//    groups nest: so records are a stack.
//
// What is costly is decided in cost.cpp, what is pure in purity.cpp.
#pragma once

#include <vector>

#include "interp/syntax/purity_facts.h"

namespace posset::syntax {

// Refusals kept of one function.
constexpr size_t kMostRefusals = 16;

// Finds the points of all functions of a module (FunctionDecl::forks, unforked), and with `insert` writes
// them into the trees. After mark_last_uses, before hash_functions.
void find_forks(Module& module, std::vector<Facts> facts, bool insert);

// cost.cpp: FunctionDecl::costly of every function of the module.
void mark_costly(const Module& module, const std::vector<Facts>& facts);

}  // namespace posset::syntax
