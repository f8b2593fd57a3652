// See reclaim.h.
#include "interp/runtime/reclaim.h"

#include <algorithm>

#include "interp/runtime/tier.h"

namespace posset::interp {

Reclaimer::Slot::Slot(Reclaimer& owner) : owner_(owner) {
  sched::MutexLock lock(owner.mutex_);
  owner.slots_.push_back(this);
}

Reclaimer::Slot::~Slot() {
  sched::MutexLock lock(owner_.mutex_);
  std::erase(owner_.slots_, this);
}

Reclaimer::~Reclaimer() {
  for (const Retired& each : retired_) each.tier->drop(each.code);
}

uint64_t Reclaimer::oldest_running() const {
  uint64_t oldest = UINT64_MAX;
  for (const Slot* slot : slots_) {
    uint64_t since = slot->since_.load(std::memory_order_seq_cst);
    if (since != 0) oldest = std::min(oldest, since);
  }
  return oldest;
}

void Reclaimer::retire(const TierInterface* tier, void* code) {
  {
    sched::MutexLock lock(mutex_);
    // Whoever enters from here on gets a later epoch and cannot see the code.
    retired_.push_back({tier, code, epoch_.fetch_add(1, std::memory_order_seq_cst)});
    waiting_.store(retired_.size(), std::memory_order_relaxed);
  }
  collect();
}

void Reclaimer::collect(size_t most) {
  std::vector<Retired> free;
  {
    sched::MutexLock lock(mutex_);
    const uint64_t oldest = oldest_running();
    while (free.size() < most && !retired_.empty() && retired_.front().epoch < oldest) {
      free.push_back(retired_.front());
      retired_.pop_front();
    }
    waiting_.store(retired_.size(), std::memory_order_relaxed);
  }
  for (const Retired& each : free) each.tier->drop(each.code);
}

}  // namespace posset::interp
