// When limits, interruptions and whoever waits for work are looked at behind the call of a host's function, as at the end of
// a slice of steps. What such a function does takes time and no steps, so by steps alone that would not happen for thousands
// of calls. The clock is read once in a while that calls as long as the last ones will take: rarely for short ones, each
// time for long ones. The slice goes on.
//
// Belongs to a context. Time between evaluations counts, too: then it is looked at earlier than need be.
#pragma once

#include <algorithm>
#include <cstdint>

namespace posset::interp {

class HostPace {
 public:
  // A call has ended. True: it is time to, see `look`.
  bool is_due() { return --left_ == 0; }
  // Then, with the time of a clock.
  void look(int64_t now_ns) {
    const int64_t call_ns = std::max<int64_t>(1, (now_ns - looked_ns_) / round_);
    round_ = left_ = static_cast<uint32_t>(std::clamp<int64_t>(kLookNs / call_ns, 1, kMostCalls));
    looked_ns_ = now_ns;
  }

 private:
  static constexpr int64_t kLookNs = 200'000;
  static constexpr int64_t kMostCalls = 1024;
  static constexpr uint32_t kFirstCalls = 16;
  uint32_t left_ = kFirstCalls;
  uint32_t round_ = kFirstCalls;  // calls between two looks
  int64_t looked_ns_ = 0;
};

}  // namespace posset::interp
