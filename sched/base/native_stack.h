// Native stacks of our own. Deep recursion (the tree walker, nested built-in calls) must not depend on how
// large a stack the host's thread happens to have: when little is left, the recursion goes on on a segment
// reserved here and comes back when it returns (the technique of split stacks, by hand). Segments are
// address space with lazily committed pages and a guard page at the low end.
//
// Elsewhere: what runs on them. Fibers for tasks (sched/fiber) stand on the same segments.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace posset::sched {

// Address of the current frame; what is compared with a limit.
inline const char* stack_position() { return static_cast<const char*>(__builtin_frame_address(0)); }

class NativeStack {
 public:
  // Reserves `bytes` (rounded up to pages). `ok()` is false when the system refused address space or guard.
  explicit NativeStack(size_t bytes);
  ~NativeStack();
  NativeStack(const NativeStack&) = delete;
  NativeStack& operator=(const NativeStack&) = delete;

  bool ok() const { return memory_ != nullptr; }
  const char* low() const { return memory_; }
  size_t bytes() const { return bytes_; }

  // Runs `body(argument)` on this stack and returns when it does. An exception passes through to the
  // caller. Not reentrant: one call at a time per stack.
  void run(void (*body)(void*), void* argument);

 private:
  char* memory_ = nullptr;
  size_t bytes_ = 0;
};

// The segments of one context, in use like a stack. One thread at a time.
class StackChain {
 public:
  // What must stay free for C++ that does not ask (libraries, destructors).
  static constexpr size_t kRedZone = 64 * 1024;
  // Assumed to be there on any host thread at the point of entry.
  static constexpr size_t kHostBytes = 160 * 1024;
  static constexpr size_t kSegmentBytes = size_t{256} << 20;
  static constexpr size_t kMaxSegments = 32;

  // An evaluation begins at the caller's stack position.
  void enter() { limit_ = stack_position() - (kHostBytes - kRedZone); }
  bool low() const { return stack_position() < limit_; }
  const char* limit() const { return limit_; }
  // For compiled code that asks by itself.
  static size_t limit_offset() { return offsetof(StackChain, limit_); }
  void set_limit(const char* limit) { limit_ = limit; }

  // Calls `body()` on a further segment. False: no segment could be had, nothing was called.
  template <class Body>
  bool on_fresh_segment(Body&& body) {
    NativeStack* stack = next_segment();
    if (!stack) return false;
    const char* saved = limit_;
    limit_ = stack->low() + kRedZone;
    ++used_;
    stack->run([](void* b) { (*static_cast<std::remove_reference_t<Body>*>(b))(); }, &body);
    --used_;
    limit_ = saved;
    return true;
  }

 private:
  NativeStack* next_segment();
  std::vector<std::unique_ptr<NativeStack>> segments_;
  size_t used_ = 0;
  const char* limit_ = nullptr;
};

}  // namespace posset::sched
