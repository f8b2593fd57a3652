// Copying a value from one heap to another, with all that it holds. What the value shares inside is shared in the copy,
// and a ref stays one ref; nesting of any depth uses constant stack.
#pragma once

#include "interp/value/heap.h"
#include "interp/value/objects.h"

namespace posset::interp {

// `v` was computed on another thread, which has let go of it: nobody else reads or counts it now. Objects of `heap` and
// immortal ones are not copied. `owner_count` gives what counts the closures of a function (Closure::owner_count). Gives
// Failed when memory ran out. Errors, and what belongs to a context (tasks, channels, host objects), cannot be copied: they
// must not be inside (`can_be_cloned`).
using OwnerCount = int64_t* (*)(const Function* function);
Value clone_into(Heap& heap, Borrowed v, OwnerCount owner_count);

}  // namespace posset::interp
