// Entering a context: who may, and what the outermost evaluation begins and ends with.
#include "interp/api/handles.h"

#include "interp/runtime/posse.h"

namespace posset::api {

void Entry::enter() {
  uintptr_t nobody = 0;
  // Acquire: what the thread that was inside before has written is seen.
  if (!context_->thread.compare_exchange_strong(nobody, this_thread(), std::memory_order_acquire)) {
    status_ = POSSET_BUSY;
    return;
  }
  outermost_ = true;
  context_->heap.bind_to_thread();
}

void Evaluation::begin() {
  if (context_->error_pending()) context_->take_error();
  if (context_->orphans.load(std::memory_order_relaxed)) free_orphans(context_);
  context_->begin_evaluation();
  if (context_->seat) context_->seat->begin();
  if (kind_ == Kind::Work) return;
  context_->code_slot.enter();
  context_->running.emplace(context_->runtime.control.scheduler().evaluating());
}

void Evaluation::end() {
  if (kind_ == Kind::Work) return;  // nothing ran
  // Only when there was no memory: else they have ended.
  if (context_->tasks && context_->tasks->finish(Value()).failed()) context_->take_error();
  if (context_->seat) context_->seat->end();
  context_->runtime.control.settle(*context_);
  context_->running.reset();
  context_->code_slot.leave();
  context_->last_steps = context_->steps_used();
  context_->clear_interrupt();
  context_->drop_kept_views();
  context_->scratch = Value();
  if (context_->retired.size() >= context_->retire_at) sweep_retired(context_);
}

}  // namespace posset::api
