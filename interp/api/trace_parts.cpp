// See trace_parts.h.
#include "interp/api/trace_parts.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <tuple>

#include "sched/trace_events.h"

namespace posset::api {

namespace {

using interp::TierEvent;
using sched::TraceEvent;

// What happens at a time, in the order in which it does where the times are the same.
enum class Step : uint8_t { WaitEnds, PartEnds, Merged, Taken, PartBegins, WaitBegins };

struct Action {
  int64_t time_ns;
  Step step;
  const TraceEvent* event;
};

// The fields of part_taken, part_computed, part_merged and executor_idle (trace_events.def).
struct PartField {
  enum : size_t { kJob = 0, kPlace = 1, kUsed = 1, kTook = 3, kWaited = 0 };
};

std::vector<Action> actions_of(const std::vector<TraceEvent>& events) {
  std::vector<Action> made;
  for (const TraceEvent& event : events) {
    const int64_t now_ns = event.time_ns;
    if (static_cast<sched::TraceKind>(event.kind) == sched::TraceKind::executor_idle) {
      made.push_back({now_ns - event.fields[PartField::kWaited], Step::WaitBegins, &event});
      made.push_back({now_ns, Step::WaitEnds, &event});
      continue;
    }
    switch (static_cast<TierEvent>(event.kind)) {
      case TierEvent::part_taken: made.push_back({now_ns, Step::Taken, &event}); break;
      case TierEvent::part_merged: made.push_back({now_ns, Step::Merged, &event}); break;
      case TierEvent::part_computed:
        made.push_back({now_ns - event.fields[PartField::kTook], Step::PartBegins, &event});
        made.push_back({now_ns, Step::PartEnds, &event});
        break;
      default: break;
    }
  }
  std::stable_sort(made.begin(), made.end(),
                   [](const Action& a, const Action& b) { return std::tie(a.time_ns, a.step) < std::tie(b.time_ns, b.step); });
  return made;
}

// Something that one thread computes: a part, or all that is no part.
struct Computation {
  int64_t work_ns = 0;  // with what was taken back
  int64_t path_ns = 0;  // the longest way up to here
  Computation* parent = nullptr;
  std::map<int64_t, size_t> open;  // places of parts that have not been taken back

  bool is_within(int64_t place) const {
    for (const Computation* each = this; each; each = each->parent) {
      if (each->open.contains(place)) return true;
    }
    return false;
  }
};

struct GivenPart {
  Computation own;
  int64_t place = 0;
  bool outermost = false, ended = false;
  int64_t taken_ns = 0, work_before_ns = 0, path_before_ns = 0;  // of the parent, when it was taken
};

// What a thread computes, one on top of the other.
struct Line {
  Computation base;
  std::vector<Computation*> stack;
  int64_t since_ns = 0;
  bool waits = false;

  Computation& top() { return stack.empty() ? base : *stack.back(); }
  void go_on_to(int64_t now_ns) {
    const int64_t spent_ns = waits ? 0 : now_ns - since_ns;
    top().work_ns += spent_ns;
    top().path_ns += spent_ns;
    since_ns = now_ns;
  }
};

class Replay {
 public:
  std::map<int64_t, ForkSite> run(const std::vector<Action>& actions) {
    for (const Action& each : actions) {
      Line& line = lines_[each.event->thread];
      line.go_on_to(each.time_ns);
      step(line, each);
    }
    return std::move(sites_);
  }

 private:
  void step(Line& line, const Action& action) {
    const TraceEvent& event = *action.event;
    const int64_t job = event.fields[PartField::kJob];
    switch (action.step) {
      case Step::WaitBegins: line.waits = true; break;
      case Step::WaitEnds: line.waits = false; break;
      case Step::PartBegins:
        if (parts_.contains(job)) line.stack.push_back(&parts_[job].own);
        break;
      case Step::PartEnds: end_part(line, job); break;
      case Step::Taken: take(line, event); break;
      case Step::Merged: merge(line, event); break;
    }
  }

  void take(Line& line, const TraceEvent& event) {
    Computation& parent = line.top();
    GivenPart& part = parts_[event.fields[PartField::kJob]];
    part.place = event.fields[PartField::kPlace];
    part.own.parent = &parent;
    part.taken_ns = event.time_ns;
    part.work_before_ns = parent.work_ns;
    part.path_before_ns = parent.path_ns;
    part.outermost = !parent.is_within(part.place);
    ++parent.open[part.place];
    ForkSite& site = sites_[part.place];
    site.place = part.place;
    ++site.taken;
  }

  void end_part(Line& line, int64_t job) {
    const auto found = parts_.find(job);
    if (found == parts_.end() || line.stack.empty() || line.stack.back() != &found->second.own) return;
    line.stack.pop_back();
    found->second.ended = true;
  }

  void merge(Line& line, const TraceEvent& event) {
    const auto found = parts_.find(event.fields[PartField::kJob]);
    if (found == parts_.end() || found->second.own.parent != &line.top()) return;
    GivenPart& part = found->second;
    Computation& parent = line.top();
    if (--parent.open[part.place] == 0) parent.open.erase(part.place);
    ForkSite& site = sites_[part.place];
    if (event.fields[PartField::kUsed] == 0 || !part.ended) {
      ++site.again;
      return;
    }
    const int64_t left_ns = parent.path_ns - part.path_before_ns, span_ns = std::max(left_ns, part.own.path_ns);
    parent.work_ns += part.own.work_ns;
    parent.path_ns = part.path_before_ns + span_ns;
    if (!part.outermost) return;
    site.work_ns += parent.work_ns - part.work_before_ns;
    site.span_ns += span_ns;
    site.elapsed_ns += event.time_ns - part.taken_ns;
  }

  std::map<uint16_t, Line> lines_;       // by thread
  std::map<int64_t, GivenPart> parts_;   // by job; they refer to one another
  std::map<int64_t, ForkSite> sites_;    // by place
};

// With two digits behind the point.
std::string times_text(int64_t work_ns, int64_t other_ns) {
  char text[40];
  std::snprintf(text, sizeof text, "%.2f x", static_cast<double>(work_ns) / static_cast<double>(other_ns));
  return text;
}

}  // namespace

std::vector<ForkSite> fork_sites(const std::vector<TraceEvent>& events) {
  std::vector<ForkSite> made;
  for (const auto& [place, site] : Replay().run(actions_of(events))) made.push_back(site);
  std::stable_sort(made.begin(), made.end(), [](const ForkSite& a, const ForkSite& b) { return a.work_ns > b.work_ns; });
  return made;
}

std::string site_text(const TraceView& view, const ForkSite& site) {
  std::string out = "parts at " + std::string(view.text(site.place)) + ": " + std::to_string(site.taken) + " taken";
  if (site.again != 0) out += ", " + std::to_string(site.again) + " again";
  if (site.span_ns <= 0 || site.elapsed_ns <= 0) return out;
  out += ", work " + duration_text(site.work_ns) + ", span " + duration_text(site.span_ns);
  return out + ": " + times_text(site.work_ns, site.span_ns) + " possible, " + times_text(site.work_ns, site.elapsed_ns) + " achieved";
}

void append_fork_sites(std::string& out, const TraceView& view) {
  out += '[';
  for (const ForkSite& each : fork_sites(view.snapshot().events)) {
    if (out.back() != '[') out += ',';
    out += "\n{\"place\":";
    append_json(out, view.text(each.place));
    out += ",\"taken\":" + std::to_string(each.taken) + ",\"again\":" + std::to_string(each.again);
    const std::array<std::pair<const char*, int64_t>, 3> times{{{"work", each.work_ns}, {"span", each.span_ns}, {"elapsed", each.elapsed_ns}}};
    for (const auto& [name, ns] : times) {
      char text[64];
      std::snprintf(text, sizeof text, ",\"%s\":%.3f", name, static_cast<double>(ns) / 1e3);
      out += text;
    }
    out += '}';
  }
  out += ']';
}

}  // namespace posset::api
