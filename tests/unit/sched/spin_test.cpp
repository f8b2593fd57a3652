// Spinning ends with the answer or with its time; the first question is asked without looking at the clock.
#include <chrono>

#include <doctest/doctest.h>

#include "sched/base/spin.h"

using namespace posset::sched;
using namespace std::chrono_literals;

TEST_CASE("spin: asks until the answer is yes") {
  int asked = 0;
  CHECK(spin_until(1h, [&asked] { return ++asked == 100; }));
  CHECK(asked == 100);
}

TEST_CASE("spin: gives up after its time, however short a pause of this processor is") {
  const auto begin = std::chrono::steady_clock::now();
  int asked = 0;
  CHECK_FALSE(spin_until(2ms, [&asked] { return ++asked < 0; }));
  CHECK(std::chrono::steady_clock::now() - begin >= 2ms);
  CHECK(asked > 1);
}

TEST_CASE("spin: asks once more than never where there is no time") {
  int asked = 0;
  CHECK_FALSE(spin_until(0ns, [&asked] { return ++asked < 0; }));
  CHECK(asked == 2);
}
