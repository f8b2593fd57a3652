// See inbox.h.
#include "sched/p2/inbox.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace posset::sched {

bool Inbox::leave(Task& task, double estimate_ns, int64_t now_ns) {
  MutexLock lock(mutex_);
  if ((lanes_ & lane_bit(task.lane)) == 0 || room_ == 0) return false;
  --room_;
  arrivals_.push_back({std::move(task), estimate_ns, now_ns});
  changed();
  return true;
}

void Inbox::reserve() {
  MutexLock lock(mutex_);
  arrivals_.reserve(kMost);
}

void Inbox::open(LaneMask lanes, size_t room) {
  MutexLock lock(mutex_);
  lanes_ = lanes & kLanes;
  room_ = std::min(room, arrivals_.capacity()) - std::min(room, arrivals_.size());
  changed();
}

bool Inbox::try_close(LaneMask lanes) {
  MutexLock lock(mutex_);
  if (!arrivals_.empty()) return false;
  lanes_ = static_cast<LaneMask>(lanes_ & ~lanes);
  return true;
}

void Inbox::collect(std::vector<Arrival>& into, size_t room) {
  assert(into.empty());
  MutexLock lock(mutex_);
  into.swap(arrivals_);
  room_ = std::min(room - std::min(room, into.size()), arrivals_.capacity());
}

size_t Inbox::size(LaneMask lanes) const {
  MutexLock lock(mutex_);
  return static_cast<size_t>(std::count_if(arrivals_.begin(), arrivals_.end(), [lanes](const Arrival& arrival) {
    return (lanes & lane_bit(arrival.task.lane)) != 0;
  }));
}

}  // namespace posset::sched
