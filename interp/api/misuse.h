// Why a call was misuse, in words, where the status does not say it: posset_misuse_text.
#pragma once

#include <string>

#include "interp/api/handles.h"

namespace posset::api {

// Gives the status back. Only inside the context, whose thread alone may read it. Memory that is not there costs the words.
posset_status misuse(posset_context* context, const std::string& why, posset_status status = POSSET_MISUSE) noexcept;

// The words for a value of another context, and for what is no identifier.
inline constexpr const char* kForeign = "a value of another context";
std::string no_identifier(std::string_view text);
// What has that name already, so that the host may not: "'len' is a built-in function".
std::string taken_by(const posset_context* context, const std::string& name);

}  // namespace posset::api
