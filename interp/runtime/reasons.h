// The reason codes of reasons.def: why a unit does not run in a higher tier. A closed set; whoever refuses
// takes one of these.
#pragma once

#include <cstdint>
#include <string_view>

namespace posset::interp {

enum class Reason : uint8_t {
  none,
#define REASON(name, text, page) name,
#include "interp/runtime/reasons.def"
#undef REASON
};
#define REASON(name, text, page) +1
constexpr uint8_t kReasons = 1
#include "interp/runtime/reasons.def"
    ;
#undef REASON

const char* name_of(Reason reason);  // "not_hot"
const char* text_of(Reason reason);  // "not hot yet"
const char* page_of(Reason reason);
Reason find_reason(std::string_view name);  // none: there is no such code

}  // namespace posset::interp
