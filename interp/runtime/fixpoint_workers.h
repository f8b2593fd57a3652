// The asynchronous solver's workers, each of which evaluates a function of the script: bodies that run together on
// executors for pure work (together.h), with a context of their own there.
//
// The list that the function is given is the solver's vector itself, and is not counted (live_list.h). Runs of coordinates are
// evaluated by loops in the language that write to it (fixpoint_sweep.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interp/runtime/call.h"
#include "interp/runtime/fixpoint_sweep.h"
#include "interp/runtime/live_list.h"
#include "interp/runtime/options.h"
#include "interp/runtime/together.h"
#include "sched/base/thread_safety.h"
#include "sched/fixpoint/executor.h"
#include "sched/fixpoint/iterate.h"

namespace posset::interp {

struct SolveRaised {};  // leaves the solver; the error is pending

// What the operator gave is no number, or it has raised: throws SolveRaised.
[[noreturn]] void refuse_operator_result(Context& context, const Value& result, size_t i);
// What the operator gave, as a number. Throws SolveRaised.
inline double operator_result(Context& context, const Value& result, size_t i) {
  if (!result.failed() && result->is_number()) [[likely]] return number_of(result);
  refuse_operator_result(context, result, i);
}

// The run by `sweep`, as its loops give it. `at`: room for the coordinates of one that is not one behind the other.
Value call_loop(const FixpointSweep& sweep, Context& context, LiveVector& x, const sched::fixpoint::RunOfCoordinates& run,
                BufferList& at);

class FixpointWorkers final : public sched::fixpoint::WorkerExecutor {
 public:
  // What failed first, on any of them.
  struct Failure {
    size_t i;
    bool no_memory;
    ErrorCode code;
    std::string message;
  };

  // `f` has been shared, and `sweep`, which may be null. `x` has a writer for each worker. All outlive it. Runs have `most`
  // coordinates at most.
  FixpointWorkers(Together& together, Borrowed f, LiveVector& x, const FixpointSweep* sweep, size_t most)
      : together_(together), f_(f), x_(x), sweep_(sweep), at_(together.others() + 1, BufferList(Packing::Int, most)) {}

  // Once, with `together` one more than its others at most.
  void run(size_t count, const std::function<void(size_t)>& body) override;
  std::unique_ptr<sched::fixpoint::Event> make_event() override;
  // The operator, and for runs. By a body.
  double evaluate(size_t i);
  bool evaluate_run(const sched::fixpoint::RunOfCoordinates& run, double* found);

  // When they have run. False: a limit or an interruption has been raised.
  bool went_well() const { return went_well_; }
  std::optional<Failure> failure() const {
    sched::MutexLock lock(mutex_);
    return failure_;
  }

 private:
  class Body;
  Context& context_at(size_t i);
  [[noreturn]] void fail(Context& context, size_t i);
  void note(Failure failure);

  Together& together_;
  const Borrowed f_;
  LiveVector& x_;
  const FixpointSweep* const sweep_;
  std::vector<BufferList> at_;  // by worker: the coordinates of its run
  bool went_well_ = true;
  mutable sched::Mutex mutex_;
  std::optional<Failure> failure_ POSSET_GUARDED_BY(mutex_);
};

}  // namespace posset::interp
