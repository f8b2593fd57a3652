// Names to slots, captures and links; rewriting of method calls; numbering.
#include "resolver_fixture.h"

using namespace posset::syntax;

TEST_SUITE_BEGIN("resolver");

// ---- slots ----

TEST_CASE("parameters come first and sibling scopes share slots") {
  const auto r = good(
      "fn f(a, b) {\n  if a { let x = 1; x } else { let y = 2; let z = y; z }\n  let w = b\n  "
      "w\n}");
  const FunctionDecl& f = function(r, "f");
  CHECK(use(f, "a") == "Local 0");
  CHECK(use(f, "b") == "Local 1");
  CHECK(declared(f, "x") == "Local 2");
  CHECK(declared(f, "y") == "Local 2");
  CHECK(declared(f, "z") == "Local 3");
  CHECK(declared(f, "w") == "Local 2");
  CHECK(f.slot_count == 4);
  REQUIRE(f.slot_names.size() == 4);
  CHECK(f.slot_names[0] == "a");
}

TEST_CASE("a name declared again in its scope takes a new slot and sees the old one") {
  const auto r = good("fn f() {\n  let x = 1\n  let x = x + 1\n  x\n}");
  const FunctionDecl& f = function(r, "f");
  CHECK(declared(f, "x", 0) == "Local 0");
  CHECK(use(f, "x", 0) == "Local 0");
  CHECK(declared(f, "x", 1) == "Local 1");
  CHECK(use(f, "x", 1) == "Local 1");
}

TEST_CASE("destructured parameters keep the raw argument and bind behind all parameters") {
  const auto r = good("fn f([a, b], c, d = a) => a + b + c + d");
  const FunctionDecl& f = function(r, "f");
  CHECK(declared(f, "a") == "Local 3");
  CHECK(declared(f, "b") == "Local 4");
  CHECK(use(f, "c") == "Local 1");
  CHECK(use(f, "d") == "Local 2");
  CHECK(use(f, "a", 0) == "Local 3");
  CHECK(f.slot_count == 5);
  CHECK(f.required == 2);
}

TEST_CASE("hidden slots stand before the names of their construct") {
  const auto r = good(
      "fn f(xs) {\n  for x in xs { len(x) }\n  let ys = [for x in xs if len(x) > 1 => x]\n"
      "  match ys { [y] => y, _ => nil }\n}");
  const FunctionDecl& f = function(r, "f");
  CHECK(only<ForNode>(f).hidden == 1);
  CHECK(declared(f, "x", 0) == "Local 4");
  CHECK(only<ComprehensionNode>(f).hidden == 1);
  CHECK(declared(f, "x", 1) == "Local 6");
  CHECK(declared(f, "ys") == "Local 1");
  CHECK(only<MatchNode>(f).hidden == 2);
  CHECK(declared(f, "y") == "Local 3");
  CHECK(f.slot_count == 7);
}

TEST_CASE("with and catch names are locals of their blocks") {
  const auto r =
      good("fn f(inout p) {\n  with t = &p.x[0] { t += 1 }\n  try { throw 1 } catch e { e }\n}");
  const FunctionDecl& f = function(r, "f");
  CHECK(declared(f, "t") == "Local 1");
  CHECK(declared(f, "e") == "Local 1");
  const auto* pattern = as<BindingPatternNode>(only<WithNode>(f).pattern);
  REQUIRE(pattern);
  CHECK(pattern->binding.is_var);
  CHECK(uses(f, "p")[0]->binding.is_var);
}

TEST_CASE("alternatives share the slots of their names") {
  const auto r =
      good("type T = A(x, y) | B(y, x)\nfn f(t) => match t { A(x, y) | B(y, x) => x - y, _ => 0 }");
  const FunctionDecl& f = function(r, "f");
  CHECK(declared(f, "x", 0) == declared(f, "x", 1));
  CHECK(declared(f, "y", 0) == declared(f, "y", 1));
  CHECK(f.slot_count == 4);
}

// ---- globals and constants ----

TEST_CASE("a let that a fn reads is a global, also for the top level") {
  const auto r = good("let a = [1]\nlet b = [2]\nvar v = 0\nfn f() => len(b)\nprintln(a, b, v)");
  REQUIRE(r.module->global_names.size() == 1);
  CHECK(r.module->global_names[0] == "b");
  const FunctionDecl& top = function(r, "");
  CHECK(declared(top, "a") == "Local 0");
  CHECK(declared(top, "v") == "Local 1");
  CHECK(link_of(top, uses(top, "b")[0]->binding).kind == Link::Kind::Global);
  CHECK_FALSE(uses(top, "b")[0]->binding.first_use_unset);
  const FunctionDecl& f = function(r, "f");
  const Link& link = link_of(f, uses(f, "b")[0]->binding);
  CHECK(link.kind == Link::Kind::Global);
  CHECK(link.index == 0);
  CHECK(link.module == nullptr);
  CHECK(uses(f, "b")[0]->binding.first_use_unset);
}

TEST_CASE("globals are numbered in order of declaration") {
  const auto r = good("fn f() => [c, a]\nlet a = [1]\nlet b = [2]\nlet c = [3]\nfn g() => b");
  REQUIRE(r.module->global_names.size() == 3);
  CHECK(r.module->global_names[2] == "c");
  const FunctionDecl& f = function(r, "f");
  CHECK(link_of(f, uses(f, "c")[0]->binding).index == 2);
  CHECK(link_of(f, uses(f, "a")[0]->binding).index == 0);
}

TEST_CASE("a let of a literal is replaced by a copy of it") {
  const auto r = good("let A = 2\nlet B = -3\nlet S = \"hi\"\nfn f(x) => A * x + B\nprintln(S, A)");
  CHECK(r.module->global_names.empty());
  const FunctionDecl& f = function(r, "f");
  const auto numbers = all_of<IntLiteralNode>(f);
  REQUIRE(numbers.size() == 2);
  CHECK(numbers[0]->value == 2);
  CHECK(numbers[1]->value == -3);
  CHECK(r.module->source->text().substr(numbers[1]->span.begin, 1) == "B");
  CHECK(uses(function(r, ""), "S").empty());
}

TEST_CASE("a fn sees the let before it, else the last one") {
  const auto r = good(
      "let a = [1]\nfn f() => a\nlet a = [a]\nfn g() => a\nfn h() => b\nlet b = []\nlet b = [b]");
  const auto global = [&](Text name, Text variable) {
    const FunctionDecl& f = function(r, name);
    return link_of(f, uses(f, variable)[0]->binding).index;
  };
  CHECK(global("f", "a") == 0);
  CHECK(global("g", "a") == 1);
  CHECK(r.module->global_names[global("h", "b")] == "b");
  CHECK(global("h", "b") == 2);  // the first b is read by no fn
}

// ---- captures ----

TEST_CASE("captures go through every function in between") {
  const auto r = good("fn f(a) {\n  let b = 1\n  x => y => a + b + x + y + a\n}");
  const FunctionDecl& f = function(r, "f");
  REQUIRE(f.children.size() == 1);
  const FunctionDecl& outer = *f.children[0];
  REQUIRE(outer.children.size() == 1);
  const FunctionDecl& inner = *outer.children[0];
  REQUIRE(outer.captures.size() == 2);
  CHECK(outer.captures[0].from == Capture::From::Local);
  CHECK(outer.captures[0].index == 0);
  CHECK(outer.captures[1].index == 1);
  REQUIRE(inner.captures.size() == 3);
  CHECK(inner.captures[0].from == Capture::From::Captured);
  CHECK(inner.captures[2].from == Capture::From::Local);
  CHECK(use(inner, "a", 0) == "Captured 0");
  CHECK(use(inner, "a", 1) == "Captured 0");
  CHECK(use(inner, "x") == "Captured 2");
  CHECK(use(inner, "y") == "Local 0");
  CHECK(inner.parent == &outer);
  CHECK(outer.parent == &f);
  CHECK(f.parent == r.module->top);
}

TEST_CASE("a local fn is Self inside and a slot outside") {
  const auto r =
      good("fn f(n) {\n  fn g(k) => if k == 0 { n } else { (() => g(k - 1))() }\n  g(n)\n}");
  const FunctionDecl& f = function(r, "f");
  CHECK(text_of(only<FunctionStatementNode>(f).binding) == "Local 1");
  CHECK(use(f, "g") == "Local 1");
  const FunctionDecl& g = *f.children[0];
  REQUIRE(g.children.size() == 1);
  const FunctionDecl& lambda = *g.children[0];
  CHECK(use(lambda, "g") == "Captured 0");
  REQUIRE(lambda.captures.size() == 2);
  CHECK(lambda.captures[0].from == Capture::From::Self);
  CHECK(g.captures.size() == 1);
}

TEST_CASE("lambdas of the top level capture its names") {
  const auto r = good("var n = 1\nlet add = x => x + n\nprintln(add(2))");
  const FunctionDecl& top = function(r, "");
  REQUIRE(top.children.size() == 1);
  CHECK(use(*top.children[0], "n") == "Captured 0");
}

TEST_CASE("links are shared and numbered by first reference") {
  const auto r = good("fn g(x) => x\nfn f(x) => len(g(x)) + len(x) + g(1)");
  const FunctionDecl& f = function(r, "f");
  REQUIRE(f.links.size() == 2);
  CHECK(f.links[0].kind == Link::Kind::Builtin);
  CHECK(f.links[0].name == "len");
  CHECK(f.links[1].function == &function(r, "g"));
}

TEST_CASE("names may shadow built-ins, the host's values are found last") {
  const auto r = good("fn len(x) => 1\nfn f(sqrt) => [len(sqrt), args]");
  const FunctionDecl& f = function(r, "f");
  CHECK(link_of(f, uses(f, "len")[0]->binding).kind == Link::Kind::Function);
  CHECK(use(f, "sqrt") == "Local 0");
  CHECK(link_of(f, uses(f, "args")[0]->binding).kind == Link::Kind::HostGlobal);
}

// ---- calls ----

TEST_CASE("a method call takes the function in scope, else the field") {
  const auto r =
      good("fn area(s) => 1\nfn f(s, g) => [s.area(), s.g(2), s.len(), s.name(3), (s.area)()]");
  const FunctionDecl& f = function(r, "f");
  const auto calls = all_of<CallNode>(f);
  REQUIRE(calls.size() == 5);
  CHECK(as<NameNode>(calls[0]->callee)->name == "area");
  CHECK(calls[0]->form == CallForm::Method);
  CHECK(calls[0]->arguments.size() == 1);
  CHECK(text_of(as<NameNode>(calls[1]->callee)->binding) == "Local 1");
  CHECK(calls[1]->arguments.size() == 2);
  CHECK(as<NameNode>(calls[2]->callee));
  REQUIRE(as<FieldNode>(calls[3]->callee));
  CHECK(calls[3]->form == CallForm::Plain);
  CHECK(calls[3]->arguments.size() == 1);
  CHECK(as<FieldNode>(calls[4]->callee));
}

TEST_CASE("what is surely no function does not hide one") {
  const auto r = good(
      "let count = 3\nfn f(xs) {\n  let find = [1]\n  [xs.count(x => true), xs.find(x => true), "
      "count, find]\n}");
  const auto calls = all_of<CallNode>(function(r, "f"));
  REQUIRE(calls.size() == 2);
  CHECK(calls[0]->form == CallForm::Method);
  CHECK(calls[1]->form == CallForm::Method);
}

TEST_CASE("optional calls keep the test with the receiver") {
  const auto r = good("fn f(a) => [a?.len(), a?.name(1), a?.b.sqrt()]");
  const auto calls = all_of<CallNode>(function(r, "f"));
  REQUIRE(calls.size() == 3);
  CHECK(calls[0]->optional);
  CHECK(calls[0]->form == CallForm::Method);
  CHECK_FALSE(calls[1]->optional);
  CHECK(as<FieldNode>(calls[1]->callee)->optional);
  CHECK_FALSE(calls[2]->optional);
}

TEST_CASE("the receiver is passed inout when the function says so") {
  const auto r = good(
      "fn grow(inout xs, n) { xs.push(n) }\nfn f() {\n  var p = {xs: [[]]}\n  p.xs[0].grow(1)\n  "
      "grow(&p.xs[0], 2)\n}");
  for (Text name : {"grow", "f"}) {
    for (CallNode* call : all_of<CallNode>(function(r, name))) {
      CHECK(as<ArgumentNode>(call->arguments[0])->inout);
    }
  }
  CHECK(function(r, "grow").inout_mask == 1);
}

TEST_CASE("module calls and fields are bound to exports") {
  TestEnvironment environment;
  environment.sources["geo"] =
      "export let SIDES = 4\nexport let table = [1]\nexport fn area(r) => r\nexport type S = C(r) "
      "| D\nfn hidden() => 1";
  const auto r = resolve_text(
      "import \"geo\" as g\nimport {area as a, C} from \"geo\"\nimport \"math\"\n"
      "fn f(x) => [g.area(x), g.SIDES, g.table, math.sin(x), math.pi, a(x), C(1), g.D]",
      environment);
  INFO(r.text());
  REQUIRE(r.good);
  const FunctionDecl& f = function(r, "f");
  const auto calls = all_of<CallNode>(f);
  const auto* field = as<FieldNode>(calls[0]->callee);
  REQUIRE(field);
  const Link& area = link_of(f, field->binding);
  CHECK(area.kind == Link::Kind::Function);
  CHECK(area.function->name == "area");
  CHECK(area.module == area.function->module);
  CHECK(all_of<IntLiteralNode>(f)[0]->value == 4);
  const auto fields = all_of<FieldNode>(f);
  CHECK(link_of(f, fields[1]->binding).kind == Link::Kind::Global);
  CHECK(fields[1]->binding.first_use_unset);
  CHECK(link_of(f, fields[2]->binding).kind == Link::Kind::BuiltinExport);
  CHECK(uses(f, "a")[0]->binding.index == field->binding.index);  // the same link
  CHECK(link_of(f, uses(f, "C")[0]->binding).kind == Link::Kind::Constructor);
}

// ---- tail calls ----

namespace {

std::vector<bool> tails(const FunctionDecl& function) {
  std::vector<bool> found;
  for (CallNode* call : all_of<CallNode>(function)) {
    const auto* name = as<NameNode>(call->callee);
    if (name && name->name == function.name) found.push_back(call->tail);
  }
  return found;
}

std::vector<bool> tails_of(const char* text) {
  const auto r = good(text);
  return tails(function(r, "f"));
}

}  // namespace

TEST_CASE("self calls in tail position are marked") {
  CHECK(tails_of("fn f(n) => if n == 0 { 0 } else if n == 1 { f(0) } else { f(n - 1) }") ==
        std::vector{true, true});
  CHECK(tails_of("fn f(n) => n * f(n - 1)") == std::vector{false});
  CHECK(tails_of("fn f(n) {\n  f(n)\n  match n { 0 => f(1), k => { f(k) } }\n}") ==
        std::vector{false, true, true});
  CHECK(tails_of("fn f(n) {\n  while true { if n > 1 { return f(n) }\n f(0) }\n}") ==
        std::vector{true, false});
  CHECK(tails_of("fn f(n) => try { return f(n) } catch { f(0) }") == std::vector{false, false});
  CHECK(tails_of("fn f(n) => n or f(n)") == std::vector{false});
  CHECK(tails_of("fn f(n) => n ?? f(n)") == std::vector{false});
  CHECK(tails_of("fn f(n) => n ?? return f(n)") == std::vector{true});
  CHECK(tails_of("fn f(n) => n.f()") == std::vector{true});
  CHECK(tails_of("fn f(a, b = 1) => f()") == std::vector{false});
  CHECK(tails_of("fn f(a, b = 1) => f(a)") == std::vector{true});
  CHECK(tails_of("fn f(a) => f(..a)") == std::vector{true});
  CHECK(tails_of("fn f(..a) => f(1)") == std::vector{true});
  CHECK(tails_of("fn f(inout a, b) => f(&a, ..b)") == std::vector{true});
  CHECK(tails_of("fn f(a, inout b) => f(..a)") ==
        std::vector{false});  // which would be b is not known
  CHECK(tails_of("fn f(inout a, b) => f(&a, b)") == std::vector{true});
  CHECK(tails_of("fn f(inout a, b) => f(&a.x, b)") == std::vector{false});
  CHECK(tails_of("fn f(inout a, inout b) => f(&b, &a)") == std::vector{false});
}

TEST_CASE("a local fn calls itself in tail position") {
  const auto r = good("fn f(n) {\n  fn g(k) => if k == 0 { n } else { g(k - 1) }\n  g(n)\n}");
  CHECK(tails(*function(r, "f").children[0]) == std::vector{true});
}

// ---- numbering ----

TEST_CASE("sites number the nodes of each function in evaluation order") {
  const auto r = good(
      "fn f([a], b = 1 + 2) {\n  let g = x => x * a\n  for i in 0..b { g(i) }\n  while b > 0 { "
      "break }\n  [for i in 0..3 => i]\n}");
  const FunctionDecl& f = function(r, "f");
  const std::vector<Node*> nodes = nodes_of(f);
  REQUIRE(f.spans.size() == nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    CHECK(nodes[i]->site == i);
    CHECK(f.spans[i].begin == nodes[i]->span.begin);
  }
  REQUIRE(f.loops.size() == 3);
  CHECK(only<ForNode>(f).loop == 0);
  CHECK(only<WhileNode>(f).loop == 1);
  CHECK(only<ComprehensionNode>(f).loop == 2);
  REQUIRE(f.children.size() == 1);
  CHECK(f.children[0]->spans.size() == nodes_of(*f.children[0]).size());
  CHECK(only<LambdaNode>(f).child == 0);
}

// ---- annotations ----

TEST_CASE("declared types are linked where they are named") {
  const auto r = good(
      "type Shape = Circle(r: float) | Dot\nfn f(s: Shape?, n: int) -> Shape { let t: Shape = s; t "
      "}");
  const FunctionDecl& f = function(r, "f");
  const TypeExpr* element = f.parameters[0].type->element;
  REQUIRE(element);
  CHECK(link_of(f, element->binding).kind == Link::Kind::Type);
  CHECK(link_of(f, f.result->binding).type->name == "Shape");
}

// ---- sessions ----

TEST_CASE("later inputs of a session see what earlier ones declared") {
  TestEnvironment environment;
  SessionScope session;
  const auto input = [&](const char* text) {
    Resolved r = resolve_text(text, environment, &session);
    INFO(r.text());
    CHECK(r.good);
    if (r.good) session.inputs.push_back(r.module);
    return r;
  };
  const auto first = input("let a = [1]\nvar n = 0\nfn f(x) => x\ntype T = K(v)");
  CHECK(first.module->global_names.size() == 2);
  REQUIRE(first.module->session_variables.size() == 1);
  CHECK(first.module->session_variables[0].module == first.module.get());
  const auto second = input("n += len(a)\nf(n)\nK(a)\nfn g() => a");
  const FunctionDecl& top = function(second, "");
  REQUIRE(second.module->session_variables.size() == 1);
  CHECK(second.module->session_variables[0].module == first.module.get());
  CHECK(second.module->session_variables[0].global == first.module->session_variables[0].global);
  CHECK(use(top, "n") == "Local 0");
  const Link& link = link_of(top, uses(top, "a")[0]->binding);
  CHECK(link.module == first.module.get());
  CHECK(uses(top, "a")[0]->binding.first_use_unset);
  CHECK(link_of(top, uses(top, "f")[0]->binding).function == &function(first, "f"));
  input("let n = 5");
  const auto last = input("n + 1");
  CHECK(last.module->session_variables.empty());
  Resolved wrong = resolve_text("fn h() => m", environment, &session);
  CHECK_FALSE(wrong.good);
}

// ---- size ----

TEST_CASE("long and deep sources are no trouble") {
  std::string lets;
  for (int i = 0; i < 100000; ++i) lets += "let x" + std::to_string(i % 1000) + " = len(\"a\")\n";
  good(lets);
  std::string chain = "fn f(x) => if x == 0 { 0 }";
  for (int i = 0; i < 50000; ++i) chain += " else if x == 1 { let y = x; f(y) }";
  good(chain + " else { f(x) }");
  std::string loops = "fn f(x) {\n  var n = x\n";
  for (int i = 0; i < 300; ++i) loops += "while n > 0 {\n";
  loops += "n = n - 1\n";
  for (int i = 0; i < 300; ++i) loops += "}\n";
  good(loops + "}");
  std::string lambdas = "let f = ";
  for (int i = 0; i < 400; ++i) lambdas += "(x" + std::to_string(i) + " => ";
  lambdas += "x0 + x399";
  for (int i = 0; i < 400; ++i) lambdas += ")";
  good(lambdas);
  std::string calls = "fn g(x) => x\nfn f(x) => ";
  for (int i = 0; i < 450; ++i) calls += "g(";
  calls += "x";
  for (int i = 0; i < 450; ++i) calls += ")";
  good(calls);
}

TEST_SUITE_END();
