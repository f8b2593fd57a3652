// One test for each fault of the scheduler this one is modelled on (the chapter's second section), so that none is
// shared.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "graph_fixture.h"
#include "sched/trace_events.h"

using namespace posset::sched;
using namespace posset::sched::graph;

namespace {

// A node that always has something to do: it sends to itself.
void add_busy(GraphFixture& f, const std::string& name, int64_t priority) {
  auto node = f.node(name, 1, 1);
  node->start = [](Activation& a) { a.emit<int>(0, 1); };
  node->message = [](Activation& a, PortId, Message&) { a.emit<int>(0, 1); };
  f.graph.connect(name + ":out", name + ":in", {.priority = priority});
}

}  // namespace

TEST_CASE("graph 4.2: Control does not take every turn, nor High all of two bands") {
  GraphFixture f;
  add_busy(f, "n", 0), add_busy(f, "h", 2), add_busy(f, "c", 3);
  f.run_turns(700);
  CHECK(f.of("c").turns == 400);
  CHECK(f.of("n").turns == 100);
  GraphFixture g;
  add_busy(g, "n", 0), add_busy(g, "h", 2);
  g.run_turns(300);
  CHECK(g.of("h").turns == 200);
  CHECK(g.of("n").turns == 100);
}

TEST_CASE("graph 4.2: of three nodes of a band that are always ready each has a third") {
  GraphFixture f;
  for (const char* name : {"a", "b", "c"}) add_busy(f, name, 0);
  f.run_turns(300);
  for (const char* name : {"a", "b", "c"}) CHECK(f.of(name).turns == 100);
}

TEST_CASE("graph 4.2: nodes start in topological order, not in that of registration") {
  GraphFixture f;
  std::string order;
  f.node("late", 1, 0)->start = [&](Activation&) { order += "late "; };
  f.node("early", 0, 1)->start = [&](Activation&) { order += "early "; };
  f.graph.connect("early:out", "late:in");
  f.settle();
  CHECK(order == "early late ");
}

TEST_CASE("graph 4.2: an idle graph goes on however long it has been up") {
  FedSink f;
  f.config.shutdown_timeout_ns = kSecond;
  REQUIRE(f.run_to(1000 * kSecond));
  f.put("feed", 1);
  REQUIRE(f.run_to(2000 * kSecond));
  CHECK(f.seen.size() == 1);
}

TEST_CASE("graph 4.2: a shutdown drains") {
  FedSink f;
  f.settle();
  f.feed(100);
  f.end();
  CHECK(f.seen.size() == 100);
}

TEST_CASE("graph 4.2: Blocked is a result, no error, and loses neither message") {
  GraphFixture f;
  int handled = 0;
  f.node("a", 1, 1)->message = [&](Activation& a, PortId, Message& m) { ++handled, a.emit(0, std::move(m)); };
  std::vector<int> seen;
  f.sink("b", seen);
  f.graph.input("feed", "a:in");
  f.graph.connect("a:out", "b:in", {.capacity = 1});
  f.settle();
  f.feed(50);
  f.settle();
  CHECK(seen.size() == 50);
  CHECK(handled == 50);
  CHECK(f.of("a").errors == 0);
  CHECK(f.of("a").blocked > 0);
}

TEST_CASE("graph 4.2: a blocked node is in no queue and is not polled") {
  GraphFixture f;
  f.node("a", 0, 1)->start = [](Activation& a) { a.emit<int>(0, 1), a.emit<int>(0, 2); };
  struct Parked : Node {
    Progress call(Activation& a) override { return a.callback() == Callback::Message ? Progress::Parked : Progress::Done; }
  };
  f.graph.add("b", std::make_shared<Parked>(), ins_outs(1, 0));
  f.node("other", 1, 1)->start = [](Activation& a) { a.emit<int>(0, 1), a.emit<int>(0, 2); };
  f.graph.connect("a:out", "b:in", {.capacity = 1});
  f.graph.connect("other:out", "other:in", {.capacity = 1});
  f.settle();
  REQUIRE(f.policy().blocked(f.plan().node("other")));
  CHECK_FALSE(f.policy().queued(f.plan().node("other")));
  const uint64_t turns = f.policy().statistics().turns, sleeps = f.policy().statistics().sleeps;
  f.run_to(10 * kSecond);
  CHECK(f.policy().statistics().turns == turns);
  CHECK(f.policy().statistics().sleeps <= sleeps + 1);
}

TEST_CASE("graph 4.2: all edges into one port are read") {
  GraphFixture f;
  std::vector<int> seen;
  f.sink("c", seen);
  for (const char* name : {"a", "b", "d"}) {
    f.node(name, 0, 1)->start = [name](Activation& a) { a.emit<int>(0, name[0]); };
    f.graph.connect(std::string(name) + ":out", "c:in");
  }
  f.settle();
  CHECK(seen == std::vector<int>{'a', 'b', 'd'});
}

TEST_CASE("graph 4.2: a priority for an edge that is not there is an error") {
  SystemClock clock;
  GraphRuntime graph(clock);
  CHECK_THROWS_WITH(graph.set_priority("a:x->b:y", 2), "unknown edge a:x->b:y");
}

TEST_CASE("graph 4.2: a capacity can be set before the run") {
  SystemClock clock;
  GraphRuntime graph(clock);
  auto source = std::make_shared<FunctionNode>();
  PutResult second = PutResult::Blocked;
  source->start = [&](Activation& a) {
    a.emit<int>(0, 1);
    second = a.emit<int>(0, 2);
    graph.shutdown();
  };
  graph.add("a", source, ins_outs(0, 1));
  graph.add("b", std::make_shared<FunctionNode>(), ins_outs(1, 0));
  graph.connect("a:out", "b:in", {.capacity = 1});
  graph.set_capacity("a:out->b:in", 2);
  graph.run();
  CHECK(second == PutResult::Ok);
}

TEST_CASE("graph 4.2: a turn takes several messages of one port") {
  FedSink f;
  f.settle();
  f.feed(8);
  f.settle();
  CHECK(f.seen.size() == 8);
  CHECK(f.of("a").turns == 1);
}

TEST_CASE("graph 4.2: a message arrives as it was sent, wrapped in nothing") {
  GraphFixture f;
  f.node("a", 0, 1)->start = [](Activation& a) { a.emit<int>(0, 7); };
  f.node("b", 1, 1)->message = [](Activation& a, PortId, Message& m) { a.emit(0, std::move(m)); };
  bool plain = false;
  f.node("c", 1, 0)->message = [&](Activation&, PortId, Message& m) { plain = m.type() == type_tag<int>() && m.get<int>() == 7; };
  f.graph.connect("a:out", "b:in");
  f.graph.connect("b:out", "c:in");
  f.settle();
  CHECK(plain);
}

TEST_CASE("graph 4.2: every iteration of the loop is counted, idle ones as sleeps with their time") {
  GraphFixture f;
  f.node("a", 0, 0, 10)->tick = [&](Activation&) { f.clock.advance_to(f.clock.now_ns() + 3); };
  REQUIRE(f.run_to(1000));
  f.settle();
  const GraphStatistics all = f.policy().statistics();
  uint64_t in_histogram = 0;
  for (uint64_t count : all.turn_times) in_histogram += count;
  CHECK(in_histogram == all.turns);
  CHECK(all.turn_times[turn_time_place(3)] == all.turns);
  CHECK(all.sleeps >= all.turns);
  CHECK(all.slept_ns + 3 * all.turns <= 1003);
  CHECK(all.slept_ns >= 600);
}

TEST_CASE("graph 4.2: a busy node ticks, too") {
  GraphFixture f;
  auto node = f.node("a", 1, 1, 10);
  node->start = [](Activation& a) { a.emit<int>(0, 1); };
  node->message = [&](Activation& a, PortId, Message&) {
    f.clock.advance_to(f.clock.now_ns() + 1);
    a.emit<int>(0, 1);
  };
  f.graph.connect("a:out", "a:in");
  f.run_to(1000);
  CHECK(f.of("a").ticks + f.of("a").missed_ticks >= 99);
  CHECK(f.of("a").missed_ticks <= 20);
}

TEST_CASE("graph: turns, blocked time and deadlocks are traced") {
  GraphFixture f;
  Trace trace(f.clock);
  f.trace = &trace;
  auto source = f.node("a", 1, 1);
  source->message = [](Activation& a, PortId, Message& m) { a.emit(0, std::move(m)); };
  f.node("b", 1, 1)->message = [&](Activation& a, PortId, Message& m) {
    f.clock.advance_to(f.clock.now_ns() + 5);
    if (m.get<int>() == 3) a.emit<int>(0, 1), a.emit<int>(0, 2);
  };
  f.graph.input("feed", "a:in");
  f.graph.connect("a:out", "b:in", {.capacity = 1});
  f.graph.connect("b:out", "b:in", {.capacity = 1});
  f.settle();
  f.feed(4);
  f.settle();
  f.end();
  std::vector<int> kinds(100);
  for (const TraceEvent& event : trace.snapshot().events) ++kinds[event.kind];
  auto count = [&](TraceKind kind) { return kinds[static_cast<size_t>(kind)]; };
  CHECK(count(TraceKind::graph_turn) == static_cast<int>(f.policy().statistics().turns));
  CHECK(count(TraceKind::graph_blocked) > 1);
  CHECK(count(TraceKind::graph_unblocked) > 0);
  CHECK(count(TraceKind::graph_deadlock) == 1);
  CHECK(count(TraceKind::graph_stopped) == 1);
}
