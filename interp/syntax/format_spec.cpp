// Format specifications: [[fill]< > ^][+][0][width][.precision][d x X b o f e g % s]. The fill is
// one character of any kind, known by the alignment that follows it.
#include <algorithm>
#include <cstring>

#include "interp/syntax/parser.h"
#include "interp/syntax/utf8.h"

namespace posset::syntax {

namespace {

// More than anybody prints, and small enough that no script gets memory for nothing.
constexpr int32_t kMaxWidth = 1'000'000;
constexpr int32_t kMaxPrecision = 1000;

bool is_alignment(char c) { return c == '<' || c == '>' || c == '^'; }

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

bool take_number(std::string_view& text, int32_t largest, int32_t& out) {
  out = 0;
  while (!text.empty() && is_digit(text.front())) {
    out = out * 10 + (text.front() - '0');
    if (out > largest) return false;
    text.remove_prefix(1);
  }
  return true;
}

// Whether a fill was written.
bool take_alignment(std::string_view& text, FormatSpec& out) {
  if (text.empty()) return false;
  const uint32_t fill = decode_utf8(text, 0).length;
  if (fill < text.size() && is_alignment(text[fill])) {
    std::memset(out.fill, 0, sizeof out.fill);
    std::copy_n(text.begin(), fill, out.fill);
    out.align = text[fill];
    text.remove_prefix(fill + 1);
    return true;
  }
  if (is_alignment(text.front())) {
    out.align = text.front();
    text.remove_prefix(1);
  }
  return false;
}

}  // namespace

bool parse_format_spec(std::string_view text, FormatSpec& out) {
  out = {};
  const bool has_fill = take_alignment(text, out);
  out.plus = take(text, '+');
  out.zero = take(text, '0') && !has_fill;  // which would be another fill
  if (!take_number(text, kMaxWidth, out.width)) return false;
  if (take(text, '.')) {
    if (text.empty() || !is_digit(text.front())) return false;
    if (!take_number(text, kMaxPrecision, out.precision)) return false;
  }
  constexpr std::string_view kTypes = "dxXbofeg%s";
  if (!text.empty() && kTypes.find(text.front()) != std::string_view::npos) {
    out.type = text.front();
    text.remove_prefix(1);
  }
  // Digits behind the dot mean nothing to these.
  const bool is_int_type =
      out.type != 0 && std::string_view("dxXbo").find(out.type) != std::string_view::npos;
  return text.empty() && !(is_int_type && out.precision >= 0);
}

}  // namespace posset::syntax
