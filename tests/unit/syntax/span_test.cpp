// Every node knows its place: what errors at run time point at (section 6, "Where errors point").
#include "parse_fixture.h"

namespace posset::syntax {

using parse_test::parse_text;
using parse_test::Parsed;

namespace {

// The text each node of this kind covers, in the order of the tree, separated by " | ".
void collect(const Parsed& parsed, Node* node, std::string_view kind, std::string& out);

void collect_function(const Parsed& parsed, const FunctionDecl* function, std::string_view kind,
                      std::string& out) {
  for (const Parameter& each : function->parameters) {
    if (each.pattern) collect(parsed, each.pattern, kind, out);
    if (each.fallback) collect(parsed, each.fallback, kind, out);
  }
  collect(parsed, function->body, kind, out);
}

void collect(const Parsed& parsed, Node* node, std::string_view kind, std::string& out) {
  if (name_of(node->kind) == kind) {
    if (!out.empty()) out += " | ";
    out +=
        parsed.module->source->text().substr(node->span.begin, node->span.end - node->span.begin);
  }
  if (const auto* lambda = as<LambdaNode>(node))
    collect_function(parsed, lambda->function, kind, out);
  if (const auto* statement = as<FunctionStatementNode>(node))
    collect_function(parsed, statement->function, kind, out);
  for_each_child(node, [&](Node*& child) { collect(parsed, child, kind, out); });
}

std::string covered(std::string_view text, std::string_view kind) {
  const Parsed parsed = parse_text(text);
  if (parsed.diagnostics.has_errors()) return parsed.errors();
  std::string out;
  for (Node* each : parsed.statements()) collect(parsed, each, kind, out);
  return out;
}

// Every node lies inside its parent's span and has an end behind its beginning.
bool is_nested_well(Node* node) {
  bool good = node->span.begin <= node->span.end;
  for_each_child(node, [&](Node*& child) {
    // A piped value stands before the call it becomes an argument of.
    good = good && child->span.begin >= node->span.begin && child->span.end <= node->span.end &&
           is_nested_well(child);
  });
  return good;
}

}  // namespace

TEST_SUITE_BEGIN("spans");

TEST_CASE("an operation starts at its left operand, parentheses included") {
  CHECK(covered("  a + b * c  ", "Binary") == "a + b * c | b * c");
  CHECK(covered("(a + b) * c", "Binary") == "(a + b) * c | a + b");
  CHECK(covered("a - b - c", "Binary") == "a - b - c | a - b");
  CHECK(covered("x and (y or z)", "Logical") == "x and (y or z) | y or z");
  CHECK(covered("1 + a .. b", "RangeLiteral") == "1 + a .. b");
  CHECK(covered("- a ** b", "Unary") == "- a ** b");
  CHECK(covered("x = -1", "IntLiteral") == "-1");
}

TEST_CASE("calls, indexes and fields start at what they are applied to") {
  CHECK(covered("let v = a.b[i].c(d)(e)", "Call") == "a.b[i].c(d)(e)");
  CHECK(covered("let v = a.b[i].c(d)(e)", "MethodCall") == "a.b[i].c(d)");
  CHECK(covered("let v = a.b[i].c(d)(e)", "Index") == "a.b[i]");
  CHECK(covered("let v = a.b[i].c(d)(e)", "Field") == "a.b");
  CHECK(covered("(f)(x)", "Call") == "(f)(x)");
  CHECK(covered("a\n  .b\n  .c", "Field") == "a\n  .b\n  .c | a\n  .b");
  CHECK(covered("f(a, ..b, &c)", "Argument") == "a | ..b | &c");
  CHECK(covered("a?.b.c + 1", "OptionalChain") == "a?.b.c");
  CHECK(covered("let w = x |> f(a) |> g", "Call") == "x |> f(a) |> g | x |> f(a)");
  CHECK(covered("x |> r.f(a)", "MethodCall") == "x |> r.f(a)");
  const Parsed parsed = parse_text("x |> r.f");
  const auto* call = as<MethodCallNode>(parsed.statements()[0]);
  CHECK(call->name_span.begin == 7);
  CHECK(call->name_span.end == 8);
}

TEST_CASE("statements and control flow") {
  CHECK(covered("x ?\? throw y", "Throw") == "throw y");
  CHECK(covered("if a { b } else if c { d } else { e }\nf", "If") ==
        "if a { b } else if c { d } else { e } | if c { d } else { e }");
  CHECK(covered("if a { b }", "Block") == "{ b }");
  CHECK(covered("let x = do { b }", "Block") == "do { b }");
  CHECK(covered("let [a, {b}] = c", "Let") == "let [a, {b}] = c");
  CHECK(covered("let [a, {b}] = c", "ListPattern") == "[a, {b}]");
  CHECK(covered("let [a, {b: c}] = d", "RecordPatternField") == "b: c");
  CHECK(covered("for [k, v] in m { }", "ListPattern") == "[k, v]");
  CHECK(covered("match a { 1 | 2 if b => c }", "AlternativePattern") == "1 | 2");
  CHECK(covered("match a { 1 | 2 if b => c }", "MatchArm") == "1 | 2 if b => c");
  CHECK(covered("match a { g.Circle(r) => c }", "ConstructorPattern") == "g.Circle(r)");
  CHECK(covered("match a { x: [int]? => c }", "BindingPattern") == "x: [int]?");
  CHECK(covered("a.b[c] += d", "Index") == "a.b[c]");
  CHECK(covered("a.b[c] += d", "Assign") == "a.b[c] += d");
  CHECK(covered("[a, b] = c", "DestructuringAssign") == "[a, b] = c");
  CHECK(covered("[a, b] = c", "PlaceList") == "[a, b]");
  CHECK(covered("export fn f() => 1", "FunctionStatement") == "export fn f() => 1");
  CHECK(covered("export let x = 1", "ExportedLet") == "export let x = 1");
  CHECK(covered("f((a, b = 1) => a)", "Lambda") == "(a, b = 1) => a");
  CHECK(covered("with t = &a.b { t }", "Field") == "a.b");
}

TEST_CASE("strings") {
  CHECK(covered("f(\"a{b}c\")", "Interpolation") == "\"a{b}c\"");
  CHECK(covered("\"a{b + 1:>5}c{ d }\"", "FormatPart") == "b + 1:>5 | d");
  CHECK(covered("\"\"\"\n  x\n  \"\"\"", "StringLiteral") == "\"\"\"\n  x\n  \"\"\"");
}

TEST_CASE("functions") {
  const Parsed parsed = parse_text("  pure fn f(abc, [d, e], ..g: int) => 1");
  const FunctionDecl* f = as<FunctionStatementNode>(parsed.statements()[0])->function;
  CHECK(f->span.begin == 2);
  CHECK(f->span.end == parsed.module->source->text().size());
  CHECK(f->name_span.begin == 10);
  CHECK(f->name_span.end == 11);
  CHECK(f->parameters[0].span.begin == 12);
  CHECK(f->parameters[0].span.end == 15);
  CHECK(f->parameters[1].span.begin == 17);
  CHECK(f->parameters[2].span.end == 28);
}

TEST_CASE("nodes lie inside each other") {
  for (const char* text :
       {"let [a, {b: c}] = -f(x, ..y).z[0, d] ** 2 ?\? return g",
        "match a { 1 | A(b) if c => x = y, {d, ..e} => {f: g} }",
        "\"a{b:>5}{[for x in xs if y => {x: x}]}\"", "try { a } catch e { b }",
        "with t = &x.y[0] { t += 1 }", "[a, [_, ..b]] = [c: d, e: -1]",
        "if a { b } else if not c { d } else { e }", "while a { break b; continue }"}) {
    INFO(std::string(text));
    const Parsed parsed = parse_text(text);
    REQUIRE_FALSE(parsed.diagnostics.has_errors());
    CHECK(is_nested_well(parsed.module->top->body));
  }
}

TEST_SUITE_END();

}  // namespace posset::syntax
