// Text of the host that becomes a string, or a part of one, has to be UTF-8: everything behind the interface relies on it.
#pragma once

#include <string_view>

#include "interp/api/handles.h"
#include "interp/runtime/work.h"
#include "interp/value/string.h"

namespace posset::api {

// False: raised, or the evaluation is to stop in its middle. `what`: "the text", as the message has it.
inline bool want_utf8(posset_context* context, std::string_view bytes, const char* what = "the text") {
  interp::WishPatience patience(context->heap);
  if (interp::is_valid_utf8(bytes, &patience)) return true;
  if (patience.ended()) {
    context->raise_no_memory();
  } else {
    context->raise(interp::ErrorCode::BadArgument, std::string(what) + " is not valid UTF-8");
  }
  return false;
}

}  // namespace posset::api
