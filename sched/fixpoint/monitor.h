// When the solver scans and when it rebuilds. Both go by counts of updates, not by time: a scan costs about as much as n
// updates, whatever an update takes, so scans after 16 n, 32 n, 64 n, 64 n .. updates cost a bounded part of the work on
// any machine, and one worker does the same every time.
//
// Besides, a scan is due when the last n updates were all quiet, that is found residuals within the tolerance: the
// iteration has probably converged. If the scan finds otherwise, twice as many must be quiet the next time, up to 8 n.
// Each worker's quiet updates count up to its share, so that one that runs alone does not speak for those that wait.
//
// A rebuild is due when what was hot at the last one was handed out, but not before a sixteenth of the coordinates was,
// because it costs a look at all of them.
//
// What is due is asked by any worker between batches, and is a hint; the rest is called by one at a time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace posset::sched::fixpoint {

class Monitor {
 public:
  enum class Due : uint8_t { Nothing, Rebuild, Scan };

  Monitor(size_t n, size_t workers);

  // `updates`: all that were made; `quiet`: the sum of what the workers report, each at most `quiet_share`. Any thread.
  Due due(uint64_t updates, uint64_t quiet) const;
  uint64_t quiet_share() const;
  // So many updates may a worker make before it asks again, at least 1: nothing is due before. One worker therefore finds
  // out at the same update however large its batches are.
  uint64_t allowance(uint64_t updates, uint64_t quiet) const;
  bool is_quiet(uint64_t quiet) const { return quiet >= quiet_needed_.load(std::memory_order_relaxed); }

  // After a scan that ended nothing, with the workers halted. `quiet`: it was asked for because they were quiet.
  void scanned(uint64_t updates, bool quiet);
  // After `scanned`: the next scan is due after so many updates, if not before.
  void scan_within(uint64_t updates, uint64_t count);
  // Buckets are in use and were rebuilt; so many coordinates are hot.
  void rebuilt(uint64_t updates, size_t hot);
  // Blocks are in use.
  void never_rebuild() { next_rebuild_.store(UINT64_MAX, std::memory_order_relaxed); }

 private:
  const uint64_t n_;
  const uint64_t workers_;
  uint64_t interval_;  // updates between two scans
  // Relaxed: hints that come a little late do no harm.
  std::atomic<uint64_t> next_scan_;
  std::atomic<uint64_t> next_rebuild_{UINT64_MAX};
  std::atomic<uint64_t> quiet_needed_;
};

}  // namespace posset::sched::fixpoint
