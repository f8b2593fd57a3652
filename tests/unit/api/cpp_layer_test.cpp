// The C++ layer: typed calls, define with lambdas, exceptions and results.
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <posset/attach.h>
#include <posset/posset.hpp>

namespace {

// Only what is under test: no standard library.
posset::Runtime bare_runtime() {
  posset_runtime* made = nullptr;
  REQUIRE(posset_runtime_create(nullptr, &made) == POSSET_OK);
  REQUIRE(posset_attach_tier(made, posset_bytecode_tier()) == POSSET_OK);
  return posset::Runtime(made);
}

int free_function(int x) { return x + 1; }

}  // namespace

TEST_CASE("typed calls with numbers, bools and strings") {
  posset::Runtime runtime = bare_runtime();
  posset::Context context(runtime, {.memory_limit = 64 << 20});
  context.set("rate", 0.19);
  auto price = context.compile<double(double, int64_t)>("(net, n) => net * n * (1.0 + rate)");
  CHECK(price(100.0, 2) == doctest::Approx(238));
  context.set("rate", 0);
  CHECK(price(100.0, 2) == doctest::Approx(200));
  auto join = context.compile<std::string(std::string_view, std::string, const char*)>(
      "(a, b, c) => a + b + c");
  CHECK(join("one, which is long enough to be on the heap, ", "two, ", "three").size() > 40);
  CHECK(context.compile<bool(int, unsigned char)>("(a, b) => a < b")(1, 2));
  CHECK(context.eval<std::vector<double>>("[1.5, 2]") == std::vector<double>{1.5, 2});
  CHECK(context.eval<int>("40 + 2") == 42);
  auto nothing = context.compile<void(int)>("x => x");
  nothing(1);
}

TEST_CASE("what does not fit is an Error") {
  posset::Runtime runtime = bare_runtime();
  posset::Context context(runtime);
  CHECK_THROWS_AS(context.eval<int>("\"text\""), posset::Error);
  CHECK_THROWS_AS(context.eval<signed char>("1000"), posset::Error);
  CHECK_THROWS_AS(context.eval<unsigned>("-1"), posset::Error);
  try {
    context.run("rules.posset", "fn f() => [1][5]\nf()");
    CHECK(false);
  } catch (const posset::Error& error) {
    CHECK(error.code() == POSSET_ERROR_OutOfRange);
    CHECK(error.file() == "rules.posset");
    CHECK(error.line() == 1);
    CHECK(error.trace().size() == 2);
    CHECK(error.report().find("rules.posset:1:") == 0);
    CHECK(std::string(error.what()).find("out of range") != std::string::npos);
  }
  auto result = context.try_eval<int>("nosuch + 1");
  CHECK(!result);
  CHECK(result.error().diagnostics().size() == 1);
  CHECK(result.error().code() == POSSET_ERROR_NotDefined);
  CHECK_THROWS_AS(context.set("len", 1), posset::Misuse);
}

TEST_CASE("lambdas of ordinary signature become functions") {
  posset::Runtime runtime = bare_runtime();
  posset::Context context(runtime);
  std::map<std::string, double, std::less<>> table{{"apple", 1.5}};
  context.define("lookup", [&](std::string_view key) { return table.at(std::string(key)); });
  context.define("square", posset::pure([](double x) { return x * x; }));
  context.define("shout", [](std::string s) { return s + "!"; });
  context.define("is_even", [](int64_t i) { return i % 2 == 0; });
  context.define("counted", [n = 0](posset::Value) mutable { return ++n; });
  context.define("next", free_function);
  context.define("nothing", [] {});
  context.define("total", [](const std::vector<double>& xs) {
    double sum = 0;
    for (double x : xs) sum += x;
    return sum;
  });
  CHECK(context.eval<double>("lookup(\"apple\") * 2") == 3.0);
  CHECK(context.eval<double>("pure fn f(x) => square(x)\nf(3)") == 9.0);
  CHECK(context.eval<std::string>("shout(\"hey\")") == "hey!");
  CHECK(context.eval<bool>("is_even(4)"));
  CHECK(context.eval<int>("counted(nil)\ncounted([])") == 2);
  CHECK(context.eval<int>("next(1)") == 2);
  CHECK(context.eval("nothing()").is_nil());
  CHECK(context.eval<double>("total([1, 2.5])") == 3.5);
  auto wrong = context.try_eval("is_even(\"x\")");
  REQUIRE(!wrong);
  CHECK(wrong.error().message().find("expected int, got str") != std::string::npos);
  auto thrown = context.try_eval("lookup(\"pear\")");
  REQUIRE(!thrown);
  CHECK(thrown.error().code() == POSSET_ERROR_HostError);
  CHECK(context.eval<std::string>("try { lookup(\"pear\") } catch e { \"caught\" }") == "caught");
}

TEST_CASE("an error passes through a host function with its place and trace") {
  posset::Runtime runtime = bare_runtime();
  posset::Context context(runtime);
  context.define("apply", [](posset::Value f) { return f(0); });
  auto result = context.try_eval("fn g(x) => 1 // x\napply(x => g(x))");
  REQUIRE(!result);
  CHECK(result.error().code() == POSSET_ERROR_DivisionByZero);
  CHECK(result.error().line() == 1);
  CHECK(result.error().trace().size() == 4);
  context.define("safely", [](posset::Value f) {
    auto answer = f.try_call(0);
    return answer ? answer.value().to<int>() : -1;
  });
  CHECK(context.eval<int>("safely(x => 1 // x)") == -1);
  CHECK(context.eval<int>("safely(x => 1 + x)") == 1);
}

TEST_CASE("values are read and called") {
  posset::Runtime runtime = bare_runtime();
  posset::Context context(runtime);
  posset::Value v = context.eval("{xs: [1, 2, 3], f: (a, b) => a * b, m: [\"k\": 7]}");
  CHECK(v["xs"].size() == 3);
  CHECK(v["xs"][1].to<int>() == 2);
  CHECK(v["f"](6, 7).to<int>() == 42);
  CHECK(v["m"]["k"].to<int>() == 7);
  CHECK(v["none"].is_nil());
  CHECK(v.type() == "record");
  CHECK(v["xs"].text() == "[1, 2, 3]");
  CHECK(v["xs"] == context.eval("[1, 2, 3]"));
  posset::Value copy = v;
  CHECK(!(copy == context.eval("1")));
  CHECK(v["xs"].is<std::vector<int>>());
  CHECK(!v["xs"].is<int>());
}

TEST_CASE("programs, output and limits") {
  posset::Runtime runtime = bare_runtime();
  posset::Context context(runtime, {.step_limit = 100000});
  std::string out;
  context.set_output([&](std::string_view text) { out += text; });
  posset::Program program = context.load(
      "rules.posset",
      "export fn discount(total) => if total > 100 { 0.1 } else { 0 }\nprintln(\"ready\")");
  program.run();
  CHECK(out == "ready\n");
  auto discount = program.function<double(double)>("discount");
  CHECK(discount(200) == 0.1);
  CHECK(discount(50) == 0);
  auto endless = context.try_eval("while true { }");
  REQUIRE(!endless);
  CHECK(endless.error().is_limit());
  CHECK(discount(200) == 0.1);
  CHECK(context.statistics().units > 0);
}

TEST_CASE("C++ layer regression: a name that a script has not was misuse, which no Result caught") {
  posset::Runtime runtime;
  posset::Context context(runtime);
  posset::Program program = context.load("rules.posset", "export let LIMIT = 1 / zero()\nfn zero() => error(\"no\").none");
  auto start = program.try_function<void()>("on_start");
  REQUIRE(!start);
  CHECK(start.error().code() == POSSET_ERROR_NotDefined);
  CHECK(start.error().message() == "'rules.posset' has no export or function 'on_start'");
  CHECK(start.error().report() == "error: 'rules.posset' has no export or function 'on_start'\n");
  CHECK(!program.try_run());
  CHECK(program.try_get("LIMIT").error().message() == "'LIMIT' of 'rules.posset' has no value: its statement has not run");
  CHECK(program.try_get("zero").ok());
  CHECK_THROWS_AS((void)program.get<double>("LIMIT"), posset::Error);
  CHECK(context.try_get("nosuch").error().message() == "the host has set no 'nosuch'");
}

TEST_CASE("loading, compiling and setting give results to who wants no exceptions") {
  posset::Runtime runtime = bare_runtime();
  posset::Context context(runtime, {.memory_limit = 1 << 20});
  auto program = context.try_load("good.posset", "export let N = 3");
  REQUIRE(program.ok());
  program->run();
  CHECK(program->get<int>("N") == 3);
  auto broken = context.try_load("bad.posset", "let = ");
  REQUIRE_FALSE(broken.ok());
  CHECK(broken.error().diagnostics().size() == 1);

  auto twice = context.try_compile<int(int)>("x => 2 * x");
  REQUIRE(twice.ok());
  CHECK((*twice)(21) == 42);
  CHECK(context.try_compile<int(int)>("x =>").error().diagnostics().size() == 1);
  CHECK(context.try_compile<int(int)>("[1][2]").error().code() == POSSET_ERROR_OutOfRange);

  auto set = context.try_set("rate", 0.5);
  REQUIRE(set.ok());
  CHECK(set->to<double>() == 0.5);
  CHECK(context.eval<double>("rate * 2") == 1);
  CHECK(context.try_set("text", std::string("\xff")).error().code() == POSSET_ERROR_BadArgument);
  CHECK(context.try_set("many", std::vector<double>(1 << 20)).error().is_limit());
  CHECK(context.eval<double>("rate") == 0.5);
  CHECK_THROWS_AS(context.try_set("no name", 1), posset::Misuse);
}

TEST_CASE("pure lambdas are called by several threads, with values and exceptions") {
  std::mutex mutex;  // before the context: it waits for those calls
  std::set<std::thread::id> threads;
  posset_runtime_options options = posset_runtime_defaults();
  options.workers = 3;
  options.quantum_us = 1;
  posset_runtime* made = nullptr;
  REQUIRE(posset_runtime_create(&options, &made) == POSSET_OK);
  REQUIRE(posset_attach_tier(made, posset_bytecode_tier()) == POSSET_OK);
  posset::Runtime runtime(made);
  posset::Context context(runtime);
  context.define("mark", posset::pure([&](const std::string& text, const std::vector<int64_t>& numbers) {
    {
      std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
    }
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    if (text == "10") throw std::runtime_error("ten");
    return std::vector<std::string>{text, std::to_string(numbers.at(0))};
  }));
  auto seen = [&] {
    std::lock_guard lock(mutex);
    return threads.size();
  };
  using Texts = std::vector<std::string>;
  auto program = context.load(
      "all.posset", "fn all(n, last) => if n == last { [] } else { mark(str(n), [n + 7]) + all(n + 1, last) + mark(\"x\", [n]) }");
  program.run();
  auto all = program.function<Texts(int64_t, int64_t)>("all");
  for (int tries = 0; tries < 1000 && seen() < 2; ++tries) {
    CHECK(all(0, 2) == Texts{"0", "7", "1", "8", "x", "1", "x", "0"});
    CHECK_THROWS_WITH_AS(all(0, 20), doctest::Contains("ten"), posset::Error);
  }
  CHECK(seen() > 1);
}

TEST_CASE("host callback: copied with what it holds, moved away from, and none of what is null") {
  using Add = posset::Callback<int, int&>;
  Add counting = [calls = 0](int by, int& to) mutable { to += by * ++calls; };
  Add copy = counting;
  int sum = 0;
  counting(1, sum);
  counting(10, sum);
  CHECK(sum == 21);
  copy(100, sum);  // its first call
  CHECK(sum == 121);
  copy = counting;
  copy(1000, sum);
  CHECK(sum == 3121);
  const Add moved = std::move(copy);
  CHECK(moved);
  CHECK_FALSE(copy);
  copy = moved;
  copy = *&copy;  // to itself
  REQUIRE(copy);
  moved(10000, sum);
  copy(10000, sum);
  CHECK(sum == 83121);

  CHECK_FALSE(Add());
  CHECK_FALSE(Add(nullptr));
  CHECK_FALSE(Add(std::function<void(int, int&)>()));
  CHECK_FALSE(Add(static_cast<void (*)(int, int&)>(nullptr)));
  CHECK(Add(std::function<void(int, int&)>([](int, int&) {})));
  const Add absent;
  CHECK_FALSE(Add(absent));
}

TEST_CASE("host callback: what has fields or no size had 2^64 - 1 elements, and ranges none") {
  posset::Runtime runtime = bare_runtime();
  posset::Context context(runtime);
  const auto size_of = [&](const char* text) { return context.eval(text).size(); };
  CHECK(size_of("[1, 2, 3]") == 3);
  CHECK(size_of("[\"a\": 1]") == 1);
  CHECK(size_of("{}") == 0);
  CHECK(size_of("{a: 1, b: 2}") == 2);
  CHECK(size_of("type Shape = Circle(r) | Empty\nCircle(2)") == 1);
  CHECK(size_of("type Shape = Circle(r) | Empty\nEmpty") == 0);
  CHECK(size_of("2..10") == 8);
  CHECK(size_of("\"h\xc3\xa9\"") == 2);
  for (const char* text : {"1", "1.5", "true", "nil", "x => x", "ref(1)"}) {
    INFO(text);
    CHECK_THROWS_AS(size_of(text), posset::Error);
  }
  CHECK_THROWS_WITH(size_of("5"), "error: size: expected list, map, range, record, variant or str, got int (5)");
  CHECK_THROWS_AS((void)posset::Value().size(), posset::Misuse);
  CHECK_THROWS_AS((void)posset::Value().to<int>(), posset::Misuse);
  const posset::Value range = context.eval("2..10"), down = context.eval("5..=3");
  CHECK(range[0].to<int>() == 2);
  CHECK(range[7].to<int>() == 9);
  CHECK(range[8].is_nil());
  if (down.size() != 0) CHECK(down[2].to<int>() == 3);
  CHECK(context.eval("7")[0].is_nil());
  CHECK(context.eval("-9223372036854775808..=9223372036854775807")[UINT64_MAX - 1].to<int64_t>() == INT64_MAX - 1);
}

TEST_CASE("host callback: the error of a result without one was read, and const results could not be") {
  posset::Runtime runtime = bare_runtime();
  posset::Context context(runtime);
  auto good = context.try_eval<std::string>("\"text\"");
  CHECK_THROWS_AS((void)good.error(), posset::Misuse);
  const auto seen = good, bad = context.try_eval<std::string>("[1][5]");
  CHECK(seen.value() == "text");
  CHECK(*seen == "text");
  CHECK(seen->size() == 4);
  CHECK_THROWS_AS((void)bad.value(), posset::Error);
  CHECK_THROWS_AS((void)bad->size(), posset::Error);
  CHECK(bad.error().code() == POSSET_ERROR_OutOfRange);
  CHECK(seen.value_or("other") == "text");
  CHECK(bad.value_or("other") == "other");
  CHECK(context.try_eval<int>("1 // 0").value_or(7) == 7);
  CHECK(context.try_eval<std::string>("\"moved\"").value_or("") == "moved");
  const std::string moved = std::move(good).value();
  CHECK(moved == "text");
  CHECK(*context.try_eval<std::string>("\"b\"") == "b");
}

TEST_CASE("what runs or reads something has a sibling that gives a result") {
  posset::Runtime runtime;
  posset::Context context(runtime);
  CHECK(context.try_run("a", "1 + 1").value().to<int>() == 2);
  CHECK(context.try_run("a", "1 +").error().diagnostics().size() == 1);
  context.set("rate", 2);
  CHECK(*context.try_get<int>("rate") == 2);
  CHECK(context.try_get<std::string>("rate").error().code() == POSSET_ERROR_TypeMismatch);
  posset::Program program = context.load("b", "export let n = 1\nexport fn half(x) => if x < 0 { throw \"negative\" } else { x / 2 }");
  program.run();
  CHECK(*program.try_get<int>("n") == 1);
  CHECK(program.try_get<std::string>("n").error().code() == POSSET_ERROR_TypeMismatch);
  const auto half = program.try_function<double(double)>("half").value();
  std::vector<double> column = {1, 2};
  CHECK(*half.try_map_into(column, column) == 2);
  CHECK(column == std::vector<double>{0.5, 1});
  column = {1, -1};
  CHECK(half.try_map_into(column, column).error().message() == "negative");
  posset::Graph graph(context);
  graph.add("start", posset::Node({}, {}).on_start([](posset::Turn&) { throw std::runtime_error("no start"); }));
  CHECK(graph.try_run().error().message() == "no start");
  posset::Graph empty(context);
  CHECK(empty.try_run(1).ok());
}

TEST_CASE("values are gone through in loops") {
  posset::Runtime runtime = bare_runtime();
  posset::Context context(runtime);
  std::string seen;
  for (const posset::Value& each : context.eval("[1, \"a\", [2]]").items()) seen += each.text() + ";";
  for (const posset::Value& each : context.eval("5..8").items()) seen += each.text() + ";";
  for (const posset::Value& each : context.eval("[]").items()) seen += each.text() + "none";
  CHECK(seen == "1;a;[2];5;6;7;");
  seen.clear();
  for (const auto& [key, value] : context.eval("[\"k\": 7, 2: nil]").entries()) seen += key.text() + "=" + value.text() + ";";
  for (const auto& [key, value] : context.eval("{a: 1, b: [2]}").entries()) seen += key.text() + "=" + value.text() + ";";
  for (const auto& [key, value] : context.eval("type Shape = Circle(r) | Empty\nCircle(3)").entries())
    seen += key.text() + "=" + value.text() + ";";
  for (const auto& entry : context.eval("{}").entries()) seen += entry.key.text() + "none";
  CHECK(seen == "k=7;2=nil;a=1;b=[2];r=3;");
  CHECK_THROWS_WITH((void)context.eval("5").items(), "error: items: expected list or range, got int (5)");
  CHECK_THROWS_AS((void)context.eval("[1]").entries(), posset::Error);
  posset::Value changed = context.eval("[1, 2]");
  int rounds = 0;
  for (const posset::Value& each : changed.items()) {
    CHECK(posset_list_push(context.handle(), &changed.place(), posset_retain(each.raw())) == POSSET_OK);
    ++rounds;
  }
  CHECK(rounds == 2);
  CHECK(changed.size() == 4);
}

TEST_CASE("records are made of fields") {
  posset::Runtime runtime = bare_runtime();
  posset::Context context(runtime, {.memory_limit = 8 << 20});
  const std::string name = "a text that is long enough to be on the heap";
  posset::Value made = context.record({{"name", name}, {"n", 2}, {"of", context.record({{"x", 1.5}})}, {"none", nullptr}, {"s", "t"}});
  CHECK(made == context.eval("{name: \"a text that is long enough to be on the heap\", n: 2, of: {x: 1.5}, none: nil, s: \"t\"}"));
  CHECK(made["of"]["x"].to<double>() == 1.5);
  CHECK(context.record({}).size() == 0);
  CHECK_THROWS_AS((void)context.record({{"a", name}, {"a", name}}), posset::Misuse);
  CHECK_THROWS_AS((void)context.record({{"a", name}, {"b", "\xff"}}), posset::Error);
  const uint64_t before = context.statistics().live_objects;
  for (int i = 0; i < 10; ++i) {
    CHECK_THROWS_AS((void)context.record({{"a", name}, {"b", "\xff"}}), posset::Error);
    CHECK_THROWS_AS((void)context.record({{"a", name}, {"a", name}}), posset::Misuse);
  }
  CHECK(context.statistics().live_objects == before);
}

TEST_CASE("C++ layer: misuse told nothing but its status") {
  posset::Runtime runtime;
  posset::Context context(runtime), other(runtime);
  CHECK_THROWS_WITH(context.set("2x", 1), "set: an argument that cannot be used: \"2x\" is no name that a script could use");
  CHECK_THROWS_WITH(context.set("len", 1), "set: the name is taken: 'len' is a built-in function");
  auto size_of = context.compile<int(std::vector<posset::Value>)>("xs => len(xs)");
  CHECK(posset_set_global(context.handle(), posset::to_text("2y"), posset_nil()) == POSSET_MISUSE);  // nobody asks for its words
  CHECK_THROWS_WITH(size_of({other.eval("[1]")}), "argument: an argument that cannot be used");
  CHECK_THROWS_WITH(context.record({{"a", 1}, {"a", 2}}), "record: an argument that cannot be used: two fields have one name");
  CHECK_THROWS_WITH(context.define("len", [] {}), "len: the name is taken: 'len' is a built-in function");
}
