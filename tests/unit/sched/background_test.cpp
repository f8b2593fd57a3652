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

TEST_CASE("background: a thread is there while it says so, and not longer") {
  std::thread([] {
    REQUIRE(policy_of_this_thread() == SCHED_OTHER);
    {
      const Background background;
      CHECK(policy_of_this_thread() == SCHED_BATCH);
      const Background again;
      CHECK(policy_of_this_thread() == SCHED_BATCH);
    }
    CHECK(policy_of_this_thread() == SCHED_OTHER);
  }).join();
}

TEST_CASE("background: a policy the host has chosen stays") {
  std::thread([] {
    const sched_param parameters{};
    REQUIRE(sched_setscheduler(0, SCHED_IDLE, &parameters) == 0);
    { const Background background; CHECK(policy_of_this_thread() == SCHED_IDLE); }
    CHECK(policy_of_this_thread() == SCHED_IDLE);
  }).join();
}

TEST_CASE("background: compilations are, evaluations are not") {
  SystemClock clock;
  HybridScheduler scheduler(clock, nullptr, pool_only());
  CHECK(policy_in(Lane::Compile, scheduler) == SCHED_BATCH);
  CHECK(policy_in(Lane::Native, scheduler) == SCHED_BATCH);
  CHECK(policy_in(Lane::Eval, scheduler) == SCHED_OTHER);
}

#endif
