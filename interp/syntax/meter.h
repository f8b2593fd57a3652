// What a source may use while it is read: memory, and time until somebody wants an end of it. Who knows the limits
// implements a Meter; this layer tells it of every block before it is taken (Arena::count) and looks up from its work every
// few tokens and nodes (Arena::tick). Where a limit is met it throws Stopped, through the parser, the resolver and the
// analyses: what they have made until then is given up as a whole, and nobody else may see it.
#pragma once

#include <cstddef>

namespace posset::syntax {

// It is not the source's fault, so there is no diagnostic.
struct Stopped {};

class Meter {
 public:
  virtual ~Meter() = default;
  // Before so many bytes are taken: how many of them are counted, to be given back later; none when nobody counts (any
  // more). Throws Stopped when there is no room.
  virtual size_t take(size_t bytes) = 0;
  // Any thread, at any time.
  virtual void give_back(size_t bytes) noexcept = 0;
  // Throws Stopped when whoever waits for this does so no longer.
  virtual void look() = 0;
};

}  // namespace posset::syntax
