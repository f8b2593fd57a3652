// How soon an interruption from another thread ends what a context is doing: every function that is built in with large
// arguments of every kind, and every operator (every_call.h). Those calls count which still run when the wish comes, after a
// while that differs each time; the slowest are tried more often. The time of the benchmark is that of the worst.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include <posset/posset.h>

#include "every_call.h"

namespace {

using Clock = std::chrono::steady_clock;

// Interrupts a context when it is told to, on a thread of its own.
class Interrupter {
 public:
  explicit Interrupter(posset_context* context) : context_(context), thread_([this] { run(); }) {}
  ~Interrupter() {
    arm(-1);
    thread_.join();
  }
  void arm(int after_us) {
    const std::lock_guard lock(mutex_);
    after_us_ = after_us;
    wished_ = {};
    armed_ = true;
    wake_.notify_one();
  }
  // When it was; nothing, when it has not come to it.
  Clock::time_point disarm() {
    const std::lock_guard lock(mutex_);
    armed_ = false;
    wake_.notify_one();
    return wished_;
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return armed_; });
      if (after_us_ < 0) return;
      if (wake_.wait_for(lock, std::chrono::microseconds(after_us_), [this] { return !armed_; })) continue;
      wished_ = Clock::now();
      posset_interrupt(context_);
      armed_ = false;
    }
  }
  posset_context* const context_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool armed_ = false;
  int after_us_ = 0;
  Clock::time_point wished_{};
  std::thread thread_;
};

struct Run {
  const every_call::Call* call;
  double ms;  // from the wish to the end; negative: it had ended before
};

void drop_error(posset_context* context) {
  if (posset_error* error = posset_take_error(context)) posset_error_free(error);
}

double latency(posset_context* context, Interrupter& other, const every_call::Call& call, int after_us) {
  posset_value function = posset_nil(), result = posset_nil();
  if (!every_call::prepare(context, call, function)) {
    drop_error(context);
    return -1;
  }
  other.arm(after_us);
  const posset_status status = posset_invoke(context, function, nullptr, 0, &result);
  const Clock::time_point end = Clock::now();
  const Clock::time_point wished = other.disarm();
  if (status == POSSET_RAISED) drop_error(context);
  posset_release(result);
  posset_release(function);
  posset_eval(context, posset_text_of("1"), nullptr, nullptr);  // takes an interruption that came too late
  drop_error(context);
  if (wished == Clock::time_point{} || wished > end) return -1;
  return std::chrono::duration<double, std::milli>(end - wished).count();
}

// Interrupted before it begins it does not come to an end by itself, or is long in doing so. Of others, some are tried all the
// same.
constexpr int kSample = 50;
bool has_much_to_do(posset_context* context, const every_call::Call& call) {
  posset_value function = posset_nil(), result = posset_nil();
  if (!every_call::prepare(context, call, function)) {
    drop_error(context);
    return false;
  }
  posset_interrupt(context);
  const Clock::time_point begin = Clock::now();
  const posset_status status = posset_invoke(context, function, nullptr, 0, &result);
  bool much = Clock::now() - begin > std::chrono::milliseconds(2);
  if (status == POSSET_RAISED) {
    posset_error* error = posset_take_error(context);
    posset_error_info info = {};
    info.size = sizeof info;
    much = much || (posset_error_get(error, &info) == POSSET_OK && info.is_interrupt);
    posset_error_free(error);
  }
  posset_release(result);
  posset_release(function);
  return much;
}

void BM_interrupt_every_call(benchmark::State& state) {
  posset_runtime* runtime = nullptr;
  posset_context* context = nullptr;
  if (posset_default_runtime(nullptr, &runtime) != POSSET_OK || posset_context_create(runtime, nullptr, &context) != POSSET_OK ||
      !every_call::give(context))
    std::abort();
  for (auto _ : state) {
    std::vector<std::string> names;
    const std::vector<every_call::Call> calls = every_call::make(runtime, names);
    std::vector<Run> runs;
    {
      Interrupter other(context);
      for (const every_call::Call& call : calls) {
        if (!has_much_to_do(context, call) && std::rand() % kSample != 0) continue;
        const double ms = latency(context, other, call, 500 + std::rand() % 4000);
        if (ms >= 0) runs.push_back({&call, ms});
      }
      const auto slower = [](const Run& a, const Run& b) { return a.ms > b.ms; };
      std::sort(runs.begin(), runs.end(), slower);
      constexpr size_t kSlowest = 60;
      for (size_t i = 0; i < std::min(kSlowest, runs.size()); ++i) {
        double least = runs[i].ms, most = -1;
        for (int round = 0; round < 8; ++round) {
          const double ms = latency(context, other, *runs[i].call, 300 + std::rand() % 20000);
          if (ms >= 0) least = std::min(least, ms), most = std::max(most, ms);
        }
        runs[i].ms = most < 0 ? least : most;
      }
      std::sort(runs.begin(), runs.end(), slower);
    }
    for (size_t i = 0; i < std::min<size_t>(25, runs.size()); ++i)
      std::fprintf(stderr, "%8.3f ms  %s\n", runs[i].ms, runs[i].call->text.c_str());
    if (runs.empty()) std::abort();
    state.SetIterationTime(runs[0].ms / 1000);
    state.SetLabel(runs[0].call->text.substr(0, 60));
    state.counters["calls"] = static_cast<double>(calls.size());
    state.counters["interrupted"] = static_cast<double>(runs.size());
    state.counters["worst_ms"] = runs[0].ms;
  }
  posset_context_release(context);
  posset_runtime_release(runtime);
}
BENCHMARK(BM_interrupt_every_call)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
