// The executors' threads: an offer is claimed once, what is sent is done once, and nobody sleeps through a change. The thread
// sanitizer runs these too.
#include "sched/posse/crew.h"

#include <doctest/doctest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "sched/base/clock.h"

using namespace posset::sched;
using namespace posset::sched::posse;

namespace {

// Counts how often it has run, and tells `home`.
class Piece final : public Work {
 public:
  explicit Piece(Executor* home = nullptr, int* left = nullptr) : home_(home), left_(left) {}
  void run(Executor&) override {
    runs.fetch_add(1, std::memory_order_relaxed);
    if (home_) home_->under_lock([this] { return --*left_ == 0; });
  }
  std::atomic<int> runs{0};

 private:
  Executor* const home_;
  int* const left_;  // under the lock of `home`
};

Executor* claim_at_last(Crew& crew, Owner owner, Executor& here, Cabal& cabal) {
  for (;;) {
    if (crew.has_offer(owner, here, cabal)) {
      if (Executor* other = crew.claim(owner, here, cabal)) return other;
    }
    std::this_thread::yield();
  }
}

bool never() { return false; }

}  // namespace

TEST_CASE("crew: what several hosts send at once is done once each") {
  constexpr int kHosts = 4, kPieces = 300;
  const SystemClock clock;
  Crew crew(clock, 3, 1, nullptr);
  std::vector<std::thread> hosts;
  std::atomic<int> wrong{0};
  for (int host = 0; host < kHosts; ++host) {
    hosts.emplace_back([&] {
      Cabal cabal;
      Executor& here = crew.enter(cabal);
      for (int n = 0; n < kPieces; ++n) {
        int left = 1;
        Piece piece(&here, &left);
        claim_at_last(crew, &left, here, cabal)->send(piece);
        // Work of this posse could come here as well, but nobody has any.
        while (here.wait(&left, clock, kNever, [&left] { return left == 0; })) wrong.fetch_add(1);
        wrong.fetch_add(piece.runs.load() != 1);
      }
      crew.leave(here);
    });
  }
  for (std::thread& each : hosts) each.join();
  CHECK(wrong.load() == 0);
}

TEST_CASE("crew: a claim and a withdrawal at the same time, one succeeds") {
  const SystemClock clock;
  Executor executor(0);
  const int owner = 0;
  std::atomic<int> sent{0}, got{0}, rounds{0};
  constexpr int kRounds = 2000;
  // Withdraws as soon as it can.
  std::thread waits([&] {
    for (int n = 0; n < kRounds; ++n) {
      if (Work* work = executor.wait(&owner, clock, 0, [] { return true; })) {
        work->run(executor);
        got.fetch_add(1);
      }
      rounds.fetch_add(1);
    }
  });
  Piece piece;
  while (rounds.load() < kRounds) {
    if (executor.offer().claim(&owner)) {
      executor.send(piece);
      sent.fetch_add(1);
    }
  }
  waits.join();
  CHECK(sent.load() == got.load());
  CHECK(piece.runs.load() == sent.load());
}

TEST_CASE("crew: a change under the lock wakes who waits for it") {
  const SystemClock clock;
  Executor executor(0);
  for (int n = 0; n < 200; ++n) {
    int left = 2;
    std::thread first([&] { executor.under_lock([&left] { return --left == 0; }); });
    std::thread second([&] { executor.under_lock([&left] { return --left == 0; }); });
    CHECK(executor.wait(&left, clock, kNever, [&left] { return left == 0; }) == nullptr);
    first.join();
    second.join();
    CHECK_FALSE(executor.offer().is_made_to(&left));
  }
}

TEST_CASE("crew: who is claimed waits for what it is sent, though it is done") {
  const SystemClock clock;
  Executor executor(0);
  const int owner = 0;
  std::atomic<bool> claimed{false};
  Piece piece;
  std::thread sends([&] {
    while (!executor.offer().claim(&owner)) std::this_thread::yield();
    claimed.store(true);
    executor.under_lock([] { return true; });
    executor.send(piece);
  });
  CHECK(executor.wait(&owner, clock, kNever, [&claimed] { return claimed.load(); }) == &piece);
  sends.join();
}

TEST_CASE("crew: an executor that is left is taken by the next host") {
  const SystemClock clock;
  Crew crew(clock, 0, 1, nullptr);
  Cabal cabal, another;
  Executor& first = crew.enter(cabal);
  Executor& second = crew.enter(another);
  CHECK(first.number() != second.number());
  crew.leave(first);
  CHECK(&crew.enter(another) == &first);
  // Nobody is there but hosts that are busy.
  CHECK_FALSE(crew.has_offer(nullptr, first, cabal));
  CHECK(crew.claim(nullptr, first, cabal) == nullptr);
}

TEST_CASE("crew: a host does work of its own posse while it waits, and no other's") {
  const SystemClock clock;
  Crew crew(clock, 0, 1, nullptr);
  Cabal cabal;
  Executor& here = crew.enter(cabal);
  const int mine = 0, others = 0;
  Piece piece;
  std::thread thread([&] {
    Cabal others_cabal;
    Executor& other = crew.enter(others_cabal);
    Executor* const claimed = claim_at_last(crew, &mine, other, others_cabal);
    CHECK(claimed == &here);
    claimed->send(piece);
    crew.leave(other);
  });
  Work* const work = here.wait(&mine, clock, kNever, never);
  thread.join();
  CHECK(work == &piece);
  Cabal third;
  CHECK_FALSE(crew.has_offer(&others, crew.enter(third), third));
}

TEST_CASE("crew: ends while its threads have nothing to do, or were never started") {
  const SystemClock clock;
  for (int n = 0; n < 50; ++n) {
    Crew crew(clock, 3, 1, nullptr);
    Cabal cabal;
    Executor& here = crew.enter(cabal);
    if (n % 2) crew.has_offer(&here, here, cabal);
    crew.leave(here);
  }
}

TEST_CASE("crew: a cabal takes no more executors than its limit, and always the same ones") {
  const SystemClock clock;
  Crew crew(clock, 3, 1, nullptr);
  for (uint32_t limit : {1U, 2U, 3U, 4U, 9U}) {
    Cabal cabal(limit);
    Executor& here = crew.enter(cabal);
    std::set<const Executor*> met;
    for (int n = 0; n < 200 && limit > 1; ++n) {
      int left = 1;
      Piece piece(&here, &left);
      Executor* const other = claim_at_last(crew, &cabal, here, cabal);
      met.insert(other);
      other->send(piece);
      while (here.wait(&cabal, clock, kNever, [&left] { return left == 0; })) FAIL_CHECK("nobody has anything for it");
    }
    CHECK(met.size() <= limit - 1);
    if (limit == 1) CHECK_FALSE(crew.has_offer(&cabal, here, cabal));
    crew.leave(here);
  }
}

TEST_CASE("crew: while all of a cabal are busy nobody else is asked") {
  const SystemClock clock;
  Crew crew(clock, 3, 1, nullptr);
  Cabal cabal(2), unlimited;
  Executor& here = crew.enter(cabal);
  Executor& beside = crew.enter(unlimited);
  std::atomic<bool> go{false};
  class Busy final : public Work {
   public:
    explicit Busy(std::atomic<bool>& until) : until_(until) {}
    void run(Executor&) override { while (!until_.load()) std::this_thread::yield(); }

   private:
    std::atomic<bool>& until_;
  } busy(go);
  Executor* const only = claim_at_last(crew, &cabal, here, cabal);
  only->send(busy);
  // There are others, for whoever may have them.
  Piece piece;
  claim_at_last(crew, &unlimited, beside, unlimited)->send(piece);
  CHECK_FALSE(crew.has_offer(&cabal, here, cabal));
  CHECK(crew.claim(&cabal, here, cabal) == nullptr);
  go.store(true);
  CHECK(claim_at_last(crew, &cabal, here, cabal) == only);
  only->send(busy);
  // Another computation begins with a cabal of its own.
  crew.leave(here);
  CHECK(&crew.enter(cabal) == &here);
  claim_at_last(crew, &cabal, here, cabal)->send(busy);
}
