// See graph.h. Here: what a graph is described as, and how the description becomes a loop.
#include "interp/runtime/graph.h"

#include <utility>

#include "interp/runtime/work.h"
#include "interp/value/list.h"

namespace posset::interp {

namespace {

namespace graph = sched::graph;

// What a node and an edge take of memory beside the script's values: in the description (twice), the plan and the loop.
constexpr size_t kNodeBytes = 2048;
constexpr size_t kEdgeBytes = 1536;
constexpr size_t kMostProblems = 100;
constexpr size_t kMostBytes = 1000;  // of one

PortTypeRef type_of_port(const graph::PlannedNode& node, graph::PortId port, bool output) {
  const auto& script_node = static_cast<const ScriptNode&>(*node.node);
  const std::vector<PortTypeRef>& types = output ? script_node.output_types : script_node.input_types;
  return port < types.size() ? types[port] : nullptr;
}

void check_port_types(const graph::Plan& plan, const graph::PlannedEdge& edge) {
  if (edge.src == graph::kNone) return;
  const graph::PlannedNode &src = plan.nodes[edge.src], &dst = plan.nodes[edge.dst];
  const PortTypeRef from = type_of_port(src, edge.src_port, true), to = type_of_port(dst, edge.dst_port, false);
  if (!from || !to || to->takes_all_of(*from) || from->takes_all_of(*to)) return;
  throw graph::GraphError("edge " + edge.id + ": " + src.name + ":" + src.options.outputs[edge.src_port].name + " gives " +
                          from->text() + ", " + dst.name + ":" + dst.options.inputs[edge.dst_port].name + " takes " + to->text());
}

}  // namespace

ScriptGraph::ScriptGraph(Context& context, graph::GraphConfig config, bool drains)
    : context_(context), tasks_(tasks_of(context)), config_(std::move(config)), drains_(drains) {
  described_.check_edges(check_port_types);
  config_.on_incident = [this](const graph::Incident& incident) { told(incident); };
}

ScriptGraph::~ScriptGraph() {
  door_->close();
  context_.heap.discharge(charged_);
}

bool ScriptGraph::charge(size_t bytes) {
  if (!context_.heap.charge(bytes)) return or_memory_limit(context_, false);
  charged_ += bytes;
  return true;
}

// ---- describing ----

void ScriptGraph::want_described(const std::string& what) const {
  if (phase_ == Phase::Described) return;
  throw graph::GraphError("cannot add " + what + ": the graph " +
                          (phase_ == Phase::Ended ? "has ended" : phase_ == Phase::Running ? "is running" : "has been used"));
}

// Puts `count` values of one list behind those of another. False: raised.
bool ScriptGraph::add_values(Borrowed held, Borrowed values, uint64_t first, uint64_t count) {
  Borrowed& list = held.as<Ref>()->value;
  for (uint64_t i = first; i < first + count; ++i) {
    if (!list_push(context_.heap, list, list_copy(values.as<List>(), i))) return or_memory_limit(context_, false);
  }
  return true;
}

// What a description says.
std::shared_ptr<ScriptNode> ScriptGraph::like(const ScriptNode& node) {
  auto made = std::make_shared<ScriptNode>();
  made->place = node.place;
  made->on_error = node.on_error;
  made->has_state = node.has_state;
  made->input_types = node.input_types;
  made->output_types = node.output_types;
  made->host = node.host;
  return made;
}

bool ScriptGraph::add(Borrowed held, std::string name, ScriptNode node, graph::NodeOptions options,
                      Value (&values)[ScriptNode::kValues]) {
  want_described("node " + name);
  if (!charge(kNodeBytes + name.size())) return false;
  Borrowed& list = held.as<Ref>()->value;
  node.place = list.as<List>()->size;
  std::shared_ptr<ScriptNode> made = like(node);
  described_.add(name, made, options);
  as_part_.add(std::move(name), std::move(made), std::move(options));
  for (Value& each : values) {
    if (!list_push(context_.heap, list, std::move(each))) return or_memory_limit(context_, false);
  }
  return true;
}

// A part is copied: what becomes of it later does not matter, and it can be a part more than once.
bool ScriptGraph::add(Borrowed held, std::string name, const ScriptGraph& part, Borrowed held_by_part) {
  want_described("subgraph " + name);
  if (&part == this) throw graph::GraphError("subgraph " + name + " is the graph itself");
  if (part.phase_ != Phase::Described) throw graph::GraphError("subgraph " + name + " has been run or used as a graph");
  const size_t nodes = part.described().nodes.size(), edges = part.described().edges.size();
  if (!context_.charge(nodes + edges)) return false;
  if (!charge(nodes * (kNodeBytes + name.size()) + edges * kEdgeBytes)) return false;
  const uint64_t place = held.as<Ref>()->value.as<List>()->size;
  const graph::Subgraph copy = part.as_part_.renewed([place](const graph::Node& each) {
    const auto& original = static_cast<const ScriptNode&>(each);
    std::shared_ptr<ScriptNode> node = like(original);
    node->place += place;
    return node;
  });
  described_.add(name, copy);
  as_part_.add(std::move(name), copy);
  const Value values = Value::copy(held_by_part.as<Ref>()->value);
  return add_values(held, values, 0, values->as<List>()->size);
}

const std::string* ScriptGraph::connect(std::string from, std::string to, graph::EdgeOptions options) {
  want_described("edge " + from + "->" + to);
  if (!charge(kEdgeBytes + from.size() + to.size())) return nullptr;
  const std::string& id = described_.connect(from, to, options).id;
  as_part_.connect(std::move(from), std::move(to), std::move(options));
  return &id;
}

const std::string* ScriptGraph::input(std::string name, std::string to, graph::EdgeOptions options) {
  want_described("input " + name);
  if (!charge(kEdgeBytes + name.size() + to.size())) return nullptr;
  const std::string& id = described_.input(name, to, options).id;
  as_part_.input(std::move(name), std::move(to), std::move(options));
  return &id;
}

void ScriptGraph::expose(std::string name, std::string port) {
  want_described("port " + name);
  described_.expose(name, port);
  as_part_.expose(std::move(name), std::move(port));
}

// ---- the loop ----

// Makes the loop when it is first wanted. False: raised, or it has ended.
bool ScriptGraph::prepare() {
  if (phase_ != Phase::Described) return true;
  if (!context_.charge(described().nodes.size() + described().edges.size())) return false;
  graph::Plan plan = described_.finish();
  reserved_.assign(plan.edges.size(), 0);
  plan_.emplace(std::move(plan));
  look_at_values();
  if (!reserve_inputs()) return false;
  loop_.emplace(*plan_, context_.runtime.clock, config_, context_.runtime.trace.get(), static_cast<graph::Notifier&>(*this));
  senders_.resize(plan_->edges.size());
  for (graph::EdgeId input : plan_->inputs) senders_[input] = std::make_unique<WaitQueue>();
  if (!drains_) loop_->never_drain();
  door_->open(*loop_, looked_at_, *this, context_.runtime.clock);
  phase_ = Phase::Planned;
  return true;
}

// Which edges have ends that say too little for their values to be right, or a fold, of which nothing is known.
void ScriptGraph::look_at_values() {
  looked_at_.clear();
  for (const graph::PlannedEdge& edge : plan_->edges) {
    const PortTypeRef to = type_of_port(plan_->nodes[edge.dst], edge.dst_port, false);
    const PortTypeRef from = edge.src == graph::kNone ? nullptr : type_of_port(plan_->nodes[edge.src], edge.src_port, true);
    const bool is_right = from && to && to->takes_all_of(*from) && !edge.options.fold;
    looked_at_.push_back(is_right ? nullptr : to.get());
  }
}

// An input keeps up to its capacity outside of its edge, and as many in it.
bool ScriptGraph::reserve_inputs() {
  for (graph::EdgeId input : plan_->inputs) {
    const auto capacity = static_cast<size_t>(plan_->edges[input].options.capacity);
    if (!charge(2 * capacity * sizeof(graph::Message))) return false;
    reserved_[input] = capacity;
  }
  return true;
}

// ---- incidents ----

// Of what may be as long as memory allows only the beginning is kept.
void ScriptGraph::note(std::string text) {
  if (problems_.size() >= kMostProblems) return;
  if (text.size() > kMostBytes) {
    size_t end = kMostBytes;
    while ((static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) --end;  // within a scalar
    text.replace(end, std::string::npos, "...");
  }
  problems_.push_back(std::move(text));
}

void ScriptGraph::told(const graph::Incident& incident) {
  using Kind = graph::Incident::Kind;
  if (dead_) return;
  note(incident.text);
  if (incident.kind == Kind::Deadlock && loop_->policy().phase() == graph::GraphPolicy::Phase::Running) {
    fail(ErrorCode::Deadlock, incident.text, "more capacity or another policy for one of them would let it go on");
  } else if (incident.kind == Kind::Cancelled) {
    fail(ErrorCode::Deadlock, incident.text, "a handler ends when `emit` answers \"stopping\"");
  }
}

}  // namespace posset::interp
