// Decoding follows table 3-7 of the Unicode standard. The widths are the common ranges of East
// Asian Width W and F and of combining marks, coarse on purpose: a caret that is one column off
// under a rare script does no harm, a table of thousands of rows would.
#include "interp/syntax/utf8.h"

#include <cstring>

namespace posset::syntax {

namespace {

struct Range {
  char32_t first;
  char32_t last;
};

constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
    {0xFE30, 0xFE4F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
    {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD},
};
constexpr Range kZeroWidth[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x064B, 0x065F}, {0x1AB0, 0x1AFF},
    {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x2064}, {0x20D0, 0x20FF},
    {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF},
};

template <size_t N>
bool contains(const Range (&ranges)[N], char32_t scalar) {
  for (const Range& range : ranges) {
    if (scalar >= range.first && scalar <= range.last) return true;
  }
  return false;
}

// The length a lead byte announces; 0 when it is none.
uint32_t announced_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;  // C0 and C1 could only start overlong forms
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

}  // namespace

Scalar decode_utf8(std::string_view text, size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const uint32_t length = announced_length(lead);
  if (length == 1) return {lead, 1, true};
  if (length == 0 || text.size() - at < length) return {};
  char32_t value = lead & (0xFFu >> (length + 1));
  for (uint32_t i = 1; i < length; ++i) {
    if (!is_continuation_byte(text[at + i])) return {};
    value = value << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3F);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF) return {};
  return {value, length, true};
}

void append_utf8(std::string& out, char32_t scalar) {
  const auto byte = [&](char32_t bits) { out += static_cast<char>(bits); };
  if (scalar < 0x80) {
    byte(scalar);
  } else if (scalar < 0x800) {
    byte(0xC0 | scalar >> 6);
    byte(0x80 | (scalar & 0x3F));
  } else if (scalar < 0x10000) {
    byte(0xE0 | scalar >> 12);
    byte(0x80 | (scalar >> 6 & 0x3F));
    byte(0x80 | (scalar & 0x3F));
  } else {
    byte(0xF0 | scalar >> 18);
    byte(0x80 | (scalar >> 12 & 0x3F));
    byte(0x80 | (scalar >> 6 & 0x3F));
    byte(0x80 | (scalar & 0x3F));
  }
}

size_t find_invalid_utf8(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    // Sources are nearly all ASCII: eight bytes at a time while no high bit is set.
    uint64_t word = 0;
    if (text.size() - at >= sizeof word) {
      std::memcpy(&word, text.data() + at, sizeof word);
      if ((word & 0x8080808080808080u) == 0) {
        at += sizeof word;
        continue;
      }
    }
    const Scalar scalar = decode_utf8(text, at);
    if (!scalar.valid) return at;
    at += scalar.length;
  }
  return std::string_view::npos;
}

std::string_view clip(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && is_continuation_byte(text[bytes])) --bytes;
  return text.substr(0, bytes);
}

int display_width(char32_t scalar) {
  if (scalar < 0x300) return 1;
  if (contains(kZeroWidth, scalar)) return 0;
  return contains(kWide, scalar) ? 2 : 1;
}

}  // namespace posset::syntax
