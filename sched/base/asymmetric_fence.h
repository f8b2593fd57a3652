// A fence in two halves, for what one thread does all the time and others ask about rarely: one side writes that it is
// there and reads whether it may, the other takes the right away and reads whether anybody is there. Each side must not
// read before what it has written is seen. With ordinary fences both pay; here the frequent side only keeps the compiler
// from turning the two around, and the rare side makes every thread of the process pass a barrier (membarrier of Linux).
// Without that system call there is no such fence, and `has_asymmetric_fence` says so.
#pragma once

#include <atomic>

namespace posset::sched {

// Whether the two below can be used. The first call asks the system to take part, which may take some milliseconds where
// other threads run; the answer never changes.
bool has_asymmetric_fence();

// The frequent side: free.
inline void light_fence() { std::atomic_signal_fence(std::memory_order_seq_cst); }
// The rare side: about a microsecond.
void heavy_fence();

}  // namespace posset::sched
