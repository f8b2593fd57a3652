// Systems of the host: posset_solve and the C++ layer on top. What the solver itself does is tested in
// tests/unit/sched/fixpoint_*; here is what a host asks for, and is told.
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <posset/posset.hpp>

#include "fixture.h"

namespace posset::test {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr uint32_t kWorkers[] = {1, 2, 3, 4, 8, 16};

// x_i = beta x_{i+1} + 1 round a ring: every coordinate of the solution is 1 / (1 - beta).
struct Ring {
  double beta = 0.5;
  std::atomic<uint64_t> calls{0};
  size_t fails_at = SIZE_MAX;
  double bad = kNan;  // given for that coordinate
  posset_status status = POSSET_OK;
};

posset_status ring(void* data, size_t i, const posset_vector* x, double* out) {
  auto& self = *static_cast<Ring*>(data);
  self.calls.fetch_add(1, std::memory_order_relaxed);
  if (i == self.fails_at && self.status != POSSET_OK) return self.status;
  *out = i == self.fails_at ? self.bad : self.beta * posset_vector_at(x, (i + 1) % x->size) + 1;
  return POSSET_OK;
}

double distance(const std::vector<double>& x, double from) {
  double largest = 0;
  for (double each : x) largest = std::max(largest, std::abs(each - from));
  return largest;
}

struct Solved {
  posset_status status;
  posset_solve_result result = posset_solve_result_empty();
};

Solved solve_ring(Ring& system, std::vector<double>& x, const posset_solve_options& options) {
  Solved solved;
  solved.status = posset_solve(nullptr, ring, &system, x.data(), x.size(), &options, &solved.result);
  return solved;
}

}  // namespace

// ---- C ----

TEST_CASE("host fixpoint: a ring converges to its solution with 1 to 16 workers under every schedule") {
  for (uint32_t workers : kWorkers) {
    for (posset_schedule schedule : {POSSET_SCHEDULE_STATIC, POSSET_SCHEDULE_RESIDUAL, POSSET_SCHEDULE_AUTO}) {
      CAPTURE(workers);
      CAPTURE(static_cast<int>(schedule));
      Ring system{.beta = 0.75};
      std::vector<double> x(64);
      posset_solve_options options = posset_solve_defaults();
      options.tolerance = 1e-9;
      options.workers = workers;
      options.schedule = schedule;
      const Solved solved = solve_ring(system, x, options);
      CHECK(solved.status == POSSET_OK);
      const posset_solve_result& result = solved.result;
      CHECK(result.status == POSSET_SOLVE_CONVERGED);
      CHECK(result.residual <= 1e-9);
      CHECK(distance(x, 4) <= 4e-9);  // tolerance / (1 - beta)
      CHECK(result.workers == workers);
      CHECK(result.scans >= 1);
      CHECK(result.evaluations == system.calls);
      CHECK(result.evaluations == result.updates + result.scans * x.size());
      if (schedule == POSSET_SCHEDULE_STATIC) CHECK(result.schedule == POSSET_SCHEDULE_STATIC);
      if (schedule == POSSET_SCHEDULE_RESIDUAL) {
        CHECK(result.schedule == POSSET_SCHEDULE_RESIDUAL);
        CHECK(result.rebuilds >= 1);
      }
      CHECK(std::string(result.problem).empty());
    }
  }
}

TEST_CASE("host fixpoint: damping converges to the same solution, and where the undamped one does not") {
  Ring swings{.beta = -1.5};  // x = 1 - 1.5 x swings ever farther; damped by 1/4 it contracts to 0.4
  std::vector<double> x(1);
  CHECK(solve_ring(swings, x, posset_solve_defaults()).result.status == POSSET_SOLVE_DIVERGED);
  x[0] = 0;
  posset_solve_options options = posset_solve_defaults();
  options.damping = 0.25;
  CHECK(solve_ring(swings, x, options).result.status == POSSET_SOLVE_CONVERGED);
  CHECK(distance(x, 0.4) <= 1e-5);
}

TEST_CASE("host fixpoint: no workers means one for each processor, and never more than coordinates") {
  Ring system;
  std::vector<double> x(2);
  posset_solve_options options = posset_solve_defaults();
  options.workers = 0;
  CHECK(solve_ring(system, x, options).result.workers >= 1);
  options.workers = 100;
  CHECK(solve_ring(system, x, options).result.workers == 2);
}

TEST_CASE("host fixpoint: impossible arguments are refused with a problem, and nothing is called") {
  struct Case {
    const char* what;
    std::string problem;
    void (*change)(posset_solve_options&);
  };
  const Case cases[] = {
      {"tolerance", "the tolerance is", [](posset_solve_options& o) { o.tolerance = -1; }},
      {"tolerance NaN", "the tolerance is", [](posset_solve_options& o) { o.tolerance = kNan; }},
      {"tolerance infinity", "the tolerance is", [](posset_solve_options& o) { o.tolerance = kInfinity; }},
      {"damping 0", "the damping is", [](posset_solve_options& o) { o.damping = 0; }},
      {"damping 2", "the damping is", [](posset_solve_options& o) { o.damping = 2; }},
      {"damping NaN", "the damping is", [](posset_solve_options& o) { o.damping = kNan; }},
      {"time-out", "the time-out is", [](posset_solve_options& o) { o.timeout_seconds = -1; }},
      {"time-out NaN", "the time-out is", [](posset_solve_options& o) { o.timeout_seconds = kNan; }},
      {"time-out infinity", "the time-out is", [](posset_solve_options& o) { o.timeout_seconds = kInfinity; }},
      {"progress", "the time between two reports is", [](posset_solve_options& o) { o.progress_seconds = -1; }},
      {"schedule", "there is no such schedule", [](posset_solve_options& o) { o.schedule = static_cast<posset_schedule>(3); }},
      {"workers", "1025 workers", [](posset_solve_options& o) { o.workers = 1025; }},
      {"size", "the options have no size", [](posset_solve_options& o) { o.size = 0; }},
  };
  for (const Case& each : cases) {
    CAPTURE(each.what);
    Ring system;
    std::vector<double> x(4, 3.0);
    posset_solve_options options = posset_solve_defaults();
    each.change(options);
    const Solved solved = solve_ring(system, x, options);
    CHECK(solved.status == POSSET_MISUSE);
    CHECK(solved.result.status == POSSET_SOLVE_REFUSED);
    CHECK(std::string(solved.result.problem).starts_with(each.problem));
    CHECK(system.calls == 0);
    CHECK(distance(x, 3.0) == 0);
  }
}

TEST_CASE("host fixpoint: no coordinates, no operator, no start and no result are refused") {
  Ring system;
  double x[1] = {0};
  posset_solve_result result = posset_solve_result_empty();
  CHECK(posset_solve(nullptr, ring, &system, x, 0, nullptr, &result) == POSSET_MISUSE);
  CHECK(std::string(result.problem) == "a system has at least one coordinate");
  CHECK(posset_solve(nullptr, ring, &system, x, size_t{1} << 32, nullptr, &result) == POSSET_MISUSE);
  CHECK(std::string(result.problem).starts_with("4294967296 coordinates"));
  CHECK(posset_solve(nullptr, nullptr, &system, x, 1, nullptr, &result) == POSSET_MISUSE);
  CHECK(std::string(result.problem) == "there is no operator");
  CHECK(posset_solve(nullptr, ring, &system, nullptr, 1, nullptr, &result) == POSSET_MISUSE);
  CHECK(std::string(result.problem) == "there is no start");
  CHECK(posset_solve(nullptr, ring, &system, x, 1, nullptr, nullptr) == POSSET_MISUSE);
  result.size = 0;
  CHECK(posset_solve(nullptr, ring, &system, x, 1, nullptr, &result) == POSSET_MISUSE);
  CHECK(system.calls == 0);
}

TEST_CASE("host fixpoint: a start with NaN or infinity is refused, and its coordinate named") {
  for (double bad : {kNan, kInfinity, -kInfinity}) {
    Ring system;
    std::vector<double> x(4);
    x[2] = bad;
    const Solved solved = solve_ring(system, x, posset_solve_defaults());
    CHECK(solved.status == POSSET_MISUSE);
    CHECK(std::string(solved.result.problem).starts_with("the start of coordinate 2 is "));
    CHECK(system.calls == 0);
  }
}

TEST_CASE("host fixpoint: NaN or infinity from the operator is a divergence at that coordinate") {
  for (uint32_t workers : kWorkers) {
    for (double bad : {kNan, kInfinity, -kInfinity}) {
      Ring system{.fails_at = 37, .bad = bad};
      std::vector<double> x(64);
      posset_solve_options options = posset_solve_defaults();
      options.workers = workers;
      const Solved solved = solve_ring(system, x, options);
      CHECK(solved.status == POSSET_OK);
      CHECK(solved.result.status == POSSET_SOLVE_DIVERGED);
      CHECK(solved.result.coordinate == 37);
      CHECK(std::string(solved.result.problem) == "the operator gave NaN or infinity for coordinate 37");
      for (double each : x) CHECK(std::isfinite(each));
    }
  }
}

TEST_CASE("host fixpoint: an x that grows beyond all numbers is a divergence, too") {
  Ring system{.beta = 3};
  std::vector<double> x(16);
  const Solved solved = solve_ring(system, x, posset_solve_defaults());
  CHECK(solved.result.status == POSSET_SOLVE_DIVERGED);
  for (double each : x) CHECK(std::isfinite(each));
}

TEST_CASE("host fixpoint: an operator that fails ends the solve with its status and coordinate") {
  for (uint32_t workers : kWorkers) {
    Ring system{.fails_at = 5, .status = POSSET_NOT_FOUND};
    std::vector<double> x(64);
    posset_solve_options options = posset_solve_defaults();
    options.workers = workers;
    const Solved solved = solve_ring(system, x, options);
    CHECK(solved.status == POSSET_OK);
    CHECK(solved.result.status == POSSET_SOLVE_FAILED);
    CHECK(solved.result.operator_status == POSSET_NOT_FOUND);
    CHECK(solved.result.coordinate == 5);
    CHECK(std::string(solved.result.problem) == "the operator failed for coordinate 5: there is no such thing");
    system.fails_at = SIZE_MAX;  // and the next solve goes on from there
    CHECK(solve_ring(system, x, options).result.status == POSSET_SOLVE_CONVERGED);
  }
}

TEST_CASE("host fixpoint: a tolerance of 0 takes an exact fixed point, and else ends by its time-out") {
  Ring exact;  // 0.5 x + 1 comes to 2 exactly
  std::vector<double> x(4);
  posset_solve_options options = posset_solve_defaults();
  options.tolerance = 0;
  CHECK(solve_ring(exact, x, options).result.status == POSSET_SOLVE_CONVERGED);
  CHECK(distance(x, 2) == 0);
  // x = 1 - x has a fixed point, but undamped a single coordinate swings between 0 and 1.
  Ring swings{.beta = -1};
  std::vector<double> one(1);
  // Until the first scan nothing is known of the residual, and a busy machine may not come to it in so short a time.
  Solved solved;
  for (options.timeout_seconds = 0.02; options.timeout_seconds < 60; options.timeout_seconds *= 4) {
    solved = solve_ring(swings, one, options);
    CHECK(solved.status == POSSET_OK);
    CHECK(solved.result.status == POSSET_SOLVE_TIMED_OUT);
    CHECK(solved.result.seconds >= options.timeout_seconds);
    if (std::isfinite(solved.result.residual)) break;
  }
  CHECK(solved.result.residual == 1);
}

TEST_CASE("host fixpoint: a stop from another thread ends the solve, and any later one at once") {
  for (uint32_t workers : {1U, 4U}) {
    posset_stop* stop = posset_stop_create();
    REQUIRE(stop);
    CHECK_FALSE(posset_stop_requested(stop));
    Ring swings{.beta = -1};
    std::vector<double> x(4);
    x[0] = 3;  // no fixed point is met by swinging
    posset_solve_options options = posset_solve_defaults();
    options.tolerance = 0;
    options.workers = workers;
    options.stop = stop;
    std::thread other([&] {
      while (swings.calls.load(std::memory_order_relaxed) < 1000) std::this_thread::yield();
      posset_stop_request(stop);
    });
    posset_solve_options first = options;
    std::vector<double> one(1);
    if (workers == 1) {
      CHECK(solve_ring(swings, one, first).result.status == POSSET_SOLVE_STOPPED);
    } else {
      // Asynchronous updates of a swinging ring may meet its fixed point; an ever growing one meets none.
      auto grow = [](void* data, size_t i, const posset_vector* at, double* out) {
        static_cast<Ring*>(data)->calls.fetch_add(1, std::memory_order_relaxed);
        *out = posset_vector_at(at, i) + 1;
        return POSSET_OK;
      };
      posset_solve_result result = posset_solve_result_empty();
      CHECK(posset_solve(nullptr, grow, &swings, x.data(), x.size(), &first, &result) == POSSET_OK);
      CHECK(result.status == POSSET_SOLVE_STOPPED);
    }
    other.join();
    CHECK(posset_stop_requested(stop));
    Ring again{.beta = 0.99};
    CHECK(solve_ring(again, x, options).result.status == POSSET_SOLVE_STOPPED);
    posset_stop_free(stop);
  }
}

TEST_CASE("host fixpoint: the history has the scans in order, and ends when the visitor has had enough") {
  struct Seen {
    std::vector<posset_residual_point> points;
    size_t most = SIZE_MAX;
  } seen;
  Ring system{.beta = 0.99};
  std::vector<double> x(32);
  posset_solve_options options = posset_solve_defaults();
  options.history_data = &seen;
  options.history = [](void* data, const posset_residual_point* point) {
    auto& to = *static_cast<Seen*>(data);
    to.points.push_back(*point);
    return to.points.size() < to.most ? POSSET_OK : POSSET_DONE;
  };
  const Solved solved = solve_ring(system, x, options);
  REQUIRE(solved.result.status == POSSET_SOLVE_CONVERGED);
  REQUIRE(seen.points.size() == solved.result.scans);
  REQUIRE(seen.points.size() >= 2);
  for (size_t k = 1; k < seen.points.size(); ++k) {
    CHECK(seen.points[k - 1].seconds <= seen.points[k].seconds);
    CHECK(seen.points[k - 1].updates <= seen.points[k].updates);
  }
  CHECK(seen.points.back().residual == solved.result.residual);
  CHECK(seen.points.back().updates == solved.result.updates);
  seen = {{}, 1};
  std::fill(x.begin(), x.end(), 0.0);
  solve_ring(system, x, options);
  CHECK(seen.points.size() == 1);
}

TEST_CASE("host fixpoint: progress is told on the calling thread, and may stop the solve") {
  struct Told {
    posset_stop* stop = posset_stop_create();
    std::thread::id thread = std::this_thread::get_id();
    int calls = 0;
    bool ended = false, elsewhere = false;
  } told;
  for (uint32_t workers : {1U, 4U}) {
    told.calls = 0;
    told.ended = false;
    posset_solve_options options = posset_solve_defaults();
    options.workers = workers;
    options.stop = told.stop;
    options.progress_seconds = 0;
    options.progress_data = &told;
    options.progress = [](void* data, const posset_solve_progress* now) {
      auto& to = *static_cast<Told*>(data);
      to.elsewhere |= to.thread != std::this_thread::get_id();
      to.ended = now->ended;
      if (++to.calls == 3) posset_stop_request(to.stop);
    };
    auto grow = [](void*, size_t i, const posset_vector* at, double* out) {
      *out = posset_vector_at(at, i) + 1;
      return POSSET_OK;
    };
    std::vector<double> x(100);
    posset_solve_result result = posset_solve_result_empty();
    CHECK(posset_solve(nullptr, grow, nullptr, x.data(), x.size(), &options, &result) == POSSET_OK);
    CHECK(result.status == POSSET_SOLVE_STOPPED);
    CHECK(told.calls >= 4);  // the third, and of the end
    CHECK(told.ended);
    CHECK_FALSE(told.elsewhere);
    posset_stop_free(told.stop);
    told.stop = posset_stop_create();
  }
  posset_stop_free(told.stop);
}

TEST_CASE("host fixpoint: a caller of an older header gets what it knows of the options and the result") {
  Ring system;
  std::vector<double> x(4);
  posset_solve_options options = posset_solve_defaults();
  options.size = offsetof(posset_solve_options, damping);
  options.tolerance = 1e-3;
  options.workers = 5000;  // not known to that caller: not read
  posset_solve_result result = posset_solve_result_empty();
  result.size = offsetof(posset_solve_result, schedule);
  result.updates = 77;
  CHECK(posset_solve(nullptr, ring, &system, x.data(), x.size(), &options, &result) == POSSET_OK);
  CHECK(result.status == POSSET_SOLVE_CONVERGED);
  CHECK(result.size == offsetof(posset_solve_result, schedule));
  CHECK(result.updates == 77);
  CHECK(distance(x, 2) > 1e-9);
}

TEST_CASE("host fixpoint: the trace of a runtime tells of the solve") {
  posset_runtime_options with_trace = posset_runtime_defaults();
  with_trace.trace_events = 10'000;
  World w(posset_context_defaults(), with_trace);
  Ring system;
  std::vector<double> x(32);
  posset_solve_options options = posset_solve_defaults();
  options.workers = 4;
  posset_solve_result result = posset_solve_result_empty();
  CHECK(posset_solve(w.runtime, ring, &system, x.data(), x.size(), &options, &result) == POSSET_OK);
  std::string trace;
  CHECK(posset_trace_write(w.runtime, POSSET_TRACE_TEXT, append, &trace) == POSSET_OK);
  CHECK(trace.find("solve_finished") != std::string::npos);
  CHECK(w.show("1 + 1") == "2");
}

TEST_CASE("host fixpoint: the operator of one worker may evaluate scripts, and their errors end it") {
  World w;
  posset_value f = posset_nil();
  REQUIRE(w.eval("(v) => if v > 1.9 { [0][1] } else { 0.5 * v + 1 }", &f) == POSSET_OK);
  struct Host {
    posset_context* context;
    posset_value f;
  } host{w.context, f};
  auto call = [](void* data, size_t i, const posset_vector* x, double* out) {
    auto& self = *static_cast<Host*>(data);
    posset_value argument = posset_float(posset_vector_at(x, i));
    posset_value result = posset_nil();
    const posset_status status = posset_invoke(self.context, self.f, &argument, 1, &result);
    if (status == POSSET_OK) *out = posset_as_float(result);
    return status;
  };
  double x[1] = {0};
  posset_solve_result result = posset_solve_result_empty();
  CHECK(posset_solve(w.runtime, call, &host, x, 1, nullptr, &result) == POSSET_OK);
  CHECK(result.status == POSSET_SOLVE_FAILED);
  CHECK(result.operator_status == POSSET_RAISED);
  CHECK(w.problem().code == POSSET_ERROR_OutOfRange);
  posset_release(f);
}

TEST_CASE("host fixpoint: a solve inside the operator of a solve, and several at a time") {
  auto nested = [](size_t i, Iterate x) {
    std::vector<double> inner(2, x[i]);
    solve(inner, [](size_t, Iterate y) { return 0.5 * y[0] + 0.5; });
    return 0.25 * x[(i + 1) % x.size()] + inner[0];
  };
  std::vector<std::thread> threads;
  std::vector<double> error(3, kInfinity);
  for (double& each : error) {
    threads.emplace_back([&each, nested] {
      std::vector<double> x(8);
      solve(x, nested, {.tolerance = 1e-4, .workers = 2});
      each = distance(x, 4.0 / 3);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (double each : error) CHECK(each < 1e-3);
}

// ---- C++ ----

TEST_CASE("host fixpoint in C++: a solution with its history") {
  std::vector<double> x(100);
  const Solution solution = solve(x, [](size_t i, Iterate now) { return 0.5 * now[(i + 1) % now.size()] + 1; },
                                  {.tolerance = 1e-9, .workers = 3});
  CHECK(solution.converged());
  CHECK(solution.what() == "converged");
  CHECK(solution.residual() <= 1e-9);
  CHECK(solution.history.size() == solution.result.scans);
  CHECK(distance(x, 2) <= 1e-8);
  double some[2] = {0, 0};
  CHECK(solve(some, 2, [](size_t, Iterate now) { return 0.5 * now[0]; }, {.schedule = Schedule::Residual}).schedule() ==
        Schedule::Residual);
}

TEST_CASE("host fixpoint in C++: what the operator throws reaches the caller, once, from any worker") {
  for (uint32_t workers : kWorkers) {
    std::vector<double> x(64);
    auto f = [](size_t i, Iterate now) -> double {
      if (i == 9) throw std::out_of_range("nine");
      return 0.5 * now[i];
    };
    CHECK_THROWS_WITH_AS(solve(x, f, {.workers = workers}), "nine", std::out_of_range);
    const Solution tried = try_solve(x, f, {.workers = workers});
    CHECK(tried.status() == POSSET_SOLVE_FAILED);
    CHECK_THROWS_AS(std::rethrow_exception(tried.failure), std::out_of_range);
    CHECK(try_solve(x, [](size_t, Iterate) -> double { throw 42; }).failure != nullptr);
  }
}

TEST_CASE("host fixpoint in C++: an end without a solution is an exception or a result, as asked") {
  double x[1] = {0};
  auto swing = [](size_t i, Iterate now) { return 1 - now[i]; };
  const SolveOptions options{.timeout_seconds = 0.01};
  CHECK(try_solve(x, 1, swing, options).status() == POSSET_SOLVE_TIMED_OUT);
  try {
    solve(x, 1, swing, options);
    FAIL("it converged");
  } catch (const NotConverged& why) {
    CHECK(std::string(why.what()) == "solve: timed out");
    CHECK(why.solution().updates() > 0);
  }
  CHECK_THROWS_WITH_AS(solve(x, 1, [](size_t, Iterate) { return kNan; }),
                       "solve: the operator gave NaN or infinity for coordinate 0", NotConverged);
  CHECK_THROWS_WITH_AS(solve(x, 0, swing), "a system has at least one coordinate: an argument that cannot be used", Misuse);
  CHECK_THROWS_AS(try_solve(x, 1, swing, {.tolerance = kNan}), Misuse);
}

TEST_CASE("host fixpoint in C++: what progress throws reaches the caller, and a Stop ends the solve") {
  for (uint32_t workers : {1U, 4U}) {
    std::vector<double> x(100);
    auto grow = [](size_t i, Iterate now) { return now[i] + 1; };
    SolveOptions options{.workers = workers, .progress_seconds = 0};
    options.progress = [](const posset_solve_progress&) { throw std::runtime_error("seen enough"); };
    CHECK_THROWS_WITH_AS(solve(x, grow, options), "seen enough", std::runtime_error);
    const Stop stop;
    options.stop = &stop;
    options.progress = [&](const posset_solve_progress&) { stop.request(); };
    CHECK(try_solve(x, grow, options).status() == POSSET_SOLVE_STOPPED);
    CHECK(stop.requested());
  }
}

}  // namespace posset::test
