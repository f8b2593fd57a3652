// How much of its quantum an executor has used. Only time in which something ran counts: whoever has waited, or begins after it
// had nothing to do, begins a quantum. What goes on without a wait, such as a part that is done on top of who waits, goes on in
// the quantum there is.
//
// The unit is the caller's: nanoseconds of a clock, or steps.
#pragma once

#include <cstdint>

namespace posset::sched::posse {

class Quantum {
 public:
  explicit Quantum(int64_t length) : length_(length) {}

  // What runs looks now and then. The first look begins the quantum, so what it had just begun to do is there.
  bool has_begun() const { return began_ != kNotYet; }
  void begin(int64_t now) { began_ = now; }
  int64_t left(int64_t now) const { return length_ - (now - began_); }
  bool is_used(int64_t now) const { return left(now) <= 0; }
  // At the next look. After a wait, and when it has been used.
  void begin_anew() { began_ = kNotYet; }

 private:
  static constexpr int64_t kNotYet = -1;
  const int64_t length_;
  int64_t began_ = kNotYet;
};

}  // namespace posset::sched::posse
