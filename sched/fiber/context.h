// A stack, and what is suspended on it: the part of fibers that knows machine and sanitizers. Switching is symmetric, from
// any context to any other of the same thread, by Boost.Context (what lies below its fiber class); stacks are NativeStack's:
// a guard page below, memory committed where it is touched.
//
// A switch takes along what the C++ runtime keeps for each thread about exceptions, so that a fiber may be suspended in
// a catch block or in a destructor during unwinding and another go on.
//
// The processor predicts where a return goes by the calls before it, and behind a switch these are the ones on the stack that
// was left. So a switch is inlined, and leaves neither a call nor a return behind it (`jump_to`): then only those returns are
// guessed wrong that the two stacks do not have in common.
//
// A context ends by returning from its body, and does so before it is destroyed. Switching while holding a mutex of the thread
// is an error of the caller.
#pragma once

#include <cassert>
#include <cstddef>
#include <cxxabi.h>
#include <memory>
#include <utility>

#include <boost/context/detail/fcontext.hpp>

#include "sched/base/native_stack.h"
#include "sched/fiber/sanitizers.h"

namespace posset::sched::fiber {

using SuspendedAt = boost::context::detail::fcontext_t;

// Goes on there, and returns when somebody goes on here: where that one is suspended. What begins there is given `argument`.
//
// Boost.Context is called and leaves by a jump, so that a call remains which no return answers: the processor would be one off
// in what it expects of each return from here to the first in common, some nanoseconds each, and there are ten. So it is jumped
// to as well. Where it leaves by a return (aarch64) the call is right.
[[gnu::always_inline]] inline SuspendedAt jump_to(SuspendedAt to, void* argument) {
#if defined(__x86_64__) && !defined(__CET__)
  SuspendedAt from;
  // As a call in all but the jump. Below the end of the stack a function may have variables: those are stepped over.
  asm volatile(
      "leaq -128(%%rsp), %%rsp\n\t"
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "jmp jump_fcontext@PLT\n"
      "1:\tleaq 128(%%rsp), %%rsp"
      : "=a"(from), "+D"(to), "+S"(argument)
      :
      : "rcx", "rdx", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
        "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
  return from;
#else
  return boost::context::detail::jump_fcontext(to, argument).fctx;
#endif
}

class Context {
 public:
  // Each on the thread it is for. That of the calling thread, which goes on in it.
  Context();
  // `body(argument)` runs when it is first switched to, on that stack. It lets no exception escape; when it returns, whoever
  // switched to it last goes on.
  Context(std::unique_ptr<NativeStack> stack, void (*body)(void*), void* argument);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // False: there was no memory for the stack, and nothing may be done with it.
  bool ok() const { return !stack_ || stack_->ok(); }
  // From this context, in which the caller is, to the other; returns when somebody switches back.
  void switch_to(Context& to) {
    assert(to.suspended_);
    to.switched_from_ = this;
    leave_for(to);
    arrive(jump_to(std::exchange(to.suspended_, nullptr), &to));
  }

  // The lowest address of the stack that may be used, which the guard page is below; null for a thread's own.
  const char* stack_low() const { return stack_ ? stack_->low() : nullptr; }
  size_t stack_bytes() const { return stack_ ? stack_->bytes() : 0; }
  // Once the body has returned.
  std::unique_ptr<NativeStack> take_stack();

 private:
  // What the C++ runtime knows of exceptions in flight (__cxa_eh_globals of the Itanium ABI).
  struct Exceptions {
    void* caught = nullptr;
    unsigned int uncaught = 0;
  };

  static void enter(boost::context::detail::transfer_t from);
  void begin();
  // The last that is done here before the switch.
  [[gnu::always_inline]] void leave_for(Context& to) {
    exceptions_ = now_;
    now_ = to.exceptions_;
    tsan_fiber_ = tsan_current();  // which another's may be, that was switched to within this one (outer_task.h)
    asan_leaves(ended_ ? nullptr : &fake_stack_, to.bottom_, to.bytes_);
    tsan_switch(to.tsan_fiber_);
  }
  // The first that is done here after a switch; `from` is where the one that switched is suspended, nowhere when it has ended.
  void arrive(SuspendedAt from) {
    asan_arrives(fake_stack_, &switched_from_->bottom_, &switched_from_->bytes_);
    if (!switched_from_->ended_) switched_from_->suspended_ = from;
  }
  static Exceptions& exceptions() { return *reinterpret_cast<Exceptions*>(abi::__cxa_get_globals()); }

  std::unique_ptr<NativeStack> stack_;
  SuspendedAt suspended_ = nullptr;  // null: it runs, or has ended
  Context* switched_from_ = nullptr;  // whoever switched to this one last
  void (*body_)(void*) = nullptr;
  void* argument_ = nullptr;
  Exceptions& now_ = exceptions();  // the thread's, which a context does not leave
  Exceptions exceptions_;
  bool ended_ = false;
  // The sanitizers' view of it; without one they are unused.
  const void* bottom_ = nullptr;
  size_t bytes_ = 0;
  void* fake_stack_ = nullptr;
  void* tsan_fiber_ = nullptr;
};

}  // namespace posset::sched::fiber
