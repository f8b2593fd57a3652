// Where a line break ends an expression and where it does not: section 1 of the language, sentence
// by sentence.
#include "parse_fixture.h"

namespace posset::syntax {

using parse_test::accepts;
using parse_test::errors;
using parse_test::tree;

TEST_SUITE_BEGIN("newlines");

TEST_CASE("a newline ends an expression") {
  CHECK(tree("a\nb") == "Name a; Name b");
  CHECK(tree("a\n\n# comment\n\nb") == "Name a; Name b");
  CHECK(tree("a;b ; c") == "Name a; Name b; Name c");
  CHECK(tree(";;a;\n;b;") == "Name a; Name b");
  CHECK(tree("return\n5") == "Return; IntLiteral 5");
  CHECK(tree("for x in y { break\n5 }") ==
        "For (Name y, BindingPattern x, Block (Break, IntLiteral 5))");
}

TEST_CASE("lines that start with a bracket or a minus are new expressions") {
  CHECK(tree("a\n(b)") == "Name a; Name b");
  CHECK(tree("a\n[b]") == "Name a; ListLiteral (Name b)");
  CHECK(tree("a\n-b") == "Name a; Unary - (Name b)");
  CHECK(tree("a\n-1") == "Name a; IntLiteral -1");
  CHECK(tree("a\nnot b") == "Name a; Unary not (Name b)");
  CHECK(tree("a\n~b") == "Name a; Unary ~ (Name b)");
  CHECK(tree("a\n{x: 1}") == "Name a; RecordLiteral (RecordField x (IntLiteral 1))");
}

TEST_CASE("directly inside parentheses, brackets and record braces newlines do not count") {
  CHECK(tree("(a\n+ b)") == "Binary + (Name a, Name b)");
  CHECK(tree("(a\n- b)") == "Binary - (Name a, Name b)");
  CHECK(tree("f(\na\n,\nb\n)") == "Call (Name f, Argument (Name a), Argument (Name b))");
  CHECK(tree("[\na\n* b,\nc,\n]") == "ListLiteral (Binary * (Name a, Name b), Name c)");
  CHECK(tree("{\nx\n:\n1\n,\n..\ny\n}") ==
        "RecordLiteral (RecordField x (IntLiteral 1), Spread (Name y))");
  CHECK(tree("xs[\ni\n+ 1\n]") == "Index (Name xs, Binary + (Name i, IntLiteral 1))");
  CHECK(tree("[\n1\n:\n2\n]") == "MapLiteral (MapEntry (IntLiteral 1, IntLiteral 2))");
  CHECK(tree("(x\n=> x)") == "Lambda (lambda(x) (Name x))");
  CHECK(tree("[for x\nin xs\nif x\n=> x\n]") ==
        "Comprehension (Name xs, BindingPattern x, Name x, Name x)");
  CHECK(tree("f(x.\nlet)") == "Call (Name f, Argument (Field let (Name x)))");
  CHECK(accepts("let [\na,\nb\n] = c"));
  CHECK(accepts("import {\na,\nb\n} from \"c\""));
  CHECK(accepts("fn f(\na,\nb\n) => a"));
  CHECK(accepts("\"\"\"\n{a\n+ b}\n\"\"\""));
}

TEST_CASE("the innermost bracket decides") {
  CHECK(tree("f(do {\na\n-b\n})") == "Call (Name f, Argument (Block (Name a, Unary - (Name b))))");
  CHECK(tree("(do { f(\na\n-b)\nc })") ==
        "Block (Call (Name f, Argument (Binary - (Name a, Name b))), Name c)");
  CHECK(tree("[match a {\n1 => b\n-1 => c\n}]") ==
        "ListLiteral (Match (Name a, MatchArm (LiteralPattern (IntLiteral 1), Name b), MatchArm "
        "(LiteralPattern (IntLiteral -1), Name c)))");
  CHECK(tree("f(x => {\nlet y = 1\ny\n}\n, z)") ==
        "Call (Name f, Argument (Lambda (lambda(x) (Block (Let (IntLiteral 1, BindingPattern y), "
        "Name y)))), Argument (Name z))");
}

TEST_CASE("an expression goes on after an operator and the like") {
  for (const char* op :
       {"+", "-",  "*",   "/",  "//", "%", "**", "+%", "-%", "*%", "<<",  ">>", "&",  "^",
        "|", "..", "..=", "==", "!=", "<", "<=", ">",  ">=", "in", "and", "or", "??", "|>"}) {
    INFO(std::string(op));
    CHECK(accepts("a " + std::string(op) + "\n\n# comment\nb"));
  }
  for (const char* op : {"-", "~", "not", "await"}) CHECK(accepts(std::string(op) + "\na"));
  CHECK(accepts("spawn\nf(a)"));
  for (const char* op : {"=", "+=", "-=", "*=", "/=", "//=", "%=", "**=", "+%=", "-%=", "*%=",
                         "<<=", ">>=", "&=", "|=", "^=", "?\?="}) {
    CHECK(accepts("a " + std::string(op) + "\nb"));
  }
  CHECK(accepts("let a =\n1"));
  CHECK(accepts("let f = x =>\nx"));
  CHECK(accepts("fn f(x: int) ->\nint =>\nx"));
  CHECK(accepts("let x:\nint = 1"));
  CHECK(accepts("match a { 1 =>\n2 }"));
  CHECK(accepts("type T =\nA |\nB"));
}

TEST_CASE("an expression goes on before a line that starts so") {
  CHECK(tree("x\n|> f") == tree("x |> f"));
  CHECK(tree("x\n  # comment\n\n  .f\n  .g(1)") == tree("x.f.g(1)"));
  CHECK(tree("x\n?.f") == tree("x?.f"));
  CHECK(tree("x\n?\? y") == tree("x ?\? y"));
  CHECK(tree("x\nand y\nor z") == tree("x and y or z"));
  CHECK(tree("if a { b }\nelse { c }") == tree("if a { b } else { c }"));
  CHECK(tree("if a { b }\n# comment\nelse if c { d }\nelse { e }") ==
        tree("if a { b } else if c { d } else { e }"));
  CHECK(tree("try { a }\ncatch e { b }") == tree("try { a } catch e { b }"));
  CHECK(tree("match a {\n1\n| 2\n| 3 => b\n}") == tree("match a { 1 | 2 | 3 => b }"));
  CHECK(tree("type T = A\n| B(x)\n| C") == tree("type T = A | B(x) | C"));
  CHECK(tree("type T =\n| A\n| B") == tree("type T = A | B"));
}

TEST_CASE("a line that starts with another operator is an error that says what to do") {
  for (const char* op :
       {"+", "*",  "/",   "//", "%",  "**", "+%", "-%", "*%", "<<", ">>", "&",  "^",
        "|", "..", "..=", "==", "!=", "<",  "<=", ">",  ">=", "in", "=",  "+=", "?\?="}) {
    const std::string text = "let z = a\n" + std::string(op) + " b";
    INFO(text);
    const std::string expected = "2:1 UnexpectedToken found '" + std::string(op) +
                                 "' at the start of a line [end the line above with '" + op +
                                 "']\n";
    CHECK(errors(text) == expected);
  }
  CHECK(errors("f\n=> 1") ==
        "2:1 UnexpectedToken found '=>' at the start of a line [end the line above with '=>']\n");
  CHECK(errors("match a {\n1 => b\n| 2 => c\n}").substr(0, 57) ==
        "3:1 UnexpectedToken found '|' at the start of a line [end");
}

TEST_CASE("the brackets of blocks, calls and indexes stand on the line of what they follow") {
  for (const char* text :
       {"if a\n{ b }", "if a { b } else\n{ c }", "while a\n{ b }", "for x in y\n{ z }", "do\n{ a }",
        "try\n{ a } catch { b }", "try { a } catch e\n{ b }", "fn f()\n{ a }",
        "match a\n{ 1 => 2 }", "with t = &x\n{ t }", "let f = x =>\n{ x }", "(if a\n{ b })",
        "fn f\n() => 1", "[f\n(x)]", "(xs\n[0])", "f(g\n(x))"}) {
    INFO(std::string(text));
    const std::string found = errors(text);
    CHECK(found.find("found ") != std::string::npos);
    CHECK(found.find('\n') == found.size() - 1);
  }
  CHECK(errors("if a\n{ b }") ==
        "1:5 UnexpectedToken found the end of the line, expected '{' [the `{` of a block stands on "
        "the line of what it follows]\n");
  CHECK(tree("let f = x =>\n{ y: x }") == tree("let f = x => { y: x }"));
}

TEST_CASE("what a word takes stands on its line") {
  for (const char* text : {"let\nx = 1", "if\na { b }", "while\na { b }", "for\nx in y { z }",
                           "match\na { 1 => 2 }", "import\n\"a\"", "throw\na", "fn\nf() => 1",
                           "export\nlet a = 1", "with\nt = &x { t }", "x.\ny"}) {
    INFO(std::string(text));
    CHECK(errors(text).find("1:") == 0);
  }
}

TEST_CASE("statements on one line need a separator") {
  CHECK(errors("a b") == "1:3 UnexpectedToken found 'b', expected the end of the line\n");
  CHECK(errors("if a { b } c").substr(0, 4) == "1:12");
  CHECK(errors("do { a b }").substr(0, 3) == "1:8");
  CHECK(accepts("do { a; b }"));
  CHECK(accepts("fn f() { a }; fn g() { b }"));
}

TEST_SUITE_END();

}  // namespace posset::syntax
