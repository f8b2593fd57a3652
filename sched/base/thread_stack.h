// How much stack the calling thread has left: hosts call from threads of any size, and from fibers of their own. Asked where
// something needs much and is rare (reading a source); what recurses in an evaluation asks StackChain, which costs less.
#pragma once

#include <cstddef>

namespace posset::sched {

// Bytes below the current frame. 0: it does not stand on the thread's own stack, or the system does not say.
size_t thread_stack_left();

}  // namespace posset::sched
