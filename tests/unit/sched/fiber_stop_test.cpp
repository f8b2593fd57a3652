// Ends: cancelling tasks, stopping with and without a deadline, unbinding, destroying executors full of work.
#include <functional>

#include "fiber_fixture.h"
#include "sched/fiber/channel.h"
#include "sched/fiber/mutex.h"

using namespace posset::sched;
using namespace posset::sched::fiber;
using namespace posset::sched::fiber::test;

namespace {

constexpr int64_t kAtOnce = 0;  // a deadline that has passed

}  // namespace

TEST_CASE("fiber cancel: a task that has not begun never begins, and its end is told at once") {
  with_workers([](Setup& setup) {
    std::atomic<bool> ran{false}, stop{false};
    // Every worker is kept busy, so that nothing begins.
    const uint32_t workers = setup.executors->statistics().idle;
    WaitGroup holding(workers);
    for (uint32_t i = 0; i < workers; ++i) {
      setup.executors->schedule([&] {
        holding.done();
        while (!stop) std::this_thread::yield();
      });
    }
    CHECK(holding.wait(setup.late()) == Wait::Ok);
    const auto spawned = setup.executors->spawn([&, tracked = setup.tracked()] { ran = true; });
    CHECK(setup.alive == 1);
    CHECK(spawned.task.cancel());
    CHECK_FALSE(spawned.task.cancel());
    CHECK(setup.alive == 0);
    CHECK(spawned.task.state() == TaskState::Cancelled);
    CHECK(spawned.task.join(kAtOnce) == Wait::Ok);
    stop = true;
    setup.end();
    CHECK_FALSE(ran);
  });
}

TEST_CASE("fiber cancel: every kind of wait returns Cancelled") {
  with_workers([](Setup& setup) {
    Event event;
    WaitGroup group(1), begun(7), all(7);
    FiberMutex mutex, other;
    Condition condition;
    Channel<int> channel;
    REQUIRE(mutex.try_lock());
    const auto forever = setup.executors->spawn([&] { event.wait(); });
    std::vector<TaskHandle> tasks;
    auto waits = [&](auto&& wait) {
      tasks.push_back(setup.executors->spawn([&, wait, tracked = setup.tracked()] {
        begun.done();
        CHECK(wait() == Wait::Cancelled);
        CHECK(this_fiber::cancelled());
        CHECK(wait() == Wait::Cancelled);  // and from then on
        all.done();
      }).task);
    };
    waits([&] { return event.wait(); });
    waits([&] { return group.wait(setup.late()); });
    waits([&] { return mutex.lock(); });
    waits([&] {
      FiberLock lock(other);
      const Wait answer = condition.wait(lock, [] { return false; });
      CHECK(lock.owns());
      return answer;
    });
    waits([&] {
      int value = 0;
      return channel.receive(value);
    });
    waits([&] {
      int value = 0;
      ReceiveCase<int> receive(channel, value);
      return select({&receive}).answer;
    });
    waits([&] { return forever.task.join(); });
    CHECK(begun.wait(setup.late()) == Wait::Ok);
    for (const TaskHandle& task : tasks) CHECK(task.cancel());
    CHECK(all.wait(setup.late()) == Wait::Ok);
    for (const TaskHandle& task : tasks) CHECK(task.join(setup.late()) == Wait::Ok);
    for (const TaskHandle& task : tasks) CHECK(task.state() == TaskState::Done);  // it returned
    event.signal();
    CHECK(forever.task.join(setup.late()) == Wait::Ok);
    // Nobody is left in a list: what comes now is for others.
    CHECK(channel.send(1, kAtOnce) == Wait::Timeout);
    mutex.unlock();
    CHECK(mutex.try_lock());
  });
}

TEST_CASE("fiber cancel: a race with the start and with the end has one outcome") {
  with_workers([](Setup& setup) {
    for (int i = 0; i < 300; ++i) {
      std::atomic<int> ran{0};
      const auto spawned = setup.executors->spawn([&] { ++ran; });
      if (i % 3 == 0) std::this_thread::yield();
      spawned.task.cancel();
      CHECK(spawned.task.join(setup.late()) == Wait::Ok);
      CHECK((ran == 1) == (spawned.task.state() == TaskState::Done));
      CHECK((ran == 0) == (spawned.task.state() == TaskState::Cancelled));
    }
  });
}

TEST_CASE("fiber cancel: a task that waits on regardless is unwound") {
  with_workers([](Setup& setup) {
    Event never, begun;
    std::atomic<int> told{0};
    const auto spawned = setup.executors->spawn([&, tracked = setup.tracked()] {
      const Tracked on_stack = setup.tracked();
      begun.signal();
      for (;;) told += never.wait() == Wait::Cancelled;
    });
    CHECK(begun.wait(setup.late()) == Wait::Ok);
    CHECK(spawned.task.cancel());
    CHECK(spawned.task.join(setup.late()) == Wait::Ok);
    CHECK(spawned.task.state() == TaskState::Cancelled);
    CHECK(told > 1);
    CHECK(setup.alive == 0);
    CHECK(setup.errors == 0);
  });
}

TEST_CASE("fiber stop: a thousand pending tasks and a thousand blocked fibers all end") {
  for (uint32_t workers : kCounts) {
    CAPTURE(workers);
    constexpr int kEach = 1000;
    std::atomic<int> ended{0};
    std::atomic<int64_t> alive{0};
    SystemClock clock;
    {
      Event go;
      Executors executors(clock, {.workers = workers, .stack_bytes = 64 << 10, .stop_ns = kNever});
      REQUIRE(executors.bind());
      for (int i = 0; i < kEach; ++i) {
        executors.schedule([&, tracked = Tracked(alive)] { go.wait(), ++ended; });
      }
      for (int i = 0; i < kEach; ++i) executors.schedule([&, tracked = Tracked(alive)] { ++ended; });
      executors.schedule([&] { go.signal(); });
      CHECK(executors.unbind());
      // Here the destructor runs: with worker threads most is still to be done.
    }
    CHECK(ended == 2 * kEach);
    CHECK(alive == 0);
  }
}

TEST_CASE("fiber stop: work that makes work elsewhere is waited for") {
  with_workers([](Setup& setup) {
    std::atomic<int> ran{0};
    // Each task makes two on whatever worker, ten times: a worker without work may not go while others may have some.
    std::function<void(int)> grow = [&](int depth) {
      ++ran;
      if (depth == 0) return;
      for (int i = 0; i < 2; ++i) CHECK(setup.executors->schedule([&, depth] { grow(depth - 1); }) == Scheduled::Accepted);
    };
    setup.executors->schedule([&] { grow(10); });
    setup.end();
    CHECK(ran == 2047);
  });
}

TEST_CASE("fiber stop: an event that is never signalled ends at the deadline with Cancelled") {
  for (uint32_t workers : kCounts) {
    CAPTURE(workers);
    SystemClock clock;
    Event never;
    std::atomic<int> cancelled{0};
    std::atomic<int64_t> alive{0};
    Executors executors(clock, {.workers = workers, .stack_bytes = 64 << 10});
    REQUIRE(executors.bind());
    WaitGroup begun(10);
    for (int i = 0; i < 10; ++i) {
      executors.schedule([&, tracked = Tracked(alive)] { begun.done(), cancelled += never.wait() == Wait::Cancelled; },
                         {.name = "waits " + std::to_string(i)});
    }
    CHECK(begun.wait(clock.now_ns() + 60 * kSecond) == Wait::Ok);
    const StopReport report = executors.stop(clock.now_ns() + 20 * kMillisecond);
    CHECK_FALSE(report.in_time);
    CHECK(report.blocked.size() == 10);
    CHECK(report.text().find("waits 7 waits for an event") != std::string::npos);
    CHECK(report.bound == 0);
    CHECK(cancelled == 10);
    CHECK(alive == 0);
    CHECK(executors.schedule([] {}) == Scheduled::Stopped);
    CHECK(executors.stop().in_time);  // again: nothing is left
    CHECK(executors.unbind());
    CHECK_FALSE(executors.bind());
  }
}

TEST_CASE("fiber stop: at the deadline tasks that have not begun never begin, and are told") {
  for (uint32_t workers : {0U, 1U}) {
    CAPTURE(workers);
    SystemClock clock;
    std::atomic<int> ran{0};
    std::atomic<int64_t> alive{0};
    Executors executors(clock, {.workers = workers, .max_fibers = 1});
    REQUIRE(executors.bind());
    Event never, begun;
    executors.schedule([&] { begun.signal(), never.wait(); });
    std::vector<TaskHandle> tasks;
    for (int i = 0; i < 100; ++i) tasks.push_back(executors.spawn([&, tracked = Tracked(alive)] { ++ran; }).task);
    CHECK(begun.wait(clock.now_ns() + 60 * kSecond) == Wait::Ok);
    const StopReport report = executors.stop(clock.now_ns() + 5 * kMillisecond);
    CHECK(report.never_began == 100);
    CHECK(ran == 0);
    CHECK(alive == 0);
    for (const TaskHandle& task : tasks) CHECK(task.state() == TaskState::Cancelled);
    CHECK(executors.statistics().cancelled == 100);
    CHECK(executors.unbind());
  }
}

TEST_CASE("fiber stop: what ignores it is unwound, what holds a mutex for ever does not hang it") {
  for (uint32_t workers : kCounts) {
    CAPTURE(workers);
    SystemClock clock;
    std::atomic<int64_t> alive{0};
    Event never;
    FiberMutex mutex;
    Condition condition;
    Executors executors(clock, {.workers = workers, .stack_bytes = 64 << 10});
    REQUIRE(executors.bind());
    WaitGroup begun(3);
    executors.schedule([&, tracked = Tracked(alive)] {
      begun.done();
      for (;;) never.wait();
    });
    executors.schedule([&, tracked = Tracked(alive)] {
      begun.done();
      for (;;) this_fiber::yield_preempted();
    });
    // Never gets its mutex back, for which it would wait though it be cancelled: somebody has taken it and gone.
    executors.schedule([&, tracked = Tracked(alive)] {
      FiberLock lock(mutex);
      executors.schedule([&] {
        CHECK(mutex.lock() == Wait::Ok);
        begun.done();
      });
      CHECK(condition.wait(lock) == Wait::Cancelled);
      CHECK_FALSE(lock.owns());
    });
    CHECK(begun.wait(clock.now_ns() + 60 * kSecond) == Wait::Ok);
    CHECK_FALSE(executors.stop(clock.now_ns() + 20 * kMillisecond).in_time);
    CHECK(alive == 0);
    CHECK(executors.unbind());
  }
}

TEST_CASE("fiber stop: from a task it only asks") {
  with_workers([](Setup& setup) {
    Event done;
    setup.executors->schedule([&] {
      setup.executors->stop();
      CHECK(setup.executors->schedule([&] { done.signal(); }) == Scheduled::Accepted);  // a task may still make tasks
    });
    CHECK(done.wait(setup.late()) == Wait::Ok);
    std::thread([&] { CHECK(setup.executors->schedule([] {}) != Scheduled::Accepted); }).join();
  });
}

TEST_CASE("fiber stop: start and stop many times, with strangers that hand in") {
  SystemClock clock;
  for (int i = 0; i < 200; ++i) {
    std::atomic<int> ran{0}, taken{0};
    std::atomic<bool> go{false};
    Executors executors(clock, {.workers = 2, .stack_bytes = 64 << 10, .spin_ns = 10 * kMicrosecond});
    std::thread stranger([&] {
      go = true;
      while (executors.schedule([&] { ++ran; }) == Scheduled::Accepted) ++taken;
    });
    while (!go) std::this_thread::yield();
    CHECK(executors.stop().in_time);
    stranger.join();
    CHECK(ran == taken);
  }
}

TEST_CASE("fiber stop: unbinding has a deadline too") {
  SystemClock clock;
  Executors executors(clock);
  REQUIRE(executors.bind());
  Event never;
  Wait answer = Wait::Ok;
  executors.schedule([&] { answer = never.wait(); });
  CHECK(executors.unbind(clock.now_ns() + 5 * kMillisecond));
  CHECK(answer == Wait::Cancelled);
}

TEST_CASE("fiber stop: a bound thread that waits is let go at the deadline") {
  SystemClock clock;
  Executors executors(clock, {.workers = 1});
  Event never, bound;
  std::atomic<Wait> answer{Wait::Ok};
  std::thread host([&] {
    REQUIRE(executors.bind());
    bound.signal();
    answer = never.wait();
    CHECK(executors.unbind());
  });
  CHECK(bound.wait() == Wait::Ok);
  CHECK(executors.stop(clock.now_ns() + 20 * kMillisecond).bound <= 1);
  host.join();
  CHECK(answer == Wait::Cancelled);
}

TEST_CASE("fiber task: handles outlive the executors") {
  TaskHandle task;
  {
    SystemClock clock;
    Executors executors(clock, {.workers = 1});
    task = executors.spawn([] {}, {.name = "long gone"}).task;
  }
  CHECK(task.state() == TaskState::Done);
  CHECK(task.join() == Wait::Ok);
  CHECK_FALSE(task.cancel());
  CHECK(task.title() == "long gone");
}
