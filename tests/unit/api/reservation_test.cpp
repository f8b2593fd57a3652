// The reservation of a context for a thread (interp/api/reservation.h) by itself: whoever is inside is alone there, by
// whichever way it came in.
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "interp/api/reservation.h"

using posset::api::Reservation;

namespace {

// What a context has of it, and as its work a plain number, which a thread sanitizer watches too.
struct Place {
  std::atomic<uintptr_t> thread{0};
  Reservation reservation;
  uint64_t visits = 0;
  bool inside = false;

  // By the exchange, as Entry does it, and reserved for the next time. False: somebody is inside.
  bool visit_by_exchange(uintptr_t me, bool reserves) {
    uintptr_t nobody = 0;
    if (!thread.compare_exchange_strong(nobody, me, std::memory_order_acquire)) return false;
    if (!reservation.take_away(me)) {
      thread.store(0, std::memory_order_release);
      return false;
    }
    work();
    if (reserves) reservation.reserve();
    reservation.come_back(me);
    thread.store(0, std::memory_order_release);
    return true;
  }
  bool visit_briefly(uintptr_t me) {
    if (!reservation.enter(me)) return false;
    work();
    reservation.leave();
    return true;
  }
  void work() {
    REQUIRE(!inside);
    inside = true;
    ++visits;
    inside = false;
  }
};

}  // namespace

TEST_CASE("a reservation is the owner's until somebody takes it away") {
  if (!posset::sched::has_asymmetric_fence()) return;  // then nothing is ever reserved
  Place place;
  CHECK(!place.visit_briefly(1));
  CHECK(place.visit_by_exchange(1, true));
  CHECK(place.visit_briefly(1));
  CHECK(!place.visit_briefly(2));
  CHECK(place.visit_by_exchange(1, false));  // it comes back by itself
  CHECK(place.visit_briefly(1));
  REQUIRE(place.reservation.enter(1));
  CHECK(!place.reservation.enter(1));
  CHECK(!place.visit_by_exchange(2, false));
  CHECK(!place.visit_by_exchange(1, false));  // nor may the owner come in a second time
  place.reservation.leave();
  CHECK(place.visit_briefly(1));
  CHECK(place.visit_by_exchange(2, false));
  CHECK(!place.visit_briefly(1));
}

TEST_CASE("calls that lead to a reservation double each time it is taken away") {
  Reservation reservation;
  auto calls_until_reserved = [&](uintptr_t thread) {
    int calls = 1;
    while (!reservation.has_called(thread)) ++calls;
    reservation.reserve();
    reservation.come_back(thread);
    return calls;
  };
  const int first = calls_until_reserved(1);
  CHECK(reservation.take_away(2));
  CHECK(calls_until_reserved(2) == 2 * first);
  CHECK(reservation.take_away(1));
  CHECK(calls_until_reserved(2) == 4 * first);
}

TEST_CASE("two threads that take a reservation from each other are never both inside") {
  if (!posset::sched::has_asymmetric_fence()) return;
  Place place;
  std::atomic<uint64_t> visits{0};
  auto run = [&](uintptr_t me) {
    for (int i = 0; i < 100000; ++i) {
      if (place.visit_briefly(me) || place.visit_by_exchange(me, i % 16 == 0)) ++visits;
    }
  };
  std::thread one(run, 1), two(run, 2);
  one.join();
  two.join();
  CHECK(place.visits == visits);
}
