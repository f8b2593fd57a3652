// Searching in windows finds what RE2 finds in the whole text: for patterns and texts that are made up, with windows of some
// bytes, so that matches lie across borders everywhere; and no more than a window is searched at once.
#include "stdlib/re_windows.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using posset::stdlib::begun_form;
using posset::stdlib::behind;
using posset::stdlib::Expression;
using posset::stdlib::is_slow_to_compile;
using posset::stdlib::Match;
using posset::stdlib::Surroundings;
using posset::stdlib::Windows;

namespace {

// Counts what a search asks for, and does aside at once.
struct Around : Surroundings {
  posset_status look() override { return ++looks == last_look ? POSSET_RAISED : POSSET_OK; }
  bool take(size_t bytes) override {
    if (has_memory) taken += bytes;
    return has_memory;
  }
  void give_back(size_t bytes) override { taken -= bytes; }
  posset_status aside(std::function<void()> work) override {
    work();
    ++asides;
    return look();
  }
  bool has_memory = true;
  size_t taken = 0;
  int looks = 0, last_look = 0, asides = 0;
};

// "begin-end[group,...] " of every match.
template <class Next>
std::string all_matches(std::string_view text, int groups, Next&& next) {
  std::string out;
  Match match;
  for (size_t from = 0; from <= text.size() && next(from, match); from = behind(text, match)) {
    out += std::to_string(match.begin) + "-" + std::to_string(match.end);
    for (int i = 1; i < groups; ++i) out += match.groups[i].data() ? "," + std::string(match.groups[i]) : ",-";
    out += " ";
  }
  return out;
}

std::string at_once(const Expression& pattern, std::string_view text, int groups) {
  return all_matches(text, groups, [&](size_t from, Match& out) {
    const re2::StringPiece whole(text.data(), text.size());
    if (!pattern.whole().Match(whole, from, whole.size(), RE2::UNANCHORED, out.groups, groups)) return false;
    out.begin = static_cast<size_t>(out.groups[0].data() - text.data());
    out.end = out.begin + out.groups[0].size();
    return true;
  });
}

std::string in_windows(const std::shared_ptr<const Expression>& pattern, std::string_view text, int groups, size_t window) {
  Around around;
  Windows windows(text, pattern, around, window);
  return all_matches(text, groups, [&](size_t from, Match& out) {
    bool found = false;
    CHECK(windows.next(from, groups, out, found) == POSSET_OK);
    return found;
  });
}

// Patterns with every kind of construct, and texts of few letters, so that much is found.
class Maker {
 public:
  explicit Maker(uint32_t seed) : random_(seed) {}
  std::string pattern(int depth) {
    std::string out;
    const int alternatives = pick(4) == 0 ? 2 : 1;
    for (int i = 0; i < alternatives; ++i) {
      if (i) out += "|";
      for (int pieces = 1 + pick(3); pieces > 0; --pieces) out += piece(depth);
    }
    return out;
  }
  std::string text() {
    static const char* const kPieces[] = {"a", "b", "c", "A", "é", "ß", " ", "\n", "1", "-", "{", "]", "aaaa", "abab", "ab1 "};
    std::string out;
    for (int pieces = pick(60); pieces > 0; --pieces) out += kPieces[pick(std::size(kPieces))];
    return out;
  }
  int pick(size_t count) { return static_cast<int>(random_() % count); }

 private:
  std::string piece(int depth) {
    static const char* const kAtoms[] = {"a", "b", "c", "é", ".", "[ab]", "[^a]", "[]a]", "[^]a]", "\\w", "\\d", "\\s", "[[:alpha:]1]",
                                         "\\x61", "\\x{e9}", "\\pL", "\\p{Latin}", "[\\]a]", "\\Qa{\\E", "\\141", "{", "\\n", "[\\w-]", "ab"};
    static const char* const kLooks[] = {"^", "$", "\\b", "\\B", "\\A", "\\z", "(?m:^)", "(?m:$)"};
    static const char* const kCounts[] = {"*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{2,}?", "{0,2}"};
    if (pick(8) == 0) return kLooks[pick(std::size(kLooks))];
    std::string out;
    if (depth > 0 && pick(3) == 0) {
      static const char* const kGroups[] = {"(", "(?:", "(?i:", "(?s:", "(?i)(?:", "(?U:"};
      out = kGroups[pick(std::size(kGroups))] + pattern(depth - 1) + ")";
    } else {
      out = kAtoms[pick(std::size(kAtoms))];
    }
    return pick(3) == 0 ? out + kCounts[pick(std::size(kCounts))] : out;
  }
  std::mt19937 random_;
};

std::string repeated(std::string_view what, size_t bytes) {
  std::string out;
  while (out.size() < bytes) out += what;
  return out;
}

}  // namespace

TEST_CASE("the begun form brackets what takes a character") {
  CHECK(begun_form("ab*") == "(?:a|\\z)(?:b|\\z)*");
  CHECK(begun_form("^(x|[^]y]{2})$") == "^((?:x|\\z)|(?:[^]y]|\\z){2})(?:$|\\z)");
  CHECK(begun_form("(?m)^\\Aa^") == "(?m)^\\A(?:a|\\z)(?:^|\\z)");
  CHECK(begun_form("|^a") == "|(?:^|\\z)(?:a|\\z)");
  CHECK(begun_form("(?P<n>\\pN)(?i)\\x{41}\\bé") == "(?P<n>(?:\\pN|\\z))(?i)(?:\\x{41}|\\z)(?:\\b|\\z)(?:é|\\z)");
  CHECK(begun_form("\\Qa.\\E+a{,2}") == "(?:a|\\z)(?:\\.|\\z)+(?:a|\\z)(?:{|\\z)(?:,|\\z)(?:2|\\z)(?:}|\\z)");
  CHECK(begun_form("[[:alpha:]\\]]\\1412\\A") == "(?:[[:alpha:]\\]]|\\z)(?:\\141|\\z)(?:2|\\z)(?:\\A|\\z)");
}

// Instructions; some of those that are made up have more.
constexpr int kSearchedInWindows = 6000;

TEST_CASE("windows find what the whole search finds, whatever the pattern") {
  int valid = 0;
  size_t found = 0;
  for (uint32_t seed = 0; seed < 6000; ++seed) {
    Maker make(seed);
    const std::string source = make.pattern(2);
    const auto pattern = std::make_shared<const Expression>(source);
    if (!pattern->whole().ok() || pattern->whole().ProgramSize() > kSearchedInWindows) continue;
    ++valid;
    REQUIRE_MESSAGE(pattern->forms().begun, source);
    REQUIRE_MESSAGE(pattern->forms().open, source);
    for (int round = 0; round < 3; ++round) {
      const std::string text = make.text();
      const int groups = std::min(1 + pattern->whole().NumberOfCapturingGroups(), Match::kMost);
      const std::string expected = at_once(*pattern, text, groups);
      const size_t window = 4 + static_cast<size_t>(make.pick(12));
      const std::string got = in_windows(pattern, text, groups, window);
      REQUIRE_MESSAGE(got == expected, "pattern " << source << " window " << window << " text " << text);
      found += expected.size();
    }
  }
  CHECK(valid > 4000);
  CHECK(found > 100000);
}

TEST_CASE("no more than a window of a long text is searched at once") {
  constexpr size_t kBytes = 4 << 20, kLongestWindow = 1 << 20;
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
    Windows windows(each.text, std::make_shared<const Expression>(each.pattern), around);
    Match match;
    bool found = true;
    for (size_t from = 0; found && from <= each.text.size(); from = behind(each.text, match))
      REQUIRE(windows.next(from, 1, match, found) == POSSET_OK);
    CHECK_MESSAGE(windows.longest() <= kLongestWindow, each.pattern);
    CHECK_MESSAGE(around.looks >= 3, each.pattern);
    CHECK_MESSAGE(around.asides == 0, each.pattern);
  }
}

TEST_CASE("a search ends where looking says so") {
  const std::string text = repeated("abc ", 4 << 20);
  Around around;
  around.last_look = 3;
  Windows windows(text, std::make_shared<const Expression>("x"), around);
  Match match;
  bool found = false;
  CHECK(windows.next(0, 1, match, found) == POSSET_RAISED);
  CHECK(around.looks == 3);
}

TEST_CASE("what stays unfinished for longer than all windows is searched beside the evaluation") {
  const std::string text = "é<" + repeated("a", 5 << 20) + ">" + repeated("bc", 2 << 20) + "b";
  const auto pattern = std::make_shared<const Expression>("<(a*)>|\\Bb(c*)\\b");
  for (const bool has_memory : {true, false}) {
    Around around;
    around.has_memory = has_memory;
    {
      Windows windows(text, pattern, around);
      Match match;
      bool found = false;
      REQUIRE(windows.next(0, 3, match, found) == POSSET_OK);
      REQUIRE(found);
      CHECK(match.begin == 2);
      CHECK(match.end == 2 + 1 + (5 << 20) + 1);
      CHECK(match.groups[1].data() == text.data() + 3);
      CHECK(match.groups[1].size() == 5 << 20);
      CHECK(match.groups[2].data() == nullptr);
      REQUIRE(windows.next(match.end, 3, match, found) == POSSET_OK);
      REQUIRE(found);
      CHECK(match.begin == text.size() - 1);
      CHECK((around.taken > 0) == has_memory);
      CHECK((around.asides > 0) == has_memory);
    }
    CHECK(around.taken == 0);
  }
}

TEST_CASE("a pattern whose forms would be too large is searched beside the evaluation, many matches at a time") {
  std::string source;
  for (int i = 0; i < 1000; ++i) source += "x" + std::to_string(i) + "|";
  const auto pattern = std::make_shared<const Expression>(source + "(ab)c");
  REQUIRE(pattern->whole().ok());
  REQUIRE(!pattern->forms().begun);
  const std::string text = repeated("abc abc x17 ", 1 << 20);
  Around around;
  Windows windows(text, pattern, around);
  const std::string got = all_matches(text, 2, [&](size_t from, Match& out) {
    bool found = false;
    CHECK(windows.next(from, 2, out, found) == POSSET_OK);
    return found;
  });
  CHECK(got == at_once(*pattern, text, 2));
  CHECK(around.asides > 3);
  CHECK(around.asides < 1000);
}

TEST_CASE("a pattern that compiles to much is compiled beside the evaluation, and searched for so") {
  CHECK(!is_slow_to_compile("(\\pL+) (\\pL+)"));
  CHECK(!is_slow_to_compile("\\\\p\\\\p\\\\p\\\\p\\\\p\\\\p"));  // no classes: what follows a backslash
  CHECK(is_slow_to_compile("\\pL\\PN\\pL\\PN\\pL"));
  CHECK(is_slow_to_compile("a{2}"));
  CHECK(is_slow_to_compile(std::string(200, 'a')));
  CHECK(!Expression("(\\pL{3,8}) \\pL+ x").forms().begun);
  CHECK(Expression("(\\pL+) (\\pL+)").forms().begun);
}

TEST_CASE("the groups of a long match are found beside the evaluation") {
  const std::string line = repeated("ab ", 100 << 10) + "-" + repeated("cd ", 100 << 10) + "\n";
  const std::string text = repeated(line, 4 << 20);
  Around around;
  Windows windows(text, std::make_shared<const Expression>("([a-z ]*)-(.*)"), around, 64 << 10);
  Match match;
  bool found = true;
  size_t matches = 0;
  for (size_t from = 0; from <= text.size(); from = behind(text, match)) {
    REQUIRE(windows.next(from, 3, match, found) == POSSET_OK);
    if (!found) break;
    ++matches;
    CHECK(match.end - match.begin == line.size() - 1);
    CHECK(match.groups[2].data() - match.groups[1].data() == static_cast<ptrdiff_t>(match.groups[1].size() + 1));
    CHECK(match.groups[2].data() + match.groups[2].size() == text.data() + match.end);
  }
  CHECK(matches == text.size() / line.size());
  CHECK(around.asides > 0);
}
