// See policy.h. Here: turns, calls and how they end. Items are in policy_edges.cpp, beginning and end in policy_end.cpp.
#include "sched/graph/policy.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "sched/trace_events.h"

namespace posset::sched::graph {

GraphPolicy::GraphPolicy(const Plan& plan, const Clock& clock, const GraphConfig& config, Trace* trace)
    : plan_(plan),
      clock_(clock),
      config_(config),
      trace_(trace),
      nodes_(plan.nodes.size()),
      edges_(plan.edges.size()),
      ready_(plan.nodes.size(), config.weights) {
  check_config();
  size_t most_results = 0;
  for (NodeId i = 0; i < nodes_.size(); ++i) {
    const PlannedNode& planned = plan.nodes[i];
    for (const std::vector<EdgeId>& port : planned.out) most_results = std::max(most_results, port.size());
    const int64_t interval_ns = planned.options.tick_interval_ns;
    nodes_[i].tick_interval_ns = interval_ns == kGraphTicks ? config.tick_interval_ns : interval_ns;
    nodes_[i].on_error = planned.options.on_error;
    if (trace) nodes_[i].trace_name = trace->text(planned.name);
  }
  for (EdgeId i = 0; i < edges_.size(); ++i) {
    const PlannedEdge& planned = plan.edges[i];
    EdgeState& edge = edges_[i];
    edge.capacity = planned.options.capacity;
    edge.src = planned.src;
    edge.dst = planned.dst;
    edge.dst_port = planned.dst_port;
    edge.policy = planned.options.policy;
    edge.band = band_of_priority(planned.options.priority);
    edge.back = planned.back;
    if (trace) edge.trace_name = trace->text(planned.id);
  }
  results_.resize(most_results);
}

void GraphPolicy::check_config() const {
  if (config_.max_batch == 0) throw GraphError("max_batch is 0");
  if (config_.max_emits == 0) throw GraphError("max_emits is 0");
  if (config_.tick_interval_ns <= 0) throw GraphError("the tick interval is not positive");
  if (config_.shutdown_timeout_ns < 0) throw GraphError("the shutdown timeout is negative");
  for (uint32_t weight : config_.weights) {
    if (weight == 0) throw GraphError("a band has the weight 0: its nodes would never have a turn");
  }
}

// ---- who is ready ----

// Empty: it could not be called now.
std::optional<Band> GraphPolicy::ready_band(const NodeState& node) const {
  if (node.held > 0) return std::nullopt;
  switch (node.activity) {
    case Activity::Running:
    case Activity::Parked: return std::nullopt;
    case Activity::Waiting:
    case Activity::Yielded: return node.call_band;
    case Activity::Idle: break;
  }
  if (!node.started || node.closed || stopping()) return std::nullopt;
  for (size_t band = kBands; band-- > 0;) {
    if (node.inputs[band].first != kNone) return std::max(static_cast<Band>(band), node.retry ? node.call_band : Band::Normal);
  }
  if (node.retry) return node.call_band;
  if (node.tick_due || node.again) return Band::Normal;
  return std::nullopt;
}

void GraphPolicy::refresh(NodeId id) {
  if (id == turn_.node) return;  // when its turn ends
  const std::optional<Band> band = ready_band(nodes_[id]);
  if (ready_.queued(id)) {
    if (band == ready_.band_of(id)) return;
    ready_.remove(id);
  }
  if (band) ready_.append(id, *band);
}

void GraphPolicy::set_activity(NodeState& node, Activity activity) {
  parked_ += (activity == Activity::Parked) - (node.activity == Activity::Parked);
  node.activity = activity;
}

// ---- time ----

void GraphPolicy::read_clock() {
  if (!now_is_fresh_) now_ns_ = clock_.now_ns();
  now_is_fresh_ = false;
  if (asleep_since_ns_ == kNever) return;
  counts_.slept_ns.add(static_cast<uint64_t>(now_ns_ - asleep_since_ns_));
  asleep_since_ns_ = kNever;
}

void GraphPolicy::expire_timers() {
  if (timers_.next_ns() <= now_ns_) counts_.timers.add(timers_.expire(now_ns_));
}

void GraphPolicy::schedule_tick(NodeId id) {
  nodes_[id].timer = timers_.add(nodes_[id].tick_due_ns, [this, id] {
    nodes_[id].tick_due = true;
    refresh(id);
  });
}

// ---- turns ----

void GraphPolicy::open_turn(NodeId id, Band band, bool single) {
  turn_ = {.node = id, .band = band, .single = single, .since_ns = now_ns_};
  if (single) return;
  nodes_[id].counts.turns.add();
  counts_.turns.add();
  counts_.band_turns[static_cast<size_t>(band)].add();
}

void GraphPolicy::end_turn() {
  const Turn turn = std::exchange(turn_, Turn());
  now_ns_ = clock_.now_ns();
  now_is_fresh_ = true;
  refresh(turn.node);
  if (turn.single) return;
  NodeState& node = nodes_[turn.node];
  const int64_t took_ns = now_ns_ - turn.since_ns;
  node.counts.busy_ns.add(static_cast<uint64_t>(took_ns));
  counts_.turn_times[turn_time_place(took_ns)].add();
  if (!trace_) return;
  size_t waiting = 0;
  for (EdgeId edge : plan_.nodes[turn.node].in) waiting += edges_[edge].queue.size();
  trace_->record(static_cast<uint16_t>(TraceKind::graph_turn),
                 {config_.number, node.trace_name, static_cast<int64_t>(turn.band), turn.messages,
                  static_cast<int64_t>(waiting), static_cast<int64_t>(ready_.size()), took_ns});
}

std::optional<GraphPolicy::Action> GraphPolicy::continue_turn() {
  if (turn_.node == kNone) return std::nullopt;
  const NodeId id = turn_.node;
  const NodeState& node = nodes_[id];
  const bool over = turn_.single || node.activity != Activity::Idle || node.held > 0 || node.closed || stopping();
  if (!over && take_call(id)) return call(id, nodes_[id].callback);
  end_turn();
  return std::nullopt;
}

GraphPolicy::Action GraphPolicy::begin_turn() {
  assert(turn_.node == kNone && running_ == kNone);
  read_clock();
  if (phase_ == Phase::Created) phase_ = Phase::Starting;
  if (phase_ == Phase::Starting) {
    if (const std::optional<Action> start = next_start()) return *start;
    begin_running();
  }
  expire_timers();
  if (phase_ == Phase::Draining && drained()) begin_unwinding();
  if (phase_ == Phase::Unwinding && drained()) {
    if (const std::optional<Action> cancel = next_cancel()) return *cancel;
    phase_ = Phase::Stopping;
    place_ = plan_.start_order.size();
    deadline_ns_ = now_ns_ + config_.shutdown_timeout_ns;
  }
  if (phase_ >= Phase::Stopping) return next_stop();
  const std::optional<ReadyQueues::Turn> next = ready_.pick();
  if (!next) return sleep(std::min(timers_.next_ns(), deadline_ns_));
  open_turn(next->node, next->band, false);
  if (nodes_[next->node].activity != Activity::Idle) return resume(next->node);
  const bool taken = take_call(next->node);
  assert(taken);
  (void)taken;
  return call(next->node, nodes_[next->node].callback);
}

GraphPolicy::Action GraphPolicy::sleep(int64_t until_ns) {
  find_deadlocks();
  counts_.sleeps.add();
  asleep_since_ns_ = now_ns_;
  return {.what = Action::What::Sleep, .until_ns = until_ns};
}

// Settles what the node is called for next within its turn. False: for nothing.
bool GraphPolicy::take_call(NodeId id) {
  NodeState& node = nodes_[id];
  if (node.retry) {
    node.retry = false;
    return true;
  }
  if (turn_.messages < config_.max_batch) {
    for (size_t band = kBands; band-- > 0;) {
      if (node.inputs[band].first == kNone) continue;
      take_message(id, static_cast<Band>(band));
      return true;
    }
  }
  if (turn_.ticked || !tick_due(node)) return false;
  take_tick(node);
  return true;
}

void GraphPolicy::take_message(NodeId id, Band band) {
  NodeState& node = nodes_[id];
  const EdgeId from = node.inputs[static_cast<size_t>(band)].first;
  ++turn_.messages;
  node.message = pop(from);
  node.callback = Callback::Message;
  node.edge = from;
  node.port = edges_[from].dst_port;
  node.call_band = band;
  node.counts.messages.add();
  counts_.band_messages[static_cast<size_t>(band)].add();
}

bool GraphPolicy::tick_due(NodeState& node) {
  if (node.again) return true;
  if (node.tick_interval_ns == 0 || phase_ != Phase::Running) return false;
  // The turn has taken time; the tick may have become due in it.
  now_ns_ = clock_.now_ns();
  expire_timers();
  return node.tick_due;
}

void GraphPolicy::take_tick(NodeState& node) {
  turn_.ticked = true;
  node.again = false;
  node.callback = Callback::Tick;
  node.edge = kNone;
  node.call_band = Band::Normal;
  node.counts.ticks.add();
  if (!std::exchange(node.tick_due, false)) return;
  const int64_t missed = (now_ns_ - node.tick_due_ns) / node.tick_interval_ns;
  node.counts.missed_ticks.add(static_cast<uint64_t>(missed));
  node.tick_due_ns += (missed + 1) * node.tick_interval_ns;
  schedule_tick(static_cast<NodeId>(&node - nodes_.data()));
}

// ---- calls ----

GraphPolicy::Action GraphPolicy::call(NodeId id, Callback callback) {
  NodeState& node = nodes_[id];
  node.callback = callback;
  node.emits = 0;
  node.wakes = false;
  set_activity(node, Activity::Running);
  running_ = id;
  return {.what = Action::What::Call, .node = id};
}

GraphPolicy::Action GraphPolicy::resume(NodeId id) {
  NodeState& node = nodes_[id];
  // One that has waited for room has been held back. One whose quantum was over could go on emitting for ever.
  if (node.activity == Activity::Waiting) node.emits = 0;
  node.counts.resumes.add();
  set_activity(node, Activity::Running);
  running_ = id;
  return {.what = Action::What::Resume, .node = id};
}

void GraphPolicy::finished(NodeId id, Progress progress) {
  NodeState& node = nodes_[id];
  running_ = kNone;
  switch (progress) {
    case Progress::Done:
      if (node.callback == Callback::Start) node.started = true;
      node.retried = false;
      node.message.reset();
      set_activity(node, Activity::Idle);
      break;
    case Progress::Suspended:
      // If nothing is held it is as good as a yield.
      node.resumed_with = stopping() ? PutResult::Stopping : PutResult::Ok;
      set_activity(node, Activity::Waiting);
      break;
    case Progress::Yielded: set_activity(node, Activity::Yielded); break;
    case Progress::Parked: set_activity(node, std::exchange(node.wakes, false) ? Activity::Yielded : Activity::Parked); break;
  }
  refresh(id);
}

void GraphPolicy::failed(NodeId id, std::string_view what) {
  static constexpr const char* kNames[] = {"on_start", "on_message", "on_tick", "on_stop"};
  NodeState& node = nodes_[id];
  running_ = kNone;
  node.counts.errors.add();
  set_activity(node, Activity::Idle);
  const bool starting = node.callback == Callback::Start;
  std::string text = "node " + plan_.nodes[id].name + ": " + kNames[static_cast<size_t>(node.callback)];
  if (node.callback == Callback::Message) text += " of " + plan_.edges[node.edge].id;
  tell({starting ? Incident::Kind::StartFailed : Incident::Kind::HandlerFailed, id, {}, text + " threw: " + std::string(what)});
  if (starting) {
    close(id);
  } else if (node.callback != Callback::Stop) {
    give_up_call(id);
  }
  refresh(id);
}

void GraphPolicy::cancelled(NodeId id) {
  running_ = kNone;
  nodes_[id].message.reset();
  set_activity(nodes_[id], Activity::Idle);
}

// What the node's error policy says of a call that has failed.
void GraphPolicy::give_up_call(NodeId id) {
  NodeState& node = nodes_[id];
  const bool repeatable = node.callback == Callback::Tick || !node.message.empty();
  if (node.on_error == ErrorPolicy::Retry && !node.retried && repeatable && !stopping()) {
    node.retry = node.retried = true;
    return;
  }
  node.retried = false;
  if (node.callback == Callback::Message) node.counts.skipped.add();
  node.message.reset();
  if (node.on_error == ErrorPolicy::Stop) close(id);
}

void GraphPolicy::wake(NodeId id) {
  NodeState& node = nodes_[id];
  // Whoever is woken before it has parked is not to sleep.
  node.wakes = node.activity != Activity::Idle && node.activity != Activity::Parked;
  if (node.activity != Activity::Parked) return;
  set_activity(node, Activity::Yielded);
  refresh(id);
}

void GraphPolicy::tell(Incident incident) {
  if (!config_.on_incident) return;
  try {
    config_.on_incident(incident);
  } catch (...) {
    counts_.incident_errors.add();
  }
}

GraphStatistics GraphPolicy::statistics() const {
#define POSSET_GRAPH_READ(name) into.name = from.name.get();
  GraphStatistics made;
  {
    GraphStatistics& into = made;
    const LoopCounts& from = counts_;
    POSSET_GRAPH_LOOP_COUNTS(POSSET_GRAPH_READ)
  }
  for (size_t band = 0; band < kBands; ++band) {
    made.band_turns[band] = counts_.band_turns[band].get();
    made.band_messages[band] = counts_.band_messages[band].get();
  }
  for (size_t i = 0; i < kTurnTimes; ++i) made.turn_times[i] = counts_.turn_times[i].get();
  for (NodeId i = 0; i < nodes_.size(); ++i) {
    NodeStatistics& into = made.nodes.emplace_back(NodeStatistics{.name = plan_.nodes[i].name});
    const NodeCounts& from = nodes_[i].counts;
    POSSET_GRAPH_NODE_COUNTS(POSSET_GRAPH_READ)
  }
  for (EdgeId i = 0; i < edges_.size(); ++i) {
    EdgeStatistics& into = made.edges.emplace_back(EdgeStatistics{.id = plan_.edges[i].id});
    const EdgeCounts& from = edges_[i].counts;
    POSSET_GRAPH_EDGE_COUNTS(POSSET_GRAPH_READ)
  }
#undef POSSET_GRAPH_READ
  return made;
}

}  // namespace posset::sched::graph
