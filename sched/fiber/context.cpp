// See context.h.
#include "sched/fiber/context.h"

#include <cassert>
#include <utility>

namespace posset::sched::fiber {

namespace {

// Hands Boost.Context a stack that somebody else owns.
struct BorrowedStack {
  using traits_type = boost::context::stack_traits;
  boost::context::stack_context allocate() { return {}; }
  void deallocate(boost::context::stack_context&) noexcept {}
};

}  // namespace

Context::Context() : tsan_fiber_(tsan_current()) {}

Context::Context(std::unique_ptr<NativeStack> stack, void (*body)(void*), void* argument)
    : stack_(std::move(stack)), body_(body), argument_(argument) {
  if (!stack_->ok()) return;
  bottom_ = stack_->low();
  bytes_ = stack_->bytes();
  tsan_fiber_ = tsan_create();
  boost::context::stack_context memory;
  memory.size = stack_->bytes();
  memory.sp = const_cast<char*>(stack_->low()) + stack_->bytes();
  boost::context::preallocated place(memory.sp, memory.size, memory);
  // The constructor goes over to the new stack and back; there it enters a function that it does not leave until the end.
  [[maybe_unused]] void* const here = tsan_current();
  tsan_switch(tsan_fiber_);
  suspended_ = boost::context::fiber(std::allocator_arg, place, BorrowedStack{}, [this](boost::context::fiber&& from) {
    arrive(std::move(from));
    begin();
    ended_ = true;
    switched_from_->switched_from_ = this;
    leave_for(*switched_from_);
    return std::move(switched_from_->suspended_);
  });
  tsan_switch(here);
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
