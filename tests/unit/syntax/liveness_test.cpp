// Last uses: which reads may move the value out of its slot.
#include "resolver_fixture.h"

using namespace posset::syntax;

TEST_SUITE_BEGIN("liveness");

namespace {

// The uses of `name` in f, targets of assignments among them, in tree order: M may be moved, - may
// not.
std::string moves(const char* text, Text name = "x") {
  const auto r = good(text);
  std::string found;
  for (const NameNode* each : uses(function(r, "f"), name))
    found += each->binding.last_use ? 'M' : '-';
  return found;
}

}  // namespace

TEST_CASE("straight lines") {
  CHECK(moves("fn f(x) => x") == "M");
  CHECK(moves("fn f(x) => x + x") == "-M");
  CHECK(moves("fn f(x) {\n  let y = x\n  len(x)\n  y\n}") == "-M");
  CHECK(moves("fn f(a) {\n  var x = a\n  x = [..x, 1]\n  x\n}") == "-MM");
  CHECK(moves("fn f(a) {\n  let x = a\n  let x = len(x)\n  x\n}") == "MM");
}

TEST_CASE("places are read, not moved") {
  CHECK(moves("fn f(a) {\n  var x = a\n  x[0] = 1\n  1\n}") == "-");
  CHECK(moves("fn f(a) {\n  var x = a\n  x[0] = x\n  1\n}") == "--");
  CHECK(moves("fn f(a) {\n  var x = a\n  x += x\n  1\n}") == "--");
  CHECK(moves("fn f(a) {\n  var x = a\n  push(&x, x)\n  1\n}") == "--");
  CHECK(moves("fn f(a) {\n  var x = a\n  x.push(1)\n  x\n}") == "-M");
  CHECK(moves("fn f(a) {\n  var x = a\n  var y = 1\n  [x, y] = [y, x]\n  y\n}") == "M-");
  CHECK(moves("fn f(a) {\n  var x = a\n  var m = [:]\n  m[x] = x\n}") == "-M");
}

TEST_CASE("defaults of places are evaluated late") {
  CHECK(moves("fn f(x) {\n  var m = [:]\n  m[1, x][x] = 2\n}") == "--");
  CHECK(moves("fn f(x) {\n  var m = [:]\n  push(&m[1, x], x)\n}") == "--");
  CHECK(moves("fn f(x) {\n  let m = [:]\n  m[x, x]\n}") == "-M");
}

TEST_CASE("branches") {
  CHECK(moves("fn f(x) => if len(x) > 1 { x } else { 0 }") == "-M");
  CHECK(moves("fn f(x, c) {\n  if c { len(x) } else if not c { x }\n  1\n}") == "MM");
  CHECK(moves("fn f(x, c) {\n  if c { len(x) }\n  x\n}") == "-M");
  CHECK(moves("fn f(x, c) => c and x") == "M");
  CHECK(moves("fn f(x, c) => (c ?? x) + x") == "-M");
  CHECK(moves("fn f(x, c) => match c { 1 => x, n if n > x => 2, _ => 3 }") == "MM");
  CHECK(moves("fn f(x, c) => match c { n if n > x => 2, _ => x }") == "-M");
  CHECK(moves("fn f(x, c) {\n  if c { return x }\n  x\n}") == "MM");
  CHECK(moves("fn f(x, c) {\n  if c { throw x }\n  1\n}") == "M");
  CHECK(moves("fn f(x, c) => [c?.name(x), x]") == "-M");
  CHECK(moves("fn f(x) => [x?.name(x), 1]") == "-M");
}

TEST_CASE("loops") {
  CHECK(moves("fn f(x) {\n  while true { len(x) }\n}") == "-");
  CHECK(moves("fn f(x) {\n  for i in x { i }\n}") == "M");
  CHECK(moves("fn f(a) {\n  var x = a\n  for i in 0..3 { x = len(x) }\n  x\n}") == "-MM");
  CHECK(moves("fn f(a) {\n  for i in a {\n    let x = i\n    len(x)\n  }\n}") == "M");
  CHECK(moves("fn f(x, c) {\n  while c { if len(c) > 1 { break x } }\n}") == "M");
  CHECK(moves("fn f(x, c) {\n  while c {\n    if c { continue }\n    return x\n  }\n}") == "M");
  CHECK(moves("fn f(a, c) {\n  var x = a\n  while c {\n    len(x)\n    if c { continue }\n    x = "
              "1\n  }\n}") == "--");
  CHECK(moves("fn f(x, c) => [for i in c if i > x => i]") == "-");
  CHECK(moves("fn f(c) => [for x in c if len(x) > 1 => x]") == "-M");
  CHECK(moves("fn f(a, c) {\n  var x = a\n  while c { while c { x = len(x) } }\n  1\n}") == "-M");
  CHECK(moves("fn f(a, c) {\n  var x = a\n  while len(x) > 1 { while c { x = 2 } }\n}") == "--");
}

TEST_CASE("a handler may run at any point of its try") {
  CHECK(moves("fn f(x) => try { len(x) } catch { x }") == "-M");
  CHECK(moves("fn f(x) => try { len(x) } catch { 1 }") == "M");
  CHECK(moves("fn f(a) {\n  var x = a\n  try { x = len(x)\n len(x) } catch { x }\n}") == "---M");
  CHECK(moves("fn f(x) {\n  try { return len(x) } catch { 1 }\n  x\n}") == "-M");
  CHECK(moves("fn f(x) => try { try { len(x) } catch { 1 } } catch { x }") == "-M");
}

TEST_CASE("inout parameters and with names are written back") {
  CHECK(moves("fn f(inout x) => x") == "-");
  CHECK(moves("fn f(inout x) {\n  x = [..x, 1]\n}") == "--");
  CHECK(moves("fn f(a) {\n  var p = a\n  with x = &p.y { x = len(x) }\n  1\n}") == "--");
  CHECK(moves("fn f(x) {\n  var p = x\n  with t = &p.y { t = 1 }\n  p\n}", "p") == "-M");
  CHECK(moves("fn f(x) {\n  var p = [x]\n  with t = &p[x] { t = x }\n}") == "--M");
}

TEST_CASE("captures are read when the closure is made") {
  const auto capture_moves = [](const char* text) {
    const auto r = good(text);
    std::string found;
    for (const FunctionDecl* child : function(r, "f").children) {
      for (const Capture& each : child->captures) found += each.last_use ? 'M' : '-';
    }
    return found;
  };
  CHECK(capture_moves("fn f(x) => y => x + y") == "M");
  CHECK(capture_moves("fn f(x) => [y => x + y, x]") == "-");
  CHECK(capture_moves("fn f(x) => [() => x, () => x]") == "-M");
  CHECK(capture_moves("fn f(x) {\n  for i in 0..3 { () => x }\n}") == "-");
  CHECK(capture_moves("fn f(x) {\n  fn g() => x\n  g()\n}") == "M");
  CHECK(capture_moves("fn f(inout x) => () => x") == "-");
}

TEST_CASE("defaults and patterns of parameters are part of the function") {
  CHECK(moves("fn f(x, b = x) => b") == "M");
  CHECK(moves("fn f(x, b = x) => x") == "-M");
  CHECK(moves("fn f([x], b = len(x)) => [x, b]") == "-M");
}

TEST_CASE("session variables are live at the end") {
  TestEnvironment environment;
  SessionScope session;
  const Resolved r = resolve_text("var x = [1]\nx = [..x, 2]\nlen(x)", environment, &session);
  REQUIRE(r.good);
  for (const NameNode* each : uses(*r.module->top, "x")) CHECK_FALSE(each->binding.last_use);
}

TEST_CASE("many slots") {
  std::string text = "fn f(x) {\n";
  for (int i = 0; i < 200; ++i) text += "  let y" + std::to_string(i) + " = len(x)\n";
  text += "  if y150 > 1 { x } else { y150 }\n}";
  const auto r = good(text);
  const auto xs = uses(function(r, "f"), "x");
  CHECK_FALSE(xs[199]->binding.last_use);
  CHECK(xs[200]->binding.last_use);
  const auto ys = uses(function(r, "f"), "y150");
  CHECK_FALSE(ys[0]->binding.last_use);
  CHECK(ys[1]->binding.last_use);
}

TEST_SUITE_END();
