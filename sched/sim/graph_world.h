// The graph scheduler in the simulator: the loop, threads that put items in, change edges and wake, and one that shuts
// down, around the policy and the mailbox that a runtime uses. The loop's steps are those between which other threads
// can come: to look for an action, to have performed it after the virtual time it takes, to fall asleep, to wake.
//
// The policy is a parameter, and so is whether the loop asks before it sleeps, so that a test can put a broken one in
// and see it caught. Invariants, checked after every step:
//   policy    GraphPolicy::broken_invariant: one activation, blocked nodes in no queue, queues and edges agree
//   credit    the bands' credits are within the sum of the weights
//   capacity  no edge holds more than the greatest capacity it has had, nor an input more than twice that
//   once      every edge against a plain list: what is delivered is the oldest that was taken, nothing else
//   wake-up   the loop does not sleep while something has arrived
//   finished  at the end: the graph has ended, and what is left was counted as abandoned
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sched/graph/loop.h"
#include "sched/sim/script.h"
#include "sched/sim/simulation.h"

namespace posset::sched::graph {

struct SimNode {
  int64_t takes_ns = 0;       // a call
  bool fiber = false;         // waits within an emit; otherwise ends at a full edge
  int emits = 1;              // for a message, and for a tick
  int64_t tick_ns = kNoTicks;
  int throws_every = 0;       // messages; 0: never
  int parks_every = 0;        // messages, until somebody wakes it
};
struct SimEdge {
  int from;  // -1: from outside
  int to;
  EdgeOptions options;
};
struct SimPut {
  int64_t at_ns;
  size_t edge;  // of the plan's
};
struct SimChange {
  int64_t at_ns;
  Command command;
};

struct GraphSimPlan {
  GraphConfig config;
  std::vector<SimNode> nodes;
  std::vector<SimEdge> edges;
  std::vector<std::vector<SimPut>> putters;  // each in the order of its times
  std::vector<SimChange> changes;
  int64_t stop_ns = 0;
  bool asks_before_sleep = true;
};

// Keeps the item, so that a plain list can follow.
inline Fold keep_newer() {
  return fold<uint64_t>([](uint64_t, uint64_t item) { return item; });
}

template <class Policy = GraphPolicy>
class GraphWorld final : public World, public Notifier {
 public:
  GraphWorld(Simulation& simulation, const GraphSimPlan& plan)
      : simulation_(simulation), sim_(plan), plan_(described()), waiting_(plan_.edges.size()), most_(plan_.edges.size()),
        loop_(plan_, simulation.clock(), plan.config, nullptr, *this), driver_(*this) {
    for (EdgeId edge = 0; edge < most_.size(); ++edge) most_[edge] = plan_.edges[edge].options.capacity;
    simulation_.add(driver_);
    add_scripts();
    simulation_.invariant("policy", [this] { return loop_.policy().broken_invariant(); });
    simulation_.invariant("capacity", [this] { return check_capacity(); });
    simulation_.invariant("once", [this] { return check_lists(); });
    simulation_.invariant("wake-up", [this] {
      return driver_.asleep() && loop_.mailbox().arrived() && !notified_ ? "it sleeps although something has arrived" : "";
    });
  }

  static Scenario scenario(const GraphSimPlan& plan) {
    return [&plan](Simulation& simulation) { return std::make_unique<GraphWorld>(simulation, plan); };
  }

  void notify() override { notified_ = true; }

  void hash_into(StateHash& hash) const override {
    for (const auto& list : waiting_) {
      hash.add(list.size());
    }
    for (NodeId node = 0; node < plan_.nodes.size(); ++node) {
      hash.add(loop_.policy().queued(node) * 4U + loop_.policy().blocked(node) * 2U + loop_.policy().idle(node));
    }
    hash.add(static_cast<uint64_t>(loop_.policy().phase()) * 2 + notified_);
  }

  std::string unfinished() const override {
    if (!driver_.ended()) return "the graph has not ended";
    const GraphStatistics all = loop_.policy().statistics();
    for (const EdgeStatistics& edge : all.edges) {
      if (edge.accepted != edge.delivered + edge.replaced + edge.abandoned) return "edge " + edge.id + " has lost items";
    }
    return "";
  }

 private:
  // Emits so many numbers that nothing else has.
  class Body final : public Node {
   public:
    Body(GraphWorld& world, const SimNode& sim) : world_(world), sim_(sim) {}
    Progress call(Activation& activation) override {
      left_ = 0;
      if (activation.callback() == Callback::Start || activation.callback() == Callback::Stop) return Progress::Done;
      left_ = sim_.emits;
      if (activation.callback() == Callback::Message) {
        ++messages_;
        if (sim_.throws_every && messages_ % sim_.throws_every == 0) throw std::runtime_error("as planned");
        if (sim_.parks_every && messages_ % sim_.parks_every == 0) return Progress::Parked;
      }
      return go_on(activation);
    }
    Progress resume(Activation& activation) override { return activation.stopping() ? Progress::Done : go_on(activation); }

   private:
    Progress go_on(Activation& activation) {
      while (left_ > 0) {
        --left_;
        const PutResult result = world_.emit(activation);
        if (result == PutResult::Blocked) return sim_.fiber ? Progress::Suspended : Progress::Done;
      }
      return Progress::Done;
    }
    GraphWorld& world_;
    const SimNode& sim_;
    int left_ = 0;
    int messages_ = 0;
  };

  class Driver final : public Actor {
   public:
    explicit Driver(GraphWorld& world) : world_(world) {}
    std::string name() const override { return "loop"; }
    bool enabled() const override {
      const int64_t now_ns = world_.simulation_.now_ns();
      switch (state_) {
        case State::Looks:
        case State::Tired: return true;
        case State::Runs: return now_ns >= until_ns_;
        case State::Sleeps: return world_.notified_ || now_ns >= until_ns_;
        case State::Ended: return false;
      }
      return false;
    }
    std::string step() override {
      switch (state_) {
        case State::Looks: return look();
        case State::Runs: return perform();
        case State::Tired: return fall_asleep();
        default: break;
      }
      state_ = State::Looks;
      return std::exchange(world_.notified_, false) ? "is woken" : "wakes in time";
    }
    void hash_into(StateHash& hash) const override {
      hash.add(static_cast<uint64_t>(state_));
      if (state_ == State::Runs) hash.add(static_cast<uint64_t>(until_ns_ - world_.simulation_.now_ns()));
    }
    bool asleep() const { return state_ == State::Sleeps; }
    bool ended() const { return state_ == State::Ended; }

   private:
    enum class State : uint8_t { Looks, Runs, Tired, Sleeps, Ended };
    using What = GraphPolicy::Action::What;

    std::string look() {
      action_ = world_.loop_.next();
      if (action_.what == What::Ended) {
        state_ = State::Ended;
        return "ends";
      }
      if (action_.what == What::Sleep) {
        state_ = State::Tired;
        return "has nothing to do";
      }
      state_ = State::Runs;
      until_ns_ = world_.simulation_.now_ns() + world_.sim_.nodes[action_.node].takes_ns;
      world_.simulation_.wake_at(until_ns_);
      if (action_.what == What::Call) world_.taken(action_.node);
      return (action_.what == What::Call ? "calls n" : "resumes n") + std::to_string(action_.node);
    }
    std::string perform() {
      state_ = State::Looks;
      world_.loop_.perform(action_);
      return "is done with n" + std::to_string(action_.node);
    }
    std::string fall_asleep() {
      if (world_.sim_.asks_before_sleep && !world_.loop_.mailbox().fall_asleep()) {
        state_ = State::Looks;
        return "does not sleep";
      }
      state_ = State::Sleeps;
      until_ns_ = action_.until_ns;
      if (until_ns_ != kNever) world_.simulation_.wake_at(until_ns_);
      return "sleeps";
    }

    GraphWorld& world_;
    State state_ = State::Looks;
    GraphPolicy::Action action_{};
    int64_t until_ns_ = 0;
  };

  Plan described();
  void add_scripts();
  void add_script(std::string name, std::vector<Script::Line> lines) {
    scripts_.push_back(std::make_unique<Script>(simulation_, std::move(name), std::move(lines)));
    simulation_.add(*scripts_.back());
  }
  PutResult emit(Activation& activation);
  std::string put(EdgeId edge);
  std::string change(const Command& command);
  void taken(NodeId node);
  std::string check_capacity() const;
  std::string check_lists() const;
  bool from_outside(EdgeId edge) const { return plan_.edges[edge].src == kNone; }

  Simulation& simulation_;
  const GraphSimPlan& sim_;
  Plan plan_;
  std::vector<std::deque<uint64_t>> waiting_;  // by edge: what was taken and not delivered, held items included
  std::vector<int64_t> most_;                  // by edge: its greatest capacity
  BasicLoop<Policy> loop_;
  Driver driver_;
  std::vector<std::unique_ptr<Script>> scripts_;
  uint64_t next_number_ = 1;
  bool notified_ = false;
};

template <class Policy>
Plan GraphWorld<Policy>::described() {
  Subgraph graph;
  for (size_t i = 0; i < sim_.nodes.size(); ++i) {
    graph.add("n" + std::to_string(i), std::make_shared<Body>(*this, sim_.nodes[i]),
              {.inputs = {port<uint64_t>("in")}, .outputs = {port<uint64_t>("out")}, .tick_interval_ns = sim_.nodes[i].tick_ns});
  }
  for (size_t i = 0; i < sim_.edges.size(); ++i) {
    const SimEdge& edge = sim_.edges[i];
    const std::string to = "n" + std::to_string(edge.to) + ":in";
    if (edge.from < 0) {
      graph.input("i" + std::to_string(i), to, edge.options);
    } else {
      graph.connect("n" + std::to_string(edge.from) + ":out", to, edge.options);
    }
  }
  return Plan::of(graph);
}

template <class Policy>
void GraphWorld<Policy>::add_scripts() {
  for (size_t i = 0; i < sim_.putters.size(); ++i) {
    std::vector<Script::Line> lines;
    for (const SimPut& line : sim_.putters[i]) {
      lines.push_back({line.at_ns, [this, edge = static_cast<EdgeId>(line.edge)] { return put(edge); }});
    }
    add_script("putter" + std::to_string(i), std::move(lines));
  }
  std::vector<Script::Line> changes;
  for (const SimChange& line : sim_.changes) changes.push_back({line.at_ns, [this, &line] { return change(line.command); }});
  if (!changes.empty()) add_script("changer", std::move(changes));
  add_script("stopper", {{sim_.stop_ns, [this] {
                            loop_.mailbox().stop();
                            return std::string("stops");
                          }}});
}

template <class Policy>
PutResult GraphWorld<Policy>::emit(Activation& activation) {
  const uint64_t number = next_number_++;
  const PutResult worst = activation.emit<uint64_t>(0, number);
  const std::vector<EdgeId>& edges = plan_.nodes[activation.node()].out[0];
  for (size_t i = 0; i < edges.size(); ++i) {
    std::deque<uint64_t>& list = waiting_[edges[i]];
    switch (activation.edge_results()[i]) {
      case PutResult::Replaced: list.pop_front(); [[fallthrough]];
      case PutResult::Ok:
      case PutResult::Blocked: list.push_back(number); break;
      case PutResult::Coalesced: list.back() = number; break;
      case PutResult::Dropped:
      case PutResult::Stopping: break;
    }
  }
  return worst;
}

template <class Policy>
std::string GraphWorld<Policy>::put(EdgeId edge) {
  static constexpr const char* kNames[] = {"ok", "coalesced", "replaced", "dropped", "blocked", "stopping"};
  const uint64_t number = next_number_++;
  Message item = Message::of<uint64_t>(number);
  const PutResult result = loop_.mailbox().put(edge, item);
  if (result == PutResult::Ok || result == PutResult::Replaced) waiting_[edge].push_back(number);
  if (result == PutResult::Replaced) {
    if (item.empty() || item.get<uint64_t>() >= number) simulation_.fail("once", "what was replaced is not an older item");
  } else if (item.empty() != (result <= PutResult::Dropped)) {
    simulation_.fail("once", "an item that was not taken has gone, or stayed though it was");
  }
  return "puts " + std::to_string(number) + " into " + plan_.edges[edge].id + ": " + kNames[static_cast<size_t>(result)];
}

template <class Policy>
std::string GraphWorld<Policy>::change(const Command& command) {
  if (command.kind == Command::Kind::Wake) {
    loop_.mailbox().wake(command.target);
    return "wakes n" + std::to_string(command.target);
  }
  if (command.kind == Command::Kind::SetCapacity) most_[command.target] = std::max(most_[command.target], command.value);
  return loop_.mailbox().change(command) ? "changes " + plan_.edges[command.target].id : "is refused";
}

// The node is about to be called for what it has been given.
template <class Policy>
void GraphWorld<Policy>::taken(NodeId node) {
  if (loop_.policy().callback(node) != Callback::Message) return;
  const EdgeId edge = loop_.policy().call_edge(node);
  const auto number = loop_.policy().call_message(node).template get<uint64_t>();
  std::deque<uint64_t>& list = waiting_[edge];
  const bool lossy = from_outside(edge) && plan_.edges[edge].options.policy != EdgePolicy::Block;
  // What an input loses on the way it loses in the loop, where no list can follow; what remains is in order.
  while (lossy && !list.empty() && list.front() != number) list.pop_front();
  if (list.empty() || list.front() != number) {
    simulation_.fail("once", std::to_string(number) + " of " + plan_.edges[edge].id + " is not what was to come");
    return;
  }
  list.pop_front();
}

template <class Policy>
std::string GraphWorld<Policy>::check_capacity() const {
  for (EdgeId edge = 0; edge < plan_.edges.size(); ++edge) {
    // When it ends, what an input had accepted comes in whole.
    const bool ends = from_outside(edge) && loop_.policy().phase() >= GraphPolicy::Phase::Draining;
    const auto most = static_cast<size_t>(most_[edge]) * (ends ? 2 : 1);
    if (loop_.policy().depth(edge) > most) return plan_.edges[edge].id + " holds " + std::to_string(loop_.policy().depth(edge));
  }
  return loop_.policy().broken_credit();
}

template <class Policy>
std::string GraphWorld<Policy>::check_lists() const {
  if (loop_.policy().stopping()) return "";
  for (EdgeId edge = 0; edge < plan_.edges.size(); ++edge) {
    const size_t there = loop_.policy().depth(edge) + loop_.policy().holds(edge);
    if (from_outside(edge) ? there > waiting_[edge].size() : there != waiting_[edge].size()) {
      return plan_.edges[edge].id + " has " + std::to_string(there) + " items and should have " + std::to_string(waiting_[edge].size());
    }
  }
  return "";
}

}  // namespace posset::sched::graph
