// Programs, expressions, sessions, module loading, diagnostics, and looking inside.
#include <algorithm>
#include <atomic>
#include <latch>
#include <map>
#include <vector>

#include "fixture.h"
#include "interp/api/handles.h"
#include "sched/p2/hybrid.h"

using posset::test::append;
using posset::test::str;
using posset::test::text;
using posset::test::World;

namespace {

struct Loaded {
  posset_status status;
  posset_program* program = nullptr;
  posset_diagnostics* diagnostics = nullptr;
  Loaded(World& w, const char* name, std::string_view source, const char* key = "") {
    posset_source given = posset_source_of(name, text(source));
    given.key = posset_text_of(key);
    status = posset_load(w.context, &given, &program, &diagnostics);
  }
  ~Loaded() {
    posset_program_free(program);
    posset_diagnostics_free(diagnostics);
  }
};

std::vector<std::string> names_of(World& w) {
  std::vector<std::string> names;
  auto visit = [](void* data, posset_text name) {
    static_cast<std::vector<std::string>*>(data)->push_back(str(name));
    return POSSET_OK;
  };
  CHECK(posset_session_each_name(w.context, visit, &names) == POSSET_OK);
  return names;
}

std::string session(World& w, std::string_view source) {
  posset_value out = posset_nil();
  posset_status status =
      posset_session_eval(w.context, text("<input>"), text(source), &out, nullptr);
  if (status == POSSET_RAISED) return "raised: " + w.problem().message;
  if (status != POSSET_OK) return posset_status_text(status);
  return w.take_text(out);
}

}  // namespace

TEST_CASE("a program runs once and its functions stay callable") {
  World w;
  Loaded p(w, "rules.posset",
           "export fn double(x) => x * 2\nfn hidden() => 1\nexport let base = "
           "double(21)\nprintln(base)\nbase");
  REQUIRE(p.status == POSSET_OK);
  posset_value out = posset_nil();
  CHECK(posset_program_get(p.program, text("base"), &out) == POSSET_NOT_FOUND);
  REQUIRE(posset_run(p.program, &out) == POSSET_OK);
  CHECK(posset_as_int(out) == 42);
  CHECK(posset_run(p.program, &out) == POSSET_OK);
  CHECK(posset_is_nil(out));
  CHECK(w.output == "42\n");
  CHECK(posset_program_get(p.program, text("base"), &out) == POSSET_OK);
  CHECK(posset_as_int(out) == 42);
  CHECK(posset_program_get(p.program, text("hidden"), &out) == POSSET_OK);
  posset_release(out);
  CHECK(posset_program_get(p.program, text("nothing"), &out) == POSSET_NOT_FOUND);
  REQUIRE(posset_program_get(p.program, text("double"), &out) == POSSET_OK);
  posset_value argument = posset_int(4), result = posset_nil();
  posset_program_free(p.program);  // the function lives on
  p.program = nullptr;
  CHECK(posset_invoke(w.context, out, &argument, 1, &result) == POSSET_OK);
  CHECK(posset_as_int(result) == 8);
  posset_release(out);
}

TEST_CASE("all diagnostics of a source are given, structured and as text") {
  World w;
  Loaded p(w, "bad.posset", "let a = nosuch\nlet b = 1 +* 2\nlet c = alsonot\n");
  CHECK(p.status == POSSET_INVALID);
  CHECK(p.program == nullptr);
  REQUIRE(posset_diagnostics_count(p.diagnostics) >= 1);
  posset_diagnostic d = {};
  d.size = sizeof d;
  REQUIRE(posset_diagnostics_get(p.diagnostics, 0, &d) == POSSET_OK);
  CHECK(d.severity == POSSET_SEVERITY_ERROR);
  CHECK(str(d.file) == "bad.posset");
  CHECK(d.line >= 1);
  CHECK(d.end_column >= d.column);
  std::string report;
  CHECK(posset_diagnostics_render(p.diagnostics, 0, false, append, &report) == POSSET_OK);
  CHECK(report.starts_with("bad.posset:" + std::to_string(d.line) + ":" + std::to_string(d.column) +
                           ": error: "));
  CHECK(posset_diagnostics_get(p.diagnostics, 1000, &d) == POSSET_NOT_FOUND);

  Loaded two(w, "two.posset", "println(nosuch)\nprintln(alsonot)\n");
  CHECK(posset_diagnostics_count(two.diagnostics) == 2);
  Loaded warned(w, "warned.posset", "match 1 {\n  _ => 1\n  2 => 2\n}");
  CHECK(warned.status == POSSET_OK);
  CHECK(posset_diagnostics_count(warned.diagnostics) == 1);
}

TEST_CASE("checking leaves nothing behind") {
  World w;
  posset_source source = posset_source_of("a.posset", text("println(1)"));
  source.key = posset_text_of("a");
  CHECK(posset_load(w.context, &source, nullptr, nullptr) == POSSET_OK);
  CHECK(w.output.empty());
  CHECK(w.statistics().modules == 0);
}

namespace {

using Files = std::map<std::string, std::string>;

// A loader; `data` is the Files it knows.
bool load_file(void* data, posset_text, posset_text path, posset_module_source* answer) {
  auto& known = *static_cast<Files*>(data);
  auto found = known.find(str(path));
  if (found == known.end()) {
    posset_module_missing(answer, text("no module of that name"));
    return false;
  }
  posset_module_found(answer, path, text(found->first + ".posset"), text(found->second));
  return true;
}

}  // namespace

TEST_CASE("modules come from the host's loader, once each") {
  Files files{{"geometry",
               "println(\"loaded\")\nexport fn area(w, h) => w * h\nexport type Shape = Square(s)"},
              {"uses", "import \"geometry\" as g\nexport let six = g.area(2, 3)"},
              {"loop", "import \"loop2\""},
              {"loop2", "import \"loop\""}};
  World w;
  CHECK(w.eval("import \"geometry\"\ngeometry.area(1, 2)") == POSSET_INVALID);
  REQUIRE(posset_context_set_loader(w.context, load_file, &files) == POSSET_OK);
  CHECK(w.show("import \"geometry\"\nimport \"uses\"\n[geometry.area(1, 2), uses.six]") ==
        "[2, 6]");
  CHECK(w.show("import {Square} from \"geometry\"\nSquare(2)") == "Square(2)");
  CHECK(w.output == "loaded\n");
  posset_diagnostics* diagnostics = nullptr;
  CHECK(posset_eval(w.context, text("import \"nowhere\""), nullptr, &diagnostics) ==
        POSSET_INVALID);
  std::string report;
  posset_diagnostics_render(diagnostics, 0, false, append, &report);
  CHECK(report.find("no module of that name") != std::string::npos);
  posset_diagnostics_free(diagnostics);
  CHECK(w.eval("import \"loop\"") == POSSET_INVALID);
}

// Each import was compared with all modules that were open, and instances were made by a recursion as deep as the chain.
TEST_CASE("a long chain of modules is loaded, whatever stack there is") {
  struct Chain {
    const int most = 30'000;
    int made = 0;
  } chain;
  World w;
  auto next = [](void* data, posset_text, posset_text, posset_module_source* answer) {
    auto& self = *static_cast<Chain*>(data);
    const std::string number = std::to_string(++self.made);
    const std::string import = self.made < self.most ? "import \"x" + number + "\" as n\n" : "";
    posset_module_found(answer, text("m" + number), text("m" + number), text(import + "export let a = 1"));
    return true;
  };
  REQUIRE(posset_context_set_loader(w.context, next, &chain) == POSSET_OK);
  CHECK(w.show("import \"chain\" as n\nn.a") == "1");
  CHECK(chain.made == chain.most);
}

TEST_CASE("the first error of a module that does not parse tells why, not what it does not export") {
  Files files{{"bytes", "export let a = 1\n\xff"}, {"syntax", "export let a = = 1"}, {"uses", "import {a} from \"bytes\"\nexport let b = a"}};
  World w;
  REQUIRE(posset_context_set_loader(w.context, load_file, &files) == POSSET_OK);
  struct Row {
    const char* source;
    posset_code code;
    const char* file;
  };
  for (const Row& row : {Row{"import {a} from \"bytes\"\na", POSSET_ERROR_BadEncoding, "bytes.posset"},
                         Row{"import {a} from \"syntax\"\na", POSSET_ERROR_UnexpectedToken, "syntax.posset"},
                         Row{"import {b} from \"uses\"\nb", POSSET_ERROR_BadEncoding, "bytes.posset"}}) {
    const Loaded loaded(w, "main", row.source);
    CHECK(loaded.status == POSSET_INVALID);
    posset_diagnostic first = {};
    first.size = sizeof first;
    REQUIRE(posset_diagnostics_get(loaded.diagnostics, 0, &first) == POSSET_OK);
    CHECK(first.code == row.code);
    CHECK(str(first.file) == row.file);
  }
}

namespace {

// Keeps a runtime's compile threads from their work while it lives.
class HeldCompilations {
 public:
  explicit HeldCompilations(posset_runtime* runtime) {
    for (size_t i = 0; i < threads_; ++i) {
      auto wait = [this](posset::sched::TaskContext&) {
        held_.count_down();
        released_.wait(false);
      };
      REQUIRE(runtime->state.control.scheduler().try_submit({.run = wait, .lane = posset::sched::Lane::Compile}) ==
              posset::sched::Admission::Accepted);
    }
    held_.wait();
  }
  void release() {
    released_ = true;
    released_.notify_all();
  }

 private:
  const size_t threads_ = posset::sched::HybridOptions{}.pool_threads;
  std::latch held_{static_cast<ptrdiff_t>(threads_)};
  std::atomic<bool> released_{false};
};

}  // namespace

// Without a sanitizer it may be found by chance only. No function of the module is hot: it would keep the module.
TEST_CASE("code that refers to an imported module is compiled after the context has gone") {
  Files files{{"geometry",
               "export fn area(w, h, ..also) => w * h\nexport type Shape = Square(side) | Dot\n"
               "export let unit_of_all_measures = 1"}};
  posset_runtime* runtime = posset::test::make_runtime();
  HeldCompilations held(runtime);
  {
    World w(runtime, posset_context_defaults());
    REQUIRE(posset_context_set_loader(w.context, load_file, &files) == POSSET_OK);
    CHECK(w.show("import \"geometry\" as g\nimport {Square} from \"geometry\"\n"
                 "fn f(x) => if x < 0 { g.area(x, 1) } else { [g.unit_of_all_measures, Square(x)] }\nfor i in 0..1000 { f(i) }\nf(3)") ==
          "[1, Square(3)]");
  }
  held.release();
  posset_runtime_settle(runtime);
  posset_runtime_release(runtime);
}

TEST_CASE("a module that failed fails again wherever it is imported") {
  Files files{{"bad", "println(\"runs\")\nexport let x = [1][1]\nexport fn f() => 1"},
              {"uses", "import \"bad\"\nexport let y = 2"}};
  World w;
  REQUIRE(posset_context_set_loader(w.context, load_file, &files) == POSSET_OK);
  CHECK(w.eval("import \"bad\"\nbad.f()") == POSSET_RAISED);
  CHECK(w.problem().code == POSSET_ERROR_OutOfRange);
  const std::string before =
      "raised: the module bad.posset failed when it ran before: index 1 is out of range for a list "
      "of 1";
  CHECK(w.show("import {f} from \"bad\"\nf()") == before);
  CHECK(w.show("1\nimport \"uses\"\nuses.y") == before);
  CHECK(w.eval("import \"bad\"") == POSSET_RAISED);
  const posset::test::Problem again = w.problem();
  CHECK(again.code == POSSET_ERROR_ModuleFailed);
  CHECK(again.line == 1);
  CHECK(w.output == "runs\n");
}

TEST_CASE("many expressions leave no modules behind") {
  World w;
  for (int i = 0; i < 300; ++i) {
    CHECK(w.show(std::to_string(i) + " + 1") == std::to_string(i + 1));
    CHECK(w.show("fn f(x) => x + " + std::to_string(i) +
                 "\nlet g = y => f(y)\nlet hs = [g, f]\nhs[1](1)") == std::to_string(i + 1));
  }
  CHECK(w.statistics().modules < 70);
  posset_value kept = posset_nil();
  REQUIRE(w.eval("let base = str(40)\nfn f(x) => int(base) + x\nf", &kept) == POSSET_OK);
  for (int i = 0; i < 200; ++i) w.show("(() => 1)()");
  posset_value argument = posset_int(2), result = posset_nil();
  CHECK(posset_invoke(w.context, kept, &argument, 1, &result) == POSSET_OK);
  CHECK(posset_as_int(result) == 42);
  posset_release(kept);
}

TEST_CASE("a constructor of a freed expression still works") {
  World w;
  posset_value make = posset_nil(), result = posset_nil();
  REQUIRE(w.eval("type T = Pair(a, b: int)\nPair", &make) == POSSET_OK);
  for (int i = 0; i < 200; ++i) w.show("1");
  posset_value arguments[] = {posset_int(1), posset_int(2)};
  CHECK(posset_invoke(w.context, make, arguments, 2, &result) == POSSET_OK);
  CHECK(w.take_text(result) == "Pair(1, 2)");
  posset_release(make);
}

TEST_CASE("a session remembers") {
  World w;
  CHECK(session(w, "let x = 20") == "nil");
  CHECK(session(w, "var n = 1") == "nil");
  CHECK(session(w, "n += x\nn") == "21");
  CHECK(session(w, "fn f(y) => x + y") == "nil");
  CHECK(session(w, "f(n)") == "41");
  CHECK(session(w, "let x = \"new\"") == "nil");
  CHECK(session(w, "[x, f(1)]") == "[\"new\", 21]");
  CHECK(session(w, "type T = A(v) | B") == "nil");
  CHECK(session(w, "match A(3) { A(v) => v, B => 0 }") == "3");
  CHECK(session(w, "nosuch") == "the source does not parse or resolve");
  CHECK(session(w, "n") == "21");
  std::vector<std::string> names = names_of(w);
  CHECK(std::count(names.begin(), names.end(), "x") == 1);
  CHECK(std::count(names.begin(), names.end(), "A") == 1);
}

TEST_CASE("an input that raises keeps what it had done, and hides nothing") {
  World w;
  CHECK(session(w, "let a = 1") == "nil");
  CHECK(session(w, "var v = 1") == "nil");
  CHECK(session(w, "v = 2\nlet b = 10\nlet a = 1 // 0\nlet c = 3") ==
        "raised: division by zero in 1 // 0");
  CHECK(session(w, "[a, b, v]") == "[1, 10, 2]");
  CHECK(session(w, "c") == "the source does not parse or resolve");
}

TEST_CASE("names and members of a session can be looked up") {
  World w;
  session(w, "let p = {x: 1, y: {z: 2}}");
  session(w, "fn f() => 1");
  posset_value v = posset_nil();
  CHECK(posset_session_get(w.context, text("p.y.z"), &v) == POSSET_OK);
  CHECK(posset_as_int(v) == 2);
  CHECK(posset_session_get(w.context, text("p.q"), &v) == POSSET_NOT_FOUND);
  CHECK(posset_session_get(w.context, text("nosuch"), &v) == POSSET_NOT_FOUND);
  CHECK(posset_session_get(w.context, text("f()"), &v) == POSSET_NOT_FOUND);
  CHECK(posset_session_get(w.context, text("len"), &v) == POSSET_OK);
  CHECK(posset_is_callable(v));
  std::string members;
  auto visit = [](void* data, posset_text name) {
    static_cast<std::string*>(data)->append(str(name) + " ");
    return POSSET_OK;
  };
  CHECK(posset_session_each_member(w.context, text("p"), visit, &members) == POSSET_OK);
  CHECK(members == "x y ");
  CHECK(posset_session_reset(w.context) == POSSET_OK);
  CHECK(session(w, "p") == "the source does not parse or resolve");
  CHECK(w.statistics().modules == 0);
}

TEST_CASE("unfinished inputs are recognised") {
  CHECK(posset_is_incomplete(text("fn f(x) {")));
  CHECK(posset_is_incomplete(text("1 +")));
  CHECK(!posset_is_incomplete(text("1 + 2")));
  CHECK(!posset_is_incomplete(text(")")));
}

TEST_CASE("units are dumped and explained") {
  World w;
  Loaded p(w, "a.posset",
           "fn double(x) => x * 2\nfn shout(x) {\n  println(double(x))\n}\nfor i in 0..5 { "
           "shout(i) }\n");
  REQUIRE(p.status == POSSET_OK);
  std::string dump;
  CHECK(posset_dump_program(p.program, POSSET_FORM_BYTECODE, text(""), append, &dump) == POSSET_OK);
  CHECK(dump.find("double") != std::string::npos);
  CHECK(dump.find("shout") != std::string::npos);
  CHECK(w.output.empty());
  std::string tree;
  CHECK(posset_dump_program(p.program, POSSET_FORM_TREE, text("double"), append, &tree) ==
        POSSET_OK);
  CHECK(tree.find("Binary") != std::string::npos);
  // The fixture attaches no native tier.
  CHECK(posset_dump_program(p.program, POSSET_FORM_ASM, text(""), append, &tree) ==
        POSSET_NOT_BUILT);
  CHECK(posset_dump_program(p.program, POSSET_FORM_TREE, text("nosuch"), append, &tree) ==
        POSSET_NOT_FOUND);
  REQUIRE(posset_run(p.program, nullptr) == POSSET_OK);
  std::string told;
  CHECK(posset_explain_program(p.program, text(""), append, &told) == POSSET_OK);
  for (const char* word : {"double", "shout", "pure", "println", "tier 1", "loop 0"}) {
    CHECK_MESSAGE(told.find(word) != std::string::npos, word << " in " << told);
  }
  int units = 0;
  auto count = [](void* data, const posset_unit_info* info) {
    ++*static_cast<int*>(data);
    CHECK(info->line >= 1);
    return POSSET_OK;
  };
  CHECK(posset_each_unit(p.program, count, &units) == POSSET_OK);
  CHECK(units == 3);
  posset_value f = posset_nil();
  REQUIRE(posset_program_get(p.program, text("double"), &f) == POSSET_OK);
  posset_runtime_settle(w.runtime);
  CHECK(posset_function_tier(w.context, f) == 1);
  CHECK(posset_function_executions(w.context, f) >= 2);
  CHECK(posset_explain_function(w.context, f, append, &told) == POSSET_OK);
  CHECK(posset_function_tier(w.context, posset_int(1)) == -1);
  posset_release(f);
}
