// Format specifications: `{x:08.3f}`. Numbers are written into a short text without sign first,
// then sign, padding and text are put together; everything else is its printed form, cut and padded
// in scalars. What the contract does not say is as in Python's format().
#include <charconv>
#include <cmath>

#include "interp/value/print.h"

namespace posset::interp {

namespace {

constexpr int kDefaultPrecision = 6;
// A double has no digits after these, so a larger precision only adds zeros (or, for `g`, nothing).
constexpr int kMostDigits = 1100;
constexpr size_t kNumberBytes = 310 + kMostDigits + 16;

// A number taken apart: sign, digits, and what a huge precision adds before the tail ("e+05", "%").
struct NumberText {
  bool negative = false;
  bool finite = true;
  std::string_view digits;
  size_t zeros = 0;
  std::string_view tail;
};

// The fill to use: `0` before the width means zeros unless another fill was chosen.
std::string_view fill_of(const FormatOptions& spec) {
  return spec.zero && spec.fill == " " ? "0" : spec.fill;
}

void append_fill(StringBuilder& out, std::string_view fill, uint64_t count) {
  if (fill.size() == 1) {
    out.append(count, fill[0]);
    return;
  }
  for (; count > 0 && !out.failed(); --count) out.append(fill);
}

struct Padding {
  uint64_t before;
  uint64_t after;
};
Padding padding_for(const FormatOptions& spec, uint64_t width, char align) {
  auto wanted = static_cast<uint64_t>(spec.width < 0 ? 0 : spec.width);
  uint64_t missing = wanted > width ? wanted - width : 0;
  if (align == '<') return {0, missing};
  if (align == '>') return {missing, 0};
  return {missing / 2, missing - missing / 2};
}

void append_number(StringBuilder& out, const NumberText& number, const FormatOptions& spec) {
  std::string_view sign = number.negative ? "-" : spec.plus ? "+" : "";
  uint64_t width = sign.size() + number.digits.size() + number.zeros + number.tail.size();
  Padding padding = padding_for(spec, width, spec.align != 0 ? spec.align : '>');
  bool inside = spec.zero && spec.align == 0;  // zeros go between the sign and the digits
  if (!inside) append_fill(out, fill_of(spec), padding.before);
  out.append(sign);
  if (inside) out.append(padding.before, '0');
  out.append(number.digits);
  out.append(number.zeros, '0');
  out.append(number.tail);
  append_fill(out, fill_of(spec), padding.after);
}

void append_text(StringBuilder& out, std::string_view text, const FormatOptions& spec) {
  uint64_t scalars;
  if (!count_scalars(out.heap(), text, scalars)) return out.fail();
  if (spec.precision >= 0 && static_cast<uint64_t>(spec.precision) < scalars) {
    scalars = static_cast<uint64_t>(spec.precision);
    size_t end;
    if (!find_scalar(out.heap(), text, scalars, end)) return out.fail();
    text = text.substr(0, end);
  }
  Padding padding = padding_for(spec, scalars, spec.align != 0 ? spec.align : '<');
  append_fill(out, fill_of(spec), padding.before);
  out.append(text);
  append_fill(out, fill_of(spec), padding.after);
}

void format_int(StringBuilder& out, int64_t i, const FormatOptions& spec) {
  int base = spec.type == 'b'                       ? 2
             : spec.type == 'o'                     ? 8
             : spec.type == 'x' || spec.type == 'X' ? 16
                                                    : 10;
  uint64_t magnitude = i < 0 ? 0 - static_cast<uint64_t>(i) : static_cast<uint64_t>(i);
  char text[64];
  char* end = std::to_chars(text, text + sizeof text, magnitude, base).ptr;
  if (spec.type == 'X') {
    for (char* c = text; c != end; ++c) {
      if (*c >= 'a') *c = static_cast<char>(*c - 32);
    }
  }
  append_number(out, {.negative = i < 0, .digits = {text, static_cast<size_t>(end - text)}}, spec);
}

// Splits "1.5e+05" before its exponent, so that zeros can go there.
void split_exponent(NumberText& number) {
  size_t e = number.digits.find('e');
  if (e == std::string_view::npos) return;
  number.tail = number.digits.substr(e);
  number.digits = number.digits.substr(0, e);
}

void format_float(StringBuilder& out, double d, char type, const FormatOptions& spec) {
  NumberText number;
  number.negative = std::signbit(d) && !std::isnan(d);
  if (type == '%') d *= 100;
  if (!std::isfinite(d)) {
    number.digits = std::isnan(d) ? "nan" : "inf";
    if (type == '%') number.tail = "%";
    append_number(out, number, spec);
    return;
  }
  int precision = spec.precision < 0 ? kDefaultPrecision : spec.precision;
  if (type == 'g' && precision == 0) precision = 1;
  int written = std::min(precision, kMostDigits);
  auto style = type == 'e'   ? std::chars_format::scientific
               : type == 'g' ? std::chars_format::general
                             : std::chars_format::fixed;
  char text[kNumberBytes];
  char* end = std::to_chars(text, text + sizeof text, std::fabs(d), style, written).ptr;
  number.digits = {text, static_cast<size_t>(end - text)};
  if (type != 'g') number.zeros = static_cast<size_t>(precision - written);
  if (type == 'e') split_exponent(number);
  if (type == '%') number.tail = "%";
  append_number(out, number, spec);
}

void format_plain_number(StringBuilder& out, Borrowed v, const FormatOptions& spec) {
  char text[kFloatTextBytes];
  size_t n = v.is_int() ? write_int(v.as_int(), text) : write_float(v.as_float(), text);
  NumberText number{.negative = text[0] == '-', .digits = {text, n}};
  if (number.negative) number.digits.remove_prefix(1);
  append_number(out, number, spec);
}

std::string complaint(const std::string& what, const char* wanted, Borrowed v) {
  return "format '" + what + "' takes " + wanted + ", got " + type_name(v.tag());
}

// What does not fit, empty when all does.
std::string find_problem(Borrowed v, const FormatOptions& spec) {
  std::string type(1, spec.type);
  switch (spec.type) {
    case 'd':
    case 'x':
    case 'X':
    case 'b':
    case 'o':
      if (!v.is_int()) return complaint(type, "an int", v);
      if (spec.precision >= 0) return "format '" + type + "' takes no precision";
      return {};
    case 'f':
    case 'e':
    case 'g':
    case '%':
      return v.is_number() ? std::string() : complaint(type, "a number", v);
    default:
      return spec.plus && !v.is_number() ? complaint("+", "a number", v) : std::string();
  }
}

}  // namespace

bool format_to(StringBuilder& out, Borrowed v, const FormatOptions& spec, std::string& problem) {
  problem = find_problem(v, spec);
  if (!problem.empty()) return false;
  bool text = spec.type == 's' || !v.is_number();
  if (text && v.is_string()) {
    append_text(out, string_view_of(v), spec);
  } else if (text) {
    StringBuilder printed(out.heap());
    print_to(printed, v);
    if (printed.failed()) {
      out.fail();
    } else {
      append_text(out, printed.view(), spec);
    }
  } else if (spec.type == 0 && spec.precision < 0) {
    format_plain_number(out, v, spec);
  } else if (spec.type == 0) {
    format_float(out, v.number(), 'f', spec);
  } else if (spec.type == 'f' || spec.type == 'e' || spec.type == 'g' || spec.type == '%') {
    format_float(out, v.number(), spec.type, spec);
  } else {
    format_int(out, v.as_int(), spec);
  }
  return true;
}

}  // namespace posset::interp
