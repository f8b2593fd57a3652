// What a graph has counted. The loop's thread counts in `...Counts`, which cost no more than plain numbers; any thread
// may take a `GraphStatistics` at any time, whose numbers are exact each, and agree with each other once the loop
// is quiet.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "sched/base/statistics.h"
#include "sched/graph/node.h"

namespace posset::sched::graph {

// The numbers of a node, of an edge and of the loop, each once: X(name).
//
// turns: how often the node was chosen. errors: handlers that threw. skipped: messages given up by the error policy.
// blocked: how often the node had to wait for room, and for how long. busy: the time of its turns.
#define POSSET_GRAPH_NODE_COUNTS(X) \
  X(turns) X(messages) X(ticks) X(missed_ticks) X(resumes) X(errors) X(skipped) X(blocked) X(blocked_ns) X(busy_ns)
// accepted: what came in, folded and replaced items not counted twice; it has been delivered, replaced (the oldest, for
// a newer one), abandoned (at the end, or by a node that stopped) or waits. abandoned counts held items, too.
#define POSSET_GRAPH_EDGE_COUNTS(X) \
  X(accepted) X(delivered) X(blocked) X(dropped) X(replaced) X(coalesced) X(fold_errors) X(abandoned) X(depth) X(most_depth)
// An iteration of the loop is a turn or a sleep.
#define POSSET_GRAPH_LOOP_COUNTS(X) \
  X(turns) X(sleeps) X(slept_ns) X(timers) X(deadlocks) X(incident_errors)

#define POSSET_GRAPH_FIELD(name) uint64_t name = 0;
#define POSSET_GRAPH_COUNTER(name) SoloCounter name;

struct NodeCounts {
  POSSET_GRAPH_NODE_COUNTS(POSSET_GRAPH_COUNTER)
};
struct EdgeCounts {
  POSSET_GRAPH_EDGE_COUNTS(POSSET_GRAPH_COUNTER)
};

// Turns by their duration: place n has those of 2^(n-1) to 2^n - 1 nanoseconds, the last one all that are longer.
constexpr size_t kTurnTimes = 40;
constexpr size_t turn_time_place(int64_t ns) {
  const auto width = static_cast<size_t>(std::bit_width(static_cast<uint64_t>(ns < 0 ? 0 : ns)));
  return width < kTurnTimes ? width : kTurnTimes - 1;
}

struct LoopCounts {
  POSSET_GRAPH_LOOP_COUNTS(POSSET_GRAPH_COUNTER)
  std::array<SoloCounter, kBands> band_turns;
  std::array<SoloCounter, kBands> band_messages;
  std::array<SoloCounter, kTurnTimes> turn_times;
};

struct NodeStatistics {
  std::string name;
  POSSET_GRAPH_NODE_COUNTS(POSSET_GRAPH_FIELD)
};
struct EdgeStatistics {
  std::string id;
  POSSET_GRAPH_EDGE_COUNTS(POSSET_GRAPH_FIELD)
};
struct GraphStatistics {
  POSSET_GRAPH_LOOP_COUNTS(POSSET_GRAPH_FIELD)
  std::array<uint64_t, kBands> band_turns{};  // by Band
  std::array<uint64_t, kBands> band_messages{};
  std::array<uint64_t, kTurnTimes> turn_times{};
  std::vector<NodeStatistics> nodes;  // by NodeId
  std::vector<EdgeStatistics> edges;  // by EdgeId
};

#undef POSSET_GRAPH_FIELD
#undef POSSET_GRAPH_COUNTER

}  // namespace posset::sched::graph
