// When units are compiled, how often, that what their code takes is bounded, and the reasons that no script can
// provoke. A stand-in for tier 1 counts and delays compilations; it refuses every unit, so programs run in tier 0
// and nothing depends on when.
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <new>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../sanitized.h"
#include "fixture.h"
#include "interp/api/handles.h"
#include "interp/runtime/tier.h"

using posset::interp::Reason;
using posset::interp::Refusal;
using posset::interp::TierInterface;
using posset::test::append;
using posset::test::explain;
using posset::test::text;
using posset::test::World;

namespace {

// What the stand-in tier saw. Its callbacks have no state of their own, so one case uses it at a time.
struct Compiler {
  std::atomic<int> compilations{0};
  std::mutex mutex;
  std::condition_variable changed;
  bool closed = false;  // compilations wait
  std::function<Reason()> answer;
  void open() {
    std::lock_guard lock(mutex);
    closed = false;
    changed.notify_all();
  }
};
Compiler compiler;

void* refuse(posset::interp::RuntimeState&, const posset::syntax::FunctionDecl&, int, void*, Refusal& refusal) {
  ++compiler.compilations;
  std::unique_lock lock(compiler.mutex);
  compiler.changed.wait(lock, [] { return !compiler.closed; });
  refusal.reason = compiler.answer();
  return nullptr;
}

template <int level>
const TierInterface* stand_in() {
  static const TierInterface tier = [] {
    TierInterface made;
    made.level = level;
    made.name = "stand-in";
    made.compile = refuse;
    return made;
  }();
  return &tier;
}

posset_runtime* runtime_with(std::initializer_list<const void*> tiers, bool closed, Reason answer,
                             const posset_runtime_options& options = posset_runtime_defaults()) {
  compiler.compilations = 0;
  compiler.closed = closed;
  compiler.answer = [answer] { return answer; };
  posset_runtime* runtime = nullptr;
  REQUIRE(posset_runtime_create(&options, &runtime) == POSSET_OK);
  if (closed) runtime->state.control.leave_to_threads();
  for (const void* tier : tiers) REQUIRE(posset_attach_tier(runtime, tier) == POSSET_OK);
  return runtime;
}

// The loop's iterations would count, too: the functions of these tests have none.
posset_runtime* counting_runtime(bool closed = false) {
  return runtime_with({stand_in<1>()}, closed, Reason::far_jump);
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// Begun in consequence of what `work` does.
template <class Work>
int compilations_of(posset_runtime* runtime, Work work) {
  const int before = compiler.compilations;
  work();
  posset_runtime_settle(runtime);
  return compiler.compilations - before;
}

// f0, f1, ...: each called twice.
std::string hot_functions(int count) {
  std::string source;
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    source += "fn f" + n + "(x) => x + " + n + "\nf" + n + "(1)\nf" + n + "(1)\n";
  }
  return source;
}

}  // namespace

TEST_CASE("tiering: one execution asks for nothing, the second for tier 1") {
  posset_runtime* runtime = counting_runtime();
  {
    World w(runtime, posset_context_defaults());
    CHECK(w.session("fn f(x) => x * 2 + 1\nf(1)") == "3");
    posset_runtime_settle(runtime);
    CHECK(compiler.compilations == 0);
    CHECK(w.session("f(2)") == "5");
    posset_runtime_settle(runtime);
    CHECK(compiler.compilations == 1);
    CHECK(w.session("f(3)") == "7");
    posset_runtime_settle(runtime);
    CHECK(compiler.compilations == 1);  // refused for good
    CHECK(explain(w, "f").find("[far_jump]") != std::string::npos);
  }
  posset_runtime_release(runtime);
}

TEST_CASE("tiering P7: racing contexts make one request for each unit and tier") {
  constexpr int kThreads = 8;
  constexpr int kFunctions = 20;
  posset_runtime* runtime = counting_runtime();
  std::string source;
  for (int i = 0; i < kFunctions; ++i) {
    std::string n = std::to_string(i);
    source += "fn f" + n + "(x) => x * " + n + " + 1\n";
  }
  for (int round = 0; round < 5; ++round) {  // more executions than a request waits for
    for (int i = 0; i < kFunctions; ++i) source += "f" + std::to_string(i) + "(1)\n";
  }
  {
    World first(runtime, posset_context_defaults());  // closes the runtime before the threads begin
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        posset_context* context = nullptr;
        posset_context_options options = posset_context_defaults();
        if (posset_context_create(runtime, &options, &context) != POSSET_OK) return;
        posset_eval(context, text(source), nullptr, nullptr);
        posset_context_finish(context);
        posset_context_release(context);
      });
    }
    for (std::thread& thread : threads) thread.join();
    posset_runtime_settle(runtime);
  }
  // The functions, and the one top level, which is the same unit in every context.
  CHECK(compiler.compilations == kFunctions + 1);
  posset_runtime_release(runtime);
}

TEST_CASE("tiering: a refused request is repeated, and nobody waits for a full queue") {
  posset_runtime* runtime = counting_runtime(true);
  {
    World w(runtime, posset_context_defaults());
    // More functions than the queue of any machine here holds.
    const std::string source = hot_functions(3000);
    // Ends although no compilation does.
    CHECK(w.session(source) == "3000");
    CHECK(explain(w, "f2999").find("[queue_full]") != std::string::npos);
    CHECK(explain(w, "f1").find("[being_compiled]") != std::string::npos);
    compiler.open();
    posset_runtime_settle(runtime);
    const int before = compiler.compilations;
    CHECK(w.session("f2999(1)") == "3000");
    posset_runtime_settle(runtime);
    CHECK(compiler.compilations == before + 1);
    CHECK(explain(w, "f2999").find("[far_jump]") != std::string::npos);
  }
  posset_runtime_release(runtime);
}

TEST_CASE("tiering: what the queue refuses again and again is asked for less and less") {
  posset_runtime* runtime = counting_runtime(true);
  {
    World w(runtime, posset_context_defaults());
    CHECK(w.session(hot_functions(3000)) == "3000");
    const uint64_t before = runtime->state.control.scheduler().statistics().refused_full;
    CHECK(w.session("for i in 0..5000 { f2999(1) }") == "nil");
    const uint64_t refused = runtime->state.control.scheduler().statistics().refused_full - before;
    CHECK(refused >= 5);
    CHECK(refused < 40);  // f2999, the loop and the line
    compiler.open();
  }
  posset_runtime_release(runtime);
}

TEST_CASE("tiering: a runtime ends while compilations wait") {
  posset_runtime* runtime = counting_runtime(true);
  {
    World w(runtime, posset_context_defaults());
    CHECK(w.session("fn f(x) => x + 1\nfn g(x) => x + 2\nf(1); f(1); g(1); g(1)") == "3");
  }
  std::thread opener([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    compiler.open();
  });
  posset_runtime_release(runtime);
  opener.join();
  CHECK(compiler.compilations <= 2);
}

TEST_CASE("tiering: what waits when the runtime is closed was stopped, and so is what comes later") {
  posset_runtime* runtime = counting_runtime(true);
  {
    World w(runtime, posset_context_defaults());
    // More than there are threads to compile; those that are last do not find room in the queue.
    const std::string source = hot_functions(3000);
    CHECK(w.session(source) == "3000");
    CHECK(has(explain(w, "f2999"), "[queue_full]"));
    auto any_stopped = [&] {
      for (int i = 0; i < 1000; ++i) {
        if (has(explain(w, ("f" + std::to_string(i)).c_str()), "[stopped]")) return true;
      }
      return false;
    };
    CHECK_FALSE(any_stopped());
    std::thread opener([&] {  // stopping waits for the compilations that have begun
      while (!any_stopped()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      compiler.open();
    });
    runtime->state.control.stop();
    opener.join();
    CHECK(w.session("f2999(1)") == "3000");
    CHECK(has(explain(w, "f2999"), "[stopped]"));
  }
  posset_runtime_release(runtime);
}

namespace {

// Bytecode as it is, and a native tier that compiles when the test lets it.
posset_runtime* runtime_with_native_stand_in() {
  posset_runtime_options options = posset_runtime_defaults();
  options.tier1_after = 50;
  options.tier2_after = 60;
  return runtime_with({posset_bytecode_tier(), stand_in<2>()}, true, Reason::not_translated, options);
}

// With stand-ins for tiers 2 and 3, which compile when the test lets them.
posset_runtime* runtime_with_stand_ins(const void* bytecode, uint32_t tier2_after, uint32_t tier3_after) {
  posset_runtime_options options = posset_runtime_defaults();
  options.tier2_after = tier2_after;
  options.tier3_after = tier3_after;
  return runtime_with({bytecode, stand_in<2>(), stand_in<3>()}, true, Reason::not_translated, options);
}

bool body_has_bytecode(posset_runtime* runtime, const std::string& name) {
  bool ready = false;
  runtime->state.units.for_each([&](const posset::interp::Unit& unit) {
    if (unit.name == name) ready = unit.body.status[1] == posset::interp::TierStatus::Ready;
  });
  return ready;
}

// So many native compilations as there may be threads wait for compiler.open(); from there on requests wait.
void occupy_native_threads(World& w, const char* compiled = "tier 2: being compiled") {
  std::string busy = "nil\n";
  for (size_t i = 0; i < posset::sched::hardware_threads(); ++i) {
    const std::string n = std::to_string(i);
    busy += "fn g" + n + "(x) => x + " + n + "\n";
  }
  w.session(busy);
  for (size_t i = 0; i < posset::sched::hardware_threads(); ++i) {
    const std::string name = "g" + std::to_string(i);
    while (!has(explain(w, name.c_str()), compiled)) w.session("for _ in 0..70 { " + name + "(1) }");
  }
}

// Its loop waits to be made native.
void make_f_hot(World& w) {
  w.session("fn f(n) {\n  var s = 0\n  for i in 0..n { s += i }\n  s\n}");
  while (!has(explain(w, "f"), "tier 2: being compiled")) w.session("f(100000)");
}

}  // namespace

TEST_CASE("tiering: optimised code is asked for when quick code is there") {
  posset_runtime* runtime = runtime_with_stand_ins(posset_bytecode_tier(), 60, 100);
  {
    World w(runtime, posset_context_defaults());
    w.session("fn f(x) => x + 1");
    while (!has(explain(w, "f"), "tier 2: being compiled")) w.session("f(1)");
    while (!has(explain(w, "f"), "[after_quick]") || compiler.compilations == 0) w.session("f(1)");
    for (int i = 0; i < 200; ++i) w.session("f(1)");
    INFO(explain(w, "f"));
    CHECK(compiler.compilations == 1);
    CHECK(has(explain(w, "f"), "tier 3: quick native code comes first [after_quick]"));
    compiler.open();
    posset_runtime_settle(runtime);
    CHECK(compilations_of(runtime, [&] { w.session("for _ in 0..20000 { f(1) }"); }) >= 1);
    CHECK(has(explain(w, "f"), "tier 3: too large for native code [not_translated]"));
  }
  posset_runtime_release(runtime);
}

namespace {

// Whether native code has been refused for some loop of `f`, which means that it was its turn.
posset_status any_loop_refused(posset_call* call) {
  bool refused = false;
  static_cast<posset_runtime*>(call->data)->state.units.for_each([&](const posset::interp::Unit& unit) {
    for (int loop = 0; loop < static_cast<int>(unit.loop_parents.size()) && unit.name == "f"; ++loop) {
      refused |= unit.counted(loop).status[2] == posset::interp::TierStatus::Failed;
    }
  });
  call->result = posset_bool(refused);
  return POSSET_OK;
}

}  // namespace

// The round it is in may be the last, or go on for ever.
TEST_CASE("tiering: a loop that goes on though the code around it is there is made native by itself") {
  posset_runtime_options options = posset_runtime_defaults();
  options.tier2_after = 60;
  posset_runtime* runtime = runtime_with({posset_bytecode_tier(), stand_in<2>()}, false, Reason::not_translated, options);
  {
    World w(runtime, posset_context_defaults());
    posset_function_row done = {};
    done.name = "done";
    done.doc = done.signature = "";
    done.function = any_loop_refused;
    done.data = runtime;
    REQUIRE(posset_define(w.context, &done, sizeof done, nullptr) == POSSET_OK);
    CHECK(w.session("fn f() {\n  var n = 0\n  for r in 0..5 { while r == 4 and n < 1000000000 and not done() { n += 1 } }\n  n < 1000000000\n}\nf()") == "true");
  }
  posset_runtime_release(runtime);
}

TEST_CASE("tiering: a loop is not made native when the code around it has come meanwhile") {
  posset_runtime* runtime = runtime_with_native_stand_in();
  {
    World w(runtime, posset_context_defaults());
    occupy_native_threads(w);
    make_f_hot(w);
    while (!body_has_bytecode(runtime, "f")) w.session("f(1)");
    compiler.open();
    posset_runtime_settle(runtime);
    INFO(explain(w, "f"));
    CHECK(has(explain(w, "f"), "[superseded]"));
    CHECK(w.session("f(10)") == "45");
  }
  posset_runtime_release(runtime);
}

namespace {

// Bytecode of what `may_compile` says, which may take its time.
template <bool (*may_compile)(int loop)>
const TierInterface* bytecode_where() {
  static const TierInterface tier = [] {
    TierInterface made = *static_cast<const TierInterface*>(posset_bytecode_tier());
    made.compile = [](posset::interp::RuntimeState& runtime, const posset::syntax::FunctionDecl& decl, int loop, void* below,
                      Refusal& refusal) -> void* {
      refusal.reason = Reason::not_translated;
      if (!may_compile(loop)) return nullptr;
      return static_cast<const TierInterface*>(posset_bytecode_tier())->compile(runtime, decl, loop, below, refusal);
    };
    return made;
  }();
  return &tier;
}

// When the test lets it.
bool when_opened(int) {
  std::unique_lock lock(compiler.mutex);
  compiler.changed.wait(lock, [] { return !compiler.closed; });
  return true;
}

}  // namespace

TEST_CASE("tiering: bytecode that comes late records types before code is made for them") {
  posset_runtime* runtime = runtime_with_stand_ins(bytecode_where<when_opened>(), 100000, 400);
  {
    World w(runtime, posset_context_defaults());
    w.session("fn f(x) => x + 1");
    for (int i = 0; i < 500; ++i) w.session("f(1)");
    compiler.open();
    posset_runtime_settle(runtime);
    REQUIRE(body_has_bytecode(runtime, "f"));
    CHECK(compilations_of(runtime, [&] { for (int i = 0; i < 99; ++i) w.session("f(1)"); }) == 0);
    INFO(explain(w, "f"));
    CHECK(has(explain(w, "f"), "400 executions are needed, and 1 more in tier 1 [not_hot]"));
    CHECK(compilations_of(runtime, [&] { w.session("f(1)"); }) == 1);
  }
  posset_runtime_release(runtime);
}

TEST_CASE("tiering: a loop is not made native when it has ended long before") {
  posset_runtime* runtime = runtime_with_native_stand_in();
  {
    World w(runtime, posset_context_defaults());
    occupy_native_threads(w);
    make_f_hot(w);
    REQUIRE_FALSE(body_has_bytecode(runtime, "f"));
    w.session("for _ in 0..200000 { nil }");  // many slices of steps
    compiler.open();
    posset_runtime_settle(runtime);
    INFO(explain(w, "f"));
    CHECK(has(explain(w, "f"), "[idle]"));
    CHECK(w.session("f(10)") == "45");
  }
  posset_runtime_release(runtime);
}

TEST_CASE("tiering: a loop that is known to have ended is not made native a moment later") {
  posset_runtime* runtime = runtime_with_native_stand_in();
  {
    World w(runtime, posset_context_defaults());
    occupy_native_threads(w);
    make_f_hot(w);
    REQUIRE_FALSE(body_has_bytecode(runtime, "f"));
    w.session("for _ in 0..40000 { nil }");  // a few slices of steps
    compiler.open();
    posset_runtime_settle(runtime);
    INFO(explain(w, "f"));
    CHECK(has(explain(w, "f"), "[idle]"));
  }
  posset_runtime_release(runtime);
}

TEST_CASE("tiering: what is found running only now and then is not taken for ended in between") {
  posset_runtime* runtime = runtime_with_native_stand_in();
  {
    World w(runtime, posset_context_defaults());
    occupy_native_threads(w);
    make_f_hot(w);
    for (int round = 0; round < 5; ++round) {
      w.session("f(10)");
      w.session("for _ in 0..40000 { nil }");
    }
    compiler.open();
    posset_runtime_settle(runtime);
    INFO(explain(w, "f"));
    CHECK_FALSE(has(explain(w, "f"), "[idle]"));
  }
  posset_runtime_release(runtime);
}

TEST_CASE("tiering: a loop that waits for a call is made native as if it had been found running") {
  posset_runtime* runtime = runtime_with_native_stand_in();
  {
    World w(runtime, posset_context_defaults());
    posset_function_row let_go = {};
    let_go.name = "let_go";
    let_go.doc = let_go.signature = "";
    let_go.data = runtime;
    let_go.function = [](posset_call* call) {
      compiler.open();
      posset_runtime_settle(static_cast<posset_runtime*>(call->data));
      return POSSET_OK;
    };
    REQUIRE(posset_define(w.context, &let_go, sizeof let_go, nullptr) == POSSET_OK);
    occupy_native_threads(w);
    w.session("fn spin() { for _ in 0..40000 { nil } }\n"
              "fn f(n, last) {\n  var s = 0\n  for i in 0..n {\n    s += i\n    if i == last { spin()\n let_go() }\n  }\n  s\n}");
    while (!has(explain(w, "f"), "tier 2: being compiled")) w.session("f(100000, -1)");
    REQUIRE_FALSE(body_has_bytecode(runtime, "f"));
    CHECK(w.session("f(1000, 900)") == "499500");
    INFO(explain(w, "f"));
    CHECK(has(explain(w, "f"), "[not_translated]"));
    CHECK_FALSE(has(explain(w, "f"), "[idle]"));
  }
  posset_runtime_release(runtime);
}

namespace {

std::thread::id evaluating;

// Compile threads that do not come to run until the test lets them, as where the system has no processor for them.
bool on_the_evaluating_thread(int) {
  std::unique_lock lock(compiler.mutex);
  compiler.changed.wait(lock, [] { return !compiler.closed || std::this_thread::get_id() == evaluating; });
  return true;
}

}  // namespace

TEST_CASE("tiering: who waits for bytecode makes it where the compile threads do not run") {
  evaluating = std::this_thread::get_id();
  posset_runtime* runtime = runtime_with({bytecode_where<on_the_evaluating_thread>()}, false, Reason::not_translated);
  compiler.closed = true;
  {
    World w(runtime, posset_context_defaults());
    // More than there are compile threads to take one each.
    const size_t count = posset::sched::hardware_threads() + 4;
    std::string functions = "nil\n", calls = "0";
    for (size_t i = 0; i < count; ++i) {
      const std::string n = std::to_string(i);
      functions += "fn g" + n + "(x) => x + " + n + "\n";
      calls += " + g" + n + "(i)";
    }
    w.session(functions);
    w.session("for i in 0..2000 { " + calls + " }");
    size_t made = 0;
    for (size_t i = 0; i < count; ++i) made += body_has_bytecode(runtime, "g" + std::to_string(i));
    CHECK(made > 0);
    compiler.open();
    posset_runtime_settle(runtime);
  }
  posset_runtime_release(runtime);
}

namespace {

// So that the code around them never comes.
bool for_inner_loops(int loop) { return loop >= 1; }

}  // namespace

TEST_CASE("tiering: an inner loop is not optimised before the code around it had the time to come") {
  posset_runtime_options options = posset_runtime_defaults();
  options.tier2_after = 60;
  options.tier3_after = 100;
  options.trace_events = 1 << 12;
  posset_runtime* runtime =
      runtime_with({bytecode_where<for_inner_loops>(), stand_in<2>(), stand_in<3>()}, false, Reason::not_translated, options);
  {
    World w(runtime, posset_context_defaults());
    w.session("fn f(n) {\n  var s = 0\n  for i in 0..2 { for j in 0..n { s += j } }\n  s\n}");
    // It goes on for long enough: then it is, but not at once.
    while (!has(explain(w, "f"), "tier 3: too large")) w.session("f(20000)");
    std::string trace;
    REQUIRE(posset_trace_write(runtime, POSSET_TRACE_TEXT, append, &trace) == POSSET_OK);
    INFO(trace);
    const size_t postponed = trace.find("reason=superseded");
    const size_t tried = trace.find("compile_refused unit=f (<input>:1:1) loop=1 tier=3");
    CHECK(postponed < tried);
    CHECK(tried != std::string::npos);
  }
  posset_runtime_release(runtime);
}

TEST_CASE("tiering: a function that is called no more is not optimised") {
  posset_runtime* runtime = runtime_with_stand_ins(posset_bytecode_tier(), UINT32_MAX, 60);
  {
    World w(runtime, posset_context_defaults());
    occupy_native_threads(w, "tier 3: being compiled");
    w.session("fn f(x) => x * 2 + 1\nfn h(x) => x * 3 + 1");
    for (const std::string name : {"f", "h"}) {
      while (!has(explain(w, name.c_str()), "tier 3: being compiled")) w.session("for _ in 0..70 { " + name + "(1) }");
    }
    w.session("for i in 0..200000 { h(i) }");
    compiler.open();
    posset_runtime_settle(runtime);
    INFO(explain(w, "f"), explain(w, "h"));
    CHECK(has(explain(w, "f"), "[idle]"));
    CHECK(has(explain(w, "h"), "[not_translated]"));
    CHECK(w.session("f(10)") == "21");
  }
  posset_runtime_release(runtime);
}

namespace {

// As bytecode does, which is below.
posset::interp::Value enter_below(posset::interp::Context& context, void*, posset::interp::Closure* closure,
                                  posset::interp::Borrowed* frame) {
  const auto* bytecode = static_cast<const TierInterface*>(posset_bytecode_tier());
  return bytecode->enter(context, closure->function->unit->body.code[1], closure, frame);
}

// Code that nothing goes over to. None for loops, which would be entered in the middle.
void* make_or_refuse(posset::interp::RuntimeState& runtime, const posset::syntax::FunctionDecl& decl, int loop, void* below,
                     Refusal& refusal) {
  refuse(runtime, decl, loop, below, refusal);
  if (loop >= 0) refusal.reason = Reason::not_translated;
  return refusal.reason == Reason::none ? new int() : nullptr;
}

const TierInterface* making_stand_in() {
  static const TierInterface tier = [] {
    TierInterface made = *stand_in<2>();
    made.compile = make_or_refuse;
    made.enter = enter_below;
    made.drop = [](void* code) { delete static_cast<int*>(code); };
    made.memory = [](const void*) { return sizeof(int); };
    return made;
  }();
  return &tier;
}

// A function that has native code, which exits often.
struct Exiting {
  Exiting() {
    posset_runtime_options options = posset_runtime_defaults();
    options.tier2_after = 3;
    runtime = runtime_with({posset_bytecode_tier(), making_stand_in()}, false, Reason::none, options);
    world.emplace(runtime, posset_context_defaults());
    world->session("fn f(x) => x + 1");
    for (int round = 0; round < 3; ++round) {
      world->session("for _ in 0..10 { f(1) }");
      posset_runtime_settle(runtime);
    }
    runtime->state.units.for_each([&](const posset::interp::Unit& unit) {
      if (unit.name == "f") function = unit.functions;
    });
    REQUIRE(code() != nullptr);
    compiler.closed = true;
  }
  ~Exiting() {
    open();
    world.reset();
    posset_runtime_release(runtime);
  }
  void exit_often() { runtime->state.control.make_anew(*function, -1, 2, times); }
  void open() {
    compiler.open();
    posset_runtime_settle(runtime);
  }
  posset::interp::Counted& body() { return function->unit->body; }
  void* code() { return body().code[2]; }

  posset_runtime* runtime;
  std::optional<World> world;
  const posset::interp::Function* function = nullptr;
  std::atomic<uint32_t> times{0};
};

}  // namespace

TEST_CASE("tiering: code that is made anew stays until the other comes") {
  Exiting f;
  void* const before = f.code();
  f.exit_often();
  CHECK(f.code() == before);
  CHECK(f.body().ready == 2);
  f.exit_often();  // does not ask again
  CHECK(f.times == 1);
  f.open();
  CHECK(f.code() != before);
  CHECK(f.body().ready == 2);
  f.exit_often();
  f.open();
  CHECK(f.times == 2);
}

TEST_CASE("tiering: code that exits all the time goes before the other comes") {
  Exiting f;
  for (int i = 0; i < 40; ++i) f.exit_often();
  CHECK(f.code() == nullptr);
  CHECK(f.body().ready == 1);
  CHECK(has(explain(*f.world, "f"), "tier 2: being compiled"));
  f.open();
  CHECK(f.code() != nullptr);
  CHECK(f.times == 1);
}

TEST_CASE("tiering: code that exits again and again is given up") {
  Exiting f;
  for (int i = 0; i < 12; ++i) {
    f.exit_often();
    f.open();
    CHECK(f.code() != nullptr);
  }
  CHECK(!has(explain(*f.world, "f"), "[exits_often]"));
  f.exit_often();
  CHECK(f.code() == nullptr);
  CHECK(has(explain(*f.world, "f"), "[exits_often]"));
  f.world->session("for _ in 0..1000 { f(1) }");
  f.open();
  CHECK(f.code() == nullptr);
}

TEST_CASE("tiering: code goes when there is to be no other") {
  Exiting f;
  compiler.answer = [] { return Reason::failed; };
  f.exit_often();
  f.open();
  CHECK(f.code() == nullptr);
  CHECK(has(explain(*f.world, "f"), "[failed]"));
}

TEST_CASE("tiering: what nothing can run again after its evaluation is not compiled") {
  posset_runtime* runtime = counting_runtime();
  {
    World w(runtime, posset_context_defaults());
    auto of_text = [&](const char* input) { return compilations_of(runtime, [&] { REQUIRE(w.eval(input) == POSSET_OK); }); };
    CHECK(of_text("[1, 2, 3].map(x => x + 10)") == 0);
    CHECK(of_text("var s = 0; for i in 0..3 { s += i }; s") == 0);
    CHECK(of_text("fn f(x) => x + 11\nf(1) + f(2)") == 0);
    // The same text again: the lambda, the loop, the function, and after it the top level that was executed twice.
    CHECK(of_text("[1, 2, 3].map(x => x + 10)") == 2);  // the loop of map, too
    CHECK(of_text("var s = 0; for i in 0..3 { s += i }; s") == 1);
    CHECK(of_text("fn f(x) => x + 11\nf(1) + f(2)") == 1);
    CHECK(of_text("fn f(x) => x + 11\nf(1) + f(2)") == 1);
  }
  posset_runtime_release(runtime);
}

TEST_CASE("tiering: code that does not come again says that its evaluation ended first") {
  posset_runtime* runtime = counting_runtime();
  {
    World w(runtime, posset_context_defaults());
    posset_program* program = nullptr;
    posset_source source = posset_source_of("short", text("[1, 2, 3].map(x => x + 10)"));
    REQUIRE(posset_load(w.context, &source, &program, nullptr) == POSSET_OK);
    REQUIRE(posset_run(program, nullptr) == POSSET_OK);
    std::string out;
    REQUIRE(posset_explain_program(program, text(""), append, &out) == POSSET_OK);
    CHECK_MESSAGE(has(out, "[short_lived]"), out);
    posset_program_free(program);
  }
  posset_runtime_release(runtime);
}

TEST_CASE("tiering: what may run again is asked for when its evaluation ends") {
  posset_runtime* runtime = counting_runtime();
  {
    World w(runtime, posset_context_defaults());
    auto of_input = [&](const char* input) { return compilations_of(runtime, [&] { w.session(input); }); };
    CHECK(of_input("fn f(x) => x + 1\nf(1) + f(2)") == 1);
    CHECK(of_input("let g = x => x + 2; g(1) + g(2)") == 1);
    CHECK(of_input("fn h() => (x => x + 3)\nh()(1) + h()(2)") == 2);
    // The function takes its loop with it.
    CHECK(of_input("fn s(n) { var t = 0; for i in 0..n { t += i }; t }\ns(3) + s(4)") == 1);
  }
  posset_runtime_release(runtime);
}

TEST_CASE("tiering: a long evaluation does not wait for its end to be compiled") {
  posset_runtime* runtime = counting_runtime();
  {
    World w(runtime, posset_context_defaults());
    posset_function_row row = {};
    row.name = "compilations";
    row.signature = "()";
    row.doc = "How many have begun.";
    row.function = [](posset_call* call) { return posset_return(call, posset_int(compiler.compilations)); };
    REQUIRE(posset_define(w.context, &row, sizeof row, nullptr) == POSSET_OK);
    w.session("while compilations() == 0 { nil }");  // or for ever
    CHECK(compiler.compilations > 0);
  }
  posset_runtime_release(runtime);
}

TEST_CASE("tiering: a compiler that has no memory failed, and the unit stays where it is") {
  posset_runtime* runtime = counting_runtime();
  compiler.answer = []() -> Reason { throw std::bad_alloc(); };
  {
    World w(runtime, posset_context_defaults());
    CHECK(w.session("fn f(x) => x + 1\nf(1); f(1); f(1)") == "2");
    posset_runtime_settle(runtime);
    CHECK(w.session("f(1)") == "2");
    posset_runtime_settle(runtime);
    CHECK(compiler.compilations == 1);
    CHECK(has(explain(w, "f"), "[failed]"));  // asks where, and gets no answer
  }
  posset_runtime_release(runtime);
}

TEST_CASE("tiering: a compiler with a fault is told as internal, whether it says so or throws") {
  for (bool throws : {false, true}) {
    posset_runtime* runtime = counting_runtime();
    compiler.answer = [throws]() -> Reason {
      if (throws) throw std::logic_error("a fault");
      return Reason::internal;
    };
    {
      World w(runtime, posset_context_defaults());
      CHECK(w.session("fn f(x) => x + 1\nf(1); f(1); f(1)") == "2");
      posset_runtime_settle(runtime);
      CHECK(w.session("f(1)") == "2");
      posset_runtime_settle(runtime);
      CHECK(compiler.compilations == 1);
      CHECK(has(explain(w, "f"), "[internal]"));
    }
    posset_runtime_release(runtime);
  }
}

constexpr int kDistinct = posset::test::kSanitized ? 20'000 : 1'000'000;

TEST_CASE("tiering: a million distinct expressions stay below the code limit") {
  posset_runtime_options options = posset_runtime_defaults();
  options.code_limit = 1 << 20;
  World w(posset_context_defaults(), options);
  uint64_t most_units = 0;
  for (int i = 0; i < kDistinct; ++i) {
    std::string n = std::to_string(i);
    posset_value value = posset_nil();
    REQUIRE(posset_eval(w.context, text("(x => x * " + n + " + 1)(2) + len(\"a text of its own, number " + n + "\")"), &value,
                        nullptr) == POSSET_OK);
    REQUIRE(posset_as_int(value) == 2 * i + 1 + 26 + static_cast<int64_t>(n.size()));
    if (i % 1000 == 0) most_units = std::max(most_units, w.statistics().units);
  }
  posset_statistics statistics = w.statistics();
  CHECK(statistics.unit_bytes <= options.code_limit);
  CHECK(most_units < 5000);  // each expression has two
  CHECK(statistics.modules < 100);
  CHECK(statistics.live_objects < 1000);
}

TEST_CASE("tiering: the trees that code keeps count for the code limit") {
  posset_runtime_options options = posset_runtime_defaults();
  options.code_limit = 1 << 20;
  options.forced_tier = 1;
  World w(posset_context_defaults(), options);
  const std::string comment = "# " + std::string(20'000, 'x') + "\n";
  uint64_t most = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string input = comment + "[1, 2].map((x: int) => x * " + std::to_string(i) + ")";
    REQUIRE(posset_eval(w.context, text(input), nullptr, nullptr) == POSSET_OK);
    most = std::max(most, w.statistics().compiled[1]);
  }
  CHECK(most > 10);
  CHECK(most <= 4 * (options.code_limit / comment.size()));  // of two functions one keeps the tree, for its half
}

TEST_CASE("tiering: code without types does not keep its tree") {
  posset_runtime_options options = posset_runtime_defaults();
  options.forced_tier = 1;
  World w(posset_context_defaults(), options);
  const std::string comment = "# " + std::string(20'000, 'x') + "\n";
  for (int i = 0; i < 100; ++i) {
    const std::string input = comment + "[1, 2].map(x => \"a long text, formatted, {x * " + std::to_string(i) + ":>9}\")";
    REQUIRE(posset_eval(w.context, text(input), nullptr, nullptr) == POSSET_OK);
  }
  CHECK(w.statistics().compiled[1] >= 200);
  CHECK(w.statistics().unit_bytes < 50 * comment.size());
}

TEST_CASE("tiering: an expression over few elements is not compiled for its first evaluation") {
  auto compiled_by = [&](const char* input) {
    World w;
    REQUIRE(posset_eval(w.context, text(input), nullptr, nullptr) == POSSET_OK);
    return w.statistics().compiled[1];
  };
  CHECK(compiled_by("[1, 2].map(print)") == 0);
  CHECK(compiled_by("'ab'.map(print)") == 0);
  CHECK(compiled_by("range(0, 2).map(print)") == 0);
  CHECK(compiled_by("let xs = [1]; [..xs].map(print)") == 0);
  CHECK(compiled_by("let m = map; m([1, 2], print)") == 0);
}

TEST_CASE("tiering: an expression that comes again is hot however many others come between") {
  posset_runtime_options options = posset_runtime_defaults();
  options.code_limit = 1 << 20;
  World w(posset_context_defaults(), options);
  for (int i = 0; i < 5000; ++i) {
    REQUIRE(posset_eval(w.context, text("1 + " + std::to_string(i)), nullptr, nullptr) == POSSET_OK);
    REQUIRE(posset_eval(w.context, text("40 + 2"), nullptr, nullptr) == POSSET_OK);
  }
  posset_runtime_settle(w.runtime);
  posset_program* program = nullptr;
  posset_source source = posset_source_of("again", text("40 + 2"));
  REQUIRE(posset_load(w.context, &source, &program, nullptr) == POSSET_OK);
  std::string out;
  REQUIRE(posset_explain_program(program, text(""), append, &out) == POSSET_OK);
  CHECK_MESSAGE(out.find("tier 1 (bytecode)") != std::string::npos, out);
  posset_program_free(program);
}

TEST_CASE("tiering: code of functions in use is evicted, and they go on") {
  posset_runtime_options options = posset_runtime_defaults();
  options.code_limit = 256 << 10;
  World w(posset_context_defaults(), options);
  constexpr int kFunctions = 500;
  std::string source = "fn hot(x) => x * 3\n";
  std::string calls;
  for (int i = 0; i < kFunctions; ++i) {
    std::string n = std::to_string(i);
    source += "fn f" + n + "(x) { var t = 0; for i in 0..3 { t += x * " + n + " + hot(i) }; t }\n";
    calls += "total += f" + n + "(2)\n";
  }
  w.session(source);
  std::string seen;
  for (int round = 0; round < 6; ++round) {
    std::string answer = w.session(("fn again" + std::to_string(round) + "() { var total = 0\n" + calls + "total }\nagain" +
                                    std::to_string(round) + "()").c_str());
    if (round == 0) seen = answer;
    CHECK(answer == seen);
    posset_runtime_settle(w.runtime);
  }
  CHECK(seen == "753000");
  bool evicted = false;
  for (int i = 0; i < kFunctions && !evicted; ++i) {
    evicted = explain(w, ("f" + std::to_string(i)).c_str()).find("[evicted]") != std::string::npos;
  }
  CHECK(evicted);
}
