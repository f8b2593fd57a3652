// What a delegate (posse.h) has computed, on its way to the executor that wanted it. A value that consists of objects travels
// with a heap that holds nothing else, which the receiver's heap absorbs, so a large result costs its pages and not its
// objects. Whatever else it refers to is shared and belongs to those that wait for the delegate, or for whom they wait.
#pragma once

#include <cstdint>
#include <memory>

#include "interp/runtime/context.h"

namespace posset::interp {

class Outcome {
 public:
  Outcome() = default;
  ~Outcome() { drop(); }
  Outcome(const Outcome&) = delete;
  Outcome& operator=(const Outcome&) = delete;

  // Computed in the context that it is for.
  void keep(Value value) { value_ = std::move(value); }
  // Computed in that context for another. `alone`: nothing else lives in its heap. False: no memory, or the evaluation is to stop;
  // there is no result.
  bool pack(Context& context, Value value, bool alone);
  // What it holds in memory until it is taken.
  size_t bytes() const { return heap_ ? heap_->used_bytes() : 0; }

  // By the thread of the context that it is for, once. False: no room for it.
  bool take(Context& context, Value& result);
  // It is not wanted. A large one dies in portions (Heap::bury_some) in the heap of the context whose thread that is.
  void discard(Context& context);

 private:
  void drop();
  Value moved(Context& context, Value value, bool alone);
  Value taken(Context& context);

  std::unique_ptr<int64_t> live_closures_;  // in `heap_`; null: none
  std::unique_ptr<Heap> heap_;              // null: of the receiver's heap, or of none
  Value value_;
};

}  // namespace posset::interp
