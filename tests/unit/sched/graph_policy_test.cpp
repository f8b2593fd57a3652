// Turns, ticks, edges and waiting for room, each to the call, in virtual time on one thread.
#include "sched/graph/policy.h"

#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "graph_fixture.h"

using namespace posset::sched;
using namespace posset::sched::graph;

namespace {

std::vector<int> numbers(int from, int to) {
  std::vector<int> made(static_cast<size_t>(to - from));
  std::iota(made.begin(), made.end(), from);
  return made;
}

// Emits 0, 1, 2 and so on with `again`, as many as fit, until `count`.
struct Counting {
  explicit Counting(FunctionNode& node, int count = INT32_MAX) {
    node.start = [](Activation& a) { a.again(); };
    node.tick = [this, count](Activation& a) {
      ++calls;
      while (next < count) {
        if (a.emit<int>(0, next++) == PutResult::Blocked) break;
      }
      if (next < count) a.again();
    };
  }
  int next = 0;
  int calls = 0;
};

}  // namespace

// ---- turns and batches ----

TEST_CASE("graph 4.1.4: a turn has at most max_batch messages, then the tick that is due") {
  GraphFixture f;
  f.config.max_batch = 3;
  auto node = f.node("a", 1, 0, 10);
  std::string calls;
  node->message = [&](Activation&, PortId, Message&) { calls += 'm'; };
  node->tick = [&](Activation&) { calls += 't'; };
  f.graph.input("feed", "a:in");
  f.settle();
  f.feed(7);
  f.clock.advance_to(10);
  f.settle();
  CHECK(calls == "mmmtmmmm");
  CHECK(f.of("a").turns == 3);
}

TEST_CASE("graph 4.1.4: the best band first, looked for after each message") {
  GraphFixture f;
  auto node = f.node("a", 2, 1);
  std::vector<int> seen;
  node->message = [&](Activation& a, PortId, Message& m) {
    seen.push_back(m.get<int>());
    // To itself, for control: it is the next although others wait.
    if (m.get<int>() == 1) a.emit<int>(0, 99);
  };
  f.graph.input("feed", "a:in");
  f.graph.connect("a:out", "a:in1", {.priority = 3});
  f.settle();
  f.feed(5);
  f.settle();
  CHECK(seen == std::vector<int>{0, 1, 99, 2, 3, 4});
  CHECK(f.of("a").turns == 1);
}

TEST_CASE("graph 4.1.4: edges of one band take turns, each first in, first out") {
  GraphFixture f;
  auto node = f.node("a", 1, 0);
  std::vector<int> seen;
  node->message = [&](Activation&, PortId, Message& m) { seen.push_back(m.get<int>()); };
  f.graph.input("one", "a:in");
  f.graph.input("two", "a:in");
  f.settle();
  for (int i = 0; i < 3; ++i) f.put("one", i);
  for (int i = 10; i < 13; ++i) f.put("two", i);
  f.settle();
  CHECK(seen == std::vector<int>{0, 10, 1, 11, 2, 12});
}

TEST_CASE("graph 4.3: nodes flooded in all bands have 40000, 20000 and 10000 of 70000 turns") {
  GraphFixture f;
  for (const char* name : {"normal", "high", "control"}) {
    // Each sends to itself for ever.
    auto node = f.node(name, 1, 1);
    node->start = [](Activation& a) { a.emit<int>(0, 1); };
    node->message = [](Activation& a, PortId, Message&) { a.emit<int>(0, 1); };
    f.graph.connect(std::string(name) + ":out", std::string(name) + ":in", {.priority = name[0] == 'n' ? 0 : name[0] == 'h' ? 2 : 3});
  }
  f.run_turns(70'000);
  // The last turn of the 70000 has begun and the next may not have.
  const GraphStatistics all = f.policy().statistics();
  CHECK(all.band_turns[2] == 40'000);
  CHECK(all.band_turns[1] == 20'000);
  CHECK(all.band_turns[0] == 10'000);
  CHECK(f.of("normal").turns == 10'000);
}

TEST_CASE("graph 4.3: under load on_message of a control starts within 9 ms of the put") {
  GraphFixture f;
  int64_t worst_ns = 0;
  int controls = 0;
  for (int i = 0; i < 4; ++i) {
    auto load = f.node("load" + std::to_string(i), 1, 1, kMillisecond);
    auto again = [&f](Activation& a) {
      f.clock.advance_to(f.clock.now_ns() + kMillisecond);
      a.emit<int>(0, 1);
    };
    load->start = [](Activation& a) {
      for (int n = 0; n < 16; ++n) a.emit<int>(0, 1);
    };
    load->message = [again](Activation& a, PortId, Message&) { again(a); };
    load->tick = [&f](Activation&) { f.clock.advance_to(f.clock.now_ns() + kMillisecond); };
    f.graph.connect(load->start ? "load" + std::to_string(i) + ":out" : "", "load" + std::to_string(i) + ":in", {.priority = i < 2 ? 2 : 0});
  }
  int64_t put_ns = -1;
  auto control = f.node("control", 1, 0);
  control->message = [&](Activation& a, PortId, Message&) {
    worst_ns = std::max(worst_ns, a.now_ns() - put_ns);
    put_ns = -1;
    ++controls;
  };
  f.graph.input("switch", "control:in", {.priority = 3});
  // A put after every step, so at every place of a turn.
  for (int steps = 0; steps < 20'000; ++steps) {
    f.step();
    if (put_ns >= 0 || steps % 7 != 0) continue;
    put_ns = f.clock.now_ns();
    REQUIRE(f.put("switch", 1) == PutResult::Ok);
  }
  CHECK(controls > 1000);
  CHECK(worst_ns <= 9 * kMillisecond);
  CHECK(worst_ns >= 8 * kMillisecond);  // such turns were among them
}

TEST_CASE("graph: a node that is queued moves to a better band when something for control comes") {
  GraphFixture f;
  std::vector<std::string> order;
  for (const char* name : {"a", "b", "c"}) {
    auto node = f.node(name, 2, 0);
    node->message = [&order, name](Activation&, PortId, Message&) { order.push_back(name); };
    f.graph.input(std::string("data_") + name, std::string(name) + ":in");
  }
  f.graph.input("control", "c:in1", {.priority = 3});
  f.settle();
  for (const char* name : {"data_a", "data_b", "data_c", "control"}) f.put(name, 1);
  f.settle();
  CHECK(order == std::vector<std::string>{"c", "c", "a", "b"});
}

// ---- ticks ----

TEST_CASE("graph 4.1.6: ticks come at their intervals") {
  GraphFixture f;
  f.config.tick_interval_ns = 50;
  f.node("graph", 0, 0, kGraphTicks);
  f.node("own", 0, 0, 7);
  f.node("none", 0, 0);
  CHECK(f.run_to(1000));
  CHECK(f.of("graph").ticks == 20);
  CHECK(f.of("own").ticks == 142);
  CHECK(f.of("none").ticks == 0);
  CHECK(f.of("graph").missed_ticks == 0);
}

TEST_CASE("graph 4.1.6: missed ticks are skipped and counted, and the next are where they were") {
  GraphFixture f;
  auto node = f.node("a", 0, 0, 10);
  std::vector<int64_t> at;
  node->tick = [&](Activation& a) {
    at.push_back(a.now_ns());
    if (at.size() == 2) f.clock.advance_to(f.clock.now_ns() + 35);  // to 55
  };
  CHECK(f.run_to(80));
  CHECK(at == std::vector<int64_t>{10, 20, 55, 60, 70, 80});
  CHECK(f.of("a").missed_ticks == 2);
}

TEST_CASE("graph 4.1.6: a tick that becomes due within a turn ends it") {
  GraphFixture f;
  f.config.max_batch = 4;
  auto node = f.node("a", 1, 0, 10);
  std::string calls;
  node->message = [&](Activation&, PortId, Message&) {
    calls += 'm';
    f.clock.advance_to(f.clock.now_ns() + 3);
  };
  node->tick = [&](Activation&) { calls += 't'; };
  f.graph.input("feed", "a:in");
  f.settle();
  f.feed(8);
  f.settle();
  CHECK(calls == "mmmmtmmmmt");
}

// ---- full edges ----

TEST_CASE("graph 4.1.7: what each policy does with an edge that is full") {
  GraphFixture f;
  auto source = f.node("a", 0, 4);
  std::vector<int> block, drop, latest, coalesce;
  f.sink("block", block), f.sink("drop", drop), f.sink("latest", latest), f.sink("coalesce", coalesce);
  f.graph.connect("a:out", "block:in", {.capacity = 3});
  f.graph.connect("a:out1", "drop:in", {.capacity = 3, .policy = EdgePolicy::Drop});
  f.graph.connect("a:out2", "latest:in", {.capacity = 3, .policy = EdgePolicy::Latest});
  f.graph.connect("a:out3", "coalesce:in",
                  {.capacity = 3, .policy = EdgePolicy::Coalesce, .fold = fold<int>([](int newest, int item) { return 100 * newest + item; })});
  std::vector<PutResult> results;
  source->start = [&](Activation& a) {
    for (PortId port = 0; port < 4; ++port) {
      for (int i = 0; i < 5; ++i) {
        results.push_back(a.emit<int>(port, i));
        if (results.back() == PutResult::Blocked) break;
      }
    }
  };
  f.settle();
  using P = PutResult;
  CHECK(results == std::vector<P>{P::Ok, P::Ok, P::Ok, P::Blocked, P::Ok, P::Ok, P::Ok, P::Dropped, P::Dropped, P::Ok, P::Ok, P::Ok,
                                  P::Replaced, P::Replaced, P::Ok, P::Ok, P::Ok, P::Coalesced, P::Coalesced});
  CHECK(block == numbers(0, 4));
  CHECK(drop == numbers(0, 3));
  CHECK(latest == numbers(2, 5));
  CHECK(coalesce == std::vector<int>{0, 1, 20304});
  CHECK(f.edge("a:out1->drop:in").dropped == 2);
  CHECK(f.edge("a:out2->latest:in").replaced == 2);
  CHECK(f.edge("a:out3->coalesce:in").coalesced == 2);
  CHECK(f.edge("a:out->block:in").blocked == 1);
}

TEST_CASE("graph 4.1.7: a fold that throws or changes the type leaves the edge as it was") {
  GraphFixture f;
  auto source = f.node("a", 0, 1);
  std::vector<int> seen;
  f.sink("b", seen);
  f.graph.connect("a:out", "b:in", {.capacity = 1, .policy = EdgePolicy::Coalesce, .fold = [](const Message& newest, const Message& item) {
                                      if (item.get<int>() == 1) throw std::runtime_error("no");
                                      if (item.get<int>() == 2) return Message::of<double>(1);
                                      return Message::of<int>(newest.get<int>() + item.get<int>());
                                    }});
  std::vector<PutResult> results;
  source->start = [&](Activation& a) {
    for (int i = 0; i < 4; ++i) results.push_back(a.emit<int>(0, i));
  };
  f.settle();
  using P = PutResult;
  CHECK(results == std::vector<P>{P::Ok, P::Dropped, P::Dropped, P::Coalesced});
  CHECK(seen == std::vector<int>{3});
  CHECK(f.edge("a:out->b:in").fold_errors == 2);
}

TEST_CASE("graph 4.1.7: a fold may change the type where the consumer takes anything") {
  GraphFixture f;
  auto source = f.node("a", 0, 1);
  auto sink = std::make_shared<FunctionNode>();
  std::vector<double> seen;
  sink->message = [&seen](Activation&, PortId, Message& m) { seen.push_back(m.is<int>() ? m.get<int>() : m.get<double>()); };
  f.graph.add("b", sink, {.inputs = {{"in", kAnyType}}});
  f.graph.connect("a:out", "b:in", {.capacity = 2, .policy = EdgePolicy::Coalesce, .fold = [](const Message& newest, const Message& item) {
                                      const double before = newest.is<int>() ? newest.get<int>() : newest.get<double>();
                                      return Message::of<double>(before + 0.25 * item.get<int>());
                                    }});
  source->start = [&](Activation& a) {
    for (int i = 0; i < 4; ++i) a.emit<int>(0, i);
  };
  f.settle();
  CHECK(seen == std::vector<double>{0, 2.25});
  CHECK(f.edge("a:out->b:in").coalesced == 2);
}

TEST_CASE("graph 4.1.7: what controls is never lost, whatever the edge's policy") {
  for (EdgePolicy policy : {EdgePolicy::Drop, EdgePolicy::Latest}) {
    GraphFixture f;
    auto source = f.node("a", 0, 1);
    Counting counter(*source, 50);
    std::vector<int> seen;
    f.sink("b", seen);
    f.graph.connect("a:out", "b:in", {.capacity = 2, .policy = policy, .priority = 3});
    f.settle();
    CHECK(seen == numbers(0, 50));
  }
}

TEST_CASE("graph 4.1.7: of several edges each decides for itself, and none gets an item twice") {
  GraphFixture f;
  auto source = f.node("a", 0, 1);
  std::vector<int> fast, slow, lossy;
  f.sink("fast", fast), f.sink("slow", slow), f.sink("lossy", lossy);
  f.graph.connect("a:out", "fast:in", {.capacity = 100});
  f.graph.connect("a:out", "slow:in", {.capacity = 1});
  f.graph.connect("a:out", "lossy:in", {.capacity = 1, .policy = EdgePolicy::Drop});
  std::vector<PutResult> second;
  source->start = [&](Activation& a) {
    CHECK(a.emit<int>(0, 0) == PutResult::Ok);
    CHECK(a.emit<int>(0, 1) == PutResult::Blocked);
    second.assign(a.edge_results().begin(), a.edge_results().end());
  };
  f.settle();
  CHECK(second == std::vector<PutResult>{PutResult::Ok, PutResult::Blocked, PutResult::Dropped});
  CHECK(fast == numbers(0, 2));
  CHECK(slow == numbers(0, 2));
  CHECK(lossy == numbers(0, 1));
}

TEST_CASE("graph: an output without edges takes everything") {
  GraphFixture f;
  PutResult result = PutResult::Blocked;
  f.node("a", 0, 1)->start = [&](Activation& a) { result = a.emit<int>(0, 1); };
  f.settle();
  CHECK(result == PutResult::Ok);
}

// ---- waiting for room ----

TEST_CASE("graph 4.1.8: order and exactly once through full edges of every size") {
  for (int64_t capacity : {1, 2, 7, 1000}) {
    GraphFixture f;
    auto source = f.node("a", 0, 1);
    Counting counter(*source, 1000);
    auto middle = f.node("b", 1, 1);
    middle->message = [](Activation& a, PortId, Message& m) { a.emit(0, std::move(m)); };
    std::vector<int> seen;
    f.sink("c", seen);
    f.graph.connect("a:out", "b:in", {.capacity = capacity});
    f.graph.connect("b:out", "c:in", {.capacity = capacity});
    f.settle();
    CHECK(seen == numbers(0, 1000));
    CHECK(f.edge("a:out->b:in").accepted == 1000);
    CHECK(f.edge("a:out->b:in").delivered == 1000);
    CHECK(f.edge("a:out->b:in").most_depth <= static_cast<uint64_t>(capacity));
  }
}

TEST_CASE("graph 4.3: a blocked producer is not called before there is room") {
  GraphFixture f;
  auto source = f.node("a", 0, 1, 5);  // its ticks come and go meanwhile
  Counting counter(*source, 1000);
  bool parked = true;
  int taken = 0;
  struct Gate : Node {
    bool& parked;
    int& taken;
    Gate(bool& p, int& t) : parked(p), taken(t) {}
    Progress call(Activation& a) override {
      if (a.callback() == Callback::Message) ++taken;
      return a.callback() == Callback::Message && parked ? Progress::Parked : Progress::Done;
    }
    Progress resume(Activation&) override { return parked ? Progress::Parked : Progress::Done; }
  };
  f.graph.add("gate", std::make_shared<Gate>(parked, taken), ins_outs(1, 0));
  f.graph.connect("a:out", "gate:in", {.capacity = 4});
  REQUIRE(f.run_to(100));
  const int calls = counter.calls;
  const auto before = f.policy().statistics();
  REQUIRE(f.policy().blocked(0));
  REQUIRE(f.run_to(10'000));
  const auto after = f.policy().statistics();
  CHECK(counter.calls == calls);
  CHECK(after.turns == before.turns);
  // Iterations while all are blocked: no more than timers fired, and the producer's own does not.
  CHECK(after.sleeps - before.sleeps <= after.timers - before.timers + 1);
  CHECK(taken == 1);
  parked = false;
  f.loop().mailbox().wake(f.plan().node("gate"));
  f.settle();
  CHECK(counter.calls > calls);
  CHECK(f.of("a").blocked_ns >= 9'900);
}

TEST_CASE("graph 4.1.8: an outbox of one slot; a second emit is an error that loses nothing") {
  GraphFixture f;
  auto source = f.node("a", 0, 2);
  std::string error;
  source->start = [&](Activation& a) {
    a.emit<int>(0, 0);
    CHECK(a.emit<int>(0, 1) == PutResult::Blocked);
    // Another port is another matter.
    CHECK(a.emit<int>(1, 7) == PutResult::Ok);
    Message third = Message::of<int>(2);
    try {
      a.emit(0, std::move(third));
    } catch (const GraphError& thrown) {
      error = thrown.what();
    }
    CHECK(third.get<int>() == 2);
  };
  std::vector<int> seen, log;
  f.sink("b", seen), f.sink("log", log);
  f.graph.connect("a:out", "b:in", {.capacity = 1});
  f.graph.connect("a:out1", "log:in");
  f.settle();
  CHECK(error == "node a emits on out although edge a:out->b:in is Blocked and holds an item of it: it has to return first");
  CHECK(seen == numbers(0, 2));
  CHECK(log == std::vector<int>{7});
}

TEST_CASE("graph 4.1.8: a handler that emits without end is stopped by an error") {
  GraphFixture f;
  f.config.max_emits = 1000;
  auto source = f.node("a", 0, 1);
  source->start = [](Activation& a) { a.again(); };
  source->tick = [](Activation& a) {
    for (;;) a.emit<int>(0, 1);
  };
  std::vector<int> seen;
  f.sink("b", seen);
  f.graph.connect("a:out", "b:in", {.capacity = 1, .policy = EdgePolicy::Drop});
  f.settle();
  REQUIRE(f.incidents.size() == 1);
  CHECK(f.incidents[0].text == "node a: on_tick threw: node a has emitted 1000 items in one call, the most there may be");
  CHECK(seen.size() == 1);
}

TEST_CASE("graph 4.1.8: a circle of full edges is told with its edges, once, and room ends it") {
  GraphFixture f;
  // Each answers a message with two.
  for (const char* name : {"a", "b"}) {
    f.node(name, 1, 2)->message = [](Activation& a, PortId, Message&) { a.emit<int>(0, 1), a.emit<int>(1, 1); };
  }
  std::vector<int> seen;
  f.sink("c", seen);
  f.graph.input("feed", "a:in", {.capacity = 100});
  f.graph.connect("a:out", "b:in", {.capacity = 1});
  f.graph.connect("b:out", "a:in", {.capacity = 1});
  f.graph.connect("b:out1", "c:in");
  f.settle();
  for (int i = 0; i < 10; ++i) f.put("feed", 1);
  f.settle();
  REQUIRE(f.incidents.size() == 1);
  CHECK(f.incidents[0].kind == Incident::Kind::Deadlock);
  CHECK(f.incidents[0].text.find("a:out->b:in") != std::string::npos);
  CHECK(f.incidents[0].text.find("b:out->a:in") != std::string::npos);
  CHECK(f.incidents[0].edges.size() == 2);
  f.settle();
  CHECK(f.incidents.size() == 1);
  CHECK(f.policy().statistics().deadlocks == 1);
  const uint64_t turns = f.policy().statistics().turns;
  f.set_capacity("a:out->b:in", 2);
  f.settle();
  CHECK(f.policy().statistics().turns > turns);
}

TEST_CASE("graph 4.1.8: a node that waits for itself is a circle of one") {
  GraphFixture f;
  f.node("a", 1, 1)->start = [](Activation& a) { a.emit<int>(0, 1), a.emit<int>(0, 2); };
  f.graph.connect("a:out", "a:in", {.capacity = 1});
  f.settle();
  REQUIRE(f.incidents.size() == 1);
  CHECK(f.incidents[0].text == "deadlock: each of these edges is full and its consumer waits for the next: a:out->a:in");
  f.end();
}

// ---- changes ----

TEST_CASE("graph 4.1.9: a new priority rules the next turn") {
  GraphFixture f;
  std::vector<std::string> order;
  for (const char* name : {"a", "b"}) {
    f.node(name, 1, 0)->message = [&order, name](Activation&, PortId, Message&) { order.push_back(name); };
    f.graph.input(std::string("to_") + name, std::string(name) + ":in");
  }
  f.settle();
  f.put("to_a", 1), f.put("to_b", 1);
  f.set_priority("host:to_b->b:in", 3);
  f.settle();
  CHECK(order == std::vector<std::string>{"b", "a"});
  f.put("to_a", 1), f.put("to_b", 1);
  f.step();
  f.set_priority("host:to_b->b:in", 0);
  f.settle();
  CHECK(f.policy().statistics().band_messages[2] == 2);
}

TEST_CASE("graph 4.1.9: less capacity keeps what is there and takes nothing before it fits; more wakes who waits") {
  GraphFixture f;
  auto source = f.node("a", 0, 1);
  Counting counter(*source, 20);
  std::vector<int> seen;
  auto sink = f.sink("b", seen);
  f.graph.connect("a:out", "b:in", {.capacity = 8});
  const std::string id = "a:out->b:in";
  while (!f.policy().blocked(0)) f.step();
  CHECK(f.edge(id).depth == 8);
  f.set_capacity(id, 2);
  f.config.max_batch = 8;
  size_t most = 8;
  while (f.step().what != GraphFixture::What::Sleep) {
    const size_t depth = f.edge(id).depth;
    CHECK(depth <= std::max<size_t>(most, 2));
    most = depth;
  }
  CHECK(seen == numbers(0, 20));

  GraphFixture g;
  auto other = g.node("a", 0, 1);
  Counting more(*other, 20);
  struct Parked : Node {
    Progress call(Activation& a) override { return a.callback() == Callback::Message ? Progress::Parked : Progress::Done; }
  };
  g.graph.add("b", std::make_shared<Parked>(), ins_outs(1, 0));
  g.graph.connect("a:out", "b:in", {.capacity = 2});
  g.settle();
  CHECK(g.policy().blocked(0));
  CHECK(more.next == 4);  // one is with the consumer, two wait, one is held
  g.set_capacity(id, 10);
  g.settle();
  CHECK(more.next == 12);
  CHECK(g.edge(id).depth == 10);
}

// ---- errors ----

TEST_CASE("graph 4.1.11: skip counts the message as consumed and goes on") {
  GraphFixture f;
  std::vector<int> seen;
  f.node("a", 1, 0)->message = [&](Activation&, PortId, Message& m) {
    if (m.get<int>() == 1) throw std::runtime_error("bad one");
    if (m.get<int>() == 2) throw 5;
    seen.push_back(m.get<int>());
  };
  f.graph.input("feed", "a:in");
  f.settle();
  f.feed(4);
  f.settle();
  CHECK(seen == std::vector<int>{0, 3});
  CHECK(f.of("a").errors == 2);
  CHECK(f.of("a").skipped == 2);
  REQUIRE(f.incidents.size() == 2);
  CHECK(f.incidents[0].text == "node a: on_message of host:feed->a:in threw: bad one");
  CHECK(f.incidents[1].text == "node a: on_message of host:feed->a:in threw: something that is no std::exception");
}

TEST_CASE("graph 4.1.11: retry calls once more, with the same message, unless the handler has taken it") {
  GraphFixture f;
  std::vector<int> calls;
  auto node = f.node("a", 1, 0, 10, ErrorPolicy::Retry);
  int failures = 1;
  node->message = [&](Activation&, PortId, Message& m) {
    calls.push_back(m.get<int>());
    if (m.get<int>() == 3) m.take<int>();
    if (failures-- > 0) throw std::runtime_error("no");
  };
  int ticks = 0;
  node->tick = [&](Activation&) {
    if (++ticks == 1) throw std::runtime_error("tick");
  };
  f.graph.input("feed", "a:in");
  f.settle();
  f.put("feed", 1);
  f.settle();
  CHECK(calls == std::vector<int>{1, 1});
  CHECK(f.of("a").skipped == 0);
  failures = 2;
  f.put("feed", 2);
  f.settle();
  CHECK(calls == std::vector<int>{1, 1, 2, 2});
  CHECK(f.of("a").skipped == 1);
  failures = 1;
  f.put("feed", 3);
  f.settle();
  CHECK(calls == std::vector<int>{1, 1, 2, 2, 3});
  CHECK(f.of("a").skipped == 2);
  f.run_to(10);
  f.settle();
  CHECK(ticks == 2);
}

TEST_CASE("graph 4.1.11: stop takes the node out, and nobody waits for it") {
  GraphFixture f;
  auto source = f.node("a", 0, 1);
  Counting counter(*source, 100);
  auto bad = f.node("b", 1, 0, 10, ErrorPolicy::Stop);
  int calls = 0, stops = 0;
  bad->message = [&](Activation&, PortId, Message&) {
    if (++calls == 3) throw std::runtime_error("enough");
  };
  bad->stop = [&](Activation&) { ++stops; };
  f.graph.connect("a:out", "b:in", {.capacity = 4});
  f.run_to(100);
  CHECK(calls == 3);
  CHECK(counter.next == 100);
  const EdgeStatistics edge = f.edge("a:out->b:in");
  CHECK(edge.delivered == 3);
  CHECK(edge.abandoned + edge.dropped == 97);
  CHECK(f.of("b").ticks == 0);
  f.end();
  CHECK(stops == 1);
}

TEST_CASE("graph: a sink of incidents that throws is counted") {
  GraphFixture f;
  f.config.on_incident = [](const Incident&) { throw 1; };
  f.node("a", 0, 0)->start = [](Activation&) { throw std::runtime_error("x"); };
  f.settle();
  CHECK(f.policy().statistics().incident_errors == 1);
}

TEST_CASE("graph: wrong emits are errors with names, and the graph goes on") {
  GraphFixture f;
  std::vector<std::string> errors;
  auto attempt = [&errors](auto function) {
    try {
      function();
    } catch (const GraphError& error) {
      errors.push_back(error.what());
    }
  };
  Activation* kept = nullptr;
  std::optional<Activation> copy;
  f.node("a", 0, 1)->start = [&](Activation& a) {
    copy.emplace(a);
    kept = &*copy;
    attempt([&] { a.emit<int>(1, 1); });
    attempt([&] { a.emit<double>(0, 1); });
    attempt([&] { a.emit(0, Message()); });
    a.emit<int>(0, 1);
  };
  std::vector<int> seen;
  f.sink("b", seen);
  f.graph.connect("a:out", "b:in");
  f.settle();
  attempt([&] { kept->emit<int>(0, 1); });
  CHECK(errors == std::vector<std::string>{"node a has no output port number 1", "node a emits double on out, which gives int",
                                           "node a emits an empty message on out", "node a emits outside of an activation"});
  CHECK(seen == std::vector<int>{1});
}

TEST_CASE("graph: configurations that cannot be") {
  const Plan plan = Plan::of(Subgraph());
  VirtualClock clock;
  CHECK_THROWS_WITH(GraphPolicy(plan, clock, {.max_batch = 0}), "max_batch is 0");
  CHECK_THROWS_WITH(GraphPolicy(plan, clock, {.weights = {0, 1, 1}}), "a band has the weight 0: its nodes would never have a turn");
  CHECK_THROWS_WITH(GraphPolicy(plan, clock, {.tick_interval_ns = 0}), "the tick interval is not positive");
  CHECK_THROWS_WITH(GraphPolicy(plan, clock, {.shutdown_timeout_ns = -1}), "the shutdown timeout is negative");
}
