// The numbers of the schedulers' trace events, from trace_events.def.
#pragma once

#include <array>

#include "sched/base/trace.h"

namespace posset::sched {

enum class TraceKind : uint16_t {
#define FIELD(type, name)
#define EVENT(name, meaning, fields) name,
#include "sched/trace_events.def"
#undef EVENT
#undef FIELD
};

// Kinds of whoever stands above the schedulers begin here.
constexpr uint16_t kFirstForeignKind = 1000;

// How a task reached a worker (field `route`).
enum class Route : uint8_t { Arena, Pool, Fiber };
// How a task ended, or why it was not taken (field `outcome`).
enum class Outcome : uint8_t { Done, Failed, Cancelled, QueueFull, Stopped };

// What the views call the values of those fields, in the order of the enums.
struct TraceCodeNames {
  const char* field;
  std::array<const char*, 5> names;  // null past the last
};
constexpr TraceCodeNames kTraceCodeNames[] = {
    {"band", {"normal", "high", "control"}},
    {"route", {"arena", "pool", "fiber"}},
    {"outcome", {"done", "failed", "cancelled", "queue_full", "stopped"}},
    // Schedule and SolveStatus of sched/fixpoint; a schedule of the caller's own is "auto".
    {"schedule", {"static", "residual", "auto"}},
    {"status", {"converged", "diverged", "timed_out", "stopped", "failed"}},
};

}  // namespace posset::sched
