// A call of the host that ends later (include/posset/suspend.h): what the script that waits for it and the host that
// completes it share. One answer is taken, the first; what comes after that, or when the script waits no more, is
// refused and stays with whoever brought it. It knows no context, so it may outlive all.
//
//   Open      the script waits, or is about to
//   Answered  the script has not looked yet
//   Over      it has the answer, or has been withdrawn
//
//   Open -> Answered   `complete`, any thread         Answered -> Over   `take`, `withdraw`
//   Open -> Over       `withdraw`
//
// The lock is a leaf; the bell is rung without it.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "interp/runtime/doorbell.h"
#include "interp/runtime/error.h"
#include "interp/runtime/outside_item.h"
#include "sched/base/thread_safety.h"

namespace posset::interp {

class SuspendedCall {
 public:
  struct Failure {
    ErrorCode code;
    std::string message;
  };
  struct Dropped {};  // nobody will complete it
  // What makes the result on the thread of the script; whoever asks for it knows what it is.
  struct Finish {
    Finish() = default;
    Finish(const Finish&) = delete;
    Finish& operator=(const Finish&) = delete;
    virtual ~Finish() = default;
  };
  using Answer = std::variant<OutsideItem, Failure, Dropped, std::unique_ptr<Finish>>;

  // ---- any thread ----

  // False: nobody waits for it, and the answer is left as it is.
  bool complete(Answer&& answer) POSSET_EXCLUDES(mutex_);
  bool is_wanted() const POSSET_EXCLUDES(mutex_);

  // ---- the script's thread ----

  // Until there is an answer; others go on. False: raised.
  bool wait(Context& context) POSSET_EXCLUDES(mutex_);
  Answer take() POSSET_EXCLUDES(mutex_);
  // Nobody will look any more. Destroys an answer that is there.
  void withdraw() POSSET_EXCLUDES(mutex_);

 private:
  enum class State : uint8_t { Open, Answered, Over };

  mutable sched::Mutex mutex_;
  State state_ POSSET_GUARDED_BY(mutex_) = State::Open;
  Answer answer_ POSSET_GUARDED_BY(mutex_);
  Doorbell bell_;
};

}  // namespace posset::interp
