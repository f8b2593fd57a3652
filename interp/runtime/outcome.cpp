// See outcome.h.
#include "interp/runtime/outcome.h"

#include "interp/runtime/function.h"
#include "interp/value/clone.h"

namespace posset::interp {

namespace {

// A heap with fewer objects, all of them small, is left where it is, and the value is copied: it may have much room for
// what has died.
constexpr uint64_t kFewObjects = 256;

bool is_worth_moving(const Heap& heap) {
  return heap.live_objects() >= kFewObjects || heap.has_large_blocks();
}

// A closure that a helper has made is counted by it, and not by its module.
bool counts_closures(const Context& context) { return context.live_closures && *context.live_closures != 0; }

}  // namespace

bool Outcome::pack(Context& context, Value value, bool alone) {
  if (!value->is_heap() || count_of(value->object()) == 0) {
    value_ = std::move(value);
    return true;
  }
  auto heap = std::make_unique<Heap>(context.heap.shapes(), context.limits().memory_bytes);
  heap->join(context.heap);
  heap->hooks = context.heap.hooks;
  if (alone && is_worth_moving(context.heap) && !counts_closures(context) && context.heap.live_refs() == 0) {
    context.heap.trim_pages();
    if (!heap->absorb(context.heap)) return false;
    value_ = std::move(value);
  } else {
    const Original original{context.heap, /*keeps_shared=*/!context.helps};
    value_ = clone_into(*heap, value, original, [this](const Function*) { return &live_closures_; });
    if (value_.failed()) {
      value_ = Value();
      return false;
    }
  }
  heap_ = std::move(heap);
  return true;
}

bool Outcome::take(Context& context, Value& result) {
  if (!heap_) {
    result = std::move(value_);
    return true;
  }
  heap_->bind_to_thread();
  if (live_closures_ == 0) {
    if (!context.heap.absorb(*heap_)) return false;
    result = std::move(value_);
  } else {
    result = clone_into(context.heap, value_, Original{*heap_}, [&context](const Function* function) {
      return context.live_closures ? context.live_closures : &function->module->live_closures;
    });
  }
  drop();
  return !result.failed();
}

void Outcome::drop() {
  if (heap_) heap_->bind_to_thread();
  value_ = Value();
  heap_.reset();
}

}  // namespace posset::interp
