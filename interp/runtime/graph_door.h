// The way from other threads into a graph of scripts (graph.h). Values belong to a context and its thread, so what comes
// from elsewhere is plain data, and becomes a value where a handler or a fold is called with it. What is driven out of an
// input by it may be a value that a script has sent: that is kept until the graph's thread destroys it.
//
// A door stays as long as somebody may send through it. Behind it is a graph's mailbox from the time the graph is planned
// until it has ended. Its lock is taken before the mailbox's, which is given back before the graph is notified. Who waits for
// room does so without it, counted: `close` waits for those, whom the end of the mailbox has woken.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "interp/runtime/context.h"
#include "interp/runtime/outside_item.h"
#include "interp/runtime/port_type.h"
#include "sched/base/clock.h"
#include "sched/base/thread_safety.h"
#include "sched/graph/loop.h"

namespace posset::interp {

// A value on its way, which an edge can copy for a fan-out.
struct GraphItem {
  explicit GraphItem(Value v) : value(std::move(v)) {}
  GraphItem(GraphItem&&) = default;
  GraphItem(const GraphItem& other) : value(Value::copy(other.value)) {}
  Value value;
};

// The value of such a message or an OutsideItem, on the thread of the context; `keep`: what is in the message stays there.
// Failed: raised.
Value value_of_message(Context& context, sched::graph::Message& message, bool keep);
Value value_of_message(Context& context, const sched::graph::Message& message);

class GraphDoor {
 public:
  // ---- any thread ----

  // Ok, Replaced: the graph has it. Dropped: it was full and drops. Blocked: full, try again later. Stopping: the graph ends.
  // Empty: the port does not take such a thing.
  std::optional<sched::graph::PutResult> put(sched::graph::EdgeId input, OutsideItem item) POSSET_EXCLUDES(mutex_);
  // Waits for room, for so long at most; on the graph's own thread, which would have to make it, not at all.
  std::optional<sched::graph::PutResult> put_within(sched::graph::EdgeId input, OutsideItem item, int64_t most_ns) POSSET_EXCLUDES(mutex_);
  // Ends the run: what was sent is delivered first.
  void stop() POSSET_EXCLUDES(mutex_);
  // Whether that was called before the graph ended for another reason.
  bool was_stopped() const { return stopped_.load(std::memory_order_relaxed); }
  // As the graph's methods do; an input has no more capacity than it was described with, which is what is charged for.
  // Throw GraphError.
  void set_priority(std::string_view edge, int64_t priority) POSSET_EXCLUDES(mutex_);
  void set_capacity(std::string_view edge, int64_t capacity) POSSET_EXCLUDES(mutex_);
  // Somebody who may send, and is one no more.
  void enter() { senders_.fetch_add(1, std::memory_order_relaxed); }
  void leave() POSSET_EXCLUDES(mutex_);

  // ---- the graph's thread ----

  // None: whatever they have sent has arrived in the mailbox.
  bool has_senders() const { return senders_.load(std::memory_order_acquire) > 0; }
  // For the thread that calls this, the last of several times. All stay until `close`. `types`: what is taken along each edge, null where that is anything. `notifier` is told when the
  // last sender leaves.
  void open(sched::graph::GraphLoop& loop, const std::vector<const PortType*>& types, sched::graph::Notifier& notifier,
            const sched::Clock& clock) POSSET_EXCLUDES(mutex_);
  // The mailbox has been stopped, or nobody waits at it.
  void close() POSSET_EXCLUDES(mutex_);
  // Destroys what was driven out.
  void sweep() POSSET_EXCLUDES(mutex_);

 private:
  bool is_taken(sched::graph::EdgeId input, const sched::graph::Message& item) const POSSET_REQUIRES(mutex_);
  // Makes room for one that is driven out, and for those that are being so. May throw.
  void expect_evicted() POSSET_REQUIRES(mutex_);
  void keep_evicted(sched::graph::Message& item, sched::graph::PutResult result) POSSET_REQUIRES(mutex_);
  sched::graph::GraphLoop& opened() POSSET_REQUIRES(mutex_);

  sched::Mutex mutex_;
  sched::graph::GraphLoop* loop_ POSSET_GUARDED_BY(mutex_) = nullptr;
  const std::vector<const PortType*>* types_ POSSET_GUARDED_BY(mutex_) = nullptr;
  sched::graph::Notifier* notifier_ POSSET_GUARDED_BY(mutex_) = nullptr;
  const sched::Clock* clock_ POSSET_GUARDED_BY(mutex_) = nullptr;
  std::thread::id thread_ POSSET_GUARDED_BY(mutex_);
  size_t waiting_ POSSET_GUARDED_BY(mutex_) = 0;
  std::condition_variable none_waits_;
  // At most what a script has sent and no handler has got: it cannot send more than the inputs hold before it sweeps.
  std::vector<sched::graph::Message> evicted_ POSSET_GUARDED_BY(mutex_);
  std::atomic<bool> has_evicted_{false};  // relaxed: what is missed is swept later
  std::atomic<bool> stopped_{false};      // relaxed: set before the mailbox's lock, whose stop it explains
  std::atomic<uint32_t> senders_{0};      // released by who leaves; whoever sleeps has a bell that is rung afterwards
};

}  // namespace posset::interp

template <>
inline constexpr bool posset::sched::graph::kMovesAsBytes<posset::interp::GraphItem> = true;
