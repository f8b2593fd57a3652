// When units are compiled: the counters and thresholds of architecture.md ("Units and tiers"). A request
// is made when a count reaches a tier's threshold; one requester wins, everybody else goes on where they
// are. Compiling happens in the requesting thread as long as there is only bytecode, which takes
// microseconds.
#pragma once

#include "interp/runtime/context.h"

namespace posset::interp {

// Called at every execution (function entry, loop iteration) while a higher tier than the running one may
// be wanted: counts, and asks for compilation when due. Gives the highest tier that is ready.
int count_and_promote(RuntimeState& runtime, const syntax::FunctionDecl& decl, Counted& counted, int loop);

// The highest tier that is ready, counting and promoting while that can still change anything.
inline int ready_tier(RuntimeState& runtime, const syntax::FunctionDecl& decl, Counted& counted, int loop) {
  if (counted.settled.load(std::memory_order_acquire)) return counted.ready.load(std::memory_order_acquire);
  return count_and_promote(runtime, decl, counted, loop);
}

}  // namespace posset::interp
