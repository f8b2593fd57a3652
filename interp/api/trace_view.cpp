// See trace_view.h.
#include "interp/api/trace_view.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>

#include "interp/api/handles.h"
#include "interp/api/why.h"
#include "interp/runtime/tier.h"
#include "interp/syntax/utf8.h"

namespace posset::api {

using interp::Reason;
using interp::TierEvent;
using sched::TraceEvent;
using sched::TraceEventInfo;
using sched::TraceType;

namespace {

std::string formatted(const char* format, double value, const char* unit) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  // The shortest that says it: "35us", not "35.0us".
  std::string made(text);
  if (made.find('.') != std::string::npos) {
    while (made.back() == '0') made.pop_back();
    if (made.back() == '.') made.pop_back();
  }
  return made + unit;
}

std::string bytes_text(int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes < 1024) return std::to_string(bytes) + "B";
  if (bytes < 1024 * 1024) return formatted("%.1f", value / 1024, "KiB");
  return formatted("%.1f", value / (1024 * 1024), "MiB");
}

std::string code_text(std::string_view field, int64_t value) {
  for (const auto& codes : sched::kTraceCodeNames) {
    if (field != codes.field) continue;
    if (value < 0 || value >= static_cast<int64_t>(codes.names.size())) break;
    if (const char* name = codes.names[static_cast<size_t>(value)]) return name;
  }
  return std::to_string(value);
}

std::string reason_text(int64_t value) {
  if (value < 0 || value >= syntax::kReasons) return std::to_string(value);
  return name_of(static_cast<Reason>(value));
}

std::string unit_text(const TracedUnit& unit) {
  return unit.place.empty() ? unit.name : unit.name + " (" + unit.place + ")";
}

// A line stays one line whatever a file is called.
void append_one_line(std::string& out, std::string_view text) {
  for (char c : text) out += static_cast<unsigned char>(c) < ' ' || c == 127 ? '?' : c;
}

TracedPart& part_of(TracedUnit& unit, int loop) {
  auto found = std::find_if(unit.parts.begin(), unit.parts.end(), [&](auto& part) { return part.loop >= loop; });
  if (found != unit.parts.end() && found->loop == loop) return *found;
  found = unit.parts.emplace(found);
  found->loop = loop;
  return *found;
}

bool is(const TraceEvent& event, TierEvent kind) { return event.kind == static_cast<uint16_t>(kind); }

}  // namespace

TraceView::TraceView(interp::RuntimeState& runtime) : runtime_(runtime), snapshot_(runtime.trace->snapshot()) {
  for (const TraceEvent& event : snapshot_.events) read_event(event);
  read_table(runtime);
}

// Units are known by the events about them, because the table has forgotten some.
void TraceView::read_event(const TraceEvent& event) {
  const auto& fields = event.fields;
  if (is(event, TierEvent::unit_seen)) {
    TracedUnit& unit = units_[fields[0]];
    unit.name = text(fields[1]);
    unit.place = text(fields[2]);
    unit.hash = text(fields[4]);
    part_of(unit, -1);
  } else if (is(event, TierEvent::unit_lines)) {
    TracedPart& part = part_of(units_[fields[0]], static_cast<int>(fields[1]));
    part.file = fields[2];
    part.source = fields[3];
    part.first_line = static_cast<uint32_t>(fields[4]);
    part.last_line = static_cast<uint32_t>(fields[5]);
  } else if (is(event, TierEvent::compile_refused)) {
    part_of(units_[fields[0]], static_cast<int>(fields[1])).refused_at[fields[2]] = fields[5];
  } else if (is(event, TierEvent::side_exit)) {
    add_exit(part_of(units_[fields[0]], static_cast<int>(fields[1])).exits,
             {std::string(text(fields[3])), std::string(text(fields[4])), std::string(text(fields[5]))});
  } else if (is(event, TierEvent::unit_forgotten)) {
    TracedUnit& unit = units_[fields[0]];
    unit.forgotten = true;
    part_of(unit, -1).count = static_cast<uint32_t>(fields[1]);
  }
}

// How high a part of a unit got and why not higher.
void TraceView::read_counts(const Part& part, TracedPart& out) const {
  out.count = part.counted().count.load(std::memory_order_relaxed);
  out.tier = part.tier();
  if (part.loop >= 0) out.parent = part.unit.loop_parents[static_cast<size_t>(part.loop)];
  out.within = part.within();
  for_each_missing_tier(runtime_, part, [&](int level, Reason reason, std::string text) {
    out.why[level] = reason;
    const std::string_view at = this->text(out.refused_at[level]);
    out.why_text[level] = at.empty() ? std::move(text) : text.append(", at ").append(at);
  });
}

void TraceView::read_table(interp::RuntimeState& runtime) {
  runtime.units.for_each([&](interp::Unit& unit) {
    auto found = units_.find(unit.number);
    if (found == units_.end()) return;  // met since the picture was taken
    read_counts({unit, -1}, part_of(found->second, -1));
    for (size_t i = 0; i < unit.loop_hashes.size(); ++i) {
      read_counts({unit, static_cast<int>(i)}, part_of(found->second, static_cast<int>(i)));
    }
  });
}

std::string_view TraceView::thread(const TraceEvent& event) const {
  return event.thread < snapshot_.threads.size() ? std::string_view(snapshot_.threads[event.thread]) : "others";
}

std::string_view TraceView::text(int64_t index) const {
  const auto& texts = snapshot_.texts;
  return index >= 0 && static_cast<size_t>(index) < texts.size() ? std::string_view(texts[static_cast<size_t>(index)])
                                                                 : std::string_view();
}

const TracedUnit& TraceView::unit(int64_t number) const {
  static const auto& unknown = *new TracedUnit;  // never destroyed: a runtime may write its trace when the process ends
  auto found = units_.find(number);
  return found == units_.end() ? unknown : found->second;
}

int field_of(const TraceEventInfo& row, TraceType type) {
  auto found = std::find(row.types.begin(), row.types.end(), type);
  return found == row.types.end() ? -1 : static_cast<int>(found - row.types.begin());
}

int field_of(const TraceEventInfo& row, TraceType type, std::string_view name) {
  for (size_t i = 0; i < row.types.size(); ++i) {
    if (row.types[i] == type && name == row.names[i]) return static_cast<int>(i);
  }
  return -1;
}

std::string duration_text(int64_t ns) {
  const auto value = static_cast<double>(ns);
  if (ns < 1000) return std::to_string(ns) + "ns";
  if (ns < 10'000) return formatted("%.1f", value / 1e3, "us");
  if (ns < 1'000'000) return formatted("%.0f", value / 1e3, "us");
  if (ns < 1'000'000'000) return formatted("%.2f", value / 1e6, "ms");
  return formatted("%.3f", value / 1e9, "s");
}

std::string value_text(const TraceView& view, TraceType type, std::string_view name, int64_t value) {
  switch (type) {
    case TraceType::None:
    case TraceType::Source:
      return {};
    case TraceType::Unit:
      return unit_text(view.unit(value));
    case TraceType::Loop:
      return value < 0 ? "body" : std::to_string(value);
    case TraceType::Job:
    case TraceType::Task:
    case TraceType::Tier:
    case TraceType::Count:
      return std::to_string(value);
    case TraceType::Nanoseconds:
      return duration_text(value);
    case TraceType::Bytes:
      return bytes_text(value);
    case TraceType::Number:
      return formatted("%.6g", std::bit_cast<double>(value), "");
    case TraceType::Text:
      return std::string(view.text(value));
    case TraceType::Reason:
      return reason_text(value);
    case TraceType::Code:
      return code_text(name, value);
  }
  return {};
}

std::string fields_text(const TraceView& view, const TraceEventInfo& row, const TraceEvent& event) {
  std::string out;
  for (size_t i = 0; i < row.types.size(); ++i) {
    if (row.types[i] == TraceType::None || row.types[i] == TraceType::Source) continue;
    if (!out.empty()) out += ' ';
    out.append(row.names[i]) += '=';
    append_one_line(out, value_text(view, row.types[i], row.names[i], event.fields[i]));
  }
  return out;
}

// ---- parts of the JSON forms ----

namespace {

// Ends a list whose items each end with a comma.
void end_list(std::string& out) {
  if (out.back() == ',') out.pop_back();
  out += ']';
}

void append_member_and_comma(std::string& out, const char* name, int64_t value) {
  out.append("\"").append(name).append("\":").append(std::to_string(value)).append(",");
}

void append_part(std::string& out, const TraceView& view, const TracedPart& part, int64_t source) {
  out += '{';
  append_member_and_comma(out, "loop", part.loop);
  append_member_and_comma(out, "source", source);
  out += "\"file\":";
  append_json(out, view.text(part.file));
  out += ',';
  append_member_and_comma(out, "first", part.first_line);
  append_member_and_comma(out, "last", part.last_line);
  append_member_and_comma(out, "count", part.count);
  append_member_and_comma(out, "tier", part.tier);
  append_member_and_comma(out, "parent", part.parent);
  out += part.within ? "\"within\":true," : "\"within\":false,";
  out += "\"why\":[";
  for (int level = 1; level < interp::kTiers; ++level) {
    if (part.why[level] == Reason::none) continue;
    out += "[" + std::to_string(level) + ",";
    append_json(out, name_of(part.why[level]));
    out += ',';
    append_json(out, part.why_text[level]);
    out += "],";
  }
  end_list(out);
  out += ",\"exits\":[";
  for (const ToldExit& exit : part.exits) {
    append_json(out, exit_text(exit));
    out += ',';
  }
  end_list(out);
  out += "},";
}

}  // namespace

void append_units(std::string& out, const TraceView& view, const std::function<int64_t(const TracedPart&)>& source_of) {
  out += '[';
  for (const auto& [number, unit] : view.units()) {
    out += "\n{";
    append_member_and_comma(out, "number", number);
    for (auto [name, text] : {std::pair{"name", &unit.name}, {"place", &unit.place}, {"hash", &unit.hash}}) {
      out.append("\"").append(name).append("\":");
      append_json(out, *text);
      out += ',';
    }
    out += unit.forgotten ? "\"forgotten\":true" : "\"forgotten\":false";
    out += ",\"parts\":[";
    for (const TracedPart& part : unit.parts) append_part(out, view, part, source_of(part));
    end_list(out);
    out += "},";
  }
  end_list(out);
}

void append_settings(std::string& out, const interp::RuntimeState& runtime) {
  const interp::RuntimeOptions& options = runtime.options;
  out += '{';
  append_member_and_comma(out, "max_tier", options.max_tier);
  append_member_and_comma(out, "forced_tier", options.forced_tier);
  for (int level = 1; level < interp::kTiers; ++level) {
    append_member_and_comma(out, ("tier" + std::to_string(level) + "_after").c_str(), options.thresholds[level]);
  }
  append_member_and_comma(out, "code_limit", static_cast<int64_t>(std::min<uint64_t>(options.code_limit_bytes, INT64_MAX)));
  out += "\"tiers\":[";
  for (int level = 0; level < interp::kTiers; ++level) {
    append_json(out, runtime.tier(level) ? runtime.tier(level)->name : "");
    out += ',';
  }
  end_list(out);
  out += '}';
}

void append_json(std::string& out, std::string_view text) {
  out += '"';
  for (size_t at = 0; at < text.size();) {
    const syntax::Scalar scalar = syntax::decode_utf8(text, at);
    const char32_t c = scalar.value;
    if (!scalar.valid) {
      out += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      (out += '\\') += static_cast<char>(c);
    } else if (c < ' ' || c == '<' || c == 127 || c == 0x2028 || c == 0x2029) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out.append(text.substr(at, scalar.length));
    }
    at += scalar.length;
  }
  out += '"';
}

}  // namespace posset::api
