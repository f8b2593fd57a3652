// How a diagnostic looks:
//
//   prices.posset:3:15: error: int overflow in 9223372036854775807 + 1
//     3 |   let total = big + 1
//       |               ^^^^^^^ int is 64-bit; use +% to wrap, or float(...)
//
// The line shown is cleaned: tabs become spaces, bytes that are no text and characters that move
// the cursor or turn the writing direction become U+FFFD, so a hostile source cannot draw what it
// likes on a terminal. Of a long line only the part around the caret is shown.
#include <algorithm>
#include <string>

#include "interp/syntax/diagnostic.h"
#include "interp/syntax/utf8.h"

namespace posset::syntax {

namespace {

constexpr size_t kLongLine = 160;     // bytes; longer lines are cut
constexpr size_t kBeforeCaret = 60;   // what is kept of them on the left
constexpr size_t kLongMessage = 600;  // bytes; a name of 50 MB is not printed in full
constexpr int kTabWidth = 4;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kCut = "...";

struct Colors {
  const char* bold = "";
  const char* error = "";
  const char* warning = "";
  const char* quiet = "";
  const char* off = "";
};

Colors colors_for(const RenderOptions& options) {
  if (!options.color) return {};
  return {"\x1b[1m", "\x1b[1;31m", "\x1b[1;35m", "\x1b[2m", "\x1b[0m"};
}

bool turns_direction(char32_t scalar) {
  return (scalar >= 0x202A && scalar <= 0x202E) || (scalar >= 0x2066 && scalar <= 0x2069);
}

bool is_control(char32_t scalar) { return scalar < 0x20 || (scalar >= 0x7F && scalar < 0xA0); }

// Appends the scalar at `at`, cleaned, and gives its width.
int append_clean(std::string& out, std::string_view text, size_t at, const Scalar& scalar,
                 int column) {
  if (scalar.value == '\t' && scalar.valid) {
    const int width = kTabWidth - column % kTabWidth;
    out.append(static_cast<size_t>(width), ' ');
    return width;
  }
  if (!scalar.valid || is_control(scalar.value) || turns_direction(scalar.value)) {
    out += kReplacement;
    return 1;
  }
  out += text.substr(at, scalar.length);
  return display_width(scalar.value);
}

// Moves an offset left to where a scalar starts.
size_t scalar_start(std::string_view text, size_t at) {
  for (int i = 0; i < 3 && at > 0 && at < text.size() && is_continuation_byte(text[at]); ++i) --at;
  return at;
}

struct Excerpt {
  std::string line;
  int caret = 0;  // display column
  int width = 1;  // of the underlined part
};

// `begin` and `end`: the span's bytes inside the line; the end may lie beyond it.
Excerpt make_excerpt(std::string_view line, size_t begin, size_t end) {
  begin = std::min(begin, line.size());
  end = std::clamp(end, begin, line.size());
  size_t first = 0;
  size_t last = line.size();
  if (line.size() > kLongLine) {
    first = begin > kBeforeCaret ? scalar_start(line, begin - kBeforeCaret) : 0;
    last = scalar_start(line, std::min(line.size(), first + kLongLine));
  }
  Excerpt made;
  if (first > 0) made.line = kCut;
  auto column = static_cast<int>(made.line.size());
  made.caret = column;
  int caret_end = column;
  for (size_t at = first; at < last;) {
    if (at <= begin) made.caret = column;
    const Scalar scalar = decode_utf8(line, at);
    column += append_clean(made.line, line, at, scalar, column);
    if (at < end) caret_end = column;
    at += scalar.length;
  }
  if (begin >= last) made.caret = column;
  if (last < line.size()) made.line += kCut;
  made.width = std::max(1, caret_end - made.caret);
  return made;
}

// One line of text, whatever it quotes.
std::string clean_message(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const bool is_long = text.size() > kLongMessage;
    if (is_long && at >= kLongMessage / 2 && at < text.size() - kLongMessage / 2) {
      out += kCut;
      at = scalar_start(text, text.size() - kLongMessage / 2);
      if (at <= kLongMessage / 2) ++at;
      continue;
    }
    const Scalar scalar = decode_utf8(text, at);
    const bool is_break =
        scalar.valid && (scalar.value == '\n' || scalar.value == '\r' || scalar.value == '\t');
    if (is_break) {
      out += ' ';
    } else {
      append_clean(out, text, at, scalar, 0);
    }
    at += scalar.length;
  }
  return out;
}

}  // namespace

std::string render_excerpt(const Source& source, Span span, std::string_view hint,
                           const RenderOptions& options) {
  const Position position = source.position(span.begin);
  const std::string_view line = source.line(position.line);
  const auto line_begin = static_cast<size_t>(line.data() - source.text().data());
  const size_t begin = span.begin > line_begin ? span.begin - line_begin : 0;
  const size_t end = span.end > line_begin ? span.end - line_begin : 0;
  const Excerpt excerpt = make_excerpt(line, begin, std::max(begin, end));
  const std::string number = std::to_string(position.line);
  const Colors colors = colors_for(options);
  std::string out;
  out += std::string("  ") + colors.quiet + number + " |" + colors.off;
  if (!excerpt.line.empty()) out += " " + excerpt.line;
  out += std::string("\n  ") + colors.quiet + std::string(number.size(), ' ') + " |" + colors.off +
         " ";
  out += std::string(static_cast<size_t>(excerpt.caret), ' ');
  out += colors.error + std::string(static_cast<size_t>(excerpt.width), '^') + colors.off;
  if (!hint.empty()) out += " " + clean_message(hint);
  out += '\n';
  return out;
}

std::string render(const Diagnostic& diagnostic, const RenderOptions& options) {
  const Colors colors = colors_for(options);
  const bool is_error = diagnostic.severity == Severity::Error;
  std::string out = colors.bold;
  if (diagnostic.source) {
    const Position position = diagnostic.source->position(diagnostic.span.begin);
    out += clean_message(diagnostic.source->name()) + ":" + std::to_string(position.line) + ":" +
           std::to_string(position.column) + ": ";
  }
  out += colors.off;
  out += is_error ? colors.error : colors.warning;
  out += is_error ? "error: " : "warning: ";
  out += colors.off + clean_message(diagnostic.message) + "\n";
  if (diagnostic.source)
    out += render_excerpt(*diagnostic.source, diagnostic.span, diagnostic.hint, options);
  return out;
}

}  // namespace posset::syntax
