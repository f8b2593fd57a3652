// What searching by windows and beside the evaluation is compared with: RE2 over the whole text at once.
#pragma once

#include <string>
#include <string_view>

#include "stdlib/re_expression.h"
#include "stdlib/re_windows.h"

namespace posset::stdlib {

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

inline std::string at_once(const Expression& pattern, std::string_view text, int groups) {
  return all_matches(text, groups, [&](size_t from, Match& out) {
    const re2::StringPiece whole(text.data(), text.size());
    if (!pattern.whole().Match(whole, from, whole.size(), RE2::UNANCHORED, out.groups, groups)) return false;
    out.begin = static_cast<size_t>(out.groups[0].data() - text.data());
    out.end = out.begin + out.groups[0].size();
    return true;
  });
}

inline std::string repeated(std::string_view what, size_t bytes) {
  std::string out;
  while (out.size() < bytes) out += what;
  return out;
}

}  // namespace posset::stdlib
