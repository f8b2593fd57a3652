// See outcome.h.
#include "interp/runtime/outcome.h"

#include <new>

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

constexpr size_t kLargeBytes = size_t{1} << 18;  // a millisecond's objects, about

// A closure that a helper has made is counted by it, and not by its module.
bool counts_closures(const Context& context) { return context.live_closures && *context.live_closures != 0; }

}  // namespace

bool Outcome::pack(Context& context, Value value, bool alone) {
  if (alone) context.references.flush();  // of what lies in the heap
  if (!value->is_heap() || count_of(value->object()) == 0) {
    value_ = std::move(value);
    return true;
  }
  try {
    heap_ = std::make_unique<Heap>(context.heap.shapes(), context.limits().memory_bytes);
    heap_->join(context.heap);
    heap_->hooks = context.heap.hooks;
    heap_->stop_wish = context.heap.stop_wish;
    value_ = moved(context, std::move(value), alone);
    heap_->stop_wish = {};  // from here on nobody owns it
  } catch (const std::bad_alloc&) {
    value_ = Value::failure();
  }
  const bool ok = !value_.failed();
  if (!ok) discard(context);
  return ok;
}

Value Outcome::moved(Context& context, Value value, bool alone) {
  const bool half_shared = context.holds_half_shared;  // which nobody else would know
  const bool whole = alone && !half_shared && is_worth_moving(context.heap) && !counts_closures(context) && context.heap.live_refs() == 0;
  if (!whole) {
    const Original original{context.heap, /*keeps_shared=*/!context.helps && !half_shared};
    return clone_into(*heap_, value, original, [this](const Function*) { return &live_closures_; });
  }
  context.heap.bury_while_wanted();
  context.heap.trim_pages();
  return heap_->absorb(context.heap) ? std::move(value) : Value::failure();
}

bool Outcome::take(Context& context, Value& result) {
  try {
    result = taken(context);
  } catch (const std::bad_alloc&) {
    result = Value::failure();
  }
  discard(context);
  return !result.failed();
}

Value Outcome::taken(Context& context) {
  if (!heap_) return std::move(value_);
  heap_->bind_to_thread();
  if (live_closures_ == 0) return context.heap.absorb(*heap_) ? std::move(value_) : Value::failure();
  return clone_into(context.heap, value_, Original{*heap_}, [&context](const Function* function) {
    return context.live_closures ? context.live_closures : &function->module->live_closures;
  });
}

void Outcome::discard(Context& context) {
  if (bytes() >= kLargeBytes && live_closures_ == 0 && heap_->live_refs() == 0) {
    heap_->bind_to_thread();
    context.heap.absorb_overdrawn(*heap_);
    value_ = Value();
  }
  drop();
}

void Outcome::drop() {
  if (heap_) heap_->bind_to_thread();
  value_ = Value();
  heap_.reset();
}

}  // namespace posset::interp
