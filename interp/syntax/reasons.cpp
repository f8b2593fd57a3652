// See reasons.h.
#include "interp/syntax/reasons.h"

#include <cstddef>

namespace posset::syntax {

namespace {

struct Row {
  const char* name;
  const char* text;
  const char* page;
};
constexpr Row kRows[] = {
    {"none", "", ""},
#define REASON(name, text, page) {#name, text, page},
#include "interp/syntax/reasons.def"
#undef REASON
};
static_assert(sizeof(kRows) / sizeof(Row) == kReasons);

const Row& row(Reason reason) { return kRows[static_cast<size_t>(reason)]; }

}  // namespace

const char* name_of(Reason reason) { return row(reason).name; }
const char* text_of(Reason reason) { return row(reason).text; }
const char* page_of(Reason reason) { return row(reason).page; }

}  // namespace posset::syntax
