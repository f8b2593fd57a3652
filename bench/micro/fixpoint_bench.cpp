// What the fixed-point solver costs: a claim, PageRank beside the same iteration written by hand, one worker against two,
// buckets against blocks where few coordinates are slow and where all are alike.
//
// Every solver checks its own answer. KINSOL takes part where it is installed.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>
#ifdef WITH_KINSOL
#include <kinsol/kinsol.h>
#include <nvector/nvector_serial.h>
#endif

#include "../common/sparse_systems.h"

#include "sched/base/clock.h"
#include "sched/base/random.h"
#include "sched/fixpoint/residual_buckets.h"
#include "sched/fixpoint/solver.h"
#include "sched/fixpoint/static_blocks.h"

using namespace posset::bench;
using namespace posset::sched;
using namespace posset::sched::fixpoint;

namespace {

constexpr double kTolerance = 1e-10;

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
  state.SetLabel(system.name);
}

// The same on several threads: each goes round in its block until all have said that their last round changed nothing;
// then a look at all residuals, and from the beginning if one is too large.
void by_hand_on_threads(benchmark::State& state, const Sparse& system) {
  struct alignas(128) Told {
    std::atomic<double> largest;
  };
  const auto count = static_cast<size_t>(state.range(0));
  std::vector<double> x;
  std::vector<Told> told(count);
  const auto go_round = [&](size_t number) {
    Iterate live(x);
    const size_t from = system.n() * number / count, to = system.n() * (number + 1) / count;
    const auto restless = [](const Told& each) { return each.largest.load(std::memory_order_relaxed) > kTolerance; };
    while (std::any_of(told.begin(), told.end(), restless)) {
      double largest = 0;
      for (size_t i = from; i < to; ++i) {
        const double next = system.at(i, live);
        largest = std::max(largest, std::abs(next - live[i]));
        std::atomic_ref<double>(x[i]).store(next, std::memory_order_relaxed);
      }
      told[number].largest.store(largest, std::memory_order_relaxed);
    }
  };
  for (auto _ : state) {
    x.assign(system.n(), 0);
    do {
      for (Told& each : told) each.largest.store(1);
      std::vector<std::thread> threads;
      for (size_t number = 1; number < count; ++number) threads.emplace_back(go_round, number);
      go_round(0);
      for (std::thread& thread : threads) thread.join();
    } while (residual(system, x) > kTolerance);
  }
  check(state, system, x);
  state.SetLabel(system.name);
}

// As a host's solve: where the schedule is left open, by what updates take.
template <class F>
void by_solver(benchmark::State& state, const Sparse& system, const F& f, Schedule schedule, size_t workers) {
  SystemClock clock;
  ThreadExecutor threads;
  FixpointSolver solver(clock, threads);
  const Problem problem{system.n(), f, run_of(f)};
  std::vector<double> x;
  SolveResult result;
  for (auto _ : state) {
    x.assign(system.n(), 0);
    result = solver.solve(problem, x, {.tolerance = kTolerance, .workers = workers, .schedule = schedule, .timed = true});
  }
  check(state, system, x);
  state.SetLabel(system.name.empty() ? result.schedule : system.name + ", " + result.schedule);
  state.counters["updates"] = static_cast<double>(result.updates);
  state.counters["evaluations"] = static_cast<double>(result.evaluations);
  state.counters["rebuilds"] = static_cast<double>(result.rebuilds);
}

auto row_of(const Sparse& system) {
  return [&system](size_t i, const Iterate& x) { return system.at(i, x); };
}
// Some 100 ns more for each evaluation, and the same value.
auto dear_row_of(const Sparse& system) {
  return [&system](size_t i, const Iterate& x) {
    double value = system.at(i, x);
    for (int k = 0; k < 8; ++k) value += 1e-300 * std::cos(value + k);
    return value;
  };
}

#ifdef WITH_KINSOL
// KINSOL's fixed-point iteration on one thread: all coordinates from the vector before (Jacobi), with `depth` vectors of
// Anderson acceleration.
class Kinsol {
 public:
  Kinsol(const Sparse& system, long depth) : system_(system) {
    SUNContext_Create(nullptr, &context_);
    x_ = N_VNew_Serial(static_cast<sunindextype>(system.n()), context_);
    ones_ = N_VClone(x_);
    N_VConst(1, ones_);
    solver_ = KINCreate(context_);
    KINSetMAA(solver_, depth);
    KINInit(solver_, evaluate, x_);
    KINSetUserData(solver_, this);
    KINSetFuncNormTol(solver_, kTolerance);
    KINSetNumMaxIters(solver_, 100'000);
  }
  ~Kinsol() {
    KINFree(&solver_);
    N_VDestroy(ones_);
    N_VDestroy(x_);
    SUNContext_Free(&context_);
  }
  Kinsol(const Kinsol&) = delete;
  Kinsol& operator=(const Kinsol&) = delete;

  // False: it gave up.
  bool solve() {
    N_VConst(0, x_);
    return KINSol(solver_, x_, KIN_FP, ones_, ones_) >= 0;
  }
  std::vector<double> solution() const {
    const double* x = N_VGetArrayPointer(x_);
    return {x, x + system_.n()};
  }
  uint64_t evaluations() const { return sweeps_ * system_.n(); }
  void reset() { sweeps_ = 0; }

 private:
  static int evaluate(N_Vector x, N_Vector out, void* data) {
    auto& self = *static_cast<Kinsol*>(data);
    const double* from = N_VGetArrayPointer(x);
    double* to = N_VGetArrayPointer(out);
    for (size_t i = 0; i < self.system_.n(); ++i) to[i] = self.system_.at(i, from);
    ++self.sweeps_;
    return 0;
  }

  const Sparse& system_;
  SUNContext context_ = nullptr;
  N_Vector x_ = nullptr, ones_ = nullptr;
  void* solver_ = nullptr;
  uint64_t sweeps_ = 0;
};

void by_kinsol(benchmark::State& state, const Sparse& system) {
  Kinsol kinsol(system, state.range(0));
  for (auto _ : state) {
    kinsol.reset();
    if (!kinsol.solve()) return state.SkipWithError("given up");
  }
  // Its test is of the vector before the last sweep, whose residual is larger.
  check(state, system, kinsol.solution());
  state.counters["evaluations"] = static_cast<double>(kinsol.evaluations());
}
#endif

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

BENCHMARK(claim<StaticBlocks>);
BENCHMARK(claim<ResidualBuckets>);
BENCHMARK(rebuild)->Arg(10'000)->Arg(1'000'000);

void pagerank_by_hand(benchmark::State& state) { by_hand(state, pagerank()); }
void pagerank_by_solver(benchmark::State& state) {
  by_solver(state, pagerank(), row_of(pagerank()), static_cast<Schedule>(state.range(0)), static_cast<size_t>(state.range(1)));
}
void large_by_solver(benchmark::State& state) { by_solver(state, large(), row_of(large()), Schedule::Static, static_cast<size_t>(state.range(0))); }
void skewed_by_solver(benchmark::State& state) {
  const Sparse system = make_skewed(static_cast<size_t>(state.range(1)));
  by_solver(state, system, row_of(system), static_cast<Schedule>(state.range(0)), 1);
}
void dear_skewed_by_solver(benchmark::State& state) {
  const Sparse system = make_skewed(static_cast<size_t>(state.range(1)));
  by_solver(state, system, dear_row_of(system), static_cast<Schedule>(state.range(0)), 1);
}
void pagerank_by_hand_on_threads(benchmark::State& state) { by_hand_on_threads(state, pagerank()); }
void large_by_hand_on_threads(benchmark::State& state) { by_hand_on_threads(state, large()); }
#ifdef WITH_KINSOL
void pagerank_by_kinsol(benchmark::State& state) { by_kinsol(state, pagerank()); }
void large_by_kinsol(benchmark::State& state) { by_kinsol(state, large()); }
// Vectors of acceleration.
BENCHMARK(pagerank_by_kinsol)->Arg(0)->Arg(3)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(large_by_kinsol)->Arg(0)->Arg(3)->UseRealTime()->Unit(benchmark::kMillisecond)->Iterations(1);
#endif

// Schedules by number: 0 static, 1 residual, 2 auto; then workers.
BENCHMARK(pagerank_by_hand)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(pagerank_by_hand_on_threads)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(pagerank_by_solver)->ArgsProduct({{0, 1, 2}, {1, 2}})->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(large_by_hand_on_threads)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK(large_by_solver)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond)->Iterations(1);
// One coordinate in so many is slow: all alike, skewed, very skewed.
BENCHMARK(skewed_by_solver)->ArgsProduct({{0, 1, 2}, {1, 50, 1000}})->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(dear_skewed_by_solver)->ArgsProduct({{0, 1, 2}, {50, 1000}})->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
