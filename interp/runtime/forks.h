// Fork records, as code of all tiers and built-ins leave them and take them back; what they are for is said in posse.h.
//
// A context's records are a stack. A frame takes its own back in the opposite order, unless an error leaves it: who
// catches that drops what lies above. Only who runs in the context touches the stack, and whoever is called at the end of
// a slice, while nothing runs.
#pragma once

#include <cstdint>
#include <utility>

#include "interp/runtime/context.h"

namespace posset::interp {

class Delegate;
class Sharing;

// The second part of a built-in that is split in two.
class RightSide {
 public:
  virtual bool share(Sharing& sharing) const = 0;
  virtual TracePoint place() const { return {}; }
  // On any thread, with the context of that.
  virtual Value run(Context& context) = 0;
  // Instead, where it was sent to a thread that had no memory for that.
  virtual void skip() {}

 protected:
  ~RightSide() = default;
};

// What is left of a second part until its turn. Code of all tiers writes and reads them.
struct ForkRecord {
  uint64_t header;
  union {
    Borrowed* frame;     // that has left it, in whose slots the inputs are
    Delegate* delegate;  // kTaken
  };
  union {
    Closure* closure;    // that runs there
    RightSide* part;     // kBuiltin
    const Activation* activation;  // kActivation: which has the closure, and outlasts the record
  };

  // The header: what has become of it, the number of the fork point, the generation in which it was first seen (0: not yet).
  static constexpr uint64_t kTaken = 1;    // computed, or being computed
  static constexpr uint64_t kRefused = 2;  // something in it cannot be shared
  static constexpr uint64_t kBuiltin = 4;  // left by a built-in; `frame` says where on the register stack
  static constexpr uint64_t kActivation = 8;
  static constexpr uint64_t kState = kTaken | kRefused;
  static constexpr int kPointShift = 8, kStampShift = 16;
  static constexpr uint64_t fresh(uint32_t point) { return uint64_t{point} << kPointShift; }
  // So that it can be read elsewhere.
  void settle() {
    if (header & kActivation) closure = activation->closure;
    header &= ~kActivation;
  }
  uint32_t point() const { return header >> kPointShift & 0xff; }
  uint64_t stamp() const { return header >> kStampShift; }
  void set_stamp(uint64_t generation) { header |= generation << kStampShift; }
  bool is_open() const { return !(header & kState); }
  Closure* closure_of() const { return header & kActivation ? activation->closure : closure; }
  // Left by a linear recursion that goes first (walk_forks.cpp): what runs on top of it comes behind it in the source.
  bool is_small_side() const { return !(header & kBuiltin) && point() >= syntax::kMostForks; }
  // Of the same fork point of the same function, both open.
  bool continues(const ForkRecord& below) const {
    return !((header | below.header) & kBuiltin) && point() == below.point() && closure_of() == below.closure_of();
  }
};

// ---- what code does ----

inline void fork(Context& context, uint32_t point, Borrowed* frame, Closure* closure) {
  ForkRecord* const record = context.fork_top++;
  record->header = ForkRecord::fresh(point);
  record->frame = frame;
  record->closure = closure;
}

// The record on top is another's, or somebody has touched it.
bool merge_touched(Context& context, uint32_t point, const Borrowed* frame, Value& result);

// True: the result is there. False: it is to be computed now. Code that was entered in the middle may not have left a
// record: then another one lies on top, which stays.
inline bool merge(Context& context, uint32_t point, const Borrowed* frame, Value& result) {
  const ForkRecord& record = context.fork_top[-1];
  if (record.frame != frame || record.header != ForkRecord::fresh(point)) [[unlikely]] {
    return merge_touched(context, point, frame, result);
  }
  --context.fork_top;
  return false;
}

// What the record on top, which is not as that fork point of that frame leaves one, is to it: somebody has taken it; it has
// only been looked at, is to be taken off the stack, and its part to be computed now; or it is another's.
enum class LeftPart : uint8_t { Taken, Untaken, None };
LeftPart left_part(Context& context, ForkRecord& record, const Borrowed* frame, uint32_t point);

void drop_all_forks(Context& context, ForkRecord* from);
// The records of frames above that one have been left by an error, and its own but those of the points `open`, by bit.
void drop_forks_above(Context& context, const Borrowed* frame, uint32_t open);

// The records from there on have been.
inline void drop_forks(Context& context, ForkRecord* from) {
  if (context.fork_top == from) return;
  drop_all_forks(context, from);
}

// Of a record that was touched and has been taken off the stack: its result. False: it is to be computed now.
bool result_of(Context& context, ForkRecord& record, Value& result);

// A built-in's part, while it does what comes before it.
class BuiltinFork {
 public:
  BuiltinFork(Context& context, RightSide& part) : context_(context), record_(context.fork_top) {
    if (!record_) return;
    record_->header = ForkRecord::kBuiltin;
    record_->frame = context.stack_top;
    record_->part = &part;
    ++context.fork_top;
  }
  // After an error, or where it is not wanted any more.
  ~BuiltinFork() {
    if (record_) drop_forks(context_, record_);
  }
  BuiltinFork(const BuiltinFork&) = delete;
  BuiltinFork& operator=(const BuiltinFork&) = delete;

  // True: the result is there. False: it is to be computed now.
  bool merge(Value& result) {
    if (!record_) return false;
    ForkRecord* const record = std::exchange(record_, nullptr);
    context_.fork_top = record;
    return record->header != ForkRecord::kBuiltin && result_of(context_, *record, result);
  }

 private:
  Context& context_;
  ForkRecord* record_;
};

}  // namespace posset::interp
