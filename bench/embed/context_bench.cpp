// What contexts cost, and how soon an interruption acts. `live` makes many contexts and holds them: the counter says
// bytes of the process for each. `interrupt` interrupts a built-in that has much to do, from another thread: the
// time of a round is from the wish to the end of the evaluation.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include <posset/posset.hpp>

namespace {

const posset::ContextOptions kLimits = {.memory_limit = 64 << 20, .time_limit_seconds = 10, .step_limit = 1'000'000};

void BM_context(benchmark::State& state) {
  posset::Runtime runtime;
  uint64_t used = 0;
  for (auto _ : state) {
    posset::Context context(runtime, kLimits);
    used = context.statistics().peak_bytes;
  }
  state.counters["heap_bytes"] = static_cast<double>(used);
}
BENCHMARK(BM_context);

void BM_context_that_evaluates(benchmark::State& state) {
  posset::Runtime runtime;
  for (auto _ : state) {
    posset::Context context(runtime, kLimits);
    if (context.eval<int>("1 + 2 * 3") != 7) std::abort();
  }
}
BENCHMARK(BM_context_that_evaluates);

double resident_bytes() {
  long pages = 0, resident = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return static_cast<double>(resident) * 4096;
}

void BM_live_contexts(benchmark::State& state) {
  for (auto _ : state) {
    posset::Runtime runtime;
    const double before = resident_bytes();
    std::vector<std::unique_ptr<posset::Context>> all;
    for (int64_t i = 0; i < state.range(0); ++i) {
      all.push_back(std::make_unique<posset::Context>(runtime, kLimits));
      if (all.back()->eval<int64_t>("let xs = [1, 2, 3]\nsum(xs)") != 6) std::abort();
    }
    state.counters["bytes_each"] = (resident_bytes() - before) / static_cast<double>(state.range(0));
  }
}
BENCHMARK(BM_live_contexts)->Arg(1000)->Arg(10000)->Iterations(1)->Unit(benchmark::kMillisecond);

// Each takes far longer than it is given.
const char* const kBusy[] = {
    "while true { }",
    "let xs = [for i in 0..3000000 => (i * 7919) % 1000003]\nwhile true { sort(xs) }",
    "while true { sum([for i in 0..100000000 => i]) }",
    "let xs = fill(20000000, 1.5)\nwhile true { xs == xs }",
    "let s = \"ab\" |> list |> (xs => join([for i in 0..2000000 => xs[i % 2]]))\nwhile true { split(s, \"a\") }",
    "import \"json\"\nlet xs = [for i in 0..300000 => i]\nwhile true { json.decode(json.encode(xs)) }",
    "import \"re\"\nlet s = join([for i in 0..1000000 => \"ab\"])\nwhile true { re.find_all(s, \"(a|b)+c\") }",
    "import \"strings\"\nwhile true { strings.repeat(\"abc\", 5000000) }",
    "let m = map_of([for i in 0..300000 => [i, i]])\nwhile true { str(m) }",
    "reduce(0..100000000000, (a, b) => b)",
    "flat_map(0..100000000, x => [x, x])",
};

void BM_interrupt(benchmark::State& state) {
  posset::Runtime runtime;
  posset::Context context(runtime, {.memory_limit = uint64_t{2} << 30});
  const char* source = kBusy[state.range(0)];
  state.SetLabel(std::string(source).substr(0, 40));
  double worst = 0;
  for (auto _ : state) {
    std::chrono::steady_clock::time_point wished;
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(150 + std::rand() % 300));
      wished = std::chrono::steady_clock::now();
      context.interrupt();
    });
    const bool ended = !context.try_eval(source).ok();
    const auto end = std::chrono::steady_clock::now();
    other.join();
    if (!ended) state.SkipWithError("it ended by itself");
    const double took = std::chrono::duration<double>(end - wished).count();
    worst = std::max(worst, took);
    state.SetIterationTime(took);
  }
  state.counters["worst_ms"] = worst * 1000;
}
BENCHMARK(BM_interrupt)->DenseRange(0, std::size(kBusy) - 1)->Iterations(5)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
