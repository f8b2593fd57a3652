// The way through the arena: which tasks take it, that it is loaded late, that it may be missing, and that
// tasks end there as they do in the pool.
#include <algorithm>
#include <vector>

#ifdef __linux__
#include <sched.h>
#endif

#include "hybrid_fixture.h"

using namespace posset::sched;

namespace {

HybridOptions with_arena() {
  return {.hardware = 2, .pool_threads = 1, .evaluation_threads = 1, .max_queue_size = 100, .arena_after_ns = 0};
}

// Asks for the arena and waits until it is there. False: this build has none.
bool open_arena(HybridScheduler& scheduler, Tally& tally) {
  scheduler.try_submit(compile_task([](TaskContext&) {}, tally));
  auto settled = [&] { return scheduler.statistics().arena >= ArenaState::Open; };
  REQUIRE(eventually(settled));
  if (scheduler.statistics().arena == ArenaState::Open) return true;
  MESSAGE("skipped: no libposset_arena.so");
  return false;
}

}  // namespace

TEST_CASE("arena: the first task asks for it and goes to the pool, whose thread loads it") {
  SystemClock clock;
  Trace trace(clock);
  HybridScheduler scheduler(clock, &trace, with_arena());
  CHECK(scheduler.statistics().arena == ArenaState::Unused);
  Tally tally;
  if (!open_arena(scheduler, tally)) return;
  CHECK(scheduler.statistics().to_pool == 1);
  const TraceSnapshot snapshot = trace.snapshot();
  const auto opened = std::find_if(snapshot.events.begin(), snapshot.events.end(), [](const TraceEvent& event) {
    return event.kind == static_cast<uint16_t>(TraceKind::arena_opened);
  });
  REQUIRE(opened != snapshot.events.end());
  CHECK(snapshot.threads[opened->thread] == "compile 0");
  CHECK(opened->fields[0] == 1);
}

TEST_CASE("arena: it is asked for once compilations have taken as long as opening it costs") {
  SystemClock clock;
  HybridOptions options = with_arena();
  options.arena_after_ns = 2 * kMillisecond;
  HybridScheduler scheduler(clock, nullptr, options);
  Tally tally;
  auto done = [&](uint64_t count) { return [&scheduler, count] { return scheduler.statistics().done == count; }; };
  scheduler.try_submit(compile_task([](TaskContext&) {}, tally));
  REQUIRE(eventually(done(1)));
  scheduler.try_submit(compile_task([](TaskContext&) { std::this_thread::sleep_for(std::chrono::milliseconds(3)); }, tally));
  REQUIRE(eventually(done(2)));
  CHECK(scheduler.statistics().arena == ArenaState::Unused);
  scheduler.try_submit(compile_task([](TaskContext&) {}, tally));
  REQUIRE(eventually(done(3)));
  CHECK(eventually([&] { return scheduler.statistics().arena >= ArenaState::Open; }));
}

TEST_CASE("arena P8: one evaluation takes the arena, two the pool") {
  SystemClock clock;
  HybridScheduler scheduler(clock, nullptr, with_arena());
  Tally tally;
  if (!open_arena(scheduler, tally)) return;
  Route seen[4];
  auto submit = [&](Route& route) {
    REQUIRE(scheduler.try_submit(compile_task([&route](TaskContext& context) { route = context.route(); }, tally)) ==
            Admission::Accepted);
  };
  auto one = scheduler.evaluating();
  submit(seen[0]);
  {
    auto two = scheduler.evaluating();
    submit(seen[1]);
  }
  submit(seen[2]);
  tally.await(4);
  CHECK(seen[0] == Route::Arena);
  CHECK(seen[1] == Route::Pool);
  CHECK(seen[2] == Route::Arena);
  CHECK(scheduler.statistics().to_arena == 2);
  CHECK(scheduler.statistics().to_pool == 2);
  CHECK(scheduler.statistics().runtimes.recorded == 4);  // in both modes
}

#ifdef __linux__
TEST_CASE("arena: its threads are in the background while they work here") {
  SystemClock clock;
  HybridScheduler scheduler(clock, nullptr, with_arena());
  Tally tally;
  if (!open_arena(scheduler, tally)) return;
  int policy = -1;
  scheduler.try_submit(compile_task([&](TaskContext&) { policy = sched_getscheduler(0); }, tally));
  tally.await(2);
  CHECK(scheduler.statistics().to_arena == 1);
  CHECK(policy == SCHED_BATCH);
}
#endif

TEST_CASE("arena: evaluations never take it") {
  SystemClock clock;
  HybridScheduler scheduler(clock, nullptr, with_arena());
  Tally tally;
  if (!open_arena(scheduler, tally)) return;
  Route route = Route::Arena;
  scheduler.try_submit({.run = [&](TaskContext& context) { route = context.route(); },
                        .done = tally.teller(),
                        .lane = Lane::Eval});
  tally.await(2);
  CHECK(route == Route::Pool);
}

TEST_CASE("arena: where its library is missing everything goes to the pool and the statistics say so") {
  SystemClock clock;
  Trace trace(clock);
  HybridOptions options = with_arena();
  options.arena_file = "libposset_there_is_no_such_thing.so";
  HybridScheduler scheduler(clock, &trace, options);
  Tally tally;
  scheduler.try_submit(compile_task([](TaskContext&) {}, tally));
  REQUIRE(eventually([&] { return scheduler.statistics().arena == ArenaState::Missing; }));
  for (int i = 0; i < 10; ++i) scheduler.try_submit(compile_task([](TaskContext&) {}, tally));
  tally.await(11);
  CHECK(scheduler.statistics().to_pool == 11);
  CHECK(tally.count(Outcome::Done) == 11);
}

TEST_CASE("arena: exceptions stay inside") {
  SystemClock clock;
  HybridScheduler scheduler(clock, nullptr, with_arena());
  Tally tally;
  if (!open_arena(scheduler, tally)) return;
  for (int i = 0; i < 50; ++i) scheduler.try_submit(compile_task([](TaskContext&) { throw 1; }, tally, 5));
  scheduler.try_submit(compile_task([](TaskContext&) {}, tally, 6));
  tally.await(52);
  CHECK(tally.count(Outcome::Failed) == 50);
  CHECK(scheduler.statistics().runtimes.recorded == 2);
}

TEST_CASE("arena: a full one refuses; a waiting task can be cancelled; a discard drops the rest") {
  SystemClock clock;
  HybridOptions options = with_arena();
  options.max_queue_size = 8;
  HybridScheduler scheduler(clock, nullptr, options);
  Tally tally;
  if (!open_arena(scheduler, tally)) return;
  Gate gate;
  scheduler.try_submit(compile_task([&](TaskContext&) { gate.pass(); }, tally));
  gate.await(1);
  for (uint64_t job = 1; job <= 8; ++job) {
    REQUIRE(scheduler.try_submit(compile_task([](TaskContext&) {}, tally, job)) == Admission::Accepted);
  }
  CHECK(scheduler.try_submit(compile_task([](TaskContext&) {}, tally, 9)) == Admission::QueueFull);
  CHECK(scheduler.cancel(3));
  CHECK_FALSE(scheduler.cancel(3));
  CHECK(tally.count(Outcome::Cancelled) == 1);
  std::thread opener([&] {
    tally.await(9);
    gate.open();
  });
  CHECK(scheduler.stop(StopMode::Discard) == 7);
  opener.join();
  CHECK(tally.count(Outcome::Cancelled) == 8);
  CHECK(tally.count(Outcome::Done) == 2);
}

TEST_CASE("arena: a drain waits for what waits there") {
  SystemClock clock;
  Tally tally;
  for (int round = 0; round < 20; ++round) {
    HybridScheduler scheduler(clock, nullptr, with_arena());
    const int before = tally.sum();
    if (!open_arena(scheduler, tally)) return;
    for (int i = 0; i < 50; ++i) scheduler.try_submit(compile_task([](TaskContext&) {}, tally));
    CHECK(scheduler.stop(StopMode::Drain) == 0);
    CHECK(tally.sum() == before + 51);
  }
}
