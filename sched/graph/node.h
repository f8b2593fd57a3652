// What a node is to the scheduler, and what the scheduler is to a running node.
//
// A node is called for four reasons: start, a message, a tick, stop. One call with all that follows from it until it is
// done is an activation; a node has at most one, and all run on the thread of the loop. A host's node overrides the
// `on_` functions, which run to their end. A node that runs on a fiber overrides `call` and `resume` instead:
// its activation may be left in the middle, because an edge is full, because its quantum is over or because it waits
// for something of its own, and is resumed later; meanwhile the loop serves other nodes.
//
// An item that a full block edge does not take is held for the emitter, one for each edge, and goes in as soon as
// the consumer has made room. Until then the node gets no turn. So a host's handler that is told Blocked has lost
// nothing and only has to return; it must not emit on that port again before.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "sched/base/clock.h"
#include "sched/graph/message.h"

namespace posset::sched::graph {

using NodeId = uint32_t;
using EdgeId = uint32_t;
using PortId = uint32_t;  // the place of a port among the inputs or outputs of its node
constexpr uint32_t kNone = UINT32_MAX;

// Misuse: of a description, of a mutator, of a running activation. The text names what it is about.
class GraphError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Higher is better. A scale of its own: the compile scheduler's priorities go the other way.
enum class Band : uint8_t { Normal, High, Control };
constexpr size_t kBands = 3;

// An edge's priority as its band: 3 and more Control, 2 High, 0 and 1 Normal. Negative ones are a GraphError.
Band band_of_priority(int64_t priority);

// What an edge does with an item when it is full.
enum class EdgePolicy : uint8_t {
  Block,     // the emitter waits
  Drop,      // the item is dropped
  Latest,    // the oldest item in the edge is dropped
  Coalesce,  // the newest item in the edge becomes that and the item, folded by a function
};

enum class PutResult : uint8_t {
  Ok,
  Coalesced,
  Replaced,  // the oldest was dropped for it
  Dropped,
  Blocked,   // held until there is room; from outside: not taken
  Stopping,  // the graph ends; not taken
};

// What becomes of a node when its handler throws. The loop goes on in any case.
enum class ErrorPolicy : uint8_t {
  Skip,   // the message counts as consumed
  Retry,  // the call is made once more, unless the handler had moved the message out
  Stop,   // the node is scheduled no more; what waits for it and what comes later is dropped
};

enum class Callback : uint8_t { Start, Message, Tick, Stop };

// How far an activation has come when `call` or `resume` returns.
enum class Progress : uint8_t {
  Done,
  Suspended,  // an emit said Blocked: to be resumed when what is held has gone
  Yielded,    // its quantum is over: to be resumed after others had their turn
  Parked,     // waits for something outside the graph: to be resumed after `wake`
};

class GraphPolicy;

// The hand of a running activation on its graph. Valid during `call` and `resume`, on the thread of the loop.
class Activation {
 public:
  Activation(GraphPolicy& policy, NodeId node) : policy_(policy), node_(node) {}

  // Hands an item to every edge of an output port. The answer is the worst of them in the order of PutResult. Throws
  // GraphError for an unknown port, a wrong type, a port that is Blocked since an earlier emit, and more
  // emits than one activation may make; the item stays with the caller then.
  PutResult emit(PortId port, Message&& message);
  template <class T>
  PutResult emit(PortId port, T value) {
    return emit(port, Message::of<T>(std::move(value)));
  }
  // What the edges of the port said at the last emit, in the order they were connected.
  std::span<const PutResult> edge_results() const;

  // Asks for another on_tick as soon as the node has its next turn: for sources, which nobody sends anything.
  void again();

  // After `resume`: what became of the item whose emit said Blocked, Ok or Stopping.
  PutResult resumed_with() const;

  // What the activation is about. The message stays where it is until the activation is done.
  Callback callback() const;
  PortId port() const;
  EdgeId edge() const;
  Message& message();

  // The graph ends: emits are refused, and an activation that was left in the middle should end, too.
  bool stopping() const;
  int64_t now_ns() const;
  NodeId node() const { return node_; }
  const std::string& name() const;

 private:
  GraphPolicy& policy_;
  const NodeId node_;
};

class Node {
 public:
  virtual ~Node() = default;

  virtual void on_start(Activation&) {}
  virtual void on_message(Activation&, PortId, Message&) {}
  virtual void on_tick(Activation&) {}
  virtual void on_stop(Activation&) {}

  // For nodes whose activations can be left in the middle. What they throw is what the handler has thrown.
  virtual Progress call(Activation& activation);
  virtual Progress resume(Activation& activation);
  // The activation is not going to be resumed; the node gives up whatever it consists of.
  virtual void cancel(Activation&) {}
};

}  // namespace posset::sched::graph
