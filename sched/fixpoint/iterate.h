// The vector x that is iterated, as everybody sees it while it changes. Each coordinate is read and written by itself;
// a read finds some value that was written there, not too old, and no two reads belong together. That is what
// asynchronous iteration asks for, and all it asks for.
#pragma once

#include <atomic>
#include <cmath>
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
  // For the solver, and for operators of runs that update.
  void set(size_t i, double value) const { std::atomic_ref<double>(x_[i]).store(value, std::memory_order_relaxed); }

 private:
  std::span<double> x_;
};

// F_i(x). Called by all workers at the same time. May throw, which ends the solve.
using Operator = std::function<double(size_t i, const Iterate& x)>;

// Coordinates that a worker has at once: those of `at`, in that order, or, where that is empty, begin <= i < end.
struct RunOfCoordinates {
  size_t worker;
  size_t begin = 0, end = 0;
  std::span<const uint32_t> at = {};
  bool updates = false;  // x_i becomes F_i(x) at once, for those behind it and other workers to see; else x stays as it is

  size_t size() const { return at.empty() ? end - begin : at.size(); }
  size_t operator[](size_t k) const { return at.empty() ? begin + k : at[k]; }
  // Of each k below size(), with its coordinate; until one gives false.
  template <class Body>
  bool each(const Body& body) const {
    for (size_t k = 0; at.empty() && k < end - begin; ++k) {
      if (!body(k, begin + k)) return false;
    }
    for (size_t k = 0; k < at.size(); ++k) {
      if (!body(k, size_t{at[k]})) return false;
    }
    return true;
  }
};

// F_i(x) for the coordinates of a run, one after the other: of one that updates into x, else into `found`. False: they are
// to be evaluated one by one, because it has not done all of them, or what it came to is no finite number. Called by all
// workers at the same time. May throw, too.
using RunOperator = std::function<bool(const RunOfCoordinates& run, const Iterate& x, double* found)>;

// Of an operator whose code is known here, so that it is compiled into the loop.
template <class F>
RunOperator run_of(F f) {
  return [f](const RunOfCoordinates& run, const Iterate& live, double* found) {
    const Iterate x = live;
    if (!run.updates) {
      return run.each([&](size_t k, size_t i) {
        found[k] = f(i, x);
        return true;
      });
    }
    return run.each([&](size_t, size_t i) {
      const double value = f(i, x);
      if (!std::isfinite(value)) return false;
      x.set(i, value);
      return true;
    });
  };
}

}  // namespace posset::sched::fixpoint
