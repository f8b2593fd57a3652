// Switching by Boost.Context, and the sanitizers told about every switch: the address sanitizer where the stack is now, the
// thread sanitizer which fiber runs. Debian's Boost.Context switches by its own assembly and knows of neither.
#include "sched/fiber/context.h"

#include <cassert>
#include <cxxabi.h>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define POSSET_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define POSSET_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POSSET_ASAN 1
#elif __has_feature(thread_sanitizer)
#define POSSET_TSAN 1
#endif
#endif
#ifdef POSSET_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef POSSET_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace posset::sched::fiber {

namespace {

// Hands Boost.Context a stack that somebody else owns.
struct BorrowedStack {
  using traits_type = boost::context::stack_traits;
  boost::context::stack_context allocate() { return {}; }
  void deallocate(boost::context::stack_context&) noexcept {}
};

// The thread sanitizer's fibers. It notes on the fiber it believes to run which functions were entered.
#ifdef POSSET_TSAN
void* tsan_current() { return __tsan_get_current_fiber(); }
void* tsan_create() { return __tsan_create_fiber(0); }
void tsan_destroy(void* fiber) { __tsan_destroy_fiber(fiber); }
inline __attribute__((always_inline)) void tsan_switch(void* fiber) { __tsan_switch_to_fiber(fiber, 0); }
#else
void* tsan_current() { return nullptr; }
void* tsan_create() { return nullptr; }
void tsan_destroy(void*) {}
void tsan_switch(void*) {}
#endif

}  // namespace

Context::Exceptions& Context::exceptions() {
  return *reinterpret_cast<Exceptions*>(abi::__cxa_get_globals());
}

// The last that is done here before the switch. Inlined: the sanitizer would take the return for one on the other side.
inline __attribute__((always_inline)) void Context::leave_for(Context& to) {
  exceptions_ = now_;
  now_ = to.exceptions_;
#ifdef POSSET_ASAN
  // Null gives back what the sanitizer keeps of this stack.
  __sanitizer_start_switch_fiber(ended_ ? nullptr : &fake_stack_, to.bottom_, to.bytes_);
#endif
  tsan_switch(to.tsan_fiber_);
}

Context::Context() : tsan_fiber_(tsan_current()) {}

Context::Context(size_t stack_bytes, void (*body)(void*), void* argument)
    : stack_(std::in_place, stack_bytes), body_(body), argument_(argument) {
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
  if (!stack_ || !stack_->ok()) return;
  tsan_destroy(tsan_fiber_);
}

void Context::begin() { body_(argument_); }

// The first that is done here after a switch; `from` is what the one that switched is suspended in, empty when it ended.
void Context::arrive(boost::context::fiber&& from) {
#ifdef POSSET_ASAN
  // Where a thread's own stack is comes out when it is left.
  __sanitizer_finish_switch_fiber(fake_stack_, &switched_from_->bottom_, &switched_from_->bytes_);
#endif
  if (from) switched_from_->suspended_ = std::move(from);
}

void Context::switch_to(Context& to) {
  assert(to.suspended_);
  to.switched_from_ = this;
  leave_for(to);
  arrive(std::move(to.suspended_).resume());
}

}  // namespace posset::sched::fiber
