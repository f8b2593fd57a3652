// What the forms of a trace share: the events with their rows, the units they name with the counts these
// have now, and the words for fields. The forms know types of fields, not events: a new row of a table
// shows up in all of them.
//
// A TraceView is a picture of one moment; making it locks the sink and the unit table once each.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "interp/api/why.h"
#include "interp/runtime/context.h"
#include "interp/runtime/trace_events.h"

namespace posset::api {

// A function's body (loop -1) or one of its loops.
struct TracedPart {
  int loop = -1;
  int64_t file = 0, source = 0;  // texts
  uint32_t first_line = 0, last_line = 0;
  uint32_t count = 0;
  int tier = 0;
  int parent = -1;         // the loop it stands in
  bool within = false;     // a loop: in that tier as part of the code around it
  interp::Reason why[interp::kTiers] = {};  // there is no code for that tier; none: there is, or for a higher one
  std::string why_text[interp::kTiers];
  std::vector<ToldExit> exits;
  int64_t refused_at[interp::kTiers] = {};  // text; 0: it was not, or as a whole
};

struct TracedUnit {
  std::string name = "?", place, hash;
  bool forgotten = false;  // its counts are those of when it was
  std::vector<TracedPart> parts;  // by loop, the body first
};

class TraceView {
 public:
  explicit TraceView(interp::RuntimeState& runtime);

  const sched::TraceSnapshot& snapshot() const { return snapshot_; }
  const std::map<int64_t, TracedUnit>& units() const { return units_; }
  // Null: an event of no table, which the forms leave out.
  const sched::TraceEventInfo* row(const sched::TraceEvent& event) const { return interp::trace_event_row(event.kind); }
  std::string_view thread(const sched::TraceEvent& event) const;
  std::string_view text(int64_t index) const;
  const TracedUnit& unit(int64_t number) const;
  const interp::RuntimeState& runtime() const { return runtime_; }

 private:
  void read_event(const sched::TraceEvent& event);
  void read_table(interp::RuntimeState& runtime);
  void read_counts(const Part& part, TracedPart& out) const;
  const interp::RuntimeState& runtime_;
  sched::TraceSnapshot snapshot_;
  std::map<int64_t, TracedUnit> units_;
};

// The place of the first field of a type in a row, or -1.
int field_of(const sched::TraceEventInfo& row, sched::TraceType type);
// A field by type and name, or -1: `took` and `loop` have a meaning of their own.
int field_of(const sched::TraceEventInfo& row, sched::TraceType type, std::string_view name);

// The words of a value: "35us", "1.2KiB", "body", "pool", "not_hot". Units and texts as they are called.
std::string value_text(const TraceView& view, sched::TraceType type, std::string_view name, int64_t value);
// All fields of an event: `unit=area (prices.posset:3:1) loop=body tier=1`.
std::string fields_text(const TraceView& view, const sched::TraceEventInfo& row, const sched::TraceEvent& event);
std::string duration_text(int64_t ns);

// Appends a JSON string, quotes included. `<` is escaped, so that it can stand in a page; what is not UTF-8
// becomes U+FFFD.
void append_json(std::string& out, std::string_view text);

// All units with their parts, as a JSON list. `source_of` numbers the texts parts stand in.
void append_units(std::string& out, const TraceView& view, const std::function<int64_t(const TracedPart&)>& source_of);
// How the runtime was set up as far as it decides about tiers, as a JSON object.
void append_settings(std::string& out, const interp::RuntimeState& runtime);

// The forms.
std::string trace_text(const TraceView& view);
std::string trace_chrome(const TraceView& view);
std::string trace_html(const TraceView& view);

}  // namespace posset::api
