// What a trace tells of pure parts that others were given, by the fork point where they were left: how much work there was between
// handing a part over and taking it back, how long its longest chain is, and how long it took. Read off the events that are left
// in the ring: a part of which some are gone is told as far as it is known.
//
// Work is time in which executors computed, on both sides of the fork point; the span is the longer of the two sides, where each in
// turn is as long as the longest way through what was handed over in it. Work over span is how much faster the place could be with
// as many executors as there could be parts, of those that were handed over; work over the time that went by is how much
// faster it was. Waiting is no work, and neither is what is computed on top of who waits, which belongs to another place.
//
// A place is within itself as a rule, in recursions: then only the outermost is told of. Which executor computed what shows
// in the timeline.
#pragma once

#include <string>
#include <vector>

#include "interp/api/trace_view.h"

namespace posset::api {

struct ForkSite {
  int64_t place = 0;          // text
  size_t taken = 0;           // all that were handed over there
  size_t again = 0;           // of those, what was computed once more in its place
  int64_t work_ns = 0, span_ns = 0, elapsed_ns = 0;  // of the outermost that were taken back; 0: none was
};

// Those with most work first.
std::vector<ForkSite> fork_sites(const std::vector<sched::TraceEvent>& events);

// "parts at tree.posset:9:48: 12 taken, 1 again, work 1.3s, span 700ms: 1.86 x possible, 1.70 x achieved".
std::string site_text(const TraceView& view, const ForkSite& site);

// All of them, as a JSON list of objects; times in us.
void append_fork_sites(std::string& out, const TraceView& view);

}  // namespace posset::api
