// The vector x that is iterated, as everybody sees it while it changes. Each coordinate is read and written by itself;
// a read finds some value that was written there, not too old, and no two reads belong together. That is what
// asynchronous iteration asks for, and all it asks for.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <span>

namespace posset::sched::fixpoint {

// A view: whoever owns the memory keeps it, and leaves it alone, as long as views are used.
class Iterate {
 public:
  explicit Iterate(std::span<double> x) : x_(x) {}

  size_t size() const { return x_.size(); }
  // Relaxed, as `set`: a coordinate publishes nothing but itself.
  double operator[](size_t i) const { return std::atomic_ref<double>(x_[i]).load(std::memory_order_relaxed); }

 private:
  friend class Solve;
  void set(size_t i, double value) const { std::atomic_ref<double>(x_[i]).store(value, std::memory_order_relaxed); }

  std::span<double> x_;
};

// F_i(x). Called by all workers at the same time. May throw, which ends the solve.
using Operator = std::function<double(size_t i, const Iterate& x)>;

// F_i(x) for begin <= i < end, one after the other, into `found`: where they are updates each sees what those before it came
// to. It writes nothing to x. False: it has done nothing, and they are evaluated one by one. May throw, too.
struct RunOfCoordinates {
  size_t begin, end;
  bool updates;
};
using RunOperator = std::function<bool(const RunOfCoordinates& run, const Iterate& x, double* found)>;

}  // namespace posset::sched::fixpoint
