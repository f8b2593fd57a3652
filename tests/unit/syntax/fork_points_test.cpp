// Fork points: what forks and what does not, with which inputs, and where the wrappers stand.
#include <algorithm>

#include "resolver_fixture.h"

using namespace posset::syntax;

TEST_SUITE_BEGIN("fork points");

namespace {

// What the scripts below call: `work` is recursive, `walk` has a loop, `easy` neither.
const char* const kFunctions =
    "fn work(n) => if n < 2 { n } else { work(n - 1) }\n"
    "fn walk(xs) {\n  var n = 0\n  for x in xs { n += x }\n  n\n}\n"
    "fn easy(n) => n + 1\n"
    "fn loud(n) {\n  println(n)\n  work(n)\n}\n"
    "fn any(g, n) => g(work(n))\n";

Resolved forked(const std::string& text, bool write = true) {
  TestEnvironment environment;
  environment.writes_forks = write;
  Resolved out = resolve_text(kFunctions + text, environment);
  INFO(out.text());
  REQUIRE(out.good);
  return out;
}

std::string slice(const FunctionDecl& function, Span span) {
  return std::string(function.module->source->text().substr(span.begin, span.end - span.begin));
}

// "RIGHT beside LEFT (inputs)" for each point, by number.
std::string points(const FunctionDecl& function) {
  std::string all;
  for (const ForkPoint& each : function.forks) {
    all += all.empty() ? "" : "; ";
    all += slice(function, each.span) + " beside " + slice(function, each.left);
    std::string inputs;
    for (const uint32_t slot : each.inputs)
      inputs += (inputs.empty() ? "" : " ") + std::string(function.slot_names[slot]);
    all += " (" + inputs + ")";
  }
  return all;
}

std::string points(const std::string& text, Text name = "f") {
  const Resolved r = forked(text);
  return points(function(r, name));
}

// "REASON: RIGHT beside LEFT, EFFECT" for each refusal.
std::string refusals(const std::string& text, Text name = "f") {
  const Resolved r = forked(text);
  const FunctionDecl& f = function(r, name);
  std::string all;
  for (const ForkRefusal& each : f.unforked) {
    all += all.empty() ? "" : "; ";
    all += std::string(name_of(each.reason)) + ": " + slice(f, each.span) + " beside " +
           slice(f, each.left);
    if (!each.effect.what.empty()) all += ", " + explain_step(each.effect);
  }
  return all;
}

// The wrappers in evaluation order: "fork 0..2, merge 0, merge 1".
std::string wrappers(const FunctionDecl& function) {
  std::string all;
  for (const Node* node : nodes_of(function)) {
    if (const auto* fork = as<ForkNode>(node))
      all += "fork " + std::to_string(fork->first) + ".." +
             std::to_string(fork->first + fork->count) + " ";
    if (const auto* merge = as<MergeNode>(node))
      all += "merge " + std::to_string(merge->point) + " ";
  }
  return all;
}

std::string wrappers(const std::string& text) {
  const Resolved r = forked(text);
  return wrappers(function(r, "f"));
}

}  // namespace

TEST_CASE("operands, arguments, elements and parts fork") {
  CHECK(points("fn f(a, b) => work(a) + work(b)") == "work(b) beside work(a) (b)");
  CHECK(points("fn f(a, b) => easy(work(a) < work(b))") == "work(b) beside work(a) (b)");
  CHECK(points("fn f(a, b) => fill(work(a), work(b))") == "work(b) beside work(a) (b)");
  CHECK(points("type T = Pair(l, r)\nfn f(a, b) => Pair(work(a), work(b))") ==
        "work(b) beside work(a) (b)");
  CHECK(points("fn f(a) => [1, work(a), 2, work(a + 1)]") == "work(a + 1) beside work(a) (a)");
  CHECK(points("fn f(a) => {x: work(a), y: work(2)}") == "work(2) beside work(a) ()");
  CHECK(points("fn f(a) => [\"x\": work(a), \"y\": work(2)]") == "work(2) beside work(a) ()");
  CHECK(points("fn f(a) => \"{work(a)} and {work(2):d}\"") == "work(2) beside work(a) ()");
  CHECK(points("fn f(a) => work(a) and work(2)").empty());
  CHECK(points("fn f(a, b) => work(a) |> fill(work(b))") == "work(b) beside work(a) (b)");
}

TEST_CASE("more than two") {
  CHECK(points("fn f(a) => [work(a), work(2), work(3)]") ==
        "work(2) beside work(a) (); work(3) beside work(a) ()");
  CHECK(wrappers("fn f(a) => [work(a), work(2), work(3)]") == "fork 0..2 merge 0 merge 1 ");
  CHECK(wrappers("fn f(a) => work(a) + work(2) + work(3)") == "fork 0..1 fork 1..2 merge 1 merge 0 ");
  CHECK(wrappers("fn f(a) => [work(a), easy(2), work(3)]") == "fork 0..1 merge 0 ");
  std::string many = "fn f(a) => [work(a)";
  for (int i = 0; i < 70; ++i) many += ", work(1)";
  CHECK(wrappers(many + "]").find("fork 0..16 ") == 0);
  CHECK(wrappers(many + "]").find("fork 16..") == std::string::npos);
}

TEST_CASE("a wrapper has the site and span of its body") {
  const Resolved r = forked("fn f(a) => work(a) + work(2)");
  const FunctionDecl& f = function(r, "f");
  const auto& fork = only<ForkNode>(f);
  const auto& merge = only<MergeNode>(f);
  CHECK(fork.site == fork.body->site);
  CHECK(merge.site == merge.body->site);
  CHECK(merge.span.begin == merge.body->span.begin);
  CHECK(f.forks[0].body == merge.body);
}

TEST_CASE("lets") {
  CHECK(points("fn f(a) {\n  let x = work(a)\n  let k = 1\n  let y = work(2)\n  x + y + k\n}") ==
        "work(2) beside work(a) ()");
  CHECK(points("fn f(a) {\n  let x = work(a)\n  let y = work(x)\n  y\n}").empty());
  CHECK(points("fn f(a) {\n  let x = work(a)\n  let k = 1\n  let y = work(k)\n  x + y\n}").empty());
  CHECK(points("fn f(a) {\n  let x = work(a)\n  println(x)\n  let y = work(2)\n  y\n}").empty());
  CHECK(points("fn f(a) {\n  var x = work(a)\n  let y = work(2)\n  x + y\n}").empty());
  CHECK(points("fn f(a) {\n  let [p, q] = [work(a), 1]\n  let {r} = {r: work(2)}\n  p + q + r\n}") ==
        "{r: work(2)} beside [work(a), 1] ()");
  CHECK(points("fn f(a) {\n  let [p, q] = [work(a), 1]\n  let r = work(q)\n  p + r\n}").empty());
}

TEST_CASE("what depends on one may fork from another") {
  const char* text =
      "fn f(n) {\n  let a = work(n)\n  let b = work(a)\n  let c = work(a + 1)\n  let d = work(n)\n"
      "  [a, b, c, d]\n}";
  CHECK(points(text) == "work(n) beside work(n) (n); work(a + 1) beside work(a) (a)");
  // The records are a stack: what is left last is taken back first.
  CHECK(wrappers(text) == "fork 0..1 fork 1..2 merge 1 merge 0 ");
}

TEST_CASE("forks inside forks") {
  const char* text = "fn f(n) => [work(n) + work(1), work(work(2) + work(3))]";
  CHECK(points(text) ==
        "work(work(2) + work(3)) beside work(n) + work(1) (); work(1) beside work(n) (); "
        "work(3) beside work(2) ()");
  CHECK(wrappers(text) == "fork 0..1 fork 1..2 merge 1 merge 0 fork 2..3 merge 2 ");
  const Resolved r = forked("fn f(n) => map([n], x => work(x) + work(n))");
  const FunctionDecl& f = function(r, "f");
  CHECK(f.forks.empty());
  CHECK(points(*f.children[0]) == "work(n) beside work(x) ()");
}

TEST_CASE("trivial siblings do not fork") {
  CHECK(points("fn f(a) => work(a) + easy(a)").empty());
  CHECK(points("fn f(a) => easy(a) + easy(2)").empty());
  CHECK(points("fn f(a) => len([a]) + sqrt(a)").empty());
  CHECK(points("fn f(a) => work(a) + 1").empty());
}

TEST_CASE("what is costly") {
  CHECK(points("fn f(a) => walk(a) + walk([1])") == "walk([1]) beside walk(a) ()");
  CHECK(points("fn g(a) => easy(walk(a))\nfn f(a) => g(a) + g(a)") == "g(a) beside g(a) (a)");
  CHECK(points("fn f(a) => sort(a) + sort(a)") == "sort(a) beside sort(a) (a)");
  CHECK(points("fn f(a) => map(a, easy) + map(a, easy)") ==
        "map(a, easy) beside map(a, easy) (a)");
  CHECK(points("fn f(a) => len([for x in a => x]) + len([for x in a => x])") ==
        "len([for x in a => x]) beside len([for x in a => x]) (a)");
  CHECK(points("fn g(n) => h(n)\nfn h(n) => if n == 0 { 0 } else { g(n - 1) }\n"
               "fn f(a) => g(a) + h(a)") == "h(a) beside g(a) (a)");
  CHECK(points("fn f(a) {\n  fn g(n) => if n == 0 { 0 } else { g(n - 1) }\n  g(a) + g(1)\n}") ==
        "g(1) beside g(a) (g)");
  const Resolved r = forked("fn f(a) => easy(a)");
  CHECK_FALSE(function(r, "easy").costly);
  CHECK(function(r, "work").costly);
  CHECK(function(r, "loud").costly);
}

TEST_CASE("only pure work") {
  CHECK(points("fn f(a) => work(a) + loud(a)").empty());
  CHECK(points("fn f(a) => loud(a) + work(a)").empty());
  CHECK(points("fn f(a) => [work(a), println(1), work(2)]").empty());
  CHECK(points("fn f(a) => [work(a), loud(1), work(2), work(3)]") == "work(3) beside work(2) ()");
  CHECK(points("fn f(g, a) => work(a) + g.h(work(a))").empty());
  CHECK(points("fn f(g, a) => work(a) + any(g.h, a)").empty());
  CHECK(points("fn f(g, a) => map(a, g.h) + map(a, g.h)").empty());
  // Making or naming a function is pure, whatever calling it does.
  CHECK(points("fn g(x, y, z) => x\nfn f(a) => g(work(a), loud, work(2))") ==
        "work(2) beside work(a) ()");
  CHECK(points("fn f(a) => map(map([work(a), work(2)], easy), loud)") ==
        "work(2) beside work(a) ()");
  CHECK(points("let r = ref(1)\nfn f(a) => work(r.value) + work(r.value)").empty());
  CHECK(points("fn f(a) => work(await a) + work(1)").empty());
  CHECK(points("fn f(a) {\n  let g = x => work(x)\n  g(a) + g(1)\n}") == "g(1) beside g(a) (g)");
}

TEST_CASE("nothing leaves") {
  CHECK(points("fn f(a) => work(a) + work(if a < 1 { return 0 } else { a })").empty());
  CHECK(points("fn f(a) => work(if a < 1 { return 0 } else { a }) + work(a)").empty());
  CHECK(points("fn f(a) {\n  for x in a { work(x) + work(if x < 1 { break } else { x }) }\n}").empty());
  CHECK(points("fn f(a) => work(a) + walk([for x in [a] => if x < 1 { break } else { x }])") ==
        "walk([for x in [a] => if x < 1 { break } else { x }]) beside work(a) (a)");
  CHECK(points("fn f(a) => a?.b.fill(work(1), work(2))") == "work(2) beside work(1) ()");
  CHECK(points("fn f(a) => work(a) + work(if a < 1 { throw 0 } else { a })") ==
        "work(if a < 1 { throw 0 } else { a }) beside work(a) (a)");
}

TEST_CASE("nothing outside is set") {
  CHECK(points("fn f(a) {\n  var n = 0\n  work(a) + do {\n    n += 1\n    work(1)\n  }\n}").empty());
  CHECK(points("fn f(a) {\n  var n = [0]\n  work(a) + do {\n    n.push(1)\n    work(1)\n  }\n}").empty());
  CHECK(points("fn f(a) {\n  var n = 0\n  do {\n    n += 1\n    work(1)\n  } + work(n)\n}").empty());
  CHECK(points("fn f(a) {\n  var n = 0\n  do {\n    n += 1\n    work(1)\n  } + work(a)\n}") ==
        "work(a) beside do {\n    n += 1\n    work(1)\n  } (a)");
  CHECK(points("fn f(a) {\n  work(a) + do {\n    var n = a\n    n += 1\n    work(n)\n  }\n}") ==
        "do {\n    var n = a\n    n += 1\n    work(n)\n  } beside work(a) (a)");
  CHECK(points("fn f(a) {\n  var n = [a]\n  let g = (inout xs) => work(1)\n"
               "  work(2) + work(n.g())\n}").empty());
}

TEST_CASE("inputs") {
  CHECK(points("fn f(a, b) {\n  let c = 1\n  work(1) + work(a + b + c)\n}") ==
        "work(a + b + c) beside work(1) (a b c)");
  CHECK(points("fn f(a, b) => work(1) + walk(map([1], x => x + b))") ==
        "walk(map([1], x => x + b)) beside work(1) (b)");
  CHECK(points("fn f(a, b, c, d, e, g) => work(1) + work(a + b + c + d + e + g)") ==
        "work(a + b + c + d + e + g) beside work(1) (a b c d e g)");
  CHECK(points("fn f(a, b, c, d, e, g, h) => work(1) + work(a + b + c + d + e + g + h)").empty());
  CHECK(points("fn f(a) => () => work(a) + work(a)").empty());
}

TEST_CASE("calls whose arguments decide over each other do not fork") {
  CHECK(points("fn f(a) => fill(..[work(a)], work(1))").empty());
  CHECK(points("fn g(inout x, y, z) => x\nfn f(a) {\n  var n = 1\n  g(&n, work(a), work(1))\n}").empty());
  CHECK(points("fn f(r, a) => r.x?.map(work(a), work(1))").empty());
  // The receiver must be seen to be a place.
  CHECK(wrappers("fn f(xs, go) => xs[work(1)].go(work(2), work(3))") == "fork 0..1 merge 0 ");
  CHECK(points("fn f(xs, go) => xs[work(1)].go(work(2), work(3))") == "work(3) beside work(2) ()");
}

TEST_CASE("the top level forks, a session's does not") {
  CHECK(points("println(work(1) + work(2))", "") == "work(2) beside work(1) ()");
  CHECK(points("let x = work(1)\nlet y = work(2)", "") == "work(2) beside work(1) ()");
  TestEnvironment environment;
  SessionScope session;
  const Resolved r = resolve_text(
      kFunctions + std::string("println(work(1) + work(2))\nfn f(a) => work(a) + work(1)"),
      environment, &session);
  REQUIRE(r.good);
  CHECK(function(r, "").forks.empty());
  CHECK(function(r, "f").forks.size() == 1);
}

TEST_CASE("lets that functions read") {
  const char* text = "fn g() => work(x)\nfn h() => map([1], n => g())\n";
  CHECK(points(text + std::string("let x = work(1)\nlet y = h()"), "").empty());
  CHECK(points(text + std::string("let x = work(1)\nlet y = work(2)"), "") ==
        "work(2) beside work(1) ()");
  CHECK(points(text + std::string("let x = work(1)\nlet y = work(x)"), "").empty());
}

TEST_CASE("why there is none") {
  CHECK(refusals("fn f(a) => work(a) + 1") == "fork_trivial: work(a) beside 1");
  CHECK(refusals("fn f(a) => fill(easy(a), work(a))") == "fork_trivial: work(a) beside easy(a)");
  CHECK(refusals("fn f(a) => println(work(a), 1)").empty());  // not in what is impure anyway
  CHECK(refusals("fn f(a) => \"{work(a)}.\"").empty());
  CHECK(refusals("fn f(a) {\n  let x = work(a)\n  let y = 1\n  x + y\n}").empty());
  CHECK(refusals("fn f(a) => work(a) + loud(a)") ==
        "fork_impure: loud(a) beside work(a), calls 'loud', and loud calls 'println'");
  CHECK(refusals("fn f(a) => loud(a) + work(a)") ==
        "fork_impure: loud(a) beside work(a), calls 'loud', and loud calls 'println'");
  CHECK(refusals("fn f(a) => [work(a), println(a), work(2)]") ==
        "fork_impure: work(2) beside work(a), calls 'println'");
  CHECK(refusals("fn f(g, a) => work(a) + g.h(work(a))") ==
        "fork_unproved: g.h(work(a)) beside work(a), calls the field 'h'");
  CHECK(refusals("fn f(a) {\n  let x = work(a)\n  let y = work(x)\n  y\n}") ==
        "fork_dependent: work(x) beside work(a), 'x'");
  CHECK(refusals("fn f(a) {\n  let x = work(a)\n  let y = map(a, n => work(n + x))\n  y\n}") ==
        "fork_dependent: map(a, n => work(n + x)) beside work(a), 'x'");
  CHECK(refusals("fn f(a) => work(a) + work(if a < 1 { return 0 } else { a })")
            .starts_with("fork_leaves: work(if"));
  CHECK(refusals("fn f(a) {\n  var n = 0\n  work(a) + do {\n    n += 1\n    work(1)\n  }\n}")
            .starts_with("fork_writes: do {"));
  CHECK(refusals("fn f(a, b, c, d, e, g, h) => work(1) + work(a + b + c + d + e + g + h)")
            .starts_with("fork_many_inputs: work(a + b"));
  CHECK(refusals("fn g() => work(x)\nlet x = work(1)\nlet y = g()", "") ==
        "fork_dependent: g() beside work(1)");
  CHECK(refusals("fn f(a) => work(a) + work(2)").empty());
}

TEST_CASE("what is called unseen is looked up where somebody takes the record") {
  const auto given = [](const std::string& text) {
    const Resolved r = forked(text);
    std::string all;
    for (const ForkPoint& each : function(r, "f").forks) {
      for (const Given& one : each.given) all += (one.from == Given::From::Local ? "local " : "captured ") + std::to_string(one.index) + ";";
    }
    return all;
  };
  CHECK(given("fn f(g, a) => work(a) + g(work(a))") == "local 0;");
  CHECK(given("fn f(g, a) => g(work(a)) + work(a)").empty());  // the left one takes it out of its slot
  CHECK(given("fn f(n, g) => if n < 1 { g(n) } else { f(n - 1, g) + f(n - 2, g) }") == "local 1;");
  CHECK(given("fn t(n, g) => if n < 1 { g(n) } else { t(n - 1, g) + t(n - 2, g) }\n"
              "fn f(n) => t(n, x => x + 1) + t(n, len)").empty());
  CHECK(given("fn t(n, g) => if n < 1 { g(n) } else { t(n - 1, g) + t(n - 2, g) }\n"
              "fn f(h, n) => t(n, x => h(x)) + work(n)").empty());
  CHECK(given("fn t(n, g) => if n < 1 { g(n) } else { t(n - 1, g) + t(n - 2, g) }\n"
              "fn f(h, n) => t(n, x => h(x)) + t(n + 1, y => h(y))") == "local 0;");
  CHECK(given("fn f(xs, g) => len(map(xs, g)) + work(len(xs)) + len(map(xs, g))") == "local 1;local 1;");
}

TEST_CASE("of a function only the first refusals are kept") {
  std::string many = "fn f(a) => [0";
  for (int i = 0; i < 40; ++i) many += ", work(a) + 1";
  const Resolved r = forked(many + "]");
  CHECK(function(r, "f").forks.size() == posset::syntax::kMostForks);
  CHECK(function(r, "f").unforked.size() == 16);
}

TEST_CASE("with one worker they are found but not written") {
  const Resolved r = forked("fn f(a) => work(a) + work(1)", false);
  CHECK(points(function(r, "f")) == "work(1) beside work(a) ()");
  CHECK(wrappers(function(r, "f")).empty());
}

TEST_CASE("wrappers belong to the structure") {
  const char* text = "fn f(a) => work(a) + work(1)";
  const Resolved with = forked(text), without = forked(text, false);
  CHECK_FALSE(function(with, "f").hash == function(without, "f").hash);
  CHECK(print_tree(function(with, "f")).find("left: Fork 0..1 site=1") != std::string::npos);
  CHECK(print_tree(function(with, "f")).find("right: Merge 0 site=") != std::string::npos);
}

// "SMALL beside REST (inputs of the small side)" of the recursions that may go on first.
TEST_CASE("the small side of a linear recursion may be done after it") {
  const auto small = [](const std::string& text) {
    const Resolved r = forked(text);
    const FunctionDecl& f = function(r, "f");
    std::string all;
    for (const ForkPoint& each : f.forks) {
      if (each.left_point == 0) continue;
      const ForkPoint& left = f.fork_point(each.left_point);
      all += (all.empty() ? "" : "; ") + slice(f, left.span) + " beside " + slice(f, each.span);
      for (const uint32_t slot : left.inputs) all += " " + std::string(f.slot_names[slot]);
    }
    return all;
  };
  CHECK(small("fn f(n) => if n == 0 { 0 } else { work(n) + f(n - 1) }") == "work(n) beside f(n - 1) n");
  CHECK(small("fn f(n) => if n == 0 { [] } else { [work(n)] + [work(2), f(n - 1)] }") ==
        "[work(n)] beside [work(2), f(n - 1)] n; work(2) beside f(n - 1)");
  CHECK(small("fn f(n) {\n  if n == 0 { return 0 }\n  let a = work(n)\n  let b = f(n - 1)\n  a + b\n}") ==
        "work(n) beside f(n - 1) n");
  // It branches; it is on the right, where a record of it is left as it is; something stands between; it is no recursion.
  CHECK(small("fn f(n) => if n < 2 { n } else { f(n - 2) + f(n - 1) }") == "");
  CHECK(small("fn f(n) => if n == 0 { 0 } else { f(n - 1) + work(n) }") == "");
  CHECK(small("fn f(n) => if n == 0 { 0 } else { len([work(n), n, f(n - 1)]) }") == "");
  CHECK(small("fn f(n) => work(n) + work(n - 1)") == "");
}

TEST_SUITE_END();
