// See context.h.
#include "sched/fiber/context.h"

#include <cassert>
#include <utility>

namespace posset::sched::fiber {

Context::Context() : tsan_fiber_(tsan_current()) {}

Context::Context(std::unique_ptr<NativeStack> stack, void (*body)(void*), void* argument)
    : stack_(std::move(stack)), body_(body), argument_(argument) {
  if (!stack_->ok()) return;
  bottom_ = stack_->low();
  bytes_ = stack_->bytes();
  tsan_fiber_ = tsan_create();
  suspended_ = boost::context::detail::make_fcontext(const_cast<char*>(stack_->low()) + stack_->bytes(), stack_->bytes(), &enter);
}

// The first on the stack, and the last.
void Context::enter(boost::context::detail::transfer_t from) {
  Context& self = *static_cast<Context*>(from.data);
  self.arrive(from.fctx);
  self.begin();
  self.ended_ = true;
  Context& to = *self.switched_from_;
  to.switched_from_ = &self;
  self.leave_for(to);
  jump_to(std::exchange(to.suspended_, nullptr), &to);
  __builtin_unreachable();
}

Context::~Context() {
  assert(!stack_ || ended_ || !stack_->ok());
  if (ended_) tsan_destroy(tsan_fiber_);
}

std::unique_ptr<NativeStack> Context::take_stack() {
  assert(ended_);
  return std::move(stack_);
}

void Context::begin() { body_(argument_); }

}  // namespace posset::sched::fiber
