// A graph that runs: what a host owns. It registers nodes and subgraphs, connects them, and calls `run` on a thread of
// its choice, which is the loop until `shutdown`. Handlers are called on that thread only.
//
//   GraphRuntime graph(clock, nullptr);
//   graph.add("camera", camera, {.outputs = {port<Frame>("out")}, .tick_interval_ns = 20 * kMillisecond});
//   graph.add("screen", screen, {.inputs = {port<Frame>("in")}});
//   graph.connect("camera:out", "screen:in", {.capacity = 2, .policy = EdgePolicy::Latest});
//   graph.run();
//
// The plan is made when it is first wanted (by `run`, a mutator, an input, `statistics`, `dot`); what is wrong with the
// description is a GraphError then, and can be mended. After that registering is a GraphError. All functions may be
// called from any thread; `run` once.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "sched/base/clock.h"
#include "sched/base/stop.h"
#include "sched/base/thread_safety.h"
#include "sched/base/trace.h"
#include "sched/graph/loop.h"
#include "sched/graph/plan.h"
#include "sched/graph/policy.h"

namespace posset::sched::graph {

class GraphRuntime {
 public:
  // `clock` and `trace` (which may be null) outlive it. A stop of `parent` is a shutdown.
  explicit GraphRuntime(const Clock& clock, Trace* trace = nullptr, GraphConfig config = {}, std::stop_token parent = {});
  // The loop must have ended, or never begun.
  ~GraphRuntime();

  // ---- registering ----

  void add(std::string name, std::shared_ptr<Node> node, NodeOptions options);
  void add(std::string name, Subgraph subgraph);
  void connect(std::string from, std::string to, EdgeOptions options = {});
  void input(std::string name, std::string to, EdgeOptions options = {});

  // ---- running ----

  // Runs the graph until it is shut down and has ended; throws nothing of what handlers throw.
  void run();
  // Drains and ends: see GraphPolicy. Returns at once; calling it again does nothing.
  void shutdown();
  // Stopped with the graph: for what belongs to its nodes.
  std::stop_token stop_token() const { return stop_.token(); }

  // ---- while it runs ----

  // Take effect before the next turn. GraphError: unknown edge, bad value, a graph that ends, or thousands of changes
  // that the loop, busy in a handler, has not come to.
  void set_priority(std::string_view edge, int64_t priority);
  void set_capacity(std::string_view edge, int64_t capacity);

  // The number of an input, for `put`.
  EdgeId find_input(std::string_view name);
  // Ok, Replaced: the graph has it. Dropped: the edge was full and drops. Blocked: full; `item` stays with the
  // caller, as it does with Stopping. GraphError: a wrong type, or no input.
  PutResult put(EdgeId input, Message& item);
  template <class T>
  PutResult put(EdgeId input, T value) {
    Message item = Message::of<T>(std::move(value));
    return put(input, item);
  }
  // Waits for room until the clock reaches the deadline. Not for the thread of the loop.
  PutResult put_by(EdgeId input, Message& item, int64_t deadline_ns);

  // Lets the activation that a node has parked go on.
  void wake(NodeId node);
  NodeId find_node(std::string_view name);

  GraphStatistics statistics();
  std::string dot();

 private:
  // Waits on a condition variable until somebody notifies.
  class Sleeper final : public Notifier {
   public:
    void notify() override POSSET_EXCLUDES(mutex_);
    void sleep(const Clock& clock, int64_t until_ns) POSSET_EXCLUDES(mutex_);

   private:
    Mutex mutex_;
    bool notified_ POSSET_GUARDED_BY(mutex_) = false;
    std::condition_variable condition_;
  };
  struct Built;

  Built& built() POSSET_EXCLUDES(mutex_);
  void build() POSSET_REQUIRES(mutex_);
  void check_item(EdgeId input, const Message& item);
  // Throws if the plan has been made.
  Subgraph& description(std::string_view what) POSSET_REQUIRES(mutex_);

  const Clock& clock_;
  Trace* const trace_;
  const GraphConfig config_;
  StopNode stop_;
  Mutex mutex_;
  Subgraph description_ POSSET_GUARDED_BY(mutex_);
  std::unique_ptr<Built> owned_ POSSET_GUARDED_BY(mutex_);
  std::atomic<Built*> built_{nullptr};  // released when it is whole, acquired by readers
  std::atomic<bool> ran_{false};
};

}  // namespace posset::sched::graph
