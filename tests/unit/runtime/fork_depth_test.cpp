// How deep a recursion leaves fork records (fork_depth.h).
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "interp/runtime/fork_depth.h"
#include "interp/runtime/forks.h"

namespace posset::interp {

namespace {

using Need = ForkDepth::Need;
constexpr int64_t kAsks = std::numeric_limits<int64_t>::max();

// Two activations, one in the other, with room for 1000 and 900 calls; each on a stack that reaches down to 5. The outermost
// has been entered at a depth of 7.
struct Nested {
  Activation outer{.top = 1000, .lowest = 5, .stack_limit = 5, .depth = 7};
  Activation inner{.top = 900, .lowest = 5, .stack_limit = 5, .outer = &outer, .depth = 90};
  ForkDepth depth;
  Nested() {
    depth.begin(0);
    depth.innermost = &inner;
  }

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

constexpr uint32_t kUsual = 7 + ForkDepth::kLevels;

}  // namespace

TEST_CASE("fork depth: a strand leaves records on so many levels from where it begins") {
  Strand strand;
  ForkRecord record;
  strand.depth = 100;
  strand.begin_forks(&record);
  CHECK(strand.fork_top == &record);
  CHECK(strand.fork_base == &record);
  CHECK(strand.fork_depth.limit == 100 + ForkDepth::kLevels);
}

TEST_CASE("fork depth: a recursion that lasts leaves records on so many levels from where it began") {
  Nested nested;
  for (int quantum = 0; quantum < 5; ++quantum) {
    nested.depth.end_quantum(300, Need::None);
    CHECK(nested.limit() == kUsual);
    CHECK_FALSE(nested.asks());
  }
}

TEST_CASE("fork depth: recursions that are over within a quantum leave none until one lasts longer") {
  Nested nested;
  for (int quantum = 0; quantum < 5; ++quantum) {
    nested.outer.outlasts = 0;  // another one
    nested.depth.end_quantum(300, Need::None);
    CHECK(nested.limit() == (quantum < 1 ? kUsual : 0));
  }
  nested.depth.end_quantum(300, Need::None);
  CHECK(nested.limit() == kUsual);
}

TEST_CASE("fork depth: what runs without a recursion changes nothing") {
  ForkDepth depth;
  depth.begin(3);
  for (int quantum = 0; quantum < 200; ++quantum) depth.end_quantum(50, Need::Unmet);
  CHECK(depth.limit == 3 + ForkDepth::kLevels);
  Nested nested;
  nested.depth.innermost = nullptr;
  for (int quantum = 0; quantum < 200; ++quantum) nested.depth.end_quantum(50, Need::Unmet);
  nested.depth.innermost = &nested.inner;
  nested.depth.end_quantum(50, Need::Unmet);
  CHECK(nested.asks());
  CHECK(nested.limit() == kUsual);
}

TEST_CASE("fork depth: where there is nothing to give, more is left from there on, until nobody waits") {
  Nested nested;
  nested.depth.end_quantum(500, Need::Unmet);
  CHECK(nested.limit() == kUsual);  // the outermost calls may not have left any
  CHECK(nested.asks());
  nested.depth.end_quantum(500, Need::Given);
  CHECK(nested.limit() == kUsual);
  CHECK_FALSE(nested.asks());
  nested.depth.end_quantum(510, Need::Unmet);
  CHECK(nested.limit() == 510 + ForkDepth::kLevels);
  CHECK(nested.asks());
  nested.depth.end_quantum(520, Need::Given);
  CHECK(nested.limit() == 510 + ForkDepth::kLevels);
  CHECK_FALSE(nested.asks());
  nested.depth.end_quantum(600, Need::Unmet);
  CHECK(nested.limit() == 600 + 2 * ForkDepth::kLevels);
  nested.depth.end_quantum(600, Need::None);
  CHECK(nested.limit() == kUsual);
  CHECK_FALSE(nested.asks());
}

TEST_CASE("fork depth: what does not help is tried more and more rarely") {
  Nested nested;
  uint32_t asked = 0, tries = 0;
  for (int quantum = 0; quantum < 1000; ++quantum) {
    const bool asked_before = nested.asks();
    nested.depth.end_quantum(300, Need::Unmet);
    asked += nested.asks();
    tries += nested.asks() && !asked_before;
    CHECK((nested.asks() || nested.limit() == kUsual));
    CHECK(nested.depth.limit <= 300 + ForkDepth::kMostLevels);
  }
  CHECK(asked == tries * ForkDepth::kQuantaAsked);
  CHECK(tries < 30);
  CHECK(tries > 10);
}

TEST_CASE("fork depth: where many calls would leave records, fewer levels do, and only so many calls in a quantum") {
  // Every call makes so many.
  for (const int64_t ways : {2, 3, 5, 20}) {
    Nested nested;
    nested.depth.end_quantum(300, Need::None);
    int64_t most = 0;
    for (int quantum = 0; quantum < 40; ++quantum) {
      most = 0;
      // So many calls on each level in a quantum, from the deepest one, which are soon more than any number.
      for (int level = 20; level >= 0; --level) {
        int64_t calls = 1;
        for (int n = 0; n < level && calls < 100'000; ++n) calls *= ways;
        for (; calls > 0 && 7 + level <= nested.limit(); --calls, ++most) {
          if (--nested.depth.calls < 0) nested.depth.use_up(static_cast<uint32_t>(7 + level));
        }
      }
      CHECK(most <= 3 * ForkDepth::kCalls);
      nested.depth.end_quantum(300, Need::None);
      CHECK(nested.limit() >= 7);
    }
    CHECK(most <= ForkDepth::kCalls);
    CHECK(most * ways * ways * 8 > ForkDepth::kCalls);  // and those that are of use do
  }
}

TEST_CASE("fork depth: more levels leave records again where few calls have been needed") {
  Nested nested;
  nested.depth.use_up(12);
  CHECK(nested.limit() == 12 - ForkDepth::kLevelsLess);
  nested.depth.end_quantum(300, Need::None);
  CHECK(nested.limit() == 12 - ForkDepth::kLevelsLess);
  for (uint32_t more = 1; more < 40; ++more) {
    nested.depth.end_quantum(300, Need::None);
    CHECK(nested.limit() == std::min(12 - ForkDepth::kLevelsLess + more, kUsual));
  }
  nested.depth.calls /= 2;
  nested.depth.end_quantum(300, Need::None);
  CHECK(nested.limit() == kUsual);
}

TEST_CASE("fork depth: less deep than any level leaves none") {
  Nested nested;
  nested.depth.end_quantum(300, Need::None);
  for (uint32_t depth : {8U, 7U, 1U, 0U}) {
    nested.depth.use_up(depth);
    CHECK(nested.limit() == (depth > 2 ? depth - 2 : 0));
    CHECK((depth == 0 || nested.depth.calls <= ForkDepth::kCalls / 2));
    CHECK(nested.depth.calls >= 0);
  }
  CHECK(nested.depth.calls == ForkDepth::kCalls);  // fewer levels would not help
  nested.depth.end_quantum(300, Need::None);
  CHECK(nested.limit() == 7);
  nested.depth.end_quantum(300, Need::None);
  CHECK(nested.limit() == 8);
}

}  // namespace posset::interp
