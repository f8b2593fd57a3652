// The asynchronous fixed-point solver: finds x with F(x) = x by letting T workers update single coordinates, each with
// what it finds in x at that moment, without waiting for each other. It converges where F contracts in the maximum
// norm (Chazan and Miranker, "Chaotic relaxation", 1969; Bertsekas 1983).
//
// A worker asks a schedule for a coordinate, evaluates the operator and writes; after a batch it looks whether
// something is due. What is due is decided by a monitor that runs on whichever worker notices; there is no thread
// for it. Convergence is only declared when all workers have come to a halt and then every residual was found within the
// tolerance; they share that scan. Otherwise they go on.
//
// With one worker everything happens on the calling thread, in the same order every time; without a time-out, and unless
// updates are to be timed, nothing depends on a clock. No thread exists before `solve` or after it.
//
//   ThreadExecutor threads;
//   FixpointSolver solver(clock, threads);
//   std::vector<double> x(n);            // the start; becomes the solution
//   SolveResult result = solver.solve({n, [&](size_t i, const Iterate& x) { return 0.5 * x[(i + 1) % n] + 1; }}, x,
//                                     {.workers = 4});
//   if (result.status != SolveStatus::Converged) ...
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "sched/base/clock.h"
#include "sched/base/trace.h"
#include "sched/fixpoint/buckets.h"
#include "sched/fixpoint/choice.h"
#include "sched/fixpoint/executor.h"
#include "sched/fixpoint/history.h"
#include "sched/fixpoint/iterate.h"
#include "sched/fixpoint/scheduler.h"

namespace posset::sched::fixpoint {

// What is to be solved: x_i = f(i, x) for all i below n.
struct Problem {
  size_t n = 0;
  Operator f;
  // The same for many coordinates at a time, where there is no damping; may be empty.
  RunOperator run = {};
};

// How far a solve has come.
struct SolveProgress {
  int64_t elapsed_ns;
  uint64_t updates;
  double residual;  // the largest, at the last scan; infinity: there was none
};

struct SolveOptions {
  double alpha = 1;         // damping, in (0, 2): x_i becomes (1 - alpha) x_i + alpha F_i(x)
  double tolerance = 1e-6;  // of |F_i(x) - x_i|, at least 0; with 0 only an exact fixed point will do
  size_t workers = 1;       // 0 means 1; there are never more than coordinates
  Schedule schedule = Schedule::Auto;
  // Auto goes by what updates cost, by the clock; else one worker does the same every time.
  bool timed = false;
  // Or by what the operator has done until now, in any unit that depends on no clock: with one
  // worker. An update by buckets costs `bucket_work` more. May be empty.
  std::function<uint64_t()> work;
  double bucket_work = 0;
  int64_t timeout_ns = kNever;  // from the beginning of the solve
  size_t batch = 2048;          // updates after which a worker looks up, at most; fewer where they are slow
  // Of the residual schedule. Twice as many as by default: with 32 all residuals above 2e-3 would be alike.
  BucketOptions buckets = {.buckets = 64};
  size_t history = 256;         // points of the residual's history that are kept
  std::function<void(const SolveProgress&)> progress;  // is told on the calling thread, while that updates or scans; may be empty
  int64_t progress_ns = 100 * kMillisecond;            // at least so long after the beginning and the last time
};

enum class SolveStatus : uint8_t {
  Converged,
  Diverged,  // the operator gave NaN or infinity, or x grew beyond all numbers; x has the values before that
  TimedOut,
  Stopped,  // by the stop token
  Failed,   // see `failure`: the operator threw, or what was asked for makes no sense
};

struct SolveResult {
  SolveStatus status = SolveStatus::Failed;
  std::exception_ptr failure;  // of Failed: the operator's own, or std::invalid_argument and its like
  double residual;             // the largest, at the last scan; infinity: there was none
  uint64_t updates = 0;        // coordinates written
  uint64_t evaluations = 0;    // calls of the operator: updates, and n for each scan
  uint64_t scans = 0;
  uint64_t rebuilds = 0;       // of the order of coordinates
  uint64_t switches = 0;       // from one schedule to another
  size_t workers = 0;          // that worked; fewer than asked for where there were not so many threads to be had
  std::string schedule;        // the last one's name
  int64_t took_ns = 0;
  std::vector<ResidualPoint> history;  // scans in the order of time, thinned evenly

  // What went wrong, for people; empty unless Failed.
  std::string problem() const;
};

std::string_view status_name(SolveStatus status);

class FixpointSolver {
 public:
  // All outlive it; `trace` may be null. Starts nothing.
  FixpointSolver(const Clock& clock, WorkerExecutor& executor, Trace* trace = nullptr)
      : clock_(clock), executor_(executor), trace_(trace) {}

  // Starts from `x`, which needs n values, and leaves the last values there, whatever the end. Until it returns `x` is the
  // workers'. Throws only std::bad_alloc. Any thread, any number of solves at a time; the operator may solve, too.
  SolveResult solve(const Problem& problem, std::span<double> x, const SolveOptions& options = {},
                    std::stop_token stop = {});
  // The same with a schedule of the caller's, which the solver initialises and, where it supports that, notifies, and
  // rebuilds with each scan. options.schedule and .buckets mean nothing.
  SolveResult solve_with(Scheduler& scheduler, const Problem& problem, std::span<double> x, const SolveOptions& options = {},
                         std::stop_token stop = {});

 private:
  SolveResult start(Scheduler* custom, const Problem& problem, std::span<double> x, const SolveOptions& options,
                    const std::stop_token& stop);

  const Clock& clock_;
  WorkerExecutor& executor_;
  Trace* const trace_;
  std::atomic<int64_t> solves_{0};  // numbers them in the trace
};

}  // namespace posset::sched::fixpoint
