// Why a unit does not run in a higher tier or not on several cores, as a closed set of codes: reasons.def has the rows. A code has a
// name for tests and traces, a text that completes a sentence, and a page that says what one can do.
#pragma once

#include <cstdint>

namespace posset::syntax {

enum class Reason : uint8_t {
  none,
#define REASON(name, text, page) name,
#include "interp/syntax/reasons.def"
#undef REASON
};
#define REASON(name, text, page) +1
constexpr uint8_t kReasons = 1
#include "interp/syntax/reasons.def"
    ;
#undef REASON

const char* name_of(Reason reason);  // "not_hot"
const char* text_of(Reason reason);  // "not hot yet"
const char* page_of(Reason reason);

}  // namespace posset::syntax
