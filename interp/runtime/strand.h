// What of a context belongs to what runs in it: the evaluation that the host began, or a task. A context is one of these as
// long as that runs; when it waits, what it has is set aside (tasks.h) and another's takes its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "interp/runtime/fork_depth.h"
#include "interp/value/value.h"
#include "sched/base/native_stack.h"
#include "sched/base/stack_area.h"
#include "sched/base/thread_safety.h"

namespace posset::syntax {
struct FunctionDecl;
}

namespace posset::interp {

// Stacks that contexts have given back, for the next: making and giving up one costs the system more than all else that a
// context needs, for the pages and their tables. What was used far beyond the bottom goes back to the system. Any thread.
class StackPool {
 public:
  StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  sched::StackArea take(size_t bytes) noexcept;  // no memory: there is none of that size
  void give(sched::StackArea area) noexcept;

 private:
  static constexpr size_t kMost = 16;
  sched::Mutex mutex_;
  std::vector<sched::StackArea> areas_ POSSET_GUARDED_BY(mutex_);
};

// Address space for registers; pages are committed as frames touch them.
class RegisterStack {
 public:
  // As much of `most` bytes as the system has to give; where less is to be had (a container's limit on address space), less.
  // From the pool, if one is given, and back to it: the registers are as the last one left them, but for the lowest.
  explicit RegisterStack(size_t most, StackPool* pool = nullptr);
  ~RegisterStack();
  RegisterStack(const RegisterStack&) = delete;
  RegisterStack& operator=(const RegisterStack&) = delete;

  Borrowed* begin() const { return reinterpret_cast<Borrowed*>(area_.memory()); }
  // Behind it a few registers are free, so that built-ins can place arguments unchecked.
  Borrowed* end() const;

 private:
  StackPool* const pool_;
  sched::StackArea area_;
};

struct Closure;
struct ForkRecord;

// Address space for fork records (posse.h).
class ForkStack {
 public:
  // Enough for all that calls so deeply nested can leave; where the system has less to give, for fewer.
  explicit ForkStack(uint32_t nested_calls, StackPool* pool = nullptr);
  ~ForkStack();
  ForkStack(const ForkStack&) = delete;
  ForkStack& operator=(const ForkStack&) = delete;

  // Below it lies one that nobody has left, which belongs to no frame.
  ForkRecord* begin() const;
  uint32_t asked_calls() const { return asked_calls_; }
  uint32_t calls() const;

 private:
  const uint32_t asked_calls_;
  StackPool* const pool_;
  sched::StackArea area_;
};

struct Strand {
  // Native stack: recursive C++ asks before it recurses, and goes on elsewhere when little is left (Context::on_fresh_stack).
  sched::StackChain native;
  uint32_t depth = 0;  // nested calls of scripts, and evaluations that functions of the host begin
  uint32_t depth_limit = 100000;
  // Evaluations around what runs (posset::api::Evaluation). Tasks and parts are within one that is not theirs, so that none
  // they begin is the outermost.
  static constexpr uint32_t kWithin = 2;
  uint32_t evaluations = kWithin;
  // How many there are around the function of the host that runs here and lets those wait that it begins (native.h);
  // kNowhere: it does not, or there is none.
  static constexpr uint32_t kNowhere = UINT32_MAX;
  uint32_t may_yield_within = kNowhere;

  // Has the stack for its registers, `most_bytes` of it at most, and nothing on it; one for which there was no memory has
  // room for none. The stack must have been left as it was found.
  void stand_on(const RegisterStack& stack, size_t most_bytes);
  // From here on so much of it.
  void bound_registers(const RegisterStack& stack, size_t most_bytes);

  // The register stack: the first free one, and the end.
  Borrowed* stack_top = nullptr;
  Borrowed* stack_end = nullptr;
  bool has_stack(size_t registers) const { return static_cast<size_t>(stack_end - stack_top) >= registers; }
  // And above them for what built-ins count on.
  static constexpr size_t kSpareRegisters = 64;
  bool has_stack_for(size_t arguments) const { return has_stack(arguments + kSpareRegisters); }

  // Behind the last fork record that has been left; null: nothing here leaves any. Below the base lie those of others, on
  // top of which this runs.
  ForkRecord* fork_top = nullptr;
  ForkRecord* fork_base = nullptr;
  ForkDepth fork_depth;
  void begin_forks(ForkRecord* place) {
    fork_top = fork_base = place;
    fork_depth.begin(depth);
  }

  // The function whose linear recursion leaves what is small for later (walker.h): its next call does.
  const syntax::FunctionDecl* small_sides_later = nullptr;

  // How native code of a loop was left (bytecode::Leave), when it did not fail.
  uint8_t native_leave = 0;

  Value scratch;              // see place.h
  Borrowed* grown = nullptr;  // the map into which the walk to a place has inserted, see there
  // Keeps a fresh value alive that tier 1 uses through a view in the next instructions (a slice, a part of
  // an error value). Few such views are in use at once; kKeptViews of them are kept, at the bottom of the register stack,
  // then overwritten.
  static constexpr size_t kKeptViews = 8;
  void keep_view(Value v) { release(std::exchange(kept_views_[next_view_++ % kKeptViews], v.take())); }
  bool keeps_views() const { return next_view_ != 0; }
  void drop_kept_views() {
    if (!kept_views_) return;
    for (size_t i = 0; i < kKeptViews; ++i) release(std::exchange(kept_views_[i], Borrowed::nil()));
    next_view_ = 0;
  }

 private:
  Borrowed* kept_views_ = nullptr;  // null: without a stack nothing can run that keeps one
  size_t next_view_ = 0;
};

// A strand that has been set aside while others run, as bytes: so a switch between tasks takes two copies, where moving member
// by member takes three times as long. What stays behind belongs to nobody: whoever comes next lays its own over it, or begins one there.
class StrandAside {
 public:
  explicit StrandAside(const Strand& strand) { std::memcpy(bytes_, &strand, sizeof(Strand)); }
  StrandAside(const StrandAside&) = delete;
  StrandAside& operator=(const StrandAside&) = delete;
  // Once: it has all that is its own again.
  void come_back(Strand& strand) const { std::memcpy(static_cast<void*>(&strand), bytes_, sizeof(Strand)); }
  static void begin(Strand& over) { new (&over) Strand; }

 private:
  // Behind a strand a context may have members of its own, which are none of its bytes.
  struct Follower : Strand {
    char own;
  };
  static_assert(sizeof(Follower) > sizeof(Strand));

  alignas(Strand) char bytes_[sizeof(Strand)];
};

}  // namespace posset::interp
