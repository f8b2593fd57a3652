// See fiber_carrier.h.
#include "interp/api/fiber_carrier.h"

#include <atomic>

#include "interp/runtime/aside.h"
#include "interp/runtime/evaluators.h"
#include "interp/runtime/posse.h"
#include "sched/p2/hybrid.h"

namespace posset::api {

namespace {

interp::Evaluators& evaluators_of(posset_context& context) { return context.runtime.control.evaluators(); }

}  // namespace

void enter_context(posset_context& context) {
  // What was done to the context before came here by way of a queue.
  context.thread.store(this_thread(), std::memory_order_relaxed);
  context.heap.bind_to_thread();
  context.heap.outside.count();
}

void interrupt(posset_context& context) {
  context.interrupt();
  if (FiberCarrier* const carrier = context.carried_by.load(std::memory_order_acquire)) carrier->hurry();
}

FiberCarrier::FiberCarrier(posset_context& context)
    : context_(context),
      listener_{[](void* self) {
                  auto& it = *static_cast<FiberCarrier*>(self);
                  evaluators_of(it.context_).relay().leave(it.item_);
                },
                this, [](void* self) { static_cast<FiberCarrier*>(self)->unpark(); }},
      item_{[](void* self) { static_cast<FiberCarrier*>(self)->unpark(); }, this} {}

FiberCarrier::~FiberCarrier() {
  context_.wake_up.tell_too(nullptr);
  come_back();
  evaluators_of(context_).relay().forget(item_);
}

void FiberCarrier::set_task(sched::fiber::OuterTask* task) {
  const sched::MutexLock lock(mutex_);
  task_ = running_ = task;
}

void FiberCarrier::unpark() {
  const sched::MutexLock lock(mutex_);
  if (task_) task_->unpark();
}

// Changed by either thread: who is interrupted sees that it is, or is seen to be aside.
void FiberCarrier::hurry() {
  if (is_aside_.fetch_add(0, std::memory_order_acq_rel) != 0 && !hurries_.exchange(true)) evaluators_of(context_).hurry(1);
}

void FiberCarrier::come_back() {
  is_aside_.store(0, std::memory_order_relaxed);
  if (hurries_.exchange(false)) evaluators_of(context_).hurry(-1);
}

FiberCarrier::Ride::Ride(posset_context& context, sched::TaskContext& measured) : context_(context) {
  context_.own_evaluations = 2;  // the submission's, and that of what it runs
  if (context.idle) return;
  carrier_ = context.fiber_carrier.get();
  carrier_->measured_ = &measured;
  carrier_->since_ns_ = 0;
  carrier_->set_task(&task_);
  context.wake_up.tell_too(&carrier_->listener_);
  context.carrier = carrier_;
  context.carried_by.store(carrier_, std::memory_order_release);
}

FiberCarrier::Ride::~Ride() {
  context_.own_evaluations = 1;
  if (!carrier_) return;
  context_.carried_by.store(nullptr, std::memory_order_relaxed);
  context_.carrier = nullptr;
  carrier_->set_task(nullptr);
  carrier_->come_back();
}

bool FiberCarrier::is_pinned() const { return context_.pinning_evaluations != 0; }

template <class Body>
void FiberCarrier::aside(Body&& body) {
  const bool is_counted = context_.running.has_value();
  context_.running.reset();
  {
    const interp::Aside off(context_);
    context_.thread.store(kSubmitted, std::memory_order_release);
    const sched::TaskContext::Suspension suspension(*measured_);
    is_aside_.exchange(1, std::memory_order_acq_rel);
    if (context_.is_interrupted()) hurry();
    body();
    come_back();
  }
  enter_context(context_);
  if (is_counted) context_.running.emplace(context_.runtime.control.scheduler().evaluating());
  since_ns_ = 0;
}

void FiberCarrier::sleep(int64_t until_ns) {
  if (context_.wake_up.take()) return;
  if (is_pinned() || !evaluators_of(context_).relay().start()) {
    return context_.wake_up.wait_until(context_.runtime.clock, until_ns);
  }
  aside([&] { running_->park(until_ns, "its tasks"); });
  static_cast<void>(context_.wake_up.take());
}

void FiberCarrier::Parked::park(int64_t deadline_ns, const char* what) {
  carrier_.aside([&] { carrier_.running_->park(deadline_ns, what); });
}

int64_t FiberCarrier::Parked::now_ns() const { return evaluators_of(carrier_.context_).clock().now_ns(); }

void FiberCarrier::slice_ends() {
  context_.heap.outside.count();  // here as well: an evaluation may go on for days
  const interp::Evaluators& evaluators = evaluators_of(context_);
  const int64_t now_ns = evaluators.clock().now_ns();
  if (since_ns_ == 0) since_ns_ = now_ns;
  if (now_ns - since_ns_ < evaluators.quantum_ns() && !evaluators.is_hurried()) return;
  // What is a part of something else is waited for.
  if (is_pinned() || context_.heap.is_guarded() || (context_.seat && context_.seat->runs_part())) return;
  aside([&] { running_->yield_preempted(); });
}

}  // namespace posset::api
