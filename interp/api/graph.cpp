// Nodes of the host in graphs of scripts, and the way in for other threads. See include/posset/graph.h; what a graph
// does is in interp/runtime/graph.h.
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "interp/api/handles.h"
#include "interp/api/host_text.h"
#include "interp/api/items.h"
#include "interp/api/misuse.h"
#include "interp/runtime/graph.h"
#include "interp/runtime/graph_options.h"

using posset::api::Evaluation;
using posset::api::in;
using posset::api::out;
using posset::interp::Borrowed;
using posset::interp::ErrorCode;
using posset::interp::GraphAsked;
using posset::interp::GraphDoor;
using posset::interp::HostHandlers;
using posset::interp::OnError;
using posset::interp::OutsideItem;
using posset::interp::PortTypeRef;
using posset::interp::ScriptGraph;
using posset::interp::ScriptNode;
using posset::interp::Value;
using posset::sched::kNever;
namespace graph = posset::sched::graph;

static_assert(static_cast<int>(graph::PutResult::Ok) == POSSET_PUT_OK &&
              static_cast<int>(graph::PutResult::Coalesced) == POSSET_PUT_COALESCED &&
              static_cast<int>(graph::PutResult::Replaced) == POSSET_PUT_REPLACED &&
              static_cast<int>(graph::PutResult::Dropped) == POSSET_PUT_DROPPED &&
              static_cast<int>(graph::PutResult::Blocked) == POSSET_PUT_BLOCKED &&
              static_cast<int>(graph::PutResult::Stopping) == POSSET_PUT_STOPPING);

struct posset_sender {
  posset_sender(std::shared_ptr<GraphDoor> the_door, graph::EdgeId the_input) : door(std::move(the_door)), input(the_input) {
    door->enter();
  }
  ~posset_sender() { door->leave(); }
  posset_sender(const posset_sender&) = delete;
  posset_sender& operator=(const posset_sender&) = delete;

  const std::shared_ptr<GraphDoor> door;
  const graph::EdgeId input;
};

namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr double kMostSeconds = 1e9;

int64_t ns_of(double seconds) { return static_cast<int64_t>(std::ceil(seconds * static_cast<double>(kSecondNs))); }

// What a turn is, to the functions that take one. One for each node, because that is called for one thing at a time.
struct RunningTurn final : HostHandlers::HostTurn {
  explicit RunningTurn(ScriptNode& its_node) : node(its_node) {}
  posset_turn seen = {};  // its context is null between calls
  ScriptNode& node;
};

// Null: it is no turn, a copy of one, one that is over, or not that of the handler that runs.
ScriptNode* node_of(posset_turn* turn) {
  if (!turn || !turn->context || !turn->context->tasks) return nullptr;
  const posset::interp::Turn* running = turn->context->tasks->current().turn;
  const auto* host_turn = static_cast<const RunningTurn*>(static_cast<const HostHandlers::HostTurn*>(running ? running->of_host() : nullptr));
  return host_turn && &host_turn->seen == turn ? &host_turn->node : nullptr;
}

class ApiNode final : public HostHandlers {
 public:
  explicit ApiNode(const posset_node& node)
      : handlers_{node.on_start, node.on_message, node.on_tick, node.on_stop}, data_(node.data) {}
  ~ApiNode() override {
    if (drop_) drop_(data_);
  }
  ApiNode(const ApiNode&) = delete;
  ApiNode& operator=(const ApiNode&) = delete;

  // Drops the data in the end.
  void own(void (*drop)(void*)) { drop_ = drop; }
  bool has(graph::Callback callback) const override { return handler(callback) != nullptr; }
  bool call(ScriptNode& node, graph::Callback callback, Value message) override;

 private:
  posset_turn_function handler(graph::Callback callback) const { return handlers_[static_cast<size_t>(callback)]; }

  const std::array<posset_turn_function, ScriptNode::kHandlers> handlers_;  // by Callback
  void* const data_;
  void (*drop_)(void*) = nullptr;
};

bool ApiNode::call(ScriptNode& node, graph::Callback callback, Value message) {
  auto& context = static_cast<posset_context&>(node.graph->context());
  if (!context.charge_one()) return false;
  if (!node.host_turn) node.host_turn = std::make_unique<RunningTurn>(node);
  const Borrowed viewed = message;
  posset_turn& turn = static_cast<RunningTurn&>(*node.host_turn).seen;
  turn.context = &context;
  turn.data = data_;
  turn.message = out(viewed);
  turn.input = callback == graph::Callback::Message ? node.graph->input_of(node) : 0;
  const posset_status status = handler(callback)(&turn);
  turn.context = nullptr;
  if (context.error_pending()) return false;
  if (status == POSSET_OK) return context.after_host_call();
  context.raise(ErrorCode::HostError, std::string("a handler of the host failed: ") + posset_status_text(status));
  return false;
}

// ---- describing ----

// False: one has no name.
bool read_ports(const char* const* names, size_t count, std::vector<graph::Port>& ports, std::vector<PortTypeRef>& types) {
  for (size_t i = 0; i < count; ++i) {
    if (!names[i]) return false;
    std::string name = names[i];
    types.push_back(posset::interp::take_port_type(name));
    ports.push_back({std::move(name), graph::kAnyType});
  }
  return true;
}

// False: raised.
bool want_names(posset_context* context, posset_text name, const posset_node& node) {
  auto is_text = [context](const char* port) { return posset::api::want_utf8(context, port, "the name of a port"); };
  return posset::api::want_utf8(context, posset::api::view(name), "the name of a node") &&
         std::all_of(node.inputs, node.inputs + node.input_count, is_text) &&
         std::all_of(node.outputs, node.outputs + node.output_count, is_text);
}

// Null: nothing.
const char* problem_of(const posset_node& node) {
  if (posset::api::number_in(node.errors) > POSSET_NODE_STOPS) return "errors of a node is none of the four";
  if (!(node.tick_seconds >= 0 && node.tick_seconds <= kMostSeconds)) return "tick_seconds of a node is out of range";
  if ((node.input_count > 0 && !node.inputs) || (node.output_count > 0 && !node.outputs)) return "a node without its ports' names";
  if (node.input_count > 0 && !node.on_message) return "a node with inputs needs on_message";
  if (node.input_count == 0 && node.on_message) return "a node with on_message needs inputs";
  if (node.tick_seconds > 0 && !node.on_tick) return "a node with tick_seconds needs on_tick";
  return nullptr;
}

// As those of a script say it. False: a port has no name.
bool read_node(const posset_node& node, ScriptNode& made, graph::NodeOptions& options) {
  constexpr OnError kErrors[] = {OnError::Raise, OnError::Skip, OnError::Retry, OnError::Stop};
  constexpr graph::ErrorPolicy kPolicies[] = {graph::ErrorPolicy::Stop, graph::ErrorPolicy::Skip, graph::ErrorPolicy::Retry,
                                              graph::ErrorPolicy::Stop};
  if (!read_ports(node.inputs, node.input_count, options.inputs, made.input_types)) return false;
  if (!read_ports(node.outputs, node.output_count, options.outputs, made.output_types)) return false;
  const unsigned errors = posset::api::number_in(node.errors);
  made.on_error = kErrors[errors];
  options.on_error = kPolicies[errors];
  const int64_t interval_ns = ns_of(node.tick_seconds);
  options.tick_interval_ns = !node.on_tick ? graph::kNoTicks : interval_ns == 0 ? graph::kGraphTicks : interval_ns;
  return true;
}

// What the graph throws is raised.
template <class Body>
posset_status guarded(posset_context* context, Body&& body) {
  return posset::api::guarded(context, [&] {
    try {
      return body();
    } catch (const graph::GraphError& error) {
      context->raise(ErrorCode::BadArgument, error.what());
      return POSSET_RAISED;
    }
  });
}

// Drops a node's data unless somebody has it.
struct DropUnlessTaken {
  ~DropUnlessTaken() {
    if (drop) drop(data);
  }
  void (*drop)(void*);
  void* data;
};

posset_status done(bool not_raised) { return not_raised ? POSSET_OK : POSSET_RAISED; }

std::shared_ptr<ScriptGraph> graph_in(posset_context* context, posset_value value) {
  return posset::api::is_foreign(context, in(value)) ? nullptr : posset::interp::graph_of(in(value));
}

// Nothing is thrown to a thread of the host.
template <class Put>
posset_put send(const posset_sender* sender, const posset_datum* datum, Put&& put) {
  if (!sender || !datum) return POSSET_PUT_INVALID;
  try {
    std::optional<OutsideItem> item = posset::api::item_of(*datum);
    const std::optional<graph::PutResult> result = item ? put(std::move(*item)) : std::nullopt;
    return result ? static_cast<posset_put>(*result) : POSSET_PUT_INVALID;
  } catch (const std::bad_alloc&) {
    return POSSET_PUT_NO_MEMORY;
  }
}

template <class Change>
posset_status changed(Change&& change, const posset_sender* sender) {
  if (!sender) return POSSET_MISUSE;
  try {
    change();
    return POSSET_OK;
  } catch (const graph::GraphError&) {
    return POSSET_MISUSE;
  } catch (const std::bad_alloc&) {
    return POSSET_NO_MEMORY;
  }
}

bool read_options(const posset_graph_options& options, GraphAsked& asked) {
  if (!(options.tick_seconds > 0 && options.tick_seconds <= kMostSeconds) || options.batch == 0) return false;
  if (!(options.drain_seconds >= 0 && options.drain_seconds <= kMostSeconds)) return false;
  asked.config.tick_interval_ns = ns_of(options.tick_seconds);
  asked.config.max_batch = options.batch;
  asked.drains = options.drain_seconds > 0;
  if (asked.drains) asked.config.shutdown_timeout_ns = ns_of(options.drain_seconds);
  return true;
}

}  // namespace

extern "C" {

posset_status posset_graph_new(posset_context* context, const posset_graph_options* given, posset_value* to) {
  if (to) *to = posset_nil();
  posset_graph_options options = posset_graph_options_defaults();
  GraphAsked asked;
  if (!to || !posset::api::read_struct(given, options) || !read_options(options, asked)) return POSSET_MISUSE;
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  return guarded(context, [&] { return posset::api::give(posset::interp::make_graph(*context, std::move(asked)), to); });
}

posset_status posset_graph_add(posset_context* context, posset_value value, posset_text name, const posset_node* given,
                               void (*drop)(void* data)) {
  posset_node node = posset_node_defaults();
  if (!given || !posset::api::read_struct(given, node)) return POSSET_MISUSE;
  DropUnlessTaken owner{drop, node.data};
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  const auto self = graph_in(context, value);
  if (!self) return POSSET_MISUSE;
  return guarded(context, [&] {
    ScriptNode made;
    graph::NodeOptions options;
    if (const char* problem = problem_of(node)) return posset::api::misuse(context, problem);
    if (!read_node(node, made, options)) return posset::api::misuse(context, "a node with a port that has no name");
    if (!want_names(context, name, node)) return POSSET_RAISED;
    auto host = std::make_shared<ApiNode>(node);
    host->own(std::exchange(owner.drop, nullptr));  // not before there is somebody to have it
    made.host = std::move(host);
    Value none[ScriptNode::kValues];
    return done(self->add(posset::interp::values_of_graph(in(value)), std::string(posset::api::view(name)), std::move(made),
                          std::move(options), none));
  });
}

posset_status posset_emit(posset_turn* turn, uint32_t output, posset_value message, posset_put* result) {
  if (!turn || !turn->context) return POSSET_MISUSE;
  Evaluation evaluation(turn->context);
  Value taken = evaluation.take(message);
  if (evaluation.failed()) return evaluation.status();
  ScriptNode* const node = node_of(turn);
  if (!node) return POSSET_MISUSE;
  return guarded(turn->context, [&] {
    const std::optional<graph::PutResult> put = node->graph->emit(*node, output, std::move(taken));
    if (put && result) *result = static_cast<posset_put>(*put);
    return done(put.has_value());
  });
}

posset_status posset_again(posset_turn* turn) {
  if (!turn || !turn->context) return POSSET_MISUSE;
  Evaluation evaluation(turn->context);
  if (evaluation.failed()) return evaluation.status();
  ScriptNode* const node = node_of(turn);
  if (!node) return POSSET_MISUSE;
  return guarded(turn->context, [&] { return posset::api::raised(node->graph->again(*node)); });
}

posset_status posset_graph_sender(posset_context* context, posset_value value, posset_text input, posset_sender** made) {
  if (!made) return POSSET_MISUSE;
  *made = nullptr;
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  const auto self = graph_in(context, value);
  if (!self) return POSSET_MISUSE;
  return guarded(context, [&] {
    graph::EdgeId number = graph::kNone;
    const std::shared_ptr<GraphDoor>* door = self->door(posset::api::view(input), number);
    if (door) *made = new posset_sender(*door, number);
    return done(door != nullptr);
  });
}

posset_put posset_sender_put(posset_sender* sender, const posset_datum* datum) {
  return send(sender, datum, [&](OutsideItem item) { return sender->door->put(sender->input, std::move(item)); });
}

posset_put posset_sender_put_by(posset_sender* sender, const posset_datum* datum, double seconds) {
  if (std::isnan(seconds)) return POSSET_PUT_INVALID;
  const double ns = std::ceil(seconds * static_cast<double>(kSecondNs));
  const int64_t most_ns = ns >= static_cast<double>(kNever) ? kNever : ns < 0 ? 0 : static_cast<int64_t>(ns);
  return send(sender, datum, [&](OutsideItem item) { return sender->door->put_within(sender->input, std::move(item), most_ns); });
}

posset_status posset_sender_set_priority(posset_sender* sender, posset_text edge, int64_t priority) {
  return changed([&] { sender->door->set_priority(posset::api::view(edge), priority); }, sender);
}

posset_status posset_sender_set_capacity(posset_sender* sender, posset_text edge, int64_t capacity) {
  return changed([&] { sender->door->set_capacity(posset::api::view(edge), capacity); }, sender);
}

void posset_sender_stop(posset_sender* sender) {
  if (sender) sender->door->stop();
}

void posset_sender_free(posset_sender* sender) { delete sender; }

}  // extern "C"
