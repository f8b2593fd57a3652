// See evaluators.h.
#include "interp/runtime/evaluators.h"

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace posset::interp {

namespace {

namespace fiber = sched::fiber;

// As threads have, for functions of the host that count on that. Address space: memory is taken as it is touched.
constexpr size_t kFiberStackBytes = size_t{8} << 20;

}  // namespace

// Null: they have been stopped.
fiber::Executors* Evaluators::executors(sched::HybridScheduler& from) {
  const sched::MutexLock lock(mutex_);
  if (stopped_) return nullptr;
  if (!executors_) {
    fiber::Config config;
    config.workers = threads_;
    config.stack_bytes = kFiberStackBytes;
    config.max_fibers = UINT32_MAX;  // each has a context, of which the host has as many as it likes
    config.max_pending = UINT32_MAX;  // the queue has a bound
    config.tasks_last = true;
    // None of ours throws: a task that there was no memory for.
    config.on_error = [&from](std::string_view, const std::exception_ptr&) { from.cancel_one(sched::kEvalLane); };
    executors_ = std::make_unique<fiber::Executors>(clock_, std::move(config));
  }
  return executors_.get();
}

fiber::Executors* Evaluators::begun() const {
  const sched::MutexLock lock(mutex_);
  return executors_.get();
}

bool Evaluators::take_one(sched::HybridScheduler& from) try {
  fiber::Executors* const executors = this->executors(from);
  const auto run = [this, &from] {
    if (trace_) trace_->name_thread("evaluate " + std::to_string(fiber::this_fiber::worker()));
    from.run_one(sched::kEvalLane, sched::Route::Fiber);
  };
  return executors && executors->schedule(run) == fiber::Scheduled::Accepted;
} catch (const std::bad_alloc&) {
  return false;
}

void Evaluators::stop() {
  {
    const sched::MutexLock lock(mutex_);
    stopped_ = true;
  }
  if (fiber::Executors* const executors = begun()) executors->stop();
}

bool Evaluators::is_own_thread() const {
  const fiber::Executors* const executors = begun();
  return executors && executors->is_own_thread();
}

fiber::Statistics Evaluators::statistics() const {
  const fiber::Executors* const executors = begun();
  return executors ? executors->statistics() : fiber::Statistics();
}

}  // namespace posset::interp
