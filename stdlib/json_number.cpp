// A number is taken apart by JSON's grammar, digit by digit. See json_number.h.
#include "stdlib/json_number.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace posset::stdlib {

namespace {

class Shortening {
 public:
  Shortening(std::string_view text, size_t window, const std::function<bool(size_t)>& look)
      : text_(text), window_(window), look_(look), next_look_(window) {}

  LongNumber go(std::string& out) {
    const bool is_number = parse();
    if (is_stopped_) return LongNumber::Stopped;
    if (!is_number) return LongNumber::NoNumber;
    out = is_negative_ ? "-0." : "0.";
    if (kept_.empty()) {
      out += "0";
      return LongNumber::Shortened;
    }
    out += kept_;
    if (is_more_) out += '1';
    out += "e" + std::to_string(std::clamp(point_ + exponent_, -kFarAway, kFarAway));
    return LongNumber::Shortened;
  }

 private:
  static constexpr size_t kMostDigits = 800;
  static constexpr int64_t kFarAway =
      100000;  // a power of ten that makes anything zero, or too large

  bool parse() {
    is_negative_ = take('-');
    const size_t begin = at_;
    if (!digits([this](char c) { whole_digit(c); })) return false;
    if (text_[begin] == '0' && at_ - begin > 1) return false;
    bool is_float = false;
    if (take('.')) {
      is_float = true;
      if (!digits([this](char c) { fraction_digit(c); })) return false;
    }
    if (take('e') || take('E')) {
      is_float = true;
      const bool is_small = take('-');
      if (!is_small) take('+');
      if (!digits([this](char c) { exponent_ = std::min(exponent_ * 10 + (c - '0'), kFarthest); }))
        return false;
      if (is_small) exponent_ = -exponent_;
    }
    return is_float && at_ == text_.size();
  }
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  template <class Body>
  bool digits(Body&& body) {
    const size_t begin = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      if (at_ == next_look_ && !look()) return false;
      body(text_[at_]);
    }
    return at_ > begin;
  }
  bool look() {
    next_look_ += window_;
    is_stopped_ = !look_(window_);
    return !is_stopped_;
  }
  // The value is 0.KEPT, times ten to the power of point_ and exponent_.
  void whole_digit(char c) {
    if (c != '0' || !kept_.empty()) ++point_;
    keep(c);
  }
  void fraction_digit(char c) {
    if (c == '0' && kept_.empty()) --point_;
    keep(c);
  }
  void keep(char c) {
    if (c == '0' && kept_.empty()) return;
    if (kept_.size() < kMostDigits) {
      kept_ += c;
    } else {
      is_more_ |= c != '0';
    }
  }

  static constexpr int64_t kFarthest = int64_t{1}
                                       << 50;  // more than a text can make up for by its length
  const std::string_view text_;
  const size_t window_;
  const std::function<bool(size_t)>& look_;
  size_t at_ = 0, next_look_;
  std::string kept_;
  int64_t point_ = 0, exponent_ = 0;
  bool is_negative_ = false, is_more_ = false, is_stopped_ = false;
};

}  // namespace

LongNumber shorten_number(std::string_view text, size_t window,
                          const std::function<bool(size_t)>& look, std::string& out) {
  return Shortening(text, window, look).go(out);
}

namespace {

bool is_wide_integer(std::string_view token) {
  constexpr size_t kFewestDigits = 19;
  const bool is_negative = token.starts_with('-');
  const std::string_view digits = token.substr(is_negative);
  if (digits.size() < kFewestDigits || digits[0] == '0') return false;
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return false;
  int64_t is_int = 0;
  uint64_t is_unsigned = 0;
  const char *begin = token.data(), *end = begin + token.size();
  if (std::from_chars(begin, end, is_int).ec == std::errc()) return false;
  return is_negative || std::from_chars(begin, end, is_unsigned).ec != std::errc();
}

}  // namespace

bool find_wide_integers(std::string_view text, size_t window, const std::function<bool(size_t)>& look,
                        std::vector<size_t>& ends) {
  bool in_string = false;
  size_t next_look = window;
  for (size_t at = 0; at < text.size(); ++at) {
    if (at >= next_look) {
      if (!look(window)) return false;
      next_look = at + window;
    }
    const char c = text[at];
    if (in_string) {
      at += c == '\\';
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      const size_t end = std::min(text.find_first_not_of("0123456789+-.eE", at), text.size());
      if (is_wide_integer(text.substr(at, end - at))) ends.push_back(end);
      at = end - 1;
    }
  }
  return true;
}

}  // namespace posset::stdlib
