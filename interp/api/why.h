// Why a part of a function is in no higher tier, for explanations and traces.
#pragma once

#include <string>
#include <vector>

#include "interp/runtime/context.h"

namespace posset::api {

// A function's body (loop < 0) or one of its loops. The code of either has the loops inside it, so that one gets
// code of its own only when it becomes hot while all around it is walked.
struct Part {
  const interp::Unit& unit;
  int loop;

  const interp::Counted& counted() const { return unit.counted(loop); }
  // The tier in which it runs when what is around it is next entered.
  int tier() const;
  bool within() const;  // it runs there as part of the code around it
};

// Visits (level, reason, text) for each tier that the part has no code for: those above its own, and those that
// refused a loop by itself. Of the tiers that are not built the first stands for all.
template <class Visit>
void for_each_missing_tier(const interp::RuntimeState& runtime, const Part& part, Visit&& visit);

// "not hot yet: 2 executions are needed"
std::string why_not_text(const interp::RuntimeState& runtime, const Part& part, int level);
interp::Reason why_not(const interp::RuntimeState& runtime, const interp::Counted& counted, int level);

// A way out of native code, as the trace has it.
struct ToldExit {
  std::string at, expected, found;
  uint32_t times = 1;
};
// Equal ones are one.
void add_exit(std::vector<ToldExit>& exits, ToldExit one);
// Of a part, by the events that are kept; none when nobody traces.
std::vector<ToldExit> exits_of(const interp::RuntimeState& runtime, const Part& part);
// "left native code 3 times in f (a.posset:3:5): expected int, found float"
std::string exit_text(const ToldExit& exit);

template <class Visit>
void for_each_missing_tier(const interp::RuntimeState& runtime, const Part& part, Visit&& visit) {
  const int tier = part.tier();
  for (int level = part.counted().ready.load(std::memory_order_acquire) + 1; level < interp::kTiers; ++level) {
    const bool refused = part.counted().status[level].load(std::memory_order_acquire) == interp::TierStatus::Failed;
    if (level <= tier && !refused) continue;
    const interp::Reason reason = why_not(runtime, part.counted(), level);
    visit(level, reason, why_not_text(runtime, part, level));
    if (reason == interp::Reason::not_built) break;
  }
}

}  // namespace posset::api
