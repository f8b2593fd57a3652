// Who waits for a walk over values, and for how long. A walk that may be long is given a Patience and asks it as it goes; where
// it has ended the walk gives up, and what it gives then means nothing. This layer knows no limits: whoever does implements
// one (runtime/work.h).
#pragma once

#include <cstdint>

namespace posset::interp {

// So many bytes of text are as much work as a value.
constexpr uint64_t kBytesPerUnit = 64;

class Patience {
 public:
  // So much work is about to be done, in values looked at. False: it is not wanted any more.
  bool lasts(uint64_t work = 1) {
    if (work < left_) [[likely]] {
      left_ -= work;
      return true;
    }
    ended_ = ended_ || is_over();
    left_ = ended_ ? 0 : kBetweenLooks;
    return !ended_;
  }
  bool ended() const { return ended_; }

 protected:
  Patience() = default;
  ~Patience() = default;
  Patience(const Patience&) = default;
  Patience& operator=(const Patience&) = default;

 private:
  virtual bool is_over() = 0;
  static constexpr uint64_t kBetweenLooks = 4096;  // some ten microseconds
  uint64_t left_ = kBetweenLooks;
  bool ended_ = false;
};

// For walks that may be given none.
inline bool lasts(Patience* patience, uint64_t work = 1) { return patience == nullptr || patience->lasts(work); }

}  // namespace posset::interp
