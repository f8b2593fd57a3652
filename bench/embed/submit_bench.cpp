// What it costs to have an evaluation done on another thread: one at a time, as a burst of many contexts, and many that wait at
// a time, which keep no thread meanwhile. The last against the time that each waits.
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include <posset/posset.hpp>

namespace {

class Guests {
 public:
  Guests(size_t count, std::string source) : runtime_({.queue_limit = 1 << 16}), source_(std::move(source)) {
    for (size_t i = 0; i < count; ++i) contexts_.emplace_back(runtime_);
  }
  // Each evaluates once; false: another value than that.
  bool run(int64_t value) {
    std::vector<posset::Future<int64_t>> futures;
    futures.reserve(contexts_.size());
    for (posset::Context& each : contexts_) futures.push_back(each.submit<int64_t>(source_));
    bool right = true;
    for (auto& each : futures) right = each.get() == value && right;
    return right;
  }

 private:
  posset::Runtime runtime_;
  const std::string source_;
  std::deque<posset::Context> contexts_;
};

void measure(benchmark::State& state, const std::string& source, int64_t value) {
  Guests guests(static_cast<size_t>(state.range(0)), source);
  guests.run(value);
  for (auto _ : state) {
    if (!guests.run(value)) return state.SkipWithError("another value");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void short_ones(benchmark::State& state) { measure(state, "let a = 6\na * 7", 42); }
void with_a_task(benchmark::State& state) { measure(state, "fn f(x) => x * 7\nawait spawn f(6)", 42); }
void that_wait_10_ms(benchmark::State& state) { measure(state, "import \"task\"\ntask.sleep(0.01)\n42", 42); }

BENCHMARK(short_ones)->Arg(1)->Arg(1000)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(with_a_task)->Arg(1)->Arg(1000)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(that_wait_10_ms)->Arg(1)->Arg(1000)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
