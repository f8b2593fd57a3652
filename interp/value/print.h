// Values as text: `str(x)` and interpolation share it. Floats print as Python's repr; strings
// inside a value are literals. Deep values are walked with an explicit stack; the text is charged
// to the heap.
#pragma once

#include <string>
#include <string_view>

#include "interp/value/patience.h"
#include "interp/value/string.h"
#include "interp/value/value.h"

namespace posset::interp {

// Where the patience ends the text does.
void print_to(StringBuilder& out, Borrowed v, Patience* patience = nullptr);       // as `print` does: a string is raw at the top
void print_literal(StringBuilder& out, Borrowed v, Patience* patience = nullptr);  // a string is a literal
Value to_string(Heap& heap, Borrowed v);
// For messages: the literal form, cut to about `max_bytes` with "..." in the middle of nothing.
std::string brief(Borrowed v, size_t max_bytes = 60);
// The same with the names of built-ins, which do not know their heap.
std::string brief(Heap& heap, Borrowed v, size_t max_bytes = 60);

void append_int(StringBuilder& out, int64_t i);
void append_float(StringBuilder& out, double d);
std::string float_text(double d);
// The same into a buffer; they give the number of bytes.
constexpr size_t kIntTextBytes = 24;
constexpr size_t kFloatTextBytes = 32;
size_t write_int(int64_t i, char* out);
size_t write_float(double d, char* out);

// A format specification with its meaning worked out; syntax has its own struct of the same fields,
// and runtime translates (value and syntax do not know each other).
struct FormatOptions {
  std::string_view fill = " ";  // one scalar
  char align = 0;               // '<' '>' '^'; 0: numbers right, the rest left
  bool plus = false;
  bool zero = false;
  char type = 0;  // d x X b o f e g % s; 0: none
  int width = 0;
  int precision = -1;
};

// Formats a value by a specification. Empty `problem` on success; else what does not fit
// ("format 'd' takes an int, got str").
bool format_to(StringBuilder& out, Borrowed v, const FormatOptions& spec, std::string& problem);

// Text to number as int(s) and float(s) take it: white space around, an optional sign, decimal
// digits (and for floats a fraction, an exponent, inf, nan).
enum class ParseResult : uint8_t { Ok, Malformed, OutOfRange };
ParseResult parse_int(std::string_view text, int64_t& out, Patience* patience = nullptr);
ParseResult parse_float(std::string_view text, double& out, Patience* patience = nullptr);

}  // namespace posset::interp
