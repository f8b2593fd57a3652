// Places from which handing over does not pay are held back for longer and longer, and again tried.
#include "sched/posse/payoff.h"

#include <doctest/doctest.h>

using namespace posset::sched;
using posset::sched::posse::Payoff;

namespace {
const int kOne = 0, kOther = 0;
}

TEST_CASE("payoff: a place that loses is held for some quanta, and others are not") {
  Payoff payoff;
  CHECK_FALSE(payoff.is_held(&kOne, 100));
  CHECK(payoff.note(&kOne, 10 * kMillisecond, 3 * kMillisecond, 100) == Payoff::kFirstHold);
  CHECK(payoff.is_held(&kOne, 100));
  CHECK(payoff.is_held(&kOne, 99 + Payoff::kFirstHold));
  CHECK_FALSE(payoff.is_held(&kOne, 100 + Payoff::kFirstHold));
  CHECK_FALSE(payoff.is_held(&kOther, 100));
}

TEST_CASE("payoff: each loss in a row holds for twice as long, up to a bound") {
  Payoff payoff;
  uint64_t expected = Payoff::kFirstHold, quantum = 1;
  for (int i = 0; i < 20; ++i) {
    const uint64_t hold = payoff.note(&kOne, 10 * kMillisecond, kMillisecond, quantum);
    CHECK(hold == expected);
    quantum += hold;
    expected = std::min(expected * 2, Payoff::kLongestHold);
  }
  CHECK(expected == Payoff::kLongestHold);
}

TEST_CASE("payoff: a try that pays ends it") {
  Payoff payoff;
  payoff.note(&kOne, 10 * kMillisecond, kMillisecond, 0);
  payoff.note(&kOne, 10 * kMillisecond, kMillisecond, 32);
  CHECK(payoff.note(&kOne, 3 * kMillisecond, 3 * kMillisecond, 96) == 0);  // neither
  CHECK(payoff.note(&kOne, 10 * kMillisecond, kMillisecond, 96) == 4 * Payoff::kFirstHold);
  CHECK(payoff.note(&kOne, kMillisecond, 3 * kMillisecond, 96) == 0);
  CHECK_FALSE(payoff.is_held(&kOne, 96));
  CHECK(payoff.note(&kOne, 10 * kMillisecond, kMillisecond, 97) == Payoff::kFirstHold);
}

TEST_CASE("payoff: little is lost by chance") {
  Payoff payoff;
  CHECK(payoff.note(&kOne, kMillisecond, 0, 0) == 0);
  CHECK(payoff.note(&kOne, 17 * kMillisecond, 16 * kMillisecond, 0) == 0);
  CHECK(payoff.note(&kOne, 20 * kMillisecond, 16 * kMillisecond, 0) == Payoff::kFirstHold);
}
