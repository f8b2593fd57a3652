// See monitor.h.
#include "sched/fixpoint/monitor.h"

namespace posset::sched::fixpoint {

namespace {

constexpr uint64_t kFirstScan = 16;   // times n
constexpr uint64_t kRarestScan = 64;  // likewise
constexpr uint64_t kMostQuiet = 8;    // likewise
// Small systems are scanned less often: a halt costs some thousand updates, however few there are to look at.
constexpr uint64_t kLeastInterval = 4096;
constexpr uint64_t kLeastPass = 16;  // a rebuild after this part of n

}  // namespace

Monitor::Monitor(size_t n, size_t workers)
    : n_(n),
      workers_(std::max<size_t>(workers, 1)),
      interval_(std::max(kFirstScan * n_, kLeastInterval)),
      next_scan_(interval_),
      quiet_needed_(n_) {}

Monitor::Due Monitor::due(uint64_t updates, uint64_t quiet) const {
  if (is_quiet(quiet)) return Due::Scan;
  if (updates >= next_scan_.load(std::memory_order_relaxed)) return Due::Scan;
  return updates >= next_rebuild_.load(std::memory_order_relaxed) ? Due::Rebuild : Due::Nothing;
}

uint64_t Monitor::quiet_share() const {
  return (quiet_needed_.load(std::memory_order_relaxed) + workers_ - 1) / workers_;
}

uint64_t Monitor::allowance(uint64_t updates, uint64_t quiet) const {
  const uint64_t next = std::min(next_scan_.load(std::memory_order_relaxed), next_rebuild_.load(std::memory_order_relaxed));
  const uint64_t needed = quiet_needed_.load(std::memory_order_relaxed);
  const uint64_t left = std::min(next - std::min(next, updates), needed - std::min(needed, quiet));
  return std::max<uint64_t>(left / workers_, 1);
}

void Monitor::scanned(uint64_t updates, bool quiet) {
  if (quiet) {
    const uint64_t needed = 2 * quiet_needed_.load(std::memory_order_relaxed);
    quiet_needed_.store(std::min(needed, kMostQuiet * n_), std::memory_order_relaxed);
  } else {
    interval_ = std::min(2 * interval_, std::max(kRarestScan * n_, kLeastInterval));
  }
  next_scan_.store(updates + interval_, std::memory_order_relaxed);
}

void Monitor::scan_within(uint64_t updates, uint64_t count) {
  next_scan_.store(updates + std::min(interval_, count), std::memory_order_relaxed);
}

void Monitor::rebuilt(uint64_t updates, size_t hot) {
  const uint64_t least = n_ / kLeastPass + 1;
  next_rebuild_.store(updates + std::clamp<uint64_t>(hot, std::min(least, n_), n_), std::memory_order_relaxed);
}

}  // namespace posset::sched::fixpoint
