// The module time: clocks, which the host grants (POSSET_GRANT_CLOCK), and pure calendar text.
#include <chrono>
#include <cmath>
#include <ctime>

#include "stdlib/modules.h"
#include "stdlib/support.h"

namespace posset::stdlib {

namespace {

template <class Clock>
posset_status read_clock(posset_call* call) {
  POSSET_TRY(posset_require_grant(call->context, POSSET_GRANT_CLOCK, text_of("")));
  double seconds = std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
  return posset_return(call, posset_float(seconds));
}

// Seconds since 1970 as UTC: "2026-11-21T09:14:00Z".
posset_status iso(posset_call* call) {
  double seconds;
  POSSET_TRY(posset_want_number(call, 0, &seconds));
  constexpr double kMost = 253402300800.0;  // the year 10000
  if (!(seconds >= 0 && seconds < kMost)) {
    return posset_raise_argument(call, POSSET_ERROR_OutOfRange, 0, text_of("out of range: a time from 1970 to 9999"));
  }
  auto whole = static_cast<std::time_t>(std::floor(seconds));
  std::tm parts = {};
  gmtime_r(&whole, &parts);
  char text[32];
  size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return posset_return_string(call, posset_text_n(text, size));
}

constexpr posset_function_row kRows[] = {
    impure_row("now", "now()", "Seconds since 1970 (UTC), as a float.", 0, 0, read_clock<std::chrono::system_clock>),
    impure_row("clock", "clock()", "Seconds of a clock that never goes back, for measuring.", 0, 0,
               read_clock<std::chrono::steady_clock>),
    pure_row("iso", "iso(seconds)", "Seconds since 1970 as UTC text: 2026-11-21T09:14:00Z.", 1, 1, iso),
};

}  // namespace

}  // namespace posset::stdlib

posset_status posset_register_time(posset_runtime* runtime) {
  return posset::stdlib::register_rows(runtime, "time", posset::stdlib::kRows);
}
