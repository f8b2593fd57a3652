// See policy.h. Here: how a graph begins and ends, and how it is found that part of it cannot go on.
#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <utility>

#include "sched/graph/policy.h"
#include "sched/trace_events.h"

namespace posset::sched::graph {

// ---- the beginning ----

std::optional<GraphPolicy::Action> GraphPolicy::next_start() {
  if (place_ == nodes_.size()) return std::nullopt;
  const NodeId node = plan_.start_order[place_++];
  open_turn(node, Band::Normal, true);
  return call(node, Callback::Start);
}

void GraphPolicy::begin_running() {
  phase_ = Phase::Running;
  now_ns_ = clock_.now_ns();
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    NodeState& node = nodes_[id];
    if (node.tick_interval_ns == 0 || node.closed) continue;
    node.tick_due_ns = now_ns_ + node.tick_interval_ns;
    schedule_tick(id);
  }
}

// ---- the end ----

void GraphPolicy::shut_down(bool drain) {
  if (phase_ > Phase::Draining || (phase_ == Phase::Draining && drain)) return;
  now_ns_ = clock_.now_ns();
  deadline_ns_ = now_ns_ + (drain ? config_.shutdown_timeout_ns : 0);
  phase_ = Phase::Draining;
  timers_ = TimerSet();
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    nodes_[id].tick_due = nodes_[id].again = false;
    refresh(id);
  }
}

// Whether draining or unwinding is over: nobody is ready and nobody can become so, or time is up.
bool GraphPolicy::drained() const { return (ready_.empty() && parked_ == 0) || now_ns_ >= deadline_ns_; }

void GraphPolicy::begin_unwinding() {
  find_deadlocks();
  phase_ = Phase::Unwinding;
  deadline_ns_ = now_ns_ + config_.shutdown_timeout_ns;
  place_ = 0;
  abandon_everything();
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    NodeState& node = nodes_[id];
    if (node.activity == Activity::Idle && std::exchange(node.retry, false)) {
      node.counts.skipped.add();
      node.message.reset();
    }
    if (node.activity == Activity::Parked) set_activity(node, Activity::Yielded);
    refresh(id);
  }
}

void GraphPolicy::abandon_everything() {
  Incident incident{.kind = Incident::Kind::Abandoned};
  uint64_t count = 0;
  for (EdgeId id = 0; id < edges_.size(); ++id) {
    const NodeId src = edges_[id].src;
    if (!edges_[id].held.empty()) nodes_[src].resumed_with = PutResult::Stopping;
    const uint64_t in_edge = abandon(id);
    if (in_edge > 0) incident.edges.push_back(id);
    count += in_edge;
  }
  if (trace_)
    trace_->record(static_cast<uint16_t>(TraceKind::graph_stopped),
                   {config_.number, static_cast<int64_t>(count)});
  if (count == 0) return;
  incident.text = "abandoned " + std::to_string(count) + " messages of edges " + names(incident.edges);
  tell(std::move(incident));
}

// An activation that did not end in time.
std::optional<GraphPolicy::Action> GraphPolicy::next_cancel() {
  for (; place_ < nodes_.size(); ++place_) {
    NodeState& node = nodes_[place_];
    if (node.activity == Activity::Idle) continue;
    const auto id = static_cast<NodeId>(place_);
    if (ready_.queued(id)) ready_.remove(id);
    open_turn(id, Band::Normal, true);
    running_ = id;
    tell({Incident::Kind::Cancelled, id, {}, "node " + plan_.nodes[id].name + ": its activation did not end in time"});
    return Action{.what = Action::What::Cancel, .node = id};
  }
  return std::nullopt;
}

GraphPolicy::Action GraphPolicy::next_stop() {
  // The one whose on_stop is under way stands at `place_`.
  if (place_ < nodes_.size() && nodes_[plan_.start_order[place_]].activity != Activity::Idle) {
    return stop_again(plan_.start_order[place_]);
  }
  while (place_ > 0) {
    const NodeId id = plan_.start_order[--place_];
    if (!nodes_[id].started) continue;
    open_turn(id, Band::Normal, true);
    return call(id, Callback::Stop);
  }
  phase_ = Phase::Ended;
  return {.what = Action::What::Ended};
}

// An on_stop that was left in the middle.
GraphPolicy::Action GraphPolicy::stop_again(NodeId id) {
  const bool late = now_ns_ >= deadline_ns_;
  if (!late && nodes_[id].activity == Activity::Parked) return sleep(deadline_ns_);
  open_turn(id, Band::Normal, true);
  if (ready_.queued(id)) ready_.remove(id);
  if (!late) return resume(id);
  running_ = id;
  tell({Incident::Kind::Cancelled, id, {}, "node " + plan_.nodes[id].name + ": on_stop did not end in time"});
  return {.what = Action::What::Cancel, .node = id};
}

// ---- deadlock ----

void GraphPolicy::tell_deadlock(const std::vector<EdgeId>& cycle) {
  for (EdgeId edge : cycle) nodes_[edges_[edge].src].deadlock_told = true;
  counts_.deadlocks.add();
  const std::string edges = names(cycle);
  if (trace_)
    trace_->record(static_cast<uint16_t>(TraceKind::graph_deadlock),
                   {config_.number, trace_->text(edges)});
  tell({Incident::Kind::Deadlock, kNone, cycle,
        "deadlock: each of these edges is full and its consumer waits for the next: " + edges});
}

std::vector<EdgeId> GraphPolicy::held_edges(NodeId node) const {
  std::vector<EdgeId> held;
  for (const std::vector<EdgeId>& port : plan_.nodes[node].out) {
    std::copy_if(port.begin(), port.end(), std::back_inserter(held), [this](EdgeId edge) { return !edges_[edge].held.empty(); });
  }
  return held;
}

namespace {

// Depth first along edges that hold an item, with a stack of its own. Tells every circle that closes on the way.
class CircleSearch {
 public:
  explicit CircleSearch(size_t nodes) : seen_(nodes, Seen::No) {}

  template <class Held, class Destination, class Source, class Found>
  void from(NodeId start, const Held& held, const Destination& dst, const Source& src, const Found& found) {
    if (seen_[start] != Seen::No) return;
    enter(start, held);
    while (!frames_.empty()) {
      if (frames_.back().left.empty()) {
        leave();
        continue;
      }
      const EdgeId edge = frames_.back().left.back();
      frames_.back().left.pop_back();
      const NodeId next = dst(edge);
      if (seen_[next] == Seen::OnTheWay) {
        auto first = std::find_if(path_.begin(), path_.end(), [&src, next](EdgeId e) { return src(e) == next; });
        std::vector<EdgeId> circle(first, path_.end());
        circle.push_back(edge);
        found(circle);
      } else if (seen_[next] == Seen::No) {
        path_.push_back(edge);
        enter(next, held);
      }
    }
  }

 private:
  enum class Seen : uint8_t { No, OnTheWay, Left };
  struct Frame {
    NodeId node;
    std::vector<EdgeId> left;
  };
  template <class Held>
  void enter(NodeId node, const Held& held) {
    seen_[node] = Seen::OnTheWay;
    frames_.push_back({node, held(node)});
  }
  void leave() {
    seen_[frames_.back().node] = Seen::Left;
    frames_.pop_back();
    if (!path_.empty()) path_.pop_back();
  }

  std::vector<Seen> seen_;
  std::vector<Frame> frames_;
  std::vector<EdgeId> path_;
};

}  // namespace

// A node that is blocked takes nothing in, so nodes that are blocked on each other in a circle stay so whatever ticks
// or comes from outside. Looked for when there is nothing else to do, and told once.
void GraphPolicy::find_deadlocks() {
  if (blocked_ == 0) return;
  CircleSearch search(nodes_.size());
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    if (nodes_[id].held == 0) continue;
    search.from(
        id, [this](NodeId node) { return held_edges(node); }, [this](EdgeId edge) { return edges_[edge].dst; },
        [this](EdgeId edge) { return edges_[edge].src; },
        [this](const std::vector<EdgeId>& circle) {
          if (!nodes_[edges_[circle[0]].src].deadlock_told) tell_deadlock(circle);
        });
  }
}

std::string GraphPolicy::names(const std::vector<EdgeId>& edges) const {
  std::string text;
  for (EdgeId edge : edges) text += (text.empty() ? "" : ", ") + plan_.edges[edge].id;
  return text;
}

// ---- checks ----

std::string GraphPolicy::broken_credit() const {
  for (Band band : {Band::Normal, Band::High, Band::Control}) {
    if (std::abs(ready_.credit(band)) > ready_.most_credit()) return "a band has saved up credit";
  }
  return "";
}

// What must hold at every boundary; empty: it does.
std::string GraphPolicy::broken_invariant() const {
  size_t blocked = 0, parked = 0;
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    const NodeState& node = nodes_[id];
    const std::string& name = plan_.nodes[id].name;
    uint32_t held = 0;
    for (const std::vector<EdgeId>& port : plan_.nodes[id].out) {
      for (EdgeId edge : port) held += !edges_[edge].held.empty();
    }
    if (held != node.held) return name + " counts its held items wrongly";
    if (held > 0 && ready_.queued(id)) return name + " is blocked and in a queue";
    if (id != turn_.node && ready_.queued(id) != ready_band(node).has_value()) {
      return name + (ready_.queued(id) ? " is in a queue and not ready" : " is ready and in no queue");
    }
    if (ready_.queued(id) && ready_.band_of(id) != *ready_band(node)) return name + " is in the wrong band";
    if (node.activity == Activity::Running && running_ != id) return name + " runs although another does";
    blocked += held > 0;
    parked += node.activity == Activity::Parked;
  }
  if (blocked != blocked_ || parked != parked_) return "blocked or parked nodes are counted wrongly";
  for (EdgeId id = 0; id < edges_.size(); ++id) {
    const EdgeState& edge = edges_[id];
    const std::string& name = plan_.edges[id].id;
    if (!edge.held.empty() && !edge.full()) return name + " has room and holds an item back";
    if (edge.listed != !edge.queue.empty()) return name + " is not where its consumer looks";
    if (edge.counts.depth.get() != edge.queue.size()) return name + " counts its depth wrongly";
  }
  return "";
}

}  // namespace posset::sched::graph
