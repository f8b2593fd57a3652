// Native code kept by one runtime and used by another, in the same process: nothing in it may depend on where the
// first had its chunks, constants, shapes and units. Between processes: tests/tools/cli_cache.py.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <sstream>
#include <string>

#include <posset/attach.h>
#include <posset/posset.h>
#include <posset/trace.h>

#include "../scratch.h"
#include "fixture.h"

using posset::test::ScratchFolder;
using posset::test::World;

namespace {

// With a trace, and thresholds that are soon reached.
posset_runtime* caching_runtime(const std::string& folder, uint32_t tier3_after = 40) {
  posset_runtime_options options = posset_runtime_defaults();
  options.tier1_after = 1;
  options.tier2_after = 4;
  options.tier3_after = tier3_after;
  options.trace_events = 100000;
  options.cache_directory = folder.c_str();
  posset_runtime* runtime = nullptr;
  REQUIRE(posset_default_runtime(&options, &runtime) == POSSET_OK);
  return runtime;
}

// Shapes, constructors, inline caches, long strings, functions inlined and functions that call themselves.
const char* const kProgram = R"(
type Tree = Leaf | Node(left, value, right)
fn insert(t, v) => match t {
  Leaf => Node(Leaf, v, Leaf)
  Node(l, x, r) => if v < x { Node(insert(l, v), x, r) } else { Node(l, x, insert(r, v)) }
}
fn total(t) => match t { Leaf => 0, Node(l, x, r) => total(l) + x + total(r) }
fn dot(a, b) => a.x * b.x + a.y * b.y
fn turned(p) => {y: p.x, x: -p.y}
fn name(n) => if n % 2 == 0 { "an even number, and a string too long to be short" } else { "an odd number, also in a long string" }
fn fib(n) => if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
fn work(n) {
  var sum = 0
  var letters = 0
  var t = Leaf
  var p = {x: 1, y: 2}
  for i in 0..n {
    sum += dot(p, {x: i, y: 1})
    p = turned(p)
    p.x += 1
    letters += len(name(i))
    if name(i) == "an odd number, also in a long string" { sum += 1 }
    t = insert(t, i * 7 % 23)
  }
  [sum, letters, total(t), fib(15), p.x, p.y]
}
)";

struct Ran {
  std::string value;
  posset_statistics statistics;
  std::string trace;

  // The trace has a line with all of these, in their order.
  bool says(std::initializer_list<const char*> words) const {
    std::istringstream lines(trace);
    for (std::string line; std::getline(lines, line);) {
      size_t at = 0;
      for (const char* word : words) at = at == std::string::npos ? at : line.find(word, at);
      if (at != std::string::npos) return true;
    }
    return false;
  }
};

// Sixty calls one after the other, all of them counted: native code of a loop would call native code, which is not.
std::string calls(const std::string& call) {
  std::string made = call;
  for (int n = 1; n < 60; ++n) made += " + " + call;
  return made;
}

// A runtime's life: declarations, then an expression several times, waiting for what it has made hot.
Ran run(posset_runtime* runtime, std::initializer_list<std::string> declarations, const std::string& expression) {
  Ran ran;
  {
    World w(runtime, posset_context_defaults());
    for (const std::string& each : declarations) w.session(each);
    for (int round = 0; round < 8; ++round) {
      ran.value = w.session(expression);
      posset_runtime_settle(runtime);
    }
    ran.statistics = w.statistics();
    posset_trace_write(runtime, POSSET_TRACE_TEXT, posset::test::append, &ran.trace);
  }
  posset_runtime_release(runtime);
  return ran;
}

}  // namespace

TEST_CASE("cache: code kept by one runtime does the same in another, with other ids and addresses") {
  if (!posset_native_tier(3)) return;
  ScratchFolder folder;
  const Ran made = run(caching_runtime(folder.path), {kProgram}, "work(60)");
  REQUIRE(made.statistics.cache_misses > 0);
  const char* const kOthers[] = {
      "1",
      "type Other = A(a) | B(b, c)\nlet other = [{q: 1}, {r: 2, x: 3}, {y: 1, x: 2, z: 3}]\nfn f(x) => x\nf(1) + f(2)",
      "fn g(p) => p.y\nfn h(s) => \"another string that is not short: {s}\"\ng({y: 1})\nh(2)",
  };
  for (const char* before : kOthers) {
    CAPTURE(before);
    const Ran used = run(caching_runtime(folder.path), {before, kProgram}, "work(60)");
    CHECK(used.value == made.value);
    CHECK(used.statistics.cache_hits > 0);
    CHECK(used.says({"compile_finished unit=work", "loop=body tier=3", "cached=1"}));
  }
}

TEST_CASE("cache: what was hot in an earlier run goes from stage 1 to stage 2 before its threshold") {
  if (!posset_native_tier(3)) return;
  ScratchFolder folder;
  const char* const kF = "fn f(x) => x * 3 + 1";
  const std::string often = calls("f(2)");
  const Ran made = run(caching_runtime(folder.path), {kF}, often);
  CHECK(made.says({"compile_finished unit=f", "tier=3", "cached=0"}));
  const Ran used = run(caching_runtime(folder.path, UINT32_MAX), {kF}, often);
  CHECK(used.value == made.value);
  CHECK(used.says({"compile_finished unit=f", "tier=3", "cached=1"}));
  CHECK_FALSE(used.says({"threshold_crossed unit=f", "tier=3"}));
  ScratchFolder empty;
  const Ran cold = run(caching_runtime(empty.path, UINT32_MAX), {kF}, often);
  CHECK_FALSE(cold.says({"compile_finished", "tier=3"}));
}

TEST_CASE("cache: code into which a function is inlined that is not here is stale") {
  if (!posset_native_tier(3)) return;
  ScratchFolder folder;
  // The function inlined is an argument, so it is not in the hash.
  const char* const kApply = "fn apply(f, n) {\nvar t = 0\nfor i in 0..n { t += f(i) }\nt\n}";
  CHECK(run(caching_runtime(folder.path), {kApply}, "apply(x => x * 2, 100)").value == "9900");
  const Ran same = run(caching_runtime(folder.path), {kApply}, "apply(x => x * 2, 100)");
  CHECK(same.value == "9900");
  CHECK(same.says({"compile_finished unit=apply", "loop=body tier=3", "cached=1"}));
  const Ran other = run(caching_runtime(folder.path), {kApply}, "apply(x => x * 3, 100)");
  CHECK(other.value == "14850");
  CHECK(other.says({"cache_refused unit=apply", "tier=3", "reason=cache_stale"}));
  CHECK(run(caching_runtime(folder.path), {kApply}, "apply(x => x * 3, 100)").says({"compile_finished unit=apply", "tier=3", "cached=1"}));
}

namespace {

int64_t direct_calls = 0;

double half(double x) {
  ++direct_calls;
  return x * 0.5;
}

double quarter(double x) {
  ++direct_calls;
  return x * 0.25;
}

template <double (*kFunction)(double)>
posset_status of_number(posset_call* call) {
  double x = 0;
  if (posset_want_number(call, 0, &x)) return POSSET_RAISED;
  const posset_status status = posset_return(call, posset_float(kFunction(x)));
  --direct_calls;
  return status;
}

// With a module of the host's.
posset_runtime* runtime_with_part(const std::string& folder, posset_function function, double (*of_float)(double)) {
  posset_runtime* runtime = caching_runtime(folder);
  posset_function_row row = {};
  row.name = "part";
  row.signature = row.doc = "";
  row.min_arguments = row.max_arguments = 1;
  row.pure = true;
  row.function = function;
  row.of_float = of_float;
  REQUIRE(posset_register_functions(runtime, "parts", &row, 1, sizeof row) == POSSET_OK);
  direct_calls = 0;
  return runtime;
}

}  // namespace

TEST_CASE("cache: a function that is called with floats alone is the runtime's own") {
  if (!posset_native_tier(3)) return;
  ScratchFolder folder;
  const char* const kSource = "import \"parts\"\nfn f(x) {\n  var t = 0.0\n  for i in 0..100 { t += parts.part(i) + parts.part(x) }\n  t\n}";
  const Ran made = run(runtime_with_part(folder.path, of_number<half>, half), {kSource}, "f(0.5)");
  CHECK(made.value == "2500.0");
  CHECK(direct_calls > 500);
  const Ran used = run(runtime_with_part(folder.path, of_number<quarter>, quarter), {kSource}, "f(0.5)");
  CHECK(used.value == "1250.0");
  CHECK(used.says({"compile_finished unit=f", "loop=body tier=3", "cached=1"}));
  CHECK(direct_calls > 500);
  const Ran without = run(runtime_with_part(folder.path, of_number<half>, nullptr), {kSource}, "f(0.5)");
  CHECK(without.value == "2500.0");
  CHECK(without.says({"cache_refused unit=f", "tier=3", "reason=cache_stale"}));
  CHECK(direct_calls == 0);
}

TEST_CASE("cache: code made anew because what was kept did not fit takes its place") {
  if (!posset_native_tier(3)) return;
  ScratchFolder folder;
  // With a handler it is not inlined.
  const char* const kSum = "fn sum(xs) {\nvar t = xs[0]\ntry { for x in xs { t = t + x } } catch e { t = 0 }\nt\n}";
  const std::string of_ints = calls("sum([1, 2, 3])"), of_floats = calls("sum([1.5, 2.0, 3.0])");
  const Ran ints = run(caching_runtime(folder.path), {kSum}, of_ints);
  const Ran floats = run(caching_runtime(folder.path), {kSum}, of_floats);
  CHECK(floats.says({"compile_finished unit=sum", "loop=body tier=3", "cached=1"}));
  CHECK(floats.says({"compile_finished unit=sum", "loop=body tier=3", "cached=0"}));
  const Ran again = run(caching_runtime(folder.path), {kSum}, of_floats);
  CHECK(again.value == floats.value);
  CHECK(again.says({"compile_finished unit=sum", "loop=body tier=3", "cached=1"}));
  CHECK_FALSE(again.says({"compile_finished unit=sum", "loop=body tier=3", "cached=0"}));
  // What was seen before has not been forgotten either.
  const Ran back = run(caching_runtime(folder.path), {kSum}, of_ints);
  CHECK(back.value == ints.value);
  CHECK_FALSE(back.says({"compile_finished unit=sum", "loop=body tier=3", "cached=0"}));
}

TEST_CASE("cache: two runtimes of one process may use a directory at the same time") {
  if (!posset_native_tier(3)) return;
  ScratchFolder folder;
  posset_runtime* both[] = {caching_runtime(folder.path), caching_runtime(folder.path)};
  std::string values[2];
  {
    World one(both[0], posset_context_defaults()), other(both[1], posset_context_defaults());
    for (World* w : {&one, &other}) w->session(kProgram);
    for (int round = 0; round < 8; ++round) {
      values[0] = one.session("work(60)");
      values[1] = other.session("work(60)");
    }
  }
  for (posset_runtime* runtime : both) posset_runtime_release(runtime);
  CHECK(values[0] == values[1]);
  CHECK(values[0].front() == '[');
}

TEST_CASE("cache: embedders keep nothing until they name a directory") {
  World w;
  posset_runtime_options used = posset_runtime_defaults();
  REQUIRE(posset_runtime_get_options(w.runtime, &used) == POSSET_OK);
  CHECK(*used.cache_directory == 0);
  w.session("fn f(x) => x + 1\nvar t = 0\nfor i in 0..2000 { t += f(i) }");
  posset_runtime_settle(w.runtime);
  CHECK(w.statistics().cache_hits + w.statistics().cache_misses == 0);
}
