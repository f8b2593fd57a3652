// See trace_panels.h. A trace may have lost its oldest events: a solve whose beginning is gone is told as far as it is known.
#include "interp/api/trace_panels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sched/trace_events.h"

namespace posset::api {

namespace {

using sched::TraceEvent;
using sched::TraceKind;
using sched::TraceType;

// Points of a curve that are written at most; more are thinned evenly.
constexpr size_t kMostPoints = 400;

void append_double(std::string& out, double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  out += std::isfinite(value) ? text : "null";
}

void append_micros(std::string& out, int64_t ns) { append_double(out, static_cast<double>(ns) / 1e3); }

void append_member(std::string& out, const char* name, int64_t value) {
  out += std::string(",\"") + name + "\":" + std::to_string(value);
}

template <class Point, class Write>
void append_points(std::string& out, const std::vector<Point>& points, Write&& write) {
  out += ",\"points\":[";
  const size_t every = (points.size() + kMostPoints - 1) / kMostPoints;
  for (size_t at = 0; at < points.size(); ++at) {
    if (at % every != 0 && at + 1 != points.size()) continue;
    if (out.back() != '[') out += ',';
    out += '[';
    write(points[at]);
    out += ']';
  }
  out += ']';
}

template <class Items, class Write>
void append_list(std::string& out, const Items& items, Write&& write) {
  out += '[';
  for (const auto& each : items) {
    if (out.back() != '[') out += ',';
    out += '\n';
    write(each);
  }
  out += ']';
}

// The word of a field that is a code.
std::string code_of(const TraceView& view, std::string_view field, int64_t value) {
  return value_text(view, TraceType::Code, field, value);
}

// ---- solves ----

struct SolvePoint {
  int64_t time_ns, updates;
  double residual;
};
struct TracedSolve {
  int64_t began_ns = 0, coordinates = 0, workers = 0, schedule = 0;
  int64_t status = -1, updates = 0, took_ns = -1;  // -1: it had not ended
  int64_t rebuilds = 0;
  double residual = NAN;
  std::vector<SolvePoint> points;
};

class Solves {
 public:
  void read(const TraceEvent& event) {
    const auto kind = static_cast<TraceKind>(event.kind);
    if (kind < TraceKind::solve_started || kind > TraceKind::solve_finished) return;
    if (kind == TraceKind::solve_started || !open_.contains(event.fields[0])) begin(event);
    TracedSolve& solve = found_[open_[event.fields[0]]];
    switch (kind) {
      case TraceKind::solve_started:
        solve.coordinates = event.fields[1];
        solve.workers = event.fields[2];
        solve.schedule = event.fields[3];
        break;
      case TraceKind::solve_scanned:
        measured(solve, event.fields[1], event.fields[2]);
        solve.points.push_back({event.time_ns - solve.began_ns, solve.updates, solve.residual});
        break;
      case TraceKind::solve_rebuilt: ++solve.rebuilds; break;
      case TraceKind::solve_switched: solve.schedule = event.fields[2]; break;
      default:
        solve.status = event.fields[1];
        measured(solve, event.fields[2], event.fields[3]);
        solve.took_ns = event.fields[4];
        open_.erase(event.fields[0]);
    }
  }
  const std::vector<TracedSolve>& found() const { return found_; }

 private:
  void begin(const TraceEvent& event) {
    open_[event.fields[0]] = found_.size();
    found_.emplace_back().began_ns = event.time_ns;
  }
  static void measured(TracedSolve& solve, int64_t updates, int64_t bits) {
    solve.updates = updates;
    solve.residual = std::bit_cast<double>(bits);
  }

  std::vector<TracedSolve> found_;
  std::map<int64_t, size_t> open_;  // by number, which is that of a solver; the last one that began
};

// ---- nodes of graphs ----

struct NodePoint {
  int64_t time_ns, waiting;
};
struct TracedNode {
  int64_t turns = 0, messages = 0, took_ns = 0, most_waiting = 0, blocked = 0, blocked_ns = 0;
  std::map<int64_t, int64_t, std::greater<>> bands;  // turns of each, the best first
  std::map<int64_t, int64_t> full;                   // how often each of its edges was, by name
  std::vector<NodePoint> points;
};

// By number; their nodes by name.
using TracedGraphs = std::map<int64_t, std::map<int64_t, TracedNode>>;

void read_node(TracedGraphs& graphs, const TraceEvent& event) {
  const auto node_of = [&]() -> TracedNode& { return graphs[event.fields[0]][event.fields[1]]; };
  switch (static_cast<TraceKind>(event.kind)) {
    case TraceKind::graph_turn: {
      TracedNode& node = node_of();
      ++node.bands[event.fields[2]];
      ++node.turns;
      node.messages += event.fields[3];
      node.most_waiting = std::max(node.most_waiting, event.fields[4]);
      node.took_ns += event.fields[6];
      node.points.push_back({event.time_ns, event.fields[4]});
      break;
    }
    case TraceKind::graph_blocked:
      ++node_of().blocked;
      ++node_of().full[event.fields[2]];
      break;
    case TraceKind::graph_unblocked:
      node_of().blocked_ns += event.fields[2];
      break;
    default:
      break;
  }
}

// Nodes of several graphs may have the same name: then the graphs are counted in the order in which
// they were made.
struct ShownNode {
  std::string name;
  const TracedNode& node;
};

std::vector<ShownNode> shown(const TracedGraphs& graphs, const TraceView& view) {
  std::vector<ShownNode> all;
  size_t count = 0;
  for (const auto& [number, nodes] : graphs) {
    ++count;
    const std::string prefix = graphs.size() > 1 ? "graph " + std::to_string(count) + ": " : "";
    for (const auto& [name, node] : nodes)
      all.push_back({prefix + std::string(view.text(name)), node});
  }
  return all;
}

}  // namespace

void append_solves(std::string& out, const TraceView& view) {
  Solves solves;
  for (const TraceEvent& event : view.snapshot().events) solves.read(event);
  append_list(out, solves.found(), [&](const TracedSolve& solve) {
    out += "{\"status\":";
    append_json(out, solve.status < 0 ? "running" : code_of(view, "status", solve.status));
    out += ",\"schedule\":";
    append_json(out, code_of(view, "schedule", solve.schedule));
    append_member(out, "coordinates", solve.coordinates);
    append_member(out, "workers", solve.workers);
    append_member(out, "updates", solve.updates);
    append_member(out, "rebuilds", solve.rebuilds);
    out += ",\"residual\":";
    append_double(out, solve.residual);
    out += ",\"took\":";
    solve.took_ns < 0 ? append_double(out, NAN) : append_micros(out, solve.took_ns);
    append_points(out, solve.points, [&](const SolvePoint& point) {
      append_micros(out, point.time_ns);
      out += ',' + std::to_string(point.updates) + ',';
      append_double(out, point.residual);
    });
    out += '}';
  });
}

void append_graph_nodes(std::string& out, const TraceView& view) {
  TracedGraphs graphs;
  for (const TraceEvent& event : view.snapshot().events) read_node(graphs, event);
  append_list(out, shown(graphs, view), [&](const ShownNode& each) {
    const TracedNode& node = each.node;
    out += "{\"name\":";
    append_json(out, each.name);
    out += ",\"bands\":";
    append_list(out, node.bands, [&](const auto& band) {
      out += "{\"name\":";
      append_json(out, code_of(view, "band", band.first));
      append_member(out, "turns", band.second);
      out += '}';
    });
    out += ",\"full\":";
    append_list(out, node.full, [&](const auto& edge) {
      out += "{\"edge\":";
      append_json(out, view.text(edge.first));
      append_member(out, "times", edge.second);
      out += '}';
    });
    append_member(out, "turns", node.turns);
    append_member(out, "messages", node.messages);
    append_member(out, "waiting", node.most_waiting);
    append_member(out, "blocked", node.blocked);
    out += ",\"took\":";
    append_micros(out, node.took_ns);
    out += ",\"blockedFor\":";
    append_micros(out, node.blocked_ns);
    append_points(out, node.points, [&](const NodePoint& point) {
      append_micros(out, point.time_ns);
      out += ',' + std::to_string(point.waiting);
    });
    out += '}';
  });
}

}  // namespace posset::api
