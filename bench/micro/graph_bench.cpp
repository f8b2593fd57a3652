// The graph scheduler on one thread: what a message costs through a pipeline of three nodes, for a plain number, for a
// counted value of 16 bytes and for a string; a turn; how long something for control waits under a flood, at its
// 99th percentile; and the processor time of a graph that has nothing to do.
#include <algorithm>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "sched/graph/runtime.h"

using namespace posset::sched;
using namespace posset::sched::graph;

namespace {

// What a language's values are like: 16 bytes, counted.
struct Counted {
  explicit Counted(int64_t* c) : count(c) { ++*count; }
  Counted(const Counted& other) : tag(other.tag), count(other.count) { ++*count; }
  Counted(Counted&& other) noexcept : tag(other.tag), count(std::exchange(other.count, nullptr)) {}
  ~Counted() {
    if (count) --*count;
  }
  int64_t tag = 1;
  int64_t* count;
};

int64_t objects = 0;

template <class T>
T item();
template <>
int item<int>() { return 1; }
template <>
Counted item<Counted>() { return Counted(&objects); }
template <>
std::string item<std::string>() { return "a short text"; }

template <class T>
struct Source : Node {
  explicit Source(int64_t n) : left(n) {}
  void on_start(Activation& a) override { a.again(); }
  void on_tick(Activation& a) override {
    while (left > 0) {
      --left;
      if (a.emit<T>(0, item<T>()) == PutResult::Blocked) break;
    }
    if (left > 0) a.again();
  }
  int64_t left;
};
struct Pass : Node {
  void on_message(Activation& a, PortId, Message& m) override { a.emit(0, std::move(m)); }
};
struct Sink : Node {
  Sink(GraphRuntime& g, int64_t n) : graph(g), left(n) {}
  void on_message(Activation&, PortId, Message&) override {
    if (--left == 0) graph.shutdown();
  }
  GraphRuntime& graph;
  int64_t left;
};

constexpr int64_t kMessages = 200'000;

// Messages that go the whole way, of so much capacity.
template <class T>
void pipeline(benchmark::State& state) {
  SystemClock clock;
  for (auto _ : state) {
    GraphRuntime graph(clock);
    graph.add("source", std::make_shared<Source<T>>(kMessages), {.outputs = {port<T>("out")}});
    graph.add("pass", std::make_shared<Pass>(), {.inputs = {port<T>("in")}, .outputs = {port<T>("out")}});
    auto sink = std::make_shared<Sink>(graph, kMessages);
    graph.add("sink", sink, {.inputs = {port<T>("in")}});
    graph.connect("source:out", "pass:in", {.capacity = state.range(0)});
    graph.connect("pass:out", "sink:in", {.capacity = state.range(0)});
    graph.run();
    if (sink->left != 0) state.SkipWithError("messages were lost");
  }
  state.SetItemsProcessed(state.iterations() * kMessages);
}

// A turn with one message, of a node that sends to itself.
void turn(benchmark::State& state) {
  struct Self : Node {
    Self(GraphRuntime& g, int64_t n) : graph(g), left(n) {}
    void on_start(Activation& a) override { a.emit<int>(0, 1); }
    void on_message(Activation& a, PortId, Message& m) override {
      if (--left == 0) graph.shutdown();
      a.emit(0, std::move(m));
    }
    GraphRuntime& graph;
    int64_t left;
  };
  SystemClock clock;
  for (auto _ : state) {
    GraphRuntime graph(clock, nullptr, {.max_batch = 1, .shutdown_timeout_ns = 0});
    graph.add("self", std::make_shared<Self>(graph, kMessages), {.inputs = {port<int>("in")}, .outputs = {port<int>("out")}});
    graph.connect("self:out", "self:in");
    graph.run();
  }
  state.SetItemsProcessed(state.iterations() * kMessages);
}

// From a put on another thread to on_message, while three nodes are flooded with handlers of about a microsecond.
void control_p99(benchmark::State& state) {
  struct Busy : Node {
    void on_start(Activation& a) override {
      for (int i = 0; i < 16; ++i) a.emit<int>(0, 1);
    }
    void on_message(Activation& a, PortId, Message& m) override {
      for (int i = 0; i < 2000; ++i) benchmark::DoNotOptimize(i);
      a.emit(0, std::move(m));
    }
  };
  struct Switch : Node {
    std::vector<int64_t> waits_ns;
    std::atomic<size_t> seen{0};
    void on_message(Activation& a, PortId, Message& m) override {
      waits_ns.push_back(a.now_ns() - m.get<int64_t>());
      seen.store(waits_ns.size(), std::memory_order_release);
    }
  };
  SystemClock clock;
  GraphRuntime graph(clock, nullptr, {.shutdown_timeout_ns = kMillisecond});
  for (int i = 0; i < 3; ++i) {
    const std::string name = "busy" + std::to_string(i);
    graph.add(name, std::make_shared<Busy>(), {.inputs = {port<int>("in")}, .outputs = {port<int>("out")}});
    graph.connect(name + ":out", name + ":in", {.priority = i});
  }
  auto control = std::make_shared<Switch>();
  graph.add("control", control, {.inputs = {port<int64_t>("in")}});
  graph.input("switch", "control:in", {.priority = 3});
  const EdgeId input = graph.find_input("switch");
  std::thread loop([&graph] { graph.run(); });
  for (auto _ : state) {
    const size_t before = control->seen.load(std::memory_order_acquire);
    graph.put<int64_t>(input, clock.now_ns());
    while (control->seen.load(std::memory_order_acquire) == before) std::this_thread::yield();
  }
  graph.shutdown();
  loop.join();
  std::sort(control->waits_ns.begin(), control->waits_ns.end());
  if (!control->waits_ns.empty()) state.counters["p99_us"] = static_cast<double>(control->waits_ns[control->waits_ns.size() * 99 / 100]) / 1e3;
}

// Processor time of the loop's thread in a hundredth of a second without work, its start and end included.
void idle_cpu(benchmark::State& state) {
  SystemClock clock;
  int64_t used_ns = 0;
  for (auto _ : state) {
    GraphRuntime graph(clock);
    graph.add("a", std::make_shared<Node>(), {});
    std::thread loop([&] {
      graph.run();
      timespec time{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
      used_ns += time.tv_sec * kSecond + time.tv_nsec;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    graph.shutdown();
    loop.join();
  }
  state.counters["cpu_us"] = static_cast<double>(used_ns) / 1e3 / static_cast<double>(state.iterations());
}

BENCHMARK(pipeline<int>)->Arg(8)->Arg(1024)->UseRealTime();
BENCHMARK(pipeline<Counted>)->Arg(1024)->UseRealTime();
BENCHMARK(pipeline<std::string>)->Arg(1024)->UseRealTime();
BENCHMARK(turn)->UseRealTime();
BENCHMARK(control_p99)->UseRealTime();
BENCHMARK(idle_cpu)->Iterations(20)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
