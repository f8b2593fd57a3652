// Switching by Boost.Context. The sanitizers are told about every switch, else they take
// the new stack for an overflow of the old one.
#include "sched/base/native_stack.h"

#include <boost/context/fiber.hpp>
#include <exception>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define POSSET_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POSSET_ASAN 1
#endif
#endif
#ifdef POSSET_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace posset::sched {

namespace {

// Hands Boost.Context a stack that somebody else owns.
struct BorrowedStack {
  using traits_type = boost::context::stack_traits;
  boost::context::stack_context allocate() { return {}; }
  void deallocate(boost::context::stack_context&) noexcept {}
};

// What the address sanitizer remembers of a stack says nothing of what is mapped there next, another stack or anything
// else: it does not look when memory is mapped.
void forget_frames([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) {
#ifdef POSSET_ASAN
  __asan_unpoison_memory_region(memory, bytes);
#endif
}

struct SanitizerSwitch {
#ifdef POSSET_ASAN
  void* fake_stack = nullptr;
  const void* caller_bottom = nullptr;
  size_t caller_size = 0;
  void leave_caller(const void* bottom, size_t size) { __sanitizer_start_switch_fiber(&fake_stack, bottom, size); }
  void arrive() { __sanitizer_finish_switch_fiber(nullptr, &caller_bottom, &caller_size); }
  void leave_for_good() { __sanitizer_start_switch_fiber(nullptr, caller_bottom, caller_size); }
  void back() { __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr); }
#else
  void leave_caller(const void*, size_t) {}
  void arrive() {}
  void leave_for_good() {}
  void back() {}
#endif
};

}  // namespace

NativeStack::NativeStack(size_t bytes, StackArea::Use use) : area_(bytes, StackArea::Grows::Down, use) {
  if (ok()) forget_frames(area_.memory(), area_.bytes());
}

NativeStack::~NativeStack() {
  if (ok()) forget_frames(area_.memory(), area_.bytes());
}

void NativeStack::run(void (*body)(void*), void* argument) {
  boost::context::stack_context context;
  context.size = area_.bytes();
  context.sp = area_.memory() + area_.bytes();
  boost::context::preallocated place(context.sp, context.size, context);
  std::exception_ptr problem;
  SanitizerSwitch sanitizer;
  boost::context::fiber fiber(std::allocator_arg, place, BorrowedStack{},
                              [&](boost::context::fiber&& caller) {
                                sanitizer.arrive();
                                try {
                                  body(argument);
                                } catch (...) {
                                  // Also the unwinding of a fiber around, which goes on on its own stack.
                                  problem = std::current_exception();
                                }
                                sanitizer.leave_for_good();
                                return std::move(caller);
                              });
  sanitizer.leave_caller(area_.memory(), area_.bytes());
  fiber = std::move(fiber).resume();
  sanitizer.back();
  if (problem) std::rethrow_exception(problem);
}

NativeStack* StackChain::next_segment() {
  if (used_ < segments_.size()) return segments_[used_].get();
  if (segments_.size() >= kMaxSegments) return nullptr;
  auto made = std::make_unique<NativeStack>(kSegmentBytes);
  if (!made->ok()) return nullptr;
  segments_.push_back(std::move(made));
  return segments_.back().get();
}

}  // namespace posset::sched
