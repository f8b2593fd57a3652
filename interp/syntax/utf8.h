// UTF-8, as far as the front end needs it: reading one scalar, finding the first byte that is not
// valid, what a digit is, and how wide a scalar is on a terminal (for carets). The run time has its own, faster
// routines in interp/value; syntax may not include them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace posset::syntax {

struct Scalar {
  char32_t value = 0xFFFD;
  uint32_t length = 1;  // bytes; 1 for a byte that starts no valid scalar
  bool valid = false;
};

// The scalar at `at`, which must be inside the text. Overlong forms, surrogates and values past
// U+10FFFF are not valid.
Scalar decode_utf8(std::string_view text, size_t at);

// Appends the scalar's bytes; it must be one (no surrogate, at most U+10FFFF).
void append_utf8(std::string& out, char32_t scalar);

// The offset of the first byte that is not part of valid UTF-8, or npos.
size_t find_invalid_utf8(std::string_view text);

// A continuation byte starts no scalar, so counting the others counts scalars.
inline bool is_continuation_byte(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

inline bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

// The text, or as much of its beginning as fits into `bytes` without cutting a scalar.
std::string_view clip(std::string_view text, size_t bytes);

// Columns on a terminal: 0 for combining marks, 2 for East Asian wide characters and emoji, else 1.
int display_width(char32_t scalar);

}  // namespace posset::syntax
