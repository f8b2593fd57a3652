// Graphs with nodes of the host beside those of scripts, and what other threads send: seen through the C++ layer, and
// the C interface where that can be used wrongly. What a graph does by itself is tested in sched/graph_*_test.cpp and
// tests/lang/stdlib_graph.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <pthread.h>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <posset/posset.hpp>

#include "error_of.h"

namespace {

using posset::Context;
using posset::Graph;
using posset::Node;
using posset::Turn;
using posset::test::error_of;

struct World {
  posset::Runtime runtime;
  Context context{runtime};
};

Node source(int count) {
  return Node({}, {"out"}).on_start([count](Turn& turn) {
    for (int i = 0; i < count; ++i) turn.emit(0, i);
  });
}

Node collect(std::vector<int64_t>& into) {
  return Node({"in"}).on_message([&into](Turn& turn) { into.push_back(turn.message<int64_t>()); });
}

std::string ended(const posset::Value& result) {
  posset_value field = posset_nil();
  REQUIRE(posset_field(result.context(), result.raw(), posset_text_of("ended"), &field));
  return posset::Value::copy(result.context(), field).to<std::string>();
}

}  // namespace

TEST_CASE("host graph: messages go through nodes of the host and of a script, in order, whatever an edge holds") {
  for (int64_t capacity : {1, 3, 1024}) {
    World w;
    std::vector<int64_t> got;
    Graph graph(w.context);
    graph.add("source", source(1000));
    graph.add("twice", w.context.eval("{inputs: [\"in\"], outputs: [\"out\"], on_message: (_, x, node) => node.emit(\"out\", 2 * x)}"));
    graph.add("pass", Node({"in"}, {"out"}).on_message([](Turn& turn) { turn.emit(0, turn.message()); }));
    graph.add("sink", collect(got));
    graph.connect("source:out", "twice:in", {.capacity = capacity});
    graph.connect("twice:out", "pass:in", {.capacity = capacity});
    graph.connect("pass:out", "sink:in", {.capacity = capacity});
    CHECK(ended(graph.run()) == "idle");
    REQUIRE(got.size() == 1000);
    for (int64_t i = 0; i < 1000; ++i) CHECK(got[static_cast<size_t>(i)] == 2 * i);
  }
}

TEST_CASE("host graph: handlers of all four kinds, ports by number, more ticks when asked for") {
  World w;
  std::vector<std::string> calls;
  int ticks = 0;
  Graph graph(w.context);
  graph.add("clock", Node({}, {"a", "b"})
                         .on_start([&](Turn&) { calls.push_back("start clock"); })
                         .on_tick([&](Turn& turn) {
                           turn.emit(static_cast<uint32_t>(ticks % 2), ticks);
                           if (++ticks < 4) return turn.again();
                           turn.emit(0, "stop");
                         }, 0.001)
                         .on_stop([&](Turn&) { calls.push_back("stop clock"); }));
  graph.add("show", Node({"x", "y"})
                        .on_start([&](Turn&) { calls.push_back("start show"); })
                        .on_message([&](Turn& turn) {
                          calls.push_back(std::to_string(turn.input()) + ": " + turn.message().text());
                          if (calls.back() == "0: stop") graph.stop();
                        })
                        .on_stop([&](Turn&) { calls.push_back("stop show"); }));
  graph.connect("clock:a", "show:x");
  graph.connect("clock:b", "show:y");
  CHECK(ended(graph.run()) == "stopped");
  REQUIRE(calls.size() >= 9);
  CHECK(calls[0] == "start clock");
  CHECK(calls[1] == "start show");
  CHECK(std::count(calls.begin(), calls.end(), "0: 0") == 1);
  CHECK(std::count(calls.begin(), calls.end(), "1: 1") == 1);
  CHECK(std::count(calls.begin(), calls.end(), "1: 3") == 1);
  CHECK(calls[calls.size() - 2] == "stop show");
  CHECK(calls.back() == "stop clock");
}

TEST_CASE("host graph: an error of a handler ends the run, or is skipped, retried, stops the node") {
  for (const auto& [errors, sum, calls] : {std::tuple<posset_node_errors, int64_t, int>{POSSET_NODE_SKIPS, 40, 10},
                                           {POSSET_NODE_RETRIES, 40, 11}, {POSSET_NODE_STOPS, 10, 6}}) {
    World w;
    int64_t total = 0;
    int called = 0;
    Graph graph(w.context);
    graph.add("source", source(10));
    graph.add("sink", Node({"in"}).on_message([&](Turn& turn) {
                                    ++called;
                                    if (turn.message<int64_t>() == 5) throw std::runtime_error("five");
                                    total += turn.message<int64_t>();
                                  }).errors(errors));
    graph.connect("source:out", "sink:in");
    graph.run();
    CHECK(total == sum);
    CHECK(called == calls);
  }
  World w;
  bool stopped = false;
  Graph graph(w.context);
  graph.add("source", source(10));
  graph.add("sink", Node({"in"}).on_message([](Turn& turn) { turn.message<std::string>(); }).on_stop([&](Turn&) { stopped = true; }));
  graph.connect("source:out", "sink:in");
  CHECK(error_of([&] { graph.run(); }) == "value: expected str, got int (0)");
  CHECK(stopped);
  CHECK(w.context.eval<int64_t>("1 + 1") == 2);
}

TEST_CASE("host graph: handlers call scripts, which may wait") {
  World w;
  auto slow = w.context.compile<int64_t(int64_t)>("import \"task\"\n(x) => { await spawn (() => x * x)() }");
  int64_t total = 0;
  Graph graph(w.context);
  graph.add("source", source(100));
  graph.add("square", Node({"in"}, {"out"}).on_message([&](Turn& turn) { turn.emit(0, slow(turn.message<int64_t>())); }));
  graph.add("sink", Node({"in"}).on_message([&](Turn& turn) { total += turn.message<int64_t>(); }));
  graph.connect("source:out", "square:in", {.capacity = 2});
  graph.connect("square:out", "sink:in", {.capacity = 2});
  graph.run();
  CHECK(total == 328350);
}

TEST_CASE("host graph: what is wrong with it is told with the names") {
  World w;
  Graph graph(w.context);
  CHECK(error_of([&] { graph.connect("a:out", "b:in"); }) == "unknown node a in a:out");
  Graph twice(w.context);
  twice.add("one", source(1));
  CHECK(error_of([&] { twice.add("one", source(1)); }) == "two nodes or subgraphs are called one");
  Graph ports(w.context);
  ports.add("wrong", Node({}, {"out"}).on_start([](Turn& turn) { turn.emit(1, 1); }));
  CHECK(error_of([&] { ports.run(); }) == "node wrong has no output port number 1; it has out");
  CHECK(error_of([&] { ports.add("late", source(1)); }) == "cannot add node late: the graph has ended");
  CHECK(error_of([&] { Graph no_graph(w.context.eval("[1]")); no_graph.run(); }) == "there is no method 'run' of a list");
  Graph input(w.context);
  input.add("sink", Node({"in"}).on_message([](Turn&) {}));
  CHECK(error_of([&] { input.sender("none"); }) == "unknown input none");
}

TEST_CASE("host graph: nodes that are no good are refused, and their data dropped at once") {
  World w;
  Graph graph(w.context);
  int drops = 0;
  auto drop = [](void* data) { ++*static_cast<int*>(data); };
  posset_context* c = w.context.handle();
  const posset_value handle = graph.value().raw();
  posset_node node = posset_node_defaults();
  node.data = &drops;
  const char* ports[] = {"in"};
  node.inputs = ports;
  node.input_count = 1;  // and no on_message
  CHECK(posset_graph_add(c, handle, posset_text_of("n"), &node, drop) == POSSET_MISUSE);
  CHECK(drops == 1);
  node.input_count = 0;
  node.tick_seconds = 1;  // and no on_tick
  CHECK(posset_graph_add(c, handle, posset_text_of("n"), &node, drop) == POSSET_MISUSE);
  node.tick_seconds = -1;
  CHECK(posset_graph_add(c, handle, posset_text_of("n"), &node, drop) == POSSET_MISUSE);
  node.tick_seconds = 0;
  node.errors = static_cast<posset_node_errors>(9);
  CHECK(posset_graph_add(c, handle, posset_text_of("n"), &node, drop) == POSSET_MISUSE);
  node.errors = POSSET_NODE_RAISES;
  CHECK(posset_graph_add(c, posset_int(1), posset_text_of("n"), &node, drop) == POSSET_MISUSE);
  CHECK(posset_graph_add(nullptr, handle, posset_text_of("n"), &node, drop) == POSSET_MISUSE);
  CHECK(posset_graph_add(c, handle, posset_text_of("n"), nullptr, drop) == POSSET_MISUSE);
  CHECK(drops == 6);
  posset_sender* sender = nullptr;
  CHECK(posset_graph_sender(c, posset_int(1), posset_text_of("n"), &sender) == POSSET_MISUSE);
  CHECK(posset_emit(nullptr, 0, posset_nil(), nullptr) == POSSET_MISUSE);
  CHECK(posset_again(nullptr) == POSSET_MISUSE);
  posset_sender_stop(nullptr);
  posset_sender_free(nullptr);
  CHECK(posset_sender_put(nullptr, nullptr) == POSSET_PUT_INVALID);
  CHECK(posset_sender_put_by(nullptr, nullptr, 1) == POSSET_PUT_INVALID);
  CHECK(posset_sender_set_priority(nullptr, posset_text_of("e"), 1) == POSSET_MISUSE);
  CHECK(posset_sender_set_capacity(nullptr, posset_text_of("e"), 1) == POSSET_MISUSE);
}

TEST_CASE("host graph: names and data that are no UTF-8 are refused, for strings would be made of them") {
  World w;
  Graph graph(w.context);
  posset_context* c = w.context.handle();
  const posset_value handle = graph.value().raw();
  posset_node node = posset_node_defaults();
  node.on_start = [](posset_turn*) { return POSSET_OK; };
  auto add = [&](const char* name) {
    return error_of([&] { posset::detail::check(c, posset_graph_add(c, handle, posset_text_of(name), &node, nullptr), "add"); });
  };
  CHECK(add("\xff") == "the name of a node is not valid UTF-8");
  const char* ports[] = {"out\xff"};
  node.outputs = ports;
  node.output_count = 1;
  CHECK(add("n") == "the name of a port is not valid UTF-8");
  graph.add("sink", Node({"in"}, {}).on_message([](Turn&) {}));
  graph.input("input", "sink:in");
  const posset::Sender sender = graph.sender("input");
  CHECK(sender.put(std::string("a\xff")) == POSSET_PUT_INVALID);
}

TEST_CASE("host graph: a node's data is dropped once, with the graph") {
  auto kept = std::make_shared<int>(1);
  {
    World w;
    {
      Graph graph(w.context);
      graph.add("source", Node().on_start([kept](Turn&) {}));
      CHECK(kept.use_count() == 2);
      Graph whole(w.context);
      whole.add("part", graph.value());
      whole.run();
    }
    w.context.eval("nil");
  }
  CHECK(kept.use_count() == 1);
}

TEST_CASE("host graph: other threads send, and the graph ends when the last that may has gone") {
  World w;
  int64_t total = 0, count = 0;
  Graph graph(w.context);
  graph.add("sink", Node({"in"}).on_message([&](Turn& turn) {
    total += turn.message<int64_t>();
    ++count;
  }));
  graph.input("numbers", "sink:in", {.capacity = 16});
  std::vector<std::thread> threads;
  for (int n = 0; n < 3; ++n) {
    threads.emplace_back([sender = graph.sender("numbers")] {
      for (int i = 0; i < 2000; ++i) {
        while (sender.put(i) == POSSET_PUT_BLOCKED) std::this_thread::yield();
      }
    });
  }
  CHECK(ended(graph.run()) == "idle");
  for (std::thread& thread : threads) thread.join();
  CHECK(count == 6000);
  CHECK(total == 3 * 1999000);
}

TEST_CASE("host graph: all kinds of data come through, to handlers of scripts, several edges and folds") {
  World w;
  Graph graph(w.context);
  graph.add("show", w.context.eval("{state: \"\", inputs: [\"in\"], on_message: (s, x, _) => \"{s}{type(x)} {x}, \"}"));
  graph.input("in", "show:in");
  {
    const posset::Sender sender = graph.sender("in");
    CHECK(sender.put(1) == POSSET_PUT_OK);
    CHECK(sender.put(2.5) == POSSET_PUT_OK);
    CHECK(sender.put(true) == POSSET_PUT_OK);
    CHECK(sender.put("a text that is too long to be a short one") == POSSET_PUT_OK);
    CHECK(sender.put(nullptr) == POSSET_PUT_OK);
    CHECK(sender.put(std::string("x")) == POSSET_PUT_OK);
    CHECK(sender.put(size_t{3}) == POSSET_PUT_OK);
    CHECK(sender.put(uint32_t{4}) == POSSET_PUT_OK);
    CHECK(sender.put(5LL) == POSSET_PUT_OK);
    CHECK(sender.put(UINT64_MAX) == POSSET_PUT_INVALID);
  }
  w.context.set("result", graph.run());
  CHECK(w.context.eval<std::string>("result.states[\"show\"]") == "int 1, float 2.5, bool true, str a text that is too long to be a short one, "
        "nil nil, str x, int 3, int 4, int 5, ");

  Graph folded(w.context.eval(
      "import \"graph\"\nlet g = graph.new()\n"
      "g.add(\"sum\", {state: [], inputs: [\"in\"], on_message: (s, x, _) => s + [x]})\n"
      "g.input(\"in\", \"sum:in\", {capacity: 1, policy: \"coalesce\", fold: (a, b) => a + b})\ng"));
  std::thread other([sender = folded.sender("in")] {
    for (int i = 1; i <= 100; ++i) {
      while (sender.put(i) == POSSET_PUT_BLOCKED) std::this_thread::yield();
    }
  });
  w.context.set("result", folded.run());
  other.join();
  CHECK(w.context.eval<int64_t>("sum(result.states[\"sum\"])") == 5050);
}

TEST_CASE("host graph: one that has nothing to do is stopped from another thread") {
  World w;
  std::atomic<bool> started{false};
  int stops = 0;
  Graph graph(w.context);
  graph.add("sink", Node({"in"}).on_start([&](Turn&) { started = true; }).on_message([](Turn&) {}).on_stop([&](Turn&) { ++stops; }));
  graph.input("in", "sink:in");
  posset::Sender sender = graph.sender("in");
  std::thread other([&] {
    while (!started) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    sender.stop();
  });
  CHECK(ended(graph.run()) == "stopped");
  other.join();
  CHECK(stops == 1);
  CHECK(sender.put(1) == POSSET_PUT_STOPPING);
}

TEST_CASE("host graph: a sender outlives the graph, its context and its runtime") {
  posset::Sender sender;
  {
    World w;
    Graph graph(w.context);
    graph.add("sink", Node({"in"}).on_message([](Turn&) {}));
    graph.input("in", "sink:in");
    sender = graph.sender("in");
    CHECK(sender.put("kept") == POSSET_PUT_OK);
  }
  CHECK(sender.put("late") == POSSET_PUT_STOPPING);
  sender.stop();
}

TEST_CASE("host graph: an interruption ends a graph that waits for other threads") {
  World w;
  std::atomic<bool> started{false};
  Graph graph(w.context);
  graph.add("sink", Node({"in"}).on_start([&](Turn&) { started = true; }).on_message([](Turn&) {}));
  graph.input("in", "sink:in");
  const posset::Sender sender = graph.sender("in");
  std::thread other([&] {
    while (!started) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    w.context.interrupt();
  });
  CHECK(error_of([&] { graph.run(); }) == "interrupted");
  other.join();
}

TEST_CASE("methods of host objects are called by name") {
  World w;
  posset_value out = posset_nil();
  posset_context* c = w.context.handle();
  CHECK(posset_invoke_method(c, posset_int(1), posset_text_of("run"), nullptr, 0, &out) == POSSET_RAISED);
  posset_error_free(posset_take_error(c));
  Graph graph(w.context);
  CHECK(posset_invoke_method(c, graph.value().raw(), posset_text_of("nosuch"), nullptr, 0, &out) == POSSET_RAISED);
  posset_error_free(posset_take_error(c));
  CHECK(posset_invoke_method(c, graph.value().raw(), posset_text_of("run"), nullptr, 1, &out) == POSSET_MISUSE);
  CHECK(posset_invoke_method(nullptr, graph.value().raw(), posset_text_of("run"), nullptr, 0, &out) == POSSET_MISUSE);
  posset_value extra[] = {posset_int(1), posset_int(2), posset_int(3)};
  CHECK(posset_invoke_method(c, graph.value().raw(), posset_text_of("run"), extra, 3, &out) == POSSET_RAISED);
  posset_error_free(posset_take_error(c));
  CHECK(posset_is_nil(extra[0]));
}

// ---- what went wrong once ----

TEST_CASE("host graph: a value of the script that another thread drives out of an input dies on the graph's thread") {
  std::thread::id died_on;
  const auto leaves_trace = [](void* data) { *static_cast<std::thread::id*>(data) = std::this_thread::get_id(); };
  posset::Runtime runtime;
  posset_type_row row = {};
  row.size = sizeof row;
  row.name = "Traced";
  row.doc = "Tells where it died.";
  const posset_type* type = nullptr;
  REQUIRE(posset_register_type(runtime.handle(), &row, &type) == POSSET_OK);
  Context context(runtime);
  std::vector<std::string> got;
  Graph graph(context);
  graph.add("sink", Node({"in"}).on_message([&](Turn& turn) { got.push_back(turn.message().text()); }));
  graph.input("in", "sink:in", {.capacity = 1, .policy = posset::EdgePolicy::Latest});
  {
    posset_object object = posset_object_of(&died_on);
    object.drop = leaves_trace;
    object.data = &died_on;
    posset_value arguments[2] = {posset_nil(), posset_nil()};
    REQUIRE(posset_string(context.handle(), posset_text_of("in"), &arguments[0]) == POSSET_OK);
    REQUIRE(posset_host(context.handle(), type, &object, &arguments[1]) == POSSET_OK);
    posset_value answer = posset_nil();
    REQUIRE(posset_invoke_method(context.handle(), graph.value().raw(), posset_text_of("send"), arguments, 2, &answer) == POSSET_OK);
    posset_release(answer);
  }
  std::thread([sender = graph.sender("in")] { CHECK(sender.put(7) == POSSET_PUT_REPLACED); }).join();
  CHECK(died_on == std::thread::id());
  graph.run();
  CHECK(died_on == std::this_thread::get_id());
  CHECK(got == std::vector<std::string>{"7"});
}

TEST_CASE("host graph: what is wrong with an emit is raised in the handler, and the runtime goes on") {
  World w;
  Graph graph(w.context, {.drain_seconds = 0});
  std::string seen;
  graph.add("endless", Node({}, {"out"}).on_start([&](Turn& turn) {
    try {
      for (;;) turn.emit(0, 1);
    } catch (const posset::Error& error) {
      seen = error.code_name();
      throw;
    }
  }));
  graph.add("sink", Node({"in"}).on_message([](Turn&) {}));
  graph.connect("endless:out", "sink:in", {.capacity = 4, .policy = posset::EdgePolicy::Latest});
  CHECK(error_of([&] { graph.run(); }) == "node endless has emitted 1048576 items in one call, the most there may be");
  CHECK(seen == "BadArgument");
  CHECK(w.context.eval<int64_t>("1 + 1") == 2);
}

TEST_CASE("a task that fails and that nobody awaits is an error of the method that the host has called") {
  World w;
  Graph graph(w.context);
  graph.add("spawns", w.context.eval("import \"task\"\nfn fails() { throw \"in a task\" }\n"
                                     "{on_start: (_, node) => { spawn fails()\nnil }}"));
  CHECK(error_of([&] { graph.run(); }) == "in a task");
  CHECK(w.context.eval<int64_t>("1 + 1") == 2);
}

TEST_CASE("host graph: what is sent just before its sender goes is delivered, though the graph does not drain") {
  for (int round = 0; round < 300; ++round) {
    World w;
    int64_t count = 0;
    Graph graph(w.context, {.drain_seconds = 0});
    graph.add("sink", Node({"in"}).on_message([&](Turn&) { ++count; }));
    graph.input("in", "sink:in");
    std::atomic<int64_t> taken{0};
    std::thread other([&taken, sender = graph.sender("in")] {
      for (int i = 0; i < 3; ++i) taken += sender.put(i) == POSSET_PUT_OK;
    });
    CHECK(ended(graph.run()) == "idle");
    other.join();
    REQUIRE(count == taken.load());
  }
}

TEST_CASE("host graph: an error that has no handle keeps its message") {
  World w;
  Graph graph(w.context);
  graph.add("parses", Node().on_start([&](Turn&) { w.context.load("bad.posset", "let = 1").run(); }));
  CHECK(error_of([&] { graph.run(); }).find("bad.posset:1:5: error: ") == 0);
}

TEST_CASE("host graph: a name that is not there leaves the graph as it was") {
  World w;
  Graph graph(w.context);
  graph.add("sink", Node({"in"}).on_message([](Turn&) {}));
  const std::string edge = graph.input("in", "sink:in");
  CHECK(error_of([&] { graph.sender("inn"); }) == "unknown input inn");
  CHECK(error_of([&] { graph.set_priority("no edge", 1); }) == "unknown edge no edge");
  CHECK(error_of([&] { graph.set_capacity("no edge", 1); }) == "unknown edge no edge");
  graph.add("late", source(1));
  graph.connect("late:out", "sink:in");
  CHECK(edge == "host:in->sink:in");
}

TEST_CASE("host graph: a turn that is over, a copy of one or that of another handler is misuse") {
  World w;
  struct Kept {
    posset_turn* turn = nullptr;
    posset_turn copy = {};
    std::vector<posset_status> answers;
  } kept;
  posset_node node = posset_node_defaults();
  node.data = &kept;
  node.on_start = [](posset_turn* turn) -> posset_status {
    auto& k = *static_cast<Kept*>(turn->data);
    k.turn = turn, k.copy = *turn;
    k.answers.push_back(posset_again(turn));
    k.answers.push_back(posset_again(&k.copy));
    return POSSET_OK;
  };
  node.on_stop = [](posset_turn* turn) -> posset_status {
    auto& k = *static_cast<Kept*>(turn->data);
    k.answers.push_back(posset_again(&k.copy));
    return POSSET_OK;
  };
  Graph graph(w.context);
  REQUIRE(posset_graph_add(w.context.handle(), graph.value().raw(), posset_text_of("n"), &node, nullptr) == POSSET_OK);
  Graph other(w.context);
  other.add("uses", Node({}, {"out"}).on_start([&](Turn&) {
    posset_put put = POSSET_PUT_OK;
    kept.answers.push_back(posset_emit(kept.turn, 0, posset_int(1), &put));
  }));
  graph.run();
  other.run();
  kept.answers.push_back(posset_again(kept.turn));
  kept.answers.push_back(posset_again(&kept.copy));
  CHECK(kept.answers == std::vector<posset_status>{POSSET_OK, POSSET_MISUSE, POSSET_MISUSE, POSSET_MISUSE, POSSET_MISUSE, POSSET_MISUSE});
}

TEST_CASE("host graph: a graph that a sender has stopped says so, though its time is up while it drains") {
  World w;
  int handled = 0;
  posset::Sender sender;
  Graph graph(w.context);
  graph.add("sink", Node({"in"}).on_message([&](Turn&) {
    if (++handled == 1) sender.stop();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }));
  graph.input("in", "sink:in");
  sender = graph.sender("in");
  for (int i = 0; i < 20; ++i) sender.put(i);
  CHECK(ended(graph.run(0.03)) == "stopped");
  CHECK(handled == 20);
}

// ---- senders ----

TEST_CASE("host graph: threads wait for room, for so long as they say, and until the end") {
  World w;
  int64_t total = 0;
  Graph graph(w.context);
  graph.add("sink", Node({"in"}).on_message([&](Turn& turn) { total += turn.message<int64_t>(); }));
  graph.input("in", "sink:in", {.capacity = 1});
  posset::Sender own = graph.sender("in");
  CHECK(own.send(1) == POSSET_PUT_OK);
  CHECK(own.send(1) == POSSET_PUT_BLOCKED);  // this thread would have to make the room
  std::thread([&] { CHECK(own.send(1, 0.001) == POSSET_PUT_BLOCKED); }).join();
  own = posset::Sender();
  std::vector<std::thread> threads;
  for (int n = 0; n < 3; ++n) {
    threads.emplace_back([sender = graph.sender("in")] {
      for (int i = 0; i < 500; ++i) CHECK(sender.send(i) == POSSET_PUT_OK);
    });
  }
  CHECK(ended(graph.run()) == "idle");
  for (std::thread& thread : threads) thread.join();
  CHECK(total == 1 + 3 * 124750);
}

TEST_CASE("host graph: a handler that sends to its own graph does not wait for itself, on whatever thread that runs") {
  World w;
  posset_put answer = POSSET_PUT_OK;
  posset::Sender sender;
  Graph graph(w.context);
  graph.add("sink", Node({"in"}).on_message([&](Turn& turn) {
    if (turn.message<int64_t>() != 0) return;
    for (int i = 1; i < 10 && answer == POSSET_PUT_OK; ++i) answer = sender.send(i);
    sender.stop();
  }));
  graph.input("in", "sink:in", {.capacity = 1});
  sender = graph.sender("in");
  CHECK(sender.put(0) == POSSET_PUT_OK);
  std::thread([&] { CHECK(ended(graph.run()) == "stopped"); }).join();
  CHECK(answer == POSSET_PUT_BLOCKED);
}

TEST_CASE("host graph: who waits for room is told of the end, also when the graph never runs") {
  std::thread waits;
  std::atomic<bool> begun{false};
  posset_put answer = POSSET_PUT_OK;
  {
    World w;
    Graph graph(w.context);
    graph.add("sink", Node({"in"}).on_message([](Turn&) {}));
    graph.input("in", "sink:in", {.capacity = 1});
    graph.sender("in").put(1);
    waits = std::thread([&, sender = graph.sender("in")] {
      begun = true;
      answer = sender.send(2);
    });
    while (!begun) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  waits.join();
  CHECK(answer == POSSET_PUT_STOPPING);
}

TEST_CASE("host graph: other threads change priorities and capacities") {
  World w;
  Graph graph(w.context);
  std::vector<int64_t> got;
  std::atomic<bool> started{false};
  graph.add("sink", collect(got).on_start([&](Turn&) { started = true; }));
  const std::string input = graph.input("in", "sink:in", {.capacity = 8});
  posset::Sender sender = graph.sender("in");
  std::thread([&] {
    CHECK(sender.set_capacity(input, 2));
    CHECK(sender.set_capacity(input, 8));
    CHECK(sender.set_priority(input, 3));
    CHECK_FALSE(sender.set_capacity(input, 0));
    CHECK_FALSE(sender.set_capacity(input, 9));
    CHECK_FALSE(sender.set_priority(input, -1));
    CHECK_FALSE(sender.set_priority("nosuch", 1));
    CHECK(sender.put(1) == POSSET_PUT_OK);
  }).join();
  std::thread stops([&] {
    while (!started) std::this_thread::yield();
    while (sender.send(2, 0.01) == POSSET_PUT_BLOCKED) {
    }
    sender.stop();
    CHECK_FALSE(sender.set_priority(input, 1));
  });
  const posset::Value result = graph.run();
  stops.join();
  CHECK(got == std::vector<int64_t>{1, 2});
  CHECK(result["stats"]["bands"]["control"]["messages"].to<int64_t>() == 2);
  CHECK_FALSE(sender.set_capacity(input, 1));
}

// ---- the rest of the C++ layer ----

TEST_CASE("host graph: edges fold with functions of the script and of the host") {
  World w;
  w.context.define("larger", posset::pure([](int64_t a, int64_t b) { return std::max(a, b); }));
  for (const char* fold : {"larger", "(a, b) => max(a, b)"}) {
    std::vector<int64_t> got;
    Graph graph(w.context);
    graph.add("source", Node({}, {"out"}).on_start([](Turn& turn) {
      for (int i : {3, 1, 4, 1, 5, 9, 2, 6}) turn.emit(0, i);
    }));
    graph.add("sink", collect(got));
    graph.connect("source:out", "sink:in", {.capacity = 2, .policy = posset::EdgePolicy::Coalesce, .fold = w.context.eval(fold)});
    graph.run();
    CHECK(got == std::vector<int64_t>{3, 9});
  }
  Graph graph(w.context);
  graph.add("source", source(1));
  std::vector<int64_t> got;
  graph.add("sink", collect(got));
  CHECK(error_of([&] { graph.connect("source:out", "sink:in", {.policy = posset::EdgePolicy::Coalesce}); }) ==
        "edge source:out->sink:in coalesces and has no function to fold with");
}

TEST_CASE("host graph: options, a timeout, parts with ports of their own, changes before the run") {
  World w;
  CHECK(error_of([&] { Graph bad(w.context, {.batch = 0}); }).find("misuse: graph: ") == 0);
  CHECK(error_of([&] { Graph bad(w.context, {.tick_seconds = 0}); }).find("misuse: graph: ") == 0);
  CHECK(error_of([&] { Graph bad(w.context, {.drain_seconds = -1}); }).find("misuse: graph: ") == 0);
  Graph part(w.context);
  part.add("double", Node({"in"}, {"out"}).on_message([](Turn& turn) { turn.emit(0, 2 * turn.message<int64_t>()); }));
  part.expose("in", "double:in");
  part.expose("out", "double:out");
  // How much fits before a timeout is the machine's affair: it is doubled until all of it did.
  int ticks = 0;
  std::vector<int64_t> got;
  for (double seconds = 0.02; seconds < 20 && (ticks == 0 || got.size() < 3); seconds *= 2) {
    ticks = 0;
    got.clear();
    Graph graph(w.context, {.tick_seconds = 0.001});
    graph.add("source", source(3));
    graph.add("part", part.value());
    graph.add("sink", collect(got));
    graph.add("clock", Node().on_tick([&](Turn&) { ++ticks; }));
    const std::string edge = graph.connect("source:out", "part:in");
    CHECK(edge == "source:out->part/double:in");
    graph.connect("part:out", "sink:in");
    graph.set_priority(edge, 2);
    graph.set_capacity(edge, 1);
    CHECK(ended(graph.run(seconds)) == "timeout");
  }
  CHECK(got == std::vector<int64_t>{0, 2, 4});
  CHECK(ticks > 0);
}

// ---- typed ports ----

TEST_CASE("host graph: ports say what they take, and what is wrong is told with node, port and edge") {
  World w;
  auto run = [&w](const char* out, const posset::Value& sent, const char* in) {
    return error_of([&] {
      Graph graph(w.context);
      graph.add("a", Node({}, {out}).on_start([&](Turn& turn) { turn.emit(0, sent); }));
      graph.add("b", Node({in}).on_message([](Turn&) {}));
      graph.connect("a:out", "b:in");
      graph.run();
    });
  };
  const posset::Value three = w.context.eval("3"), text = w.context.eval("\"x\"");
  CHECK(run("out: int", three, "in: num") == "");
  CHECK(run("out: str", text, "in: int") == "edge a:out->b:in: a:out gives str, b:in takes int");
  CHECK(run("out: int", text, "in") == "node a: out gives int, got str (\"x\")");
  CHECK(run("out", text, "in: int") == "node a sends along a:out->b:in, but b:in takes int, got str (\"x\")");
  CHECK(run("out: integer", text, "in").find("port out: there is no type \"integer\"") == 0);
  Graph graph(w.context);
  std::vector<double> got;
  graph.add("sink", Node({"in: num?"}).on_message([&](Turn& turn) { got.push_back(turn.message().is<double>() ? turn.message<double>() : -1); }));
  graph.input("in", "sink:in");
  std::thread([sender = graph.sender("in")] {
    CHECK(sender.put("text") == POSSET_PUT_INVALID);
    CHECK(sender.send(true) == POSSET_PUT_INVALID);
    for (double v : {1.0, 2.5}) CHECK(sender.put(v) == POSSET_PUT_OK);
    CHECK(sender.put(3) == POSSET_PUT_OK);
    CHECK(sender.send(nullptr) == POSSET_PUT_OK);
  }).join();
  graph.run();
  CHECK(got == std::vector<double>{1, 2.5, 3, -1});
}

// ---- what hosts do wrong, and limits: an error with the names, and the context goes on ----

namespace {

void still_works(Context& context) {
  CHECK(context.eval<int64_t>("import \"graph\"\nlet g = graph.new()\n"
                              "g.add(\"a\", {outputs: [\"out\"], on_start: (_, node) => node.emit(\"out\", 2)})\n"
                              "g.add(\"b\", {state: 0, inputs: [\"in\"], on_message: (s, x, node) => s + x})\n"
                              "g.connect(\"a:out\", \"b:in\")\ng.run().states[\"b\"]") == 2);
}

// One that never ends by itself, with a node for each of the kinds of edges.
Graph endless(Context& context, int64_t capacity) {
  Graph graph(context, {.drain_seconds = 0.05});
  graph.add("source", Node({}, {"out"}).on_tick([](Turn& turn) {
    turn.emit(0, 1);
    turn.again();
  }, 0.001));
  graph.add("pass", Node({"in"}, {"out"}).on_message([](Turn& turn) { turn.emit(0, turn.message()); }));
  graph.add("sink", Node({"in"}).on_message([](Turn&) {}));
  graph.connect("source:out", "pass:in", {.capacity = capacity});
  graph.connect("pass:out", "sink:in", {.capacity = capacity});
  return graph;
}

}  // namespace

TEST_CASE("host graph: descriptions that cannot be are refused with the names") {
  World w;
  Graph graph(w.context);
  graph.add("a", source(1));
  graph.add("b", Node({"in"}).on_message([](Turn&) {}));
  CHECK(error_of([&] { graph.connect("a:out", "b:in", {.capacity = 0}); }) ==
        "edge a:out->b:in: capacity 0 is not between 1 and 16777216");
  CHECK(error_of([&] { graph.connect("a:out", "b:in", {.priority = -1}); }) == "edge a:out->b:in: priority -1 is negative");
  CHECK(error_of([&] { graph.connect("a:on", "b:in"); }) == "node a has no output port on");
  CHECK(error_of([&] { graph.connect("a:out", "b:on"); }) == "node b has no input port on");
  CHECK(error_of([&] { graph.add("c", Node({"in", "in"}).on_message([](Turn&) {})); }) == "node c has two input ports in");
  CHECK(error_of([&] { graph.add("part", graph.value()); }) == "subgraph part is the graph itself");
  std::string late;
  Graph running(w.context);
  running.add("adds", Node().on_start([&](Turn&) { late = error_of([&] { running.add("late", source(1)); }); }));
  running.run();
  CHECK(late == "cannot add node late: the graph is running");
  CHECK(error_of([&] { running.run(); }) == "the graph has been run before, and a graph runs once");
  still_works(w.context);
}

TEST_CASE("host graph: a circle of full edges is a deadlock with their names") {
  World w;
  Graph graph(w.context);
  auto floods = [](Turn& turn) {
    for (int i = 0; i < 3; ++i) turn.emit(0, i);
  };
  graph.add("a", Node({"in"}, {"out"}).on_start(floods).on_message(floods));
  graph.add("b", Node({"in"}, {"out"}).on_message(floods));
  graph.connect("a:out", "b:in", {.capacity = 1});
  graph.connect("b:out", "a:in", {.capacity = 1});
  CHECK(error_of([&] { graph.run(); }) ==
        "deadlock: each of these edges is full and its consumer waits for the next: a:out->b:in, b:out->a:in");
  still_works(w.context);
}

TEST_CASE("host graph: what is thrown in any handler ends the run with it") {
  World w;
  auto throws = [](Turn&) { throw std::runtime_error("no"); };
  for (int kind = 0; kind < 3; ++kind) {
    Graph graph(w.context);
    graph.add("fine", Node().on_start([](Turn&) {}));
    graph.add("bad", kind == 0 ? Node().on_start(throws) : kind == 1 ? Node().on_tick(throws, 0.001) : Node().on_stop(throws));
    CHECK(error_of([&] { graph.run(); }) == "no");
    still_works(w.context);
  }
}

TEST_CASE("host graph: limits and interruptions act within handlers of the host") {
  struct Case {
    posset::ContextOptions options;
    bool interrupts;
    const char* message;
  };
  posset::ContextOptions steps, time;
  steps.step_limit = 20000;
  time.time_limit_seconds = 0.05;
  for (const Case& each : {Case{steps, false, "step limit of 20000 exceeded"}, Case{time, false, "time limit"}, Case{{}, true, "interrupted"}}) {
    posset::Runtime runtime;
    Context context(runtime, each.options);
    Graph graph = endless(context, 1);
    std::atomic<bool> begun{false};
    graph.add("marks", Node().on_start([&](Turn&) { begun = true; }));
    std::thread other([&] {
      while (!begun) std::this_thread::yield();
      if (each.interrupts) context.interrupt();
    });
    const std::string error = error_of([&] { graph.run(); });
    if (each.options.time_limit_seconds == 0) CHECK(begun);
    begun = true;  // the time may have been over before that
    other.join();
    CHECK_MESSAGE(error.find(each.message) != std::string::npos, error);
    still_works(context);
  }
}

TEST_CASE("host graph: a handler of the host that wants too much memory has the limit, and so has the run") {
  posset::Runtime runtime;
  Context context(runtime, {.memory_limit = 8 << 20});
  Graph graph(context);
  graph.add("hoards", Node({}, {"out"}).on_start([](Turn& turn) {
    for (int i = 0; i < 4000; ++i) turn.emit(0, std::string(10000, 'x'));
  }));
  graph.add("sink", Node({"in"}).on_message([](Turn&) {}));
  graph.connect("hoards:out", "sink:in", {.capacity = 10000});
  CHECK(error_of([&] { graph.run(); }).find("memory limit") != std::string::npos);
  still_works(context);
}

TEST_CASE("host graph: who waits within emit is told of the end, and one that does not listen is cancelled") {
  World w;
  Graph graph(w.context, {.drain_seconds = 0});
  std::vector<posset_put> answers;
  graph.add("source", Node({}, {"out"}).on_start([&](Turn& turn) {
    for (int i = 0; i < 3; ++i) answers.push_back(turn.emit(0, i));
  }));
  graph.add("sink", Node({"in"}).on_message([&](Turn&) { graph.stop(); }));
  graph.connect("source:out", "sink:in", {.capacity = 1});
  CHECK(ended(graph.run()) == "stopped");
  REQUIRE(!answers.empty());
  CHECK(answers.front() == POSSET_PUT_OK);
  CHECK(answers.back() == POSSET_PUT_STOPPING);
  Graph waits(w.context, {.drain_seconds = 0.01});
  const posset::Value forever = w.context.eval("let c = chan(0)\n() => c.recv()");
  std::string told;
  waits.add("waits", Node({"in"}).on_message([&](Turn&) {
    told = error_of([&] { forever(); });
    throw std::runtime_error(told);
  }));
  waits.input("in", "waits:in");
  posset::Sender sender = waits.sender("in");
  sender.put(1);
  CHECK(error_of([&] { waits.run(0.02); }) != "");
  CHECK(told == "the graph has ended");
  still_works(w.context);
}

// ---- properties ----

TEST_CASE("host graph: what an edge that folds has in the end is delivered by the drain, once") {
  World w;
  Graph graph(w.context);
  std::vector<int64_t> got;
  w.context.define("plus", posset::pure([](int64_t a, int64_t b) { return a + b; }));
  graph.add("source", Node({}, {"out"}).on_tick([&](Turn& turn) {
    for (int i = 1; i <= 100; ++i) turn.emit(0, i);
    graph.stop();
  }, 0.001));
  graph.add("sink", collect(got));
  graph.connect("source:out", "sink:in", {.capacity = 2, .policy = posset::EdgePolicy::Coalesce, .fold = w.context.eval("plus")});
  CHECK(ended(graph.run()) == "stopped");
  CHECK(got == std::vector<int64_t>{1, 5049});
}

TEST_CASE("host graph: a node of a script that computes for long lets others go on, and its own messages wait") {
  World w;
  int64_t others = 0;
  std::vector<int64_t> others_at_end;
  Graph graph(w.context);
  graph.add("slow", w.context.eval("{inputs: [\"in\"], outputs: [\"out\"], state: 0, on_message: (inout inside, x, node) => {\n"
                                   "assert(inside == 0)\ninside += 1\nlet until = x + 300000\nvar i = x\n"
                                   "while i < until { i += 1 }\ninside -= 1\nnode.emit(\"out\", x) } }"));
  graph.add("tick", Node().on_tick([&](Turn&) { ++others; }, 0.0005));
  graph.add("sink", Node({"in"}).on_message([&](Turn& turn) {
    others_at_end.push_back(turn.message<int64_t>());
    if (others_at_end.size() == 20) graph.stop();
  }));
  graph.connect("slow:out", "sink:in");
  graph.input("in", "slow:in", {.capacity = 64});
  const posset::Sender sender = graph.sender("in");
  for (int i = 0; i < 20; ++i) REQUIRE(sender.put(i) == POSSET_PUT_OK);
  CHECK(ended(graph.run()) == "stopped");
  REQUIRE(others_at_end.size() == 20);
  for (int64_t i = 0; i < 20; ++i) CHECK(others_at_end[static_cast<size_t>(i)] == i);
  CHECK(others > 0);
}

TEST_CASE("host graph: random graphs of nodes of the host and of scripts deliver everything once, and start in order") {
  constexpr int kMessages = 50;
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    std::minstd_rand random(seed);
    auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
    World w;
    const size_t count = 3 + below(8);
    std::vector<size_t> paths(count, 0), parents(count, 0);
    std::vector<std::vector<int64_t>> got(count);
    std::vector<size_t> started, stopped;
    std::vector<std::pair<size_t, size_t>> edges;
    Graph graph(w.context);
    paths[0] = 1;
    for (size_t i = 0; i < count; ++i) {
      const std::string name = "n" + std::to_string(i);
      auto notes = [&, i](Node node) {
        return std::move(node).on_start([&, i](Turn& turn) {
          started.push_back(i);
          for (int k = 0; i == 0 && k < kMessages; ++k) turn.emit(0, k);
        }).on_stop([&, i](Turn&) { stopped.push_back(i); });
      };
      if (i == 0) {
        graph.add(name, notes(Node({}, {"out"})));
      } else if (below(2) == 0) {
        graph.add(name, w.context.eval("{inputs: [\"in\"], outputs: [\"out\"], on_message: (_, x, node) => node.emit(\"out\", x)}"));
      } else {
        graph.add(name, notes(Node({"in"}, {"out"}).on_message([](Turn& turn) { turn.emit(0, turn.message()); })));
      }
      graph.add(name + "seen", collect(got[i]));
      graph.connect(name + ":out", name + "seen:in", {.capacity = 1 + static_cast<int64_t>(below(4))});
    }
    for (size_t i = 1; i < count; ++i) {
      for (size_t from = 0; from < i; ++from) {
        if (below(3) != 0 && !(from + 1 == i && parents[i] == 0)) continue;
        graph.connect("n" + std::to_string(from) + ":out", "n" + std::to_string(i) + ":in", {.capacity = 1 + static_cast<int64_t>(below(4))});
        paths[i] += paths[from];
        ++parents[i];
        edges.emplace_back(from, i);
      }
    }
    CAPTURE(seed);
    CHECK(ended(graph.run()) == "idle");
    for (size_t i = 0; i < count; ++i) {
      REQUIRE(got[i].size() == paths[i] * kMessages);
      if (paths[i] > 1) std::sort(got[i].begin(), got[i].end());
      for (size_t k = 0; k < got[i].size(); ++k) REQUIRE(got[i][k] == static_cast<int64_t>(k / paths[i]));
    }
    auto place = [&](size_t node) { return std::find(started.begin(), started.end(), node) - started.begin(); };
    const auto unknown = static_cast<ptrdiff_t>(started.size());
    for (const auto& [from, to] : edges) {
      if (place(from) != unknown && place(to) != unknown) CHECK(place(from) < place(to));
    }
    std::reverse(stopped.begin(), stopped.end());
    CHECK(started == stopped);
  }
}

TEST_CASE("host graph: tokens that go around a ring of nodes of both kinds are all there in the end") {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    std::minstd_rand random(seed);
    World w;
    const int count = 2 + static_cast<int>(random() % 5);
    const int64_t tokens = 1 + static_cast<int64_t>(random() % 5), hops = 10 + static_cast<int64_t>(random() % 90);
    int64_t home = 0;
    w.context.define("arrived", [&home] { ++home; });
    Graph graph(w.context);
    const posset::Value passes = w.context.eval(
        "{inputs: [\"in\"], outputs: [\"out\"], on_message: (_, left, node) => { if left > 0 { node.emit(\"out\", left - 1) } else { arrived() } }}");
    for (int i = 0; i < count; ++i) {
      const std::string name = "n" + std::to_string(i);
      if (i > 0 && random() % 2 == 0) {
        graph.add(name, passes);
        continue;
      }
      graph.add(name, Node({"in"}, {"out"}).on_start([=](Turn& turn) {
        for (int64_t k = 0; i == 0 && k < tokens; ++k) turn.emit(0, hops);
      }).on_message([&home](Turn& turn) {
        const auto left = turn.message<int64_t>();
        if (left == 0) {
          ++home;
        } else {
          turn.emit(0, left - 1);
        }
      }));
    }
    for (int i = 0; i < count; ++i) {
      graph.connect("n" + std::to_string(i) + ":out", "n" + std::to_string((i + 1) % count) + ":in", {.capacity = tokens});
    }
    CAPTURE(seed);
    CHECK(ended(graph.run()) == "idle");
    CHECK(home == tokens);
  }
}
