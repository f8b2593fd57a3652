// Tasks as a host sees them: they end with its evaluation, its limits hold for all of them together, and each context has
// its own. What scripts see of them is in tests/lang/tasks.
#include <atomic>
#include <chrono>
#include <posset/posset.hpp>
#include <thread>
#include <vector>

#include "fixture.h"

using posset::test::Problem;
using posset::test::text;
using posset::test::World;

namespace {

void still_works(World& w) { CHECK(w.show("fn f(x) => x + 1\nlet t = spawn f(1)\nawait t + await t") == "4"); }

constexpr const char* kForever = "import \"task\"\nfn forever() { while true { task.sleep(0.001) } }\n";

}  // namespace

TEST_CASE("tasks: a limit that one reaches ends the evaluation and leaves the context usable") {
  posset_context_options options = posset_context_defaults();
  options.memory_limit = 16 << 20;
  options.step_limit = 20000000;
  options.stack_limit = 500;
  options.time_limit_seconds = 5;
  World w(options);
  struct Row {
    const char* source;
    posset_code code;
  };
  for (Row row : {Row{"fn f() { while true { } }\nlet t = spawn f()\nlet u = spawn f()\ntry { await t } catch { 1 }",
                      POSSET_ERROR_StepLimit},
                  Row{"fn f(n) => 1 + f(n)\nawait spawn f(1)", POSSET_ERROR_StackOverflow},
                  Row{"fn f() { var s = \"ab\"\nwhile true { s = s + s } }\nspawn f()\nchan(0).recv()",
                      POSSET_ERROR_MemoryLimit},
                  Row{"let c = chan(0)\nfn f(c) => c.recv()\nvar ts = []\nwhile true { ts.push(spawn f(c)) }",
                      POSSET_ERROR_MemoryLimit},
                  Row{"let c = chan(100000000)\nfor i in 0..10000000 { c.send(\"a text of some length: {i}\") }",
                      POSSET_ERROR_MemoryLimit}}) {
    CAPTURE(row.source);
    for (int round = 0; round < 2; ++round) {
      REQUIRE(w.eval(row.source) == POSSET_RAISED);
      const Problem problem = w.problem();
      CHECK_MESSAGE(problem.code == row.code, problem.message);
      CHECK(problem.is_limit);
    }
    still_works(w);
  }
}

TEST_CASE("tasks: the quantum says how long one computes while others are ready") {
  const char* source =
      "fn count(n, done, name) { var s = 0\nfor i in 0..n { s = (s + i) % 1000 }\ndone.send(name) }\n"
      "let done = chan(2)\nlet long = spawn count(400000, done, \"long\")\nlet short = spawn count(40000, done, \"short\")\n"
      "[done.recv(), done.recv()]";
  posset_runtime_options options = posset_runtime_defaults();
  options.max_tier = 0;
  options.quantum_us = 1;  // every slice
  World by_turns(posset_context_defaults(), options);
  CHECK(by_turns.show(source) == "[\"short\", \"long\"]");
  options.quantum_us = 10000000;
  World one_by_one(posset_context_defaults(), options);
  CHECK(one_by_one.show(source) == "[\"long\", \"short\"]");
}

TEST_CASE("tasks: the time limit and another thread end what only waits") {
  posset_context_options options = posset_context_defaults();
  options.time_limit_seconds = 0.05;
  {
    World w(options);
    CHECK(w.eval("import \"task\"\nfn f() { task.sleep(60) }\nlet t = spawn f()\nawait t") == POSSET_RAISED);
    CHECK(w.problem().code == POSSET_ERROR_TimeLimit);
    CHECK(w.show("1 + 1") == "2");
  }
  World w;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    posset_interrupt(w.context);
  });
  CHECK(w.eval("import \"task\"\nfn f() { task.sleep(600) }\nspawn f()\ntask.sleep(600)") == POSSET_RAISED);
  other.join();
  CHECK(w.problem().is_interrupt);
  still_works(w);
}

TEST_CASE("tasks: they end with the evaluation of the host") {
  World w;
  CHECK(w.session("import \"task\"\nlet log = ref([])\nfn work(x) { task.sleep(0.001)\n"
                  "log.value.push(x)\nx }\nlet t = spawn work(1)") == "nil");
  CHECK(w.session("log.value") == "[1]");
  CHECK(w.session("await t") == "1");
  CHECK(w.session("fn start() { for i in 2..4 { spawn work(i) } }") == "nil");
  posset_value start = posset_nil();
  REQUIRE(posset_session_get(w.context, text("start"), &start) == POSSET_OK);
  CHECK(posset_invoke(w.context, start, nullptr, 0, nullptr) == POSSET_OK);
  posset_release(start);
  CHECK(w.session("log.value") == "[1, 2, 3]");
  CHECK(w.session("let c = chan(0)\nfn waits() => c.recv()\nlet u = spawn waits()").find("deadlock") != std::string::npos);
  CHECK(w.session("await u") == "raised: the task was cancelled");
}

TEST_CASE("tasks: an error of the script cancels them, one that nobody awaited is the script's") {
  World w;
  CHECK(w.show(std::string(kForever) + "let t = spawn forever()\nthrow \"enough\"") == "raised: enough");
  CHECK(w.show("fn fails() { throw \"in a task\" }\nlet t = spawn fails()\n5") == "raised: in a task");
  CHECK(w.show("fn fails() { throw \"in a task\" }\nspawn fails()\nthrow \"in the script\"") == "raised: in the script");
  still_works(w);
}

TEST_CASE("tasks: a host function may evaluate in one") {
  World w;
  posset_function_row row = {};
  row.name = "twice";
  row.signature = "twice(f)";
  row.doc = "f() + f()";
  row.min_arguments = row.max_arguments = 1;
  row.calls = 1;
  row.function = [](posset_call* call) -> posset_status {
    int64_t sum = 0;
    for (int i = 0; i < 2; ++i) {
      posset_value each = posset_nil();
      const posset_status status = posset_invoke(call->context, call->arguments[0], nullptr, 0, &each);
      if (status != POSSET_OK) return status;
      sum += posset_as_int(each);
    }
    return posset_return(call, posset_int(sum));
  };
  REQUIRE(posset_define(w.context, &row, sizeof row, nullptr) == POSSET_OK);
  CHECK(w.show("let c = chan(0)\nfn takes() => c.recv()\nfn run() => twice(takes)\n"
               "let a = spawn run()\nlet b = spawn run()\nfor x in [1, 2, 4, 8] { c.send(x) }\n"
               "[await a + await b, type(a)]") == "[15, \"task\"]");
}

TEST_CASE("tasks: contexts on many threads have their own") {
  posset_runtime* runtime = posset::test::make_runtime();
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      World w(runtime, posset_context_defaults());
      const std::string answer = w.show(
          "let c = chan(1)\nfn produce(n) { for i in 0..n { c.send(i) }\nc.close() }\nspawn produce(" +
          std::to_string(1000 * (i + 1)) + ")\nvar s = 0\nfor x in c { s += x }\ns");
      const int64_t n = 1000 * (i + 1);
      right += answer == std::to_string(n * (n - 1) / 2);
    });
  }
  for (std::thread& each : threads) each.join();
  posset_runtime_release(runtime);
  CHECK(right == 4);
}

TEST_CASE("tasks regression: a generator that was kept beyond its evaluation gave nothing, and no error") {
  posset::Runtime runtime;
  posset::Context context(runtime);
  posset::Program program = context.load("kept.posset",
                                         "let g = gen(emit => { for i in 0..3 { emit(i) } })\nexport let first = g.recv()\n"
                                         "let h = gen(emit => { for i in 0..3 { emit(i) } })\nexport let second = h.recv()\n"
                                         "let done = gen(emit => { emit(7) })\nlet all = list(done)\n"
                                         "fn next() => g.recv()\nfn rest() => list(h)\nfn nothing() => list(done)");
  program.run();
  CHECK(program.get<int>("first") == 0);
  CHECK(program.get<int>("second") == 0);
  for (const char* name : {"next", "rest"}) {
    auto failed = program.function<posset::Value()>(name).try_call();
    REQUIRE(!failed);
    CHECK(failed.error().message() == "the generator has ended with the evaluation that it was made in");
  }
  CHECK(program.function<std::vector<int>()>("nothing")().empty());
}
