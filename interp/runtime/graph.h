// Graphs of scripts: nodes whose handlers are functions of the script, on the loop of sched/graph. A graph is a handle with
// identity, as a channel is. It is described, then run once; what is wrong with a description is told at once.
//
// Running. The loop runs on helpers (tasks.h), which are all alike: each is a fiber that takes the loop's next action, and
// one of them has the *role*. It calls handlers on its own stack, so that a message costs a call and no switch. Where a
// handler is left in the middle (its edge is full, its quantum is over, or it waits for something of its own) its fiber
// keeps the handler's stack, and gives the role to another, which goes on with the loop. When the policy resumes the activation, whoever has
// the role gives it to the activation's fiber, and becomes a spare; that one goes on with its handler and then with the loop. So
// there are at most as many fibers as activations in the middle, and one. Whoever called `run` waits beside all of them.
//
// Ends. A graph that can do nothing any more ends; so does one that is stopped, is out of time, or has an error to raise. A
// limit kills it: no code of the script is called any more, what is in the middle is cancelled where it stands. So does a fiber
// for which there is no stack; then whoever called `run` takes the role for the rest.
//
// Values. Until it runs a graph holds the script's functions and states in a list behind a ref, where cycle collection
// sees them; running, it is held by whoever runs it, and they are in the nodes; after the run they are gone.
//
// Handlers may also be the host's (HostHandlers), which are called in the same way. What other threads send comes through a
// door (graph_door.h), as long as somebody has it the graph does not end for having nothing to do.
//
// Files: graph.cpp (describing), graph_role.cpp (the role), graph_run.cpp (calls, ends), graph_items.cpp (what goes into it and
// through it), graph_report.cpp (what is told), graph_options.cpp and builtins_graph.cpp (the script's view).
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interp/runtime/context.h"
#include "interp/runtime/doorbell.h"
#include "interp/runtime/graph_door.h"
#include "interp/runtime/port_type.h"
#include "interp/runtime/tasks.h"
#include "sched/graph/loop.h"
#include "sched/graph/plan.h"

namespace posset::interp {

// What an error of a handler does: the policies of the scheduler, and what a script expects if it says nothing.
enum class OnError : uint8_t { Raise, Skip, Retry, Stop };

class ScriptGraph;
struct ScriptNode;

// Handlers that are no functions of a script. They run on the graph's fibers as those do, and may be left in the middle
// likewise, when they emit or call a script that waits.
class HostHandlers {
 public:
  // What a call is to the host; as long as its node, so that one that is over can be told.
  struct HostTurn {
    virtual ~HostTurn() = default;
  };

  virtual ~HostHandlers() = default;
  virtual bool has(sched::graph::Callback callback) const = 0;
  // False: raised. `message`: nil unless it is called for one. May throw what is a std::exception.
  virtual bool call(ScriptNode& node, sched::graph::Callback callback, Value message) = 0;
};

struct ScriptNode final : sched::graph::Node {
  static constexpr size_t kHandlers = 4;            // by Callback
  static constexpr size_t kValues = kHandlers + 1;  // and the state

  uint64_t place = 0;  // of its values in the list
  OnError on_error = OnError::Raise;
  bool has_state = false;
  std::vector<PortTypeRef> input_types, output_types;  // by port
  std::shared_ptr<HostHandlers> host;  // null: the script's; copies of the node have the same
  std::unique_ptr<HostHandlers::HostTurn> host_turn;

  bool handles(sched::graph::Callback callback) const {
    return host ? host->has(callback) : !handlers[static_cast<size_t>(callback)]->is_nil();
  }

  // While it runs:
  ScriptGraph* graph = nullptr;
  sched::graph::NodeId id = 0;
  std::array<Value, kHandlers> handlers;
  std::array<bool, kHandlers> takes_inout{};
  Value state;
  Value handle;         // what its handlers emit with
  Job* job = nullptr;   // on which its activation is
  bool lost = false;    // an error took the state along
  bool waits = false;   // for something of its own
  bool stuck = false;   // and nothing can wake it
  bool cancelled = false;
  Value problem;        // the last error's message; nil: there was none
};

class ScriptGraph final : public std::enable_shared_from_this<ScriptGraph>, private sched::graph::Notifier, private Onlooker {
 public:
  // If it does not drain, what is left when it is stopped is abandoned.
  ScriptGraph(Context& context, sched::graph::GraphConfig config, bool drains);
  ~ScriptGraph();
  ScriptGraph(const ScriptGraph&) = delete;
  ScriptGraph& operator=(const ScriptGraph&) = delete;

  // ---- describing; throws GraphError. False: raised ----
  // `values`: taken. `held`: the graph's list, behind its ref.
  bool add(Borrowed held, std::string name, ScriptNode node, sched::graph::NodeOptions options, Value (&values)[ScriptNode::kValues]);
  bool add(Borrowed held, std::string name, const ScriptGraph& part, Borrowed held_by_part);
  // Give the edge's id; null: raised.
  const std::string* connect(std::string from, std::string to, sched::graph::EdgeOptions options);
  const std::string* input(std::string name, std::string to, sched::graph::EdgeOptions options);
  void expose(std::string name, std::string port);

  // ---- running; throws GraphError. Failed, false: raised ----
  Value run(Borrowed held, int64_t timeout_ns);
  bool stop();
  Value send(std::string_view input, Value v);
  bool set_priority(std::string_view edge, int64_t priority);
  bool set_capacity(std::string_view edge, int64_t capacity);
  Value stats() const;
  std::string dot() const { return described_.finish().dot(); }

  // ---- of the node whose handler runs ----
  Value emit(ScriptNode& node, std::string_view port, Value v);
  // By its number; waits where the edge is full and blocks. Empty: raised.
  std::optional<sched::graph::PutResult> emit(ScriptNode& node, sched::graph::PortId port, Value v);
  // The input that the message came to.
  sched::graph::PortId input_of(const ScriptNode& node) const { return loop_->policy().call_port(node.id); }
  Value again(ScriptNode& node);  // nil, or failed: raised
  Value port(ScriptNode& node);  // that the message came to; nil: it is called for something else

  // ---- from other threads ----
  // Plans the graph. Null: raised.
  const std::shared_ptr<GraphDoor>* door(std::string_view input, sched::graph::EdgeId& number);

  // Charged for, until the graph goes. False: raised.
  bool charge(size_t bytes);
  Context& context() { return context_; }
  const sched::graph::Plan& described() const { return described_.so_far(); }

 private:
  enum class Phase : uint8_t { Described, Planned, Running, Ended };
  struct ItsTurn;

  // graph.cpp
  static std::shared_ptr<ScriptNode> like(const ScriptNode& node);
  bool add_values(Borrowed held, Borrowed values, uint64_t first, uint64_t count);
  void want_described(const std::string& what) const;
  void look_at_values();
  bool prepare();
  bool reserve_inputs();
  void told(const sched::graph::Incident& incident);
  void note(std::string text);

  // graph_role.cpp and graph_run.cpp
  bool take_values(Borrowed held);
  void drop_values();
  Job* start_fiber();
  void drive();
  bool await_role(Job& self);
  void give_role(Job& to);
  void serve_role(Job& self);
  void serve();
  void sleep(int64_t until_ns);
  bool wake_stuck();
  bool nobody_sends() const;
  void call(sched::graph::NodeId id);
  Value invoke(ScriptNode& node, sched::graph::Callback callback);
  Value invoke_host(ScriptNode& node, sched::graph::Callback callback);
  Value state_for_call(ScriptNode& node, bool takes_inout);
  void settle(ScriptNode& node, sched::graph::Callback callback, Value result);
  void resume(sched::graph::NodeId id);
  void end();
  void collapse();
  bool leave(ScriptNode& node, sched::graph::Progress progress);
  bool come_back(ScriptNode& node);
  void look_at_time();
  void stop_for(const char* why);
  void fail(ErrorCode code, std::string text, std::string hint = {});
  void raise_later(Value error);
  void kill(Value error);
  bool await_end();
  bool await_fibers();
  Value answer();
  void notify() override;
  bool nothing_happens() override;

  // graph_items.cpp
  bool is_running(const ScriptNode& node, const char* what);
  std::optional<sched::graph::PutResult> put(ScriptNode& node, sched::graph::PortId port, Value v);
  Value message_for_call(ScriptNode& called);
  bool reserve(sched::graph::EdgeId edge);
  bool is_given(const ScriptNode& node, sched::graph::PortId port, Borrowed v);
  bool is_taken(sched::graph::EdgeId edge, Borrowed v, const std::string& by);
  bool can_change(std::string_view edge);
  void serve_senders();

  // graph_report.cpp
  Value states();
  sched::graph::GraphStatistics statistics() const;

  ScriptNode& node(sched::graph::NodeId id) const {
    return static_cast<ScriptNode&>(*plan_->nodes[id].node);
  }

  Context& context_;
  Tasks& tasks_;
  sched::graph::GraphConfig config_;
  const bool drains_;
  size_t charged_ = 0;
  Phase phase_ = Phase::Described;

  // Described: the plan as far as it is known, and the same as a graph can become a part of another.
  sched::graph::PlanBuilder described_;
  sched::graph::Subgraph as_part_;

  // Planned and running:
  std::optional<sched::graph::Plan> plan_;
  std::optional<sched::graph::GraphLoop> loop_;
  std::vector<size_t> reserved_;  // by edge: how many messages its ring is charged for
  std::vector<const PortType*> looked_at_;  // by edge: what its values have to be; null: they are, or anything will do

  // Running:
  Job* runner_ = nullptr;         // who has the role
  Job* caller_ = nullptr;         // of `run`
  std::vector<Job*> spares_;      // who waits for it
  size_t fibers_ = 0;             // that have begun
  std::vector<std::unique_ptr<WaitQueue>> senders_;  // by edge from outside, who waits for room
  size_t sending_ = 0;
  int64_t deadline_ns_ = sched::kNever;
  int64_t quantum_since_ns_ = 0;
  const std::shared_ptr<GraphDoor> door_ = std::make_shared<GraphDoor>();
  Doorbell bell_;                 // by which whoever has the role sleeps
  bool for_ever_ = false;         // he does, and is not woken by time or other threads
  bool starved_ = false;          // whoever has the role cannot begin
  bool nothing_happens_ = false;
  bool dead_ = false;             // killed
  bool collapsed_ = false;        // the loop cannot go on
  bool ended_ = false;

  // What it comes to:
  const char* why_ = nullptr;
  Value error_;                   // to be raised
  std::vector<std::string> problems_;
  sched::graph::GraphStatistics at_the_end_;
};

// The graph behind a script's handle, and the values that it holds there. Null: it is something else, or closed.
std::shared_ptr<ScriptGraph> graph_of(Borrowed handle);
Borrowed values_of_graph(Borrowed handle);

// What an edge folds with; holds the function, which is pure.
sched::graph::Fold script_fold(Context& context, Value function);
// What a node's handlers emit with (builtins_graph.cpp). Failed: raised.
Value make_node_handle(Context& context, ScriptNode& node);

}  // namespace posset::interp
