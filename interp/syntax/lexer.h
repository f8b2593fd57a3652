// Source text to tokens. Written by concern: lexer.cpp (the loop, white space, words, punctuation),
// lexer_numbers.cpp, lexer_strings.cpp (strings and their interpolations), string_text.cpp (what
// the characters of a string stand for).
//
// The lexer never stops: what it cannot read it reports and steps over. It keeps its own stack of
// open strings instead of recursing, so interpolations may nest as deep as they like here; the
// parser bounds them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "interp/syntax/diagnostic.h"
#include "interp/syntax/token.h"

namespace posset::syntax {

class Lexer {
 public:
  // Reports into `reports`, which the parser sorts into its own. Texts that are not a part of the
  // source are made in `arena`.
  Lexer(const SourcePtr& source, Arena& arena, std::vector<Diagnostic>& reports);
  // The source must be valid UTF-8 without NUL bytes (see `check_encoding`). What it gives is counted by the arena.
  TokenStream run();
  static size_t counted_bytes(const TokenStream& stream) {
    return (stream.tokens.size() + kTokensAtOnce - 1) / kTokensAtOnce * kTokensAtOnce * kTokenBytes;
  }

 private:
  static constexpr size_t kTokensAtOnce = 128;  // that are counted
  static constexpr size_t kTokenBytes = sizeof(Token) + std::max(sizeof(Text), sizeof(Number));

  // A stretch of a string's text, as written.
  struct Piece {
    uint32_t begin = 0;
    uint32_t end = 0;
    uint32_t text = 0;  // place in TokenStream::texts
  };
  // A string that is being lexed: its text, or an interpolation of it.
  struct OpenString {
    uint32_t begin = 0;  // of the opening quotes
    bool multi_line = false;
    bool inside_line = false;   // this or one around it may not hold a line break
    uint32_t braces = 0;        // open inside the interpolation
    uint32_t others = 0;        // parentheses and brackets, likewise
    uint32_t text_begin = 0;    // behind the opening quotes
    bool has_head = false;      // its StringHead has been emitted
    std::vector<Piece> pieces;  // multi-line: their texts are made when the whole string is known
  };

  // ---- lexer.cpp ----
  void next_token();
  bool skip_space();
  void line_break();
  void word();
  void punctuation();
  void bracket(TokenKind kind);
  void stray();
  void emit(TokenKind kind, uint32_t begin, uint32_t value = kNoMatch);
  void report(ErrorCode code, uint32_t begin, uint32_t end, std::string message,
              std::string hint = {});
  bool more() const { return at_ < text_.size(); }
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool starts_with(std::string_view what) const { return text_.substr(at_, what.size()) == what; }

  // ---- lexer_numbers.cpp ----
  void number();
  void based_number();
  void decimal_number();
  bool exponent(std::string& out);
  bool digits(uint32_t base, std::string& out);
  bool number_ends(uint32_t begin);
  void finish_int(uint32_t begin, const std::string& digits, uint32_t base);
  void finish_float(uint32_t begin, const std::string& digits);
  void emit_int(uint32_t begin, uint64_t magnitude);
  void bad_number(uint32_t begin, std::string message, std::string hint = {});

  // ---- lexer_strings.cpp ----
  void raw_string();
  void open_string();
  void string_piece(uint32_t token_begin);
  bool piece_ends_here();
  uint32_t step_length() const;
  void finish_piece(uint32_t token_begin, uint32_t begin, uint32_t end, bool last);
  void finish_multi_line(const OpenString& string, uint32_t text_end);
  void close_interpolation();
  void format();
  void unfinished_format(uint32_t begin);
  void unfinished_string();
  void close_strings(size_t remaining);

  // ---- string_text.cpp ----
  Text piece_text(uint32_t begin, uint32_t end, uint32_t indentation, bool at_line_start);
  uint32_t escape(uint32_t at, uint32_t end, std::string& out);
  uint32_t unicode_escape(uint32_t at, uint32_t end, std::string& out);
  void bad_escape(uint32_t begin, uint32_t end, std::string message, std::string hint);

  SourcePtr source_;
  std::string_view text_;
  Arena& arena_;
  std::vector<Diagnostic>& reports_;
  TokenStream out_;
  std::vector<OpenString> strings_;
  uint32_t at_ = 0;
  uint32_t last_stray_end_ = UINT32_MAX;
  bool newline_before_ = true;  // the first token starts a line
  bool scan_refused_ = false;
  uint64_t scanned_ = 0;  // bytes looked at for the indentation of multi-line strings
};

// Reports a source that is no text: invalid UTF-8, or a NUL byte. False when it must not be read
// further.
bool check_encoding(const SourcePtr& source, std::vector<Diagnostic>& reports);

}  // namespace posset::syntax
