// The vector x that is iterated, as everybody sees it while it changes. Each coordinate is read and written by itself;
// a read finds some value that was written there, not too old, and no two reads belong together. That is what
// asynchronous iteration asks for, and all it asks for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
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

// Coordinates that a worker has at once: those of `at`, in that order, or, where that is empty, begin <= i < end.
struct RunOfCoordinates {
  size_t worker;
  size_t begin = 0, end = 0;
  std::span<const uint32_t> at = {};
  bool updates = false;  // each sees what those before it came to; else x stays as it is
  bool writes = false;   // of updates: x_i becomes F_i(x) at once, for other workers to see; else nothing is written to x

  size_t size() const { return at.empty() ? end - begin : at.size(); }
  size_t operator[](size_t k) const { return at.empty() ? begin + k : at[k]; }
};

// F_i(x) for the coordinates of a run, one after the other, into `found`. False: they are to be evaluated one by one, because
// it has done nothing or, of a run that writes, only some of them. Called by all workers at the same time. May throw, too.
using RunOperator = std::function<bool(const RunOfCoordinates& run, const Iterate& x, double* found)>;

}  // namespace posset::sched::fixpoint
