// The numbers of the trace events of units and tiers, and the rows of all events there are.
#pragma once

#include <span>

#include "sched/trace_events.h"

namespace posset::interp {

enum class TierEvent : uint16_t {
  kBeforeFirst = sched::kFirstForeignKind - 1,
#define FIELD(type, name)
#define EVENT(name, meaning, fields) name,
#include "interp/runtime/trace_events.def"
#undef EVENT
#undef FIELD
};

// The schedulers' rows first.
std::span<const sched::TraceEventInfo> trace_event_rows();
const sched::TraceEventInfo* trace_event_row(uint16_t kind);  // null: no such kind

}  // namespace posset::interp
