// See graph.h. Here: how handlers are called, and how a run ends.
#include <exception>
#include <new>
#include <utility>

#include "interp/runtime/call.h"
#include "interp/runtime/forks.h"
#include "interp/runtime/graph.h"
#include "interp/runtime/work.h"
#include "interp/value/list.h"

namespace posset::interp {

namespace {

namespace graph = sched::graph;
using graph::NodeId;
using graph::Progress;

}  // namespace

// What a handler does on a fiber.
struct ScriptGraph::ItsTurn final : Turn {
  ItsTurn(ScriptGraph& its_graph, ScriptNode& its_node) : graph(its_graph), node(its_node) {}
  bool wait_begins() override {
    node.waits = graph.leave(node, Progress::Parked);
    return node.waits;
  }
  bool wait_ends() override {
    if (graph.runner_ != node.job && graph.loop_) graph.loop_->mailbox().wake(node.id);
    return graph.come_back(node);
  }
  const void* of_host() const override { return node.host_turn.get(); }
  // Of the first quantum that ends in it other turns may have had nearly all: a handler that has only begun goes on.
  bool quantum_ends() override {
    if (std::exchange(is_fresh, false)) return true;
    return graph.leave(node, Progress::Yielded) && graph.come_back(node);
  }
  bool parts_begin() override try {
    if (graph.dead_ || graph.collapsed_) return false;
    if (graph.leave(node, Progress::Parked)) return true;
    static_cast<void>(graph.context_.take_error());
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
  bool is_called_back() const override { return graph.runner_ == node.job; }
  bool parts_end() override { return wait_ends(); }

  ScriptGraph& graph;
  ScriptNode& node;
  bool is_fresh = true;
};

// ---- calls ----

void ScriptGraph::call(NodeId id) {
  ScriptNode& called = node(id);
  graph::GraphPolicy& policy = loop_->policy();
  const graph::Callback callback = policy.callback(id);
  const bool skipped = dead_ || (callback == graph::Callback::Stop && called.lost);
  if (skipped || !called.handles(callback)) return policy.finished(id, Progress::Done);
  Job& self = tasks_.current();
  ItsTurn turn(*this, called);
  called.job = &self;
  self.turn = &turn;
  ForkRecord* const forks = context_.fork_top;
  Value result = called.host ? invoke_host(called, callback) : invoke(called, callback);
  drop_forks(context_, forks);  // that an error has left
  self.turn = nullptr;
  called.job = nullptr;
  settle(called, callback, std::move(result));
}

// It stays in its edge's hand where the call may be repeated. What a fold has made is looked at here. Failed: raised.
Value ScriptGraph::message_for_call(ScriptNode& called) {
  graph::GraphPolicy& policy = loop_->policy();
  Value message = value_of_message(context_, policy.call_message(called.id), called.on_error == OnError::Retry);
  const graph::EdgeId edge = policy.call_edge(called.id);
  const bool folds = looked_at_[edge] && plan_->edges[edge].options.fold;
  if (message.failed() || !folds || is_taken(edge, message, "what was folded goes")) return message;
  return Value::failure();
}

Value ScriptGraph::invoke_host(ScriptNode& called, graph::Callback callback) {
  Value message;
  if (callback == graph::Callback::Message) message = message_for_call(called);
  if (message.failed()) return message;
  Borrowed* const top = context_.stack_top;
  Value result;
  try {
    if (!called.host->call(called, callback, std::move(message))) result = Value::failure();
  } catch (const std::bad_alloc&) {
    result = context_.error_pending() ? Value::failure() : context_.raise_memory_limit();
  } catch (const std::exception& exception) {  // the role stays with this fiber
    result = context_.error_pending() ? Value::failure() : context_.raise(ErrorCode::HostError, exception.what());
  }
  context_.stack_top = top;
  return result;
}

// The handler's arguments stand at the bottom of the fiber's registers, where they stay while it is left in the middle.
Value ScriptGraph::invoke(ScriptNode& called, graph::Callback callback) {
  const auto number = static_cast<size_t>(callback);
  const bool takes_inout = called.takes_inout[number];
  Borrowed* const base = context_.stack_top;
  if (!context_.has_stack(64)) return context_.raise_memory_limit();
  uint32_t count = 0;
  base[count++] = state_for_call(called, takes_inout).take();
  if (callback == graph::Callback::Message) {
    Value message = message_for_call(called);
    if (message.failed()) {
      called.state = Value::adopt(base[0]);
      return message;
    }
    base[count++] = message.take();
  }
  base[count++] = Value::copy(called.handle).take();
  context_.stack_top = base + count;
  Value result;
  try {
    result = call_value(context_, called.handlers[number], base, count, takes_inout ? 1 : 0);
  } catch (const std::bad_alloc&) {
    result = context_.error_pending() ? Value::failure() : context_.raise_memory_limit();
  } catch (const std::exception& exception) {  // the role stays with this fiber
    result = context_.error_pending() ? Value::failure() : context_.raise(ErrorCode::HostError, exception.what());
  }
  context_.stack_top = base;
  if (takes_inout) {
    called.state = Value::adopt(base[0]);
  } else if (!result.failed() && called.has_state) {
    called.state = std::move(result);
  }
  return result.failed() ? std::move(result) : Value();
}

// A state that is kept for the case of an error is copied when the handler changes it. Where an error ends the run nothing has
// to be kept, and it is changed in place; `inout` says that what has been changed stays.
Value ScriptGraph::state_for_call(ScriptNode& called, bool takes_inout) {
  if (takes_inout || called.on_error == OnError::Raise) return std::move(called.state);
  return Value::copy(called.state);
}

void ScriptGraph::settle(ScriptNode& called, graph::Callback callback, Value result) {
  graph::GraphPolicy& policy = loop_->policy();
  if (collapsed_) {
    if (result.failed()) static_cast<void>(context_.take_error());
    return;
  }
  const bool cancelled = std::exchange(called.cancelled, false);
  if (!result.failed()) return cancelled ? policy.cancelled(called.id) : policy.finished(called.id, Progress::Done);
  const bool limit = context_.limit_pending();
  Value error = context_.take_error();
  if (limit) {
    if (!cancelled) kill(std::move(error));
    return policy.cancelled(called.id);
  }
  called.problem = Value::copy(error->as<ErrorObject>()->message);
  const Borrowed message = called.problem;
  const std::string text(string_view_of(message));
  const bool raises = called.on_error == OnError::Raise;
  called.lost = raises && !called.host && !called.takes_inout[static_cast<size_t>(callback)];
  policy.failed(called.id, text);
  if (!raises) return;
  error->as<ErrorObject>()->data->trace.add_part("node " + plan_->nodes[called.id].name);
  raise_later(std::move(error));
}

// ---- ends ----

void ScriptGraph::stop_for(const char* why) {
  if (!why_) why_ = door_->was_stopped() ? "stopped" : why;
  drains_ ? loop_->mailbox().stop() : loop_->stop_now();
}

bool ScriptGraph::stop() {
  if (phase_ == Phase::Ended) return true;
  if (!prepare()) return false;
  stop_for("stopped");
  return true;
}

// Ends the run with an error, the first of several.
void ScriptGraph::raise_later(Value error) {
  if (error_->is_nil()) error_ = std::move(error);
  loop_->stop_now();
}

void ScriptGraph::fail(ErrorCode code, std::string text, std::string hint) {
  context_.raise(code, std::move(text), std::move(hint));
  raise_later(context_.take_error());
}

void ScriptGraph::kill(Value error) {
  if (!dead_) error_ = std::move(error);
  dead_ = true;
  loop_->stop_now();
}

void ScriptGraph::end() {
  ended_ = true;
  for (Job* spare : spares_) tasks_.wake(*spare);
  spares_.clear();
}

// The loop itself cannot go on, for want of memory. What is in the middle is unwound, one after the other.
void ScriptGraph::collapse() {
  if (!std::exchange(collapsed_, true)) {
    if (context_.error_pending()) static_cast<void>(context_.take_error());
    context_.raise_memory_limit();
    error_ = context_.take_error();
    dead_ = true;
    loop_->mailbox().stop();
  }
  for (NodeId id = 0; id < plan_->nodes.size(); ++id) {
    if (node(id).job) return resume(id);
  }
  end();
}

// ---- the run ----

// Moves the functions and states from the list into the nodes, and gives each node its handle. False: raised.
bool ScriptGraph::take_values(Borrowed held) {
  Borrowed& list = held.as<Ref>()->value;
  for (NodeId id = 0; id < plan_->nodes.size(); ++id) {
    ScriptNode& each = node(id);
    each.graph = this;
    each.id = id;
    for (size_t i = 0; i < ScriptNode::kHandlers; ++i) {
      each.handlers[i] = list_copy(list.as<List>(), each.place + i);
      each.takes_inout[i] = inout_mask_of(each.handlers[i]) != 0;
    }
    each.state = list_copy(list.as<List>(), each.place + ScriptNode::kHandlers);
    if (each.host) continue;
    each.handle = make_node_handle(context_, each);
    if (each.handle.failed()) return false;
  }
  list_truncate(list, 0);
  return true;
}

// Whoever has kept a node's handle has a closed one.
void ScriptGraph::drop_values() {
  for (NodeId id = 0; id < plan_->nodes.size(); ++id) {
    ScriptNode& each = node(id);
    if (each.handle->is(Tag::Host)) close_host_object(each.handle->as<HostObject>());
    each.handle = Value();
    each.state = Value();
    for (Value& handler : each.handlers) handler = Value();
  }
}

// Beside the fibers, until the last that has begun has ended. False: the error is kept.
bool ScriptGraph::await_end() {
  while (!ended_ || fibers_ > 0) {
    if (dead_ && !ended_ && !runner_->begun) {
      runner_ = caller_;
      serve_role(*caller_);
    } else if (dead_) {
      tasks_.park(sched::kNever, "the end of a graph");
    } else if (starved_ ? !or_memory_limit(context_, false) : !tasks_.wait(sched::kNever, "the end of a graph")) {
      kill(context_.take_error());
    }
  }
  return error_->is_nil();
}

// Runs the loop on fibers. False: the error is kept.
bool ScriptGraph::await_fibers() {
  runner_ = start_fiber();
  if (!runner_) {
    error_ = context_.take_error();
    ended_ = true;
    return false;
  }
  tasks_.watch(*this);
  const bool good = await_end();
  tasks_.leave(*this);
  return good;
}

Value ScriptGraph::run(Borrowed held, int64_t timeout_ns) {
  if (phase_ == Phase::Running) throw graph::GraphError("the graph is running");
  if (phase_ == Phase::Ended) throw graph::GraphError("the graph has been run before, and a graph runs once");
  if (!prepare()) return Value::failure();
  if (!take_values(held)) {
    drop_values();
    return Value::failure();
  }
  phase_ = Phase::Running;
  door_->open(*loop_, looked_at_, *this, context_.runtime.clock);  // to this thread, which need not be the one that described it
  caller_ = &tasks_.current();
  quantum_since_ns_ = tasks_.now_ns();
  deadline_ns_ = timeout_ns == sched::kNever ? sched::kNever : quantum_since_ns_ + timeout_ns;
  const bool good = await_fibers();
  loop_->mailbox().stop();
  door_->close();
  serve_senders();
  at_the_end_ = loop_->policy().statistics();
  Value result = good ? answer() : Value::failure();
  phase_ = Phase::Ended;
  drop_values();
  loop_.reset();
  if (good) return result;
  if (error_->as<ErrorObject>()->data->limit) {
    context_.restore_error(std::move(error_));
    return Value::failure();
  }
  return context_.throw_from_elsewhere(std::move(error_));
}

}  // namespace posset::interp
