// Structural hashes: what keeps them and what changes them.
#include "resolver_fixture.h"

using namespace posset::syntax;

TEST_SUITE_BEGIN("structural hash");

namespace {

StructuralHash hash(const std::string& text, Text name = "f") {
  const auto r = good(text);
  return function(r, name).hash;
}

bool same(const char* a, const char* b) { return hash(a) == hash(b); }

}  // namespace

TEST_CASE("names, places and what stands around do not matter") {
  CHECK(same("fn f(a, b) => a + b", "# moved\n\n\nfn f(x,   yy) => x + yy"));
  CHECK(same("fn f(a) { let b = a\n b }",
             "let unrelated = []\nfn f(x) { let y = x\n y }\nfn g() => 1"));
  const auto r = good("fn f(a) => a * 2 + len(a)\nfn g(b) => b * 2 + len(b)");
  CHECK(function(r, "f").hash == function(r, "g").hash);
  CHECK(function(r, "f").canonical == function(r, "g").canonical);
}

TEST_CASE("constants, operators, order and kinds do") {
  CHECK_FALSE(same("fn f(a) => a + 1", "fn f(a) => a + 2"));
  CHECK_FALSE(same("fn f(a) => a + 1", "fn f(a) => a - 1"));
  CHECK_FALSE(same("fn f(a) => a + 1", "fn f(a) => a + 1.0"));
  CHECK_FALSE(same("fn f(a) => a + 1", "fn f(a) => 1 + a"));
  CHECK_FALSE(same("fn f(a, b) => a - b", "fn f(a, b) => b - a"));
  CHECK_FALSE(same("fn f(a) => a.x", "fn f(a) => a.y"));
  CHECK_FALSE(same("fn f(a) => a", "fn f(a: int) => a"));
  CHECK_FALSE(same("fn f(a) => a", "fn f(a) -> int => a"));
  CHECK_FALSE(same("fn f(a) => a", "fn f(..a) => a"));
  CHECK_FALSE(same("fn f(a) => a", "fn f(inout a) => a"));
  CHECK_FALSE(same("fn f(a) => len(a)", "fn f(a) => sqrt(a)"));
  CHECK_FALSE(same("fn f(a) => \"{a:.2f}\"", "fn f(a) => \"{a:.3f}\""));
  CHECK_FALSE(same("let K = 1\nfn f(a) => a + K", "let K = 2\nfn f(a) => a + K"));
  CHECK(same("let K = 1\nfn f(a) => a + K", "fn f(a) => a + 1"));
  CHECK_FALSE(same("type T = A(x)\nfn f(a) => A(a)", "type T = B(x)\nfn f(a) => B(a)"));
}

TEST_CASE("callees enter by what they are, not by name") {
  CHECK(same("fn g(x) => x + 1\nfn f(x) => g(x)", "fn f(y) => other(y)\nfn other(z) => z + 1"));
  CHECK_FALSE(same("fn g(x) => x + 1\nfn f(x) => g(x)", "fn g(x) => x + 2\nfn f(x) => g(x)"));
  CHECK_FALSE(same("fn h(x) => x\nfn g(x) => h(x)\nfn f(x) => g(x)",
                   "fn h(x) => -x\nfn g(x) => h(x)\nfn f(x) => g(x)"));
  CHECK(same("fn f(n) => if n == 0 { 0 } else { f(n - 1) }",
             "fn f(k) => if k == 0 { 0 } else { f(k - 1) }"));
  CHECK_FALSE(same("fn g(n) => n\nfn f(n) => if n == 0 { 0 } else { f(n - 1) }",
                   "fn g(n) => n\nfn f(n) => if n == 0 { 0 } else { g(n - 1) }"));
}

TEST_CASE("groups of functions that call each other") {
  const char* one =
      "fn f(n) => if n == 0 { true } else { odd(n - 1) }\nfn odd(n) => if n == 0 { false } else { "
      "f(n - 1) }";
  const char* two =
      "fn uneven(n) => if n == 0 { false } else { f(n - 1) }\nfn f(k) => if k == 0 { true } else { "
      "uneven(k - 1) }";
  CHECK(same(one, two));
  CHECK_FALSE(hash(one, "f") == hash(one, "odd"));
  CHECK_FALSE(same(one,
                   "fn f(n) => if n == 0 { true } else { odd(n - 1) }\nfn odd(n) => if n == 0 { "
                   "nil } else { f(n - 1) }"));
  // Nothing tells these two apart.
  const char* twins = "fn f(n) => g(n - 1)\nfn g(n) => f(n - 1)";
  CHECK(hash(twins, "f") == hash(twins, "g"));
  // Three in a circle: order of declaration and names do not matter.
  CHECK(same("fn f(n) => a(n)\nfn a(n) => b(n + 1)\nfn b(n) => f(n + 2)",
             "fn y(n) => f(n + 2)\nfn x(n) => y(n + 1)\nfn f(n) => x(n)"));
  CHECK_FALSE(same("fn f(n) => a(n)\nfn a(n) => b(n + 1)\nfn b(n) => f(n + 2)",
                   "fn f(n) => a(n)\nfn a(n) => b(n + 1)\nfn b(n) => a(n + 2)"));
}

TEST_CASE("closures of one structure share a hash wherever they are made") {
  const auto r = good("fn f(a, b, c) => [x => x + a, y => y + c, z => z + 1]");
  const auto& children = function(r, "f").children;
  CHECK(children[0]->hash == children[1]->hash);
  CHECK_FALSE(children[0]->hash == children[2]->hash);
  CHECK_FALSE(same("fn f(a, b) => x => x + a", "fn f(a, b) => x => x + b"));
  CHECK_FALSE(same("fn f(a) => x => x + a", "fn f(a) => x => x - a"));
  CHECK_FALSE(same("fn f(a) { fn g(x) => x + 1\n g(a) }", "fn f(a) { fn g(x) => x + 2\n g(a) }"));
}

TEST_CASE("loops have hashes of their own") {
  const auto r = good(
      "fn f(n) { var s = 0\n for i in 0..n { s += i }\n s }\nfn g(k) { var t = 0\n for j in 0..k { "
      "t += j }\n t * 2 }\n"
      "fn h(k) { var t = 0\n for j in 0..k { t -= j }\n t }");
  REQUIRE(function(r, "f").loop_hashes.size() == 1);
  CHECK(function(r, "f").loop_hashes[0] == function(r, "g").loop_hashes[0]);
  CHECK_FALSE(function(r, "f").hash == function(r, "g").hash);
  CHECK_FALSE(function(r, "f").loop_hashes[0] == function(r, "h").loop_hashes[0]);
  const auto calls = good(
      "fn a(x) => x\nfn b(x) => -x\nfn f(n) { while n { a(n) } }\nfn g(n) { while n { b(n) } }");
  CHECK_FALSE(function(calls, "f").loop_hashes[0] == function(calls, "g").loop_hashes[0]);
}

TEST_CASE("imported functions enter by their hash") {
  const auto hash_with = [](const char* module) {
    TestEnvironment environment;
    environment.sources["a"] = module;
    const Resolved r = resolve_text("import \"a\"\nfn f(x) => a.g(x)", environment);
    REQUIRE(r.good);
    return function(r, "f").hash;
  };
  CHECK(hash_with("export fn g(x) => x") == hash_with("fn unused() => 1\n\nexport fn g(y) => y"));
  CHECK_FALSE(hash_with("export fn g(x) => x") == hash_with("export fn g(x) => -x"));
}

TEST_CASE("the top level is a unit too") {
  CHECK(hash("println(1 + 2)", "") == hash("# again\nprintln(1 + 2)", ""));
  CHECK_FALSE(hash("println(1 + 2)", "") == hash("println(1 + 3)", ""));
}

TEST_CASE("long chains of calls and large groups") {
  std::string text;
  for (int i = 0; i < 20000; ++i)
    text += "fn f" + std::to_string(i) + "(n) => f" + std::to_string(i + 1) + "(n)\n";
  good(text + "fn f20000(n) => n");
  std::string circle;
  for (int i = 0; i < 300; ++i) {
    circle += "fn f" + std::to_string(i) + "(n) => f" + std::to_string((i + 1) % 300) + "(n)\n";
  }
  good(circle);
}

TEST_SUITE_END();
