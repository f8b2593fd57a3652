// See graph.h. Here: what comes into a graph and what its handlers send, and the changes of edges.
#include <stdexcept>
#include <utility>

#include "interp/runtime/call.h"
#include "interp/runtime/forks.h"
#include "interp/runtime/graph.h"
#include "interp/runtime/messages.h"
#include "interp/runtime/work.h"
#include "interp/value/string.h"

namespace posset::interp {

namespace {

namespace graph = sched::graph;
using graph::EdgeId;
using graph::Message;
using graph::PortId;
using graph::Progress;
using graph::PutResult;

// Of at most 14 bytes each: so they are made without an allocation.
Value name_of(PutResult result) {
  static constexpr const char* kNames[] = {"ok", "coalesced", "replaced", "dropped", "blocked", "stopping"};
  return Value::adopt(make_short(kNames[static_cast<size_t>(result)]));
}

std::string list_of_ports(const std::vector<graph::Port>& ports) {
  if (ports.empty()) return "; it has none";
  std::string text = "; it has ";
  for (size_t i = 0; i < ports.size(); ++i) text += (i > 0 ? ", " : "") + ports[i].name;
  return text;
}

}  // namespace

// ---- from a handler ----

bool ScriptGraph::is_running(const ScriptNode& node, const char* what) {
  if (node.job && node.job == &tasks_.current() && runner_ == node.job) return true;
  context_.raise(ErrorCode::BadArgument, "node " + plan_->nodes[node.id].name + ": " + what + " outside of its handlers");
  return false;
}

// What waits in an edge is charged for before it is there, by as much as its ring grows. False: raised.
bool ScriptGraph::reserve(EdgeId edge) {
  size_t& reserved = reserved_[edge];
  if (loop_->policy().depth(edge) < reserved) return true;
  const size_t more = reserved == 0 ? 8 : reserved;
  if (!charge(more * sizeof(Message))) return false;
  reserved += more;
  return true;
}

Value ScriptGraph::emit(ScriptNode& node, std::string_view port, Value v) {
  if (!is_running(node, "emit") || !context_.charge_one()) return Value::failure();
  const graph::PlannedNode& planned = plan_->nodes[node.id];
  const std::vector<graph::Port>& ports = planned.options.outputs;
  PortId number = 0;
  while (number < ports.size() && ports[number].name != port) ++number;
  if (number == ports.size()) {
    return context_.raise(ErrorCode::BadArgument, "node " + planned.name + " has no output port " + std::string(port) + list_of_ports(ports));
  }
  const std::optional<PutResult> result = put(node, number, std::move(v));
  return result ? name_of(*result) : Value::failure();
}

std::optional<PutResult> ScriptGraph::emit(ScriptNode& node, PortId port, Value v) {
  if (!is_running(node, "emit") || !context_.charge_one()) return std::nullopt;
  const graph::PlannedNode& planned = plan_->nodes[node.id];
  if (port < planned.options.outputs.size()) return put(node, port, std::move(v));
  context_.raise(ErrorCode::BadArgument, "node " + planned.name + " has no output port number " + std::to_string(port) +
                                             list_of_ports(planned.options.outputs));
  return std::nullopt;
}

// What its node says of the port. False: raised.
bool ScriptGraph::is_given(const ScriptNode& node, PortId port, Borrowed v) {
  if (port >= node.output_types.size() || !node.output_types[port] || node.output_types[port]->takes(context_, v)) return true;
  if (context_.error_pending()) return false;
  const graph::PlannedNode& planned = plan_->nodes[node.id];
  context_.raise(ErrorCode::TypeMismatch, "node " + planned.name + ": " + planned.options.outputs[port].name + " gives " +
                                              node.output_types[port]->text() + ", got " + kind_and_value(context_, v));
  return false;
}

// What the consumer says of an edge whose values are looked at. False: raised.
bool ScriptGraph::is_taken(EdgeId edge, Borrowed v, const std::string& by) {
  if (looked_at_[edge]->takes(context_, v)) return true;
  if (context_.error_pending()) return false;
  const graph::PlannedEdge& planned = plan_->edges[edge];
  const graph::PlannedNode& to = plan_->nodes[planned.dst];
  context_.raise(ErrorCode::TypeMismatch, by + " along " + planned.id + ", but " + to.name + ":" + to.options.inputs[planned.dst_port].name +
                                              " takes " + looked_at_[edge]->text() + ", got " + kind_and_value(context_, v));
  return false;
}

std::optional<PutResult> ScriptGraph::put(ScriptNode& node, PortId port, Value v) {
  if (!is_given(node, port, v)) return std::nullopt;
  for (EdgeId edge : plan_->nodes[node.id].out[port]) {
    if (looked_at_[edge] && !is_taken(edge, v, "node " + plan_->nodes[node.id].name + " sends")) return std::nullopt;
    if (!reserve(edge)) return std::nullopt;
  }
  graph::GraphPolicy& policy = loop_->policy();
  const PutResult result = policy.emit(node.id, port, Message::of(GraphItem(std::move(v))));
  if (context_.error_pending()) return std::nullopt;  // a limit, in a fold
  if (result != PutResult::Blocked) return result;
  if (!leave(node, Progress::Suspended) || !come_back(node)) return std::nullopt;
  return policy.resumed_with(node.id);
}

Value ScriptGraph::again(ScriptNode& node) {
  if (!is_running(node, "again")) return Value::failure();
  loop_->policy().again(node.id);
  return Value();
}

Value ScriptGraph::port(ScriptNode& node) {
  if (!is_running(node, "port")) return Value::failure();
  const graph::GraphPolicy& policy = loop_->policy();
  if (policy.callback(node.id) != graph::Callback::Message) return Value();
  Value name = make_string(context_.heap, plan_->nodes[node.id].options.inputs[policy.call_port(node.id)].name);
  return name.failed() ? context_.raise_memory_limit() : std::move(name);
}

// ---- folds ----

// The function is pure, so it waits for nothing; but its quantum may end, and then the graph is in the middle of an emit
// and no other fiber can have the role.
graph::Fold script_fold(Context& context, Value function) {
  auto kept = std::make_shared<Value>(std::move(function));
  return [&context, kept](const Message& newest, const Message& item) {
    Job& self = tasks_of(context).current();
    Turn* const turn = std::exchange(self.turn, nullptr);
    ForkRecord* const forks = context.fork_top;
    Callback call(context, *kept);
    Value folded = Value::failure();
    if (!context.error_pending()) {
      Value first = value_of_message(context, newest);
      Value second = first.failed() ? Value::failure() : value_of_message(context, item);
      if (!second.failed()) folded = call(std::move(first), std::move(second));
    }
    drop_forks(context, forks);  // that an error has left
    self.turn = turn;
    if (!folded.failed()) return Message::of(GraphItem(std::move(folded)));
    if (!context.limit_pending()) static_cast<void>(context.take_error());
    throw std::runtime_error("the fold failed");
  };
}

// ---- from outside ----

// Waits for room, behind those who wait already.
Value ScriptGraph::send(std::string_view input, Value v) {
  if (phase_ == Phase::Ended) return name_of(PutResult::Stopping);
  const EdgeId edge = described().input(input);
  if (!prepare() || !context_.charge_one()) return Value::failure();
  if (looked_at_[edge] && !is_taken(edge, v, "what is sent to " + std::string(input) + " goes")) return Value::failure();
  door_->sweep();
  WaitQueue& waiting = *senders_[edge];
  if (!waiting.has_any()) {
    Message item = Message::of(GraphItem(std::move(v)));
    const PutResult result = loop_->mailbox().put(edge, item);
    if (result != PutResult::Blocked) return name_of(result);
    v = std::move(item.get<GraphItem>().value);
  }
  Choice choice(tasks_.current());
  Waiter waiter(choice, std::move(v));
  waiting.push(waiter);
  ++sending_;
  const bool sent = tasks_.wait_for(choice, "room in an input of a graph");
  --sending_;
  return sent ? std::move(waiter.value) : Value::failure();
}

const std::shared_ptr<GraphDoor>* ScriptGraph::door(std::string_view input, EdgeId& number) {
  number = described().input(input);
  return phase_ == Phase::Ended || prepare() ? &door_ : nullptr;
}

// Puts what is sent where there is room by now, in the order in which it was sent.
void ScriptGraph::serve_senders() {
  door_->sweep();
  for (EdgeId edge : plan_->inputs) {
    while (Waiter* waiter = senders_[edge]->first()) {
      Message item = Message::of(GraphItem(std::move(waiter->value)));
      const PutResult result = loop_->mailbox().put(edge, item);
      if (result == PutResult::Blocked) {
        waiter->value = std::move(item.get<GraphItem>().value);
        break;
      }
      waiter->value = name_of(result);
      senders_[edge]->take();
    }
  }
}

// ---- edges ----

// False: raised.
bool ScriptGraph::can_change(std::string_view edge) {
  if (phase_ == Phase::Ended) throw graph::GraphError("edge " + std::string(edge) + " cannot be changed: the graph has ended");
  static_cast<void>(described().edge(edge));  // before the graph is described for good
  return prepare();
}

bool ScriptGraph::set_priority(std::string_view edge, int64_t priority) {
  if (!can_change(edge)) return false;
  loop_->set_priority(edge, priority);
  return true;
}

// More capacity of an input is charged for before it is there, that of other edges when it is used.
bool ScriptGraph::set_capacity(std::string_view edge, int64_t capacity) {
  if (!can_change(edge)) return false;
  const EdgeId number = plan_->edge(edge);
  graph::check_capacity(edge, capacity);
  const auto wanted = static_cast<size_t>(capacity);
  if (senders_[number] && wanted > reserved_[number]) {
    if (!charge(2 * (wanted - reserved_[number]) * sizeof(Message))) return false;
    reserved_[number] = wanted;
  }
  loop_->set_capacity(edge, capacity);
  return true;
}

}  // namespace posset::interp
