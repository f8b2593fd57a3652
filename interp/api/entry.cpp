// Entering a context: who may, and what the outermost evaluation begins and ends with.
#include "interp/api/handles.h"

#include "interp/runtime/posse.h"
#include "sched/base/asymmetric_fence.h"

namespace posset::api {

void Entry::enter() {
  const uintptr_t me = this_thread();
  if (context_->reservation.is_inside(me)) return;
  uintptr_t nobody = 0;
  // Acquire: what the thread that was inside before has written is seen.
  if (!context_->thread.compare_exchange_strong(nobody, me, std::memory_order_acquire)) {
    status_ = POSSET_BUSY;
    return;
  }
  if (!context_->reservation.take_away(me)) {
    context_->thread.store(0, std::memory_order_release);
    status_ = POSSET_BUSY;
    return;
  }
  outermost_ = true;
  context_->heap.bind_to_thread();
  context_->heap.outside.count();
}

void reserve_if_called_often(posset_context* context) {
  const uintptr_t me = this_thread();
  // Of a task of the scheduler or a nested call nothing follows.
  if (context->evaluations != 1 || context->thread.load(std::memory_order_relaxed) != me) return;
  if (context->runtime.trace || !context->reservation.has_called(me) || !sched::has_asymmetric_fence()) return;
  context->runtime.units.reclaimer.allow_light_entries();
  context->reserved_for = std::this_thread::get_id();
  context->reservation.reserve();
}

bool Evaluation::nest() {
  if (context_->depth >= context_->depth_limit) {
    context_->raise_stack_overflow();
    return false;
  }
  if (!context_->charge_one()) return false;
  ++context_->depth;
  return true;
}

void Evaluation::begin() {
  if (context_->error_pending()) context_->take_error();
  if (context_->orphans.load(std::memory_order_relaxed)) free_orphans(context_);
  from_idle_ = context_->is_idle();
  context_->begin_evaluation();
  if (context_->seat) context_->seat->begin();
  if (kind_ == Kind::Work) return;
  context_->code_slot.enter();
  context_->running.emplace(context_->runtime.control.scheduler().evaluating());
}

void end_run(posset_context* context) {
  const bool stopped = context->has_been_stopped();
  // Only when there was no memory: else they have ended.
  if (context->tasks && context->tasks->finish(Value()).failed()) context->take_error();
  context->tasks_at_work = false;
  if (context->seat) context->seat->end();
  context->runtime.control.settle(*context);
  context->running.reset();
  context->code_slot.leave();
  context->last_steps = context->steps_used();
  context->drop_kept_views();
  context->scratch = Value();
  context->end_evaluation();
  context->clear_interrupt();
  // Most of what has died in it; the rest goes with the next evaluation, and all of it where somebody waits for this one's end.
  constexpr int kPortions = 4;
  for (int i = 0; i < kPortions && !stopped; ++i) context->heap.bury_some();
  if (context->retired.size() >= context->retire_at) sweep_retired(context);
}

}  // namespace posset::api
