// Copying a value from one heap to another, with all that it holds. What the value shares inside is shared in the copy,
// and a ref stays one ref; nesting of any depth uses constant stack.
#pragma once

#include <functional>

#include "interp/value/heap.h"
#include "interp/value/objects.h"

namespace posset::interp {

// Which objects are copied: those of one heap. Others, and immortal ones, are kept and counted.
struct Original {
  const Heap& heap;
  bool keeps_shared = false;  // its shared objects outlive the copy, and are kept too
};

// Gives what counts the closures of a function (Closure::owner_count).
using OwnerCount = std::function<int64_t*(const Function* function)>;

// Nobody else reads or counts what is copied. Gives Failed when memory ran out, or the owner of `heap`
// is to stop. Errors, and what belongs to a context (tasks,
// channels, host objects), cannot be copied and must not be inside.
Value clone_into(Heap& heap, Borrowed v, const Original& original, const OwnerCount& owner_count);

}  // namespace posset::interp
