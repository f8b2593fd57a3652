// What suspends tasks: mutex, condition, event, wait group, channel and select; with deadlines, from threads that are bound
// nowhere, and under contention.
#include <deque>
#include <numeric>

#include "fiber_fixture.h"
#include "sched/base/random.h"
#include "sched/fiber/channel.h"
#include "sched/fiber/mutex.h"

using namespace posset::sched;
using namespace posset::sched::fiber;
using namespace posset::sched::fiber::test;

TEST_CASE("fiber mutex: one at a time, also across a wait") {
  with_workers([](Setup& setup) {
    constexpr int kTasks = 200;
    FiberMutex mutex;
    int inside = 0, most = 0, sum = 0;
    WaitGroup all(kTasks);
    for (int i = 0; i < kTasks; ++i) {
      setup.executors->schedule([&] {
        {
          FiberLock lock(mutex);
          REQUIRE(lock.owns());
          most = std::max(most, ++inside);
          this_fiber::yield_preempted();
          ++sum;
          --inside;
        }
        all.done();
      });
    }
    CHECK(all.wait(setup.late()) == Wait::Ok);
    CHECK(most == 1);
    CHECK(sum == kTasks);
  });
}

TEST_CASE("fiber mutex: it is handed on in the order it was asked for") {
  Setup setup(0);
  FiberMutex mutex;
  std::vector<int> order;
  WaitGroup all(5);
  REQUIRE(mutex.try_lock());
  for (int i = 0; i < 5; ++i) {
    setup.executors->schedule([&, i] {
      FiberLock lock(mutex);
      order.push_back(i);
      all.done();
    });
  }
  CHECK(mutex.lock(setup.soon()) == Wait::Timeout);  // lets the tasks run up to it
  mutex.unlock();
  CHECK_FALSE(mutex.try_lock());  // it is the first one's
  CHECK(all.wait(setup.late()) == Wait::Ok);
  CHECK(order == std::vector<int>{0, 1, 2, 3, 4});
  CHECK(mutex.try_lock());
}

TEST_CASE("fiber condition: no notification is lost between producers and consumers") {
  with_workers([](Setup& setup) {
    constexpr int kEach = 500, kPairs = 4;
    FiberMutex mutex;
    Condition more;
    std::deque<int> items;
    int taken = 0;
    WaitGroup all(2 * kPairs);
    for (int p = 0; p < kPairs; ++p) {
      setup.executors->schedule([&] {
        for (int i = 0; i < kEach; ++i) {
          FiberLock lock(mutex);
          REQUIRE(more.wait(lock, [&] { return !items.empty(); }) == Wait::Ok);
          items.pop_front();
          ++taken;
        }
        all.done();
      });
      setup.executors->schedule([&] {
        for (int i = 0; i < kEach; ++i) {
          {
            FiberLock lock(mutex);
            items.push_back(i);
          }
          more.notify_one();
          if (i % 64 == 0) this_fiber::yield_preempted();
        }
        all.done();
      });
    }
    CHECK(all.wait(setup.late()) == Wait::Ok);
    CHECK(taken == kEach * kPairs);
  });
}

TEST_CASE("fiber condition: at the deadline the condition itself decides") {
  with_workers([](Setup& setup) {
    FiberMutex mutex;
    Condition changed;
    bool done = false;
    {
      FiberLock lock(mutex);
      CHECK(changed.wait(lock, [&] { return done; }, setup.soon()) == Wait::Timeout);
      CHECK(lock.owns());
    }
    // It comes true without a notification, before the deadline is noticed: marl would report a timeout.
    WaitGroup all(1);
    setup.executors->schedule([&] {
      {
        FiberLock lock(mutex);
        done = true;
      }
      all.done();
    });
    CHECK(all.wait(setup.late()) == Wait::Ok);
    FiberLock lock(mutex);
    int looks = 0;
    CHECK(changed.wait(lock, [&] { return ++looks > 1; }, setup.soon()) == Wait::Ok);
    CHECK(changed.wait(lock, [&] { return done; }, 0) == Wait::Ok);
  });
}

TEST_CASE("fiber event: all that wait go on, or with Auto one for each signal") {
  with_workers([](Setup& setup) {
    constexpr int kTasks = 20;
    for (Event::Reset reset : {Event::Reset::Manual, Event::Reset::Auto}) {
      Event event(reset);
      std::atomic<int> on{0};
      WaitGroup waiting(kTasks), all(kTasks);
      for (int i = 0; i < kTasks; ++i) {
        setup.executors->schedule([&] { waiting.done(), event.wait(), ++on, all.done(); });
      }
      CHECK(waiting.wait(setup.late()) == Wait::Ok);
      if (reset == Event::Reset::Auto) {
        for (int i = 1; i < kTasks; ++i) event.signal();
        // A signal that nobody waited for yet is kept, but only one: so the last may be missing some.
        while (on < kTasks) {
          CHECK(all.wait(setup.soon()) != Wait::Cancelled);
          event.signal();
        }
      } else {
        event.signal();
      }
      CHECK(all.wait(setup.late()) == Wait::Ok);
      CHECK(on == kTasks);
    }
  });
}

TEST_CASE("fiber event: waits end at their deadlines, in the order of these") {
  with_workers([](Setup& setup) {
    Event never;
    std::mutex mutex;
    std::vector<int> order;
    WaitGroup all(3);
    const int64_t now_ns = setup.clock.now_ns();
    for (int i : {2, 0, 1}) {
      setup.executors->schedule([&, i] {
        const int64_t deadline_ns = now_ns + (1 + i) * 20 * kMillisecond;
        CHECK(never.wait(deadline_ns) == Wait::Timeout);
        CHECK(setup.clock.now_ns() >= deadline_ns);
        {
          std::lock_guard lock(mutex);
          order.push_back(i);
        }
        all.done();  // behind it there is no mutex
      });
    }
    CHECK(all.wait(setup.late()) == Wait::Ok);
    // On one worker they go on in their order; several depend on the system to be that fair.
    if (setup.executors->statistics().threads < 2) CHECK(order == std::vector<int>{0, 1, 2});
    CHECK(order.size() == 3);
  });
}

TEST_CASE("fiber event: signal and deadline at once are one of the two, and nothing is lost") {
  with_workers([](Setup& setup) {
    Event event(Event::Reset::Auto);
    std::atomic<int> taken{0}, given{0};
    WaitGroup all(2);
    setup.executors->schedule([&] {
      for (int i = 0; i < 300; ++i) taken += event.wait(setup.clock.now_ns() + i % 7 * kMicrosecond) == Wait::Ok;
      all.done();
    });
    setup.executors->schedule([&] {
      for (int i = 0; i < 300; ++i) {
        if (!event.signalled()) event.signal(), ++given;
        this_fiber::yield_preempted();
      }
      all.done();
    });
    CHECK(all.wait(setup.late()) == Wait::Ok);
    CHECK(taken + event.signalled() == given);
  });
}

TEST_CASE("fiber sync: threads that are bound nowhere may wait") {
  SystemClock clock;
  Executors executors(clock, {.workers = 2});
  const int64_t late_ns = clock.now_ns() + 60 * kSecond;
  Event event;
  WaitGroup group(1);
  Channel<int> channel;
  FiberMutex mutex;
  executors.schedule([&] { event.signal(), channel.send(7), group.done(); });
  CHECK(event.wait(late_ns) == Wait::Ok);
  int value = 0;
  CHECK(channel.receive(value, late_ns) == Wait::Ok);
  CHECK(value == 7);
  CHECK(group.wait(late_ns) == Wait::Ok);
  CHECK(Event().wait(clock.now_ns() + kMillisecond) == Wait::Timeout);
  CHECK(FiberLock(mutex).owns());
}

TEST_CASE("fiber channel: what is sent is received, in order, for every capacity") {
  with_workers([](Setup& setup) {
    for (size_t capacity : {0, 1, 3, 100}) {
      constexpr int kItems = 500;
      Channel<int> channel(capacity);
      std::vector<int> received;
      WaitGroup all(2);
      setup.executors->schedule([&] {
        for (int i = 0; i < kItems; ++i) REQUIRE(channel.send(i) == Wait::Ok);
        CHECK(channel.close());
        CHECK_FALSE(channel.close());
        CHECK(channel.send(0) == Wait::Closed);
        all.done();
      });
      setup.executors->schedule([&] {
        int value = 0;
        while (channel.receive(value) == Wait::Ok) {
          received.push_back(value);
          CHECK(channel.size() <= capacity);
        }
        all.done();
      });
      CHECK(all.wait(setup.late()) == Wait::Ok);
      std::vector<int> expected(kItems);
      std::iota(expected.begin(), expected.end(), 0);
      CHECK(received == expected);
    }
  });
}

TEST_CASE("fiber channel: many senders and receivers lose nothing and get nothing twice") {
  with_workers([](Setup& setup) {
    constexpr int kSenders = 8, kEach = 200;
    Channel<int> channel(2);
    std::vector<std::atomic<int>> seen(kSenders * kEach);
    WaitGroup senders(kSenders), receivers(4);
    for (int s = 0; s < kSenders; ++s) {
      setup.executors->schedule([&, s] {
        for (int i = 0; i < kEach; ++i) REQUIRE(channel.send(s * kEach + i) == Wait::Ok);
        senders.done();
      });
    }
    for (int r = 0; r < 4; ++r) {
      setup.executors->schedule([&] {
        int value = 0;
        while (channel.receive(value) == Wait::Ok) ++seen[static_cast<size_t>(value)];
        receivers.done();
      });
    }
    CHECK(senders.wait(setup.late()) == Wait::Ok);
    channel.close();
    CHECK(receivers.wait(setup.late()) == Wait::Ok);
    CHECK(std::all_of(seen.begin(), seen.end(), [](const auto& count) { return count == 1; }));
  });
}

TEST_CASE("fiber channel: what was not sent stays with the sender") {
  with_workers([](Setup& setup) {
    Channel<std::unique_ptr<int>> channel(1);
    auto value = std::make_unique<int>(1);
    CHECK(channel.send(std::move(value), 0) == Wait::Ok);
    CHECK(value == nullptr);
    value = std::make_unique<int>(2);
    CHECK(channel.send(std::move(value), 0) == Wait::Timeout);
    CHECK(channel.send(std::move(value), setup.soon()) == Wait::Timeout);
    channel.close();
    CHECK(channel.send(std::move(value)) == Wait::Closed);
    REQUIRE(value != nullptr);
    CHECK(*value == 2);
    std::unique_ptr<int> received;
    CHECK(channel.receive(received) == Wait::Ok);
    CHECK(*received == 1);
    CHECK(channel.receive(received) == Wait::Closed);
    CHECK(*received == 1);
  });
}

TEST_CASE("fiber channel: closing lets all that wait go on") {
  with_workers([](Setup& setup) {
    Channel<int> to_send, to_receive;
    std::atomic<int> closed{0};
    WaitGroup begun(20), all(20);
    for (int i = 0; i < 10; ++i) {
      setup.executors->schedule([&] { begun.done(), closed += to_send.send(1) == Wait::Closed, all.done(); });
      setup.executors->schedule([&] {
        int value = 0;
        begun.done(), closed += to_receive.receive(value) == Wait::Closed, all.done();
      });
    }
    CHECK(begun.wait(setup.late()) == Wait::Ok);
    to_send.close();
    to_receive.close();
    CHECK(all.wait(setup.late()) == Wait::Ok);
    CHECK(closed == 20);
  });
}

TEST_CASE("fiber select: what can happen at once does, in the order given") {
  with_workers([](Setup& setup) {
    Channel<int> full(1), empty(1);
    full.send(1);
    int first = 0, second = 0, out = 5;
    ReceiveCase<int> from_empty(empty, first), from_full(full, second);
    const Selected chosen = select({&from_empty, &from_full}, setup.late());
    CHECK(chosen.answer == Wait::Ok);
    CHECK(chosen.index == 1);
    CHECK(second == 1);
    SendCase<int> to_empty(empty, out);
    CHECK(select({&from_full, &to_empty}).index == 1);
    CHECK(select({&from_full}, setup.soon()).answer == Wait::Timeout);
    CHECK(select({&from_full}, 0).answer == Wait::Timeout);
    CHECK(select({}, setup.soon()).answer == Wait::Timeout);
    full.close();
    CHECK(select({&from_full}).answer == Wait::Closed);
  });
}

TEST_CASE("fiber select: waits for several, and takes one thing only") {
  with_workers([](Setup& setup) {
    constexpr int kItems = 300;
    Channel<int> a, b;
    std::atomic<int> sum{0}, count{0};
    WaitGroup senders(2), receivers(3);
    for (Channel<int>* channel : {&a, &b}) {
      setup.executors->schedule([&, channel] {
        for (int i = 1; i <= kItems; ++i) REQUIRE(channel->send(i) == Wait::Ok);
        senders.done();
      });
    }
    for (int r = 0; r < 3; ++r) {
      setup.executors->schedule([&] {
        for (;;) {
          int x = 0, y = 0;
          ReceiveCase<int> from_a(a, x), from_b(b, y);
          if (select({&from_a, &from_b}).answer != Wait::Ok) break;
          CHECK((x == 0) != (y == 0));
          sum += x + y;
          ++count;
        }
        receivers.done();
      });
    }
    CHECK(senders.wait(setup.late()) == Wait::Ok);
    a.close();
    b.close();
    CHECK(receivers.wait(setup.late()) == Wait::Ok);
    CHECK(count == 2 * kItems);
    CHECK(sum == kItems * (kItems + 1));
  });
}

TEST_CASE("fiber select: two selects meet, on channels named in any order, and on one channel twice") {
  with_workers([](Setup& setup) {
    constexpr int kRounds = 300;
    Channel<int> x, y;
    std::atomic<int> balance{0};
    WaitGroup all(2);
    auto meet = [&](Channel<int>& first, Channel<int>& second) {
      for (int i = 0; i < kRounds; ++i) {
        int in = 0, out = 1;
        ReceiveCase<int> receive(first, in);
        SendCase<int> send(second, out);
        ReceiveCase<int> again(first, in);
        const Selected chosen = select({&receive, &send, &again}, setup.late());
        REQUIRE(chosen.answer == Wait::Ok);
        balance += chosen.index == 1 ? 1 : -1;
      }
      all.done();
    };
    setup.executors->schedule([&] { meet(x, y); });
    setup.executors->schedule([&] { meet(y, x); });
    CHECK(all.wait(setup.late()) == Wait::Ok);
    CHECK(balance == 0);
  });
}

TEST_CASE("fiber sync: a stress of everything with deadlines keeps its books") {
  for (uint32_t workers : {1U, 4U}) {
    Setup setup(workers);
    constexpr int kTasks = 32, kRounds = 60;
    Channel<int> channel(1);
    FiberMutex mutex;
    std::atomic<int> sent{0}, received{0}, held{0};
    WaitGroup all(kTasks);
    for (int t = 0; t < kTasks; ++t) {
      setup.executors->schedule([&, t] {
        Random random(static_cast<uint64_t>(t));
        for (int i = 0; i < kRounds; ++i) {
          const int64_t deadline_ns = setup.clock.now_ns() + static_cast<int64_t>(random.below(200)) * kMicrosecond;
          int value = 1;
          switch (random.below(4)) {
            case 0: sent += channel.send(1, deadline_ns) == Wait::Ok; break;
            case 1: received += channel.receive(value, deadline_ns) == Wait::Ok; break;
            case 2: this_fiber::yield_preempted(); break;
            default: {
              FiberLock lock(mutex, deadline_ns);
              if (!lock.owns()) break;
              CHECK(++held == 1);
              this_fiber::sleep_until(setup.clock.now_ns() + 10 * kMicrosecond);
              --held;
            }
          }
        }
        all.done();
      });
    }
    CHECK(all.wait(setup.late()) == Wait::Ok);
    CHECK(sent == received + static_cast<int>(channel.size()));
  }
}
