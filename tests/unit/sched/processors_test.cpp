// Who computes makes way for who compiles, one by one, and one of them always may go on.
#include "sched/base/processors.h"

#include <atomic>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using namespace posset::sched;

TEST_CASE("processors: there is room for all while nothing is compiled") {
  Processors processors(2);
  for (int i = 0; i < 5; ++i) processors.begin();
  CHECK(processors.has_room());
  CHECK_FALSE(processors.end_if_short());
  CHECK(processors.begin_if_room());
}

TEST_CASE("processors: as many make way as compile, and come back when those have ended") {
  Processors processors(4);
  for (int i = 0; i < 4; ++i) processors.begin();
  {
    const Processors::Compiling one(&processors), two(&processors);
    CHECK_FALSE(processors.has_room());
    CHECK(processors.end_if_short());
    CHECK(processors.end_if_short());
    CHECK_FALSE(processors.end_if_short());
    CHECK_FALSE(processors.begin_if_room());
    {
      const Processors::Waiting waiting(processors);
      CHECK(processors.has_room());
      CHECK(processors.begin_if_room());
      CHECK_FALSE(processors.has_room());
    }
    CHECK(processors.end_if_short());
  }
  CHECK(processors.begin_if_room());
  CHECK(processors.begin_if_room());
}

TEST_CASE("processors: one computes however few there are, and however much is compiled") {
  Processors processors(1);
  const Processors::Compiling one(&processors), two(&processors), nothing(nullptr);
  CHECK(processors.begin_if_room());
  CHECK_FALSE(processors.end_if_short());
  CHECK_FALSE(processors.begin_if_room());
  processors.end();
  CHECK(processors.has_room());
}

TEST_CASE("processors: of many that look at once no more make way than have to") {
  constexpr int kThreads = 6, kProcessors = 4;
  for (int round = 0; round < 200; ++round) {
    Processors processors(kProcessors);
    for (int i = 0; i < kThreads; ++i) processors.begin();
    const Processors::Compiling compiling(&processors);
    std::atomic<int> left{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back([&] { left += processors.end_if_short(); });
    for (std::thread& thread : threads) thread.join();
    CHECK(left == kThreads - (kProcessors - 1));
  }
}
