// The queue with its inbox, on one thread: a consumer that has taken something is awake, so what is submitted then
// is left in the inbox; a take never waits here, because there is always something to take.
#include "sched/p2/queue.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "sched/base/random.h"
#include "sched/p2/ordered.h"

using namespace posset::sched;

namespace {

struct FixedClock final : Clock {
  int64_t now_ns() const override { return now; }
  int64_t now = 0;
};

Task task(uint64_t job, Priority priority = Priority::BackgroundCompile, Lane lane = Lane::Compile) {
  return {.run = [](TaskContext&) {}, .lane = lane, .priority = priority, .job = job};
}

struct Queue {
  explicit Queue(size_t most = 100, Trace* trace = nullptr) : queue(clock, trace, {.max_queue_size = most}) {
    consumer = queue.add_consumer(kCompileLane);
    push(0);  // taken, so that its consumer is awake
    CHECK(take() == 0);
  }
  Admission push(uint64_t job, Priority priority = Priority::BackgroundCompile, Lane lane = Lane::Compile) {
    Task made = task(job, priority, lane);
    const Admission admission = queue.try_push(made, 0);
    CHECK((admission == Admission::Accepted) == (made.run == nullptr));  // moved from, or not
    return admission;
  }
  uint64_t take() { return queue.take(consumer)->task.job; }

  FixedClock clock;
  TaskQueue queue;
  TaskQueue::ConsumerId consumer;
};

}  // namespace

TEST_CASE("queue: what is left for an awake consumer keeps its place in the order") {
  Queue q;
  q.push(1, Priority::Batch);
  q.push(2);
  q.push(3, Priority::Interactive);
  q.push(4);
  for (uint64_t job : {3, 2, 4, 1}) CHECK(q.take() == job);
}

TEST_CASE("queue P9: tasks in the inbox count for the limit") {
  Queue q(3);
  for (uint64_t job : {1, 2, 3}) CHECK(q.push(job) == Admission::Accepted);
  CHECK(q.push(4) == Admission::QueueFull);
  CHECK(q.queue.size() == 3);
  CHECK(q.take() == 1);
  CHECK(q.push(5) == Admission::Accepted);
  CHECK(q.push(6) == Admission::QueueFull);
  // Native tasks go to the queue itself, whose limit is the same.
  CHECK(q.take() == 2);
  CHECK(q.push(7, Priority::BackgroundCompile, Lane::Native) == Admission::Accepted);
  CHECK(q.push(8) == Admission::QueueFull);
}

TEST_CASE("queue: more tasks than the inbox holds keep their order") {
  Queue q(1000);
  for (uint64_t job = 1; job <= 500; ++job) CHECK(q.push(job) == Admission::Accepted);
  CHECK(q.queue.size() == 500);
  for (uint64_t job = 1; job <= 500; ++job) CHECK(q.take() == job);
}

TEST_CASE("queue: a task in the inbox can be cancelled, drained and dropped") {
  Queue q;
  q.push(1);
  q.push(2);
  q.push(3);
  CHECK(q.queue.cancel(2)->task.job == 2);
  CHECK_FALSE(q.queue.cancel(2));
  q.push(4);
  SUBCASE("drain") {
    CHECK(q.queue.stop(StopMode::Drain).empty());
    CHECK(q.push(5) == Admission::Stopped);
    for (uint64_t job : {1, 3, 4}) CHECK(q.take() == job);
    CHECK_FALSE(q.queue.take(q.consumer));
  }
  SUBCASE("discard") {
    CHECK(q.queue.stop(StopMode::Discard).size() == 3);
    CHECK(q.push(5) == Admission::Stopped);
    CHECK_FALSE(q.queue.take(q.consumer));
  }
}

TEST_CASE("queue: whoever has no consumer's thread takes from the inbox as well") {
  Queue q;
  q.push(1);
  CHECK_FALSE(q.queue.try_take(kEvalLane));
  CHECK(q.queue.try_take(kCompileLane)->task.job == 1);
}

TEST_CASE("queue: where there is a trace every task is recorded by its submitter") {
  FixedClock clock;
  Trace trace(clock);
  Queue q(100, &trace);
  q.push(1);
  q.push(2);
  const auto count = [&trace] {
    const TraceSnapshot snapshot = trace.snapshot();
    return std::count_if(snapshot.events.begin(), snapshot.events.end(), [](const TraceEvent& event) {
      return event.kind == static_cast<uint16_t>(TraceKind::task_queued);
    });
  };
  CHECK(count() == 3);
}

TEST_CASE("queue: a consumer that dozes is woken for a task that is in a hurry, and for nothing else") {
  FixedClock clock;
  TaskQueue queue(clock, nullptr, {.max_queue_size = 100});
  const TaskQueue::ConsumerId dozer = queue.add_consumer(kCompileLane, true);
  std::atomic<uint64_t> taken{0};
  std::thread consumer([&] {
    while (auto next = queue.take(dozer)) taken = next->task.job;
  });
  bool woken = false;
  for (uint64_t job = 1; job <= 100000 && !woken; ++job) {  // when it dozes nobody can tell
    Task made = task(job);
    REQUIRE(queue.try_push(made, 0) == Admission::Accepted);
    while (taken != job) woken |= queue.hurry(Lane::Compile);
    CHECK_FALSE(queue.hurry(Lane::Compile));  // nothing waits
    std::this_thread::yield();
  }
  CHECK(woken);
  queue.stop(StopMode::Drain);
  consumer.join();
}

TEST_CASE("inbox: closed, full and occupied") {
  Inbox inbox;
  Task one = task(1), two = task(2), three = task(3);
  CHECK_FALSE(inbox.leave(one, 0, 0));  // it was not opened
  inbox.reserve();
  inbox.open(kCompileLane | kNativeLane, 2);
  Task evaluation = task(9, Priority::Normal, Lane::Eval), native = task(9, Priority::Normal, Lane::Native);
  CHECK_FALSE(inbox.leave(evaluation, 0, 0));
  CHECK_FALSE(inbox.leave(native, 0, 0));
  CHECK(inbox.leave(one, 0, 0));
  CHECK(inbox.leave(two, 0, 0));
  CHECK_FALSE(inbox.leave(three, 0, 0));  // no room
  CHECK(three.run);
  CHECK_FALSE(inbox.try_close(kCompileLane));  // something is in it
  std::vector<Inbox::Arrival> arrivals;
  arrivals.reserve(Inbox::kMost);
  inbox.collect(arrivals, 3);
  CHECK(arrivals.size() == 2);
  CHECK(inbox.leave(three, 0, 0));  // room for one is left
  CHECK(inbox.size(kCompileLane) == 1);
  CHECK(inbox.size(kEvalLane) == 0);
  arrivals.clear();
  inbox.collect(arrivals, 3);
  CHECK(inbox.try_close(kCompileLane));
  CHECK_FALSE(inbox.leave(one, 0, 0));
}

TEST_CASE("regression: an inbox opened while something is in it does not let in more than the queue has room for") {
  Inbox inbox;
  Task one = task(1), two = task(2), three = task(3);
  inbox.reserve();
  inbox.open(kCompileLane, 2);
  CHECK(inbox.leave(one, 0, 0));
  inbox.open(kCompileLane, 2);
  CHECK(inbox.leave(two, 0, 0));
  CHECK_FALSE(inbox.leave(three, 0, 0));
  inbox.open(kCompileLane, 1);  // less than there is
  CHECK_FALSE(inbox.leave(three, 0, 0));
}

TEST_CASE("ordered P4: in order or not, what comes leaves as a sorted reference says") {
  Random random(7);
  OrderedEntries entries;
  std::vector<QueueEntry> reference;
  const auto remove = [&reference](uint64_t sequence) {
    std::erase_if(reference, [sequence](const QueueEntry& entry) { return entry.sequence == sequence; });
  };
  bool right = true;
  for (uint64_t step = 0; step < 20'000; ++step) {
    const uint64_t what = random.below(100);
    if (what < 52) {
      // Two of three in order, with many equal keys; jobs repeat.
      const double key = random.below(3) == 0 ? static_cast<double>(random.below(1000)) : static_cast<double>(step / 8);
      const QueueEntry entry{.key = key, .sequence = step, .job = random.below(50)};
      entries.push(entry);
      reference.push_back(entry);
    } else if (what < 98 && !reference.empty()) {
      const auto first = std::min_element(reference.begin(), reference.end(),
                                          [](const QueueEntry& a, const QueueEntry& b) { return a.before(b); });
      right = right && entries.first().sequence == first->sequence && entries.pop().sequence == first->sequence;
      reference.erase(first);
    } else if (what == 98) {
      const uint64_t job = random.below(50);
      const auto found = std::find_if(reference.begin(), reference.end(), [job](const QueueEntry& e) { return e.job == job; });
      const std::optional<QueueEntry> taken = entries.take(job);
      right = right && taken.has_value() == (found != reference.end());
      if (taken) right = right && taken->sequence == found->sequence;
      if (taken) remove(taken->sequence);
    } else if (what == 99) {
      const auto key_of = [step](const QueueEntry& entry) { return static_cast<double>(entry.sequence * step % 997); };
      entries.rekey(key_of);
      for (QueueEntry& entry : reference) entry.key = key_of(entry);
    }
    right = right && entries.size() == reference.size() && entries.empty() == reference.empty();
  }
  CHECK(right);
}
