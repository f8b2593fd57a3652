// Each limit against each family of built-ins: work far larger than any limit ends in its middle, the error is that
// of the limit, and afterwards the context is as good as new and holds nothing of it.
#include <memory>
#include <string>
#include <vector>

#include "../sanitized.h"
#include "fixture.h"

using posset::test::Problem;
using posset::test::text;
using posset::test::World;

namespace {

// What prepares the data is within the limits; `work` is not, and never comes to its end by itself.
struct Family {
  const char* name;
  const char* data;
  const char* work;
};

const Family kFamilies[] = {
    {"loops", "nil", "while true { }"},
    {"recursion in constant stack", "nil", "fn f(n) => f(n + 1)\nf(0)"},
    {"comprehension", "nil", "[for i in 0..1000000000000 if i < 0 => i]"},
    {"map", "nil", "map(0..1000000000000, x => nil)"},
    {"filter", "nil", "filter(0..1000000000000, x => false)"},
    {"fold", "nil", "fold(0..1000000000000, 0, (a, b) => 0)"},
    {"reduce", "nil", "reduce(0..1000000000000, (a, b) => a)"},
    {"sum", "nil", "sum(0..1000000000000)"},
    {"count", "nil", "count(0..1000000000000, x => false)"},
    {"find", "nil", "find(0..1000000000000, x => false)"},
    {"index_of", "fill(100000, 1)", "while true { index_of(data, 2) }"},
    {"sort", "[for i in 0..50000 => (i * 7919) % 50021]", "while true { sort(data) }"},
    {"sort_by", "[for i in 0..20000 => (i * 7919) % 20011]", "while true { sort_by(data, x => -x) }"},
    {"reverse", "fill(100000, 1)", "while true { reverse(data) }"},
    {"equality", "fill(100000, nil)", "let other = data + []\nwhile true { data == other }"},
    {"order", "fill(100000, 1)", "let other = data + []\nwhile true { data < other }"},
    {"concatenation of lists", "fill(100000, 1)", "while true { data + data }"},
    {"slices", "fill(100000, 1)", "while true { data[1..99999] }"},
    {"insert", "fill(100000, 1)", "var xs = data\nwhile true { insert(&xs, 0, 1)\n pop(&xs) }"},
    {"maps", "map_of([for i in 0..20000 => [i, i]])", "while true { keys(data) }"},
    {"group_by", "range(20000)", "while true { group_by(data, x => x % 7) }"},
    {"printing", "[for i in 0..20000 => [i, \"x\"]]", "while true { str(data) }"},
    {"split", "join([for i in 0..50000 => \"a b\"])", "while true { split(data, \"a\") }"},
    {"join", "fill(50000, \"ab\")", "while true { join(data, \"-\") }"},
    {"lines", "join(fill(20000, \"ab\\n\"))", "while true { for l in lines(data) { } }"},
    {"codes", "join(fill(50000, \"ab\"))", "while true { from_codes(codes(data)) }"},
    {"substring search", "join(fill(50000, \"ab\"))", "while true { \"abba\" in data }"},
    {"strings", "join(fill(50000, \"ab\"))", "import \"strings\"\nwhile true { strings.upper(data) }"},
    {"lists", "range(20000)", "import \"lists\"\nwhile true { lists.unique(data) }"},
    {"json", "[for i in 0..20000 => i]", "import \"json\"\nwhile true { json.decode(json.encode(data)) }"},
    {"re", "join(fill(50000, \"ab\"))", "import \"re\"\nwhile true { re.find_all(data, '(a|b)+c') }"},
    {"math", "nil", "import \"math\"\nwhile true { math.sin(1.0) }"},
};

// The runtime with the library; the data as a global.
struct Bench {
  explicit Bench(const Family& family) {
    posset_runtime_options options = posset_runtime_defaults();
    options.max_tier = 1;
    REQUIRE(posset_default_runtime(&options, &runtime) == POSSET_OK);
    world = std::make_unique<World>(runtime, posset_context_defaults());
    posset_value data = posset_nil();
    REQUIRE(world->eval(family.data, &data) == POSSET_OK);
    REQUIRE(posset_set_global(world->context, text("data"), data) == POSSET_OK);
  }
  ~Bench() {
    world.reset();
    posset_runtime_release(runtime);
  }
  void limit(posset_context_options options) {
    REQUIRE(posset_context_set_options(world->context, &options) == POSSET_OK);
  }
  // Runs the work, which must end by that limit, twice: the second time nothing may be left of the first.
  void ends_by(const Family& family, const posset_context_options& options, posset_code code) {
    uint64_t held[2] = {};
    for (uint64_t& each : held) {
      limit(options);
      REQUIRE(world->eval(family.work) == POSSET_RAISED);
      const Problem problem = world->problem();
      CHECK_MESSAGE(problem.code == code, problem.message);
      CHECK(problem.is_limit);
      limit(posset_context_defaults());  // a short time is soon over on a machine that is busy
      CHECK(world->show("var t = 0\nfor i in 0..10 { t += i }\nt") == "45");
      each = world->statistics().live_objects;
    }
    CHECK(held[1] <= held[0] + 64);  // trees of evaluated expressions are freed in batches
  }
  posset_runtime* runtime = nullptr;
  std::unique_ptr<World> world;
};

}  // namespace

TEST_CASE("limits: steps, time and interruption reach into every family of built-ins") {
  for (const Family& family : kFamilies) {
    CAPTURE(std::string(family.name));
    Bench bench(family);
    posset_context_options options = posset_context_defaults();
    options.memory_limit = 256 << 20;
    options.step_limit = posset::test::kSanitized ? 30'000 : 300'000;
    bench.ends_by(family, options, POSSET_ERROR_StepLimit);
    options.step_limit = 0;
    options.time_limit_seconds = 0.01;
    bench.ends_by(family, options, POSSET_ERROR_TimeLimit);
    options.time_limit_seconds = 0;
    bench.limit(options);
    posset_interrupt(bench.world->context);
    REQUIRE(bench.world->eval(family.work) == POSSET_RAISED);
    CHECK(bench.world->problem().is_interrupt);
  }
}

TEST_CASE("limits: memory is counted before it is taken, in every container and text") {
  const Family grow[] = {
      {"list", "nil", "var xs = []\nwhile true { xs.push(nil) }"},
      {"packed list", "nil", "fill(10 ** 12, 1)"},
      {"string", "nil", "var s = \"ab\"\nwhile true { s = s + s }"},
      {"map", "nil", "var m = [:]\nvar i = 0\nwhile true { m[i] = i\n i += 1 }"},
      {"records", "nil", "var r = nil\nwhile true { r = {next: r} }"},
      {"closures", "nil", "var f = nil\nwhile true { let g = f\n f = () => g }"},
      {"refs", "nil", "var xs = []\nwhile true { xs.push(ref(1)) }"},
      {"errors", "nil", "var e = nil\nwhile true { e = error(\"x\", e) }"},
      {"map function", "nil", "map(0..10 ** 12, x => x)"},
      {"flat_map", "nil", "flat_map(0..10 ** 12, x => [x, x])"},
      {"list of a range", "nil", "list(0..10 ** 12)"},
      {"join", "fill(1000, \"0123456789\")", "var s = join(data)\nwhile true { s = join([s, s]) }"},
      {"format", "nil", "var s = \"\"\nwhile true { s += \"{1:100000}\" }"},
      {"repeat", "nil", "import \"strings\"\nstrings.repeat(\"ab\", 10 ** 12)"},
      {"json", "fill(1000, \"0123456789\")", "import \"json\"\nvar s = data\nwhile true { s = [s, json.encode(s)] }"},
  };
  for (const Family& family : grow) {
    CAPTURE(std::string(family.name));
    Bench bench(family);
    posset_context_options options = posset_context_defaults();
    options.memory_limit = 8 << 20;
    bench.ends_by(family, options, POSSET_ERROR_MemoryLimit);
    // The table of a cycle collection, which makes room, stands beside the limit.
    CHECK(bench.world->statistics().peak_bytes < (12 << 20));
  }
}
