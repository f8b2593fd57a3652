// What a call from the host costs: `double(double, double)`, ten arithmetic expressions with fresh values, and a
// formula over a column. Of the expressions there is also the geometric mean, over the ten, of how much longer each takes
// than compiled. Beside it the same work compiled by the C++ compiler and called through a pointer it cannot
// see through, LuaJIT and muParser. Limits are on. Each checks its answers before it is timed.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#ifdef WITH_MUPARSER
#include <muParser.h>
#endif
#ifdef WITH_LUAJIT
#include <lua.hpp>
#endif

#include <posset/posset.hpp>

namespace {

using Values = std::array<double, 5>;
using Native = double (*)(double, double, double, double, double);

// The same expression in all languages; each its own structure, so that no code is shared.
struct Expression {
  const char* posset;
  const char* muparser;
  const char* lua;
  Native native;
};

#define EXPRESSION(posset, muparser, lua, native) \
  {posset, muparser, lua, [](double a, double b, double c, double x, double y) -> double { (void)a, (void)b, (void)c, (void)x, (void)y; return native; }}
const Expression kExpressions[] = {
    EXPRESSION("(a * x + b / c) ** 2 - sqrt(y)", "(a * x + b / c)^2 - sqrt(y)", "(a * x + b / c)^2 - math.sqrt(y)",
               (a * x + b / c) * (a * x + b / c) - std::sqrt(y)),
    EXPRESSION("a * x * x + b * x + c - y", "a * x * x + b * x + c - y", "a * x * x + b * x + c - y",
               a * x * x + b * x + c - y),
    EXPRESSION("sqrt(x * x + y * y) / (a + b) - c", "sqrt(x * x + y * y) / (a + b) - c",
               "math.sqrt(x * x + y * y) / (a + b) - c", std::sqrt(x * x + y * y) / (a + b) - c),
    EXPRESSION("(a + b) * (b + c) * (c + x) - y / a", "(a + b) * (b + c) * (c + x) - y / a",
               "(a + b) * (b + c) * (c + x) - y / a", (a + b) * (b + c) * (c + x) - y / a),
    EXPRESSION("(x - a) ** 2 + (y - b) ** 2 - c ** 2", "(x - a)^2 + (y - b)^2 - c^2", "(x - a)^2 + (y - b)^2 - c^2",
               (x - a) * (x - a) + (y - b) * (y - b) - c * c),
    EXPRESSION("1.0 / (1.0 + (x - a) / b * (x - a) / c) + y", "1.0 / (1.0 + (x - a) / b * (x - a) / c) + y",
               "1.0 / (1.0 + (x - a) / b * (x - a) / c) + y", 1.0 / (1.0 + (x - a) / b * (x - a) / c) + y),
    EXPRESSION("a + x * (b + x * (c + x * y))", "a + x * (b + x * (c + x * y))", "a + x * (b + x * (c + x * y))",
               a + x * (b + x * (c + x * y))),
    EXPRESSION("(a * b - c * x) / (a * b + c * x) * y", "(a * b - c * x) / (a * b + c * x) * y",
               "(a * b - c * x) / (a * b + c * x) * y", (a * b - c * x) / (a * b + c * x) * y),
    EXPRESSION("sqrt(a) * sqrt(b) + x / sqrt(c) - y", "sqrt(a) * sqrt(b) + x / sqrt(c) - y",
               "math.sqrt(a) * math.sqrt(b) + x / math.sqrt(c) - y", std::sqrt(a) * std::sqrt(b) + x / std::sqrt(c) - y),
    EXPRESSION("(x + y) / 2.0 * a - b * c * 0.25", "(x + y) / 2.0 * a - b * c * 0.25", "(x + y) / 2.0 * a - b * c * 0.25",
               (x + y) / 2.0 * a - b * c * 0.25),
};
constexpr size_t kCount = std::size(kExpressions);

Values values(int round) {
  const double n = 1.0 + (round % 1000) * 0.001;
  return {n, n + 1, n + 2, n * 3, n * 4};
}
void check(double got, double wanted) {
  if (!(std::fabs(got - wanted) <= 1e-9 * (1 + std::fabs(wanted)))) std::abort();
}

const posset::ContextOptions kLimits = {.memory_limit = 64 << 20, .time_limit_seconds = 10, .step_limit = 1'000'000};

// Until native code of the last tier is there.
template <class F>
void heat(posset::Runtime& runtime, F&& call) {
  for (int i = 0; i < 2000; ++i) call(i);
  posset_runtime_settle(runtime.handle());
  for (int i = 0; i < 2000; ++i) call(i);
}

void BM_call_native(benchmark::State& state) {
  double (*volatile function)(double, double) = [](double x, double y) { return x * y + 0.5; };
  double x = 1;
  for (auto _ : state) benchmark::DoNotOptimize(x = function(x, 0.5));
}
BENCHMARK(BM_call_native);

void BM_call_posset(benchmark::State& state) {
  posset::Runtime runtime;
  posset::Context context(runtime, kLimits);
  auto function = context.compile<double(double, double)>("(x, y) => x * y + 0.5");
  heat(runtime, [&](int) { check(function(1, 0.5), 1); });
  const uint64_t before = context.statistics().allocations;
  double x = 1;
  for (auto _ : state) benchmark::DoNotOptimize(x = function(x, 0.5));
  state.counters["allocations"] = static_cast<double>(context.statistics().allocations - before);
}
BENCHMARK(BM_call_posset);

// ---- ten expressions; a row is all ten ----

void BM_expressions_native(benchmark::State& state) {
  std::array<Native volatile, kCount> functions;
  for (size_t i = 0; i < kCount; ++i) functions[i] = kExpressions[i].native;
  int round = 0;
  for (auto _ : state) {
    const Values v = values(++round);
    for (size_t i = 0; i < kCount; ++i) benchmark::DoNotOptimize(functions[i](v[0], v[1], v[2], v[3], v[4]));
  }
}
BENCHMARK(BM_expressions_native);

void BM_expressions_posset(benchmark::State& state) {
  posset::Runtime runtime;
  posset::Context context(runtime, kLimits);
  std::vector<posset::Function<double(double, double, double, double, double)>> functions;
  for (const Expression& each : kExpressions) {
    functions.push_back(context.compile<double(double, double, double, double, double)>(
        std::string("(a, b, c, x, y) => ") + each.posset));
    heat(runtime, [&](int i) {
      const Values v = values(i);
      check(functions.back()(v[0], v[1], v[2], v[3], v[4]), each.native(v[0], v[1], v[2], v[3], v[4]));
    });
  }
  int round = 0;
  for (auto _ : state) {
    const Values v = values(++round);
    for (auto& function : functions) benchmark::DoNotOptimize(function(v[0], v[1], v[2], v[3], v[4]));
  }
}
BENCHMARK(BM_expressions_posset);

#ifdef WITH_MUPARSER
void BM_expressions_muparser(benchmark::State& state) {
  Values v = values(0);
  std::vector<mu::Parser> parsers(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    const char* names[] = {"a", "b", "c", "x", "y"};
    for (size_t n = 0; n < v.size(); ++n) parsers[i].DefineVar(names[n], &v[n]);
    parsers[i].SetExpr(kExpressions[i].muparser);
    check(parsers[i].Eval(), kExpressions[i].native(v[0], v[1], v[2], v[3], v[4]));
  }
  int round = 0;
  for (auto _ : state) {
    v = values(++round);
    for (mu::Parser& parser : parsers) benchmark::DoNotOptimize(parser.Eval());
  }
}
BENCHMARK(BM_expressions_muparser);
#endif

#ifdef WITH_LUAJIT
void BM_expressions_luajit(benchmark::State& state) {
  lua_State* lua = luaL_newstate();
  luaL_openlibs(lua);
  std::array<int, kCount> functions;
  auto call = [&](size_t i, const Values& v) {
    lua_rawgeti(lua, LUA_REGISTRYINDEX, functions[i]);
    for (double each : v) lua_pushnumber(lua, each);
    lua_call(lua, 5, 1);
    const double result = lua_tonumber(lua, -1);
    lua_pop(lua, 1);
    return result;
  };
  for (size_t i = 0; i < kCount; ++i) {
    const std::string text = std::string("return function(a, b, c, x, y) return ") + kExpressions[i].lua + " end";
    if (luaL_dostring(lua, text.c_str())) std::abort();
    functions[i] = luaL_ref(lua, LUA_REGISTRYINDEX);
    const Values v = values(0);
    check(call(i, v), kExpressions[i].native(v[0], v[1], v[2], v[3], v[4]));
  }
  int round = 0;
  for (auto _ : state) {
    const Values v = values(++round);
    for (size_t i = 0; i < kCount; ++i) benchmark::DoNotOptimize(call(i, v));
  }
  lua_close(lua);
}
BENCHMARK(BM_expressions_luajit);
#endif

// ---- the geometric mean ----

constexpr int kCalls = 20000, kRounds = 300;

// Evaluates so many times, with values that are made for it, and gives the sum of the results.
using Sum = std::function<double(int count)>;

// What an evaluation costs each, in ns: the best of so many rounds that some are left alone by what else the machine does. They
// take turns, since what else it does may last longer than all rounds of one of them.
std::vector<double> best_ns(const std::vector<Sum>& sums) {
  std::vector<double> best(sums.size(), std::numeric_limits<double>::max());
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < sums.size(); ++i) {
      const auto begin = std::chrono::steady_clock::now();
      benchmark::DoNotOptimize(sums[i](kCalls));
      const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
      best[i] = std::min(best[i], took.count() / kCalls);
    }
  }
  return best;
}

template <class Call>
double sum_of_calls(int count, Call&& call) {
  double sum = 0;
  for (int i = 1; i <= count; ++i) {
    const Values v = values(i);
    sum += call(v[0], v[1], v[2], v[3], v[4]);
  }
  return sum;
}

Sum sum_of_native(const Expression& each) {
  const Native volatile function = each.native;
  return [function](int count) { return sum_of_calls(count, function); };
}

// A formula that is hot, in a runtime of its own.
struct Formula {
  posset::Runtime runtime;
  posset::Context context{runtime, kLimits};
  posset::Function<double(double, double, double, double, double)> function;

  explicit Formula(const Expression& each)
      : function(context.compile<double(double, double, double, double, double)>(std::string("(a, b, c, x, y) => ") + each.posset)) {
    heat(runtime, [&](int i) { sum_of_calls(1 + i % 2, function); });
  }
};

Sum sum_of_posset(const Expression& each) {
  auto formula = std::make_shared<Formula>(each);
  return [formula](int count) { return sum_of_calls(count, formula->function); };
}

// The same evaluations by columns: the values are made into them, some thousand rows at a time, and the results summed up.
class Columns {
 public:
  explicit Columns(const Expression& each) : formula_(each) {
    for (int i = 0; i < 10; ++i) {
      sum(10000);
      posset_runtime_settle(formula_.runtime.handle());
    }
  }

  double sum(int count) {
    double sum = 0;
    for (int done = 0; done < count; done += kRowsAtATime) {
      for (int i = 0; i < kRowsAtATime; ++i) {
        const Values v = values(done + i + 1);
        for (size_t n = 0; n < v.size(); ++n) columns_[n][i] = v[n];
      }
      formula_.function.map_into(results_, columns_[0], columns_[1], columns_[2], columns_[3], columns_[4]);
      for (const double result : results_) sum += result;
    }
    return sum;
  }

 private:
  static constexpr int kRowsAtATime = 1000;
  Formula formula_;
  std::array<std::array<double, kRowsAtATime>, 5> columns_;
  std::array<double, kRowsAtATime> results_;
};

Sum sum_of_columns(const Expression& each) {
  auto columns = std::make_shared<Columns>(each);
  return [columns](int count) { return columns->sum(count); };
}

// The whole loop in Posset, as LuaJIT's below: what is left of the difference when nothing crosses the boundary.
Sum sum_of_posset_loop(const Expression& each) {
  struct Loop {
    posset::Runtime runtime;
    posset::Context context{runtime, {.memory_limit = 64 << 20, .step_limit = 1'000'000'000'000}};
    posset::Function<double(int64_t)> sum;
    explicit Loop(const std::string& text) : sum(context.compile<double(int64_t)>(text)) {}
  };
  auto loop = std::make_shared<Loop>(
      std::string("count => { var sum = 0.0\n for i in 1..count + 1 { let n = 1.0 + float(i % 1000) * 0.001\n") +
      "let a = n\n let b = n + 1.0\n let c = n + 2.0\n let x = n * 3.0\n let y = n * 4.0\n sum += " + each.posset + " }\n sum }");
  heat(loop->runtime, [&](int) { loop->sum(100); });
  return [loop](int count) { return loop->sum(count); };
}

#ifdef WITH_MUPARSER
Sum sum_of_muparser(const Expression& each) {
  struct Parser {
    Values v = values(0);
    mu::Parser parser;
  };
  auto made = std::make_shared<Parser>();
  const char* names[] = {"a", "b", "c", "x", "y"};
  for (size_t n = 0; n < made->v.size(); ++n) made->parser.DefineVar(names[n], &made->v[n]);
  made->parser.SetExpr(each.muparser);
  return [made](int count) {
    return sum_of_calls(count, [&](double a, double b, double c, double x, double y) {
      made->v = {a, b, c, x, y};
      return made->parser.Eval();
    });
  };
}
#endif

#ifdef WITH_LUAJIT
// The whole loop in Lua, where it is compiled: no call from outside.
Sum sum_of_luajit_loop(const Expression& each) {
  const std::shared_ptr<lua_State> lua(luaL_newstate(), lua_close);
  luaL_openlibs(lua.get());
  const std::string text = std::string("return function(count) local sum = 0 for i = 1, count do local n = 1 + (i % 1000) * 0.001 ") +
                           "local a, b, c, x, y = n, n + 1, n + 2, n * 3, n * 4 sum = sum + (" + each.lua + ") end return sum end";
  if (luaL_dostring(lua.get(), text.c_str())) std::abort();
  return [lua](int count) {
    lua_pushvalue(lua.get(), -1);
    lua_pushinteger(lua.get(), count);
    lua_call(lua.get(), 1, 1);
    const double result = lua_tonumber(lua.get(), -1);
    lua_pop(lua.get(), 1);
    return result;
  };
}
#endif

constexpr struct {
  const char* name;
  Sum (*sum)(const Expression&);
} kPeers[] = {
    {"native", sum_of_native},
    {"posset", sum_of_posset},
    {"posset_columns", sum_of_columns},
    {"posset_loop", sum_of_posset_loop},
#ifdef WITH_MUPARSER
    {"muparser", sum_of_muparser},
#endif
#ifdef WITH_LUAJIT
    {"luajit_loop", sum_of_luajit_loop},
#endif
};

// Counters: how many times as long as compiled, in ns of the geometric mean for what is compiled.
void BM_expressions_over_native(benchmark::State& state) {
  constexpr size_t kPeerCount = std::size(kPeers);
  for (auto _ : state) {
    double logs[kPeerCount] = {};
    for (const Expression& each : kExpressions) {
      std::vector<Sum> sums;
      for (const auto& peer : kPeers) sums.push_back(peer.sum(each));
      for (const Sum& sum : sums) check(sum(1000), sums[0](1000));
      const std::vector<double> best = best_ns(sums);
      for (size_t i = 0; i < kPeerCount; ++i) logs[i] += std::log(best[i] / (i == 0 ? 1 : best[0])) / kCount;
    }
    for (size_t i = 0; i < kPeerCount; ++i) state.counters[kPeers[i].name] = std::exp(logs[i]);
  }
}
BENCHMARK(BM_expressions_over_native)->Iterations(1)->Unit(benchmark::kMillisecond);

// ---- a column ----

constexpr size_t kRows = 1'000'000;

std::vector<double> column() {
  std::vector<double> made(kRows);
  for (size_t i = 0; i < kRows; ++i) made[i] = static_cast<double>(i) * 0.001;
  return made;
}

void BM_column_native(benchmark::State& state) {
  const std::vector<double> in = column();
  std::vector<double> out(kRows);
  for (auto _ : state) {
    for (size_t i = 0; i < kRows; ++i) out[i] = (2.0 * in[i] + 1.5) * (2.0 * in[i] + 1.5) - std::sqrt(in[i]);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_column_native)->Unit(benchmark::kMillisecond);

void BM_column_posset(benchmark::State& state) {
  using Column = std::span<const double>;
  posset::Runtime runtime;
  posset::Context context(runtime, {.memory_limit = 256 << 20, .step_limit = 100'000'000});
  auto formula = context.compile<posset::Value(Column)>("xs => [for x in xs => (2.0 * x + 1.5) ** 2 - sqrt(x)]");
  const std::vector<double> in = column();
  for (int i = 0; i < 5; ++i) {
    const posset::Value out = formula(in);
    check(out.to<Column>()[1000], 12.25 - 1);
    posset_runtime_settle(runtime.handle());
  }
  for (auto _ : state) {
    const posset::Value out = formula(in);
    benchmark::DoNotOptimize(out.to<Column>().data());
  }
}
BENCHMARK(BM_column_posset)->Unit(benchmark::kMillisecond);

// The same formula as a function of a row, over the host's memory.
void BM_column_posset_in_place(benchmark::State& state) {
  posset::Runtime runtime;
  posset::Context context(runtime, {.memory_limit = 256 << 20, .step_limit = 100'000'000});
  auto formula = context.compile<double(double)>("x => (2.0 * x + 1.5) ** 2 - sqrt(x)");
  const std::vector<double> in = column();
  std::vector<double> out(kRows);
  for (int i = 0; i < 5; ++i) {
    formula.map_into(out, in);
    for (size_t row : {size_t{0}, size_t{1000}, kRows - 1}) check(out[row], std::pow(2.0 * in[row] + 1.5, 2) - std::sqrt(in[row]));
    posset_runtime_settle(runtime.handle());
  }
  for (auto _ : state) {
    formula.map_into(out, in);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_column_posset_in_place)->Unit(benchmark::kMillisecond);

// Ints, and ints with floats: by columns, and by a call for each row.
void BM_rows_of_ints(benchmark::State& state, bool by_columns) {
  constexpr size_t kSome = 10000;
  posset::Runtime runtime;
  posset::Context context(runtime, {.memory_limit = 256 << 20, .step_limit = 1'000'000'000'000});
  auto ints = context.compile<int64_t(int64_t, int64_t)>("(n, m) => n * 3 + m % 7");
  auto mixed = context.compile<double(double, int64_t)>("(price, count) => price * count * 1.19");
  std::vector<int64_t> ns(kSome), ms(kSome), out(kSome);
  std::vector<double> prices(kSome), totals(kSome);
  for (size_t i = 0; i < kSome; ++i) ns[i] = static_cast<int64_t>(i), ms[i] = 9, prices[i] = static_cast<double>(i);
  const auto run = [&] {
    if (state.range(0) == 0) {
      if (by_columns) return ints.map_into(out, ns, ms);
      for (size_t i = 0; i < kSome; ++i) out[i] = ints(ns[i], ms[i]);
    } else {
      if (by_columns) return mixed.map_into(totals, prices, ms);
      for (size_t i = 0; i < kSome; ++i) totals[i] = mixed(prices[i], ms[i]);
    }
  };
  for (int i = 0; i < 8; ++i) {
    run();
    if (state.range(0) == 0) check(static_cast<double>(out[77]), 233);
    else check(totals[77], 77.0 * 9 * 1.19);
    posset_runtime_settle(runtime.handle());
  }
  for (auto _ : state) run();
  state.SetItemsProcessed(state.iterations() * kSome);
}
BENCHMARK_CAPTURE(BM_rows_of_ints, by_columns, true)->DenseRange(0, 1)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_rows_of_ints, row_by_row, false)->DenseRange(0, 1)->Unit(benchmark::kMicrosecond);

// Formulas that call or have loops: by columns, and by a typed call for each row.
constexpr const char* kSlowFormulas[] = {"(x, y) => math.sin(x) + y", "(x, y) => math.exp(-x) * math.log(y + 1.0)", "(x, y) => (x + 1.0) ** y",
                                         "(x, y) => { var t = 0.0\n for i in 0..4 { t += x * float(i) }\n t - y }"};

void BM_rows_of_slow_formula(benchmark::State& state, bool by_columns) {
  constexpr size_t kSome = 10000;
  posset::Runtime runtime;
  posset::Context context(runtime, {.memory_limit = 256 << 20, .step_limit = 1'000'000'000'000});
  const std::string formula = kSlowFormulas[state.range(0)];
  auto function = context.compile<double(double, double)>("import \"math\"\n" + formula);
  std::vector<double> xs(kSome), ys(kSome), out(kSome);
  for (size_t i = 0; i < kSome; ++i) xs[i] = static_cast<double>(i) * 0.001, ys[i] = 1.5;
  const auto run = [&] {
    if (by_columns) return function.map_into(out, xs, ys);
    for (size_t i = 0; i < kSome; ++i) out[i] = function(xs[i], ys[i]);
  };
  for (int i = 0; i < 8; ++i) {
    run();
    check(out[77], function(xs[77], ys[77]));
    posset_runtime_settle(runtime.handle());
  }
  for (auto _ : state) run();
  state.SetLabel(formula.substr(0, 40));
  state.SetItemsProcessed(state.iterations() * kSome);
}
BENCHMARK_CAPTURE(BM_rows_of_slow_formula, by_columns, true)->DenseRange(0, 3)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_rows_of_slow_formula, row_by_row, false)->DenseRange(0, 3)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
