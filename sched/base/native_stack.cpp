// Segments by mmap, switching by Boost.Context. The sanitizers are told about every switch, else they take
// the new stack for an overflow of the old one.
#include "sched/base/native_stack.h"

#include <sys/mman.h>
#include <unistd.h>

#include <boost/context/fiber.hpp>
#include <exception>
#include <utility>

#include "sched/base/huge_pages.h"

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

NativeStack::NativeStack(size_t bytes) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  bytes = (bytes + page - 1) / page * page;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return;
  forget_frames(memory, bytes);
  // It splits the mapping, of which a process may have only so many. Without a guard page it is no stack.
  if (mprotect(memory, page, PROT_NONE) != 0) {
    munmap(memory, bytes);
    return;
  }
  memory_ = static_cast<char*>(memory);
  bytes_ = bytes;
  if (bytes >= 2 * kStackInSmallPages) advise_huge_pages(memory_ + page, bytes - page - kStackInSmallPages);
}

NativeStack::~NativeStack() {
  if (!memory_) return;
  forget_frames(memory_, bytes_);
  munmap(memory_, bytes_);
}

void NativeStack::run(void (*body)(void*), void* argument) {
  boost::context::stack_context context;
  context.size = bytes_;
  context.sp = memory_ + bytes_;
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
  sanitizer.leave_caller(memory_, bytes_);
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
