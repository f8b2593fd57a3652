// Windows over long texts, and what is searched beside the evaluation.
#include "stdlib/re_windows.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>
#include <vector>

#include "stdlib/support.h"

namespace posset::stdlib {

size_t behind(std::string_view text, const Match& match) {
  if (match.end > match.begin) return match.end;
  size_t next = match.end + 1;
  while (next < text.size() && continues_scalar(text[next])) ++next;
  return next;
}

namespace {

bool find_match(const RE2& pattern, std::string_view text, size_t from, size_t end, RE2::Anchor anchor, int groups, Match& out) {
  if (!pattern.Match(piece(text), from, end, anchor, out.groups, groups)) return false;
  if (groups == 0) return true;
  out.begin = static_cast<size_t>(out.groups[0].data() - text.data());
  out.end = out.begin + out.groups[0].size();
  return true;
}

}  // namespace

// Matches in a copy of the text, in whose places they are. It owns or shares all that it uses.
struct Windows::Batch {
  const std::shared_ptr<const Expression> pattern;
  const std::shared_ptr<const std::string> text;
  const size_t from, end;
  const RE2::Anchor anchor;
  const int groups;
  const size_t most;
  std::atomic<bool> unwanted{false};
  std::vector<Match> found{};
  std::vector<size_t> searched_from{};  // for each of these, and behind the last one
  bool is_all = false;                  // there is none behind them

  void run() {
    searched_from.push_back(from);
    while (found.size() < most && searched_from.back() <= end && !unwanted.load(std::memory_order_relaxed)) {
      Match match;
      if (!find_match(pattern->whole(), *text, searched_from.back(), end, anchor, groups, match)) break;
      found.push_back(match);
      searched_from.push_back(behind(*text, match));
    }
    is_all = found.size() < most;
  }
};

Windows::Windows(std::string_view text, std::shared_ptr<const Expression> pattern, Surroundings& around, size_t window)
    : text_(text), pattern_(std::move(pattern)), around_(around), window_(window ? window : pattern_->window()) {}

Windows::~Windows() {
  if (batch_) batch_->unwanted.store(true, std::memory_order_relaxed);
  if (taken_) around_.give_back(taken_);
}

bool Windows::search(const RE2& pattern, std::string_view text, size_t from, size_t end, int groups, Match& out) {
  longest_ = std::max(longest_, end - from);
  return find_match(pattern, text, from, end, RE2::UNANCHORED, groups, out);
}

// Where a character begins, for the begun form knows no end within one.
size_t Windows::boundary(size_t at) const {
  while (at > 0 && at < text_.size() && continues_scalar(text_[at])) --at;
  return at;
}

// ---- windows ----

void Windows::open_window(size_t from, size_t end) {
  begin_ = from;
  end_ = boundary(end);
  open_ = end_;
  by_begun_ = !pattern_->forms().open;
  Match match;
  if (!by_begun_ && search(*pattern_->forms().open, text_.substr(0, end_), from, end_, 1, match)) open_ = match.begin;
}

Windows::Answer Windows::in_begun(size_t from, Match& out) {
  if (!search(*pattern_->forms().begun, text_.substr(0, end_), from, end_, 1, out)) {
    open_ = end_;
    return Answer::None;
  }
  open_ = out.begin;
  return out.end < end_ ? Answer::Found : Answer::Open;
}

Windows::Answer Windows::in_window(size_t from, int groups, Match& out) {
  if (from > open_) by_begun_ = true;
  if (by_begun_) return in_begun(from, out);
  if (!search(pattern_->whole(), text_, from, end_, std::min(groups, 1), out)) return Answer::None;
  if (groups == 0 || out.begin < open_) return Answer::Found;
  by_begun_ = true;
  return in_begun(from, out);
}

// Not `decided`: no match begins before `from` as it is then, and no further window is to be searched.
posset_status Windows::through_windows(size_t& from, int groups, Match& out, bool& found, bool& decided) {
  decided = false;
  while (text_.size() - from > window_ && pattern_->forms().begun) {
    if (begin_ == end_ || from >= end_) open_window(from, from + window_);
    found = in_window(from, groups, out) == Answer::Found;
    if (found) return decided = true, find_groups(groups, out);
    POSSET_TRY(around_.look());
    from = open_;
    const size_t unfinished = end_ - open_, end = end_ + std::max(window_, unfinished);
    if (unfinished > 2 * window_ || end >= text_.size()) break;
    open_window(from, end);
  }
  return POSSET_OK;
}

posset_status Windows::next(size_t from, int groups, Match& out, bool& found) {
  if (from_batch(from, out, found)) return POSSET_OK;
  bool decided = false;
  POSSET_TRY(through_windows(from, groups, out, found, decided));
  return decided ? POSSET_OK : in_rest(from, groups, out, found);
}

// ---- beside ----

posset_status Windows::in_rest(size_t from, int groups, Match& out, bool& found) {
  if (text_.size() - from > 4 * window_) {
    POSSET_TRY(copy_rest(from));
    if (copy_) {
      POSSET_TRY(beside(std::shared_ptr<Batch>(new Batch{.pattern = pattern_, .text = copy_, .from = from - copied_from_,
                                                      .end = copy_->size(), .anchor = RE2::UNANCHORED, .groups = groups,
                                                      .most = at_a_time_})));
      constexpr size_t kMostAtATime = 1024;
      at_a_time_ = std::min(2 * at_a_time_, kMostAtATime);
      from_batch(from, out, found);
      return POSSET_OK;
    }
  }
  found = search(pattern_->whole(), text_, from, text_.size(), groups, out);
  return POSSET_OK;
}

// With the byte before it, which a pattern may look at.
posset_status Windows::copy_rest(size_t from) {
  if (copy_ || has_no_memory_) return POSSET_OK;
  const size_t begin = from > 0 ? from - 1 : 0, size = text_.size() - begin;
  has_no_memory_ = !around_.take(size);
  if (has_no_memory_) return POSSET_OK;
  taken_ = size;
  auto copy = std::make_shared<std::string>();
  try {
    copy->reserve(size);
  } catch (const std::bad_alloc&) {
    has_no_memory_ = true;
    return POSSET_OK;
  }
  for (size_t at = begin; at < text_.size(); at += kLongText) {
    copy->append(text_.substr(at, kLongText));
    POSSET_TRY(around_.look());
  }
  copied_from_ = begin;
  copy_ = std::move(copy);
  return POSSET_OK;
}

posset_status Windows::beside(std::shared_ptr<Batch> batch) {
  batch_ = std::move(batch);
  given_ = 0;
  return around_.aside([batch = batch_] { batch->run(); });
}

bool Windows::from_batch(size_t from, Match& out, bool& found) {
  if (!batch_ || from < copied_from_ || batch_->searched_from[given_] != from - copied_from_) return false;
  found = given_ < batch_->found.size();
  if (!found) return batch_->is_all;
  out = batch_->found[given_++];
  out.begin += copied_from_;
  out.end += copied_from_;
  for (re2::StringPiece& group : out.groups) {
    if (!group.data()) continue;
    group = {text_.data() + copied_from_ + (group.data() - batch_->text->data()), group.size()};
  }
  return true;
}

// The groups of a match: with the text cut where it ends the same path is found again, because none that is preferred to it
// ends before. Those of a long one take RE2 longer than it took to find it.
posset_status Windows::find_groups(int groups, Match& out) {
  if (groups <= 1) return POSSET_OK;
  if (out.end - out.begin > 2 * window_) {
    const size_t from = out.begin;
    POSSET_TRY(copy_rest(from));
    if (copy_) {
      POSSET_TRY(beside(std::shared_ptr<Batch>(new Batch{.pattern = pattern_, .text = copy_, .from = from - copied_from_,
                                                      .end = out.end - copied_from_, .anchor = RE2::ANCHOR_START,
                                                      .groups = groups, .most = 1})));
      bool found = false;
      from_batch(from, out, found);
      batch_ = nullptr;
      return POSSET_OK;
    }
  }
  pattern_->whole().Match(piece(text_), out.begin, out.end, RE2::ANCHOR_START, out.groups, groups);
  return POSSET_OK;
}

}  // namespace posset::stdlib
