// See node.h. An Activation is a name for what the policy knows of the node that runs.
#include "sched/graph/node.h"

#include "sched/graph/policy.h"

namespace posset::sched::graph {

PutResult Activation::emit(PortId port, Message&& message) { return policy_.emit(node_, port, std::move(message)); }
std::span<const PutResult> Activation::edge_results() const { return policy_.edge_results(); }
void Activation::again() { policy_.again(node_); }
PutResult Activation::resumed_with() const { return policy_.resumed_with(node_); }
Callback Activation::callback() const { return policy_.callback(node_); }
PortId Activation::port() const { return policy_.call_port(node_); }
EdgeId Activation::edge() const { return policy_.call_edge(node_); }
Message& Activation::message() { return policy_.call_message(node_); }
bool Activation::stopping() const { return policy_.stopping(); }
int64_t Activation::now_ns() const { return policy_.clock().now_ns(); }
const std::string& Activation::name() const { return policy_.plan().nodes[node_].name; }

Progress Node::call(Activation& activation) {
  switch (activation.callback()) {
    case Callback::Start: on_start(activation); break;
    case Callback::Message: on_message(activation, activation.port(), activation.message()); break;
    case Callback::Tick: on_tick(activation); break;
    case Callback::Stop: on_stop(activation); break;
  }
  return Progress::Done;
}

Progress Node::resume(Activation& activation) {
  throw GraphError("node " + activation.name() + " has left its activation in the middle and cannot be resumed");
}

}  // namespace posset::sched::graph
