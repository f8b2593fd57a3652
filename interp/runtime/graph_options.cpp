// See graph_options.h.
#include "interp/runtime/graph_options.h"

#include <algorithm>
#include <string>
#include <utility>

#include "interp/runtime/options.h"
#include "interp/value/list.h"
#include "interp/value/string.h"

namespace posset::interp {

namespace {

namespace graph = sched::graph;

std::string text_of(Borrowed v) { return std::string(string_view_of(v)); }

bool raise_option(const NativeCall& call, uint32_t i, ErrorCode code, const std::string& problem) {
  raise_argument(call, code, i, problem);
  return false;
}

// ---- a graph, a run ----

bool read_tick(NativeCall& call, Borrowed given, GraphAsked& asked) {
  return read_seconds(call, 0, "tick", given, Least::MoreThanZero, asked.config.tick_interval_ns);
}

// Without a drain handlers have their time to end all the same.
bool read_drain(NativeCall& call, Borrowed given, GraphAsked& asked) {
  constexpr int64_t kMostNs = INT64_MAX / 4;  // is added to the time
  int64_t ns = 0;
  if (!read_seconds(call, 0, "drain", given, Least::Zero, ns)) return false;
  asked.drains = ns > 0;
  if (asked.drains) asked.config.shutdown_timeout_ns = std::min(ns, kMostNs);
  return true;
}

bool read_batch(NativeCall& call, Borrowed given, GraphAsked& asked) {
  if (!given.is_int() || given.as_int() < 1 || given.as_int() > UINT32_MAX) {
    return raise_option(call, 0, ErrorCode::OutOfRange, "batch must be an int of 1 or more, got " + kind_and_value(call.context, given));
  }
  asked.config.max_batch = static_cast<uint32_t>(given.as_int());
  return true;
}

constexpr Option<GraphAsked> kGraphOptions[] = {{"tick", read_tick}, {"batch", read_batch}, {"drain", read_drain}};

constexpr Option<RunAsked> kRunOptions[] = {{"timeout", [](NativeCall& call, Borrowed given, RunAsked& asked) {
                                               return read_seconds(call, 0, "timeout", given, Least::Zero, asked.timeout_ns);
                                             }}};

// ---- a node ----

constexpr const char* kHandlerNames[] = {"on_start", "on_message", "on_tick", "on_stop"};

bool read_ports(NativeCall& call, Borrowed given, const char* what, std::vector<graph::Port>& ports,
                std::vector<PortTypeRef>& types) {
  if (!given.is(Tag::List)) {
    return raise_option(call, 1, ErrorCode::TypeMismatch, std::string(what) + " must be a list of names, got " + kind_and_value(call.context, given));
  }
  const auto* list = given.as<List>();
  if (!call.context.charge(list->size)) return false;
  for (uint64_t i = 0; i < list->size; ++i) {
    const Borrowed name = list_get(list, i);
    if (!name.is_string()) {
      return raise_option(call, 1, ErrorCode::TypeMismatch, std::string(what) + " must be a list of names, got in it " + kind_and_value(call.context, name));
    }
    std::string text = text_of(name);
    types.push_back(take_port_type(text));
    ports.push_back({std::move(text), graph::kAnyType});
  }
  return true;
}

struct Arity {
  uint32_t least, most;
};

Arity arity_of(Borrowed f) {
  if (f.is(Tag::Fn)) {
    const Function& function = *f.as<Closure>()->function;
    return {function.required, function.has_rest ? UINT32_MAX : function.parameter_count};
  }
  const NativeFunction* row = f.is(Tag::Builtin) ? f.as_builtin() : is_bound_method(f) ? method_of(f) : nullptr;
  if (row) return {row->min_arguments, row->max_arguments};
  const auto* info = static_cast<const ConstructorInfo*>(f.as<Constructor>()->declaration);
  const auto fields = static_cast<uint32_t>(info->decl->fields.size());
  return {fields, fields};
}

template <size_t number>
bool read_handler(NativeCall& call, Borrowed given, NodeAsked& asked) {
  const std::string name = kHandlerNames[number];
  if (given.is_nil()) return true;
  if (!is_callable(given)) {
    return raise_option(call, 1, ErrorCode::NotAFunction, name + ": " + kind_and_value(call.context, given) + " is not a function");
  }
  constexpr bool kOfMessage = number == static_cast<size_t>(graph::Callback::Message);
  constexpr uint32_t kArguments = kOfMessage ? 3 : 2;
  const Arity arity = arity_of(given);
  if (arity.least > kArguments || arity.most < kArguments) {
    return raise_option(call, 1, ErrorCode::ArgumentCount,
                        name + " is called with " + (kOfMessage ? "(state, message, node)" : "(state, node)") + ", but is " + signature_of(given));
  }
  if (inout_mask_of(given) > 1) {
    return raise_option(call, 1, ErrorCode::InoutMismatch, name + ": only the state can be inout, but it is " + signature_of(given));
  }
  asked.values[number] = Value::copy(given);
  return true;
}

bool read_node_tick(NativeCall& call, Borrowed given, NodeAsked& asked) {
  asked.says_tick = true;
  return read_seconds(call, 1, "tick", given, Least::Zero, asked.options.tick_interval_ns);
}

bool read_errors(NativeCall& call, Borrowed given, NodeAsked& asked) {
  struct Name {
    std::string_view name;
    OnError on_error;
    graph::ErrorPolicy policy;
  };
  constexpr Name kNames[] = {{"raise", OnError::Raise, graph::ErrorPolicy::Stop},
                             {"skip", OnError::Skip, graph::ErrorPolicy::Skip},
                             {"retry", OnError::Retry, graph::ErrorPolicy::Retry},
                             {"stop", OnError::Stop, graph::ErrorPolicy::Stop}};
  for (const Name& each : kNames) {
    if (!given.is_string() || string_view_of(given) != each.name) continue;
    asked.node.on_error = each.on_error;
    asked.options.on_error = each.policy;
    return true;
  }
  return raise_option(call, 1, ErrorCode::BadArgument,
                      "errors must be \"raise\", \"skip\", \"retry\" or \"stop\", got " + kind_and_value(call.context, given));
}

constexpr Option<NodeAsked> kNodeOptions[] = {
    {"state",
     [](NativeCall&, Borrowed given, NodeAsked& asked) {
       asked.node.has_state = true;
       asked.values[ScriptNode::kHandlers] = Value::copy(given);
       return true;
     }},
    {"inputs",
     [](NativeCall& call, Borrowed given, NodeAsked& asked) {
       return read_ports(call, given, "inputs", asked.options.inputs, asked.node.input_types);
     }},
    {"outputs",
     [](NativeCall& call, Borrowed given, NodeAsked& asked) {
       return read_ports(call, given, "outputs", asked.options.outputs, asked.node.output_types);
     }},
    {kHandlerNames[0], read_handler<0>},
    {kHandlerNames[1], read_handler<1>},
    {kHandlerNames[2], read_handler<2>},
    {kHandlerNames[3], read_handler<3>},
    {"tick", read_node_tick},
    {"errors", read_errors},
};

bool check_node(NativeCall& call, NodeAsked& asked) {
  const bool takes = !asked.values[static_cast<size_t>(graph::Callback::Message)]->is_nil();
  const bool ticks = !asked.values[static_cast<size_t>(graph::Callback::Tick)]->is_nil();
  if (takes != !asked.options.inputs.empty()) {
    return raise_option(call, 1, ErrorCode::BadArgument,
                        "node " + text_of(call[0]) + (takes ? " has on_message and no inputs" : " has inputs and no on_message"));
  }
  if (!asked.says_tick) asked.options.tick_interval_ns = ticks ? graph::kGraphTicks : graph::kNoTicks;
  if (ticks || asked.options.tick_interval_ns == 0) return true;
  return raise_option(call, 1, ErrorCode::BadArgument, "node " + text_of(call[0]) + " has a tick and no on_tick");
}

// ---- an edge ----

bool read_capacity(NativeCall& call, Borrowed given, graph::EdgeOptions& options) {
  if (!given.is_int()) {
    return raise_option(call, 2, ErrorCode::TypeMismatch, "capacity must be an int, got " + kind_and_value(call.context, given));
  }
  options.capacity = given.as_int();
  return true;
}

bool read_priority(NativeCall& call, Borrowed given, graph::EdgeOptions& options) {
  if (!given.is_int()) {
    return raise_option(call, 2, ErrorCode::TypeMismatch, "priority must be an int, got " + kind_and_value(call.context, given));
  }
  options.priority = given.as_int();
  return true;
}

bool read_policy(NativeCall& call, Borrowed given, graph::EdgeOptions& options) {
  constexpr std::string_view kNames[] = {"block", "drop", "latest", "coalesce"};  // by EdgePolicy
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (!given.is_string() || string_view_of(given) != kNames[i]) continue;
    options.policy = static_cast<graph::EdgePolicy>(i);
    return true;
  }
  return raise_option(call, 2, ErrorCode::BadArgument,
                      "policy must be \"block\", \"drop\", \"latest\" or \"coalesce\", got " + kind_and_value(call.context, given));
}

bool read_fold(NativeCall& call, Borrowed given, graph::EdgeOptions& options) {
  if (!is_callable(given)) {
    return raise_option(call, 2, ErrorCode::NotAFunction, "fold: " + kind_and_value(call.context, given) + " is not a function");
  }
  const Arity arity = arity_of(given);
  if (arity.least > 2 || arity.most < 2) {
    return raise_option(call, 2, ErrorCode::ArgumentCount, "fold is called with (newest, message), but is " + signature_of(given));
  }
  if (!check_pure(call, 2, given, "fold")) return false;
  options.fold = script_fold(call.context, Value::copy(given));
  return true;
}

constexpr Option<graph::EdgeOptions> kEdgeOptions[] = {
    {"capacity", read_capacity}, {"policy", read_policy}, {"priority", read_priority}, {"fold", read_fold}};

}  // namespace

bool read_graph_options(NativeCall& call, GraphAsked& asked) { return read_options(call, 0, kGraphOptions, asked); }
bool read_run_options(NativeCall& call, RunAsked& asked) { return read_options(call, 0, kRunOptions, asked); }
bool read_node(NativeCall& call, NodeAsked& asked) {
  return read_options(call, 1, kNodeOptions, asked) && check_node(call, asked);
}
bool read_edge_options(NativeCall& call, graph::EdgeOptions& options) {
  return read_options(call, 2, kEdgeOptions, options);
}

}  // namespace posset::interp
