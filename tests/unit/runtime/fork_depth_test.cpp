// How deep a recursion leaves fork records (fork_depth.h).
#include <doctest/doctest.h>

#include <limits>

#include "interp/runtime/fork_depth.h"
#include "interp/runtime/forks.h"

namespace posset::interp {

namespace {

constexpr int64_t kAsks = std::numeric_limits<int64_t>::max();

// Two activations, one in the other, with room for 1000 and 900 calls; each on a stack that reaches down to 5.
struct Nested {
  Activation outer{.top = 1000, .lowest = 5, .stack_limit = 5};
  Activation inner{.top = 900, .lowest = 5, .stack_limit = 5, .outer = &outer};
  ForkDepth depth;
  Nested() { depth.innermost = &inner; }

  int64_t limit() const {
    CHECK(inner.top - inner.fork_room == outer.top - outer.fork_room);
    return inner.top - inner.fork_room;
  }
  bool asks() const {
    CHECK(inner.lowest == outer.lowest);
    CHECK((inner.lowest == kAsks || inner.lowest == 5));
    return inner.lowest == kAsks;
  }
};

}  // namespace

TEST_CASE("fork depth: a strand leaves records on so many levels from where it begins") {
  Strand strand;
  ForkRecord record;
  strand.depth = 100;
  strand.begin_forks(&record);
  CHECK(strand.fork_top == &record);
  CHECK(strand.fork_base == &record);
  CHECK(strand.fork_depth.limit == 100 + ForkDepth::kFirstLevels);
}

TEST_CASE("fork depth: nobody waits, and nothing more is left; somebody is given something, and all stays") {
  Nested nested;
  nested.depth.begin(7);
  CHECK(nested.limit() == 7 + ForkDepth::kFirstLevels);
  nested.depth.given();
  CHECK(nested.limit() == 7 + ForkDepth::kFirstLevels);
  CHECK_FALSE(nested.asks());
  nested.depth.unwanted();
  CHECK(nested.limit() == 0);
  CHECK_FALSE(nested.asks());
}

TEST_CASE("fork depth: where there is nothing to give, more is left from there on, until something is") {
  Nested nested;
  nested.depth.begin(0);
  nested.depth.wanted(500);
  CHECK(nested.limit() == 500 + 2 * ForkDepth::kFirstLevels);
  CHECK(nested.asks());
  nested.depth.given();
  CHECK(nested.limit() == 500 + 2 * ForkDepth::kFirstLevels);
  CHECK_FALSE(nested.asks());
  nested.depth.wanted(600);
  CHECK(nested.limit() == 600 + 4 * ForkDepth::kFirstLevels);
  CHECK(nested.asks());
}

TEST_CASE("fork depth: what does not help is tried more and more rarely") {
  Nested nested;
  nested.depth.begin(0);
  uint32_t asked = 0, tries = 0;
  for (int quantum = 0; quantum < 1000; ++quantum) {
    const bool asked_before = nested.asks();
    nested.depth.wanted(1);
    asked += nested.asks();
    tries += nested.asks() && !asked_before;
    CHECK((nested.asks() || nested.limit() == 0));
  }
  CHECK(asked == tries * ForkDepth::kQuantaAsked);
  CHECK(tries < 30);
  CHECK(tries > 10);
  CHECK(nested.depth.limit <= 1 + ForkDepth::kMostLevels);
}

}  // namespace posset::interp
