// The compile scheduler with real threads: routes, outcomes, refusals, stop, and what upstream got wrong.
#include "sched/p2/hybrid.h"

#include <bit>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "hybrid_fixture.h"

using namespace posset::sched;

namespace {

// A task that waits at the gate, so that what comes after it stays in the queue.
void block(HybridScheduler& scheduler, Gate& gate, Tally& tally) {
  REQUIRE(scheduler.try_submit(compile_task([&gate](TaskContext&) { gate.pass(); }, tally)) == Admission::Accepted);
  gate.await(1);
}

std::vector<TraceEvent> events_of(const Trace& trace, TraceKind kind) {
  std::vector<TraceEvent> events = trace.snapshot().events;
  std::erase_if(events, [kind](const TraceEvent& event) { return event.kind != static_cast<uint16_t>(kind); });
  return events;
}

}  // namespace

TEST_CASE("hybrid P8: the counter of evaluations returns to zero after exceptions") {
  SystemClock clock;
  HybridScheduler scheduler(clock, nullptr, pool_only());
  CHECK_FALSE(scheduler.parallel());
  try {
    auto one = scheduler.evaluating();
    CHECK_FALSE(scheduler.parallel());
    auto two = scheduler.evaluating();
    CHECK(scheduler.parallel());
    throw std::runtime_error("an evaluation failed");
  } catch (const std::runtime_error&) {
    CHECK(scheduler.evaluations() == 0);
  }
  CHECK(scheduler.evaluations() == 0);
}

TEST_CASE("hybrid P8: a guard counts once however often it is moved or the evaluation recurs") {
  SystemClock clock;
  HybridScheduler scheduler(clock, nullptr, pool_only());
  {
    // What an outermost evaluation does; the ones it calls take no guard of their own.
    auto outermost = scheduler.evaluating();
    auto moved = std::move(outermost);
    CHECK(scheduler.evaluations() == 1);
    CHECK_FALSE(scheduler.parallel());
  }
  CHECK(scheduler.evaluations() == 0);
}

TEST_CASE("hybrid: two schedulers share nothing (upstream: a static counter, pool and cache)") {
  SystemClock clock;
  HybridScheduler one(clock, nullptr, pool_only()), other(clock, nullptr, pool_only());
  auto a = one.evaluating();
  auto b = one.evaluating();
  CHECK(one.parallel());
  CHECK_FALSE(other.parallel());
  Tally tally;
  CHECK(one.try_submit(compile_task([](TaskContext&) {}, tally)) == Admission::Accepted);
  tally.await(1);
  one.stop(StopMode::Drain);
  CHECK(other.statistics().queued == 0);
  CHECK(other.try_submit(compile_task([](TaskContext&) {}, tally)) == Admission::Accepted);
  tally.await(2);
}

TEST_CASE("hybrid: no thread before the first submission") {
  SystemClock clock;
  auto count_threads = [] {
    std::FILE* file = std::fopen("/proc/self/status", "r");
    REQUIRE(file);
    char line[256];
    int count = 0;
    while (std::fgets(line, sizeof line, file)) std::sscanf(line, "Threads: %d", &count);
    std::fclose(file);
    return count;
  };
  // The system counts a thread for a moment after it has been joined.
  auto threads = [&] {
    int count = count_threads();
    for (int same = 0; same < 20;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const int again = count_threads();
      same = again == count ? same + 1 : 0;
      count = again;
    }
    return count;
  };
  const int before = threads();
  HybridScheduler scheduler(clock, nullptr, pool_only(3));
  auto guard = scheduler.evaluating();
  CHECK(threads() == before);
  Tally tally;
  scheduler.try_submit(compile_task([](TaskContext&) {}, tally));
  tally.await(1);
  CHECK(threads() == before + 3);
}

TEST_CASE("hybrid: outcomes, statistics and run times") {
  SystemClock clock;
  HybridScheduler scheduler(clock, nullptr, pool_only());
  Tally tally;
  for (uint64_t i = 0; i < 5; ++i) {
    Task task = compile_task([](TaskContext&) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }, tally);
    task.type = {TaskKind::BytecodeCompile, 7};
    REQUIRE(scheduler.try_submit(std::move(task)) == Admission::Accepted);
  }
  tally.await(5);
  CHECK(scheduler.estimate_ns({TaskKind::BytecodeCompile, 7}) >= 2e6);
  CHECK(scheduler.estimate_ns({TaskKind::Eval, 7}) == 0);
  const HybridStatistics statistics = scheduler.statistics();
  CHECK(statistics.queued == 5);
  CHECK(statistics.done == 5);
  CHECK(statistics.to_pool == 5);
  CHECK(statistics.to_arena == 0);
  CHECK(statistics.runtimes.recorded == 5);
}

TEST_CASE("hybrid: time spent suspended is no run time") {
  SystemClock clock;
  HybridScheduler scheduler(clock, nullptr, pool_only());
  Tally tally;
  for (int i = 0; i < 5; ++i) {
    Task task = compile_task(
        [](TaskContext& context) {
          TaskContext::Suspension suspension(context);
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
        },
        tally);
    task.type = {TaskKind::BytecodeCompile, 7};
    scheduler.try_submit(std::move(task));
  }
  tally.await(5);
  CHECK(scheduler.estimate_ns({TaskKind::BytecodeCompile, 7}) < 10e6);
}

TEST_CASE("hybrid: an exception fails its task and not the worker (upstream: the worker dies)") {
  SystemClock clock;
  HybridScheduler scheduler(clock, nullptr, pool_only());
  Tally tally;
  for (int i = 0; i < 10; ++i) {
    scheduler.try_submit(compile_task([](TaskContext&) { throw std::runtime_error("no"); }, tally, 3));
    scheduler.try_submit(compile_task([](TaskContext&) { throw 17; }, tally, 3));
    scheduler.try_submit(compile_task({}, tally, 3));  // nothing to call
  }
  scheduler.try_submit(compile_task([](TaskContext&) {}, tally, 4));
  tally.await(31);
  CHECK(tally.count(Outcome::Failed) == 30);
  CHECK(tally.count(Outcome::Done) == 1);
  CHECK(scheduler.statistics().failed == 30);
  CHECK(scheduler.statistics().runtimes.recorded == 1);
}

TEST_CASE("hybrid: a callback that throws is counted and harms nobody") {
  SystemClock clock;
  HybridScheduler scheduler(clock, nullptr, pool_only());
  Tally tally;
  scheduler.try_submit({.run = [](TaskContext&) {}, .done = [](Outcome) { throw 1; }});
  scheduler.try_submit(compile_task([](TaskContext&) {}, tally));
  tally.await(1);
  CHECK(scheduler.statistics().callback_failures == 1);
  CHECK(scheduler.statistics().done == 2);
}

TEST_CASE("hybrid P9: one more than the capacity is refused, told to nobody and left with the caller") {
  SystemClock clock;
  HybridOptions options = pool_only();
  options.max_queue_size = HybridOptions{.hardware = 1}.max_queue_size;
  CHECK(options.max_queue_size == 16);
  HybridScheduler scheduler(clock, nullptr, options);
  Gate gate;
  Tally tally;
  block(scheduler, gate, tally);
  for (int i = 0; i < 16; ++i) {
    REQUIRE(scheduler.try_submit(compile_task([](TaskContext&) {}, tally)) == Admission::Accepted);
  }
  Task surplus = compile_task([](TaskContext&) {}, tally);
  CHECK(scheduler.try_submit(std::move(surplus)) == Admission::QueueFull);
  CHECK(surplus.run);
  CHECK(scheduler.statistics().refused_full == 1);
  CHECK(scheduler.statistics().waiting == 16);
  gate.open();
  tally.await(17);
  CHECK(scheduler.try_submit(std::move(surplus)) == Admission::Accepted);
  tally.await(18);
  CHECK(tally.sum() == 18);
}

TEST_CASE("hybrid: a host may wait for room, until a deadline") {
  SystemClock clock;
  HybridOptions options = pool_only();
  options.max_queue_size = 1;
  HybridScheduler scheduler(clock, nullptr, options);
  Gate gate;
  Tally tally;
  block(scheduler, gate, tally);
  CHECK(scheduler.submit_by(compile_task([](TaskContext&) {}, tally), kNever) == Admission::Accepted);
  const int64_t start_ns = clock.now_ns();
  CHECK(scheduler.submit_by(compile_task([](TaskContext&) {}, tally), start_ns + 20 * kMillisecond) ==
        Admission::QueueFull);
  CHECK(clock.now_ns() - start_ns >= 20 * kMillisecond);
  std::thread opener([&gate] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    gate.open();
  });
  CHECK(scheduler.submit_by(compile_task([](TaskContext&) {}, tally), kNever) == Admission::Accepted);
  opener.join();
  tally.await(3);
}

TEST_CASE("hybrid: a stop ends the wait for room") {
  SystemClock clock;
  HybridOptions options = pool_only();
  options.max_queue_size = 1;
  HybridScheduler scheduler(clock, nullptr, options);
  Gate gate;
  Tally tally;
  block(scheduler, gate, tally);
  scheduler.try_submit(compile_task([](TaskContext&) {}, tally));
  std::thread host([&] {
    CHECK(scheduler.submit_by(compile_task([](TaskContext&) {}, tally), kNever) == Admission::Stopped);
    gate.open();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  scheduler.stop(StopMode::Discard);
  host.join();
  CHECK(tally.count(Outcome::Cancelled) == 1);
}

TEST_CASE("hybrid: a waiting task can be cancelled, a running one not") {
  SystemClock clock;
  HybridScheduler scheduler(clock, nullptr, pool_only());
  Gate gate;
  Tally tally;
  block(scheduler, gate, tally);
  auto held = std::make_shared<int>(1);
  std::weak_ptr<int> watch = held;
  bool released_before_told = false;
  REQUIRE(scheduler.try_submit({.run = [held](TaskContext&) { FAIL("runs though cancelled"); },
                                .done = [&](Outcome) { released_before_told = watch.expired(); },
                                .job = 42}) == Admission::Accepted);
  held.reset();
  CHECK_FALSE(watch.expired());
  CHECK(scheduler.cancel(42));
  CHECK(released_before_told);
  CHECK_FALSE(scheduler.cancel(42));
  CHECK_FALSE(scheduler.cancel(0));  // runs
  gate.open();
  tally.await(1);
  CHECK(scheduler.statistics().cancelled == 1);
}

TEST_CASE("hybrid: a drain runs what was accepted before (upstream: drops it)") {
  SystemClock clock;
  HybridScheduler scheduler(clock, nullptr, pool_only(2));
  Tally tally;
  for (int i = 0; i < 500; ++i) scheduler.try_submit(compile_task([](TaskContext&) {}, tally));
  CHECK(scheduler.stop(StopMode::Drain) == 0);
  CHECK(tally.count(Outcome::Done) == 500);
  CHECK(scheduler.try_submit(compile_task([](TaskContext&) {}, tally)) == Admission::Stopped);
  CHECK(scheduler.submit_by(compile_task([](TaskContext&) {}, tally), kNever) == Admission::Stopped);
  CHECK(scheduler.statistics().refused_stopped == 2);
  CHECK(scheduler.stop(StopMode::Drain) == 0);
  CHECK(scheduler.stop(StopMode::Discard) == 0);
}

TEST_CASE("hybrid: a discard cancels what has not begun and waits for what has") {
  SystemClock clock;
  HybridScheduler scheduler(clock, nullptr, pool_only());
  Gate gate;
  Tally tally;
  block(scheduler, gate, tally);
  for (int i = 0; i < 100; ++i) scheduler.try_submit(compile_task([](TaskContext&) {}, tally));
  std::thread opener([&] {
    tally.await(100);
    CHECK(tally.count(Outcome::Cancelled) == 100);
    gate.open();
  });
  CHECK(scheduler.stop(StopMode::Discard) == 100);
  opener.join();
  CHECK(tally.count(Outcome::Done) == 1);
}

TEST_CASE("hybrid: the destructor discards") {
  SystemClock clock;
  Tally tally;
  Gate gate;
  {
    HybridScheduler scheduler(clock, nullptr, pool_only());
    block(scheduler, gate, tally);
    for (int i = 0; i < 10; ++i) scheduler.try_submit(compile_task([](TaskContext&) {}, tally));
    gate.open();
  }
  CHECK(tally.sum() == 11);
}

TEST_CASE("hybrid: a drain gives up at its deadline") {
  SystemClock clock;
  HybridScheduler scheduler(clock, nullptr, pool_only());
  Gate gate;
  Tally tally;
  block(scheduler, gate, tally);
  for (int i = 0; i < 10; ++i) scheduler.try_submit(compile_task([](TaskContext&) {}, tally));
  std::thread opener([&] {
    tally.await(10);
    gate.open();
  });
  CHECK(scheduler.stop(StopMode::Drain, clock.now_ns() + 10 * kMillisecond) == 10);
  opener.join();
  CHECK(tally.count(Outcome::Cancelled) == 10);
  CHECK(tally.count(Outcome::Done) == 1);
}

TEST_CASE("hybrid: a discard cuts another thread's drain short") {
  SystemClock clock;
  HybridScheduler scheduler(clock, nullptr, pool_only());
  Gate gate;
  Tally tally;
  block(scheduler, gate, tally);
  for (int i = 0; i < 10; ++i) scheduler.try_submit(compile_task([](TaskContext&) {}, tally));
  std::thread drainer([&] { scheduler.stop(StopMode::Drain); });
  // Until the drain has begun, what asks for it is accepted and adds to what there is.
  REQUIRE(eventually([&] { return scheduler.try_submit(compile_task({}, tally)) == Admission::Stopped; }));
  const auto waiting = static_cast<int>(scheduler.statistics().waiting);
  std::thread opener([&] {
    tally.await(waiting);
    gate.open();
  });
  CHECK(waiting >= 10);
  CHECK(scheduler.stop(StopMode::Discard) == static_cast<size_t>(waiting));
  CHECK(tally.sum() == waiting + 1);  // both have waited for the threads
  drainer.join();
  opener.join();
}

TEST_CASE("hybrid: a task may stop its scheduler, and does not wait for itself") {
  SystemClock clock;
  for (bool arena : {false, true}) {
    HybridOptions options = pool_only();
    options.use_arena = arena;
    options.arena_after_ns = 0;
    HybridScheduler scheduler(clock, nullptr, options);
    Tally tally;
    if (arena) {
      scheduler.try_submit(compile_task([](TaskContext&) {}, tally));
      REQUIRE(eventually([&] { return scheduler.statistics().arena >= ArenaState::Open; }));
    }
    const int before = tally.sum();
    scheduler.try_submit(compile_task([&](TaskContext&) { scheduler.stop(StopMode::Drain); }, tally));
    tally.await(before + 1);
    CHECK(tally.count(Outcome::Failed) == 0);
    CHECK(scheduler.try_submit(compile_task([](TaskContext&) {}, tally)) == Admission::Stopped);
    CHECK(scheduler.stop(StopMode::Drain) == 0);
  }
}

TEST_CASE("hybrid: no lock is held while closures run, are told or are destroyed") {
  SystemClock clock;
  HybridScheduler scheduler(clock, nullptr, pool_only());
  // Whatever it is called for, it comes back into the scheduler, which would deadlock under a lock.
  struct Reenter {
    HybridScheduler* scheduler;
    ~Reenter() { enter(); }
    void enter() const {
      scheduler->statistics();
      scheduler->cancel(999);
      scheduler->set_weights(1, 0.1);
      scheduler->estimate_ns({});
    }
  };
  auto task = [&](uint64_t job) {
    auto held = std::make_shared<Reenter>(&scheduler);
    return Task{.run = [held](TaskContext&) { held->enter(); }, .done = [held](Outcome) { held->enter(); }, .job = job};
  };
  Gate gate;
  Tally tally;
  for (uint64_t job = 1; job < 20; ++job) REQUIRE(scheduler.try_submit(task(job)) == Admission::Accepted);
  REQUIRE(eventually([&] { return scheduler.statistics().done == 19; }));
  block(scheduler, gate, tally);
  for (uint64_t job = 1; job < 20; ++job) REQUIRE(scheduler.try_submit(task(job)) == Admission::Accepted);
  CHECK(scheduler.cancel(5));
  std::thread opener([&] {
    REQUIRE(eventually([&] { return scheduler.statistics().cancelled == 19; }));
    gate.open();
  });
  scheduler.stop(StopMode::Discard);
  opener.join();
  CHECK(scheduler.try_submit(task(1)) == Admission::Stopped);
}

TEST_CASE("hybrid: evaluations have threads of their own, which compile only without a pool") {
  SystemClock clock;
  Tally tally;
  std::thread::id evaluated, compiled;
  {
    HybridScheduler scheduler(clock, nullptr, pool_only());
    scheduler.try_submit({.run = [&](TaskContext&) { evaluated = std::this_thread::get_id(); },
                          .done = tally.teller(), .lane = Lane::Eval});
    scheduler.try_submit(compile_task([&](TaskContext&) { compiled = std::this_thread::get_id(); }, tally));
    tally.await(2);
    CHECK(evaluated != compiled);
  }
  HybridScheduler scheduler(clock, nullptr, pool_only(0));
  scheduler.try_submit({.run = [&](TaskContext&) { evaluated = std::this_thread::get_id(); },
                        .done = tally.teller(), .lane = Lane::Eval});
  scheduler.try_submit(compile_task([&](TaskContext&) { compiled = std::this_thread::get_id(); }, tally));
  tally.await(4);
  CHECK(evaluated == compiled);
}

TEST_CASE("hybrid: an evaluation that no executor will take stays with the caller") {
  SystemClock clock;
  HybridOptions options = for_executors();
  options.on_evaluation = [] { return false; };
  HybridScheduler scheduler(clock, nullptr, options);
  Tally tally;
  int runs = 0;
  Task task{.run = [&](TaskContext&) { ++runs; }, .done = tally.teller(), .lane = Lane::Eval, .job = 7};
  CHECK(scheduler.try_submit(std::move(task)) == Admission::QueueFull);
  REQUIRE(task.run);
  CHECK(scheduler.submit_by(std::move(task), clock.now_ns() + kSecond) == Admission::QueueFull);
  REQUIRE(task.run);
  CHECK_FALSE(scheduler.run_one(kEvalLane));
  CHECK(runs == 0);
  CHECK(scheduler.statistics().queued == 0);
}

TEST_CASE("hybrid regression: an evaluation whose executor had taken another one was left in the queue") {
  SystemClock clock;
  HybridOptions options = for_executors();
  HybridScheduler* scheduler = nullptr;
  int told = 0;
  // The second is refused after the first one's executor has taken it.
  options.on_evaluation = [&] {
    if (++told == 2) scheduler->run_one(kEvalLane);
    return told != 2;
  };
  HybridScheduler made(clock, nullptr, options);
  scheduler = &made;
  Tally tally;
  std::string ran;
  auto submit = [&](char name, Priority priority) {
    return made.try_submit({.run = [&ran, name](TaskContext&) { ran += name; }, .done = tally.teller(), .lane = Lane::Eval,
                            .priority = priority, .job = static_cast<uint64_t>(name)});
  };
  CHECK(submit('a', Priority::Normal) == Admission::Accepted);
  CHECK(submit('b', Priority::Interactive) == Admission::Accepted);
  CHECK(told == 3);  // of the first one again
  CHECK(made.run_one(kEvalLane));
  CHECK(ran == "ba");
}

TEST_CASE("hybrid: an evaluation that its executor cannot run is told Cancelled") {
  SystemClock clock;
  HybridOptions options = for_executors();
  HybridScheduler scheduler(clock, nullptr, options);
  Tally tally;
  scheduler.try_submit({.run = [](TaskContext&) { FAIL("it ran"); }, .done = tally.teller(), .lane = Lane::Eval});
  CHECK_FALSE(scheduler.cancel_one(kCompileLane));
  CHECK(scheduler.cancel_one(kEvalLane));
  CHECK_FALSE(scheduler.cancel_one(kEvalLane));
  tally.await(1);
  CHECK(scheduler.statistics().cancelled == 1);
}

TEST_CASE("hybrid: executors are told of evaluations and take them") {
  SystemClock clock;
  HybridOptions options = for_executors();
  HybridScheduler* told_by = nullptr;
  int told = 0;
  options.on_evaluation = [&] {
    told += told_by->statistics().waiting == 1;  // no lock is held
    return true;
  };
  HybridScheduler scheduler(clock, nullptr, options);
  told_by = &scheduler;
  Tally tally;
  std::thread::id ran;
  scheduler.try_submit({.run = [&](TaskContext&) { ran = std::this_thread::get_id(); },
                        .done = tally.teller(), .lane = Lane::Eval});
  CHECK(told == 1);
  CHECK_FALSE(scheduler.run_one(kCompileLane));
  CHECK(scheduler.run_one(kEvalLane));
  CHECK(ran == std::this_thread::get_id());
  scheduler.try_submit(compile_task([](TaskContext&) {}, tally));
  tally.await(2);
  CHECK(told == 1);
}

TEST_CASE("hybrid: without threads the host runs the tasks, in order") {
  SystemClock clock;
  HybridOptions options = pool_only(0);
  options.evaluation_threads = 0;
  HybridScheduler scheduler(clock, nullptr, options);
  Tally tally;
  std::string order;
  auto submit = [&](char name, Priority priority, Lane lane) {
    scheduler.try_submit({.run = [&order, name](TaskContext&) { order += name; },
                          .done = tally.teller(), .lane = lane, .priority = priority});
  };
  submit('b', Priority::Batch, Lane::Compile);
  submit('i', Priority::Interactive, Lane::Eval);
  submit('c', Priority::BackgroundCompile, Lane::Compile);
  submit('n', Priority::Normal, Lane::Eval);
  submit('l', Priority::Low, Lane::Compile);
  CHECK(scheduler.run_one(kCompileLane));
  CHECK(scheduler.run_one(kAllLanes));
  CHECK(order == "ci");
  CHECK(scheduler.stop(StopMode::Drain) == 0);  // the stopping thread runs the rest
  CHECK(order == "cinlb");
  CHECK_FALSE(scheduler.run_one(kAllLanes));
}

TEST_CASE("hybrid: the trace tells a task's story in order") {
  SystemClock clock;
  Trace trace(clock);
  Tally tally;
  {
    HybridOptions options = pool_only();
    options.max_queue_size = 1;
    HybridScheduler scheduler(clock, &trace, options);
    Gate gate;
    block(scheduler, gate, tally);
    scheduler.try_submit(compile_task([](TaskContext&) {}, tally, 7));
    scheduler.try_submit(compile_task([](TaskContext&) {}, tally, 8));
    gate.open();
    tally.await(2);
  }
  const TraceSnapshot snapshot = trace.snapshot();
  const std::vector<TraceEvent> queued = events_of(trace, TraceKind::task_queued);
  const std::vector<TraceEvent> refused = events_of(trace, TraceKind::task_refused);
  const std::vector<TraceEvent> started = events_of(trace, TraceKind::task_started);
  const std::vector<TraceEvent> finished = events_of(trace, TraceKind::task_finished);
  REQUIRE(queued.size() == 2);
  REQUIRE(started.size() == 2);
  REQUIRE(finished.size() == 2);
  REQUIRE(refused.size() == 1);
  CHECK(queued[1].fields[0] == 7);
  CHECK(queued[1].fields[1] == static_cast<int64_t>(Route::Pool));
  CHECK(std::bit_cast<double>(queued[1].fields[2]) >= 10.0);  // the key: level 10, no estimate, a little age
  CHECK(queued[1].fields[5] == 10);
  CHECK(refused[0].fields[0] == 8);
  CHECK(refused[0].fields[2] == static_cast<int64_t>(Outcome::QueueFull));
  CHECK(queued[1].sequence < started[1].sequence);
  CHECK(started[1].sequence < finished[1].sequence);
  CHECK(finished[1].fields[2] == static_cast<int64_t>(Outcome::Done));
  CHECK(snapshot.threads[started[1].thread] == "compile 0");
}
