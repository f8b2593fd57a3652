// Searching texts for a regular expression in pieces that are short enough to look at limits and interruptions between them.
// RE2 tells nobody how far it has come, and does not go on where it has stopped; so a text is searched in windows, and what is
// found in one counts only where what stands behind the window cannot change it. The forms of a pattern (re_expression.h) say
// where. In a window [from, end) that is searched as if the text ended there:
//   - the open form begins at the first place where an unfinished match begins, and so where later characters begin to matter. A
//     match of the pattern that begins before it is final; and if there is none, none begins before it, and the
//     next window begins there;
//   - a match of the begun form that ends before `end` is the match that searching the whole text finds, because every path
//     that is preferred to it has ended before; one that ends at `end` begins where the first match can begin.
// The pattern and the open form are asked first, because RE2 is several times faster with patterns that begin with a letter. The
// begun form decides where a match is complete and could still become another one.
//
// A window is longer where an unfinished match is, each time twice as long. Elsewhere: how long windows are and may become, and
// where a longer match is searched for (re_matches.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include <posset/posset.h>

#include "stdlib/re_expression.h"

namespace posset::stdlib {

// The match and its groups, as many as one asks for: those of a replacement are \0 to \9.
struct Match {
  static constexpr int kMost = 10;
  re2::StringPiece groups[kMost];
  size_t begin = 0, end = 0;
};

// Behind an empty match the search goes on one character further.
size_t behind(std::string_view text, const Match& match);

// The first match of a pattern or a form in [from, end), as if the text ended there; with `groups` 0 only whether there is one.
bool find_match(const RE2& pattern, std::string_view text, size_t from, size_t end, RE2::Anchor anchor, int groups, Match& out);

// The groups of a match that is known: with the text cut where it ends the same path is found again, because none that is
// preferred to it ends before.
void find_groups(const RE2& pattern, std::string_view text, int groups, Match& match);

// The matches of a pattern in a text, from left to right. Text and pattern, whose forms can be made, outlive it.
class Windows {
 public:
  using Look = std::function<posset_status()>;  // between searches; ends the search where it does not give POSSET_OK
  enum class Answer { Found, None, Undecided };

  static constexpr size_t kEndless = SIZE_MAX / 2;  // more than there are, with two for each match
  // `window`, `longest`: bytes, as a rule and with an unfinished match; these at least twice the others. `patience`: windows that
  // are opened beyond two for each match.
  Windows(std::string_view text, const Expression& pattern, size_t window, size_t longest, size_t patience, Look look)
      : text_(text), pattern_(pattern), window_(window), longest_(longest), patience_(patience), look_(std::move(look)) {}

  // The first match at or after `from`, which is 0 or `behind` the last one; with `groups` 0 nobody wants to know where it is, and
  // there is none but the whole else. Undecided: none begins before `from` as it is then, and the rest is for somebody else, as what
  // begins there may be longer than half the longest window, or there were more windows than patience.
  posset_status next(size_t& from, int groups, Match& out, Answer& answer);

  // Bytes times instructions so far, and the most of it at once.
  size_t work() const { return work_; }
  size_t most_work() const { return most_work_; }

 private:
  Answer search(const RE2& form, size_t from, size_t end, int groups, Match& out);
  posset_status open_window(size_t from, size_t end);
  posset_status in_window(size_t from, int groups, Match& out, Answer& answer);
  Answer in_whole(size_t from, int groups, Match& out);
  Answer in_begun(size_t from, Match& out);
  size_t boundary(size_t at) const;

  const std::string_view text_;
  const Expression& pattern_;
  const size_t window_, longest_;
  size_t patience_;
  const Look look_;
  size_t begin_ = 0, end_ = 0;  // of the window; none yet: both 0
  size_t open_ = 0;             // in it: where unfinished matches begin
  bool by_begun_ = false;       // in this window the begun form is searched for
  size_t work_ = 0, most_work_ = 0;
};

}  // namespace posset::stdlib
