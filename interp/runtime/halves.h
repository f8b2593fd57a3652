// Built-ins that call a function for every element, where others may do half of it: the function is pure and a call of it
// takes long. The elements are halved down to pieces whose size depends on their number only; a piece is done from left
// to right, and before the left half is done a record of the right one is left (forks.h). What is done elsewhere gives
// a value of its own, which is added when its turn comes.
#pragma once

#include <algorithm>

#include "interp/runtime/builtins.h"
#include "interp/runtime/forks.h"
#include "interp/runtime/sharing.h"

namespace posset::interp {

// Whether it pays to leave records for calls of it.
inline bool may_split(const Context& context, Borrowed callee) {
  return context.fork_top && callee.is(Tag::Fn) && callee.as<Closure>()->function->splits;
}

// Many enough that no call of a built-in leaves more than some records at a time, and few enough that a piece is short.
inline uint64_t piece_size(uint64_t elements) { return std::max<uint64_t>(1, elements / 1024); }

// The elements [from, to) of what a call is about. `Work` says what is done with them:
//   bool piece(Context&, uint64_t from, uint64_t to, Out&) const    false: raised
//   bool add(Context&, Value part, Out&) const                      what somebody else made of a half
//   bool share(Sharing&) const
// and has a type Out, made from a Context, with Value finish().
template <class Work>
class Half final : public RightSide {
 public:
  using Out = typename Work::Out;
  Half(const Work& work, uint64_t from, uint64_t to, uint64_t piece) : work_(work), from_(from), to_(to), piece_(piece) {}

  bool share(Sharing& sharing) const override { return work_.share(sharing); }
  Value run(Context& context) override {
    Out out(context);
    return into(context, out) ? out.finish() : Value::failure();
  }

  bool into(Context& context, Out& out) const {
    if (to_ - from_ <= piece_) return work_.piece(context, from_, to_, out);
    const uint64_t middle = from_ + (to_ - from_) / 2;
    Half right(work_, middle, to_, piece_);
    BuiltinFork fork(context, right);
    if (!Half(work_, from_, middle, piece_).into(context, out)) return false;
    Value part;
    return fork.merge(part) ? work_.add(context, std::move(part), out) : right.into(context, out);
  }

 private:
  const Work& work_;
  const uint64_t from_, to_, piece_;
};

}  // namespace posset::interp
