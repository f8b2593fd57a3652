// The asynchronous solver's workers, each of which evaluates a function of the script: bodies that run together on
// executors for pure work (together.h), with a context of their own there.
//
// The list that the function is given is the solver's vector itself. Nobody changes it through the list, whose count says
// that it is never counted: workers that count one object would wait for each other.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "interp/runtime/call.h"
#include "interp/runtime/options.h"
#include "interp/runtime/together.h"
#include "sched/base/thread_safety.h"
#include "sched/fixpoint/executor.h"

namespace posset::interp {

struct SolveRaised {};  // leaves the solver; the error is pending

// What the operator gave is no number, or it has raised: throws SolveRaised.
[[noreturn]] void refuse_operator_result(Context& context, const Value& result, size_t i);
// What the operator gave, as a number. Throws SolveRaised.
inline double operator_result(Context& context, const Value& result, size_t i) {
  if (!result.failed() && result->is_number()) [[likely]] return number_of(result);
  refuse_operator_result(context, result, i);
}

class FixpointWorkers final : public sched::fixpoint::WorkerExecutor {
 public:
  // What failed first, on any of them.
  struct Failure {
    size_t i;
    bool no_memory;
    ErrorCode code;
    std::string message;
  };

  // `f` has been shared, `x` is a list of packed floats that is not counted. Both outlive it.
  FixpointWorkers(Together& together, Borrowed f, Borrowed x) : together_(together), f_(f), x_(x) {}

  // Once, with `together` one more than its others at most.
  void run(size_t count, const std::function<void(size_t)>& body) override;
  std::unique_ptr<sched::fixpoint::Event> make_event() override;
  // The operator. By a body.
  double evaluate(size_t i);

  // When they have run. False: a limit or an interruption has been raised.
  bool went_well() const { return went_well_; }
  std::optional<Failure> failure() const {
    sched::MutexLock lock(mutex_);
    return failure_;
  }

 private:
  class Body;
  void note(Failure failure);

  Together& together_;
  const Borrowed f_, x_;
  bool went_well_ = true;
  mutable sched::Mutex mutex_;
  std::optional<Failure> failure_ POSSET_GUARDED_BY(mutex_);
};

}  // namespace posset::interp
