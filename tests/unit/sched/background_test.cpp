// Which threads wait for their turn, and that a thread lent for a while is given back as it was.
#include <thread>

#include "hybrid_fixture.h"
#include "sched/base/background.h"

#ifdef __linux__

using namespace posset::sched;

namespace {

int policy_of_this_thread() { return sched_getscheduler(0); }

// Under which policy a task of that lane runs.
int policy_in(Lane lane, HybridScheduler& scheduler) {
  Tally tally;
  int policy = -1;
  Task task = compile_task([&policy](TaskContext&) { policy = policy_of_this_thread(); }, tally);
  task.lane = lane;
  REQUIRE(scheduler.try_submit(std::move(task)) == Admission::Accepted);
  tally.await(1);
  return policy;
}

}  // namespace

TEST_CASE("background: a thread is there while it stays, and not longer") {
  Background background;
  std::thread([&] {
    REQUIRE(policy_of_this_thread() == SCHED_OTHER);
    {
      const Background::Stay stay(background);
      CHECK(policy_of_this_thread() == SCHED_BATCH);
    }
    CHECK(policy_of_this_thread() == SCHED_OTHER);
  }).join();
}

TEST_CASE("background: whoever hurries leaves it until nobody does") {
  Background background;
  std::thread([&] {
    const Background::Stay stay(background);
    {
      const Background::Hurry one(background);
      CHECK(policy_of_this_thread() == SCHED_OTHER);
      { const Background::Hurry two(background); }
      CHECK(policy_of_this_thread() == SCHED_OTHER);
      std::thread([&] {
        const Background::Stay late(background);
        CHECK(policy_of_this_thread() == SCHED_OTHER);
      }).join();
    }
    CHECK(policy_of_this_thread() == SCHED_BATCH);
  }).join();
}

TEST_CASE("background: a policy the host has chosen stays") {
  Background background;
  std::thread([&] {
    const sched_param parameters{};
    REQUIRE(sched_setscheduler(0, SCHED_IDLE, &parameters) == 0);
    {
      const Background::Stay stay(background);
      CHECK(policy_of_this_thread() == SCHED_IDLE);
      const Background::Hurry hurry(background);
      CHECK(policy_of_this_thread() == SCHED_IDLE);
    }
    CHECK(policy_of_this_thread() == SCHED_IDLE);
  }).join();
}

TEST_CASE("background: compilations are, but for a thread's first one, and evaluations are not") {
  SystemClock clock;
  HybridScheduler scheduler(clock, nullptr, pool_only());
  for (Lane lane : {Lane::Compile, Lane::Native}) {
    CHECK(policy_in(lane, scheduler) == SCHED_OTHER);
    CHECK(policy_in(lane, scheduler) == SCHED_BATCH);
  }
  for (int i = 0; i < 2; ++i) CHECK(policy_in(Lane::Eval, scheduler) == SCHED_OTHER);
}

TEST_CASE("background: bytecode does not wait for native code") {
  SystemClock clock;
  HybridScheduler scheduler(clock, nullptr, pool_only());
  policy_in(Lane::Compile, scheduler);
  CHECK(eventually([&] { return policy_in(Lane::Compile, scheduler) == SCHED_BATCH; }));
  Gate gate;
  Tally tally;
  Task slow = compile_task([&gate](TaskContext&) { gate.pass(); }, tally);
  slow.lane = Lane::Native;
  REQUIRE(scheduler.try_submit(std::move(slow)) == Admission::Accepted);
  gate.await(1);
  CHECK(policy_in(Lane::Compile, scheduler) == SCHED_OTHER);
  gate.open();
  tally.await(1);
  CHECK(eventually([&] { return policy_in(Lane::Compile, scheduler) == SCHED_BATCH; }));
}

#endif
