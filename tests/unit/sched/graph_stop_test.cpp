// How a graph begins and ends: orders of start and stop, what is drained, abandoned, told; activations that are left in
// the middle and resumed.
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "graph_fixture.h"
#include "sched/base/random.h"
#include "sched/fiber/context.h"

using namespace posset::sched;
using namespace posset::sched::graph;

namespace {

// A node on a fiber: its handler is a function that may leave itself in the middle.
class FiberNode : public Node {
 public:
  class Hand {
   public:
    explicit Hand(FiberNode& node) : node_(node) {}
    // Blocks until the item is in.
    PutResult emit(PortId port, int value) {
      const PutResult result = activation().emit<int>(port, value);
      if (result != PutResult::Blocked) return result;
      leave(Progress::Suspended);
      return activation().resumed_with();
    }
    void leave(Progress progress) {
      node_.progress_ = progress;
      node_.fiber_->switch_to(node_.loop_);
      if (node_.unwinds_) throw Unwound();
    }
    Activation& activation() { return *node_.current_; }

   private:
    FiberNode& node_;
  };

  std::function<void(Hand&)> body;

  Progress call(Activation& activation) override {
    fiber_.emplace(std::make_unique<NativeStack>(size_t{64} << 10), &FiberNode::run, this);
    REQUIRE(fiber_->ok());
    return resume(activation);
  }
  Progress resume(Activation& activation) override {
    current_ = &activation;
    loop_.switch_to(*fiber_);
    return progress_;
  }
  void cancel(Activation& activation) override {
    unwinds_ = true;
    resume(activation);
    unwinds_ = false;
    ++cancelled;
  }
  int cancelled = 0;

 private:
  struct Unwound {};

  static void run(void* self) {
    FiberNode& node = *static_cast<FiberNode*>(self);
    Hand hand(node);
    try {
      node.body(hand);
    } catch (const Unwound&) {
    }
    node.progress_ = Progress::Done;
  }

  fiber::Context loop_;
  std::optional<fiber::Context> fiber_;
  bool unwinds_ = false;
  Activation* current_ = nullptr;
  Progress progress_ = Progress::Done;
};

std::shared_ptr<FiberNode> fiber_node(GraphFixture& f, const std::string& name, int ins, int outs) {
  auto made = std::make_shared<FiberNode>();
  f.graph.add(name, made, ins_outs(ins, outs));
  return made;
}

// Parks whatever it is called for but start and stop.
struct Parker : Node {
  Progress call(Activation& a) override {
    ++calls;
    return a.callback() == Callback::Start || a.callback() == Callback::Stop ? Progress::Done : Progress::Parked;
  }
  Progress resume(Activation& a) override {
    ++resumes;
    return leaves && a.stopping() ? Progress::Done : Progress::Parked;
  }
  void cancel(Activation&) override { ++cancels; }
  int calls = 0, resumes = 0, cancels = 0;
  bool leaves = true;
};

uint64_t abandoned(GraphFixture& f) {
  uint64_t sum = 0;
  for (const EdgeStatistics& edge : f.policy().statistics().edges) sum += edge.abandoned;
  return sum;
}

}  // namespace

// ---- orders ----

TEST_CASE("graph 4.3: on random graphs all start in order, and stop in reverse") {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    GraphFixture f;
    const int count = 1 + static_cast<int>(random.below(12));
    std::vector<std::string> started, stopped;
    std::vector<std::string> failing;
    for (int i = 0; i < count; ++i) {
      const std::string name = "n" + std::to_string(i);
      auto node = f.node(name, 1, 1);
      const bool fails = random.below(6) == 0;
      node->start = [&started, name, fails](Activation&) {
        if (fails) throw std::runtime_error("cannot start");
        started.push_back(name);
      };
      node->stop = [&stopped, name](Activation&) { stopped.push_back(name); };
    }
    for (int i = 0; i < count; ++i) {
      const auto to = std::to_string(random.below(static_cast<uint64_t>(count)));
      f.graph.connect("n" + std::to_string(i) + ":out", "n" + to + ":in");
    }
    std::vector<std::string> expected;
    f.settle();
    for (NodeId node : f.plan().start_order) {
      const std::string& name = f.plan().nodes[node].name;
      if (std::find(started.begin(), started.end(), name) != started.end()) expected.push_back(name);
    }
    CHECK(started == expected);
    CHECK(f.incidents.size() == static_cast<size_t>(count) - started.size());
    f.end();
    std::reverse(started.begin(), started.end());
    CHECK(stopped == started);
  }
}

TEST_CASE("graph 4.1.2: a node that cannot start is told, never scheduled, not stopped, and nobody waits for it") {
  GraphFixture f;
  auto source = f.node("a", 0, 1, 10);
  int emitted = 0, calls = 0, stops = 0;
  source->tick = [&](Activation& a) { emitted += a.emit<int>(0, 1) == PutResult::Dropped; };
  auto bad = f.node("b", 1, 0, 10);
  bad->start = [](Activation&) { throw std::runtime_error("no port"); };
  bad->message = [&](Activation&, PortId, Message&) { ++calls; };
  bad->tick = [&](Activation&) { ++calls; };
  bad->stop = [&](Activation&) { ++stops; };
  f.graph.connect("a:out", "b:in", {.capacity = 1});
  f.run_to(100);
  f.end();
  CHECK(calls == 0);
  CHECK(stops == 0);
  CHECK(emitted == 10);
  CHECK(f.incidents[0].kind == Incident::Kind::StartFailed);
  CHECK(f.incidents[0].text == "node b: on_start threw: no port");
}

TEST_CASE("graph 4.1.10: a stop before the beginning, and one between two starts") {
  GraphFixture f;
  int starts = 0, stops = 0;
  for (const char* name : {"a", "b", "c"}) {
    auto node = f.node(name, 0, 0);
    node->start = [&](Activation&) {
      if (++starts == 2) f.loop().mailbox().stop();
    };
    node->stop = [&](Activation&) { ++stops; };
  }
  f.end();
  CHECK(starts == 0);
  CHECK(stops == 0);

  GraphFixture g;
  std::vector<int> order;
  for (int i = 0; i < 3; ++i) {
    auto node = g.node("n" + std::to_string(i), 0, 0);
    node->start = [&g, &order, i](Activation&) {
      order.push_back(i);
      if (i == 1) g.loop().mailbox().stop();
    };
    node->stop = [&order, i](Activation&) { order.push_back(-i); };
  }
  CHECK_FALSE(g.run_to(1000));
  CHECK(order == std::vector<int>{0, 1, -1, 0});
}

TEST_CASE("graph 4.1.10: on_stop that throws is told, the others are still called, and nothing can be emitted") {
  GraphFixture f;
  int stops = 0;
  PutResult result = PutResult::Ok;
  f.node("a", 0, 0)->stop = [&](Activation&) { ++stops; };
  f.node("b", 0, 1)->stop = [&](Activation& a) {
    ++stops;
    result = a.emit<int>(0, 1);
    throw std::runtime_error("late");
  };
  std::vector<int> seen;
  f.sink("c", seen);
  f.graph.connect("b:out", "c:in");
  f.settle();
  f.end();
  CHECK(stops == 2);
  CHECK(result == PutResult::Stopping);
  CHECK(f.incidents.at(0).text == "node b: on_stop threw: late");
}

// ---- draining ----

TEST_CASE("graph 4.1.10: a drain delivers everything along edges of every policy") {
  for (EdgePolicy policy : {EdgePolicy::Block, EdgePolicy::Drop, EdgePolicy::Latest}) {
    GraphFixture f;
    f.node("a", 1, 1)->message = [](Activation& a, PortId, Message& m) { a.emit(0, std::move(m)); };
    f.node("b", 1, 1)->message = [](Activation& a, PortId, Message& m) { a.emit(0, std::move(m)); };
    std::vector<int> seen;
    f.sink("c", seen);
    f.graph.input("feed", "a:in", {.capacity = 4, .policy = policy});
    f.graph.connect("a:out", "b:in", {.policy = policy});
    f.graph.connect("b:out", "c:in", {.policy = policy});
    f.settle();
    for (int i = 0; i < 4; ++i) CHECK(f.put("feed", i) == PutResult::Ok);
    f.loop().mailbox().stop();
    CHECK(f.put("feed", 9) == PutResult::Stopping);
    CHECK_FALSE(f.run_to(kSecond));
    CHECK(seen == std::vector<int>{0, 1, 2, 3});
    CHECK(abandoned(f) == 0);
    CHECK(f.incidents.empty());
  }
}

TEST_CASE("graph 4.1.10: what was accepted outside beyond the edge's capacity is drained, too") {
  GraphFixture f;
  std::vector<int> seen;
  f.sink("a", seen);
  f.graph.input("feed", "a:in", {.capacity = 2});
  f.settle();
  CHECK(f.put("feed", 0) == PutResult::Ok);
  CHECK(f.put("feed", 1) == PutResult::Ok);
  CHECK(f.put("feed", 2) == PutResult::Blocked);
  f.step();  // takes one, so that there is room here while the edge is full
  f.put("feed", 2), f.put("feed", 3);
  f.end();
  CHECK(seen == std::vector<int>{0, 1, 2, 3});
}

TEST_CASE("graph 4.1.10: a circle of edges that may lose items is gone around once") {
  for (EdgePolicy policy : {EdgePolicy::Drop, EdgePolicy::Latest}) {
    GraphFixture f;
    int calls = 0;
    f.node("a", 1, 1)->message = [&](Activation& a, PortId, Message& m) { ++calls, a.emit(0, std::move(m)); };
    f.node("b", 1, 1)->message = [&](Activation& a, PortId, Message& m) { ++calls, a.emit(0, std::move(m)); };
    f.graph.connect("a:out", "b:in", {.policy = policy});
    f.graph.connect("b:out", "a:in", {.policy = policy});
    f.graph.input("feed", "a:in");
    f.settle();
    f.feed(3);
    for (int i = 0; i < 100; ++i) f.step();
    const int before = calls;
    f.end();
    CHECK(calls - before <= 8 + 6);  // the turn under way, then once around
    CHECK(abandoned(f) == 3);
    CHECK(f.clock.now_ns() == 0);  // it waited for nothing
  }
}

TEST_CASE("graph 4.1.10: a circle of block edges is drained until the time is up") {
  GraphFixture f;
  f.config.shutdown_timeout_ns = 1000;
  f.node("a", 1, 1)->message = [&](Activation& a, PortId, Message& m) {
    f.clock.advance_to(f.clock.now_ns() + 10);
    a.emit(0, std::move(m));
  };
  f.graph.connect("a:out", "a:in");
  f.graph.input("feed", "a:in");
  f.settle();
  f.feed(5);
  for (int i = 0; i < 20; ++i) f.step();
  const int64_t stop_ns = f.clock.now_ns();
  f.end();
  CHECK(abandoned(f) == 5);
  CHECK(f.clock.now_ns() - stop_ns >= 1000);
  CHECK(f.clock.now_ns() - stop_ns <= 1000 + 8 * 10);
  REQUIRE(f.incidents.size() == 1);
  CHECK(f.incidents[0].text == "abandoned 5 messages of edges a:out->a:in");
}

TEST_CASE("graph 4.1.10: no ticks and no again while it drains") {
  GraphFixture f;
  int ticks = 0;
  auto node = f.node("a", 1, 0, 10);
  node->tick = [&](Activation& a) { ++ticks, a.again(); };
  node->message = [&](Activation& a, PortId, Message&) {
    a.again();
    f.clock.advance_to(f.clock.now_ns() + 50);
  };
  f.graph.input("feed", "a:in");
  f.settle();
  f.feed(5);
  f.end();
  CHECK(f.of("a").messages == 5);
  CHECK(ticks == 0);
}

TEST_CASE("graph 4.1.10: a deadlock ends the drain at once, and is told") {
  GraphFixture f;
  f.node("a", 1, 1)->start = [](Activation& a) { a.emit<int>(0, 1), a.emit<int>(0, 2); };
  f.graph.connect("a:out", "a:in", {.capacity = 1});
  f.loop().mailbox();
  f.settle();
  f.end();
  CHECK(f.clock.now_ns() == 0);
  CHECK(abandoned(f) == 2);
  REQUIRE(f.incidents.size() == 2);
  CHECK(f.incidents[0].kind == Incident::Kind::Deadlock);
  CHECK(f.incidents[1].kind == Incident::Kind::Abandoned);
}

TEST_CASE("graph 4.1.10: a node that failed while it ran is stopped like the others") {
  GraphFixture f;
  int stops = 0;
  auto node = f.node("a", 1, 0, kNoTicks, ErrorPolicy::Stop);
  node->message = [](Activation&, PortId, Message&) { throw std::runtime_error("x"); };
  node->stop = [&](Activation&) { ++stops; };
  f.graph.input("feed", "a:in");
  f.settle();
  f.put("feed", 1);
  f.settle();
  f.put("feed", 1);
  f.end();
  CHECK(stops == 1);
  CHECK(f.of("a").errors == 1);
}

// ---- activations that are left in the middle ----

TEST_CASE("graph 4.1.8: a handler on a fiber waits in the middle of an emit and goes on there") {
  for (int64_t capacity : {1, 3}) {
    GraphFixture f;
    auto source = fiber_node(f, "a", 1, 1);
    int bodies = 0;
    source->body = [&](FiberNode::Hand& hand) {
      if (hand.activation().callback() != Callback::Message) return;
      ++bodies;
      const int from = hand.activation().message().get<int>();
      for (int i = 0; i < 20; ++i) CHECK(hand.emit(0, from + i) == PutResult::Ok);
      CHECK(hand.activation().message().get<int>() == from);  // it has stayed
    };
    std::vector<int> seen;
    f.sink("b", seen);
    f.graph.input("feed", "a:in");
    f.graph.connect("a:out", "b:in", {.capacity = capacity});
    f.settle();
    f.put("feed", 0), f.put("feed", 20);
    f.settle();
    std::vector<int> expected(40);
    std::iota(expected.begin(), expected.end(), 0);
    CHECK(seen == expected);
    CHECK(bodies == 2);
    CHECK(f.of("a").resumes >= 36 / static_cast<uint64_t>(capacity) / 2);
    f.end();
  }
}

TEST_CASE("graph 4.1.4: an activation that yields lets others have their turns and comes back") {
  GraphFixture f;
  std::string order;
  for (const char* name : {"a", "b"}) {
    auto node = fiber_node(f, name, 1, 0);
    node->body = [&order, name](FiberNode::Hand& hand) {
      if (hand.activation().callback() != Callback::Message) return;
      for (int i = 0; i < 3; ++i) {
        order += name;
        if (i < 2) hand.leave(Progress::Yielded);
      }
    };
    f.graph.input(std::string("to_") + name, std::string(name) + ":in");
  }
  f.settle();
  f.put("to_a", 1), f.put("to_b", 1), f.put("to_a", 1);
  f.settle();
  CHECK(order == "ababaabaa");  // one activation of a at a time; the second in the turn that ends the first
  f.end();
}

TEST_CASE("graph: a parked activation sleeps until it is woken, and a wake before is not lost") {
  GraphFixture f;
  auto node = fiber_node(f, "a", 1, 0);
  int done = 0;
  node->body = [&](FiberNode::Hand& hand) {
    if (hand.activation().callback() != Callback::Message) return;
    hand.leave(hand.activation().message().get<int>() == 0 ? Progress::Parked : Progress::Yielded);
    if (hand.activation().message().get<int>() == 1) hand.leave(Progress::Parked);
    ++done;
  };
  f.graph.input("feed", "a:in");
  f.settle();
  f.put("feed", 0);
  f.settle();
  CHECK(done == 0);
  f.loop().mailbox().wake(0);
  f.settle();
  CHECK(done == 1);
  f.put("feed", 1);
  f.step();  // has yielded and is going to park
  f.loop().mailbox().wake(0);
  f.settle();
  CHECK(done == 2);
  f.loop().mailbox().wake(0);  // of nobody
  f.settle();
  f.end();
}

TEST_CASE("graph 4.1.10: suspended emitters get Stopping, and on_stop comes after they have ended") {
  GraphFixture f;
  f.config.shutdown_timeout_ns = 100;
  auto source = fiber_node(f, "a", 0, 1);
  std::vector<PutResult> results;
  bool stopped_after = false, ended = false;
  source->body = [&](FiberNode::Hand& hand) {
    if (hand.activation().callback() == Callback::Stop) stopped_after = ended;
    if (hand.activation().callback() != Callback::Start) return;
    hand.leave(Progress::Yielded);  // so that the others start
    for (int i = 0; i < 4; ++i) results.push_back(hand.emit(0, i));
    ended = true;
  };
  f.graph.add("b", std::make_shared<Parker>(), ins_outs(1, 0));
  f.graph.connect("a:out", "b:in", {.capacity = 1});
  f.settle();
  CHECK(results.size() == 2);
  f.end();
  using P = PutResult;
  CHECK(results == std::vector<P>{P::Ok, P::Ok, P::Stopping, P::Stopping});
  CHECK(ended);
  CHECK(stopped_after);
  CHECK(abandoned(f) == 2);
  CHECK(f.clock.now_ns() == 100);
}

TEST_CASE("graph 4.1.10: a parked activation may end when the graph does; one that does not is cancelled") {
  for (bool leaves : {true, false}) {
    GraphFixture f;
    f.config.shutdown_timeout_ns = 100;
    auto parker = std::make_shared<Parker>();
    parker->leaves = leaves;
    f.graph.add("a", parker, ins_outs(1, 0));
    f.graph.input("feed", "a:in");
    f.settle();
    f.put("feed", 1);
    f.end();
    CHECK(parker->resumes == 1);
    CHECK(parker->cancels == (leaves ? 0 : 1));
    CHECK(parker->calls == 3);
    CHECK(f.clock.now_ns() == (leaves ? 100 : 200));
    CHECK(f.incidents.size() == (leaves ? 0 : 1));
  }
}

TEST_CASE("graph 4.1.10: an activation that yields for ever is cancelled, its fiber unwound") {
  GraphFixture f;
  f.config.shutdown_timeout_ns = 100;
  auto node = fiber_node(f, "a", 1, 0);
  struct Unwound {
    int& count;
    ~Unwound() { ++count; }
  };
  int unwound = 0;
  node->body = [&](FiberNode::Hand& hand) {
    if (hand.activation().callback() != Callback::Message) return;
    Unwound guard{unwound};
    for (;;) {
      f.clock.advance_to(f.clock.now_ns() + 1);
      hand.leave(Progress::Yielded);
    }
  };
  f.graph.input("feed", "a:in");
  f.settle();
  f.put("feed", 1);
  f.end();
  CHECK(node->cancelled == 1);
  CHECK(unwound == 1);
  REQUIRE(f.incidents.size() == 1);
  CHECK(f.incidents[0].text == "node a: its activation did not end in time");
}

TEST_CASE("graph 4.1.10: an on_stop that does not come back is given up in time") {
  GraphFixture f;
  f.config.shutdown_timeout_ns = 100;
  auto node = fiber_node(f, "a", 0, 0);
  int resumed = 0;
  node->body = [&](FiberNode::Hand& hand) {
    if (hand.activation().callback() != Callback::Stop) return;
    hand.leave(Progress::Yielded);
    ++resumed;
    hand.leave(Progress::Parked);
    ++resumed;
  };
  int others = 0;
  f.node("b", 0, 0);
  f.node("c", 0, 0)->stop = [&](Activation&) { ++others; };
  f.settle();
  f.end();
  CHECK(resumed == 1);
  CHECK(node->cancelled == 1);
  CHECK(others == 1);
  CHECK(f.clock.now_ns() == 100);
}
