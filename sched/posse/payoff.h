// Whether it pays to hand parts over, by the place they come from. What is made on another processor may cost more to make there,
// and to take back, than it would have cost at home: objects in memory that the other has to get, and whose cells lie in this
// one's caches afterwards. Nobody knows that before it is tried. So where who handed something over has lost more time by it than
// doing it would have taken, nothing is handed over from there for some quanta, each time twice as many, until a try pays again.
//
// Who asks says what was lost and what it would have taken; only where the two can be compared.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

#include "sched/base/clock.h"

namespace posset::sched::posse {

class Payoff {
 public:
  static constexpr uint64_t kFirstHold = 32, kLongestHold = 1024;  // quanta
  // What a try must lose beyond what it would have taken, and an eighth of that: a thread may have been held up. One that loses half
  // of that at most pays; what lies between changes nothing.
  static constexpr int64_t kLeastLoss = kMillisecond;

  // Quanta are counted from anywhere on.
  bool is_held(const void* place, uint64_t quantum) const {
    return std::any_of(places_.begin(), places_.end(),
                       [&](const Place& each) { return each.place == place && quantum < each.held_until; });
  }

  // `lost_ns` went by waiting and taking back, `alone_ns` it would have taken. Gives for how many quanta nothing is handed over
  // from there now; 0: it pays.
  uint64_t note(const void* place, int64_t lost_ns, int64_t alone_ns, uint64_t quantum) {
    const auto found = std::find_if(places_.begin(), places_.end(), [place](const Place& each) { return each.place == place; });
    if (lost_ns <= alone_ns + alone_ns / 8 + kLeastLoss) {
      if (found != places_.end() && lost_ns <= alone_ns / 2) places_.erase(found);
      return 0;
    }
    if (found == places_.end()) return begin(place, quantum);
    found->hold = std::min(found->hold * 2, kLongestHold);
    found->held_until = quantum + found->hold;
    return found->hold;
  }

  void clear() { places_.clear(); }

 private:
  struct Place {
    const void* place;
    uint64_t hold, held_until;
  };

  // Without memory it is tried again.
  uint64_t begin(const void* place, uint64_t quantum) try {
    places_.push_back({place, kFirstHold, quantum + kFirstHold});
    return kFirstHold;
  } catch (const std::bad_alloc&) {
    return 0;
  }

  std::vector<Place> places_;  // a handful: few places branch
};

}  // namespace posset::sched::posse
