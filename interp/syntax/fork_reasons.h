// What is told of fork points: the closed set of reasons for which there is none, fork_reasons.def,
// and the lines of explanations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace posset::syntax {

struct FunctionDecl;

enum class ForkReason : uint8_t {
  none,
#define FORK_REASON(name, text, page) name,
#include "interp/syntax/fork_reasons.def"
#undef FORK_REASON
};
#define FORK_REASON(name, text, page) +1
constexpr uint8_t kForkReasons = 1
#include "interp/syntax/fork_reasons.def"
    ;
#undef FORK_REASON

const char* name_of(ForkReason reason);  // "fork_trivial"
const char* text_of(ForkReason reason);
const char* page_of(ForkReason reason);

struct ForkLine {
  ForkReason reason = ForkReason::none;  // none: it forks
  std::string text;
};
// One line for each point of a function and for each pair that is none. `forks`: there are workers
// to take what is left for them.
std::vector<ForkLine> explain_forks(const FunctionDecl& function, bool forks);

}  // namespace posset::syntax
