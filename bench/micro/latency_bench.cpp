// What an interactive user feels while much is compiled. Short evaluations, as a prompt makes them, are timed one
// by one, with tier 1 ("compiling"), with compilation switched off ("walking"), and switched off while a thread of low
// importance that shares nothing with them computes ("beside"): what that adds is the machine's share, because processors
// share cores, clocks and caches; compiling without any cost to the evaluations would be as slow. In the "burst" cases
// 200 functions become hot, and are compiled, right before the evaluations. In the "session" cases every other evaluation
// makes a function hot. These are a session's and stay: what ends with its evaluation is not compiled. In the "busy"
// cases another thread with a context of its own goes on heating functions as well, so that on two cores three threads
// want to run. Reported are percentiles of one evaluation in nanoseconds.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include <posset/posset.h>

#include "sched/base/background.h"

namespace {

posset_text text(const std::string& s) { return posset_text_n(s.data(), s.size()); }

// A function that nobody has seen before, called twice.
std::string fresh_function(int number) {
  const std::string n = std::to_string(number);
  return "fn f" + n + "(x) { var t = x; for i in 0..3 { t += i * " + n + " }; if t > " + n + " { t } else { -t } }\n" + "f" +
         n + "(1) + f" + n + "(2)\n";
}

constexpr int kFunctions = 200;

std::string fresh_functions(int round) {
  std::string source;
  for (int i = 0; i < kFunctions; ++i) source += fresh_function(round * kFunctions + i);
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

// Like a person at a prompt: what is defined stays until the session is reset.
void define(posset_context* context, const std::string& functions) {
  posset_session_eval(context, text("<input>"), text(functions), nullptr, nullptr);
}

void heat(posset_runtime* runtime, std::atomic<bool>& stop) {
  posset_context* context = make_context(runtime);
  for (int round = 0; !stop; ++round) {
    define(context, fresh_functions(round));
    posset_session_reset(context);
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

enum class Mode { Walking, Compiling, Beside };

int max_tier(Mode mode) { return mode == Mode::Compiling ? 1 : 0; }

// Computes while `wanted`, scheduled as a compile thread is, and shares nothing with anybody.
class Neighbour {
 public:
  explicit Neighbour(Mode mode) {
    if (mode == Mode::Beside) thread_ = std::thread([this] { compute(); });
  }
  ~Neighbour() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

  void want(bool wanted) { wanted_ = wanted; }

 private:
  void compute() {
    posset::sched::Background background;
    const posset::sched::Background::Stay stay(background);
    for (uint64_t i = 0; !stop_.load(std::memory_order_relaxed); ++i) {
      if (!wanted_.load(std::memory_order_relaxed)) std::this_thread::sleep_for(std::chrono::microseconds(64));
      benchmark::DoNotOptimize(i * i);
    }
  }

  std::atomic<bool> wanted_{false};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

template <class Work>
int64_t time_of(Work work) {
  auto begin = std::chrono::steady_clock::now();
  work();
  return (std::chrono::steady_clock::now() - begin).count();
}

// The time of the n-th short evaluation.
int64_t evaluate_short(posset_context* context, int64_t n) {
  const std::string name = "x" + std::to_string(n % 100);
  const std::string input = "let " + name + " = [1, 2, 3].map(v => v * " + std::to_string(n) + ")\n" + name + "[1]";
  return time_of([&] { posset_eval(context, text(input), nullptr, nullptr); });
}

void report(benchmark::State& state, std::vector<int64_t>& took) {
  std::sort(took.begin(), took.end());
  state.counters["p50_ns"] = static_cast<double>(took[took.size() / 2]);
  state.counters["p99_ns"] = static_cast<double>(took[took.size() * 99 / 100]);
}

// `round` makes some evaluations and notes their times, in every iteration; compilations end between two.
template <class Round>
void in_rounds(benchmark::State& state, Mode mode, Round round) {
  Host host(max_tier(mode));
  Neighbour neighbour(mode);
  std::vector<int64_t> took;
  for (auto _ : state) {
    neighbour.want(true);
    round(host.context, took);
    neighbour.want(false);
    posset_runtime_settle(host.runtime);
    posset_session_reset(host.context);
  }
  report(state, took);
}

void burst(benchmark::State& state, Mode mode) {
  constexpr int kEvaluations = 100;
  int rounds = 0;
  int64_t n = 0;
  in_rounds(state, mode, [&](posset_context* context, std::vector<int64_t>& took) {
    define(context, fresh_functions(rounds++));
    for (int i = 0; i < kEvaluations; ++i) took.push_back(evaluate_short(context, n++));
  });
}

void session(benchmark::State& state, Mode mode) {
  int n = 0;
  in_rounds(state, mode, [&](posset_context* context, std::vector<int64_t>& took) {
    for (int i = 0; i < kFunctions; ++i) {
      took.push_back(time_of([&] { define(context, fresh_function(n)); }));
      took.push_back(evaluate_short(context, n++));
    }
  });
}

void busy(benchmark::State& state, Mode mode) {
  Host host(max_tier(mode));
  Neighbour neighbour(mode);
  neighbour.want(true);
  std::atomic<bool> stop{false};
  std::thread other([&] { heat(host.runtime, stop); });
  std::vector<int64_t> took;
  int64_t n = 0;
  for (auto _ : state) took.push_back(evaluate_short(host.context, n++));
  stop = true;
  other.join();
  report(state, took);
}

BENCHMARK_CAPTURE(burst, walking, Mode::Walking)->Iterations(200)->UseRealTime();
BENCHMARK_CAPTURE(burst, beside, Mode::Beside)->Iterations(200)->UseRealTime();
BENCHMARK_CAPTURE(burst, compiling, Mode::Compiling)->Iterations(200)->UseRealTime();
BENCHMARK_CAPTURE(session, walking, Mode::Walking)->Iterations(100)->UseRealTime();
BENCHMARK_CAPTURE(session, beside, Mode::Beside)->Iterations(100)->UseRealTime();
BENCHMARK_CAPTURE(session, compiling, Mode::Compiling)->Iterations(100)->UseRealTime();
BENCHMARK_CAPTURE(busy, walking, Mode::Walking)->Iterations(20000)->UseRealTime();
BENCHMARK_CAPTURE(busy, beside, Mode::Beside)->Iterations(20000)->UseRealTime();
BENCHMARK_CAPTURE(busy, compiling, Mode::Compiling)->Iterations(20000)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
