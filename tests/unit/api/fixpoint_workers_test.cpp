// fixpoint.solve with several workers, seen through the interface: that there are several, and that limits, interruptions and
// errors in the middle leave nothing behind. How many executors are idle depends on the threads, so what needs several
// tries until there are. The solver's own rules are tested in sched/fixpoint_*_test.cpp, results in tests/lang.
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <posset/posset.hpp>

#include "fixture.h"

namespace posset::test {

namespace {

posset_runtime_options with_workers(uint32_t workers) {
  posset_runtime_options options = posset_runtime_defaults();
  options.workers = workers;
  return options;
}

const std::string kModule =
    "import \"fixpoint\"\n"
    "fn ring(i, x) => 0.5 * x[(i + 1) % 300] + 1.0\n"
    "fn solved(w) => fixpoint.solve(300, ring, {workers: w, tolerance: 1e-10})\n"
    "fn endless(i, x) {\n  var s = 0.0\n  while s >= 0.0 { s += 1.0 }\n  s\n}\n"
    "fn growing(i, x) => 1.0 * len([for k in 0..400000 => k + x[i]])\n";

// Until there are two at a time at least, where there can be: more depends on who gets a processor when.
void wait_for_workers(World& world, int workers) {
  const std::string wanted = std::to_string(workers);
  for (int round = 0; round < 10000; ++round) {
    if (world.show(kModule + "solved(" + wanted + ").workers >= " + (workers > 1 ? "2" : "1")) == "true") return;
  }
  FAIL_CHECK("there was never more than one of ", workers, " workers");
}

}  // namespace

TEST_CASE("fixpoint workers: as many as are idle, with one solution") {
  for (const int workers : {1, 2, 4, 16}) {
    World world(posset_context_defaults(), with_workers(static_cast<uint32_t>(workers)));
    wait_for_workers(world, workers);
    for (int round = 0; round < 20; ++round) {
      CHECK(world.show(kModule + "do { let r = solved(16)\nr.converged and r.workers <= " + std::to_string(workers) +
                       " and all(r.x, v => abs(v - 2.0) < 1e-9) }") == "true");
    }
  }
}

TEST_CASE("fixpoint workers: what failed on another thread is raised where the solve is") {
  World world(posset_context_defaults(), with_workers(3));
  wait_for_workers(world, 3);
  for (int i = 0; i < 300; i += 13) {
    const std::string at = std::to_string(i);
    CHECK(world.eval(kModule + "fixpoint.solve(300, (i, x) => if i == " + at + " { throw \"at {i}\" } else { x[i] * 0.5 }, {workers: 3})") ==
          POSSET_RAISED);
    CHECK(world.problem().report.find("at " + at) != std::string::npos);
  }
  CHECK(world.show(kModule + "solved(3).converged") == "true");
}

TEST_CASE("fixpoint workers: limits end all of them") {
  World world(posset_context_defaults(), with_workers(3));
  wait_for_workers(world, 3);
  posset_context_options options = posset_context_defaults();
  options.step_limit = 2000000;
  REQUIRE(posset_context_set_options(world.context, &options) == POSSET_OK);
  CHECK(world.eval(kModule + "fixpoint.solve(300, endless, {workers: 3})") == POSSET_RAISED);
  CHECK(world.problem().is_limit);
  CHECK(world.eval(kModule + "fixpoint.solve(300, (i, x) => x[i] + 1.0, {workers: 3})") == POSSET_RAISED);
  CHECK(world.problem().is_limit);
  options = posset_context_defaults();
  options.memory_limit = 1 << 20;
  REQUIRE(posset_context_set_options(world.context, &options) == POSSET_OK);
  CHECK(world.eval(kModule + "fixpoint.solve(300, growing, {workers: 3})") == POSSET_RAISED);
  CHECK(world.problem().is_limit);
  options = posset_context_defaults();
  options.time_limit_seconds = 0.05;
  REQUIRE(posset_context_set_options(world.context, &options) == POSSET_OK);
  CHECK(world.eval(kModule + "fixpoint.solve(300, endless, {workers: 3})") == POSSET_RAISED);
  CHECK(world.problem().is_limit);
  options = posset_context_defaults();
  REQUIRE(posset_context_set_options(world.context, &options) == POSSET_OK);
  CHECK(world.show(kModule + "solved(3).converged") == "true");
}

TEST_CASE("fixpoint workers: an interruption ends all of them, whenever it comes") {
  World world(posset_context_defaults(), with_workers(3));
  wait_for_workers(world, 3);
  // Those that wait for one that never comes to an end look at the interruption, too.
  for (const char* operation : {"endless", "(i, x) => x[i] + 1.0", "(i, x) => if i % 3 == 0 { endless(i, x) } else { 0.5 * x[i] }"}) {
    std::atomic<bool> running{true};
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      while (running.load()) {
        posset_interrupt(world.context);
        std::this_thread::yield();
      }
    });
    posset_status status = POSSET_OK;
    while (status == POSSET_OK) status = world.eval(kModule + "fixpoint.solve(300, " + std::string(operation) + ", {workers: 3})");
    CHECK(world.problem().is_interrupt);
    running = false;
    other.join();
    world.eval("nil");  // the last interruption may have come late
    posset_error_free(posset_take_error(world.context));
  }
  CHECK(world.show(kModule + "solved(3).converged") == "true");
}

TEST_CASE("fixpoint workers: the host is told how far a long solve has come, on its thread, and of the end") {
  struct Told {
    std::thread::id thread = std::this_thread::get_id();
    std::vector<posset_solve_progress> all;
    bool elsewhere = false;
  } told;
  auto watch = [](void* data, const posset_solve_progress* now) {
    auto& to = *static_cast<Told*>(data);
    to.all.push_back(*now);
    to.elsewhere = to.elsewhere || std::this_thread::get_id() != to.thread;
  };
  const std::string long_solve = "import \"fixpoint\"\nfixpoint.solve(1, (i, x) => 1 - x[i], {timeout: 0.25}).status";
  posset_runtime* runtime = make_runtime(with_workers(2));
  {
    World world(runtime, posset_context_defaults());
    REQUIRE(posset_context_set_progress(world.context, watch, &told) == POSSET_OK);
    CHECK(world.show(kModule + "solved(1).converged") == "true");
    const size_t short_one = told.all.size();
    CHECK(world.show(long_solve) == "\"timed out\"");
    REQUIRE(told.all.size() >= short_one + 2);
    const posset_solve_progress& last = told.all.back();
    CHECK(last.size == sizeof last);
    CHECK(std::string(last.what) == "fixpoint.solve");
    CHECK(last.ended);
    CHECK_FALSE(told.all[short_one].ended);
    CHECK(last.updates > 0);
    CHECK(last.seconds >= 0.1);
    CHECK(last.residual == 1);

    world.show("import \"fixpoint\"\nfixpoint.solve(2, (i, x) => 1 - x[i], {timeout: 0.25, workers: 2}).status");
    CHECK_FALSE(told.elsewhere);
    REQUIRE(posset_context_set_progress(world.context, nullptr, nullptr) == POSSET_OK);
    const size_t before = told.all.size();
    CHECK(world.show(long_solve) == "\"timed out\"");
    CHECK(told.all.size() == before);
  }
  posset_runtime_release(runtime);
}

TEST_CASE("fixpoint workers: a step limit that is met in the last scan is raised there") {
  // One worker: the same steps every time, and the last of them are the scan's.
  World world(posset_context_defaults(), with_workers(1));
  const std::string converges = kModule + "fixpoint.solve(300, ring, {tolerance: 1e-10}).converged";
  REQUIRE(world.show(converges) == "true");
  const uint64_t steps = world.statistics().steps;
  posset_context_options options = posset_context_defaults();
  options.step_limit = steps;
  REQUIRE(posset_context_set_options(world.context, &options) == POSSET_OK);
  CHECK(world.show(converges) == "true");
  for (uint64_t before : {20U, 150U, 290U}) {
    options.step_limit = steps - before;
    REQUIRE(posset_context_set_options(world.context, &options) == POSSET_OK);
    CHECK(world.eval(converges) == POSSET_RAISED);
    CHECK(world.problem().code == POSSET_ERROR_StepLimit);
  }
  options.step_limit = steps;
  REQUIRE(posset_context_set_options(world.context, &options) == POSSET_OK);
  CHECK(world.show(converges) == "true");
}

TEST_CASE("fixpoint runs: a step limit is met at the same step as by calls one by one, and leaves nothing behind") {
  World world;
  // What may have a third argument is called one by one.
  const std::string module =
      "import \"fixpoint\"\n"
      "fn by_runs(i, x) => 0.9 * x[(i + 1) % 300] + 1.0\n"
      "fn one_by_one(i, x, more = 0) => 0.9 * x[(i + 1) % 300] + 1.0\n";
  const auto ends_within = [&](uint64_t limit, const std::string& f) {
    posset_context_options options = posset_context_defaults();
    options.step_limit = limit;
    REQUIRE(posset_context_set_options(world.context, &options) == POSSET_OK);
    const bool ends = world.eval(module + "fixpoint.solve(300, " + f + ", {tolerance: 1e-9}).converged") == POSSET_OK;
    CHECK((ends || world.problem().is_limit));
    return ends;
  };
  const auto least_limit = [&](const std::string& f) {
    uint64_t enough = 1'000'000, few = 20'000;
    REQUIRE(ends_within(enough, f));
    while (enough - few > 1) (ends_within((enough + few) / 2, f) ? enough : few) = (enough + few) / 2;
    return enough;
  };
  CHECK(least_limit("by_runs") == least_limit("one_by_one"));
}

TEST_CASE("fixpoint runs regression: calls nest as deeply in runs as one by one, with any number of workers") {
  for (const uint32_t workers : {1U, 3U}) {
    World world(posset_context_defaults(), with_workers(workers));
    // Deep only when the solve has come some way: by then there are runs.
    const std::string module =
        "import \"fixpoint\"\n"
        "fn deep(k) => if k == 0 { 0.0 } else { 0.0 + deep(k - 1) }\n"
        "fn by_runs(i, x) => if x[0] < 9.0 { 0.9 * x[(i + 1) % 300] + 1.0 } else { 10.0 + deep(40) }\n"
        "fn one_by_one(i, x, more = 0) => if x[0] < 9.0 { 0.9 * x[(i + 1) % 300] + 1.0 } else { 10.0 + deep(40) }\n";
    const auto ends_within = [&](uint32_t calls, const std::string& f) {
      posset_context_options options = posset_context_defaults();
      options.stack_limit = calls;
      REQUIRE(posset_context_set_options(world.context, &options) == POSSET_OK);
      const std::string asked = ", {tolerance: 1e-9, workers: " + std::to_string(workers) + "}).converged";
      return world.eval(module + "fixpoint.solve(300, " + f + asked) == POSSET_OK;
    };
    for (uint32_t calls = 38; calls < 50; ++calls) CHECK(ends_within(calls, "by_runs") == ends_within(calls, "one_by_one"));
    CHECK_FALSE(ends_within(38, "by_runs"));
    CHECK(ends_within(50, "by_runs"));
  }
}

TEST_CASE("fixpoint runs: memory limits are met in the middle, and the context goes on") {
  World world;
  const std::string module =
      "import \"fixpoint\"\n"
      "fn grows(i, x) => if x[0] < 9.0 { 0.9 * x[(i + 1) % 300] + 1.0 } else { 1.0 * len([for k in 0..1000000 => k + x[i]]) }\n";
  posset_context_options options = posset_context_defaults();
  options.memory_limit = 1 << 20;
  REQUIRE(posset_context_set_options(world.context, &options) == POSSET_OK);
  for (int round = 0; round < 5; ++round) {
    CHECK(world.eval(module + "fixpoint.solve(300, grows)") == POSSET_RAISED);
    CHECK(world.problem().is_limit);
    CHECK(world.show(module + "fixpoint.solve(300, (i, x) => 0.9 * x[(i + 1) % 300] + 1.0).converged") == "true");
  }
}

TEST_CASE("fixpoint runs regression: the loops that are made for operators are given back") {
  World world;
  const auto used = [&] {
    for (int k = 0; k < 20; ++k) {
      CHECK(world.show("import \"fixpoint\"\nfixpoint.solve(1000, (i, x) => 0.9 * x[(i + 1) % 1000] + 1.0).converged") == "true");
    }
    return world.show("import \"runtime\"\nruntime.counters().used_bytes");
  };
  used();
  CHECK(used() == used());
}

TEST_CASE("fixpoint workers: an interruption in the middle of a scan ends the solve") {
  for (uint32_t workers : {1U, 3U}) {
    Runtime runtime(make_runtime(with_workers(workers)));
    Context context(runtime);
    std::atomic<int> calls{0};
    int interrupt_at = 0;
    context.define("tick", pure([&](double v) {
                     if (calls.fetch_add(1) + 1 == interrupt_at) context.interrupt();
                     return v;
                   }));
    // Begins at the solution: 300 updates or a few more find nothing to do, and then all are looked at.
    const std::string solve =
        "import \"fixpoint\"\n"
        "fn slow(i, x) {\n  let v = tick(1.0)\n  var s = 0.0\n  for k in 0..3000 { s += 1.0 }\n  v + 0.0 * s\n}\n"
        "fixpoint.solve(300, slow, {start: fill(300, 1.0), schedule: \"static\", workers: " +
        std::to_string(workers) + "}).updates";
    const auto updates = context.eval<int>(solve);
    CHECK(calls == updates + 300);
    interrupt_at = calls - 150;
    calls = 0;
    auto ended = context.try_eval(solve);
    if (workers == 1) {
      REQUIRE_FALSE(ended.ok());
      CHECK(ended.error().is_interrupt());
      CHECK(calls < updates + 300);
    } else {
      // How many updates there are before the scan depends on who is how quick.
      CHECK((ended.ok() || ended.error().is_interrupt()));
    }
    interrupt_at = 0;
    (void)context.try_eval("nil");  // an interruption that came late
    CHECK(context.eval<bool>("import \"fixpoint\"\nfixpoint.solve(3, (i, x) => 0.5 * x[i]).converged"));
  }
}

TEST_CASE("fixpoint workers: Context::set_progress tells a lambda, and what it throws does no harm") {
  Runtime runtime(make_runtime(with_workers(2)));
  Context context(runtime);
  int told = 0, ended = 0;
  context.set_progress([&](const posset_solve_progress& now) {
    ++told;
    ended += now.ended;
    throw std::runtime_error("not of interest");
  });
  for (const char* workers : {"1", "2"}) {
    told = ended = 0;
    CHECK(context.eval<std::string>(std::string("import \"fixpoint\"\nfixpoint.solve(2, (i, x) => x[i] + 1.0, "
                                                "{tolerance: 0, timeout: 0.25, workers: ") +
                                    workers + "}).status") == "timed out");
    CHECK(told >= 2);
    CHECK(ended == 1);
  }
  CHECK(context.eval<int>("1 + 1") == 2);
}

TEST_CASE("fixpoint workers: contexts that solve at the same time share the executors") {
  posset_runtime* runtime = make_runtime(with_workers(3));
  std::vector<std::thread> threads;
  std::atomic<int> solved{0};
  for (int n = 0; n < 3; ++n) {
    threads.emplace_back([&] {
      World world(runtime, posset_context_defaults());
        for (int round = 0; round < 30; ++round) {
        if (world.show(kModule + "solved(3).converged") == "true") ++solved;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(solved == 90);
  posset_runtime_release(runtime);
}

}  // namespace posset::test
