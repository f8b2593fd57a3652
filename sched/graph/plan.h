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
#include <unordered_set>
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

// Makes a plan piece by piece, for whoever wants to be told at once what is wrong: a GraphError, and then nothing was added
// (of a subgraph that is wrong in itself, parts). What an edge joins must be there before it. Copied, it goes on as two.
class PlanBuilder {
 public:
  void add(std::string name, std::shared_ptr<Node> node, NodeOptions options);
  void add(const std::string& name, const Subgraph& subgraph);
  // Give the edge.
  const PlannedEdge& connect(const std::string& from, const std::string& to, EdgeOptions options);
  const PlannedEdge& input(const std::string& name, const std::string& to, EdgeOptions options);
  // Asked before an edge is added, when all else is right with it; throws GraphError. For types that tags do not tell of.
  void check_edges(std::function<void(const Plan& so_far, const PlannedEdge& edge)> check) { check_edge_ = std::move(check); }
  // Whether this, as a subgraph, could expose a port by that name.
  void expose(const std::string& name, const std::string& port);

  // What there is, without an order.
  const Plan& so_far() const { return plan_; }
  Plan finish() const;

 private:
  friend struct Plan;
  struct End {
    NodeId node;
    PortId port;
  };

  void add_nodes(const Subgraph& graph, const std::string& prefix);
  void add_edges(const Subgraph& graph, const std::string& prefix);
  void add_unit(const Subgraph::Unit& unit, const std::string& prefix);
  void add_node(const Subgraph::Unit& unit, const std::string& name);
  const PlannedEdge& add_edge(const Subgraph::Connection& connection, const std::string& prefix);
  const PlannedEdge& add_input(const Subgraph::Connection& connection, const std::string& prefix);
  const PlannedEdge& add_planned(PlannedEdge edge);
  void check_options(PlannedEdge& edge) const;
  void check_types(const PlannedEdge& edge) const;
  void check_port(const std::string& port, const std::string& prefix) const;
  End end_of(const std::string& text, const std::string& prefix, bool output) const;
  // What an end means within all of the graph, aliases of subgraphs followed.
  std::string resolved(std::string text) const;

  static void check_name(const std::string& name, const char* what);
  static void check_ports(const std::string& node, const std::vector<Port>& ports, const char* what);

  Plan plan_;
  std::function<void(const Plan&, const PlannedEdge&)> check_edge_;
  std::unordered_set<std::string> names_;                 // of nodes and subgraphs
  std::unordered_set<std::string> exposed_;
  std::unordered_map<const Node*, NodeId> objects_;
  std::unordered_map<std::string, std::string> aliases_;  // `subgraph:port`, for `node:port`
};

// Throws GraphError unless 1 <= capacity <= kMostCapacity. `what` is the edge, for the message.
void check_capacity(std::string_view what, int64_t capacity);

std::vector<NodeId> start_order(const Plan& plan);

}  // namespace posset::sched::graph
