// Native tiers through the public interface: what happens when code that was made for the values seen meets
// others. Without the native compiler there is nothing to test.
#include <doctest/doctest.h>

#include <atomic>
#include <string>

#include <posset/attach.h>
#include <posset/posset.h>

#include "fixture.h"
#include "interp/api/handles.h"
#include "sched/p2/hybrid.h"

using posset::test::explain;
using posset::test::World;


namespace {

posset_runtime* quick_runtime() {
  posset_runtime_options options = posset_runtime_defaults();
  options.tier1_after = 1;
  options.tier2_after = 2;
  options.tier3_after = 3;
  posset_runtime* runtime = nullptr;
  REQUIRE(posset_default_runtime(&options, &runtime) == POSSET_OK);
  return runtime;
}

// Runs the input, and waits for what it has made hot.
std::string run(World& w, posset_runtime* runtime, const std::string& input) {
  std::string value = w.session(input);
  posset_runtime_settle(runtime);
  return value;
}

}  // namespace

TEST_CASE("native: what a full queue has refused is asked for again after recording has ended") {
  if (!posset_native_tier(3)) return;
  posset_runtime_options options = posset_runtime_defaults();
  options.forced_tier = 1;
  options.tier2_after = UINT32_MAX;
  options.tier3_after = 100;
  options.queue_limit = 2;  // one native compilation waits at most
  posset_runtime* runtime = nullptr;
  REQUIRE(posset_default_runtime(&options, &runtime) == POSSET_OK);
  {
    World w(runtime, posset_context_defaults());
    std::atomic<bool> held{false}, released{false};
    auto hold = [&](posset::sched::TaskContext&) {
      held = true;
      held.notify_all();
      released.wait(false);
    };
    posset::sched::HybridScheduler& scheduler = runtime->state.control.scheduler();
    const auto native = posset::sched::Lane::Native;
    REQUIRE(scheduler.try_submit({.run = hold, .lane = native}) == posset::sched::Admission::Accepted);
    held.wait(false);
    REQUIRE(scheduler.try_submit({.run = hold, .lane = native}) == posset::sched::Admission::Accepted);
    std::string source = "fn f(x) {\n  var t = x\n";  // too large to be inlined
    for (int i = 0; i < 60; ++i) source += "  t = t * 3 % 1001 + " + std::to_string(i) + "\n";
    w.session(source + "  t\n}\nfn g(n) {\n  var t = 0\n  for i in 0..n { t += f(i) }\n  t\n}");
    w.session("g(20000)");
    CHECK(explain(w, "f").find("[queue_full]") != std::string::npos);
    released = true;
    released.notify_all();
    for (int round = 0; round < 20; ++round) run(w, runtime, "g(20000)");
    CHECK_MESSAGE(explain(w, "f").find("tier 3 (") != std::string::npos, explain(w, "f"));
  }
  posset_runtime_release(runtime);
}

namespace {

constexpr int kPlaces = 30;

// Ints at every place; then, place by place, floats where the code is made for ints.
void meet_both_kinds(posset_runtime* runtime) {
  std::string source = "fn f(x, k) {\n  var r = 0\n";
  for (int i = 0; i < kPlaces; ++i) {
    source += "  if k == " + std::to_string(i) + " { r = x + " + std::to_string(i) + " }\n";
  }
  World w(runtime, posset_context_defaults());
  run(w, runtime, source + "  r\n}");
  for (int round = 0; round < 6; ++round) {
    run(w, runtime, "for k in 0.." + std::to_string(kPlaces) + " { for j in 0..4 { f(j, k) } }");
  }
  for (int i = 0; i < kPlaces; ++i) {
    const std::string place = std::to_string(i);
    run(w, runtime, "for j in 0..20 { f(j + 0.5, " + place + ") }");
    CHECK(run(w, runtime, "f(0.5, " + place + ")") == std::to_string(i) + ".5");
    CHECK(run(w, runtime, "f(1, " + place + ")") == std::to_string(1 + i));
  }
}

}  // namespace

// How often it is made anew depends on what a busy machine has met before; that it is given up in the end see
// "tiering: code that exits again and again is given up".
TEST_CASE("native: code that keeps exiting goes on with what it has met") {
  posset_runtime* runtime = quick_runtime();
  meet_both_kinds(runtime);
  posset_runtime_release(runtime);
}

namespace {

// A loop that goes on until it has native code, and a while longer.
class Waiting {
 public:
  explicit Waiting(const posset_runtime_options& options, int thousands = 0) : thousands_(thousands) {
    REQUIRE(posset_default_runtime(&options, &runtime_) == POSSET_OK);
  }
  ~Waiting() { posset_runtime_release(runtime_); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  void define(World& w) {
    posset_function_row row = {};
    row.name = "ready";
    row.doc = row.signature = "";
    row.data = this;
    row.function = [](posset_call* call) {
      return posset_return(call, posset_bool(static_cast<Waiting*>(call->data)->is_over()));
    };
    REQUIRE(posset_define(w.context, &row, sizeof row, nullptr) == POSSET_OK);
    w.session("fn f() {\n  var s = 0\n  while not ready() { s += 1 }\n  s > 0\n}");
  }
  posset_runtime* runtime() { return runtime_; }
  bool body_has_bytecode() const {
    return any([](const posset::interp::Unit& unit) { return unit.body.ready >= 1; });
  }

 private:
  // Whoever publishes code waits until nobody looks at the table of units.
  bool is_over() {
    constexpr int kMostCalls = 50'000'000;
    if (calls_ > kMostCalls) return true;
    if (found_ <= thousands_ && ++calls_ % 1000 == 0 && loop_has_native_code()) ++found_;
    return found_ > thousands_;
  }
  bool loop_has_native_code() const {
    return any([](const posset::interp::Unit& unit) { return unit.counted(0).ready == 3; });
  }
  template <class Predicate>
  bool any(Predicate holds) const {
    bool found = false;
    runtime_->state.units.for_each([&](const auto& unit) { found = found || (unit.name == "f" && holds(unit)); });
    return found;
  }

  posset_runtime* runtime_ = nullptr;
  const int thousands_;
  int calls_ = 0, found_ = 0;
};

}  // namespace

// In a function that is called few times for long, bytecode and quick code of the whole took the place of what its loop
// already had.
TEST_CASE("native: a function whose loop has native code is left to the walker until it is called often") {
  if (!posset_native_tier(3)) return;
  posset_runtime_options options = posset_runtime_defaults();
  options.tier2_after = 10;
  options.tier3_after = 20;
  Waiting waiting(options);
  World w(waiting.runtime(), posset_context_defaults());
  waiting.define(w);
  for (int calls = 1; calls < 20; ++calls) run(w, waiting.runtime(), "f()");
  CHECK_MESSAGE(explain(w, "f").find("[left_to_loops]") != std::string::npos, explain(w, "f"));
  CHECK_FALSE(waiting.body_has_bytecode());
  run(w, waiting.runtime(), "f()");
  CHECK(waiting.body_has_bytecode());
}

// Slices of steps ended behind the host's function, never at the head of the loop, where newer code is taken up; and of the
// way from quick to optimised code the trace told nothing.
TEST_CASE("native: a running loop that calls the host goes over to newer code, and the trace tells") {
  if (!posset_native_tier(3)) return;
  posset_runtime_options options = posset_runtime_defaults();
  options.tier2_after = 10;
  options.tier3_after = 400000;  // so that it runs in tier 2 before
  options.trace_events = 1 << 12;
  Waiting waiting(options, 50);
  {
    World w(waiting.runtime(), posset_context_defaults());
    waiting.define(w);
    run(w, waiting.runtime(), "f()");
  }
  std::string trace;
  REQUIRE(posset_trace_write(waiting.runtime(), POSSET_TRACE_TEXT, posset::test::append, &trace) == POSSET_OK);
  CHECK_MESSAGE(trace.find("tier_entered unit=f (<input>:1:1) loop=0 tier=3") != std::string::npos, trace);
}
