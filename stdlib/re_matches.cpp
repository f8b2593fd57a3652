// Where a text is searched, and what another thread needs to search it.
#include "stdlib/re_matches.h"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "stdlib/support.h"

namespace posset::stdlib {

namespace {

// Bytes times instructions.
constexpr size_t kLittle = Matches::kLittle;
constexpr size_t kWindow = kLittle / 2;       // of a window, which may become twice as long
constexpr size_t kUnasked = size_t{1} << 24;  // of a window beside: a second at worst, as long as a thread may go on when nobody waits
constexpr size_t kMost = size_t{1} << 33;     // of a window with an unfinished match: some minutes at worst
// Bytes.
constexpr size_t kFew = 32;  // as names have, which are checked one by one with classes of Unicode
constexpr size_t kUsualWindow = 128 << 10, kShortestWindow = 8;
constexpr size_t kLargestInWindows = 4 << 10;  // instructions: windows of these are the shortest
constexpr size_t kCheapWindow = 512;  // from here on windows cost a tenth at most
constexpr size_t kPatience = 128;     // of shorter ones so many cost as much as another thread

size_t work(const Expression& pattern, size_t bytes) { return bytes * instructions(pattern.whole()); }

// The match whose groups are `groups` in a copy of the piece of `text` that begins at `begin`.
Match moved(const re2::StringPiece* groups, int count, std::string_view copy, std::string_view text, size_t begin) {
  Match out;
  for (int i = 0; i < count; ++i) {
    if (groups[i].data()) out.groups[i] = {text.data() + begin + (groups[i].data() - copy.data()), groups[i].size()};
  }
  out.begin = static_cast<size_t>(out.groups[0].data() - text.data());
  out.end = out.begin + out.groups[0].size();
  return out;
}

}  // namespace

// Matches in a copy of the rest of a text, in which their places are. It owns or shares all that it uses.
struct Matches::Beside {
  Beside(std::shared_ptr<const Expression> of, std::string&& copy, size_t begin, int wanted, bool may_have_windows)
      : pattern(std::move(of)), text(std::move(copy)), groups(std::max(wanted, 1)), has_windows(may_have_windows), from(begin) {}

  const std::shared_ptr<const Expression> pattern;
  const std::string text;
  const int groups;
  const bool has_windows;
  std::atomic<bool> unwanted{false};
  std::optional<Windows> windows{};
  size_t from;
  size_t at_a_time = 1;
  std::vector<re2::StringPiece> found{};  // the groups of the first match, of the second ...
  bool is_all = false;                    // there is none behind them
  bool is_refused = false;                // what comes next is too much work

  // False: there is none, nobody wants it, or it is refused.
  bool next(Match& out) {
    if (has_windows && !windows && pattern->forms().begun) {
      const size_t window = std::min(kUnasked / pattern->largest(), kUsualWindow);
      const auto look = [this] { return unwanted.load(std::memory_order_relaxed) ? POSSET_RAISED : POSSET_OK; };
      windows.emplace(text, *pattern, window, std::max(kMost / pattern->largest(), 2 * window), Windows::kEndless, look);
    }
    if (!windows) return find_match(pattern->whole(), text, from, text.size(), RE2::UNANCHORED, groups, out);
    auto answer = Windows::Answer::None;
    if (windows->next(from, 1, out, answer) != POSSET_OK) return false;
    is_refused = answer == Windows::Answer::Undecided;
    if (answer == Windows::Answer::Found) find_groups(pattern->whole(), text, groups, out);
    return answer == Windows::Answer::Found;
  }

  // The next ones, more each time.
  void run() {
    constexpr size_t kMostAtATime = 4096;
    found.clear();
    size_t count = 0;
    for (Match match; count < at_a_time && from <= text.size() && !unwanted.load(std::memory_order_relaxed) && next(match); ++count) {
      found.insert(found.end(), match.groups, match.groups + groups);
      from = behind(text, match);
    }
    is_all = count < at_a_time;
    at_a_time = std::min(2 * at_a_time, kMostAtATime);
  }
};

Matches::Matches(std::string_view text, std::shared_ptr<const Expression> pattern, Surroundings& around)
    : text_(text), pattern_(std::move(pattern)), around_(around) {}

Matches::~Matches() {
  if (beside_) beside_->unwanted.store(true, std::memory_order_relaxed);
  if (taken_) around_.give_back(taken_);
}

bool Matches::is_little(size_t bytes) const { return work(*pattern_, bytes) <= (bytes <= kFew ? 2 * kLittle : kLittle); }

posset_status Matches::next(size_t from, int groups, Match& out, bool& found) {
  if (beside_) return from_beside(out, found);
  const size_t rest = text_.size() - from;
  POSSET_TRY(look_after_work());
  if (is_little(rest)) {
    little_work_ += work(*pattern_, rest);
    most_work_ = std::max(most_work_, work(*pattern_, rest));
    found = find_match(pattern_->whole(), text_, from, text_.size(), RE2::UNANCHORED, groups, out);
    return POSSET_OK;
  }
  bool decided = false;
  POSSET_TRY(in_windows(from, groups, out, found, decided));
  if (decided) return POSSET_OK;
  POSSET_TRY(begin_beside(from, groups));
  return from_beside(out, found);
}

// Where there are matches, windows and what is little are searched again and again without anybody looking.
posset_status Matches::look_after_work() {
  const size_t done = little_work_ + (windows_ ? windows_->work() : 0);
  if (done - looked_at_ < kLittle) return POSSET_OK;
  looked_at_ = done;
  return around_.look();
}

// ---- windows ----

// That they can be made: their memory is the pattern's as long as it is kept.
posset_status Matches::want_forms() {
  if (pattern_->has_room()) return POSSET_OK;
  POSSET_TRY(around_.take(pattern_->memory_of_forms()));
  pattern_->make_room();
  return POSSET_OK;
}

posset_status Matches::want_windows() {
  if (windows_ || instructions(pattern_->whole()) > kLargestInWindows) return POSSET_OK;
  POSSET_TRY(want_forms());
  if (!pattern_->are_forms_quick()) POSSET_TRY(around_.aside([pattern = pattern_] { pattern->forms(); }));
  if (!pattern_->forms().begun) return POSSET_OK;
  const size_t window = std::clamp(kWindow / pattern_->largest(), kShortestWindow, kUsualWindow);
  const size_t patience = window < kCheapWindow ? kPatience : Windows::kEndless;
  windows_.emplace(text_, *pattern_, window, 2 * window, patience, [this] { return around_.look(); });
  return POSSET_OK;
}

// Not `decided`: no match begins before `from` as it is then, and no further window is to be searched.
posset_status Matches::in_windows(size_t& from, int groups, Match& out, bool& found, bool& decided) {
  POSSET_TRY(want_windows());
  auto answer = Windows::Answer::Undecided;
  if (windows_) {
    POSSET_TRY(windows_->next(from, std::min(groups, 1), out, answer));
    most_work_ = std::max(most_work_, windows_->most_work());
  }
  decided = answer != Windows::Answer::Undecided;
  found = answer == Windows::Answer::Found;
  return found ? groups_of(groups, out) : POSSET_OK;
}

// ---- beside ----

posset_status Matches::copy(size_t begin, size_t end, std::string& out) {
  POSSET_TRY(around_.take(end - begin));
  taken_ += end - begin;
  out.reserve(end - begin);
  for (size_t at = begin; at < end; at += kLongText) {
    out.append(text_.substr(at, std::min(kLongText, end - at)));
    POSSET_TRY(around_.look());
  }
  return POSSET_OK;
}

// With the byte before it, which a pattern may look at.
posset_status Matches::begin_beside(size_t from, int groups) {
  const bool has_windows = work(*pattern_, text_.size() - from) > kUnasked;
  if (has_windows) POSSET_TRY(want_forms());
  begins_at_ = from > 0 ? from - 1 : 0;
  std::string rest;
  POSSET_TRY(copy(begins_at_, text_.size(), rest));
  beside_ = std::make_shared<Beside>(pattern_, std::move(rest), from - begins_at_, groups, has_windows);
  return POSSET_OK;
}

posset_status Matches::from_beside(Match& out, bool& found) {
  if (given_ == beside_->found.size() && !beside_->is_all) {
    POSSET_TRY(around_.aside([beside = beside_] { beside->run(); }));
    given_ = 0;
  }
  found = given_ < beside_->found.size();
  if (!found) return beside_->is_refused ? around_.refuse() : POSSET_OK;
  out = moved(&beside_->found[given_], beside_->groups, beside_->text, text_, begins_at_);
  given_ += static_cast<size_t>(beside_->groups);
  return POSSET_OK;
}

// Those of a long match take RE2 longer than it took to find it.
posset_status Matches::groups_of(int groups, Match& out) {
  if (groups <= 1) return POSSET_OK;
  if (is_little(out.end - out.begin)) return find_groups(pattern_->whole(), text_, groups, out), POSSET_OK;
  struct Job {
    std::shared_ptr<const Expression> pattern;
    std::string text;
    Match match;
  };
  const auto job = std::make_shared<Job>();
  const size_t begin = out.begin > 0 ? out.begin - 1 : 0;
  POSSET_TRY(copy(begin, std::min(out.end + 1, text_.size()), job->text));
  job->pattern = pattern_;
  job->match.begin = out.begin - begin;
  job->match.end = out.end - begin;
  POSSET_TRY(around_.aside([job, groups] { find_groups(job->pattern->whole(), job->text, groups, job->match); }));
  out = moved(job->match.groups, groups, job->text, text_, begin);
  around_.give_back(std::exchange(taken_, 0));
  return POSSET_OK;
}

}  // namespace posset::stdlib
