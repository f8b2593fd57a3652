// The layout keeps the program: the check it relies on finds whatever differs, and what it gives has the tree of what it was
// given. How a source looks afterwards is for tests/tools/cli_format.py.
#include "interp/syntax/layout.h"

#include "parse_fixture.h"

using namespace posset::syntax;

namespace {

SourcePtr source(std::string_view text) { return std::make_shared<const Source>("test.posset", std::string(text)); }

bool is_same(std::string_view one, std::string_view other) { return same_program(source(one), source(other)); }

// Or the errors.
std::string laid_out(std::string_view text) {
  Diagnostics diagnostics;
  std::string out;
  if (lay_out(source(text), diagnostics, out)) return out;
  return diagnostics.all().empty() ? "nothing is reported" : "error: " + diagnostics.all()[0].message;
}

}  // namespace

TEST_CASE("white space makes no other program") {
  CHECK(is_same("a+b", " a  +\tb "));
  CHECK(is_same("f(\n1)", "f(\n\n\n   1)"));
  CHECK(is_same("a\nb # c", "a\n\n  b  # c   "));
  CHECK(is_same("\"\"\"\na\n\"\"\"\r\nb # c\r\n", "\"\"\"\r\na\r\n\"\"\"\nb # c"));
}

TEST_CASE("whatever else differs makes another program") {
  CHECK_FALSE(is_same("a", "b"));
  CHECK_FALSE(is_same("a b", "ab"));
  CHECK_FALSE(is_same("a", "a b"));
  CHECK_FALSE(is_same("a b", "a"));
  CHECK_FALSE(is_same("a - b", "a + b"));
  CHECK_FALSE(is_same("a\nb", "a b"));
  CHECK_FALSE(is_same("f(\n1)", "f(1\n)"));
  CHECK_FALSE(is_same("1", "1.0"));
  CHECK_FALSE(is_same("'a'", "\"a\""));
  CHECK_FALSE(is_same("\"{a + b}\"", "\"{a+b}\""));
  CHECK_FALSE(is_same("\"\"\"\n a\"\"\"", "\"\"\"\n  a\"\"\""));
  CHECK_FALSE(is_same("a # b", "a"));
  CHECK_FALSE(is_same("a", "a # b"));
  CHECK_FALSE(is_same("a # b", "a #  b"));
  CHECK_FALSE(is_same("a", "\"a"));
  CHECK_FALSE(is_same("\"{a}\"", "\"{a"));
}

TEST_CASE("what is laid out has the same tree") {
  for (const char* text : {
           "let f=(a,..b)=>{..a,x:-b.in[ 1 ]}\n",
           "match v{0|1=>{},{x,..r}if not x=>-1,Circle (r)=>{x:1}}\n",
           "xs\n|>map( x=>\nx )\n.y\n-1\n( 2 )\n",
           "if a{1}\nelse if b{2}\nelse{3}\nwith t=&x[0,1]{t+=1;t}\n",
           "fn f(a:int?,[b,c],{d}=nil)->[float]?{for i in 0..=-a{ return[i] }}\n",
       }) {
    CAPTURE(text);
    const std::string made = laid_out(text);
    CHECK(made != text);
    CHECK(parse_test::tree(made) == parse_test::tree(text));
    CHECK(laid_out(made) == made);
  }
}

TEST_CASE("a source that does not parse has no layout") {
  CHECK(laid_out("let = 1").starts_with("error: found '='"));
  CHECK(laid_out("f(").starts_with("error: '(' is not closed"));
  CHECK(laid_out("\"a").starts_with("error: the string is not closed"));
  CHECK(laid_out("a\xff").starts_with("error: the source is not valid UTF-8"));
}

TEST_CASE("indentation has a bound") {
  std::string deep;
  for (int i = 0; i < 900; ++i) deep += "(\n";
  deep += "1\n" + std::string(900, ')');
  CHECK(laid_out(deep).size() < 900 * 210);
}
