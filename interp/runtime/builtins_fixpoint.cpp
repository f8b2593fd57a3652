// The module `fixpoint`: systems x = F(x) solved by the asynchronous solver (sched/fixpoint), with F a pure function of the
// script. One worker, on the thread that evaluates: the same updates in the same order every time; several where they are
// asked for and executors for pure work have nothing to do (fixpoint_workers.h).
//
// The script sees x as a list, which is the solver's vector itself and is not counted (live_list.h). A pure function can keep
// it in nothing but an error; what raises is therefore called once more, with a list that is a value like others.
#include <algorithm>
#include <cmath>
#include <new>
#include <optional>
#include <span>
#include <vector>

#include "interp/runtime/builtins.h"
#include "interp/runtime/fixpoint_sweep.h"
#include "interp/runtime/fixpoint_workers.h"
#include "interp/runtime/options.h"
#include "interp/runtime/posse.h"
#include "interp/value/list.h"
#include "interp/value/record.h"
#include "interp/value/string.h"
#include "sched/fixpoint/solver.h"

namespace posset::interp {

namespace {

namespace fixpoint = sched::fixpoint;

// What the solver keeps for each coordinate, beside the list: the vector, residuals, orders of coordinates.
constexpr size_t kBytesPerCoordinate = 40;

// What an update by buckets takes more than one by blocks, rebuilds included: 60 ns, where an operator of 17 steps takes 28
// (bench/embed/fixpoint_bench, skewed).
constexpr double kBucketSteps = 36;

class Charge {
 public:
  Charge(Heap& heap, size_t bytes) : heap_(heap), bytes_(heap.charge(bytes) ? bytes : 0), ok_(bytes_ == bytes) {}
  ~Charge() { heap_.discharge(bytes_); }
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;
  bool ok() const { return ok_; }

 private:
  Heap& heap_;
  const size_t bytes_;
  const bool ok_;
};

// ---- what is asked for ----

struct Asked {
  fixpoint::SolveOptions solve;
  Value start;  // a list of n numbers; nil: zeros
};

// Of solve(n, f, options).
bool raise_option(NativeCall& call, ErrorCode code, const std::string& problem) {
  raise_argument(call, code, 2, problem);
  return false;
}

bool is_finite_number(Borrowed v) { return v.is_number() && std::isfinite(number_of(v)); }

bool read_start(NativeCall& call, Borrowed given, Asked& asked) {
  const auto n = static_cast<uint64_t>(call[0].as_int());
  if (!given.is(Tag::List)) {
    return raise_option(call, ErrorCode::TypeMismatch, "start must be a list, got " + kind_and_value(call.context, given));
  }
  const auto* list = given.as<List>();
  if (list->size != n) {
    return raise_option(call, ErrorCode::BadArgument, "start must have n = " + std::to_string(n) + " values, but has " +
                                                          std::to_string(list->size));
  }
  for (uint64_t i = 0; i < n; ++i) {
    if (is_finite_number(list_get(list, i))) continue;
    return raise_option(call, ErrorCode::TypeMismatch,
                        "start[" + std::to_string(i) + "] must be a finite number, got " +
                            kind_and_value(call.context, list_get(list, i)));
  }
  asked.start = Value::copy(given);
  return true;
}

bool read_tolerance(NativeCall& call, Borrowed given, Asked& asked) {
  if (!is_finite_number(given) || number_of(given) < 0) {
    return raise_option(call, ErrorCode::OutOfRange,
                        "tolerance must be 0 or more, got " + kind_and_value(call.context, given));
  }
  asked.solve.tolerance = number_of(given);
  return true;
}

bool read_schedule(NativeCall& call, Borrowed given, Asked& asked) {
  struct Name {
    std::string_view name;
    fixpoint::Schedule schedule;
  };
  constexpr Name kNames[] = {{"static", fixpoint::Schedule::Static},
                             {"residual", fixpoint::Schedule::Residual},
                             {"auto", fixpoint::Schedule::Auto}};
  for (const Name& each : kNames) {
    if (!given.is_string() || string_view_of(given) != each.name) continue;
    asked.solve.schedule = each.schedule;
    return true;
  }
  return raise_option(call, ErrorCode::BadArgument,
                      "schedule must be \"static\", \"residual\" or \"auto\", got " + kind_and_value(call.context, given));
}

// As many as there are executors that have nothing to do, which `workers` of the result tells.
bool read_workers(NativeCall& call, Borrowed given, Asked& asked) {
  if (given.is_int() && given.as_int() >= 1) {
    asked.solve.workers = static_cast<size_t>(given.as_int());
    return true;
  }
  return raise_option(call, ErrorCode::OutOfRange,
                      "workers must be an int of 1 or more, got " + kind_and_value(call.context, given));
}

bool read_timeout(NativeCall& call, Borrowed given, Asked& asked) {
  return read_seconds(call, 2, "timeout", given, Least::MoreThanZero, asked.solve.timeout_ns);
}

constexpr Option<Asked> kOptions[] = {{"start", read_start},
                                      {"tolerance", read_tolerance},
                                      {"schedule", read_schedule},
                                      {"workers", read_workers},
                                      {"timeout", read_timeout}};

// ---- the operator ----

// By one worker.
class ScriptOperator {
 public:
  // `x` has one writer and outlives this. Runs have `most` coordinates at most.
  ScriptOperator(Context& context, Borrowed f, LiveVector& x, size_t most)
      : context_(context),
        f_(f),
        call_(context, f),
        x_(x),
        can_sweep_(FixpointSweep::can_call(context, f)),
        at_(Packing::Int, most) {}
  ScriptOperator(const ScriptOperator&) = delete;
  ScriptOperator& operator=(const ScriptOperator&) = delete;

  double operator()(size_t i, const fixpoint::Iterate&) {
    last_ = i;
    steps_before_ = context_.steps_used();
    ++calls_;
    return operator_result(context_, call_(Value::integer(static_cast<int64_t>(i)), Value::copy(x_.list())), i);
  }
  bool run(const fixpoint::RunOfCoordinates& run, double* found) {
    if (!sweep()) return false;
    const Value made = call_loop(*sweep_, context_, x_, run, at_);
    if (made.failed()) throw SolveRaised();
    if (made->is_nil()) return false;
    if (!run.updates) std::copy_n(made->as<List>()->floats(), run.size(), found);
    return true;
  }

  // When it has raised: the error's value may have x in it, which is no value that lasts. Of a call that is to be made once
  // more, with one that is; its steps are counted then.
  FixpointWorkers::Failure take_failure() {
    FixpointWorkers::Failure failure{last_, false, context_.pending_code(), context_.pending_message()};
    context_.take_error();
    context_.fuel += static_cast<int64_t>(context_.steps_used() - steps_before_);
    return failure;
  }

 private:
  // Small systems are solved by then; to make a sweep costs 30 us, what some thousand calls do.
  static constexpr uint64_t kCallsBefore = 2048;

  bool sweep() {
    if (!can_sweep_) return false;
    if (!sweep_) ready_ = sweep_.emplace(context_, f_).take_kept();
    if (!ready_ && calls_ >= kCallsBefore) ready_ = can_sweep_ = sweep_->make();
    return ready_;
  }

  Context& context_;
  const Borrowed f_;
  Callback call_;
  LiveVector& x_;
  size_t last_ = 0;  // of the calls one by one
  uint64_t steps_before_ = 0;
  uint64_t calls_ = 0;
  bool can_sweep_;
  bool ready_ = false;
  std::optional<FixpointSweep> sweep_;
  BufferList at_;  // of runs that are not one behind the other
};

// ---- what comes back ----

Value history_of(Context& context, const fixpoint::SolveResult& result) {
  ListBuilder list(context, result.history.size());
  for (const fixpoint::ResidualPoint& point : result.history) {
    RecordBuilder record(context.heap);
    auto set = [&](const char* name, Value v) { record.set(context.heap.shapes().symbol(name), std::move(v)); };
    set("seconds", Value::floating(static_cast<double>(point.time_ns) * 1e-9));
    set("updates", Value::integer(static_cast<int64_t>(point.updates)));
    set("residual", Value::floating(point.residual));
    Value made = or_memory_limit(context, record.finish());
    if (made.failed() || !list.push(std::move(made))) return Value::failure();
  }
  return list.finish();
}

Value answer(Context& context, const fixpoint::SolveResult& result, Value x) {
  Value history = history_of(context, result);
  if (history.failed()) return history;
  RecordBuilder record(context.heap);
  auto set = [&](const char* name, Value v) { record.set(context.heap.shapes().symbol(name), std::move(v)); };
  auto count = [&](const char* name, uint64_t n) { set(name, Value::integer(static_cast<int64_t>(n))); };
  set("x", std::move(x));
  set("status", make_string(context.heap, fixpoint::status_name(result.status)));
  set("converged", Value::boolean(result.status == fixpoint::SolveStatus::Converged));
  set("residual", Value::floating(result.residual));
  count("updates", result.updates);
  count("evaluations", result.evaluations);
  count("scans", result.scans);
  count("rebuilds", result.rebuilds);
  set("schedule", make_string(context.heap, result.schedule));
  count("workers", result.workers);
  set("seconds", Value::floating(static_cast<double>(result.took_ns) * 1e-9));
  set("history", std::move(history));
  return or_memory_limit(context, record.finish());
}

// ---- progress ----

// Tells the context's host of a solve, and of its end if it was told of anything.
class Progress {
 public:
  Progress(const Context& context, fixpoint::SolveOptions& options) : context_(context) {
    if (context.progress) options.progress = [this](const fixpoint::SolveProgress& now) { tell(now); };
  }
  ~Progress() {
    if (!told_) return;
    last_.ended = true;
    context_.progress(last_);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void tell(const fixpoint::SolveProgress& now) {
    told_ = true;
    last_ = {"fixpoint.solve", false, static_cast<double>(now.elapsed_ns) * 1e-9, now.updates, now.residual};
    context_.progress(last_);
  }

  const Context& context_;
  bool told_ = false;
  Context::Progress last_ = {};
};

// ---- one worker, or several ----

// Errors come from here, as those of all pure work do: with the vector at rest what failed elsewhere is done again.
Value raise_again(NativeCall& call, const FixpointWorkers::Failure& failure, Value x) {
  Context& context = call.context;
  if (failure.no_memory) return context.raise_memory_limit();
  const Value i = Value::integer(static_cast<int64_t>(failure.i));
  try {
    operator_result(context, Callback(context, call[1])(Value::copy(i), std::move(x)), failure.i);
  } catch (const SolveRaised&) {
    return Value::failure();
  }
  return context.raise(failure.code, failure.message);
}

std::span<double> floats_of(const Value& list) { return {list->as<List>()->floats(), list->as<List>()->size}; }

// `list`: the start, packed floats that nobody else has.
Value solve_alone(NativeCall& call, const fixpoint::SolveOptions& options, Value list) {
  Context& context = call.context;
  LiveVector x(floats_of(list), 1);
  ScriptOperator f(context, call[1], x, options.batch);
  fixpoint::ThreadExecutor here;  // one worker: the caller
  fixpoint::FixpointSolver solver(context.runtime.clock, here, context.runtime.trace.get());
  const auto run = [&f](const fixpoint::RunOfCoordinates& wanted, const fixpoint::Iterate&, double* found) {
    return f.run(wanted, found);
  };
  const fixpoint::SolveResult result = solver.solve({x.floats().size(), std::ref(f), run}, x.floats(), options);
  std::copy(x.floats().begin(), x.floats().end(), floats_of(list).begin());
  if (context.error_pending()) {
    return context.limit_pending() ? Value::failure() : raise_again(call, f.take_failure(), std::move(list));
  }
  if (result.status == fixpoint::SolveStatus::Failed) return context.raise(ErrorCode::HostError, result.problem());
  return answer(context, result, std::move(list));
}

Value solve_together(NativeCall& call, fixpoint::SolveOptions options, Together& together, const FixpointSweep* sweep,
                     Value list) {
  Context& context = call.context;
  options.workers = together.others() + 1;
  options.timed = true;  // with several workers no two solves are the same anyway
  LiveVector x(floats_of(list), options.workers);
  list = Value();
  FixpointWorkers workers(together, call[1], x, sweep, options.batch);
  fixpoint::FixpointSolver solver(context.runtime.clock, workers, context.runtime.trace.get());
  const auto f = [&workers](size_t i, const fixpoint::Iterate&) { return workers.evaluate(i); };
  const auto run = [&workers](const fixpoint::RunOfCoordinates& wanted, const fixpoint::Iterate&, double* found) {
    return workers.evaluate_run(wanted, found);
  };
  const fixpoint::SolveResult result = solver.solve({x.floats().size(), f, run}, x.floats(), options);
  // What the workers raised is gone.
  if (!workers.went_well()) return Value::failure();
  const auto failure = workers.failure();
  if (!failure && result.status == fixpoint::SolveStatus::Failed) {
    return context.raise(ErrorCode::HostError, result.problem());
  }
  Value solution = list_filled(context.heap, x.floats().size(), Borrowed::floating(0));
  if (solution.failed()) return context.raise_memory_limit();
  std::copy(x.floats().begin(), x.floats().end(), solution->as<List>()->floats());
  return failure ? raise_again(call, *failure, std::move(solution)) : answer(context, result, std::move(solution));
}

// With the executors that have been claimed, unless what f refers to cannot be read by several threads.
bool share_operator(Context& context, Borrowed f, std::optional<FixpointSweep>& sweep) {
  const Context& root = context.seat->posse_root();
  Sharing sharing(context, root), sharing_loops(context, root);
  if (!sharing.add(f)) return false;
  sharing.keep();
  if (FixpointSweep::can_call(context, f)) {
    sweep.emplace(context, f);
    if (!sweep->make() || !sweep->share(sharing_loops)) sweep.reset();
  }
  sharing_loops.keep();
  return true;
}

Value solve(NativeCall& call, const Asked& asked) {
  Context& context = call.context;
  const auto n = static_cast<uint64_t>(call[0].as_int());
  Value list = list_filled(context.heap, n, Borrowed::floating(0));
  const Charge charged(context.heap, list.failed() ? 0 : n * kBytesPerCoordinate);
  if (list.failed() || !charged.ok()) return context.raise_memory_limit();
  for (uint64_t i = 0; !asked.start->is_nil() && i < n; ++i) {
    list->as<List>()->floats()[i] = number_of(list_get(asked.start->as<List>(), i));
  }
  const auto others = static_cast<size_t>(std::min<uint64_t>(asked.solve.workers, n)) - 1;
  Together together(context, context.holds_half_shared ? 0 : others);
  fixpoint::SolveOptions options = asked.solve;
  const Progress progress(context, options);
  std::optional<FixpointSweep> sweep;
  if (together.others() != 0 && share_operator(context, call[1], sweep)) {
    return solve_together(call, options, together, sweep ? &*sweep : nullptr, std::move(list));
  }
  options.workers = 1;
  // By steps, so that the choice is the same every time, in every tier.
  options.work = [&context] { return context.steps_used(); };
  options.bucket_work = kBucketSteps;
  return solve_alone(call, options, std::move(list));
}

Value fixpoint_solve(NativeCall& call) {
  int64_t n = 0;
  if (!want_int(call, 0, n)) return Value::failure();
  if (n < 1 || n > UINT32_MAX) {
    return raise_argument(call, ErrorCode::OutOfRange, 0,
                          n < 1 ? "a system has at least one coordinate, got " + std::to_string(n)
                                : "there can be 2^32 - 1 coordinates at most, got " + std::to_string(n));
  }
  Asked asked;
  if (!want_function(call, 1) || !check_pure(call, 1, call[1], "the operator") ||
      !read_options(call, 2, kOptions, asked)) {
    return Value::failure();
  }
  try {
    return solve(call, asked);
  } catch (const std::bad_alloc&) {
    return call.context.error_pending() ? Value::failure() : call.context.raise_memory_limit();
  }
}

constexpr NativeFunction kFixpointRows[] = {
    module_function("fixpoint", "solve", "solve(n, f, options = nil)",
                    "Solves x[i] = f(i, x) for i below n; f is pure and gives a number. Options, a record: start (zeros), "
                    "tolerance (1e-6), schedule (\"auto\", \"static\", \"residual\"), workers, timeout in seconds. Gives x, "
                    "status, converged, residual, updates, evaluations, scans, rebuilds, schedule, workers, seconds, history.",
                    fixpoint_solve, 2, 3),
};

}  // namespace

void register_fixpoint_module(RuntimeState& runtime) { register_module(runtime, kFixpointRows); }

}  // namespace posset::interp
