// Values as JSON text; sets the call's result.
#pragma once

#include "stdlib/support.h"

namespace posset::stdlib {

posset_status write_json(posset_call* call, posset_value value, bool pretty);

}  // namespace posset::stdlib
