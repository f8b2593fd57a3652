// See policy.h. Here: what becomes of an item, from the emit to the consumer's hand.
#include <cassert>
#include <utility>

#include "sched/graph/policy.h"
#include "sched/trace_events.h"

namespace posset::sched::graph {

// ---- emitting ----

void GraphPolicy::check_emit(NodeId id, PortId port, const Message& item) {
  const PlannedNode& planned = plan_.nodes[id];
  if (running_ != id) throw GraphError("node " + planned.name + " emits outside of an activation");
  if (port >= planned.out.size()) throw GraphError("node " + planned.name + " has no output port number " + std::to_string(port));
  const Port& to = planned.options.outputs[port];
  if (item.empty()) throw GraphError("node " + planned.name + " emits an empty message on " + to.name);
  if (to.type != kAnyType && item.type() != to.type) {
    throw GraphError("node " + planned.name + " emits " + type_name(item.type()) + " on " + to.name + ", which gives " + type_name(to.type));
  }
  if (planned.out[port].size() > 1 && !item.type()->copy) {
    throw GraphError("node " + planned.name + " emits " + type_name(item.type()) + ", which cannot be copied, on the several edges of " + to.name);
  }
  if (++nodes_[id].emits > config_.max_emits) {
    throw GraphError("node " + planned.name + " has emitted " + std::to_string(config_.max_emits) + " items in one call, the most there may be");
  }
  for (EdgeId edge : planned.out[port]) {
    if (edges_[edge].held.empty()) continue;
    throw GraphError("node " + planned.name + " emits on " + to.name + " although edge " + plan_.edges[edge].id +
                     " is Blocked and holds an item of it: it has to return first");
  }
}

PutResult GraphPolicy::emit(NodeId id, PortId port, Message&& item) {
  check_emit(id, port, item);
  const std::vector<EdgeId>& edges = plan_.nodes[id].out[port];
  result_count_ = edges.size();
  PutResult worst = PutResult::Ok;
  for (size_t i = 0; i < edges.size(); ++i) {
    const bool last = i + 1 == edges.size();
    results_[i] = put(edges[i], last ? std::move(item) : item.copy());
    worst = std::max(worst, results_[i]);
  }
  return worst;
}

PutResult GraphPolicy::put(EdgeId id, Message&& item) {
  EdgeState& edge = edges_[id];
  if (stopping()) return PutResult::Stopping;
  if (edge.closed) {
    edge.counts.dropped.add();
    return PutResult::Dropped;
  }
  if (phase_ == Phase::Draining && edge.back && edge.effective_policy() != EdgePolicy::Block) {
    // A drain goes around a cycle of edges that may lose items once, or it would not end.
    edge.counts.abandoned.add();
    edge.counts.accepted.add();
    return PutResult::Dropped;
  }
  if (edge.full()) return put_full(id, std::move(item));
  edge.counts.accepted.add();
  push(id, std::move(item));
  return PutResult::Ok;
}

PutResult GraphPolicy::put_full(EdgeId id, Message&& item) {
  EdgeState& edge = edges_[id];
  switch (edge.effective_policy()) {
    case EdgePolicy::Block: hold(id, std::move(item)); return PutResult::Blocked;
    case EdgePolicy::Drop: edge.counts.dropped.add(); return PutResult::Dropped;
    case EdgePolicy::Latest:
      // Not the newest: with room for several the consumer would go on with stale ones.
      edge.queue.pop();
      edge.counts.replaced.add();
      edge.counts.accepted.add();
      edge.queue.push(std::move(item));
      return PutResult::Replaced;
    case EdgePolicy::Coalesce: return coalesce(id, item);
  }
  return PutResult::Dropped;
}

PutResult GraphPolicy::coalesce(EdgeId id, const Message& item) {
  EdgeState& edge = edges_[id];
  Message& newest = edge.queue.back();
  try {
    Message folded = plan_.edges[id].options.fold(newest, item);
    const TypeTag takes = plan_.nodes[edge.dst].options.inputs[edge.dst_port].type;
    if (folded.empty() || (takes != kAnyType && folded.type() != takes)) {
      throw GraphError("the fold of edge " + plan_.edges[id].id + " gives what its consumer does not take");
    }
    newest = std::move(folded);
    edge.counts.coalesced.add();
    return PutResult::Coalesced;
  } catch (...) {
    edge.counts.fold_errors.add();
    edge.counts.dropped.add();
    return PutResult::Dropped;
  }
}

size_t GraphPolicy::room(EdgeId id) const {
  const EdgeState& edge = edges_[id];
  // What was accepted outside before the end began comes in whole, so that it counts as drained or abandoned.
  if (edge.effective_policy() != EdgePolicy::Block || edge.closed || phase_ >= Phase::Draining) return SIZE_MAX;
  return edge.full() ? 0 : static_cast<size_t>(edge.capacity) - edge.queue.size();
}

void GraphPolicy::put_from_outside(EdgeId id, Message&& item) {
  EdgeState& edge = edges_[id];
  if (stopping()) {
    edge.counts.accepted.add();
    edge.counts.abandoned.add();
  } else if (edge.full() && edge.effective_policy() == EdgePolicy::Block && !edge.closed) {
    edge.counts.accepted.add();
    push(id, std::move(item));
  } else {
    put(id, std::move(item));
  }
}

// ---- the queue of an edge ----

void GraphPolicy::push(EdgeId id, Message&& item) {
  EdgeState& edge = edges_[id];
  edge.queue.push(std::move(item));
  edge.counts.depth.set(edge.queue.size());
  edge.counts.most_depth.raise_to(edge.queue.size());
  if (edge.listed) return;
  list(id);
  refresh(edge.dst);
}

// The next item of an edge that is the first in its list, for the consumer.
Message GraphPolicy::pop(EdgeId id) {
  EdgeState& edge = edges_[id];
  unlist(id);
  Message item = edge.queue.pop();
  edge.counts.delivered.add();
  flush(id);
  if (edge.src == kNone) room_made_ = true;
  edge.counts.depth.set(edge.queue.size());
  // Behind the others of its band, so that they have their turn.
  if (!edge.queue.empty() && !edge.listed) list(id);
  return item;
}

void GraphPolicy::list(EdgeId id) {
  EdgeState& edge = edges_[id];
  EdgeList& list = nodes_[edge.dst].inputs[static_cast<size_t>(edge.band)];
  (list.last == kNone ? list.first : edges_[list.last].next) = id;
  list.last = id;
  edge.next = kNone;
  edge.listed = true;
}

void GraphPolicy::unlist(EdgeId id) {
  EdgeState& edge = edges_[id];
  if (!edge.listed) return;
  EdgeList& list = nodes_[edge.dst].inputs[static_cast<size_t>(edge.band)];
  EdgeId previous = kNone;
  for (EdgeId other = list.first; other != id; other = edges_[other].next) previous = other;
  (previous == kNone ? list.first : edges_[previous].next) = edge.next;
  if (list.last == id) list.last = previous;
  edge.listed = false;
}

// ---- waiting for room ----

void GraphPolicy::hold(EdgeId id, Message&& item) {
  EdgeState& edge = edges_[id];
  assert(edge.held.empty() && edge.src != kNone);
  edge.held = std::move(item);
  edge.counts.accepted.add();
  edge.counts.blocked.add();
  NodeState& node = nodes_[edge.src];
  if (node.held++ > 0) return;
  ++blocked_;
  node.counts.blocked.add();
  node.blocked_since_ns = clock_.now_ns();
  if (!trace_) return;
  trace_->record(
      static_cast<uint16_t>(TraceKind::graph_blocked),
      {config_.number, node.trace_name, edge.trace_name, static_cast<int64_t>(edge.queue.size())});
}

// The item has gone, wherever to.
void GraphPolicy::release_held(EdgeId id) {
  const NodeId src = edges_[id].src;
  edges_[id].held.reset();
  if (--nodes_[src].held == 0) unblock(src);
}

void GraphPolicy::flush(EdgeId id) {
  EdgeState& edge = edges_[id];
  if (edge.held.empty() || edge.full()) return;
  push(id, std::move(edge.held));
  release_held(id);
}

void GraphPolicy::unblock(NodeId id) {
  NodeState& node = nodes_[id];
  --blocked_;
  node.deadlock_told = false;
  const int64_t waited_ns = clock_.now_ns() - node.blocked_since_ns;
  node.counts.blocked_ns.add(static_cast<uint64_t>(waited_ns));
  if (trace_)
    trace_->record(static_cast<uint16_t>(TraceKind::graph_unblocked),
                   {config_.number, node.trace_name, waited_ns});
  refresh(id);
}

// ---- changes while it runs ----

void GraphPolicy::set_priority(EdgeId id, Band band) {
  EdgeState& edge = edges_[id];
  const bool listed = edge.listed;
  unlist(id);
  edge.band = band;
  if (listed) list(id);
  refresh(edge.dst);
}

void GraphPolicy::set_capacity(EdgeId id, int64_t capacity) {
  EdgeState& edge = edges_[id];
  edge.capacity = capacity;
  flush(id);
  if (edge.src == kNone) room_made_ = true;
}

// Gives up what is in the edge and what is held for it.
uint64_t GraphPolicy::abandon(EdgeId id) {
  EdgeState& edge = edges_[id];
  const bool held = !edge.held.empty();
  const uint64_t count = edge.queue.size() + held;
  unlist(id);
  edge.queue.clear();
  edge.counts.depth.set(0);
  edge.counts.abandoned.add(count);
  if (held) release_held(id);
  return count;
}

// The node is scheduled no more; nobody is to wait for it.
void GraphPolicy::close(NodeId id) {
  NodeState& node = nodes_[id];
  node.closed = true;
  node.tick_due = node.again = false;
  timers_.cancel(node.timer);
  for (EdgeId edge : plan_.nodes[id].in) {
    edges_[edge].closed = true;
    abandon(edge);
    if (edges_[edge].src == kNone) room_made_ = true;
  }
}

}  // namespace posset::sched::graph
