// Which node is next. Ready nodes stand in a queue for each band; a node is appended when it becomes ready or after its
// turn and is never moved within its band, so every node of a band has its turn before one has its second. (One whose
// band changes goes to the end of the other queue: otherwise a message for control would wait behind those that
// the node had been queued for.)
//
// Between bands: smooth weighted round robin over those that have ready nodes. Each gets its weight as credit, the
// richest is chosen, the higher among equals, and pays what all were given. With weights 4, 2 and 1 that is the
// cycle C H C N C H C. A band that was empty at a choice begins anew with no credit: what it had not used is no
// claim. On top of it, a turn of another band is never followed by another such while Control is ready; within the
// cycle that changes nothing, and it bounds Control's wait when bands come and go.
//
// Where bands come and go, what one loses by beginning anew stays with the others, a little each time. So credits are
// kept within the sum of all weights, which they never reach while the same bands are ready; otherwise a band could
// save up turns without end and then keep a lower one, or a higher one, waiting for all of them.
//
// The queues are linked through an array by node number: no allocation. Used by the thread of the loop only.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <optional>
#include <vector>

#include "sched/graph/node.h"

namespace posset::sched::graph {

using BandWeights = std::array<uint32_t, kBands>;  // by Band

class ReadyQueues {
 public:
  ReadyQueues(size_t nodes, const BandWeights& weights)
      : weights_(weights), most_credit_(int64_t{weights[0]} + weights[1] + weights[2]), links_(nodes) {}

  bool empty() const { return queued_ == 0; }
  size_t size() const { return queued_; }
  bool queued(NodeId node) const { return links_[node].queued; }
  Band band_of(NodeId node) const { return links_[node].band; }

  void append(NodeId node, Band band) {
    Link& link = links_[node];
    assert(!link.queued);
    Queue& queue = queues_[static_cast<size_t>(band)];
    link = {queue.last, kNone, band, true};
    (queue.last == kNone ? queue.first : links_[queue.last].next) = node;
    queue.last = node;
    ++queued_;
  }
  void remove(NodeId node) {
    Link& link = links_[node];
    assert(link.queued);
    Queue& queue = queues_[static_cast<size_t>(link.band)];
    (link.previous == kNone ? queue.first : links_[link.previous].next) = link.next;
    (link.next == kNone ? queue.last : links_[link.next].previous) = link.previous;
    link.queued = false;
    --queued_;
  }

  // For checks.
  int64_t credit(Band band) const { return queues_[static_cast<size_t>(band)].credit; }
  int64_t most_credit() const { return most_credit_; }

  struct Turn {
    NodeId node;
    Band band;
  };
  // Takes out the node whose turn it is.
  std::optional<Turn> pick() {
    if (empty()) return std::nullopt;
    const Band band = choose();
    const NodeId node = queues_[static_cast<size_t>(band)].first;
    remove(node);
    return Turn{node, band};
  }

 private:
  struct Link {
    NodeId previous = kNone;
    NodeId next = kNone;
    Band band = Band::Normal;
    bool queued = false;
  };
  struct Queue {
    NodeId first = kNone;
    NodeId last = kNone;
    int64_t credit = 0;
  };

  Band choose() {
    constexpr size_t kControl = static_cast<size_t>(Band::Control);
    int64_t given = 0;
    size_t best = kBands;
    for (size_t band = kBands; band-- > 0;) {
      Queue& queue = queues_[band];
      if (queue.first == kNone) {
        queue.credit = 0;
        continue;
      }
      queue.credit += weights_[band];
      given += weights_[band];
      if (best == kBands || queue.credit > queues_[best].credit) best = band;
    }
    if (last_was_other_ && queues_[kControl].first != kNone) best = kControl;
    for (Queue& queue : queues_) queue.credit = std::min(queue.credit, most_credit_);
    queues_[best].credit = std::max(queues_[best].credit - given, -most_credit_);
    last_was_other_ = best != kControl;
    return static_cast<Band>(best);
  }

  const BandWeights weights_;
  const int64_t most_credit_;
  std::array<Queue, kBands> queues_;
  std::vector<Link> links_;
  size_t queued_ = 0;
  bool last_was_other_ = false;
};

}  // namespace posset::sched::graph
