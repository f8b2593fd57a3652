// Executors that are bound in a task of others: what happens to the task around them when they have nothing to do, or compute.
#include "sched/fiber/outer_task.h"

#include <csignal>
#include <functional>
#include <memory>

#include <doctest/doctest.h>

#include "fiber_fixture.h"
#include "sched/base/relay.h"

using namespace posset::sched;
using namespace posset::sched::fiber;
using namespace posset::sched::fiber::test;

namespace {

// In a task: executors of its own, which have the task park when they sleep.
class Inside {
 public:
  Inside() {
    wake_up_.tell_too(&listener_);
    Config config;
    config.stack_bytes = 64 << 10;
    config.wake_up = &wake_up_;
    config.on_sleep = [this](int64_t until_ns) {
      if (wake_up_.take()) return;
      ++sleeps;
      outer_.park(until_ns, "its tasks");
    };
    executors.emplace(clock_, std::move(config));
    CHECK(executors->bind());
  }
  ~Inside() {
    CHECK(executors->unbind());
    executors.reset();
    wake_up_.tell_too(nullptr);
  }
  bool yield() { return outer_.yield_preempted(); }

  std::optional<Executors> executors;
  int sleeps = 0;

 private:
  SystemClock clock_;
  OuterTask outer_;
  WakeUp wake_up_;
  const WakeUp::Listener listener_{[](void* outer) { static_cast<OuterTask*>(outer)->unpark(); }, &outer_};
};

}  // namespace

TEST_CASE("outer task: it waits while all inside wait, and its thread goes on with others") {
  for (uint32_t workers : kCounts) {
    if (workers == 0) continue;
    CAPTURE(workers);
    constexpr int kTasks = 40, kInner = 3;
    Setup setup(workers);
    WaitGroup all(kTasks), inside(kTasks);
    Event go_on;
    std::atomic<int> ended{0}, moved{0};
    for (int i = 0; i < kTasks; ++i) {
      setup.executors->schedule([&, held = setup.tracked()] {
        const auto thread = std::this_thread::get_id();
        Inside it;
        for (int k = 0; k < kInner; ++k) {
          it.executors->schedule([&] {
            CHECK(go_on.wait() == Wait::Ok);  // with fewer workers than tasks only if the others give way
            ++ended;
          });
        }
        inside.done();
        CHECK(go_on.wait() == Wait::Ok);
        while (ended < kTasks * kInner) this_fiber::sleep_until(setup.clock.now_ns() + kMillisecond);
        CHECK(it.sleeps > 0);
        moved += thread != std::this_thread::get_id();
        all.done();
      });
    }
    CHECK(inside.wait(setup.late()) == Wait::Ok);
    go_on.signal();
    CHECK(all.wait(setup.late()) == Wait::Ok);
    CHECK(ended == kTasks * kInner);
    CHECK(moved == 0);
  }
}

TEST_CASE("outer task: a fiber inside gives the others of its thread their turn") {
  Setup setup(1);
  std::atomic<bool> ran{false};
  CHECK(setup.executors
            ->spawn([&] {
              Inside it;
              it.executors->schedule([&] {
                CHECK_FALSE(it.yield());
                CHECK(setup.executors->schedule([&] { ran = true; }) == Scheduled::Accepted);
                while (!ran) it.yield();
              });
              this_fiber::yield_preempted();
              CHECK(ran);
            })
            .task.join(setup.late()) == Wait::Ok);
}

TEST_CASE("outer task: executors know their threads below others that were bound in their tasks") {
  Setup setup(1);
  CHECK(setup.executors->is_own_thread());  // bound
  CHECK(setup.executors
            ->spawn([&] {
              CHECK(setup.executors->is_own_thread());
              Inside it;
              CHECK(it.executors->is_own_thread());
              CHECK(setup.executors->is_own_thread());
            })
            .task.join(setup.late()) == Wait::Ok);
  std::thread([&] { CHECK_FALSE(setup.executors->is_own_thread()); }).join();
}

TEST_CASE("outer task: an exception in flight inside is not lost while the thread does something else") {
  Setup setup(1);
  Event go_on;
  std::atomic<bool> parked{false};
  const auto waits = setup.executors->spawn([&] {
    Inside it;
    try {
      throw 7;
    } catch (int) {
      parked = true;
      CHECK(go_on.wait() == Wait::Ok);
      CHECK(std::current_exception() != nullptr);
    }
  });
  const auto throws = setup.executors->spawn([&] {
    while (!parked) this_fiber::yield_preempted();
    CHECK(std::current_exception() == nullptr);
    try {
      throw 8;
    } catch (int) {
    }
    go_on.signal();
  });
  CHECK(waits.task.join(setup.late()) == Wait::Ok);
  CHECK(throws.task.join(setup.late()) == Wait::Ok);
}

// ---- the relay ----

namespace {

struct Count {
  std::atomic<int> calls{0};
  Relay::Item item{[](void* self) { ++static_cast<Count*>(self)->calls; }, this};
};
Relay* relay_of_handler = nullptr;
Count* count_of_handler = nullptr;

}  // namespace

TEST_CASE("relay: what is left is called, after a handler too, and not once it was forgotten") {
  Relay relay;
  REQUIRE(relay.start());
  CHECK(relay.start());
  Count count, other;
  relay.leave(count.item);
  relay.leave(other.item);
  while (count.calls < 1 || other.calls < 1) std::this_thread::yield();
  relay_of_handler = &relay;
  count_of_handler = &count;
  auto* const before = std::signal(SIGUSR2, [](int) { relay_of_handler->leave(count_of_handler->item); });
  std::raise(SIGUSR2);
  std::signal(SIGUSR2, before);
  relay.forget(count.item);
  CHECK(count.calls == 2);
  relay.forget(other.item);
  CHECK(other.calls == 1);
}

TEST_CASE("relay: what is left before there is a thread waits for it, or for its being forgotten") {
  Relay relay;
  Count count, other;
  relay.leave(count.item);
  CHECK(count.calls == 0);
  relay.forget(count.item);
  CHECK(count.calls == 1);
  relay.leave(other.item);
  REQUIRE(relay.start());
  relay.forget(other.item);
  CHECK(other.calls == 1);
}

TEST_CASE("relay: from many threads each leaving is followed by a call") {
  Relay relay;
  REQUIRE(relay.start());
  constexpr int kThreads = 4, kTimes = 2000;
  std::vector<std::unique_ptr<Count>> counts;
  for (int i = 0; i < 8; ++i) counts.push_back(std::make_unique<Count>());
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kTimes; ++i) {
        Count& mine = *counts[static_cast<size_t>((i + t) % 8)];
        const int before = mine.calls;
        relay.leave(mine.item);
        while (mine.calls == before) std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& each : counts) relay.forget(each->item);
}
