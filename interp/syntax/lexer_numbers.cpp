// Number literals. A literal that is wrong is reported and stands for 0, so that the parser goes on
// as if nothing had happened. Conversion does not depend on the locale.
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "interp/syntax/lexer.h"
#include "interp/syntax/utf8.h"

namespace posset::syntax {

namespace {

uint32_t digit_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<uint32_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<uint32_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<uint32_t>(c - 'A' + 10);
  return 99;
}

bool continues_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

uint32_t base_of(char prefix) {
  switch (prefix) {
    case 'x':
      return 16;
    case 'b':
      return 2;
    case 'o':
      return 8;
    default:
      return 0;
  }
}

}  // namespace

void Lexer::number() {
  const bool has_prefix = peek() == '0' && base_of(peek(1)) != 0;
  has_prefix ? based_number() : decimal_number();
}

void Lexer::based_number() {
  const uint32_t begin = at_;
  const uint32_t base = base_of(peek(1));
  at_ += 2;
  std::string read;
  const bool good = digits(base, read);
  if (!number_ends(begin)) return;
  if (!good)
    return bad_number(begin, "the number is malformed",
                      "digits, with single `_` between them, follow the prefix");
  finish_int(begin, read, base);
}

void Lexer::decimal_number() {
  const uint32_t begin = at_;
  std::string read;
  bool good = digits(10, read);
  const bool leading_zero = read.size() > 1 && read[0] == '0';
  bool is_float = false;
  if (peek() == '.' && digit_value(peek(1)) < 10) {
    is_float = true;
    read += '.';
    ++at_;
    good = digits(10, read) && good;
  }
  if (exponent(read)) is_float = true;
  if (!number_ends(begin)) return;
  if (!good) return bad_number(begin, "the number is malformed", "a `_` stands between two digits");
  if (leading_zero) {
    return bad_number(begin, "a number has no leading zeros", "an octal number is written 0o17");
  }
  is_float ? finish_float(begin, read) : finish_int(begin, read, 10);
}

// Steps over an exponent; what only looks like one is left to `number_ends`.
bool Lexer::exponent(std::string& out) {
  if (peek() != 'e' && peek() != 'E') return false;
  const bool has_sign = peek(1) == '+' || peek(1) == '-';
  if (digit_value(peek(has_sign ? 2 : 1)) >= 10) return false;
  out += 'e';
  if (peek(1) == '-') out += '-';  // from_chars knows no plus
  at_ += has_sign ? 2 : 1;
  return digits(10, out);
}

// Reads digits and the underscores between them. False when an underscore stands elsewhere or there
// is no digit.
bool Lexer::digits(uint32_t base, std::string& out) {
  bool good = true;
  bool after_digit = false;
  for (;; ++at_) {
    const char c = peek();
    if (c == '_') {
      good = good && after_digit;
      after_digit = false;
    } else if (digit_value(c) < base) {
      out += c;
      after_digit = true;
    } else {
      return good && after_digit;
    }
  }
}

// Reports letters and digits that stick to the number.
bool Lexer::number_ends(uint32_t begin) {
  if (!continues_word(peek())) return true;
  while (continues_word(peek())) ++at_;
  const std::string shown(clip(text_.substr(begin, at_ - begin), 40));
  bad_number(
      begin, "found '" + shown + "', which is neither a number nor a name",
      "a name cannot start with a digit; prefixes and digits of a base are 0xff, 0b1010, 0o17");
  return false;
}

void Lexer::finish_int(uint32_t begin, const std::string& digits, uint32_t base) {
  uint64_t magnitude = 0;
  bool fits = true;
  for (const char c : digits) {
    if (magnitude > (kMinMagnitude - digit_value(c)) / base) {
      fits = false;
      break;
    }
    magnitude = magnitude * base + digit_value(c);
  }
  // 2^63 itself is good behind a minus sign: the parser knows.
  if (!fits || (magnitude == kMinMagnitude && base != 10)) {
    return bad_number(begin, "the int literal is out of range",
                      "the largest int is 9223372036854775807; a float is written 1e19");
  }
  emit_int(begin, magnitude);
}

void Lexer::finish_float(uint32_t begin, const std::string& digits) {
  double value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool is_zero = digits.find_first_not_of("0.") == digits.find('e') ||
                       digits.find_first_not_of("0.") == std::string::npos;
  const bool lost =
      result.ec == std::errc::result_out_of_range || std::isinf(value) || (value == 0 && !is_zero);
  if (lost && !is_zero) {
    return bad_number(begin, "the float literal is out of range",
                      "floats reach from 5e-324 to 1.7976931348623157e308");
  }
  Number number;
  number.real = is_zero ? 0.0 : value;
  out_.numbers.push_back(number);
  emit(TokenKind::Float, begin, static_cast<uint32_t>(out_.numbers.size() - 1));
}

void Lexer::emit_int(uint32_t begin, uint64_t magnitude) {
  Number number;
  number.magnitude = magnitude;
  out_.numbers.push_back(number);
  emit(TokenKind::Int, begin, static_cast<uint32_t>(out_.numbers.size() - 1));
}

void Lexer::bad_number(uint32_t begin, std::string message, std::string hint) {
  report(ErrorCode::BadNumber, begin, at_, std::move(message), std::move(hint));
  emit_int(begin, 0);
}

}  // namespace posset::syntax
