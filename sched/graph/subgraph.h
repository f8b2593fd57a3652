// The description of a graph: nodes with typed ports, subgraphs, edges, inputs from outside. Only a list of what the
// host said; nothing is checked or looked up before the plan is made of it (plan.h), so the order of the calls
// does not matter except where order is the rule: nodes are registered in the order of `add`.
//
// Ends of edges are written `node:port`, with a subgraph's nodes as `subgraph/node`. A subgraph can give ports of its
// nodes names of its own, which are used as those of a node would be: `subgraph:port`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sched/graph/node.h"

namespace posset::sched::graph {

struct Port {
  std::string name;
  TypeTag type = kAnyType;
};

template <class T>
Port port(std::string name) {
  return {std::move(name), type_tag<T>()};
}

constexpr int64_t kNoTicks = 0;
constexpr int64_t kGraphTicks = -1;  // at the interval of the graph's configuration

struct NodeOptions {
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  int64_t tick_interval_ns = kNoTicks;
  ErrorPolicy on_error = ErrorPolicy::Skip;
};

// Makes one item of the newest in the edge and the one that comes. Both are left alone, so that a function that
// throws has spoilt nothing.
using Fold = std::function<Message(const Message& newest, const Message& item)>;

template <class T, class Function>
Fold fold(Function function) {
  return [function = std::move(function)](const Message& newest, const Message& item) {
    return Message::of<T>(function(newest.get<T>(), item.get<T>()));
  };
}

constexpr int64_t kMostCapacity = int64_t{1} << 24;

struct EdgeOptions {
  int64_t capacity = 1024;
  EdgePolicy policy = EdgePolicy::Block;
  int64_t priority = 0;
  Fold fold;  // for EdgePolicy::Coalesce
};

class Subgraph {
 public:
  void add(std::string name, std::shared_ptr<Node> node, NodeOptions options);
  void add(std::string name, Subgraph subgraph);
  void connect(std::string from, std::string to, EdgeOptions options = {});
  // A way in for other threads. Its edge is called `host:NAME->node:port`.
  void input(std::string name, std::string to, EdgeOptions options = {});
  // Lets `NAME` of this subgraph mean an input or output port of one of its nodes.
  void expose(std::string name, std::string port);

  // The same with another object for each node: one description can be in a graph more than once, an object cannot.
  Subgraph renewed(const std::function<std::shared_ptr<Node>(const Node&)>& another) const;

 private:
  friend class PlanBuilder;
  struct Unit {
    std::string name;
    std::shared_ptr<Node> node;  // null: the subgraph
    NodeOptions options;
    std::shared_ptr<const Subgraph> subgraph;
  };
  struct Connection {
    std::string from;
    std::string to;
    EdgeOptions options;
    bool from_host = false;
  };
  struct Alias {
    std::string name;
    std::string port;
  };
  std::vector<Unit> units_;
  std::vector<Connection> connections_;
  std::vector<Alias> aliases_;
};

}  // namespace posset::sched::graph
