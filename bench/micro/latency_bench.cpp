// What an interactive user feels while much is compiled. Short evaluations, as a prompt makes them, are timed one
// by one, with tier 1 ("compiling") and with compilation switched off ("walking"). In the "burst" cases 200
// functions have just become hot, so that the queue of the compiler is full while the evaluations are made. In
// the "busy" cases another thread with a context of its own goes on heating functions as well, so that on two
// cores three threads want to run. "beside" is a control: nothing is compiled, and a thread that shares nothing with
// the evaluations computes; what it adds is the machine's share. Reported are percentiles of one evaluation in nanoseconds.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include <posset/posset.h>

namespace {

posset_text text(const std::string& s) { return posset_text_n(s.data(), s.size()); }

// 200 functions that nobody has seen before, each called twice.
std::string fresh_functions(int round) {
  std::string source;
  for (int i = 0; i < 200; ++i) {
    std::string n = std::to_string(round * 200 + i);
    source += "fn f" + n + "(x) { var t = x; for i in 0..3 { t += i * " + n + " }; if t > " + n + " { t } else { -t } }\n";
    source += "f" + n + "(1) + f" + n + "(2)\n";
  }
  return source;
}

posset_context* make_context(posset_runtime* runtime) {
  posset_context* context = nullptr;
  posset_context_create(runtime, nullptr, &context);
  return context;
}

void drop_context(posset_context* context) {
  posset_context_finish(context);
  posset_context_release(context);
}

void heat(posset_runtime* runtime, std::atomic<bool>& stop) {
  posset_context* context = make_context(runtime);
  for (int round = 0; !stop; ++round) {
    posset_eval(context, text(fresh_functions(round)), nullptr, nullptr);
    // A person reads what was printed; the machine is not to be busy with this thread alone.
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  drop_context(context);
}

struct Host {
  explicit Host(int max_tier) {
    posset_runtime_options options = posset_runtime_defaults();
    options.max_tier = max_tier;
    posset_default_runtime(&options, &runtime);
    context = make_context(runtime);
  }
  ~Host() {
    drop_context(context);
    posset_runtime_release(runtime);
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  posset_runtime* runtime = nullptr;
  posset_context* context = nullptr;
};

// The time of the n-th short evaluation.
int64_t evaluate_short(posset_context* context, int64_t n) {
  const std::string name = "x" + std::to_string(n % 100);
  const std::string input = "let " + name + " = [1, 2, 3].map(v => v * " + std::to_string(n) + ")\n" + name + "[1]";
  auto begin = std::chrono::steady_clock::now();
  posset_eval(context, text(input), nullptr, nullptr);
  return (std::chrono::steady_clock::now() - begin).count();
}

void report(benchmark::State& state, std::vector<int64_t>& took) {
  std::sort(took.begin(), took.end());
  state.counters["p50_ns"] = static_cast<double>(took[took.size() / 2]);
  state.counters["p99_ns"] = static_cast<double>(took[took.size() * 99 / 100]);
}

// The compiler needs some 3 ms for a burst; these evaluations take less.
constexpr int kEvaluationsInBurst = 100;

void burst(benchmark::State& state, int max_tier) {
  Host host(max_tier);
  std::vector<int64_t> took;
  int round = 0;
  int64_t n = 0;
  for (auto _ : state) {
    posset_eval(host.context, text(fresh_functions(round++)), nullptr, nullptr);
    for (int i = 0; i < kEvaluationsInBurst; ++i) took.push_back(evaluate_short(host.context, n++));
    posset_runtime_settle(host.runtime);
  }
  report(state, took);
}

// Evaluations while another thread runs meanwhile(host, stop).
template <class Meanwhile>
void evaluate_beside(benchmark::State& state, int max_tier, Meanwhile meanwhile) {
  Host host(max_tier);
  std::atomic<bool> stop{false};
  std::thread other([&] { meanwhile(host, stop); });
  std::vector<int64_t> took;
  int64_t n = 0;
  for (auto _ : state) took.push_back(evaluate_short(host.context, n++));
  stop = true;
  other.join();
  report(state, took);
}

void busy(benchmark::State& state, int max_tier) {
  evaluate_beside(state, max_tier, [](Host& host, std::atomic<bool>& stop) { heat(host.runtime, stop); });
}

void beside(benchmark::State& state) {
  evaluate_beside(state, 0, [](Host&, std::atomic<bool>& stop) {
    for (uint64_t i = 0; !stop.load(std::memory_order_relaxed); ++i) benchmark::DoNotOptimize(i * i);
  });
}

void burst_compiling(benchmark::State& state) { burst(state, 1); }
void burst_walking(benchmark::State& state) { burst(state, 0); }
void busy_compiling(benchmark::State& state) { busy(state, 1); }
void busy_walking(benchmark::State& state) { busy(state, 0); }

BENCHMARK(burst_compiling)->Iterations(200)->UseRealTime();
BENCHMARK(burst_walking)->Iterations(200)->UseRealTime();
BENCHMARK(busy_compiling)->Iterations(20000)->UseRealTime();
BENCHMARK(busy_walking)->Iterations(20000)->UseRealTime();
BENCHMARK(beside)->Iterations(20000)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
