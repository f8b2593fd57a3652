// Built-ins that call a function for every element, where others may do half of it: the function is pure and a call of it
// takes long. The elements are halved down to pieces whose size depends on their number only; a piece is done from left
// to right, and before the left half is done a record of the right one is left (forks.h). What is done elsewhere gives
// a value of its own, which is added when its turn comes. Where the result is known before the end, what has been done
// elsewhere behind that place is thrown away, and its steps are not counted.
#pragma once

#include <algorithm>
#include <utility>

#include "interp/runtime/builtins.h"
#include "interp/runtime/forks.h"
#include "interp/runtime/iterate.h"
#include "interp/runtime/sharing.h"

namespace posset::interp {

// Whether it pays to leave records for calls of it.
inline bool may_split(const Context& context, Borrowed callee) {
  return context.fork_top && callee.is(Tag::Fn) && callee.as<Closure>()->function->splits;
}
// And whether there is something to be halved.
inline bool has_halves(const Context& context, Borrowed items, Borrowed callee) {
  return (items.is_list() || items.is(Tag::Range)) && may_split(context, callee);
}
// Of a list or range.
inline Value element_at(Borrowed items, uint64_t i) {
  return items.is_list() ? list_copy(items.as<List>(), i) : Value::integer(items.as<Range>()->at(i));
}

// Many enough that no call of a built-in leaves more than some records at a time, and few enough that a piece is short.
inline uint64_t piece_size(uint64_t elements) { return std::max<uint64_t>(1, elements / 1024); }

// The elements [from, to) of what a call is about. `Work` says what is done with them:
//   bool share(Sharing&) const
//   TracePoint place                                 of the call, for the trace
// and has a type Out, made from a Context, the work and how many elements there will be, with
//   bool ok() const                                 false: raised
//   Step piece(uint64_t from, uint64_t to)          Item: go on; End: the result is known; Failed: raised
//   Step add(Value part, uint64_t from, uint64_t to)   what somebody else made of a half
//   Value part(Step)                                what has been made, for somebody else's `add`
template <class Work>
class Half final : public RightSide {
 public:
  using Out = typename Work::Out;
  Half(const Work& work, uint64_t from, uint64_t to, uint64_t piece) : work_(work), from_(from), to_(to), piece_(piece) {}

  bool share(Sharing& sharing) const override { return work_.share(sharing); }
  TracePoint place() const override { return work_.place; }
  Value run(Context& context) override {
    Out out(context, work_, to_ - from_);
    if (!out.ok()) return Value::failure();
    const Step step = into(context, out);
    return step == Step::Failed ? Value::failure() : out.part(step);
  }

  Step into(Context& context, Out& out) const {
    if (to_ - from_ <= piece_) return out.piece(from_, to_);
    const uint64_t middle = from_ + (to_ - from_) / 2;
    Half right(work_, middle, to_, piece_);
    BuiltinFork fork(context, right);
    const Step step = Half(work_, from_, middle, piece_).into(context, out);
    if (step != Step::Item) return step;
    Value part;
    return fork.merge(part) ? out.add(std::move(part), middle, to_) : right.into(context, out);
  }

 private:
  const Work& work_;
  const uint64_t from_, to_, piece_;
};

// All of them.
template <class Work>
Step in_halves(Context& context, const Work& work, typename Work::Out& out, uint64_t elements) {
  return Half<Work>(work, 0, elements, piece_size(elements)).into(context, out);
}

}  // namespace posset::interp
