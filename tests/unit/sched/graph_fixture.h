// A graph on one thread and a virtual clock, for tests that say what happens when: handlers are functions and may move
// the clock, which is how they take time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sched/graph/loop.h"
#include "sched/graph/runtime.h"
#include "sched/sim/simulation.h"

namespace posset::sched::graph {

// A node of functions; what is not given does nothing.
class FunctionNode : public Node {
 public:
  std::function<void(Activation&)> start;
  std::function<void(Activation&, PortId, Message&)> message;
  std::function<void(Activation&)> tick;
  std::function<void(Activation&)> stop;

  void on_start(Activation& a) override {
    if (start) start(a);
  }
  void on_message(Activation& a, PortId port, Message& m) override {
    if (message) message(a, port, m);
  }
  void on_tick(Activation& a) override {
    if (tick) tick(a);
  }
  void on_stop(Activation& a) override {
    if (stop) stop(a);
  }
};

inline NodeOptions ins_outs(int ins, int outs) {
  NodeOptions options;
  for (int i = 0; i < ins; ++i) options.inputs.push_back(port<int>("in" + (i ? std::to_string(i) : std::string())));
  for (int i = 0; i < outs; ++i) options.outputs.push_back(port<int>("out" + (i ? std::to_string(i) : std::string())));
  return options;
}

class GraphFixture : public Notifier {
 public:
  using What = GraphPolicy::Action::What;

  GraphFixture() {
    config.on_incident = [this](const Incident& incident) { incidents.push_back(incident); };
  }

  std::shared_ptr<FunctionNode> node(const std::string& name, int ins, int outs, int64_t ticks_ns = kNoTicks,
                                     ErrorPolicy on_error = ErrorPolicy::Skip) {
    auto made = std::make_shared<FunctionNode>();
    NodeOptions options = ins_outs(ins, outs);
    options.tick_interval_ns = ticks_ns;
    options.on_error = on_error;
    graph.add(name, made, options);
    return made;
  }
  // One that keeps what it gets.
  std::shared_ptr<FunctionNode> sink(const std::string& name, std::vector<int>& into) {
    auto made = node(name, 1, 0);
    made->message = [&into](Activation&, PortId, Message& m) { into.push_back(m.get<int>()); };
    return made;
  }

  GraphLoop& loop() {
    if (!loop_) {
      plan_ = std::make_unique<Plan>(Plan::of(graph));
      loop_ = std::make_unique<GraphLoop>(*plan_, clock, config, trace, *this);
    }
    return *loop_;
  }
  GraphPolicy& policy() { return loop().policy(); }
  const Plan& plan() { return loop().policy().plan(); }

  // One action; Sleep is not slept.
  GraphPolicy::Action step() {
    const GraphPolicy::Action action = loop().next();
    if (action.what != What::Sleep && action.what != What::Ended) loop().perform(action);
    const std::string broken = policy().broken_invariant();
    REQUIRE_MESSAGE(broken.empty(), broken);
    return action;
  }
  // Runs up to that time. False: the graph has ended.
  bool run_to(int64_t ns) {
    for (;;) {
      const GraphPolicy::Action action = step();
      if (action.what == What::Ended) return false;
      if (action.what != What::Sleep) {
        if (clock.now_ns() >= ns) return true;
        continue;
      }
      if (!loop().mailbox().fall_asleep()) continue;
      if (action.until_ns > ns) {
        if (ns > clock.now_ns()) clock.advance_to(ns);
        return true;
      }
      clock.advance_to(std::max(action.until_ns, clock.now_ns()));
    }
  }
  // Until it has nothing more to do without time or help from outside.
  void settle() {
    while (step().what != What::Sleep) {
    }
  }
  void run_turns(uint64_t turns) {
    while (policy().statistics().turns < turns) REQUIRE(step().what != What::Sleep);
  }
  void end() {
    loop().mailbox().stop();
    REQUIRE_FALSE(run_to(kNever - 1));
  }

  PutResult put(const std::string& input, int value) {
    Message item = Message::of<int>(value);
    return loop().mailbox().put(plan().input(input), item);
  }
  // 0, 1, 2 and so on, into the input of that name.
  void feed(int count) {
    for (int i = 0; i < count; ++i) put("feed", i);
  }
  void set_capacity(const std::string& edge, int64_t capacity) {
    loop().mailbox().change({Command::Kind::SetCapacity, plan().edge(edge), capacity});
  }
  void set_priority(const std::string& edge, int64_t priority) {
    loop().mailbox().change({Command::Kind::SetPriority, plan().edge(edge), static_cast<int64_t>(band_of_priority(priority))});
  }
  EdgeStatistics edge(const std::string& id) { return policy().statistics().edges[plan().edge(id)]; }
  NodeStatistics of(const std::string& name) { return policy().statistics().nodes[plan().node(name)]; }

  void notify() override { ++notified; }

  VirtualClock clock;
  Subgraph graph;
  GraphConfig config;
  Trace* trace = nullptr;
  std::vector<Incident> incidents;
  int notified = 0;

 private:
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<GraphLoop> loop_;
};

// A node `a` that keeps what it gets from the input `feed`.
struct FedSink : GraphFixture {
  FedSink() {
    sink("a", seen);
    graph.input("feed", "a:in");
  }
  std::vector<int> seen;
};

}  // namespace posset::sched::graph
