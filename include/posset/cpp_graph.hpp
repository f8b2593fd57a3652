// Graphs in the C++ layer: nodes with lambdas as handlers beside those of scripts. A part of posset.hpp, which is what to
// include; graph.h says where handlers run and what they may not do.
//
//   posset::Graph graph(context);
//   graph.add("source", posset::Node({}, {"out"}).on_start([](posset::Turn& turn) {
//     for (int i = 0; i < 10; ++i) turn.emit(0, i);
//   }));
//   graph.add("half", context.eval("{inputs: [\"in\"], outputs: [\"out\"], on_message: (_, x, node) => node.emit(\"out\", x / 2)}"));
//   graph.add("sink", posset::Node({"in"}).on_message([&](posset::Turn& turn) { sum += turn.message<double>(); }));
//   graph.connect("source:out", "half:in");
//   graph.connect("half:out", "sink:in", {.capacity = 4, .policy = posset::EdgePolicy::Latest});
//   graph.run();
//
// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpp_convert.hpp"
#include "cpp_define.hpp"
#include "cpp_error.hpp"
#include "cpp_value.hpp"
#include "posset.h"

namespace posset {

// One call of a handler.
class Turn {
 public:
  explicit Turn(posset_turn* turn) : turn_(turn) {}

  // What has come, as a T; throws Error (TypeMismatch) when it is something else.
  template <class T = Value>
  T message() const {
    return Value::copy(turn_->context, turn_->message).template to<T>();
  }
  uint32_t input() const { return turn_->input; }

  // Waits, while other nodes run, where an edge is full and blocks. Throws Error when the handler is to end.
  template <class T>
  posset_put emit(uint32_t output, T&& value) {
    posset_value made = posset_nil();
    detail::check(turn_->context, detail::ConvertOf<T>::to(turn_->context, std::forward<T>(value), &made), "emit");
    posset_put result = POSSET_PUT_OK;
    detail::check(turn_->context, posset_emit(turn_, output, made, &result), "emit");
    return result;
  }
  void again() { detail::check(turn_->context, posset_again(turn_), "again"); }
  posset_context* context() const { return turn_->context; }

 private:
  posset_turn* turn_;
};

// What a node is: its ports, whose places are their numbers, and its handlers. A handler may throw.
class Node {
 public:
  using Handler = Callback<Turn&>;

  explicit Node(std::vector<std::string> inputs = {}, std::vector<std::string> outputs = {})
      : inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  Node&& on_start(Handler handler) && { return set(0, std::move(handler)); }
  Node&& on_message(Handler handler) && { return set(1, std::move(handler)); }
  Node&& on_tick(Handler handler, double seconds = 0) && {
    tick_seconds_ = seconds;
    return set(2, std::move(handler));
  }
  Node&& on_stop(Handler handler) && { return set(3, std::move(handler)); }
  Node&& errors(posset_node_errors errors) && {
    errors_ = errors;
    return std::move(*this);
  }

 private:
  friend class Graph;
  struct Handlers {
    Handler by_kind[4];
  };

  Node&& set(size_t kind, Handler handler) {
    handlers_.by_kind[kind] = std::move(handler);
    return std::move(*this);
  }
  template <size_t kind>
  static posset_status call(posset_turn* raw) noexcept {
    return detail::guarded(raw->context, [raw] {
      Turn turn(raw);
      static_cast<Handlers*>(raw->data)->by_kind[kind](turn);
      return POSSET_OK;
    });
  }
  posset_status add_to(posset_context* context, posset_value graph, posset_text name) && {
    const auto names = [](const std::vector<std::string>& ports) {
      std::vector<const char*> all;
      for (const std::string& each : ports) all.push_back(each.c_str());
      return all;
    };
    const std::vector<const char*> in = names(inputs_), out = names(outputs_);
    posset_node raw = posset_node_defaults();
    raw.inputs = in.data(), raw.input_count = in.size();
    raw.outputs = out.data(), raw.output_count = out.size();
    if (handlers_.by_kind[0]) raw.on_start = call<0>;
    if (handlers_.by_kind[1]) raw.on_message = call<1>;
    if (handlers_.by_kind[2]) raw.on_tick = call<2>;
    if (handlers_.by_kind[3]) raw.on_stop = call<3>;
    raw.tick_seconds = tick_seconds_;
    raw.errors = errors_;
    raw.data = new Handlers(std::move(handlers_));
    return posset_graph_add(context, graph, name, &raw, [](void* data) { delete static_cast<Handlers*>(data); });
  }

  std::vector<std::string> inputs_, outputs_;
  Handlers handlers_;
  double tick_seconds_ = 0;
  posset_node_errors errors_ = POSSET_NODE_RAISES;
};

enum class EdgePolicy { Block, Drop, Latest, Coalesce };

struct EdgeOptions {
  int64_t capacity = 1024;
  int64_t priority = 0;
  EdgePolicy policy = EdgePolicy::Block;
  // Of an edge that coalesces: (newest, message) => message, a pure function of a script or a posset::pure one of the host.
  Value fold{};
};

struct GraphOptions {
  double tick_seconds = 0.05;
  double drain_seconds = 2;
  uint32_t batch = 8;
};

// Sends to an input of a graph, from any thread; may outlive the graph. While it is there the graph does not end for
// having nothing to do.
class Sender {
 public:
  Sender() = default;
  explicit Sender(posset_sender* owned) : sender_(owned) {}

  // A number, bool, string or nullptr. Does not wait.
  template <class T>
  posset_put put(const T& v) const {
    posset_datum datum = {};
    return detail::fill(v, datum) ? posset_sender_put(sender_.get(), &datum) : POSSET_PUT_INVALID;
  }
  // Waits for room, for so many seconds at most; see posset_sender_put_by.
  template <class T>
  posset_put send(const T& v, double seconds = std::numeric_limits<double>::infinity()) const {
    posset_datum datum = {};
    return detail::fill(v, datum) ? posset_sender_put_by(sender_.get(), &datum, seconds) : POSSET_PUT_INVALID;
  }
  void stop() const { posset_sender_stop(sender_.get()); }
  // False: no such edge, no such value, or the graph has ended.
  bool set_priority(std::string_view edge, int64_t priority) const {
    return posset_sender_set_priority(sender_.get(), to_text(edge), priority) == POSSET_OK;
  }
  bool set_capacity(std::string_view edge, int64_t capacity) const {
    return posset_sender_set_capacity(sender_.get(), to_text(edge), capacity) == POSSET_OK;
  }

 private:
  struct Free {
    void operator()(posset_sender* sender) const { posset_sender_free(sender); }
  };
  detail::Owner<posset_sender, Free> sender_;
};

// A graph of a context, which it must not outlive; `value` is what scripts see.
class Graph {
 public:
  // Takes a handle that a script has made with graph.new(...).
  explicit Graph(Value handle) : handle_(std::move(handle)) {}
  // An empty one.
  template <class AnyContext>
    requires requires(AnyContext& context) { context.eval(""); }
  explicit Graph(AnyContext& context, const GraphOptions& options = {}) : handle_(made_in(context.handle(), options)) {}

  const Value& value() const { return handle_; }

  // All throw Error where a name or an option is wrong.
  void add(std::string_view name, Node node) {
    check(std::move(node).add_to(context(), handle_.raw(), to_text(name)), "add");
  }
  // Of a script: a record of functions, or a graph as a part.
  void add(std::string_view name, const Value& node) { call("add", name, node); }
  // Give the id of the edge.
  std::string connect(std::string_view from, std::string_view to, const EdgeOptions& options = {}) {
    return call("connect", from, to, made(options)).template to<std::string>();
  }
  std::string input(std::string_view name, std::string_view to, const EdgeOptions& options = {}) {
    return call("input", name, to, made(options)).template to<std::string>();
  }
  // Names a port of a node for the graph that this becomes a part of.
  void expose(std::string_view name, std::string_view port) { call("expose", name, port); }
  // Runs the graph on this thread to its end: {ended, states, stats}. A Sender that this thread keeps meanwhile keeps the
  // graph from ending by itself.
  Value run() { return call("run"); }
  Value run(double timeout_seconds) { return call("run", record({"timeout"}, timeout_seconds)); }
  Result<Value> try_run() {
    return detail::attempt([&] { return run(); });
  }
  Result<Value> try_run(double timeout_seconds) {
    return detail::attempt([&] { return run(timeout_seconds); });
  }
  void stop() { call("stop"); }
  // Act before the next turn.
  void set_priority(std::string_view edge, int64_t priority) { call("set_priority", edge, priority); }
  void set_capacity(std::string_view edge, int64_t capacity) { call("set_capacity", edge, capacity); }
  Value stats() const { return call("stats"); }
  std::string dot() const { return call("dot").template to<std::string>(); }
  // With this the graph is described.
  Sender sender(std::string_view input) {
    posset_sender* made = nullptr;
    check(posset_graph_sender(context(), handle_.raw(), to_text(input), &made), "sender");
    return Sender(made);
  }

 private:
  static Value made_in(posset_context* context, const GraphOptions& options) {
    posset_graph_options raw = posset_graph_options_defaults();
    raw.tick_seconds = options.tick_seconds;
    raw.drain_seconds = options.drain_seconds;
    raw.batch = options.batch;
    posset_value made = posset_nil();
    detail::check(context, posset_graph_new(context, &raw, &made), "graph");
    return {context, made};
  }
  posset_context* context() const { return handle_.context(); }
  void check(posset_status status, const char* what) const { detail::check(context(), status, what); }

  template <size_t N, class... T>
  Value record(const char* const (&names)[N], const T&... fields) const {
    static_assert(sizeof...(T) == N);
    posset_text texts[N];
    for (size_t i = 0; i < N; ++i) texts[i] = posset_text_of(names[i]);
    detail::Arguments<N> made;
    fill(made, fields...);
    posset_value raw = posset_nil();
    check(posset_record(context(), texts, made.values, N, &raw), "graph");
    return {context(), raw};
  }
  Value made(const EdgeOptions& options) const {
    static constexpr const char* kPolicies[] = {"block", "drop", "latest", "coalesce"};
    const char* const policy = kPolicies[static_cast<size_t>(options.policy)];
    if (posset_is_nil(options.fold.raw())) return record({"capacity", "priority", "policy"}, options.capacity, options.priority, policy);
    return record({"capacity", "priority", "policy", "fold"}, options.capacity, options.priority, policy, options.fold);
  }
  template <size_t N, class... T>
  void fill(detail::Arguments<N>& into, const T&... from) const {
    size_t i = 0;
    (check(detail::ConvertOf<T>::to(context(), from, &into.values[i++]), "graph"), ...);
  }
  template <class... Args>
  Value call(std::string_view method, const Args&... arguments) const {
    detail::Arguments<sizeof...(Args)> raw;
    fill(raw, arguments...);
    posset_value out = posset_nil();
    check(posset_invoke_method(context(), handle_.raw(), to_text(method), raw.values, sizeof...(Args), &out), "graph");
    return {context(), out};
  }

  Value handle_;
};

}  // namespace posset
