// See trace.h.
#include "sched/base/trace.h"

#include <algorithm>
#include <cassert>

namespace posset::sched {

Trace::Trace(const Clock& clock, size_t capacity, size_t text_bytes)
    : clock_(clock),
      start_ns_(clock.now_ns()),
      capacity_(std::max<size_t>(capacity, 1)),
      text_limit_(text_bytes),
      texts_(1) {}

uint16_t Trace::thread_index() {
  // A runtime has few threads; hosts that come and go with more of them share the last name.
  auto next = static_cast<uint16_t>(std::min<size_t>(threads_.size(), UINT16_MAX));
  auto [entry, added] = thread_indices_.try_emplace(std::this_thread::get_id(), next);
  if (added && next < UINT16_MAX) threads_.push_back("thread " + std::to_string(next));
  return entry->second;
}

TraceEvent Trace::next_event(uint16_t kind, std::initializer_list<int64_t> fields) {
  assert(fields.size() <= kTraceFields);
  TraceEvent event;
  event.kind = kind;
  std::copy(fields.begin(), fields.end(), event.fields.begin());
  // The time is read under the lock: the order of events is the order of their times.
  event.time_ns = clock_.now_ns() - start_ns_;
  event.thread = thread_index();
  event.sequence = next_sequence_++;
  return event;
}

void Trace::add_to_ring(const TraceEvent& event) {
  if (ring_.size() < capacity_) {
    ring_.push_back(event);
  } else {
    ring_[in_ring_ % capacity_] = event;
  }
  ++in_ring_;
}

void Trace::record(uint16_t kind, std::initializer_list<int64_t> fields) {
  MutexLock lock(mutex_);
  add_to_ring(next_event(kind, fields));
}

void Trace::record_kept(uint16_t kind, std::initializer_list<int64_t> fields) {
  MutexLock lock(mutex_);
  const TraceEvent event = next_event(kind, fields);
  if (kept_.size() < capacity_) {
    kept_.push_back(event);
  } else {
    add_to_ring(event);
  }
}

int64_t Trace::text(std::string_view text) {
  if (text.empty()) return 0;
  MutexLock lock(mutex_);
  std::string key(text);
  auto found = text_indices_.find(key);
  if (found != text_indices_.end()) return found->second;
  if (text_bytes_ + text.size() > text_limit_) return 0;
  text_bytes_ += text.size();
  auto index = static_cast<int64_t>(texts_.size());
  texts_.push_back(key);
  text_indices_.emplace(std::move(key), index);
  return index;
}

void Trace::name_thread(std::string_view name) {
  MutexLock lock(mutex_);
  uint16_t index = thread_index();
  if (index < threads_.size()) threads_[index] = name;
}

TraceSnapshot Trace::snapshot() const {
  MutexLock lock(mutex_);
  TraceSnapshot made;
  made.dropped = in_ring_ - ring_.size();
  made.threads = threads_;
  made.texts = texts_;
  made.events = ring_;
  // The oldest stands where the next one would go.
  auto oldest = made.events.begin() + static_cast<ptrdiff_t>(made.dropped % capacity_);
  std::rotate(made.events.begin(), oldest, made.events.end());
  const auto ring_end = static_cast<ptrdiff_t>(made.events.size());
  made.events.insert(made.events.end(), kept_.begin(), kept_.end());
  std::inplace_merge(made.events.begin(), made.events.begin() + ring_end, made.events.end(),
                     [](const TraceEvent& a, const TraceEvent& b) { return a.sequence < b.sequence; });
  return made;
}

}  // namespace posset::sched
