// What an interactive user feels while much is compiled: short evaluations, as a prompt makes them, in one
// context while another thread's context heats 200 functions, so that their compilations run in the background
// all the time. "compiling" does so with tier 1, "walking" with compilation switched off; the work of the other
// thread is the same. Reported is the 99th percentile of one evaluation in nanoseconds.
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

void evaluate(benchmark::State& state, int max_tier) {
  posset_runtime_options options = posset_runtime_defaults();
  options.max_tier = max_tier;
  posset_runtime* runtime = nullptr;
  posset_default_runtime(&options, &runtime);
  std::atomic<bool> stop{false};
  std::thread other([&] { heat(runtime, stop); });
  posset_context* context = make_context(runtime);
  std::vector<int64_t> took;
  int64_t n = 0;
  for (auto _ : state) {
    std::string input = "let x" + std::to_string(n % 100) + " = [1, 2, 3].map(v => v * " + std::to_string(n) + ")\nx" +
                        std::to_string(n % 100) + "[1]";
    ++n;
    auto begin = std::chrono::steady_clock::now();
    posset_eval(context, text(input), nullptr, nullptr);
    took.push_back((std::chrono::steady_clock::now() - begin).count());
  }
  stop = true;
  other.join();
  drop_context(context);
  posset_runtime_release(runtime);
  std::sort(took.begin(), took.end());
  state.counters["p50_ns"] = static_cast<double>(took[took.size() / 2]);
  state.counters["p99_ns"] = static_cast<double>(took[took.size() * 99 / 100]);
}

void compiling(benchmark::State& state) { evaluate(state, 1); }
void walking(benchmark::State& state) { evaluate(state, 0); }

BENCHMARK(compiling)->Iterations(20000)->UseRealTime();
BENCHMARK(walking)->Iterations(20000)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
