// What is timed of tasks that run one after another.
#include <memory>
#include <utility>

#include <doctest/doctest.h>

#include "sched/p2/runner.h"

using namespace posset::sched;

namespace {

// Goes on by one with every look at it.
struct LookedAt final : Clock {
  int64_t now_ns() const override { return ++looks; }
  mutable int64_t looks = 0;
};

struct World {
  int64_t run(Task task, int64_t enqueued_ns, int64_t now_ns = kNever) {
    task.type = {TaskKind::Generic, ++type};
    return runner.run(std::move(task), enqueued_ns, Route::Pool, now_ns);
  }
  double last_took_ns() { return tracker.estimate_ns({TaskKind::Generic, type}); }

  LookedAt clock;
  RuntimeTracker tracker;
  TaskRunner runner{clock, tracker, nullptr};
  uint64_t type = 0;
};

Task nothing() { return {.run = [](TaskContext&) {}}; }

}  // namespace

TEST_CASE("runner: a task that is there at once begins where the one before has ended") {
  World world;
  const int64_t ended_ns = world.run(nothing(), 0);
  CHECK(world.clock.looks == 2);
  CHECK(ended_ns == 2);
  CHECK(world.run(nothing(), 0, ended_ns) == 3);
  CHECK(world.clock.looks == 3);
}

TEST_CASE("runner: a task that found nothing to do says nothing of others of its type") {
  World world;
  for (int i = 0; i < 5; ++i) {
    world.run({.run = [](TaskContext& context) { context.is_no_measure(); }}, 0);
    CHECK(world.tracker.statistics().recorded == 0);
  }
  world.run(nothing(), 0);
  CHECK(world.tracker.statistics().recorded == 1);
}

TEST_CASE("runner: a callback's time is nobody's") {
  World world;
  Task tells = nothing();
  tells.done = [](Outcome) {};
  CHECK(world.run(std::move(tells), 0) == kNever);
}

TEST_CASE("runner: no task begins before it has come") {
  World world;
  world.clock.looks = 100;
  world.run(nothing(), 90, 50);  // 90 to 101
  CHECK(world.last_took_ns() == 11);
}

TEST_CASE("runner: what a task holds is destroyed within its time") {
  World world;
  struct Slow {
    explicit Slow(const Clock& clock) : clock(clock) {}
    ~Slow() { clock.now_ns(); }
    const Clock& clock;
  };
  world.run({.run = [slow = std::make_shared<Slow>(world.clock)](TaskContext&) {}}, 0);
  CHECK(world.last_took_ns() == 2);
}
