// See outcome.h.
#include "interp/runtime/outcome.h"

#include <algorithm>
#include <new>
#include <vector>

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

bool is_zero(const std::unique_ptr<int64_t>& count) { return *count == 0; }

// A closure that a helper has made, or was not to keep, is counted by it, and not by its module.
bool counts_closures(const Context& context) {
  const bool has_made = context.live_closures && *context.live_closures != 0;
  return has_made || !std::ranges::all_of(context.counts_of_unwanted, is_zero);
}

// What dies in portions goes on counting its closures. False: no memory to remember that.
bool outlives(Context& context, std::unique_ptr<int64_t>& count) {
  if (!count || is_zero(count)) return true;
  auto& counts = context.counts_of_unwanted;
  std::erase_if(counts, is_zero);
  try {
    counts.push_back(std::move(count));
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

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
    live_closures_ = std::make_unique<int64_t>(0);
    return clone_into(*heap_, value, original, [this](const Function*) { return live_closures_.get(); });
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
  if (!live_closures_ || is_zero(live_closures_)) return context.heap.absorb(*heap_) ? std::move(value_) : Value::failure();
  return clone_into(context.heap, value_, Original{*heap_}, [&context](const Function* function) {
    return context.live_closures ? context.live_closures : &function->module->live_closures;
  });
}

void Outcome::discard(Context& context) {
  if (bytes() >= kLargeBytes && heap_->live_refs() == 0 && outlives(context, live_closures_)) {
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
