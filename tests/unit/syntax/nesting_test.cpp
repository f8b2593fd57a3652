// The bound on nesting: exactly at the limit, past it, and far past it, in every way a source can
// nest; and what is long but flat.
#include <chrono>

#include "parse_fixture.h"

namespace posset::syntax {

using parse_test::parse_text;
using parse_test::Parsed;

namespace {

struct Shape {
  const char* before;
  const char* middle;
  const char* after;
};

constexpr Shape kShapes[] = {
    {"(", "1", ")"},
    {"[", "", "]"},
    {"[1: ", "2", "]"},
    {"{a: ", "1", "}"},
    {"f(", "1", ")"},
    {"x[", "0", "]"},
    {"do { ", "1", " }"},
    {"if true { ", "1", " }"},
    {"- ", "x", ""},
    {"not ", "true", ""},
    {"~", "1", ""},
    {"x => ", "1", ""},
    {"match 1 { _ => ", "1", " }"},
    {"try { ", "1", " } catch { 2 }"},
    {"while false { ", "1", " }"},
    {"2 ** ", "1", ""},
    {"\"{", "1", "}\""},
    {"if ", "1", " { 1 }"},
    {"x ?\? throw ", "1", ""},
    {"[for x in ", "y", " => 1]"},
    {"[for x in y => ", "y", "]"},
    {"if a { } else { ", "1", " }"},
    {"for x in y { ", "1", " }"},
    {"await ", "x", ""},
    {"x.f(", "1", ")"},
    {"x = y => ", "1", ""},
    {"\"\"\"{", "1", "}\"\"\""},
};

std::string repeat(std::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

std::string nest(const Shape& shape, int count) {
  return repeat(shape.before, count) + shape.middle + repeat(shape.after, count);
}

bool is_too_deep(const Parsed& parsed) {
  if (parsed.diagnostics.all().size() != 1) return false;
  const Diagnostic& only = parsed.diagnostics.all()[0];
  return only.code == ErrorCode::NestedTooDeeply &&
         only.message.find("nested too deeply") != std::string::npos;
}

}  // namespace

TEST_SUITE_BEGIN("nesting");

TEST_CASE("1000 levels are fine, 1001 are refused, 100,000 are refused at once") {
  for (const Shape& shape : kShapes) {
    INFO(std::string(shape.before));
    CHECK_FALSE(parse_text(nest(shape, 1000)).diagnostics.has_errors());
    CHECK(is_too_deep(parse_text(nest(shape, 1001))));
    const Parsed far = parse_text(nest(shape, 100'000));
    CHECK(is_too_deep(far));
    CHECK(far.statements().empty());
    CHECK(parse_text(repeat(shape.before, 100'000)).diagnostics.has_errors());
  }
}

TEST_CASE("operators that lean left nest too") {
  for (const char* more :
       {" + 1", " and x", " |> f", ".f", ".f(1)", "(1)", "[0]", " ?\? x", "?.f"}) {
    INFO(std::string(more));
    CHECK_FALSE(parse_text("x" + repeat(more, 1000)).diagnostics.has_errors());
    CHECK(is_too_deep(parse_text("x" + repeat(more, 1001))));
    CHECK(is_too_deep(parse_text("x" + repeat(more, 100'000))));
  }
}

TEST_CASE("levels add up, whatever they are") {
  CHECK_FALSE(parse_text(repeat("(", 500) + "x" + repeat(" + 1", 500) + repeat(")", 500))
                  .diagnostics.has_errors());
  CHECK(is_too_deep(parse_text(repeat("(", 500) + "x" + repeat(" + 1", 501) + repeat(")", 500))));
  // The left operand is deep already when the operators come.
  CHECK_FALSE(parse_text(repeat("(", 500) + "x" + repeat(")", 500) + repeat(" + 1", 500))
                  .diagnostics.has_errors());
  CHECK(is_too_deep(parse_text(repeat("(", 500) + "x" + repeat(")", 500) + repeat(" + 1", 501))));
  // Deep spines beside each other do not add up.
  const std::string sum = "(x" + repeat(" + 1", 900) + ")";
  CHECK_FALSE(parse_text("f(" + sum + ", " + sum + ")").diagnostics.has_errors());
  CHECK_FALSE(parse_text(sum + "\n" + sum + "\n").diagnostics.has_errors());
}

TEST_CASE("patterns, types and places") {
  for (const Shape& shape : {Shape{"match 1 { ", "[", "]"}, Shape{"let ", "[", "]"}}) {
    const std::string end = std::string_view(shape.before) == "let " ? " = 1" : " => 1 }";
    CHECK_FALSE(parse_text(shape.before + repeat("[", 900) + repeat("]", 900) + end)
                    .diagnostics.has_errors());
    CHECK(
        is_too_deep(parse_text(shape.before + repeat("[", 100'000) + repeat("]", 100'000) + end)));
  }
  CHECK(is_too_deep(
      parse_text("let a: " + repeat("[", 100'000) + "int" + repeat("]", 100'000) + " = 1")));
  CHECK(is_too_deep(parse_text(repeat("[", 100'000) + "a" + repeat("]", 100'000) + " = 1")));
  CHECK(is_too_deep(
      parse_text("match 1 { " + repeat("A(", 100'000) + repeat(")", 100'000) + " => 1 }")));
  CHECK(is_too_deep(
      parse_text("match 1 { " + repeat("{a: ", 100'000) + "b" + repeat("}", 100'000) + " => 1 }")));
}

TEST_CASE("nothing recurses without counting") {
  // Prefixes of every production; that these texts are wrong in other ways does not matter.
  for (const char* context :
       {"", "let x = ", "match a { ", "[", "let ", "fn f(", "\"{", "let x: ", "x ?\? "}) {
    for (const char* piece : {"..",         ".. ",        "[..",
                              "(a = ",      "return ",    "x ?\? return ",
                              "pure ",      "export ",    "type A = ",
                              "not -",      "- not ",     "spawn ",
                              "&",          "f(&",        "if x { } else ",
                              "[for [",     "{a: {..",    "A(",
                              "- ~ ! ",     "await not ", "x => return ",
                              "fn f() => ", "fn (a = ",   "with t = &",
                              "try { ",     "catch e { ", "1: [",
                              "a |",        "\"{\"",      "x |> y => "}) {
      CHECK(parse_text(context + repeat(piece, 30'000) + "a] = 1").diagnostics.has_errors());
    }
  }
}

TEST_CASE("what is long and flat is not nested") {
  CHECK_FALSE(parse_text("let x = if a { 1 }" + repeat(" else if a { 2 }", 100'000))
                  .diagnostics.has_errors());
  CHECK_FALSE(parse_text("[" + repeat("1, ", 100'000) + "]").diagnostics.has_errors());
  CHECK_FALSE(parse_text(repeat("x;", 100'000)).diagnostics.has_errors());
  CHECK_FALSE(
      parse_text("match a { " + repeat("1 | ", 100'000) + "2 => 3 }").diagnostics.has_errors());
  CHECK_FALSE(
      parse_text("match a { " + repeat("1 => 2\n", 100'000) + " }").diagnostics.has_errors());
  CHECK_FALSE(parse_text("\"" + repeat("{1}", 100'000) + "\"").diagnostics.has_errors());
  const Parsed chain = parse_text("if a { 1 }" + repeat(" else if a { 2 }", 20'000));
  CHECK(print_tree(*chain.module).size() < 20'000 * 200);
}

TEST_CASE("rubbish of any length takes linear time") {
  const auto start = std::chrono::steady_clock::now();
  for (const char* piece : {"(",        ")",        "[",
                            "]",        "{",        "}",
                            "\"",       "'",        "\"{",
                            "\"\"\"",   "\"\"\"{",  "([{",
                            "}])",      "(]",       "{(}",
                            ".",        "..",       "=>",
                            "=",        "@",        "\\",
                            "\xFF",     "let ",     "if ",
                            "fn ",      "match {",  "x =>",
                            "a b ",     "1.",       "0x",
                            "?",        "do {\n",   "do {\n}\n}\n",
                            "[(\nlet ", "f(1 2)\n", "\"\\u{",
                            "# \n",     "\n",       "a <",
                            "a ..",     "{x:",      "\"{x:"}) {
    INFO(std::string(piece));
    const Parsed parsed = parse_text(repeat(piece, 50'000));
    CHECK(parsed.diagnostics.all().size() <= Diagnostics::kMaxDiagnostics);
    for (const Diagnostic& each : parsed.diagnostics.all()) CHECK(render(each, {}).size() < 4000);
  }
  CHECK(std::chrono::steady_clock::now() - start <
        std::chrono::seconds(60));  // generous: sanitizers
}

TEST_SUITE_END();

}  // namespace posset::syntax
