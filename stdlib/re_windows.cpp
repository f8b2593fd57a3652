// Windows over texts. How they are to be read is in the header.
#include "stdlib/re_windows.h"

#include <algorithm>

#include "stdlib/support.h"

namespace posset::stdlib {

size_t behind(std::string_view text, const Match& match) {
  if (match.end > match.begin) return match.end;
  size_t next = match.end + 1;
  while (next < text.size() && continues_scalar(text[next])) ++next;
  return next;
}

bool find_match(const RE2& pattern, std::string_view text, size_t from, size_t end, RE2::Anchor anchor, int groups, Match& out) {
  if (!pattern.Match(piece(text), from, end, anchor, out.groups, groups)) return false;
  if (groups == 0) return true;
  out.begin = static_cast<size_t>(out.groups[0].data() - text.data());
  out.end = out.begin + out.groups[0].size();
  return true;
}

void find_groups(const RE2& pattern, std::string_view text, int groups, Match& match) {
  if (groups > 1) pattern.Match(piece(text), match.begin, match.end, RE2::ANCHOR_START, match.groups, groups);
}

Windows::Answer Windows::search(const RE2& form, size_t from, size_t end, int groups, Match& out) {
  const size_t work = (end - from) * instructions(form);
  work_ += work;
  most_work_ = std::max(most_work_, work);
  // The forms see the end of the window as that of the text, and the pattern what stands behind it.
  const std::string_view text = &form == &pattern_.whole() ? text_ : text_.substr(0, end);
  return find_match(form, text, from, end, RE2::UNANCHORED, groups, out) ? Answer::Found : Answer::None;
}

// Where a character begins, for the begun form knows no end within one.
size_t Windows::boundary(size_t at) const {
  while (at > 0 && at < text_.size() && continues_scalar(text_[at])) --at;
  return at;
}

posset_status Windows::open_window(size_t from, size_t end) {
  patience_ -= patience_ > 0;
  begin_ = from;
  end_ = boundary(end);
  open_ = end_;
  by_begun_ = false;
  Match match;
  if (search(*pattern_.forms().open, from, end_, 1, match) == Answer::Found) open_ = match.begin;
  return look_();
}

Windows::Answer Windows::in_begun(size_t from, Match& out) {
  if (search(*pattern_.forms().begun, from, end_, 1, out) == Answer::None) {
    open_ = end_;
    return Answer::None;
  }
  open_ = out.begin;
  return out.end < end_ ? Answer::Found : Answer::Undecided;
}

// Undecided: it is the begun form that tells where the match ends.
Windows::Answer Windows::in_whole(size_t from, int groups, Match& out) {
  if (search(pattern_.whole(), from, end_, groups, out) == Answer::None) return Answer::None;
  return groups == 0 || out.begin < open_ ? Answer::Found : Answer::Undecided;
}

posset_status Windows::in_window(size_t from, int groups, Match& out, Answer& answer) {
  if (from > open_) by_begun_ = true;
  if (!by_begun_) {
    answer = in_whole(from, groups, out);
    if (answer != Answer::Undecided) return POSSET_OK;
    by_begun_ = true;
    POSSET_TRY(look_());
  }
  answer = in_begun(from, out);
  return POSSET_OK;
}

posset_status Windows::next(size_t& from, int groups, Match& out, Answer& answer) {
  while (text_.size() - from > window_) {
    if (begin_ == end_ || from >= end_) POSSET_TRY(open_window(from, from + window_));
    POSSET_TRY(in_window(from, groups, out, answer));
    if (answer == Answer::Found) return patience_ += 2, POSSET_OK;
    POSSET_TRY(look_());
    from = open_;
    if (text_.size() - from <= 2 * window_) break;
    const size_t unfinished = end_ - open_, end = end_ + std::max(window_, unfinished);
    if (unfinished > longest_ / 2 || patience_ == 0) return answer = Answer::Undecided, POSSET_OK;
    if (end >= text_.size()) break;
    POSSET_TRY(open_window(from, end));
  }
  answer = search(pattern_.whole(), from, text_.size(), groups, out);
  return POSSET_OK;
}

}  // namespace posset::stdlib
