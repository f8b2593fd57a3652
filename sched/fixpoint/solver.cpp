// See solver.h. Here: what may be asked for, and what to do when there are no threads to be had.
#include "sched/fixpoint/solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <system_error>

#include "sched/fixpoint/solve.h"

namespace posset::sched::fixpoint {

namespace {

// Empty: nothing is wrong.
std::string what_is_wrong(const Problem& problem, std::span<double> x, const SolveOptions& options) {
  if (!problem.f) return "there is no operator";
  if (x.size() != problem.n) {
    return "the start has " + std::to_string(x.size()) + " values for " + std::to_string(problem.n) + " coordinates";
  }
  if (problem.n > kMaxCoordinates) {
    return std::to_string(problem.n) + " coordinates, at most " + std::to_string(kMaxCoordinates);
  }
  if (!(options.alpha > 0 && options.alpha < 2)) return "alpha is " + std::to_string(options.alpha) + ", not between 0 and 2";
  if (!(options.tolerance >= 0) || std::isinf(options.tolerance)) {
    return "the tolerance is " + std::to_string(options.tolerance) + ", not a number from 0 on";
  }
  return "";
}

SolveResult refused(const std::string& why) {
  SolveResult result;
  result.status = SolveStatus::Failed;
  result.failure = std::make_exception_ptr(std::invalid_argument(why));
  result.residual = std::numeric_limits<double>::infinity();
  return result;
}

SolveOptions sane(SolveOptions options, size_t n) {
  options.workers = std::clamp<size_t>(options.workers, 1, std::max<size_t>(n, 1));
  options.batch = std::max<size_t>(options.batch, 1);
  options.buckets = sane(options.buckets);
  return options;
}

}  // namespace

std::string_view status_name(SolveStatus status) {
  constexpr std::string_view kNames[] = {"converged", "diverged", "timed out", "stopped", "failed"};
  return kNames[static_cast<size_t>(status)];
}

std::string SolveResult::problem() const {
  if (!failure) return "";
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& exception) {
    return exception.what();
  } catch (...) {
    return "the operator threw what is no std::exception";
  }
}

SolveResult FixpointSolver::solve(const Problem& problem, std::span<double> x, const SolveOptions& options,
                                  std::stop_token stop) {
  return start(nullptr, problem, x, options, stop);
}

SolveResult FixpointSolver::solve_with(Scheduler& scheduler, const Problem& problem, std::span<double> x,
                                       const SolveOptions& options, std::stop_token stop) {
  return start(&scheduler, problem, x, options, stop);
}

SolveResult FixpointSolver::start(Scheduler* custom, const Problem& problem, std::span<double> x,
                                  const SolveOptions& options, const std::stop_token& stop) {
  const std::string wrong = what_is_wrong(problem, x, options);
  if (!wrong.empty()) return refused(wrong);
  SolveOptions wanted = sane(options, problem.n);
  // Relaxed: a number, which nothing else hangs on.
  const SolveSetting setting{clock_, executor_, trace_, solves_.fetch_add(1, std::memory_order_relaxed)};
  if (wanted.workers > 1) {
    try {
      return Solve(setting, custom, problem, x, wanted, stop).run();
    } catch (const std::system_error&) {
      // There are no such threads. The caller's own will do; nothing has begun.
      wanted.workers = 1;
    }
  }
  return Solve(setting, custom, problem, x, wanted, stop).run();
}

}  // namespace posset::sched::fixpoint
