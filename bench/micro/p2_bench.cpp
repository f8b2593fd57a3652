// What scheduling a compilation costs: the estimator, the queue's order, handing a task over, and the whole
// way through pool and arena beside a plain queue of one mutex and one condition variable, which is the least
// that hands work to another thread.
//
// "submit" measures what the evaluating thread pays, with the worker held; "round" hands over a batch of tasks
// that take about so many nanoseconds and waits for the last.
#include <atomic>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "baseline.h"
#include "sched/base/random.h"
#include "sched/p2/hybrid.h"

using namespace posset::bench;
using namespace posset::sched;

namespace {

HybridOptions one_thread() {
  return {.hardware = 2, .pool_threads = 1, .evaluation_threads = 1, .max_queue_size = size_t{1} << 22,
          .arena_after_ns = 0};
}


// Runs a task and waits until the arena is there. False: there is none.
bool open_arena(HybridScheduler& scheduler) {
  scheduler.try_submit({.run = [](TaskContext&) {}});
  while (scheduler.statistics().arena < ArenaState::Open) std::this_thread::yield();
  return scheduler.statistics().arena == ArenaState::Open;
}

// A runtime that never compiles in the background pays this.
void construct(benchmark::State& state) {
  SystemClock clock;
  for (auto _ : state) HybridScheduler scheduler(clock, nullptr);
}

void median_record(benchmark::State& state) {
  Random random(1);
  MedianEstimator estimator;
  for (auto _ : state) estimator.record(random.unit());
  benchmark::DoNotOptimize(estimator.median());
}

void tracker_record(benchmark::State& state) {
  RuntimeTracker tracker;
  uint64_t i = 0;
  for (auto _ : state) tracker.record({TaskKind::Eval, i++ % 1000}, 100);
}

void tracker_estimate(benchmark::State& state) {
  RuntimeTracker tracker;
  for (uint64_t i = 0; i < 10'000; ++i) tracker.record({TaskKind::Eval, i % 1000}, 100);
  uint64_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(tracker.estimate_ns({TaskKind::Eval, i++ % 1000}));
}

// A push and a pop with so many tasks in the queue.
void policy_push_pop(benchmark::State& state) {
  Random random(1);
  PriorityPolicy policy({.max_queue_size = size_t{1} << 22});
  int64_t now_ns = 0;
  auto push = [&] { policy.push({.estimate_s = random.unit(), .enqueued_ns = now_ns += 1000}); };
  for (int64_t i = 0; i < state.range(0); ++i) push();
  for (auto _ : state) {
    push();
    benchmark::DoNotOptimize(policy.pop(kCompileLane));
  }
}

// About so many nanoseconds of work; a bytecode compilation takes some thousands.
void work_for(int64_t ns) {
  for (int64_t i = 0; i < ns * 2; ++i) benchmark::DoNotOptimize(i);
}

void round_fifo(benchmark::State& state) {
  LockedQueue fifo;
  Batch batch;
  const int64_t ns = state.range(0);
  for (auto _ : state) {
    batch.begin();
    for (int i = 0; i < kBatch; ++i) fifo.submit([&batch, ns] { work_for(ns), batch.end_one(); });
    batch.wait();
  }
  state.SetItemsProcessed(state.iterations() * kBatch);
}

void round_through(benchmark::State& state, HybridScheduler& scheduler) {
  Batch batch;
  const int64_t ns = state.range(0);
  for (auto _ : state) {
    batch.begin();
    for (int i = 0; i < kBatch; ++i) {
      scheduler.try_submit({.run = [&batch, ns](TaskContext&) { work_for(ns), batch.end_one(); },
                            .type = {TaskKind::BytecodeCompile, 1}});
    }
    batch.wait();
  }
  state.SetItemsProcessed(state.iterations() * kBatch);
}

void round_pool(benchmark::State& state) {
  SystemClock clock;
  HybridScheduler scheduler(clock, nullptr, one_thread());
  auto one = scheduler.evaluating();
  auto two = scheduler.evaluating();
  round_through(state, scheduler);
}

void round_arena(benchmark::State& state) {
  SystemClock clock;
  HybridScheduler scheduler(clock, nullptr, one_thread());
  if (!open_arena(scheduler)) return state.SkipWithError("no libposset_arena.so");
  round_through(state, scheduler);
}

// Holds the worker in its first task until the end.
struct Hold {
  std::atomic<bool> held{false}, released{false};
  void operator()() {
    held.store(true);
    held.notify_all();
    released.wait(false);
  }
  void await() { held.wait(false); }
  void release() {
    released.store(true);
    released.notify_all();
  }
};

constexpr int kSubmits = 20'000;

void submit_fifo(benchmark::State& state) {
  Hold hold;
  Batch batch;
  LockedQueue fifo;
  fifo.submit([&hold] { hold(); });
  hold.await();
  for (auto _ : state) fifo.submit([&batch] { batch.end_one(); });
  hold.release();
}

void submit_to(benchmark::State& state, HybridScheduler& scheduler) {
  Hold hold;
  Batch batch;
  scheduler.try_submit({.run = [&hold](TaskContext&) { hold(); }});
  hold.await();
  for (auto _ : state) {
    scheduler.try_submit({.run = [&batch](TaskContext&) { batch.end_one(); }, .type = {TaskKind::BytecodeCompile, 1}});
  }
  hold.release();
  scheduler.stop(StopMode::Discard);
}

void submit_pool(benchmark::State& state) {
  SystemClock clock;
  HybridScheduler scheduler(clock, nullptr, one_thread());
  auto one = scheduler.evaluating();
  auto two = scheduler.evaluating();
  submit_to(state, scheduler);
}

void submit_arena(benchmark::State& state) {
  SystemClock clock;
  HybridScheduler scheduler(clock, nullptr, one_thread());
  if (!open_arena(scheduler)) return state.SkipWithError("no libposset_arena.so");
  submit_to(state, scheduler);
}

BENCHMARK(construct);
BENCHMARK(median_record);
BENCHMARK(tracker_record);
BENCHMARK(tracker_estimate);
BENCHMARK(policy_push_pop)->Arg(0)->Arg(64)->Arg(1024)->Arg(65'536);
BENCHMARK(round_fifo)->Arg(0)->Arg(1000)->Arg(5000)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK(round_pool)->Arg(0)->Arg(1000)->Arg(5000)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK(round_arena)->Arg(0)->Arg(1000)->Arg(5000)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK(submit_fifo)->Iterations(kSubmits)->UseRealTime();
BENCHMARK(submit_pool)->Iterations(kSubmits)->UseRealTime();
BENCHMARK(submit_arena)->Iterations(kSubmits)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
