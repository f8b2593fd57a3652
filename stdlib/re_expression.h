// Regular expressions as `re` keeps them: the pattern compiled, and two further forms of it that say what a piece of a text
// decides about the whole (re_windows.h).
//
// The *begun* form matches wherever the pattern does, and wherever the end of the text comes in the middle of what could become
// a match: every piece x of the pattern that takes a character or looks at its neighbours is (?:x|\z) in it, which leaves the
// order of preferences as it is. The *open* form is (?:begun)\z, which RE2 searches from the end backwards, and so in the time
// that the unfinished matches are long.
#pragma once

#include <re2/re2.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace posset::stdlib {

inline re2::StringPiece piece(std::string_view text) { return {text.data() ? text.data() : "", text.size()}; }

inline size_t instructions(const RE2& pattern) { return pattern.ok() ? static_cast<size_t>(pattern.ProgramSize()) : 1; }

// The begun form of a valid pattern of RE2's syntax.
std::string begun_form(std::string_view pattern);

// May making an Expression take longer than one waits without looking at limits?
bool is_slow_to_compile(std::string_view pattern);

// A pattern that is compiled, and its other forms, which are made when they are first wanted. May be used by several threads.
// RE2 makes states as it needs them, within the memory it is given, and is a hundred times slower where that is not enough.
class Expression {
 public:
  // Bytes of memory that are enough for a pattern of some hundred instructions; and for `pattern`, which was made with them.
  static constexpr size_t kLeastMemory = 256 << 10;
  static size_t wanted_memory(const Expression& pattern);

  // `memory`: bytes, for the pattern alone.
  explicit Expression(std::string_view pattern, size_t memory = kLeastMemory);
  const RE2& whole() const { return whole_; }
  size_t memory() const;  // bytes that are reserved for it

  struct Forms {
    std::unique_ptr<const RE2> begun, open;  // both, or null: one cannot be made
  };
  const Forms& forms() const;
  bool are_forms_made() const { return made_.load(std::memory_order_acquire); }
  bool are_forms_quick() const;   // to make
  size_t memory_of_forms() const;  // bytes that they need
  bool has_room() const { return has_room_; }  // is this memory reserved?
  void make_room() const { has_room_ = true; }
  size_t largest() const;         // instructions of the largest form

 private:
  RE2 whole_;
  mutable std::once_flag once_;
  mutable std::atomic<bool> made_{false};
  mutable bool has_room_ = false;  // for the thread that uses the context
  mutable Forms forms_;
};

}  // namespace posset::stdlib
