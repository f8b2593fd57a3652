// Where one text stands in another, for `index_of`, `split`, the module strings and hosts: in linear time, and ended in the
// middle by limits and interruptions. The standard library's memmem is linear and fast, but looks at nothing: it is given a
// portion of the text after the other, and parts that are long themselves are searched for here.
#pragma once

#include <string_view>

#include "interp/runtime/context.h"

namespace posset::interp {

// Gives in `at` where `part` (not empty) begins in `text` at or after `from`, npos: nowhere. False: a limit or an interruption
// was met, the error is pending. Charges nothing.
bool find_text(Context& context, std::string_view text, std::string_view part, size_t from, size_t& at);

}  // namespace posset::interp
