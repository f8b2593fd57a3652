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

// A text that may be long, being read from its beginning.
class Reader {
 public:
  Reader(std::string_view text, Patience* patience) : text_(text), patience_(patience) {}
  // Moves on while the test holds.
  template <class Test>
  void pass(Test&& test) {
    while (at_ < text_.size()) {
      const size_t end = std::min(text_.size(), at_ + kAtOnce);
      while (at_ < end && test(text_[at_])) ++at_;
      if (at_ < end || !lasts(patience_, kWork)) return;
    }
  }
  bool is_at_end() const { return at_ == text_.size(); }
  std::string_view rest() const { return text_.substr(at_); }

  static constexpr size_t kAtOnce = 16 << 10;
  static constexpr uint64_t kWork = kAtOnce / kBytesPerUnit;

 private:
  std::string_view text_;
  Patience* patience_;
  size_t at_ = 0;
};

// Cuts white space and the sign off.
std::string_view strip(std::string_view text, bool& negative, Patience* patience) {
  Reader front(text, patience);
  front.pass(is_space);
  text = front.rest();
  size_t end = text.size();
  while (end > 0 && is_space(text[end - 1]) && (--end % Reader::kAtOnce != 0 || lasts(patience, Reader::kWork))) {
  }
  text = text.substr(0, end);
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

// [digits][.digits][e[+-]digits] with a digit before the exponent.
class FloatText {
 public:
  // False: it is something else, or has been given up.
  bool read(std::string_view text, Patience* patience) {
    Reader in(text, patience);
    bool fraction = false;
    in.pass([&](char c) {
      if (c == '.' && !fraction) return fraction = true;
      if (is_digit(c)) take(c, fraction);
      return is_digit(c);
    });
    if (!has_digits_) return false;
    magnitude_ = whole_ > 0 ? whole_ : -leading_zeros_;
    return in.is_at_end() || read_exponent(in.rest(), patience);
  }
  // The decimal place of the first digit that is not zero, which tells too large from too small.
  int64_t magnitude() const { return magnitude_; }
  // The same number, however long the text: digits beyond those that tell where between two doubles it lies count only as some or none.
  std::string shortened() const {
    std::string text = "0.0";
    text.append(digits_, count_);
    if (has_more_) text += '1';
    return text + 'e' + std::to_string(magnitude_ + 1);
  }

 private:
  static constexpr size_t kDeciding = 768;  // halfway between two doubles has no more
  static constexpr int64_t kHuge = 1'000'000'000'000;

  void take(char digit, bool fraction) {
    has_digits_ = true;
    if (count_ == 0 && digit == '0') {
      leading_zeros_ += fraction;
      return;
    }
    whole_ += !fraction;
    if (count_ < kDeciding) digits_[count_++] = digit;
    else has_more_ |= digit != '0';
  }

  bool read_exponent(std::string_view text, Patience* patience) {
    if (text.front() != 'e' && text.front() != 'E') return false;
    text.remove_prefix(1);
    const bool negative = !text.empty() && text.front() == '-';
    if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
    if (text.empty()) return false;
    int64_t exponent = 0;
    Reader in(text, patience);
    in.pass([&](char c) {
      if (is_digit(c)) exponent = std::min(kHuge, exponent * 10 + (c - '0'));
      return is_digit(c);
    });
    magnitude_ += negative ? -exponent : exponent;
    return in.is_at_end();
  }

  int64_t magnitude_ = 0, whole_ = 0, leading_zeros_ = 0;
  size_t count_ = 0;
  bool has_digits_ = false, has_more_ = false;
  char digits_[kDeciding];  // the first that are not leading zeros
};

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

ParseResult parse_int(std::string_view text, int64_t& out, Patience* patience) {
  bool negative;
  text = strip(text, negative, patience);
  if (text.empty()) return ParseResult::Malformed;
  Reader zeros(text, patience);
  zeros.pass([](char c) { return c == '0'; });
  const std::string_view digits = zeros.rest();
  Reader in(digits, patience);
  in.pass(is_digit);
  if (!in.is_at_end()) return ParseResult::Malformed;
  uint64_t magnitude = 0;
  const uint64_t limit = (uint64_t{1} << 63) - (negative ? 0 : 1);
  if (digits.size() > std::numeric_limits<int64_t>::digits10 + 1) return ParseResult::OutOfRange;
  std::from_chars(digits.data(), digits.data() + digits.size(), magnitude);
  if (magnitude > limit) return ParseResult::OutOfRange;
  out = static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
  return ParseResult::Ok;
}

namespace {

constexpr size_t kLongFloat = 1024;

bool float_from(std::string_view text, double& d) {
  return std::from_chars(text.data(), text.data() + text.size(), d).ec == std::errc();
}

}  // namespace

ParseResult parse_float(std::string_view text, double& out, Patience* patience) {
  bool negative;
  text = strip(text, negative, patience);
  double d = 0;
  FloatText read;
  if (same_word(text, "inf") || same_word(text, "infinity")) {
    d = std::numeric_limits<double>::infinity();
  } else if (same_word(text, "nan")) {
    d = std::numeric_limits<double>::quiet_NaN();
  } else if (!read.read(text, patience)) {
    return ParseResult::Malformed;
  } else if (!float_from(text.size() > kLongFloat ? read.shortened() : text, d)) {
    if (read.magnitude() > 0) return ParseResult::OutOfRange;
    d = 0;  // too small
  }
  if (std::isinf(d) && is_digit(text.back())) return ParseResult::OutOfRange;
  out = negative ? -d : d;
  return ParseResult::Ok;
}

}  // namespace posset::interp
