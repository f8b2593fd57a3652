// What the resolver reports: one row per mistake, with the words the message must hold.
#include <algorithm>

#include "resolver_fixture.h"

using namespace posset::syntax;

TEST_SUITE_BEGIN("resolver");

namespace {

struct Mistake {
  const char* text;
  ErrorCode code;
  const char* message;  // a part of it, case ignored
  const char* hint;     // likewise
};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return text;
}

void check(const Mistake& mistake, const Resolved& r) {
  INFO(mistake.text);
  INFO(r.text());
  const Diagnostic* found = r.find(mistake.code);
  REQUIRE(found);
  CHECK(lower(found->message).find(mistake.message) != std::string::npos);
  CHECK(lower(found->hint).find(mistake.hint) != std::string::npos);
}

// One error each, and no other.
void check_errors(std::initializer_list<Mistake> mistakes) {
  for (const Mistake& each : mistakes) {
    const Resolved r = resolve_text(each.text);
    check(each, r);
    CHECK_FALSE(r.good);
    CHECK(r.diagnostics.all().size() == 1);
  }
}

}  // namespace

TEST_CASE("undefined names") {
  check_errors({
      {"fn f(total) => totl", ErrorCode::NotDefined, "'totl' is not defined",
       "did you mean 'total'?"},
      {"fn f() => lenn([])", ErrorCode::NotDefined, "not defined", "'len'"},
      {"n += 1", ErrorCode::NotDefined, "'n'", ""},
      {"x ?"
       "?= 1",
       ErrorCode::NotDefined, "'x'", ""},
      {"x = 1", ErrorCode::NotDefined, "'x'", ""},
      {"let x = x + 1", ErrorCode::NotDefined, "'x'", "declares it"},
      {"let fact = n => fact(n - 1)", ErrorCode::NotDefined, "'fact'", "fn fact"},
      {"println(x)\nlet x = []", ErrorCode::NotDefined, "'x'", "line 2"},
      {"fn f() {\n  g()\n  fn g() => 1\n}", ErrorCode::NotDefined, "'g'", "line 3"},
      {"fn f() => null", ErrorCode::NotDefined, "'null'", "nil"},
      {"math.sin(1)", ErrorCode::NotDefined, "'math'", "import"},
      {"fn f(x: Shpe) => x\ntype Shape = A", ErrorCode::NotDefined, "'shpe'", "'shape'"},
      {"fn f(x: strr) => x", ErrorCode::NotDefined, "'strr'", "'str'"},
      {"fn f(x) => match x { Circel(r) => r, _ => 0 }\ntype S = Circle(r)", ErrorCode::NotDefined,
       "'circel'", "'circle'"},
      {"let W = 1\nfn f(x) => match x { W => 1, _ => 0 }", ErrorCode::NotDefined, "'w'", "guard"},
  });
}

TEST_CASE("what cannot be assigned") {
  check_errors({
      {"fn f() { let x = [1]\n x = 2 }", ErrorCode::CannotAssign, "cannot assign to 'x'", "var x"},
      {"fn f() { let p = {x: 1}\n p.x = 2 }", ErrorCode::CannotAssign, "`let`", "var p"},
      {"fn f() { let p = {value: 1}\n p.value = 2 }", ErrorCode::CannotAssign, "`let`", "var p"},
      {"fn f(a) { a[0] += 1 }", ErrorCode::CannotAssign, "parameter", "inout"},
      {"fn f(xs) { for x in xs { x = 1 } }", ErrorCode::CannotAssign, "loop variable", "var"},
      {"fn f(x) => match x { [a] => { a = 1 }, _ => 0 }", ErrorCode::CannotAssign, "pattern",
       "var"},
      {"fn f() { try { 1 } catch e { e = 1 } }", ErrorCode::CannotAssign, "'e'", ""},
      {"fn f() { f = 1 }", ErrorCode::CannotAssign, "function", ""},
      {"len = 1", ErrorCode::CannotAssign, "built-in", "var"},
      {"let A = 1\nA = 2", ErrorCode::CannotAssign, "constant", ""},
      {"let a = []\nfn f() { a[0] = 1 }", ErrorCode::CannotAssign, "'a'", "ref"},
      {"import \"math\"\nmath.pi = 3", ErrorCode::CannotAssign, "'math'", ""},
      {"type T = A(x)\nA = 1", ErrorCode::CannotAssign, "constructor", ""},
      {"fn f() { let a = 1\n [a] = [2] }", ErrorCode::CannotAssign, "'a'", ""},
      {"fn f() { var n = 0\n () => { n += 1 } }", ErrorCode::CapturedAssignment, "captured", "ref"},
      {"fn f() { var xs = []\n x => xs.push(x) }", ErrorCode::CapturedAssignment, "captured",
       "ref"},
      {"var n = 0\nlet f = () => { n += 1 }", ErrorCode::CapturedAssignment, "cannot assign to 'n'",
       "ref"},
      {"var n = 0\nfn f() => n", ErrorCode::ModuleVariable, "'n'", "parameter"},
      {"var n = 0\nfn f() { n += 1 }", ErrorCode::ModuleVariable, "'n'", "ref"},
  });
}

TEST_CASE("a field called value may be a ref's, whatever holds it") {
  good(
      "let total = ref(0)\nfn add(n) { total.value += n }\nfn f(r) { r.value = 1\n x => { r.value "
      "= x } }");
  good(
      "fn f() { let cells = [ref(0)]\n cells[0].value = 1\n let s = {n: ref(1)}\n s.n.value = 2 }");
}

TEST_CASE("names twice") {
  check_errors({
      {"fn f() => 1\nfn f() => 2", ErrorCode::DuplicateName, "'f' is declared twice", "line 1"},
      {"fn g() { fn f() => 1\n fn f() => 2\n f() }", ErrorCode::DuplicateName, "twice", "line 1"},
      {"fn f(a, a) => a", ErrorCode::DuplicateName, "twice", ""},
      {"fn f([a, b], a) => a", ErrorCode::DuplicateName, "'a' appears twice", ""},
      {"let [x, x] = [1, 2]", ErrorCode::DuplicateName, "twice", ""},
      {"let {x, y: x} = {x: 1, y: 2}", ErrorCode::DuplicateName, "twice", ""},
      {"let r = {x: 1, x: 2}", ErrorCode::DuplicateName, "'x' is written twice", ""},
      {"type A = X | X", ErrorCode::DuplicateName, "twice", ""},
      {"type A = X\ntype B = X", ErrorCode::DuplicateName, "twice", ""},
      {"type A = X\ntype A = Y", ErrorCode::DuplicateName, "twice", ""},
      {"type A = X(a, a)", ErrorCode::DuplicateName, "twice", ""},
      {"import \"math\"\nimport \"math\"", ErrorCode::DuplicateName, "'math' is declared twice",
       ""},
      {"import {sin} from \"math\"\nfn sin(x) => x", ErrorCode::DuplicateName, "'sin'", ""},
      {"export let a = 1\nexport fn a() => 1", ErrorCode::DuplicateName, "twice", ""},
  });
}

TEST_CASE("patterns") {
  check_errors({
      {"fn f(x) => match x { [a] | [a, b] => a, _ => 0 }", ErrorCode::BadPattern, "same names",
       "_"},
      {"type T = A(x)\nfn f(t) => match t { A => 1, _ => 0 }", ErrorCode::BadPattern,
       "'a(x)' takes 1 argument", "_"},
      {"type T = A(x)\nfn f(t) => match t { A(x, y) => 1, _ => 0 }", ErrorCode::BadPattern,
       "this pattern has 2", ""},
      {"type T = A | B\nfn f(t) => match t { A(x) => x, _ => 0 }", ErrorCode::BadPattern,
       "takes 0 arguments", ""},
  });
}

TEST_CASE("leaving what there is not") {
  check_errors({
      {"break", ErrorCode::OutsideLoop, "break", ""},
      {"fn f(xs) { for x in xs { (() => { continue })() } }", ErrorCode::OutsideLoop, "continue",
       "lambda"},
      {"return 1", ErrorCode::OutsideLoop, "return", ""},
  });
  good("fn f(xs) => [for x in xs if x < 10 or break => x]");
}

TEST_CASE("a lent root is out of reach") {
  check_errors({
      {"fn f() { var p = {x: 1}\n with t = &p.x { t = p } }", ErrorCode::WithRootUsed, "'p'", ""},
      {"fn f() { var p = {x: 1}\n with t = &p.x { () => p } }", ErrorCode::WithRootUsed, "'p'", ""},
      {"fn f() { var p = {x: 1}\n with t = &p.x { p.y = 1 } }", ErrorCode::WithRootUsed, "'p'", ""},
      {"fn f() { var p = {x: 1}\n with t = &p.x { with u = &p.y { u } } }", ErrorCode::WithRootUsed,
       "'p'", ""},
  });
  good("fn f() { var p = {x: 1}\n with t = &p.x { let p = 2\n t = p }\n p }");
  good("fn f() { var p = {x: {y: 1}}\n with p = &p.x { p.y = 2 }\n p }");
}

TEST_CASE("inout marks") {
  check_errors({
      {"fn f() { var xs = []\n push(xs, 1) }", ErrorCode::BadInout, "'push'", "&xs"},
      {"fn f() { var xs = []\n len(&xs) }", ErrorCode::BadInout, "'len' does not take", "&"},
      {"fn f() { var xs = []\n var ys = 1\n xs.push(&ys) }", ErrorCode::BadInout, "argument 2", ""},
      {"fn f() { [1].push(2) }", ErrorCode::BadInout, "inout", "var"},
      {"fn f() { let xs = [1]\n xs.push(2) }", ErrorCode::CannotAssign, "`let`", "var xs"},
      {"fn f(xs) { push(&xs, 2) }", ErrorCode::CannotAssign, "parameter", "inout"},
      {"fn g(inout a, inout b) => 0\nfn f() { var p = {}\n g(&p, &p.x) }", ErrorCode::BadInout,
       "overlap", ""},
      {"fn g(inout a, inout b) => 0\nfn f() { var p = {}\n g(&p.x[0], &p.x[1]) }",
       ErrorCode::BadInout, "overlap", ""},
      {"fn g(inout a, inout b) => 0\nfn f() { var p = {}\n p.x.g(&p.x.y) }", ErrorCode::BadInout,
       "'p'", ""},
      {"fn f() { var xs = []\n xs?.push(1) }", ErrorCode::BadInout, "inout", "nil"},
      {"fn g(inout a) => 0\nfn f() { var a = 1\n a |> g }", ErrorCode::BadInout, "argument 1",
       "&a"},
      {"fn g(inout a) => 0\nfn f() { var a = 1\n spawn g(&a) }", ErrorCode::BadInout, "spawn", ""},
      {"type T = A(x)\nfn f() { var a = 1\n A(&a) }", ErrorCode::BadInout, "'a' does not take", ""},
      {"import {shuffle} from \"lists\"\nfn f() { var a = 1\n shuffle(a) }", ErrorCode::BadInout,
       "'shuffle'", "&a"},
  });
  good(
      "fn g(inout a, inout b) => 0\nfn f(h) { var p = {}\n var q = 1\n g(&p.x, &p.y)\n "
      "g(&p.l[0].x, &p.l[1].y)\n h(&p, q) }");
}

TEST_CASE("imports") {
  check_errors({
      {"import {cos2} from \"math\"", ErrorCode::NotExported, "'cos2'", ""},
      {"import \"math\"\nmath.sn(1)", ErrorCode::NotExported, "'sn'", "'sin'"},
      {"import \"nowhere\"\nnowhere.f(1)", ErrorCode::ImportFailed, "'nowhere'", ""},
  });
  TestEnvironment environment;
  environment.sources["a"] = "fn hidden() => 1";
  const Mistake hidden = {"import \"a\"\na.hidden()", ErrorCode::NotExported, "'hidden'", "export"};
  check(hidden, resolve_text(hidden.text, environment));
}

TEST_CASE("import cycles are shown") {
  TestEnvironment environment;
  environment.sources["a"] = "import \"b\"\nexport fn f() => 1";
  environment.sources["b"] = "import \"c\"";
  environment.sources["c"] = "import \"a\"\nfn g() => a.f()";
  const Mistake cycle = {"import \"a\"", ErrorCode::ImportCycle, "a -> b -> c -> a", ""};
  const Resolved r = resolve_text(cycle.text, environment);
  check(cycle, r);
  CHECK(r.diagnostics.all().size() == 1);
  CHECK_FALSE(r.good);
}

TEST_CASE("errors of all imported modules are found") {
  TestEnvironment environment;
  environment.sources["a"] = "fn f() => one";
  environment.sources["b"] = "fn f() => two";
  const Resolved r = resolve_text("import \"a\"\nimport \"b\"\nthree", environment);
  REQUIRE(r.diagnostics.all().size() == 3);
  CHECK(r.diagnostics.all()[0].source->name() == "a.posset");
  CHECK(r.diagnostics.all()[2].source->name() == "main.posset");
}

TEST_CASE("a module is resolved once for several programs") {
  TestEnvironment environment;
  environment.sources["a"] = "export fn f() => 1";
  const Resolved first = resolve_text("import \"a\"\na.f()", environment);
  const Resolved second = resolve_text("import \"a\"\na.f()", environment);
  CHECK(first.good);
  CHECK(second.good);
  CHECK(first.module->imports[0]->module == second.module->imports[0]->module);
  CHECK(second.module->imports[0]->module->functions[0]->children.empty());
}

TEST_CASE("reports come in the order of the source") {
  const Resolved r = resolve_text("one\nfn f() => two\nthree");
  REQUIRE(r.diagnostics.all().size() == 3);
  CHECK(r.diagnostics.all()[0].message.find("one") != std::string::npos);
  CHECK(r.diagnostics.all()[1].message.find("two") != std::string::npos);
}

TEST_CASE("warnings") {
  const auto arms = [](const char* text) {
    const Resolved r = good(text);
    return std::count_if(
        r.diagnostics.all().begin(), r.diagnostics.all().end(),
        [](const Diagnostic& each) { return each.code == ErrorCode::UnreachableArm; });
  };
  CHECK(arms("fn f(x) => match x { _ => 1, 2 => 2 }") == 1);
  CHECK(arms("fn f(x) => match x { y => 1, 2 => 2, 3 => 3 }") == 2);
  CHECK(arms("fn f(x) => match x { y if y > 1 => 1, 2 => 2, _ => 0 }") == 0);
  CHECK(arms("fn f(x) => match x { 1 | 2 => 1, 2 => 2, 1.0 => 3, -1 => 4, _ => 0 }") == 2);
  CHECK(arms("fn f(x) => match x { n: int => 1, 2 => 2, _ => 0 }") == 0);
  CHECK(arms("type T = A(x) | B\nfn f(x) => match x { A(1) => 1, A(_) => 2, A(y) => 3, B => 4, B "
             "=> 5, _ => 0 }") == 2);
  const Resolved shadowed =
      good("fn f() {\n  let r = {find: x => x, size: 1}\n  r.find(1)\n  (r.find)(2)\n}");
  REQUIRE(shadowed.diagnostics.all().size() == 1);
  check({"", ErrorCode::FieldShadowedByFn, "'find'", "(r.find)(...)"}, shadowed);
}

TEST_SUITE_END();
