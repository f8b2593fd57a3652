// See evaluators.h.
#include "interp/runtime/evaluators.h"

#include <algorithm>
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
    // More than can be in the queue: those of evaluations that were cancelled there are pending, too.
    config.max_pending = static_cast<uint32_t>(std::min<size_t>(2 * from.options().max_queue_size + 65'536, UINT32_MAX));
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
  if (!executors) return false;
  const fiber::Scheduled answer = executors->schedule(run);
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
