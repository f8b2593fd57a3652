// Pure work of graphs' handlers and of tasks on several executors: it is taken as the evaluation's
// own is, and whoever waits for it lets the others of its thread go on. The trace tells what was
// taken; when that is depends on the threads, so cases that need it try until there was some. What
// the rules are is tested in sched/posse_*_test.cpp.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <posset/posset.hpp>
#include <posset/trace.h>

#include "fixture.h"

namespace posset::test {

namespace {

// The slices are short under exit stress, and so is the quantum: what can be taken soon is.
RuntimeOptions stealing(uint32_t workers) {
  RuntimeOptions options;
  options.workers = workers;
  options.quantum_us = 1;
  options.exit_stress = 3;
  options.trace_events = 1 << 16;
  return options;
}

struct Stealing {
  explicit Stealing(uint32_t workers, ContextOptions options = {})
      : runtime(stealing(workers)), context(runtime, options) {}

  std::string show(std::string_view program) {
    try {
      return context.eval(program).text();
    } catch (const Error& error) {
      return error.message();
    }
  }
  std::string trace() const {
    std::string made;
    REQUIRE(posset_trace_write(runtime.handle(), POSSET_TRACE_TEXT, append, &made) == POSSET_OK);
    return made;
  }
  uint64_t steps() const { return context.statistics().steps; }

  Runtime runtime;
  Context context;
};

size_t count(const std::string& text, std::string_view of) {
  size_t found = 0;
  for (size_t at = text.find(of); at != std::string::npos; at = text.find(of, at + 1)) ++found;
  return found;
}

constexpr std::string_view kTree =
    "fn total(depth, value) => if depth == 0 { value % 7 } else { total(depth - 1, value * 2) + "
    "total(depth - 1, value * 2 + 1) }\n";

std::string in_graph(int depth) {
  return std::string(kTree) +
         "import \"graph\"\n"
         "let g = graph.new()\n"
         "g.add(\"source\", {outputs: [\"out\"], on_start: (_, node) => { for i in 0..20 { "
         "node.emit(\"out\", i) } }})\n"
         "g.add(\"work\", {inputs: [\"in\"], outputs: [\"out\"], on_message: (_, x, node) => "
         "node.emit(\"out\", total(" +
         std::to_string(depth) +
         ", x)) })\n"
         "g.add(\"sink\", {inputs: [\"in\"], state: [], on_message: (s, x, node) => s + [x]})\n"
         "g.connect(\"source:out\", \"work:in\", {capacity: 2})\n"
         "g.connect(\"work:out\", \"sink:in\", {capacity: 2})\n"
         "g.run().states[\"sink\"]";
}

std::string in_tasks(int depth) {
  return std::string(kTree) + "let all = [for i in 0..6 => spawn total(" + std::to_string(depth) +
         ", i)]\n[for t in all => await t]";
}

}  // namespace

TEST_CASE(
    "parallel graphs: pure work of handlers and of tasks is taken by others, with the same results "
    "and steps") {
  for (const std::string& program : {in_graph(9), in_tasks(10)}) {
    CAPTURE(program);
    Stealing alone(1);
    const std::string expected = alone.show(program);
    REQUIRE(expected.starts_with("["));
    const uint64_t steps = alone.steps();
    CHECK(alone.trace().find(" part_taken ") == std::string::npos);
    for (uint32_t workers : {2, 3}) {
      Stealing stolen(workers);
      bool elsewhere = false;
      for (int tries = 0; tries < 200 && !(elsewhere && tries > 2); ++tries) {
        CHECK(stolen.show(program) == expected);
        CHECK(stolen.steps() == steps);
        elsewhere = count(stolen.trace(), " part_computed ") > 0;  // a thread with tasks computes none
      }
      CHECK(elsewhere);
      const std::string trace = stolen.trace();
      CHECK(count(trace, " part_merged ") > 0);
    }
  }
}

TEST_CASE(
    "parallel graphs: an error in a part is the handler's, whose node does with it what it always "
    "does") {
  const std::string program =
      "fn risky(depth, value) => if depth == 0 { 100 // (value % 64 - 9) } else { risky(depth - 1, "
      "value * 2) + risky(depth - 1, value * 2 + 1) }\n"
      "import \"graph\"\n"
      "let g = graph.new()\n"
      "g.add(\"source\", {outputs: [\"out\"], on_start: (_, node) => { for i in 0..12 { "
      "node.emit(\"out\", i) } }})\n"
      "g.add(\"work\", {inputs: [\"in\"], errors: \"skip\", state: [], on_message: (s, x, node) => "
      "s + [risky(if x % 3 == 0 { 8 } else { 2 }, x)]})\n"
      "g.connect(\"source:out\", \"work:in\", {capacity: 2})\n"
      "let r = g.run()\n"
      "[r.states[\"work\"], r.stats.nodes[\"work\"].errors, r.stats.nodes[\"work\"].error]";
  Stealing alone(1), stolen(3);
  const std::string expected = alone.show(program);
  REQUIRE(expected.find("division by zero") != std::string::npos);
  for (int round = 0; round < 5; ++round) {
    CHECK(stolen.show(program) == expected);
    CHECK(stolen.steps() == alone.steps());
  }
}

TEST_CASE(
    "parallel graphs: handlers and folds that fail in the middle of forks leave no records "
    "behind") {
  // There is room for some 160,000; each failure left 200.
  constexpr std::string_view kRisky =
      "fn risky(n, x) => if n == 0 { 1 // x } else { risky(n - 1, x) + risky(n - 1, x) }\n"
      "import \"graph\"\n"
      "let g = graph.new()\n"
      "g.add(\"source\", {outputs: [\"out\"], on_start: (_, node) => { for i in 0..2000 { "
      "node.emit(\"out\", i) } }})\n";
  Runtime runtime(RuntimeOptions{.workers = 2});
  Context context(runtime);
  CHECK(context
            .eval(std::string(kRisky) +
                  "g.add(\"work\", {inputs: [\"in\"], errors: \"skip\", state: 0, on_message: (s, "
                  "x, node) => s + risky(200, x * 0)})\n"
                  "g.connect(\"source:out\", \"work:in\", {capacity: 8})\n"
                  "g.run().stats.nodes[\"work\"].errors")
            .to<int64_t>() == 2000);
  CHECK(context
            .eval(std::string(kRisky) +
                  "g.add(\"sink\", {inputs: [\"in\"], on_message: (_, x, node) => nil})\n"
                  "g.connect(\"source:out\", \"sink:in\", {policy: \"coalesce\", capacity: 1, "
                  "fold: (a, b) => a + risky(200, 0) + b})\n"
                  "g.run().stats.edges[\"source:out->sink:in\"].dropped")
            .to<int64_t>() == 1999);
}

// Ticks of another node while a handler computes a tree of that depth.
static int64_t ticks_beside(Stealing& w, int depth) {
  Graph graph(w.context);
  int64_t ticks = 0, before = 0, after = 0;
  graph.add("work",
            w.context.eval(std::string(kTree) +
                           "{inputs: [\"in\"], outputs: [\"begin\", \"end\"], on_message: (_, x, node) => {\n"
                           "node.emit(\"begin\", 0)\nnode.emit(\"end\", total(" +
                           std::to_string(depth) + ", x)) } }"));
  graph.add("begin", Node({"in"}).on_message([&](Turn&) { before = ticks; }));
  graph.add("end", Node({"in"}).on_message([&](Turn&) {
    after = ticks;
    graph.stop();
  }));
  graph.add("tick", Node().on_tick([&](Turn&) { ++ticks; }, 0.0005));
  graph.connect("work:begin", "begin:in", {.priority = 3});
  graph.connect("work:end", "end:in");
  graph.input("in", "work:in");
  const Sender sender = graph.sender("in");
  REQUIRE(sender.put(1) == POSSET_PUT_OK);
  graph.run();
  return after - before;
}

TEST_CASE(
    "parallel graphs: in the middle of a handler whose parts are computed here and elsewhere "
    "others have their turns") {
  // How long a tree takes is the machine's affair; where nobody had a turn none would be deep enough.
  Stealing w(2);
  int64_t ticks = 0;
  for (int depth = 19; depth < 25 && ticks <= 2; ++depth) ticks = ticks_beside(w, depth);
  CHECK(ticks > 2);
  CHECK(count(w.trace(), " part_taken ") > 0);
}

TEST_CASE(
    "parallel graphs: a stop, a limit and an interruption end handlers whose parts are elsewhere") {
  const std::string endless =
      "fn endless(n) {\n  var s = n\n  while s >= 0 { s += 1 }\n  s\n}\n"
      "fn sum(n) => if n < 2 { endless(n) } else { sum(n - 1) + sum(n - 2) }\n"
      "import \"graph\"\nimport \"task\"\n"
      "let g = graph.new({drain: 0.05})\n"
      "g.add(\"work\", {on_start: (_, node) => { sum(12) }})\n";
  Stealing w(3);
  const std::string late = "node work: its activation did not end in time";
  CHECK(w.show(endless + "let stop = spawn (() => { task.sleep(0.02)\ng.stop() })()\ng.run()") ==
        late);
  CHECK(w.show(endless + "g.run({timeout: 0.02})") == late);
  CHECK(w.show(endless + "spawn (() => { task.sleep(0.02)\nthrow \"enough\" })()\nlet t = spawn "
                         "sum(12)\ntask.sleep(0.03)\ntask.cancel(t)\n7") == "enough");
  std::mt19937 random(7);
  for (int round = 0; round < 10; ++round) {
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(500 + random() % 20000));
      w.context.interrupt();
    });
    CHECK(w.show(endless + "g.run()") == "interrupted");
    other.join();
  }
  ContextOptions options;
  options.time_limit_seconds = 0.05;
  w.context.set_options(options);
  CHECK(w.show(endless + "g.run()").find("time limit") != std::string::npos);
  CHECK(w.show(endless + "await spawn sum(12)").find("time limit") != std::string::npos);
  w.context.set_options(ContextOptions());
  CHECK(w.show(in_tasks(6)) == Stealing(1).show(in_tasks(6)));
}

}  // namespace posset::test
