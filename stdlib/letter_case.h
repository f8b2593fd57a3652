// Upper and lower case of single scalars by Unicode's full mappings (SpecialCasing.txt, without those of a
// language): one scalar may become up to three. utf8proc knows the simple ones; what goes beyond them follows from
// decompositions, so that there is no table. Where a lower-case sigma is final its surroundings say, which are the
// caller's.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace posset::stdlib {

struct Scalars {
  std::array<uint32_t, 3> all{};
  uint32_t count = 0;
  const uint32_t* begin() const { return all.data(); }
  const uint32_t* end() const { return all.data() + count; }
};

Scalars upper_case(uint32_t scalar);
Scalars lower_case(uint32_t scalar);

constexpr uint32_t kCapitalSigma = 0x3a3, kSmallSigma = 0x3c3, kFinalSigma = 0x3c2;

// What a scalar means for the sigma beside it: letters with case end a look, what is ignored (accents, apostrophes)
// is passed over.
enum class CaseRole : uint8_t { Letter, Ignored, Other };
CaseRole case_role(uint32_t scalar);

}  // namespace posset::stdlib
