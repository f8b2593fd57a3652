// Which coordinate a worker of the fixed-point solver updates next. A schedule is asked again and again until
// the solver has had enough: it goes round for ever, or says that it has nothing for that worker.
//
// Coordinates are 0 .. n-1, workers 0 .. T-1. Each worker asks for itself, from one thread at a time; different
// workers ask at the same time. There is one word for "none", the empty optional: n = 0, a worker that is not
// there and a worker without coordinates all get it.
//
// Elsewhere: the two schedules (static_blocks.h, residual_buckets.h), who asks (solve.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace posset::sched::fixpoint {

// Schedules keep coordinates in 32 bits; a larger n is refused with std::length_error.
constexpr size_t kMaxCoordinates = UINT32_MAX;

// Coordinates that lie one behind the other.
struct Run {
  size_t begin = 0, end = 0;
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;

  // Before anything else, and again for another solve; no other call at the same time. `workers` = 0 means 1.
  virtual void init(size_t n, size_t workers) = 0;
  // The next coordinate for `worker`. Any number of workers at a time.
  virtual std::optional<size_t> next(size_t worker) = 0;

  // Told by `worker` that it found |F_i(x) - x_i| = `residual` when it updated `i`. At the same time as anything but init.
  virtual void notify([[maybe_unused]] size_t worker, [[maybe_unused]] size_t i, [[maybe_unused]] double residual) {}
  // The residuals of all coordinates, to be put in order by. Throws std::invalid_argument unless there are n of
  // them. At the same time as `next` and `notify`, one at a time.
  virtual void rebuild([[maybe_unused]] std::span<const double> residuals) {}
  // False: `rebuild` does nothing.
  virtual bool supports_rebuild() const { return false; }

  virtual std::string_view name() const = 0;
};

}  // namespace posset::sched::fixpoint
