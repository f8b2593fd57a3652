// See graph.h. Here: what a graph tells, as values of the script. Times are in seconds.
#include <string>
#include <utility>

#include "interp/runtime/graph.h"
#include "interp/runtime/work.h"
#include "interp/value/map.h"
#include "interp/value/record.h"
#include "interp/value/string.h"

namespace posset::interp {

namespace {

namespace graph = sched::graph;

class Report {
 public:
  explicit Report(Context& context) : context_(context), record_(context.heap) {}

  void set(const char* name, Value v) { record_.set(context_.heap.shapes().symbol(name), std::move(v)); }
  void text(const char* name, std::string_view text) { set(name, make_string(context_.heap, text)); }
  // `busy_ns` becomes `busy_seconds`.
  void count(std::string_view name, uint64_t number) {
    if (!name.ends_with("_ns")) return set(std::string(name).c_str(), Value::integer(static_cast<int64_t>(number)));
    name.remove_suffix(2);
    set((std::string(name) + "seconds").c_str(), Value::floating(static_cast<double>(number) * 1e-9));
  }
  Value finish() { return or_memory_limit(context_, record_.finish()); }

 private:
  Context& context_;
  RecordBuilder record_;
};

#define POSSET_GRAPH_TELL(name) report.count(#name, counts.name);

Value report_of(Context& context, const graph::NodeStatistics& counts, Borrowed problem) {
  Report report(context);
  POSSET_GRAPH_NODE_COUNTS(POSSET_GRAPH_TELL)
  report.set("error", Value::copy(problem));
  return report.finish();
}

Value report_of(Context& context, const graph::EdgeStatistics& counts) {
  Report report(context);
  POSSET_GRAPH_EDGE_COUNTS(POSSET_GRAPH_TELL)
  return report.finish();
}

Value report_of_bands(Context& context, const graph::GraphStatistics& statistics) {
  static constexpr const char* kNames[] = {"normal", "high", "control"};
  Report bands(context);
  for (size_t band = graph::kBands; band-- > 0;) {
    Report report(context);
    report.count("turns", statistics.band_turns[band]);
    report.count("messages", statistics.band_messages[band]);
    bands.set(kNames[band], report.finish());
  }
  return bands.finish();
}

// By name, in order. `value(i)` makes one, `name(i)` tells what it is called.
template <class Name, class MakeValue>
Value map_of(Context& context, size_t n, Name name, MakeValue make) {
  Map* map = new_map(context.heap, n);
  if (!or_memory_limit(context, map != nullptr)) return Value::failure();
  Value result = Value::adopt(Borrowed::heap(Tag::Map, map));
  for (size_t i = 0; i < n; ++i) {
    Value key = make_string(context.heap, name(i));
    Value value = make(i);
    if (value.failed()) return value;
    if (key.failed() || !map_set(context.heap, map, std::move(key), std::move(value))) return context.raise_memory_limit();
  }
  return result;
}

Value texts_of(Context& context, const std::vector<std::string>& texts) {
  ListBuilder list(context, texts.size());
  for (const std::string& text : texts) {
    if (!list.push(or_memory_limit(context, make_string(context.heap, text)))) return Value::failure();
  }
  return list.finish();
}

// Turns by their duration; what is behind the last that is not 0 is left out.
Value turn_times_of(Context& context, const graph::GraphStatistics& statistics) {
  size_t n = graph::kTurnTimes;
  while (n > 0 && statistics.turn_times[n - 1] == 0) --n;
  ListBuilder list(context, n);
  for (size_t i = 0; i < n; ++i) {
    if (!list.push(Value::integer(static_cast<int64_t>(statistics.turn_times[i])))) return Value::failure();
  }
  return list.finish();
}

}  // namespace

graph::GraphStatistics ScriptGraph::statistics() const {
  if (phase_ == Phase::Ended) return at_the_end_;
  if (loop_) return loop_->policy().statistics();
  graph::GraphStatistics nothing_yet;
  for (const graph::PlannedNode& each : described().nodes) nothing_yet.nodes.emplace_back().name = each.name;
  for (const graph::PlannedEdge& each : described().edges) nothing_yet.edges.emplace_back().id = each.id;
  return nothing_yet;
}

Value ScriptGraph::stats() const {
  const graph::GraphStatistics counts = statistics();
  const std::vector<graph::PlannedNode>& planned = described().nodes;
  if (!context_.charge(counts.nodes.size() + counts.edges.size())) return Value::failure();
  auto problem_of = [&](size_t i) { return static_cast<const ScriptNode&>(*planned[i].node).problem.view(); };
  Value parts[] = {
      report_of_bands(context_, counts),
      map_of(context_, counts.nodes.size(), [&](size_t i) { return counts.nodes[i].name; },
             [&](size_t i) { return report_of(context_, counts.nodes[i], problem_of(i)); }),
      map_of(context_, counts.edges.size(), [&](size_t i) { return counts.edges[i].id; },
             [&](size_t i) { return report_of(context_, counts.edges[i]); }),
      turn_times_of(context_, counts),
      texts_of(context_, problems_),
  };
  static constexpr const char* kNames[] = {"bands", "nodes", "edges", "turn_times", "problems"};
  Report report(context_);
  POSSET_GRAPH_LOOP_COUNTS(POSSET_GRAPH_TELL)
  for (size_t i = 0; i < std::size(parts); ++i) {
    if (parts[i].failed()) return Value::failure();
    report.set(kNames[i], std::move(parts[i]));
  }
  return report.finish();
}

Value ScriptGraph::states() {
  std::vector<graph::NodeId> with_state;
  for (graph::NodeId id = 0; id < plan_->nodes.size(); ++id) {
    if (node(id).has_state) with_state.push_back(id);
  }
  return map_of(context_, with_state.size(), [&](size_t i) { return plan_->nodes[with_state[i]].name; },
                [&](size_t i) { return std::move(node(with_state[i]).state); });
}

// What a run gives.
Value ScriptGraph::answer() {
  Value final_states = states();
  if (final_states.failed()) return final_states;
  Value counts = stats();
  if (counts.failed()) return counts;
  Report report(context_);
  report.text("ended", why_ ? why_ : "stopped");  // by another thread
  report.set("states", std::move(final_states));
  report.set("stats", std::move(counts));
  return report.finish();
}

}  // namespace posset::interp
