// What the graph scheduler promises (docs/schedulers.md), seen on real threads: graphs of the host's nodes that other threads
// flood, change and stop. The same in virtual time is in sched/graph_*_test.cpp; sched/graph/README.md says what is where.
#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <posset/posset.hpp>

#include "error_of.h"

namespace {

using posset::Context;
using posset::EdgePolicy;
using posset::Graph;
using posset::Node;
using posset::Sender;
using posset::Turn;
using posset::test::error_of;
using posset::Value;

struct World {
  posset::Runtime runtime;
  Context context{runtime};
};

int64_t of_node(const Value& result, const char* node, const char* count) {
  return result["stats"]["nodes"][node][count].to<int64_t>();
}

}  // namespace

TEST_CASE("host graph 4.3: of 70000 turns exactly 40000, 20000 and 10000, whatever other threads change meanwhile") {
  World w;
  Graph graph(w.context, {.drain_seconds = 0, .batch = 1});
  constexpr int kTurns = 70000;
  int left = kTurns;
  std::vector<int> turns(3, 0);
  const struct {
    const char* name;
    int64_t priority;
  } bands[] = {{"normal", 1}, {"high", 2}, {"control", 3}};
  for (size_t i = 0; i < 3; ++i) {
    const std::string name = bands[i].name;
    graph.add(name, Node({"in"}, {"out"}).on_start([](Turn& turn) { turn.emit(0, 0); }).on_message([&, i](Turn& turn) {
      if (left == 0) return;
      ++turns[i];
      if (--left == 0) graph.stop();
      turn.emit(0, 0);
    }));
    graph.connect(name + ":out", name + ":in", {.capacity = 4, .priority = bands[i].priority});
  }
  graph.add("other", Node({"in"}).on_message([](Turn&) {}));
  const std::string input = graph.input("in", "other:in", {.capacity = 8});
  const Sender sender = graph.sender("in");
  std::atomic<bool> done{false};
  std::thread changes([&] {
    for (int64_t i = 0; !done; ++i) {
      sender.set_capacity("normal:out->normal:in", 2 + i % 3);
      sender.set_capacity(input, 1 + i % 8);
      std::this_thread::yield();
    }
  });
  graph.run();
  done = true;
  changes.join();
  CHECK(turns == std::vector<int>{10000, 20000, 40000});
}

TEST_CASE("host graph 4.3: under a flood from another thread what controls waits for one turn of another node at most") {
  // With short quanta handlers begin where one ends, and gave way before they had done anything.
  posset::RuntimeOptions options;
  SUBCASE("with the quantum of every runtime") {}
  SUBCASE("with short slices and quanta") {
    options.quantum_us = 1;
    options.exit_stress = 3;
  }
  posset::Runtime runtime(options);
  Context context(runtime);
  constexpr int kControls = 200, kBatch = 8;
  std::atomic<int64_t> handled{0};
  std::vector<int64_t> sent_at(kControls), got_at;
  Graph graph(context, {.batch = kBatch});
  graph.add("data", Node({"in"}).on_message([&](Turn&) { handled.fetch_add(1); }));
  graph.add("control", Node({"in"}).on_message([&](Turn&) { got_at.push_back(handled.load()); }));
  graph.input("data", "data:in", {.capacity = 1024});
  graph.input("control", "control:in", {.priority = 3});
  std::atomic<bool> done{false};
  std::thread floods([&, sender = graph.sender("data")] {
    while (!done) sender.send(1, 0.01);
  });
  std::thread controls([&, sender = graph.sender("control")] {
    for (int i = 0; i < kControls; ++i) {
      // Not before data is under way.
      for (const int64_t seen = handled.load(); handled.load() < seen + kBatch;) std::this_thread::yield();
      sender.send(i);
      sent_at[static_cast<size_t>(i)] = handled.load();  // it has been accepted
    }
    done = true;
  });
  graph.run();
  controls.join();
  floods.join();
  REQUIRE(got_at.size() == kControls);
  // The turn that ran when it came, whose messages are one batch.
  for (size_t i = 0; i < kControls; ++i) CHECK(got_at[i] - sent_at[i] <= kBatch);
}

TEST_CASE("host graph 4.3: a blocked producer is called again once for each room, and nothing turns while all are blocked") {
  World w;
  constexpr int kMessages = 50;
  std::vector<int64_t> got;
  Graph graph(w.context);
  const Value nodes = w.context.eval(
      "let open = chan(1)\n"
      "{wait: {inputs: [\"in\"], outputs: [\"out\"], on_message: (_, x, node) => { if x == 0 { open.recv() }\nnode.emit(\"out\", x) }},\n"
      " gate: {inputs: [\"in\"], on_message: (_, x, node) => open.send(x)}}");
  std::atomic<bool> started{false};
  graph.add("source", Node({}, {"out"}).on_start([&](Turn& turn) {
    started = true;
    for (int i = 0; i < kMessages; ++i) turn.emit(0, i);
  }));
  graph.add("pass", Node({"in"}, {"out"}).on_message([](Turn& turn) { turn.emit(0, turn.message()); }));
  graph.add("wait", nodes["wait"]);
  graph.add("sink", Node({"in"}).on_message([&](Turn& turn) { got.push_back(turn.message<int64_t>()); }));
  graph.add("gate", nodes["gate"]);
  graph.connect("source:out", "pass:in", {.capacity = 1});
  graph.connect("pass:out", "wait:in", {.capacity = 1});
  graph.connect("wait:out", "sink:in", {.capacity = 1});
  graph.input("open", "gate:in");
  std::thread opens([&, sender = graph.sender("open")] {
    while (!started) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // all of them stand by then
    sender.send(1);
  });
  const Value result = graph.run();
  opens.join();
  REQUIRE(got.size() == kMessages);
  for (int64_t i = 0; i < kMessages; ++i) CHECK(got[static_cast<size_t>(i)] == i);
  for (const char* node : {"source", "pass"}) {
    CAPTURE(node);
    CHECK(of_node(result, node, "blocked") > 0);
    CHECK(of_node(result, node, "resumes") <= of_node(result, node, "blocked"));
  }
  // While all stand there is no timer: one sleep. Others are before the beginning and at the end.
  CHECK(result["stats"]["sleeps"].to<int64_t>() <= 5);
}

TEST_CASE("host graph 4.3: never more ticks than intervals, missed ones counted, and a busy node ticks") {
  World w;
  constexpr double kSeconds = 0.002;
  int ticks = 0;
  Graph graph(w.context);
  graph.add("busy", Node({"in"}).on_message([](Turn&) {}).on_tick([&](Turn&) {
    if (++ticks == 30) graph.stop();
  }, kSeconds));
  graph.input("in", "busy:in", {.capacity = 64});
  std::thread floods([sender = graph.sender("in")] {
    while (sender.send(1, 0.01) != POSSET_PUT_STOPPING) {
    }
  });
  const auto begin = std::chrono::steady_clock::now();
  const Value result = graph.run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  floods.join();
  CHECK(of_node(result, "busy", "ticks") == ticks);
  CHECK(ticks >= 30);
  CHECK(static_cast<double>(of_node(result, "busy", "ticks") + of_node(result, "busy", "missed_ticks")) <= took.count() / kSeconds + 1);
}

TEST_CASE("host graph 4.3: a stop from another thread drains edges of every policy, and every message is accounted for") {
  for (const EdgePolicy policy : {EdgePolicy::Block, EdgePolicy::Drop, EdgePolicy::Latest, EdgePolicy::Coalesce}) {
    for (int round = 0; round < 5; ++round) {
      CAPTURE(static_cast<int>(policy));
      World w;
      int64_t got = 0, sum = 0, ok = 0;
      Graph graph(w.context);
      posset::EdgeOptions edge{.capacity = 3, .policy = policy};
      if (policy == EdgePolicy::Coalesce) edge.fold = w.context.eval("(a, b) => a + b");
      std::atomic<bool> started{false};
      graph.add("pass", Node({"in"}, {"out"}).on_start([&](Turn&) { started = true; }).on_message([](Turn& turn) { turn.emit(0, turn.message()); }));
      graph.add("sink", Node({"in"}).on_message([&](Turn& turn) {
        ++got;
        sum += turn.message<int64_t>();
      }));
      graph.connect("pass:out", "sink:in", edge);
      graph.input("in", "pass:in", {.capacity = 16});
      std::thread sends([&, sender = graph.sender("in")] {
        while (!started) std::this_thread::yield();
        for (int i = 0; i < 2000; ++i) ok += sender.send(1) == POSSET_PUT_OK;
        sender.stop();
      });
      const Value result = graph.run();
      sends.join();
      const Value counts = result["stats"]["edges"]["pass:out->sink:in"];
      auto count = [&](const char* name) { return counts[name].to<int64_t>(); };
      CHECK(ok == 2000);
      CHECK(of_node(result, "pass", "messages") == ok);
      CHECK(count("delivered") == got);
      CHECK(count("accepted") == count("delivered") + count("replaced"));
      CHECK(count("abandoned") == 0);
      CHECK(count("accepted") + count("dropped") + count("coalesced") == ok);
      if (policy == EdgePolicy::Block) CHECK(got == ok);
      if (policy == EdgePolicy::Coalesce) CHECK(sum == ok);
    }
  }
}

namespace {

// How often this thread has gone to sleep. Whoever looks at anything every 10 ms does it thirty
// times in the 300 ms below.
long sleeps() {
  rusage used = {};
  REQUIRE(getrusage(RUSAGE_THREAD, &used) == 0);
  return used.ru_nvcsw;
}
constexpr long kFewSleeps = 10;

Context* interrupted_by_signal = nullptr;

}  // namespace

TEST_CASE(
    "host graph: one that has nothing to do is not woken for nothing, and an interruption or the "
    "time limit ends it") {
  enum class Ends { Interrupt, Signal, TimeLimit, Timeout };
  for (const Ends ends : {Ends::Interrupt, Ends::Signal, Ends::TimeLimit, Ends::Timeout}) {
    CAPTURE(static_cast<int>(ends));
    World w;
    if (ends == Ends::TimeLimit) w.context.set_options({.time_limit_seconds = 0.3});
    Graph graph(w.context);
    graph.add("sink", Node({"in"}).on_message([](Turn&) {}));
    graph.add("late", Node().on_tick([](Turn&) {}, 1000.0));
    graph.input("in", "sink:in");
    const posset::Sender sender = graph.sender("in");
    std::thread other;
    if (ends == Ends::Interrupt || ends == Ends::Signal) {
      interrupted_by_signal = &w.context;
      std::signal(SIGUSR1, [](int) { interrupted_by_signal->interrupt(); });
      other = std::thread([&, evaluating = pthread_self()] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        if (ends == Ends::Signal) return static_cast<void>(pthread_kill(evaluating, SIGUSR1));
        w.context.interrupt();
      });
    }
    const long before = sleeps();
    const std::string error =
        error_of([&] { ends == Ends::Timeout ? graph.run(0.3) : graph.run(); });
    CHECK(sleeps() - before < kFewSleeps);
    if (other.joinable()) other.join();
    std::signal(SIGUSR1, SIG_DFL);
    if (ends == Ends::Timeout) CHECK(error.empty());
    if (ends == Ends::TimeLimit) CHECK(error.find("time limit") != std::string::npos);
    if (ends == Ends::Interrupt || ends == Ends::Signal) CHECK(error == "interrupted");
  }
}

TEST_CASE(
    "a task that sleeps, and who awaits it, are not woken for nothing; an interruption and the "
    "time limit end them") {
  World w;
  const long before = sleeps();
  CHECK(w.context.eval<bool>(
      "import \"task\"\nlet t = spawn (() => { task.sleep(0.3)\ntrue })()\nawait t"));
  CHECK(sleeps() - before < kFewSleeps);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    w.context.interrupt();
  });
  const std::string wait = "import \"task\"\nlet t = spawn (() => task.sleep(1000.0))()\nawait t";
  CHECK(error_of([&] { w.context.eval(wait); }) == "interrupted");
  other.join();
  w.context.set_options({.time_limit_seconds = 0.1});
  CHECK(error_of([&] { w.context.eval(wait); }).find("time limit") != std::string::npos);
}
