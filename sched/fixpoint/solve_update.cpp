// The updates of a batch, see solve.h: coordinates are claimed from the schedule, evaluated and written, one by one or, where
// the operator does many at a time, run by run.
#include "sched/fixpoint/solve.h"

#include <algorithm>
#include <cmath>

namespace posset::sched::fixpoint {

// By the schedule's own type, so that the claim is compiled into the loop.
size_t Solve::update_batch(size_t number, size_t count) {
  if (custom_) return update_batch(*custom_, number, count);
  if (using_ == Schedule::Residual) return update_batch(*buckets_, number, count);
  return update_batch(blocks_, number, count);
}

namespace {

template <class S>
Run next_run(S& schedule, size_t worker, size_t) {
  const std::optional<size_t> i = schedule.next(worker);
  return i ? Run{*i, *i + 1} : Run{};
}
Run next_run(StaticBlocks& schedule, size_t worker, size_t most) { return schedule.next_run(worker, most); }

}  // namespace

// A worker's counts while it updates, and what it needs for each: in registers, though the operator is called in between. The
// worker has the counts when this ends, also by an exception.
struct Solve::Tally {
  Tally(Worker& its_worker, const Iterate& its_x, const SolveOptions& options)
      : worker(its_worker),
        x(its_x),
        alpha(options.alpha),
        tolerance(options.tolerance),
        updates(worker.updates_made),
        quiet(worker.quiet_made) {}
  ~Tally() {
    worker.updates_made = updates;
    worker.quiet_made = quiet;
  }
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;

  Worker& worker;
  const Iterate x;
  const double alpha, tolerance;
  uint64_t updates, quiet;
};

template <class S>
size_t Solve::update_batch(S& schedule, size_t number, size_t count) {
  if (run_) return update_by_runs(schedule, number, count);
  Tally tally(workers_[number], x_, options_);
  const Operator& f = f_;
  // Not the tally's: whoever has an address of that keeps all of it in memory.
  const Iterate x = x_;
  for (size_t made = 0; made < count;) {
    const Run run = next_run(schedule, number, count - made);
    if (run.begin == run.end) return made;
    for (size_t i = run.begin; i < run.end; ++i, ++made) {
      const double old = tally.x[i];  // before the call, which nobody knows anything of
      if (!settle(schedule, number, i, old, f(i, x), tally)) return made;
    }
  }
  return count;
}

template <class S>
size_t Solve::update_by_runs(S& schedule, size_t number, size_t count) {
  Worker& worker = workers_[number];
  Tally tally(worker, x_, options_);
  for (size_t made = 0; made < count;) {
    const RunOfCoordinates run = claim_run(schedule, number, count - made);
    const size_t size = run.size();
    if (size == 0) return made;
    if (update_by_run(worker, run)) {
      settle_run(schedule, run, tally);
      made += size;
      continue;
    }
    for (size_t k = 0; k < size; ++k, ++made) {
      const size_t i = run[k];
      const double old = x_[i];
      if (!settle(schedule, number, i, old, f_(i, x_), tally)) return made;
    }
  }
  return count;
}

// False: they are to be updated one by one. A worker that is alone begins with x as it was.
bool Solve::update_by_run(Worker& worker, const RunOfCoordinates& run) {
  const size_t size = run.size();
  if (!run.updates || size < 2) return false;
  worker.before.resize(std::max(worker.before.size(), size));
  run.each([x = x_, before = worker.before.data()](size_t k, size_t i) {
    before[k] = x[i];
    return true;
  });
  if ((*run_)(run, x_, nullptr)) return true;
  for (size_t k = 0; k < size && workers_.size() == 1; ++k) x_.set(run[k], worker.before[k]);
  return false;
}

namespace {

bool is_quiet(const Iterate& x, size_t i, double before, double tolerance) { return std::abs(x[i] - before) <= tolerance; }

}  // namespace

// Of the quiet ones only those at the end count, and as a rule there are few.
template <class S>
void Solve::settle_run(S& schedule, const RunOfCoordinates& run, Tally& tally) {
  const double* const before = tally.worker.before.data();
  if (schedule.supports_rebuild()) {
    run.each([&, x = x_](size_t k, size_t i) {
      schedule.notify(run.worker, i, std::abs(x[i] - before[k]));
      return true;
    });
  }
  const size_t size = run.size();
  size_t quiet_from = size;  // all from there on were quiet
  while (quiet_from > 0 && is_quiet(x_, run[quiet_from - 1], before[quiet_from - 1], tally.tolerance)) --quiet_from;
  tally.updates += size;
  tally.quiet = quiet_from == 0 ? tally.quiet + size : size - quiet_from;
}

// From a schedule that nothing is known of only one at a time: what it hands out next may go by what it is notified of.
RunOfCoordinates Solve::claim_run(Scheduler& schedule, size_t number, size_t most) {
  const Run run = next_run(schedule, number, most);
  return {.worker = number, .begin = run.begin, .end = run.end};
}

RunOfCoordinates Solve::claim_run(StaticBlocks& schedule, size_t number, size_t most) {
  const Run run = schedule.next_run(number, most);
  return {.worker = number, .begin = run.begin, .end = run.end, .updates = true};
}

RunOfCoordinates Solve::claim_run(ResidualBuckets& schedule, size_t number, size_t most) {
  std::vector<uint32_t>& claimed = workers_[number].claimed;
  claimed.resize(most);
  claimed.resize(schedule.next_run(number, most, claimed.data()));
  return {.worker = number, .at = claimed, .updates = true};
}

// x_i was `old`, and F_i(x) is `found`. False: that was the end.
template <class S>
inline bool Solve::settle(S& schedule, size_t number, size_t i, double old, double found, Tally& tally) {
  const double next = tally.alpha == 1 ? found : (1 - tally.alpha) * old + tally.alpha * found;
  if (!std::isfinite(next)) {
    end(SolveStatus::Diverged);
    return false;
  }
  tally.x.set(i, next);
  note_update(schedule, number, i, std::abs(found - old), tally);
  return true;
}

template <class S>
inline void Solve::note_update(S& schedule, size_t number, size_t i, double residual, Tally& tally) {
  if (schedule.supports_rebuild()) schedule.notify(number, i, residual);
  ++tally.updates;
  tally.quiet = residual <= tally.tolerance ? tally.quiet + 1 : 0;
}

}  // namespace posset::sched::fixpoint
