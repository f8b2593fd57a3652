// Calls for rows of columns (posset_invoke_columns, Function::map_into): what they give is what calls one by one give, in
// every tier, where rows raise, and where limits and interruptions act in the middle. What scripts keep of a row are
// numbers, whatever becomes of the host's columns.
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <posset/posset.hpp>

#include "hot_calls.h"

using posset::Context;
using posset::Error;
using posset::Function;
using posset::Misuse;
using posset::Runtime;
using posset::test::code_of;

namespace {

constexpr size_t kMany = 20000;  // rows: more than all tiers ask for

std::vector<double> ascending(size_t count, double step = 0.25) {
  std::vector<double> made(count);
  for (size_t i = 0; i < count; ++i) made[i] = (static_cast<double>(i) - 100) * step;
  return made;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// One call has all the rows that tiers ask for.
template <class F>
void heat(Runtime& runtime, F&& call) {
  posset::test::heat(runtime, 4, 1, call);
}

// As a C host would, with the number of rows that were done.
posset_status invoke(Context& context, const posset::Value& function, std::span<const double> xs, double* out, size_t* done) {
  const double* columns[] = {xs.data()};
  return posset_invoke_columns(context.handle(), function.raw(), columns, 1, out, xs.size(), done);
}

std::string message_of_last(Context& context) {
  posset_error* error = posset_take_error(context.handle());
  posset_error_info info = {};
  info.size = sizeof info;
  REQUIRE(posset_error_get(error, &info) == POSSET_OK);
  const std::string message(info.message.data, info.message.size);
  posset_error_free(error);
  return message;
}

}  // namespace

TEST_CASE("rows give what calls one by one give") {
  Runtime runtime;
  Context context(runtime);
  context.set("rate", 0.19);
  context.define("half", [](double x) { return x / 2; });
  const std::vector<double> xs = ascending(kMany), ys = ascending(kMany, -0.5);
  auto functions = {"(x, y) => x * y + 0.5", "(x, y) => (2.0 * x + 1.5) ** 2 - sqrt(y)", "(x, y) => x * (1.0 + rate)",
                    "(x, y) => if x > y { 7 } else { y }", "(x, y) => if x > 0.0 { x * 2.0 } else { -y }",
                    "(x, y) => { var t = 0.0\n for i in 0..3 { t += x * float(i) }\n t - y }", "(x, y) => half(x) + y",
                    "(x, y) => len([x, y])", "(..xs) => xs[0] - xs[1]", "(x, y = 2.0) => x / y", "(x, y) => 1.5",
                    "(x, y) => min(x, y) + abs(x) - max(floor(y) * 1.0, x)"};
  for (const char* source : functions) {
    auto function = context.compile<double(double, double)>(source);
    std::vector<double> out(kMany);
    heat(runtime, [&] {
      std::fill(out.begin(), out.end(), -1);
      function.map_into(out, xs, ys);
      for (size_t i = 0; i < kMany; i += 97) REQUIRE(same(out[i], function(xs[i], ys[i])));
      REQUIRE(same(out[kMany - 1], function(xs[kMany - 1], ys[kMany - 1])));
    });
  }
}

TEST_CASE("as many columns as a function takes") {
  Runtime runtime;
  Context context(runtime);
  for (size_t count = 0; count <= 12; ++count) {
    std::string parameters, sum = "0.5";
    for (size_t i = 0; i < count; ++i) {
      const std::string name = "x" + std::to_string(i);
      parameters += (i ? ", " : "") + name;
      sum += " + " + name + " * " + std::to_string(i + 1) + ".0";
    }
    auto function = context.compile<posset::Value()>("(" + parameters + ") => " + sum);
    const std::vector<double> xs = ascending(kMany);
    const std::vector<const double*> columns(count, xs.data());
    std::vector<double> out(kMany);
    heat(runtime, [&] {
      size_t done = 0;
      REQUIRE(posset_invoke_columns(context.handle(), function.value().raw(), columns.data(), count, out.data(), kMany, &done) == POSSET_OK);
      REQUIRE(done == kMany);
      const double times = static_cast<double>(count * (count + 1) / 2);
      for (size_t i = 0; i < kMany; i += 997) REQUIRE(out[i] == 0.5 + times * xs[i]);
    });
  }
}

TEST_CASE("results may replace a column, and overlap none otherwise") {
  Runtime runtime;
  Context context(runtime);
  auto function = context.compile<double(double)>("x => x * 2.0 + 1.0");
  const std::vector<double> before = ascending(kMany);
  heat(runtime, [&] {
    std::vector<double> column = before;
    function.map_into(column, column);
    for (size_t i = 0; i < kMany; ++i) REQUIRE(column[i] == before[i] * 2 + 1);
  });
  std::vector<double> all = before;
  const std::span<double> whole(all);
  CHECK_THROWS_AS(function.map_into(whole.subspan(1), whole.first(kMany - 1)), Misuse);
  CHECK_THROWS_AS(function.map_into(whole.first(kMany - 1), whole.subspan(1)), Misuse);
  CHECK(all == before);
  const std::span<double> front = whole.first(kMany / 2), back = whole.subspan(kMany / 2);
  function.map_into(front, back);
  CHECK(all[0] == before[kMany / 2] * 2 + 1);
}

TEST_CASE("columns that do not fit together") {
  Runtime runtime;
  Context context(runtime);
  auto function = context.compile<double(double, double)>("(x, y) => x + y");
  const std::vector<double> xs(10, 1.0), fewer(9, 1.0), none;
  std::vector<double> out(10, -1.0), empty;
  CHECK_THROWS_AS(function.map_into(out, xs, fewer), Misuse);
  CHECK_THROWS_AS(function.map_into(empty, xs, xs), Misuse);
  CHECK(out[0] == -1.0);
  function.map_into(empty, none, none);
  std::array<double, 10> in_array = {};
  function.map_into(in_array, xs, std::span(xs));
  CHECK(in_array[9] == 2.0);
  const double* columns[] = {xs.data(), nullptr};
  size_t done = 7;
  CHECK(posset_invoke_columns(context.handle(), function.value().raw(), columns, 2, out.data(), 10, &done) == POSSET_MISUSE);
  CHECK(done == 0);
  CHECK(posset_invoke_columns(context.handle(), function.value().raw(), nullptr, 2, out.data(), 10, nullptr) == POSSET_MISUSE);
  CHECK(posset_invoke_columns(context.handle(), function.value().raw(), nullptr, 2, nullptr, 0, &done) == POSSET_OK);
  columns[1] = xs.data();
  CHECK(posset_invoke_columns(context.handle(), function.value().raw(), columns, 2, nullptr, 10, nullptr) == POSSET_MISUSE);
  CHECK(posset_invoke_columns(nullptr, function.value().raw(), columns, 2, out.data(), 10, nullptr) == POSSET_MISUSE);
  CHECK(posset_invoke_columns(context.handle(), posset_int(3), columns, 2, out.data(), 10, nullptr) == POSSET_RAISED);
  CHECK(posset_invoke_columns(context.handle(), function.value().raw(), columns, 1, out.data(), 10, nullptr) == POSSET_RAISED);
}

TEST_CASE("a row that raises ends the call behind the rows before it") {
  Runtime runtime;
  Context context(runtime);
  auto function = context.compile<double(double)>("x => if x == 12345.0 { throw \"enough\" } else { x + 1.0 }");
  std::vector<double> xs(kMany);
  for (size_t i = 0; i < kMany; ++i) xs[i] = static_cast<double>(i);
  for (int round = 0; round < 5; ++round) {
    std::vector<double> out(kMany, -1.0);
    size_t done = 0;
    REQUIRE(invoke(context, function.value(), xs, out.data(), &done) == POSSET_RAISED);
    CHECK(message_of_last(context) == "enough");
    CHECK(done == 12345);
    CHECK(out[12344] == 12345.0);
    CHECK(out[12345] == -1.0);
    CHECK(out[kMany - 1] == -1.0);
    posset_runtime_settle(runtime.handle());
  }
  CHECK(function(1) == 2);
}

TEST_CASE("a row whose result is no number is told") {
  Runtime runtime;
  Context context(runtime);
  auto function = context.compile<double(double)>("x => if x == 15000.0 { \"far\" } else { x + 1.0 }");
  std::vector<double> xs(kMany), out(kMany);
  for (size_t i = 0; i < kMany; ++i) xs[i] = static_cast<double>(i);
  for (int round = 0; round < 4; ++round) {
    size_t done = 0;
    REQUIRE(invoke(context, function.value(), xs, out.data(), &done) == POSSET_RAISED);
    CHECK(message_of_last(context) == "row 15000: expected a number, got str (\"far\")");
    CHECK(done == 15000);
    posset_runtime_settle(runtime.handle());
  }
}

TEST_CASE("rows are charged as calls are, and the step limit is exact") {
  Runtime runtime;
  Context context(runtime, {.step_limit = kMany});
  auto function = context.compile<double(double)>("x => x * 0.5 + 1.0");
  const std::vector<double> xs = ascending(kMany + 1);
  std::vector<double> out(kMany + 1);
  for (int round = 0; round < 5; ++round) {
    size_t done = 0;
    REQUIRE(invoke(context, function.value(), std::span(xs).first(kMany), out.data(), &done) == POSSET_OK);
    CHECK(done == kMany);
    CHECK(context.statistics().steps == kMany);
    REQUIRE(invoke(context, function.value(), xs, out.data(), &done) == POSSET_RAISED);
    CHECK(done == kMany);
    CHECK(code_of([&] { function.map_into(out, xs); }) == POSSET_ERROR_StepLimit);
    posset_runtime_settle(runtime.handle());
  }
}

TEST_CASE("hot rows allocate nothing") {
  Runtime runtime;
  Context context(runtime);
  auto function = context.compile<double(double, double)>("(x, y) => x * y + 0.5");
  const std::vector<double> xs = ascending(kMany);
  std::vector<double> out(kMany);
  heat(runtime, [&] { function.map_into(out, xs, xs); });
  const uint64_t before = context.statistics().allocations;
  function.map_into(out, xs, xs);
  CHECK(context.statistics().allocations == before);
}

TEST_CASE("rows are interrupted in the middle") {
  Runtime runtime;
  for (const char* source : {"x => x * 0.5 + 1.0", "x => { var t = x\n for i in 0..100 { t += 1.0 }\n t }"}) {
    Context context(runtime);  // of its own: the last interruption may come when nothing runs any more
    auto function = context.compile<double(double)>(source);
    const std::vector<double> xs = ascending(kMany);
    std::vector<double> out(kMany);
    heat(runtime, [&] { function.map_into(out, xs); });
    std::atomic<bool> over{false};
    std::thread other([&] {
      while (!over.load()) {
        context.interrupt();
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    });
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    posset_code code = POSSET_ERROR_COUNT;
    while (code == POSSET_ERROR_COUNT && std::chrono::steady_clock::now() < end) {
      code = code_of([&] { function.map_into(out, xs); });
    }
    over = true;
    other.join();
    CHECK(code == POSSET_ERROR_Interrupted);
  }
}

TEST_CASE("the time limit acts between rows") {
  Runtime runtime;
  Context context(runtime, {.time_limit_seconds = 0.02});
  auto function = context.compile<double(double)>("x => { var t = x\n for i in 0..1000 { t += 1.0 }\n t }");
  const std::vector<double> xs = ascending(1'000'000);
  std::vector<double> out(xs.size());
  CHECK(code_of([&] { function.map_into(out, xs); }) == POSSET_ERROR_TimeLimit);
}

TEST_CASE("what a script keeps of rows are numbers, when the columns have gone") {
  Runtime runtime;
  Context context(runtime);
  posset::Program program = context.load("keeps.posset", R"(
let kept = ref([])
export fn keep(x) => { kept.value.push(x)
  x }
export fn in_task(x) => { spawn keep(x)
  x * 2.0 }
export fn later(x) => await (spawn keep(x)) + 1.0
export fn both(x) => [x, x]
export fn total() => sum(kept.value)
)");
  program.run();
  auto total = program.function<double()>("total");
  double wanted = 0;
  for (const char* name : {"keep", "in_task", "later"}) {
    auto function = program.function<double(double)>(name);
    auto xs = std::make_unique<std::vector<double>>(2000, 0.5);
    auto out = std::make_unique<std::vector<double>>(2000);
    function.map_into(*out, *xs);
    wanted += 1000;
    std::fill(xs->begin(), xs->end(), std::numeric_limits<double>::quiet_NaN());
    xs.reset();
    out.reset();
    CHECK(total() == wanted);
  }
  auto both = program.function<double(double)>("both");
  std::vector<double> xs(3, 1.0), out(3, -1.0);
  CHECK(code_of([&] { both.map_into(out, xs); }) == POSSET_ERROR_TypeMismatch);
  CHECK(out == std::vector<double>(3, -1.0));
}

TEST_CASE("an error of a task that rows have started is raised") {
  Runtime runtime;
  Context context(runtime);
  auto function = context.compile<double(double)>("fn late(x) => if x == 2.0 { throw \"late\" } else { nil }\nx => { spawn late(x)\n x }");
  const std::vector<double> xs = {1, 2, 3};
  std::vector<double> out(3);
  CHECK(code_of([&] { function.map_into(out, xs); }) == POSSET_ERROR_Thrown);
  CHECK(out == xs);
}

TEST_CASE("rows within a function of the host, and on another thread") {
  Runtime runtime;
  Context context(runtime);
  std::vector<double> xs = ascending(100), out(100);
  Function<double(double)> twice = context.compile<double(double)>("x => x * 2.0");
  context.define("all_rows", [&] {
    twice.map_into(out, xs);
    return out[99];
  });
  auto nested = context.compile<double(double)>("x => x + all_rows()");
  std::vector<double> sums(5);
  for (int round = 0; round < 300; ++round) nested.map_into(sums, std::vector<double>(5, 1.0));
  CHECK(sums[4] == 1 + xs[99] * 2);
  context.define("elsewhere", [&] {
    bool busy = false;
    std::thread([&] {
      try {
        twice.map_into(out, xs);
      } catch (const Misuse& misuse) {
        busy = misuse.status() == POSSET_BUSY;
      }
    }).join();
    return busy;
  });
  CHECK(context.eval<bool>("elsewhere()"));
}

TEST_CASE("rows go on where native code gives up") {
  Runtime runtime;
  Context context(runtime);
  posset::Program program = context.load("changes.posset", R"(
let factor = ref(2.0)
export fn scaled(x) => x * factor.value
export fn set_factor(n) => { factor.value = n }
)");
  program.run();
  auto scaled = program.function<double(double)>("scaled");
  auto set_factor = program.function<void(posset::Value)>("set_factor");
  const std::vector<double> xs = ascending(kMany);
  std::vector<double> out(kMany);
  heat(runtime, [&] { scaled.map_into(out, xs); });
  CHECK(out[7] == xs[7] * 2);
  set_factor(context.eval("3"));
  heat(runtime, [&] { scaled.map_into(out, xs); });
  CHECK(out[7] == xs[7] * 3);
  set_factor(context.eval("0.5"));
  heat(runtime, [&] { scaled.map_into(out, xs); });
  CHECK(out[kMany - 1] == xs[kMany - 1] * 0.5);
}

TEST_CASE("columns of ints, and of ints and floats") {
  Runtime runtime;
  Context context(runtime);
  context.set("rate", 3);
  std::vector<int64_t> counts(kMany);
  for (size_t i = 0; i < kMany; ++i) counts[i] = static_cast<int64_t>(i) - 100;
  counts[7] = (int64_t{1} << 53) + 1;  // no double
  const std::vector<double> prices = ascending(kMany);
  for (const char* source : {"(n, m) => n * 2 + m % 7 - 1", "(n, m) => if n > m { n // 3 } else { m - rate }", "(n, m) => len([n, m]) + n",
                             "(n, m) => { var t = m\n for i in 0..3 { t += n * i }\n t }"}) {
    auto ints = context.compile<int64_t(int64_t, int64_t)>(source);
    std::vector<int64_t> out(kMany);
    heat(runtime, [&] {
      std::fill(out.begin(), out.end(), -1);
      ints.map_into(out, counts, counts);
      for (size_t i = 0; i < kMany; i += i < 20 ? 1 : 97) REQUIRE(out[i] == ints(counts[i], counts[i]));
    });
  }
  auto total = context.compile<double(double, int)>("(price, count) => price * count");
  auto whole = context.compile<int64_t(double, int64_t)>("(x, n) => int(floor(x)) * n");
  std::vector<double> totals(kMany);
  std::vector<int64_t> wholes(kMany);
  heat(runtime, [&] {
    total.map_into(totals, prices, counts);
    whole.map_into(wholes, prices, counts);
    for (size_t i = 0; i < kMany; i += i < 20 ? 1 : 97) {
      REQUIRE(totals[i] == prices[i] * static_cast<double>(counts[i]));
      REQUIRE(wholes[i] == static_cast<int64_t>(std::floor(prices[i])) * counts[i]);
    }
  });
  auto twice = context.compile<int64_t(int64_t)>("n => n + n");
  std::vector<int64_t> replaced = counts;
  twice.map_into(replaced, replaced);
  CHECK(replaced[7] == counts[7] * 2);
  CHECK(replaced[kMany - 1] == counts[kMany - 1] * 2);
}

TEST_CASE("a column of ints is replaced by floats, and an int result is a float where floats are wanted") {
  Runtime runtime;
  Context context(runtime);
  const posset::Value half = context.eval("n => if n % 2 == 0 { n // 2 } else { n / 2 }");
  union {
    int64_t ints[4] = {4, 5, -6, 7};
    double floats[4];
  } numbers;
  const posset_column column = {numbers.ints, POSSET_INT};
  size_t done = 0;
  REQUIRE(posset_invoke_mixed_columns(context.handle(), half.raw(), &column, 1, POSSET_FLOAT, numbers.floats, 4, &done) == POSSET_OK);
  CHECK(done == 4);
  double floats[4];
  std::memcpy(floats, &numbers, sizeof floats);
  CHECK(floats[0] == 2.0);
  CHECK(floats[1] == 2.5);
  CHECK(floats[2] == -3.0);
}

TEST_CASE("a row that gives no int, or whose ints overflow, ends the call") {
  Runtime runtime;
  Context context(runtime);
  const std::vector<int64_t> xs = {3, 4, std::numeric_limits<int64_t>::max()};
  std::vector<int64_t> out(3, -1);
  auto function = context.compile<int64_t(int64_t)>("n => if n == 4 { 0.5 } else { n + 1 }");
  try {
    function.map_into(out, xs);
    FAIL("a float went through");
  } catch (const Error& error) {
    CHECK(error.message() == "row 1: expected an int, got float (0.5)");
  }
  CHECK(out == std::vector<int64_t>{4, -1, -1});
  const posset_column columns[] = {{xs.data(), POSSET_INT}, {xs.data(), POSSET_STR}, {nullptr, POSSET_INT}};
  size_t done = 7;
  const auto call = [&](size_t first, posset_kind kind) {
    return posset_invoke_mixed_columns(context.handle(), function.value().raw(), columns + first, 1, kind, out.data(), 3, &done);
  };
  CHECK(call(1, POSSET_INT) == POSSET_MISUSE);
  CHECK(call(2, POSSET_INT) == POSSET_MISUSE);
  CHECK(call(0, POSSET_LIST) == POSSET_MISUSE);
  CHECK(done == 0);
  auto more = context.compile<int64_t(int64_t)>("n => n + 1");
  for (int round = 0; round < 5; ++round) {
    CHECK_THROWS_AS(more.map_into(out, xs), Error);
    CHECK(out[1] == 5);
    posset_runtime_settle(runtime.handle());
  }
}
