// Searching long texts for a regular expression in pieces that are short enough to look at limits and interruptions between
// them. RE2 tells nobody how far it has come, and does not go on where it has stopped; so a text is searched in windows, and
// what is found in one counts only where what stands behind the window cannot change it. The forms of a pattern
// (re_expression.h) say where. In a window [from, end) that is searched as if the text ended there:
//   - the open form begins at the first place where an unfinished match begins, and so where later characters begin to matter. A
//     match of the pattern that begins before it is final; and if there is none, none begins before it, and the
//     next window begins there;
//   - a match of the begun form that ends before `end` is the match that searching the whole text finds, because every path
//     that is preferred to it has ended before; one that ends at `end` begins where the first match can begin.
// The pattern and the open form are asked first, because RE2 is several times faster with patterns that begin with a letter. The
// begun form decides where a match is complete and could still become another one.
//
// A window is longer where an unfinished match is, at most four times. What is longer, and patterns whose forms cannot be made,
// are searched beside the evaluation, by another thread that has a copy of the text, as it may outlive the call. It
// finds several matches at a time. What is found is the same in every case.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

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

// What a search needs of the context in which it takes place.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  virtual posset_status look() = 0;  // between pieces; ends the search where it does not give POSSET_OK
  // Memory for a copy of the text, false: there is none, and it is searched where it is; and what was taken, at the end.
  virtual bool take(size_t bytes) = 0;
  virtual void give_back(size_t bytes) = 0;
  // Does it while looking again and again; else than with POSSET_OK it may be done later, too.
  virtual posset_status aside(std::function<void()> work) = 0;
};

// The matches of a pattern in a text, from left to right. Text and surroundings outlive it.
class Windows {
 public:
  Windows(std::string_view text, std::shared_ptr<const Expression> pattern, Surroundings& around, size_t window = 0);
  ~Windows();
  Windows(const Windows&) = delete;
  Windows& operator=(const Windows&) = delete;

  // The first match at or after `from`, which is 0 or `behind` the last one; `found`: is there one? With `groups` 0 nobody wants
  // to know where it is.
  posset_status next(size_t from, int groups, Match& out, bool& found);

  size_t longest() const { return longest_; }  // bytes that were searched at once so far, by the caller's thread

 private:
  enum class Answer { Found, None, Open };
  struct Batch;
  bool search(const RE2& pattern, std::string_view text, size_t from, size_t end, int groups, Match& out);
  void open_window(size_t from, size_t end);
  Answer in_window(size_t from, int groups, Match& out);
  Answer in_begun(size_t from, Match& out);
  posset_status through_windows(size_t& from, int groups, Match& out, bool& found, bool& decided);
  posset_status in_rest(size_t from, int groups, Match& out, bool& found);
  posset_status copy_rest(size_t from);
  posset_status find_groups(int groups, Match& out);
  posset_status beside(std::shared_ptr<Batch> batch);
  bool from_batch(size_t from, Match& out, bool& found);
  size_t boundary(size_t at) const;

  const std::string_view text_;
  const std::shared_ptr<const Expression> pattern_;
  Surroundings& around_;
  const size_t window_;
  size_t begin_ = 0, end_ = 0;  // of the window; none yet: both 0
  size_t open_ = 0;             // in it: where unfinished matches begin
  bool by_begun_ = false;       // in this window the begun form is searched for
  std::shared_ptr<const std::string> copy_;  // of the text from copied_from_ on; null: none, or no memory for one
  size_t copied_from_ = 0, taken_ = 0;
  bool has_no_memory_ = false;
  std::shared_ptr<Batch> batch_;  // of matches that were found beside, some not yet given
  size_t given_ = 0;              // of its matches
  size_t at_a_time_ = 1;
  size_t longest_ = 0;
};

}  // namespace posset::stdlib
