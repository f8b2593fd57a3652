// What the characters of a string literal stand for: indentation of multi-line strings dropped,
// line breaks made `\n` whatever the file uses, escapes replaced. Text without any of these is not
// copied but points into the source.
#include <utility>

#include "interp/syntax/lexer.h"
#include "interp/syntax/utf8.h"

namespace posset::syntax {

namespace {

constexpr size_t kMaxHexDigits = 6;

// The character an escape of one letter stands for, or -1.
int simple_escape(char letter) {
  switch (letter) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case '\\':
      return '\\';
    case '"':
      return '"';
    case '0':
      return '\0';
    case '{':
      return '{';
    case '}':
      return '}';
    default:
      return -1;
  }
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

// `indentation`: how many blanks to drop after each line break, and at the start when that is one.
Text Lexer::piece_text(uint32_t begin, uint32_t end, uint32_t indentation, bool at_line_start) {
  const std::string_view raw = text_.substr(begin, end - begin);
  const bool has_lines = at_line_start || raw.find('\n') != std::string_view::npos;
  const bool plain = raw.find('\\') == std::string_view::npos &&
                     (!has_lines || (indentation == 0 && raw.find('\r') == std::string_view::npos));
  if (plain) return raw;
  std::string out;
  uint32_t at = begin;
  const auto skip_indentation = [&] {
    const uint32_t stop = end - at < indentation ? end : at + indentation;
    while (at < stop && (text_[at] == ' ' || text_[at] == '\t')) ++at;
  };
  if (at_line_start) skip_indentation();
  while (at < end) {
    if (text_[at] == '\\') {
      at = escape(at, end, out);
      continue;
    }
    const bool drop = text_[at] == '\r' && at + 1 < end && text_[at + 1] == '\n';
    if (!drop) out += text_[at];
    if (text_[at++] == '\n') skip_indentation();
  }
  return arena_.text(out);
}

// Appends what the escape at `at` stands for; gives the offset behind it.
uint32_t Lexer::escape(uint32_t at, uint32_t end, std::string& out) {
  const char letter = at + 1 < end ? text_[at + 1] : '\0';
  if (letter == 'u') return unicode_escape(at, end, out);
  if (const int value = at + 1 < end ? simple_escape(letter) : -1; value >= 0) {
    out += static_cast<char>(value);
    return at + 2;
  }
  if (letter == '\n' || letter == '\r') {
    bad_escape(at, at + 1, "a backslash at the end of a line is no escape",
               "the line break is part of the text; leave the backslash out");
    return at + 1;
  }
  const uint32_t length = at + 1 < end ? decode_utf8(text_, at + 1).length : 0;
  const std::string shown(text_.substr(at, 1 + length));
  bad_escape(at, at + 1 + length, "unknown escape '" + shown + "'",
             "the escapes are \\n \\t \\r \\\\ \\\" \\0 \\{ \\} \\u{1F600}; in '...' a backslash "
             "is itself");
  return at + 1 + length;
}

uint32_t Lexer::unicode_escape(uint32_t at, uint32_t end, std::string& out) {
  const uint32_t begin = at;
  at += 2;
  const bool opened = at < end && text_[at] == '{';
  uint32_t digits = 0;
  char32_t scalar = 0;
  if (opened) ++at;
  for (; at < end && hex_value(text_[at]) >= 0; ++at, ++digits) {
    if (digits < kMaxHexDigits) scalar = scalar * 16 + static_cast<char32_t>(hex_value(text_[at]));
  }
  const bool closed = opened && at < end && text_[at] == '}';
  if (closed) ++at;
  const bool is_surrogate = scalar >= 0xD800 && scalar <= 0xDFFF;
  if (!closed || digits == 0 || digits > kMaxHexDigits) {
    bad_escape(begin, at, "the escape is malformed",
               "write \\u{1F600}: one to six hexadecimal digits in braces");
  } else if (is_surrogate) {
    bad_escape(begin, at, "the escape names a surrogate, which is no character",
               "write the whole character: \\u{1F600}");
  } else if (scalar > 0x10FFFF) {
    bad_escape(begin, at, "the escape is out of range", "the last character is \\u{10FFFF}");
  } else {
    append_utf8(out, scalar);
  }
  return at;
}

void Lexer::bad_escape(uint32_t begin, uint32_t end, std::string message, std::string hint) {
  report(ErrorCode::BadEscape, begin, end, std::move(message), std::move(hint));
}

}  // namespace posset::syntax
