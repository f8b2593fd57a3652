// Submitted evaluations: results, order, cancellation, deadlines, who may use the context meanwhile, and who
// may let go of what, in which order, on which thread.
#include <posset/submit.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <posset/posset.hpp>
#include <thread>
#include <vector>

#include "../sanitized.h"
#include "fixture.h"

using posset::test::append;
using posset::test::Problem;
using posset::test::str;
using posset::test::text;
using posset::test::World;
using namespace std::chrono_literals;

namespace {

// Compilations wait in the same queue: on a busy machine those of one evaluation would leave no room for the next.
constexpr uint32_t kRoom = 1024;

posset_runtime_options with_threads(uint32_t threads, uint32_t queue = kRoom) {
  posset_runtime_options options = posset_runtime_defaults();
  options.evaluation_threads = threads;
  options.queue_limit = queue;
  return options;
}

posset_future* submit(posset_context* context, std::string_view source,
                      posset_priority priority = POSSET_PRIORITY_NORMAL, double deadline = 0) {
  posset_submit_options options = posset_submit_defaults();
  options.priority = priority;
  options.deadline_seconds = deadline;
  posset_future* future = nullptr;
  REQUIRE(posset_submit_eval(context, text(source), &options, &future) == POSSET_OK);
  REQUIRE(future);
  return future;
}

// The result as World::show would tell it; releases the future.
std::string finish(World& w, posset_future* future) {
  CHECK(posset_future_wait(future, -1));
  posset_value value = posset_nil();
  const posset_status status = posset_future_take(future, &value, nullptr);
  posset_future_release(future);
  if (status == POSSET_RAISED) return "raised: " + w.problem().message;
  if (status != POSSET_OK) return posset_status_text(status);
  return w.take_text(value);
}

void define(posset_context* context, const char* name, std::function<posset_status(posset_call*)> body) {
  posset_function_row row = {};
  row.name = name;
  row.signature = name;
  row.doc = "";
  row.max_arguments = POSSET_ANY_COUNT;
  row.data = new std::function<posset_status(posset_call*)>(std::move(body));
  row.function = [](posset_call* call) { return (*static_cast<decltype(body)*>(call->data))(call); };
  REQUIRE(posset_define(context, &row, sizeof row,
                        [](void* data) { delete static_cast<decltype(body)*>(data); }) == POSSET_OK);
}

// A host function `hold()` that says that it runs and waits until it may go on.
struct Gate {
  std::atomic<bool> inside{false}, open{false};
  void define_in(posset_context* context) {
    define(context, "hold", [this](posset_call*) {
      inside = true;
      while (!open) std::this_thread::sleep_for(100us);
      return POSSET_OK;
    });
  }
  void wait_inside() const {
    while (!inside) std::this_thread::sleep_for(100us);
  }
};

}  // namespace

TEST_CASE("submit: results are those of direct evaluation") {
  World w;
  for (const char* source :
       {"1 + 2", "[1, 2.5, \"text that does not fit into a value\"]", "fn fib(n) => if n < 2 { n } else { fib(n - 1) + fib(n - 2) }\nfib(18)",
        "var s = 0.0\nfor i in 1..20000 { s += 1.0 / i }\ns", "{a: 1, b: [{c: 2}]}", "nil", "1 // 0", "throw {code: 7}"}) {
    const std::string direct = w.show(source);
    CHECK(finish(w, submit(w.context, source)) == direct);
  }
}

TEST_CASE("submit: what was printed and set is the context's") {
  World w;
  CHECK(finish(w, submit(w.context, "for i in 0..3 { println(\"from afar\") }")) == "nil");
  CHECK(w.output == "from afar\nfrom afar\nfrom afar\n");
  CHECK(w.statistics().steps > 0);
}

TEST_CASE("submit: programs and calls") {
  World w;
  posset_source source = posset_source_of("p.posset", text("let k = 40\nfn add(a, b) => a + b + k\nadd(1, 1)"));
  posset_program* program = nullptr;
  REQUIRE(posset_load(w.context, &source, &program, nullptr) == POSSET_OK);
  posset_future* future = nullptr;
  REQUIRE(posset_submit_run(program, nullptr, &future) == POSSET_OK);
  CHECK(finish(w, future) == "42");

  posset_value add = posset_nil();
  REQUIRE(posset_program_get(program, text("add"), &add) == POSSET_OK);
  posset_value arguments[] = {posset_int(1), posset_nil()};
  REQUIRE(posset_string(w.context, text("a string that has to be on the heap"), &arguments[1]) == POSSET_OK);
  REQUIRE(posset_submit_invoke(w.context, add, arguments, 2, nullptr, &future) == POSSET_OK);
  CHECK(posset_is_nil(arguments[1]));  // taken
  CHECK(finish(w, future).find("raised: ") == 0);
  posset_value two[] = {posset_int(1), posset_int(2)};
  REQUIRE(posset_submit_invoke(w.context, add, two, 2, nullptr, &future) == POSSET_OK);
  CHECK(posset_future_wait(future, -1));
  posset_release(add);
  CHECK(finish(w, future) == "43");
  posset_program_free(program);
}

TEST_CASE("submit: errors come with place and trace") {
  World w;
  posset_future* future = submit(w.context, "fn f(x) => x // 0\nfn g(x) => 1 + f(x)\ng(3)");
  CHECK(posset_future_wait(future, 10));
  CHECK(posset_future_progress(future) == POSSET_FUTURE_FAILED);
  CHECK(posset_future_take(future, nullptr, nullptr) == POSSET_RAISED);
  Problem problem = w.problem();
  CHECK(problem.line == 1);
  CHECK(problem.trace == 3);
  CHECK(problem.file == "<eval>");
  CHECK(posset_future_take(future, nullptr, nullptr) == POSSET_NOT_FOUND);
  posset_future_release(future);
}

TEST_CASE("submit: diagnostics are in the future") {
  World w;
  posset_future* future = submit(w.context, "1 +\nlet");
  CHECK(posset_future_wait(future, 10));
  CHECK(posset_future_progress(future) == POSSET_FUTURE_FAILED);
  posset_diagnostics* diagnostics = nullptr;
  CHECK(posset_future_take(future, nullptr, &diagnostics) == POSSET_INVALID);
  CHECK(posset_diagnostics_count(diagnostics) > 0);
  posset_diagnostics_free(diagnostics);
  posset_future_release(future);
  posset_future_release(submit(w.context, "no_such_name"));  // nobody takes them
}

TEST_CASE("submit: the priority decides") {
  posset_runtime* runtime = posset::test::make_runtime(with_threads(1));
  Gate gate;
  std::string order;
  {
    World blocker(runtime, posset_context_defaults());
    gate.define_in(blocker.context);
    std::vector<std::unique_ptr<World>> worlds;
    posset_future* held = submit(blocker.context, "hold()");
    gate.wait_inside();
    std::vector<posset_future*> futures;
    for (posset_priority priority :
         {POSSET_PRIORITY_BATCH, POSSET_PRIORITY_NORMAL, POSSET_PRIORITY_LOW, POSSET_PRIORITY_INTERACTIVE}) {
      World& w = *worlds.emplace_back(std::make_unique<World>(runtime, posset_context_defaults()));
      define(w.context, "note", [&order, priority](posset_call*) {
        order += std::to_string(priority) + " ";
        return POSSET_OK;
      });
      futures.push_back(submit(w.context, "note()", priority));
      CHECK(posset_future_progress(futures.back()) == POSSET_FUTURE_QUEUED);
    }
    CHECK(posset_future_progress(held) == POSSET_FUTURE_RUNNING);
    gate.open = true;
    for (size_t i = 0; i < worlds.size(); ++i) CHECK(finish(*worlds[i], futures[i]) == "nil");
    CHECK(finish(blocker, held) == "nil");
  }
  CHECK(order == "0 5 20 50 ");
  posset_runtime_release(runtime);
}

TEST_CASE("submit: cancelling what waits and what runs") {
  posset_runtime* runtime = posset::test::make_runtime(with_threads(1));
  {
    World running(runtime, posset_context_defaults()), waiting(runtime, posset_context_defaults());
    Gate gate;
    gate.open = true;
    gate.define_in(running.context);
    posset_future* first = submit(running.context, "hold()\nwhile true { }");
    gate.wait_inside();
    posset_value argument = posset_nil();
    REQUIRE(posset_string(waiting.context, text("released although it never got anywhere"), &argument) == POSSET_OK);
    posset_value f = posset_nil();
    REQUIRE(waiting.eval("x => x", &f) == POSSET_OK);
    posset_future* second = nullptr;
    REQUIRE(posset_submit_invoke(waiting.context, f, &argument, 1, nullptr, &second) == POSSET_OK);
    CHECK(!posset_future_wait(second, 0));
    CHECK(posset_future_cancel(second));
    CHECK(posset_future_progress(second) == POSSET_FUTURE_CANCELLED);
    CHECK(!posset_future_cancel(second));
    posset_release(f);
    CHECK(posset_future_take(second, nullptr, nullptr) == POSSET_RAISED);
    Problem problem = waiting.problem();
    CHECK(problem.is_interrupt);
    CHECK(problem.message == "cancelled before the evaluation began");
    CHECK(waiting.show("1 + 1") == "2");

    CHECK(!posset_future_wait(first, 0.01));
    CHECK(posset_future_cancel(first));
    CHECK(posset_future_wait(first, -1));
    CHECK(posset_future_progress(first) == POSSET_FUTURE_FAILED);
    CHECK(finish(running, first) == "raised: interrupted");
    CHECK(running.show("var i = 0\nwhile i < 100000 { i += 1 }\ni") == "100000");
    posset_future_release(second);
  }
  posset_runtime_release(runtime);
}

TEST_CASE("submit: deadlines of what waits and what runs") {
  posset_runtime* runtime = posset::test::make_runtime(with_threads(1));
  {
    World running(runtime, posset_context_defaults()), waiting(runtime, posset_context_defaults());
    Gate gate;
    gate.define_in(running.context);
    posset_future* held = submit(running.context, "hold()\n7");
    gate.wait_inside();
    // The waiting one misses its deadline although no thread ever looks at it.
    posset_future* late = submit(waiting.context, "hold()", POSSET_PRIORITY_NORMAL, 0.02);
    CHECK(posset_future_wait(late, 10));
    CHECK(posset_future_progress(late) == POSSET_FUTURE_FAILED);
    CHECK(posset_future_take(late, nullptr, nullptr) == POSSET_RAISED);
    Problem problem = waiting.problem();
    CHECK(problem.code == POSSET_ERROR_TimeLimit);
    CHECK(problem.message == "the deadline passed before the evaluation began");
    posset_future_release(late);
    // Nor when nobody waits for it: then the thread sees it.
    late = submit(waiting.context, "hold()", POSSET_PRIORITY_NORMAL, 0.001);
    std::this_thread::sleep_for(5ms);
    gate.open = true;
    CHECK(finish(waiting, late) == "raised: the deadline passed before the evaluation began");
    CHECK(finish(running, held) == "7");
    posset_future* endless = submit(running.context, "while true { }", POSSET_PRIORITY_NORMAL, 0.05);
    CHECK(posset_future_wait(endless, 10));
    CHECK(posset_future_take(endless, nullptr, nullptr) == POSSET_RAISED);
    CHECK(running.problem().code == POSSET_ERROR_TimeLimit);
    posset_future_release(endless);
    CHECK(running.show("1") == "1");
  }
  posset_runtime_release(runtime);
}

TEST_CASE("submit: a full queue refuses, or makes wait") {
  posset_runtime* runtime = posset::test::make_runtime(with_threads(1, 1));
  {
    World a(runtime, posset_context_defaults()), b(runtime, posset_context_defaults()),
        c(runtime, posset_context_defaults());
    Gate gate;
    gate.define_in(a.context);
    posset_future* first = submit(a.context, "hold()");
    gate.wait_inside();
    posset_future* second = submit(b.context, "2");
    posset_submit_options options = posset_submit_defaults();
    posset_future* third = nullptr;
    posset_value argument = posset_nil(), f = posset_nil();
    REQUIRE(c.eval("x => x", &f) == POSSET_OK);
    REQUIRE(posset_string(c.context, text("stays with whoever was refused"), &argument) == POSSET_OK);
    CHECK(posset_submit_invoke(c.context, f, &argument, 1, &options, &third) == POSSET_FULL);
    CHECK(third == nullptr);
    CHECK(c.take_text(argument) == "\"stays with whoever was refused\"");
    posset_release(f);
    options.room_seconds = 0.01;
    CHECK(posset_submit_eval(c.context, text("3"), &options, &third) == POSSET_FULL);
    CHECK(c.show("3") == "3");
    std::thread opener([&] {
      std::this_thread::sleep_for(5ms);
      gate.open = true;
    });
    options.room_seconds = 30;
    CHECK(posset_submit_eval(c.context, text("3"), &options, &third) == POSSET_OK);
    CHECK(finish(c, third) == "3");
    CHECK(finish(b, second) == "2");
    CHECK(finish(a, first) == "nil");
    opener.join();
  }
  posset_runtime_release(runtime);
}

TEST_CASE("submit: the context is busy from acceptance to the end") {
  World w({posset_context_defaults()}, with_threads(1));
  Gate gate;
  gate.define_in(w.context);
  posset_future* future = submit(w.context, "hold()\n\"a result that lives on the heap\"");
  posset_value value = posset_nil();
  posset_statistics statistics = {};
  statistics.size = sizeof statistics;
  for (int round = 0; round < 2; ++round) {
    CHECK(w.eval("1") == POSSET_BUSY);
    CHECK(posset_submit_eval(w.context, text("1"), nullptr, nullptr) == POSSET_BUSY);
    CHECK(posset_context_statistics(w.context, &statistics) == POSSET_BUSY);
    CHECK(posset_context_finish(w.context) == POSSET_BUSY);
    CHECK(posset_future_take(future, &value, nullptr) == POSSET_BUSY);
    gate.wait_inside();
  }
  gate.open = true;
  CHECK(posset_future_wait(future, -1));
  CHECK(posset_future_progress(future) == POSSET_FUTURE_DONE);
  CHECK(w.show("1") == "1");  // the result waits
  CHECK(finish(w, future) == "\"a result that lives on the heap\"");
}

TEST_CASE("submit: not from inside the context itself") {
  World w;
  posset_status inner = POSSET_OK;
  define(w.context, "again", [&](posset_call* call) {
    inner = posset_submit_eval(call->context, text("1"), nullptr, nullptr);
    return POSSET_OK;
  });
  CHECK(w.show("again()") == "nil");
  CHECK(inner == POSSET_BUSY);
  CHECK(finish(w, submit(w.context, "again()")) == "nil");
  CHECK(inner == POSSET_BUSY);
}

TEST_CASE("submit: misuse") {
  World w;
  posset_submit_options options = posset_submit_defaults();
  options.deadline_seconds = -1;
  CHECK(posset_submit_eval(w.context, text("1"), &options, nullptr) == POSSET_MISUSE);
  options.deadline_seconds = std::numeric_limits<double>::quiet_NaN();
  CHECK(posset_submit_eval(w.context, text("1"), &options, nullptr) == POSSET_MISUSE);
  options = posset_submit_defaults();
  options.priority = static_cast<posset_priority>(7);
  CHECK(posset_submit_eval(w.context, text("1"), &options, nullptr) == POSSET_MISUSE);
  CHECK(posset_submit_eval(nullptr, text("1"), nullptr, nullptr) == POSSET_MISUSE);
  CHECK(posset_submit_run(nullptr, nullptr, nullptr) == POSSET_MISUSE);
  options = posset_submit_defaults();
  options.deadline_seconds = std::numeric_limits<double>::infinity();
  posset_future* future = nullptr;
  CHECK(posset_submit_eval(w.context, text("1"), &options, &future) == POSSET_OK);
  CHECK(finish(w, future) == "1");
  CHECK(w.show("1") == "1");
  posset_context_finish(w.context);
  CHECK(posset_submit_eval(w.context, text("1"), nullptr, nullptr) == POSSET_MISUSE);
}

TEST_CASE("submit: limits are the context's") {
  posset_context_options options = posset_context_defaults();
  options.memory_limit = 8 << 20;
  options.step_limit = 2000000;
  options.stack_limit = 500;
  World w(options);
  for (const char* source : {"while true { }", "fn f(n) => 1 + f(n)\nf(1)", "var s = \"ab\"\nwhile true { s = s + s }"}) {
    const std::string direct = w.show(source);
    CHECK(direct.find("raised: ") == 0);
    CHECK(finish(w, submit(w.context, source)) == direct);
    CHECK(finish(w, submit(w.context, "1 + 1")) == "2");
  }
}

TEST_CASE("submit: recursion is as deep as on the host's thread") {
#ifdef __SANITIZE_THREAD__
  constexpr uint32_t kDepth = 2000;  // its own stack of calls has 64 Ki entries
#else
  constexpr uint32_t kDepth = posset::test::kSanitized ? 200'000 : 1'000'000;
#endif
  const std::string source =
      "fn f(n) => if n == 0 { 0 } else { 1 + f(n - 1) }\nf(" + std::to_string(kDepth) + ")";
  posset_context_options options = posset_context_defaults();
  for (uint32_t limit : {kDepth / 10, kDepth + kDepth / 5}) {
    options.stack_limit = limit;
    World w(options);
    const std::string direct = w.show(source);
    CHECK(finish(w, submit(w.context, source)) == direct);
  }
  posset_runtime_options walker = posset_runtime_defaults();
  walker.max_tier = 0;
  options.stack_limit = kDepth / 10;
  World w(options, walker);
  const std::string direct = w.show(source);
  CHECK(direct.find("raised: stack overflow") == 0);
  CHECK(finish(w, submit(w.context, source)) == direct);
}

TEST_CASE("submit: eight contexts in parallel give the same bits") {
  const char* source =
      "var s = 0.0\nfor i in 1..30000 { s = s * 0.999 + 1.0 / (i + 0.1) }\n"
      "let m = map(0..100, i => {key: str(i), value: s / (i + 1)})\n[s, m]";
  posset_runtime* runtime = posset::test::make_runtime(with_threads(4));
  {
    std::vector<std::unique_ptr<World>> worlds;
    std::vector<posset_future*> futures;
    for (int i = 0; i < 8; ++i) {
      World& w = *worlds.emplace_back(std::make_unique<World>(runtime, posset_context_defaults()));
      futures.push_back(submit(w.context, source));
    }
    World alone;
    const std::string expected = alone.show(source);
    CHECK(expected.size() > 1000);
    for (int i = 0; i < 8; ++i) CHECK(finish(*worlds[i], futures[i]) == expected);
  }
  posset_runtime_release(runtime);
}

TEST_CASE("submit: a thousand submissions, some cancelled, some dropped") {
  posset_runtime* runtime = posset::test::make_runtime(with_threads(3, 64));
  {
    std::vector<std::unique_ptr<World>> worlds;
    for (int i = 0; i < 16; ++i) worlds.push_back(std::make_unique<World>(runtime, posset_context_defaults()));
    int good = 0, cancelled = 0;
    for (int round = 0; round < 63; ++round) {
      std::vector<posset_future*> futures;
      for (auto& w : worlds) {
        posset_future* future = nullptr;
        const std::string source = "fold(0.." + std::to_string(round) + ", 0, (a, b) => a + b)";
        // One that was dropped may not have ended.
        while (posset_submit_eval(w->context, text(source), nullptr, &future) == POSSET_BUSY) std::this_thread::yield();
        REQUIRE(future);
        if ((futures.size() + static_cast<size_t>(round)) % 5 == 0) posset_future_cancel(future);
        futures.push_back(future);
      }
      for (size_t i = 0; i < futures.size(); ++i) {
        if ((i + static_cast<size_t>(round)) % 7 == 0) {
          posset_future_release(futures[i]);
          continue;
        }
        const std::string result = finish(*worlds[i], futures[i]);
        good += result == std::to_string(round * (round - 1) / 2);
        cancelled += result == "raised: cancelled before the evaluation began" || result == "raised: interrupted";
      }
    }
    CHECK(good + cancelled == 63 * 16 - 144);
    for (auto& w : worlds) {  // what was dropped has to end before World looks
      while (w->eval("nil") == POSSET_BUSY) std::this_thread::yield();
    }
  }
  posset_runtime_release(runtime);
}

TEST_CASE("submit: contexts share code while it is made and given up") {
  posset_runtime_options options = with_threads(4);
  options.code_limit = 60000;  // a few of the functions below
  posset_runtime* runtime = posset::test::make_runtime(options);
  {
    std::vector<std::unique_ptr<World>> worlds;
    for (int i = 0; i < 4; ++i) worlds.push_back(std::make_unique<World>(runtime, posset_context_defaults()));
    for (int round = 0; round < 60; ++round) {
      const std::string k = std::to_string(round % 7), n = std::to_string(40 + round);
      const std::string source =
          "type Tree = Leaf(v) | Node(l, r)\n"
          "fn grow(d) => if d == 0 { Leaf(d + " + k + ") } else { Node(grow(d - 1), grow(d - 1)) }\n"
          "fn total(t) => match t {\n  Leaf(v) => v\n  Node(l, r) => total(l) + total(r)\n}\n"
          "var m = [:]\nvar r = {a: 0, b" + k + ": [1]}\n"
          "for i in 0.." + n + " {\n  m[str(i % 5)] = i\n  r.a += len(str(i)) * " + k + "\n  r.b" + k + ".push(i)\n}\n"
          "[total(grow(5)), m, r.a, len(r.b" + k + ")]";
      std::vector<posset_future*> futures;
      for (auto& w : worlds) futures.push_back(submit(w->context, source));
      std::string first;
      for (size_t i = 0; i < worlds.size(); ++i) {
        const std::string result = finish(*worlds[i], futures[i]);
        if (i == 0) first = result;
        CHECK(result == first);
        CHECK(result.find("raised") == std::string::npos);
        CHECK(result[0] == '[');
      }
    }
  }
  posset_runtime_release(runtime);
}

// ---- who lets go, and when ----

namespace {

struct Bare {
  explicit Bare(uint32_t threads = 1) {
    posset_runtime* runtime = posset::test::make_runtime(with_threads(threads));
    REQUIRE(posset_context_create(runtime, nullptr, &context) == POSSET_OK);
    posset_runtime_release(runtime);
    // Notes the end of the context.
    posset_set_data(context, &gone, &gone, [](void* data) { ++*static_cast<std::atomic<int>*>(data); });
  }
  std::atomic<int> gone{0};
  posset_context* context = nullptr;
};

}  // namespace

TEST_CASE("submit: a future holds its context and runtime") {
  Bare bare;
  posset_future* future = submit(bare.context, "\"x\" + \"a text on the heap of the context\"");
  posset_context_release(bare.context);
  CHECK(posset_future_wait(future, -1));
  CHECK(bare.gone == 0);
  posset_value value = posset_nil();
  CHECK(posset_future_take(future, &value, nullptr) == POSSET_OK);
  CHECK(str(posset_string_text(&value)) == "xa text on the heap of the context");
  posset_release(value);
  posset_future_release(future);
  CHECK(bare.gone == 1);
}

TEST_CASE("submit: releases in every order") {
  for (int order = 0; order < 6; ++order) {
    for (const char* source : {"1", "\"some text that is on the heap\" + \"!\"", "1 // 0", "while true { }"}) {
      Bare bare;
      posset_future* future = submit(bare.context, source);
      if (order & 1) posset_future_retain(future);
      if (order >= 4) posset_future_wait(future, 0.002);
      if (order >= 2) {
        posset_future_release(future);
        posset_context_release(bare.context);
      } else {
        posset_context_release(bare.context);
        posset_future_release(future);
      }
      if (order & 1) {
        CHECK(bare.gone == 0);
        posset_future_release(future);
      }
      CHECK(bare.gone == 1);
    }
  }
}

TEST_CASE("submit: the last release cancels what waits and waits for what runs") {
  posset_runtime* runtime = posset::test::make_runtime(with_threads(1));
  posset_context *running = nullptr, *waiting = nullptr;
  REQUIRE(posset_context_create(runtime, nullptr, &running) == POSSET_OK);
  REQUIRE(posset_context_create(runtime, nullptr, &waiting) == POSSET_OK);
  posset_runtime_release(runtime);
  Gate gate;
  gate.open = true;
  gate.define_in(running);
  bool began = false;
  define(waiting, "begin", [&](posset_call*) {
    began = true;
    return POSSET_OK;
  });
  posset_future_release(submit(running, "hold()\nwhile true { }"));
  gate.wait_inside();
  REQUIRE(posset_submit_eval(waiting, text("begin()"), nullptr, nullptr) == POSSET_OK);
  posset_context_release(waiting);
  posset_context_release(running);
  CHECK(!began);
}

TEST_CASE("submit: a host function drops the last handle from the evaluation itself") {
  for (bool with_error : {false, true}) {
    Bare bare;
    posset_context* context = bare.context;
    std::atomic<bool> may{false};
    define(context, "let_go", [&, context](posset_call*) {
      while (!may) std::this_thread::sleep_for(100us);
      if (with_error) {  // an error handle comes and goes after the last one
        posset_context_release(context);
        posset_raise(context, POSSET_ERROR_HostError, text("late"));
        posset_error_free(posset_take_error(context));
      } else {
        posset_context_release(context);
      }
      return POSSET_OK;
    });
    REQUIRE(posset_submit_eval(context, text("let_go()\nwhile true { }"), nullptr, nullptr) == POSSET_OK);
    may = true;
    // The context goes on the worker, the runtime on a thread of its own.
    while (bare.gone == 0) std::this_thread::sleep_for(100us);
    CHECK(bare.gone == 1);
  }
}

TEST_CASE("submit: evaluations drop the last handles of each other's contexts") {
  posset_runtime* runtime = posset::test::make_runtime(with_threads(2));
  std::atomic<int> gone{0}, inside{0};
  posset_context* contexts[2] = {};
  for (auto& context : contexts) {
    REQUIRE(posset_context_create(runtime, nullptr, &context) == POSSET_OK);
    posset_set_data(context, &gone, &gone, [](void* data) { ++*static_cast<std::atomic<int>*>(data); });
  }
  for (int i = 0; i < 2; ++i) {
    define(contexts[i], "drop_other", [&, other = contexts[1 - i]](posset_call*) {
      ++inside;
      while (inside < 2) std::this_thread::sleep_for(100us);
      posset_context_release(other);
      return POSSET_OK;
    });
  }
  for (auto* context : contexts)
    REQUIRE(posset_submit_eval(context, text("drop_other()\nwhile true { }"), nullptr, nullptr) == POSSET_OK);
  while (gone < 2) std::this_thread::sleep_for(100us);
  posset_runtime_release(runtime);
}

TEST_CASE("submit regression: an evaluation dropped the last handle before the submission had taken the future's") {
  posset_runtime* runtime = posset::test::make_runtime(with_threads(2));
  std::atomic<int> gone{0};
  constexpr int kRounds = posset::test::kSanitized ? 500 : 2000;
  posset_submit_options patiently = posset_submit_defaults();
  patiently.room_seconds = 60;
  for (int i = 0; i < kRounds; ++i) {
    posset_context* context = nullptr;
    REQUIRE(posset_context_create(runtime, nullptr, &context) == POSSET_OK);
    posset_set_data(context, &gone, &gone, [](void* data) { ++*static_cast<std::atomic<int>*>(data); });
    define(context, "drop", [&, context](posset_call*) {
      posset_context_release(context);
      return POSSET_OK;
    });
    REQUIRE(posset_submit_eval(context, text("drop()"), &patiently, nullptr) == POSSET_OK);
  }
  while (gone < kRounds) std::this_thread::sleep_for(100us);
  CHECK(gone == kRounds);
  posset_runtime_release(runtime);
}

TEST_CASE("submit regression: references that the host took while its context was computing elsewhere were lost") {
  posset::Runtime runtime({.evaluation_threads = 1});
  posset::Context context(runtime);
  context.eval("1");
  const uint64_t before = context.statistics().live_objects;
  {
    context.set("xs", std::vector<std::string>{"a", "b", "a text that is no short one"});
    std::vector<posset::Value> values = {context.get("xs")};
    auto computing = context.submit<int64_t>(
        "var n = 0\nvar kept = []\nfor i in 0..300000 { let y = xs\n kept = [y, y[2], y]\n n += len(kept[0]) }\nn");
    do {
      const posset::Value copy = values[0];
      values.push_back(copy);
      values.push_back(copy[2]);
      if (values.size() > 100) values.resize(51, values[0]);
    } while (!computing.wait_for(0s));
    const size_t kept = values.size();
    CHECK(computing.get() == 900000);
    for (size_t i = 2; i < kept; i += 2) CHECK(values[i].to<std::string>() == "a text that is no short one");
    CHECK(values[0].text() == R"(["a", "b", "a text that is no short one"])");
    // What was given up while the context was away is gone when it is next entered.
    auto again = context.submit<int64_t>("var n = 0\nfor i in 0..100000 { n += len(xs) }\nn");
    values.resize(1, values[0]);
    CHECK(again.get() == 300000);
    context.set("xs", 0);
    CHECK(values[0].text() == R"(["a", "b", "a text that is no short one"])");
  }
  CHECK(context.eval<int>("1") == 1);
  CHECK(context.statistics().live_objects == before);
}

TEST_CASE("submit: what the host gives up while its context computes goes before that has ended") {
  posset::Runtime runtime({.evaluation_threads = 1});
  posset::Context context(runtime);
  std::atomic<bool> is_computing{false};
  posset::Value value = context.eval("[\"a text of some length\"]");
  context.define("begins", [&] { is_computing = true; });
  context.define("kept", [&] { return context.statistics().live_objects; });
  auto computing = context.submit<bool>("let before = kept()\nbegins()\nwhile kept() >= before { }\ntrue");
  while (!is_computing) std::this_thread::sleep_for(100us);
  value = posset::Value();
  CHECK(computing.wait_for(60s));
  CHECK(computing.get());
}

TEST_CASE("submit: what cannot be asked for is told in words") {
  posset::Runtime runtime;
  posset::Context context(runtime), other(runtime);
  auto of_other = other.eval("x => x");
  CHECK_THROWS_WITH(context.submit<int>("1", {.deadline_seconds = -1}), "submit: an argument that cannot be used: the option deadline_seconds is negative");
  CHECK_THROWS_WITH(context.submit_call<int>({}, of_other, 1), "submit: an argument that cannot be used: a value of another context");
  auto future = context.submit<int>("2");
  CHECK(future.get() == 2);
  CHECK_THROWS_WITH(future.get(), "get: there is no such thing: the result has been taken");
}

TEST_CASE("submit: a future freed while its context is in use leaves the result to it") {
  World w;
  posset_future* future = submit(w.context, "\"a result\" + \" that lives on the heap\"");
  CHECK(posset_future_wait(future, -1));
  Gate gate;
  gate.define_in(w.context);
  posset_future* next = submit(w.context, "hold()");
  gate.wait_inside();
  posset_future_release(future);
  gate.open = true;
  CHECK(finish(w, next) == "nil");
}

// ---- the C++ layer ----

TEST_CASE("submit in C++: futures of types, errors, cancelling") {
  posset::Runtime runtime(posset::test::make_runtime(with_threads(2)));
  posset::Context context(runtime, {.memory_limit = 64 << 20});
  auto future = context.submit<double>("1 + 1.5", {.priority = POSSET_PRIORITY_INTERACTIVE});
  CHECK(future.valid());
  CHECK(future.get() == 2.5);
  CHECK(runtime.submit<std::string>(context, "\"ab\" + \"c\"").get() == "abc");
  CHECK(context.submit<std::vector<int>>("[1, 2]").get() == std::vector<int>{1, 2});
  context.submit<void>("nil").get();
  CHECK(context.submit("[1]").get().size() == 1);
  CHECK_THROWS_AS(context.submit<int>("1 // 0").get(), posset::Error);
  CHECK_THROWS_AS(context.submit<int>("1 +").get(), posset::Error);
  CHECK_THROWS_AS(context.submit<int>("\"text\"").get(), posset::Error);
  auto endless = context.submit("while true { }");
  CHECK_THROWS_AS(context.eval("1"), posset::Misuse);
  CHECK(!endless.wait_for(2ms));
  CHECK(endless.cancel());
  auto result = endless.try_get();
  REQUIRE(!result.ok());
  CHECK(result.error().is_interrupt());
  auto program = context.load("p.posset", "fn twice(x) => 2 * x\n5");
  CHECK(program.submit<int>().get() == 5);
  CHECK(context.submit_call<int>({}, program.get("twice"), 21).get() == 42);
  posset::Runtime other(posset::test::make_runtime());
  CHECK_THROWS_AS((void)other.submit(context, "1"), posset::Misuse);
}

// ---- being told of the end ----

namespace {

// Counts the calls of one callback and keeps what the last said, and on which thread.
struct Told {
  std::atomic<int> calls{0};
  std::atomic<int> progress{-1};
  std::thread::id thread;
  static void note(void* data, posset_progress progress) {
    auto& told = *static_cast<Told*>(data);
    told.thread = std::this_thread::get_id();
    told.progress = progress;
    ++told.calls;
  }
  void wait() const {
    while (calls == 0) std::this_thread::sleep_for(100us);
  }
};

}  // namespace

TEST_CASE("submit on_done: once, on the thread that evaluated, or at once when it has ended") {
  World w({posset_context_defaults()}, with_threads(1));
  Gate gate;
  gate.define_in(w.context);
  posset_future* future = submit(w.context, "hold()\n41 + 1");
  gate.wait_inside();
  Told first, second, late;
  CHECK(posset_future_on_done(future, Told::note, &first) == POSSET_OK);
  CHECK(posset_future_on_done(future, Told::note, &second) == POSSET_OK);
  CHECK(first.calls == 0);
  gate.open = true;
  second.wait();
  CHECK(first.calls == 1);  // in order
  CHECK(first.progress == POSSET_FUTURE_DONE);
  CHECK(first.thread != std::this_thread::get_id());
  CHECK(posset_future_on_done(future, Told::note, &late) == POSSET_OK);
  CHECK(late.calls == 1);
  CHECK(late.thread == std::this_thread::get_id());
  CHECK(finish(w, future) == "42");
  CHECK(first.calls + second.calls + late.calls == 3);
  CHECK(posset_future_on_done(nullptr, Told::note, &late) == POSSET_MISUSE);
}

TEST_CASE("submit on_done: errors, bad text, cancelling, deadlines, and the context's end are told too") {
  posset_runtime* runtime = posset::test::make_runtime(with_threads(1));
  {
    World running(runtime, posset_context_defaults()), waiting(runtime, posset_context_defaults());
    for (const char* source : {"1 // 0", "1 +"}) {
      Told told;
      posset_future* future = submit(running.context, source);
      CHECK(posset_future_on_done(future, Told::note, &told) == POSSET_OK);
      told.wait();
      CHECK(told.progress == POSSET_FUTURE_FAILED);
      finish(running, future);
    }
    Gate gate;
    gate.define_in(running.context);
    posset_future* held = submit(running.context, "hold()");
    gate.wait_inside();
    Told cancelled, late, ended;
    posset_future* future = submit(waiting.context, "1");
    CHECK(posset_future_on_done(future, Told::note, &cancelled) == POSSET_OK);
    CHECK(posset_future_cancel(future));
    CHECK(cancelled.calls == 1);  // by the thread that took it out
    CHECK(cancelled.progress == POSSET_FUTURE_CANCELLED);
    CHECK(cancelled.thread == std::this_thread::get_id());
    posset_future_release(future);

    future = submit(waiting.context, "1", POSSET_PRIORITY_NORMAL, 0.01);
    CHECK(posset_future_on_done(future, Told::note, &late) == POSSET_OK);
    CHECK(posset_future_wait(future, 10));
    CHECK(late.calls == 1);
    CHECK(late.progress == POSSET_FUTURE_FAILED);
    posset_future_release(future);

    posset_context* context = nullptr;
    REQUIRE(posset_context_create(runtime, nullptr, &context) == POSSET_OK);
    future = submit(context, "1");
    CHECK(posset_future_on_done(future, Told::note, &ended) == POSSET_OK);
    posset_future_release(future);
    CHECK(ended.calls == 0);
    posset_context_release(context);
    CHECK(ended.calls == 1);
    CHECK(ended.progress == POSSET_FUTURE_CANCELLED);
    gate.open = true;
    finish(running, held);
  }
  posset_runtime_release(runtime);
}

TEST_CASE("submit on_done: the callback takes the result and submits again, until it lets go of all") {
  struct Chain {
    posset_context* context = nullptr;
    posset_future* future = nullptr;
    int64_t sum = 0;
    int rounds = 0;
    std::atomic<bool> over{false};
    static void next(void* data, posset_progress progress) {
      auto& chain = *static_cast<Chain*>(data);
      posset_value value = posset_nil();
      const posset_status status = posset_future_take(chain.future, &value, nullptr);
      if (progress == POSSET_FUTURE_DONE && status == POSSET_OK) chain.sum += posset_as_int(value);
      posset_future_release(std::exchange(chain.future, nullptr));
      if (++chain.rounds == 20) {
        posset_context_release(chain.context);  // the last handle, on a thread of the runtime
        chain.over = true;
      } else {
        chain.go();
      }
    }
    void go() {
      const std::string source = std::to_string(rounds) + " + 1";
      if (posset_submit_eval(context, text(source), nullptr, &future) == POSSET_OK)
        posset_future_on_done(future, next, this);
    }
  };
  std::atomic<int> gone{0};
  Chain chain;
  posset_runtime* runtime = posset::test::make_runtime(with_threads(2));
  REQUIRE(posset_context_create(runtime, nullptr, &chain.context) == POSSET_OK);
  posset_set_data(chain.context, &gone, &gone, [](void* data) { ++*static_cast<std::atomic<int>*>(data); });
  posset_runtime_release(runtime);
  chain.go();
  while (!chain.over || gone == 0) std::this_thread::sleep_for(100us);
  CHECK(chain.sum == 210);
}

TEST_CASE("submit on_done: the last release of a context waits for its callbacks") {
  posset_runtime* runtime = posset::test::make_runtime(with_threads(1));
  posset_context* context = nullptr;
  REQUIRE(posset_context_create(runtime, nullptr, &context) == POSSET_OK);
  posset_future* future = submit(context, "1");
  struct Slow {
    std::atomic<bool> inside{false}, done{false};
  } slow;
  CHECK(posset_future_on_done(future, [](void* data, posset_progress) {
    auto& each = *static_cast<Slow*>(data);
    each.inside = true;
    std::this_thread::sleep_for(20ms);
    each.done = true;
  }, &slow) == POSSET_OK);
  posset_future_release(future);
  while (!slow.inside && !slow.done) std::this_thread::sleep_for(100us);
  posset_context_release(context);
  CHECK(slow.done);
  posset_runtime_release(runtime);
}

TEST_CASE("submit on_done: exactly once however asking, ending and cancelling race") {
  posset_runtime* runtime = posset::test::make_runtime(with_threads(3));
  constexpr int kRounds = 300, kThreads = 3;
  {
    World w(runtime, posset_context_defaults());
    std::vector<std::unique_ptr<Told>> all;
    for (int round = 0; round < kRounds; ++round) {
      posset_future* future = nullptr;
      while (posset_submit_eval(w.context, text("1"), nullptr, &future) == POSSET_BUSY) std::this_thread::yield();
      REQUIRE(future);
      std::vector<std::thread> threads;
      for (int t = 0; t < kThreads; ++t) {
        Told* told = all.emplace_back(std::make_unique<Told>()).get();
        posset_future_retain(future);
        threads.emplace_back([=] {
          posset_future_on_done(future, Told::note, told);
          if ((round + t) % 4 == 0) posset_future_cancel(future);
          posset_future_release(future);
        });
      }
      posset_future_release(future);
      for (std::thread& thread : threads) thread.join();
    }
    for (auto& told : all) told->wait();
    while (w.eval("nil") == POSSET_BUSY) std::this_thread::yield();
    for (auto& told : all) CHECK(told->calls == 1);
  }
  posset_runtime_release(runtime);
}

TEST_CASE("submit: what a call makes of its inout arguments is in the future") {
  World w;
  posset_value grow = posset_nil();
  REQUIRE(w.session("fn grow(inout xs, x, inout n) { xs.push(x)\nn += 1\nif x == 0 { throw \"nought\" }\nlen(xs) }") == "nil");
  REQUIRE(posset_session_get(w.context, text("grow"), &grow) == POSSET_OK);
  for (int64_t x : {7, 0}) {
    posset_value arguments[] = {posset_nil(), posset_int(x), posset_int(1)};
    REQUIRE(w.eval("[1, 2]", &arguments[0]) == POSSET_OK);
    posset_future* future = nullptr;
    REQUIRE(posset_submit_invoke(w.context, grow, arguments, 3, nullptr, &future) == POSSET_OK);
    CHECK(posset_future_wait(future, -1));
    CHECK(posset_future_take_arguments(future, arguments, 3) == POSSET_OK);
    CHECK(w.take_text(arguments[0]) == (x ? "[1, 2, 7]" : "[1, 2, 0]"));
    CHECK(posset_is_nil(arguments[1]));
    CHECK(posset_as_int(arguments[2]) == 2);
    CHECK(posset_future_take_arguments(future, arguments, 3) == POSSET_NOT_FOUND);
    CHECK(finish(w, future) == (x ? "3" : "raised: nought"));
  }
  // Nobody asks: they go with the future, or when it has ended.
  for (bool wait : {true, false}) {
    posset_value arguments[] = {posset_nil(), posset_int(1), posset_int(1)};
    REQUIRE(w.eval("[1, 2]", &arguments[0]) == POSSET_OK);
    posset_future* future = nullptr;
    REQUIRE(posset_submit_invoke(w.context, grow, arguments, 3, nullptr, &future) == POSSET_OK);
    if (wait) posset_future_wait(future, -1);
    posset_future_release(future);
    while (w.eval("nil") == POSSET_BUSY) std::this_thread::yield();
  }
  posset_release(grow);
}

TEST_CASE("submit in C++: on_done and take_arguments") {
  posset::Runtime runtime(posset::test::make_runtime(with_threads(2)));
  posset::Context context(runtime);
  std::atomic<int> told{-1};
  auto kept = std::make_shared<int>(1);
  auto future = context.submit<int>("6 * 7");
  future.on_done([&told, kept](posset_progress how) { told = how; });
  CHECK(future.get() == 42);
  while (kept.use_count() != 1) std::this_thread::sleep_for(100us);
  CHECK(told == POSSET_FUTURE_DONE);
  future.on_done([&told](posset_progress) { told = 100; });
  CHECK(told == 100);
  auto program = context.load("p.posset", "fn grow(inout xs, x) { xs.push(x) }");
  auto function = program.get("grow");
  std::vector<int> xs{1, 2};
  int x = 3;
  auto call = context.submit_call<void>({}, function, xs, x);
  call.take_arguments(xs, x);
  CHECK(xs == std::vector<int>{1, 2, 3});
  CHECK(x == 3);
  call.get();
}
