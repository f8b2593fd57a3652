// The lexer alone: tokens, numbers, strings and their interpolations, stray characters, brackets.
#include "interp/syntax/lexer.h"

#include "parse_fixture.h"

namespace posset::syntax {

namespace {

using parse_test::accepts;
using parse_test::errors;
using parse_test::tree;

struct Lexed {
  SourcePtr source;
  Arena arena;
  std::vector<Diagnostic> reports;
  TokenStream stream;
};

std::unique_ptr<Lexed> lex(std::string_view text) {
  auto made = std::make_unique<Lexed>();
  made->source = std::make_shared<Source>("test.posset", std::string(text));
  made->stream = Lexer(made->source, made->arena, made->reports).run();
  return made;
}

// The tokens as written, separated by blanks; `/` before one that starts a line.
std::string tokens(std::string_view text) {
  const auto lexed = lex(text);
  std::string out;
  for (const Token& each : lexed->stream.tokens) {
    if (!out.empty()) out += ' ';
    if (each.newline_before && &each != lexed->stream.tokens.data()) out += '/';
    out += each.kind == TokenKind::End
               ? "END"
               : lexed->source->text().substr(each.begin, each.end - each.begin);
    if (each.kind == TokenKind::Broken) out += "BROKEN";
  }
  return out;
}

TokenKind first_kind(std::string_view text) { return lex(text)->stream.tokens.front().kind; }

// The text of the only string token.
std::string text_of(std::string_view source) {
  const auto lexed = lex(source);
  INFO(std::string(source));
  REQUIRE(lexed->reports.empty());
  REQUIRE(lexed->stream.tokens.front().kind == TokenKind::String);
  return std::string(lexed->stream.texts.front());
}

}  // namespace

TEST_SUITE_BEGIN("lexer");

TEST_CASE("every spelling of the table is one token") {
  for (const std::string_view each : {
#define KEYWORD(Name, spelling) std::string_view(spelling),
#define PUNCTUATION(Name, spelling) std::string_view(spelling),
#define FOREIGN(Name, spelling, hint) std::string_view(spelling),
#include "interp/syntax/tokens.def"
       }) {
    CHECK(tokens(each) == std::string(each) + " END");
    CHECK(spelling(first_kind(each)) == each);
  }
}

TEST_CASE("tokens match longest first") {
  CHECK(tokens("a**=b") == "a **= b END");
  CHECK(tokens("a+%=b+%c") == "a +%= b +% c END");
  CHECK(tokens("a?\?=b?\?c?.d?") == "a ?\?= b ?\? c ?. d ? END");
  CHECK(tokens("0..10") == "0 .. 10 END");
  CHECK(tokens("0..=10") == "0 ..= 10 END");
  CHECK(tokens("x|>f|y") == "x |> f | y END");
  CHECK(tokens("a<<=b<=c<d") == "a <<= b <= c < d END");
  CHECK(tokens("x=>y->z==w") == "x => y -> z == w END");
  CHECK(tokens("a//b//=c") == "a // b //= c END");
  CHECK(tokens("a--b") == "a - - b END");
}

TEST_CASE("comments, blanks and lines") {
  CHECK(tokens("#!/usr/bin/env posset\na # b\n\n  # c\n\tb;c\r\nd") == "a /b ; c /d END");
  CHECK(tokens("\xEF\xBB\xBF"
               "a") == "a END");
  CHECK(tokens("# only") == "END");
  CHECK(tokens("") == "END");
}

TEST_CASE("words") {
  CHECK(first_kind("let") == TokenKind::Let);
  CHECK(first_kind("lets") == TokenKind::Name);
  CHECK(first_kind("Let") == TokenKind::Name);
  CHECK(first_kind("_a1") == TokenKind::Name);
  CHECK(first_kind("type") == TokenKind::Name);
}

TEST_CASE("numbers") {
  const std::pair<const char*, const char*> good[] = {
      {"42", "IntLiteral 42"},
      {"0", "IntLiteral 0"},
      {"1_000_000", "IntLiteral 1000000"},
      {"0xff", "IntLiteral 255"},
      {"0xFF_ff", "IntLiteral 65535"},
      {"0b1010", "IntLiteral 10"},
      {"0o17", "IntLiteral 15"},
      {"9223372036854775807", "IntLiteral 9223372036854775807"},
      {"0x7fffffffffffffff", "IntLiteral 9223372036854775807"},
      {"3.14", "FloatLiteral 3.14"},
      {"1e-9", "FloatLiteral 1e-09"},
      {"2.5e3", "FloatLiteral 2500.0"},
      {"1e5", "FloatLiteral 1e+05"},
      {"1E+2", "FloatLiteral 100.0"},
      {"0.5", "FloatLiteral 0.5"},
      {"1_0.0_1", "FloatLiteral 10.01"},
      {"0e999", "FloatLiteral 0.0"},
      {"5e-324", "FloatLiteral 5e-324"},
      {"-9223372036854775808", "IntLiteral -9223372036854775808"},
      {"- 5", "IntLiteral -5"},
      {"-0.0", "FloatLiteral -0.0"},
      {"-9_223_372_036_854_775_808", "IntLiteral -9223372036854775808"},
  };
  for (const auto& [text, expected] : good) CHECK(tree(text) == expected);
}

TEST_CASE("numbers that are none") {
  const char* const bad[] = {"007",
                             "00",
                             "0_1",
                             "00.5",
                             "1__0",
                             "1_",
                             "0x",
                             "0x_1",
                             "0b102",
                             "0xfg",
                             "12abc",
                             "1e",
                             "1_e5",
                             "9223372036854775808",
                             "0x8000000000000000",
                             "-0x8000000000000000",
                             "99999999999999999999",
                             "0 - 9223372036854775808",
                             "1e999",
                             "1e-999",
                             "0X1F",
                             "1.5e",
                             "-9223372036854775809",
                             "-9223372036854775808 ** 1",
                             "-(9223372036854775808)",
                             "-9223372036854775808.abs()"};
  for (const char* text : bad) {
    INFO(std::string(text));
    const std::string found = errors(text);
    CHECK(found.find("BadNumber") != std::string::npos);
    CHECK(found.find('\n') == found.size() - 1);
  }
  CHECK(errors("x = 1e999").find("out of range") != std::string::npos);
  CHECK(errors("9223372036854775808").find("out of range") != std::string::npos);
}

TEST_CASE("a dot belongs to a number only with digits on both sides") {
  CHECK(tokens("1.abs()") == "1 . abs ( ) END");
  CHECK(tokens("1..2") == "1 .. 2 END");
  CHECK(tokens("1.e5") == "1 . e5 END");
  CHECK(tokens("1.5.2") == "1.5 . 2 END");
}

TEST_CASE("escapes") {
  CHECK(text_of(R"("a\n\t\r\\\"\{\}b")") == "a\n\t\r\\\"{}b");
  CHECK(text_of(R"("\0")") == std::string(1, '\0'));
  CHECK(text_of(R"("\u{41}\u{e9}\u{20AC}\u{1F600}\u{10FFFF}")") ==
        "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xF4\x8F\xBF\xBF");
  CHECK(text_of(R"("\u{000041}")") == "A");
  CHECK(text_of(R"("a } b")") == "a } b");
  CHECK(text_of(R"('raw \n {x} "q"')") == R"(raw \n {x} "q")");
  CHECK(text_of("''") == "");
  CHECK(text_of("\"\"") == "");
}

TEST_CASE("escapes that are none") {
  for (const char* text : {R"("\q")", R"("\'")", R"("\u")", R"("\u41")", R"("\u{}")",
                           R"("\u{D800}")", R"("\u{dfff}")", R"("\u{110000}")", R"("\u{0000041}")",
                           R"("\u{4g}")", R"("\x41")", "\"\"\"a\\\nb\"\"\"", "\"\\\xC3\xA9\""}) {
    INFO(std::string(text));
    const std::string found = errors(text);
    CHECK(found.find("BadEscape") != std::string::npos);
    CHECK(found.find("escape") != std::string::npos);
    CHECK(found.find('\n') == found.size() - 1);
  }
  CHECK(errors(R"("ab\qc")").substr(0, 4) == "1:4 ");
}

TEST_CASE("multi-line strings") {
  CHECK(text_of("\"\"\"\nabc\n\"\"\"") == "abc");
  CHECK(text_of("\"\"\"\n  a\n    b\n\n  c\n  \"\"\"") == "a\n  b\n\nc");
  CHECK(text_of("\"\"\"abc\"\"\"") == "abc");
  CHECK(text_of("\"\"\"\"\"\"") == "");
  CHECK(text_of("\"\"\"\n\"\"\"") == "");
  CHECK(text_of("\"\"\"\n   \"\"\"") == "");
  CHECK(text_of("\"\"\"\n\n\"\"\"") == "");
  CHECK(text_of("\"\"\"\na\n\n\"\"\"") == "a\n");
  CHECK(text_of("\"\"\"a\n  b\"\"\"") == "a\n  b");
  CHECK(text_of("\"\"\"  a\n  b  \"\"\"") == "a\nb  ");
  CHECK(text_of("\"\"\"\n  say \"hi\" and \"\"\n  \"\"\"") == "say \"hi\" and \"\"");
  // Blank lines do not count for the indentation and lose as much of theirs as they have.
  CHECK(text_of("\"\"\"\n    a\n  \n      \n    b\n\"\"\"") == "a\n\n  \nb");
  // Escapes act afterwards: neither their blanks nor their line breaks take part.
  CHECK(text_of("\"\"\"\n  \\n a\n   \\tb\n\"\"\"") == "\n a\n \tb");
  // The line breaks of the file do not matter.
  CHECK(text_of("\"\"\"\r\n  a\r\n  b\r\n  \"\"\"") == "a\nb");
}

TEST_CASE("interpolations of multi-line strings") {
  CHECK(tree("\"\"\"\n  a {x}\n  {y} b\n  \"\"\"") ==
        "Interpolation (StringLiteral \"a \", FormatPart (Name x), StringLiteral \"\\n\", "
        "FormatPart (Name y), StringLiteral \" b\")");
  CHECK(tree("\"\"\"\n    {x}\n  y\n  \"\"\"") ==
        "Interpolation (StringLiteral \"  \", FormatPart (Name x), StringLiteral \"\\ny\")");
  CHECK(tree("\"\"\"\n  {x +\n    y}\n  \"\"\"") ==
        "Interpolation (FormatPart (Binary + (Name x, Name y)))");
  CHECK(tree("\"\"\"\n  {\"\"\"\n    in\n    \"\"\"}\n  \"\"\"") ==
        "Interpolation (FormatPart (StringLiteral \"in\"))");
}

TEST_CASE("interpolations are lexed like code") {
  CHECK(tree(R"("{m["a"]}")") ==
        R"(Interpolation (FormatPart (Index (Name m, StringLiteral "a"))))");
  CHECK(tree(R"("{ {x: 1}.x }")") ==
        R"(Interpolation (FormatPart (Field x (RecordLiteral (RecordField x (IntLiteral 1))))))");
  CHECK(
      tree(R"("{"a{"b"}c"}")") ==
      R"(Interpolation (FormatPart (Interpolation (StringLiteral "a", FormatPart (StringLiteral "b"), StringLiteral "c"))))");
  CHECK(tree(R"("{if a { b } else { c }:>5}")") ==
        R"(Interpolation (FormatPart :>5 (If (Name a, Block (Name b), Block (Name c)))))");
  CHECK(
      tree(R"("{[1: 2][1]:d}!")") ==
      R"(Interpolation (FormatPart :d (Index (MapLiteral (MapEntry (IntLiteral 1, IntLiteral 2)), IntLiteral 1)), StringLiteral "!"))");
  CHECK(tree(R"("{'}'}")") == R"(Interpolation (FormatPart (StringLiteral "}")))");
  CHECK(tree(R"("{x:=^9}")") == R"(Interpolation (FormatPart :=^9 (Name x)))");
  CHECK(tree(R"("{(x: int) => x}")") ==
        R"(Interpolation (FormatPart (Lambda (lambda(x: int) (Name x)))))");
}

TEST_CASE("strings that are not closed") {
  CHECK(errors("let a = \"abc\nlet b = 1") ==
        "1:9 NotClosed the string is not closed: expected \" before the end of the line [a text of "
        "several lines is written \"\"\"...\"\"\"]\n");
  CHECK(errors("let a = 'abc\nlet b = 1").substr(0, 14) == "1:9 NotClosed ");
  CHECK(errors("let a = \"x {f(\"y\nlet b = 1").substr(0, 14) == "1:9 NotClosed ");
  CHECK(errors("f(\"{x:.2f\", 1)\nlet b = 1").substr(0, 14) == "1:6 NotClosed ");
  CHECK(errors("let a = 1\nlet b = \"\"\"\nabc").substr(0, 14) == "2:9 NotClosed ");
  CHECK(errors("let a = \"\"\"{\"x\n}\"\"\"").substr(0, 15) == "1:13 NotClosed ");
  for (const char* text : {"let a = \"abc\nlet b = 1", "println(\"abc\nlet b = 1\n", "f(\"{x\n)\n",
                           "let a = 'b\n", "\"{\"{\"{", "f(\"{x:.2f\", 1)\n"}) {
    INFO(std::string(text));
    CHECK(parse_test::parse_text(text).diagnostics.all().size() == 1);
  }
}

TEST_CASE("characters of no token") {
  CHECK(errors("let größe = 5") ==
        "1:7 UnexpectedToken found 'öße', which is no part of the language [names are made of a-z, "
        "A-Z, 0-9 and _]\n");
  CHECK(errors("let é = 5").substr(0, 30) == "1:5 UnexpectedToken found 'é'");
  CHECK(errors("f(“abc”)").find("straight quote") != std::string::npos);
  CHECK(errors("a\xC2\xA0+ b").find("looks like a space") != std::string::npos);
  CHECK(errors("a \\\n+ b").find("no mark is needed") != std::string::npos);
  CHECK(errors("@@@@@@@@").find('\n') == errors("@@@@@@@@").size() - 1);
}

TEST_CASE("a source that is no text") {
  CHECK(errors("let a = \"\xFF\"\nlet = 2") ==
        "1:10 BadEncoding the source is not valid UTF-8: found the byte 0xff [save the file as "
        "UTF-8]\n");
  for (const char* text :
       {"\x80", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "# \xFE"}) {
    CHECK(errors(text).find("BadEncoding") != std::string::npos);
  }
  CHECK(errors(std::string_view("a\0b", 3)).substr(0, 16) == "1:2 BadEncoding ");
}

TEST_CASE("which bracket closes which") {
  // Matches as written: for each opening bracket the place of its partner, or - for none.
  const auto matches = [](std::string_view text) {
    const auto lexed = lex(text);
    std::string out;
    for (const Token& each : lexed->stream.tokens) {
      if (!is_opening(each.kind) || each.kind == TokenKind::StringHead) continue;
      out += out.empty() ? "" : " ";
      out += each.value == kNoMatch ? "-" : std::to_string(lexed->stream.tokens[each.value].begin);
    }
    return out;
  };
  CHECK(matches("([{}])") == "5 4 3");
  CHECK(matches("{ ( }") == "4 -");
  CHECK(matches("( ]") == "-");
  CHECK(matches("(\nlet x = (1)") == "- 12");
  CHECK(matches("\"{(}\" )") == "-");
  // Braces that balance are taken as they come; only otherwise does the indentation count.
  CHECK(matches("a {\n  b {\n}\n}") == "12 10");
  CHECK(matches("a {\n  b {\n    c\n}\nd {\n}") == "16 - 22");
}

TEST_SUITE_END();

}  // namespace posset::syntax
