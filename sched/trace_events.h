// The numbers of the schedulers' trace events, from trace_events.def.
#pragma once

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
enum class Route : uint8_t { Arena, Pool };
// How a task ended, or why it was not taken (field `outcome`).
enum class Outcome : uint8_t { Done, Failed, Cancelled, QueueFull, Stopped };

}  // namespace posset::sched
