// Regular expressions as `re` keeps them: the pattern compiled, and two further forms of it that say what a piece of a text
// decides about the whole (re_windows.h).
//
// The *begun* form matches wherever the pattern does, and wherever the end of the text comes in the middle of what could become
// a match: every piece x of the pattern that takes a character or looks at its neighbours is (?:x|\z) in it, which leaves the
// order of preferences as it is. The *open* form is (?:begun)\z, which RE2 searches from the end backwards, and so in the time
// that the unfinished matches are long.
#pragma once

#include <re2/re2.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace posset::stdlib {

inline re2::StringPiece piece(std::string_view text) { return {text.data() ? text.data() : "", text.size()}; }

// The begun form of a valid pattern of RE2's syntax.
std::string begun_form(std::string_view pattern);

// May making an Expression take longer than one waits without looking at limits?
bool is_slow_to_compile(std::string_view pattern);

// A pattern that is compiled; the other forms when they are first wanted, by the thread that uses the context. `whole` may be
// searched for by several.
class Expression {
 public:
  explicit Expression(std::string_view pattern);
  const RE2& whole() const { return whole_; }
  struct Forms {
    std::unique_ptr<const RE2> begun, open;  // null: cannot be made, or not within bounds
  };
  const Forms& forms() const;
  size_t window() const;  // bytes to search at once

 private:
  RE2 whole_;
  mutable Forms forms_;
  mutable bool made_ = false;
};

}  // namespace posset::stdlib
