// Ways out of native code as the trace tells them: at which place, what the code had expected there and what it found.
// Each kind of guard is provoked by a function that native code has been made for and that is then called with
// something else.
#include <posset/trace.h>

#include <string>

#include "interp/api/handles.h"
#include "interp/runtime/forks.h"
#include "fixture.h"

namespace posset::test {

namespace {

posset_runtime_options hot() {
  posset_runtime_options options = posset_runtime_defaults();
  options.trace_events = 1 << 14;
  options.forced_tier = 1;
  options.tier2_after = UINT32_MAX;
  options.tier3_after = 20;
  options.native_passes = "quick";
  return options;
}

// Of functions there is never code, of their loops soon.
posset_runtime_options of_loops_only() {
  posset_runtime_options options = hot();
  options.forced_tier = -1;
  options.tier1_after = 1000;
  return options;
}

// With everything a command has, native tiers too.
class NativeWorld {
 public:
  explicit NativeWorld(const posset_runtime_options& options = hot()) {
    REQUIRE(posset_default_runtime(&options, &runtime_) == POSSET_OK);
    const posset_context_options limits = posset_context_defaults();
    REQUIRE(posset_context_create(runtime_, &limits, &context_) == POSSET_OK);
    REQUIRE(posset_context_set_output(context_, append, &printed_) == POSSET_OK);
  }
  ~NativeWorld() {
    posset_context_release(context_);
    posset_runtime_release(runtime_);
  }
  NativeWorld(const NativeWorld&) = delete;
  NativeWorld& operator=(const NativeWorld&) = delete;

  void run(const std::string& source) {
    posset_value value = posset_nil();
    const posset_status status = posset_session_eval(context_, text("a.posset"), text(source), &value, nullptr);
    CHECK_MESSAGE((status == POSSET_OK || status == POSSET_RAISED), source);
    if (status == POSSET_RAISED) posset_error_free(posset_take_error(context_));
    posset_release(value);
  }
  // Each time with the code that the time before asked for.
  void run_often(const std::string& source) {
    for (int round = 0; round < 5; ++round) {
      run(source);
      posset_runtime_settle(runtime_);
    }
  }
  void define(const char* name, posset_function function) {
    posset_function_row row = {};
    row.name = name;
    row.doc = row.signature = "";
    row.function = function;
    REQUIRE(posset_define(context_, &row, sizeof row, nullptr) == POSSET_OK);
  }
  posset_runtime* runtime() { return runtime_; }
  posset_context* context() { return context_; }
  const std::string& printed() const { return printed_; }
  // Until there is code of tier 3, as far as there can be.
  void warm_up(const std::string& call) {
    for (int round = 0; round < 3; ++round) {
      run("for i in 0..30 { " + call + " }");
      posset_runtime_settle(runtime_);
    }
  }
  std::string trace(posset_trace_format format = POSSET_TRACE_TEXT) {
    std::string made;
    REQUIRE(posset_trace_write(runtime_, format, append, &made) == POSSET_OK);
    return made;
  }

 private:
  posset_runtime* runtime_ = nullptr;
  posset_context* context_ = nullptr;
  std::string printed_;
};

std::string exits_in(const std::string& trace) {
  std::string found;
  for (size_t at = 0; at < trace.size();) {
    const size_t end = trace.find('\n', at);
    const std::string line = trace.substr(at, end - at);
    if (line.find(" side_exit ") != std::string::npos || line.find(" code_withdrawn ") != std::string::npos) found += line + "\n";
    at = end + 1;
  }
  return found;
}

struct Case {
  const char* name;
  const char* source;
  const char* usual;
  const char* odd;
  const char* told;  // "at=PLACE expected=WHAT found=WHAT"
};

const Case kCases[] = {
    {"the kinds of parameters", "fn f(a, b) => a + b", "f(i, 1)", "f(0.5, 1)",
     "at=in f (a.posset:1:15) expected=at entry, r0: int found=at entry, r0: float"},
    {"an item of another kind", "fn f(xs) {\n  let x = xs[0]\n  x + 1\n}", "f([i, \"a\"])", "f([0.5, \"a\"])",
     "at=in f (a.posset:2:11) expected=inside: int found=inside: float"},
    {"a shape", "fn f(p) => p.x + 1", "f({x: i, y: 2})", "f({y: 2, x: 1})",
     "at=in f (a.posset:1:12) expected=shape {x, y} found=shape {y, x}"},
    {"a callee", "fn g(x) => x + 1\nfn h(x) => x + 2\nfn f(k, x) {\n  var t = 0\n  for _ in 0..3 { t += k(x) }\n  t\n}", "f(g, i)", "f(h, 1)",
     "at=in f (a.posset:5:24) expected=callee g found=callee h"},
    {"an index", "fn f(xs, i) {\n  let x = xs[i]\n  [x, len(xs)]\n}", "f([1, 2, 3], i % 3)", "f([1, 2, 3], 3)",
     "at=in f (a.posset:2:11) expected=an index below 3 found=3"},
    {"an overflow", "fn f(a) => a + 1", "f(i)", "f(9223372036854775807)",
     "at=in f (a.posset:1:12) expected=no overflow found=9223372036854775807 + 1"},
    {"a division by zero", "fn f(a, b) => a // b", "f(i, 3)", "f(1, 0)",
     "at=in f (a.posset:1:15) expected=a divisor other than 0 found=1 // 0"},
    {"what has never run", "fn f(a) {\n  if a > 100 {\n    \"big\" + str(a)\n  } else { \"small\" }\n}", "f(i)", "f(101)",
     "at=in f (a.posset:3:5) expected=never reached found=reached"},
    {"an inlined frame", "fn g(a) => a + 1\nfn f(a) {\n  g(a) * 2\n}", "f(i)", "f(9223372036854775807)",
     "at=in g (a.posset:1:12), in f (a.posset:3:3) expected=no overflow found=9223372036854775807 + 1"},
    {"a walk to a place", "fn f(ps, i) {\n  var qs = ps\n  qs[i].x += 1\n  qs\n}", "f([{x: i}, {x: 2}], 0)", "f([{x: 1}, {x: 2}], 2)",
     "at=in f (a.posset:3:3) expected=an index below 2 found=2"},
    {"an update of a field", "fn f(a) {\n  var p = {x: a}\n  p.x += 1\n  p\n}", "f(i)", "f(9223372036854775807)",
     "expected=no overflow found=9223372036854775807 changed by 1"},
};

}  // namespace

TEST_CASE("exits: the trace tells place, expected and found") {
  if (!posset_native_tier(3)) return;
  for (const Case& each : kCases) {
    NativeWorld world;
    world.run(each.source);
    world.warm_up(each.usual);
    CHECK_MESSAGE(exits_in(world.trace()).empty(), std::string(each.name), "\n", exits_in(world.trace()));
    world.run(each.odd);
    const std::string exits = exits_in(world.trace());
    CHECK_MESSAGE(exits.find(each.told) != std::string::npos, std::string(each.name), ": ", std::string(each.told), "\n", exits);
  }
}

TEST_CASE("exits: what runs for the first time in tier 2 is nothing new to tier 3") {
  if (!posset_native_tier(3)) return;
  posset_runtime_options options = hot();
  options.tier2_after = 20;
  options.tier3_after = 200;
  NativeWorld world(options);
  // With a kind that only the branch has met.
  world.run("fn f(a) {\n  var t = 1\n  if a > 100 {\n    let x = [a * 0.5]\n    t += int(x[0] + 1.0)\n  }\n  t\n}");
  world.warm_up("f(i)");
  REQUIRE(world.trace().find("compile_finished unit=f (a.posset:1:1) loop=body tier=2") != std::string::npos);
  world.run("f(101)");
  for (int round = 0; round < 3; ++round) {
    world.run("for i in 0..50000 { f(i % 90) }");
    posset_runtime_settle(world.runtime());
  }
  REQUIRE(world.trace().find("compile_finished unit=f (a.posset:1:1) loop=body tier=3") != std::string::npos);
  world.run("f(102)");
  const std::string exits = exits_in(world.trace());
  CHECK_MESSAGE(exits.find("tier=2 ") != std::string::npos, exits);  // and there bytecode has recorded it
  CHECK_MESSAGE(exits.find("tier=3 ") == std::string::npos, exits);
}

TEST_CASE("exits: what loops have met in code of their own is nothing new to the code around them") {
  if (!posset_native_tier(3)) return;
  posset_runtime_options options = hot();
  options.forced_tier = -1;
  options.tier1_after = 3;
  NativeWorld world(options);
  // The first loop makes the function hot before the second has been reached there.
  world.run("fn f(n) {\n  var s = 0\n  for i in 0..n { s += i }\n  var t = 0.5\n"
            "  for i in 0..n { if i % 2 == 0 { t += float(i) } else { s += 1 } }\n  [s, t]\n}");
  for (int round = 0; round < 25; ++round) {  // the walker goes on while only loops have native code
    world.run("f(50000)");
    posset_runtime_settle(world.runtime());
  }
  REQUIRE(world.trace().find("compile_finished unit=f (a.posset:1:1) loop=body tier=3") != std::string::npos);
  CHECK_MESSAGE(exits_in(world.trace()).empty(), exits_in(world.trace()));
}

// Code was made anew for each such branch: what is to be learnt of plain arithmetic is known without a run.
TEST_CASE("exits: counting what is rare is nothing new") {
  if (!posset_native_tier(3)) return;
  const char* source = "fn f(n, rare) {\n  var count = 0\n  var s = 0.0\n"
                       "  for i in 0..n {\n    s += 0.5\n    if i == rare { count += 1 }\n    if i < rare { s -= 0.25 * i }\n  }\n  [s, count]\n}";
  {
    NativeWorld whole;
    whole.run(source);
    whole.warm_up("f(20, -1)");
    whole.run("f(20, 5)");
    CHECK_MESSAGE(exits_in(whole.trace()).empty(), exits_in(whole.trace()));
  }
  NativeWorld own(of_loops_only());  // into which `count` comes from elsewhere
  own.run(source);
  own.run_often("f(20000, -1)");
  REQUIRE(own.trace().find("tier_entered unit=f (a.posset:1:1) loop=0 tier=3") != std::string::npos);
  own.run("f(20000, 19000)");
  CHECK_MESSAGE(exits_in(own.trace()).empty(), exits_in(own.trace()));
}

TEST_CASE("exits: a loop in a later argument and that of a built-in go on in code of their own") {
  if (!posset_native_tier(3)) return;
  NativeWorld world(of_loops_only());
  world.run("fn second(a, b) => b\nfn f(xs) {\n  let n = second(1, do { var s = 0; for x in xs { s += x }; s })\n"
            "  second(n, sum(map(xs, x => x + 1)))\n}\nlet xs = list(0..20000)");
  world.run_often("print(f(xs), \"\")");
  CHECK(world.printed() == "200010000 200010000 200010000 200010000 200010000 ");
  for (const char* loop : {"loop=0", "loop=1"}) {
    CHECK_MESSAGE(world.trace().find("tier_entered unit=f (a.posset:2:1) " + std::string(loop) + " tier=3") != std::string::npos, loop);
  }
}

TEST_CASE("exits: a loop's own code is entered whatever variables hold that it writes first") {
  if (!posset_native_tier(3)) return;
  NativeWorld world(of_loops_only());
  world.run("fn f(n, v, inout out) {\n  for i in 0..n {\n    var s = 0.0\n    for j in 0..n { s += v[j] }\n    out[i] = s\n  }\n}\n"
            "var t = fill(2000, 0.0)\nlet u = fill(2000, 1.0)");
  world.run_often("f(2000, u, &t)");
  REQUIRE(world.trace().find("tier_entered unit=f (a.posset:1:1) loop=0 tier=3") != std::string::npos);
  CHECK_MESSAGE(exits_in(world.trace()).find("at entry") == std::string::npos, exits_in(world.trace()));
}

TEST_CASE("exits: where an error would be kept is nothing to a function that is entered") {
  if (!posset_native_tier(3)) return;
  for (const char* source : {"fn g(x, inout p) {\n  p += 1\n  if x < 0 { throw p }\n  x\n}\nfn f(x) {\n  var p = 0\n  let r = g(x, &p)\n  r + p\n}",
                             "fn g(x) => if x < 0 { throw x } else { x }\nfn f(x) {\n  let r = try { g(x) } catch e { e }\n  r + 1\n}"}) {
    NativeWorld world;
    world.run(source);
    world.warm_up("f(i)");
    world.warm_up("f(i)");
    CHECK_MESSAGE(exits_in(world.trace()).empty(), std::string(source), "\n", exits_in(world.trace()));
  }
}

// It was planned without speculation from then on, for all kinds of arguments.
TEST_CASE("exits: what a function is entered with is no fault of its first instruction") {
  if (!posset_native_tier(3)) return;
  NativeWorld world;
  world.run("fn f(a, b) => a + b");
  world.warm_up("f(i, 1)");
  for (int round = 0; round < 3; ++round) {
    world.warm_up("f(0.5, i)");
    world.warm_up("f(i, 1)");
  }
  REQUIRE(exits_in(world.trace()).find("code_withdrawn unit=f (a.posset:1:1) loop=body tier=3 times=1 reason=none") != std::string::npos);
  world.run("f(9223372036854775807, 1)");
  const std::string exits = exits_in(world.trace());
  CHECK_MESSAGE(exits.find("expected=no overflow found=9223372036854775807 + 1") != std::string::npos, exits);
}

// Code of the last tier that a built-in enters does not say that it runs: it was taken for what has ended, and lost.
TEST_CASE("exits: code that only built-ins call is made anew like any other") {
  if (!posset_native_tier(3)) return;
  NativeWorld world;
  world.run("fn f(x) => x * 3 + 1\nlet ints = list(0..100)\nlet few = [for i in 0..20 => i * 0.5]");
  for (int round = 0; round < 3; ++round) {
    world.run("for _ in 0..30 { sort_by(ints, f) }");
    posset_runtime_settle(world.runtime());
  }
  world.run("for i in 0..400000 { nil }\nsort_by(few, f)\nfor i in 0..400000 { nil }");
  posset_runtime_settle(world.runtime());
  const std::string trace = world.trace();
  REQUIRE(exits_in(trace).find("code_withdrawn unit=f (a.posset:1:1) loop=body tier=3 times=1 reason=none") != std::string::npos);
  const size_t withdrawn = trace.find("code_withdrawn unit=f");
  CHECK(trace.find("compile_finished unit=f (a.posset:1:1) loop=body tier=3", withdrawn) != std::string::npos);
  CHECK(trace.find("code_evicted unit=f") == std::string::npos);
}

TEST_CASE("exits: every form of the trace tells them, and that code is withdrawn") {
  NativeWorld world;
  if (!posset_native_tier(3)) return;
  world.run("fn f(a) => a + 1");
  world.warm_up("f(i)");
  world.run("for i in 0..20 { try { f(9223372036854775807) } catch { nil } }");
  posset_runtime_settle(world.runtime());
  CHECK(exits_in(world.trace()).find("code_withdrawn unit=f (a.posset:1:1) loop=body tier=3 times=1 reason=none") != std::string::npos);
  const std::string told = "in f (a.posset:1:12): expected no overflow, found 9223372036854775807 + 1";
  for (posset_trace_format format : {POSSET_TRACE_CHROME, POSSET_TRACE_HTML}) {
    CHECK(world.trace(format).find("\"exits\":[\"left native code ") != std::string::npos);
    CHECK(world.trace(format).find(told) != std::string::npos);
  }
}

TEST_CASE("exits: activations of code that has been replaced do not count against what has replaced it") {
  posset_runtime_options options = hot();
  options.tier3_after = 5;
  options.exit_stress = 1;  // in the foreground: the code is there in the middle of the first descent
  NativeWorld world(options);
  // Made when nothing had ever returned: each of the many frames exits behind its call.
  world.run("fn down(n) {\n  if n == 0 { return 0 }\n  let r = down(n - 1)\n  r + n\n}\ndown(300)\ndown(300)");
  const std::string exits = exits_in(world.trace());
  size_t withdrawn = 0;
  for (size_t at = 0; (at = exits.find("code_withdrawn unit=down", at)) != std::string::npos; ++at) ++withdrawn;
  CHECK_MESSAGE(withdrawn <= 3, exits);
  CHECK(exits.find("exits_often") == std::string::npos);
}

// Code made anew for such a text had the same guards, and was left and made anew again for ever.
TEST_CASE("exits: code for characters of one byte is made anew for others once") {
  if (!posset_native_tier(3)) return;
  NativeWorld world;
  world.run("fn f(s) {\n  var n = 0\n  var i = 0\n  while i < len(s) {\n    if s[i] == \" \" { n += code(s, i) }\n    i += 1\n  }\n  n\n}\n"
            "let plain = \"one and two and three and four\"\nlet other = \"caf\u00e9 and caf\u00e9 and caf\u00e9 and caf\u00e9\"");
  world.warm_up("f(plain)");
  for (int round = 0; round < 12; ++round) {
    world.run("for i in 0..200 { f(other) }");
    posset_runtime_settle(world.runtime());
  }
  const std::string before = exits_in(world.trace());
  world.run("for i in 0..200 { f(other) }");
  CHECK(exits_in(world.trace()) == before);
  CHECK(before.find(" side_exit ") != std::string::npos);
}

TEST_CASE("exits: a part that was looked at and not taken is computed where it was left") {
  if (!posset_native_tier(3)) return;
  posset_runtime_options options = hot();
  options.tier3_after = 1000;  // rounds of `f` and `g`, whole, so that every part has been seen
  options.workers = 2;
  options.quantum_us = 1;
  NativeWorld world(options);
  world.run("fn f(v) {\n  let sums = fold(v, 0, (a, x) => a + x)\n  let most = fold(v, 0, (a, x) => if x > a { x } else { a })\n  sums + most\n}\n"
            "fn g(n, v) {\n  var t = 0\n  for i in 0..n { t += fold(v, i, (a, x) => a + x) * fold(v, 1, (a, x) => a + x % 2) }\n  t\n}\n"
            "let v = list(0..60)");
  world.warm_up("f(v)");
  for (int round = 0; round < 3; ++round) {
    world.run("g(3000, v); for i in 0..3000 { f(v) }");
    posset_runtime_settle(world.runtime());
  }
  REQUIRE(world.trace().find("compile_finished unit=g (a.posset:6:1) loop=body tier=3") != std::string::npos);
  if (world.trace().find(" part_taken ") != std::string::npos) return;  // on a busy machine a round may take long
  CHECK_MESSAGE(exits_in(world.trace()).empty(), exits_in(world.trace()));
}

namespace {

// Where the next record of a second part would be, in records.
posset_status record_place(posset_call* call) {
  call->result = posset_int(reinterpret_cast<intptr_t>(call->context->fork_top) / static_cast<intptr_t>(sizeof(interp::ForkRecord)));
  return POSSET_OK;
}

}  // namespace

// The record was taken back, and counted as left all the same; when a quantum ended, it led to where its frame had been.
TEST_CASE("exits: code entered in a loop gives back the record that its frame has left") {
  if (!posset_native_tier(3)) return;
  posset_runtime_options options = hot();
  options.forced_tier = -1;
  options.tier1_after = 1;
  options.tier2_after = 2;
  options.tier3_after = 4;
  options.exit_stress = 3;
  options.workers = 2;
  NativeWorld world(options);
  world.define("record_place", record_place);
  world.run("fn choose(xs, k) => if k == 0 { [[]] } else if len(xs) < k { [] } else {\n  let [x, ..rest] = xs\n"
            "  map(choose(rest, k - 1), c => [x] + c) + choose(rest, k)\n}\n"
            "let before = record_place()\nfor i in 0..300 { choose([1, 2, 3, 4], 2) }\n"
            "println(choose([1, 2, 3], 2), record_place() - before)");
  CHECK(world.printed() == "[[1, 2], [1, 3], [2, 3]] 0\n");
}


namespace {

// Functions that only call others which are inlined, too: all their steps are charged for at once.
const char* const kChargedAtOnce =
    "fn vec(x, y) => {x: x, y: y}\n"
    "fn add(a, b) => vec(a.x + b.x, a.y + b.y)\n"
    "fn twice(a) => add(a, a)\n"
    "fn both(a, b) => add(twice(a), twice(b))\n"
    "fn main(xs, n) {\n"
    "  var sum = 0\n"
    "  for i in 0..n {\n"
    "    try { sum += both(vec(i, 1), vec(2, xs[i % 3000])).y } catch { sum += 1 }\n"
    "  }\n"
    "  sum\n"
    "}\n"
    "var xs = fill(3000, 1)\n"
    "xs[1000] = 4611686018427387904\n";  // a sum that overflows, between the calls

// Evaluations with ever more steps, on one runtime: how each ends, and what it has counted.
class Stepped {
 public:
  explicit Stepped(const posset_runtime_options& options) : world_(options) {
    world_.run(kChargedAtOnce);
    world_.warm_up("main(xs, 900)");
  }

  std::string outcome(uint64_t steps) {
    posset_context_options limits = posset_context_defaults();
    limits.step_limit = steps;
    REQUIRE(posset_context_set_options(world_.context(), &limits) == POSSET_OK);
    posset_value value = posset_nil();
    const posset_status status = posset_session_eval(world_.context(), text("b.posset"), text("main(xs, 100000)"), &value, nullptr);
    posset_release(value);
    if (status != POSSET_RAISED) return "no error";
    posset_error* error = posset_take_error(world_.context());
    std::string report;
    REQUIRE(posset_error_render(error, false, append, &report) == POSSET_OK);
    posset_error_free(error);
    posset_statistics statistics = {};
    statistics.size = sizeof statistics;
    REQUIRE(posset_context_statistics(world_.context(), &statistics) == POSSET_OK);
    return report + std::to_string(statistics.steps);
  }

 private:
  NativeWorld world_;
};

}  // namespace

// Where an error or an exit comes between calls that are charged for together, the steps of the later ones are given back.
TEST_CASE("exits: the step limit is met at the same one of several calls that are charged at once") {
  if (!posset_native_tier(3)) return;
  posset_runtime_options walker = hot();
  walker.forced_tier = 0;
  Stepped expected(walker), native(hot());
  for (uint64_t steps = 30000; steps < 30040; ++steps) {
    CAPTURE(steps);
    CHECK(native.outcome(steps) == expected.outcome(steps));
  }
}

namespace {

// Native code stores a float where others have met nothing but ints, and have looked at the fields of the record together.
struct Stored {
  const char* name;
  const char* source;  // of `store`
  const char* usual;
  const char* odd;  // leaves a record in `p`
};

const Stored kStored[] = {
    {"in an item", "fn store(inout ps, v) { ps[0].m = v }", "var ps = [{n: 1, m: 2}]\nstore(&ps, if i % 2 == 0 { i } else { 0.5 })",
     "var ps = [{n: 1, m: 2}]\nstore(&ps, 0.5)\nlet p = ps[0]"},
    {"in a parameter", "fn store(inout p, v) {\n  let n = p.n\n  p.m = v\n  n\n}",
     "var p = {n: 1, m: 2}\nstore(&p, if i % 2 == 0 { i } else { 0.5 })", "var p = {n: 1, m: 2}\nstore(&p, 0.5)"},
    {"in records and variants", "type T = A(n, m)\nfn store(inout p, v) { p.m = v }",
     "var p = if i % 2 == 0 { {n: 1, m: 2} } else { A(1, 2) }\nstore(&p, if i % 3 == 0 { i } else { 0.5 })",
     "var p = {n: 1, m: 2}\nstore(&p, 7)\nstore(&p, 0.5)"},
    {"in a new one", "fn store(v) => {n: 1, m: v}", "store(if i % 2 == 0 { i } else { 0.5 })", "let p = store(0.5)"},
    {"by an update", "fn store(inout ps) { ps[0].m /= 2 }", "var ps = [{n: 1, m: 2}]\nstore(&ps)",
     "var ps = [{n: 1, m: 1}]\nstore(&ps)\nlet p = ps[0]"},
    {"through a place", "fn store(inout ps, v) { with m = &ps[0].m { m = v } }",
     "var ps = [{n: 1, m: 2}]\nstore(&ps, if i % 2 == 0 { i } else { 0.5 })", "var ps = [{n: 1, m: 2}]\nstore(&ps, 0.5)\nlet p = ps[0]"},
};

}  // namespace

TEST_CASE("exits: a record says what native code has stored into it") {
  if (!posset_native_tier(3)) return;
  for (const int stage : {1, 2}) {
    for (const Stored& each : kStored) {
      posset_runtime_options options = hot();
      if (stage == 1) {
        options.tier2_after = 20;
        options.tier3_after = 200;
      }
      NativeWorld world(options);
      world.run(std::string(each.source) + "\nfn read(p) => p.n + p.m");
      world.warm_up(each.usual);
      world.warm_up("read({n: i, m: 2})");
      for (int round = 0; round < 3 && stage == 1; ++round) {
        world.run("for i in 0..50000 { read({n: i, m: 2}) }");
        posset_runtime_settle(world.runtime());
      }
      world.run("do {\n" + std::string(each.odd) + "\nprintln(read(p), p)\n}");
      const std::string exits = exits_in(world.trace());
      CHECK_MESSAGE(world.printed() == "1.5 {n: 1, m: 0.5}\n", std::string(each.name), " by stage ", stage);
      CHECK_MESSAGE(exits.find("in read") != std::string::npos, std::string(each.name), " by stage ", stage, "\n", exits);
    }
  }
}

}  // namespace posset::test
