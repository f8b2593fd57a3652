// What comes into a context from other threads: plain data, which becomes a value on the thread of the context. Values
// belong to their context and its thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "interp/runtime/context.h"

namespace posset::interp {

// A text is boxed: the item is to be small.
using OutsideItem = std::variant<std::monostate, bool, int64_t, double, std::shared_ptr<const std::string>>;

// Failed: raised.
Value value_of_item(Context& context, const OutsideItem& item);

}  // namespace posset::interp
