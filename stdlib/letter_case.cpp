// See letter_case.h.
#include "stdlib/letter_case.h"

#include <utf8proc.h>

#include <algorithm>

namespace posset::stdlib {

namespace {

constexpr uint32_t kSharpS = 0xdf, kDiaeresis = 0x308, kDottedI = 0x130, kDotAbove = 0x307;

Scalars one(uint32_t scalar) { return {{scalar}, 1}; }

uint32_t simple_upper(uint32_t scalar) {
  return static_cast<uint32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(scalar)));
}

// A small or title-case letter that has no capital of its own, but is made of parts that have: ligatures, letters
// with accents that no capital has, Greek ones with an iota. Letters that are another font's are no such.
bool is_composed(uint32_t scalar) {
  const utf8proc_property_t* known = utf8proc_get_property(static_cast<utf8proc_int32_t>(simple_upper(scalar)));
  const bool small = known->category == UTF8PROC_CATEGORY_LL || known->category == UTF8PROC_CATEGORY_LT;
  return small && known->decomp_seqindex != UINT16_MAX && known->decomp_type != UTF8PROC_DECOMP_TYPE_FONT;
}

// Its parts, each in upper case, composed again but for what has a diaeresis, as the table has it.
Scalars upper_of_parts(uint32_t scalar) {
  constexpr utf8proc_ssize_t kMost = 8;
  utf8proc_int32_t parts[kMost];
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
  int boundary = 0;
  auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(scalar), parts, kMost, options, &boundary);
  if (count <= 0 || count > kMost) return one(scalar);
  std::transform(parts, parts + count, parts, utf8proc_toupper);
  if (std::find(parts, parts + count, static_cast<utf8proc_int32_t>(kDiaeresis)) == parts + count) {
    count = utf8proc_normalize_utf32(parts, count, static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
  }
  Scalars made;
  if (count <= 0 || count > static_cast<utf8proc_ssize_t>(made.all.size())) return one(scalar);
  std::copy_n(parts, count, made.all.begin());
  made.count = static_cast<uint32_t>(count);
  return made;
}

// What has case though it is no letter by category: ordinals, Roman numerals, letters in circles and squares
// (Other_Lowercase and Other_Uppercase of PropList.txt).
bool is_cased_symbol(uint32_t scalar) {
  static constexpr struct {
    uint32_t first, last;
  } kRanges[] = {{0xaa, 0xaa},       {0xba, 0xba},       {0x2160, 0x217f},  {0x24b6, 0x24e9},
                 {0x1f130, 0x1f149}, {0x1f150, 0x1f169}, {0x1f170, 0x1f189}};
  return std::any_of(std::begin(kRanges), std::end(kRanges),
                     [&](const auto& each) { return each.first <= scalar && scalar <= each.last; });
}

}  // namespace

Scalars upper_case(uint32_t scalar) {
  if (scalar == kSharpS) return {{'S', 'S'}, 2};
  return is_composed(scalar) ? upper_of_parts(scalar) : one(simple_upper(scalar));
}

Scalars lower_case(uint32_t scalar) {
  if (scalar == kDottedI) return {{'i', kDotAbove}, 2};
  return one(static_cast<uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(scalar))));
}

CaseRole case_role(uint32_t scalar) {
  if (scalar == '\'' || scalar == '.' || scalar == ':' || scalar == 0xb7 || scalar == 0x2019) return CaseRole::Ignored;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(scalar))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT: return CaseRole::Letter;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK: return CaseRole::Ignored;
    default: return is_cased_symbol(scalar) ? CaseRole::Letter : CaseRole::Other;
  }
}

}  // namespace posset::stdlib
