// See trace_summary.h.
#include "interp/api/trace_summary.h"

#include <algorithm>
#include <map>

namespace posset::api {

namespace {

using interp::TierEvent;

// The fields of compile_finished (trace_events.def).
enum Field : size_t { kTier = 2, kTook = 4, kCached = 6 };

struct Times {
  std::vector<int64_t> compiled;
  size_t out_of_cache = 0;
};

// Of an even number the greater of the two in the middle: a time that was measured.
int64_t median_of(std::vector<int64_t>& times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

TierSummary summed(int64_t tier, Times& times) {
  TierSummary made{tier, times.compiled.size(), times.out_of_cache};
  if (times.compiled.empty()) return made;
  made.longest_ns = *std::max_element(times.compiled.begin(), times.compiled.end());
  made.median_ns = median_of(times.compiled);
  return made;
}

}  // namespace

std::vector<TierSummary> summary_of_tiers(const TraceView& view) {
  std::map<int64_t, Times> by_tier;
  for (const sched::TraceEvent& event : view.snapshot().events) {
    if (static_cast<TierEvent>(event.kind) != TierEvent::compile_finished) continue;
    Times& times = by_tier[event.fields[kTier]];
    if (event.fields[kCached] != 0) {
      ++times.out_of_cache;
    } else {
      times.compiled.push_back(event.fields[kTook]);
    }
  }
  std::vector<TierSummary> made;
  for (auto& [tier, times] : by_tier) made.push_back(summed(tier, times));
  return made;
}

std::string tier_text(const TierSummary& summary) {
  std::string out = "tier " + std::to_string(summary.tier) + ": " +
                    std::to_string(summary.compiled) + " compiled";
  if (summary.compiled != 0) {
    out += ", median " + duration_text(summary.median_ns) + ", longest " +
           duration_text(summary.longest_ns);
  }
  if (summary.out_of_cache != 0)
    out += ", " + std::to_string(summary.out_of_cache) + " out of the cache";
  return out;
}

void append_tiers(std::string& out, const TraceView& view) {
  out += '[';
  for (const TierSummary& each : summary_of_tiers(view)) {
    if (out.back() != '[') out += ',';
    out +=
        "{\"tier\":" + std::to_string(each.tier) + ",\"compiled\":" + std::to_string(each.compiled);
    out += ",\"out_of_cache\":" + std::to_string(each.out_of_cache) +
           ",\"median_ns\":" + std::to_string(each.median_ns);
    out += ",\"longest_ns\":" + std::to_string(each.longest_ns) + ",\"text\":";
    append_json(out, tier_text(each));
    out += '}';
  }
  out += ']';
}

}  // namespace posset::api
