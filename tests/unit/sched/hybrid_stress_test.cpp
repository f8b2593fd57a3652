// The compile scheduler under races: one request for each thing, no lost wake-up, one end for every task.
// Written for the thread sanitizer too, which gets fewer rounds.
#include <vector>

#include "hybrid_fixture.h"
#include "sched/base/random.h"
#include "sched/p2/request.h"

using namespace posset::sched;

namespace {

#ifdef POSSET_SANITIZED
constexpr int kSlower = 20;
#else
constexpr int kSlower = 1;
#endif

template <class Body>
void on_threads(int count, const Body& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("request: thresholds, one request, retry after a refusal") {
  CompileRequest request;
  CHECK_FALSE(request.claim(1, 2));  // one execution asks for nothing
  CHECK(request.claim(2, 2));
  CHECK(request.status() == CompileRequest::Status::Compiling);
  CHECK_FALSE(request.claim(3, 2));
  request.given_back(3, 2);
  CHECK_FALSE(request.claim(3, 2));
  CHECK(request.claim(4, 2));
  request.given_back(100, 100);
  CHECK_FALSE(request.claim(124, 100));
  CHECK(request.claim(125, 100));
  request.failed();
  CHECK_FALSE(request.claim(1'000'000, 100));
  CompileRequest late;
  CHECK(late.claim(777, 100));  // the hundredth was missed
  late.ready();
  CHECK_FALSE(late.claim(778, 100));
}

TEST_CASE("hybrid stress P7: one compilation for each thing and tier under racing threads") {
  SystemClock clock;
  constexpr size_t kThings = 50;
  constexpr uint64_t kThresholds[] = {2, 100, 500};
  HybridOptions options = pool_only();
  options.use_arena = true;
  options.max_queue_size = 4;  // refusals are part of it
  HybridScheduler scheduler(clock, nullptr, options);
  std::vector<std::array<CompileRequest, 3>> requests(kThings);
  std::vector<std::array<std::atomic<int>, 3>> compiled(kThings);
  std::vector<std::atomic<uint64_t>> counts(kThings);
  auto execute = [&](size_t thing) {
    const uint64_t count = ++counts[thing];
    for (size_t tier = 0; tier < 3; ++tier) {
      CompileRequest& request = requests[thing][tier];
      if (!request.claim(count, kThresholds[tier])) continue;
      const Admission admission =
          scheduler.try_submit({.run = [&, thing, tier](TaskContext&) { ++compiled[thing][tier]; },
                                .done = [&request](Outcome) { request.ready(); },
                                .type = {TaskKind::BytecodeCompile, thing}});
      if (admission != Admission::Accepted) request.given_back(count, kThresholds[tier]);
    }
  };
  on_threads(4, [&](int) {
    auto evaluation = scheduler.evaluating();
    for (int round = 0; round < 1000; ++round) {
      for (size_t thing = 0; thing < kThings; ++thing) execute(thing);
    }
  });
  CHECK(scheduler.evaluations() == 0);
  scheduler.stop(StopMode::Drain);
  // Who was refused to the end is not compiled; nobody is compiled twice.
  int sum = 0;
  for (size_t thing = 0; thing < kThings; ++thing) {
    for (size_t tier = 0; tier < 3; ++tier) {
      const bool ready = requests[thing][tier].status() == CompileRequest::Status::Ready;
      CHECK(compiled[thing][tier].load() == (ready ? 1 : 0));
      sum += ready;
    }
  }
  CHECK(sum > 0);
}

TEST_CASE("hybrid stress P10: no wake-up is lost over 100000 starts and stops of a waiting consumer") {
  SystemClock clock;
  constexpr int kCycles = 100'000 / kSlower;
  std::atomic<TaskQueue*> current{nullptr};
  std::atomic<int> ended{0};
  // One thread that lives on, so that the time goes into looks and sleeps and not into making threads.
  std::thread consumer([&] {
    for (int cycle = 0; cycle < kCycles; ++cycle) {
      TaskQueue* queue;
      while (!(queue = current.exchange(nullptr, std::memory_order_acq_rel))) std::this_thread::yield();
      while (queue->take(0)) {
      }
      ended.store(cycle + 1, std::memory_order_release);
    }
  });
  Random random(10);
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    TaskQueue queue(clock, nullptr, {});
    queue.add_consumer(kCompileLane);
    current.store(&queue, std::memory_order_release);
    // Anything between before its look and in its sleep.
    for (uint64_t spin = random.below(400); spin > 0; --spin) std::atomic_signal_fence(std::memory_order_seq_cst);
    if (random.below(4) == 0) {
      Task task;
      queue.try_push(task, 0);
    }
    queue.stop(random.below(2) ? StopMode::Drain : StopMode::Discard);
    while (ended.load(std::memory_order_acquire) <= cycle) std::this_thread::yield();
  }
  consumer.join();
  CHECK(ended.load() == kCycles);
}

TEST_CASE("hybrid stress P10: whole schedulers start and stop") {
  SystemClock clock;
  Tally tally;
  constexpr int kCycles = 10'000 / kSlower;
  int accepted = 0;
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    HybridScheduler scheduler(clock, nullptr, pool_only(1 + static_cast<size_t>(cycle % 2)));
    for (int i = cycle % 3; i > 0; --i) {
      accepted += scheduler.try_submit(compile_task([](TaskContext&) {}, tally)) == Admission::Accepted;
    }
    scheduler.stop(cycle % 5 ? StopMode::Discard : StopMode::Drain);
  }
  CHECK(tally.sum() == accepted);
}

TEST_CASE("hybrid stress P11: every accepted task ends exactly once") {
  SystemClock clock;
  constexpr int kRounds = 60 / (kSlower > 1 ? 6 : 1);
  for (int round = 0; round < kRounds; ++round) {
    HybridOptions options = pool_only(2);
    options.max_queue_size = 20;
    options.use_arena = round % 2 == 1;
    HybridScheduler scheduler(clock, nullptr, options);
    std::vector<std::atomic<int>> ends(4 * 200);
    std::atomic<int> accepted{0}, told{0};
    on_threads(5, [&](int thread) {
      Random random(static_cast<uint64_t>(round * 10 + thread));
      if (thread == 4) {
        std::this_thread::sleep_for(std::chrono::microseconds(random.below(3000)));
        scheduler.stop(round % 3 ? StopMode::Discard : StopMode::Drain);
        return;
      }
      for (uint64_t i = 0; i < 200; ++i) {
        const uint64_t job = static_cast<uint64_t>(thread) * 200 + i;
        auto evaluation = scheduler.evaluating();
        Task task{.run = [throws = random.below(5) == 0](TaskContext&) { if (throws) throw 1; },
                  .done = [&, job](Outcome) { ++ends[job], ++told; },
                  .lane = random.below(3) ? Lane::Compile : Lane::Eval,
                  .priority = random.below(2) ? Priority::Batch : Priority::Normal,
                  .job = job};
        const Admission admission = random.below(8) ? scheduler.try_submit(std::move(task))
                                                    : scheduler.submit_by(std::move(task), clock.now_ns() + kMillisecond);
        accepted += admission == Admission::Accepted;
        if (random.below(6) == 0) scheduler.cancel(random.below(800));
        if (random.below(50) == 0) scheduler.set_weights(static_cast<double>(random.below(3)), 0.1);
      }
    });
    const HybridStatistics statistics = scheduler.statistics();
    CHECK(told.load() == accepted.load());
    for (std::atomic<int>& times : ends) REQUIRE(times.load() <= 1);
    CHECK(statistics.queued == static_cast<uint64_t>(accepted.load()));
    CHECK(statistics.queued == statistics.done + statistics.failed + statistics.cancelled);
    CHECK(statistics.queued == statistics.to_arena + statistics.to_pool);
  }
}
