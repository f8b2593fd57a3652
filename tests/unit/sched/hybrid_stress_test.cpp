// The compile scheduler under races: no lost wake-up, one end for every task. That one request is made for each
// unit and tier (P7) is the tier control's, tests/unit/api/tiering_test.cpp.
// Written for the thread sanitizer too, which gets fewer rounds.
#include <vector>

#include "../sanitized.h"
#include "hybrid_fixture.h"
#include "sched/base/random.h"

using namespace posset::sched;

namespace {

constexpr int kSlower = posset::test::kSanitized ? 20 : 1;

template <class Body>
void on_threads(int count, const Body& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

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
