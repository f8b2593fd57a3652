// The operator of a script for runs of coordinates: loops in the language itself that call it, so that native code is entered
// once for a run instead of once for each coordinate, and the operator's own code takes the place of the call. They come to the
// same values in the same order, and count the same steps and the same nesting, as calls one by one do; whatever is out of the
// ordinary (an error, what is no number, NaN) is left to those, from the beginning of the run.
//
// The loops are made for each operator by itself: what the native compiler knows of a call is by the place of the call. They
// are functions like others, so once they are shared every executor can call them. The context keeps those of the last operator:
// making them takes as long as a thousand calls, and a script that solves often does so with one operator.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "interp/runtime/context.h"
#include "interp/runtime/live_list.h"
#include "interp/runtime/sharing.h"

namespace posset::interp {

class FixpointSweep {
 public:
  // `f` is a function of the script that takes two arguments and outlives this.
  FixpointSweep(Context& context, Borrowed f) : context_(context), f_(f) {}
  ~FixpointSweep();
  FixpointSweep(const FixpointSweep&) = delete;
  FixpointSweep& operator=(const FixpointSweep&) = delete;

  static bool can_call(const Context& context, Borrowed f);
  // Takes those that the context has kept. False: it has none.
  bool take_kept();
  // False: not possible here; nothing is raised.
  bool make();
  // Before other contexts than its own are given: false, where that cannot be.
  bool share(Sharing& sharing) const;

  // All of these give nil where the run has to be done one by one, and Failed for a limit.

  // The list of f(i, x) for begin <= i < end.
  Value look(Context& context, Value x, uint64_t begin, uint64_t end) const;
  // x[i] = f(i, x) for begin <= i < end, one after the other, in a vector that others may change, by its writer `w`; true when
  // it is done.
  Value write(Context& context, LiveVector& x, size_t w, uint64_t begin, uint64_t end) const;
  // The same for the coordinates `at`, so many.
  Value write_at(Context& context, LiveVector& x, size_t w, BufferList& at, size_t count) const;

 private:
  enum class Loop : uint8_t { Look, Write, WriteAt };
  // In the order of the parameters behind f; those that are lent come back.
  Value run(Context& context, Loop loop, uint64_t rounds, std::initializer_list<Borrowed> arguments) const;

  uint32_t unit() const;

  Context& context_;
  const Borrowed f_;
  ModuleInstance* module_ = nullptr;
};

}  // namespace posset::interp
