// The ring of trace events: what it drops and counts, what it keeps beside the ring, texts, threads.
#include "sched/base/trace.h"

#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "sched/fixpoint/solver.h"
#include "sched/trace_events.h"

using namespace posset::sched;

namespace {

std::vector<int64_t> first_fields(const TraceSnapshot& snapshot) {
  std::vector<int64_t> made;
  for (const TraceEvent& event : snapshot.events) made.push_back(event.fields[0]);
  return made;
}

bool in_order(const TraceSnapshot& snapshot) {
  for (size_t i = 1; i < snapshot.events.size(); ++i) {
    const TraceEvent& before = snapshot.events[i - 1];
    const TraceEvent& event = snapshot.events[i];
    if (before.sequence >= event.sequence || before.time_ns > event.time_ns) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("trace: below its capacity the ring drops nothing") {
  SystemClock clock;
  Trace trace(clock, 4);
  CHECK(trace.snapshot().events.empty());
  for (int64_t i = 0; i < 4; ++i) trace.record(1, {i});
  CHECK(trace.snapshot().dropped == 0);
  CHECK(first_fields(trace.snapshot()) == std::vector<int64_t>{0, 1, 2, 3});
}

TEST_CASE("trace: a full ring keeps the newest events, oldest first, and counts the others") {
  SystemClock clock;
  for (int64_t count = 5; count < 14; ++count) {
    Trace trace(clock, 4);
    for (int64_t i = 0; i < count; ++i) trace.record(1, {i});
    const TraceSnapshot snapshot = trace.snapshot();
    CHECK(snapshot.dropped == static_cast<uint64_t>(count - 4));
    CHECK(first_fields(snapshot) == std::vector<int64_t>{count - 4, count - 3, count - 2, count - 1});
    CHECK(in_order(snapshot));
  }
}

TEST_CASE("trace: what others refer to is kept beside the ring, in its place, as far as there is room") {
  SystemClock clock;
  Trace trace(clock, 2);
  trace.record_kept(1, {100});
  for (int64_t i = 0; i < 5; ++i) trace.record(2, {i});
  trace.record_kept(1, {101});
  trace.record(2, {5});
  CHECK(first_fields(trace.snapshot()) == std::vector<int64_t>{100, 4, 101, 5});
  CHECK(trace.snapshot().dropped == 4);
  CHECK(in_order(trace.snapshot()));
  trace.record_kept(1, {102});  // the third of two: an event like any other
  CHECK(first_fields(trace.snapshot()) == std::vector<int64_t>{100, 101, 5, 102});
  CHECK(trace.snapshot().dropped == 5);
}

TEST_CASE("trace: a capacity of nothing is one of one") {
  SystemClock clock;
  Trace trace(clock, 0);
  trace.record(1, {1});
  trace.record(1, {2});
  CHECK(first_fields(trace.snapshot()) == std::vector<int64_t>{2});
}

TEST_CASE("trace: texts are kept once, and are empty when the table is full") {
  SystemClock clock;
  Trace trace(clock, 4, 10);
  CHECK(trace.text("") == 0);
  const int64_t area = trace.text("area");
  CHECK(area != 0);
  CHECK(trace.text("area") == area);
  CHECK(trace.text("longer than the rest") == 0);
  const int64_t volume = trace.text("volume");
  CHECK(volume != 0);
  CHECK(trace.text("x") == 0);
  const TraceSnapshot snapshot = trace.snapshot();
  CHECK(snapshot.texts[0].empty());
  CHECK(snapshot.texts[static_cast<size_t>(area)] == "area");
  CHECK(snapshot.texts[static_cast<size_t>(volume)] == "volume");
}

TEST_CASE("trace: many threads record, and every event is there or counted") {
  SystemClock clock;
  constexpr int kThreads = 4, kEach = 2000;
  Trace trace(clock, 1000);
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&trace, number] {
      trace.name_thread("worker " + std::to_string(number));
      for (int i = 0; i < kEach; ++i) trace.record(1, {number, i});
    });
  }
  for (std::thread& thread : threads) thread.join();
  const TraceSnapshot snapshot = trace.snapshot();
  CHECK(snapshot.events.size() == 1000);
  CHECK(snapshot.dropped == kThreads * kEach - 1000);
  CHECK(snapshot.threads.size() == kThreads);
  CHECK(in_order(snapshot));
  for (const TraceEvent& event : snapshot.events) {
    REQUIRE(snapshot.threads[event.thread] == "worker " + std::to_string(event.fields[0]));
  }
}

TEST_CASE("trace: the views have a word for every value of a code") {
  size_t found = 0;
  for (const TraceCodeNames& codes : kTraceCodeNames) {
    const std::string field = codes.field;
    if (field == "route") CHECK(std::string(codes.names[static_cast<size_t>(Route::Pool)]) == "pool");
    if (field == "outcome") CHECK(std::string(codes.names[static_cast<size_t>(Outcome::Stopped)]) == "stopped");
    // The graph scheduler's Band, highest last.
    if (field == "band") CHECK(std::string(codes.names[2]) == "control");
    if (field == "schedule") CHECK(std::string(codes.names[static_cast<size_t>(fixpoint::Schedule::Auto)]) == "auto");
    if (field == "status") CHECK(std::string(codes.names[static_cast<size_t>(fixpoint::SolveStatus::Failed)]) == "failed");
    ++found;
  }
  CHECK(found == 5);
}
