// Systems of the host for the asynchronous solver. See include/posset/fixpoint.h; the solver is in sched/fixpoint. Here: what
// may be asked for, the way from the solver's operator to the host's, and what is told of the end.
//
// The threads are the solver's own (ThreadExecutor), not those of a runtime: a runtime's executors are for what gives way at
// the end of a quantum.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <stop_token>
#include <string>

#include "interp/api/handles.h"
#include "sched/base/processors.h"
#include "sched/fixpoint/residual_buckets.h"
#include "sched/fixpoint/solver.h"

namespace fixpoint = posset::sched::fixpoint;
using posset::api::fill_struct;
using posset::api::goes_on;
using posset::api::read_struct;

static_assert(static_cast<int>(fixpoint::Schedule::Static) == POSSET_SCHEDULE_STATIC &&
              static_cast<int>(fixpoint::Schedule::Residual) == POSSET_SCHEDULE_RESIDUAL &&
              static_cast<int>(fixpoint::Schedule::Auto) == POSSET_SCHEDULE_AUTO);
static_assert(static_cast<int>(fixpoint::SolveStatus::Converged) == POSSET_SOLVE_CONVERGED &&
              static_cast<int>(fixpoint::SolveStatus::Diverged) == POSSET_SOLVE_DIVERGED &&
              static_cast<int>(fixpoint::SolveStatus::TimedOut) == POSSET_SOLVE_TIMED_OUT &&
              static_cast<int>(fixpoint::SolveStatus::Stopped) == POSSET_SOLVE_STOPPED &&
              static_cast<int>(fixpoint::SolveStatus::Failed) == POSSET_SOLVE_FAILED);

struct posset_stop {
  std::stop_source source;
};

namespace {

constexpr double kSecondNs = 1e9;
constexpr uint32_t kMostWorkers = 1024;  // each is a thread
constexpr double kMostSeconds = 1e9;

int64_t nanoseconds(double seconds) { return static_cast<int64_t>(std::ceil(seconds * kSecondNs)); }
double seconds(int64_t ns) { return static_cast<double>(ns) / kSecondNs; }

// The operator gave another status than POSSET_OK.
struct OperatorFailed {
  posset_status status;
  size_t i;
};

// ---- what is asked for ----

std::string not_possible(const char* what, double given, const char* instead) {
  return std::string("the ") + what + " is " + std::to_string(given) + ", not " + instead;
}

// Empty: nothing is wrong.
std::string what_is_wrong(const posset_solve_options& options) {
  const auto is_time = [](double s) { return s >= 0 && s <= kMostSeconds; };
  if (!(options.tolerance >= 0) || std::isinf(options.tolerance)) {
    return not_possible("tolerance", options.tolerance, "a number of 0 or more");
  }
  if (!(options.damping > 0 && options.damping < 2)) return not_possible("damping", options.damping, "between 0 and 2");
  if (!is_time(options.timeout_seconds)) return not_possible("time-out", options.timeout_seconds, "from 0 to 10^9 seconds");
  if (!is_time(options.progress_seconds)) {
    return not_possible("time between two reports", options.progress_seconds, "from 0 to 10^9 seconds");
  }
  if (posset::api::number_in(options.schedule) > POSSET_SCHEDULE_AUTO) return "there is no such schedule";
  if (options.workers > kMostWorkers) {
    return std::to_string(options.workers) + " workers, at most " + std::to_string(kMostWorkers);
  }
  return "";
}

std::string what_is_wrong(posset_operator f, const double* x, size_t n) {
  if (!f) return "there is no operator";
  if (!x) return "there is no start";
  if (n == 0) return "a system has at least one coordinate";
  if (n > fixpoint::kMaxCoordinates) {
    return std::to_string(n) + " coordinates, at most " + std::to_string(fixpoint::kMaxCoordinates);
  }
  const double* const bad = std::find_if(x, x + n, [](double each) { return !std::isfinite(each); });
  if (bad != x + n) return "the start of coordinate " + std::to_string(bad - x) + " is " + std::to_string(*bad);
  return "";
}

// ---- progress ----

// Tells the host how far the solve has come, and of its end if it was told of anything.
class Progress {
 public:
  Progress(const posset_solve_options& asked, fixpoint::SolveOptions& options) : watch_(asked.progress), data_(asked.progress_data) {
    if (!watch_) return;
    options.progress_ns = nanoseconds(asked.progress_seconds);
    options.progress = [this](const fixpoint::SolveProgress& now) {
      last_ = {sizeof last_, "posset_solve", false, seconds(now.elapsed_ns), now.updates, now.residual};
      told_ = true;
      watch_(data_, &last_);
    };
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void end() {
    if (!told_) return;
    last_.ended = true;
    watch_(data_, &last_);
  }

 private:
  const posset_watch watch_;
  void* const data_;
  bool told_ = false;
  posset_solve_progress last_ = {};
};

// ---- the operator ----

class HostOperator {
 public:
  HostOperator(posset_operator f, void* data, const double* x, size_t n) : f_(f), data_(data), x_{x, n} {}
  HostOperator(const HostOperator&) = delete;
  HostOperator& operator=(const HostOperator&) = delete;

  double operator()(size_t i) {
    double found = 0;
    const posset_status status = f_(data_, i, &x_, &found);
    if (status != POSSET_OK) [[unlikely]] throw OperatorFailed{status, i};
    if (!std::isfinite(found)) [[unlikely]] not_finite(i);
    return found;
  }
  // The first coordinate for which it gave NaN or infinity, or SIZE_MAX.
  size_t culprit() const { return culprit_.load(std::memory_order_relaxed); }

 private:
  // Relaxed: read when the workers have ended.
  void not_finite(size_t i) {
    size_t none = SIZE_MAX;
    culprit_.compare_exchange_strong(none, i, std::memory_order_relaxed);
  }

  const posset_operator f_;
  void* const data_;
  const posset_vector x_;
  std::atomic<size_t> culprit_{SIZE_MAX};
};

// ---- what comes back ----

void say(posset_solve_result& result, std::string_view problem) {
  const size_t size = std::min(problem.size(), sizeof result.problem - 1);
  std::copy_n(problem.data(), size, result.problem);
  result.problem[size] = 0;
}

// Into the host's result, of which it knows `size` bytes.
posset_status give_result(posset_status status, const posset_solve_result& own, posset_solve_result* result) {
  const posset_status filled = fill_struct(result, own);
  return filled == POSSET_OK ? status : filled;
}

// What ended a solve that failed. POSSET_NO_MEMORY where there was none for the solver itself.
posset_status tell_failure(const std::exception_ptr& failure, posset_solve_result& result) {
  try {
    std::rethrow_exception(failure);
  } catch (const OperatorFailed& failed) {
    result.operator_status = failed.status;
    result.coordinate = failed.i;
    say(result, "the operator failed for coordinate " + std::to_string(failed.i) + ": " + posset_status_text(failed.status));
  } catch (const std::bad_alloc&) {
    say(result, posset_status_text(POSSET_NO_MEMORY));
    return POSSET_NO_MEMORY;
  } catch (const std::exception& exception) {
    say(result, exception.what());
  } catch (...) {
    say(result, "an exception of an unknown type");
  }
  return POSSET_OK;
}

void tell_divergence(size_t culprit, posset_solve_result& result) {
  result.coordinate = culprit;
  if (culprit == SIZE_MAX) return say(result, "x grew beyond all numbers");
  say(result, "the operator gave NaN or infinity for coordinate " + std::to_string(culprit));
}

void tell_history(const posset_solve_options& options, const fixpoint::SolveResult& solved) {
  if (!options.history) return;
  posset_status done = POSSET_OK;
  for (const fixpoint::ResidualPoint& point : solved.history) {
    const posset_residual_point told = {seconds(point.time_ns), point.updates, point.residual};
    if (!goes_on(options.history(options.history_data, &told), done)) return;
  }
}

posset_status tell(const fixpoint::SolveResult& solved, size_t culprit, posset_solve_result& result) {
  result.status = static_cast<posset_solve_status>(solved.status);
  result.schedule = solved.schedule == "residual" ? POSSET_SCHEDULE_RESIDUAL : POSSET_SCHEDULE_STATIC;
  result.workers = static_cast<uint32_t>(solved.workers);
  result.residual = solved.residual;
  result.seconds = seconds(solved.took_ns);
  result.updates = solved.updates;
  result.evaluations = solved.evaluations;
  result.scans = solved.scans;
  result.rebuilds = solved.rebuilds;
  result.switches = solved.switches;
  if (solved.status == fixpoint::SolveStatus::Diverged) tell_divergence(culprit, result);
  return solved.failure ? tell_failure(solved.failure, result) : POSSET_OK;
}

fixpoint::SolveOptions read_options(const posset_solve_options& asked) {
  fixpoint::SolveOptions options;
  options.alpha = asked.damping;
  options.tolerance = asked.tolerance;
  options.workers = asked.workers != 0 ? asked.workers : posset::sched::hardware_threads();
  options.schedule = static_cast<fixpoint::Schedule>(asked.schedule);
  options.timed = true;
  if (asked.timeout_seconds > 0) options.timeout_ns = nanoseconds(asked.timeout_seconds);
  return options;
}

posset_status solve(posset_runtime* runtime, HostOperator& f, std::span<double> x, const posset_solve_options& asked,
                    posset_solve_result& result) {
  const posset::sched::SystemClock own_clock;
  const posset::sched::Clock& clock = runtime ? runtime->state.clock : own_clock;
  fixpoint::ThreadExecutor threads;
  fixpoint::FixpointSolver solver(clock, threads, runtime ? runtime->state.trace.get() : nullptr);
  fixpoint::SolveOptions options = read_options(asked);
  Progress progress(asked, options);
  const fixpoint::Problem problem{x.size(), [&f](size_t i, const fixpoint::Iterate&) { return f(i); }};
  const fixpoint::SolveResult solved =
      solver.solve(problem, x, options, asked.stop ? asked.stop->source.get_token() : std::stop_token());
  progress.end();
  tell_history(asked, solved);
  return tell(solved, f.culprit(), result);
}

}  // namespace

extern "C" {

posset_stop* posset_stop_create(void) {
  try {
    return new posset_stop;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void posset_stop_request(posset_stop* stop) {
  if (stop) stop->source.request_stop();
}

bool posset_stop_requested(const posset_stop* stop) { return stop && stop->source.stop_requested(); }

void posset_stop_free(posset_stop* stop) { delete stop; }

const char* posset_solve_status_text(posset_solve_status status) {
  if (status == POSSET_SOLVE_REFUSED) return "refused";
  if (static_cast<unsigned>(status) > POSSET_SOLVE_REFUSED) return "an unknown status";
  return fixpoint::status_name(static_cast<fixpoint::SolveStatus>(status)).data();
}

posset_status posset_solve(posset_runtime* runtime, posset_operator f, void* data, double* x, size_t n,
                           const posset_solve_options* options, posset_solve_result* result) {
  if (!result || result->size < sizeof(size_t)) return POSSET_MISUSE;
  posset_solve_result own = posset_solve_result_empty();
  own.status = POSSET_SOLVE_REFUSED;
  own.coordinate = SIZE_MAX;
  own.residual = std::numeric_limits<double>::infinity();
  posset_solve_options asked = posset_solve_defaults();
  try {
    std::string wrong = read_struct(options, asked) ? what_is_wrong(asked) : "the options have no size";
    if (wrong.empty()) wrong = what_is_wrong(f, x, n);
    if (!wrong.empty()) {
      say(own, wrong);
      return give_result(POSSET_MISUSE, own, result);
    }
    HostOperator host(f, data, x, n);
    const posset_status status = solve(runtime, host, {x, n}, asked, own);
    return give_result(status, own, result);
  } catch (const std::bad_alloc&) {
    say(own, posset_status_text(POSSET_NO_MEMORY));
    return give_result(POSSET_NO_MEMORY, own, result);
  }
}

}  // extern "C"
