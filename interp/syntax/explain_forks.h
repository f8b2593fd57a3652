// What explanations tell of fork points: those there are, and why there are not more.
#pragma once

#include <string>
#include <vector>

#include "interp/syntax/reasons.h"

namespace posset::syntax {

struct FunctionDecl;

struct ForkLine {
  Reason reason = Reason::none;  // none: it forks
  std::string text;
};
// One line for each point of a function and for each pair that is none, then for each comprehension and call of a built-in whose
// elements may be divided, or not. `forks`: there are workers
// to take what is left for them.
std::vector<ForkLine> explain_forks(const FunctionDecl& function, bool forks);

}  // namespace posset::syntax
