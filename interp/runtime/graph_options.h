// What the records have to hold that describe a graph, a run, a node and an edge. The record of a graph and of a run
// is argument 0 of the call, a node's 1 (behind its name), an edge's 2. False: raised.
#pragma once

#include "interp/runtime/graph.h"
#include "interp/runtime/native.h"

namespace posset::interp {

struct GraphAsked {
  sched::graph::GraphConfig config;
  bool drains = true;
};

struct RunAsked {
  int64_t timeout_ns = sched::kNever;
};

struct NodeAsked {
  NodeAsked() { options.on_error = sched::graph::ErrorPolicy::Stop; }  // as `errors: "raise"`, which `node` begins with

  ScriptNode node;
  sched::graph::NodeOptions options;
  Value values[ScriptNode::kValues];
  bool says_tick = false;
};

// The graph's handle (builtins_graph.cpp). Failed: raised.
Value make_graph(Context& context, GraphAsked asked);

bool read_graph_options(NativeCall& call, GraphAsked& asked);
bool read_run_options(NativeCall& call, RunAsked& asked);
bool read_node(NativeCall& call, NodeAsked& asked);
bool read_edge_options(NativeCall& call, sched::graph::EdgeOptions& options);

}  // namespace posset::interp
