// reduce, sum and product over the fixed tree of language.md section 7: up to 1024 elements go from
// left to right; more are cut at n // 2, each part is done the same way, then the two are combined.
// The tree depends on the number of elements only, so floats add up to the same bits for any number
// of workers.
//
// Packed numbers take shortcuts inside a leaf that cannot change the answer: ints are added
// unchecked when they are all too small to overflow in a leaf, and once more with checks when they
// are not; they are multiplied as long as nothing overflows.
#include "interp/runtime/builtins.h"
#include "interp/runtime/callback_loop.h"
#include "interp/runtime/forks.h"
#include "interp/runtime/halves.h"

namespace posset::interp {

namespace {

// `leaf(from, to)` and `combine(left, right)` give values; a failed one stops everything.
template <class T, class Leaf, class Combine>
T over_tree(uint64_t from, uint64_t to, Leaf& leaf, Combine& combine) {
  if (to - from <= kReduceLeaf) return leaf(from, to);
  const uint64_t middle = from + (to - from) / 2;
  T left = over_tree<T>(from, middle, leaf, combine);
  if (left.failed()) return left;
  T right = over_tree<T>(middle, to, leaf, combine);
  if (right.failed()) return right;
  return combine(std::move(left), std::move(right));
}

// The same for reduce, where others may do the right sides.
class ReducedPart final : public RightSide {
 public:
  ReducedPart(Borrowed items, Borrowed callee, const TracePoint& place, uint64_t from, uint64_t to)
      : items_(items), callee_(callee), place_(place), from_(from), to_(to) {}

  bool share(Sharing& sharing) const override { return sharing.add(callee_) && sharing.add(items_); }
  TracePoint place() const override { return place_; }
  Value run(Context& context) override {
    if (to_ - from_ <= kReduceLeaf) return leaf(context);
    const uint64_t middle = from_ + (to_ - from_) / 2;
    ReducedPart right_part(items_, callee_, place_, middle, to_);
    BuiltinFork fork(context, right_part);
    Value left = ReducedPart(items_, callee_, place_, from_, middle).run(context);
    if (left.failed()) return left;
    Value right;
    if (!fork.merge(right)) right = right_part.run(context);
    return right.failed() ? std::move(right) : Callback(context, callee_)(std::move(left), std::move(right));
  }

 private:
  Value element(uint64_t i) const { return element_at(items_, i); }
  Value leaf(Context& context) const {
    Callback f(context, callee_);
    Value state = element(from_);
    for (uint64_t i = from_ + 1; i < to_ && !state.failed(); ++i) state = f(std::move(state), element(i));
    return state;
  }

  const Borrowed items_, callee_;
  const TracePoint place_;
  const uint64_t from_, to_;
};

}  // namespace

Value builtin_reduce(NativeCall& call) {
  if (!want_iterable(call, 0) || !want_function(call, 1)) return Value::failure();
  Elements elements(call.context, call[0]);
  if (!elements.ok()) return Value::failure();
  if (elements.size() == 0) return raise_empty(call, type_name(call[0].tag()));
  if (has_halves(call.context, call[0], call[1])) {
    return ReducedPart(call[0], call[1], call.context.take_call_place(), 0, elements.size()).run(call.context);
  }
  Callback f(call.context, call[1]);
  Meter meter(call.context, call[1]);
  auto leaf = [&](uint64_t from, uint64_t to) {
    Value state = elements.at(from);
    for (uint64_t i = from + 1; i < to && !state.failed(); ++i) {
      if (!meter.add(1)) return Value::failure();
      state = f(std::move(state), elements.at(i));
    }
    return state;
  };
  auto combine = [&](Value left, Value right) { return f(std::move(left), std::move(right)); };
  return over_tree<Value>(0, elements.size(), leaf, combine);
}

// ---- sum and product ----

namespace {

// Numbers need no counting, so a plain view is enough.
struct Number {
  Borrowed value;
  bool failed() const { return value.failed(); }
};

class Totals {
 public:
  Totals(NativeCall& call, BinaryOp op, const Elements& elements)
      : call_(call), op_(op), elements_(elements), meter_(call.context) {}

  Number leaf(uint64_t from, uint64_t to) {
    if (!meter_.add(to - from)) return {Borrowed::failure()};
    int64_t total = 0;
    if (op_ == BinaryOp::Add ? small_ints(from, to, total) : small_product(from, to, total)) return {Borrowed::integer(total)};
    const List* list = elements_.list();
    if (list && list->packing() == Packing::Float)
      return {Borrowed::floating(of_floats(list, from, to))};
    return one_by_one(from, to);
  }

  // As binary() does, without its detours.
  Number combine(Number left, Number right) {
    return {binary(call_.context, op_, Value::adopt(left.value), right.value).take()};
  }

 private:
  // The sum of ints so small that no sum of 1024 of them leaves 64 bits.
  bool small_ints(uint64_t from, uint64_t to, int64_t& total) const {
    constexpr uint64_t kSmall = uint64_t{1} << 52;
    uint64_t bits = 0, sum = 0;
    const List* list = elements_.list();
    if (list && list->packing() != Packing::Int) return false;
    if (list) {
      const int64_t* ints = list->data<int64_t>();
      for (uint64_t i = from; i < to; ++i) {
        bits |= static_cast<uint64_t>(ints[i] ^ (ints[i] >> 63));
        sum += static_cast<uint64_t>(ints[i]);
      }
    } else {
      for (uint64_t i = from; i < to; ++i) {
        int64_t x = elements_.range()->at(i);
        bits |= static_cast<uint64_t>(x ^ (x >> 63));
        sum += static_cast<uint64_t>(x);
      }
    }
    total = static_cast<int64_t>(sum);
    return bits < kSmall;
  }

  // The product of packed ints that stays within 64 bits on the way.
  bool small_product(uint64_t from, uint64_t to, int64_t& total) const {
    const List* list = elements_.list();
    if (!list || list->packing() != Packing::Int) return false;
    const int64_t* ints = list->data<int64_t>();
    total = ints[from];
    for (uint64_t i = from + 1; i < to; ++i) {
      if (__builtin_mul_overflow(total, ints[i], &total)) return false;
    }
    return true;
  }

  double of_floats(const List* list, uint64_t from, uint64_t to) const {
    double total = list->float_at(from);
    if (op_ == BinaryOp::Add) {
      for (uint64_t i = from + 1; i < to; ++i) total += list->float_at(i);
    } else {
      for (uint64_t i = from + 1; i < to; ++i) total *= list->float_at(i);
    }
    return total;
  }

  Number one_by_one(uint64_t from, uint64_t to) {
    Number total = checked(elements_.view(from));
    for (uint64_t i = from + 1; i < to && !total.failed(); ++i) {
      Number next = checked(elements_.view(i));
      total = next.failed() ? next : combine(total, next);
    }
    return total;
  }

  Number checked(Borrowed v) {
    if (v.is_number()) [[likely]]
      return {v};
    std::string what = op_ == BinaryOp::Add ? "cannot add up" : "cannot multiply up";
    const char* hint = "";
    if (v.is_string()) hint = "join(xs) puts strings together";
    if (v.is_list()) hint = "flat_map(xs, x => x) puts lists together";
    call_.context.raise(
        ErrorCode::WrongOperands,
        what + " the elements: expected int or float, got " + kind_and_value(call_.context, v),
        hint);
    return {Borrowed::failure()};
  }

  NativeCall& call_;
  BinaryOp op_;
  const Elements& elements_;
  Meter meter_;
};

Value total_of(NativeCall& call, BinaryOp op, int64_t of_none) {
  if (!want_iterable(call, 0)) return Value::failure();
  Elements elements(call.context, call[0]);
  if (!elements.ok()) return Value::failure();
  if (elements.size() == 0) return Value::integer(of_none);
  Totals totals(call, op, elements);
  auto leaf = [&](uint64_t from, uint64_t to) { return totals.leaf(from, to); };
  auto combine = [&](Number left, Number right) { return totals.combine(left, right); };
  return Value::adopt(over_tree<Number>(0, elements.size(), leaf, combine).value);
}

}  // namespace

Value builtin_sum(NativeCall& call) { return total_of(call, BinaryOp::Add, 0); }
Value builtin_product(NativeCall& call) { return total_of(call, BinaryOp::Mul, 1); }

}  // namespace posset::interp
