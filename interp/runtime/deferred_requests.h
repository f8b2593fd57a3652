// Requests for bytecode that a context keeps to itself for a moment. Much of what becomes hot in a short evaluation, the
// lambdas and loops of a formula or of a line at a prompt, ends with it and never runs again. To hand it to the compile
// threads would cost the evaluation locks and memory that they share, and them a compilation for nothing. So requests
// wait until some more executions have gone by, a slice of steps or the evaluation has ended; what has ended with the
// evaluation is not handed over then (TierControl::settle). When as much has gone by again and the compile thread has not
// looked, it is worth a system call to wake it. And when the compile threads have got nothing done for long after that,
// because the system does not let them run, who waits compiles by itself.
//
// Owned by a context, like it used by one thread at a time. The functions of a module that goes are forgotten before.
#pragma once

#include <array>
#include <cstdint>

namespace posset::interp {

struct Function;

class DeferredRequests {
 public:
  struct Request {
    const Function* function;
    int loop;
  };

  // What has become of those that were handed over.
  enum class Late : uint8_t {
    No,       // nothing is awaited, or not for long enough
    Untaken,  // they should have been taken by the compile threads
    Undone,   // so long after that has been told that they should have been compiled
  };

  void add(const Request& request) {
    if (count_ == 0) await(Late::No, kExecutions);
    requests_[count_++] = request;
  }
  bool is_full() const { return count_ == kMost; }
  // One more execution has gone by. True: now they have waited long enough, or those that were handed over have.
  bool wait() { return due_ != 0 && ++executions_ >= due_; }
  bool empty() const { return count_ == 0; }
  // All have gone to the compile threads, which have so much `done`.
  void hand_over(int64_t done) {
    done_ = done;
    await(Late::Untaken, kExecutions);
  }
  // Each is told once, and the second only if nothing has been done since they were handed over.
  Late take_late(int64_t done) {
    if (executions_ < due_) return Late::No;
    const Late late = awaited_;
    if (late == Late::Untaken) await(Late::Undone, kLong);
    else await(Late::No, 0);
    return late == Late::Undone && done != done_ ? Late::No : late;
  }

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
  static constexpr uint32_t kLong = 1024;      // longer than waking a thread and compiling take

  void await(Late late, uint32_t executions) {
    awaited_ = late;
    executions_ = 0;
    due_ = executions;
  }

  std::array<Request, kMost> requests_;
  uint32_t count_ = 0;
  uint32_t executions_ = 0;  // since the first of them, or since what is awaited began
  uint32_t due_ = 0;         // after so many; 0: never
  Late awaited_ = Late::No;  // what it is then
  int64_t done_ = 0;         // by the compile threads, when the last were handed over
};

}  // namespace posset::interp
