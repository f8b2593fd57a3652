// The runtime on real threads: inputs, changes, wakes and shutdowns from other threads, sleeping when idle, and what a
// host can do wrong. Nothing here depends on how long anything takes.
#include "sched/graph/runtime.h"

#include <atomic>
#include <ctime>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "graph_fixture.h"

using namespace posset::sched;
using namespace posset::sched::graph;

namespace {

std::shared_ptr<FunctionNode> add(GraphRuntime& graph, const std::string& name, int ins, int outs, int64_t ticks_ns = kNoTicks) {
  auto made = std::make_shared<FunctionNode>();
  NodeOptions options = ins_outs(ins, outs);
  options.tick_interval_ns = ticks_ns;
  graph.add(name, made, options);
  return made;
}

int64_t thread_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

}  // namespace

TEST_CASE("graph threads: what several threads put in comes through, in order and once") {
  SystemClock clock;
  GraphRuntime graph(clock);
  constexpr int kThreads = 4, kItems = 3000;
  add(graph, "pass", 1, 1)->message = [](Activation& a, PortId, Message& m) { a.emit(0, std::move(m)); };
  std::vector<int> last(kThreads, -1);
  int count = 0;
  bool ordered = true;
  add(graph, "sink", 1, 0)->message = [&](Activation&, PortId, Message& m) {
    const int thread = m.get<int>() / kItems, number = m.get<int>() % kItems;
    ordered = ordered && number == last[static_cast<size_t>(thread)] + 1;
    last[static_cast<size_t>(thread)] = number;
    if (++count == kThreads * kItems) graph.shutdown();
  };
  graph.connect("pass:out", "sink:in", {.capacity = 3});
  graph.input("feed", "pass:in", {.capacity = 5});
  const EdgeId feed = graph.find_input("feed");
  std::thread loop([&] { graph.run(); });
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kItems; ++i) {
        Message item = Message::of<int>(t * kItems + i);
        if (t % 2) {
          graph.put_by(feed, item, kNever);
        } else {
          while (graph.put(feed, item) == PutResult::Blocked) std::this_thread::yield();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  loop.join();
  CHECK(count == kThreads * kItems);
  CHECK(ordered);
}

TEST_CASE("graph threads: changes, wakes, statistics and a shutdown from other threads while it is busy") {
  for (int round = 0; round < 5; ++round) {
    SystemClock clock;
    GraphRuntime graph(clock, nullptr, {.shutdown_timeout_ns = 20 * kMillisecond});
    std::atomic<int> turns{0};
    int stops = 0;
    for (const char* name : {"a", "b"}) {
      auto node = add(graph, name, 1, 1, kMillisecond);
      node->start = [](Activation& a) { a.emit<int>(0, 1); };
      node->message = [&](Activation& a, PortId, Message& m) {
        turns.fetch_add(1);
        a.emit(0, std::move(m));
      };
      node->stop = [&](Activation&) { ++stops; };
    }
    graph.connect("a:out", "b:in", {.capacity = 4});
    graph.connect("b:out", "a:in", {.capacity = 4});
    std::thread loop([&] { graph.run(); });
    while (turns.load() == 0) std::this_thread::yield();  // a graph that ends before it starts stops nothing
    std::atomic<bool> refused{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        try {
          for (int i = 0; i < 500 && turns.load() < 50'000; ++i) {
            graph.set_capacity(t ? "a:out->b:in" : "b:out->a:in", 4 + i % 5);
            graph.set_priority("a:out->b:in", i % 5);
            graph.wake(0);
            CHECK(graph.statistics().nodes.size() == 2);
          }
        } catch (const GraphError&) {
          refused = true;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::vector<std::thread> stoppers;
    for (int t = 0; t < 3; ++t) stoppers.emplace_back([&] { graph.shutdown(); });
    for (std::thread& thread : stoppers) thread.join();
    loop.join();
    CHECK(stops == 2);
    CHECK_THROWS_AS(graph.set_capacity("a:out->b:in", 3), GraphError);
  }
}

TEST_CASE("graph threads: starts and stops lose no wake-up") {
  for (int round = 0; round < 200; ++round) {
    SystemClock clock;
    GraphRuntime graph(clock);
    std::atomic<int> seen{0};
    std::atomic<bool> started{false};
    auto node = add(graph, "a", 1, 0);
    node->start = [&](Activation&) { started = true; };
    node->message = [&](Activation&, PortId, Message&) { seen.fetch_add(1); };
    graph.input("feed", "a:in");
    const EdgeId feed = graph.find_input("feed");
    std::thread loop([&] { graph.run(); });
    while (round % 2 && !started) std::this_thread::yield();
    REQUIRE(graph.put<int>(feed, 1) == PutResult::Ok);
    graph.shutdown();
    loop.join();
    // A graph that was stopped before it began has delivered nothing, and says so.
    if (started) CHECK(seen.load() == 1);
    const EdgeStatistics edge = graph.statistics().edges[0];
    CHECK(edge.delivered + edge.abandoned == 1);
    CHECK(graph.put<int>(feed, 1) == PutResult::Stopping);
  }
}

TEST_CASE("graph threads: an idle graph sleeps, and uses no processor") {
  SystemClock clock;
  GraphRuntime graph(clock);
  add(graph, "a", 1, 0);
  graph.input("feed", "a:in");
  const EdgeId feed = graph.find_input("feed");
  int64_t used_ns = 0;
  std::thread loop([&] {
    graph.run();
    used_ns = thread_cpu_ns();
  });
  while (graph.statistics().sleeps == 0) std::this_thread::yield();
  // Each put is one wake-up and one turn; nothing else turns the loop.
  for (uint64_t i = 1; i <= 20; ++i) {
    graph.put<int>(feed, 1);
    while (graph.statistics().sleeps <= i) std::this_thread::yield();
  }
  const GraphStatistics all = graph.statistics();
  CHECK(all.turns == 20);
  CHECK(all.sleeps == 21);
  graph.shutdown();
  loop.join();
  CHECK(used_ns > 0);
}

TEST_CASE("graph threads: a thread that waits for room is told when the graph ends") {
  SystemClock clock;
  GraphRuntime graph(clock);
  std::atomic<bool> entered{false}, leave{false};
  add(graph, "a", 1, 0)->message = [&](Activation&, PortId, Message&) {
    entered = true;
    while (!leave) std::this_thread::yield();
  };
  graph.input("feed", "a:in", {.capacity = 1});
  const EdgeId feed = graph.find_input("feed");
  std::thread loop([&] { graph.run(); });
  graph.put<int>(feed, 0);
  while (!entered) std::this_thread::yield();
  graph.put<int>(feed, 1);
  Message item = Message::of<int>(2);
  CHECK(graph.put_by(feed, item, clock.now_ns() - 1) == PutResult::Blocked);
  CHECK_FALSE(item.empty());
  PutResult result = PutResult::Ok;
  std::thread waiter([&] { result = graph.put_by(feed, item, kNever); });
  graph.shutdown();
  waiter.join();
  CHECK(result == PutResult::Stopping);
  leave = true;
  loop.join();
}

TEST_CASE("graph threads: a stop of the parent is a shutdown, before the run or during it") {
  SystemClock clock;
  for (bool before : {true, false}) {
    StopNode parent;
    GraphRuntime graph(clock, nullptr, {}, parent.token());
    int starts = 0;
    add(graph, "a", 0, 0)->start = [&](Activation&) { ++starts; };
    if (before) parent.stop();
    std::thread loop([&] { graph.run(); });
    if (!before) {
      while (graph.statistics().sleeps == 0) std::this_thread::yield();
      parent.stop();
    }
    loop.join();
    CHECK(starts == (before ? 0 : 1));
    CHECK(graph.stop_token().stop_requested());
  }
}

TEST_CASE("graph: what a host does wrong is said, and the runtime stays usable") {
  SystemClock clock;
  GraphRuntime graph(clock);
  bool started = false;
  add(graph, "a", 1, 1)->start = [&](Activation&) {
    started = true;
    CHECK_THROWS_WITH(graph.add("c", std::make_shared<Node>(), {}), "cannot register node c: the plan of the graph has been made");
    CHECK_THROWS_WITH(graph.add("s", Subgraph()), "cannot register subgraph s: the plan of the graph has been made");
    CHECK_THROWS_WITH(graph.connect("a:out", "a:in"), "cannot register edge a:out->a:in: the plan of the graph has been made");
    CHECK_THROWS_WITH(graph.input("f", "a:in"), "cannot register input f: the plan of the graph has been made");
    CHECK_THROWS_WITH(graph.run(), "the graph has been run before, and a graph runs once");
    graph.shutdown();
  };
  graph.connect("a:out", "b:in");
  CHECK_THROWS_WITH(graph.run(), "unknown node b in b:in");
  CHECK_THROWS_WITH(graph.dot(), "unknown node b in b:in");
  add(graph, "b", 1, 0);  // what was missing
  graph.input("feed", "b:in");
  CHECK_THROWS_WITH(graph.set_priority("a:out->c:in", 1), "unknown edge a:out->c:in");
  CHECK_THROWS_WITH(graph.set_priority("a:out->b:in", -1), "edge a:out->b:in: priority -1 is negative");
  CHECK_THROWS_WITH(graph.set_capacity("a:out->b:in", 0), "edge a:out->b:in: capacity 0 is not between 1 and 16777216");
  CHECK_THROWS_WITH(graph.set_capacity("x", 1), "unknown edge x");
  CHECK_THROWS_WITH(graph.find_input("food"), "unknown input food");
  CHECK_THROWS_WITH(graph.find_node("z"), "unknown node z");
  CHECK_THROWS_WITH(graph.wake(9), "there is no node with the number 9");
  CHECK_THROWS_WITH(graph.put<int>(0, 1), "there is no input with the number 0");
  const EdgeId feed = graph.find_input("feed");
  CHECK_THROWS_WITH(graph.put<double>(feed, 1), "a message of double for host:feed->b:in, which takes int");
  Message nothing;
  CHECK_THROWS_WITH(graph.put(feed, nothing), "an empty message for host:feed->b:in");
  CHECK(graph.dot().find("\"a\" -> \"b\"") != std::string::npos);
  graph.run();
  CHECK(started);
}

TEST_CASE("graph: changes that nobody takes are refused at last") {
  SystemClock clock;
  GraphRuntime graph(clock);
  add(graph, "a", 1, 1);
  graph.connect("a:out", "a:in");
  for (size_t i = 0; i < Mailbox::kMostCommands; ++i) graph.set_capacity("a:out->a:in", 1);
  CHECK_THROWS_WITH(graph.set_capacity("a:out->a:in", 1), "edge a:out->a:in cannot be changed: too many changes wait for the next turn");
}
