// See ordered.h.
#include "sched/p2/ordered.h"

#include <algorithm>

namespace posset::sched {

namespace {

// The standard heaps keep the greatest in front. An object and not a function, so that it is inlined.
constexpr auto later = [](const QueueEntry& a, const QueueEntry& b) { return b.before(a); };

}  // namespace

void OrderedEntries::push(const QueueEntry& entry) {
  if (begin_ == run_.size() || run_.back().before(entry)) return append(entry);
  heap_.push_back(entry);
  std::push_heap(heap_.begin(), heap_.end(), later);
}

// What has gone is given up when its place is wanted and it is half of all, so an entry is moved once at most.
void OrderedEntries::append(const QueueEntry& entry) {
  if (run_.size() == run_.capacity() && begin_ > 0 && begin_ >= run_.size() / 2) {
    run_.erase(run_.begin(), run_.begin() + static_cast<ptrdiff_t>(begin_));
    begin_ = 0;
  }
  run_.push_back(entry);
}

QueueEntry OrderedEntries::pop() {
  if (run_is_first()) {
    const QueueEntry entry = run_[begin_++];
    if (begin_ == run_.size()) {
      run_.clear();
      begin_ = 0;
    }
    return entry;
  }
  std::pop_heap(heap_.begin(), heap_.end(), later);
  const QueueEntry entry = heap_.back();
  heap_.pop_back();
  return entry;
}

std::optional<QueueEntry> OrderedEntries::take(uint64_t job) {
  // A look at every task, and a new heap: the queue is short and this is rare.
  run_to_heap();
  auto found = heap_.end();
  for (auto entry = heap_.begin(); entry != heap_.end(); ++entry) {
    if (entry->job == job && (found == heap_.end() || entry->sequence < found->sequence)) found = entry;
  }
  std::optional<QueueEntry> taken;
  if (found != heap_.end()) {
    taken = *found;
    *found = heap_.back();
    heap_.pop_back();
  }
  make_heap();
  return taken;
}

// Twice in the run: it keeps the places of as many that have gone.
void OrderedEntries::reserve(size_t entries) {
  run_.reserve(2 * entries);
  heap_.reserve(entries);
}

void OrderedEntries::run_to_heap() {
  heap_.insert(heap_.end(), run_.begin() + static_cast<ptrdiff_t>(begin_), run_.end());
  run_.clear();
  begin_ = 0;
}

void OrderedEntries::make_heap() { std::make_heap(heap_.begin(), heap_.end(), later); }

}  // namespace posset::sched
