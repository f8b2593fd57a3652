// See reasons.h.
#include "interp/runtime/reasons.h"

namespace posset::interp {

namespace {

struct Row {
  const char* name;
  const char* text;
  const char* page;
};
constexpr Row kRows[] = {
    {"none", "", ""},
#define REASON(name, text, page) {#name, text, page},
#include "interp/runtime/reasons.def"
#undef REASON
};
static_assert(sizeof(kRows) / sizeof(Row) == kReasons);

const Row& row(Reason reason) { return kRows[static_cast<size_t>(reason)]; }

}  // namespace

const char* name_of(Reason reason) { return row(reason).name; }
const char* text_of(Reason reason) { return row(reason).text; }
const char* page_of(Reason reason) { return row(reason).page; }

Reason find_reason(std::string_view name) {
  for (uint8_t i = 1; i < kReasons; ++i) {
    if (name == kRows[i].name) return static_cast<Reason>(i);
  }
  return Reason::none;
}

}  // namespace posset::interp
