// The fiber executors with real threads: where tasks run and when, who may schedule, and what marl's scheduler gets wrong.
// What does the waiting is in fiber_sync_test.cpp, ends are in fiber_stop_test.cpp.
#include "sched/fiber/executors.h"

#include <array>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>

#include "fiber_fixture.h"
#include "sched/base/native_stack.h"
#include "sched/fiber/channel.h"
#include "sched/trace_events.h"

using namespace posset::sched;
using namespace posset::sched::fiber;
using namespace posset::sched::fiber::test;

namespace {

// A trace of what happened, from any thread.
class Log {
 public:
  void add(std::string line) {
    std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
  }
  std::vector<std::string> lines() {
    std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

// Keeps a worker from taking anything, without a wait that it would see, until it is let go.
class Hold {
 public:
  void operator()() {
    begun_ = true;
    begun_.notify_all();
    released_.wait(false);
  }
  void await() { begun_.wait(false); }
  void release() {
    released_ = true;
    released_.notify_all();
  }

 private:
  std::atomic<bool> begun_{false}, released_{false};
};

Config one_worker() { return {.workers = 1}; }

}  // namespace

TEST_CASE("fiber executors regression: a task came behind another that was just to begin, and the worker itself was called for it") {
  const SystemClock clock;
  for (int round = 0; round < 200; ++round) {
    Executors executors(clock, {.workers = 2, .tasks_last = true});
    std::atomic<int> begun{0};
    std::atomic<bool> met{true};
    const auto meet = [&] {  // blocks its thread; so long only where nobody comes
      const int64_t until_ns = clock.now_ns() + 20 * kSecond;
      ++begun;
      while (begun < 2 && clock.now_ns() < until_ns) std::this_thread::yield();
      if (begun < 2) met = false;
    };
    executors.schedule(meet);
    const int64_t pause_ns = round * 200, then_ns = clock.now_ns() + pause_ns;
    while (clock.now_ns() < then_ns) {
    }
    executors.schedule(meet);
    CHECK(executors.stop().in_time);
    REQUIRE(met);
  }
}

TEST_CASE("fiber executors: every task runs once, whatever the number of workers") {
  with_workers([](Setup& setup) {
    constexpr int kTasks = 2000;
    std::atomic<int> ran{0};
    WaitGroup all(kTasks);
    for (int i = 0; i < kTasks; ++i) {
      REQUIRE(setup.executors->schedule([&, tracked = setup.tracked()] { ++ran, all.done(); }) == Scheduled::Accepted);
    }
    CHECK(all.wait(setup.late()) == Wait::Ok);
    CHECK(ran == kTasks);
  });
}

TEST_CASE("fiber executors: fibers resume on the thread they began on") {
  with_workers([](Setup& setup) {
    constexpr int kTasks = 1000;
    std::atomic<int> moved{0};
    WaitGroup blocked(kTasks), all(kTasks);
    Event go;
    for (int i = 0; i < kTasks; ++i) {
      setup.executors->schedule([&] {
        const auto thread = std::this_thread::get_id();
        const int worker = this_fiber::worker();
        blocked.done();
        go.wait();
        moved += thread != std::this_thread::get_id() || worker != this_fiber::worker();
        all.done();
      });
    }
    CHECK(blocked.wait(setup.late()) == Wait::Ok);
    go.signal();
    CHECK(all.wait(setup.late()) == Wait::Ok);
    CHECK(moved == 0);
  });
}

TEST_CASE("fiber executors: a bound thread goes on on itself, however many there are") {
  with_workers([](Setup& setup) {
    constexpr int kThreads = 100;
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        wrong += !setup.executors->bind();
        const auto thread = std::this_thread::get_id();
        Event done;
        wrong += setup.executors->schedule([&] { done.signal(); }) != Scheduled::Accepted;
        wrong += done.wait(setup.late()) != Wait::Ok;
        wrong += thread != std::this_thread::get_id();
        wrong += !setup.executors->unbind();
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
  });
}

TEST_CASE("fiber executors: unblocked fibers go on before new tasks begin") {
  Setup setup(0);
  Log log;
  Event go;
  WaitGroup all(5);
  for (const char* name : {"a", "b"}) {
    setup.executors->schedule([&, name] {
      log.add(std::string(name) + " blocks");
      go.wait();
      log.add(std::string(name) + " goes on");
      all.done();
    });
  }
  setup.executors->schedule([&] {
    for (const char* name : {"c", "d"}) {
      setup.executors->schedule([&, name] { log.add(name), all.done(); });
    }
    go.signal();
    log.add("signalled");
    all.done();
  });
  CHECK(all.wait(setup.late()) == Wait::Ok);
  CHECK(log.lines() == std::vector<std::string>{"a blocks", "b blocks", "signalled", "a goes on", "b goes on", "c", "d"});
}

TEST_CASE("fiber executors: what hands over to another goes on when that hands back") {
  Setup setup(0);
  Log log;
  Parker* parkers[2] = {};
  WaitGroup all(2);
  for (const int which : {0, 1}) {
    setup.executors->schedule([&, which] {
      const ThisParker self;
      parkers[which] = &*self;
      if (which == 0) (*self).park(setup.late(), "the other");
      for (int round = 0; round < 3; ++round) {
        log.add("ab"[which] + std::to_string(round));
        if (round < 2 || which == 1) (*self).hand_over(*parkers[1 - which], setup.late(), "the other");
      }
      if (which == 0) parkers[1]->unpark();
      all.done();
    });
  }
  const uint64_t before = setup.executors->statistics().switches;
  CHECK(all.wait(setup.late()) == Wait::Ok);
  CHECK(log.lines() == std::vector<std::string>{"b0", "a0", "b1", "a1", "b2", "a2"});
  CHECK(setup.executors->statistics().switches - before <= 10);
}

TEST_CASE("fiber executors: who was unblocked before comes before what is handed over to") {
  Setup setup(0);
  Log log;
  std::vector<Parker*> parkers;
  WaitGroup all(5);
  for (const char* name : {"first", "second", "next"}) {
    setup.executors->schedule([&, name] {
      const ThisParker self;
      parkers.push_back(&*self);
      (*self).park(setup.late(), "its turn");
      log.add(name);
      all.done();
      if (parkers.size() == 4) parkers[3]->unpark();
    });
  }
  setup.executors->schedule([&] {
    const ThisParker self;
    parkers.push_back(&*self);
    setup.executors->schedule([&] { log.add("a new task"), all.done(); });
    parkers[0]->unpark();
    parkers[1]->unpark();
    (*self).hand_over(*parkers[2], setup.late(), "the others");
    log.add("goes on");
    all.done();
  });
  CHECK(all.wait(setup.late()) == Wait::Ok);
  CHECK(log.lines() == std::vector<std::string>{"first", "second", "next", "goes on", "a new task"});
}

TEST_CASE("fiber executors: who was unparked before it hands over does not wait, and the other goes on nevertheless") {
  Setup setup(0);
  Log log;
  Parker* next = nullptr;
  WaitGroup all(2);
  setup.executors->schedule([&] {
    const ThisParker self;
    next = &*self;
    (*self).park(setup.late(), "the other");
    log.add("next");
    all.done();
  });
  setup.executors->schedule([&] {
    const ThisParker self;
    (*self).unpark();
    (*self).hand_over(*next, kNever, "nobody");
    log.add("has not waited");
    (*self).hand_over(*next, setup.soon(), "a time");
    log.add("has waited");
    all.done();
  });
  CHECK(all.wait(setup.late()) == Wait::Ok);
  CHECK(log.lines() == std::vector<std::string>{"has not waited", "next", "has waited"});
}

TEST_CASE("fiber executors: what hands over reaches the fibers of other workers, and threads") {
  with_workers([](Setup& setup) {
    constexpr int kRounds = 200;
    std::atomic<int> turn{0};
    std::atomic<Parker*> parkers[2] = {};
    WaitGroup all(1);
    // Each in its turn; whoever waits looks again, as parking may end for no reason.
    const auto go_round = [&](int which) {
      const ThisParker self;
      parkers[which] = &*self;
      for (int round = 0; round < kRounds; ++round) {
        while (turn % 2 != which || !parkers[1 - which]) {
          if (parkers[1 - which] || which == 1) (*self).park(setup.soon(), "its turn");
          else this_fiber::sleep_until(setup.soon());
        }
        ++turn;
        (*self).hand_over(*parkers[1 - which], setup.soon(), "the other's turn");
      }
    };
    setup.executors->schedule([&] {
      go_round(1);
      all.done();
    });
    go_round(0);
    CHECK(all.wait(setup.late()) == Wait::Ok);
    CHECK(turn == 2 * kRounds);
  });
}

TEST_CASE("fiber executors: new tasks and preempted fibers take turns") {
  Setup setup(0);
  Log log;
  WaitGroup all(5);
  for (const char* name : {"x", "y"}) {
    setup.executors->schedule([&, name] {
      for (int quantum = 0; quantum < 3; ++quantum) {
        log.add(name);
        CHECK(this_fiber::yield_preempted() == Wait::Ok);
      }
      all.done();
    });
  }
  for (const char* name : {"1", "2", "3"}) setup.executors->schedule([&, name] { log.add(name), all.done(); });
  CHECK(all.wait(setup.late()) == Wait::Ok);
  // x was a new task, and is alone among the preempted: it is not the next itself, y begins; then x goes on, 1 begins, and so on.
  CHECK(log.lines() == std::vector<std::string>{"x", "y", "x", "1", "y", "2", "x", "3", "y"});
}

TEST_CASE("fiber executors: a quantum's end with nothing else to do returns at once") {
  with_workers([](Setup& setup) {
    WaitGroup all(1);
    const uint64_t before = setup.executors->statistics().switches;
    setup.executors->schedule([&] {
      for (int i = 0; i < 1000; ++i) this_fiber::yield_preempted();
      all.done();
    });
    CHECK(all.wait(setup.late()) == Wait::Ok);
    CHECK(setup.executors->statistics().switches - before < 100);
  });
}

TEST_CASE("fiber executors: without worker threads nothing runs before the wait") {
  Setup setup(0);
  int ran = 0;
  Event done;
  for (int i = 0; i < 10; ++i) setup.executors->schedule([&] { ++ran; });
  setup.executors->schedule([&] { done.signal(); });
  std::this_thread::yield();
  CHECK(ran == 0);
  CHECK(setup.executors->statistics().threads == 0);
  CHECK(done.wait(setup.late()) == Wait::Ok);
  CHECK(ran == 10);
}

TEST_CASE("fiber executors: unbinding runs what is left") {
  Setup setup(0);
  int ran = 0;
  Event never_waited_for;
  setup.executors->schedule([&] { never_waited_for.wait(), ++ran; });
  setup.executors->schedule([&] {
    ++ran;
    setup.executors->schedule([&] { ++ran, never_waited_for.signal(); });
  });
  CHECK(setup.executors->unbind());
  CHECK(ran == 3);
  CHECK_FALSE(setup.executors->unbind());
  CHECK(setup.executors->bind());
}

TEST_CASE("fiber executors: with worker threads tasks run on those alone") {
  constexpr int kTasks = 10'000;
  Setup setup(8);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  WaitGroup all(kTasks);
  for (int i = 0; i < kTasks; ++i) {
    setup.executors->schedule([&] {
      {
        std::lock_guard lock(mutex);
        threads.insert(std::this_thread::get_id());
      }
      all.done();
    });
  }
  CHECK(all.wait(setup.late()) == Wait::Ok);
  CHECK(threads.size() <= 8);
  CHECK(threads.count(std::this_thread::get_id()) == 0);
}

TEST_CASE("fiber executors: a thread that detaches finds its tasks where they were") {
  Setup outer(0), inner(0);
  CHECK_FALSE(outer.executors->detach());  // it is bound to the other one since
  Event go_on;
  std::vector<int> seen;
  for (int i = 0; i < 3; ++i) {
    inner.executors->schedule([&, i] {
      seen.push_back(i);
      CHECK(go_on.wait() == Wait::Ok);
      seen.push_back(i + 10);
    });
  }
  for (int i = 0; i < 3; ++i) this_fiber::yield_preempted();  // one begins each time
  CHECK(seen == std::vector<int>{0, 1, 2});
  CHECK(inner.executors->detach());
  CHECK_FALSE(inner.executors->detach());
  go_on.signal();
  CHECK(outer.executors->spawn([&] { seen.push_back(5); }).task.join() == Wait::Ok);
  CHECK(seen == std::vector<int>{0, 1, 2, 5});
  std::thread stranger([&] { CHECK_FALSE(inner.executors->attach()); });
  stranger.join();
  CHECK(inner.executors->attach());
  CHECK_FALSE(inner.executors->attach());
  this_fiber::yield_preempted();
  CHECK(seen == std::vector<int>{0, 1, 2, 5, 10, 11, 12});
  inner.end();
}

TEST_CASE(
    "fiber executors: a worker that sleeps looks when it is posted to, and when it said it would") {
  std::atomic<int> looks{0}, stuck{0};
  Event enough;
  WakeUp wake_up;
  SystemClock clock;
  int64_t at_ns = clock.now_ns() + kMillisecond;
  Config config;
  config.wake_up = &wake_up;
  config.on_stuck = [&](const StuckReport&) { ++stuck; };
  config.watch_at = [&] { return at_ns; };
  config.on_watch = [&] {
    if (at_ns == kNever || clock.now_ns() < at_ns) return;
    ++looks;
    at_ns += kMillisecond;
    if (looks == 3) enough.signal(), at_ns = kNever;
  };
  Setup setup(0, std::move(config));
  CHECK(enough.wait() == Wait::Ok);
  CHECK(looks == 3);
  CHECK(stuck == 1);  // nobody knew
}

TEST_CASE(
    "fiber executors: a worker that sleeps for something looks once before, and then only if it is "
    "posted to") {
  std::atomic<int> looks{0};
  WakeUp wake_up;
  Config config;
  config.wake_up = &wake_up;
  config.on_watch = [&] { ++looks; };
  Setup setup(0, std::move(config));
  CHECK(this_fiber::sleep_until(setup.clock.now_ns() + 50 * kMillisecond) == Wait::Timeout);
  CHECK(looks <= 2);  // a system may end a wait early, once
  wake_up.post();
  wake_up.post();
  const int before = looks;
  CHECK(this_fiber::sleep_until(setup.clock.now_ns() + kMillisecond) == Wait::Timeout);
  CHECK(looks <= before + 3);
}

TEST_CASE("fiber executors: a worker may do something else than sleep, until another thread wakes a task") {
  std::atomic<int> sleeps{0}, told{0};
  Event enough;
  std::thread other;
  WakeUp wake_up;
  const WakeUp::Listener listener{[](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &told};
  wake_up.tell_too(&listener);
  Config config;
  config.wake_up = &wake_up;
  config.on_sleep = [&](int64_t) {
    if (wake_up.take()) return;
    if (++sleeps == 1) {
      other = std::thread([&] { enough.signal(); });
      throw 1;  // counted, and the worker goes on
    }
    while (told == 0) std::this_thread::yield();
  };
  Setup setup(0, std::move(config));
  CHECK(enough.wait() == Wait::Ok);
  other.join();
  CHECK(sleeps >= 1);
  CHECK(told == 1);
  CHECK(setup.executors->statistics().lost_errors == 1);
  wake_up.tell_too(nullptr);
  static_cast<void>(wake_up.take());
  wake_up.post();
  CHECK(told == 1);
  CHECK(wake_up.take());
  CHECK_FALSE(wake_up.take());
}

TEST_CASE("fiber executors: stacks come from a pool and go back to it") {
  constexpr size_t kBytes = size_t{96} << 10;
  StackPool pool(kBytes, 3);
  std::set<const char*> first, second;
  for (std::set<const char*>* stacks : {&first, &second}) {
    Config config;
    config.stacks = &pool;
    Setup setup(0, std::move(config));
    Event go_on;
    for (int i = 0; i < 3; ++i) {
      setup.executors->schedule([&, held = setup.tracked()] {
        stacks->insert(this_fiber::stack_low());
        CHECK(go_on.wait() == Wait::Ok);
      });
    }
    setup.executors->schedule([&] { go_on.signal(); });
  }
  CHECK(first.size() == 3);
  CHECK(second == first);
  size_t kept = 0;
  for (int i = 0; i < 3; ++i) {
    const auto stack = pool.take();
    CHECK(stack->bytes() == kBytes);
    kept += first.count(stack->low());
  }
  CHECK(kept == 3);
}

TEST_CASE("fiber executors: a thread that is not bound may schedule where there are worker threads") {
  for (uint32_t workers : kCounts) {
    CAPTURE(workers);
    SystemClock clock;
    Executors executors(clock, {.workers = workers});
    std::atomic<bool> ran{false};
    const auto spawned = executors.spawn([&] { ran = true; });
    if (workers == 0) {
      CHECK(spawned.answer == Scheduled::NotBound);
      CHECK(std::string(explain(spawned.answer)).find("bind") != std::string::npos);
      CHECK(spawned.task.state() == TaskState::Cancelled);
      CHECK(spawned.task.join() == Wait::Ok);
    } else {
      CHECK(spawned.answer == Scheduled::Accepted);
      CHECK(spawned.task.join(clock.now_ns() + 60 * kSecond) == Wait::Ok);
    }
    CHECK(ran == (workers != 0));
    CHECK(executors.schedule([] {}, {.same_thread = true}) == Scheduled::NotBound);
  }
}

TEST_CASE("fiber executors: a task for the same thread begins there") {
  with_workers([](Setup& setup) {
    Event done;
    const auto here = std::this_thread::get_id();
    std::atomic<bool> on_host{false}, on_worker{false};
    setup.executors->schedule([&] { on_host = std::this_thread::get_id() == here; }, {.same_thread = true});
    setup.executors->schedule([&] {
      const int worker = this_fiber::worker();
      setup.executors->schedule([&, worker] { on_worker = this_fiber::worker() == worker, done.signal(); }, {.same_thread = true});
    });
    CHECK(done.wait(setup.late()) == Wait::Ok);
    CHECK(on_worker);
    CHECK(setup.executors->unbind());
    CHECK(on_host);
    CHECK(setup.executors->bind());
  });
}

TEST_CASE("fiber executors: no thread starts before there is something to do") {
  SystemClock clock;
  Executors executors(clock, {.workers = 64});
  CHECK(executors.statistics().threads == 0);
  CHECK(executors.statistics().idle == 64);
  const auto one = executors.spawn([] {});
  CHECK(one.task.join() == Wait::Ok);
  CHECK(executors.statistics().threads == 1);
}

TEST_CASE("fiber executors: as many tasks as idle workers go to as many workers") {
  for (uint32_t workers : {2U, 4U, 8U, 64U}) {
    CAPTURE(workers);
    Setup setup(workers);
    // The second time all threads have been started and sleep again.
    for (int round = 0; round < 2; ++round) {
      while (setup.executors->statistics().idle < workers) std::this_thread::yield();
      std::mutex mutex;
      std::set<int> used;
      std::atomic<uint32_t> begun{0};
      WaitGroup all(workers);
      for (uint32_t i = 0; i < workers; ++i) {
        setup.executors->schedule([&] {
          {
            std::lock_guard lock(mutex);
            used.insert(this_fiber::worker());
          }
          // Nobody ends before all have begun: two on one worker would never get on.
          ++begun;
          begun.notify_all();
          for (uint32_t seen; (seen = begun) < workers;) begun.wait(seen);
          all.done();
        });
      }
      CHECK(all.wait(setup.late()) == Wait::Ok);
      CHECK(used.size() == workers);
    }
  }
}

TEST_CASE("fiber executors: a worker without work takes what another cannot begin") {
  Setup setup(2);
  Hold hold;
  WaitGroup all(100);
  std::atomic<int> elsewhere{0};
  setup.executors->schedule([&] {
    const int held = this_fiber::worker();
    for (int i = 0; i < 100; ++i) {
      setup.executors->schedule([&, held] {
        elsewhere += this_fiber::worker() != held;
        all.done();
      });
    }
    hold();
  });
  hold.await();
  CHECK(all.wait(setup.late()) == Wait::Ok);  // though half of them were given to the one that is held
  CHECK(elsewhere == 100);
  hold.release();
}

TEST_CASE("fiber executors: tasks for the same thread are not taken") {
  Setup setup(4);
  std::atomic<int> moved{0};
  WaitGroup all(200);
  setup.executors->schedule([&] {
    const int home = this_fiber::worker();
    for (int i = 0; i < 200; ++i) {
      setup.executors->schedule([&, home] { moved += this_fiber::worker() != home, all.done(); }, {.same_thread = true});
    }
  });
  CHECK(all.wait(setup.late()) == Wait::Ok);
  CHECK(moved == 0);
}

TEST_CASE("fiber executors: a stranger is refused when too many tasks wait, a task is not") {
  Setup setup(1, {.max_pending = 10});
  Hold hold;
  std::atomic<int> ran{0};
  const auto stranger = [&](auto&& body) {
    Scheduled answer = Scheduled::Stopped;
    std::thread([&] { answer = setup.executors->schedule(body); }).join();
    return answer;
  };
  REQUIRE(stranger([&] {
    for (int i = 0; i < 100; ++i) CHECK(setup.executors->schedule([&] { ++ran; }) == Scheduled::Accepted);
    hold();
  }) == Scheduled::Accepted);
  hold.await();
  for (int i = 0; i < 10; ++i) CHECK(stranger([&] { ++ran; }) == Scheduled::Accepted);
  CHECK(stranger([&] { ++ran; }) == Scheduled::QueueFull);
  CHECK(setup.executors->statistics().refused == 1);
  hold.release();
  setup.end();
  CHECK(ran == 110);
}

TEST_CASE("fiber executors: an exception that leaves a task is told, and the worker goes on") {
  with_workers([](Setup& setup) {
    const auto bad = setup.executors->spawn([tracked = setup.tracked()] { throw std::runtime_error("no"); }, {.name = "bad"});
    const auto good = setup.executors->spawn([] {});
    CHECK(good.task.join(setup.late()) == Wait::Ok);
    CHECK(bad.task.join(setup.late()) == Wait::Ok);
    CHECK(bad.task.state() == TaskState::Failed);
    CHECK(good.task.state() == TaskState::Done);
    CHECK_THROWS_AS(std::rethrow_exception(bad.task.error()), std::runtime_error);
    CHECK(setup.errors == 1);
    CHECK(setup.executors->statistics().failed == 1);
  });
}

TEST_CASE("fiber executors: what the host throws when it is told is counted") {
  Setup setup(1, {.on_error = [](std::string_view title, std::exception_ptr) {
            CHECK(title == "bad");
            throw 1;
          }});
  const auto bad = setup.executors->spawn([] { throw 2; }, {.name = "bad"});
  CHECK(bad.task.join(setup.late()) == Wait::Ok);
  CHECK(setup.executors->statistics().lost_errors == 1);
}

TEST_CASE("fiber executors: a task may block while an exception is under way") {
  with_workers([](Setup& setup) {
    struct Waits {
      Event& event;
      ~Waits() { event.wait(); }
    };
    Event first, second;
    WaitGroup all(3);
    auto throws = [&](Event& event, int value) {
      try {
        Waits waits{event};
        throw value;
      } catch (int caught) {
        CHECK(caught == value);
        try {
          throw caught + 1;
        } catch (int again) {
          Event().wait(setup.soon());
          CHECK(again == value + 1);
        }
      }
      CHECK(std::uncaught_exceptions() == 0);
      CHECK(std::current_exception() == nullptr);
      all.done();
    };
    setup.executors->schedule([&] { throws(first, 10); });
    setup.executors->schedule([&] { throws(second, 20); });
    setup.executors->schedule([&] { second.signal(), first.signal(), all.done(); });
    CHECK(all.wait(setup.late()) == Wait::Ok);
  });
}

TEST_CASE("fiber executors: what a task holds goes before its end is told") {
  with_workers([](Setup& setup) {
    for (int i = 0; i < 100; ++i) {
      const auto spawned = setup.executors->spawn([tracked = setup.tracked()] {});
      CHECK(spawned.task.join(setup.late()) == Wait::Ok);
      CHECK(setup.alive == 0);
    }
  });
}

TEST_CASE("fiber executors: at the cap of fibers new tasks wait, and the host is told") {
  std::atomic<int> told{0};
  Log log;
  Setup setup(1, {.max_fibers = 4, .on_stuck = [&](const StuckReport& report) {
                    if (report.reason != StuckReport::Reason::AtCap) return;
                    log.add(report.text());
                    ++told;
                  }});
  Event go;
  std::atomic<int> begun{0}, ended{0};
  for (int i = 0; i < 10; ++i) {
    setup.executors->schedule([&] { ++begun, go.wait(), ++ended; }, {.name = "blocked " + std::to_string(i)});
  }
  while (told == 0) std::this_thread::yield();
  CHECK(begun == 4);
  const std::string text = log.lines()[0];
  CHECK(text.find("6 tasks wait to begin") != std::string::npos);
  for (const char* name : {"blocked 0", "blocked 1", "blocked 2", "blocked 3"}) CHECK(text.find(name) != std::string::npos);
  CHECK(text.find("an event") != std::string::npos);
  go.signal();
  setup.end();
  CHECK(ended == 10);
}

TEST_CASE("fiber executors: a stack that cannot be had fails the task, not the process") {
  SystemClock clock;
  std::atomic<int> errors{0};
  Executors executors(clock, {.workers = 1, .stack_bytes = size_t{1} << 50, .on_error = [&](std::string_view, std::exception_ptr) {
                                ++errors;
                              }});
  const auto spawned = executors.spawn([] {});
  CHECK(spawned.task.join(clock.now_ns() + 60 * kSecond) == Wait::Ok);
  CHECK(spawned.task.state() == TaskState::Cancelled);
  CHECK(errors == 1);
}

TEST_CASE("fiber executors: many tasks are blocked at once") {
#if defined(__SANITIZE_THREAD__)
  constexpr int kTasks = 2000;  // it knows some thousands of fibers at most
#else
  constexpr int kTasks = 20'000;
#endif
  for (uint32_t workers : {0U, 4U}) {
    CAPTURE(workers);
    Setup setup(workers, {.max_fibers = 20'000});
    WaitGroup blocked(kTasks), all(kTasks);
    Event go;
    for (int i = 0; i < kTasks; ++i) {
      REQUIRE(setup.executors->schedule([&, tracked = setup.tracked()] { blocked.done(), go.wait(), all.done(); }) == Scheduled::Accepted);
    }
    CHECK(blocked.wait(setup.late()) == Wait::Ok);
    CHECK(setup.executors->statistics().busy == kTasks);
    CHECK(setup.alive == kTasks);
    CHECK(setup.executors->blocked().size() >= kTasks - workers);  // some may still be on the way
    go.signal();
    CHECK(all.wait(setup.late()) == Wait::Ok);
  }
}

TEST_CASE("fiber executors: the host is told which tasks wait for each other") {
  Log log;
  Setup setup(2, {.on_stuck = [&](const StuckReport& report) { log.add(report.text()); }});
  Channel<int> left, right;
  auto waits = [](Channel<int>& from, Channel<int>& to) {
    int value = 0;
    if (from.receive(value) == Wait::Ok) to.send(1);
  };
  const auto one = setup.executors->spawn([&] { waits(left, right); }, {.name = "one"});
  const auto two = setup.executors->spawn([&] { waits(right, left); }, {.name = "two"});
  // While this thread runs it might wake somebody; when it waits as well, nothing inside can.
  CHECK(one.task.join(setup.soon()) == Wait::Timeout);  // with a deadline it does run again
  CHECK(log.lines().empty());
  std::thread wakes([&] {
    while (log.lines().empty()) std::this_thread::yield();
    left.send(0);
  });
  CHECK(one.task.join() == Wait::Ok);
  wakes.join();
  const std::string text = log.lines()[0];
  for (const char* part : {"one waits for a channel to receive from", "two waits for", "the bound thread waits for a task"}) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, text);
  }
  int value = 0;
  CHECK(left.receive(value, setup.late()) == Wait::Ok);
}

TEST_CASE("fiber executors: bindings to several executors nest and share nothing") {
  Setup outer(0);
  {
    Setup inner(2);
    CHECK_FALSE(inner.executors->bind());
    Event inside, outside;
    CHECK(outer.executors->schedule([&] { outside.signal(); }) == Scheduled::NotBound);  // it is bound to the other now
    inner.executors->schedule([&] { inside.signal(); });
    CHECK(inside.wait(inner.late()) == Wait::Ok);
    CHECK_FALSE(outer.executors->unbind());
  }
  Event outside;
  CHECK(outer.executors->schedule([&] { outside.signal(); }) == Scheduled::Accepted);
  CHECK(outside.wait(outer.late()) == Wait::Ok);
}

TEST_CASE("fiber executors: a trace tells the life of tasks") {
  SystemClock clock;
  Trace trace(clock);
  std::map<std::string, int> seen;
  {
    Executors executors(clock, one_worker(), &trace);
    CHECK(executors.spawn([] {}).task.join() == Wait::Ok);
  }
  for (const TraceEvent& event : trace.snapshot().events) {
    if (event.kind == static_cast<uint16_t>(TraceKind::task_finished)) CHECK(event.fields[2] == static_cast<int64_t>(Outcome::Done));
    CHECK(event.fields[1] == static_cast<int64_t>(Route::Fiber));
    ++seen[event.kind == static_cast<uint16_t>(TraceKind::task_queued)    ? "queued"
           : event.kind == static_cast<uint16_t>(TraceKind::task_started) ? "started"
                                                                          : "finished"];
  }
  CHECK(seen == std::map<std::string, int>{{"queued", 1}, {"started", 1}, {"finished", 1}});
}

TEST_CASE("fiber executors: a deep task finds its stack's end where it is told") {
  Setup setup(1);
  Event done;
  setup.executors->schedule([&] {
    const char* low = this_fiber::stack_low();
    REQUIRE(low != nullptr);
    CHECK(stack_position() > low);
    CHECK(stack_position() < low + (64 << 10));
    done.signal();
  });
  CHECK(done.wait(setup.late()) == Wait::Ok);
  CHECK(this_fiber::stack_low() == nullptr);
}

// ---- what is for one worker alone ----

TEST_CASE("fiber executors: what is for one worker runs there, whoever else is idle") {
  Setup setup(2);
  for (int round = 0; round < 100; ++round) {
    const auto claimed = static_cast<uint32_t>(round % 2);
    while (!setup.executors->claim(claimed)) std::this_thread::yield();
    std::atomic<int> at{-1};
    WaitGroup all(1);
    auto task = Executors::prepare([&, tracked = setup.tracked()] {
      at = this_fiber::worker();
      CHECK(setup.executors->own_worker() == this_fiber::worker());
      all.done();
    });
    CHECK(setup.executors->schedule_on(claimed, std::move(task)) == Scheduled::Accepted);
    CHECK(all.wait(setup.late()) == Wait::Ok);
    CHECK(at == static_cast<int>(claimed));
  }
  CHECK_FALSE(setup.executors->claim(2));
  CHECK_FALSE(setup.executors->is_idle(2));
}

TEST_CASE("fiber executors: tasks begin on the first workers, where the others have only what is for them") {
  constexpr int kTasks = 200;
  Config config;
  config.placing = 2;
  Setup setup(4, std::move(config));
  std::array<std::atomic<int>, 4> ran{};
  WaitGroup all(kTasks + 1);
  const auto body = [&] {
    ++ran[static_cast<size_t>(this_fiber::worker())];
    this_fiber::yield_preempted();
    all.done();
  };
  for (int i = 0; i < kTasks; ++i) setup.executors->schedule(body);
  REQUIRE(setup.executors->claim(3));
  CHECK(setup.executors->schedule_on(3, Executors::prepare(body)) == Scheduled::Accepted);
  CHECK(all.wait(setup.late()) == Wait::Ok);
  CHECK(ran[0] + ran[1] == kTasks);
  CHECK(ran[2] == 0);
  CHECK(ran[3] == 1);
}

TEST_CASE("fiber executors: what is for one worker and never begins drops what it holds, and no error is told") {
  Setup setup(1);
  auto unused = Executors::prepare([tracked = setup.tracked()] {});
  CHECK(setup.alive == 1);
  unused.reset();
  CHECK(setup.alive == 0);
  auto late = Executors::prepare([tracked = setup.tracked()] {});
  CHECK(setup.executors->unbind());
  CHECK(setup.executors->stop(setup.clock.now_ns() + 60 * kSecond).in_time);
  CHECK(setup.executors->schedule_on(0, std::move(late)) == Scheduled::Stopped);
  CHECK(setup.alive == 0);
  CHECK(setup.errors == 0);
  setup.executors.reset();
}
