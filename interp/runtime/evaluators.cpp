// See evaluators.h.
#include "interp/runtime/evaluators.h"

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "sched/trace_events.h"

namespace posset::interp {

namespace {

namespace fiber = sched::fiber;

// As threads have, for functions of the host that count on that. Address space: memory is taken as it is touched.
constexpr size_t kFiberStackBytes = size_t{8} << 20;

}  // namespace

fiber::Executors* Evaluators::executors() try {
  if (fiber::Executors* const there = begun()) return there;
  const sched::MutexLock lock(mutex_);
  if (stopped_) return nullptr;
  if (!executors_) {
    fiber::Config config;
    config.workers = threads_;
    config.placing = evaluating_;
    config.stack_bytes = kFiberStackBytes;
    config.max_fibers = UINT32_MAX;  // each has a context, of which the host has as many as it likes
    // More than can be in the queue: those of evaluations that were cancelled there are pending, too.
    config.max_pending = static_cast<uint32_t>(std::min<size_t>(2 * queue_.options().max_queue_size + 65'536, UINT32_MAX));
    config.tasks_last = true;
    // None of ours throws: a task that there was no memory for.
    config.on_error = [this](std::string_view, const std::exception_ptr&) { queue_.cancel_one(sched::kEvalLane); };
    if (trace_) config.on_idle = [this](int64_t took_ns) { trace_->record(static_cast<uint16_t>(sched::TraceKind::executor_idle), {took_ns}); };
    executors_ = std::make_unique<fiber::Executors>(clock_, std::move(config));
    begun_.store(executors_.get(), std::memory_order_release);
  }
  return executors_.get();
} catch (const std::bad_alloc&) {
  return nullptr;
}

bool Evaluators::take_one() try {
  fiber::Executors* const executors = this->executors();
  if (!executors) return false;
  const fiber::Scheduled answer = executors->schedule([this] {
    if (trace_) trace_->name_thread("executor " + std::to_string(fiber::this_fiber::worker()));
    queue_.run_one(sched::kEvalLane, sched::Route::Fiber);
  });
  // Where so many are pending there is one for each that waits.
  return answer == fiber::Scheduled::Accepted || answer == fiber::Scheduled::QueueFull;
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

}  // namespace posset::interp
