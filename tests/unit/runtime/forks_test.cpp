// Fork records (interp/runtime/forks.h): whose the record on top is.
#include <doctest/doctest.h>

#include "interp/runtime/forks.h"
#include "world.h"

namespace posset::interp {

namespace {

struct Part final : RightSide {
  bool share(Sharing&) const override { return false; }
  Value run(Context&) override { return {}; }
};

}  // namespace

// What a built-in calls has its frame where the built-in's record says that it runs, and both count fork points from 0.
TEST_CASE("forks: code that has left no record takes none that a built-in has left at the same place") {
  World world;
  ForkRecord records[4];
  world.context.begin_forks(records);
  Borrowed* const frame = world.context.stack_top;
  Part part;
  BuiltinFork fork(world.context, part);
  Value result;
  CHECK_FALSE(merge(world.context, 0, frame, result));
  CHECK(world.context.fork_top == records + 1);
  CHECK(left_part(world.context, records[0], frame, 0) == LeftPart::None);
  CHECK_FALSE(fork.merge(result));
  CHECK(world.context.fork_top == records);
}

TEST_CASE("forks: a record is its frame's and point's") {
  World world;
  ForkRecord records[4];
  world.context.begin_forks(records);
  Borrowed* const frame = world.context.stack_top;
  interp::fork(world.context, 3, frame, nullptr);
  Value result;
  CHECK_FALSE(merge(world.context, 2, frame, result));
  CHECK_FALSE(merge(world.context, 3, frame + 1, result));
  CHECK(world.context.fork_top == records + 1);
  CHECK(left_part(world.context, records[0], frame, 2) == LeftPart::None);
  CHECK(left_part(world.context, records[0], frame, 3) == LeftPart::Untaken);
  CHECK_FALSE(merge(world.context, 3, frame, result));
  CHECK(world.context.fork_top == records);
}

}  // namespace posset::interp
