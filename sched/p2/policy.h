// The rules of the priority queue, without threads, locks or a clock: what is let in, what runs next, who is
// woken for it and what a stop does. The threads' queue (queue.h) calls it under its lock; the simulator
// calls it directly. Each call is one atomic step.
//
// Order. The score of a task at time t is base + weight * estimate - decay * (t - enqueued): short and old
// ones first. All tasks age at one rate, so decay * t is common to all and leaves the order alone; what
// remains is a number fixed when the task comes in:
//
//   key = base + weight * estimate_s + decay * enqueued_s
//
// The lowest key is next, and the first come among equals. (Computing the score itself at that moment, with
// an age of zero, would drop the ageing altogether.) So nothing that comes in later than
// (base - lowest base + weight * (estimate - lowest estimate)) / decay seconds after a task overtakes it.
//
// All lanes share the order. Consumers see the lanes of their mask; one that sees both takes the lowest of
// all. A consumer that finds nothing parks; a task that comes in wakes one parked consumer that may take it,
// rather one that sees no other lane, and a stop wakes all.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sched/p2/ordered.h"
#include "sched/p2/task.h"

namespace posset::sched {

class PriorityPolicy {
 public:
  struct Config {
    double weight = 1.0;       // score points a second of estimated run time costs
    double decay_per_s = 0.1;  // score points a second of waiting earns
    size_t max_queue_size = 16;
    int64_t epoch_ns = 0;      // enqueue times count from here
  };

  using Entry = QueueEntry;
  using ConsumerId = uint32_t;
  struct Pushed {
    double key = 0;
    std::optional<ConsumerId> wake;
  };

  explicit PriorityPolicy(const Config& config) : config_(config) { parked_.reserve(kUsualConsumers); }

  // Whether one more may come in now.
  Admission admission(Lane lane) const;
  // How many more may come in, of lanes without a limit of their own.
  size_t room() const { return stopped_ || size() >= config_.max_queue_size ? 0 : config_.max_queue_size - size(); }
  // Lets `entry` in; the caller has asked `admission`. Fills in key and sequence.
  Pushed push(Entry entry);
  // Takes out the next one of these lanes.
  std::optional<Entry> pop(LaneMask lanes);
  // Takes out the first queued task of that number.
  std::optional<Entry> cancel(uint64_t job);

  // The consumer found nothing and sleeps until it is woken. False: it shall not, because the queue has
  // stopped and nothing will come.
  bool park(ConsumerId consumer, LaneMask lanes);
  // It woke without being told (a spurious wake-up, a timeout).
  void unpark(ConsumerId consumer);

  struct Stop {
    std::vector<Entry> dropped;       // to be cancelled
    std::vector<ConsumerId> wake;     // all that were parked
  };
  // Nothing comes in any more. May be called again: Discard after Drain drops what is left.
  Stop stop(StopMode mode);
  bool stopped() const { return stopped_; }

  // Both not negative. What is queued is ordered anew.
  void set_weights(double weight, double decay_per_s);

  size_t size() const { return size(kAllLanes); }
  size_t size(LaneMask lanes) const;
  const Config& config() const { return config_; }
  // The lanes that somebody who is parked takes from.
  LaneMask parked_lanes() const;
  // Memory for so many tasks, whatever their lanes.
  void reserve(size_t tasks);
  // For checks.
  bool parked(ConsumerId consumer) const;

 private:
  struct Parked {
    ConsumerId consumer;
    LaneMask lanes;
  };

  OrderedEntries& waiting(Lane lane) { return waiting_[static_cast<size_t>(lane)]; }
  const OrderedEntries& waiting(Lane lane) const { return waiting_[static_cast<size_t>(lane)]; }
  double key_of(const Entry& entry) const;
  std::optional<ConsumerId> wake_for(Lane lane);

  // So many park without asking for memory, which a worker could not do without.
  static constexpr size_t kUsualConsumers = 64;
  Config config_;
  bool stopped_ = false;
  uint64_t next_sequence_ = 0;
  std::array<OrderedEntries, std::size(kLanes)> waiting_;
  std::vector<Parked> parked_;  // the last to park is woken first: its memory is warm
};

}  // namespace posset::sched
