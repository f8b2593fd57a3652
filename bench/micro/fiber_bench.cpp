// What fibers cost: a switch against Boost.Context alone; scheduling and running an empty task against a queue of one mutex
// and one condition variable, which is the least that hands work to another thread, and against oneTBB's task_group where
// it is installed; a hand-over through a channel; as many tasks as workers, all at once, empty ones and such as take 10 ms.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include <benchmark/benchmark.h>
#include <boost/context/fiber.hpp>

#include "baseline.h"
#include "sched/fiber/channel.h"
#include "sched/fiber/context.h"
#include "sched/fiber/event.h"
#include "sched/fiber/executors.h"

using namespace posset::bench;
using namespace posset::sched;
using namespace posset::sched::fiber;

namespace {

// A benchmark that got the wrong answer measured nothing.
void check(bool right) {
  if (!right) std::abort();
}

// ---- a switch there and back ----

void switch_boost(benchmark::State& state) {
  namespace context = boost::context;
  context::fiber other([](context::fiber&& back) {
    for (;;) back = std::move(back).resume();
    return std::move(back);
  });
  for (auto _ : state) other = std::move(other).resume();
}

struct PingPong {
  Context main;
  Context* other = nullptr;
  bool end = false;
};

void switch_context(benchmark::State& state) {
  PingPong both;
  Context other(std::make_unique<posset::sched::NativeStack>(64 << 10), [](void* argument) {
    PingPong& pair = *static_cast<PingPong*>(argument);
    while (!pair.end) pair.other->switch_to(pair.main);
  }, &both);
  both.other = &other;
  for (auto _ : state) both.main.switch_to(other);
  both.end = true;
  both.main.switch_to(other);
}

// Two fibers of a worker that give way to each other, through its rules and its mutex.
void switch_preempted(benchmark::State& state) {
  SystemClock clock;
  Executors executors(clock);
  check(executors.bind());
  std::atomic<bool> end{false};
  for (int i = 0; i < 2; ++i) {
    executors.schedule([&] {
      while (!end) this_fiber::yield_preempted();
    });
  }
  for (auto _ : state) this_fiber::yield_preempted();
  end = true;
  check(executors.unbind());
  state.SetItemsProcessed(state.iterations() * 3);  // this thread and both go once round
}

// ---- schedule and run an empty task ----

void empty_locked_queue(benchmark::State& state) {
  Batch batch;
  LockedQueue queue;
  for (auto _ : state) {
    batch.begin();
    for (int i = 0; i < kBatch; ++i) queue.submit([&batch] { batch.end_one(); });
    batch.wait();
  }
  state.SetItemsProcessed(state.iterations() * kBatch);
}

// From a thread that is no worker, to so many workers.
void empty_executors(benchmark::State& state) {
  SystemClock clock;
  Batch batch;
  Executors executors(clock, {.workers = static_cast<uint32_t>(state.range(0))});
  for (auto _ : state) {
    batch.begin();
    for (int i = 0; i < kBatch; ++i) check(executors.schedule([&batch] { batch.end_one(); }) == Scheduled::Accepted);
    batch.wait();
  }
  state.SetItemsProcessed(state.iterations() * kBatch);
}

// On the thread that waits for them: no other thread is in the way, so this is what the code itself takes.
void empty_same_thread(benchmark::State& state) {
  SystemClock clock;
  Executors executors(clock);
  check(executors.bind());
  for (auto _ : state) {
    WaitGroup all(1);
    int left = kBatch;
    for (int i = 0; i < kBatch; ++i) {
      executors.schedule([&] {
        if (--left == 0) all.done();
      });
    }
    check(all.wait() == Wait::Ok);
  }
  check(executors.unbind());
  state.SetItemsProcessed(state.iterations() * kBatch);
}

void queue_same_thread(benchmark::State& state) {
  std::mutex mutex;
  std::deque<std::function<void()>> tasks;
  int left = 0;
  for (auto _ : state) {
    left = kBatch;
    for (int i = 0; i < kBatch; ++i) {
      std::lock_guard lock(mutex);
      tasks.push_back([&] { --left; });
    }
    while (left > 0) {
      std::unique_lock lock(mutex);
      std::function<void()> task = std::move(tasks.front());
      tasks.pop_front();
      lock.unlock();
      task();
    }
  }
  state.SetItemsProcessed(state.iterations() * kBatch);
}

// ---- hand-over, and all workers at once ----

void channel_hand_over(benchmark::State& state) {
  SystemClock clock;
  Executors executors(clock);
  check(executors.bind());
  Channel<int> channel(static_cast<size_t>(state.range(0)));
  uint64_t received = 0;
  executors.schedule([&] {
    for (int value = 0; channel.receive(value) == Wait::Ok;) ++received;
  });
  executors.schedule([&] {
    for (auto _ : state) check(channel.send(1) == Wait::Ok);
    channel.close();
  });
  check(executors.unbind());
  check(received == static_cast<uint64_t>(state.iterations()));
}

// As many tasks as workers, which are idle before: how long from the first to the end of all.
template <class Work>
void one_each(benchmark::State& state, Work work) {
  SystemClock clock;
  const auto workers = static_cast<uint32_t>(state.range(0));
  Executors executors(clock, {.workers = workers});
  check(executors.bind());
  for (auto _ : state) {
    WaitGroup all(workers);
    for (uint32_t i = 0; i < workers; ++i) {
      executors.schedule([&all, work] {
        work();
        all.done();
      });
    }
    check(all.wait() == Wait::Ok);
  }
  check(executors.unbind());
}

void fork_join(benchmark::State& state) {
  one_each(state, [] {});
}

// Placed on one worker each they take little longer together.
void equal_tasks(benchmark::State& state) {
  one_each(state, [] { std::this_thread::sleep_for(std::chrono::milliseconds(10)); });
}

BENCHMARK(switch_boost);
BENCHMARK(switch_context);
BENCHMARK(switch_preempted);
BENCHMARK(queue_same_thread)->UseRealTime();
BENCHMARK(empty_same_thread)->UseRealTime();
BENCHMARK(empty_locked_queue)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK(empty_executors)->Arg(1)->Arg(2)->Arg(4)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK(channel_hand_over)->Arg(0)->Arg(1)->Arg(64);
BENCHMARK(equal_tasks)->Arg(1)->Arg(2)->Arg(8)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(fork_join)->Arg(1)->Arg(2)->Arg(4)->MeasureProcessCPUTime()->UseRealTime();

}  // namespace

#if __has_include(<oneapi/tbb/task_group.h>)
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

namespace {

void empty_task_group(benchmark::State& state) {
  oneapi::tbb::task_arena arena(static_cast<int>(state.range(0)), 0);
  std::atomic<int> left{0};
  for (auto _ : state) {
    left.store(kBatch, std::memory_order_relaxed);
    arena.execute([&] {
      oneapi::tbb::task_group group;
      for (int i = 0; i < kBatch; ++i) group.run([&left] { left.fetch_sub(1, std::memory_order_relaxed); });
      group.wait();
    });
    check(left == 0);
  }
  state.SetItemsProcessed(state.iterations() * kBatch);
}

BENCHMARK(empty_task_group)->Arg(1)->Arg(2)->MeasureProcessCPUTime()->UseRealTime();

}  // namespace
#endif

BENCHMARK_MAIN();
