// Native stacks of our own. Deep recursion (the tree walker, nested built-in calls) must not depend on how
// large a stack the host's thread happens to have: when little is left, the recursion goes on on a segment
// reserved here and comes back when it returns (the technique of split stacks, by hand). Segments are
// address space with lazily committed pages and a guard page at the low end (stack_area.h).
//
// Elsewhere: what runs on them. Fibers for tasks (sched/fiber) stand on the same segments.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "sched/base/stack_area.h"

namespace posset::sched {

// Address of the current frame; what is compared with a limit.
inline const char* stack_position() { return static_cast<const char*>(__builtin_frame_address(0)); }

class NativeStack {
 public:
  // Reserves `bytes` (rounded up to pages). `ok()` is false when the system refused address space or guard.
  explicit NativeStack(size_t bytes, StackArea::Use use = StackArea::Use::GoesOn);
  ~NativeStack();
  NativeStack(const NativeStack&) = delete;
  NativeStack& operator=(const NativeStack&) = delete;

  bool ok() const { return area_.memory() != nullptr; }
  // Where it is not: all stacks together have what they may have, and it is for the time being.
  bool comes_later() const { return area_.comes_later(); }
  const char* low() const { return area_.memory(); }
  size_t bytes() const { return area_.bytes(); }

  // Runs `body(argument)` on this stack and returns when it does. An exception passes through to the
  // caller. Not reentrant: one call at a time per stack.
  void run(void (*body)(void*), void* argument);

 private:
  const StackArea area_;
};

// The segments of one context, in use like a stack. One thread at a time.
class StackChain {
 public:
  // What must stay free for C++ that does not ask (libraries, destructors).
  static constexpr size_t kRedZone = 64 * 1024;
  // And for functions of the host, wherever scripts call them.
  static constexpr ptrdiff_t kHostFunctionBytes = 128 * 1024;
  // Assumed to be there on any host thread at the point of entry.
  static constexpr size_t kHostBytes = 160 * 1024;
  static constexpr size_t kSegmentBytes = size_t{256} << 20;
  static constexpr size_t kMaxSegments = 32;

  // An evaluation begins at the caller's stack position and has `most` bytes, those of further segments included.
  void enter(size_t most = SIZE_MAX) { begin(kHostBytes - kRedZone, most); }
  // The same on a stack that is known to end at `low`.
  void enter(const char* low, size_t most) {
    begin(static_cast<size_t>(stack_position() - low) - kRedZone, most);
    end_ = low;
  }
  // What runs on top of another chain's work, on the same stack and then on the segments that it does not need. The other is
  // left alone until it is given back what it has.
  void go_on_from(StackChain& below) {
    segments_.swap(below.segments_);
    used_ = below.used_;
    limit_ = below.limit_;
    end_ = below.end_;
    left_ = below.left_;
  }
  void give_back(StackChain& below) { segments_.swap(below.segments_); }
  // So much is left for what does not ask, unless it is not known where the stack ends.
  bool has(ptrdiff_t bytes) const { return !end_ || stack_position() - end_ >= bytes; }
  // Has the next segment now, so that it is there when it is needed. False: it could not be had.
  bool reserve() { return next_segment() != nullptr; }
  bool low() const { return stack_position() < limit_; }
  // For compiled code that asks by itself.
  static size_t limit_offset() { return offsetof(StackChain, limit_); }

  // Calls `body()` on a further segment. False: no segment could be had, or no byte is left; nothing was called.
  template <class Body>
  bool on_fresh_segment(Body&& body) {
    NativeStack* stack = left_ > 0 ? next_segment() : nullptr;
    if (!stack) return false;
    const char* const saved = limit_;
    const char* const saved_end = std::exchange(end_, stack->low());
    const size_t saved_left = left_;
    const size_t here = std::min(stack->bytes() - kRedZone, left_);
    limit_ = stack->low() + stack->bytes() - here;
    left_ -= here;
    ++used_;
    // Also when an exception passes.
    struct Back {
      StackChain& chain;
      const char* limit;
      const char* end;
      size_t left;
      ~Back() {
        --chain.used_;
        chain.limit_ = limit;
        chain.end_ = end;
        chain.left_ = left;
      }
    } back{*this, saved, saved_end, saved_left};
    stack->run([](void* b) { (*static_cast<std::remove_reference_t<Body>*>(b))(); }, &body);
    return true;
  }

 private:
  void begin(size_t free, size_t most) {
    const size_t here = std::min(free, most);
    limit_ = stack_position() - here;
    left_ = most - here;
    end_ = nullptr;
  }
  NativeStack* next_segment();
  std::vector<std::unique_ptr<NativeStack>> segments_;
  size_t used_ = 0;
  const char* limit_ = nullptr;
  const char* end_ = nullptr;  // of the stack; null: that is the host's own
  size_t left_ = SIZE_MAX;  // bytes that further segments may have
};

}  // namespace posset::sched
