// Strings: where they and their interpolations begin and end. What their characters stand for is in
// string_text.cpp.
//
// An interpolation is lexed like any other code, so strings nest; `strings_` holds those that are
// open. Inside `"..."` no line ends, nor in anything nested in it: an open string is noticed at the
// end of its line and the next line starts afresh.
#include <algorithm>
#include <limits>
#include <utility>

#include "interp/syntax/lexer.h"
#include "interp/syntax/parser.h"

namespace posset::syntax {

namespace {

constexpr std::string_view kTripleQuote = "\"\"\"";

// A string around others is scanned again, so a large source with hundreds of them in each other
// would cost the square of its size. Up to this many bytes, or this often the whole source, is
// allowed.
constexpr uint64_t kLeastScanned = 64 << 20;
constexpr uint64_t kScanFactor = 64;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// The smallest indentation of the lines that are not blank.
uint32_t smallest_indentation(std::string_view text) {
  size_t smallest = std::numeric_limits<uint32_t>::max();
  for (size_t line = 0; line < text.size();) {
    const size_t end = std::min(text.find('\n', line), text.size());
    size_t at = line;
    while (at < end && (text[at] == ' ' || text[at] == '\t')) ++at;
    const bool only_blanks = at == end || (text[at] == '\r' && at + 1 == end);
    if (!only_blanks) smallest = std::min(smallest, at - line);
    line = end + 1;
  }
  return static_cast<uint32_t>(smallest);
}

}  // namespace

void Lexer::raw_string() {
  const uint32_t begin = at_++;
  while (more() && peek() != '\'' && peek() != '\n') ++at_;
  if (peek() == '\'') {
    ++at_;
    out_.texts.push_back(text_.substr(begin + 1, at_ - begin - 2));
    emit(TokenKind::String, begin, static_cast<uint32_t>(out_.texts.size() - 1));
    return;
  }
  if (!strings_.empty() && strings_.back().inside_line) return unfinished_string();
  report(ErrorCode::NotClosed, begin, begin + 1,
         "the string is not closed: expected ' before the end of the line");
  emit(TokenKind::Broken, begin, 0);
}

void Lexer::open_string() {
  const uint32_t begin = at_;
  OpenString opened;
  opened.begin = begin;
  opened.multi_line = starts_with(kTripleQuote);
  opened.inside_line = !opened.multi_line || (!strings_.empty() && strings_.back().inside_line);
  at_ += opened.multi_line ? 3 : 1;
  opened.text_begin = at_;
  strings_.push_back(std::move(opened));
  string_piece(begin);
}

// Reads text up to the next interpolation or the end of the string.
void Lexer::string_piece(uint32_t token_begin) {
  const uint32_t begin = at_;
  while (!piece_ends_here()) at_ += step_length();
  if (!more()) return;  // `run` reports it
  if (peek() == '\n') return unfinished_string();
  const uint32_t end = at_;
  const bool last = peek() == '"';
  at_ += last && strings_.back().multi_line ? 3 : 1;
  finish_piece(token_begin, begin, end, last);
}

// How far to go so that nothing escaped is taken for the end; the brace of `\u{...}` starts
// nothing.
uint32_t Lexer::step_length() const {
  if (peek() != '\\' || at_ + 1 >= text_.size() || peek(1) == '\n') return 1;
  return peek(1) == 'u' && peek(2) == '{' ? 3 : 2;
}

bool Lexer::piece_ends_here() {
  if (!more()) return true;
  const OpenString& string = strings_.back();
  switch (peek()) {
    case '{':
      return true;
    case '"':
      return !string.multi_line || starts_with(kTripleQuote);
    case '\n':
      return string.inside_line;
    default:
      return false;
  }
}

void Lexer::finish_piece(uint32_t token_begin, uint32_t begin, uint32_t end, bool last) {
  OpenString& string = strings_.back();
  const auto text = static_cast<uint32_t>(out_.texts.size());
  out_.texts.emplace_back();
  if (string.multi_line) {
    string.pieces.push_back({begin, end, text});
  } else {
    out_.texts[text] = piece_text(begin, end, 0, false);
  }
  if (!last) {
    emit(string.has_head ? TokenKind::StringMiddle : TokenKind::StringHead, token_begin, text);
    string.has_head = true;
    return;
  }
  emit(string.has_head ? TokenKind::StringTail : TokenKind::String, token_begin, text);
  if (string.multi_line) finish_multi_line(string, end);
  strings_.pop_back();
}

// Drops the line break after the opening and the one before the closing quotes (with the blanks
// around them, which nobody sees), and the common indentation.
void Lexer::finish_multi_line(const OpenString& string, uint32_t text_end) {
  uint32_t begin = string.text_begin;
  while (begin < text_end && is_blank(text_[begin])) ++begin;
  const bool starts_with_break = begin < text_end && text_[begin] == '\n';
  begin = starts_with_break ? begin + 1 : string.text_begin;
  uint32_t end = text_end;
  while (end > begin && (text_[end - 1] == ' ' || text_[end - 1] == '\t')) --end;
  const bool ends_with_break = end > begin && text_[end - 1] == '\n';
  if (ends_with_break) {
    --end;
    if (end > begin && text_[end - 1] == '\r') --end;
  } else if (end != begin || !starts_with_break) {
    end = text_end;
  }
  // The parser refuses the source as a whole.
  scan_refused_ = scan_refused_ || strings_.size() > static_cast<size_t>(kMaxNesting);
  scanned_ += end - begin;
  if (scan_refused_ || scanned_ > std::max<uint64_t>(kLeastScanned, kScanFactor * text_.size())) {
    if (!std::exchange(scan_refused_, true)) {
      report(ErrorCode::NestedTooDeeply, string.begin, string.text_begin,
             "nested too deeply: too many multi-line strings in each other");
    }
    return;
  }
  const uint32_t indentation = smallest_indentation(text_.substr(begin, end - begin));
  for (const Piece& piece : string.pieces) {
    const uint32_t from = std::clamp(piece.begin, begin, end);
    const uint32_t to = std::clamp(piece.end, from, std::max(from, end));
    out_.texts[piece.text] = piece_text(from, to, indentation, from == begin);
  }
}

void Lexer::close_interpolation() {
  const uint32_t begin = at_++;
  strings_.back().others = 0;
  string_piece(begin);
}

// From the `:` up to the `}`. Whether the text is a good format is for the parser to say.
void Lexer::format() {
  const uint32_t begin = at_++;
  while (more() && peek() != '}' && peek() != '"' && peek() != '\n') ++at_;
  if (peek() != '}') return unfinished_format(begin);
  out_.texts.push_back(text_.substr(begin + 1, at_ - begin - 1));
  emit(TokenKind::Format, begin, static_cast<uint32_t>(out_.texts.size() - 1));
}

void Lexer::unfinished_format(uint32_t begin) {
  report(ErrorCode::NotClosed, begin, at_,
         "the interpolation is not closed: expected '}' after the format");
  const bool multi_line = strings_.back().multi_line;
  close_strings(strings_.size() - 1);
  if (peek() == '"') at_ += multi_line && starts_with(kTripleQuote) ? 3 : 1;
}

// The end of the line (or source) came first. The outermost string that had to be closed by now is
// the one to report; all inside it go with it.
void Lexer::unfinished_string() {
  size_t outermost = 0;
  const bool at_line_end = more();
  while (at_line_end && !strings_[outermost].inside_line) ++outermost;
  const OpenString& string = strings_[outermost];
  const uint32_t quotes = string.multi_line ? 3 : 1;
  const std::string expected = string.multi_line ? "\"\"\"" : "\"";
  const std::string where = string.inside_line ? "line" : "source";
  report(ErrorCode::NotClosed, string.begin, string.begin + quotes,
         "the string is not closed: expected " + expected + " before the end of the " + where,
         string.has_head
             ? "an interpolation in it may lack its '}'; a brace in a text is written \\{"
         : string.inside_line ? "a text of several lines is written \"\"\"...\"\"\""
                              : "");
  close_strings(outermost);
}

void Lexer::close_strings(size_t remaining) {
  uint32_t heads = 0;
  for (size_t i = remaining; i < strings_.size(); ++i) heads += strings_[i].has_head ? 1 : 0;
  strings_.resize(remaining);
  emit(TokenKind::Broken, at_, heads);
}

}  // namespace posset::syntax
