// What a graph of script nodes costs, on the thread that evaluates: messages per second through three nodes, for edges with
// much room and with little; the same of nodes of the host, from another thread, and how long what controls waits under flood; turns of nodes that always have something, and that they are shared 4:2:1; memory over many
// messages; processor time of a graph that has nothing to do. Every script gives its answer, which is checked.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>
#include <posset/posset.hpp>

namespace {

constexpr int64_t kMessages = 100000;

// `pipeline(n, capacity)` sends 0 .. n - 1 the whole way and adds them up.
constexpr const char* kPipeline = R"(
import "graph"
fn pipeline(n, capacity) {
  let g = graph.new()
  g.add("source", {outputs: ["out"], on_start: (_, node) => { for i in 0..n { node.emit("out", i) } }})
  g.add("pass", {inputs: ["in"], outputs: ["out"], on_message: (_, x, node) => node.emit("out", x)})
  g.add("sink", {state: 0, inputs: ["in"], on_message: (sum, x, node) => sum + x})
  g.connect("source:out", "pass:in", {capacity: capacity})
  g.connect("pass:out", "sink:in", {capacity: capacity})
  g.run().states["sink"]
}
pipeline)";

void pipeline(benchmark::State& state) {
  posset::Runtime runtime;
  posset::Context context(runtime, {.memory_limit = 64 << 20});
  auto run = context.compile<int64_t(int64_t, int64_t)>(kPipeline);
  for (int i = 0; i < 10; ++i) {
    if (run(kMessages, state.range(0)) != kMessages * (kMessages - 1) / 2) return state.SkipWithError("another sum");
  }
  for (auto _ : state) benchmark::DoNotOptimize(run(kMessages, state.range(0)));
  state.SetItemsProcessed(state.iterations() * kMessages);
}
BENCHMARK(pipeline)->Arg(1)->Arg(64)->Arg(1024);

// The same through three nodes of the host; the sum.
int64_t host_sum(posset::Context& context, int64_t messages, const posset::EdgeOptions& edge) {
  int64_t sum = 0;
  posset::Graph graph(context);
  graph.add("source", posset::Node({}, {"out"}).on_start([messages](posset::Turn& turn) {
    for (int64_t i = 0; i < messages; ++i) turn.emit(0, i);
  }));
  graph.add("pass", posset::Node({"in"}, {"out"}).on_message([](posset::Turn& turn) { turn.emit(0, turn.message<int64_t>()); }));
  graph.add("sink", posset::Node({"in"}).on_message([&](posset::Turn& turn) { sum += turn.message<int64_t>(); }));
  graph.connect("source:out", "pass:in", edge);
  graph.connect("pass:out", "sink:in", edge);
  graph.run();
  return sum;
}

void host_pipeline(benchmark::State& state) {
  posset::Runtime runtime;
  posset::Context context(runtime, {.memory_limit = 64 << 20});
  for (auto _ : state) {
    if (host_sum(context, kMessages, {.capacity = state.range(0)}) != kMessages * (kMessages - 1) / 2) return state.SkipWithError("another sum");
  }
  state.SetItemsProcessed(state.iterations() * kMessages);
}
BENCHMARK(host_pipeline)->Arg(1)->Arg(64)->Arg(1024);

// From another thread into a node of the host, each message by itself.
void host_sender(benchmark::State& state) {
  posset::Runtime runtime;
  posset::Context context(runtime);
  for (auto _ : state) {
    int64_t sum = 0;
    posset::Graph graph(context);
    graph.add("sink", posset::Node({"in"}).on_message([&](posset::Turn& turn) { sum += turn.message<int64_t>(); }));
    graph.input("in", "sink:in", {.capacity = 1024});
    std::thread other([sender = graph.sender("in")] {
      for (int64_t i = 0; i < kMessages; ++i) sender.send(i);
    });
    graph.run();
    other.join();
    if (sum != kMessages * (kMessages - 1) / 2) return state.SkipWithError("another sum");
  }
  state.SetItemsProcessed(state.iterations() * kMessages);
}
BENCHMARK(host_sender)->UseRealTime();

// `turns(n)`: so many turns of three nodes, one message each; the number that the normal one had.
constexpr const char* kTurns = R"(
import "graph"
fn turns(n) {
  let g = graph.new({batch: 1, drain: 0})
  let left = ref(n)
  for [name, priority] in [["normal", 0], ["high", 2], ["control", 3]] {
    g.add(name, {state: 0, inputs: ["in"], outputs: ["out"], on_start: (k, node) => { node.emit("out", nil)
      k }, on_message: (k, x, node) => { node.emit("out", x)
      left.value -= 1
      if left.value == 0 { g.stop() }
      k + 1 }})
    g.connect("{name}:out", "{name}:in", {priority: priority})
  }
  let states = g.run().states
  assert(states == ["normal": n // 7, "high": 2 * n // 7, "control": 4 * n // 7])
  states["normal"]
}
turns)";

void turns(benchmark::State& state) {
  constexpr int64_t kTurnsOfAll = 70000;
  posset::Runtime runtime;
  posset::Context context(runtime);
  auto run = context.compile<int64_t(int64_t)>(kTurns);
  for (auto _ : state) {
    if (run(kTurnsOfAll) != kTurnsOfAll / 7) return state.SkipWithError("not shared 4:2:1");
  }
  state.SetItemsProcessed(state.iterations() * kTurnsOfAll);
}
BENCHMARK(turns);

int64_t resident_pages() {
  long size = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (!file) return 0;
  const int read = std::fscanf(file, "%ld %ld", &size, &resident);
  std::fclose(file);
  return read == 2 ? resident : 0;
}

// One graph, many messages: what the process has grown by meanwhile. `kind` 0: of the host, 1: of a script.
void memory(benchmark::State& state) {
  const int64_t messages = state.range(0);
  posset::Runtime runtime;
  posset::Context context(runtime);
  auto run_script = context.compile<int64_t(int64_t, int64_t)>(kPipeline);
  auto run = [&](int64_t n) { return state.range(1) ? run_script(n, 64) : host_sum(context, n, {.capacity = 64}); };
  run(kMessages);
  int64_t before = 0;
  for (auto _ : state) {
    before = resident_pages();
    if (run(messages) != messages * (messages - 1) / 2) return state.SkipWithError("another sum");
  }
  state.counters["grown_pages"] = static_cast<double>(resident_pages() - before);
  state.SetItemsProcessed(state.iterations() * messages);
}
BENCHMARK(memory)->ArgNames({"messages", "kind"})->ArgsProduct({{1'000'000, 100'000'000}, {0, 1}})->Iterations(1);

// From a put on one thread to the handler for control, while another floods a node that works a microsecond for each message.
// `kind` 0: both nodes are of the host, 1: of a script.
void control_latency(benchmark::State& state) {
  using Clock = std::chrono::steady_clock;
  constexpr size_t kControls = 2000;
  posset::Runtime runtime;
  posset::Context context(runtime);
  std::vector<double> waited_us;
  auto arrived = [&waited_us](int64_t sent_ns) {
    waited_us.push_back(static_cast<double>(Clock::now().time_since_epoch().count() - sent_ns) / 1000);
  };
  context.define("arrived", arrived);
  for (auto _ : state) {
    posset::Graph graph(context);
    if (state.range(0)) {
      graph.add("data", context.eval("{inputs: [\"in\"], on_message: (_, x, node) => { var sum = x\nfor i in 0..20 { sum += i } }}"));
      graph.add("control", context.eval("{inputs: [\"in\"], on_message: (_, x, node) => arrived(x)}"));
    } else {
      graph.add("data", posset::Node({"in"}).on_message([](posset::Turn&) {
        const Clock::time_point until = Clock::now() + std::chrono::microseconds(1);
        while (Clock::now() < until) {
        }
      }));
      graph.add("control", posset::Node({"in"}).on_message([&](posset::Turn& turn) { arrived(turn.message<int64_t>()); }));
    }
    graph.input("data", "data:in", {.capacity = 1024});
    graph.input("control", "control:in", {.priority = 3});
    std::atomic<bool> done{false};
    std::thread floods([&, sender = graph.sender("data")] {
      for (int64_t i = 0; !done.load(std::memory_order_relaxed); ++i) sender.send(i);
    });
    std::thread controls([&, sender = graph.sender("control")] {
      for (size_t i = 0; i < kControls; ++i) {
        sender.send(static_cast<int64_t>(Clock::now().time_since_epoch().count()));
        std::this_thread::sleep_for(std::chrono::microseconds(500));
      }
      done = true;
    });
    graph.run();
    floods.join();
    controls.join();
  }
  if (waited_us.size() < kControls) return state.SkipWithError("controls were lost");
  std::sort(waited_us.begin(), waited_us.end());
  state.counters["p50_us"] = waited_us[waited_us.size() / 2];
  state.counters["p99_us"] = waited_us[waited_us.size() * 99 / 100];
}
BENCHMARK(control_latency)->ArgName("kind")->Arg(0)->Arg(1)->Iterations(2)->UseRealTime();

// The processor time of half a second in which nothing comes.
void idle(benchmark::State& state) {
  posset::Runtime runtime;
  posset::Context context(runtime);
  auto run = context.compile<bool()>(R"(
import "graph"
() => {
  let g = graph.new()
  g.add("a", {inputs: ["in"], on_message: (_, x, node) => nil})
  g.input("in", "a:in")
  g.add("late", {tick: 10.0, on_tick: (_, node) => nil})
  g.run({timeout: 0.5}).ended == "timeout"
})");
  const std::clock_t before = std::clock();
  for (auto _ : state) {
    if (!run()) return state.SkipWithError("it ended otherwise");
  }
  const double seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  state.counters["cpu_us"] = seconds * 1e6 / static_cast<double>(state.iterations());
}
BENCHMARK(idle)->Iterations(3);

}  // namespace

BENCHMARK_MAIN();
