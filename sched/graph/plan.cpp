// See plan.h. A description is read twice: first all nodes, so that names can be looked up, then the edges.
#include "sched/graph/plan.h"

#include <cxxabi.h>

#include <cstdlib>
#include <utility>

namespace posset::sched::graph {

std::string type_name(TypeTag type) {
  if (!type) return "anything";
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(type->info->name(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? name.get() : type->info->name();
}

Band band_of_priority(int64_t priority) {
  if (priority < 0) throw GraphError("priority " + std::to_string(priority) + " is negative");
  return priority >= 3 ? Band::Control : priority == 2 ? Band::High : Band::Normal;
}

void check_capacity(std::string_view what, int64_t capacity) {
  if (capacity >= 1 && capacity <= kMostCapacity) return;
  throw GraphError("edge " + std::string(what) + ": capacity " + std::to_string(capacity) + " is not between 1 and " +
                   std::to_string(kMostCapacity));
}

void PlanBuilder::check_name(const std::string& name, const char* what) {
  if (!name.empty() && name.find_first_of(":/>\"\\\n") == std::string::npos) return;
  throw GraphError(std::string(what) + " \"" + name + "\": a name is not empty and has none of : / > \" \\");
}

void PlanBuilder::check_ports(const std::string& node, const std::vector<Port>& ports, const char* what) {
  std::unordered_set<std::string> seen;
  for (const Port& port : ports) {
    check_name(port.name, what);
    if (!seen.insert(port.name).second) throw GraphError("node " + node + " has two " + what + "s " + port.name);
  }
}

// ---- nodes ----

void PlanBuilder::add_node(const Subgraph::Unit& unit, const std::string& name) {
  if (!unit.node) throw GraphError("node " + name + " is null");
  check_ports(name, unit.options.inputs, "input port");
  check_ports(name, unit.options.outputs, "output port");
  if (unit.options.tick_interval_ns < kGraphTicks) throw GraphError("node " + name + ": its tick interval is negative");
  const auto number = static_cast<NodeId>(plan_.nodes.size());
  // Two names for one object would let it run twice at a time.
  const auto [other, is_new] = objects_.emplace(unit.node.get(), number);
  if (!is_new) throw GraphError("nodes " + plan_.nodes[other->second].name + " and " + name + " are one object");
  plan_.nodes.push_back({name, unit.node, unit.options, {}, {}});
  plan_.nodes.back().out.resize(unit.options.outputs.size());
  plan_.node_numbers.emplace(name, number);
}

void PlanBuilder::add_unit(const Subgraph::Unit& unit, const std::string& prefix) {
  check_name(unit.name, unit.subgraph ? "subgraph" : "node");
  const std::string name = prefix + unit.name;
  if (name == "host") throw GraphError("no node can be called host: edges from outside come from there");
  if (names_.contains(name)) throw GraphError("two nodes or subgraphs are called " + name);
  if (unit.subgraph) {
    add_nodes(*unit.subgraph, name + "/");
  } else {
    add_node(unit, name);
  }
  names_.insert(name);
}

void PlanBuilder::add_nodes(const Subgraph& graph, const std::string& prefix) {
  for (const Subgraph::Unit& unit : graph.units_) add_unit(unit, prefix);
  if (prefix.empty() && !graph.aliases_.empty()) throw GraphError("only a subgraph can expose ports");
  for (const Subgraph::Alias& alias : graph.aliases_) {
    check_name(alias.name, "exposed port");
    const std::string name = prefix.substr(0, prefix.size() - 1) + ":" + alias.name;
    if (!aliases_.emplace(name, prefix + alias.port).second) throw GraphError("port " + name + " is exposed twice");
  }
}

// ---- edges ----

std::string PlanBuilder::resolved(std::string text) const {
  // An alias names something further in, so this ends.
  for (auto found = aliases_.find(text); found != aliases_.end(); found = aliases_.find(text)) text = found->second;
  return text;
}

PlanBuilder::End PlanBuilder::end_of(const std::string& text, const std::string& prefix, bool output) const {
  const std::string full = resolved(prefix + text);
  const size_t colon = full.find(':');
  if (colon == std::string::npos) throw GraphError("\"" + prefix + text + "\" is not of the form node:port");
  const auto node = plan_.node_numbers.find(full.substr(0, colon));
  if (node == plan_.node_numbers.end()) throw GraphError("unknown node " + full.substr(0, colon) + " in " + prefix + text);
  const NodeOptions& options = plan_.nodes[node->second].options;
  const std::vector<Port>& ports = output ? options.outputs : options.inputs;
  for (PortId port = 0; port < ports.size(); ++port) {
    if (ports[port].name == full.substr(colon + 1)) return {node->second, port};
  }
  throw GraphError("node " + node->first + " has no " + (output ? "output" : "input") + " port " + full.substr(colon + 1));
}

void PlanBuilder::check_options(PlannedEdge& edge) const {
  check_capacity(edge.id, edge.options.capacity);
  try {
    band_of_priority(edge.options.priority);
  } catch (const GraphError& error) {
    throw GraphError("edge " + edge.id + ": " + error.what());
  }
  const bool folds = edge.options.policy == EdgePolicy::Coalesce;
  if (folds && !edge.options.fold) throw GraphError("edge " + edge.id + " coalesces and has no function to fold with");
  if (!folds && edge.options.fold) throw GraphError("edge " + edge.id + " has a function to fold with and does not coalesce");
}

void PlanBuilder::check_types(const PlannedEdge& edge) const {
  const PlannedNode& src = plan_.nodes[edge.src];
  const PlannedNode& dst = plan_.nodes[edge.dst];
  const Port& from = src.options.outputs[edge.src_port];
  const Port& to = dst.options.inputs[edge.dst_port];
  if (to.type != kAnyType && from.type != to.type) {
    throw GraphError("edge " + edge.id + ": " + src.name + ":" + from.name + " gives " + type_name(from.type) + ", " +
                     dst.name + ":" + to.name + " takes " + type_name(to.type));
  }
  if (!src.out[edge.src_port].empty() && from.type != kAnyType && !from.type->copy) {
    throw GraphError("edge " + edge.id + ": " + type_name(from.type) + " cannot be copied, so " + src.name + ":" +
                     from.name + " can have one edge only");
  }
}

const PlannedEdge& PlanBuilder::add_planned(PlannedEdge edge) {
  check_options(edge);
  if (edge.src != kNone) check_types(edge);
  if (check_edge_) check_edge_(plan_, edge);
  const auto number = static_cast<EdgeId>(plan_.edges.size());
  if (!plan_.edge_numbers.emplace(edge.id, number).second) throw GraphError("edge " + edge.id + " is there twice");
  if (edge.src == kNone) {
    plan_.inputs.push_back(number);
  } else {
    plan_.nodes[edge.src].out[edge.src_port].push_back(number);
  }
  plan_.nodes[edge.dst].in.push_back(number);
  return plan_.edges.emplace_back(std::move(edge));
}

const PlannedEdge& PlanBuilder::add_edge(const Subgraph::Connection& connection, const std::string& prefix) {
  const End src = end_of(connection.from, prefix, true);
  const End dst = end_of(connection.to, prefix, false);
  const PlannedNode& from = plan_.nodes[src.node];
  const PlannedNode& to = plan_.nodes[dst.node];
  std::string id = from.name + ":" + from.options.outputs[src.port].name + "->" + to.name + ":" + to.options.inputs[dst.port].name;
  return add_planned({std::move(id), src.node, src.port, dst.node, dst.port, connection.options});
}

const PlannedEdge& PlanBuilder::add_input(const Subgraph::Connection& connection, const std::string& prefix) {
  check_name(connection.from, "input");
  const std::string name = prefix + connection.from;
  const End dst = end_of(connection.to, prefix, false);
  const PlannedNode& to = plan_.nodes[dst.node];
  if (plan_.input_numbers.contains(name)) throw GraphError("two inputs are called " + name);
  std::string id = "host:" + name + "->" + to.name + ":" + to.options.inputs[dst.port].name;
  const PlannedEdge& added = add_planned({std::move(id), kNone, 0, dst.node, dst.port, connection.options});
  plan_.input_numbers.emplace(name, static_cast<EdgeId>(plan_.edges.size() - 1));
  return added;
}

void PlanBuilder::check_port(const std::string& port, const std::string& prefix) const {
  try {
    end_of(port, prefix, true);
  } catch (const GraphError&) {
    end_of(port, prefix, false);
  }
}

void PlanBuilder::add_edges(const Subgraph& graph, const std::string& prefix) {
  for (const Subgraph::Unit& unit : graph.units_) {
    if (unit.subgraph) add_edges(*unit.subgraph, prefix + unit.name + "/");
  }
  // An alias nobody uses must be one of a port, too.
  for (const Subgraph::Alias& alias : graph.aliases_) {
    check_port(alias.port, prefix);
  }
  for (const Subgraph::Connection& connection : graph.connections_) {
    connection.from_host ? add_input(connection, prefix) : add_edge(connection, prefix);
  }
}

// ---- piece by piece ----

void PlanBuilder::add(std::string name, std::shared_ptr<Node> node, NodeOptions options) {
  add_unit({std::move(name), std::move(node), std::move(options), nullptr}, "");
}

void PlanBuilder::add(const std::string& name, const Subgraph& subgraph) {
  add_unit({name, nullptr, {}, std::make_shared<const Subgraph>(subgraph)}, "");
  add_edges(subgraph, name + "/");
}

const PlannedEdge& PlanBuilder::connect(const std::string& from, const std::string& to, EdgeOptions options) {
  return add_edge({from, to, std::move(options)}, "");
}

const PlannedEdge& PlanBuilder::input(const std::string& name, const std::string& to, EdgeOptions options) {
  return add_input({name, to, std::move(options), true}, "");
}

void PlanBuilder::expose(const std::string& name, const std::string& port) {
  check_name(name, "exposed port");
  check_port(port, "");
  if (!exposed_.insert(name).second) throw GraphError("port " + name + " is exposed twice");
}

// ---- the plan ----

Plan PlanBuilder::finish() const {
  Plan plan = plan_;
  plan.start_order = graph::start_order(plan);
  std::vector<size_t> place(plan.nodes.size());
  for (size_t i = 0; i < plan.start_order.size(); ++i) place[plan.start_order[i]] = i;
  for (PlannedEdge& edge : plan.edges) edge.back = edge.src != kNone && place[edge.dst] <= place[edge.src];
  return plan;
}

Plan Plan::of(const Subgraph& description) {
  PlanBuilder builder;
  builder.add_nodes(description, "");
  builder.add_edges(description, "");
  return builder.finish();
}

namespace {

uint32_t number_of(const std::unordered_map<std::string, uint32_t>& numbers, std::string_view name, const char* what) {
  const auto found = numbers.find(std::string(name));
  if (found == numbers.end()) throw GraphError(std::string("unknown ") + what + " " + std::string(name));
  return found->second;
}

}  // namespace

EdgeId Plan::edge(std::string_view id) const { return number_of(edge_numbers, id, "edge"); }
NodeId Plan::node(std::string_view name) const { return number_of(node_numbers, name, "node"); }
EdgeId Plan::input(std::string_view name) const { return number_of(input_numbers, name, "input"); }

}  // namespace posset::sched::graph
