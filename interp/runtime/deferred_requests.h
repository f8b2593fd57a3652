// Requests for bytecode that a context keeps to itself for a moment. Much of what becomes hot in a short evaluation, the
// lambdas and loops of a formula or of a line at a prompt, ends with it and never runs again. To hand it to the compile
// threads would cost the evaluation locks and memory that they share, and them a compilation for nothing. So requests
// wait until some more executions have gone by, a slice of steps or the evaluation has ended; what has ended with the
// evaluation is not handed over then (TierControl::settle). When as much has gone by again and the compile thread has not
// looked, it is worth a system call to wake it.
//
// Owned by a context, like it used by one thread at a time. The functions of a module that goes are forgotten before.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

namespace posset::interp {

struct Function;

class DeferredRequests {
 public:
  struct Request {
    const Function* function;
    int loop;
  };

  void add(const Request& request) {
    if (count_ == 0) executions_ = 0;
    requests_[count_++] = request;
  }
  bool is_full() const { return count_ == kMost; }
  // One more execution has gone by. True: now they have waited long enough, or those that were handed over have.
  bool wait() { return (count_ != 0 || handed_over_) && ++executions_ >= kExecutions; }
  bool empty() const { return count_ == 0; }
  // All have gone to the compile threads. `wait` tells when they should have been taken there.
  void hand_over() {
    handed_over_ = true;
    executions_ = 0;
  }
  // Whether that time has come for some; told once.
  bool take_late() { return executions_ >= kExecutions && std::exchange(handed_over_, false); }

  // Takes those of a kind out, which are visited; the others stay, and all in their order.
  template <class Is, class Visit>
  void take_if(Is&& is, Visit&& visit) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count_; ++i) {
      if (is(requests_[i])) visit(requests_[i]);
      else requests_[kept++] = requests_[i];
    }
    count_ = kept;
  }

 private:
  static constexpr uint32_t kMost = 32;
  static constexpr uint32_t kExecutions = 64;  // some microseconds in tier 0, as long as a compilation takes

  std::array<Request, kMost> requests_;
  uint32_t count_ = 0;
  uint32_t executions_ = 0;  // since the first of them, or since the last were handed over
  bool handed_over_ = false;
};

}  // namespace posset::interp
