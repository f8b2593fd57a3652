// posset_format_source: what it gives, and how it fails.
#include "fixture.h"

using posset::test::append;
using posset::test::text;

namespace {

posset_source named(std::string_view what) { return posset_source_of("rules.posset", text(what)); }

}  // namespace

TEST_CASE("a host gets the layout of a source") {
  std::string made;
  posset_diagnostics* diagnostics = nullptr;
  posset_source source = named("let x=1#one\n");
  CHECK(posset_format_source(&source, append, &made, &diagnostics) == POSSET_OK);
  CHECK(made == "let x = 1 #one\n");
  CHECK(diagnostics == nullptr);
  made.clear();
  source = named("");
  CHECK(posset_format_source(&source, append, &made, nullptr) == POSSET_OK);
  CHECK(made.empty());
}

TEST_CASE("a host is told why a source has no layout") {
  std::string made;
  posset_diagnostics* diagnostics = nullptr;
  posset_source source = named("let x = 1\nlet = 2\n");
  CHECK(posset_format_source(&source, append, &made, &diagnostics) == POSSET_INVALID);
  CHECK(made.empty());
  posset_diagnostic first;
  first.size = sizeof first;
  REQUIRE(posset_diagnostics_get(diagnostics, 0, &first) == POSSET_OK);
  CHECK(posset::test::str(first.file) == "rules.posset");
  CHECK(first.line == 2);
  CHECK(first.column == 5);
  posset_diagnostics_free(diagnostics);
  CHECK(posset_format_source(&source, append, &made, nullptr) == POSSET_INVALID);
}

TEST_CASE("a writer of a layout may refuse, and must be there") {
  posset_source source = named("1");
  const auto refuse = [](void*, const char*, size_t) { return false; };
  CHECK(posset_format_source(&source, refuse, nullptr, nullptr) == POSSET_DONE);
  CHECK(posset_format_source(&source, nullptr, nullptr, nullptr) == POSSET_MISUSE);
  CHECK(posset_format_source(nullptr, append, nullptr, nullptr) == POSSET_MISUSE);
  source.size = 1;
  CHECK(posset_format_source(&source, append, nullptr, nullptr) == POSSET_MISUSE);
}
