// Traces through the interface: when there is one, what the forms say, files that cannot be.
#include <posset/trace.h>

#include <cerrno>
#include <string>

#include "fixture.h"

namespace posset::test {

namespace {

constexpr const char* kProgram = "fn area(r) => 3 * r * r\nvar t = 0\nfor i in 0..50 { t += area(i) }\n";

posset_runtime_options traced(uint32_t events) {
  posset_runtime_options options = posset_runtime_defaults();
  options.trace_events = events;
  options.forced_tier = 1;
  return options;
}

void run(World& world, const char* source) {
  posset_value value = posset_nil();
  REQUIRE(posset_session_eval(world.context, text("a.posset"), text(source), &value, nullptr) == POSSET_OK);
  posset_release(value);
}

std::string written(posset_runtime* runtime, posset_trace_format format) {
  std::string made;
  REQUIRE(posset_trace_write(runtime, format, append, &made) == POSSET_OK);
  return made;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// What stands in `text` behind `before`, up to one of `ends`.
std::string behind(const std::string& text, const std::string& before, const char* ends) {
  const size_t at = text.find(before);
  REQUIRE_MESSAGE(at != std::string::npos, before, "\n", text);
  const size_t begin = at + before.size();
  return text.substr(begin, text.find_first_of(ends, begin) - begin);
}

}  // namespace

TEST_CASE("trace: off unless asked for") {
  World world;
  std::string made;
  CHECK(posset_trace_write(world.runtime, POSSET_TRACE_TEXT, append, &made) == POSSET_NOT_FOUND);
  CHECK(posset_trace_write(nullptr, POSSET_TRACE_TEXT, append, &made) == POSSET_MISUSE);
  CHECK(posset_trace_write(world.runtime, POSSET_TRACE_TEXT, nullptr, nullptr) == POSSET_MISUSE);
  CHECK(posset_trace_write(world.runtime, static_cast<posset_trace_format>(7), append, &made) == POSSET_MISUSE);
  CHECK(made.empty());
}

TEST_CASE("trace: the lines tell a unit's way from first seen to entered") {
  World world(posset_context_defaults(), traced(1000));
  run(world, kProgram);
  const std::string lines = written(world.runtime, POSSET_TRACE_TEXT);
  CHECK(lines.starts_with("# posset trace 1, posset "));
  CHECK(lines.ends_with("# 0 events dropped\n"));
  size_t at = 0;
  for (const char* step : {"main unit_seen unit=area (a.posset:1:1) name=area place=a.posset:1:1 loops=0 hash=",
                           "main unit_lines unit=area (a.posset:1:1) loop=body file=a.posset first=1 last=1\n",
                           "main threshold_crossed unit=area (a.posset:1:1) loop=body tier=1 count=1\n",
                           "main compile_started unit=area (a.posset:1:1) loop=body tier=1 job=",
                           "main compile_finished unit=area (a.posset:1:1) loop=body tier=1 job=",
                           "main tier_entered unit=area (a.posset:1:1) loop=body tier=1 job="}) {
    at = lines.find(step, at);
    CHECK_MESSAGE(at != std::string::npos, step, "\n", lines);
    if (at == std::string::npos) return;
  }
}

TEST_CASE("trace: the end says how many units were compiled for a tier and how long that took") {
  World world(posset_context_defaults(), traced(1000));
  run(world, "fn f(x) => x + 1\nf(1)");
  const std::string lines = written(world.runtime, POSSET_TRACE_TEXT);
  size_t finished = 0;
  for (size_t at = 0; (at = lines.find(" compile_finished ", at)) != std::string::npos; ++at) ++finished;
  REQUIRE(finished != 0);
  CHECK(behind(lines, "\n# tier 1: ", ",") == std::to_string(finished) + " compiled");
  // The median is the time of one of them.
  CHECK(has(lines, " took=" + behind(lines, " compiled, median ", ",") + " "));
  const std::string told = "tier 1: " + behind(lines, "\n# tier 1: ", "\n");
  for (posset_trace_format format : {POSSET_TRACE_CHROME, POSSET_TRACE_HTML}) {
    CHECK(has(written(world.runtime, format), "\"text\":\"" + told + "\""));
  }
}

TEST_CASE("trace: a small ring says how much it dropped, and still knows the names") {
  World world(posset_context_defaults(), traced(8));
  for (int i = 0; i < 20; ++i) run(world, ("fn f" + std::to_string(i) + "(x) => x + " + std::to_string(i) + "\nf" + std::to_string(i) + "(1)").c_str());
  const std::string lines = written(world.runtime, POSSET_TRACE_TEXT);
  CHECK_FALSE(has(lines, "# 0 events dropped"));
  CHECK(has(lines, " events dropped\n"));
  CHECK(has(written(world.runtime, POSSET_TRACE_CHROME), "\"dropped\":"));
}

TEST_CASE("trace: no text of a script can leave its place in the page or the JSON") {
  World world(posset_context_defaults(), traced(1000));
  posset_value value = posset_nil();
  const std::string name = "</script><img src=x onerror=alert(1)>\"\\\n\xff.posset";
  const char* source = "fn f(x) => x + \"</script><!--<script>\"\nlet s = f(\"\")";
  REQUIRE(posset_session_eval(world.context, text(name), text(source), &value, nullptr) == POSSET_OK);
  posset_release(value);
  for (posset_trace_format format : {POSSET_TRACE_HTML, POSSET_TRACE_CHROME}) {
    const std::string made = written(world.runtime, format);
    CHECK_FALSE(has(made, "<img"));
    CHECK_FALSE(has(made, "<!--<script"));
    CHECK(has(made, "\\u003c/script>\\u003cimg src=x onerror=alert(1)>\\\"\\\\\\u000a\\ufffd.posset"));
  }
  // A line stays a line.
  const std::string lines = written(world.runtime, POSSET_TRACE_TEXT);
  CHECK(has(lines, "onerror=alert(1)>\"\\?\xff.posset:1:1"));
}

TEST_CASE("trace: files that cannot be are refused when the runtime is made") {
  posset_runtime_options options = posset_runtime_defaults();
  posset_runtime* runtime = nullptr;
  for (const char* path : {"trace.txt", "json", "trace.json.gz", "trace.HTML"}) {
    options.trace_file = path;
    CHECK(posset_runtime_create(&options, &runtime) == POSSET_MISUSE);
  }
  options.trace_file = "/nonexistent/trace.json";
  CHECK(posset_runtime_create(&options, &runtime) == POSSET_NOT_FOUND);
  CHECK(errno == ENOENT);
  CHECK(runtime == nullptr);
}

}  // namespace posset::test
