// The operator of a script for runs of coordinates: a loop in the language itself that calls it, so that native code is entered
// once for a run instead of once for each coordinate, and the operator's own code takes the place of the call. It comes to the
// same values in the same order, and counts the same steps, as calls one by one do; whatever is out of the ordinary (an
// error, what is no number, NaN) is left to those, from the beginning of the run.
//
// The loop is made for each operator by itself: what the native compiler knows of a call is by the place of the call.
#pragma once

#include <cstdint>

#include "interp/runtime/context.h"

namespace posset::interp {

class FixpointSweep {
 public:
  // `f` is a function of the script that takes two arguments and outlives this.
  FixpointSweep(Context& context, Borrowed f) : context_(context), f_(f) {}
  ~FixpointSweep();
  FixpointSweep(const FixpointSweep&) = delete;
  FixpointSweep& operator=(const FixpointSweep&) = delete;

  static bool can_call(const Context& context, Borrowed f);
  // False: not possible here; nothing is raised.
  bool make();

  // x with x[i] = f(i, x) for begin <= i < end, one after the other. Nil: the run has to be done one by one. Failed: a limit.
  Value update(Value x, uint64_t begin, uint64_t end) { return run(0, std::move(x), begin, end); }
  // The list of f(i, x); as above.
  Value look(Value x, uint64_t begin, uint64_t end) { return run(1, std::move(x), begin, end); }

 private:
  Value run(size_t function, Value x, uint64_t begin, uint64_t end);

  Context& context_;
  const Borrowed f_;
  ModuleInstance* module_ = nullptr;
};

}  // namespace posset::interp
