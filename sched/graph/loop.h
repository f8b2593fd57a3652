// The loop of a graph without the thread that runs it: the policy and the mailbox, joined at the boundary. A driver asks
// `next`, performs the action and starts again; to sleep it asks `fall_asleep` first and then waits for its
// notifier, so that nothing that comes in between is missed. The simulator drives the same loop step by
// step; the policy is a parameter so that it can put a broken one in and see it caught.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "sched/graph/mailbox.h"
#include "sched/graph/policy.h"

namespace posset::sched::graph {

template <class Policy>
class BasicLoop {
 public:
  // All outlive it; `trace` may be null.
  BasicLoop(const Plan& plan, const Clock& clock, const GraphConfig& config, Trace* trace, Notifier& notifier)
      : policy_(plan, clock, config, trace), mailbox_(plan, notifier) {}

  Policy& policy() { return policy_; }
  const Policy& policy() const { return policy_; }
  Mailbox& mailbox() { return mailbox_; }

  // ---- any thread: changes that act at the next boundary. GraphError: see runtime.h ----

  void set_priority(std::string_view edge, int64_t priority) {
    const EdgeId number = policy_.plan().edge(edge);
    if (priority < 0) throw GraphError("edge " + std::string(edge) + ": priority " + std::to_string(priority) + " is negative");
    change(Command::Kind::SetPriority, number, static_cast<int64_t>(band_of_priority(priority)));
  }
  void set_capacity(std::string_view edge, int64_t capacity) {
    const EdgeId number = policy_.plan().edge(edge);
    check_capacity(edge, capacity);
    change(Command::Kind::SetCapacity, number, capacity);
  }

  // ---- whoever drives it ----

  GraphPolicy::Action next() {
    if (std::optional<GraphPolicy::Action> more = policy_.continue_turn()) return *more;
    exchange();
    return policy_.begin_turn();
  }

  // Whoever ends the graph, what waits in edges then is abandoned.
  void never_drain() { drains_ = false; }
  // Ends the graph at the next boundary, without a drain.
  void stop_now() {
    never_drain();
    mailbox_.stop();
    mailbox_.look_again();
  }

  // Calls what a Call, Resume or Cancel says.
  void perform(const GraphPolicy::Action& action) {
    using What = GraphPolicy::Action::What;
    Activation activation(policy_, action.node);
    Node& node = *policy_.plan().nodes[action.node].node;
    try {
      if (action.what == What::Cancel) {
        node.cancel(activation);
      } else {
        return policy_.finished(action.node, action.what == What::Call ? node.call(activation) : node.resume(activation));
      }
    } catch (const std::exception& exception) {
      return policy_.failed(action.node, exception.what());
    } catch (...) {
      return policy_.failed(action.node, "something that is no std::exception");
    }
    policy_.cancelled(action.node);
  }

 private:
  void change(Command::Kind kind, EdgeId edge, int64_t value) {
    if (mailbox_.change({kind, edge, value})) return;
    throw GraphError("edge " + policy_.plan().edges[edge].id + " cannot be changed: " +
                     (mailbox_.stopped() ? "the graph ends" : "too many changes wait for the next turn"));
  }
  // At the boundary: what other threads want, in the order commands, items, end.
  void exchange() {
    const bool room_made = policy_.take_room_made();
    if (!mailbox_.arrived() && !(room_made && mailbox_.has_backlog())) return;
    mailbox_.collect_commands(arrivals_);
    for (const Command& command : arrivals_.commands) apply(command);
    mailbox_.collect_items([this](EdgeId edge) { return policy_.room(edge); }, arrivals_);
    if (arrivals_.stop) policy_.shut_down(drains_);
    for (Mailbox::Arrival& arrival : arrivals_.items) policy_.put_from_outside(arrival.edge, std::move(arrival.item));
    arrivals_.clear();
  }
  void apply(const Command& command) {
    switch (command.kind) {
      case Command::Kind::SetPriority: policy_.set_priority(command.target, static_cast<Band>(command.value)); break;
      case Command::Kind::SetCapacity: policy_.set_capacity(command.target, command.value); break;
      case Command::Kind::Wake: return policy_.wake(command.target);
    }
    mailbox_.set_limit(command.target, policy_.capacity(command.target), policy_.effective_policy(command.target));
  }

  Policy policy_;
  Mailbox mailbox_;
  Mailbox::Arrivals arrivals_;
  bool drains_ = true;
};

using GraphLoop = BasicLoop<GraphPolicy>;

}  // namespace posset::sched::graph
