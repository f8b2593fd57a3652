// Comprehensions of which others may do rounds: they are pure and may take long (syntax::Division). A loop that has begun
// notes in a slot of its own how many quanta have been used. When the one it began in, and another, have been, and
// somebody had nothing to do at its end, then the rounds that are left are halved like the elements of a built-in (halves.h),
// at the loop's next one. Until then it is a loop like others, in any tier, which looks at a number once in a round; those
// that are over soon are never divided.
//
// A piece is the loop itself, over a part of what it goes over, in a frame of its own.
#pragma once

#include "interp/runtime/context.h"

namespace posset::interp {

// `begun`: what the loop has noted.
inline bool is_rest_wanted(const Context& context, Borrowed begun) { return begun.as_int() < context.rest_wanted; }

// What pieces have in common: the loop, and the frame in which it stands.
struct Rounds {
  Closure* closure;
  const syntax::Division* division;
  const Borrowed* frame;
  int64_t first;  // the next index or number

  const Borrowed* hidden() const;
};

// Those that are left of the loop in that frame are done, where they can be divided, or it is not asked again. False: raised.
bool divide_rest(Context& context, Closure* closure, Borrowed* frame, uint32_t division);

}  // namespace posset::interp
