// Hostile scripts in a host: tests/lang/hostile/*/*.posset, whose README tells how they are written, and sources that
// are made here because they are too large to write down. After each the host has control again with the error
// that was to be, the context is as good as new, and nothing is left over.
//
// What is tried is in the scripts; that the tiers agree, and how errors read, is for tests/tools/run_lang.py.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include <pthread.h>

#include "fixture.h"

using posset::test::Problem;
using posset::test::str;
using posset::test::text;
using posset::test::World;

namespace {

namespace fs = std::filesystem;

std::string file_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return std::move(out).str();
}

// What stands behind `# NAME: ` in a script; empty without such a line.
std::string directive(const std::string& source, const std::string& name) {
  const std::string start = "# " + name + ": ";
  const size_t at = source.find(start);
  if (at == std::string::npos) return "";
  const size_t from = at + start.size();
  return source.substr(from, source.find('\n', from) - from);
}

// The limits of a script's line of options. A limit of time that is not given is there as well: a test that
// hangs tells nothing.
posset_context_options limits_of(const std::string& source) {
  posset_context_options options = posset_context_defaults();
  options.time_limit_seconds = 300;
  std::istringstream words(directive(source, "options"));
  for (std::string flag, value; words >> flag >> value;) {
    if (flag == "--memory-limit") options.memory_limit = std::stoull(value);
    else if (flag == "--step-limit") options.step_limit = std::stoull(value);
    else if (flag == "--stack-limit") options.stack_limit = static_cast<uint32_t>(std::stoul(value));
    else if (flag == "--time-limit") options.time_limit_seconds = std::stod(value);
    else FAIL("an option this host does not know: ", flag);
  }
  return options;
}

posset_runtime* full_runtime(int tier) {
  posset_runtime_options options = posset_runtime_defaults();
  options.max_tier = tier;
  if (tier > 0) options.forced_tier = tier;
  posset_runtime* runtime = nullptr;
  REQUIRE(posset_default_runtime(&options, &runtime) == POSSET_OK);
  return runtime;
}

// Modules are the files beside the importing one.
bool load_beside(void*, posset_text from_key, posset_text path, posset_module_source* answer) {
  const fs::path wanted = fs::path(str(from_key)).parent_path() / (str(path) + ".posset");
  std::error_code problem;
  if (str(path).size() > 255 || !fs::is_regular_file(wanted, problem)) {
    posset_module_missing(answer, text("no such file"));
    return false;
  }
  const std::string key = wanted.lexically_normal().string(), source = file_text(wanted);
  posset_module_found(answer, text(key), text(key), text(source));
  return true;
}

// The name of the error a program ends with: "None" when it ends well.
std::string outcome(World& w, const std::string& key, const std::string& source) {
  posset_source given = posset_source_of(key.c_str(), text(source));
  given.key = text(key);
  posset_program* program = nullptr;
  posset_diagnostics* diagnostics = nullptr;
  posset_status status = posset_load(w.context, &given, &program, &diagnostics);
  if (status == POSSET_OK) status = posset_run(program, nullptr);
  std::string name = status == POSSET_OK ? "None" : posset_status_text(status);
  if (status == POSSET_INVALID) {
    posset_diagnostic first = {};
    first.size = sizeof first;
    if (posset_diagnostics_get(diagnostics, 0, &first) == POSSET_OK) name = first.code_name;
  } else if (status == POSSET_RAISED) {
    name = posset_code_name(w.problem().code);
  }
  posset_diagnostics_free(diagnostics);
  posset_program_free(program);
  return name;
}

// As a new context would: an evaluation with a loop, a call, an allocation and a caught error.
void check_works(World& w) {
  CHECK(w.show("var t = 0\nfor i in 0..10 { t += len(try { [i][i] } catch { [\"{i}\", 1] }.str()) }\nt > 0") == "true");
}

std::vector<fs::path> scripts() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(POSSET_LANG_FOLDER "/hostile")) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".posset" && name[0] != '_') found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

void run_scripts(int tier) {
  posset_runtime* runtime = full_runtime(tier);
  const auto all = scripts();
  CHECK(all.size() >= 300);
  for (const fs::path& path : all) {
    INFO(path.string());
    const std::string source = file_text(path), code = directive(source, "code");
    World w(runtime, limits_of(source));
    posset_context_set_loader(w.context, load_beside, nullptr);
    CHECK(outcome(w, path.string(), source) == code);
    check_works(w);
  }
  posset_runtime_release(runtime);
}

std::string times(size_t n, std::string_view piece) {
  std::string made;
  made.reserve(n * piece.size());
  for (size_t i = 0; i < n; ++i) made += piece;
  return made;
}

// `n` pieces, each with its number in the place of the first '#'.
std::string numbered(size_t n, std::string_view piece) {
  const size_t at = piece.find('#');
  std::string made;
  for (size_t i = 0; i < n; ++i) {
    made.append(piece.substr(0, at)).append(std::to_string(i)).append(piece.substr(at + 1));
  }
  return made;
}

constexpr size_t kDeep = 100000, kLong = 20000;

struct Source {
  std::string what, code;
  std::string text;
};

std::vector<Source> deep_sources() {
  const std::string deep = "NestedTooDeeply";
  return {
      {"parentheses", deep, times(kDeep, "(")},
      {"closed parentheses", deep, times(kDeep, "(") + "1" + times(kDeep, ")")},
      {"lists", deep, times(kDeep, "[") + times(kDeep, "]")},
      {"maps", deep, times(kDeep, "[1: ") + "1" + times(kDeep, "]")},
      {"records", deep, "let r = " + times(kDeep, "{a: ") + "1" + times(kDeep, "}")},
      {"lambdas", deep, "let f = " + times(kDeep, "x => ") + "1"},
      {"minuses", deep, times(kDeep, "- ") + "1"},
      {"nots", deep, times(kDeep, "not ") + "true"},
      {"powers", deep, times(kDeep, "2 ** ") + "1"},
      {"calls in calls", deep, times(kDeep, "str(") + "1" + times(kDeep, ")")},
      {"ifs", deep, times(kDeep, "if true { ") + times(kDeep, "}")},
      {"matches", deep, times(kDeep, "match 1 { _ => ") + "1" + times(kDeep, "}")},
      {"dos", deep, times(kDeep, "do { ") + times(kDeep, "}")},
      {"tries", deep, times(kDeep, "try { ") + times(kDeep, "} catch { }")},
      {"loops", deep, times(kDeep, "while false { ") + times(kDeep, "}")},
      {"functions", deep, times(kDeep, "fn f() { ") + times(kDeep, "}")},
      {"interpolations", "NotClosed", times(kDeep, "\"{")},
      {"patterns", deep, "let " + times(kDeep, "[") + "a" + times(kDeep, "]") + " = 1"},
      {"alternatives in patterns", deep, "match 1 { " + times(kDeep, "[") + "1" + times(kDeep, "]") + " => 1 }"},
      {"annotations", deep, "fn f(x: " + times(kDeep, "[") + "int" + times(kDeep, "]") + ") => x"},
      {"defaults of places", deep, times(kDeep, "m[1, ")},
      {"comprehensions", deep, times(kDeep, "[for i in ")},
  };
}

std::vector<Source> long_sources() {
  return {
      {"sums", "NestedTooDeeply", "0" + times(kDeep, " + 1")},
      {"fields", "NestedTooDeeply", "let r = {a: 1}\nr" + times(kDeep, ".a")},
      {"else ifs", "None", "if false { 1 }" + times(kDeep, " else if false { 1 }")},
      {"statements", "None", times(kLong, "let x = 1\n")},
      {"locals", "None", "fn f() {\n" + numbered(300, "var v# = 1\n") + "v299 }\nf()"},
      {"functions side by side", "None", numbered(kLong, "fn f#() => 1\n")},
      {"elements", "None", "let xs = [" + times(kLong, "1, ") + "1]"},
      {"elements that are calls", "None", "let xs = [" + times(kLong, "str(1), ") + "1]"},
      {"entries", "None", "let m = [" + numbered(kLong, "#: 1, ") + "-1: 1]"},
      {"constructors", "None", "type T = A" + numbered(2000, " | B#(x)")},
      {"comments", "None", times(kDeep, "# nothing\n")},
      {"line breaks", "None", times(kDeep * 10, "\n")},
      {"a long name", "NotDefined", times(kDeep, "name")},
      {"a long string", "None", "let s = \"" + times(kDeep, "text") + "\""},
      {"a string without end", "NotClosed", "let s = \"" + times(kDeep, "text")},
      {"a text over many lines without end", "NotClosed", "let s = \"\"\"\n" + times(kDeep, "text\n")},
      {"digits", "BadNumber", times(kDeep, "9")},
      {"digits of a float", "BadNumber", times(kDeep, "9") + ".0"},
      {"digits behind the point", "None", "0." + times(kDeep, "9")},
      {"bytes that are no text", "BadEncoding", times(kDeep, "\xff")},
      {"zero bytes", "BadEncoding", std::string(kDeep, '\0')},
      {"mistakes", "UnexpectedToken", times(kLong, ") ] }\n")},
      {"names that are not defined", "NotDefined", numbered(kLong, "undefined#\n")},
      {"errors in formats", "BadFormat", "let s = \"" + times(kLong, "{1:q}") + "\""},
  };
}

void run_sources(const std::vector<Source>& sources) {
  posset_runtime* runtime = full_runtime(1);
  posset_context_options options = posset_context_defaults();
  options.time_limit_seconds = 300;
  for (const Source& source : sources) {
    INFO(source.what);
    World w(runtime, options);
    CHECK(outcome(w, "generated", source.text) == source.code);
    check_works(w);
  }
  posset_runtime_release(runtime);
}

void on_thread_of(size_t stack_bytes, void (*body)()) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, stack_bytes) == 0);
  pthread_t thread;
  auto run = [](void* it) -> void* {
    reinterpret_cast<void (*)()>(it)();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, run, reinterpret_cast<void*>(body)) == 0);
  pthread_attr_destroy(&attributes);
  pthread_join(thread, nullptr);
}

}  // namespace

TEST_CASE("hostile scripts in the tree walker") { run_scripts(0); }

TEST_CASE("hostile scripts in bytecode") { run_scripts(1); }

TEST_CASE("sources that nest deeply") { run_sources(deep_sources()); }

TEST_CASE("sources that nest deeply, on a thread with little stack") {
  on_thread_of(192 << 10, [] { run_sources(deep_sources()); });
}

TEST_CASE("sources that nest deeply, in a function of the host that a task calls") {
  posset_runtime* runtime = full_runtime(1);
  {
    World w(runtime, posset_context_defaults());
    posset_function_row row = {};
    row.name = "load";
    row.signature = "load(source)";
    row.doc = "";
    row.min_arguments = row.max_arguments = 1;
    row.function = [](posset_call* call) -> posset_status {
      posset_text source;
      if (posset_want_string(call, 0, &source)) return POSSET_RAISED;
      CHECK(posset_is_incomplete(source));
      return posset_eval(call->context, source, nullptr, nullptr) == POSSET_INVALID ? POSSET_OK : POSSET_RAISED;
    };
    REQUIRE(posset_define(w.context, &row, sizeof row, nullptr) == POSSET_OK);
    CHECK(w.show("import \"strings\"\nawait spawn load(strings.repeat(\"[\", 900))") == "nil");
  }
  posset_runtime_release(runtime);
}

// Each function is walked once, so the calls take much of the task's stack; the last one calls a built-in with a function, and
// is compiled before it runs. That used what was left of the stack, and more.
TEST_CASE("a deep expression is compiled where little stack is left") {
  constexpr int kNested = 470;
  posset_runtime_options options = posset_runtime_defaults();
  posset_runtime* runtime = nullptr;
  REQUIRE(posset_default_runtime(&options, &runtime) == POSSET_OK);
  std::string deep;
  for (int i = 0; i < kNested; ++i) deep += "x + (";
  deep += "x" + std::string(kNested, ')');
  for (int calls = 100; calls <= 240; calls += 10) {
    CAPTURE(calls);
    std::string source = "let xs = [1, 2]\nfn last(x) => len(map(xs, y => y)) + " +
                         std::to_string(calls) + " + (" + deep + ")\n";  // each a unit of its own
    for (int i = 0; i < calls; ++i) {
      const std::string next = i + 1 < calls ? "f" + std::to_string(i + 1) + "()" : "last(1)";
      source += "fn f" + std::to_string(i) + "() => 1 + " + next + "\n";
    }
    source += "await (spawn f0())";
    World w(runtime, posset_context_defaults());
    CHECK(w.show(source) == std::to_string(calls + 2 + calls + kNested + 1));
  }
  posset_runtime_release(runtime);
}

TEST_CASE("sources that are long") { run_sources(long_sources()); }

TEST_CASE("floods of output end at the limit of output") {
  posset_runtime* runtime = full_runtime(1);
  posset_context_options options = posset_context_defaults();
  options.output_limit = 100000;
  options.time_limit_seconds = 300;
  for (const std::string source :
       {"while true { println(\"x\") }", "while true { print(1, nil, \"x\") }", "try { while true { print(\"abc\") } } catch { 1 }",
        "each(0..1000000, i => print(i))", "import \"strings\"\nprint(strings.repeat(\"x\", 1000000))",
        "fn f(n) => if n == 0 { nil } else { print(n, n)\n f(n - 1) }\nf(1000000)", "print(list(0..1000000))",
        "var xs = [\"x\"]\nfor i in 0..14 { xs = [xs, xs] }\nprint(xs)"}) {
    INFO(source);
    World w(runtime, options);
    size_t written = 0;
    posset_context_set_output(
        w.context,
        [](void* data, const char*, size_t size) {
          *static_cast<size_t*>(data) += size;
          return true;
        },
        &written);
    CHECK(outcome(w, "flood", source) == std::string("OutputLimit"));
    CHECK(written <= options.output_limit);
    check_works(w);
  }
  posset_runtime_release(runtime);
}

TEST_CASE("a host that removes a key is charged for it") {
  posset_context_options options = posset_context_defaults();
  options.step_limit = 100000;
  World w(options);
  posset_function_row row = {};
  row.name = "forget";
  row.signature = "forget(m, k)";
  row.doc = "";
  row.min_arguments = row.max_arguments = 2;
  row.function = [](posset_call* call) {
    posset_value map = posset_take(call, 0);
    posset_status status = posset_map_remove(call->context, &map, posset_argument(call, 1), nullptr);
    posset_release(map);
    return status == POSSET_RAISED ? status : posset_return(call, posset_nil());
  };
  REQUIRE(posset_define(w.context, &row, sizeof row, nullptr) == POSSET_OK);
  CHECK(w.eval("var xs = [1]\nfor i in 0..60 { xs = [xs, xs] }\nforget([1: 1], xs)") == POSSET_RAISED);
  CHECK(w.problem().code == POSSET_ERROR_StepLimit);
}
