// For the tests of the fiber executors: each is run with 0, 1, 2, 4, 8 and 64 workers, and in the end nothing that a task
// held may be left, no exception may have been lost and no rule broken.
#pragma once

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sched/fiber/event.h"
#include "sched/fiber/executors.h"

namespace posset::sched::fiber::test {

constexpr uint32_t kCounts[] = {0, 1, 2, 4, 8, 64};

// What tasks capture; counts how many of it there are.
class Tracked {
 public:
  explicit Tracked(std::atomic<int64_t>& alive) : alive_(&alive) { ++*alive_; }
  Tracked(const Tracked& other) : alive_(other.alive_) { ++*alive_; }
  Tracked& operator=(const Tracked&) = delete;
  ~Tracked() { --*alive_; }

 private:
  std::atomic<int64_t>* alive_;
};

// Executors with small stacks, the calling thread bound to them.
class Setup {
 public:
  explicit Setup(uint32_t workers, Config config = {}) {
    config.workers = workers;
    config.stack_bytes = 64 << 10;
    config.spin_ns = std::min<int64_t>(config.spin_ns, 50 * kMicrosecond);  // there are more workers than processors
    if (!config.on_error) config.on_error = [this](std::string_view, std::exception_ptr) { ++errors; };
    executors.emplace(clock, std::move(config));
    REQUIRE(executors->bind());
  }
  ~Setup() {
    if (executors) end();
    CHECK(alive == 0);
  }
  // Everything is to end by itself.
  void end() {
    CHECK(executors->unbind());
    const StopReport report = executors->stop(clock.now_ns() + 60 * kSecond);
    CHECK_MESSAGE(report.in_time, report.text());
    CHECK(executors->check() == "");
    const Statistics statistics = executors->statistics();
    CHECK(statistics.busy == 0);
    CHECK(statistics.ready == 0);
    CHECK(statistics.fibers == 0);
    executors.reset();
  }
  Tracked tracked() { return Tracked(alive); }
  int64_t soon() const { return clock.now_ns() + 5 * kMillisecond; }
  // Far enough to be a failure.
  int64_t late() const { return clock.now_ns() + 60 * kSecond; }

  SystemClock clock;
  std::atomic<int64_t> alive{0};
  std::atomic<int> errors{0};
  std::optional<Executors> executors;
};

// Runs `test(setup)` for every number of workers.
template <class Test>
void with_workers(Test&& test) {
  for (uint32_t workers : kCounts) {
    CAPTURE(workers);
    Setup setup(workers);
    test(setup);
  }
}

}  // namespace posset::sched::fiber::test
