// The lexer's loop: white space, comments and line breaks; words; punctuation by longest match.
// Numbers and strings are in their own files.
#include "interp/syntax/lexer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "interp/syntax/utf8.h"

namespace posset::syntax {

namespace {

constexpr size_t kMaxReports = 1000;  // more would only cost memory: 100 are shown

bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char c) { return starts_name(c) || is_digit(c); }
bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

struct Spelling {
  std::string_view text;
  TokenKind kind;
};

constexpr std::array kKeywords = {
#define KEYWORD(Name, spelling) Spelling{spelling, TokenKind::Name},
#include "interp/syntax/tokens.def"
};

// Sorted so that those with one first character stand together, the longest first.
constexpr auto kPunctuation = [] {
  std::array rows = {
#define PUNCTUATION(Name, spelling) Spelling{spelling, TokenKind::Name},
#define FOREIGN(Name, spelling, hint) Spelling{spelling, TokenKind::Name},
#include "interp/syntax/tokens.def"
  };
  std::sort(rows.begin(), rows.end(), [](const Spelling& a, const Spelling& b) {
    return a.text[0] != b.text[0] ? a.text[0] < b.text[0] : a.text.size() > b.text.size();
  });
  return rows;
}();

// By first character: where its rows start.
constexpr auto kFirstRow = [] {
  std::array<uint8_t, 129> first{};
  for (size_t c = 0; c < first.size(); ++c) {
    uint8_t row = 0;
    while (row < kPunctuation.size() && static_cast<size_t>(kPunctuation[row].text[0]) < c) ++row;
    first[c] = row;
  }
  return first;
}();

TokenKind keyword_or_name(std::string_view word) {
  constexpr size_t kLongest = 8;  // `continue`
  if (word.size() > kLongest) return TokenKind::Name;
  for (const Spelling& each : kKeywords) {
    if (each.text == word) return each.kind;
  }
  return TokenKind::Name;
}

// The longest punctuation the text starts with; End when there is none.
Spelling longest_punctuation(std::string_view text) {
  const auto c = static_cast<unsigned char>(text[0]);
  if (c >= 0x80) return {{}, TokenKind::End};
  for (size_t row = kFirstRow[c]; row < kFirstRow[c + 1]; ++row) {
    const Spelling& each = kPunctuation[row];
    if (text.substr(0, each.text.size()) == each.text) return each;
  }
  return {{}, TokenKind::End};
}

// Left out, these change nothing; any other stray character leaves a hole.
bool looks_like_space(char32_t scalar) {
  switch (scalar) {
    case '\\':
    case 0x00A0:
    case 0x2007:
    case 0x202F:
    case 0x3000:
    case 0x200B:
    case 0xFEFF:
      return true;
    default:
      return scalar < 0x20;
  }
}

// Characters that get into a source by way of a word processor or a keyboard.
std::string_view hint_for(char32_t scalar) {
  switch (scalar) {
    case 0x201C:
    case 0x201D:
    case 0x201E:
      return "write the straight quote \"";
    case 0x2018:
    case 0x2019:
      return "write the straight quote '";
    case 0x00A0:
    case 0x2007:
    case 0x202F:
    case 0x3000:
      return "it looks like a space and is none; type the space again";
    case 0x200B:
    case 0xFEFF:
      return "it is invisible; delete it";
    case 0x2013:
    case 0x2014:
    case 0x2212:
      return "write the minus sign -";
    case 0x00D7:
      return "write *";
    case 0x00F7:
      return "write /";
    case 0x2264:
      return "write <=";
    case 0x2265:
      return "write >=";
    case 0x2260:
      return "write !=";
    case 0x2192:
    case 0x21D2:
      return "write =>";
    case '\\':
      return "an expression goes on after an operator, a comma or inside brackets; no mark is "
             "needed";
    case '@':
    case '$':
      return "names are letters, digits and _";
    case '`':
      return "strings are written \"...\" or '...'";
    default:
      return scalar < 0x80 ? "" : "names are made of a-z, A-Z, 0-9 and _";
  }
}

}  // namespace

Lexer::Lexer(const SourcePtr& source, Arena& arena, std::vector<Diagnostic>& reports)
    : source_(source), text_(source->text()), arena_(arena), reports_(reports) {}

TokenStream Lexer::run() {
  // Never more tokens than bytes, and memory that is not touched costs nothing.
  out_.tokens.reserve(text_.size() + 2);
  if (starts_with("\xEF\xBB\xBF")) at_ = 3;
  while (skip_space()) next_token();
  if (!strings_.empty()) {
    out_.open_string = strings_.front().multi_line;
    unfinished_string();
  }
  emit(TokenKind::End, at_);
  match_brackets(out_.tokens, text_, arena_);
  return std::move(out_);
}

void Lexer::next_token() {
  const char c = peek();
  if (starts_name(c)) {
    word();
  } else if (is_digit(c)) {
    number();
  } else if (c == '"') {
    open_string();
  } else if (c == '\'') {
    raw_string();
  } else {
    punctuation();
  }
}

// Steps over white space and comments. False at the end.
bool Lexer::skip_space() {
  while (more()) {
    const char c = peek();
    if (c == '\n') {
      line_break();
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '#') {
      const size_t end = text_.find('\n', at_);
      at_ = static_cast<uint32_t>(end == std::string_view::npos ? text_.size() : end);
    } else {
      return true;
    }
  }
  return false;
}

void Lexer::line_break() {
  // In the middle of an interpolation of a string that must end on its line.
  if (!strings_.empty() && strings_.back().inside_line) unfinished_string();
  newline_before_ = true;
  ++at_;
}

void Lexer::word() {
  const uint32_t begin = at_;
  while (continues_name(peek())) ++at_;
  emit(keyword_or_name(text_.substr(begin, at_ - begin)), begin);
  if (more() && !is_ascii(peek())) stray();
}

void Lexer::punctuation() {
  const uint32_t begin = at_;
  // A `:` or `}` outside brackets belongs to the string, whatever a longer match would make of it.
  // A `}` does also when a parenthesis is open, which then is not closed: better than losing the
  // whole string.
  if (!strings_.empty() && strings_.back().braces == 0) {
    if (peek() == '}') return close_interpolation();
    if (peek() == ':' && strings_.back().others == 0) return format();
  }
  const Spelling found = longest_punctuation(text_.substr(at_, 4));
  if (found.text.empty()) return stray();
  at_ += static_cast<uint32_t>(found.text.size());
  emit(found.kind, begin);
  if (!strings_.empty()) bracket(found.kind);
}

// Counts, so that the end of the interpolation is found.
void Lexer::bracket(TokenKind kind) {
  OpenString& string = strings_.back();
  const bool is_brace = kind == TokenKind::LeftBrace || kind == TokenKind::RightBrace;
  uint32_t& open = is_brace ? string.braces : string.others;
  if (is_opening(kind)) ++open;
  if (is_closing(kind) && open > 0) --open;
}

// A character that starts no token. Letters of other alphabets are reported as one word, and the
// word stands for a name, so that nothing else goes wrong because of it.
void Lexer::stray() {
  const uint32_t begin = at_;
  const Scalar first = decode_utf8(text_, at_);
  at_ += first.length;
  const std::string_view hint = hint_for(first.value);
  const bool is_letter = first.value >= 0xAA && hint == hint_for(0xE9);
  while (is_letter && more() && (continues_name(peek()) || !is_ascii(peek()))) {
    const Scalar next = decode_utf8(text_, at_);
    if (!is_ascii(peek()) && hint_for(next.value) != hint) break;
    at_ += next.length;
  }
  const bool goes_on = begin == last_stray_end_;  // a row of them is one mistake
  last_stray_end_ = at_;
  const std::string shown(clip(text_.substr(begin, at_ - begin), 40));
  if (!goes_on) {
    report(ErrorCode::UnexpectedToken, begin, at_,
           "found '" + shown + "', which is no part of the language", std::string(hint));
  }
  const bool continues = !out_.tokens.empty() && out_.tokens.back().kind == TokenKind::Name &&
                         out_.tokens.back().end == begin;
  if (continues) {
    out_.tokens.back().end = at_;
  } else if (is_letter) {
    emit(TokenKind::Name, begin);
  } else if (!looks_like_space(first.value)) {
    emit(TokenKind::Broken, begin, 0);
  }
}

void Lexer::emit(TokenKind kind, uint32_t begin, uint32_t value) {
  if (out_.tokens.size() % kTokensAtOnce == 0) [[unlikely]] {
    arena_.count(kTokensAtOnce * kTokenBytes);
    arena_.look();
  }
  out_.tokens.push_back({kind, newline_before_, begin, at_, value});
  newline_before_ = false;
}

void Lexer::report(ErrorCode code, uint32_t begin, uint32_t end, std::string message,
                   std::string hint) {
  if (reports_.size() >= kMaxReports) return;
  reports_.push_back(
      {Severity::Error, code, source_, {begin, end}, std::move(message), std::move(hint)});
}

bool check_encoding(const SourcePtr& source, std::vector<Diagnostic>& reports) {
  const std::string_view text = source->text();
  const auto refuse = [&](size_t at, std::string message, std::string hint) {
    const auto begin = static_cast<uint32_t>(at);
    reports.push_back({Severity::Error,
                       ErrorCode::BadEncoding,
                       source,
                       {begin, begin + 1},
                       std::move(message),
                       std::move(hint)});
    return false;
  };
  if (const size_t at = find_invalid_utf8(text); at != std::string_view::npos) {
    static constexpr char kHex[] = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(text[at]);
    return refuse(at,
                  std::string("the source is not valid UTF-8: found the byte 0x") +
                      kHex[byte >> 4] + kHex[byte & 15],
                  "save the file as UTF-8");
  }
  if (const size_t at = text.find('\0'); at != std::string_view::npos) {
    return refuse(at, "the source holds a NUL byte: is it a text file?", "in a string, write \\0");
  }
  return true;
}

}  // namespace posset::syntax
