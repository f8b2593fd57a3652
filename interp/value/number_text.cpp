// Numbers to text and back, without a locale. Floats get the shortest digits that round-trip, laid
// out as Python's repr does: plain between 1e-4 and 1e16, else with an exponent of at least two
// digits, and always something that shows it is no int.
#include <charconv>
#include <cmath>
#include <limits>

#include "interp/value/print.h"

namespace posset::interp {

namespace {

constexpr int kPlainFrom = -4;  // exponents that are laid out without one
constexpr int kPlainBelow = 16;

struct Out {
  char* at;
  void put(char c) { *at++ = c; }
  void put(std::string_view text) {
    std::memcpy(at, text.data(), text.size());
    at += text.size();
  }
  void zeros(int n) {
    for (; n > 0; --n) put('0');
  }
};

size_t write_special(double d, char* out) {
  std::string_view text = std::isnan(d) ? "nan" : d < 0 ? "-inf" : "inf";
  std::memcpy(out, text.data(), text.size());
  return text.size();
}

// Shortest digits without a dot, and the exponent of the first.
struct Digits {
  char text[20];
  int count;
  int exponent;
};

Digits digits_of(double d) {
  char text[kFloatTextBytes];
  char* end = std::to_chars(text, text + sizeof text, d, std::chars_format::scientific).ptr;
  Digits digits{};
  char* at = text;
  for (; *at != 'e'; ++at) {
    if (*at != '.') digits.text[digits.count++] = *at;
  }
  ++at;
  if (*at == '+') ++at;  // from_chars knows no plus
  std::from_chars(at, end, digits.exponent);
  return digits;
}

void write_plain(Out& out, const Digits& digits) {
  std::string_view text(digits.text, static_cast<size_t>(digits.count));
  if (digits.exponent < 0) {
    out.put("0.");
    out.zeros(-digits.exponent - 1);
    out.put(text);
    return;
  }
  size_t whole = static_cast<size_t>(digits.exponent) + 1;
  if (whole >= text.size()) {
    out.put(text);
    out.zeros(static_cast<int>(whole - text.size()));
    out.put(".0");
    return;
  }
  out.put(text.substr(0, whole));
  out.put('.');
  out.put(text.substr(whole));
}

void write_scientific(Out& out, const Digits& digits) {
  out.put(digits.text[0]);
  if (digits.count > 1) {
    out.put('.');
    out.put({digits.text + 1, static_cast<size_t>(digits.count) - 1});
  }
  out.put('e');
  out.put(digits.exponent < 0 ? '-' : '+');
  int magnitude = std::abs(digits.exponent);
  if (magnitude < 10) out.put('0');
  out.at = std::to_chars(out.at, out.at + 4, magnitude).ptr;
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Cuts white space and the sign off.
std::string_view strip(std::string_view text, bool& negative) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  negative = !text.empty() && text.front() == '-';
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  return text;
}

bool same_word(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] + 32) : text[i];
    if (c != lower[i]) return false;
  }
  return true;
}

// [digits][.digits][e[+-]digits] with a digit before the exponent. `magnitude` becomes the decimal
// place of the first digit that is not zero, which tells too large from too small.
bool is_float_text(std::string_view text, int64_t& magnitude) {
  constexpr int64_t kHuge = 1'000'000'000;
  size_t at = 0;
  int64_t whole = 0, leading_zeros = 0;
  size_t digits = 0;
  bool nonzero = false, fraction = false;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !fraction)); ++at) {
    if (text[at] == '.') {
      fraction = true;
      continue;
    }
    ++digits;
    nonzero |= text[at] != '0';
    if (!fraction && nonzero) ++whole;
    if (fraction && !nonzero) ++leading_zeros;
  }
  if (digits == 0) return false;
  magnitude = whole > 0 ? whole : -leading_zeros;
  if (at == text.size()) return true;
  if (text[at] != 'e' && text[at] != 'E') return false;
  bool negative = ++at < text.size() && text[at] == '-';
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  if (at == text.size()) return false;
  int64_t exponent = 0;
  for (; at < text.size() && is_digit(text[at]); ++at)
    exponent = std::min(kHuge, exponent * 10 + (text[at] - '0'));
  magnitude += negative ? -exponent : exponent;
  return at == text.size();
}

}  // namespace

size_t write_int(int64_t i, char* out) {
  return static_cast<size_t>(std::to_chars(out, out + kIntTextBytes, i).ptr - out);
}

size_t write_float(double d, char* out) {
  if (!std::isfinite(d)) return write_special(d, out);
  Out text{out};
  if (std::signbit(d)) text.put('-');
  Digits digits = digits_of(std::fabs(d));
  if (digits.exponent >= kPlainFrom && digits.exponent < kPlainBelow) {
    write_plain(text, digits);
  } else {
    write_scientific(text, digits);
  }
  return static_cast<size_t>(text.at - out);
}

void append_int(StringBuilder& out, int64_t i) {
  char text[kIntTextBytes];
  out.append({text, write_int(i, text)});
}

void append_float(StringBuilder& out, double d) {
  char text[kFloatTextBytes];
  out.append({text, write_float(d, text)});
}

std::string float_text(double d) {
  char text[kFloatTextBytes];
  return {text, write_float(d, text)};
}

ParseResult parse_int(std::string_view text, int64_t& out) {
  bool negative;
  text = strip(text, negative);
  if (text.empty()) return ParseResult::Malformed;
  for (char c : text) {
    if (!is_digit(c)) return ParseResult::Malformed;
  }
  uint64_t magnitude;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), magnitude);
  uint64_t limit = (uint64_t{1} << 63) - (negative ? 0 : 1);
  if (problem != std::errc() || magnitude > limit) return ParseResult::OutOfRange;
  out = static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
  return ParseResult::Ok;
}

ParseResult parse_float(std::string_view text, double& out) {
  bool negative;
  text = strip(text, negative);
  double d = 0;
  int64_t magnitude = 0;
  if (same_word(text, "inf") || same_word(text, "infinity")) {
    d = std::numeric_limits<double>::infinity();
  } else if (same_word(text, "nan")) {
    d = std::numeric_limits<double>::quiet_NaN();
  } else if (!is_float_text(text, magnitude)) {
    return ParseResult::Malformed;
  } else if (std::from_chars(text.data(), text.data() + text.size(), d).ec != std::errc()) {
    if (magnitude > 0) return ParseResult::OutOfRange;
    d = 0;  // too small
  }
  if (std::isinf(d) && is_digit(text.back())) return ParseResult::OutOfRange;
  out = negative ? -d : d;
  return ParseResult::Ok;
}

}  // namespace posset::interp
