// The types that annotations know by name.
#pragma once

#include <string_view>

#include "interp/syntax/ast.h"

namespace posset::syntax {

// Declared: it is none of the language's own.
TypeKind type_kind(std::string_view name);

}  // namespace posset::syntax
