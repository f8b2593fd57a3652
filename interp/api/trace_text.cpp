// A trace as lines of text, one for each event, for people and for `grep`:
//
//   # posset trace 1, posset 0.1.0
//   +0.123ms main compile_requested unit=area (prices.posset:3:1) loop=body tier=1 job=4
//   # tier 1: 1 compiled, median 35us, longest 35us
//   # 0 events dropped
//
// Whole sources are left out.
#include <cstdio>

#include "interp/api/trace_parts.h"
#include "interp/api/trace_summary.h"

#include <posset/base.h>
#include <posset/trace.h>

namespace posset::api {

std::string trace_text(const TraceView& view) {
  std::string out = "# posset trace " + std::to_string(POSSET_TRACE_VERSION) + ", posset " + posset_version() + "\n";
  for (const sched::TraceEvent& event : view.snapshot().events) {
    const sched::TraceEventInfo* row = view.row(event);
    if (!row) continue;
    char time[32];
    std::snprintf(time, sizeof time, "+%.3fms ", static_cast<double>(event.time_ns) / 1e6);
    out += time;
    for (char c : view.thread(event)) out += c == ' ' ? '-' : c;
    out += ' ';
    out += row->name;
    out += ' ';
    out += fields_text(view, *row, event);
    out += '\n';
  }
  for (const ForkSite& each : fork_sites(view.snapshot().events)) out += "# " + site_text(view, each) + "\n";
  for (const TierSummary& each : summary_of_tiers(view)) out += "# " + tier_text(each) + "\n";
  return out + "# " + std::to_string(view.snapshot().dropped) + " events dropped\n";
}

}  // namespace posset::api
