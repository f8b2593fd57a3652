// The messages of an edge, first in, first out, in a ring that doubles when it is full. It never shrinks, so a graph
// that has seen its deepest queues allocates nothing for a message; and it begins small, so that a generous
// capacity costs nothing before it is used. How many may be in it is not its business. Used by one thread, or
// under a lock.
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <utility>

#include "sched/graph/message.h"

namespace posset::sched::graph {

class MessageRing {
 public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  void push(Message&& message) {
    if (size_ == slots_) grow();
    ring_[(first_ + size_) & (slots_ - 1)] = std::move(message);
    ++size_;
  }
  Message pop() {
    assert(size_ > 0);
    Message message = std::move(ring_[first_]);
    first_ = (first_ + 1) & (slots_ - 1);
    --size_;
    return message;
  }
  Message& back() {
    assert(size_ > 0);
    return ring_[(first_ + size_ - 1) & (slots_ - 1)];
  }
  void clear() {
    while (size_ > 0) pop();
  }

 private:
  void grow() {
    const size_t more = slots_ == 0 ? 8 : 2 * slots_;
    auto ring = std::make_unique<Message[]>(more);
    for (size_t i = 0; i < size_; ++i) ring[i] = std::move(ring_[(first_ + i) & (slots_ - 1)]);
    ring_ = std::move(ring);
    slots_ = more;
    first_ = 0;
  }

  std::unique_ptr<Message[]> ring_;
  size_t slots_ = 0;  // 0 or a power of two
  size_t first_ = 0;
  size_t size_ = 0;
};

}  // namespace posset::sched::graph
