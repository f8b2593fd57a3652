// Systems x = F(x) in the C++ layer, with a lambda as the operator. A part of posset.hpp, which is what to include;
// fixpoint.h says who calls the operator when, and where the threads come from. No runtime is needed.
//
//   std::vector<double> x(n);                    // the start; becomes the solution
//   auto half = [](size_t i, posset::Iterate x) { return 0.5 * x[(i + 1) % x.size()] + 1; };
//   posset::Solution solution = posset::solve(x, half, {.tolerance = 1e-9, .workers = 2});
//
//   posset::Solution tried = posset::try_solve(x, half, {.timeout_seconds = 0.5});   // instead of exceptions
//   if (!tried.converged()) std::puts(tried.what().c_str());
//
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cpp_error.hpp"
#include "posset.h"

namespace posset {

// x while it changes: what F reads. Copied as freely as a pointer; valid during the call.
class Iterate {
 public:
  explicit Iterate(const posset_vector* x) : x_(*x) {}
  size_t size() const { return x_.size; }
  double operator[](size_t i) const { return posset_vector_at(&x_, i); }

 private:
  posset_vector x_;
};

// Stops the solves that were given it, for good. Any thread, at any time; outlives them.
class Stop {
 public:
  Stop() : stop_(posset_stop_create()) {
    if (!stop_) throw Misuse(POSSET_NO_MEMORY, "stop");
  }
  void request() const noexcept { posset_stop_request(stop_.get()); }
  bool requested() const noexcept { return posset_stop_requested(stop_.get()); }
  posset_stop* handle() const { return stop_.get(); }

 private:
  struct Free {
    void operator()(posset_stop* stop) const { posset_stop_free(stop); }
  };
  detail::Owner<posset_stop, Free> stop_;
};

enum class Schedule { Static, Residual, Auto };

// As those of posset_solve_options.
struct SolveOptions {
  double tolerance = 1e-6;
  double damping = 1;
  Schedule schedule = Schedule::Auto;
  uint32_t workers = 1;        // 0: one for each processor
  double timeout_seconds = 0;  // 0: none
  const Stop* stop = nullptr;
  Callback<const posset_solve_progress&> progress = {};  // on the calling thread; may throw, which ends the solve
  double progress_seconds = 0.1;
  posset_runtime* runtime = nullptr;  // whose trace tells of it, as of Runtime::handle
};

// How a solve has ended.
struct Solution {
  posset_solve_result result = posset_solve_result_empty();
  std::vector<posset_residual_point> history;  // the looks at all coordinates, in the order of time
  std::exception_ptr failure;                  // what the operator or `progress` threw first

  bool converged() const { return result.status == POSSET_SOLVE_CONVERGED; }
  posset_solve_status status() const { return result.status; }
  double residual() const { return result.residual; }
  uint64_t updates() const { return result.updates; }
  Schedule schedule() const { return static_cast<Schedule>(result.schedule); }
  // In words: "converged", or what went wrong.
  std::string what() const { return result.problem[0] != 0 ? result.problem : posset_solve_status_text(result.status); }
};

// A solve ended without a solution, and no exception was the reason.
class NotConverged : public std::runtime_error {
 public:
  explicit NotConverged(Solution solution) : std::runtime_error("solve: " + solution.what()), solution_(std::move(solution)) {}
  const Solution& solution() const { return solution_; }

 private:
  Solution solution_;
};

namespace detail {

// The way from the C interface to the lambdas of one solve, and of their exceptions back.
template <class F>
class SolveCall {
 public:
  SolveCall(F& f, const SolveOptions& options) : f_(f), options_(options) {}
  SolveCall(const SolveCall&) = delete;
  SolveCall& operator=(const SolveCall&) = delete;

  // What was refused throws Misuse.
  Solution run(double* x, size_t n) {
    const posset_solve_options raw = raw_options();
    const posset_status status = posset_solve(options_.runtime, call, this, x, n, &raw, &solution_.result);
    if (status != POSSET_OK) throw Misuse(status, solution_.what());
    if (failed_.load(std::memory_order_relaxed)) solution_.result.status = POSSET_SOLVE_FAILED;
    return std::move(solution_);
  }

 private:
  posset_solve_options raw_options() {
    posset_solve_options raw = posset_solve_defaults();
    raw.tolerance = options_.tolerance;
    raw.damping = options_.damping;
    raw.schedule = static_cast<posset_schedule>(options_.schedule);
    raw.workers = options_.workers;
    raw.timeout_seconds = options_.timeout_seconds;
    raw.stop = options_.stop ? options_.stop->handle() : nullptr;
    raw.progress = options_.progress ? watch : nullptr;
    raw.progress_data = this;
    raw.progress_seconds = options_.progress_seconds;
    raw.history = remember;
    raw.history_data = this;
    return raw;
  }
  static posset_status call(void* data, size_t i, const posset_vector* x, double* out) noexcept {
    auto& self = *static_cast<SolveCall*>(data);
    // Relaxed: a worker that sees it late evaluates once more.
    if (self.failed_.load(std::memory_order_relaxed)) return POSSET_RAISED;
    try {
      *out = self.f_(i, Iterate(x));
      return POSSET_OK;
    } catch (...) {
      self.keep_failure();
      return POSSET_RAISED;
    }
  }
  static void watch(void* data, const posset_solve_progress* now) noexcept {
    auto& self = *static_cast<SolveCall*>(data);
    try {
      self.options_.progress(*now);
    } catch (...) {
      self.keep_failure();  // and the next call of the operator ends it
    }
  }
  static posset_status remember(void* data, const posset_residual_point* point) noexcept {
    try {
      static_cast<SolveCall*>(data)->solution_.history.push_back(*point);
      return POSSET_OK;
    } catch (...) {
      return POSSET_DONE;  // no memory: the points so far
    }
  }
  void keep_failure() {
    // The first alone writes `failure`, which is read when all workers have ended.
    if (!failed_.exchange(true, std::memory_order_relaxed)) solution_.failure = std::current_exception();
  }

  F& f_;
  const SolveOptions& options_;
  std::atomic<bool> failed_{false};
  Solution solution_;
};

}  // namespace detail

// ---- solving ----

// Solves x[i] = f(i, x) for all i < n, with `f(size_t, Iterate)` giving a number, starting from what is in x and leaving the
// last values there, whatever the end, which the Solution tells. `f` is called by all workers at the same time; what it
// throws ends the solve and is kept. Throws Misuse when something impossible is asked for, nothing else.
template <class F>
Solution try_solve(double* x, size_t n, F&& f, const SolveOptions& options = {}) {
  return detail::SolveCall<F>(f, options).run(x, n);
}
template <class F>
Solution try_solve(std::vector<double>& x, F&& f, const SolveOptions& options = {}) {
  return detail::SolveCall<F>(f, options).run(x.data(), x.size());
}

// The same, but throws what `f` or `progress` threw, and NotConverged for another end without a solution.
template <class F>
Solution solve(double* x, size_t n, F&& f, const SolveOptions& options = {}) {
  Solution solution = detail::SolveCall<F>(f, options).run(x, n);
  if (solution.failure) std::rethrow_exception(solution.failure);
  if (!solution.converged()) throw NotConverged(std::move(solution));
  return solution;
}
template <class F>
Solution solve(std::vector<double>& x, F&& f, const SolveOptions& options = {}) {
  return solve(x.data(), x.size(), f, options);
}

}  // namespace posset
