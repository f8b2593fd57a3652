// How deep a recursion leaves fork records (strand.h, forks.h).
#include <doctest/doctest.h>

#include "interp/runtime/forks.h"

namespace posset::interp {

TEST_CASE("fork depth: a strand leaves records on so many levels from where it begins, and twice as many when it asks for more") {
  Strand strand;
  ForkRecord records[2];
  strand.depth = 100;
  strand.begin_forks(&records[1]);
  CHECK(strand.fork_top == &records[1]);
  CHECK(strand.fork_base == &records[1]);
  CHECK(strand.fork_depth == 100 + Strand::kFirstForkLevels);
  CHECK_FALSE(strand.is_below_forks());
  strand.depth = 100 + Strand::kFirstForkLevels;
  CHECK_FALSE(strand.is_below_forks());
  ++strand.depth;
  CHECK_FALSE(strand.is_below_forks());  // what runs leaves none at all, or leaves them everywhere
  Activation outer{.top = 1000}, inner{.top = 900, .outer = &outer};
  strand.activation = &inner;
  CHECK(strand.is_below_forks());
  strand.leave_deeper_forks();
  CHECK(inner.top - inner.fork_room == strand.fork_depth);
  CHECK(outer.top - outer.fork_room == strand.fork_depth);
  CHECK(strand.fork_depth == strand.depth + 2 * Strand::kFirstForkLevels);
  for (int n = 0; n < 100; ++n) strand.leave_deeper_forks();
  CHECK(strand.fork_depth == strand.depth + Strand::kMostForkLevels);
  strand.depth = 7;
  strand.begin_forks(&records[0]);
  CHECK(strand.fork_depth == 7 + Strand::kFirstForkLevels);
  CHECK(outer.top - outer.fork_room == strand.fork_depth);
}

}  // namespace posset::interp
