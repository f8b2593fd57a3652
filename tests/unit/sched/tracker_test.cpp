// What is remembered of run times: by type, by world where a type is too new, and only so many types.
#include "sched/p2/tracker.h"

#include <cmath>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using namespace posset::sched;

namespace {

constexpr TaskType eval(uint64_t hash) { return {TaskKind::Eval, hash}; }
constexpr TaskType compile(uint64_t hash) { return {TaskKind::BytecodeCompile, hash}; }

}  // namespace

TEST_CASE("tracker P3: four observations ask the world, the fifth the type itself") {
  RuntimeTracker tracker;
  CHECK(tracker.estimate_ns(eval(1)) == 0);
  for (int i = 0; i < 20; ++i) tracker.record(eval(1), 100);
  for (int i = 0; i < 4; ++i) {
    tracker.record(eval(2), 9000);
    CHECK(tracker.estimate_ns(eval(2)) < 1000);  // the world's median
  }
  tracker.record(eval(2), 9000);
  CHECK(tracker.estimate_ns(eval(2)) == 9000);
  CHECK(tracker.estimate_ns(eval(3)) < 1000);
}

TEST_CASE("tracker P3: a world below five observations answers with their exact median") {
  RuntimeTracker tracker;
  tracker.record(eval(1), 100);
  tracker.record(eval(2), 1);
  tracker.record(eval(3), 2);
  CHECK(tracker.estimate_ns(eval(4)) == 2);  // the mean is 34.3
}

TEST_CASE("tracker: compilations and evaluations do not answer for each other") {
  RuntimeTracker tracker;
  for (int i = 0; i < 10; ++i) tracker.record(eval(1), 1'000'000);
  CHECK(tracker.estimate_ns(compile(1)) == 0);
  for (int i = 0; i < 10; ++i) tracker.record(compile(1), 10);
  CHECK(tracker.estimate_ns(eval(9)) == 1'000'000);
  CHECK(tracker.estimate_ns(compile(9)) == 10);
  CHECK(tracker.estimate_ns({TaskKind::JitCompile, 9}) == 10);
  CHECK(tracker.estimate_ns({TaskKind::Generic, 9}) == 1'000'000);
}

TEST_CASE("tracker: the same hash in another kind is another type") {
  RuntimeTracker tracker;
  for (int i = 0; i < 5; ++i) tracker.record({TaskKind::BytecodeCompile, 7}, 10);
  for (int i = 0; i < 5; ++i) tracker.record({TaskKind::JitCompile, 7}, 500);
  CHECK(tracker.estimate_ns({TaskKind::BytecodeCompile, 7}) == 10);
  CHECK(tracker.estimate_ns({TaskKind::JitCompile, 7}) == 500);
}

TEST_CASE("tracker: types are bounded; those in use stay") {
  RuntimeTracker tracker(1024);
  for (int i = 0; i < 5; ++i) tracker.record(eval(0), 777);
  for (uint64_t hash = 1; hash < 100'000; ++hash) {
    tracker.record(eval(hash), 1);
    if (hash % 16 == 0) tracker.estimate_ns(eval(0));  // asked for about four times a turn of the hand
  }
  const RuntimeTracker::Statistics statistics = tracker.statistics();
  CHECK(statistics.types <= 1024);
  CHECK(statistics.types > 900);
  CHECK(statistics.evicted >= 100'000 - 1024);
  CHECK(tracker.estimate_ns(eval(0)) == 777);
  CHECK(tracker.estimate_ns(eval(1)) < 2);  // forgotten: the world answers
}

TEST_CASE("tracker: no more than 65536 types by default") {
  RuntimeTracker tracker;
  for (uint64_t hash = 0; hash < 150'000; ++hash) tracker.record(eval(hash), 1);
  CHECK(tracker.statistics().types <= 65'536);
  CHECK(tracker.statistics().types > 60'000);
}

TEST_CASE("tracker: a tracker for fewer types than it has shards") {
  RuntimeTracker tracker(3);
  for (uint64_t hash = 0; hash < 100; ++hash) tracker.record(eval(hash), 1);
  CHECK(tracker.statistics().types <= 3);
}

TEST_CASE("tracker: refuses what is no duration") {
  RuntimeTracker tracker;
  CHECK_FALSE(tracker.record(eval(1), -5));
  CHECK_FALSE(tracker.record(eval(1), std::nan("")));
  CHECK(tracker.statistics().rejected == 2);
  CHECK(tracker.statistics().types == 0);
}

TEST_CASE("tracker: many threads at once") {
  RuntimeTracker tracker(256);
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&tracker, thread] {
      for (uint64_t i = 0; i < 5000; ++i) {
        tracker.record(eval(i % 300), 10);
        tracker.record(compile(thread), 20);
        tracker.estimate_ns(eval(i % 7));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(tracker.statistics().recorded == 40'000);
  CHECK(tracker.estimate_ns(eval(3)) == 10);
  CHECK(tracker.estimate_ns(compile(3)) == 20);
}
