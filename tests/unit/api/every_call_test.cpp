// An interruption acts in the middle of every function that is built in and of every operator. The calls are made from the
// table (every_call.h), so a new function is among them by itself. Each begins with the interruption wished for
// already: it may end with that error, with another, or, where it has little to do, with its result, which is known by the
// steps and memory that it took. How soon in milliseconds is measured in bench/embed.
#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "every_call.h"
#include "fixture.h"

using posset::test::Problem;
using posset::test::World;

namespace {

// Of a call that ends by itself: those of one slice, and what a few large texts take.
constexpr uint64_t kFewSteps = 8190;
constexpr uint64_t kFewBytes = uint64_t{16} << 20;

enum class End { Interrupted, Error, Little, Much };

End end_of(World& w, posset_value function, uint64_t before) {
  posset_value result = posset_nil();
  posset_interrupt(w.context);
  const posset_status status = posset_invoke(w.context, function, nullptr, 0, &result);
  if (status == POSSET_RAISED) return w.problem().is_interrupt ? End::Interrupted : End::Error;
  REQUIRE(status == POSSET_OK);
  const posset_statistics after = w.statistics();
  posset_release(result);
  const bool grown = after.used_bytes > before && after.used_bytes - before > kFewBytes;
  return after.steps > kFewSteps || grown ? End::Much : End::Little;
}

}  // namespace

TEST_CASE("an interruption acts in every function that is built in") {
  posset_runtime_options options = posset_runtime_defaults();
  options.max_tier = 1;
  posset_runtime* runtime = nullptr;
  REQUIRE(posset_default_runtime(&options, &runtime) == POSSET_OK);
  {
    World w(runtime, posset_context_defaults());
    REQUIRE(every_call::give(w.context));
    std::vector<std::string> names;
    std::set<std::string> interrupted, tried;
    const uint64_t before = w.statistics().used_bytes;
    for (const every_call::Call& call : every_call::make(runtime, names)) {
      posset_value function = posset_nil();
      if (!every_call::prepare(w.context, call, function)) {
        if (posset_error* error = posset_take_error(w.context)) posset_error_free(error);
        continue;
      }
      tried.insert(call.name);
      const End end = end_of(w, function, before);
      CHECK_MESSAGE(end != End::Much, call.text);
      if (end == End::Interrupted) interrupted.insert(call.name);
      posset_release(function);
    }
    for (const std::string& name : names) CHECK_MESSAGE(tried.contains(name), name);
    // Most functions that take more than a number can be given much to do.
    for (const char* name : {"operators", "sort", "sum", "map", "split", "str", "strings.upper", "json.encode", "re.find_all"})
      CHECK_MESSAGE(interrupted.contains(name), std::string(name));
    CHECK(interrupted.size() > names.size() / 4);
  }
  posset_runtime_release(runtime);
}

namespace {

// A function without parameters is called when the interruption is wished for already.
posset_statistics when_interrupted(const char* source) {
  posset_runtime* runtime = nullptr;
  REQUIRE(posset_default_runtime(nullptr, &runtime) == POSSET_OK);
  posset_statistics statistics{};
  {
    World w(runtime, posset_context_defaults());
    posset_value function = posset_nil();
    REQUIRE(w.eval(source, &function) == POSSET_OK);
    posset_interrupt(w.context);
    CHECK(posset_invoke(w.context, function, nullptr, 0, nullptr) == POSSET_RAISED);
    CHECK(w.problem().is_interrupt);
    statistics = w.statistics();
    posset_release(function);
  }
  posset_runtime_release(runtime);
  return statistics;
}

}  // namespace

TEST_CASE("join is interrupted between long separators, not when gigabytes of them stand there") {
  CHECK(when_interrupted("let long = join(fill(100000, \"0123456789\"))\n() => join(0..4000, long)").peak_bytes < 256 << 20);
}

TEST_CASE("join is interrupted in the middle of a long separator") {
  const uint64_t steps = when_interrupted("let long = join(fill(400000, \"0123456789\"))\n() => join(0..2, long)").steps;
  CHECK(steps < 20000);  // of 62500 for the first separator
}

// They are few bytes, which is what steps are counted by, but each is made.
TEST_CASE("split and lines are interrupted between short pieces that together are less than a slice") {
  when_interrupted("let text = join(fill(200000, \"a\"), \",\")\n() => split(text, \",\")");
  when_interrupted("let text = join(fill(200000, \"a\"), \"\\n\")\n() => lines(text)");
}

namespace {

// Is the call ended by another thread's interruption, so long after it has begun? False: it ended by itself.
bool is_interrupted(posset_runtime* runtime, const char* module, const char* call, int after_us) {
  World w(runtime, posset_context_defaults());
  std::atomic<bool> begun{false};
  posset_function_row row = {};
  row.name = "begin";
  row.signature = "begin()";
  row.doc = "";
  row.data = &begun;
  row.function = [](posset_call* running) {
    *static_cast<std::atomic<bool>*>(running->data) = true;
    return POSSET_OK;
  };
  REQUIRE(posset_define(w.context, &row, sizeof row, nullptr) == POSSET_OK);
  posset_value function = posset_nil();
  const std::string source = std::string("import \"") + module + "\"\nlet text = join([for i in 0..300000 => \"ab, c\\n\"])\n" +
                             "let halves = [for i in 0..300000 => i * 0.5]\n() => { begin()\n " + call + " }";
  REQUIRE(w.eval(source, &function) == POSSET_OK);
  std::thread other([&] {
    while (!begun) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(after_us));
    posset_interrupt(w.context);
  });
  posset_value result = posset_nil();
  const posset_status status = posset_invoke(w.context, function, nullptr, 0, &result);
  other.join();
  const bool interrupted = status == POSSET_RAISED && w.problem().is_interrupt;
  REQUIRE((interrupted || status == POSSET_OK));
  posset_release(result);
  posset_release(function);
  if (w.eval("1") == POSSET_RAISED) CHECK(w.problem().is_interrupt);  // it came too late
  return interrupted;
}

}  // namespace

// They charged their steps at the beginning, or none, and looked at nothing any more: seconds for some megabytes. Whether the
// interruption comes while a call works is up to the system, so it is tried until it does.
TEST_CASE("an interruption acts in the middle of work that was charged at its beginning") {
  posset_runtime* runtime = nullptr;
  REQUIRE(posset_default_runtime(nullptr, &runtime) == POSSET_OK);
  const struct {
    const char *module, *call;
  } calls[] = {
      {"strings", "strings.chars(text)"},
      {"strings", "strings.bytes(text)"},
      {"strings", "strings.upper(text)"},
      {"strings", "strings.replace(text, \",\", \"\")"},
      {"re", "re.find_all(text, \"a\")"},
      {"re", "re.replace(text, \"a\", \"x\")"},
      {"json", "json.encode(text)"},
      {"lists", "lists.unique(halves)"},
      {"lists", "lists.chunk(halves, 2)"},
      {"lists", "sort_by(halves, abs)"},
  };
  for (const auto& [module, call] : calls) {
    bool interrupted = false;
    for (int i = 0; !interrupted && i < 200; ++i) interrupted = is_interrupted(runtime, module, call, 300 + i % 10 * 300);
    CHECK_MESSAGE(interrupted, std::string(call));
  }
  posset_runtime_release(runtime);
}
