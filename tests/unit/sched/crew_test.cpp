// The executors of pure work: who has nothing to do is claimed once, what is sent is done once, and nobody sleeps through a
// change. The thread sanitizer runs these too.
#include "sched/posse/crew.h"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "sched/base/clock.h"
#include "sched/fiber/event.h"

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
  void give_up() override { FAIL_CHECK("it could be done"); }
  std::atomic<int> runs{0};

 private:
  Executor* const home_;
  int* const left_;  // under the lock of `home`
};

// So many workers, which all may help.
struct Pool {
  explicit Pool(uint32_t count) : Pool(count, count) {}
  Pool(uint32_t count, uint32_t helpers)
      : crew([this] { return executors.get(); }, count, helpers, 1, nullptr),
        executors(std::make_unique<fiber::Executors>(clock, fiber::Config{.workers = count, .stack_bytes = 64 << 10})) {}

  // A worker, or who offers itself to that owner.
  Executor* claim_at_last(Cabal& cabal) {
    for (;; std::this_thread::yield()) {
      if (!crew.has_idle(cabal)) continue;
      if (Executor* const other = crew.claim_idle(cabal)) return other;
    }
  }
  Executor* claim_at_last(Owner owner, Executor& here, Cabal& cabal) {
    for (;; std::this_thread::yield()) {
      if (!crew.has_offer(owner, here, cabal)) continue;
      if (Executor* const other = crew.claim(owner, here, cabal)) return other;
    }
  }

  SystemClock clock;
  Crew crew;
  std::unique_ptr<fiber::Executors> executors;  // ends before
};

template <class Done>
Work* wait(Executor& executor, Owner owner, Done&& done, int64_t deadline_ns = kNever) {
  const fiber::ThisParker parker;
  return executor.wait(owner, *parker, deadline_ns, done);
}

bool never() { return false; }

}  // namespace

TEST_CASE("crew: what several hosts send at once is done once each") {
  constexpr int kHosts = 4, kPieces = 300;
  Pool pool(3);
  std::vector<std::thread> hosts;
  std::atomic<int> wrong{0};
  for (int host = 0; host < kHosts; ++host) {
    hosts.emplace_back([&] {
      Cabal cabal;
      Executor& here = pool.crew.enter(cabal);
      for (int n = 0; n < kPieces; ++n) {
        int left = 1;
        Piece piece(&here, &left);
        pool.claim_at_last(cabal)->send(piece);
        // Work of this posse could come here as well, but nobody has any.
        while (wait(here, &left, [&left] { return left == 0; })) wrong.fetch_add(1);
        wrong.fetch_add(piece.runs.load() != 1);
      }
      pool.crew.leave(here);
    });
  }
  for (std::thread& each : hosts) each.join();
  CHECK(wrong.load() == 0);
}

TEST_CASE("crew: a claim and a withdrawal at the same time, one succeeds") {
  Executor executor(0);
  const int owner = 0;
  std::atomic<int> sent{0}, got{0}, rounds{0};
  constexpr int kRounds = 2000;
  // Withdraws as soon as it can.
  std::thread waits([&] {
    for (int n = 0; n < kRounds; ++n) {
      if (Work* work = wait(executor, &owner, [] { return true; }, 0)) {
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
  Executor executor(0);
  for (int n = 0; n < 200; ++n) {
    int left = 2;
    std::thread first([&] { executor.under_lock([&left] { return --left == 0; }); });
    std::thread second([&] { executor.under_lock([&left] { return --left == 0; }); });
    CHECK(wait(executor, &left, [&left] { return left == 0; }) == nullptr);
    first.join();
    second.join();
    CHECK_FALSE(executor.offer().is_made_to(&left));
  }
}

TEST_CASE("crew: who is claimed waits for what it is sent, though it is done") {
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
  CHECK(wait(executor, &owner, [&claimed] { return claimed.load(); }) == &piece);
  sends.join();
}

TEST_CASE("crew: an executor that is left is taken by the next host") {
  Pool pool(0);
  Cabal cabal, another;
  Executor& first = pool.crew.enter(cabal);
  Executor& second = pool.crew.enter(another);
  CHECK(first.number() != second.number());
  pool.crew.leave(first);
  CHECK(&pool.crew.enter(another) == &first);
  // Nobody is there but hosts that are busy.
  CHECK_FALSE(pool.crew.has_offer(&cabal, first, cabal));
  CHECK(pool.crew.claim(&cabal, first, cabal) == nullptr);
  CHECK_FALSE(pool.crew.has_idle(cabal));
  CHECK(pool.crew.claim_idle(cabal) == nullptr);
}

TEST_CASE("crew: a host does work of its own posse while it waits, and no other's") {
  Pool pool(0);
  Cabal cabal;
  Executor& here = pool.crew.enter(cabal);
  const int mine = 0, others = 0;
  Piece piece;
  std::thread thread([&] {
    Cabal others_cabal;
    Executor& other = pool.crew.enter(others_cabal);
    Executor* const claimed = pool.claim_at_last(&mine, other, others_cabal);
    CHECK(claimed == &here);
    claimed->send(piece);
    pool.crew.leave(other);
  });
  Work* const work = wait(here, &mine, never);
  thread.join();
  CHECK(work == &piece);
  Cabal third;
  CHECK_FALSE(pool.crew.has_offer(&others, pool.crew.enter(third), third));
}

TEST_CASE("crew: ends while its workers have nothing to do, or were never started") {
  for (int n = 0; n < 50; ++n) {
    Pool pool(3);
    Cabal cabal;
    Executor& here = pool.crew.enter(cabal);
    int left = 1;
    Piece piece(&here, &left);
    if (n % 2) {
      pool.claim_at_last(cabal)->send(piece);
      CHECK(wait(here, &left, [&left] { return left == 0; }) == nullptr);
    }
    pool.crew.leave(here);
  }
}

TEST_CASE("crew: a cabal takes no more executors than its limit, and always the same ones") {
  Pool pool(3);
  for (uint32_t limit : {1U, 2U, 3U, 4U, 9U}) {
    Cabal cabal(limit);
    Executor& here = pool.crew.enter(cabal);
    std::set<const Executor*> met;
    for (int n = 0; n < 200 && limit > 1; ++n) {
      int left = 1;
      Piece piece(&here, &left);
      Executor* const other = pool.claim_at_last(cabal);
      met.insert(other);
      other->send(piece);
      while (wait(here, &cabal, [&left] { return left == 0; })) FAIL_CHECK("nobody has anything for it");
    }
    CHECK(met.size() <= limit - 1);
    if (limit == 1) CHECK_FALSE(pool.crew.has_idle(cabal));
    pool.crew.leave(here);
  }
}

namespace {

// Keeps its worker.
class Busy final : public Work {
 public:
  explicit Busy(std::atomic<bool>& until) : until_(until) {}
  void run(Executor&) override {
    while (!until_.load()) std::this_thread::yield();
  }
  void give_up() override {}

 private:
  std::atomic<bool>& until_;
};

}  // namespace

TEST_CASE("crew: while all of a cabal are busy nobody else is asked") {
  std::atomic<bool> go{false};
  Busy busy(go);
  Piece piece;
  Pool pool(3);
  Cabal cabal(2), unlimited;
  Executor& here = pool.crew.enter(cabal);
  Executor& beside = pool.crew.enter(unlimited);
  CHECK(&beside != &here);
  Executor* const only = pool.claim_at_last(cabal);
  only->send(busy);
  // There are others, for whoever may have them.
  pool.claim_at_last(unlimited)->send(piece);
  CHECK_FALSE(pool.crew.has_idle(cabal));
  CHECK(pool.crew.claim_idle(cabal) == nullptr);
  go.store(true);
  CHECK(pool.claim_at_last(cabal) == only);
  only->send(busy);
  // Another computation begins with a cabal of its own.
  pool.crew.leave(here);
  CHECK(&pool.crew.enter(cabal) == &here);
  pool.claim_at_last(cabal)->send(busy);
}

TEST_CASE("crew: no more of the workers help at a time than may") {
  std::atomic<bool> go{false};
  Busy busy(go);
  Pool pool(4, 2);
  Cabal cabal;
  pool.crew.enter(cabal);
  for (int n = 0; n < 2; ++n) pool.claim_at_last(cabal)->send(busy);
  CHECK_FALSE(pool.crew.has_idle(cabal));
  CHECK(pool.crew.claim_idle(cabal) == nullptr);
  go.store(true);
  pool.claim_at_last(cabal)->send(busy);
}

TEST_CASE("crew: a worker with a task of its own is not asked, and one whose task waits does both") {
  fiber::Event go, end;
  fiber::WaitGroup begun(1), ended(1);
  Pool pool(1);
  Cabal cabal;
  Executor& here = pool.crew.enter(cabal);
  REQUIRE(pool.executors->schedule([&] {
    begun.done();
    while (!go.signalled()) std::this_thread::yield();  // keeps its thread
    end.wait();
    ended.done();
  }) == fiber::Scheduled::Accepted);
  begun.wait();
  CHECK_FALSE(pool.crew.has_idle(cabal));
  go.signal();
  int left = 1;
  Piece piece(&here, &left);
  pool.claim_at_last(cabal)->send(piece);
  CHECK(wait(here, &left, [&left] { return left == 0; }) == nullptr);
  end.signal();
  ended.wait();
}

TEST_CASE("crew: what a worker was sent gives its thread to others while it waits, and goes on there") {
  // Waits for `left` to come to nothing.
  class Waits final : public Work {
   public:
    Waits(Executor& home, int& left) : home_(home), left_(left) {}
    void run(Executor& here) override {
      const int before = fiber::this_fiber::worker();
      CHECK(wait(here, this, [this] { return is_told.load(); }) == nullptr);
      CHECK(fiber::this_fiber::worker() == before);
      home_.under_lock([this] { return --left_ == 0; });
    }
    void give_up() override {}
    std::atomic<bool> is_told{false};

   private:
    Executor& home_;
    int& left_;
  };
  fiber::WaitGroup ended(1);
  Pool pool(1);
  Cabal cabal;
  Executor& here = pool.crew.enter(cabal);
  int left = 1;
  Waits waits(here, left);
  Executor* const worker = pool.claim_at_last(cabal);
  worker->send(waits);
  // Its only thread does something else by and by, and then has nothing to do; but one piece of work at a time is enough.
  REQUIRE(pool.executors->schedule([&] { ended.done(); }) == fiber::Scheduled::Accepted);
  ended.wait();
  CHECK_FALSE(pool.crew.has_idle(cabal));
  waits.is_told.store(true);
  worker->under_lock([] { return true; });
  CHECK(wait(here, &left, [&left] { return left == 0; }) == nullptr);
}

TEST_CASE("crew: the worker that a posse's root evaluates on does nothing else for that posse") {
  fiber::WaitGroup entered(1), ended(1);
  fiber::Event end;
  Cabal own;
  Pool pool(1);
  Cabal beside;
  pool.crew.enter(beside);
  REQUIRE(pool.executors->schedule([&] {
    Executor& here = pool.crew.enter(own);
    entered.done();
    end.wait();
    pool.crew.leave(here);
    ended.done();
  }) == fiber::Scheduled::Accepted);
  entered.wait();
  while (!pool.crew.has_idle(beside)) std::this_thread::yield();
  CHECK_FALSE(pool.crew.has_idle(own));
  CHECK(pool.crew.claim_idle(own) == nullptr);
  end.signal();
  ended.wait();
}
