// Waiting for what comes from outside, as long as the evaluation may go on: a call of the system that blocks hears of no limit.
#pragma once

#include <posset/posset.h>
#include <sys/types.h>

namespace posset::stdlib {

// Until `file` can be read without blocking, or is at its end. Anything but POSSET_OK: a limit or an interruption.
posset_status wait_until_readable(posset_call* call, int file);
// Until the process has ended, with its status as waitpid gives it. Killed where the evaluation may not go on.
posset_status wait_for_process(posset_call* call, pid_t process, int& status);

}  // namespace posset::stdlib
