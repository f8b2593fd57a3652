// A trace as one page that needs nothing from elsewhere: the timeline, the table of units with why they are
// not higher, solves and graphs if there were any, the sources with heat. The data is one JSON object between two fixed parts (trace_page.h);
// append_json keeps every text in it from ending the element it stands in.
#include <cstdio>
#include <map>

#include "interp/api/trace_page.h"
#include "interp/api/trace_panels.h"
#include "interp/api/trace_parts.h"
#include "interp/api/trace_summary.h"
#include "interp/api/trace_view.h"

#include <posset/base.h>
#include <posset/trace.h>

namespace posset::api {

namespace {

using sched::TraceEvent;
using sched::TraceType;

class PageData {
 public:
  explicit PageData(const TraceView& view) : view_(view) {}
  std::string write();

 private:
  void append_number(int64_t value) { out_ += std::to_string(value); }
  void append_micros(int64_t ns);
  void append_events();
  void append_event(const TraceEvent& event, const sched::TraceEventInfo& row);
  void append_sources();
  int64_t source_of(const TracedPart& part);
  // Ends a list whose items each end with a comma.
  void end_list() {
    if (out_.back() == ',') out_.pop_back();
    out_ += ']';
  }

  const TraceView& view_;
  std::map<std::pair<int64_t, int64_t>, int64_t> sources_;  // (file, source), as texts, to their order
  std::vector<std::pair<int64_t, int64_t>> source_list_;
  std::string out_;
};

void PageData::append_micros(int64_t ns) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>(ns) / 1e3);
  out_ += text;
}

void PageData::append_event(const TraceEvent& event, const sched::TraceEventInfo& row) {
  auto number = [&](int field) { return field < 0 ? -1 : event.fields[static_cast<size_t>(field)]; };
  out_ += '[';
  append_micros(event.time_ns);
  out_ += ',';
  append_number(event.thread);
  out_ += ',';
  append_json(out_, row.name);
  out_ += ',';
  append_json(out_, fields_text(view_, row, event));
  out_ += ',';
  append_number(number(field_of(row, TraceType::Unit)));
  out_ += ',';
  append_number(number(field_of(row, TraceType::Job)));
  out_ += ',';
  const int took = field_of(row, TraceType::Nanoseconds, "took");
  took < 0 ? append_number(-1) : append_micros(number(took));
  out_ += "],";
}

void PageData::append_events() {
  out_ += "\"threads\":[";
  for (const std::string& name : view_.snapshot().threads) {
    append_json(out_, name);
    out_ += ',';
  }
  end_list();
  out_ += ",\n\"events\":[";
  for (const TraceEvent& event : view_.snapshot().events) {
    const sched::TraceEventInfo* row = view_.row(event);
    if (!row) continue;
    out_ += '\n';
    append_event(event, *row);
  }
  end_list();
}

int64_t PageData::source_of(const TracedPart& part) {
  if (part.source == 0) return -1;  // empty, or the texts were full
  auto [entry, added] = sources_.try_emplace({part.file, part.source}, static_cast<int64_t>(source_list_.size()));
  if (added) source_list_.push_back(entry->first);
  return entry->second;
}

void PageData::append_sources() {
  out_ += ",\n\"sources\":[";
  for (const auto& [file, source] : source_list_) {
    out_ += "\n{\"file\":";
    append_json(out_, view_.text(file));
    out_ += ",\"text\":";
    append_json(out_, view_.text(source));
    out_ += "},";
  }
  end_list();
}

std::string PageData::write() {
  out_ = "{\"version\":" + std::to_string(POSSET_TRACE_VERSION) + ",\"posset\":";
  append_json(out_, posset_version());
  out_ += ",\"dropped\":" + std::to_string(view_.snapshot().dropped) + ",\n";
  append_events();
  out_ += ",\n\"units\":";
  api::append_units(out_, view_, [this](const TracedPart& part) { return source_of(part); });
  append_sources();
  out_ += ",\n\"tiers\":";
  append_tiers(out_, view_);
  out_ += ",\n\"forks\":";
  append_fork_sites(out_, view_);
  out_ += ",\n\"solves\":";
  append_solves(out_, view_);
  out_ += ",\n\"nodes\":";
  append_graph_nodes(out_, view_);
  out_ += "}\n";
  return std::move(out_);
}

}  // namespace

std::string trace_html(const TraceView& view) {
  return kTracePageHead + PageData(view).write() + kTracePageTail;
}

}  // namespace posset::api
