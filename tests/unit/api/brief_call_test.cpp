// Calls from the host that come again and again: after some of them the context is reserved for the thread and they
// begin without clock and atomics (interp/api/reservation.h). Nothing else may change: limits, interruption, misuse by
// other threads, errors, and what the statistics say. Every case first makes calls until that is so, with native code where
// there is any.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <posset/attach.h>
#include <posset/posset.hpp>

#include "../sanitized.h"
#include "../scratch.h"
#include "hot_calls.h"
#include "interp/api/handles.h"

using posset::Context;
using posset::ContextOptions;
using posset::Error;
using posset::Function;
using posset::Runtime;
using posset::test::code_of;

namespace {

// More than native code and a reservation ask for.
constexpr int kManyCalls = 1500;

template <class F>
void heat(Runtime& runtime, F&& call) {
  posset::test::heat(runtime, 2, kManyCalls, call);
}

uint64_t steps_of_last(Context& context) { return context.statistics().steps; }

}  // namespace

TEST_CASE("a brief call charges the steps of any other") {
  Runtime runtime;
  Context context(runtime, {.step_limit = 1000000});
  auto sum = context.compile<int64_t(int64_t)>("n => { var t = 0\n for i in 0..n { t += i }\n t }");
  auto product = context.compile<double(double, double)>("(x, y) => x * y + 0.5");
  sum(10);
  const uint64_t steps_of_sum = steps_of_last(context);
  product(2, 3);
  const uint64_t steps_of_product = steps_of_last(context);
  heat(runtime, [&] { REQUIRE(product(2, 3) == 6.5); });
  heat(runtime, [&] { REQUIRE(sum(10) == 45); });
  CHECK(steps_of_last(context) == steps_of_sum);
  product(2, 3);
  CHECK(steps_of_last(context) == steps_of_product);
}

TEST_CASE("the step limit is exact in a brief call") {
  Runtime runtime;
  Context context(runtime, {.step_limit = 1000});
  auto spin = context.compile<int64_t(int64_t)>("n => { var t = 0\n for i in 0..n { t += 1 }\n t }");
  int64_t most = 0;  // rounds that the limit lets pass
  while (code_of([&] { spin(most + 1); }) == POSSET_ERROR_COUNT) ++most;
  REQUIRE(most > 900);
  heat(runtime, [&] { REQUIRE(spin(5) == 5); });
  for (int again = 0; again < 3; ++again) {
    CHECK(spin(most) == most);
    CHECK(code_of([&] { spin(most + 1); }) == POSSET_ERROR_StepLimit);
  }
  for (int i = 0; i < kManyCalls; ++i) REQUIRE(spin(5) == 5);
}

TEST_CASE("the time limit ends a call that came after many brief ones") {
  Runtime runtime;
  Context context(runtime, {.time_limit_seconds = 0.02});
  auto spin = context.compile<int64_t(int64_t)>("n => { var t = 0\n while t < n { t += 1 }\n t }");
  heat(runtime, [&] { spin(3); });
  CHECK(code_of([&] { spin(INT64_MAX); }) == POSSET_ERROR_TimeLimit);
  CHECK(spin(3) == 3);
}

TEST_CASE("the time of a host's function counts in a brief call") {
  Runtime runtime;
  Context context(runtime, {.time_limit_seconds = 0.02});
  bool slow = false;
  context.define("wait", [&](double x) {
    if (slow) std::this_thread::sleep_for(std::chrono::microseconds(100));
    return x;
  });
  auto call = context.compile<double(double, int64_t)>("(x, n) => { var t = x\n for i in 0..n { t = wait(t) }\n t }");
  heat(runtime, [&] { REQUIRE(call(1, 2) == 1); });
  slow = true;
  // Far fewer steps than a slice has; the pace of host calls sees to it (interp/runtime/host_pace.h).
  CHECK(code_of([&] { call(1, 4000); }) == POSSET_ERROR_TimeLimit);
  slow = false;
  CHECK(call(2, 2) == 2);
}

TEST_CASE("calls are brief again when tasks have ended, and tasks in a brief call have all that they need") {
  Runtime runtime;
  Context context(runtime, {.step_limit = 1000000});
  auto call = context.compile<double(double, int64_t)>(
      "import \"task\"\n(x, n) => { var t = x\n for i in 0..n { t += 1.0 }\n"
      "if n == 7 { let a = spawn ((y) => { task.yield()\n y * 2.0 })(t)\n task.sleep(0.0)\n t = await a }\n"
      "if n == 8 { let c = chan(1)\n spawn c.send(t)\n t = c.recv() }\n"
      "if n == 9 { spawn ((y) => throw \"lost\")(t) }\n t }");
  heat(runtime, [&] { REQUIRE(call(1, 2) == 3); });
  CHECK(context.handle()->may_be_brief());
  for (int round = 0; round < (posset::test::kSanitized ? 30 : 300); ++round) {
    REQUIRE(call(1, 2) == 3);
    REQUIRE(call(1, 7) == 16);
    REQUIRE(context.handle()->may_be_brief());
    REQUIRE(call(1, 8) == 9);
    REQUIRE(call(2, 2) == 4);
    REQUIRE(code_of([&] { call(1, 9); }) == POSSET_ERROR_Thrown);
    REQUIRE(code_of([&] { call(1, 2000000); }) == POSSET_ERROR_StepLimit);
  }
}

TEST_CASE("a graph that was made before runs in a brief call") {
  Runtime runtime;
  Context context(runtime);
  auto make = context.compile<posset::Value()>(
      "import \"graph\"\n() => { let g = graph.new()\n"
      "g.add(\"a\", {inputs: [\"in\"], outputs: [], on_message: (s, x, node) => nil})\n g }");
  auto run = context.compile<bool(posset::Value, int64_t)>("(g, n) => if n == 1 { g.run().ended == \"idle\" } else { true }");
  const posset::Value other = make();
  heat(runtime, [&] { REQUIRE(run(other, 0)); });
  for (int round = 0; round < 5; ++round) {
    const posset::Value graph = make();
    CHECK(run(graph, 0));
    CHECK(run(graph, 1));
    CHECK(run(graph, 0));
    CHECK(context.handle()->may_be_brief());
  }
}

TEST_CASE("new limits hold from the next call on") {
  Runtime runtime;
  Context context(runtime, {.step_limit = 1000000});
  auto spin = context.compile<int64_t(int64_t)>("n => { var t = 0\n for i in 0..n { t += 1 }\n t }");
  heat(runtime, [&] { spin(5); });
  context.set_options({.step_limit = 100});
  CHECK(code_of([&] { spin(200); }) == POSSET_ERROR_StepLimit);
  context.set_options({.step_limit = 1000});
  CHECK(spin(200) == 200);
}

TEST_CASE("another thread interrupts a call that came after many brief ones") {
  Runtime runtime;
  Context context(runtime);
  auto spin = context.compile<int64_t(int64_t)>("n => { var t = 0\n while t < n { t += 1 }\n t }");
  heat(runtime, [&] { spin(3); });
  std::atomic<bool> done{false};
  // Again and again: a wish that came before the call began is forgotten with the call before.
  std::thread other([&] {
    while (!done) context.interrupt();
  });
  const posset_code code = code_of([&] { spin(INT64_MAX); });
  done = true;
  other.join();
  CHECK(code == POSSET_ERROR_Interrupted);
  code_of([&] { spin(3); });  // the last wish may have come after that evaluation, and is for this one
  for (int i = 0; i < kManyCalls; ++i) REQUIRE(spin(3) == 3);
}

TEST_CASE("a wish to interrupt that no call was there for ends the next one, however brief, and is forgotten then") {
  Runtime runtime;
  Context context(runtime);
  auto spin = context.compile<int64_t(int64_t)>("n => { var t = 0\n while t < n { t += 1 }\n t }");
  heat(runtime, [&] { spin(3); });
  context.interrupt();
  CHECK(code_of([&] { spin(3); }) == POSSET_ERROR_Interrupted);
  CHECK(spin(3) == 3);
  CHECK(spin(100000) == 100000);
  context.define("ask", [&] { context.interrupt(); });
  auto late = context.compile<int64_t()>("() => { ask()\n 3 }");
  heat(runtime, [&] { code_of([&] { late(); }); });  // as a rule nothing comes after it by which it would be seen
  CHECK(spin(3) == 3);
}

TEST_CASE("a thread that calls while another is inside briefly is told so") {
  Runtime runtime;
  Context context(runtime);
  std::atomic<bool> inside{false}, leave{false};
  context.define("stay", [&](int64_t n) {
    if (n != 0) {
      inside = true;
      CHECK(posset_submit_eval(context.handle(), posset_text_of("1"), nullptr, nullptr) == POSSET_BUSY);
      while (!leave) std::this_thread::yield();
    }
    return n;
  });
  auto call = context.compile<int64_t(int64_t)>("n => stay(n)");
  heat(runtime, [&] { REQUIRE(call(0) == 0); });
  std::thread caller([&] { CHECK(call(1) == 1); });  // takes the reservation away from this thread
  while (!inside) std::this_thread::yield();
  posset_value result = posset_nil();
  posset_value argument = posset_int(0);
  CHECK(posset_invoke(context.handle(), call.value().raw(), &argument, 1, &result) == POSSET_BUSY);
  leave = true;
  caller.join();

  inside = leave = false;
  heat(runtime, [&] { REQUIRE(call(0) == 0); });
  std::thread other([&] {
    while (!inside) std::this_thread::yield();
    posset_value got = posset_nil();
    posset_value given = posset_int(0);
    CHECK(posset_invoke(context.handle(), call.value().raw(), &given, 1, &got) == POSSET_BUSY);
    CHECK(posset_submit_eval(context.handle(), posset_text_of("1"), nullptr, nullptr) == POSSET_BUSY);
    leave = true;
  });
  CHECK(call(2) == 2);
  other.join();
  for (int i = 0; i < kManyCalls; ++i) REQUIRE(call(0) == 0);
}

TEST_CASE("a context goes from thread to thread between brief calls") {
  Runtime runtime;
  Context context(runtime);
  auto add = context.compile<double(double, double)>("(x, y) => x + y");
  heat(runtime, [&] { REQUIRE(add(1, 2) == 3); });
  double sum = 0;
  for (int round = 0; round < 20; ++round) {
    std::thread other([&] {
      for (int i = 0; i < 500; ++i) sum = add(sum, 1);
    });
    other.join();
    for (int i = 0; i < 500; ++i) sum = add(sum, 1);
  }
  CHECK(sum == 20000);
}

TEST_CASE("threads that take a context from each other never both have it") {
  Runtime runtime;
  Context context(runtime);
  std::atomic<int> within{0}, most{0};
  context.define("enter", [&](int64_t n) {
    if (++within > 1) most = 2;
    --within;
    return n;
  });
  auto call = context.compile<int64_t(int64_t)>("n => enter(n) + 1");
  heat(runtime, [&] { REQUIRE(call(1) == 2); });
  std::atomic<int> calls{0};
  auto work = [&] {
    for (int i = 0; i < 20000; ++i) {
      posset_value argument = posset_int(i), result = posset_nil();
      const posset_status status = posset_invoke(context.handle(), call.value().raw(), &argument, 1, &result);
      if (status == POSSET_BUSY) continue;
      REQUIRE(status == POSSET_OK);
      REQUIRE(posset_as_int(result) == i + 1);
      ++calls;
    }
  };
  std::thread one(work), two(work);
  one.join();
  two.join();
  CHECK(most == 0);
  CHECK(calls > 0);
  CHECK(call(1) == 2);
}

TEST_CASE("an error in a brief call has the same message, place and trace") {
  Runtime runtime;
  Context context(runtime);
  auto call = context.compile<double(double, double)>("(x, y) => { let inner = (a, b) => a / b\n inner(x, y) + 0.5 }");
  auto whole = context.compile<int64_t(int64_t, int64_t)>("(x, y) => x // y");
  auto report_of = [&] {
    try {
      whole(1, 0);
    } catch (const Error& error) {
      return error.report();
    }
    return std::string("none");
  };
  const std::string first = report_of();
  heat(runtime, [&] { REQUIRE(whole(6, 3) == 2); });
  CHECK(report_of() == first);
  CHECK(whole(6, 3) == 2);
  CHECK(report_of() == first);
  CHECK(call(1, 2) == 1.0);
}

TEST_CASE("a host's function calls back from a brief call") {
  Runtime runtime;
  Context context(runtime);
  auto twice = context.compile<double(double)>("x => x * 2.0");
  context.define("again", [&](double x) { return twice(x); });
  auto call = context.compile<double(double)>("x => again(x) + 1.0");
  heat(runtime, [&] { REQUIRE(twice(2) == 4); });
  heat(runtime, [&] { REQUIRE(call(2) == 5); });
  CHECK(twice(3) == 6);
}

TEST_CASE("a submission comes between brief calls") {
  Runtime runtime;
  Context context(runtime);
  auto add = context.compile<double(double, double)>("(x, y) => x + y");
  heat(runtime, [&] { REQUIRE(add(1, 2) == 3); });
  for (int round = 0; round < 10; ++round) {
    posset_future* future = nullptr;
    REQUIRE(posset_submit_eval(context.handle(), posset_text_of("6 * 7"), nullptr, &future) == POSSET_OK);
    REQUIRE(posset_future_wait(future, -1));
    posset_value got = posset_nil();
    REQUIRE(posset_future_take(future, &got, nullptr) == POSSET_OK);
    CHECK(posset_as_int(got) == 42);
    posset_future_release(future);
    for (int i = 0; i < 200; ++i) REQUIRE(add(i, 2) == i + 2);
  }
}

TEST_CASE("numbers give what the same values give") {
  Runtime runtime;
  Context context(runtime);
  auto functions = {"x => x * 2.0", "x => if x > 10.0 { 7 } else { x }", "x => if x > 20.0 { \"far\" } else { sqrt(x) }",
                    "x => int(x)", "x => [x, x]", "(..xs) => len(xs)", "(x, y) => x", "(x, y = 2.0) => x + y"};
  for (const char* source : functions) {
    auto function = context.compile<posset::Value(double)>(source);
    for (int i = 0; i < 2 * kManyCalls; ++i) {
      if (i == kManyCalls) posset_runtime_settle(runtime.handle());
      const double x = i % 30;
      posset_value by_value = posset_nil(), by_number = posset_nil(), argument = posset_float(x);
      const posset_status first = posset_invoke(context.handle(), function.value().raw(), &argument, 1, &by_value);
      if (first == POSSET_RAISED) posset_error_free(posset_take_error(context.handle()));
      const posset_status second = posset_invoke_numbers(context.handle(), function.value().raw(), &x, 1, &by_number);
      if (second == POSSET_RAISED) posset_error_free(posset_take_error(context.handle()));
      REQUIRE(first == second);
      REQUIRE(posset_equal(by_value, by_number));
      posset_release(by_value);
      posset_release(by_number);
    }
  }
}

namespace {

posset_number computed(Context& context, const posset::Value& function, size_t count, double x, double y = 0,
                       posset_value* other = nullptr) {
  return posset_compute(context.handle(), function.raw(), count, other, x, y, 0, 0, 0, 0, 0, 0);
}

// Gives -1 where that is no float.
double number_computed(Context& context, const posset::Value& function, size_t count, double x, double y = 0) {
  const posset_number made = computed(context, function, count, x, y);
  CHECK((made.kind == POSSET_FLOAT || made.number == 0));
  return made.kind == POSSET_FLOAT ? made.number : -1;
}

// Whether a call that only computes would do nothing else.
bool is_open(Context& context) {
  posset::api::Reservation& reservation = context.handle()->reservation;
  if (!reservation.enter_to_compute(posset::api::this_thread())) return false;
  reservation.leave();
  return true;
}

bool has_formula(const posset::Value& function) {
  const auto* closure = posset::api::in(function.raw()).as<posset::interp::Closure>();
  return closure->function->unit->body.formula.load() != nullptr;
}

posset_code code_taken(Context& context) {
  posset_error* const error = posset_take_error(context.handle());
  posset_error_info info = {sizeof info};
  REQUIRE(posset_error_get(error, &info) == POSSET_OK);
  posset_error_free(error);
  return info.code;
}

}  // namespace

TEST_CASE("what only computes is computed in registers, all else gives what it always gives") {
  Runtime runtime;
  Context context(runtime), another(runtime);
  context.define("outside", [] { return 1.0; });
  auto product = context.compile<double(double, double)>("(x, y) => x * y + 0.5");
  auto far = context.compile<posset::Value(double)>("x => if x > 20.0 { \"far\" } else { sqrt(x) }");
  auto whole = context.compile<double(double)>("x => if x > 20.0 { 7 } else { x }");
  auto calls = context.compile<double(double)>("x => x + outside()");
  CHECK(number_computed(context, product.value(), 2, 2, 3) == 6.5);
  CHECK(!has_formula(product.value()));
  heat(runtime, [&] {
    REQUIRE(product(2, 3) == 6.5);
    far(4);
    REQUIRE(whole(4) == 4);
    REQUIRE(whole(21) == 7);
    REQUIRE(calls(1) == 2);
  });
  CHECK(has_formula(product.value()) == (posset_native_tier(3) != nullptr));
  CHECK(!has_formula(far.value()));
  CHECK(!has_formula(whole.value()));
  CHECK(!has_formula(calls.value()));
  CHECK(number_computed(context, product.value(), 2, 2, 3) == 6.5);
  CHECK(steps_of_last(context) == 1);
  CHECK(number_computed(context, far.value(), 1, 4) == 2);
  CHECK(number_computed(context, calls.value(), 1, 1) == 2);
  posset_value other = posset_nil();
  posset_number made = computed(context, whole.value(), 1, 21, 0, &other);
  CHECK(made.kind == POSSET_INT);
  CHECK(made.status == POSSET_OK);
  CHECK(posset_as_int(other) == 7);
  CHECK(whole(21) == 7);
  made = computed(context, far.value(), 1, 21, 0, &other);
  CHECK(made.kind == POSSET_STR);
  CHECK(posset::Value(context.handle(), other).to<std::string>() == "far");
  CHECK(computed(context, far.value(), 1, 21).kind == POSSET_STR);  // dropped
}

TEST_CASE("a formula that comes from the code cache is called as one") {
  if (!posset_native_tier(3)) return;
  posset::test::ScratchFolder folder;
  const std::string path = folder.path;
  for (const bool kept : {false, true}) {
    Runtime runtime({.cache_directory = path.c_str()});
    Context context(runtime);
    auto product = context.compile<double(double, double)>("(x, y) => x * y + 0.5");
    auto far = context.compile<posset::Value(double)>("x => if x > 20.0 { \"far\" } else { sqrt(x) }");
    heat(runtime, [&] {
      REQUIRE(product(2, 3) == 6.5);
      far(4);
    });
    CHECK((context.statistics().cache_hits != 0) == kept);
    CHECK(has_formula(product.value()));
    CHECK(!has_formula(far.value()));
    CHECK(number_computed(context, product.value(), 2, 2, 3) == 6.5);
    CHECK(computed(context, far.value(), 1, 21).kind == POSSET_STR);
  }
}

TEST_CASE("a call of numbers that cannot be made says why") {
  Runtime runtime;
  Context context(runtime), another(runtime);
  auto product = context.compile<double(double, double)>("(x, y) => x * y + 0.5");
  auto foreign = another.compile<double(double, double)>("(x, y) => x * y + 0.5");
  heat(runtime, [&] { REQUIRE(product(2, 3) == 6.5); });
  heat(runtime, [&] { REQUIRE(foreign(2, 3) == 6.5); });
  const auto status = [](const posset_number& made) {
    CHECK(made.number == 0);
    CHECK(made.kind == POSSET_NIL);
    return made.status;
  };
  CHECK(status(computed(context, product.value(), 1, 2)) == POSSET_RAISED);
  CHECK(code_taken(context) == POSSET_ERROR_ArgumentCount);
  CHECK(status(computed(context, product.value(), 9, 2)) == POSSET_MISUSE);
  CHECK(status(computed(context, foreign.value(), 2, 2, 3)) == POSSET_MISUSE);
  CHECK(status(posset_compute(context.handle(), posset_int(3), 1, nullptr, 0, 0, 0, 0, 0, 0, 0, 0)) == POSSET_RAISED);
  CHECK(code_taken(context) == POSSET_ERROR_NotAFunction);
  CHECK(status(posset_compute(nullptr, product.value().raw(), 2, nullptr, 2, 3, 0, 0, 0, 0, 0, 0)) == POSSET_MISUSE);
  CHECK(product(2, 3) == 6.5);
}

TEST_CASE("a call that only computes finds a context that is in use, or in which an error waits") {
  Runtime runtime;
  Context context(runtime, {.step_limit = 1000000});
  auto product = context.compile<double(double, double)>("(x, y) => x * y + 0.5");
  double inside = 0;
  posset_number elsewhere{};
  context.define("ask", [&] {
    CHECK(!is_open(context));
    inside = number_computed(context, product.value(), 2, 2, 3);
    std::thread([&] { elsewhere = computed(context, product.value(), 2, 2, 3); }).join();
  });
  auto ask = context.compile<void()>("() => ask()");
  heat(runtime, [&] { REQUIRE(product(2, 3) == 6.5); });
  const bool reserves = is_open(context);
  for (int round = 0; round < 3; ++round) {
    inside = 0;
    ask();
    CHECK(inside == 6.5);
    CHECK(elsewhere.status == POSSET_BUSY);
    REQUIRE(product(2, 3) == 6.5);
    CHECK(is_open(context) == reserves);
  }
  posset_value result = posset_nil();
  REQUIRE(posset_eval(context.handle(), posset_text_of("throw 1"), &result, nullptr) == POSSET_RAISED);
  CHECK(!is_open(context));
  CHECK(product(2, 3) == 6.5);
  CHECK(posset_take_error(context.handle()) == nullptr);
  CHECK(is_open(context) == reserves);
}

TEST_CASE("what another thread has given back is freed by calls that only compute") {
  Runtime runtime;
  Context context(runtime);
  auto product = context.compile<double(double, double)>("(x, y) => x * y + 0.5");
  posset_error* error = nullptr;
  context.define("give_back", [&] {
    std::thread([&] { posset_error_free(std::exchange(error, nullptr)); }).join();
  });
  auto give_back = context.compile<void()>("() => give_back()");
  heat(runtime, [&] { REQUIRE(product(2, 3) == 6.5); });
  for (int round = 0; round < 3; ++round) {
    REQUIRE(product(2, 3) == 6.5);
    const uint64_t before = context.statistics().live_objects;
    posset_value result = posset_nil();
    REQUIRE(posset_eval(context.handle(), posset_text_of("throw [[1], [2]]"), &result, nullptr) == POSSET_RAISED);
    error = posset_take_error(context.handle());
    give_back();
    CHECK(!is_open(context));
    REQUIRE(product(2, 3) == 6.5);
    CHECK(context.handle()->orphans.load() == nullptr);
    CHECK(context.statistics().live_objects == before);
  }
}

TEST_CASE("code that waits to be freed is freed by brief calls, and none only computes until then") {
  static constexpr posset::interp::TierInterface kTier = {.drop = [](void* code) { *static_cast<bool*>(code) = true; }};
  Runtime runtime;
  Context context(runtime);
  auto product = context.compile<double(double, double)>("(x, y) => x * y + 0.5");
  heat(runtime, [&] { REQUIRE(product(2, 3) == 6.5); });
  const bool reserves = is_open(context);
  posset::interp::Reclaimer& reclaimer = context.handle()->runtime.units.reclaimer;
  posset::interp::Reclaimer::Slot reader(reclaimer);
  bool freed = false;
  reader.enter();
  reclaimer.retire(&kTier, &freed);
  CHECK(!is_open(context));
  REQUIRE(product(2, 3) == 6.5);
  CHECK(!is_open(context));
  CHECK(!freed);
  reader.leave_quietly();
  REQUIRE(product(2, 3) == 6.5);
  CHECK(freed);
  REQUIRE(product(2, 3) == 6.5);
  CHECK(is_open(context) == reserves);
}

TEST_CASE("a context whose calls only compute goes from thread to thread") {
  Runtime runtime;
  Context context(runtime);
  auto product = context.compile<double(double, double)>("(x, y) => x * y + 0.5");
  heat(runtime, [&] { REQUIRE(product(2, 3) == 6.5); });
  const bool reserves = is_open(context);
  for (int round = 0; round < 3; ++round) {
    std::thread([&] {
      CHECK(!is_open(context));
      for (int i = 0; i < 5000; ++i) REQUIRE(product(2, 3) == 6.5);
      CHECK(is_open(context) == reserves);
    }).join();
    CHECK(!is_open(context));
    for (int i = 0; i < 5000; ++i) REQUIRE(product(2, 3) == 6.5);
    CHECK(is_open(context) == reserves);
  }
}

TEST_CASE("as many numbers as a function takes") {
  Runtime runtime;
  Context context(runtime);
  for (size_t count = 0; count <= 12; ++count) {
    std::string parameters, sum = "0.0";
    std::vector<double> numbers;
    double wanted = 0;
    for (size_t i = 0; i < count; ++i) {
      const std::string name = "x" + std::to_string(i);
      parameters += (i ? ", " : "") + name;
      sum += " + " + name + " * " + std::to_string(i + 1) + ".0";
      numbers.push_back(static_cast<double>(i) + 0.25);
      wanted += numbers.back() * static_cast<double>(i + 1);
    }
    auto function = context.compile<posset::Value()>("(" + parameters + ") => " + sum);
    heat(runtime, [&] {
      posset_value got = posset_nil();
      REQUIRE(posset_invoke_numbers(context.handle(), function.value().raw(), numbers.data(), count, &got) == POSSET_OK);
      REQUIRE(posset_as_number(got) == wanted);
    });
  }
  posset_value got = posset_int(1);
  const double number = 1;
  CHECK(posset_invoke_numbers(context.handle(), posset_int(3), &number, 1, &got) == POSSET_RAISED);
  CHECK(posset_is_nil(got));
  CHECK(posset_invoke_numbers(context.handle(), posset_int(3), nullptr, 1, &got) == POSSET_MISUSE);
  CHECK(posset_invoke_numbers(nullptr, posset_int(3), &number, 1, &got) == POSSET_MISUSE);
}

TEST_CASE("code is evicted while brief calls run it") {
  Runtime runtime({.code_limit = 256 << 10});
  std::atomic<bool> done{false};
  std::thread caller([&] {
    Context context(runtime);
    auto one = context.compile<double(double)>("x => x * 3.0 + 1.0");
    auto two = context.compile<double(double)>("x => sqrt(x) * 3.0 + 1.5");
    while (!done) {
      REQUIRE(one(2) == 7);
      REQUIRE(two(4) == 7.5);
    }
  });
  Context context(runtime);
  for (int i = 0; i < 120; ++i) {
    auto made = context.compile<double(double)>("x => x * " + std::to_string(i) + ".5 + x / " + std::to_string(i + 1) + ".0");
    for (int n = 0; n < 700; ++n) REQUIRE(made(2) == 2 * (i + 0.5) + 2 / (i + 1.0));
  }
  done = true;
  caller.join();
}
