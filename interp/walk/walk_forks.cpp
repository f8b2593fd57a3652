// Tier 0: fork points, and parts of a function that are computed for somebody else.
//
// In a linear recursion, `leaf(n) + f(n - 1)`, the record that is left while the small side is done
// stands for all the rest, and nobody gains by taking it as it is. So who is given the rest (posse.h)
// goes on with the recursion first and leaves records of the small sides, one for each level. The
// function runs here then, however hot it is; what it calls beside itself runs as ever.
//
// The order shows in nothing but errors. Any in such code, wherever in it, is made one that nobody
// catches: the part has failed, and is done in its turn by the code that has left it, in the order
// of the source.
#include <algorithm>

#include "interp/runtime/call.h"
#include "interp/runtime/forks.h"
#include "interp/runtime/reach.h"
#include "interp/runtime/rounds.h"
#include "interp/runtime/work.h"
#include "interp/walk/walk.h"
#include "interp/walk/walker.h"

namespace posset::interp {

using namespace syntax;

Value Walker::visit(const ForkNode& node) {
  if (small_sides_later_) [[unlikely]] {
    if (const ForkPoint* small = small_side_of(node)) return recursion_first(node, *small);
  }
  for (uint32_t n = node.count; n-- > 0;) fork(context_, node.first + n, frame_, closure_);
  return eval(node.body);
}

Value Walker::visit(const MergeNode& node) {
  if (early_count_ != 0 && early_[early_count_ - 1].point == node.point) [[unlikely]] {
    return std::move(early_[--early_count_].value);
  }
  Value result;
  return merge(context_, node.point, frame_, result) ? std::move(result) : eval(node.body);
}

namespace {

uint32_t slots_of(const ForkPoint& point) {
  return point.inputs.empty() ? 0 : point.inputs.back() + 1;
}

}  // namespace

// Null: it is nothing of a linear recursion, or not known to be pure.
const ForkPoint* Walker::small_side_of(const ForkNode& node) const {
  const ForkPoint& recursion = decl_.forks[node.first];
  if (recursion.left_point == 0 || early_count_ == kMostEarly) return nullptr;
  const ForkPoint& small = decl_.fork_point(recursion.left_point);
  const auto is_pure = [this](const Given& given) {
    const bool local = given.from == Given::From::Local;
    return is_pure_function(local ? frame_[given.index] : closure_->captured()[given.index]);
  };
  const bool pure = std::all_of(recursion.given.begin(), recursion.given.end(), is_pure);
  return pure && context_.has_stack(slots_of(small) + 64) ? &small : nullptr;
}

Value Walker::eval_recursion(const Node* body) {
  context_.small_sides_later = &decl_;
  Value value = eval(body);
  context_.small_sides_later = nullptr;
  return value;
}

namespace {

// In the order of the source the result of the small side is there while the rest is computed. So what both
// need at once is counted as well: a limit that is too small in that order is so in the other.
class MemoryInOrder {
 public:
  explicit MemoryInOrder(Heap& heap)
      : heap_(heap), before_(heap.used_bytes()), outer_peak_(heap.begin_peak()) {}
  // Then it counts what is in use; free places that the rest has left behind would hide the small side.
  void rest_has_ended() {
    rest_needs_ = heap_.end_peak(outer_peak_) - before_;
    if (rest_needs_ > heap_.limit_bytes() / 16) heap_.trim_if_worth();
    with_rest_ = heap_.used_bytes();
  }
  // False: the limit forbids it.
  bool small_side_has_ended() {
    const size_t used = heap_.used_bytes();
    const size_t needed = before_ + used - std::min(used, with_rest_) + rest_needs_;
    return needed <= used || heap_.note_peak(needed - used);
  }

 private:
  Heap& heap_;
  const size_t before_;
  const uint64_t outer_peak_;
  size_t rest_needs_ = 0;  // more than there was before
  size_t with_rest_ = 0;
};

}  // namespace

// The small side finds its inputs as they were: what the recursion takes out of its slots comes
// back.
Value Walker::recursion_first(const ForkNode& node, const ForkPoint& small) {
  const ForkPoint& recursion = decl_.forks[node.first];
  Borrowed* const inputs = context_.stack_top;
  context_.stack_top += slots_of(small);
  for (uint32_t slot : small.inputs) retain(inputs[slot] = frame_[slot]);
  ForkRecord* const record = context_.fork_top;
  fork(context_, recursion.left_point, inputs, closure_);
  MemoryInOrder memory(context_.heap);
  Value rest = eval_recursion(recursion.body), result = Value::failure();
  memory.rest_has_ended();
  const bool ok = !rest.failed();
  const bool taken = ok && merge(context_, recursion.left_point, inputs, result);
  if (!ok) drop_forks(context_, record);
  for (uint32_t slot : small.inputs) release(std::exchange(frame_[slot], inputs[slot]));
  context_.stack_top = inputs;
  if (ok && !taken) result = eval(node.body);
  if (!result.failed() && !memory.small_side_has_ended()) result = context_.raise_memory_limit();
  if (result.failed()) return nobody_catches();
  early_[early_count_].point = node.first;
  early_[early_count_++].value = std::move(rest);
  return result;
}

Value Walker::nobody_catches() {
  while (early_count_ != 0) early_[--early_count_].value = Value();
  if (context_.limit_pending()) return Value::failure();
  context_.take_error();
  return context_.raise_memory_limit();
}

// In a frame of its own, with the inputs, which it takes; the slots behind them are free for what the
// body binds.
Value Walker::run_fork(const ForkPoint& point, Value* inputs) {
  std::fill(frame_, frame_ + function_.slot_count, Borrowed::nil());
  live_ = slots_of(point);
  for (uint32_t slot : point.inputs) frame_[slot] = inputs++->take();
  Value result = small_sides_later_ ? eval_recursion(point.body) : eval(point.body);
  if (result.failed()) context_.leave_failed();
  release_slots(0);
  return result;
}

Value evaluate_fork_walking(Context& context, Closure* closure, Value* inputs, uint32_t point) {
  const Function& function = *closure->function;
  Borrowed* frame = context.stack_top;
  if (!context.has_stack(function.slot_count + 64)) return context.raise_stack_overflow();
  context.stack_top = frame + function.slot_count;
  Value result = Walker(context, closure, frame).run_fork(function.decl->fork_point(point), inputs);
  context.stack_top = frame;
  return result;
}

// In a frame of its own, over what these rounds go over.
Value Walker::run_rounds(const Rounds& rounds, uint64_t from, uint64_t to, Value list) {
  const auto& node = *static_cast<const ComprehensionNode*>(rounds.division->node);
  std::fill(frame_, frame_ + function_.slot_count, Borrowed::nil());
  for (uint32_t slot : rounds.division->inputs) frame_[slot] = Value::copy(rounds.frame[slot]).take();
  live_ = node.hidden + kComprehensionSlots;
  Borrowed* const hidden = frame_ + node.hidden;
  const Borrowed over = rounds.hidden()[0];
  const auto at = [&](uint64_t round) { return Borrowed::integer(rounds.first + static_cast<int64_t>(round)); };
  hidden[1] = over.is_list() ? Borrowed::integer(0) : at(from);
  hidden[2] = over.is_list() ? Borrowed::integer(0) : at(to);
  hidden[kComprehensionList] = list.take();
  hidden[kComprehensionBegun] = Borrowed::integer(context_.quanta);
  Value piece;
  if (over.is_list()) {
    const auto first = static_cast<uint64_t>(rounds.first);
    piece = or_memory_limit(context_, list_slice(context_.heap, over.as<List>(), first + from, first + to));
  }
  const bool ok = !piece.failed();
  hidden[0] = ok ? piece.take() : Borrowed::nil();
  Value result = ok ? comprehension_rounds(node) : Value::failure();
  release_slots(0);
  return result;
}

Value do_rounds_walking(Context& context, const Rounds& rounds, uint64_t from, uint64_t to, Value list) {
  const Function& function = *rounds.closure->function;
  Borrowed* const frame = context.stack_top;
  if (!context.has_stack(function.slot_count + 64)) return context.raise_stack_overflow();
  context.stack_top = frame + function.slot_count;
  Value result = Walker(context, rounds.closure, frame).run_rounds(rounds, from, to, std::move(list));
  context.stack_top = frame;
  return result;
}

}  // namespace posset::interp
