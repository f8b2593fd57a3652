// Sources under limits: memory, time and interruptions act while a text is parsed and resolved, before any of it runs.
// Whatever it was, nothing of it stays, and the context is as good as new.
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fixture.h"

using posset::test::Problem;
using posset::test::str;
using posset::test::text;
using posset::test::World;

namespace {

std::string repeated(const std::string& piece, size_t count) {
  std::string all;
  all.reserve(piece.size() * count);
  for (size_t i = 0; i < count; ++i) all += piece;
  return all;
}

// Large in every way a source can be: `size` is about its length.
struct Shape {
  const char* name;
  std::string (*make)(size_t size);
};
const Shape kShapes[] = {
    {"statements", [](size_t size) { return repeated("1 + 2\n", size / 6); }},
    {"a wide list", [](size_t size) { return "[" + repeated("1,", size / 2) + "1]"; }},
    {"deep ones", [](size_t size) { return repeated(repeated("(", 900) + "1" + repeated(")", 900) + "\n", size / 1802); }},
    {"functions", [](size_t size) { return "{ " + repeated("(()=>1);", size / 8) + "1 }"; }},
    {"parameters", [](size_t size) {
       std::string all = "let f = (a";
       for (size_t i = 0; all.size() < size; ++i) all += ",p" + std::to_string(i);
       return all + ") => 1";
     }},
    {"names", [](size_t size) {
       std::string all;
       for (size_t i = 0; all.size() < size; ++i) all += "let n" + std::to_string(i) + "=1\n";
       return all;
     }},
    {"strings", [](size_t size) { return "[" + repeated("\"\\n\",", size / 5) + "1]"; }},
    {"constructors", [](size_t size) {
       std::string all = "type T = A0";
       for (size_t i = 1; all.size() < size; ++i) all += "|A" + std::to_string(i) + "(x)";
       return all + "\n";
     }},
    {"empty lines", [](size_t size) { return repeated("\n", size); }},
    {"one long text", [](size_t size) { return "\"" + repeated("x", size) + "\""; }},
    {"mistakes", [](size_t size) { return repeated("let = \n", size / 7); }},
};

Problem load_problem(World& w, const std::string& source) {
  posset_source given = posset_source_of("big.posset", text(source));
  posset_program* program = nullptr;
  posset_diagnostics* diagnostics = nullptr;
  REQUIRE(posset_load(w.context, &given, &program, &diagnostics) == POSSET_RAISED);
  CHECK(program == nullptr);
  CHECK(diagnostics == nullptr);
  return w.problem();
}

}  // namespace

TEST_CASE("a source may not take more memory than its context has, whatever its shape") {
  posset_context_options options = posset_context_defaults();
  options.memory_limit = 1 << 20;
  for (const Shape& shape : kShapes) {
    CAPTURE(std::string(shape.name));
    World w(options);
    CHECK(w.show("6 * 7") == "42");
    const std::string source = shape.make(2 << 20);
    CHECK(load_problem(w, source).code == POSSET_ERROR_MemoryLimit);
    const uint64_t before = w.statistics().used_bytes;  // what the error took from pages is kept
    CHECK(before < 64 << 10);
    for (int round = 0; round < 3; ++round) {
      const Problem problem = load_problem(w, source);
      CHECK_MESSAGE(problem.code == POSSET_ERROR_MemoryLimit, problem.message);
      CHECK(problem.is_limit);
      CHECK(w.statistics().used_bytes == before);
    }
    CHECK(w.statistics().peak_bytes <= options.memory_limit);
    CHECK(w.eval(source) == POSSET_RAISED);
    CHECK(w.problem().code == POSSET_ERROR_MemoryLimit);
    CHECK(w.session(source).find("memory limit") != std::string::npos);
    CHECK(w.show("6 * 7") == "42");
  }
}

TEST_CASE("an imported source counts, and is forgotten when it does not fit") {
  posset_context_options options = posset_context_defaults();
  options.memory_limit = 1 << 20;
  World w(options);
  std::string module = repeated("1 + 2\n", 1 << 18);
  posset_context_set_loader(
      w.context,
      [](void* data, posset_text, posset_text path, posset_module_source* answer) {
        posset_module_found(answer, path, path, text(*static_cast<std::string*>(data)));
        return true;
      },
      &module);
  CHECK(w.show("import \"big\"\n1").find("memory limit") != std::string::npos);
  module = "export let x = 5\n";
  CHECK(w.show("import \"big\"\nbig.x") == "5");
}

namespace {

// Answers imports of "small" at once and of "big" with `big`, and evaluates `inside` before each answer.
struct NestingLoader {
  World& w;
  std::string inside, big;
  static bool load(void* data, posset_text, posset_text path, posset_module_source* answer) {
    auto* self = static_cast<NestingLoader*>(data);
    self->w.eval(self->inside);
    if (posset_error* error = posset_take_error(self->w.context)) posset_error_free(error);
    posset_module_found(answer, path, path, text(str(path) == "big" ? self->big : "export let x = 5\n"));
    return true;
  }
};

}  // namespace

TEST_CASE("a program loaded by a module loader does not end the count of the outer one") {
  posset_context_options options = posset_context_defaults();
  options.memory_limit = 1 << 20;
  World w(options);
  NestingLoader loader{w, "1", repeated("1 + 2\n", 1 << 18)};
  posset_context_set_loader(w.context, NestingLoader::load, &loader);
  CHECK(w.show("import \"big\"\n1").find("memory limit") != std::string::npos);
  loader.big = "export let x = 6\n";
  CHECK(w.show("import \"big\"\nbig.x") == "6");
}

TEST_CASE("a program loaded by a module loader neither loses nor resolves modules of the outer one") {
  for (const char* inside : {"1 +", "nosuch", "1", "throw 1"}) {
    CAPTURE(std::string(inside));
    World w;
    NestingLoader loader{w, inside, "export let x = 6\n"};
    posset_context_set_loader(w.context, NestingLoader::load, &loader);
    CHECK(w.show("import \"small\"\nimport \"big\"\nsmall.x * big.x") == "30");
    CHECK(w.show("import \"small\"\nsmall.x") == "5");
  }
  World w;  // what is loaded inside imports what is being imported outside
  struct Inner {
    World& w;
    bool asked = false;
    std::string got = {};
    static bool load(void* data, posset_text, posset_text path, posset_module_source* answer) {
      auto* self = static_cast<Inner*>(data);
      if (str(path) == "big" && !std::exchange(self->asked, true)) self->got = self->w.show("import \"small\"\nsmall.x + 1");
      posset_module_found(answer, path, path, text("export let x = 5 + 1\n"));
      return true;
    }
  } inner{w};
  posset_context_set_loader(w.context, Inner::load, &inner);
  CHECK(w.show("import \"small\"\nimport \"big\"\nsmall.x * big.x") == "36");
  CHECK(inner.got == "7");
  CHECK(w.show("import \"small\"\nsmall.x") == "6");
}

TEST_CASE("trees are counted as long as they are there") {
  World w;
  CHECK(w.show("1") == "1");
  const uint64_t before = w.statistics().used_bytes;
  const std::string source = "let f = x => x + 1\n" + repeated("f(2)\n", 10000);
  posset_source given = posset_source_of("a.posset", text(source));
  posset_program* program = nullptr;
  REQUIRE(posset_load(w.context, &given, &program, nullptr) == POSSET_OK);
  CHECK(w.statistics().used_bytes > before + 10 * source.size());
  posset_program_free(program);
  // Freed programs and evaluated expressions go some at a time.
  for (int i = 0; i < 2000; ++i) REQUIRE(w.show("1 + 1") == "2");
  CHECK(w.statistics().used_bytes < before + 10 * source.size());
}

TEST_CASE("an interruption that came before ends the reading of the next source") {
  World w;
  posset_interrupt(w.context);
  const Problem problem = load_problem(w, repeated("1 + 2\n", 1000));
  CHECK(problem.code == POSSET_ERROR_Interrupted);
  CHECK(problem.is_interrupt);
  CHECK(w.show("6 * 7") == "42");
}

TEST_CASE("an interruption ends the reading of a large source") {
  for (const Shape& shape : kShapes) {
    if (shape.name == std::string("one long text") || shape.name == std::string("empty lines")) continue;  // read at once
    CAPTURE(std::string(shape.name));
    World w;
    const std::string source = shape.make(8 << 20);
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      posset_interrupt(w.context);
    });
    const Problem problem = load_problem(w, source);
    other.join();
    CHECK_MESSAGE(problem.code == POSSET_ERROR_Interrupted, problem.message);
    posset_eval(w.context, text("1"), nullptr, nullptr);  // had it come too late
    CHECK(w.show("6 * 7") == "42");
  }
}

TEST_CASE("the time limit ends the reading of a large source") {
  posset_context_options options = posset_context_defaults();
  options.time_limit_seconds = 0.02;
  World w(options);
  const Problem problem = load_problem(w, repeated("1 + 2\n", 4 << 20));
  CHECK(problem.code == POSSET_ERROR_TimeLimit);
  CHECK(problem.is_limit);
  options.time_limit_seconds = 0;
  REQUIRE(posset_context_set_options(w.context, &options) == POSSET_OK);
  CHECK(w.show("6 * 7") == "42");
}
