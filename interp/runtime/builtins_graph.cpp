// The module `graph`: graphs of nodes that send each other messages, as the script sees them. Here are the rows and the
// handles; what their records have to hold is in graph_options.h, what a graph does in graph.h.
#include <memory>
#include <new>

#include "interp/runtime/builtins.h"
#include "interp/runtime/graph.h"
#include "interp/runtime/graph_options.h"
#include "interp/value/list.h"
#include "interp/value/string.h"

namespace posset::interp {

namespace {

namespace graph = sched::graph;

// What the description throws is raised; so is that there is no memory.
template <class Body>
Value guarded(Context& context, Body&& body) {
  try {
    return body();
  } catch (const graph::GraphError& error) {
    return context.raise(ErrorCode::BadArgument, error.what());
  } catch (const std::bad_alloc&) {
    return context.error_pending() ? Value::failure() : context.raise_memory_limit();
  }
}

Value text_value(Context& context, const std::string& text) {
  Value made = make_string(context.heap, text);
  return made.failed() ? context.raise_memory_limit() : std::move(made);
}

std::string text_of(Borrowed v) { return std::string(string_view_of(v)); }

// ---- handles ----

std::span<const NativeFunction> graph_methods();
std::span<const NativeFunction> node_methods();

HostClass class_of(const char* name, const char* doc, std::span<const NativeFunction> methods) {
  HostClass made;
  made.name = name;
  made.doc = doc;
  made.methods = methods;
  return made;
}

// Neither is ever destroyed: when the process ends a runtime that is left may still evaluate.
const HostClass& graph_class() {
  static const HostClass& kClass = *new HostClass(class_of("graph", "Nodes that send each other messages.", graph_methods()));
  return kClass;
}

const HostClass& node_class() {
  static const HostClass& kClass = *new HostClass(class_of("node", "What a node's handlers send with.", node_methods()));
  return kClass;
}

// Whoever runs a graph keeps it though its handle be closed.
using Shared = std::shared_ptr<ScriptGraph>;

const Shared& shared_of(Borrowed handle) { return *static_cast<const Shared*>(handle.as<HostObject>()->data); }
Borrowed held_by(Borrowed handle) { return handle.as<HoldingObject>()->held; }
bool is_graph(Borrowed v) { return v.is(Tag::Host) && !is_bound_method(v) && v.as<HostObject>()->type == &graph_class(); }
ScriptNode& node_of(const NativeCall& call) { return *static_cast<ScriptNode*>(call.self.as<HostObject>()->pointer); }

// ---- describing ----

Value graph_add(NativeCall& call) {
  if (!want_string(call, 0)) return Value::failure();
  const Shared& self = shared_of(call.self);
  return guarded(call.context, [&] {
    if (is_graph(call[1])) {
      if (!call[1].as<HostObject>()->pointer) return raise_argument(call, ErrorCode::HostError, 1, "this graph is closed");
      const Shared& part = shared_of(call[1]);
      return self->add(held_by(call.self), text_of(call[0]), *part, held_by(call[1])) ? Value() : Value::failure();
    }
    if (!call[1].is(Tag::Record)) return raise_argument(call, 1, "record or graph");
    NodeAsked asked;
    if (!read_node(call, asked)) return Value::failure();
    const bool added = self->add(held_by(call.self), text_of(call[0]), std::move(asked.node), std::move(asked.options), asked.values);
    return added ? Value() : Value::failure();
  });
}

using AddEdge = const std::string* (ScriptGraph::*)(std::string, std::string, graph::EdgeOptions);

Value add_edge(NativeCall& call, AddEdge add) {
  if (!want_string(call, 0) || !want_string(call, 1)) return Value::failure();
  return guarded(call.context, [&] {
    graph::EdgeOptions options;
    if (!read_edge_options(call, options)) return Value::failure();
    const std::string* id = (shared_of(call.self).get()->*add)(text_of(call[0]), text_of(call[1]), std::move(options));
    return id ? text_value(call.context, *id) : Value::failure();
  });
}

Value graph_connect(NativeCall& call) { return add_edge(call, &ScriptGraph::connect); }
Value graph_input(NativeCall& call) { return add_edge(call, &ScriptGraph::input); }

Value graph_expose(NativeCall& call) {
  if (!want_string(call, 0) || !want_string(call, 1)) return Value::failure();
  return guarded(call.context, [&] {
    shared_of(call.self)->expose(text_of(call[0]), text_of(call[1]));
    return Value();
  });
}

// ---- running ----

Value graph_run(NativeCall& call) {
  RunAsked asked;
  if (!read_run_options(call, asked)) return Value::failure();
  const Shared self = shared_of(call.self);
  return guarded(call.context, [&] { return self->run(held_by(call.self), asked.timeout_ns); });
}

Value graph_stop(NativeCall& call) {
  return guarded(call.context, [&] { return shared_of(call.self)->stop() ? Value() : Value::failure(); });
}

Value graph_send(NativeCall& call) {
  if (!want_string(call, 0)) return Value::failure();
  const Shared self = shared_of(call.self);
  return guarded(call.context, [&] { return self->send(string_view_of(call.arguments[0]), call.take(1)); });
}

Value graph_set_priority(NativeCall& call) {
  int64_t priority = 0;
  if (!want_string(call, 0) || !want_int(call, 1, priority)) return Value::failure();
  return guarded(call.context, [&] {
    return shared_of(call.self)->set_priority(string_view_of(call.arguments[0]), priority) ? Value() : Value::failure();
  });
}

Value graph_set_capacity(NativeCall& call) {
  int64_t capacity = 0;
  if (!want_string(call, 0) || !want_int(call, 1, capacity)) return Value::failure();
  return guarded(call.context, [&] {
    return shared_of(call.self)->set_capacity(string_view_of(call.arguments[0]), capacity) ? Value() : Value::failure();
  });
}

Value graph_stats(NativeCall& call) {
  return guarded(call.context, [&] { return shared_of(call.self)->stats(); });
}

Value graph_dot(NativeCall& call) {
  return guarded(call.context, [&] { return text_value(call.context, shared_of(call.self)->dot()); });
}

// ---- of a node ----

Value node_emit(NativeCall& call) {
  if (!want_string(call, 0)) return Value::failure();
  ScriptNode& node = node_of(call);
  return guarded(call.context, [&] { return node.graph->emit(node, string_view_of(call.arguments[0]), call.take(1)); });
}

Value node_again(NativeCall& call) { return node_of(call).graph->again(node_of(call)); }
Value node_port(NativeCall& call) { return node_of(call).graph->port(node_of(call)); }

constexpr NativeFunction method(const char* name, const char* signature, const char* doc, NativeEntry entry, uint16_t least,
                                uint16_t most) {
  return module_function("", name, signature, doc, entry, least, most);
}

constexpr NativeFunction kGraphMethods[] = {
    method("add", "add(name, node)", "Adds a node, a record, or a copy of a graph as a part.", graph_add, 2, 2),
    method("connect", "connect(from, to, options = nil)", "Joins an output to an input, \"node:port\"; gives the edge's id.",
           graph_connect, 2, 3),
    method("input", "input(name, to, options = nil)", "A way in for `send`; gives the edge's id.", graph_input, 2, 3),
    method("expose", "expose(name, port)", "Names a port of a node for the graph that this becomes a part of.", graph_expose, 2, 2),
    method("run", "run(options = nil)", "Runs the graph to its end: {ended, states, stats}.", graph_run, 0, 1),
    method("stop", "stop()", "Ends the run: what was sent is delivered first.", graph_stop, 0, 0),
    method("send", "send(input, message)",
           "Sends from outside; waits for room. \"ok\", \"replaced\", \"dropped\" or \"stopping\".", graph_send, 2, 2),
    method("set_priority", "set_priority(edge, priority)", "Acts before the next turn.", graph_set_priority, 2, 2),
    method("set_capacity", "set_capacity(edge, capacity)", "Acts before the next turn.", graph_set_capacity, 2, 2),
    method("stats", "stats()", "What has been counted.", graph_stats, 0, 0),
    method("dot", "dot()", "A picture, in the language of graphviz.", graph_dot, 0, 0),
};

constexpr NativeFunction kNodeMethods[] = {
    method("emit", "emit(port, message)",
           "Sends; waits where an edge is full and blocks. \"ok\", \"coalesced\", \"replaced\", \"dropped\" or \"stopping\".",
           node_emit, 2, 2),
    method("again", "again()", "Asks for another on_tick at the node's next turn.", node_again, 0, 0),
    method("port", "port()", "The input that the message came to.", node_port, 0, 0),
};

std::span<const NativeFunction> graph_methods() { return kGraphMethods; }
std::span<const NativeFunction> node_methods() { return kNodeMethods; }

// ---- the module ----

Value graph_new(NativeCall& call) {
  GraphAsked asked;
  if (!read_graph_options(call, asked)) return Value::failure();
  return guarded(call.context, [&] { return make_graph(call.context, std::move(asked)); });
}

constexpr NativeFunction kGraphRows[] = {
    module_function("graph", "new", "new(options = nil)",
                    "A graph of nodes that send each other messages, with the methods add, connect, input, expose, run, stop, "
                    "send, set_priority, set_capacity, stats and dot. Options, a record: tick (0.05), the interval of nodes that "
                    "say none; batch (8), the messages of one turn; drain (2.0), how long the end may take. Times are in seconds.",
                    graph_new, 0, 1),
};

}  // namespace

Value make_graph(Context& context, GraphAsked asked) {
  if (context.runtime.trace)
    asked.config.number = static_cast<int64_t>(context.runtime.control.next_job());
  auto shared = std::make_unique<Shared>(
      std::make_shared<ScriptGraph>(context, std::move(asked.config), asked.drains));
  HoldingObject* object =
      new_holding_object(context, &graph_class(), shared->get(), sizeof(ScriptGraph));
  if (!object) return context.raise_memory_limit();
  Value handle = Value::adopt(Borrowed::heap(Tag::Host, object));
  object->data = shared.release();
  object->drop = [](void* data) { delete static_cast<Shared*>(data); };
  auto* ref = context.heap.make<Ref>(Tag::Ref);
  if (!ref) return context.raise_memory_limit();
  object->held = Borrowed::heap(Tag::Ref, ref);
  List* list = new_list(context.heap, Packing::Any, 0);
  if (!list) return context.raise_memory_limit();
  ref->value = Borrowed::heap(Tag::List, list);
  return handle;
}

std::shared_ptr<ScriptGraph> graph_of(Borrowed handle) {
  return is_graph(handle) && handle.as<HostObject>()->pointer ? shared_of(handle) : nullptr;
}

Borrowed values_of_graph(Borrowed handle) { return held_by(handle); }

Value make_node_handle(Context& context, ScriptNode& node) {
  HostObject* object = new_host_object(context, &node_class(), &node, 0);
  return object ? Value::adopt(Borrowed::heap(Tag::Host, object)) : context.raise_memory_limit();
}

void register_graph_module(RuntimeState& runtime) { register_module(runtime, kGraphRows); }

}  // namespace posset::interp
