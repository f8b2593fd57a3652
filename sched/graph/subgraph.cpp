// See subgraph.h.
#include "sched/graph/subgraph.h"

#include <utility>

namespace posset::sched::graph {

void Subgraph::add(std::string name, std::shared_ptr<Node> node, NodeOptions options) {
  units_.push_back({std::move(name), std::move(node), std::move(options), nullptr});
}

void Subgraph::add(std::string name, Subgraph subgraph) {
  units_.push_back({std::move(name), nullptr, {}, std::make_shared<const Subgraph>(std::move(subgraph))});
}

void Subgraph::connect(std::string from, std::string to, EdgeOptions options) {
  connections_.push_back({std::move(from), std::move(to), std::move(options)});
}

void Subgraph::input(std::string name, std::string to, EdgeOptions options) {
  connections_.push_back({std::move(name), std::move(to), std::move(options), true});
}

void Subgraph::expose(std::string name, std::string port) { aliases_.push_back({std::move(name), std::move(port)}); }

Subgraph Subgraph::renewed(const std::function<std::shared_ptr<Node>(const Node&)>& another) const {
  Subgraph made = *this;
  for (Unit& unit : made.units_) {
    if (unit.node) unit.node = another(*unit.node);
    if (unit.subgraph) unit.subgraph = std::make_shared<const Subgraph>(unit.subgraph->renewed(another));
  }
  return made;
}

}  // namespace posset::sched::graph
