// The suggestion for a misspelt name: the nearest candidate by Damerau-Levenshtein distance
// (insert, delete, replace, swap neighbours), where a third of the letters may be wrong, or one of few. Writing a
// letter in the other case costs half as much as a wrong one, so `Println` finds `println` before
// anything else.
#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <string_view>
#include <vector>

#include "interp/syntax/diagnostic.h"

namespace posset::syntax {

namespace {

constexpr size_t kLongestName =
    64;  // longer names get no suggestion: nobody misspells those by hand
constexpr int kMistake = 2;
constexpr int kWrongCase = 1;

int replace_cost(char a, char b) {
  if (a == b) return 0;
  const bool same_letter =
      std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  return same_letter ? kWrongCase : kMistake;
}

int edit_distance(std::string_view a, std::string_view b) {
  using Row = std::array<int, kLongestName + 1>;
  Row before_last{};
  Row last{};
  Row row{};
  for (size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int>(j) * kMistake;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i) * kMistake;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + kMistake, row[j - 1] + kMistake,
                         last[j - 1] + replace_cost(a[i - 1], b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + kMistake);
    }
    before_last = last;
    last = row;
  }
  return last[b.size()];
}

}  // namespace

std::string_view did_you_mean(std::string_view name,
                              const std::vector<std::string_view>& candidates) {
  if (name.empty() || name.size() > kLongestName) return {};
  const size_t mistakes = std::max<size_t>(1, name.size() / 3);
  int best = static_cast<int>(mistakes) * kMistake + 1;
  std::string_view nearest;
  for (const std::string_view candidate : candidates) {
    if (candidate.empty() || candidate.size() > kLongestName || candidate == name) continue;
    const size_t shorter = std::min(name.size(), candidate.size());
    const size_t longer = std::max(name.size(), candidate.size());
    if (longer - shorter > mistakes) continue;
    const int distance = edit_distance(name, candidate);
    // Something of the name must be left: `x` is no misspelling of `y`.
    if (distance >= static_cast<int>(shorter) * kMistake) continue;
    const bool better =
        distance < best || (distance == best && !nearest.empty() && candidate < nearest);
    if (!better) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace posset::syntax
