// What fixed points of scripts cost: PageRank and a system of 10^6 coordinates, with the operator a function of a script,
// beside the same asynchronous iteration written by hand in C++. Every solution is checked.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <posset/posset.hpp>

#include "../common/sparse_systems.h"

namespace {

using posset::bench::Sparse;

constexpr double kTolerance = 1e-10;

// The rows of a system as lists, in lets, as a script has them: what the host has set it may set again.
constexpr const char* kSolve = R"(
import "fixpoint"
let rows = columns
let factors = weights
fn row(i, x) {
  let at = rows[i]
  let by = factors[i]
  var total = constant
  for k in 0..len(at) { total += by[k] * x[at[k]] }
  total
}
fn solve(schedule, workers) =>
  fixpoint.solve(len(columns), row, {tolerance: 1e-10, schedule: schedule, workers: workers}).x
solve)";

// The same rows one after the other in two lists, as the loop by hand has them.
constexpr const char* kSolveFlat = R"(
import "fixpoint"
let all_columns = columns
let all_weights = weights
let rows = begins
fn row(i, x) {
  let at = all_columns
  let by = all_weights
  var total = constant
  for k in rows[i]..rows[i + 1] { total += by[k] * x[at[k]] }
  total
}
fn solve(schedule, workers) =>
  fixpoint.solve(len(rows) - 1, row, {tolerance: 1e-10, schedule: schedule, workers: workers}).x
solve)";

void set_flat_rows(posset::Context& context, const Sparse& system) {
  context.set("columns", std::vector<int64_t>(system.columns.begin(), system.columns.end()));
  context.set("weights", system.weights);
  context.set("begins", std::vector<int64_t>(system.begins.begin(), system.begins.end()));
  context.set("constant", system.constant);
}

// Each row in lists of its own.
struct Rows {
  explicit Rows(const Sparse& system) : columns(system.n()), weights(system.n()), constant(system.constant) {
    for (size_t i = 0; i < system.n(); ++i) {
      for (size_t k = system.begins[i]; k < system.begins[i + 1]; ++k) {
        columns[i].push_back(system.columns[k]);
        weights[i].push_back(system.weights[k]);
      }
    }
  }
  size_t n() const { return columns.size(); }
  template <class X>
  double at(size_t i, const X& x) const {
    double sum = constant;
    for (size_t k = 0; k < columns[i].size(); ++k) sum += weights[i][k] * x[static_cast<size_t>(columns[i][k])];
    return sum;
  }

  std::vector<std::vector<int64_t>> columns;
  std::vector<std::vector<double>> weights;
  double constant;
};

void set_rows(posset::Context& context, const Sparse& system) {
  const Rows rows(system);
  context.set("columns", rows.columns);
  context.set("weights", rows.weights);
  context.set("constant", rows.constant);
}

void by_script(benchmark::State& state, const Sparse& system, const std::string& schedule, int64_t workers, bool flat = false) {
  posset::Runtime runtime;
  posset::Context context(runtime);
  flat ? set_flat_rows(context, system) : set_rows(context, system);
  auto solve = context.compile<std::vector<double>(std::string, int64_t)>(flat ? kSolveFlat : kSolve);
  std::vector<double> x = solve(schedule, workers);  // compiled meanwhile
  for (auto _ : state) x = solve(schedule, workers);
  if (!(posset::bench::residual(system, x) <= kTolerance)) state.SkipWithError("not solved");
}

// As somebody would write it: sweeps in place until one changed nothing by more than the tolerance, then a look at all
// residuals. Reads and writes are atomic, as several workers would need.
template <class System>
void by_hand(benchmark::State& state, const Sparse& sparse, const System& system) {
  std::vector<double> x;
  struct Live {
    std::vector<double>& x;
    double operator[](size_t i) const { return std::atomic_ref<double>(x[i]).load(std::memory_order_relaxed); }
  };
  const Live live{x};
  for (auto _ : state) {
    x.assign(system.n(), 0);
    for (double largest = 1; largest > kTolerance;) {
      largest = 0;
      for (size_t i = 0; i < system.n(); ++i) {
        const double next = system.at(i, live);
        largest = std::max(largest, std::abs(next - live[i]));
        std::atomic_ref<double>(x[i]).store(next, std::memory_order_relaxed);
      }
    }
  }
  if (!(posset::bench::residual(sparse, x) <= kTolerance)) state.SkipWithError("not solved");
}

const Sparse& pagerank() {
  static const Sparse system = posset::bench::make_pagerank();
  return system;
}
const Sparse& large() {
  static const Sparse system = posset::bench::make_large();
  return system;
}

void pagerank_by_hand(benchmark::State& state) { by_hand(state, pagerank(), pagerank()); }
void pagerank_by_script(benchmark::State& state, const std::string& schedule) {
  by_script(state, pagerank(), schedule, state.range(0));
}
void pagerank_by_hand_in_rows(benchmark::State& state) { by_hand(state, pagerank(), Rows(pagerank())); }
void pagerank_by_flat_script(benchmark::State& state) { by_script(state, pagerank(), "static", 1, true); }
void large_by_hand(benchmark::State& state) { by_hand(state, large(), large()); }
void skewed_by_script(benchmark::State& state, const std::string& schedule) {
  by_script(state, posset::bench::make_skewed(static_cast<size_t>(state.range(0))), schedule, 1);
}
void large_by_script(benchmark::State& state) { by_script(state, large(), "static", state.range(0)); }

// Numbers: workers.
BENCHMARK(pagerank_by_hand)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(pagerank_by_hand_in_rows)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(pagerank_by_script, static, "static")->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(pagerank_by_script, residual, "residual")->Arg(1)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(pagerank_by_script, auto, "auto")->Arg(1)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(pagerank_by_flat_script)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(large_by_hand)->UseRealTime()->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK(large_by_script)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond)->Iterations(1);
// One coordinate in so many is slow: all alike, skewed, very skewed.
BENCHMARK_CAPTURE(skewed_by_script, static, "static")->Arg(1)->Arg(50)->Arg(1000)->UseRealTime()->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(skewed_by_script, residual, "residual")->Arg(1)->Arg(50)->Arg(1000)->UseRealTime()->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(skewed_by_script, auto, "auto")->Arg(1)->Arg(50)->Arg(1000)->UseRealTime()->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace

BENCHMARK_MAIN();
