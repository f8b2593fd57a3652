// Purity: what is proved, what refutes it, and what can only not be proved.
#include "resolver_fixture.h"

using namespace posset::syntax;

TEST_SUITE_BEGIN("purity");

namespace {

Purity purity(const char* text, Text name = "f") {
  const auto r = good(text);
  return function(r, name).purity;
}

std::string culprit(const char* text) {
  const auto r = good(text);
  const FunctionDecl& f = function(r, "f");
  REQUIRE(f.purity_chain.size() == 1);
  return f.purity_chain[0].what;
}

}  // namespace

TEST_CASE("pure functions") {
  CHECK(purity("fn f(x) => x + len([x])") == Purity::Pure);
  CHECK(purity("fn f(n) => if n < 2 { n } else { f(n - 1) + f(n - 2) }") == Purity::Pure);
  CHECK(purity("fn f(n) => g(n)\nfn g(n) => if n == 0 { 0 } else { f(n - 1) }") == Purity::Pure);
  CHECK(purity("fn f(xs) {\n  var out = []\n  for x in xs { out.push(x) }\n  if len(out) == 0 { "
               "throw 1 }\n  out\n}") == Purity::Pure);
  CHECK(purity("fn f(r) => r.value") == Purity::Pure);
  CHECK(purity("type T = A(x)\nfn f(x) => A(x)") == Purity::Pure);
  CHECK(purity("import \"math\"\nfn f(x) => math.sin(x) + math.pi") == Purity::Pure);
}

TEST_CASE("a function that calls what it is given is pure where that is") {
  const std::string twice = "fn twice(g, x) => g(g(x))\n";
  const auto of = [&](const std::string& text) { return purity((twice + text).c_str()); };
  CHECK(of("fn f(x) => twice(y => y + 1, x)") == Purity::Pure);
  CHECK(of("fn f(x) => twice(len, x)") == Purity::Pure);
  CHECK(of("type T = A(v)\nfn f(x) => twice(A, x)") == Purity::Pure);
  CHECK(of("fn f(x) => twice(println, x)") == Purity::Unproved);
  CHECK(of("fn f(x) => twice(y => { println(y) \n y }, x)") == Purity::Unproved);
  CHECK(of("fn f(g, x) => twice(g, x)") == Purity::Unproved);
  CHECK(of("fn both(g, x) => twice(g, x)\nfn f(x) => both(y => y, x)") == Purity::Pure);
  CHECK(of("fn f(x) {\n  let h = y => y * x\n  twice(z => h(z), x)\n}") == Purity::Pure);
  CHECK(of("fn each(xs, g) => map(xs, x => g(x))\nfn f(xs) => each(xs, x => x + 1)") == Purity::Pure);
  CHECK(of("fn walk(t, g) => if t == nil { 0 } else { g(t) + walk(t.next, g) }\nfn f(t) => walk(t, x => x.v)") == Purity::Pure);
  CHECK(of("fn f(x) {\n  var h = y => y\n  h = println\n  twice(h, x)\n}") == Purity::Unproved);
  CHECK(of("fn f(..gs) => twice(gs[0], 1)") == Purity::Unproved);
  CHECK(of("fn f(x) => twice(..[y => y, x])") == Purity::Unproved);
  CHECK(of("fn apply(inout g, x) { g(x) }\nfn f(x) {\n  var h = len\n  apply(&h, x)\n}") == Purity::Unproved);
  CHECK(of("fn pick(x, g = println) => g(x)\nfn f(x) => pick(x)") == Purity::Unproved);
}

TEST_CASE("impure functions") {
  CHECK(culprit("fn f(x) => println(x)") == "calls 'println'");
  CHECK(culprit("fn f() => ref(1)") == "calls 'ref'");
  CHECK(culprit("fn f(g) => spawn len(g)") == "starts a task");
  CHECK(culprit("fn f(t) => await t") == "awaits a task");
  CHECK(culprit("import {now} from \"time\"\nfn f() => now()") == "calls 'now'");
  CHECK(purity("fn f(x) => g(x)\nfn g(x) => h(x)\nfn h(x) => println(x)") == Purity::Impure);
  CHECK(purity("fn f(g, x) => [g(x), println(x)]") == Purity::Impure);
}

TEST_CASE("what cannot be proved") {
  CHECK(culprit("fn f(g, x) => g(x)") == "calls the parameter 'g'");
  CHECK(culprit("fn f(r) => r.go()") == "calls the field 'go'");
  CHECK(culprit("fn f(r) => r[0](1)") == "calls an element");
  CHECK(culprit("fn f(r) { r.value = 1 }") == "stores to a field 'value', which may be a ref's");
  CHECK(culprit("let g = [x => x]\nlet h = g[0]\nfn f(x) => h(x)") == "calls the `let` 'h'");
  CHECK(culprit("fn f(xs, g) => map(xs, g)") == "passes the parameter 'g' to 'map'");
  CHECK(purity("fn f(g, x) => g(x)") == Purity::Unproved);
}

TEST_CASE("known functions are looked into") {
  CHECK(purity("fn f(xs) => map(xs, x => x + 1)") == Purity::Pure);
  CHECK(purity("fn f(xs) => xs.map(sqrt)") == Purity::Pure);
  CHECK(purity("fn f(xs) => xs.map(println)") == Purity::Impure);
  CHECK(purity("fn f(xs) => xs.map(x => println(x))") == Purity::Impure);
  CHECK(purity("fn f(xs) {\n  let g = x => x + 1\n  fn h(x) => g(x)\n  xs.map(h)\n}") ==
        Purity::Pure);
  CHECK(purity("fn f(xs) {\n  let g = x => println(x)\n  () => g(1)\n}") == Purity::Pure);
  CHECK(purity("fn f(xs) {\n  let g = x => println(x)\n  (() => g(1))()\n}") == Purity::Impure);
  CHECK(purity("fn f(xs) {\n  var g = x => x\n  g(1)\n}") == Purity::Unproved);
  CHECK(purity("let g = x => println(x)\nfn f(x) => g(x)") == Purity::Impure);
  CHECK(purity("let g = x => x\nfn f(x) => g(x)") == Purity::Pure);
  CHECK(purity("fn f(n) {\n  fn g(k) => if k == 0 { 0 } else { g(k - 1) }\n  g(n)\n}") ==
        Purity::Pure);
}

TEST_CASE("a lambda has its own purity") {
  const auto r = good("fn f(x) => [() => println(x), () => x]");
  const FunctionDecl& f = function(r, "f");
  CHECK(f.purity == Purity::Pure);
  CHECK(f.children[0]->purity == Purity::Impure);
  CHECK(f.children[1]->purity == Purity::Pure);
}

TEST_CASE("pure fn names the culprit and shows the chain") {
  const Resolved r = resolve_text("fn log(x) => println(x)\npure fn f(x) => 1 + log(x)");
  CHECK_FALSE(r.good);
  const Diagnostic* found = r.find(ErrorCode::NotPure);
  REQUIRE(found);
  CHECK(found->message == "the pure fn 'f' is not pure: it calls 'log', and log calls 'println'");
  CHECK(found->span.begin == r.module->source->text().find("log(x)", 30));
  CHECK(found->hint.find("log (main.posset:1:14) calls 'println'") != std::string::npos);
  good("pure fn f(x) => x * 2");
}

TEST_CASE("purity of imported functions counts") {
  TestEnvironment environment;
  environment.sources["a"] = "export fn log(x) => println(x)\nexport fn twice(x) => x * 2";
  const Resolved r =
      resolve_text("import \"a\"\nfn f(x) => a.log(x)\nfn g(x) => a.twice(x)", environment);
  REQUIRE(r.good);
  CHECK(function(r, "f").purity == Purity::Impure);
  CHECK(function(r, "g").purity == Purity::Pure);
  CHECK(explain_purity(function(r, "f")) ==
        "impure:\n  f (main.posset:2:12) calls 'log'\n  log (a.posset:1:21) calls 'println'");
  CHECK(explain_purity(function(r, "g")) == "pure: uses only what is pure (twice)");
}

TEST_CASE("long chains of calls") {
  std::string text;
  for (int i = 0; i < 20000; ++i)
    text += "fn f" + std::to_string(i) + "() => f" + std::to_string(i + 1) + "()\n";
  text += "fn f20000() => println(1)\nfn f() => f0()";
  const auto r = good(text);
  CHECK(function(r, "f").purity == Purity::Impure);
}

TEST_SUITE_END();
