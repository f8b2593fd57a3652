// The tasks of one lane that wait, in their order: by key, the first come among equals.
//
// Tasks mostly come in the order in which they will go: those of one kind differ in nothing but when they came. So
// an entry that belongs behind all of the run, a sorted stretch, is appended to it, and only the others go into a
// heap. The next one is the lower of the two heads. In order, coming and going take constant time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sched/p2/task.h"

namespace posset::sched {

// What stands for a task in the queue.
struct QueueEntry {
  double key = 0;
  uint64_t sequence = 0;  // the order of coming in
  double estimate_s = 0;  // as it was then
  int64_t enqueued_ns = 0;
  uint64_t job = 0;
  uint32_t item = 0;      // where the caller keeps the task; not looked at here
  Lane lane = Lane::Compile;
  Priority priority = Priority::Normal;

  bool before(const QueueEntry& other) const {
    return key < other.key || (key == other.key && sequence < other.sequence);
  }
};

class OrderedEntries {
 public:
  bool empty() const { return size() == 0; }
  size_t size() const { return heap_.size() + run_.size() - begin_; }
  // Of one that is not empty.
  const QueueEntry& first() const { return run_is_first() ? run_[begin_] : heap_.front(); }

  void push(const QueueEntry& entry);
  // Takes out the first; of one that is not empty.
  QueueEntry pop();
  // Takes out the first to come of that number.
  std::optional<QueueEntry> take(uint64_t job);
  // Memory for so many.
  void reserve(size_t entries);

  // Gives every entry the key that `key_of` says, and orders them anew.
  template <class KeyOf>
  void rekey(KeyOf&& key_of) {
    run_to_heap();
    for (QueueEntry& entry : heap_) entry.key = key_of(entry);
    make_heap();
  }

 private:
  bool run_is_first() const {
    return begin_ < run_.size() && (heap_.empty() || run_[begin_].before(heap_.front()));
  }
  void append(const QueueEntry& entry);
  void run_to_heap();
  void make_heap();

  std::vector<QueueEntry> run_;  // from `begin_` on
  size_t begin_ = 0;
  std::vector<QueueEntry> heap_;
};

}  // namespace posset::sched
