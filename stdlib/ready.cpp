// See ready.h.
#include "stdlib/ready.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <cerrno>

#include "stdlib/support.h"

namespace posset::stdlib {

namespace {

constexpr int kLookMs = 5;  // between two looks at the limits
constexpr long kFirstNapNs = 50'000, kLongestNapNs = 2'000'000;  // most have ended by the time they are waited for

}  // namespace

posset_status wait_until_readable(posset_call* call, int file) {
  for (;;) {
    pollfd wanted = {file, POLLIN, 0};
    const int ready = poll(&wanted, 1, kLookMs);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return POSSET_OK;  // reading tells what is wrong
    POSSET_TRY(posset_poll(call->context));
  }
}

posset_status wait_for_process(posset_call* call, pid_t process, int& status) {
  posset_status goes_on = POSSET_OK;
  for (timespec nap = {0, kFirstNapNs};; nap.tv_nsec = std::min(2 * nap.tv_nsec, kLongestNapNs)) {
    const pid_t ended = waitpid(process, &status, goes_on == POSSET_OK ? WNOHANG : 0);
    if (ended > 0 || (ended < 0 && errno != EINTR)) return goes_on;
    if (goes_on != POSSET_OK) continue;
    goes_on = posset_poll(call->context);
    if (goes_on == POSSET_OK) nanosleep(&nap, nullptr);
    else kill(process, SIGKILL);
  }
}

}  // namespace posset::stdlib
