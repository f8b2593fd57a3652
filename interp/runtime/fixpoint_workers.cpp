// See fixpoint_workers.h.
#include "interp/runtime/fixpoint_workers.h"

#include <algorithm>
#include <vector>

#include "interp/runtime/aside.h"
#include "interp/runtime/builtins.h"

namespace posset::interp {

namespace fixpoint = sched::fixpoint;

namespace {

// How often who waits for the others looks at the limits.
constexpr int64_t kLookNs = 5 * sched::kMillisecond;

}  // namespace

void refuse_operator_result(Context& context, const Value& result, size_t i) {
  if (!result.failed()) {
    context.raise(ErrorCode::TypeMismatch, "the operator of fixpoint.solve must give a number, but gave " +
                                               kind_and_value(context, result) + " for i = " + std::to_string(i));
  }
  throw SolveRaised();
}

Value call_loop(const FixpointSweep& sweep, Context& context, LiveVector& x, const fixpoint::RunOfCoordinates& run,
                BufferList& at) {
  if (!run.updates) return sweep.look(context, Value::copy(x.list()), run.begin, run.end);
  if (run.at.empty()) return sweep.write(context, x, run.worker, run.begin, run.end);
  std::copy(run.at.begin(), run.at.end(), at.ints());
  return sweep.write_at(context, x, run.worker, at, run.size());
}

class FixpointWorkers::Body final : public RightSide {
 public:
  Body(const std::function<void(size_t)>& body, size_t number) : body_(body), number_(number) {}
  bool share(Sharing&) const override { return true; }
  Value run(Context& context) override {
    in(&context);
    return context.error_pending() ? Value::failure() : Value();
  }
  void skip() override { in(nullptr); }

 private:
  void in(Context* context) {
    Context* const outer = exchange_body_context(context);  // of the solve that this one is within
    body_(number_);
    exchange_body_context(outer);
  }

  const std::function<void(size_t)>& body_;
  const size_t number_;
};

void FixpointWorkers::run(size_t count, const std::function<void(size_t)>& body) {
  std::vector<Body> bodies;
  std::vector<RightSide*> parts;
  bodies.reserve(count);
  for (size_t number = 0; number < count; ++number) parts.push_back(&bodies.emplace_back(body, number));
  went_well_ = together_.run(parts);
}

std::unique_ptr<sched::fixpoint::Event> FixpointWorkers::make_event() {
  return sched::fixpoint::make_thread_event([this] { together_.look(); }, kLookNs);
}

Context& FixpointWorkers::context_at(size_t i) {
  if (Context* const context = body_context()) return *context;
  note({i, true, {}, {}});
  throw SolveRaised();
}

// With an error that is pending.
void FixpointWorkers::fail(Context& context, size_t i) {
  const ErrorCode code = context.pending_code();
  note({i, code == ErrorCode::MemoryLimit, code, context.pending_message()});
  throw SolveRaised();
}

double FixpointWorkers::evaluate(size_t i) {
  Context& context = context_at(i);
  try {
    // The vector is never counted.
    const Value result = Callback(context, f_)(Value::integer(static_cast<int64_t>(i)), Value::copy(x_.list()));
    return operator_result(context, result, i);
  } catch (const SolveRaised&) {
    fail(context, i);
  }
}

bool FixpointWorkers::evaluate_run(const fixpoint::RunOfCoordinates& run, double* found) {
  if (!sweep_) return false;
  Context& context = context_at(run[0]);
  const Value made = call_loop(*sweep_, context, x_, run, at_[run.worker]);
  if (made.failed()) fail(context, run[0]);
  if (made->is_nil()) return false;
  if (!run.updates) std::copy_n(made->as<List>()->floats(), run.size(), found);
  return true;
}

void FixpointWorkers::note(Failure failure) {
  sched::MutexLock lock(mutex_);
  if (!failure_) failure_ = std::move(failure);
}

}  // namespace posset::interp
