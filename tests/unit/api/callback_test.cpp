// Functions of the host that call back: in tasks and generators that end in the middle, from scripts that never end, with what
// they keep of a context, and interruptions and limits that they meet. The tasks themselves are in tasks_test.cpp.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <posset/attach.h>
#include <posset/posset.hpp>

namespace posset::test {
namespace {

// How a text ends: its value, or the name of the error.
std::string ending(Context& context, const char* source) {
  Result<Value> result = context.try_eval(source);
  return result.ok() ? result.value().text() : result.error().code_name();
}

struct Holding {
  explicit Holding(ContextOptions options = {}, RuntimeOptions of_runtime = {}) : runtime(of_runtime), context(runtime, options) {
    context.define("hold", [token = token](const Function<void()>& f) {
      const auto mine = token;
      f();
    });
  }
  // Frames of `hold` that have not ended.
  long held() const { return token.use_count() - 2; }

  std::shared_ptr<int> token = std::make_shared<int>(0);
  Runtime runtime;
  Context context;
};

TEST_CASE("host callback: one that waits in a task or generator ends with the evaluation around it") {
  struct Case {
    const char *source, *ending;
  };
  static constexpr Case kCases[] = {
      {"let g = gen(e => hold(() => e(1)))\nfor x in g { break }\n5", "5"},
      {"import \"task\"\nlet a = spawn hold(() => task.sleep(100.0))\ntask.sleep(0.001)\nthrow \"x\"", "Thrown"},
      {"import \"task\"\nlet a = spawn hold(() => task.sleep(100.0))\nawait a", "TimeLimit"},
      {"let a = spawn hold(() => do { while true { } })\nawait a", "TimeLimit"},
      {"let c = chan(0)\nlet a = spawn hold(() => c.recv())\nawait a", "Deadlock"},
      {"let c = chan(0)\nlet a = spawn hold(() => hold(() => c.recv()))\nlet b = spawn hold(() => c.recv())\nawait a", "Deadlock"},
      {"import \"task\"\nlet a = spawn hold(() => task.sleep(100.0))\ntask.sleep(0.001)\ntask.cancel(a)\n6", "6"},
  };
  for (const Case& each : kCases) {
    CAPTURE(each.source);
    // Who has to come to something else has time enough for that on a busy machine.
    Holding world({.time_limit_seconds = each.ending == std::string("TimeLimit") ? 0.3 : 60});
    CHECK(ending(world.context, each.source) == each.ending);
    CHECK(world.held() == 0);
    CHECK(ending(world.context, "1") == "1");  // no limit of the one before
    CHECK(ending(world.context, each.source) == each.ending);
    CHECK(world.held() == 0);
  }
}

TEST_CASE("host callback: a submission that is cancelled while a task waits in one ends, and so does its context") {
  Holding world;
  std::atomic<bool> begun{false};
  world.context.define("begun", [&] { begun = true; });
  Future<Value> future = world.context.submit<Value>(
      "import \"task\"\nlet a = spawn hold(() => task.sleep(100.0))\nlet b = spawn begun()\nawait a");
  while (!begun) std::this_thread::yield();
  future.cancel();
  CHECK_THROWS_AS(future.get(), Error);
  CHECK(world.held() == 0);
  CHECK(ending(world.context, "2") == "2");
}

TEST_CASE("host callback: a context whose last handle goes in a function that it calls ends afterwards") {
  auto gone = std::make_shared<int>(0);
  {
    Runtime runtime;
    auto context = std::make_unique<Context>(runtime);
    context->define("leave", [&context, gone] { context.reset(); });
    posset_context* const raw = context->handle();
    posset_value result = posset_nil();
    CHECK(posset_eval(raw, to_text("leave()\n1 + 1"), &result, nullptr) == POSSET_OK);
    CHECK(posset_as_int(result) == 2);
    CHECK(gone.use_count() == 2);
    const Context next(runtime);
    CHECK(gone.use_count() == 1);
  }
}

struct Button {
  Function<int64_t(int64_t)> pressed;
  void on(Function<int64_t(int64_t)> f) { pressed = std::move(f); }
};

TEST_CASE("host lifetime: functions of scripts that globals and objects of the host hold end before their programs") {
  Runtime runtime;
  Type<Button> type("Button");
  type.method("on", &Button::on);
  runtime.define(std::move(type));
  const std::vector<const char*> sources = {"button.on(x => x + 1)", "button.on(x => do { kept.value = x\n x })", "kept.value = x => kept",
                                            "kept.value = [for i in 0..1000 => (x => [x, kept])]"};
  for (const char* source : sources) {
    Context context(runtime);
    context.set("button", std::make_shared<Button>());
    context.set("f", context.eval("let y = [1]\nx => y"));
    context.set("kept", context.eval("ref(nil)"));
    context.eval(source);
  }
}

TEST_CASE("host recursion: evaluations that the host begins count as calls and as steps") {
  Runtime runtime;
  for (const bool by_steps : {false, true}) {
    Context context(runtime, by_steps ? ContextOptions{.step_limit = 500} : ContextOptions{.stack_limit = 100});
    int depth = 0, deepest = 0;
    const auto enter = [&](const char* source) {
      deepest = std::max(deepest, ++depth);
      struct Leave {
        int& depth;
        ~Leave() { --depth; }
      } leave{depth};
      context.eval(source);
    };
    context.define("again", [&] { enter("again()"); });
    CHECK(ending(context, "again()") == (by_steps ? "StepLimit" : "StackOverflow"));
    CHECK(deepest >= (by_steps ? 200 : 40));
    CHECK(deepest <= (by_steps ? 501 : 101));
    deepest = 0;
    context.set_output([&](std::string_view) { enter("print(1)"); });
    CHECK(ending(context, "print(1)") != "nil");
    CHECK(deepest <= (by_steps ? 501 : 101));
    CHECK(depth == 0);
    context.set_output([](std::string_view) {});
    CHECK(ending(context, "fn f(n) => if n == 0 { 0 } else { 1 + f(n - 1) }\nf(90)") == "90");  // the depth is what it was
  }
}

// ---- interruptions ----

TEST_CASE("host interrupt: one that comes while nothing runs ends the next evaluation, whatever its kind and length") {
  Runtime runtime;
  Context context(runtime);
  auto number = context.compile<double(double)>("x => x * 2");
  auto generic = context.compile<int64_t(std::string)>("s => len(s)");
  Program program = context.load("three.posset", "fn three() => 3\nthree()");
  auto interrupted = [](auto&& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.is_interrupt();
    }
    return false;
  };
  for (int round = 0; round < 3; ++round) {
    CAPTURE(round);
    context.interrupt();
    CHECK(interrupted([&] { number(1); }));
    CHECK(number(1) == 2);
    context.interrupt();
    CHECK(interrupted([&] { generic("abc"); }));
    CHECK(generic("abc") == 3);
    context.interrupt();
    CHECK(interrupted([&] { context.eval("1"); }));
    CHECK(context.eval<int>("1") == 1);
    context.interrupt();
    CHECK(interrupted([&] { context.submit_call<int64_t>({}, generic.value(), "abcd").get(); }));
    CHECK(context.submit_call<int64_t>({}, generic.value(), "abcd").get() == 4);
    std::vector<double> in(1000, 1), out(1000);
    context.interrupt();
    CHECK(interrupted([&] { number.map_into(out, in); }));
    number.map_into(out, in);
    for (int i = 0; i < 2000; ++i) number(i), generic("ab");  // hot: calls of another kind
    posset_runtime_settle(runtime.handle());
  }
  context.interrupt();
  CHECK(interrupted([&] { program.run(); }));
}

TEST_CASE("host interrupt: from another thread while only short calls run, which end one after the other") {
  Runtime runtime;
  Context context(runtime);
  auto number = context.compile<double(double)>("x => x * 2");
  for (int i = 0; i < 5000; ++i) number(i);
  posset_runtime_settle(runtime.handle());
  for (int i = 0; i < 5000; ++i) number(i);
  std::atomic<bool> asked{false};
  std::thread other([&] {
    context.interrupt();
    asked = true;
  });
  // It meets a call, which ends as if it had come too late, or none, and ends the next.
  int failed = 0;
  auto call = [&] {
    try {
      number(1);
    } catch (const Error& error) {
      failed += error.is_interrupt();
    }
  };
  while (!asked) call();
  other.join();
  call();
  CHECK(failed <= 1);
  call();
  CHECK(number(2) == 4);
}

TEST_CASE("host interrupt: a function of the host that takes the error does not keep the evaluation alive") {
  Runtime runtime;
  Context context(runtime);
  context.define("attempt", [](const Function<Value()>& f) { return static_cast<bool>(f.value().try_call()); });
  std::atomic<bool> begun{false};
  context.define("begun", [&] { begun = true; });
  for (int round = 0; round < 2; ++round) {
    begun = false;
    std::thread other([&] {
      while (!begun) std::this_thread::yield();
      context.interrupt();
    });
    Result<Value> result =
        context.try_eval("let ok = attempt(() => do { begun()\n while true { } })\nwhile true { }");
    other.join();
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().is_interrupt());
    CHECK(ending(context, "1") == "1");
  }
}

// ---- stacks ----

[[gnu::noinline]] size_t use_stack(size_t bytes) {
  auto* place = static_cast<volatile char*>(__builtin_alloca(bytes));
  for (size_t i = 0; i < bytes; i += 512) place[i] = 1;
  return static_cast<size_t>(place[bytes / 2 / 512 * 512]);
}

TEST_CASE("host stack: a function of the host has 96 KiB at any depth of a task, too") {
  Runtime runtime({.max_tier = 1});
  Context context(runtime);
  context.define("use_stack", [] { return static_cast<int64_t>(use_stack(96 << 10)); });
  CHECK(ending(context, "fn f(n) => if n == 0 { use_stack() } else { f(n - 1) }\n"
                        "for n in 0..600 { await spawn f(n) }\nf(20000)") == "1");
}

}  // namespace
}  // namespace posset::test
