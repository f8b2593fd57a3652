// Searching in windows finds what RE2 finds in the whole text: for patterns and texts that are made up, with windows of some
// bytes, so that matches lie across borders everywhere.
#include "stdlib/re_windows.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "../sanitized.h"
#include "re_reference.h"

using posset::stdlib::all_matches;
using posset::stdlib::at_once;
using posset::stdlib::begun_form;
using posset::stdlib::Expression;
using posset::stdlib::find_groups;
using posset::stdlib::find_match;
using posset::stdlib::Match;
using posset::stdlib::Windows;

namespace {

std::string in_windows(const Expression& pattern, std::string_view text, int groups, size_t window, bool* undecided) {
  Windows windows(text, pattern, window, 2 * window, Windows::kEndless, [] { return POSSET_OK; });
  return all_matches(text, groups, [&](size_t from, Match& out) {
    auto answer = Windows::Answer::None;
    CHECK(windows.next(from, std::min(groups, 1), out, answer) == POSSET_OK);
    CHECK(windows.most_work() <= 2 * window * pattern.largest());
    if (answer == Windows::Answer::Undecided) {
      *undecided = true;
      return find_match(pattern.whole(), text, from, text.size(), RE2::UNANCHORED, groups, out);
    }
    if (answer == Windows::Answer::Found) find_groups(pattern.whole(), text, groups, out);
    return answer == Windows::Answer::Found;
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

// Instructions; some of those that are made up have more.
constexpr int kSearchedInWindows = 6000;

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

TEST_CASE("windows find what the whole search finds, whatever the pattern") {
  constexpr uint32_t kSeeds = posset::test::kSanitized ? 1000 : 6000;
  uint32_t valid = 0;
  size_t found = 0, longer = 0;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    Maker make(seed);
    const std::string source = make.pattern(2);
    const Expression pattern(source, 8 << 20);
    if (!pattern.whole().ok() || pattern.whole().ProgramSize() > kSearchedInWindows) continue;
    ++valid;
    REQUIRE_MESSAGE(pattern.forms().begun, source);
    REQUIRE_MESSAGE(pattern.forms().open, source);
    for (int round = 0; round < 3; ++round) {
      const std::string text = make.text();
      const int groups = std::min(1 + pattern.whole().NumberOfCapturingGroups(), Match::kMost);
      const std::string expected = at_once(pattern, text, groups);
      const size_t window = 4 + static_cast<size_t>(make.pick(12));
      bool undecided = false;
      const std::string got = in_windows(pattern, text, groups, window, &undecided);
      longer += undecided;
      REQUIRE_MESSAGE(got == expected, "pattern " << source << " window " << window << " text " << text);
      found += expected.size();
    }
  }
  CHECK(valid > kSeeds * 2 / 3);
  CHECK(found > kSeeds * 17);
  CHECK(longer > kSeeds / 20);
}

TEST_CASE("windows go on for as long as there is patience, and that are two for each match") {
  const Expression pattern("[xy]+");
  const auto searched = [&](std::string_view text, size_t patience) {
    int looks = 0;
    Windows windows(text, pattern, 100, 200, patience, [&] { return ++looks, POSSET_OK; });
    Match match;
    auto answer = Windows::Answer::Found;
    size_t from = 0;
    while (answer == Windows::Answer::Found && windows.next(from, 1, match, answer) == POSSET_OK) {
      if (answer == Windows::Answer::Found) from = match.end;
    }
    return answer == Windows::Answer::None ? text.size() : from;
  };
  const std::string barren(100000, 'a');
  CHECK(searched(barren, 10) == 1000);
  std::string rich = barren;
  for (size_t at = 50; at < rich.size(); at += 150) rich[at] = 'x';
  CHECK(searched(rich, 10) == rich.size());
}
