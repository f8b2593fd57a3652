// How a thread that takes tasks waits for the next one. Sleeping is cheap for it and dear for whoever has to wake it,
// which is a running evaluation: so it spins for about what a wake-up would take, then looks now and then, and
// sleeps in earnest only when nothing has come for some time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "sched/base/clock.h"

namespace posset::sched {

// Before a consumer sleeps it spins for about what waking it would take.
constexpr std::chrono::microseconds kSpinBeforeSleep{8};
// One that dozes looks so often, at distances that double: about a thousandth of a second in all. So what comes waits
// no longer than about the time in which nothing came before it, and a look, which costs as much as some microseconds
// of work, is not made for every fraction of a long wait.
constexpr int kDozes = 4;
constexpr int64_t kFirstDozeNs = 64 * kMicrosecond;
constexpr int64_t doze_ns(int before) { return kFirstDozeNs << before; }
// It is woken before its time for so many waiting tasks: they pay for waking one thread.
constexpr size_t kWorthWaking = 64;

}  // namespace posset::sched
