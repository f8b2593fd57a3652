// What other threads want of a graph: items for its inputs, changes of edges, waking of parked activations, the end.
// All of it waits here, under one lock, until the loop comes to a boundary and collects it; so the graph itself needs no
// lock, and "at once" means before the next turn.
//
// Everything is bounded. An input keeps as many items here as its edge has capacity; beyond that a lossy input loses
// as its edge would (drop: the new one, latest: the oldest here), any other refuses. (Folding is user code,
// which does not run under a lock: an input that coalesces refuses until the loop has folded.) There is one wake
// for each node at most, and changes are refused beyond `kMostCommands`.
//
// The lock is a leaf. Whoever collects decides how much of an input it takes: the rest waits for room.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "sched/base/clock.h"
#include "sched/base/thread_safety.h"
#include "sched/graph/plan.h"
#include "sched/graph/ring.h"

namespace posset::sched::graph {

// Ends the sleep of whoever drives the loop. Called from any thread, after the mailbox's lock was given back.
class Notifier {
 public:
  virtual ~Notifier() = default;
  virtual void notify() = 0;
};

struct Command {
  enum class Kind : uint8_t { SetPriority, SetCapacity, Wake };
  Kind kind;
  uint32_t target;  // edge or node
  int64_t value = 0;
};

class Mailbox {
 public:
  static constexpr size_t kMostCommands = 4096;

  struct Arrival {
    EdgeId edge;
    Message item;
  };
  struct Arrivals {
    std::vector<Command> commands;
    std::vector<Arrival> items;
    bool stop = false;
    void clear() {
      commands.clear();
      items.clear();
      stop = false;
    }
  };

  // `notifier` outlives it.
  Mailbox(const Plan& plan, Notifier& notifier);

  // ---- any thread ----

  // Ok: taken. Replaced: taken, and `item` is now the oldest, which had to go: it is the caller's to destroy, where that may
  // be done. Dropped: gone. Blocked, Stopping: `item` stays with the caller.
  PutResult put(EdgeId input, Message& item) POSSET_EXCLUDES(mutex_);
  // Waits for room until the clock reaches the deadline.
  PutResult put_by(EdgeId input, Message& item, const Clock& clock, int64_t deadline_ns) POSSET_EXCLUDES(mutex_);
  // False: there are too many, or the graph ends.
  bool change(const Command& command) POSSET_EXCLUDES(mutex_);
  void wake(NodeId node) POSSET_EXCLUDES(mutex_);
  void stop() POSSET_EXCLUDES(mutex_);
  bool stopped() const POSSET_EXCLUDES(mutex_);
  // Makes `arrived` true.
  void look_again() { arrived_.store(true, std::memory_order_relaxed); }

  // ---- whoever drives the loop ----

  // Whether something has come since `collect_commands`. Relaxed: what is missed now is seen at the next boundary, and before
  // a sleep `fall_asleep` looks under the lock.
  bool arrived() const { return arrived_.load(std::memory_order_relaxed); }
  // Whether the last `collect_items` left items for want of room.
  bool has_backlog() const { return backlog_.load(std::memory_order_relaxed); }
  // Takes the commands. By themselves, because they decide what there is room for.
  void collect_commands(Arrivals& into) POSSET_EXCLUDES(mutex_);
  // Takes as many items of each input as `room(edge)` says, and all once there is a stop.
  void collect_items(const std::function<size_t(EdgeId)>& room, Arrivals& into) POSSET_EXCLUDES(mutex_);
  // What an input's items are kept like from now on.
  void set_limit(EdgeId input, int64_t capacity, EdgePolicy policy) POSSET_EXCLUDES(mutex_);
  // False: something has come, and there is to be no sleep. True: what comes next notifies.
  bool fall_asleep() POSSET_EXCLUDES(mutex_);

 private:
  struct Input {
    MessageRing items;
    size_t limit = 0;
    EdgePolicy policy = EdgePolicy::Block;
    EdgeId edge = kNone;
  };

  PutResult try_put(EdgeId edge, Message& item) POSSET_REQUIRES(mutex_);
  // Whether the loop is to be notified.
  bool note() POSSET_REQUIRES(mutex_);

  Notifier& notifier_;
  mutable Mutex mutex_;
  std::vector<Input> inputs_ POSSET_GUARDED_BY(mutex_);
  std::vector<uint32_t> input_of_edge_;  // by edge; never changed
  std::vector<Command> commands_ POSSET_GUARDED_BY(mutex_);
  std::vector<NodeId> wakes_ POSSET_GUARDED_BY(mutex_);
  std::vector<bool> woken_ POSSET_GUARDED_BY(mutex_);  // by node: it is among `wakes_`
  bool stop_ POSSET_GUARDED_BY(mutex_) = false;
  bool asleep_ POSSET_GUARDED_BY(mutex_) = false;
  size_t waiting_for_room_ POSSET_GUARDED_BY(mutex_) = 0;
  std::condition_variable room_;
  std::atomic<bool> arrived_{false};
  std::atomic<bool> backlog_{false};
};

}  // namespace posset::sched::graph
