// A trace in the JSON that Chrome's trace viewer and Perfetto read. Every event becomes one record with all
// its fields in `args`, `args.event` being its name; what kind of record depends on the types of its fields:
//
//   - an event that says how long something `took` is a slice that ends when it was recorded;
//   - the others are instants, but those an arrow begins or ends at are short slices: arrows need some;
//   - the events of one job, which wander from thread to thread, are spanned by an async pair `b`, `e`;
//   - so are those of a task of a script, and inside of its pair each of its waits, by a pair that says for what;
//   - the events of one job that name a unit are joined by arrows: the first of them, its slices, the last.
//
// Slices of one thread nest: an outer one was recorded later, and its begin is moved to that of the inner
// one where the clock's readings would let them overlap. Of records that begin at one time the longest stands first,
// for importers that take them as they stand: an outer slice after its inner one would be lost, and an arrow belongs
// to the slice that was begun last.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <map>

#include "interp/api/trace_summary.h"
#include "interp/api/trace_view.h"

#include <posset/base.h>
#include <posset/trace.h>

namespace posset::api {

namespace {

using sched::TraceEvent;
using sched::TraceEventInfo;
using sched::TraceType;

constexpr int64_t kShortSlice_ns = 1000;

struct Record {
  const TraceEvent* event;
  const TraceEventInfo* row;
  int64_t job = -1;
  int64_t task = -1;
  int64_t begin_ns = 0, end_ns = 0;
  bool is_slice = false;
  const char* flow = nullptr;  // "s", "t", "f"; null: no arrow touches it
};

class ChromeWriter {
 public:
  explicit ChromeWriter(const TraceView& view) : view_(view) {}
  std::string write();

 private:
  void collect();
  void nest_slices();
  void join_jobs();
  void shorten_ends();
  void put_outer_first();
  void append_names();
  void append_record(const Record& record);
  void append_arguments(const Record& record);
  void append_argument(TraceType type, const char* name, int64_t value);
  void append_flow(const Record& record);
  void append_spans();
  void append_tasks();
  void append_task(int64_t task, const std::vector<Record*>& records);
  void append_async(const char* phase, const char* category, int64_t id, const std::string& name, int64_t time_ns, int thread);
  // The start of a record: what, which kind, when, where.
  void open(std::string_view name, const char* category, const char* phase, int64_t time_ns, int thread);
  void close() { out_ += "},\n"; }
  std::string title(const Record& record) const;
  std::string text_in(const Record& record, std::string_view name) const;

  const TraceView& view_;
  std::vector<Record> records_;
  std::map<int64_t, std::vector<Record*>> jobs_, tasks_;
  int64_t last_ns_ = 0;
  std::string out_;
};

std::string micros(int64_t ns) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>(ns) / 1e3);
  return text;
}

// What it tells of ran on a fiber: not from its beginning to its end, and others on its thread meanwhile.
bool takes_turns(const TraceEvent& event, const TraceEventInfo& row) {
  const int route = field_of(row, TraceType::Code, "route");
  return route >= 0 && event.fields[static_cast<size_t>(route)] == static_cast<int64_t>(sched::Route::Fiber);
}

void ChromeWriter::collect() {
  for (const TraceEvent& event : view_.snapshot().events) {
    const TraceEventInfo* row = view_.row(event);
    if (!row) continue;
    Record record{&event, row};
    if (int job = field_of(*row, TraceType::Job); job >= 0) record.job = event.fields[static_cast<size_t>(job)];
    if (int task = field_of(*row, TraceType::Task); task >= 0) record.task = event.fields[static_cast<size_t>(task)];
    record.begin_ns = record.end_ns = event.time_ns;
    last_ns_ = std::max(last_ns_, event.time_ns);
    if (int took = field_of(*row, TraceType::Nanoseconds, "took"); took >= 0 && !takes_turns(event, *row)) {
      record.is_slice = true;
      record.begin_ns -= std::clamp<int64_t>(event.fields[static_cast<size_t>(took)], 0, event.time_ns);
    }
    records_.push_back(record);
  }
}

void ChromeWriter::nest_slices() {
  std::map<uint16_t, std::vector<Record*>> open;
  for (Record& record : records_) {
    if (!record.is_slice) continue;
    std::vector<Record*>& inner = open[record.event->thread];
    while (!inner.empty() && inner.back()->end_ns > record.begin_ns) {
      record.begin_ns = std::min(record.begin_ns, inner.back()->begin_ns);
      inner.pop_back();
    }
    inner.push_back(&record);
  }
}

void ChromeWriter::join_jobs() {
  for (Record& record : records_) {
    if (record.job >= 0) jobs_[record.job].push_back(&record);
    if (record.task >= 0) tasks_[record.task].push_back(&record);
  }
  for (auto& [job, records] : jobs_) {
    std::vector<Record*> about_units;
    std::copy_if(records.begin(), records.end(), std::back_inserter(about_units),
                 [](const Record* record) { return field_of(*record->row, TraceType::Unit) >= 0; });
    if (about_units.size() < 2) continue;
    for (Record* record : about_units) {
      if (record->is_slice) record->flow = "t";
    }
    about_units.front()->flow = "s";
    about_units.back()->flow = "f";
  }
}

// Instants with an arrow become slices that end before anything else on their thread begins or ends.
void ChromeWriter::shorten_ends() {
  std::map<uint16_t, std::vector<int64_t>> borders;
  for (const Record& record : records_) {
    if (!record.is_slice && !record.flow) continue;
    borders[record.event->thread].push_back(record.begin_ns);
    borders[record.event->thread].push_back(record.end_ns);
  }
  for (auto& [thread, times] : borders) std::sort(times.begin(), times.end());
  for (Record& record : records_) {
    if (record.is_slice || !record.flow) continue;
    const std::vector<int64_t>& times = borders[record.event->thread];
    auto next = std::upper_bound(times.begin(), times.end(), record.begin_ns);
    const int64_t limit = record.begin_ns + kShortSlice_ns;
    record.end_ns = next == times.end() ? limit : std::min(limit, *next);
  }
}

void ChromeWriter::put_outer_first() {
  std::sort(records_.begin(), records_.end(), [](const Record& a, const Record& b) {
    if (a.begin_ns != b.begin_ns) return a.begin_ns < b.begin_ns;
    if (a.end_ns != b.end_ns) return a.end_ns > b.end_ns;
    return a.event->sequence < b.event->sequence;
  });
}

void ChromeWriter::open(std::string_view name, const char* category, const char* phase, int64_t time_ns, int thread) {
  out_ += "{\"name\":";
  append_json(out_, name);
  out_.append(",\"cat\":\"").append(category).append("\",\"ph\":\"").append(phase);
  out_.append("\",\"ts\":").append(micros(time_ns));
  out_.append(",\"pid\":1,\"tid\":").append(std::to_string(thread));
}

// A field that is a text; empty where the event has none of that name.
std::string ChromeWriter::text_in(const Record& record, std::string_view name) const {
  const int field = field_of(*record.row, TraceType::Text, name);
  return field < 0 ? "" : std::string(view_.text(record.event->fields[static_cast<size_t>(field)]));
}

// What a track shows: the event and what it is about.
std::string ChromeWriter::title(const Record& record) const {
  std::string made = record.row->name;
  if (int unit = field_of(*record.row, TraceType::Unit); unit >= 0) {
    made += " " + view_.unit(record.event->fields[static_cast<size_t>(unit)]).name;
  } else if (record.task >= 0) {
    made += " " + text_in(record, "name");
  }
  return made;
}

void ChromeWriter::append_names() {
  const auto& threads = view_.snapshot().threads;
  open("process_name", "__metadata", "M", 0, 0);
  out_ += ",\"args\":{\"name\":\"posset\"}";
  close();
  for (size_t i = 0; i < threads.size(); ++i) {
    open("thread_name", "__metadata", "M", 0, static_cast<int>(i));
    out_ += ",\"args\":{\"name\":";
    append_json(out_, threads[i]);
    out_ += "}";
    close();
    open("thread_sort_index", "__metadata", "M", 0, static_cast<int>(i));
    out_ += ",\"args\":{\"sort_index\":" + std::to_string(i) + "}";
    close();
  }
}

void ChromeWriter::append_argument(TraceType type, const char* name, int64_t value) {
  if (type == TraceType::None || type == TraceType::Source) return;
  out_.append(",\"").append(name).append("\":");
  if (type == TraceType::Text || type == TraceType::Reason || type == TraceType::Code) {
    append_json(out_, value_text(view_, type, name, value));
  } else if (type == TraceType::Number) {
    const bool is_finite = std::isfinite(std::bit_cast<double>(value));
    out_ += is_finite ? value_text(view_, type, name, value) : "null";
  } else {
    out_ += std::to_string(value);
  }
  if (type != TraceType::Unit) return;
  out_.append(",\"").append(name).append("_name\":");
  append_json(out_, view_.unit(value).name);
  out_.append(",\"").append(name).append("_place\":");
  append_json(out_, view_.unit(value).place);
}

void ChromeWriter::append_arguments(const Record& record) {
  out_ += ",\"args\":{\"event\":";
  append_json(out_, record.row->name);
  out_ += ",\"sequence\":" + std::to_string(record.event->sequence);
  for (size_t i = 0; i < record.row->types.size(); ++i) {
    append_argument(record.row->types[i], record.row->names[i], record.event->fields[i]);
  }
  out_ += "}";
}

void ChromeWriter::append_record(const Record& record) {
  const bool is_slice = record.is_slice || record.flow;
  open(title(record), "event", is_slice ? "X" : "i", record.begin_ns, record.event->thread);
  out_ += is_slice ? ",\"dur\":" + micros(record.end_ns - record.begin_ns) : ",\"s\":\"t\"";
  append_arguments(record);
  close();
  if (record.flow) append_flow(record);
}

void ChromeWriter::append_flow(const Record& record) {
  open("job", "flow", record.flow, record.begin_ns, record.event->thread);
  out_ += ",\"id\":" + std::to_string(record.job);
  if (*record.flow != 's') out_ += ",\"bp\":\"e\"";
  close();
}

void ChromeWriter::append_async(const char* phase, const char* category, int64_t id, const std::string& name, int64_t time_ns,
                                int thread) {
  open(name, category, phase, time_ns, thread);
  out_ += ",\"id\":\"" + std::to_string(id) + "\",\"args\":{}";
  close();
}

void ChromeWriter::append_spans() {
  for (const auto& [job, records] : jobs_) {
    if (records.size() < 2) continue;
    std::string name = "job " + std::to_string(job);
    for (const Record* record : records) {
      int unit = field_of(*record->row, TraceType::Unit);
      if (unit < 0) continue;
      name += ": " + view_.unit(record->event->fields[static_cast<size_t>(unit)]).name;
      break;
    }
    for (const auto& [phase, event] : {std::pair("b", records.front()->event), std::pair("e", records.back()->event)}) {
      append_async(phase, "job", job, name, event->time_ns, event->thread);
    }
  }
}

void ChromeWriter::append_tasks() {
  for (const auto& [task, records] : tasks_) append_task(task, records);
}

// The ring may have lost how it began, and the trace been written before it ended: then it is from the first that is known
// of it, to the end of the trace.
void ChromeWriter::append_task(int64_t task, const std::vector<Record*>& records) {
  const std::string name = text_in(*records.front(), "name") + " #" + std::to_string(task);
  const int thread = records.front()->event->thread;
  auto append = [&](const char* phase, const std::string& what, int64_t time_ns) {
    append_async(phase, "task", task, what, time_ns, thread);
  };
  append("b", name, records.front()->event->time_ns);
  std::string waits;
  auto end_wait = [&](int64_t time_ns) {
    if (!waits.empty()) append("e", waits, time_ns);
    waits.clear();
  };
  int64_t end_ns = last_ns_;
  bool was_made = false;
  for (const Record* record : records) {
    const auto event = static_cast<interp::TierEvent>(record->event->kind);
    const int64_t time_ns = record->event->time_ns;
    if (event == interp::TierEvent::task_ended) end_ns = time_ns;
    if (event == interp::TierEvent::task_went_on) {
      if (was_made) append("n", "begins", time_ns);
      end_wait(time_ns);
    }
    const std::string until = text_in(*record, "until");
    if (!until.empty()) append("b", waits = "waits for " + until, time_ns);
    was_made = event == interp::TierEvent::task_made;
  }
  end_wait(end_ns);
  append("e", name, end_ns);
}

std::string ChromeWriter::write() {
  collect();
  nest_slices();
  join_jobs();
  shorten_ends();
  out_ = "{\"traceEvents\":[\n";
  append_names();
  append_spans();  // these find their records by address
  append_tasks();
  put_outer_first();
  for (const Record& record : records_) append_record(record);
  out_.resize(out_.size() - 2);  // the last comma; there is always a process name
  out_ += "\n],\n\"displayTimeUnit\":\"ms\",\n\"otherData\":{\"version\":" + std::to_string(POSSET_TRACE_VERSION);
  out_ += ",\"posset\":\"" + std::string(posset_version()) + "\",\"dropped\":";
  out_ += std::to_string(view_.snapshot().dropped) + ",\n\"settings\":";
  append_settings(out_, view_.runtime());
  out_ += ",\n\"tiers\":";
  append_tiers(out_, view_);
  out_ += ",\n\"units\":";
  append_units(out_, view_, [](const TracedPart&) { return -1; });
  out_ += "}}\n";
  return std::move(out_);
}

}  // namespace

std::string trace_chrome(const TraceView& view) { return ChromeWriter(view).write(); }

}  // namespace posset::api
