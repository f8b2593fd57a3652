// The parser's errors: for each a source with one mistake, the one diagnostic it must give, where,
// what it says and what it suggests.
#include "parse_fixture.h"

namespace posset::syntax {

using parse_test::errors;
using parse_test::parse_text;
using parse_test::Parsed;

namespace {

struct Mistake {
  const char* text;
  const char* start;  // "LINE:COL CODE MESSAGE", or the beginning of that
  const char* hint;   // a part of the hint; "" for any
};

void check(const Mistake& mistake) {
  const Parsed parsed = parse_text(mistake.text);
  INFO(std::string(mistake.text));
  const std::string all = parsed.errors();
  INFO(all);
  REQUIRE(parsed.diagnostics.all().size() == 1);
  CHECK(all.substr(0, std::string_view(mistake.start).size()) == mistake.start);
  CHECK(parsed.diagnostics.all()[0].hint.find(mistake.hint) != std::string::npos);
}

}  // namespace

TEST_SUITE_BEGIN("parse errors");

TEST_CASE("what other languages write") {
  const Mistake rows[] = {
      {"a && b", "1:3 UnexpectedToken found '&&'", "`and`"},
      {"a || b", "1:3 UnexpectedToken found '||'", "`or`"},
      {"if !a { b }", "1:4 UnexpectedToken found '!'", "`not`"},
      {"a++", "1:2 UnexpectedToken found '++'", "+= 1"},
      {"a === b", "1:3 UnexpectedToken found '==='", "=="},
      {"a !== b", "1:3 UnexpectedToken found '!=='", "!="},
      {"a := 3", "1:3 UnexpectedToken found ':='", "let"},
      {"def f(x) { x }", "1:5 UnexpectedToken found 'f'", "`fn name"},
      {"function f(x) { return x }", "1:10 UnexpectedToken found 'f'", "`fn name"},
      {"const x = 3", "1:7 UnexpectedToken found 'x'", "`let`"},
      {"int x = 3", "1:5 UnexpectedToken found 'x'", "let n: int"},
      {"class A { }", "1:7 UnexpectedToken found 'A'", "type"},
      {"switch a { 1 => 2 }", "1:8 UnexpectedToken found 'a'", "match"},
      {"raise x", "1:7 UnexpectedToken found 'x'", "throw"},
      {"print \"x\"", "1:7 UnexpectedToken found a string", "parentheses"},
      {"print x", "1:7 UnexpectedToken found 'x'", "parentheses"},
      {"let a = 1 print(a)", "1:11 UnexpectedToken found 'print', expected the end of the line", "a line of its own"},
      {"f(1) g(2)", "1:6 UnexpectedToken found 'g', expected the end of the line", "a line of its own"},
      {"[1, 2] g (2)", "1:8 UnexpectedToken found 'g', expected the end of the line", "a line of its own"},
      {"if a { b } elif c { d }", "1:12 UnexpectedToken found 'elif'", "else if"},
      {"if a then b", "1:6 UnexpectedToken found 'then', expected '{'", "blocks"},
      {"if a: b", "1:5 UnexpectedToken found ':', expected '{'", "braces"},
      {"if a = b { c }", "1:6 UnexpectedToken found '=', expected '{'", "=="},
      {"while a = b { c }", "1:9 UnexpectedToken found '=', expected '{'", "=="},
      {"if (a = b) { c }", "1:7 UnexpectedToken found '=', expected ')'", "=="},
      {"a ? b : c", "1:3 UnexpectedToken found '?'", "if a { b } else { c }"},
      {"a not in b", "1:3 UnexpectedToken found 'not'", "not (x in xs)"},
      {"x is y", "1:3 UnexpectedToken found 'is'", "=="},
      {"for (let i = 0; i < 3; i += 1) { }", "1:5 UnexpectedToken found '('", "for i in 0..n"},
      {"for x, y in m { }", "1:6 UnexpectedToken found ','", "[k, v]"},
      {"for x of xs { }", "1:7 UnexpectedToken found 'of', expected 'in'", ""},
      {"match a { case 1 => b }", "1:16 UnexpectedToken found '1'", "pattern => value"},
      {"match a { 1 -> b }", "1:13 UnexpectedToken found '->'", "pattern => value"},
      {"import math", "1:8 UnexpectedToken found 'math', expected a path in quotes", ""},
      {"from math import x", "1:1 UnexpectedToken found 'from'", "import {a, b} from"},
      {"let f = fn (x) { x }", "1:9 UnexpectedToken found 'fn'", "(a, b) => a + b"},
      {"fn f(x): int => x", "1:8 UnexpectedToken found ':'", "->"},
      {"fn f(x) = x", "1:9 UnexpectedToken found '='", "=>"},
      {"try { x } catch (e) { y }", "1:17 UnexpectedToken found '('", "catch e"},
      {"try { x } finally { y }", "1:11 UnexpectedToken found 'finally', expected 'catch'", ""},
      {"xs[1:2]", "1:5 UnexpectedToken found ':'", "xs[1..3]"},
      {"{\"a\": 1}", "1:2 UnexpectedToken found a string", "[\"key\": value]"},
      {"f(a: 1)", "1:4 UnexpectedToken found ':'", "position"},
  };
  for (const Mistake& each : rows) check(each);
}

TEST_CASE("unexpected tokens") {
  const Mistake rows[] = {
      {"a b", "1:3 UnexpectedToken found 'b', expected the end of the line", ""},
      {"let x = 1 2", "1:11 UnexpectedToken found '2', expected the end of the line", ""},
      {"f(a b)", "1:5 UnexpectedToken found 'b', expected ',' or ')'", ""},
      {"f(a,, b)", "1:5 UnexpectedToken found ',', expected an expression", ""},
      {"[1 2]", "1:4 UnexpectedToken found '2', expected ',' or ']'", ""},
      {"[1, 2: 3]", "1:6 UnexpectedToken found ':'", "key"},
      {"[\"a\": 1, 2]", "1:11 UnexpectedToken found ']', expected ':'", ""},
      {"[\"a\": 1, ..m]", "1:10 UnexpectedToken found '..'", "merge"},
      {"{a = 1}", "1:4 UnexpectedToken found '='", "name: value"},
      {"{ let x = 1 }", "1:3 UnexpectedToken found 'let'", "do {"},
      {"{ x + 1 }", "1:5 UnexpectedToken found '+'", "do {"},
      {"{if}", "1:2 UnexpectedToken found 'if', expected the name of a field", ""},
      {"()", "1:2 UnexpectedToken found ')'", "nil"},
      {"(a, b)", "1:3 UnexpectedToken found ','", "[a, b]"},
      {"xs.0", "1:4 UnexpectedToken found '0'", "xs[0]"},
      {".5", "1:1 UnexpectedToken found '.'", "0.5"},
      {"xs[1..]", "1:7 UnexpectedToken found ']'", "two ends"},
      {"+a", "1:1 UnexpectedToken found '+'", "unary"},
      {"a .. b .. c", "1:8 UnexpectedToken found '..'", "range(a, b, step)"},
      {"a + not b", "1:5 UnexpectedToken found 'not'", "parentheses"},
      {"[a, b] => a", "1:8 UnexpectedToken found '=>'", "parentheses"},
      {"let x", "1:6 UnexpectedToken found the end of the source, expected '='", "value"},
      {"let x\nlet y = 1", "1:6 UnexpectedToken found the end of the line, expected '='", "value"},
      {"let (a, b) = c", "1:5 UnexpectedToken found '('", "let [a, b]"},
      {"let a, b = c", "1:6 UnexpectedToken found ','", "let [a, b]"},
      {"let if = 3", "1:5 UnexpectedToken found 'if'", "meaning of its own"},
      {"let a = b = c", "1:11 UnexpectedToken found '='", "=="},
      {"fn f() => x = 1", "1:13 UnexpectedToken found '='", "statement"},
      {"[for x in xs => x = 1]", "1:19 UnexpectedToken found '='", ""},
      {"fn f x => x", "1:6 UnexpectedToken found 'x', expected '('", ""},
      {"fn f(x, ..y, z) => x", "1:14 UnexpectedToken found a parameter after the rest", "last"},
      {"fn f(x = 1, y) => x", "1:13 UnexpectedToken found a parameter without a default", "last"},
      {"fn f(inout x = 1) => x", "1:14 UnexpectedToken found '='", "default"},
      {"fn f(..[a]) => x", "1:8 UnexpectedToken found a pattern", "let"},
      {"fn f(&x) => x", "1:6 UnexpectedToken found '&'", "inout xs"},
      {"pure let x = 1", "1:6 UnexpectedToken found 'let', expected 'fn'", ""},
      {"export var x = 1", "1:8 UnexpectedToken found 'var'", "let"},
      {"let m = &n", "1:9 UnexpectedToken found '&'", "whole argument"},
      {"f(&x + 1)", "1:6 UnexpectedToken found '+'", ""},
      {"f(1 + &x)", "1:7 UnexpectedToken found '&'", "whole argument"},
      {"with t = x { }", "1:10 UnexpectedToken found 'x', expected '&'", "with t = &place"},
      {"spawn x", "1:7 UnexpectedToken found an expression, expected a call", "spawn f(x)"},
      {"[for x in xs => x, 1]", "1:18 UnexpectedToken found ','", "alone"},
      {"[for x in xs for y in ys => x]", "1:14 UnexpectedToken found 'for'", "one `for`"},
      {"[x for x in xs]", "1:4 UnexpectedToken found 'for'", "[for x in xs => x * 2]"},
      {"\"{}\"", "1:2 UnexpectedToken found an interpolation without an expression", "\\{"},
      {"\"{x y}\"", "1:5 UnexpectedToken found 'y', expected '}' or ':'", ""},
      {"x => {a, b}",
       "1:6 UnexpectedToken a '{' after => starts a block; for a record, write ({a, b})", ""},
      {"match a { 0..9 => b }", "1:12 UnexpectedToken found '..'", "guard"},
      {"match a { (a, b) => c }", "1:11 UnexpectedToken found '('", "[a, b]"},
      {"match a { f(x) => c }", "1:12 UnexpectedToken found '('", "capital"},
      {"match a { {..x, y} => c }", "1:17 UnexpectedToken found 'y', expected '}'", "last"},
      {"match a { 1 => b 2 => c }", "1:18 UnexpectedToken found '2'", ""},
      {"type Shape = Circle(r) | dot",
       "1:26 UnexpectedToken the constructor 'dot' must begin with a capital", ""},
      {"type Shape { }", "1:12 UnexpectedToken found '{', expected '='", "type Shape ="},
      {"import \"a-b\"", "1:8 UnexpectedToken the end of the path is no name", "as name"},
      {"import \"a.posset\"", "1:8 UnexpectedToken the end of the path is no name", ".posset"},
      {"let x: 5 = 3", "1:8 UnexpectedToken found '5', expected a type", ""},
      {")", "1:1 UnexpectedToken found ')', but no bracket is open", ""},
      {"throw", "1:6 UnexpectedToken found the end of the source, expected the value to throw", ""},
  };
  for (const Mistake& each : rows) check(each);
}

TEST_CASE("brackets that are not closed") {
  const Mistake rows[] = {
      {"f(1, 2", "1:2 NotClosed '(' is not closed: the source ends in line 1", "')'"},
      {"let a = [1,\n2\n", "1:9 NotClosed '[' is not closed: the source ends in line 2", "']'"},
      {"(1 + ]", "1:1 NotClosed '(' is not closed: found ']' in line 1", "')'"},
      {"let a = {x: 1", "1:9 NotClosed '{' is not closed", "'}'"},
      {"fn f() {\n  a\n", "1:8 NotClosed '{' is not closed: the source ends in line 2", "'}'"},
      {"fn f() {\n  g(1\n}\nlet x = 1", "2:4 NotClosed '(' is not closed: found '}' in line 3",
       "')'"},
      {"let a = f(1,\nlet b = 2", "1:10 NotClosed '(' is not closed: found 'let' in line 2", "')'"},
      {"f(1\ng(2)\n", "1:2 NotClosed '(' is not closed: found 'g' in line 2", "')'"},
      {"match a {\n1 => b\nlet c = 1", "1:9 NotClosed '{' is not closed: found 'let' in line 3",
       "'}'"},
      {"\"{f(1}\"", "1:4 NotClosed '(' is not closed", "')'"},
      {"import {a, b from \"c\"", "1:8 NotClosed '{' is not closed: found 'from' in line 1", "'}'"},
      // The indentation tells which brace it is.
      {"fn f() {\n  if a {\n    b\n}\nfn g() {\n  c\n}\n",
       "2:8 NotClosed '{' is not closed: found '}' in line 4", "'}'"},
  };
  for (const Mistake& each : rows) check(each);
}

TEST_CASE("other codes") {
  const Mistake rows[] = {
      {"a < b < c", "1:1 ChainedComparison comparisons do not chain: found '<'", "and"},
      {"x in a == b", "1:1 ChainedComparison comparisons do not chain", ""},
      {"1 + x => x", "1:5 MisplacedLambda found a lambda", "parentheses"},
      {"x |> y => y", "1:6 MisplacedLambda found a lambda", "parentheses"},
      {"a ?\? (x, y) => x", "1:6 MisplacedLambda found a lambda", "parentheses"},
      {"not x => x", "1:5 MisplacedLambda found a lambda", "parentheses"},
      {"if x => x { y }", "1:4 MisplacedLambda found a lambda", "parentheses"},
      {"let x = let y = 3", "1:9 MisplacedStatement found 'let', expected an expression", "do {"},
      {"f(return)", "1:3 MisplacedStatement found 'return'", "right side"},
      {"a + throw b", "1:5 MisplacedStatement found 'throw'", "right side"},
      {"match a { 1 => let x = 2 }", "1:16 MisplacedStatement found 'let'", "do {"},
      {"let f = fn g(x) { x }", "1:9 MisplacedStatement found 'fn'", "lambda"},
      {"f() = 3", "1:1 CannotAssign cannot assign to the result of a call", "place"},
      {"a + b = 3", "1:1 CannotAssign cannot assign", "place"},
      {"a?.b = 3", "1:1 CannotAssign cannot assign to a field behind `?.`", ""},
      {"{x, y} = p", "1:1 CannotAssign cannot assign to a record", "let {x, y}"},
      {"[a, b] += c", "1:1 CannotAssign cannot assign to a list", ""},
      {"[a, f(b)] = c", "1:5 CannotAssign cannot assign to the result of a call", ""},
      {"f(&(1 + 2))", "1:5 BadInout `&` must be followed by a place", "var"},
      {"f(&g(x))", "1:4 BadInout `&` must be followed by a place", "var"},
      {"with t = &f(x) { }", "1:11 BadInout `&` must be followed by a place", "var"},
      {"match a { [..x, 1, ..y] => c }", "1:20 BadPattern found a second rest", ""},
      {"\"{x:q}\"", "1:4 BadFormat the format 'q' is malformed", "precision"},
      {"\"{x:.}\"", "1:4 BadFormat the format", ""},
      {"let x = 9223372036854775808", "1:9 BadNumber the int literal is out of range",
       "9223372036854775807"},
      {"let x = 007", "1:9 BadNumber a number has no leading zeros", "0o"},
      {"let s = \"\\q\"", "1:10 BadEscape unknown escape '\\q'", "\\n"},
  };
  for (const Mistake& each : rows) check(each);
}

TEST_CASE("several mistakes are reported in one run, each once, in order") {
  const std::string found = errors(
      "let = 1\n"
      "let ok = 2\n"
      "f(1 2)\n"
      "fn g(x) {\n"
      "  let y = x +\n"
      "  if x { ) }\n"
      "  a && b\n"
      "}\n"
      "match x {\n"
      "  1 -> 2\n"
      "  3 => 4\n"
      "  [a, => 5\n"
      "}\n"
      "let s = \"abc\n"
      "x ? y : z\n");
  std::string lines;
  for (size_t at = 0; at < found.size(); at = found.find('\n', at) + 1)
    lines += found.substr(at, found.find(' ', at) - at) + " ";
  CHECK(lines == "1:5 3:5 6:10 7:5 10:5 12:7 14:9 15:3 ");
}

TEST_CASE("an error inside a block leaves the rest of the block and of the file intact") {
  const Parsed parsed = parse_text(
      "fn f() {\n  let = 1\n  let b = 2\n}\nlet c = 3\nif x {\n  y z\n} else {\n  w\n}\nlet d = "
      "4\n");
  CHECK(parsed.diagnostics.all().size() == 2);
  const std::string printed = print_tree(*parsed.module);
  for (const char* name : {"BindingPattern b", "BindingPattern c", "BindingPattern d", "Name w",
                           "fn f", "Malformed"}) {
    CHECK(printed.find(name) != std::string::npos);
  }
}

TEST_CASE("an error in brackets over several lines is one error") {
  for (const char* text :
       {"f(\n  a b\n  c\n)\nlet x = 1", "let a = [\n  1 2,\n  3 4,\n]\nlet x = 1",
        "let a = {\n  x 1\n  y: 2\n}\nlet x = 1", "def f(x) {\n  x\n  y\n}\nlet x = 1",
        "switch a {\n  1 => 2\n  3 => 4\n}\nlet x = 1", "f(x => {\n  a b\n}, c)\nlet x = 1",
        "\"{f(a b)} {c}\"\nlet x = 1", "let s = \"\"\"\n{a b}\n{c\n}\n\"\"\"\nlet x = 1"}) {
    INFO(std::string(text));
    const Parsed parsed = parse_text(text);
    INFO(parsed.errors());
    CHECK(parsed.diagnostics.all().size() == 1);
    CHECK(print_tree(*parsed.module).find("BindingPattern x") != std::string::npos);
  }
}

TEST_CASE("reports are bounded") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "let = 1\n";
  CHECK(parse_text(text).diagnostics.all().size() == Diagnostics::kMaxDiagnostics);
}

TEST_SUITE_END();

}  // namespace posset::syntax
