// See policy.h.
#include "sched/p2/policy.h"

#include <algorithm>
#include <cassert>

namespace posset::sched {

double PriorityPolicy::key_of(const Entry& entry) const {
  const double enqueued_s = static_cast<double>(entry.enqueued_ns - config_.epoch_ns) / static_cast<double>(kSecond);
  return static_cast<double>(entry.priority) + config_.weight * entry.estimate_s + config_.decay_per_s * enqueued_s;
}

// Native compilations take half of the room at most: they last, and what is compiled in no time must not be refused
// for them.
Admission PriorityPolicy::admission(Lane lane) const {
  if (stopped_) return Admission::Stopped;
  const size_t most_native = std::max<size_t>(1, config_.max_queue_size / 2);
  if (lane == Lane::Native && waiting(lane).size() >= most_native) return Admission::QueueFull;
  return size() < config_.max_queue_size ? Admission::Accepted : Admission::QueueFull;
}

PriorityPolicy::Pushed PriorityPolicy::push(Entry entry) {
  assert(admission(entry.lane) == Admission::Accepted);
  assert(entry.estimate_s >= 0);
  entry.key = key_of(entry);
  entry.sequence = next_sequence_++;
  waiting(entry.lane).push(entry);
  return {entry.key, wake_for(entry.lane)};
}

std::optional<PriorityPolicy::Entry> PriorityPolicy::pop(LaneMask lanes) {
  OrderedEntries* best = nullptr;
  for (Lane lane : kLanes) {
    OrderedEntries& candidate = waiting(lane);
    if ((lanes & lane_bit(lane)) == 0 || candidate.empty()) continue;
    if (!best || candidate.first().before(best->first())) best = &candidate;
  }
  if (!best) return std::nullopt;
  return best->pop();
}

std::optional<PriorityPolicy::Entry> PriorityPolicy::cancel(uint64_t job) {
  for (OrderedEntries& lane : waiting_) {
    if (std::optional<Entry> entry = lane.take(job)) return entry;
  }
  return std::nullopt;
}

bool PriorityPolicy::park(ConsumerId consumer, LaneMask lanes) {
  assert(size(lanes) == 0 && !parked(consumer));
  if (stopped_) return false;
  parked_.push_back({consumer, lanes});
  return true;
}

void PriorityPolicy::unpark(ConsumerId consumer) {
  std::erase_if(parked_, [consumer](const Parked& parked) { return parked.consumer == consumer; });
}

bool PriorityPolicy::parked(ConsumerId consumer) const {
  return std::any_of(parked_.begin(), parked_.end(), [consumer](const Parked& p) { return p.consumer == consumer; });
}

LaneMask PriorityPolicy::parked_lanes() const {
  LaneMask lanes = 0;
  for (const Parked& parked : parked_) lanes |= parked.lanes;
  return lanes;
}

void PriorityPolicy::reserve(size_t tasks) {
  for (OrderedEntries& lane : waiting_) lane.reserve(tasks);
}

// One that sees only this lane before one that sees both: the latter may find something better to do, and
// then nobody would have been woken for this task.
std::optional<PriorityPolicy::ConsumerId> PriorityPolicy::wake_for(Lane lane) {
  auto best = parked_.rend();
  for (auto parked = parked_.rbegin(); parked != parked_.rend(); ++parked) {
    if ((parked->lanes & lane_bit(lane)) == 0) continue;
    if (best == parked_.rend()) best = parked;
    if (parked->lanes != lane_bit(lane)) continue;
    best = parked;
    break;
  }
  if (best == parked_.rend()) return std::nullopt;
  const ConsumerId consumer = best->consumer;
  parked_.erase(std::next(best).base());
  return consumer;
}

PriorityPolicy::Stop PriorityPolicy::stop(StopMode mode) {
  Stop made;
  stopped_ = true;
  for (const Parked& parked : parked_) made.wake.push_back(parked.consumer);
  parked_.clear();
  if (mode == StopMode::Drain) return made;
  while (std::optional<Entry> entry = pop(kAllLanes)) made.dropped.push_back(*entry);
  return made;
}

void PriorityPolicy::set_weights(double weight, double decay_per_s) {
  assert(weight >= 0 && decay_per_s >= 0);
  config_.weight = weight;
  config_.decay_per_s = decay_per_s;
  for (OrderedEntries& lane : waiting_) {
    lane.rekey([this](const Entry& entry) { return key_of(entry); });
  }
}

size_t PriorityPolicy::size(LaneMask lanes) const {
  size_t sum = 0;
  for (Lane lane : kLanes) {
    if (lanes & lane_bit(lane)) sum += waiting(lane).size();
  }
  return sum;
}

}  // namespace posset::sched
