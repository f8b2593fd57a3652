// See reclaim.h.
#include "interp/runtime/reclaim.h"

#include <algorithm>

#include "interp/runtime/tier.h"
#include "sched/base/patient_lock.h"

namespace posset::interp {

// Compilations have a slot each, and contexts can wait.
Reclaimer::Slot::Slot(Reclaimer& owner) : owner_(owner) {
  sched::PatientLock lock(owner.mutex_);
  owner.slots_.push_back(this);
}

Reclaimer::Slot::~Slot() {
  sched::PatientLock lock(owner_.mutex_);
  std::erase(owner_.slots_, this);
}

void Reclaimer::Slot::watch(ShortCalls* short_calls) {
  sched::PatientLock lock(owner_.mutex_);
  short_calls_ = short_calls;
}

Reclaimer::~Reclaimer() {
  for (const Retired& each : retired_) each.tier->drop(each.code);
}

// 0: it is not.
uint64_t Reclaimer::running_since(const Slot& slot) {
  const uint64_t since = slot.since_.load(std::memory_order_seq_cst);
  const bool in_short_call = since == 0 && slot.short_calls_ && slot.short_calls_->inside.load(std::memory_order_seq_cst) != 0;
  return in_short_call ? kFirstEpoch : since;
}

uint64_t Reclaimer::oldest_running() const {
  uint64_t oldest = UINT64_MAX;
  for (const Slot* slot : slots_) {
    const uint64_t since = running_since(*slot);
    if (since != 0) oldest = std::min(oldest, since);
  }
  return oldest;
}

// Once for all code that waits: who has entered lightly before is seen from here on, and who enters later does not find
// the code any more.
void Reclaimer::fence_light_entries() {
  if (!light_.load(std::memory_order_seq_cst) || retired_.empty() || retired_.back().epoch < fenced_) return;
  fenced_ = epoch_.load(std::memory_order_seq_cst);
  sched::heavy_fence();
}

void Reclaimer::add(const TierInterface* tier, void* code) {
  sched::MutexLock lock(mutex_);
  // Whoever enters from here on gets a later epoch and cannot see the code.
  retired_.push_back({tier, code, epoch_.fetch_add(1, std::memory_order_seq_cst)});
  waiting_.store(retired_.size(), std::memory_order_relaxed);
  if (retired_.size() == 1) close_short_calls();
}

// One that is opened at this moment may miss it, and is held up as it holds up others: until something else looks.
void Reclaimer::close_short_calls() {
  for (const Slot* slot : slots_) {
    if (slot->short_calls_) slot->short_calls_->open.store(0, std::memory_order_relaxed);
  }
}

// What may be freed and is not seen by anybody else from here on.
size_t Reclaimer::take_free(std::array<Retired, kFew>& into, size_t most) {
  size_t taken = 0;
  sched::MutexLock lock(mutex_);
  fence_light_entries();
  const uint64_t oldest = oldest_running();
  while (taken < std::min(most, kFew) && !retired_.empty() && retired_.front().epoch < oldest) {
    into[taken++] = retired_.front();
    retired_.pop_front();
  }
  waiting_.store(retired_.size(), std::memory_order_relaxed);
  return taken;
}

// Few at a time, so that it needs no memory and nobody waits for the lock.
void Reclaimer::collect(size_t most) {
  std::array<Retired, kFew> free;
  for (size_t taken = kFew; taken == kFew && most > 0; most -= taken) {
    taken = take_free(free, most);
    for (size_t i = 0; i < taken; ++i) free[i].tier->drop(free[i].code);
  }
}

}  // namespace posset::interp
