// The tables of trace events as rows. See trace_events.h.
#include "interp/runtime/trace_events.h"

#include <algorithm>
#include <vector>

namespace posset::interp {

namespace {

using sched::TraceEventInfo;
using sched::TraceType;

struct Field {
  TraceType type;
  const char* name;
};

TraceEventInfo row(uint16_t kind, const char* name, std::initializer_list<Field> fields, const char* meaning) {
  TraceEventInfo made{kind, name, {}, {}, meaning};
  made.names.fill("");
  size_t at = 0;
  for (const Field& field : fields) {
    made.types[at] = field.type;
    made.names[at++] = field.name;
  }
  return made;
}

const std::vector<TraceEventInfo>& rows() {
  // Never destroyed: a runtime may write its trace when the process ends.
  static const auto& all = *new std::vector<TraceEventInfo>{
#define FIELD(type, name) Field{TraceType::type, #name},
#define EVENT(name, meaning, fields) row(static_cast<uint16_t>(sched::TraceKind::name), #name, {fields}, meaning),
#include "sched/trace_events.def"
#undef EVENT
#define EVENT(name, meaning, fields) row(static_cast<uint16_t>(TierEvent::name), #name, {fields}, meaning),
#include "interp/runtime/trace_events.def"
#undef EVENT
#undef FIELD
  };
  return all;
}

}  // namespace

std::span<const TraceEventInfo> trace_event_rows() { return rows(); }

const TraceEventInfo* trace_event_row(uint16_t kind) {
  auto found = std::find_if(rows().begin(), rows().end(), [&](const TraceEventInfo& r) { return r.kind == kind; });
  return found == rows().end() ? nullptr : &*found;
}

}  // namespace posset::interp
