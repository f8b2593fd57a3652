// What the fixed-point solver costs: a claim, PageRank beside the same iteration written by hand, one worker against two,
// buckets against blocks where few coordinates are slow and where all are alike.
//
// PageRank runs on the votes of Wikipedia (wiki-Vote.txt of the Stanford collection), whose path is in POSSET_WIKI_VOTE;
// without it on a random graph of the same size. Every solver checks its own answer.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "sched/base/clock.h"
#include "sched/base/random.h"
#include "sched/fixpoint/residual_buckets.h"
#include "sched/fixpoint/solver.h"
#include "sched/fixpoint/static_blocks.h"

using namespace posset::sched;
using namespace posset::sched::fixpoint;

namespace {

// Rows one after the other: x_i = sum of weight * x[column] + constant.
struct Sparse {
  std::vector<size_t> begins{0};
  std::vector<uint32_t> columns;
  std::vector<double> weights;
  double constant = 1;

  size_t n() const { return begins.size() - 1; }
  void end_row() { begins.push_back(columns.size()); }
  void add(size_t column, double weight) {
    columns.push_back(static_cast<uint32_t>(column));
    weights.push_back(weight);
  }
  template <class X>
  double at(size_t i, const X& x) const {
    double sum = constant;
    for (size_t k = begins[i]; k < begins[i + 1]; ++k) sum += weights[k] * x[columns[k]];
    return sum;
  }
};

using Edges = std::vector<std::pair<uint32_t, uint32_t>>;

// Numbers nodes in the order they are met.
Edges read_edges(const char* path) {
  Edges edges;
  std::map<uint32_t, uint32_t> numbers;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    uint32_t from, to;
    if (line[0] == '#' || !(std::istringstream(line) >> from >> to)) continue;
    const auto number = [&numbers](uint32_t name) {
      return numbers.try_emplace(name, static_cast<uint32_t>(numbers.size())).first->second;
    };
    const uint32_t first = number(from);
    edges.push_back({first, number(to)});
  }
  return edges;
}

Edges random_edges(uint32_t nodes, size_t count) {
  Random random(1);
  Edges edges;
  while (edges.size() < count) {
    edges.push_back({static_cast<uint32_t>(random.below(nodes)), static_cast<uint32_t>(random.below(nodes))});
  }
  return edges;
}

// x_i = 0.15 + 0.85 * sum over the votes for i of x_j / (votes of j).
Sparse make_pagerank() {
  const char* path = std::getenv("POSSET_WIKI_VOTE");
  Edges edges = path ? read_edges(path) : Edges();
  if (edges.empty()) edges = random_edges(7115, 103'689);
  uint32_t nodes = 0;
  for (const auto& [from, to] : edges) nodes = std::max({nodes, from + 1, to + 1});
  std::vector<double> votes(nodes);
  for (const auto& [from, to] : edges) ++votes[from];
  std::sort(edges.begin(), edges.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  Sparse system;
  system.constant = 0.15;
  size_t at = 0;
  for (uint32_t node = 0; node < nodes; ++node) {
    for (; at < edges.size() && edges[at].second == node; ++at) system.add(edges[at].first, 0.85 / votes[edges[at].first]);
    system.end_row();
  }
  return system;
}

// Four neighbours at random distances, a contraction by 0.9.
Sparse make_large() {
  Random random(2);
  Sparse system;
  constexpr size_t n = 1'000'000;
  for (size_t i = 0; i < n; ++i) {
    for (int k = 0; k < 4; ++k) system.add((i + random.below(1000)) % n, 0.225);
    system.end_row();
  }
  return system;
}

// One coordinate in `every` belongs to a slow group; the others are quick. every = 1: all alike.
Sparse make_skewed(size_t every) {
  Random random(3);
  Sparse system;
  constexpr size_t n = 20'000;
  for (size_t i = 0; i < n; ++i) {
    const bool slow = i % every == 0;
    for (int k = 0; k < 16; ++k) system.add(slow ? random.below(n / every) * every : random.below(n), (slow ? 0.99 : 0.3) / 16);
    system.end_row();
  }
  return system;
}

double residual(const Sparse& system, const std::vector<double>& x) {
  double largest = 0;
  for (size_t i = 0; i < system.n(); ++i) largest = std::max(largest, std::abs(system.at(i, x) - x[i]));
  return largest;
}

constexpr double kTolerance = 1e-8;

void check(benchmark::State& state, const Sparse& system, const std::vector<double>& x) {
  if (!(residual(system, x) <= kTolerance)) state.SkipWithError("not solved");
}

// The least that solves it asynchronously, as somebody would write it: sweeps until one changed nothing by more than
// the tolerance. One thread, atomic reads and writes.
void by_hand(benchmark::State& state, const Sparse& system) {
  std::vector<double> x;
  for (auto _ : state) {
    x.assign(system.n(), 0);
    Iterate live(x);
    for (double largest = 1; largest > kTolerance;) {
      largest = 0;
      for (size_t i = 0; i < system.n(); ++i) {
        const double next = system.at(i, live);
        largest = std::max(largest, std::abs(next - live[i]));
        std::atomic_ref<double>(x[i]).store(next, std::memory_order_relaxed);
      }
    }
  }
  check(state, system, x);
}

void by_solver(benchmark::State& state, const Sparse& system, Schedule schedule, size_t workers) {
  SystemClock clock;
  ThreadExecutor threads;
  FixpointSolver solver(clock, threads);
  const Problem problem{system.n(), [&system](size_t i, const Iterate& x) { return system.at(i, x); }};
  std::vector<double> x;
  SolveResult result;
  for (auto _ : state) {
    x.assign(system.n(), 0);
    result = solver.solve(problem, x, {.tolerance = kTolerance, .workers = workers, .schedule = schedule});
  }
  check(state, system, x);
  state.SetLabel(result.schedule);
  state.counters["updates"] = static_cast<double>(result.updates);
  state.counters["evaluations"] = static_cast<double>(result.evaluations);
  state.counters["rebuilds"] = static_cast<double>(result.rebuilds);
}

// One worker claims again and again from one large bucket.
template <class Schedule>
void claim(benchmark::State& state) {
  constexpr size_t n = 1 << 20;
  Schedule schedule;
  schedule.init(n, 1);
  const std::vector<double> residuals(n, 1.0);
  size_t k = n;
  for (auto _ : state) {
    if (++k > n) {
      state.PauseTiming();
      schedule.rebuild(residuals);
      schedule.next(0);
      k = 2;
      state.ResumeTiming();
    }
    benchmark::DoNotOptimize(schedule.next(0));
  }
}

void rebuild(benchmark::State& state) {
  const auto n = static_cast<size_t>(state.range(0));
  Random random(4);
  std::vector<double> residuals(n);
  for (double& r : residuals) r = std::ldexp(random.unit(), -static_cast<int>(random.below(40)));
  ResidualBuckets schedule;
  schedule.init(n, 1);
  for (auto _ : state) schedule.rebuild(residuals);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

const Sparse& pagerank() {
  static const Sparse system = make_pagerank();
  return system;
}
const Sparse& large() {
  static const Sparse system = make_large();
  return system;
}
const Sparse& skewed() {
  static const Sparse system = make_skewed(50);
  return system;
}
const Sparse& even() {
  static const Sparse system = make_skewed(1);
  return system;
}

BENCHMARK(claim<StaticBlocks>);
BENCHMARK(claim<ResidualBuckets>);
BENCHMARK(rebuild)->Arg(10'000)->Arg(1'000'000);

void pagerank_by_hand(benchmark::State& state) { by_hand(state, pagerank()); }
void pagerank_by_solver(benchmark::State& state) {
  by_solver(state, pagerank(), static_cast<Schedule>(state.range(0)), static_cast<size_t>(state.range(1)));
}
void large_by_solver(benchmark::State& state) { by_solver(state, large(), Schedule::Static, static_cast<size_t>(state.range(0))); }
void skewed_by_solver(benchmark::State& state) { by_solver(state, skewed(), static_cast<Schedule>(state.range(0)), 1); }
void even_by_solver(benchmark::State& state) { by_solver(state, even(), static_cast<Schedule>(state.range(0)), 1); }

// Schedules by number: 0 static, 1 residual, 2 auto; then workers.
BENCHMARK(pagerank_by_hand)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(pagerank_by_solver)->ArgsProduct({{0, 1, 2}, {1, 2}})->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(large_by_solver)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK(skewed_by_solver)->Arg(0)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(even_by_solver)->Arg(0)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
