// Limits, interruption, threads, errors as objects. After every limit the context must be as good
// as new, which each case ends by showing.
#include <atomic>
#include <chrono>
#include <thread>

#include "fixture.h"
#include "interp/api/handles.h"

using posset::test::append;
using posset::test::Problem;
using posset::test::str;
using posset::test::text;
using posset::test::World;

namespace {

void still_works(World& w) { CHECK(w.show("var t = 0\nfor i in 0..10 { t += i }\nt") == "45"); }

// A function that interrupts what calls it.
void give_stop(World& w) {
  posset_function_row row = {};
  row.name = "stop";
  row.signature = "stop()";
  row.doc = "";
  row.function = [](posset_call* call) {
    posset_interrupt(call->context);
    return POSSET_OK;
  };
  REQUIRE(posset_define(w.context, &row, sizeof row, nullptr) == POSSET_OK);
}

}  // namespace

TEST_CASE("each limit ends the evaluation and leaves the context usable") {
  posset_context_options options = posset_context_defaults();
  options.memory_limit = 8 << 20;
  options.step_limit = 2000000;
  options.stack_limit = 500;
  World w(options);
  struct Row {
    const char* source;
    posset_code code;
  };
  for (Row row : {Row{"while true { }", POSSET_ERROR_StepLimit},
                  Row{"fn f(n) => 1 + f(n)\nf(1)", POSSET_ERROR_StackOverflow},
                  Row{"var xs = []\nwhile true { xs.push(str(len(xs)) + \"xxxxxxxxxxxxxxxxxx\") }",
                      POSSET_ERROR_MemoryLimit},
                  Row{"var s = \"ab\"\nwhile true { s = s + s }", POSSET_ERROR_MemoryLimit},
                  Row{"try { while true { } } catch { 1 }", POSSET_ERROR_StepLimit}}) {
    for (int round = 0; round < 3; ++round) {
      REQUIRE(w.eval(row.source) == POSSET_RAISED);
      Problem problem = w.problem();
      CHECK_MESSAGE(problem.code == row.code, problem.message);
      CHECK(problem.is_limit);
      CHECK(!problem.is_interrupt);
    }
    still_works(w);
  }
}

TEST_CASE("the time limit") {
  posset_context_options options = posset_context_defaults();
  options.time_limit_seconds = 0.05;
  World w(options);
  CHECK(w.eval("count(0..100000000000, x => x < 0)") == POSSET_RAISED);
  CHECK(w.problem().code == POSSET_ERROR_TimeLimit);
  options.time_limit_seconds = 0;  // a short time is soon over on a machine that is busy
  REQUIRE(posset_context_set_options(w.context, &options) == POSSET_OK);
  still_works(w);
}

TEST_CASE("the time limit is seen behind functions of the host that take their time") {
  posset_context_options options = posset_context_defaults();
  options.time_limit_seconds = 0.05;
  World w(options);
  int calls = 0;
  posset_function_row row = {};
  row.name = "slow";
  row.signature = "slow()";
  row.doc = "";
  row.data = &calls;
  row.function = [](posset_call* call) {
    ++*static_cast<int*>(call->data);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return POSSET_OK;
  };
  REQUIRE(posset_define(w.context, &row, sizeof row, nullptr) == POSSET_OK);
  CHECK(w.eval("for i in 0..100000 { slow() }") == POSSET_RAISED);
  CHECK(w.problem().code == POSSET_ERROR_TimeLimit);
  CHECK(calls < 1000);  // by steps alone it would be seen after thousands
}

TEST_CASE("steps count anew for every outermost call") {
  posset_context_options options = posset_context_defaults();
  options.step_limit = 20000;
  World w(options);
  posset_value f = posset_nil();
  REQUIRE(w.eval("n => fold(0..n, 0, (a, b) => a + b)", &f) == POSSET_OK);
  for (int i = 0; i < 10; ++i) {
    posset_value n = posset_int(15000), result = posset_nil();
    CHECK(posset_invoke(w.context, f, &n, 1, &result) == POSSET_OK);
  }
  uint64_t steps = w.statistics().steps;
  CHECK(steps > 15000);
  CHECK(steps < 16000);
  posset_release(f);
}

TEST_CASE("limits can be set anew") {
  World w;
  posset_context_options options = posset_context_defaults();
  options.step_limit = 1000;
  REQUIRE(posset_context_set_options(w.context, &options) == POSSET_OK);
  CHECK(w.eval("while true { }") == POSSET_RAISED);
  CHECK(w.problem().code == POSSET_ERROR_StepLimit);
  options.step_limit = 0;
  REQUIRE(posset_context_set_options(w.context, &options) == POSSET_OK);
  CHECK(w.show("var i = 0\nwhile i < 5000 { i += 1 }\ni") == "5000");
}

TEST_CASE("another thread interrupts, and meanwhile the context is busy") {
  World w;
  std::atomic<bool> begun{false};
  posset_function_row row = {};
  row.name = "begin";
  row.signature = "begin()";
  row.doc = "";
  row.data = &begun;
  row.function = [](posset_call* call) {
    static_cast<std::atomic<bool>*>(call->data)->store(true);
    return POSSET_OK;
  };
  REQUIRE(posset_define(w.context, &row, sizeof row, nullptr) == POSSET_OK);
  posset_status other_status = POSSET_OK;
  std::thread other([&] {
    while (!begun) std::this_thread::yield();
    posset_value v = posset_nil();
    other_status = posset_eval(w.context, text("1"), &v, nullptr);
    posset_interrupt(w.context);
  });
  CHECK(w.eval("begin()\nwhile true { }") == POSSET_RAISED);
  other.join();
  CHECK(other_status == POSSET_BUSY);
  Problem problem = w.problem();
  CHECK(problem.code == POSSET_ERROR_Interrupted);
  CHECK(problem.is_interrupt);
  still_works(w);
}

TEST_CASE("an interruption before an evaluation hits that one only") {
  World w;
  posset_interrupt(w.context);
  CHECK(w.eval("while true { }") == POSSET_RAISED);
  CHECK(w.problem().is_interrupt);
  CHECK(w.show("1") == "1");
  posset_interrupt(w.context);
  CHECK(w.show("2") == "raised: interrupted");  // while it is read
  CHECK(w.show("2") == "2");
  CHECK(w.show("var i = 0\nwhile i < 100000 { i += 1 }\ni") == "100000");
}

TEST_CASE("limits: what the host releases is given back at once, also after a time limit") {
  World w;
  posset_value list = posset_nil();
  REQUIRE(w.eval("fill(20000000, 1)", &list) == POSSET_OK);
  posset_context_options options = posset_context_defaults();
  options.time_limit_seconds = 1e-9;
  REQUIRE(posset_context_set_options(w.context, &options) == POSSET_OK);
  for (const char* source : {"for i in 0..100000 { }", "1"}) {
    posset_value held = posset_retain(list);
    w.eval(source);
    if (posset_error* error = posset_take_error(w.context)) posset_error_free(error);
    posset_release(held);
  }
  posset_release(list);
  CHECK_FALSE(w.context->heap.has_buried());
}

TEST_CASE("limits: an interrupted evaluation leaves the rest of a very large list to the next, or to the host's question") {
  posset_context_options options = posset_context_defaults();
  options.memory_limit = size_t{1} << 30;
  World w(options);
  const auto used = [&] {
    posset_statistics statistics = {};
    statistics.size = sizeof statistics;
    REQUIRE(posset_context_statistics(w.context, &statistics) == POSSET_OK);
    return statistics.used_bytes;
  };
  give_stop(w);
  const uint64_t before = used();
  for (int round = 0; round < 4; ++round) {  // two of them are beyond the limit
    CHECK(w.eval("let xs = fill(75000000, 1)\nstop()\nwhile true { len(xs) }") == POSSET_RAISED);
    CHECK(w.problem().is_interrupt);
  }
  CHECK(used() < before + 100000);
  still_works(w);
}

TEST_CASE("limits: remove_if of a long list that is interrupted when all have been asked leaves it as it was") {
  World w;
  give_stop(w);
  for (const char* item : {"i", "[i]"}) {
    const std::string whole = "[for i in 0..1000000 => " + std::string(item) + "]";
    w.session("var xs = " + whole);
    w.session("let asked = ref(0)");
    CHECK(w.session("xs.remove_if(x => do { asked.value += 1\nif asked.value == 1000000 { stop() }\nasked.value % 3 != 0 })") ==
          "raised: interrupted");
    CHECK(w.session("xs == " + whole) == "true");
  }
}

TEST_CASE("contexts of one runtime run on many threads") {
  posset_runtime* runtime = posset::test::make_runtime();
  std::atomic<int> good{0};
  std::thread threads[4];
  for (auto& thread : threads) {
    thread = std::thread([&] {
      for (int round = 0; round < 20; ++round) {
        World w(runtime, posset_context_defaults());
        good += w.show("fn fib(n) => if n < 2 { n } else { fib(n - 1) + fib(n - 2) }\nfib(15)") ==
                "610";
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(good == 80);
  posset_runtime_release(runtime);
}

TEST_CASE("an error is an object that outlives its context") {
  posset_error* error = nullptr;
  {
    posset_runtime* runtime = posset::test::make_runtime();
    posset_context* context = nullptr;
    REQUIRE(posset_context_create(runtime, nullptr, &context) == POSSET_OK);
    posset_runtime_release(runtime);
    posset_source source = posset_source_of(
        "prices.posset",
        text("fn total(big) {\n  let t = big + 1\n  t\n}\ntotal(9223372036854775807)"));
    posset_program* program = nullptr;
    REQUIRE(posset_load(context, &source, &program, nullptr) == POSSET_OK);
    CHECK(posset_run(program, nullptr) == POSSET_RAISED);
    posset_program_free(program);
    error = posset_take_error(context);
    CHECK(posset_take_error(context) == nullptr);
    posset_context_release(context);
  }
  REQUIRE(error);
  posset_error_info info = {};
  info.size = sizeof info;
  REQUIRE(posset_error_get(error, &info) == POSSET_OK);
  CHECK(info.code == POSSET_ERROR_IntOverflow);
  CHECK(std::string(info.code_name) == "IntOverflow");
  CHECK(str(info.message).find("int overflow in 9223372036854775807 + 1") == 0);
  CHECK(str(info.file) == "prices.posset");
  CHECK(info.line == 2);
  CHECK(info.column == 11);
  CHECK(info.end_column == 18);
  REQUIRE(info.trace_count == 2);
  CHECK(str(posset_error_trace(error, 0)) == "in total (prices.posset:2:11)");
  CHECK(str(posset_error_trace(error, 1)) == "in prices.posset:5:1");
  CHECK(str(posset_error_trace(error, 2)).empty());
  std::string report;
  CHECK(posset_error_render(error, false, append, &report) == POSSET_OK);
  CHECK(report.find("prices.posset:2:11: error: int overflow") == 0);
  CHECK(report.find("^^^^^^^") != std::string::npos);
  posset_error_free(error);
}

TEST_CASE("a thrown value is kept") {
  World w;
  CHECK(w.eval("throw {code: 7}") == POSSET_RAISED);
  posset_error* error = posset_take_error(w.context);
  posset_error_info info = {};
  info.size = sizeof info;
  REQUIRE(posset_error_get(error, &info) == POSSET_OK);
  CHECK(w.take_text(posset_retain(info.value)) == "{code: 7}");
  CHECK(info.code == POSSET_ERROR_Thrown);
  posset_error_free(error);
}

TEST_CASE("an error nobody takes is dropped by the next outermost call") {
  World w;
  CHECK(w.eval("1 // 0") == POSSET_RAISED);
  CHECK(posset_error_pending(w.context));
  CHECK(w.show("1") == "1");
  CHECK(!posset_error_pending(w.context));
}

TEST_CASE("long traces are cut in the middle") {
  World w;
  CHECK(w.eval("fn f(n) => if n == 0 { 1 // 0 } else { 1 + f(n - 1) }\nf(5000)") == POSSET_RAISED);
  Problem problem = w.problem();
  CHECK(problem.trace < 300);
  CHECK(problem.report.find(" more\n") != std::string::npos);
}

TEST_CASE("grants are what the host gave, below the directory it named") {
  posset_context_options options = posset_context_defaults();
  options.grants = POSSET_GRANT_READ | POSSET_GRANT_CLOCK;
  options.read_directory = "/usr/share";
  World w(options);
  CHECK(posset_granted(w.context, POSSET_GRANT_CLOCK, text("")));
  CHECK(!posset_granted(w.context, POSSET_GRANT_ENV, text("")));
  CHECK(posset_granted(w.context, POSSET_GRANT_READ, text("/usr/share/dict/words")));
  CHECK(posset_granted(w.context, POSSET_GRANT_READ, text("/usr/share")));
  CHECK(!posset_granted(w.context, POSSET_GRANT_READ, text("/usr/share/../../etc/passwd")));
  CHECK(!posset_granted(w.context, POSSET_GRANT_READ, text("/usr/shareholders")));
  CHECK(
      !posset_granted(w.context, POSSET_GRANT_READ, text(std::string("/usr/share/a\0/../..", 20))));
  CHECK(!posset_granted(w.context, POSSET_GRANT_WRITE, text("/usr/share/x")));
  CHECK(posset_require_grant(w.context, POSSET_GRANT_WRITE, text("/tmp/x")) == POSSET_RAISED);
  CHECK(w.problem().code == POSSET_ERROR_NotGranted);
}
