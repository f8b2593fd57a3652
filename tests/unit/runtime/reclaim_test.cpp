// Evicted code is freed when nobody can be inside it, not before and not never.
#include <algorithm>
#include <atomic>
#include <iterator>

#include <doctest/doctest.h>

#include "interp/runtime/reclaim.h"
#include "interp/runtime/tier.h"

using posset::interp::Reclaimer;
using posset::interp::ShortCalls;
using posset::interp::TierInterface;

namespace {

const TierInterface kTier = [] {
  TierInterface tier;
  tier.drop = [](void* code) { *static_cast<bool*>(code) = true; };
  return tier;
}();

}  // namespace

TEST_CASE("reclaim: at once when nobody runs") {
  Reclaimer reclaimer;
  Reclaimer::Slot slot(reclaimer);
  bool freed = false;
  reclaimer.retire(&kTier, &freed);
  CHECK(freed);
}

TEST_CASE("reclaim: not while somebody runs who began before") {
  Reclaimer reclaimer;
  Reclaimer::Slot early(reclaimer), late(reclaimer);
  bool freed = false;
  early.enter();
  reclaimer.retire(&kTier, &freed);
  CHECK_FALSE(freed);
  late.enter();  // cannot see it any more
  early.leave();
  CHECK(freed);
  CHECK(reclaimer.waiting() == 0);
  late.leave();
}

TEST_CASE("reclaim: not while a short call runs, which does not say since when") {
  Reclaimer reclaimer;
  ShortCalls calls;
  std::atomic<uintptr_t>& inside = calls.inside;
  Reclaimer::Slot slot(reclaimer), other(reclaimer);
  slot.watch(&calls);
  bool before = false, meanwhile = false;
  inside = 1;
  reclaimer.retire(&kTier, &before);
  CHECK_FALSE(before);
  inside = 0;
  inside = 1;  // another call, which may have seen it for all that is known
  other.enter();
  reclaimer.retire(&kTier, &meanwhile);
  other.leave();
  CHECK_FALSE(before);
  inside = 0;
  other.enter();
  other.leave();
  CHECK(before);
  CHECK(meanwhile);
  inside = 1;
  slot.watch(nullptr);
  bool after = false;
  reclaimer.retire(&kTier, &after);
  CHECK(after);
}

TEST_CASE("reclaim: while code waits the next call is no short one") {
  Reclaimer reclaimer;
  ShortCalls calls;
  Reclaimer::Slot slot(reclaimer), reader(reclaimer);
  slot.watch(&calls);
  bool freed[2] = {};
  reader.enter();
  calls.open = 1;
  reclaimer.retire(&kTier, &freed[0]);
  CHECK(calls.open == 0);
  reader.leave();
  CHECK(freed[0]);
  calls.open = 1;
  reader.enter();
  reclaimer.retire(&kTier, &freed[1]);
  CHECK(calls.open == 0);
  reader.leave();
  slot.watch(nullptr);
}

TEST_CASE("reclaim: each code waits for its own readers") {
  Reclaimer reclaimer;
  Reclaimer::Slot first(reclaimer), second(reclaimer);
  bool one = false, two = false;
  first.enter();
  reclaimer.retire(&kTier, &one);
  second.enter();
  reclaimer.retire(&kTier, &two);
  first.leave();
  CHECK(one);
  CHECK_FALSE(two);
  second.leave();
  CHECK(two);
}

TEST_CASE("reclaim: what still waits is freed with the reclaimer") {
  bool freed = false;
  {
    Reclaimer reclaimer;
    {
      Reclaimer::Pin pin(reclaimer);
      reclaimer.retire(&kTier, &freed);
      CHECK_FALSE(freed);
    }
    CHECK(freed);
  }
}

TEST_CASE("reclaim: an evaluation that ends frees a few of many, a compilation the rest") {
  Reclaimer reclaimer;
  Reclaimer::Slot slot(reclaimer);
  bool freed[1000] = {};
  const auto count = [&freed] { return std::count(std::begin(freed), std::end(freed), true); };
  slot.enter();
  for (bool& each : freed) reclaimer.retire(&kTier, &each);
  CHECK(count() == 0);
  slot.leave();
  const auto few = count();
  CHECK(few > 0);
  CHECK(few < 100);
  CHECK(freed[0]);  // the oldest first
  slot.enter();
  slot.leave();
  CHECK(count() == 2 * few);
  { Reclaimer::Pin pin(reclaimer); }
  CHECK(count() == 1000);
  CHECK(reclaimer.waiting() == 0);
}
