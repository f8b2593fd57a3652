// What a trace has to say of compilations as a whole: how many there were for each tier and how
// long they took. Read off the events that are left in the ring; code that came out of the cache on
// disk took no compiling and is told apart.
#pragma once

#include <string>
#include <vector>

#include "interp/api/trace_view.h"

namespace posset::api {

struct TierSummary {
  int64_t tier = 0;
  size_t compiled = 0, out_of_cache = 0;
  int64_t median_ns = 0, longest_ns = 0;  // of those compiled; 0: none
};

// By tier, those alone for which something was compiled or found.
std::vector<TierSummary> summary_of_tiers(const TraceView& view);

// "tier 2: 4 compiled, median 2.16ms, longest 9.00ms, 1 out of the cache".
std::string tier_text(const TierSummary& summary);

// All of them, as a JSON list of objects.
void append_tiers(std::string& out, const TraceView& view);

}  // namespace posset::api
