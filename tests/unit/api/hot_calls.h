// Calls of the host until nothing gets faster any more, and the code of what a call throws.
#pragma once

#include <posset/posset.hpp>

namespace posset::test {

// `calls` at a time. Between rounds every compilation is waited for.
template <class F>
void heat(Runtime& runtime, int rounds, int calls, F&& call) {
  for (int round = 0; round <= rounds; ++round) {
    if (round != 0) posset_runtime_settle(runtime.handle());
    for (int i = 0; i < calls; ++i) call();
  }
}

// POSSET_ERROR_COUNT: nothing.
template <class F>
posset_code code_of(F&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return POSSET_ERROR_COUNT;
}

}  // namespace posset::test
