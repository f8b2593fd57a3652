// One run of the solver: what its workers share, and what they do. Nothing of it is left when it has ended, so a solver
// can be used again after any end.
//
// Each worker repeats: update in batches until a halt is asked for; arrive; scan a share of the coordinates; arrive.
// Between the two arrivals nobody writes x. The last to arrive does, alone, what concerns all: after the first, prepare
// the scan; after the second, judge what it found and change the schedule. quiescence.h has the rules of halting,
// monitor.h when to halt, choice.h which schedule.
//
// An end (stop, time-out, divergence, exception) asks for a halt as a scan does, and the last to arrive finds that there
// is nothing to do but to leave.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "sched/base/thread_safety.h"
#include "sched/fixpoint/choice.h"
#include "sched/fixpoint/cost.h"
#include "sched/fixpoint/monitor.h"
#include "sched/fixpoint/pace.h"
#include "sched/fixpoint/quiescence.h"
#include "sched/fixpoint/residual_buckets.h"
#include "sched/fixpoint/solver.h"
#include "sched/fixpoint/static_blocks.h"
#include "sched/trace_events.h"

namespace posset::sched::fixpoint {

// Of the solver whose solve it is.
struct SolveSetting {
  const Clock& clock;
  WorkerExecutor& executor;
  Trace* trace;
  int64_t number;
};

class Solve {
 public:
  // All but `setting` and `options` outlive it. `custom` may be null.
  Solve(const SolveSetting& setting, Scheduler* custom, const Problem& problem, std::span<double> x,
        const SolveOptions& options, const std::stop_token& stop);
  Solve(const Solve&) = delete;
  Solve& operator=(const Solve&) = delete;

  // Once. Throws std::system_error when the executor has no room for the workers, before anything has begun.
  SolveResult run() POSSET_EXCLUDES(mutex_);

 private:
  // A worker's own, on lines of its own; others read the two counters.
  struct alignas(128) Worker {
    // Relaxed: sums that are asked for by hints and statistics; exact when the workers have halted.
    std::atomic<uint64_t> updates{0};
    std::atomic<uint64_t> quiet{0};  // updates in a row that found a residual within the tolerance
    uint64_t updates_made = 0;       // the same as they are counted, told at the end of a batch
    uint64_t quiet_made = 0;
    uint64_t scanned = 0;            // coordinates evaluated in scans
    double largest = 0;              // residual in the current scan; NaN and infinity stay
    Pace pace;
    CostMeter cost;  // of the updates since the scan before, where they are timed
    // Of the current run.
    std::vector<uint32_t> claimed;
    std::vector<double> before, found;
  };

  struct Tally;
  void work(size_t number) POSSET_EXCLUDES(mutex_);
  void update(size_t number) POSSET_EXCLUDES(mutex_);
  size_t update_batch(size_t number, size_t count);
  template <class S>
  size_t update_batch(S& schedule, size_t number, size_t count);
  template <class S>
  size_t update_by_runs(S& schedule, size_t number, size_t count);
  RunOfCoordinates claim_run(Scheduler& schedule, size_t number, size_t most);
  RunOfCoordinates claim_run(ResidualBuckets& schedule, size_t number, size_t most);
  RunOfCoordinates claim_run(StaticBlocks& schedule, size_t number, size_t most);
  template <class S>
  void settle_run(S& schedule, const RunOfCoordinates& run, Tally& tally);
  bool update_by_run(Worker& worker, const RunOfCoordinates& run);
  template <class S>
  bool settle(S& schedule, size_t number, size_t i, double old, double found, Tally& tally) POSSET_EXCLUDES(mutex_);
  template <class S>
  void note_update(S& schedule, size_t number, size_t i, double residual, Tally& tally);
  void tell_counts(Worker& worker);
  int64_t look_up(Worker& worker, int64_t began_ns, size_t updates) POSSET_EXCLUDES(mutex_);
  void tell_progress(int64_t now_ns);
  bool do_what_is_due() POSSET_EXCLUDES(mutex_);
  void rebuild_from_notes() POSSET_EXCLUDES(mutex_);
  void scan(size_t number) POSSET_EXCLUDES(mutex_);
  void scan_chunk(Worker& worker, size_t from, size_t to);
  bool found_by_run(Worker& worker, size_t from, size_t to);
  double note_residual(size_t i, double found);

  // The last to arrive, alone.
  void begin_scan() POSSET_EXCLUDES(mutex_);
  void end_scan() POSSET_EXCLUDES(mutex_);
  void go_on(Scan& scan) POSSET_EXCLUDES(mutex_);
  double cost_of(uint64_t updates);
  void use(Schedule schedule, uint64_t updates, size_t hot);
  void check_progress(uint64_t updates) POSSET_EXCLUDES(mutex_);

  // Waits for all; the last one calls `last` before any of them returns. All go on updating afterwards when `resume`.
  template <class Last>
  void arrive(bool resume, const Last& last) POSSET_EXCLUDES(mutex_);
  // Sleeps until a halt, or until the schedule has changed since there were `changes`.
  void park(uint64_t changes) POSSET_EXCLUDES(mutex_);
  void halt() POSSET_EXCLUDES(mutex_);
  // The first end counts.
  void end(SolveStatus status, std::exception_ptr failure = nullptr) POSSET_EXCLUDES(mutex_);
  template <class Body>
  void guarded(const Body& body) POSSET_EXCLUDES(mutex_);
  bool ended() const { return ended_.load(std::memory_order_relaxed); }

  void start_schedule();
  Scheduler& schedule();
  uint64_t sum_updates() const;
  uint64_t sum_quiet() const;
  SolveResult result() POSSET_EXCLUDES(mutex_);
  uint64_t sum_scanned() const;
  void trace(TraceKind kind, std::initializer_list<int64_t> fields);
  void wake_all() {
    if (event_) event_->wake_all();
  }

  const SolveSetting setting_;
  const Operator& f_;
  const RunOperator* const run_;  // null: one by one
  const Iterate x_;
  const SolveOptions options_;
  const std::stop_token& stop_;
  const int64_t began_ns_;
  const int64_t deadline_ns_;
  const size_t n_;

  Scheduler* const custom_;  // else the next two
  StaticBlocks blocks_;
  std::optional<ResidualBuckets> buckets_;  // from the time they are first in use

  // Written by the last to arrive, read by all afterwards: arriving orders them.
  Schedule using_ = Schedule::Static;
  bool scanning_ = false;  // else this halt is the end
  bool leave_ = false;     // all go after this halt. Not `ended_`, which the first to go on may already set again
  // Its alone.
  ScheduleChoice choice_;
  ResidualHistory history_;
  uint64_t scans_ = 0;
  uint64_t switches_ = 0;
  uint64_t updates_at_scan_ = 0;
  double residual_;
  bool quiet_scan_ = false;  // this scan is because the workers were quiet
  bool idle_scan_ = false;   // nothing had been updated between the last two scans
  uint64_t work_ = 0;        // options_.work() when the updates began that a scan follows
  double cost_ = 0;          // of an update before the current scan; 0: not known

  int64_t next_progress_ns_;  // worker 0's alone

  Monitor monitor_;
  std::vector<Worker> workers_;
  std::vector<double> residuals_;         // each written by whoever scans the coordinate, read by the last to arrive
  std::atomic<size_t> next_scanned_{0};   // relaxed: hands out chunks
  std::atomic<bool> rebuilding_{false};   // who sets it rebuilds; acquire and release, like a lock
  CostMeter rebuild_cost_;                // whose it is, or the last to arrive
  std::atomic<uint64_t> rebuilds_{0};     // relaxed: statistics
  std::atomic<bool> halting_{false};      // what quiescence_ says of a request. Relaxed: a hint to look under the mutex
  std::atomic<bool> ended_{false};        // relaxed: a hint as well; status_ has the reason
  // Of the schedule, for workers that are parked. Written under the mutex; acquire and release with the change itself.
  std::atomic<uint64_t> changes_{0};

  Mutex mutex_;
  Quiescence quiescence_ POSSET_GUARDED_BY(mutex_);
  std::optional<SolveStatus> status_ POSSET_GUARDED_BY(mutex_);
  std::exception_ptr failure_ POSSET_GUARDED_BY(mutex_);
  std::unique_ptr<Event> event_;  // null with one worker, who waits for nobody
};

}  // namespace posset::sched::fixpoint
