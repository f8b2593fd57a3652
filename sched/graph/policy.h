// The rules of the graph scheduler, without threads: which node is called next and for what, what an edge does with an
// item, who waits for whom, when there is nothing to do, and how it all ends. Whoever drives it (loop.h, on a thread or
// in the simulator) asks for an action, does it, and says how it went; each call is one atomic step. User code is
// called by nobody here but a fold and the sink for incidents.
//
// A turn is one node's: up to `max_batch` messages, the best band first and round robin among the edges of one band,
// then one on_tick if it is due. Between turns is the boundary, where commands and items from outside come in. A node is
// in the ready queues exactly if it could be called now: started, no activation under way that cannot be
// resumed, nothing held for it, and an item, a tick or a resumption to be called for. So a blocked node is in no
// queue and costs nothing until the consumer has made room; then what was held goes in, before anything else can.
//
// An edge has one producer, so at most one waits for it. Of every edge's items, held ones included,
//   accepted = delivered + replaced + abandoned + depth + held
//
// Phases: Starting (on_start in start order), Running, Draining (no ticks, nothing from outside, until all is quiet or
// it takes too long), Unwinding (what is left is abandoned, activations in the middle are resumed to end),
// Stopping (on_stop in reverse), Ended.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sched/base/clock.h"
#include "sched/base/timer.h"
#include "sched/base/trace.h"
#include "sched/graph/bands.h"
#include "sched/graph/node.h"
#include "sched/graph/plan.h"
#include "sched/graph/ring.h"
#include "sched/graph/statistics.h"

namespace posset::sched::graph {

// Something a host should know of and the graph goes on after.
struct Incident {
  enum class Kind : uint8_t {
    HandlerFailed,  // on_message, on_tick or on_stop threw
    StartFailed,    // on_start threw: the node is never scheduled
    Deadlock,       // `edges` are full, and each one's consumer waits for the next
    Abandoned,      // the end came before what was on `edges` was delivered
    Cancelled,      // the activation of `node` did not end in time
  };
  Kind kind;
  NodeId node = kNone;
  std::vector<EdgeId> edges;
  std::string text;  // with the names
};

struct GraphConfig {
  int64_t tick_interval_ns = 50 * kMillisecond;  // of nodes that tick with the graph
  BandWeights weights = {1, 2, 4};               // by Band
  uint32_t max_batch = 8;                        // messages of one turn
  int64_t shutdown_timeout_ns = 2 * kSecond;     // for the drain, and again for activations to end
  uint64_t max_emits = uint64_t{1} << 20;        // in one call of a handler
  int64_t number = 0;                            // in the trace, to tell graphs apart
  // Called on the thread of the loop, no lock held. What it throws is counted and forgotten.
  std::function<void(const Incident&)> on_incident;
};

class GraphPolicy {
 public:
  enum class Phase : uint8_t { Created, Starting, Running, Draining, Unwinding, Stopping, Ended };

  struct Action {
    enum class What : uint8_t {
      Call,    // call the node, then say `finished` or `failed`
      Resume,  // resume its activation, then the same
      Cancel,  // cancel its activation, then say `cancelled`
      Sleep,   // nothing to do before that time unless something comes from outside
      Ended,
    };
    What what;
    NodeId node = kNone;
    int64_t until_ns = kNever;
  };

  // All outlive it; `trace` may be null. Throws GraphError for a configuration that cannot be.
  GraphPolicy(const Plan& plan, const Clock& clock, const GraphConfig& config, Trace* trace = nullptr);
  GraphPolicy(const GraphPolicy&) = delete;
  GraphPolicy& operator=(const GraphPolicy&) = delete;

  // The next call of the turn under way. Empty: it is over, and this is the boundary.
  std::optional<Action> continue_turn();
  // At the boundary: the first call of the next turn, or that there is none.
  Action begin_turn();
  void finished(NodeId node, Progress progress);
  void failed(NodeId node, std::string_view what);
  void cancelled(NodeId node);

  // At the boundary, of numbers the plan has:
  void set_priority(EdgeId edge, Band band);
  void set_capacity(EdgeId edge, int64_t capacity);
  void wake(NodeId node);
  // Without a drain, also while one goes on, what is left is abandoned at once.
  void shut_down(bool drain = true);
  // How many items an edge from outside takes now.
  size_t room(EdgeId edge) const;
  void put_from_outside(EdgeId edge, Message&& item);
  // Whether an edge from outside has been taken from since the last time this was asked.
  bool take_room_made() { return std::exchange(room_made_, false); }

  // Of the activation that runs:
  PutResult emit(NodeId node, PortId port, Message&& item);
  std::span<const PutResult> edge_results() const { return {results_.data(), result_count_}; }
  void again(NodeId node) { nodes_[node].again = phase_ <= Phase::Running; }
  PutResult resumed_with(NodeId node) const { return nodes_[node].resumed_with; }
  Callback callback(NodeId node) const { return nodes_[node].callback; }
  EdgeId call_edge(NodeId node) const { return nodes_[node].edge; }
  PortId call_port(NodeId node) const { return nodes_[node].port; }
  Message& call_message(NodeId node) { return nodes_[node].message; }

  const Plan& plan() const { return plan_; }
  const Clock& clock() const { return clock_; }
  Phase phase() const { return phase_; }
  bool stopping() const { return phase_ >= Phase::Unwinding; }
  // The time of the last boundary.
  int64_t now_ns() const { return now_ns_; }
  // Whether no node is ready, blocked or parked: nothing happens but by a tick or from outside.
  bool quiet() const { return ready_.empty() && blocked_ == 0 && parked_ == 0; }
  EdgePolicy effective_policy(EdgeId edge) const { return edges_[edge].effective_policy(); }
  int64_t capacity(EdgeId edge) const { return edges_[edge].capacity; }
  // Any thread.
  GraphStatistics statistics() const;

  // For checks.
  bool queued(NodeId node) const { return ready_.queued(node); }
  bool holds(EdgeId edge) const { return !edges_[edge].held.empty(); }
  bool blocked(NodeId node) const { return nodes_[node].held > 0; }
  bool running(NodeId node) const { return running_ == node; }
  bool idle(NodeId node) const { return nodes_[node].activity == Activity::Idle; }
  size_t depth(EdgeId edge) const { return edges_[edge].queue.size(); }
  std::string broken_invariant() const;
  std::string broken_credit() const;

 private:
  enum class Activity : uint8_t { Idle, Running, Waiting, Yielded, Parked };

  struct EdgeState {
    MessageRing queue;
    Message held;
    int64_t capacity = 0;
    NodeId src = kNone;
    NodeId dst = kNone;
    PortId dst_port = 0;
    EdgeId next = kNone;  // among the edges of one band that have items for the node
    EdgePolicy policy = EdgePolicy::Block;
    Band band = Band::Normal;
    bool listed = false;
    bool closed = false;  // the consumer is scheduled no more
    bool back = false;
    int64_t trace_name = 0;
    EdgeCounts counts;

    // What controls must not get lost.
    EdgePolicy effective_policy() const { return band == Band::Control ? EdgePolicy::Block : policy; }
    bool full() const { return queue.size() >= static_cast<size_t>(capacity); }
  };
  struct EdgeList {
    EdgeId first = kNone;
    EdgeId last = kNone;
  };
  struct NodeState {
    std::array<EdgeList, kBands> inputs;  // that have items
    Message message;                      // what the activation is about, with the four below
    Callback callback = Callback::Start;
    PortId port = 0;
    EdgeId edge = kNone;
    Band call_band = Band::Normal;
    Activity activity = Activity::Idle;
    PutResult resumed_with = PutResult::Ok;
    ErrorPolicy on_error = ErrorPolicy::Skip;
    bool started = false;
    bool closed = false;  // scheduled no more
    bool retry = false;   // the call is to be made once more
    bool retried = false;
    bool tick_due = false;
    bool again = false;
    bool deadlock_told = false;
    bool wakes = false;   // `wake` came before the activation was parked
    uint32_t held = 0;    // edges that hold an item of it
    int64_t blocked_since_ns = 0;
    int64_t tick_interval_ns = 0;
    int64_t tick_due_ns = 0;
    TimerSet::Id timer = 0;
    uint64_t emits = 0;
    int64_t trace_name = 0;
    NodeCounts counts;
  };
  struct Turn {
    NodeId node = kNone;
    Band band = Band::Normal;
    uint32_t messages = 0;
    bool single = false;  // a start or stop: nothing follows
    bool ticked = false;
    int64_t since_ns = 0;
  };

  // policy.cpp: turns
  void check_config() const;
  bool take_call(NodeId node);
  void take_message(NodeId node, Band band);
  bool tick_due(NodeState& node);
  void take_tick(NodeState& node);
  Action call(NodeId node, Callback callback);
  Action resume(NodeId node);
  Action sleep(int64_t until_ns);
  void open_turn(NodeId node, Band band, bool single);
  void end_turn();
  void read_clock();
  void expire_timers();
  void schedule_tick(NodeId node);
  std::optional<Band> ready_band(const NodeState& node) const;
  void refresh(NodeId node);
  void set_activity(NodeState& node, Activity activity);
  void give_up_call(NodeId node);
  void tell(Incident incident);

  // policy_edges.cpp: items
  void check_emit(NodeId node, PortId port, const Message& item);
  PutResult put(EdgeId edge, Message&& item);
  PutResult put_full(EdgeId edge, Message&& item);
  PutResult coalesce(EdgeId edge, const Message& item);
  void push(EdgeId edge, Message&& item);
  Message pop(EdgeId edge);
  void hold(EdgeId edge, Message&& item);
  void release_held(EdgeId edge);
  void flush(EdgeId edge);
  void unblock(NodeId node);
  void list(EdgeId edge);
  void unlist(EdgeId edge);
  uint64_t abandon(EdgeId edge);
  void close(NodeId node);

  // policy_end.cpp: start, deadlock, end
  std::optional<Action> next_start();
  void begin_running();
  bool drained() const;
  void begin_unwinding();
  void abandon_everything();
  std::optional<Action> next_cancel();
  Action next_stop();
  Action stop_again(NodeId node);
  void find_deadlocks();
  void tell_deadlock(const std::vector<EdgeId>& cycle);
  std::vector<EdgeId> held_edges(NodeId node) const;
  std::string names(const std::vector<EdgeId>& edges) const;

  const Plan& plan_;
  const Clock& clock_;
  const GraphConfig config_;
  Trace* const trace_;
  Phase phase_ = Phase::Created;
  std::vector<NodeState> nodes_;
  std::vector<EdgeState> edges_;
  ReadyQueues ready_;
  TimerSet timers_;
  Turn turn_;
  NodeId running_ = kNone;  // whose call or resume is under way
  int64_t now_ns_ = 0;      // of the last boundary
  bool now_is_fresh_ = false;
  int64_t asleep_since_ns_ = kNever;
  int64_t deadline_ns_ = kNever;  // of the phase
  size_t place_ = 0;              // in the start order, of the phases that go along it
  size_t parked_ = 0;             // activations
  size_t blocked_ = 0;            // nodes
  bool room_made_ = false;
  std::vector<PutResult> results_;
  size_t result_count_ = 0;
  LoopCounts counts_;
};

}  // namespace posset::sched::graph
