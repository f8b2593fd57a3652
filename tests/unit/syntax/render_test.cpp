// Sources, how diagnostics look, and suggestions.
#include "parse_fixture.h"

namespace posset::syntax {

namespace {

std::string rendered(std::string text, Span span, std::string hint = "", bool color = false) {
  Diagnostic diagnostic;
  diagnostic.source = std::make_shared<Source>("prices.posset", std::move(text));
  diagnostic.span = span;
  diagnostic.message = "message";
  diagnostic.hint = std::move(hint);
  return render(diagnostic, {.color = color});
}

// Of the second line: what stands above the caret, as bytes of the first.
std::string excerpt(std::string text, Span span) {
  const std::string all = rendered(std::move(text), span);
  return all.substr(all.find('\n') + 1);
}

}  // namespace

TEST_SUITE_BEGIN("render");

TEST_CASE("the shape of the contract") {
  Diagnostic diagnostic;
  diagnostic.source = std::make_shared<Source>("prices.posset", "a\nb\n  let total = big + 1\n");
  diagnostic.span = {18, 25};
  diagnostic.message = "int overflow in 9223372036854775807 + 1";
  diagnostic.hint = "int is 64-bit; use +% to wrap, or float(...)";
  CHECK(render(diagnostic, {}) ==
        "prices.posset:3:15: error: int overflow in 9223372036854775807 + 1\n"
        "  3 |   let total = big + 1\n"
        "    |               ^^^^^^^ int is 64-bit; use +% to wrap, or float(...)\n");
  diagnostic.severity = Severity::Warning;
  diagnostic.hint.clear();
  CHECK(render(diagnostic, {}) ==
        "prices.posset:3:15: warning: int overflow in 9223372036854775807 + 1\n"
        "  3 |   let total = big + 1\n"
        "    |               ^^^^^^^\n");
}

TEST_CASE("carets") {
  CHECK(excerpt("abc def", {4, 7}) == "  1 | abc def\n    |     ^^^\n");
  CHECK(excerpt("abc def", {4, 4}) == "  1 | abc def\n    |     ^\n");
  CHECK(excerpt("abc", {3, 3}) == "  1 | abc\n    |    ^\n");
  CHECK(excerpt("abc {\n  d\n}", {4, 11}) ==
        "  1 | abc {\n    |     ^\n");  // only the first line of a span
  CHECK(excerpt("", {0, 0}) == "  1 |\n    | ^\n");
  CHECK(excerpt("a\n", {2, 2}) == "  2 |\n    | ^\n");
  CHECK(excerpt("a\r\nb\r\n", {0, 1}) == "  1 | a\n    | ^\n");
  CHECK(excerpt(std::string(99, '\n') + "x", {99, 100}) == "  100 | x\n      | ^\n");
  CHECK(excerpt("abc", {2, 1000}) == "  1 | abc\n    |   ^\n");
}

TEST_CASE("tabs, wide characters and what must not reach a terminal") {
  CHECK(excerpt("\tx\ty", {3, 4}) == "  1 |     x   y\n    |         ^\n");
  CHECK(excerpt("\xE4\xB8\xAD\xE6\x96\x87 x", {7, 8}) ==
        "  1 | \xE4\xB8\xAD\xE6\x96\x87 x\n    |      ^\n");
  CHECK(excerpt("\xE4\xB8\xAD\xE6\x96\x87 x", {0, 6}) ==
        "  1 | \xE4\xB8\xAD\xE6\x96\x87 x\n    | ^^^^\n");
  CHECK(excerpt("e\xCC\x81x", {3, 4}) == "  1 | e\xCC\x81x\n    |  ^\n");
  CHECK(excerpt("a\x1b[2Jb", {5, 6}) == "  1 | a\xEF\xBF\xBD[2Jb\n    |      ^\n");
  CHECK(excerpt("a\xFF"
                "b",
                {2, 3}) ==
        "  1 | a\xEF\xBF\xBD"
        "b\n    |   ^\n");
  CHECK(excerpt("a\xE2\x80\xAE"
                "b",
                {4, 5}) ==
        "  1 | a\xEF\xBF\xBD"
        "b\n    |   ^\n");
}

TEST_CASE("long lines are cut around the caret") {
  const std::string x(100'000, 'x');
  const std::string middle = excerpt(x + "!" + x, {100'000, 100'001});
  CHECK(middle.size() < 400);
  CHECK(middle.find("...") != std::string::npos);
  const size_t bang = middle.find('!');
  CHECK(middle.find('^') - middle.find('\n') - 1 == bang);
  CHECK(excerpt(x, {0, 100'000}).size() < 600);
  CHECK(excerpt(x, {100'000, 100'000}).find('^') != std::string::npos);
  std::string wide;
  for (int i = 0; i < 50'000; ++i) wide += "\xE4\xB8\xAD";
  for (uint32_t at = 3000; at < 3003; ++at) CHECK(excerpt(wide, {at * 3, at * 3 + 3}).size() < 800);
  // Names that are quoted in messages are cut too.
  Diagnostic diagnostic;
  diagnostic.source = std::make_shared<Source>("a", "b");
  diagnostic.message = "found '" + x + "'\x1b[0m\n";
  const std::string first = render(diagnostic, {});
  CHECK(first.size() < 1000);
  CHECK(first.find('\x1b') == std::string::npos);
}

TEST_CASE("colours are only added") {
  const std::string plain = rendered("abc", {1, 2}, "hint");
  std::string colored = rendered("abc", {1, 2}, "hint", true);
  CHECK(colored != plain);
  for (size_t at = colored.find('\x1b'); at != std::string::npos; at = colored.find('\x1b')) {
    colored.erase(at, colored.find('m', at) - at + 1);
  }
  CHECK(colored == plain);
}

TEST_CASE("positions") {
  const Source source("a",
                      "ab\n\xC3\xA9\xE4\xB8\xAD"
                      "c\n");
  const auto at = [&](uint32_t offset) {
    const Position position = source.position(offset);
    return std::to_string(position.line) + ":" + std::to_string(position.column);
  };
  CHECK(at(0) == "1:1");
  CHECK(at(2) == "1:3");
  CHECK(at(3) == "2:1");
  CHECK(at(5) == "2:2");
  CHECK(at(8) == "2:3");
  CHECK(at(10) == "3:1");
  CHECK(at(1000) == "3:1");
  CHECK(source.line(1) == "ab");
  CHECK(source.line(3) == "");
  CHECK(source.line(0) == "");
  CHECK(source.line(4) == "");
  const Source marked("a", "\xEF\xBB\xBFxy");
  CHECK(marked.position(4).column == 2);
  CHECK(marked.position(0).column == 1);
  CHECK(marked.line(1) == "xy");
}

TEST_CASE("suggestions") {
  const std::vector<std::string_view> names = {"println", "print", "len", "push", "total",
                                               "x",       "map",   "max", "min"};
  CHECK(did_you_mean("printn", names) == "print");
  CHECK(did_you_mean("pritnln", names) == "println");
  CHECK(did_you_mean("Println", names) == "println");
  CHECK(did_you_mean("lenn", names) == "len");
  CHECK(did_you_mean("totla", names) == "total");
  CHECK(did_you_mean("y", names) == "");
  CHECK(did_you_mean("zebra", names) == "");
  CHECK(did_you_mean("", names) == "");
  CHECK(did_you_mean("len", names) == "");  // not itself, and nothing else is near
  CHECK(did_you_mean(std::string(1000, 'a'), names) == "");
  CHECK(did_you_mean("mux", {"max", "mix"}) == "max");
}

TEST_CASE("counting past what is kept") {
  Diagnostics diagnostics;
  for (int i = 0; i < 1000; ++i) diagnostics.warn(nullptr, ErrorCode::UnreachableArm, {}, "x");
  CHECK_FALSE(diagnostics.has_errors());
  diagnostics.error(nullptr, ErrorCode::NotDefined, {}, "x");
  CHECK(diagnostics.has_errors());
  CHECK(diagnostics.all().size() == Diagnostics::kMaxDiagnostics);
  CHECK(std::string_view(name_of(ErrorCode::BadEscape)) == "BadEscape");
}

TEST_SUITE_END();

}  // namespace posset::syntax
