// The matches of a regular expression in a text, within limits: no search that this thread does at once may take longer than some
// milliseconds, whatever pattern and text are. What RE2 takes is measured by bytes times instructions of its program: where each
// byte needs another state of all of them these are 10 to 40 ns each, and usually a thousandth of that. So
//   - what is short is searched at once;
//   - what is long in windows (re_windows.h), whose length goes by the largest form of the pattern;
//   - what is longer than windows, and where many that have to be short have nothing in them, beside the evaluation: by another
//     thread, with a copy of the text, as it may outlive the call. It finds several matches at a time, and has windows of its own,
//     so that it does not go on for long when nobody waits for it any more.
// What is found is the same in every case.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <posset/posset.h>

#include "stdlib/re_expression.h"
#include "stdlib/re_windows.h"

namespace posset::stdlib {

// What a search needs of the context in which it takes place.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  virtual posset_status look() = 0;  // between pieces; ends the search where it does not give POSSET_OK
  virtual posset_status take(size_t bytes) = 0;  // memory; not POSSET_OK: there is none
  virtual void give_back(size_t bytes) = 0;
  virtual posset_status refuse() = 0;  // what the pattern matches is too long for it; an error
  // Does it while looking again and again; else than with POSSET_OK it may be done later, too.
  virtual posset_status aside(std::function<void()> work) = 0;
};

// From left to right. Text and surroundings outlive it.
class Matches {
 public:
  static constexpr size_t kLittle = size_t{1} << 17;  // bytes times instructions, done at once: up to 5 ms
  Matches(std::string_view text, std::shared_ptr<const Expression> pattern, Surroundings& around);
  ~Matches();
  Matches(const Matches&) = delete;
  Matches& operator=(const Matches&) = delete;

  // The first match at or after `from`, which is 0 or `behind` the last one; `found`: is there one? With `groups`, the same in every
  // call, 0 nobody wants to know where it is.
  posset_status next(size_t from, int groups, Match& out, bool& found);

  size_t most_work() const { return most_work_; }  // that was done at once so far, by the caller's thread

 private:
  struct Beside;
  bool is_little(size_t bytes) const;
  posset_status look_after_work();
  posset_status want_forms();
  posset_status want_windows();
  posset_status in_windows(size_t& from, int groups, Match& out, bool& found, bool& decided);
  posset_status copy(size_t begin, size_t end, std::string& out);  // of that of the text
  posset_status begin_beside(size_t from, int groups);
  posset_status from_beside(Match& out, bool& found);
  posset_status groups_of(int groups, Match& out);

  const std::string_view text_;
  const std::shared_ptr<const Expression> pattern_;
  Surroundings& around_;
  std::optional<Windows> windows_;
  std::shared_ptr<Beside> beside_;  // null: nothing is searched beside so far
  size_t begins_at_ = 0;            // its copy, in the text
  size_t given_ = 0;                // of what it has found
  size_t taken_ = 0;                // bytes of memory for copies
  size_t most_work_ = 0;
  size_t little_work_ = 0, looked_at_ = 0;  // bytes times instructions: done without windows, and of all when somebody looked last
};

}  // namespace posset::stdlib
