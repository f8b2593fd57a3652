// The plan: a description flattened to arrays, checked, and never changed after. Nodes and edges have dense numbers,
// nodes in the order they were registered (a subgraph's at its place), edges in the order they were connected, inner ones
// first. An edge is called `src:port->dst:port` with full names, so the same description gives the same names
// everywhere; input edges come from `host`.
//
// Start order: producers before consumers. Where nodes form a cycle nobody is first, so the strongly connected
// components are ordered, inside one the order of registration holds, and that decides ties as well.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sched/graph/subgraph.h"

namespace posset::sched::graph {

struct PlannedNode {
  std::string name;
  std::shared_ptr<Node> node;
  NodeOptions options;
  std::vector<std::vector<EdgeId>> out;  // by output port
  std::vector<EdgeId> in;
};

struct PlannedEdge {
  std::string id;
  NodeId src = kNone;  // kNone: from outside
  PortId src_port = 0;
  NodeId dst = 0;
  PortId dst_port = 0;
  EdgeOptions options;
  bool back = false;  // leads from a node to itself or to one that starts earlier
};

struct Plan {
  std::vector<PlannedNode> nodes;
  std::vector<PlannedEdge> edges;
  std::vector<EdgeId> inputs;      // edges from outside
  std::vector<NodeId> start_order;
  std::unordered_map<std::string, EdgeId> edge_numbers;
  std::unordered_map<std::string, NodeId> node_numbers;
  std::unordered_map<std::string, EdgeId> input_numbers;  // by the input's name

  // Throws GraphError with the names of what is wrong: empty or malformed names, duplicates, unknown ports, types that
  // differ, capacities out of range, a port of a type that cannot be copied on several edges, a missing fold.
  static Plan of(const Subgraph& description);

  // Throw GraphError for what is not there.
  EdgeId edge(std::string_view id) const;
  NodeId node(std::string_view name) const;
  EdgeId input(std::string_view name) const;

  // The plan for a picture, in the language of graphviz.
  std::string dot() const;
};

// Throws GraphError unless 1 <= capacity <= kMostCapacity. `what` is the edge, for the message.
void check_capacity(std::string_view what, int64_t capacity);

std::vector<NodeId> start_order(const Plan& plan);

}  // namespace posset::sched::graph
