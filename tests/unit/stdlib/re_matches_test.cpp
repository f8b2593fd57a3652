// Searching within limits finds what RE2 finds, does no more at once than is little, and takes what is longer to another thread.
#include "stdlib/re_matches.h"

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include "../sanitized.h"
#include "re_reference.h"

using posset::stdlib::all_matches;
using posset::stdlib::at_once;
using posset::stdlib::behind;
using posset::stdlib::Expression;
using posset::stdlib::is_slow_to_compile;
using posset::stdlib::Match;
using posset::stdlib::Matches;
using posset::stdlib::repeated;
using posset::stdlib::Surroundings;

namespace {

// Counts what a search asks for, and does aside at once.
struct Around : Surroundings {
  posset_status look() override { return ++looks == last_look ? POSSET_RAISED : POSSET_OK; }
  posset_status take(size_t bytes) override {
    if (taken + bytes > memory) return POSSET_RAISED;
    taken += bytes;
    return POSSET_OK;
  }
  posset_status refuse() override { return ++refusals, POSSET_RAISED; }
  void give_back(size_t bytes) override { taken -= bytes; }
  posset_status aside(std::function<void()> work) override {
    if (keep) return *keep = std::move(work), POSSET_RAISED;
    work();
    ++asides;
    return look();
  }
  std::function<void()>* keep = nullptr;  // where work is left undone
  size_t taken = 0, memory = SIZE_MAX;
  int looks = 0, last_look = 0, asides = 0, refusals = 0;
};

std::string found_by(Matches& matches, std::string_view text, int groups) {
  return all_matches(text, groups, [&](size_t from, Match& out) {
    bool found = false;
    CHECK(matches.next(from, groups, out, found) == POSSET_OK);
    return found;
  });
}

}  // namespace

TEST_CASE("what is long is searched in windows with little work at once") {
  constexpr size_t kBytes = 4 << 20;
  const std::string plain = repeated("abc déf, ", kBytes), tags = repeated("<a><b>", kBytes);
  struct {
    std::string pattern;
    std::string text;
  } const cases[] = {
      {"x", plain},                 // nowhere
      {"[a-z]+", plain},            // everywhere
      {"[xyz]+[0-9]", plain},       // nowhere, and not by its first letter
      {"end$", plain + "end"},      // once, at the end
      {"x|end", plain + "end"},
      {"c d|f, a", plain},          // across borders
      {"<.*?>", tags},              // complete soon, though it could go on
      {"^b", plain},
      {"a.*z", repeated("abc déf\n", kBytes)},
  };
  for (const auto& each : cases) {
    Around around;
    Matches matches(each.text, std::make_shared<const Expression>(each.pattern), around);
    Match match;
    bool found = true;
    for (size_t from = 0; found && from <= each.text.size(); from = behind(each.text, match))
      REQUIRE(matches.next(from, 1, match, found) == POSSET_OK);
    CHECK_MESSAGE(matches.most_work() <= Matches::kLittle, each.pattern);
    CHECK_MESSAGE(matches.most_work() >= Matches::kLittle / 16, each.pattern);
    CHECK_MESSAGE(around.looks >= 3, each.pattern);
    CHECK_MESSAGE(around.asides == 0, each.pattern);
  }
}

// Of many states: random letters, so that each byte makes another one.
std::string coin_tosses(size_t bytes) {
  std::mt19937 random(7);
  std::string out;
  while (out.size() < bytes) out += random() & 1 ? 'a' : 'b';
  return out;
}

TEST_CASE("whatever pattern and text are, little is done at once and everything is found") {
  const char* const patterns[] = {"a[ab]{14}c", "(a|b)*a(a|b){200}c", "((a|b)?(ab|ba)?){300}c", "(a|b|ab|ba|aba){20}", "\\pL{5}(a|\\pN){3}",
                                  "(a)(b{2,3})(a+)", "(b[ab]{1,900})b", "[ab]*", "(?s)(.{1,700})b(.)", "\\pL+b", "([ab]|\\pL|\\pN){9}c",
                                  "((ab|ba|[a-c]d)?){1000}x"};
  const std::string tosses = coin_tosses(100000);
  for (const std::string_view source : patterns) {
    const auto pattern = std::make_shared<const Expression>(source, 8 << 20);
    REQUIRE(pattern->whole().ok());
    const int groups = 1 + pattern->whole().NumberOfCapturingGroups();
    for (const size_t size : {20, 100, 700, 5000, 20000, 100000}) {
      if (size * pattern->whole().ProgramSize() > size_t{posset::test::kSanitized ? 10 : 100} << 20) continue;  // takes RE2 too long
      const std::string text = tosses.substr(0, size);
      Around around;
      Matches matches(text, pattern, around);
      CHECK_MESSAGE(found_by(matches, text, groups) == at_once(*pattern, text, groups), source << " in " << size);
      CHECK_MESSAGE(matches.most_work() <= (size <= 32 ? 2 : 1) * Matches::kLittle, source << " in " << size);
    }
  }
}

TEST_CASE("a search ends where looking says so") {
  const std::string text = repeated("abc ", 4 << 20);
  Around around;
  around.last_look = 3;
  Matches matches(text, std::make_shared<const Expression>("x"), around);
  Match match;
  bool found = false;
  CHECK(matches.next(0, 1, match, found) == POSSET_RAISED);
  CHECK(around.looks == 3);
}

TEST_CASE("what stays unfinished for longer than two windows is searched beside the evaluation") {
  const std::string text = "é<" + repeated("a", 5 << 20) + ">" + repeated("bc", 2 << 20) + "b";
  const auto pattern = std::make_shared<const Expression>("<(a*)>|\\Bb(c*)\\b");
  Around around;
  {
    Matches matches(text, pattern, around);
    Match match;
    bool found = false;
    REQUIRE(matches.next(0, 3, match, found) == POSSET_OK);
    REQUIRE(found);
    CHECK(match.begin == 2);
    CHECK(match.end == 2 + 1 + (5 << 20) + 1);
    CHECK(match.groups[1].data() == text.data() + 3);
    CHECK(match.groups[1].size() == 5 << 20);
    CHECK(match.groups[2].data() == nullptr);
    REQUIRE(matches.next(match.end, 3, match, found) == POSSET_OK);
    REQUIRE(found);
    CHECK(match.begin == text.size() - 1);
    CHECK(match.groups[1].data() == nullptr);
    CHECK(around.taken >= text.size() - 3);
    CHECK(around.asides > 0);
  }
  CHECK(around.taken == pattern->memory_of_forms());
}

TEST_CASE("where there is no memory for a copy or for other forms there is an error, and nothing is kept") {
  const std::string text = "<" + repeated("a", 5 << 20) + ">";
  const auto pattern = std::make_shared<const Expression>("<(a*)>");
  for (const size_t memory : {pattern->memory_of_forms() - 1, text.size(), text.size() + pattern->memory_of_forms()}) {
    Around around;
    around.memory = memory;
    {
      Matches matches(text, pattern, around);
      Match match;
      bool found = false;
      CHECK(matches.next(0, 2, match, found) == (memory > text.size() ? POSSET_OK : POSSET_RAISED));
    }
    CHECK(around.taken <= pattern->memory_of_forms());
  }
}

TEST_CASE("a single match that could take hours is refused, one of half a megabyte is not") {
  const auto pattern = std::make_shared<const Expression>("\\pL{3,8} |<(-*)>", 16 << 20);
  REQUIRE(pattern->whole().ProgramSize() > 8192);
  for (const size_t size : {size_t{500} << 10, size_t{4} << 20}) {
    const std::string text = "<" + repeated("-", size) + ">";
    Around around;
    Matches matches(text, pattern, around);
    Match match;
    bool found = false;
    const bool is_refused = size > size_t{1} << 20;
    CHECK(matches.next(0, 1, match, found) == (is_refused ? POSSET_RAISED : POSSET_OK));
    CHECK((around.refusals == 1) == is_refused);
    CHECK((is_refused || match.end == text.size()));
  }
}

TEST_CASE("a pattern that is too large for windows is searched for beside the evaluation, many matches at a time") {
  const auto pattern = std::make_shared<const Expression>("(\\pL{3,8}) (x)", 8 << 20);
  REQUIRE(pattern->whole().ProgramSize() > 4096);
  const std::string text = repeated("abc abc x17 ", posset::test::kSanitized ? 1 << 18 : 1 << 20);
  Around around;
  Matches matches(text, pattern, around);
  CHECK(found_by(matches, text, 2) == at_once(*pattern, text, 2));
  CHECK(around.asides > 3);
  CHECK(around.asides < 1000);
}

TEST_CASE("short windows with nothing in them are given up for another thread, those with matches are not") {
  const auto pattern = std::make_shared<const Expression>("\\pL+x");
  for (const bool is_rich : {false, true}) {
    const std::string text = repeated(is_rich ? "éx ax " : "é a, ", 100000);
    Around around;
    Matches matches(text, pattern, around);
    CHECK(found_by(matches, text, 1) == at_once(*pattern, text, 1));
    CHECK((around.asides > 0) != is_rich);
  }
}

TEST_CASE("who searches beside the evaluation stops soon when nobody waits for it") {
  const std::string text = repeated("abc déf, ", 8 << 20);
  Around around;
  std::function<void()> abandoned;
  around.keep = &abandoned;
  {
    Matches matches(text, std::make_shared<const Expression>("\\pL+x"), around);
    Match match;
    bool found = false;
    CHECK(matches.next(0, 1, match, found) == POSSET_RAISED);
    REQUIRE(abandoned);
  }
  CHECK(around.taken <= 2 * Expression::kLeastMemory + (2 << 20));
  abandoned();  // in its own copy; what it searches is one window
}

TEST_CASE("a pattern that compiles to much is compiled beside the evaluation") {
  CHECK(!is_slow_to_compile("(\\pL+) (\\pL+)"));
  CHECK(!is_slow_to_compile("\\\\p\\\\p\\\\p\\\\p\\\\p\\\\p"));  // no classes: what follows a backslash
  CHECK(is_slow_to_compile("\\pL\\PN\\pL\\PN\\pL"));
  CHECK(is_slow_to_compile("a{2}"));
  CHECK(is_slow_to_compile(std::string(200, 'a')));
  CHECK(!Expression("(\\pL{3,8}) \\pL+ x", 8 << 20).are_forms_quick());
  CHECK(Expression("[a-z]+@").are_forms_quick());
  const std::string text = repeated("ab", 5000);
  for (const char* source : {"a[ab]c", "a[ab]{100}c"}) {
    const auto pattern = std::make_shared<const Expression>(source);
    Around around;
    Matches matches(text, pattern, around);
    CHECK(found_by(matches, text, 1).empty());
    CHECK((around.asides > 0) == !Expression(source).are_forms_quick());
  }
}

TEST_CASE("the groups of a long match are found beside the evaluation") {
  const std::string line = repeated("ab ", 20 << 10) + "-" + repeated("cd ", 20 << 10) + "\n";
  const std::string text = repeated(line, 1 << 20);
  for (const char* source : {"(?:^|\n)(a)b", "(?-s)([a-z ]*)-(.*)\\b"}) {
    const Expression pattern(source);
    const int groups = 1 + pattern.whole().NumberOfCapturingGroups();
    Around around;
    Matches matches(text, std::make_shared<const Expression>(source), around);
    CHECK(found_by(matches, text, groups) == at_once(pattern, text, groups));
    CHECK((around.asides > 0) == (groups > 2));
  }
}

TEST_CASE("many matches that each take a search of the rest are looked at, too") {
  const std::string text = coin_tosses(1000);
  const auto pattern = std::make_shared<const Expression>("(a|b)*a(a|b){20}c|a|b");
  REQUIRE(text.size() * pattern->whole().ProgramSize() <= Matches::kLittle);
  Around around;
  Matches matches(text, pattern, around);
  CHECK(found_by(matches, text, 1) == at_once(*pattern, text, 1));
  CHECK(around.looks > 100);
  CHECK(around.asides == 0);
}
