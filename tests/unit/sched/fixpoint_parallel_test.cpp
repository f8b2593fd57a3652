// The fixed-point solver and its schedules with real threads, 1 to 16 workers: claims, snapshots, convergence, ends.
// Written for the thread sanitizer too, which gets fewer rounds.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "../sanitized.h"
#include "fixpoint_systems.h"
#include "sched/fixpoint/residual_buckets.h"
#include "sched/fixpoint/solver.h"
#include "sched/fixpoint/static_blocks.h"

using namespace posset::sched;
using namespace posset::sched::fixpoint;

namespace {

constexpr uint64_t kSlower = posset::test::kSanitized ? 5 : 1;

constexpr size_t kWorkers[] = {1, 2, 3, 4, 8, 16};
constexpr Schedule kSchedules[] = {Schedule::Static, Schedule::Residual, Schedule::Auto};

template <class Body>
void on_threads(size_t count, const Body& body) {
  ThreadExecutor().run(count, body);
}

std::vector<double> residuals_of(size_t n, uint64_t seed) {
  Random random(seed);
  std::vector<double> residuals(n);
  for (double& r : residuals) r = std::ldexp(1 + random.unit(), -static_cast<int>(random.below(30)));
  return residuals;
}

// Residual buckets that remember their orders, weakly.
class Watched final : public Scheduler {
 public:
  void init(size_t n, size_t workers) override {
    buckets_->init(n, workers);
    watch();
  }
  std::optional<size_t> next(size_t worker) override { return buckets_->next(worker); }
  void rebuild(std::span<const double> residuals) override {
    buckets_->rebuild(residuals);
    watch();
  }
  bool supports_rebuild() const override { return true; }
  std::string_view name() const override { return "watched"; }

  size_t alive() const {
    return static_cast<size_t>(std::count_if(orders_.begin(), orders_.end(), [](const auto& o) { return !o.expired(); }));
  }
  size_t seen() const { return orders_.size(); }
  void drop() { buckets_.reset(); }

 private:
  void watch() { orders_.push_back(buckets_->snapshot()); }
  std::unique_ptr<ResidualBuckets> buckets_ = std::make_unique<ResidualBuckets>();
  std::vector<std::weak_ptr<BucketSnapshot>> orders_;
};

}  // namespace

TEST_CASE("fixpoint solver: several workers' runs write what they come to, and the solution is the same") {
  const LinearSystem system = random_contraction(1500, 4, 0.9, 3);
  for (Schedule schedule : kSchedules) {
    for (size_t workers : {2, 5}) {
      std::vector<double> x(system.n());
      std::atomic<uint64_t> written{0}, asked{0};
      const auto run = [&](const RunOfCoordinates& wanted, const Iterate& live, double* found) {
        // It gives up in the middle, sometimes.
        const size_t most = asked.fetch_add(1) % 7 == 0 ? wanted.size() / 2 : wanted.size();
        for (size_t k = 0; k < most; ++k) {
          const double value = system.at(wanted[k], live);
          wanted.updates ? live.set(wanted[k], value) : void(found[k] = value);
        }
        written.fetch_add(wanted.updates ? most : 0);
        return most == wanted.size();
      };
      ThreadExecutor threads;
      const SystemClock clock;
      const SolveResult result = FixpointSolver(clock, threads).solve({system.n(), system.f(), run}, x,
                                                                      {.tolerance = 1e-9, .workers = workers, .schedule = schedule});
      CHECK(result.status == SolveStatus::Converged);
      CHECK(system.residual(x) <= 1e-9);
      CHECK(result.evaluations == result.updates + result.scans * system.n());
      CHECK(written > 0);
    }
  }
}

TEST_CASE("fixpoint parallel: after a rebuild the first n claims of all threads are a permutation") {
  constexpr size_t n = 10'000;
  for (size_t workers : kWorkers) {
    ResidualBuckets schedule({.fallback = false});
    schedule.init(n, workers);
    for (uint64_t round = 0; round < 20 / kSlower; ++round) {
      const std::vector<double> residuals = residuals_of(n, round);
      schedule.rebuild(residuals);
      std::vector<std::vector<size_t>> claimed(workers);
      on_threads(workers, [&](size_t worker) {
        uint32_t run[7];
        for (size_t count = 1; count > 0;) {
          // One by one, and several at a time.
          while (round % 2 == 0 && (count = schedule.next_run(worker, std::size(run), run)) > 0) {
            claimed[worker].insert(claimed[worker].end(), run, run + count);
          }
          const std::optional<size_t> i = schedule.next(worker);
          if (i) claimed[worker].push_back(*i);
          count = i ? 1 : 0;
        }
      });
      std::vector<int> times(n);
      for (const std::vector<size_t>& own : claimed) {
        uint32_t bucket = UINT32_MAX;
        for (size_t i : own) {
          ++times[i];
          const uint32_t b = bucket_of(residuals[i], 1e-12, 32);
          REQUIRE(b <= bucket);  // for one worker it never goes up
          bucket = b;
        }
      }
      REQUIRE(std::all_of(times.begin(), times.end(), [](int t) { return t == 1; }));
    }
  }
}

TEST_CASE("fixpoint parallel: blocks cut [0, n) in order, and each thread goes round in its own") {
  constexpr size_t kRounds = 3;
  for (size_t workers : kWorkers) {
    for (size_t n : {size_t{3}, size_t{16}, size_t{1000}}) {
      CAPTURE(workers);
      CAPTURE(n);
      StaticBlocks schedule;
      schedule.init(n, workers);
      std::vector<std::vector<size_t>> claimed(workers);
      on_threads(workers, [&](size_t worker) {
        for (size_t k = 0; k < kRounds * n; ++k) {
          if (const std::optional<size_t> i = schedule.next(worker)) claimed[worker].push_back(*i);
        }
      });
      size_t begin = 0;
      for (size_t worker = 0; worker < workers; ++worker) {
        const size_t size = n / workers + (worker < n % workers ? 1 : 0);
        const std::vector<size_t>& own = claimed[worker];
        REQUIRE(own.size() == (size == 0 ? 0 : kRounds * n));
        for (size_t k = 0; k < own.size(); ++k) REQUIRE(own[k] == begin + k % size);
        begin += size;
      }
      CHECK(begin == n);
    }
  }
}

TEST_CASE("fixpoint parallel: a claim is of one order, whatever is published meanwhile") {
  constexpr size_t n = 500;
  for (size_t workers : kWorkers) {
    CAPTURE(workers);
    ResidualBuckets schedule;
    schedule.init(n, workers);
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> from_buckets{0}, mixed{0}, backwards{0};
    on_threads(workers + 1, [&](size_t worker) {
      if (worker == workers) {
        // Each order has every coordinate in another bucket than the one before.
        for (uint64_t round = 0; round < 400 / kSlower || from_buckets.load() == 0; ++round) {
          schedule.rebuild(residuals_of(n, round));
          std::this_thread::yield();
        }
        return stop.store(true);
      }
      uint64_t newest = 0;
      while (!stop.load()) {
        const std::optional<size_t> i = schedule.next(worker);
        const ResidualBuckets::Place& place = schedule.place(worker);
        if (place.generation != place.snapshot->generation()) mixed.store(1);
        if (place.generation < newest) backwards.store(1);
        newest = place.generation;
        if (!place.cursor) continue;  // in index order: that is the same in every order
        const size_t b = place.snapshot->buckets() - 1 - place.hint;
        const uint32_t* const bucket = place.snapshot->bucket(b);
        const uint32_t* const end = bucket + place.snapshot->bucket_size(b);
        if (place.coordinates != bucket || place.cursor != &place.snapshot->cursor(b)) mixed.store(1);
        if (!i || std::find(bucket, end, *i) == end) mixed.store(1);
        from_buckets.fetch_add(1);
      }
    });
    CHECK(mixed.load() == 0);
    CHECK(backwards.load() == 0);
    CHECK(from_buckets.load() > 0);
  }
}

TEST_CASE("fixpoint parallel: claims go on while orders are made, and every order that was left is freed") {
  constexpr size_t n = 500;
  for (size_t workers : kWorkers) {
    std::vector<std::weak_ptr<BucketSnapshot>> orders;
    {
      ResidualBuckets schedule;
      schedule.init(n, workers);
      std::atomic<bool> stop{false};
      std::atomic<uint64_t> bad{0};
      // The last rebuilds, the others claim and note.
      on_threads(workers + 1, [&](size_t worker) {
        if (worker == workers) {
          for (uint64_t round = 0; round < 400 / kSlower; ++round) {
            round % 2 ? schedule.rebuild_from_notes() : schedule.rebuild(residuals_of(n, round));
            orders.push_back(schedule.snapshot());
            std::this_thread::yield();
          }
          return stop.store(true);
        }
        for (uint64_t k = 0; !stop.load(); ++k) {
          const std::optional<size_t> i = schedule.next(worker);
          if (!i || *i >= n) return bad.store(1);
          schedule.notify(worker, *i, 1.0 / static_cast<double>(1 + (k * 7 + *i) % 1000));
        }
      });
      CHECK(bad.load() == 0);
      const auto alive = std::count_if(orders.begin(), orders.end(), [](const auto& o) { return !o.expired(); });
      CHECK(static_cast<size_t>(alive) <= workers + 1);
    }
    for (const auto& order : orders) REQUIRE(order.expired());
  }
}

TEST_CASE("fixpoint parallel: a ring converges to r / (1 - beta), with any number of workers") {
  const LinearSystem system = ring(640, 0.9, 1);
  for (size_t workers : kWorkers) {
    for (Schedule schedule : kSchedules) {
      SystemClock clock;
      ThreadExecutor threads;
      std::vector<double> x(640);
      const SolveResult result =
          FixpointSolver(clock, threads).solve({640, system.f()}, x, {.workers = workers, .schedule = schedule});
      CHECK(result.status == SolveStatus::Converged);
      CHECK(result.workers == workers);
      for (double value : x) REQUIRE(std::abs(value - 10) <= 10 * 1e-6);
    }
  }
}

TEST_CASE("fixpoint parallel regression: whatever is declared converged is, on every system by every schedule and number of workers") {
  // Seeds were once the only parameter, so that each system met one schedule and one number of workers.
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const LinearSystem system = seed % 2 ? random_contraction(700 + seed, 4, 0.95, seed) : skewed(1000, 25 + seed, 0.95);
    std::vector<double> by_jacobi(system.n()), by_gauss_seidel(system.n());
    jacobi(system, by_jacobi, 1e-10);
    gauss_seidel(system, by_gauss_seidel, 1e-10);
    REQUIRE(distance(by_jacobi, by_gauss_seidel) <= 2e-10 / (1 - 0.95));
    for (size_t workers : kWorkers) {
      for (Schedule schedule : kSchedules) {
        if (kSlower > 1 && workers == 3) continue;
        CAPTURE(seed);
        CAPTURE(workers);
        CAPTURE(static_cast<int>(schedule));
        SystemClock clock;
        ThreadExecutor threads;
        std::vector<double> x(system.n());
        const SolveResult result = FixpointSolver(clock, threads)
                                       .solve({system.n(), system.f()}, x,
                                              {.tolerance = 1e-9, .workers = workers, .schedule = schedule, .timed = seed > 1});
        REQUIRE(result.status == SolveStatus::Converged);
        CHECK(result.workers == workers);
        CHECK(result.residual == system.residual(x));
        CHECK(result.residual <= 1e-9);
        // A residual of r is at most r / (1 - beta) from the solution, for each of the two.
        CHECK(distance(x, by_jacobi) <= 1.1e-9 / (1 - 0.95));
        CHECK(distance(x, by_gauss_seidel) <= 1.1e-9 / (1 - 0.95));
      }
    }
  }
}

TEST_CASE("fixpoint parallel: orders of a solve are freed") {
  const LinearSystem system = ring(2000, 0.99, 1);
  Watched watched;
  SystemClock clock;
  ThreadExecutor threads;
  std::vector<double> x(2000);
  const SolveResult result =
      FixpointSolver(clock, threads).solve_with(watched, {2000, system.f()}, x, {.workers = 4});
  CHECK(result.status == SolveStatus::Converged);
  CHECK(result.rebuilds > 0);
  CHECK(watched.seen() == result.rebuilds + 1);
  CHECK(watched.alive() <= 5);
  watched.drop();
  CHECK(watched.alive() == 0);
}

TEST_CASE("fixpoint parallel: an operator that throws on one thread ends all") {
  for (size_t workers : kWorkers) {
    SystemClock clock;
    ThreadExecutor threads;
    FixpointSolver solver(clock, threads);
    std::atomic<int> calls{0};
    std::vector<double> x(1000);
    const SolveResult result = solver.solve({1000,
                                             [&calls](size_t i, const Iterate& live) {
                                               if (calls.fetch_add(1) == 20'000) throw std::runtime_error("no more");
                                               return live[i] + 1;
                                             }},
                                            x, {.workers = workers});
    CHECK(result.status == SolveStatus::Failed);
    CHECK(result.problem() == "no more");
    const LinearSystem system = ring(1000, 0.5, 1);
    CHECK(solver.solve({1000, system.f()}, x, {.workers = workers}).status == SolveStatus::Converged);
  }
}

TEST_CASE("fixpoint parallel: divergence, stop and time-out end all") {
  for (size_t workers : kWorkers) {
    for (Schedule schedule : kSchedules) {
      SystemClock clock;
      ThreadExecutor threads;
      FixpointSolver solver(clock, threads);
      std::vector<double> x(1000);
      const LinearSystem growing = ring(1000, -3, 1);
      CHECK(solver.solve({1000, growing.f()}, x, {.workers = workers, .schedule = schedule}).status == SolveStatus::Diverged);

      // Never within the tolerance.
      const Problem restless{1000, [](size_t i, const Iterate& live) { return 1 - live[i]; }};
      x.assign(1000, 0);
      CHECK(solver.solve(restless, x, {.workers = workers, .schedule = schedule, .timeout_ns = 3 * kMillisecond}).status ==
            SolveStatus::TimedOut);
      std::stop_source source;
      std::atomic<int> calls{0};
      const Problem stops{1000, [&](size_t i, const Iterate& live) {
                            if (calls.fetch_add(1) == 30'000) source.request_stop();
                            return 1 - live[i];
                          }};
      x.assign(1000, 0);
      CHECK(solver.solve(stops, x, {.workers = workers, .schedule = schedule}, source.get_token()).status ==
            SolveStatus::Stopped);
    }
  }
}

TEST_CASE("fixpoint parallel regression: workers without coordinates park, and there are no threads for them") {
  // Without fallback all run dry again and again; those who do sleep until the next order.
  SystemClock clock;
  ThreadExecutor threads;
  const LinearSystem system = ring(64, 0.9, 1);
  for (uint64_t round = 0; round < 50 / kSlower; ++round) {
    std::vector<double> x(64);
    const SolveResult dry = FixpointSolver(clock, threads)
                                .solve({64, system.f()}, x, {.workers = 8, .schedule = Schedule::Residual,
                                                             .buckets = {.fallback = false}});
    REQUIRE(dry.status == SolveStatus::Converged);
  }
  std::mutex mutex;
  std::set<std::thread::id> ids;
  std::vector<double> x(3);
  const SolveResult result = FixpointSolver(clock, threads)
                                 .solve({3, [&](size_t i, const Iterate& live) {
                                           std::lock_guard lock(mutex);
                                           ids.insert(std::this_thread::get_id());
                                           return 0.5 * live[(i + 1) % 3] + 1;
                                         }},
                                        x, {.workers = 16});
  CHECK(result.status == SolveStatus::Converged);
  CHECK(result.workers == 3);
  CHECK(ids.size() <= 3);
}

TEST_CASE("fixpoint parallel regression: a monitor takes no thread of its own, and the caller is one of the workers") {
  class Counting final : public WorkerExecutor {
   public:
    void run(size_t count, const std::function<void(size_t)>& body) override {
      asked = count;
      threads_.run(count, body);
    }
    std::unique_ptr<Event> make_event() override { return threads_.make_event(); }
    void pause() override { pauses.fetch_add(1, std::memory_order_relaxed); }
    size_t asked = 0;
    std::atomic<uint64_t> pauses{0};

   private:
    ThreadExecutor threads_;
  } counting;
  SystemClock clock;
  const LinearSystem system = ring(20'000, 0.9, 1);
  std::mutex mutex;
  std::set<std::thread::id> ids;
  std::vector<double> x(20'000);
  const SolveResult result = FixpointSolver(clock, counting)
                                 .solve({20'000, [&](size_t i, const Iterate& live) {
                                           if (i % 1000 == 0) {
                                             std::lock_guard lock(mutex);
                                             ids.insert(std::this_thread::get_id());
                                           }
                                           return system.at(i, live);
                                         }},
                                        x, {.workers = 4, .batch = 256});
  CHECK(result.status == SolveStatus::Converged);
  CHECK(counting.asked == 4);
  CHECK(ids.size() <= 4);
  CHECK(ids.count(std::this_thread::get_id()) == 1);
  CHECK(counting.pauses.load() * 256 >= result.evaluations);
}

TEST_CASE("fixpoint parallel: without threads the caller does it alone") {
  class None final : public WorkerExecutor {
   public:
    void run(size_t, const std::function<void(size_t)>&) override {
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    }
    std::unique_ptr<Event> make_event() override { return ThreadExecutor().make_event(); }
  } none;
  SystemClock clock;
  const LinearSystem system = ring(100, 0.9, 1);
  std::vector<double> x(100);
  const SolveResult result = FixpointSolver(clock, none).solve({100, system.f()}, x, {.workers = 4});
  CHECK(result.status == SolveStatus::Converged);
  CHECK(result.workers == 1);
}

TEST_CASE("fixpoint parallel: several solves at a time with one solver") {
  SystemClock clock;
  ThreadExecutor threads;
  FixpointSolver solver(clock, threads);
  std::atomic<int> converged{0};
  on_threads(4, [&](size_t number) {
    const LinearSystem system = ring(200 + number, 0.9, 1);
    std::vector<double> x(system.n());
    converged += solver.solve({system.n(), system.f()}, x, {.workers = 2}).status == SolveStatus::Converged;
  });
  CHECK(converged.load() == 4);
}

TEST_CASE("fixpoint parallel: an event wakes whoever took a ticket before, and nobody sleeps through it") {
  const std::unique_ptr<Event> event = ThreadExecutor().make_event();
  std::atomic<int> turn{0};
  constexpr int kTurns = 2000 / static_cast<int>(kSlower);
  on_threads(2, [&](size_t number) {
    for (int t = static_cast<int>(number); t < kTurns; t += 2) {
      for (;;) {
        const uint64_t ticket = event->ticket();
        if (turn.load() == t) break;
        event->wait(ticket);
      }
      turn.store(t + 1);
      event->wake_all();
    }
  });
  CHECK(turn.load() == kTurns);
}
