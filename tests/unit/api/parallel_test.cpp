// Pure work on several executors, seen through the interface: what is taken and what becomes of it, as the trace tells;
// limits and interruptions anywhere in it. Slices are short under exit stress, and the quantum is tiny, so nearly
// everything is taken that somebody has time for; when that is, depends on the threads, so cases that need a theft try
// until there was one. What the rules are is tested in sched/posse_*_test.cpp, results and errors in tests/lang.
#include <posset/trace.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "fixture.h"
#include "interp/api/handles.h"
#include "interp/runtime/posse.h"
#include "interp/runtime/work.h"
#include "sched/base/random.h"

namespace posset::test {

namespace {

posset_runtime_options stealing(uint32_t workers = 3) {
  posset_runtime_options options = posset_runtime_defaults();
  options.workers = workers;
  options.quantum_us = 1;
  options.exit_stress = 3;
  return options;
}

// A tree of texts and numbers, made and looked at by recursions that branch.
constexpr std::string_view kProgram =
    "type Tree = Leaf(text, value) | Node(left, right)\n"
    "fn grow(depth, value) =>\n"
    "  if depth == 0 { Leaf(str(value), value) } else { Node(grow(depth - 1, value * 2), grow(depth - 1, value * 2 + 1)) }\n"
    "fn total(tree) => match tree {\n"
    "  Leaf(text, value) => len(text) + value % 7\n"
    "  Node(left, right) => total(left) + total(right)\n"
    "}\n"
    "total(grow(11, 1))";
constexpr std::string_view kResult = "14339";

// Recursions with something small to their right, and to their left.
constexpr std::string_view kLinear =
    "fn leaf(n) {\n  var x = n\n  for i in 0..20 { x = (x * 1103515245 + 12345) % 2147483648 }\n  x\n}\n"
    "fn right(n) => if n == 0 { 0 } else { right(n - 1) + leaf(n) }\n"
    "fn left(n) => if n == 0 { 0 } else { leaf(n) + left(n - 1) }\n"
    "right(500) - left(500)";

// Built-ins and a comprehension of which others do some elements.
constexpr std::string_view kElements =
    "fn work(n) {\n  var x = n\n  for i in 0..20 { x = (x * 1103515245 + 12345) % 2147483648 }\n  x\n}\n"
    "fn all_of(xs) => [\n"
    "  count(xs, n => work(n) % 3 == 0),\n"
    "  any(xs, n => work(n) == 1), any(xs, n => n == 211 and work(n) > 0), all(xs, n => n < 211 or work(n) < 0),\n"
    "  find(xs, n => n == 211 and work(n) > 0),\n"
    "  len(flat_map(xs, n => fill(work(n) % 40, n))),\n"
    "  sort_by(xs, n => work(n))[7], len(group_by(xs, n => [work(n) % 5, \"{n % 3}\"])),\n"
    "  sum([for n in xs if work(n) % 2 == 0 => work(n + 1) % 100]),\n"
    "]\n"
    "all_of(list(0..300))";

std::string written(posset_runtime* runtime) {
  std::string made;
  REQUIRE(posset_trace_write(runtime, POSSET_TRACE_TEXT, append, &made) == POSSET_OK);
  return made;
}

// The lines of an event, by the job they are about.
std::multimap<std::string, std::string> by_job(const std::string& trace, const std::string& event) {
  std::multimap<std::string, std::string> found;
  for (size_t at = trace.find(" " + event + " job="); at != std::string::npos; at = trace.find(" " + event + " job=", at + 1)) {
    const std::string line = trace.substr(at + 1, trace.find('\n', at) - at - 1);
    const size_t job = event.size() + 5;
    found.emplace(line.substr(job, line.find(' ', job) - job), line);
  }
  return found;
}

// A pure function of one argument.
void define_pure(World& world, const char* name, const char* signature, void* data, decltype(posset_function_row::function) function) {
  posset_function_row row = {};
  row.name = name;
  row.signature = signature;
  row.doc = "";
  row.min_arguments = row.max_arguments = 1;
  row.pure = true;
  row.data = data;
  row.function = function;
  REQUIRE(posset_define(world.context, &row, sizeof row, nullptr) == POSSET_OK);
}

}  // namespace

TEST_CASE("parallel: the trace tells what was taken by whom, and what became of it") {
  posset_runtime_options options = stealing();
  options.trace_events = 1 << 16;
  World world(posset_context_defaults(), options);
  for (int tries = 0; tries < 1000 && written(world.runtime).find(" part_merged ") == std::string::npos; ++tries) {
    REQUIRE(world.show(kProgram) == kResult);
  }
  const std::string trace = written(world.runtime);
  const auto taken = by_job(trace, "part_taken"), computed = by_job(trace, "part_computed"), merged = by_job(trace, "part_merged");
  REQUIRE(trace.ends_with("# 0 events dropped\n"));
  REQUIRE(!merged.empty());
  CHECK(merged.size() <= taken.size());
  CHECK(computed.size() == taken.size());
  for (const auto& [job, line] : taken) {
    CHECK_MESSAGE(computed.count(job) == 1, line);
    CHECK_MESSAGE(merged.count(job) <= 1, line);
    CHECK_MESSAGE(line.find(" at=<eval>:") != std::string::npos, line);
  }
  for (const auto& [job, line] : merged) CHECK_MESSAGE(taken.count(job) == 1, line);
  CHECK(trace.find(" executor_idle took=") != std::string::npos);
  CHECK(trace.find("\n# parts at ") != std::string::npos);
}

TEST_CASE("parallel: the trace names the place of a built-in or comprehension whose elements are taken, in every tier") {
  constexpr std::string_view kWork = "fn work(n) {\n  var x = n\n  for i in 0..40 { x = (x * 31 + 7) % 100003 }\n  x\n}\n";
  constexpr std::string_view kCalls[] = {"map(xs, n => work(n))",     "filter(xs, n => work(n) > 0)",  "count(xs, n => work(n) > 0)",
                                         "any(xs, n => work(n) < 0)", "flat_map(xs, n => [work(n)])",  "reduce(xs, (n, m) => work(n + m))",
                                         "sort_by(xs, work)",         "group_by(xs, n => work(n) % 3)", "[for n in xs => work(n)]"};
  for (const uint8_t tier : {0, 1, 3}) {
    for (const std::string_view call : kCalls) {
      posset_runtime_options options = stealing();
      options.trace_events = 1 << 16;
      options.max_tier = tier;
      World world(posset_context_defaults(), options);
      const std::string program = std::string(kWork) + "fn f(xs) {\n  let made = " + std::string(call) + "\n  made\n}\nfor i in 0..20 { f(2000..4500) }";
      std::multimap<std::string, std::string> taken;
      for (int tries = 0; tries < 1000 && taken.empty(); ++tries) {
        world.show(program);
        taken = by_job(written(world.runtime), "part_taken");
      }
      INFO(program);
      CHECK(!taken.empty());
      for (const auto& [job, line] : taken) CHECK_MESSAGE(line.find(" at=<eval>:7:14 ") != std::string::npos, line);
    }
  }
}

TEST_CASE("parallel: of three elements that take long, others do one, also where the loop goes on in other code") {
  posset_runtime_options options = posset_runtime_defaults();
  options.workers = 2;
  options.quantum_us = 100;
  options.trace_events = 1 << 12;
  options.tier1_after = 1;
  for (const int32_t tier : {0, 1}) {  // in bytecode the loop goes on after an element
    options.max_tier = tier;
    World world(posset_context_defaults(), options);
    const std::string program =
        "fn work(n) {\n  var x = n\n  for i in 0..400000 { x = (x * 31 + i) % 100003 }\n  x\n}\n"
        "let xs = [1, 2, 3]\nlen(map(xs, n => work(n)))";
    for (int tries = 0; tries < 50 && written(world.runtime).find(" part_taken ") == std::string::npos; ++tries) {
      REQUIRE(world.show(program) == "3");
    }
    CHECK(written(world.runtime).find(" part_taken ") != std::string::npos);
  }
}

TEST_CASE("parallel: with one worker nothing is taken") {
  posset_runtime_options options = stealing(1);
  options.trace_events = 1 << 16;
  World world(posset_context_defaults(), options);
  CHECK(world.show(kProgram) == kResult);
  CHECK(written(world.runtime).find(" part_") == std::string::npos);
}

TEST_CASE("parallel: a cabal limit keeps an evaluation on so many executors") {
  posset_runtime_options options = stealing(4);
  options.trace_events = 1 << 16;
  options.cabal_limit = 2;
  World world(posset_context_defaults(), options);
  for (int tries = 0; tries < 1000 && written(world.runtime).find(" part_merged ") == std::string::npos; ++tries) {
    REQUIRE(world.show(kProgram) == kResult);
  }
  REQUIRE(world.show(kProgram) == kResult);
  // Between two evaluations the host's thread may become another executor; within one no third takes part.
  CHECK(!by_job(written(world.runtime), "part_taken").empty());
  options.cabal_limit = 1;
  World alone(posset_context_defaults(), options);
  for (int n = 0; n < 5; ++n) REQUIRE(alone.show(kProgram) == kResult);
  const std::string trace = written(alone.runtime);
  for (const auto& [job, line] : by_job(trace, "part_taken")) CHECK_MESSAGE(line.empty(), line);
}

TEST_CASE("parallel: any number of workers takes the same steps") {
  uint64_t expected = 0, of_linear = 0, of_elements = 0;
  for (uint32_t workers : {1, 2, 3, 8}) {
    World world(posset_context_defaults(), stealing(workers));
    for (int round = 0; round < 5; ++round) {
      CHECK(world.show(kProgram) == kResult);
      const uint64_t steps = world.statistics().steps;
      if (expected == 0) expected = steps;
      CHECK(steps == expected);
      CHECK(world.show(kLinear) == "0");
      if (of_linear == 0) of_linear = world.statistics().steps;
      CHECK(world.statistics().steps == of_linear);
      CHECK(world.show(kElements) == "[101, false, true, false, 211, 5882, 2, 15, 7568]");
      if (of_elements == 0) of_elements = world.statistics().steps;
      CHECK(world.statistics().steps == of_elements);
    }
  }
}

// Of one that goes on to the right the record stands for all the rest: nobody would gain by it.
TEST_CASE("parallel: what is small in a linear recursion is computed by others, on either side") {
  posset_runtime_options options = stealing();
  options.trace_events = 1 << 16;
  for (const char* at : {" at=<eval>:6:54 ", " at=<eval>:7:38 "}) {
    World world(posset_context_defaults(), options);
    const auto taken = [&] { return written(world.runtime).find(at) != std::string::npos; };
    for (int tries = 0; tries < 200 && !taken(); ++tries) REQUIRE(world.show(kLinear) == "0");
    CHECK(taken());
  }
}

// Code that was entered in the middle, or is nested deep, has not left all that is open around a handler.
TEST_CASE("parallel: an error drops the records of its frame that are not open around its handler, however many it has left") {
  World world(posset_context_defaults(), stealing());
  interp::Context& context = *world.context;
  REQUIRE(context.seat);
  context.seat->begin();
  interp::Borrowed registers[8] = {};
  const auto leave = [&](std::initializer_list<uint32_t> points) {
    for (const uint32_t point : points) interp::fork(context, point, registers, nullptr);
    interp::fork(context, 0, registers + 4, nullptr);  // of a call
  };
  const auto left = [&](uint32_t open) {
    interp::drop_forks_above(context, registers, open);
    const auto count = context.fork_top - context.fork_base;
    interp::drop_forks(context, context.fork_base);
    return count;
  };
  leave({0, 1});
  CHECK(left(0b01) == 1);
  leave({1});
  CHECK(left(0b01) == 0);
  leave({1});
  CHECK(left(0b11) == 1);
  leave({2, 0, 1});
  CHECK(left(0b111) == 3);
  leave({2, 0, 1});
  CHECK(left(0) == 0);
  leave({});
  context.fork_top[-1].frame = registers;
  context.fork_top[-1].header = interp::ForkRecord::kBuiltin;
  CHECK(left(0) == 1);
}

// In bytecode, which leaves records on every level; how deep native code does is in runtime/fork_depth_test.cpp.
TEST_CASE("parallel: what branches only below many calls is computed by others") {
  posset_runtime_options options = stealing();
  options.trace_events = 1 << 16;
  World world(posset_context_defaults(), options);
  constexpr std::string_view kDeep =
      "fn branch(n) => if n == 0 { 1 } else { branch(n - 1) + branch(n - 1) }\n"
      "fn sink(n) => if n == 0 { branch(12) } else { 1 + sink(n - 1) }\n"
      "sink(200)";
  const auto taken = [&] { return written(world.runtime).find(" at=<eval>:1:") != std::string::npos; };
  for (int tries = 0; tries < 200 && !taken(); ++tries) REQUIRE(world.show(kDeep) == "4296");
  CHECK(taken());
}

TEST_CASE("parallel: a step limit ends the evaluation in the same place, wherever it is") {
  World sequential(posset_context_defaults(), stealing(1)), stolen(posset_context_defaults(), stealing());
  posset::sched::Random random(5);
  for (int round = 0; round < 120; ++round) {
    const std::string_view program = round % 2 == 0 ? kProgram : kLinear;
    for (World* world : {&sequential, &stolen}) {
      const posset_context_options options = posset_context_defaults();
      REQUIRE(posset_context_set_options(world->context, &options) == POSSET_OK);
    }
    REQUIRE(sequential.eval(program) == POSSET_OK);
    const uint64_t all = sequential.statistics().steps;
    const uint64_t limit = 1 + random.below(static_cast<uint32_t>(all + all / 8));
    for (World* world : {&sequential, &stolen}) {
      posset_context_options options = posset_context_defaults();
      options.step_limit = limit;
      REQUIRE(posset_context_set_options(world->context, &options) == POSSET_OK);
    }
    const bool enough = sequential.eval(program) == POSSET_OK;
    CHECK((stolen.eval(program) == POSSET_OK) == enough);
    if (enough) continue;
    const Problem a = sequential.problem(), b = stolen.problem();
    CHECK(a.report == b.report);
  }
}

// Native code that calls itself keeps the place for fork records itself. What an error left above it was forgotten.
TEST_CASE("parallel: a limit in hot recursion leaves none of what its parts have made") {
  const std::string program =
      "fn text(n, end) => if n <= 0 { end } else { text(n - 1, end + \"l\") + str(n) + text(n - 2, \"raw\") }\n"
      "len(text(16, \"a\"))";
  posset::sched::Random random(11);
  posset_runtime_options hot = stealing();
  hot.tier3_after = 3;
  hot.native_passes = "quick";
  for (int round = 0; round < 60; ++round) {
    posset_runtime* native = nullptr;
    REQUIRE(posset_default_runtime(&hot, &native) == POSSET_OK);
    posset_context_options options = posset_context_defaults();
    options.step_limit = 200 + random.below(2000);
    World world(native, options);  // which looks at what is left when it ends
    posset_runtime_release(native);
    CHECK(world.eval(program) == POSSET_RAISED);
    CHECK(world.problem().is_limit);
  }
}

TEST_CASE("parallel: limits that are set later hold for those who work for a context as well") {
  World world(posset_context_defaults(), stealing());
  const std::string endless =
      "fn endless(n) {\n  var s = n\n  while s >= 0 { s += 1 }\n  s\n}\n"
      "fn sum(n) => if n < 2 { n } else { sum(n - 1) + sum(n - 2) }\n"
      "sum(21) + endless(1)";
  for (int round = 0; round < 20; ++round) REQUIRE(world.show(kProgram) == kResult);
  posset_context_options options = posset_context_defaults();
  options.step_limit = 3000000;
  options.stack_limit = 5000;
  REQUIRE(posset_context_set_options(world.context, &options) == POSSET_OK);
  for (int round = 0; round < 5; ++round) {
    CHECK(world.eval(endless) == POSSET_RAISED);
    CHECK(world.problem().is_limit);
    CHECK(world.show("fn deep(n) => if n == 0 { 0 } else { deep(n - 1) + deep(0) }\ndeep(6000)").find("nested calls") !=
          std::string::npos);
  }
}

TEST_CASE("parallel: an interruption leaves nothing behind, whenever it comes") {
  World world(posset_context_defaults(), stealing());
  posset::sched::Random random(7);
  std::atomic<int> round{0};
  int interrupted = 0;
  constexpr int kRounds = 100;
  std::thread other([&] {
    for (int seen = 0; seen < kRounds;) {
      while (round.load(std::memory_order_acquire) == seen) std::this_thread::yield();
      seen = round.load(std::memory_order_acquire);
      if (seen > kRounds) return;
      std::this_thread::sleep_for(std::chrono::microseconds(random.below(3000)));
      posset_interrupt(world.context);
    }
  });
  for (int i = 1; i <= kRounds; ++i) {
    round.store(i, std::memory_order_release);
    const posset_status status = world.eval(kProgram);
    if (status != POSSET_OK) {
      ++interrupted;
      CHECK(world.problem().is_interrupt);
    }
  }
  other.join();
  CHECK(interrupted > 0);
  world.eval("nil");  // the last interruption may have come late
  posset_error_free(posset_take_error(world.context));
  CHECK(world.show(kProgram) == kResult);
}

namespace {

// Interrupts from within a part on another core, while the evaluation's own thread is held in a call of the same function.
struct Interrupter {
  posset_context* root;
  bool tells_helper;
  std::atomic<int> in_parts{0};
  std::atomic<bool> asks{false}, holds{false}, done{false}, before{false}, wish{false}, walk{false};

  void hold() {
    holds = true;
    while (asks && !done) std::this_thread::yield();
  }
  posset_status interrupt(posset_context* helper) {
    asks = true;
    // The root may be waiting for the part, and takes its interruption up no sooner than that.
    for (int tries = 0; tries < 2000 && !holds; ++tries) std::this_thread::sleep_for(std::chrono::microseconds(100));
    before = helper->heap.is_to_stop();
    posset_interrupt(tells_helper ? helper : root);
    wish = helper->heap.is_to_stop();
    interp::ContextPatience patience(*helper);
    walk = !patience.lasts(1 << 20);
    const bool held = patience.held();
    done = true;
    return held ? POSSET_OK : POSSET_RAISED;
  }
};

}  // namespace

// What helps asks the same as who is helped, so that neither a copy nor a walk goes on in a part whose whole is to stop.
TEST_CASE("parallel: a part knows at once that the evaluation it belongs to is to stop") {
  for (const bool tells_helper : {false, true}) {
    CAPTURE(tells_helper);
    World world(posset_context_defaults(), stealing());
    Interrupter by{world.context, tells_helper};
    posset_function_row row = {};
    row.name = "costly", row.signature = "costly(x)", row.doc = "";
    row.min_arguments = row.max_arguments = 1;
    row.pure = true;
    row.data = &by;
    row.function = [](posset_call* call) {
      auto& to = *static_cast<Interrupter*>(call->data);
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      call->result = posset_int(1);
      if (call->context == to.root) {
        if (to.asks) to.hold();
      } else if (to.in_parts.fetch_add(1) == 0) {
        return to.interrupt(call->context);
      }
      return POSSET_OK;
    };
    REQUIRE(posset_define(world.context, &row, sizeof row, nullptr) == POSSET_OK);
    world.session("fn sum_of(n) => if n == 0 { 0 } else { costly(n) + sum_of(n - 1) + costly(n + 1) }");
    std::string last;
    for (int tries = 0; tries < 1000 && by.in_parts == 0; ++tries) last = world.session("sum_of(20)");
    REQUIRE(by.in_parts > 0);
    CHECK(last.find("interrupted") != std::string::npos);
    CHECK_FALSE(by.before);
    CHECK(by.wish);
    CHECK(by.walk);
    // Nothing of it is left with who helped.
    by.in_parts = 1;
    for (int tries = 0; tries < 1000 && by.in_parts < 20; ++tries) REQUIRE(world.session("sum_of(20)") == "40");
    CHECK(by.in_parts >= 20);
  }
}

TEST_CASE("parallel: a deep recursion overflows in a task at the same depth, wherever its parts are computed") {
  constexpr std::string_view kDeep =
      "fn fib(n) => if n < 2 { n } else { fib(n - 1) + fib(n - 2) }\n"
      "fn deep(n) => if n == 0 { 0 } else { 1 + deep(n - 1) }\n"
      "fn twice() => (fib(14) + deep(9000)) + (fib(14) + deep(11000))\n"
      "await spawn twice()";
  World alone(posset_context_defaults(), stealing(1)), stolen(posset_context_defaults(), stealing());
  const std::string expected = alone.show(kDeep);
  REQUIRE(expected.find("nested calls") != std::string::npos);
  for (int round = 0; round < 10; ++round) CHECK(stolen.show(kDeep) == expected);
}

namespace {

// The second half needs more at once than the first leaves behind. `limit` bytes of memory; true: that was enough.
bool is_enough(World& world, size_t limit) {
  posset_context_options options = posset_context_defaults();
  options.memory_limit = limit;
  REQUIRE(posset_context_set_options(world.context, &options) == POSSET_OK);
  const posset_status status = world.eval(
      "fn texts(n) => [for i in 0..n => str(i * 1000003)]\n"
      "fn halves(depth) {\n"
      "  let kept = texts(if depth == 0 { 12000 } else { 100 })\n"
      "  let more = if depth == 0 { len(texts(20000)) } else { halves(depth - 1) }\n"
      "  len(kept) + more\n"
      "}\n"
      "halves(2)");
  if (status == POSSET_OK) return true;
  CHECK(world.problem().is_limit);
  return false;
}

}  // namespace

TEST_CASE("parallel: stealing neither causes nor avoids a lack of memory") {
  World sequential(posset_context_defaults(), stealing(1)), stolen(posset_context_defaults(), stealing());
  size_t too_little = 64 << 10, enough = 64 << 20;
  REQUIRE(is_enough(sequential, enough));
  while (enough - too_little > 16 << 10) {
    const size_t middle = (enough + too_little) / 2;
    (is_enough(sequential, middle) ? enough : too_little) = middle;
  }
  // Heaps take memory by pages, and each has some that are half full.
  const size_t slack = enough / 8;
  for (int round = 0; round < 40; ++round) {
    CHECK(is_enough(stolen, enough + slack));
    CHECK_FALSE(is_enough(stolen, enough - slack));
  }
}

namespace {

// The most memory that it takes to make trees of 32 Ki texts and sum them up, so often.
uint64_t peak_of_trees(uint32_t workers, int times) {
  posset_runtime_options options = posset_runtime_defaults();
  options.workers = workers;
  options.quantum_us = 20;
  World world(posset_context_defaults(), options);
  std::string source(kProgram.substr(0, kProgram.rfind('\n') + 1));
  source += "var sum = 0\nfor round in 0.." + std::to_string(times) + " { sum += total(grow(15, 1)) }\nsum > 0";
  REQUIRE(world.show(source) == "true");
  posset_statistics statistics{};
  statistics.size = sizeof statistics;
  posset_context_statistics(world.context, &statistics);
  return statistics.peak_bytes;
}

}  // namespace

TEST_CASE("parallel regression: what parts have made is given back when it has died, however many there were") {
  constexpr uint64_t kFirstPages = 8 << 20;  // that are kept in any case
  CHECK(peak_of_trees(2, 40) <= 4 * peak_of_trees(1, 2) + kFirstPages);
}

TEST_CASE("parallel: a program goes when it has ended, though executors keep references to its functions") {
  posset_runtime_options options = stealing();
  options.trace_events = 1 << 16;
  World world(posset_context_defaults(), options);
  const auto live_objects = [&] {
    posset_statistics statistics{};
    statistics.size = sizeof statistics;
    posset_context_statistics(world.context, &statistics);
    return statistics.live_objects;
  };
  for (int tries = 0; tries < 1000 && written(world.runtime).find(" part_merged ") == std::string::npos; ++tries) {
    REQUIRE(world.show(kProgram) == kResult);
    CHECK(live_objects() == 0);
  }
}

TEST_CASE("parallel: pure functions of the host take part") {
  struct Seen {
    std::mutex mutex;
    std::set<std::thread::id> threads;
  } seen;
  World world(posset_context_defaults(), stealing());
  define_pure(world, "costly", "costly(x)", &seen, [](posset_call* call) {
    auto& by = *static_cast<Seen*>(call->data);
    {
      std::lock_guard lock(by.mutex);
      by.threads.insert(std::this_thread::get_id());
    }
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    const int64_t x = posset_as_int(posset_argument(call, 0));
    call->result = posset_int(x * x);
    return POSSET_OK;
  });
  world.session("fn sum_of(n) => if n == 0 { 0 } else { costly(n) + sum_of(n - 1) + costly(n + 1) }");
  for (int tries = 0; tries < 1000 && seen.threads.size() < 2; ++tries) REQUIRE(world.session("sum_of(20)") == "6180");
  const std::string why = explain(world, "sum_of");
  INFO(why);
  CHECK(seen.threads.size() > 1);
}

TEST_CASE("parallel: who helps makes way for compilations until somebody waits for what it computes") {
  struct Seen {
    const std::thread::id home = std::this_thread::get_id();
    sched::Processors* processors = nullptr;
    std::deque<sched::Processors::Compiling> compilations;  // from the first call of a helper on
    std::atomic<int> calls{0}, before_end{0};               // of helpers: all, and until the end of what is computed at home
  } seen;
  World world(posset_context_defaults(), stealing(2));
  seen.processors = &world.runtime->state.processors;
  define_pure(world, "costly", "costly(x)", &seen, [](posset_call* call) {
    auto& by = *static_cast<Seen*>(call->data);
    if (std::this_thread::get_id() == by.home) {
      by.before_end = by.calls.load();
    } else if (by.calls++ == 0) {
      for (size_t n = 0; n < sched::hardware_threads(); ++n) by.compilations.emplace_back(by.processors);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    call->result = posset_argument(call, 0);
    posset_retain(call->result);
    return POSSET_OK;
  });
  world.session("fn sum_to(n) {\n  var x = 0\n  for i in 0..n { x += costly(i) }\n  x\n}\nfn both(n) => sum_to(n) + sum_to(n)");
  for (int tries = 0; tries < 1000 && seen.calls < 100; ++tries) {
    seen.compilations.clear();
    seen.calls = seen.before_end = 0;
    REQUIRE(world.session("both(300)") == "89700");
  }
  CHECK(seen.calls >= 100);
  CHECK(seen.before_end < 50);
  seen.compilations.clear();  // before the runtime goes
}

TEST_CASE("parallel: a recursion whose parts take far longer on others is kept at home for a while") {
  struct Seen {
    const std::thread::id home = std::this_thread::get_id();
    std::atomic<int> calls{0};
  } seen;
  posset_runtime_options options = posset_runtime_defaults();
  options.workers = 2;
  options.quantum_us = 50;
  options.max_tier = 1;
  options.trace_events = 1 << 16;
  World world(posset_context_defaults(), options);
  define_pure(world, "leaf", "leaf(x)", &seen, [](posset_call* call) {
    auto& by = *static_cast<Seen*>(call->data);
    if (std::this_thread::get_id() != by.home && ++by.calls % 64 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    call->result = posset_int(1);
    return POSSET_OK;
  });
  world.session("fn leaves(n) => if n == 0 { leaf(n) } else { leaves(n - 1) + leaves(n - 1) }");
  const auto tells = [&] { return by_job(written(world.runtime), "part_unpaid"); };
  for (int tries = 0; tries < 100 && tells().empty(); ++tries) REQUIRE(world.session("leaves(14)") == "16384");
  REQUIRE(!tells().empty());
  bool holds_first = false;
  for (const auto& [job, line] : tells()) {
    holds_first = holds_first || line.find(" quanta=32") != std::string::npos;
    CHECK(by_job(written(world.runtime), "part_taken").count(job) == 1);
  }
  CHECK(holds_first);
}

TEST_CASE("parallel: nothing is handed over while compilations need the processors, and all that has been ends") {
  posset_runtime_options options = stealing();
  options.trace_events = 1 << 16;
  {
    World world(posset_context_defaults(), options);
    std::deque<sched::Processors::Compiling> compilations;
    for (size_t n = 0; n < sched::hardware_threads(); ++n) compilations.emplace_back(&world.runtime->state.processors);
    for (int n = 0; n < 5; ++n) REQUIRE(world.show(kProgram) == kResult);
    CHECK(written(world.runtime).find(" part_taken ") == std::string::npos);
  }
  World world(posset_context_defaults(), options);
  std::atomic<bool> over{false};
  std::thread compiler([&] {
    while (!over) {
      {
        const sched::Processors::Compiling one(&world.runtime->state.processors), two(&world.runtime->state.processors);
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
  });
  for (int tries = 0; tries < 1000 && written(world.runtime).find(" part_merged ") == std::string::npos; ++tries) {
    REQUIRE(world.show(kProgram) == kResult);
  }
  World alone(posset_context_defaults(), stealing(1));
  const std::string expected = alone.show(kLinear);
  for (int n = 0; n < 40; ++n) REQUIRE(world.show(kLinear) == expected);
  over = true;
  compiler.join();
  CHECK(written(world.runtime).find(" part_merged ") != std::string::npos);
}

TEST_CASE("parallel: objects of the host that never change take part, others stay") {
  struct Seen {
    std::mutex mutex;
    std::set<std::thread::id> threads;
  };
  const auto get = [](posset_call* call) {
    auto& by = *static_cast<Seen*>(call->self);
    {
      std::lock_guard lock(by.mutex);
      by.threads.insert(std::this_thread::get_id());
    }
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    return posset_return(call, posset_int(2));
  };
  for (const bool all_pure : {true, false}) {
    posset_runtime* runtime = make_runtime(stealing());
    const posset_property_row properties[] = {{"weight", "", get, nullptr, nullptr, true},
                                              {"changing", "", get, nullptr, nullptr, all_pure}};
    posset_type_row row = posset_type_of("Body");
    row.properties = properties, row.property_count = 2;
    const posset_type* type = nullptr;
    REQUIRE(posset_register_type(runtime, &row, &type) == POSSET_OK);
    Seen seen;
    {
      World world(runtime, posset_context_defaults());
      posset_object object = posset_object_of(&seen);
      posset_value body = posset_nil();
      REQUIRE(posset_host(world.context, type, &object, &body) == POSSET_OK);
      REQUIRE(posset_set_global(world.context, text("body"), body) == POSSET_OK);
      world.session("fn sum_of(b, n) => if n == 0 { b.weight } else { sum_of(b, n - 1) + sum_of(b, n - 1) }");
      const int most = all_pure ? 1000 : 50;
      for (int tries = 0; tries < most && seen.threads.size() < 2; ++tries) REQUIRE(world.session("sum_of(body, 7)") == "256");
      const std::string why = explain(world, "sum_of");
      INFO(why);
      CHECK((seen.threads.size() > 1) == all_pure);
    }
    posset_runtime_release(runtime);
  }
}

TEST_CASE("parallel: explanations tell of every built-in and comprehension whether it is divided, and why not") {
  posset_runtime_options options = stealing(2);
  World world(posset_context_defaults(), options);
  world.session("fn work(n) => if n < 2 { n } else { work(n - 1) }");
  world.session("fn loud(n) {\n  println(n)\n  work(n)\n}");
  world.session("fn lends(inout n) => work(n)");
  const auto told = [&](const std::string& body) {
    world.session("fn f(xs, g) => " + body);
    const std::string all = explain(world, "f");
    const size_t at = all.find("divided: ");
    if (at == std::string::npos) return std::string();
    const size_t begin = all.rfind('\n', at) + 3;
    return all.substr(begin, all.find('\n', at) - begin);
  };
  for (const std::string name : {"map", "filter", "count", "any", "all", "find", "flat_map", "group_by"}) {
    const std::string call = name + "(xs, n => work(n))";
    CHECK(told(call) == "divided: 1:16 `" + call + "` over a list or range");
  }
  CHECK(told("reduce(xs, (a, b) => work(a + b))") == "divided: 1:16 `reduce(xs, (a, b) => work(a + b))` over a list or range");
  CHECK(told("sort_by(xs, work)") == "divided: 1:16 `sort_by(xs, work)`");
  CHECK(told("tabulate(9, work)") == "divided: 1:16 `tabulate(9, work)`");
  CHECK(told("[for x in xs if work(x) > 1 => x]") == "divided: 1:16 `[for x in xs if work(x) > 1 => x]` over a list or range");
  CHECK(told("[for x in xs => g(work(x))]") == "divided: 1:16 `[for x in xs => g(work(x))]` over a list or range, where 'g' is pure");
  CHECK(told("map(xs, g)") == "divided: 1:16 `map(xs, g)` over a list or range, where 'g' is pure and may take long");
  CHECK(told("map(xs, g.h)") == "divided: 1:16 `map(xs, g.h)` over a list or range, where the function given is pure and may take long");
  CHECK(told("map(xs, x => x + 1)") == "not divided: 1:16 `map(xs, x => x + 1)`: what it does for an element takes no time [part_cheap]");
  CHECK(told("map(xs, len)").ends_with("[part_cheap]"));
  CHECK(told("[for x in xs => x + 1]").ends_with("`[for x in xs => x + 1]`: what it does for an element takes no time [part_cheap]"));
  CHECK(told("count(xs, loud)") == "not divided: 1:16 `count(xs, loud)`: it is not pure: passes 'loud' to 'count', and loud calls 'println' [fork_impure]");
  CHECK(told("[for x in xs => loud(x)]").ends_with("it is not pure: calls 'loud', and loud calls 'println' [fork_impure]"));
  CHECK(told("any(xs, x => g.h(work(x)))").ends_with("[fork_unproved]"));
  CHECK(told("map(xs, lends)").ends_with("[part_inout]"));
  CHECK(told("fold(xs, 0, (a, x) => a + work(x))").ends_with("one element after the other [part_in_order]"));
  CHECK(told("[for x in xs => do { if work(x) > 2 { break }; x }]").ends_with("[fork_leaves]"));
  CHECK(told("do { var n = 0; [for x in xs => do { n += work(x); n }] }").ends_with("[fork_writes]"));
  World alone(posset_context_defaults(), stealing(1));
  alone.session("fn work(n) => if n < 2 { n } else { work(n - 1) }");
  alone.session("fn f(xs) => map(xs, work)");
  CHECK(explain(alone, "f").find("divided: 1:13 `map(xs, work)` over a list or range: one worker only [fork_off]\n") != std::string::npos);
}

}  // namespace posset::test
